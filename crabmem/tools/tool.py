"""A tool: a typed function over a session, declared once.

The schema of its arguments is made from the signature, the schema of its data from the annotation of the return, and
its description is the docstring. So every host is told what the function does, and nothing else.
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


#: For tools that change nothing; that save, where doing it twice changes nothing more; that add each time; that replace
#: what was there; that edit, which cannot be done twice.
READS = Hints(read_only=True, destructive=False)
SAVES = Hints(read_only=False, destructive=False)
ADDS = Hints(read_only=False, destructive=False, idempotent=False)
REPLACES = Hints(read_only=False, destructive=True)
EDITS = Hints(read_only=False, destructive=True, idempotent=False)


def _always(memory: Session) -> bool:
    return True


#: Returns the values that an argument may have in a session; () if the argument is not offered there.
Choices = Callable[[Session], tuple[str, ...]]


@dataclass(frozen=True)
class ToolFunction:
    """A function that is a tool: it takes the memory and typed arguments, and its docstring is for the model.

    `title` is for people; `allowed` returns whether a memory offers the tool now. `is_blind`: the tool replaces a whole
    file that the caller may not have read, and takes `if_version`. `choices` has the names of optional arguments that
    only some sessions offer, with their values: in other sessions the model does not read of them.
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
        """Each argument of `choices`, with the values that it may have in this session."""
        return tuple((name, values(memory)) for name, values in self.choices)


@dataclass(frozen=True)
class Tool:
    """The description of a tool that hosts take: the schemas are JSON Schema, `annotations` MCP's hints.

    `output_schema` describes the `data` of a result that is no error; `title` is for people.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    annotations: Hints
    title: str
    output_schema: dict[str, Any]


def described(item: ToolFunction, memory: Session) -> Tool:
    """The description of a tool in this session, with the arguments and values that are offered in it."""
    return _described(item, item.chosen(memory))


@cache
def _described(item: ToolFunction, choices: tuple[tuple[str, tuple[str, ...]], ...]) -> Tool:
    """The description of a tool where arguments have these `choices`; an argument without any is left out."""
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
    """Check the arguments of a call, and return them by the names of the function's parameters, with all defaults.

    `arguments` may be JSON, as models write them; an empty text means no arguments.

    Raises:
        InvalidArguments: they do not match the schema, or use a value that this session does not offer.
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
    """The arguments by name, parsed if they are JSON. A value that is no mapping is refused by the later type check."""
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
    """The arguments without nulls for optional ones, and with integers for what the schema calls an integer.

    Models that fill in every argument give null where they have no value. Some hosts write an integer as 3.0, which
    JSON Schema allows, or as "3". Nothing else is converted.
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
    """`value` as an int if it is a whole number, also as float or text; any other value unchanged."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _plain(rules: dict[str, Any]) -> dict[str, Any]:
    """The schema of an argument without the union with null: an optional argument can be left out instead.

    Not every host understands a union, and each makes the prompt longer. Keys of the type come before the others.
    """
    [kind] = [each for each in rules.get("anyOf", [{}]) if each != {"type": "null"}]
    rest = {key: value for key, value in rules.items() if key != "anyOf" and (key, value) != ("default", None)}
    return {**kind, **rest}


@cache
def _arguments(function: Callable[..., Result]) -> type[msgspec.Struct]:
    """A struct type that checks the arguments of a tool: the parameters of its function, without the first, the memory.

    An underscore at the end of a name is left out: agents call `from_`, which Python needs, `from`.
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
    """msgspec's error message, reworded from fields of an object to arguments of a tool."""
    text = re.sub(r"Object missing required field (`.*`)", r"\1 is missing", str(error))
    text = re.sub(r"Object contains unknown field (`.*`)", r"there is no argument \1", text)
    return text.replace("`$.", "`").replace(" - at ", " for ").replace(" | null`", "`")
