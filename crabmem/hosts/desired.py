"""The entries that an installation wants in a config: how each kind is put there, found again, and removed. No files.

A kind is a class with `put`, `remove` and `is_in`; a new kind needs only a new class.
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

# The end of a hook's line as `InstallOptions.hook_line` writes it, and as older versions did, without `sh` around it.
_CALL = re.compile(r" hook (?P<event>[a-z-]+)(?: --guide)?(?: --without [a-z]+)? --host (?P<host>[a-z-]+)\Z")
# The places in a CamelCase name of an event at which Codex's snake_case name of it has an underscore.
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
# The line of the plugin for OpenCode (`opencode.plugin`) that names our program.
_LISTED = re.compile(r"^const PROGRAM = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True)
class Desired(ABC):
    """Something that a config is to hold at `path`.

    In all methods `before` is the config as it was before the installation; None if that is not known.
    """

    path: Path
    value: Any
    #: Whether a person may well have written the same: a permission in a list, a setting.
    may_be_claimed: ClassVar[bool] = False

    @property
    def is_surely_ours(self) -> bool:
        """Whether this in a config proves an installation: our commands do, a permission or a switch does not."""
        return False

    def put(self, config: ParsedConfig) -> ParsedConfig:
        """Return `config` with this in it; `config` itself if it is there already."""
        return config if at(config.data, self.path) == self.value else config.put(self.path, self.value)

    @abstractmethod
    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """Return `config` without this, and with what it replaced; `config` itself if it holds nothing of ours."""

    def is_in(self, config: ParsedConfig) -> bool:
        """Whether `config` holds this, whichever program and workspace it names."""
        return bool(at(config.data, self.path) == self.value)

    def programs(self, config: ParsedConfig) -> list[str]:
        """Return the programs that this has `config` call, by the paths that they had when it was installed."""
        return []


@dataclass(frozen=True)
class Server(Desired):
    """The entry of our server. What a person adds to it stays until the entry is removed as a whole.

    An entry of the same name that calls another command is the person's: removal brings it back from `before`.
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
        """Whether the entry calls our server for this host, wherever crabmem is and whatever a person added.

        Only the last three words of the command count: `--agent HOST mcp`.
        """
        return " ".join(_words(self.value)[-3:]) in " ".join(_words(at(config.data, self.path)))

    def programs(self, config: ParsedConfig) -> list[str]:
        return _words(at(config.data, self.path))[:1] if self.is_in(config) else []


