"""`docs/python.md`: the public names of the package, read from its source by griffe."""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import griffe

import crabmem
from crabmem import CrabmemError, Memory

from .pages import ROOT

_HEAD = """# Python reference

The public names of `crabmem`, from their docstrings. [In Python](../README.md#in-python) shows them at work, [In your
framework](frameworks/README.md) the adapters. Every error is a [`CrabmemError`](#errors), whose one line says what to
do. A `Memory` is safe between threads, and any number of processes may have one on the same folder.

What is asked for often is a method of `Memory`; all else is a function of a module of `crabmem.operations` that takes
the memory first: `from crabmem.operations import links`, then `links.links(memory)`. Both are written as functions
over a `Session`, which every `Memory` is. [Moments](time-machine.md#how-to-name-a-moment) (`at`, `as_of`, `since`,
`until`) are a commit, a date, or a text such as `"2 days ago"`.

[Memory](#memory) · [More operations](#more-operations) · [Formats](#formats-for-function-calling) ·
[Adapters](#adapters) · [Values](#values) · [Errors](#errors)
"""
#: Names without an underscore that nobody outside of an adapter needs.
_PRIVATE = {"Edit", "missing"}
#: Modules of `crabmem.operations` that are helpers of the others.
_INNER = {"changes", "last_changed", "paths", "plan", "reading", "undo", "uses"}


def page() -> str:
    """The whole page."""
    parts = [_HEAD, *_memory(), *_operations(), *_formats(), *_adapters(), *_values(), *_errors()]
    return "\n".join(parts).rstrip() + "\n"


@cache
def _package() -> griffe.Module:
    loaded = griffe.load("crabmem", search_paths=[ROOT], allow_inspection=False, docstring_parser="google")
    assert isinstance(loaded, griffe.Module)
    return loaded


def _found(path: str) -> Any:
    """The object of that full name in the package, as the source says it."""
    return _package()[path.removeprefix("crabmem.")]


def _memory() -> Iterator[str]:
    """`Memory`, its methods in the groups of its own docstring."""
    about, _, groups = inspect.cleandoc(Memory.__doc__ or "").partition("\n\n")
    table, _, rest = groups.partition("\n\nAll else")
    yield "## Memory\n"
    yield f"{_text(about)}\n"
    yield _signature(_found("memory.Memory.__init__"), "Memory") + "\n"
    yield f"{_text(rest.partition(chr(10) * 2)[2])}\n"
    for line in table.splitlines():
        title, *names = re.split(r"  +|, ", line.strip())
        yield f"### Memory: {title.lower()}\n"  # there is a class called Recall, too
        for name in names:
            yield _member(name)


def _member(name: str) -> str:
    """A method or property of a memory, wherever it is written."""
    value = inspect.getattr_static(Memory, name, None)
    function: Any = getattr(value, "fget", None) or getattr(value, "func", None) or value
    if not callable(function):
        return f"- `memory.{name}`\n"
    found = _found(f"{function.__module__}.{function.__qualname__}")
    return _described(found, f"memory.{name}", drop_first=True)


def _operations() -> Iterator[str]:
    """The functions of `crabmem.operations` that are no methods of `Memory`, by module."""
    methods = {getattr(Memory, name) for name in vars(Memory) if not name.startswith("_")}
    bound = {f"{each.__module__}.{each.__qualname__}" for each in methods if inspect.isfunction(each)}
    yield "## More operations\n"
    for name, module in sorted(_found("operations").modules.items()):
        functions = [
            each
            for each in module.functions.values()
            if _is_public(each) and each.path not in bound and not each.is_alias
        ]
        if name not in _INNER and functions:
            yield f"### crabmem.operations.{name}\n"
            yield f"{_text(module.docstring.value if module.docstring else '')}\n"
            yield from (_described(each, f"{name}.{each.name}") for each in functions)


def _is_public(function: Any) -> bool:
    """Whether a memory is all that has to be had to call it: no snapshot, plan or other inner value."""
    if function.name.startswith("_") or not function.docstring or not len(function.parameters):
        return False
    first, *others = function.parameters
    inner = ("Snapshot", "Written", "Listing", "Losses", "Header", "Tree")
    taken = [str(each.annotation) for each in others] + [str(function.returns)]
    return str(first.annotation) == "Session" and not any(
        re.search(rf"\b{name}\b", each) for each in taken for name in inner
    )


def _formats() -> Iterator[str]:
    module = _found("tools.formats")
    yield "## Formats for function calling\n"
    yield f"{_text(module.docstring.value)}\n\n`from crabmem.tools import formats`\n"
    yield from (_described(each, f"formats.{each.name}") for each in module.functions.values() if _has_words(each))


