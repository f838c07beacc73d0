"""Scopes: the memories that a session sees beside its own, each by a name. Writes go to its own unless one is named.

The memory of a project lies in a person's, which it sees. Others are named by the setting `also`, there and in the
person's: of these only what this user allowed on this machine counts.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TypeAlias

from ..disk import fs
from ..disk.fork_lock import Guard
from ..disk.stat import packed
from ..errors import CrabmemError, Inapplicable, InvalidArguments, NotFound
from ..recall.entries import Entries
from ..recall.together import Together
from ..text.addresses import name_parted
from ..text.commands import command, program_at
from ..text.slug import slug_of
from ..text.values import once
from ..text.words import counted
from ..workspace.layout import SETTINGS
from ..workspace.settings import Settings
from ..workspace.workspace import PROJECTS, Workspace, folder_of
from .engine import Engine, Options
from .locate import agent_folders, allowed_beside, known_settings_at, place_meant
from .session import Session

#: Engines by name, and messages about memories that cannot be read.
Found: TypeAlias = tuple[Mapping[str, Engine], tuple[str, ...]]
#: The names of a person's own memory, and of that of the project at hand.
PERSON, PROJECT = "me", "project"


def _stamp(file: Path | str | None) -> bytes | None:
    try:
        return packed(os.stat(file)) if file else None
    except OSError:
        return None


def _unreadable(name: str) -> str:
    return f"the memory called {name} cannot be read; `crabmem doctor` says why"


class Scopes:
    """The memories beside the one that an engine holds open. Each is opened when it is first looked at."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Held to change `_open`, so that two threads do not open one memory twice.
        self._guard = Guard()
        # By their folder, and `is_alone`: whether they see no others in turn.
        self._open: dict[tuple[str, bool], Engine] = {}
        self._together: Together | None = None
        # The last find, and what it depends on.
        self._found: tuple[object, Found] | None = None

    @once
    def _person(self) -> str:
        """The folder of the person's memory that this project's lies in; "" where it is no project's."""
        above, name = os.path.split(os.path.dirname(self._engine.workspace.folder))
        return above if name == PROJECTS and fs.is_own_folder(Workspace(above).private) else ""

    @once
    def own(self) -> str:
        """The name of the memory itself."""
        return PROJECT if self._person else self._name(self._engine.workspace.folder)

    def beside(self, rules: Settings) -> Found:
        """The other memories by name, the nearest first, and messages (without paths) about those not searched.

        Memories are opened here. The answer is kept until the setting `also`, the person's settings or this user's
        permissions change; with messages in it, it is computed again each time.

        Raises:
            InvalidSettings: the settings of the person's memory cannot be read.
        """
        files = self._engine.allowed.file, os.path.join(self._person, SETTINGS) if self._person else None
        depends = rules.also, *map(_stamp, files)
        found = self._found
        if found is None or found[0] != depends or found[1][1]:
            found = self._found = depends, self._look(rules)
        return found[1]

    def dropped(self, name: str, engine: Engine) -> str:
        """Close a memory that can no longer be read, so that it is looked for again next time; return the message."""
        with self._guard:
            self._open = {place: each for place, each in self._open.items() if each is not engine}
        self._found = None
        engine.close(wait=False)
        return _unreadable(name)

    def _look(self, rules: Settings) -> Found:
        found: dict[str, Engine] = {}
        troubles: list[str] = []
        for folder in self._folders(rules, troubles):
            name = self._free_name(folder, found)
            try:
                found[name] = self._opened(folder)
            except CrabmemError:
                troubles.append(_unreadable(name))
        return found, tuple(troubles)

    def faults(self, rules: Settings) -> Iterator[str]:
        """For `doctor`: yield the reason for each memory that may be seen and cannot be opened."""
        folders = self._folders(rules, [])
        while True:
            try:
                self._opened(next(folders))
            except StopIteration:
                return
            except CrabmemError as error:  # of a memory, or of the person's settings, which name others
                yield error.problem

    def missing(self) -> str:
        """The folder where the person's memory would lie, if this is a project's and none was begun there; else ""."""
        above, name = os.path.split(os.path.dirname(self._engine.workspace.folder))
        return above if name == PROJECTS and not self._person else ""

    def elsewhere(self) -> Iterator[Engine]:
        """Yield the person's memory and all projects' memories, which may see this one; skip unreadable ones."""
        for home in dict.fromkeys((self._home(), self._person or self._engine.workspace.folder)):
            for folder in (home, *map(str, agent_folders(Workspace(home), PROJECTS))):
                if os.path.realpath(folder) != os.path.realpath(self._engine.workspace.folder):
                    with suppress(CrabmemError):
                        yield self._opened(folder, is_alone=False)

    def check_settings(self, rules: Settings) -> None:
        """Raise InvalidSettings where the settings of the person's memory cannot be read."""
        for _ in self._folders(rules, []):
            pass

    def together(self, members: Mapping[str, Entries]) -> Together:
        """One source of recall over the entries of several memories; the last one is kept while no index changes."""
        if self._together is None or not self._together.is_of(members):
            self._together = Together(members)
        return self._together

    def keep(self) -> None:
        """Keep for the next process what reading them found."""
        for engine in list(self._open.values()):  # another thread may open one meanwhile
            engine.keep()

    def close(self, wait: bool) -> None:
        """Close those that were opened."""
        for engine in list(self._open.values()):
            engine.close(wait)

    def _folders(self, rules: Settings, troubles: list[str]) -> Iterator[str]:
        """Yield the real paths of the other memories: those in `also`, the person's, those in the person's `also`.

        Folders that this user has not allowed are left out, and counted in a message that is appended to `troubles` at
        the end.
        """
        own = os.path.realpath(self._engine.workspace.folder)
        seen, refused = {own}, 0
        for folder in (own, os.path.realpath(self._person) if self._person else ""):
            if not folder:
                continue
            if folder not in seen:
                seen.add(folder)
                yield folder
            said = rules if folder == own else known_settings_at(folder)[0]
            allowed, left = allowed_beside(folder, said, self._engine.allowed) if said.also else ((), 0)
            refused += left
            yield from (place for place in allowed if place not in seen)
            seen.update(allowed)
        if refused:
            # The settings may be a stranger's words, so they are not repeated here, where a model reads them.
            which = f"{counted(refused, 'memory')} that nobody here has allowed not searched"
            troubles.append(f"{which}; `crabmem config allow` says which, and allows it")

    def _opened(self, folder: str, is_alone: bool = True) -> Engine:
        """The engine of another memory, opened on first use. With `is_alone` it sees no other memories in turn.

        Raises:
            Inapplicable: there is no memory in the folder.
        """
        with self._guard:
            if (folder, is_alone) not in self._open:
                given = self._engine
                options = Options(is_brief=given.options.is_brief, is_alone=is_alone, project=given.options.project)
                if not fs.is_own_folder(Workspace(folder).private):
                    raise Inapplicable(f"there is no memory in {folder}")
                opened = Engine(folder, given.clock, given.environment, options)
                opened.recover()
                self._open[folder, is_alone] = opened
            return self._open[folder, is_alone]

    def _name(self, folder: str) -> str:
        is_persons = folder == self._person or os.path.realpath(folder) == os.path.realpath(self._home())
        return PERSON if is_persons else slug_of(os.path.basename(folder).lstrip(".") or "other")

    def _home(self) -> str:
        """The folder of the person's memory, where the environment says."""
        return folder_of(None, "", self._engine.environment, self._engine.environment.get("HOME", ""))

    def _free_name(self, folder: str, taken: Mapping[str, Engine]) -> str:
        name = wanted = self._name(folder)
        number = 1
        while name in taken or name == self.own:
            number += 1
            name = f"{wanted}-{number}"
        return name


