"""A tool: a typed function over a session, declared once.

Its schema is made of the signature, the schema of its data of what the return is annotated with, its description of the
docstring. So it cannot say anything else than the function does, to whichever host.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from ..errors import InvalidArguments
from ..session.session import Session
from ..text.structs import converted
from .result import Result
from .schemas import schema_of

#: A number from 1 on, as lines are counted.
Positive = Annotated[int, Meta(ge=1)]

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


@dataclass(frozen=True)
class Hints:
    """What a host may assume of a tool, in MCP's terms; none but `sync` reaches beyond the workspace."""

    read_only: bool
    destructive: bool
    idempotent: bool = True
    open_world: bool = False


#: Of a tool that changes nothing; that saves, and again changes nothing more; that adds each time; that replaces what
#: was there; that edits, which cannot be done twice.
READS = Hints(read_only=True, destructive=False)
SAVES = Hints(read_only=False, destructive=False)
ADDS = Hints(read_only=False, destructive=False, idempotent=False)
REPLACES = Hints(read_only=False, destructive=True)
EDITS = Hints(read_only=False, destructive=True, idempotent=False)


def _always(memory: Session) -> bool:
    return True


#: The values that an argument may have in a session; none where it is not offered.
Choices = Callable[[Session], tuple[str, ...]]


@dataclass(frozen=True)
class ToolFunction:
    """A function that is a tool: it takes the memory and typed arguments, and its docstring is for the model.

    `title` is for people, `allowed` says whether a memory offers the tool now. `is_blind` is a write of a whole file,
    with `if_version`, whose caller may not have seen what it replaces. `choices` are of arguments that only some
    sessions have, so that a model reads of them nowhere else; each is optional.
    """

    function: Callable[..., Result]
    title: str
    hints: Hints
    allowed: Callable[[Session], bool] = _always
    is_blind: bool = False
    choices: tuple[tuple[str, Choices], ...] = ()

    @property
    def name(self) -> str:
        """The name agents call it by."""
        return self.function.__name__

    def chosen(self, memory: Session) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The values of each of those arguments in this session."""
        return tuple((name, values(memory)) for name, values in self.choices)


@dataclass(frozen=True)
class Tool:
    """A tool as hosts want it described: the schemas are JSON Schema, `annotations` MCP's hints.

    `output_schema` is that of the `data` of a result which is no error; `title` is for people.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: Hints
    title: str
    output_schema: dict[str, Any]


def described(item: ToolFunction, memory: Session) -> Tool:
    """A tool as hosts of this session want it described."""
    return _described(item, item.chosen(memory))


@cache
def _described(item: ToolFunction, choices: tuple[tuple[str, tuple[str, ...]], ...]) -> Tool:
    schema = msgspec.json.schema(_arguments(item.function))
    [own] = [part for name, part in schema["$defs"].items() if name == item.name]
    own.pop("title", None)
    own["properties"] = {name: _plain(rules) for name, rules in own["properties"].items()}
    for name, values in choices:
        rules = own["properties"].pop(name)
        if values:
            own["properties"][name] = {**rules, "enum": list(values)}
    purpose = inspect.cleandoc(item.function.__doc__ or "")
    [data] = get_type_hints(item.function, include_extras=True)["return"].__metadata__
    return Tool(item.name, purpose, own, item.hints, item.title, schema_of(data))


def parsed(item: ToolFunction, arguments: Mapping[str, Any] | str, memory: Session) -> dict[str, Any]:
    """The arguments of a call by the names of the function's parameters, checked against what the session offers.

    They may be JSON, as models write them; an empty text is no arguments.

    Raises:
        InvalidArguments: they are not what the schema says.
    """
    tool = described(item, memory)
    try:
        given = converted(_as_types(_object(arguments), tool), _arguments(item.function))
    except msgspec.ValidationError as error:
        raise InvalidArguments(_message(error)) from None
    except UnicodeEncodeError:
        raise InvalidArguments("the name of one contains half of a surrogate pair") from None
    values = msgspec.structs.asdict(given)
    for name, there in item.chosen(memory):
        if (said := values[name]) is not None and said not in there:
            refused = f"`{name}` is one of {', '.join(there)}" if there else f"there is no argument `{name}`"
            raise InvalidArguments(refused)
    return values


def _object(arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """The arguments by name, parsed where they are JSON. Another value than a mapping fails in the check of types."""
    if not isinstance(arguments, str):
        return arguments
    try:
        given = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"not JSON ({error})") from None
    if not isinstance(given, dict):
        raise InvalidArguments("not a JSON object")
    return given


def _as_types(arguments: Mapping[str, Any], tool: Tool) -> Mapping[str, Any]:
    """The arguments without those that are null and may be left out, and with whole numbers as such.

    Models that fill in every argument give null for those they have nothing for, and some hosts write every number as
    3.0, which JSON Schema calls an integer, or as "3". Nothing else is guessed at.
    """
    if not isinstance(arguments, Mapping):
        return arguments
    schema = tool.input_schema
    types = {name: rules.get("type") for name, rules in schema["properties"].items()}
    optional = types.keys() - set(schema.get("required", ()))
    return {
        name: _whole(value) if types.get(name) == "integer" else value
        for name, value in arguments.items()
        if value is not None or name not in optional
    }


def _whole(value: object) -> object:
    """The whole number that `value` is, however it is written; itself when it is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _plain(rules: dict[str, Any]) -> dict[str, Any]:
    """The schema of an argument with one type: that it may be null goes without saying where it may be left out.

    Not every host reads a union, and each costs what models read. Keys that say what a type is go before others.
    """
    [kind] = [each for each in rules.get("anyOf", [{}]) if each != {"type": "null"}]
    rest = {key: value for key, value in rules.items() if key != "anyOf" and (key, value) != ("default", None)}
    return {**kind, **rest}


@cache
def _arguments(function: Callable[..., Result]) -> type[msgspec.Struct]:
    """The parameters of a tool's function after the memory, as a type that checks them.

    An underscore at the end of a name is for Python's sake: `from_` is what agents call `from`.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields = [
        (item.name, hints[item.name])
        if item.default is inspect.Parameter.empty
        else (item.name, hints[item.name], item.default)
        for item in parameters
    ]
    return msgspec.defstruct(
        function.__name__, fields, forbid_unknown_fields=True, kw_only=True, rename=lambda name: name.removesuffix("_")
    )


def _message(error: msgspec.ValidationError) -> str:
    """What is wrong with arguments: msgspec's message, in terms of arguments."""
    text = re.sub(r"Object missing required field (`.*`)", r"\1 is missing", str(error))
    text = re.sub(r"Object contains unknown field (`.*`)", r"there is no argument \1", text)
    return text.replace("`$.", "`").replace(" - at ", " for ").replace(" | null`", "`")
