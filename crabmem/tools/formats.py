"""The tools of a memory as the definitions that model APIs take for function calling. Plain dicts, made anew each time.

functions.openai_chat(memory.tools)
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, TypeAlias

from .toolbox import Tool

#: A dict. Each SDK has a type of its own for what it takes, and a checker lets this pass for all of them.
Definition: TypeAlias = Any


def openai_chat(tools: Iterable[Tool], strict: bool = False) -> list[Definition]:
    """For `tools` of OpenAI's chat completions, and of the many services that speak the same.

    With `strict` the API holds the model to the schema: it then gives every argument, null for those it leaves out.
    """
    return [{"type": "function", "function": _function(tool, strict)} for tool in tools]


def openai_responses(tools: Iterable[Tool], strict: bool = False) -> list[Definition]:
    """For `tools` of OpenAI's responses; `strict` as for `openai_chat`."""
    return [{"type": "function", **_function(tool, strict)} for tool in tools]


def anthropic(tools: Iterable[Tool]) -> list[Definition]:
    """For `tools` of Anthropic's messages."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": deepcopy(tool.input_schema)}
        for tool in tools
    ]


def json_schema(tools: Iterable[Tool]) -> list[Definition]:
    """A JSON Schema of the arguments for each tool: its `title` is the tool's name, `description` what it is for."""
    return [{"title": tool.name, "description": tool.description, **deepcopy(tool.input_schema)} for tool in tools]


#: Who wants them how, by the name that `crabmem tools --format` takes.
FORMATS: dict[str, Callable[[Iterable[Tool]], list[Definition]]] = {
    "openai": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "json-schema": json_schema,
}


def _function(tool: Tool, strict: bool) -> dict[str, Any]:
    """`strict` is always said: the two APIs of OpenAI differ in what they take silence for."""
    schema = _strict(tool.input_schema) if strict else deepcopy(tool.input_schema)
    return {"name": tool.name, "description": tool.description, "parameters": schema, "strict": strict}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in which nothing is optional. What was can be null, which is as if it was left out."""
    optional = schema["properties"].keys() - set(schema.get("required", ()))
    properties = {
        name: _nullable(rules) if name in optional else deepcopy(rules) for name, rules in schema["properties"].items()
    }
    return {**schema, "properties": properties, "required": list(properties)}


def _nullable(rules: dict[str, Any]) -> dict[str, Any]:
    """The schema of an argument that may be null, too, and has no default."""
    kept = {key: deepcopy(value) for key, value in rules.items() if key != "default"}
    return {**kept, "type": [rules["type"], "null"]}