def looked_beside(session: Session, rules: Settings) -> tuple[dict[str, Session], tuple[str, ...]]:
    """Sessions on the other memories that are seen by the settings `rules`, by name, and messages about those that are
    not searched: they cannot be read, or nobody allowed them.

    Callers ask `Engine.sees_others` first. What is written in these sessions is reported to the given one's `teller`.
    """
    engines, troubles = session.engine.scopes.beside(rules)
    found = {name: Session(each, session.actor, session.kind) for name, each in engines.items()}
    for other in found.values():
        other.teller = session.teller
    return found, troubles


def others(session: Session) -> dict[str, Session]:
    """Sessions of the same actor and kind on the other memories that are seen, by name, the nearest first.

    Raises:
        InvalidSettings: the settings cannot be read.
    """
    rules = session.settings
    return looked_beside(session, rules)[0] if session.engine.sees_others(rules) else {}


def scope(session: Session, name: str | None) -> Session:
    """The session on the memory called `name`; `session` itself for None and for its own name.

    Raises:
        NotFound: no such memory is seen; the message lists those that are, or tells how to begin the person's.
    """
    if name is None or name == session.engine.scopes.own:
        return session
    seen = others(session)
    if name == PERSON and (home := session.engine.scopes.missing()):
        begin = f"{program_at(home, session.engine.environment)} init"
        raise NotFound(f"you have no memory of your own yet; `{begin}` begins it")
    if name not in seen:
        there = ", ".join((session.engine.scopes.own, *seen))
        raise NotFound(f"no memory called {name} is seen here (there are: {there})")
    return seen[name]