@dataclass(frozen=True)
class Hook(Desired):
    """One command of ours in the array of an event at `path`.

    In a host that has groups, `group` holds the keys of the group around the command; None in other hosts.
    """

    value: dict[str, Any]
    group: dict[str, Any] | None = None

    @property
    def is_surely_ours(self) -> bool:
        return True

    def put(self, config: ParsedConfig) -> ParsedConfig:
        """Return `config` with the command: in the place of one from an earlier installation, else at the end."""
        if places := self.places(config):
            return _merged(config, places[0], self.value)
        value = self.value if self.group is None else {**self.group, "hooks": [self.value]}
        return config.put((*self.path, len(at(config.data, self.path) or ())), value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """Return `config` without our commands of this event; a group goes with its only command."""
        # The last one first, and found anew each time: a removal moves those behind it.
        while places := self.places(config):
            place = places[-1]
            is_grouped = len(place) > len(self.path) + 1
            is_alone = is_grouped and len(at(config.data, place[:-1])) == 1
            config = _dropped(config, place[:-2] if is_alone else place, before)
        return config

    def is_in(self, config: ParsedConfig) -> bool:
        return bool(self.places(config))

    def places(self, config: ParsedConfig) -> list[Path]:
        """Return the paths of our commands of this event and host, whichever program and workspace they name."""
        ours = _call(self.value["command"])
        return list(_commands(at(config.data, self.path), self.path, lambda command: _call(command) == ours))

    def programs(self, config: ParsedConfig) -> list[str]:
        return [_program(at(config.data, place)["command"]) for place in self.places(config)]


@dataclass(frozen=True)
class Trust(Desired):
    """A note that the host itself writes when the person trusts a `hook` of ours: `put` writes none.

    Notes are below `path`, by keys made of the config that holds the hook (`value`), the event, and the hook's
    position. So notes must be removed before the hooks that they are about.
    """

    value: str
    hook: Hook

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """Return `config` without the notes on the hook. The hook must still be in it: their keys have its position."""
        event = _CAPITAL.sub("_", str(self.hook.path[-1])).lower()
        for *_, group, _, number in self.hook.places(config):
            path = *self.path, f"{self.value}:{event}:{group}:{number}"
            if at(config.data, path) is not None:
                config = _dropped(config, path, before)
        return config


@dataclass(frozen=True)
class Setting(Desired):
    """One value. Only if it counts as ours it is removed: if it is `value`, contains `mark`, or `is_of` recognises it.

    `is_of` is called with the value in the config and with each command found there for `hook`. These may be from an
    installation with other options than now.
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
    """A value that the host needs beside ours: put if there is none, removed only if nothing else was changed since."""

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config if at(config.data, self.path) is not None else config.put(self.path, self.value)

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """Return `config` as it is: `restore` removes defaults, once it is known that nobody else needs them."""
        return config


@dataclass(frozen=True)
class Trait(Desired):
    """A value in the entry of our `server`. It is removed only while that entry is ours, unless `before` has it."""

    server: Server

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        if not (self.is_in(config) and self.server.is_in(config)):
            return config
        return config if before and self.is_in(before) else config.drop(self.path)


@dataclass(frozen=True)
class Element(Desired):
    """A value in an array, to which others add as well. One that was there before stays on removal."""

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
        """Return the array at `path`; empty if there is none, or something else, into which `put` then fails."""
        there = at(config.data, self.path)
        return there if isinstance(there, list) else []


@dataclass(frozen=True)
class Switch(Desired):
    """A value that replaces `over` and nothing else: if the config has another value there, or none, that stays."""

    over: object

    def put(self, config: ParsedConfig) -> ParsedConfig:
        return config.put(self.path, self.value) if at(config.data, self.path) == self.over else config

    def remove(self, config: ParsedConfig, before: ParsedConfig | None) -> ParsedConfig:
        """Return `config` with `over` again, if that was there before and our value still is in its place."""
        is_over = before is not None and at(before.data, self.path) == self.over
        return config.put(self.path, self.over) if is_over and at(config.data, self.path) == self.value else config

    def is_in(self, config: ParsedConfig) -> bool:
        """Whether `config` has anything but `over`: a missing value has the same effect as ours."""
        return bool(at(config.data, self.path) != self.over)


def put_all(config: ParsedConfig, desired: Iterable[Desired]) -> ParsedConfig:
    """Return `config` with all that is desired; `config` itself if it holds that already."""
    for each in desired:
        config = each.put(config)
    return config


def remove_all(config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None) -> ParsedConfig:
    """Return `config` without what was desired, and with what that replaced; all else stays."""
    for each in desired:
        config = each.remove(config, before)
    return config


def restore(
    config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None, is_sure: bool = True
) -> ParsedConfig:
    """Return `config` without what an installation put there; `before` itself if that has the same data.

    What a person may have written as well is removed only if it `is_sure` that there was an installation.
    """
    desired = list(desired)
    config = remove_all(config, [each for each in desired if is_sure or each.is_surely_ours], before)
    config = without_defaults(config, desired, before)
    return before if before and before.data == config.data else config


def holds_ours(config: ParsedConfig, desired: Iterable[Desired]) -> bool:
    """Whether `config` holds anything that only an installation writes."""
    return any(each.is_in(config) for each in desired if each.is_surely_ours)


def holds_claim(config: ParsedConfig, desired: Iterable[Desired]) -> bool:
    """Whether `config` holds something that is desired but that a person may have written as well."""
    return any(each.is_in(config) for each in desired if each.may_be_claimed and not each.is_surely_ours)


def _merged(config: ParsedConfig, path: Path, value: dict[str, Any]) -> ParsedConfig:
    """Return `config` with each key of `value` set in the object at `path`; other keys there stay."""
    if not isinstance(at(config.data, path), dict):
        return config.put(path, value)
    for key, item in value.items():
        if at(config.data, (*path, key)) != item:
            config = config.put((*path, key), item)
    return config


def _restored(config: ParsedConfig, path: Path, before: ParsedConfig | None) -> ParsedConfig:
    """Return `config` with what `before` has at `path`; without anything there if that had nothing."""
    old = at(before.data, path) if before else None
    return _dropped(config, path, before) if old is None else config.put(path, old)


def _dropped(config: ParsedConfig, path: Path, before: ParsedConfig | None) -> ParsedConfig:
    """Return `config` without what is at `path`, and without the objects around it that are empty then and were not in
    `before`.
    """
    config = config.drop(path)
    parent = path[:-1]
    was_there = before is not None and at(before.data, parent) is not None
    if not parent or was_there or at(config.data, parent) is None:
        return config
    return config if at(config.data, parent) else _dropped(config, parent, before)


def without_defaults(config: ParsedConfig, desired: Iterable[Desired], before: ParsedConfig | None) -> ParsedConfig:
    """Return `config` without our defaults if nothing else differs from `before`; else as it is.

    Somebody who changed the config since may need them.
    """
    old = before.data if before else {}
    left = config
    for each in desired:
        if isinstance(each, Default) and each.is_in(left) and at(old, each.path) is None:
            left = _dropped(left, each.path, before)
    return left if left.data == old else config


def _words(entry: Any) -> list[str]:
    """Return the words of the command in the entry of a server. Hosts write them as one list, or as `command` (or
    `cmd`) and `args`.
    """
    found = [entry.get(key, []) for key in ("command", "cmd", "args")] if isinstance(entry, dict) else []
    return [str(word) for part in found for word in (part if isinstance(part, list) else [part])]


def _commands(value: Any, path: Path, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield the paths of the objects in the array `value`, which is at `path`, whose command is ours; also of those in
    the `hooks` of its groups.
    """
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            command = item.get("command")
            if isinstance(command, str) and is_ours(command):
                yield (*path, number)
            yield from _commands(item.get("hooks"), (*path, number, "hooks"), is_ours)


def _call(command: str) -> tuple[str, str] | None:
    """Return the event and the host that a command of ours names; None for somebody else's command."""
    found = _CALL.search(command)
    return (found["event"], found["host"]) if found and "crabmem" in command[: found.start()] else None


def _program(command: str) -> str:
    """Return the program that the line of a hook calls, by itself or within `sh -c SCRIPT`."""
    words = shlex.split(command)
    # In the line of `hook_line` the program follows `sh`, `-c` and the script.
    return words[words.index("sh") + 3] if "exec sh -c " in command else words[0]
