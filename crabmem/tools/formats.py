"""Definitions of tools for function calling, as model APIs take them: plain dicts, made anew each time.

formats.openai_chat(memory.tools)
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, TypeAlias

from .tool import Tool

#: A dict. Each SDK has a type of its own for what it takes, and a checker lets this pass for all of them.
Definition: TypeAlias = Any


def openai_chat(tools: Iterable[Tool], strict: bool = False) -> list[Definition]:
    """The argument `tools` of OpenAI's chat completions, and of the many services with the same API.

    With `strict` the API holds the model to the schema: the model then gives every argument, null for "left out".
    """
    return [{"type": "function", "function": _function(tool, strict)} for tool in tools]


def openai_responses(tools: Iterable[Tool], strict: bool = False) -> list[Definition]:
    """The argument `tools` of OpenAI's responses; `strict` as for `openai_chat`."""
    return [{"type": "function", **_function(tool, strict)} for tool in tools]


def anthropic(tools: Iterable[Tool]) -> list[Definition]:
    """The argument `tools` of Anthropic's messages."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": deepcopy(tool.input_schema)}
        for tool in tools
    ]


def json_schema(tools: Iterable[Tool]) -> list[Definition]:
    """The JSON Schema of each tool's arguments; `title` is the tool's name, `description` what it is for."""
    return [{"title": tool.name, "description": tool.description, **deepcopy(tool.input_schema)} for tool in tools]


#: The formats by the names that `crabmem tools --format` takes.
FORMATS: dict[str, Callable[[Iterable[Tool]], list[Definition]]] = {
    "openai": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "json-schema": json_schema,
}


def _function(tool: Tool, strict: bool) -> dict[str, Any]:
    """The definition of one function. `strict` always stands in it: the two APIs of OpenAI have different defaults."""
    schema = _strict(tool.input_schema) if strict else deepcopy(tool.input_schema)
    return {"name": tool.name, "description": tool.description, "parameters": schema, "strict": strict}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every argument required; an optional one may be null, which counts as left out."""
    optional = schema["properties"].keys() - set(schema.get("required", ()))
    properties = {
        name: _nullable(rules) if name in optional else deepcopy(rules) for name, rules in schema["properties"].items()
    }
    return {**schema, "properties": properties, "required": list(properties)}


def _nullable(rules: dict[str, Any]) -> dict[str, Any]:
    kept = {key: deepcopy(value) for key, value in rules.items() if key != "default"}
    return {**kept, "type": [rules["type"], "null"]}
