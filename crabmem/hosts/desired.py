"""What an installation wants a config to say, how to make it say that, and how to take it back. Pure functions."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..text.jsonc import Path, at
from .document import Document

# As `Order.hook` writes it, and as it was written before a line saw to its own end.
_CALL = re.compile(
    r" hook (?P<event>[a-z-]+)(?: --guide)?(?: --without [a-z]+)? --host (?P<host>[a-z-]+)(?: ?[;&] exit 0)?\Z"
)
# Where the plugin of a host that runs no commands names our program.
_LISTED = re.compile(r"^const PROGRAM = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True)
class Server:
    """The entry of our server, all of which is ours: what a person added to it stays as long as it does.

    One of that name that a person wrote, which does not end like ours, is theirs, and comes back.
    """

    path: Path
    value: dict[str, Any]


@dataclass(frozen=True)
class Hook:
    """One command of ours among those of an event: in the array at `path`, inside a group where the host has those."""

    path: Path
    value: dict[str, Any]
    group: dict[str, Any] | None = None


@dataclass(frozen=True)
class Setting:
    """One value. It is taken back while it is ours: as it was set, with `mark` in it, or with what `is_by` says.

    That is told the value and the command of the hook that was installed with it, which may be of another day.
    """

    path: Path
    value: object
    mark: str | None = None
    hook: Hook | None = None
    is_by: Callable[[str, str], bool] = lambda value, command: False


@dataclass(frozen=True)
class Default:
    """A value that the host needs beside ours: set where there is none, and never the last thing to stay."""

    path: Path
    value: object


@dataclass(frozen=True)
class Trait:
    """A value in the entry of our server, which goes with that; `path` leads to the value."""

    path: Path
    value: object
    server: Server


@dataclass(frozen=True)
class Element:
    """A value among those of an array, which others add to as well."""

    path: Path
    value: object


@dataclass(frozen=True)
class Switch:
    """A value that replaces `over` and nothing else: where the host says something else, or nothing, it stays so."""

    path: Path
    value: object
    over: object


Wish: TypeAlias = Server | Hook | Setting | Default | Trait | Element | Switch


def installed(config: Document, wishes: Sequence[Wish]) -> Document:
    """`config` with all that is wished; the same when it says so already."""
    for wish in wishes:
        match wish:
            case Server():
                config = _merged(config, wish.path, wish.value)
            case Hook():
                config = _hooked(config, wish)
            case Setting():
                config = config if at(config.data, wish.path) == wish.value else config.put(wish.path, wish.value)
            case Trait():
                config = config if at(config.data, wish.path) == wish.value else config.put(wish.path, wish.value)
            case Element():
                there = _elements(config, wish)
                config = config if wish.value in there else config.put((*wish.path, len(there)), wish.value)
            case Switch():
                config = config.put(wish.path, wish.value) if at(config.data, wish.path) == wish.over else config
            case Default():
                config = config if at(config.data, wish.path) is not None else config.put(wish.path, wish.value)
    return config


def uninstalled(config: Document, wishes: Sequence[Wish], before: Document | None, is_sure: bool = True) -> Document:
    """`config` without what an installation put there; `before` is what it was then, where that is known.

    Byte for byte that, when nobody changed anything since. What a person may have written as well is only taken back
    when it `is_sure` that there was an installation.
    """
    config = without(config, [wish for wish in wishes if is_sure or not _is_anybodys(wish)], before)
    config = _without_defaults(config, wishes, before)
    return before if before and before.data == config.data else config


def without(config: Document, wishes: Sequence[Wish], before: Document | None) -> Document:
    """`config` without what some wishes put there, and with what they replaced; all else stays."""
    for wish in wishes:
        match wish:
            case Server():
                config = _unserved(config, wish, before)
            case Hook():
                config = _unhooked(config, wish, before)
            case Setting():
                config = _unset(config, wish, before)
            case Trait():
                config = _untraited(config, wish, before)
            case Element():
                config = _unlisted(config, wish, before)
            case Switch():
                is_over = before is not None and at(before.data, wish.path) == wish.over
                is_ours = is_over and at(config.data, wish.path) == wish.value
                config = config.put(wish.path, wish.over) if is_ours else config
    return config


def is_installed(config: Document, wishes: Sequence[Wish]) -> bool:
    """Whether anything in `config` can only be of an installation."""
    return any(holds(config, wish) for wish in wishes if not _is_anybodys(wish))


def is_claimed(config: Document, wishes: Sequence[Wish]) -> bool:
    """Whether anything in `config` is as an installation wants it that a person may have written as well."""
    return any(holds(config, wish) for wish in wishes if isinstance(wish, Setting | Element) and _is_anybodys(wish))


def _elements(config: Document, wish: Element) -> list[Any]:
    """What is in the list; nothing where the host would find no list, which whoever puts one there is refused."""
    there = at(config.data, wish.path)
    return there if isinstance(there, list) else []


def _is_anybodys(wish: Wish) -> bool:
    """Whether a person may write the same: a permission, a switch; nobody writes our commands but us."""
    return not isinstance(wish, Server | Hook) and not (isinstance(wish, Setting) and wish.mark)


def holds(config: Document, wish: Wish) -> bool:
    """Whether `config` is as one wish has it, whichever program and workspace it names."""
    match wish:
        case Server():
            return _is_call(at(config.data, wish.path), wish)
        case Hook():
            return bool(_places(config, wish))
        case Setting():
            return _is_ours(config, wish)
        case Element():
            return wish.value in _elements(config, wish)
        case Switch():
            return bool(at(config.data, wish.path) != wish.over)
        case Trait() | Default():
            return bool(at(config.data, wish.path) == wish.value)


def programs(config: Document, wishes: Sequence[Wish]) -> set[str]:
    """The programs that what is ours in `config` calls; each wish finds its own, wherever it was installed from."""
    found: list[str] = []
    for wish in wishes:
        if isinstance(wish, Server) and holds(config, wish):
            found += _words(at(config.data, wish.path))[:1]
        elif isinstance(wish, Hook):
            found += [called(at(config.data, place)["command"]) for place in _places(config, wish)]
        elif isinstance(wish, Setting) and wish.mark and holds(config, wish):
            listed = _LISTED.search(str(at(config.data, wish.path)))
            found += json.loads(listed[1])[:1] if listed else []
    return set(found)


def called(command: str) -> str:
    """The program that the line of a hook calls: itself, or by the shell that sees to its end."""
    if command.startswith("exec sh -c "):
        return shlex.split(command)[4]
    return shlex.split(command, posix="\\" not in command)[0].strip('"')


def _merged(config: Document, path: Path, value: dict[str, Any]) -> Document:
    """With each of the values under `path`, beside what else is there."""
    if not isinstance(at(config.data, path), dict):
        return config.put(path, value)
    for key, item in value.items():
        if at(config.data, (*path, key)) != item:
            config = config.put((*path, key), item)
    return config


def _hooked(config: Document, wish: Hook) -> Document:
    """With the command, which may have stood there with another path."""
    if places := _places(config, wish):
        return _merged(config, places[0], wish.value)
    value = wish.value if wish.group is None else {**wish.group, "hooks": [wish.value]}
    return config.put((*wish.path, len(at(config.data, wish.path) or ())), value)


def _unserved(config: Document, wish: Server, before: Document | None) -> Document:
    if not _is_call(at(config.data, wish.path), wish):
        return config
    old = at(before.data, wish.path) if before else None
    return _without(config, wish.path, before) if old is None else config.put(wish.path, old)


def _is_call(entry: Any, wish: Server) -> bool:
    """Whether an entry calls our server for that host, wherever crabmem is and whatever a person added."""
    return " ".join(_words(wish.value)[-3:]) in " ".join(_words(entry))


def _words(entry: Any) -> list[str]:
    """The words of the command in an entry, which are in one list or two."""
    found = [entry.get(key, []) for key in ("command", "cmd", "args")] if isinstance(entry, dict) else []
    return [str(word) for part in found for word in (part if isinstance(part, list) else [part])]


def _unhooked(config: Document, wish: Hook, before: Document | None) -> Document:
    while places := _places(config, wish):
        place = places[-1]
        is_grouped = len(place) > len(wish.path) + 1
        alone = is_grouped and len(at(config.data, place[:-1])) == 1
        config = _without(config, place[:-2] if alone else place, before)
    return config


def _unset(config: Document, wish: Setting, before: Document | None) -> Document:
    if not _is_ours(config, wish):
        return config
    old = at(before.data, wish.path) if before else None
    return _without(config, wish.path, before) if old is None else config.put(wish.path, old)


def _untraited(config: Document, wish: Trait, before: Document | None) -> Document:
    if at(config.data, wish.path) != wish.value or not _is_call(at(config.data, wish.server.path), wish.server):
        return config
    return config if before and at(before.data, wish.path) == wish.value else config.drop(wish.path)


def _unlisted(config: Document, wish: Element, before: Document | None) -> Document:
    there = at(config.data, wish.path)
    was = at(before.data, wish.path) if before else None
    if not isinstance(there, list) or wish.value not in there or (isinstance(was, list) and wish.value in was):
        return config
    return _without(config, (*wish.path, there.index(wish.value)), before)


def _is_ours(config: Document, wish: Setting) -> bool:
    value = at(config.data, wish.path)
    if value == wish.value or not isinstance(value, str):
        return bool(value == wish.value)
    commands = [at(config.data, place)["command"] for place in _places(config, wish.hook)] if wish.hook else []
    return bool(wish.mark and wish.mark in value) or any(wish.is_by(value, command) for command in commands)


def _without(config: Document, path: Path, before: Document | None) -> Document:
    """Without what is at `path`, and without what is empty then and was not there before."""
    config = config.drop(path)
    parent = path[:-1]
    was_there = before is not None and at(before.data, parent) is not None
    if not parent or was_there or at(config.data, parent) is None:
        return config
    return config if at(config.data, parent) else _without(config, parent, before)


def _without_defaults(config: Document, wishes: Sequence[Wish], before: Document | None) -> Document:
    """Without what was only there for ours, unless somebody else may need it by now."""
    old = before.data if before else {}
    left = config
    for wish in wishes:
        if isinstance(wish, Default) and at(left.data, wish.path) == wish.value and at(old, wish.path) is None:
            left = _without(left, wish.path, before)
    return left if left.data == old else config


def _places(config: Document, wish: Hook) -> list[Path]:
    """Where our commands of that event and host stand in the array, wherever crabmem was when they were written."""
    ours = _call(wish.value["command"])
    return list(_found(at(config.data, wish.path), wish.path, lambda command: _call(command) == ours))


def _found(value: Any, path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """The objects in the array at `path`, and in the `hooks` of those, with a command that is ours."""
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            command = item.get("command")
            if isinstance(command, str) and is_ours(command):
                yield (*path, number)
            yield from _found(item.get("hooks"), (*path, number, "hooks"), is_ours)


def _call(command: str) -> tuple[str, str] | None:
    """The event and the host that a command of ours asks for."""
    found = _CALL.search(command)
    return (found["event"], found["host"]) if found and "crabmem" in command[: found.start()] else None