def addressed(session: Session, name: str) -> tuple[Session, str]:
    """Split an address such as `me:Editor` into a session on that memory and the name in it.

    A name that is no address of a memory seen here is returned unchanged, with `session` itself.
    """
    whose, rest = name_parted(name)
    if rest and session.engine.sees_others(session.settings):
        if whose == session.engine.scopes.own:
            return session, rest
        if whose in (seen := others(session)):
            return seen[whose], rest
    return session, name


def scope_in(session: Session, name: str) -> str:
    """The name of the other memory that an address points to; "" if `name` points into this memory."""
    return scope_of(session, addressed(session, name)[0])


def check_is_here(session: Session, name: str, verb: str, options: str = "") -> None:
    """Refuse the address of a fact in another memory, for a verb that works on the history of this one alone.

    Raises:
        NotFound: `name` points to another memory; the message has the command to run there.
    """
    other, rest = addressed(session, name)
    if other.root != session.root:
        there = command(verb, rest, options, command_for(other))
        raise NotFound(f"{name} is in another memory: `{there}` does it there")


def scope_of(session: Session, other: Session) -> str:
    """The name by which `session` sees the memory of `other`; "" if it is the same memory, or not seen."""
    if other.root == session.root:
        return ""
    return next((name for name, each in others(session).items() if each.root == other.root), "")


def check_name(session: Session, name: str, elsewhere: str, own: str = "give {rest} alone") -> None:
    """Refuse to name a fact like an address (`me:Editor`): every later use of the name would mean another fact.

    The message ends in `own` if the address is of this memory, else in `elsewhere`; {whose} and {rest} are filled in.

    Raises:
        InvalidArguments: `name` is an address.
    """
    if addressed(session, name) == (session, name):
        return
    whose, rest = name_parted(name)
    way = own if whose == session.engine.scopes.own else elsewhere
    said = way.replace("{whose}", whose).replace("{rest}", rest)
    raise InvalidArguments(f"{name} means {rest} in the memory called {whose}: {said}")


def command_for(session: Session) -> str:
    """The beginning of a shell command for this session's memory, as short as the environment allows."""
    engine = session.engine
    root, said = engine.workspace.folder, engine.environment
    with suppress(CrabmemError):
        if place_meant(None, None, None, said, said.get("HOME", "")) == root:
            return "crabmem"
        project = engine.options.project
        if project and place_meant(None, project, None, said, said.get("HOME", "")) == root:
            return f"crabmem --project {quote(project)}"
    return program_at(root, said)
