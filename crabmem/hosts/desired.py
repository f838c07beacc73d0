"""What a config is to hold, kind by kind: how it is put there, found again, and taken out. Pure functions.

A kind is a class with `put`, `remove` and `is_in`; adding one is adding a class.
"""

import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ..text.jsonc import Path, at
from .parsed_config import ParsedConfig

# As `InstallOptions.hook_line` writes it, and as it was written before a line saw to its own end.
_CALL = re.compile(r" hook (?P<event>[a-z-]+)(?: --guide)?(?: --without [a-z]+)? --host (?P<host>[a-z-]+)\Z")
# Where a host that names events in CamelCase has a dash in another name of them.
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
# Where the plugin of a host that runs no commands names our program.
_LISTED = re.compile(r"^const PROGRAM = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True)
class Desired(ABC):
    """Something that a config is to hold at `path`.

    `before` is always the config as it was before the installation; None where that is not known.
    """

    path: Path
    value: Any
    #: Whether a person may write the same into a list of permissions or a setting, so that it could be theirs.
    may_be_claimed: ClassVar[bool] = False

    @property
    def is_surely_ours(self) -> bool:
        """Whether only an installation writes this. A person may write a permission or a switch, not our commands."""
        return False

    def put(self, config: ParsedConfig) -> ParsedConfig:
        """`config` with this in it; the same where it is there already."""
        return config if at(config.data, self.path) == self.value else config.put(self.path, self.value)

    @abstractmethod
    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """`config` without this, and with what it replaced."""

    def is_in(self, config: ParsedConfig) -> bool:
        """Whether `config` holds this, whichever program and workspace it names."""
        return bool(at(config.data, self.path) == self.value)

    def programs(self, config: ParsedConfig) -> list[str]:
        """The programs that `config` calls by this, wherever they were when it was installed."""
        return []


@dataclass(frozen=True)
class Server(Desired):
    """The entry of our server, all of which is ours: what a person added to it stays as long as it does.

    One of that name that a person wrote, which does not end like ours, is theirs, and comes back.
    """

    value: dict[str, Any]

    @property
    def is_surely_ours(self) -> bool:
        return True

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return _merged(config, self.path, self.value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        return _restored(config, self.path, before) if self.is_in(config) else config

    def is_in(self, config: ParsedConfig) -> bool:
        """Whether the entry calls our server for that host, wherever crabmem is and whatever a person added."""
        return " ".join(_words(self.value)[-3:]) in " ".join(_words(at(config.data, self.path)))

    def programs(self, config: ParsedConfig) -> list[str]:
        return _words(at(config.data, self.path))[:1] if self.is_in(config) else []


@dataclass(frozen=True)
class Hook(Desired):
    """One command of ours in the array of an event at `path`, inside a `group` where the host has groups."""

    value: dict[str, Any]
    group: dict[str, Any] | None = None

    @property
    def is_surely_ours(self) -> bool:
        return True

    def put(self, config: ParsedConfig) -> ParsedConfig:
        """`config` with the command, which may have stood there with another path."""
        if places := self.places(config):
            return _merged(config, places[0], self.value)
        value = self.value if self.group is None else {**self.group, "hooks": [self.value]}
        return config.put((*self.path, len(at(config.data, self.path) or ())), value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        while places := self.places(config):
            place = places[-1]
            is_grouped = len(place) > len(self.path) + 1
            is_alone = is_grouped and len(at(config.data, place[:-1])) == 1
            config = _dropped(config, place[:-2] if is_alone else place, before)
        return config

    def is_in(self, config: ParsedConfig) -> bool:
        return bool(self.places(config))

    def places(self, config: ParsedConfig) -> list[Path]:
        """Where our commands of that event and host stand, wherever crabmem was when they were written."""
        ours = _call(self.value["command"])
        return list(_commands(at(config.data, self.path), self.path, lambda command: _call(command) == ours))

    def programs(self, config: ParsedConfig) -> list[str]:
        return [_program(at(config.data, place)["command"]) for place in self.places(config)]


@dataclass(frozen=True)
class Trust(Desired):
    """A note of the host's at `path`, that the person trusts a `hook` of ours: the host writes it, and it goes with
    the hook. `value` is the config that holds the hook, by which the note is called."""

    value: str
    hook: Hook

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        event = _CAPITAL.sub("_", str(self.hook.path[-1])).lower()
        for *_, group, _, number in self.hook.places(config):
            path = *self.path, f"{self.value}:{event}:{group}:{number}"
            if at(config.data, path) is not None:
                config = _dropped(config, path, before)
        return config


@dataclass(frozen=True)
class Setting(Desired):
    """One value. It is removed while it is ours: as it was set, with `mark` in it, or with what `is_of` recognises.

    `is_of` gets the value and the command of the `hook` that was installed with it, which may be of another day.
    """

    mark: str | None = None
    hook: Hook | None = None
    is_of: Callable[[str, str], bool] = lambda value, command: False
    may_be_claimed: ClassVar[bool] = True

    @property
    def is_surely_ours(self) -> bool:
        return bool(self.mark)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        return _restored(config, self.path, before) if self.is_in(config) else config

    def is_in(self, config: ParsedConfig) -> bool:
        value = at(config.data, self.path)
        if value == self.value or not isinstance(value, str):
            return bool(value == self.value)
        commands = [at(config.data, place)["command"] for place in self.hook.places(config)] if self.hook else []
        return bool(self.mark and self.mark in value) or any(self.is_of(value, command) for command in commands)

    def programs(self, config: ParsedConfig) -> list[str]:
        listed = _LISTED.search(str(at(config.data, self.path))) if self.mark and self.is_in(config) else None
        return json.loads(listed[1])[:1] if listed else []


@dataclass(frozen=True)
class Default(Desired):
    """A value that the host needs beside ours: put where there is none, and never the last thing to stay."""

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config if at(config.data, self.path) is not None else config.put(self.path, self.value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """`config` as it is: `restore` removes defaults, once it is known that nobody else needs them."""
        return config


@dataclass(frozen=True)
class Trait(Desired):
    """A value in the entry of our `server`, which goes with that."""

    server: Server

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        if not (self.is_in(config) and self.server.is_in(config)):
            return config
        return config if before and self.is_in(before) else config.drop(self.path)


@dataclass(frozen=True)
class Element(Desired):
    """A value among those of an array, which others add to as well."""

    may_be_claimed: ClassVar[bool] = True

    def put(self, config: ParsedConfig) -> ParsedConfig:
        there = self._elements(config)
        return config if self.value in there else config.put((*self.path, len(there)), self.value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        if not self.is_in(config) or (before and self.is_in(before)):
            return config
        return _dropped(config, (*self.path, self._elements(config).index(self.value)), before)

    def is_in(self, config: ParsedConfig) -> bool:
        return self.value in self._elements(config)

    def _elements(self, config: ParsedConfig) -> list[Any]:
        """The array; empty where the host would find none. Putting an element into something else is refused."""
        there = at(config.data, self.path)
        return there if isinstance(there, list) else []


@dataclass(frozen=True)
class Switch(Desired):
    """A value that replaces `over` and nothing else: where the host says something else, or nothing, it stays so."""

    over: object

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config.put(self.path, self.value) if at(config.data, self.path) == self.over else config

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        is_over = before is not None and at(before.data, self.path) == self.over
        return config.put(self.path, self.over) if is_over and at(config.data, self.path) == self.value else config

    def is_in(self, config: ParsedConfig) -> bool:
        return bool(at(config.data, self.path) != self.over)


def put_all(config: ParsedConfig, desired: Iterable[Desired]) -> ParsedConfig:
    """`config` with all that is desired; the same when it holds that already."""
    for each in desired:
        config = each.put(config)
    return config


def remove_all(config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None) -> ParsedConfig:
    """`config` without what was desired, and with what that replaced; all else stays."""
    for each in desired:
        config = each.remove(config, before)
    return config


def restore(
    config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None, is_sure: bool = True
) -> ParsedConfig:
    """`config` without what an installation put there; `before` itself, when nobody changed anything since.

    What a person may have written as well is only removed when it `is_sure` that there was an installation.
    """
    desired = list(desired)
    config = remove_all(config, [each for each in desired if is_sure or each.is_surely_ours], before)
    config = _without_defaults(config, desired, before)
    return before if before and before.data == config.data else config


def holds_ours(config: ParsedConfig, desired: Iterable[Desired]) -> bool:
    """Whether anything in `config` can only be of an installation."""
    return any(each.is_in(config) for each in desired if each.is_surely_ours)


def holds_claim(config: ParsedConfig, desired: Iterable[Desired]) -> bool:
    """Whether anything in `config` is as an installation wants it that a person may have written as well."""
    return any(each.is_in(config) for each in desired if each.may_be_claimed and not each.is_surely_ours)


def _merged(config: ParsedConfig, path: Path, value: dict[str, Any]) -> ParsedConfig:
    """`config` with each of the values under `path`, beside what else is there."""
    if not isinstance(at(config.data, path), dict):
        return config.put(path, value)
    for key, item in value.items():
        if at(config.data, (*path, key)) != item:
            config = config.put((*path, key), item)
    return config


def _restored(config: ParsedConfig, path: Path, before: ParsedConfig | None) -> ParsedConfig:
    """`config` with what was at `path` before."""
    old = at(before.data, path) if before else None
    return _dropped(config, path, before) if old is None else config.put(path, old)


def _dropped(config: ParsedConfig, path: Path, before: ParsedConfig | None) -> ParsedConfig:
    """`config` without what is at `path`, and without what is empty then and was not there before."""
    config = config.drop(path)
    parent = path[:-1]
    was_there = before is not None and at(before.data, parent) is not None
    if not parent or was_there or at(config.data, parent) is None:
        return config
    return config if at(config.data, parent) else _dropped(config, parent, before)


def _without_defaults(config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None) -> ParsedConfig:
    """`config` without what was only there for ours, unless somebody else may need it by now."""
    old = before.data if before else {}
    left = config
    for each in desired:
        if isinstance(each, Default) and each.is_in(left) and at(old, each.path) is None:
            left = _dropped(left, each.path, before)
    return left if left.data == old else config


def _words(entry: Any) -> list[str]:
    """The words of the command in the entry of a server, which are in one list or two."""
    found = [entry.get(key, []) for key in ("command", "cmd", "args")] if isinstance(entry, dict) else []
    return [str(word) for part in found for word in (part if isinstance(part, list) else [part])]


def _commands(value: Any, path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """The objects in the array at `path`, and in the `hooks` of those, with a command that is ours."""
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            command = item.get("command")
            if isinstance(command, str) and is_ours(command):
                yield (*path, number)
            yield from _commands(item.get("hooks"), (*path, number, "hooks"), is_ours)


def _call(command: str) -> tuple[str, str] | None:
    """The event and the host that a command of ours names; None for a command of somebody else."""
    found = _CALL.search(command)
    return (found["event"], found["host"]) if found and "crabmem" in command[: found.start()] else None


def _program(command: str) -> str:
    """The program that the line of a hook calls: itself, or by the shell that sees to its end."""
    words = shlex.split(command)
    return words[words.index("sh") + 3] if "exec sh -c " in command else words[0]
