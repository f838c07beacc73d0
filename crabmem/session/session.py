"""A session on a workspace: who reads and writes, and what they see. Every operation is a function over one."""

from __future__ import annotations

from contextlib import suppress

from ..disk.store import Store
from ..errors import Busy, CrabmemError, InvalidSettings, NotFound
from ..prompt.shipped import toml_of
from ..text.values import once
from ..workspace.layout import DEFAULT
from ..write.actor import Actor
from ..write.draft import Draft, Written
from .init import init
from .rules import check_may_write
from .snapshot import Snapshot
from .view import View

TYPE_CHECKING = False
if TYPE_CHECKING:  # a session that only reads has no use for the others, nor the time to load them
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self, TypeVar

    from ..disk.scan import Scan
    from ..git.timeline import Timeline
    from ..prompt.profile import Kind, Profile
    from ..recall.auto_recall import Speaker
    from ..results import Proposal
    from ..workspace.layout import Layout
    from ..workspace.settings import Settings
    from .engine import Engine
    from .snapshot import Beside

    T = TypeVar("T")

# Attempts of one read while files change under it.
_TRIES = 10
# Proposals that a session remembers in `withheld`; older ones are dropped.
_WITHHELD = 1_000


class Session:
    """Who reads and writes in a workspace, and in which kind of session.

    Sessions on one engine share all else: closing one closes all. Safe between threads; any number of processes may
    hold one on the same workspace. Nothing is made on disk before the first write.
    """

    def __init__(self, engine: Engine, actor: Actor, kind: str = "main") -> None:
        """Begin a session of a `kind`, as a profile names them.

        Raises:
            InvalidArguments: there is no such kind of session.
        """
        self.engine = engine
        self.actor = actor
        self.kind: Kind = _kind_of(kind)
        #: Proposals that this session's writes left waiting for a person, the newest last.
        self.withheld: tuple[Proposal, ...] = ()
        #: Whether anything that this session wrote reached the files.
        self.has_written = False
        #: The session whose `withheld` and `has_written` are updated: for a memory that is seen beside another, the
        #: session that sees it, since only that one reports to anybody.
        self.teller: Session = self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, seen: Mapping[int, object]) -> Self:
        """Return itself: frameworks deep-copy their arguments, and locks and open files cannot be copied."""
        return self

    def close(self, wait: bool = True) -> None:
        """Close the workspace for every session on it; `wait` until nothing begun here is at work on it any more."""
        self.engine.close(wait)

    def for_actor(self, agent: str | None, session: str | None) -> Self:
        """The same memory for another agent who reads and writes. Closing one closes both."""
        return self._with(Actor(agent, session, proposes=self.actor.proposes), self.kind)

    def of_kind(self, kind: Kind) -> Self:
        """The same memory for a session of another kind. Closing one closes both.

        Raises:
            InvalidArguments: there is no such kind.
        """
        return self._with(self.actor, kind)

    def _with(self, actor: Actor, kind: str) -> Self:
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
    def profile(self) -> Profile:
        """Which files go before a conversation, which tools there are, how files are searched.

        Raises:
            InvalidArguments: it is a file that is not there any more.
            InvalidSettings: it cannot be read any more.
        """
        from ..prompt.profile import load_profile  # late: not every process asks

        return load_profile(self.engine.profile_name)

    @property
    def searched_files(self) -> tuple[str, ...]:
        """The patterns of the files that the profile has searched.

        Few profiles search any, so a shipped profile whose TOML has no such key is not loaded for the answer.

        Raises: as `profile`.
        """
        said = toml_of(self.engine.profile_name)
        return self.profile.search.files if said is None or "[search]\nfiles" in said else ()

    @property
    def settings(self) -> Settings:
        """The settings as `crabmem.toml` now says; unknown keys are passed over, see `settings_problem`.

        Raises:
            InvalidSettings: it says something that cannot be, or to sessions that may not see everything, an unknown
                key, which may be what was to hide something.
        """
        return self._checked(*self.engine.settings_now())

    def _checked(self, rules: Settings, problem: str) -> Settings:
        """`rules`, refused to all but main sessions if a key is unknown: it may be a mistyped key that hides files."""
        if problem and self.kind != "main":
            raise InvalidSettings(problem)
        return rules

    @property
    def view(self) -> View:
        """The view of this session just now: a person may edit the profile while the session is open."""
        return View.named(self.engine.profile_name, self.kind)

    @once
    def timeline(self) -> Timeline:
        """The past, as far as the actor may look: a person into every branch, an agent into memory's own."""
        return self.engine.timeline(any_revision=not self.actor.is_agent)

    @once
    def speaker(self) -> Speaker:
        """Decides what is injected before a turn; remembers what this session was told already."""
        from ..git.commits import one_line
        from ..recall.auto_recall import Speaker

        return Speaker(self.engine.turns, one_line(self.actor.session or "") or None)

    # Reading

    def look(self, read: Callable[[Snapshot], T], at: str | None = None) -> T:
        """Return `read(snapshot)`, of memory as it is now, or as it was at a revision or time.

        `read` is called again with a new snapshot if a file changes while it runs, so it must have no side effects.

        Raises:
            NotFound: there is no such revision or time.
            Busy: files kept changing during every attempt.
        """
        if at is not None:
            commit = self.timeline.commit_at(at)
            return read(Snapshot(self.engine, self.view, commit=commit, beside=lambda: self._beside(self.settings, at)))
        view = self.view

        def once() -> T:
            scan = self.engine.scan()

            def beside() -> Beside:  # by the settings among these files: every recall asks
                return self._beside(self._checked(*self.engine.settings_of(scan)))

            return read(Snapshot(self.engine, view, scan, beside=beside))

        for _ in range(_TRIES):
            try:
                return once()
            except Busy:
                self.engine.borrowed = None
        return once()

    def _beside(self, rules: Settings, at: str | None = None) -> Beside:
        """Snapshots of the other memories that are seen, by name, and messages about those that cannot be read.

        `at` is resolved here to a time, because another memory does not know this one's revisions. Memories that did
        not exist yet at that time are left out; those that cannot be read are closed, and looked for again next time.
        """
        if not self.engine.sees_others(rules):
            return {}, ()
        from .scopes import looked_beside  # late: most sessions see no other memory

        found = dict[str, Snapshot]()
        others, troubles = looked_beside(self, rules)
        moment = self.timeline.moment(at) if others and at is not None else ""
        for name, other in others.items():
            try:
                if at is None:
                    found[name] = Snapshot(other.engine, other.view, other.engine.scan())
                else:
                    found[name] = Snapshot(other.engine, other.view, commit=other.timeline.commit_at(moment))
            except Busy:
                raise
            except CrabmemError as error:
                if at is not None and isinstance(error, NotFound):
                    continue
                troubles = (*troubles, self.engine.scopes.dropped(name, other.engine))
        return found, troubles

    def read(self, path: str, at: str | None = None) -> bytes | None:
        """The bytes of one file, now or as it was at a revision or time, without a look at the others.

        None if there is no such file, or this session may not see it.

        Raises:
            Moved: the workspace is no longer where it was opened.
            NotFound: there is no such revision or time.
        """
        if not self.view.allows(path):
            return None
        if at is not None:
            return self.timeline.file(self.timeline.commit_at(at), path)
        data = self.engine.store.read(path)
        if data is None:
            self.engine.check_not_moved()
        return data

    def read_of_parent(self, path_in: Callable[[Layout], str], at: str | None = None) -> bytes | None:
        """The bytes of a file of the parent workspace (`Engine.parent`), now or at a revision or time.

        `path_in` returns its path in a layout, as the two workspaces may have different ones. None if there is no
        parent or no such file, or if this kind of session may not see that file in either workspace.
        """
        parent = self.engine.parent()
        if parent is None or not self.view.allows(path_in(self.layout)):
            return None
        path = path_in(parent.layout)
        if not View.named(parent.profile or DEFAULT, self.kind).allows(path):
            return None
        if at is not None:
            return self.timeline.file_of(parent, self.timeline.commit_at(at), path)
        return Store(parent, self.engine.now_ns).read(path)

    # Writing

    def write(
        self,
        decide: Callable[[Snapshot], Draft[T]],
        *,
        is_seeded: bool = True,
        looks_ahead: bool = False,
        dry_run: bool = False,
    ) -> Written[T]:
        """Write the draft that `decide` returns for memory as it is under the lock; with `dry_run` write nothing.

        `decide` must have no side effects, for it may be called once before the lock is taken, and that result is
        dropped: if there is no workspace yet, so that a refused write makes none; and with `looks_ahead`, so that its
        search for credentials has its result cached while nobody waits for the lock. A workspace that is made here
        gets the files of its profile if `is_seeded`. A write also updates `has_written` and `withheld`.

        Raises:
            Disabled: the draft would change a file that this session may not see, or the session only reads.
            Busy: another writer holds the lock.
            Unwritable: the disk refused.
            MassLoss: the draft would remove too many facts at once.
            Full: the draft would have to wait for a person, and too many proposals wait already.
        """
        check_may_write(self)
        view = self.view

        def decided(scan: Scan) -> Draft[T]:
            draft = decide(Snapshot(self.engine, view, scan))
            view.check_free(*draft.changes)
            return draft

        engine = self.engine
        if dry_run:
            scan = engine.store.scan()
            draft = decided(scan)
            before = {path: scan.data(path) for path in draft.changes}
            return Written(None, before, draft.changes, self.settings.secrets, draft.result)
        if not engine.history.ownership.holds_memory():
            decided(engine.store.scan())
            init(self, is_seeded=is_seeded)
        elif looks_ahead:
            with suppress(CrabmemError):  # the write itself says what is wrong, of the files as they are then
                decided(engine.store.scan())
        done = engine.writer.write(decided, self.actor)
        teller = self.teller
        teller.has_written |= done.commit is not None
        if done.waits:
            waits = {each.id: each for each in (*teller.withheld, *done.waits.values())}
            teller.withheld = tuple(waits.values())[-_WITHHELD:]
        engine.upkeep.nudge()
        return done

    def file(self, path: str) -> Path:
        """The file at a path of the workspace."""
        return self.engine.workspace.file(path)


def _kind_of(kind: str) -> Kind:
    """Return `kind`, checked.

    Raises:
        InvalidArguments: there is no such kind of session.
    """
    if kind == "main":
        return "main"
    from ..prompt.profile import checked_kind  # late: most sessions are main

    return checked_kind(kind)
