"""A session on a workspace: who reads and writes, and what they see. Every operation is a function over one."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ..disk.store import Scan, Store
from ..errors import Busy, CrabmemError, Disabled, InvalidSettings
from ..git import Note, identity
from ..git.commit import one_line
from ..git.timeline import Timeline
from ..recall.auto_recall import Speaker
from ..recall.catalog import Progress
from ..results import CREATOR, Begun
from ..text.credentials import Screen
from ..workspace.settings import Settings
from ..workspace.workspace import DEFAULT, SETTINGS, Layout, Workspace
from ..write.actor import Voice
from ..write.writer import Draft, Written
from .engine import Engine
from .snapshot import Snapshot
from .view import EVERYTHING, View

if TYPE_CHECKING:
    from ..prompt.profile import Kind, Profile

# So often a look is repeated while files change under it.
_TRIES = 10
T = TypeVar("T")


class Session:
    """Who reads and writes in a workspace, and in which kind of session.

    Sessions on one engine share all else: closing one closes all. Safe between threads; any number of processes may
    hold one on the same workspace. Nothing is made on disk before the first write.
    """

    def __init__(self, engine: Engine, actor: Voice, kind: str = "main") -> None:
        """Raises InvalidArguments: there is no such kind of session."""
        self.engine = engine
        self.actor = actor
        self.kind: Kind = _kind_of(kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, seen: Mapping[int, object]) -> Self:
        """Itself: frameworks copy what they are given, and a copy would hold the same workspace."""
        return self

    def close(self, wait: bool = True) -> None:
        """Close the workspace for every session on it; `wait` until nothing begun here is at work on it any more."""
        self.engine.close(wait)

    def for_actor(self, agent: str | None, session: str | None) -> Self:
        """The same memory for another agent who reads and writes. Closing one closes both."""
        return self._with(Voice(agent, session), self.kind)

    def of_kind(self, kind: "Kind") -> Self:
        """The same memory for a session of another kind. Closing one closes both.

        Raises:
            InvalidArguments: there is no such kind.
        """
        return self._with(self.actor, kind)

    def _with(self, actor: Voice, kind: str) -> Self:
        other = object.__new__(type(self))
        Session.__init__(other, self.engine, actor, kind)
        return other

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self.engine.workspace.root

    @property
    def agent(self) -> str | None:
        """The agent who reads and writes here; None while none is named."""
        return self.actor.agent

    @property
    def recovered(self) -> tuple[str, ...]:
        """What was repaired after a crash when the workspace was opened, a line each."""
        # It may be in files that a session of another kind does not see.
        return self.engine.recovered if self.kind == "main" else ()

    @property
    def layout(self) -> Layout:
        """Which files of the workspace are what, since it was opened."""
        return self.engine.workspace.layout

    @property
    def profile(self) -> "Profile":
        """Which files go before a conversation, which tools there are, how files are searched.

        Raises:
            InvalidArguments: it is a file that is not there any more.
            InvalidSettings: it cannot be read any more.
        """
        from ..prompt.profile import named  # late: not every process asks

        return named(self.profile_name)

    @property
    def profile_name(self) -> str:
        """What the profile is called: a name, or the path of its file."""
        return self.engine.workspace.profile or DEFAULT

    @property
    def settings(self) -> Settings:
        """The settings as `crabmem.toml` now says; keys that there are not are passed over, see `settings_problem`.

        Raises:
            InvalidSettings: it says something that cannot be, or to sessions that may not see everything, an unknown
                key, which may be what was to hide something.
        """
        rules, problem = self.engine.settings_now()
        if problem and self.kind != "main":
            raise InvalidSettings(problem)
        return rules

    @property
    def settings_problem(self) -> str:
        """Which keys of `crabmem.toml` are unknown, with the nearest that is; "" for none, or when it cannot be read.

        What agents write is refused for one: it may be a mistyped key that was to keep something from them.
        """
        try:
            return self.engine.settings_now()[1]
        except CrabmemError:  # whoever needs the settings says what is wrong with them
            return ""

    def checked_settings(self) -> Settings:
        """The settings, of which every key has to be known.

        Raises:
            InvalidSettings: one is not.
        """
        if problem := self.settings_problem:
            raise InvalidSettings(problem)
        return self.settings

    @property
    def soul_editable(self) -> bool:
        """Whether agents may write `Crab.md`."""
        given = self.engine.soul_editable
        return self.settings.soul_editable if given is None else given

    @property
    def view(self) -> View:
        """What this session may see just now."""
        return EVERYTHING if self.kind == "main" else View.of(self.profile, self.kind)

    @cached_property
    def timeline(self) -> Timeline:
        """The past, as far as the actor may look: a person into every branch, an agent into memory's own."""
        return self.engine.timeline(any_revision=not self.actor.is_agent)

    @cached_property
    def speaker(self) -> Speaker:
        """What memory says before turns, once in a session."""
        return Speaker(self.engine.turns, one_line(self.actor.session or "") or None)

    def today(self) -> date:
        """The day it is here."""
        return self.engine.today()

    # Reading

    def look(self, read: Callable[[Snapshot], T], at: str | None = None) -> T:
        """What `read` makes of memory as it is, or as it was at a revision or time.

        `read` is called again when a file changes between two looks at it.

        Raises:
            NotFound: there is no such revision or time.
        """
        if at is not None:
            return self.look_at(self.timeline.commit_at(at), read)
        view = self.view

        def once() -> T:
            return read(Snapshot(self.engine, view, self.engine.scan()))

        for _ in range(_TRIES):
            try:
                return once()
            except Busy:
                continue
        return once()

    def look_at(self, commit: str, read: Callable[[Snapshot], T], keep: bool = True) -> T:
        """What `read` makes of memory as a commit has it; with `keep` the next process has its index, too."""
        return read(Snapshot(self.engine, self.view, commit=commit, keep=keep))

    # Writing

    def write(
        self, decide: Callable[[Snapshot], Draft[T]], *, is_seeded: bool = True, dry_run: bool = False
    ) -> Written[T]:
        """Write what `decide` makes of memory as it is while nobody else writes; with `dry_run` only say what.

        `decide` may be called several times; what it says last is written. Where there is no workspace it is begun
        first, `is_seeded` with the files of its profile.

        Raises:
            Disabled: it would change a file that this session may not see.
            Busy: another writer holds the lock.
            Unwritable: the disk refused.
            MassLoss: it would cost too many facts at once.
        """
        self.check_may_write()
        view = self.view

        def decided(scan: Scan) -> Draft[T]:
            draft = decide(Snapshot(self.engine, view, scan))
            if not all(map(view.allows, draft.changes)):
                words = f"that would change what is not for sessions of the kind {self.kind}"
                raise Disabled(f"{words}; leave it to one of the kind main")
            return draft

        engine = self.engine
        if dry_run:
            scan = engine.store.scan()
            draft = decided(scan)
            before = {path: scan.data(path) for path in draft.changes}
            return Written(None, before, draft.changes, self.settings.secrets, draft.result)
        if not engine.history.has_begun():
            decided(engine.store.scan())  # what is refused anyway makes no workspace
            self.begin(is_seeded=is_seeded)
        done = engine.writer.write(decided)
        engine.upkeep.nudge()
        return done

    def look_ahead(self, decide: Callable[[Snapshot], Draft[T]]) -> None:
        """Have a write decide before it holds the lock: what its screen sees in texts is known when it does."""
        with suppress(CrabmemError):  # the write itself says what is wrong, of the files as they are then
            decide(Snapshot(self.engine, self.view, self.engine.store.scan()))

    def beside(self, work: Callable[[Snapshot], T]) -> T:
        """Record outside edits, and do what `work` says to history beside the branch, and to no file."""
        self.check_may_write()
        return self.engine.writer.beside(lambda scan: work(Snapshot(self.engine, self.view, scan)))

    def begin(
        self, claim: bool = False, is_seeded: bool = True, dry_run: bool = False, progress: Progress | None = None
    ) -> Begun:
        """Make the workspace, with the files that its profile has one begin with; nothing where there is one.

        With `claim`, also in an ordinary repository that holds no memory yet. Without `is_seeded` no file is made.
        With `dry_run` nothing is written, and the answer says what would be. `progress` is called with how many of the
        files that are there already were stored.
        """
        if self.engine.history.has_begun():
            return Begun(str(self.root), False, None, (), ())
        note = Note("init: a new memory", identity(CREATOR))

        def wanted(scan: Scan) -> Mapping[str, bytes]:
            return self.seeds(scan) if is_seeded else {}

        return self.begin_with(wanted, note, claim, dry_run, progress)

    def begin_with(
        self,
        wanted: Callable[[Scan], Mapping[str, bytes]],
        note: Note,
        claim: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Begun:
        """Write the files that are `wanted` where nothing stands, and settings; the first commit, where there is none.

        The other arguments are those of `begin`.
        """
        history, writer = self.engine.history, self.engine.writer
        made = not history.exists()
        self.check_may_write()

        def decide(scan: Scan) -> Draft[list[str]]:
            files = wanted(scan)
            left = [path for path in files if path != SETTINGS and os.path.lexists(self.file(path))]
            return Draft({path: data for path, data in files.items() if path not in left}, note, left)

        if dry_run:
            scan = self.engine.store.scan()
            draft = decide(scan)
            paths = tuple(path for path, data in draft.changes.items() if data != scan.data(path))
            return Begun(str(self.root), made, None, paths, tuple(draft.result))
        if claim and not made and not history.has_begun():
            history.claim()
        writer.record_ahead(progress or (lambda done, total: None))
        done = writer.write(decide)
        paths = tuple(path for path, data in done.after.items() if data != done.before[path])
        return Begun(str(self.root), made, done.commit, paths, tuple(done.result))

    def seeds(self, scan: Scan, name: str = "", description: str = "") -> dict[str, bytes]:
        """What the profile has this workspace begin with; nothing that was there once and is gone."""
        from ..prompt.seeding import seeds  # late: few writes seed anything

        if not self.layout.is_seeded:
            return {}
        history, head = self.engine.history, self.timeline.head()
        is_new = not (scan.files.keys() | history.files(head).keys()) - {SETTINGS}
        about = {"name": name or self.root.name, "description": description}
        found = seeds(self.profile, self.layout, self.engine.parent() is not None, is_new, about)

        def was_there(path: str) -> bool:
            return head is not None and next(history.commits(path=path), None) is not None

        return {path: text.encode() for path, text in found.items() if path in scan.files or not was_there(path)}

    def note(self, tool: str, what: str) -> Note:
        """The words of a commit of the actor's."""
        return self.actor.note(tool, what, self.settings.person)

    def screen(self, *texts: str) -> Screen:
        """What refuses credentials, as the settings say. It looks into `texts` now, when nobody waits for the lock."""
        return Screen(self.settings.secrets, *texts)

    @property
    def kept_from_actor(self) -> frozenset[str]:
        """The files that the actor may not bring back or lead links out of: an agent those that are the person's."""
        if not self.actor.agent:
            return frozenset()
        return frozenset({SETTINGS} if self.soul_editable else {SETTINGS, self.layout.identity})

    def check_may_write(self) -> None:
        """Refuse an agent's write while a key of the settings is unknown: it may be one that was to refuse it."""
        if self.actor.is_agent:
            self.checked_settings()

    # Files

    def file(self, path: str) -> Path:
        """The file at a path of the workspace."""
        return self.engine.workspace.file(path)

    def own(self, path: str, at: str | None = None) -> bytes | None:
        """The bytes of a file, now or as it was at a revision or time; None where there is none, or it is hidden."""
        if not self.view.allows(path):
            return None
        if at is not None:
            return self.timeline.file(self.timeline.commit_at(at), path)
        data = self.engine.store.read(path)
        if data is None:
            self.engine.check_not_moved()
        return data

    def parents(self, path_in: Callable[[Layout], str], at: str | None = None) -> bytes | None:
        """The bytes of a file of the workspace around an agent's own; None where there is none, of either."""
        if (parent := self.engine.parent()) is None:
            return None
        path = path_in(parent.layout)
        if self.kind != "main" and not View.of(_profile_of(parent), self.kind).allows(path):
            return None
        if at is not None:
            return self.timeline.file_of(parent, self.timeline.commit_at(at), path)
        now_ns = int(self.engine.clock().timestamp() * 1_000_000_000)
        return Store(parent, lambda: now_ns).read(path)


def _profile_of(workspace: Workspace) -> "Profile":
    from ..prompt.profile import named  # late: most sessions are main

    return named(workspace.profile or DEFAULT)


def _kind_of(kind: str) -> "Kind":
    """`kind`, which is one.

    Raises:
        InvalidArguments: it is none.
    """
    if kind == "main":
        return "main"
    from ..prompt.profile import checked_kind  # late: most sessions are main

    return checked_kind(kind)
