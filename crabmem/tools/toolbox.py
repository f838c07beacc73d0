"""The tools that an agent is offered, each made from one function: its schema from the signature, that of
its data from what the return is annotated with, its description from the docstring. `Toolbox.call` is the
one way in, for every host.

To add a tool, write the function in a module of `crabmem/tools` or in the `tools.py` of a family in `crabmem/profiles`,
and name it in that module's `TOOLS`. A profile says which an agent gets.
"""

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, get_type_hints

import msgspec

from ..errors import CrabmemError, Disabled, InvalidArguments, InvalidSettings, NotFound, Stale
from ..session.session import Session
from ..text.quoting import visible
from .result import Hints, Result, ToolFunction, stale_text, without_root
from .schemas import schema_of

#: The toolsets that several families have. In every profile a host may ask for their tools by name.
SHARED = ("entries", "files", "looking", "notes")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


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


class Toolbox:
    """The tools over one memory."""

    def __init__(self, memory: Session) -> None:
        self._memory = memory

    @property
    def offered(self) -> list[Tool]:
        """The tools that the settings allow now, in a fixed order."""
        return self.chosen(self.usual)

    @property
    def usual(self) -> list[str]:
        """The names of the tools that are offered as soon as the settings allow them."""
        return [item.name for item in self._of_profile()]

    def chosen(self, names: Iterable[str]) -> list[Tool]:
        """The tools called `names`, those that the settings allow now, in the order of `offered`.

        Raises:
            NotFound: there is no such tool.
        """
        wanted, there = set(names), self._by_name()
        if unknown := sorted(wanted - there.keys()):
            raise NotFound(f"no tool named: {', '.join(unknown)} (there are: {', '.join(there)})")
        if not self._memory.settings.tools:
            return []
        return [_described(item) for item in there.values() if item.name in wanted and item.allowed(self._memory)]

    def call(self, name: str, arguments: Mapping[str, Any] | str, names: Iterable[str] | None = None) -> Result:
        """Call a tool that was offered: one of those called `names`, which a host chose, or of the usual ones.

        What the caller did wrong comes back as a result with `is_error`. `arguments` may be JSON, as models write them;
        an empty text is no arguments.
        """
        try:
            result = self._checked_call(name, arguments, self.usual if names is None else tuple(names))
        except CrabmemError as error:  # settings or a profile that cannot be read
            result = Result(error.text(), is_error=True)
        text = without_root(result.text, self._memory.root) if result.is_error else result.text
        return replace(result, text=visible(text))

    def _of_profile(self) -> list[ToolFunction]:
        """The tools that the profile gives a session of this kind, in its order."""
        names = self._memory.profile.tools_for(self._memory.kind)
        return [item for name in names for item in toolset(name)]

    def _by_name(self) -> dict[str, ToolFunction]:
        """Every tool that may be asked for here, by name."""
        is_limited = self._memory.profile.limits_tools(self._memory.kind)
        others = (item for name in SHARED if not is_limited for item in toolset(name))
        return {item.name: item for item in (*others, *self._of_profile())}

    def _checked_call(self, name: str, arguments: Mapping[str, Any] | str, names: Collection[str]) -> Result:
        if not self._memory.settings.tools:
            raise Disabled("tools are switched off here; a person may set tools = true in crabmem.toml")
        item = self._by_name().get(name) if name in names else None
        if item is None:
            offered = ", ".join(tool.name for tool in self.chosen(names)) or "none in this session"
            return Result(f"no tool named: {name} (there are: {offered})", is_error=True)
        try:
            given = msgspec.convert(_as_types(_object(arguments), _described(item)), _arguments(item.function))
        except InvalidArguments as error:
            return Result(f"invalid arguments: {error}", is_error=True)
        except msgspec.ValidationError as error:
            return Result(f"invalid arguments: {_message(error)}", is_error=True)
        except UnicodeEncodeError:
            return Result("invalid arguments: the name of one contains half of a surrogate pair", is_error=True)
        return _run(item.function, self._memory, msgspec.structs.asdict(given))


def listed(tools: Iterable[Tool]) -> str:
    """The names of tools, as a prompt lists them; a model has their definitions, which say what each is for."""
    return ", ".join(f"`{tool.name}`" for tool in tools)


@cache
def toolsets() -> dict[str, str]:
    """The module of each toolset that a profile may name: those that families share, and each family's own.

    A profile names one of these and never a module: it may be the file of somebody who is not trusted. A copy of a
    family's profile has the family's tools by this name, too.
    """
    from ..prompt.profile import families_with  # late: with no tools wanted, nothing asks for a profile

    own = {name: f"crabmem.profiles.{name}.tools" for name in families_with("tools.py")}
    return {name: f"crabmem.tools.{name}" for name in SHARED} | own


@cache
def toolset(name: str) -> tuple[ToolFunction, ...]:
    """The tools of the toolset called `name`, or the one tool that `toolset.tool` names.

    Raises:
        InvalidSettings: there is no such toolset, or no such tool in it.
    """
    home, _, tool = name.partition(".")
    modules = toolsets()
    if home not in modules:
        raise InvalidSettings(f"there is no set of tools called {home}; there are {', '.join(modules)}")
    functions: tuple[ToolFunction, ...] = import_module(modules[home]).TOOLS
    found = tuple(item for item in functions if tool in ("", item.name))
    if not found:
        raise InvalidSettings(f"no tool {tool} in {home}; there are {', '.join(item.name for item in functions)}")
    return found


def _run(function: Callable[..., Result], memory: Session, arguments: dict[str, Any]) -> Result:
    try:
        return function(memory, **arguments)
    except Stale as error:
        data = {"version": error.version, "current": error.current, "diff": error.diff}
        return Result(stale_text(error, memory.settings.recall_budget), data, is_error=True)
    except InvalidArguments as error:
        return Result(f"invalid arguments: {error.text()}", is_error=True)
    except CrabmemError as error:
        return Result(error.text(), is_error=True)


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


@cache
def _described(item: ToolFunction) -> Tool:
    schema = msgspec.json.schema(_arguments(item.function))
    [own] = [part for name, part in schema["$defs"].items() if name == item.name]
    own.pop("title", None)
    own["properties"] = {name: _plain(rules) for name, rules in own["properties"].items()}
    purpose = inspect.cleandoc(item.function.__doc__ or "")
    [data] = get_type_hints(item.function, include_extras=True)["return"].__metadata__
    return Tool(item.name, purpose, own, item.hints, item.title, schema_of(data))


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
    return msgspec.defstruct(function.__name__, fields, forbid_unknown_fields=True, kw_only=True, rename=_argument_name)


def _argument_name(name: str) -> str:
    return name.removesuffix("_")


def _message(error: msgspec.ValidationError) -> str:
    """What is wrong with arguments: msgspec's message, in terms of arguments."""
    text = re.sub(r"Object missing required field (`.*`)", r"\1 is missing", str(error))
    text = re.sub(r"Object contains unknown field (`.*`)", r"there is no argument \1", text)
    return text.replace("`$.", "`").replace(" - at ", " for ").replace(" | null`", "`")
