"""What an installation wants a config to say, how to make it say that, and how to take it back. Pure functions."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..jsonc import Path, at
from .document import Document

_CALL = re.compile(r" hook (?P<event>[a-z-]+)(?: --guide)? --host (?P<host>[a-z-]+)\Z")


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


Wish: TypeAlias = Server | Hook | Setting | Default


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
            case Default():
                config = config if at(config.data, wish.path) is not None else config.put(wish.path, wish.value)
    return config


def uninstalled(config: Document, wishes: Sequence[Wish], before: Document | None) -> Document:
    """`config` without what an installation put there; `before` is what it was then, where that is known.

    Byte for byte that, when nobody changed anything since.
    """
    for wish in wishes:
        match wish:
            case Server():
                config = _unserved(config, wish, before)
            case Hook():
                config = _unhooked(config, wish, before)
            case Setting():
                config = _unset(config, wish, before)
            case Default():
                pass
    config = _without_defaults(config, wishes, before)
    return before if before and before.data == config.data else config


def is_installed(config: Document, wishes: Sequence[Wish]) -> bool:
    """Whether anything in `config` is of an installation."""
    return any(_is_there(config, wish) for wish in wishes)


def _is_there(config: Document, wish: Wish) -> bool:
    match wish:
        case Server():
            return _is_call(at(config.data, wish.path), wish)
        case Hook():
            return bool(_places(config, wish))
        case Setting():
            return _is_ours(config, wish)
    return False


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
    found = [entry.get("command"), entry.get("args")] if isinstance(entry, dict) else []
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