def _adapters() -> Iterator[str]:
    """What each module of `crabmem.adapters` offers, by the name that it is imported by."""
    yield "## Adapters\n"
    for name, module in sorted(_found("adapters").modules.items()):
        yield f"### crabmem.adapters.{name}\n"
        within = module.modules.get("store", module)  # a package is imported for its store
        yield f"{_text(within.docstring.value)}\n"
        for each in (*within.classes.values(), *within.functions.values()):
            if _has_words(each) and not each.is_alias and each.name not in _PRIVATE:
                yield from _class(each) if each.is_class else [_described(each, each.name)]


def _class(found: Any) -> Iterator[str]:
    init = found.members.get("__init__")
    if init and len(init.parameters) > 1:
        yield _signature(init, found.name) + "\n"
    else:
        yield f"**`{found.name}`**\n"
    yield f"{_text(found.docstring.value)}\n"
    for each in found.members.values():
        if (each.is_function or (each.is_attribute and "property" in each.labels)) and _has_words(each):
            yield _described(each, f"{found.name}.{each.name}", drop_first=True)


def _values() -> Iterator[str]:
    """What operations take and give back: each class with its fields and properties."""
    yield "## Values\n"
    for name in crabmem.__all__:
        kind = getattr(crabmem, name)
        if kind is not Memory and not (isinstance(kind, type) and issubclass(kind, CrabmemError)):
            found = _found(f"{kind.__module__}.{kind.__qualname__}")
            yield f"### {name}\n"
            yield f"{_text(found.docstring.value if found.docstring else '')}\n"
            yield from _fields(found)


def _fields(found: Any) -> Iterator[str]:
    public = [each for each in found.members.values() if not each.name.startswith("_") and each.name != "JSON"]
    rows = [
        f"| `{each.name}` | {_type(each.annotation)} | {_first(each)} |"
        for each in public
        if each.is_attribute and each.annotation
    ]
    if rows:
        yield "\n".join(["| field | type | |", "|---|---|---|", *rows]) + "\n"
    yield from (
        _described(each, each.name, drop_first=True) for each in public if each.is_function and _has_words(each)
    )


def _errors() -> Iterator[str]:
    yield "## Errors\n"
    yield "What to do about each message is in [Troubleshooting](troubleshooting.md).\n"
    kinds = [getattr(crabmem, name) for name in crabmem.__all__]
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, CrabmemError):
            base = kind.__mro__[1]
            told = f" ({base.__name__})" if base is not CrabmemError and kind is not CrabmemError else ""
            yield f"- **`{kind.__name__}`**{told}: {_line(inspect.getdoc(kind) or '')}"


# Words


def _described(found: Any, name: str, drop_first: bool = False) -> str:
    if found.is_attribute:  # a property
        return (
            f"**`{name}`** → {_type(found.annotation)}  \n{_text(found.docstring.value if found.docstring else '')}\n"
        )
    parts = [_signature(found, name, drop_first)]
    for section in found.docstring.parsed if found.docstring else []:
        if section.kind.value == "text":
            parts.append(_text(section.value))
        elif section.kind.value == "raises":
            parts.append(
                "\n".join(f"- raises `{each.annotation}`: {_line(each.description)}" for each in section.value)
            )
    return "\n\n".join(parts) + "\n"


def _signature(found: Any, name: str, drop_first: bool = False) -> str:
    """How it is called, on one line where it fits."""
    told = []
    kinds = griffe.ParameterKind
    named = False
    for number, each in enumerate(found.parameters):
        if number == 0 and (drop_first or each.name == "self"):
            continue
        if each.kind is kinds.keyword_only and not named:
            told.append("*")
            named = True
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(each.kind, "")
        default = f" = {each.default}" if each.default is not None and not star else ""
        kind = f": {str(each.annotation).strip(chr(34))}" if each.annotation else ""
        told.append(f"{star}{each.name}{kind}{default}")
    returns = f" -> {_plain(found.returns)}" if found.returns and found.name != "__init__" else ""
    line = f"{name}({', '.join(told)}){returns}"
    if len(line) > 110:
        line = f"{name}(\n" + "".join(f"    {each},\n" for each in told) + f"){returns}"
    return f"```py\n{line}\n```"


def _plain(annotation: Any) -> str:
    return str(annotation).replace('"', "").replace("'", "")


def _type(annotation: Any) -> str:
    """A type in a table, without its bounds."""
    plain = re.sub(r"^Annotated\[(.*?), Meta\(.*\)\]$", r"\1", _plain(annotation))
    return f"`{plain}`".replace("|", "\\|")


def _has_words(found: Any) -> bool:
    return not found.name.startswith("_") and bool(found.docstring)


def _first(found: Any) -> str:
    return _line(found.docstring.value) if found.docstring else ""


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _text(text: str) -> str:
    """A docstring as Markdown: what is indented in it, or only calls and assigns, is a block."""
    made = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        is_block = all(re.match(r"    |[\w.]+(\(| = )", line) for line in paragraph.splitlines() if line)
        made.append(f"```text\n{inspect.cleandoc(paragraph)}\n```" if is_block and paragraph else paragraph)
    return "\n\n".join(made)
