"""Proposals: what waits for a person to decide, in the history beside the branch.

Nothing in a workspace changes before that. What was proposed is a commit on top of the one it was made against, on no
branch, so that Git shows, packs and checks it as any other, and `purge` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from ..errors import DamagedHistory, Full, Inapplicable, NotFound
from ..git.changes import Difference
from ..git.commits import TIME, Note
from ..git.history import History
from ..git.kept import MOST_ASIDE
from ..results import Proposal, ProposedFile
from ..text.hashes import blob_or_none
from ..text.values import once, replace
from ..workspace.layout import Layout

# Files of one proposal: more is no rename, and no person looks at it.
_MOST_FILES = 1_000
_SHORTEST = 4

#: Bytes by path; None for no file.
Files = Mapping[str, bytes | None]


class _Kept(NamedTuple):
    """When something was proposed, and the blobs before and after it, by path."""

    time: datetime
    changes: dict[str, tuple[str | None, str | None]]

    @property
    def after(self) -> dict[str, str | None]:
        return {path: after for path, (_, after) in self.changes.items()}


class Proposals:
    """The proposals for files of one workspace, of those that `allows` says a session may see.

    Those from before `since` have expired: they are not shown any more, and the next `add` drops them. `known` is a
    cache of parsed proposals by commit, which the caller may share between instances.
    """

    def __init__(
        self,
        history: History,
        layout: Layout,
        allows: Callable[[str], bool],
        since: datetime | None = None,
        known: dict[str, Proposal] | None = None,
    ) -> None:
        self._history = history
        self._layout = layout
        self._allows = allows
        self._since = since
        self._known = {} if known is None else known

    def all(self) -> list[Proposal]:
        """Those that wait, the oldest first, without what they would change."""
        ids = self._history.aside.readable()
        for gone in set(self._known).difference(ids):  # as a purge may have taken what it said
            self._known.pop(gone, None)
        return self._of(ids)

    def _of(self, commits: Iterable[str]) -> list[Proposal]:
        found = (each for each in map(self._read, commits) if each and not self._has_expired(each.time))
        moved = [self._moved(each) for each in found]
        return sorted((each for each in moved if all(map(self._may_hold, each.files))), key=lambda each: each.time)

    def _moved(self, proposal: Proposal) -> Proposal:
        """Return the proposal with each file at the path that renames have given it since it was proposed."""
        gone = {each.path for each in proposal.files if each.base is not None and each.path not in self._files_now}
        if not gone:
            return proposal
        path_now = dict[str, str]()
        for old, new in self._renames:
            path_now |= {path: new for path in gone if path_now.get(path, path) == old}
        return replace(
            proposal, files=tuple(replace(each, path=path_now.get(each.path, each.path)) for each in proposal.files)
        )

    @once
    def _files_now(self) -> Mapping[str, str]:
        """The files at the head: to look for one path after the other takes longer where much waits."""
        return self._history.files(self._history.head_if_any())

    @once
    def _renames(self) -> list[tuple[str, str]]:
        """The paths before and after each rename, the oldest first; read once, as few proposals ask."""
        return [each.renamed for each in self._history.commits(with_paths=False) if each.renamed][::-1]

    def named(self, name: str) -> Proposal:
        """The one whose id begins with `name`.

        Raises:
            NotFound: there is none.
            Inapplicable: there are several, or `name` is too short to tell.
        """
        found = self._of(commit for commit in self._history.aside.readable() if commit.startswith(name.lower()))
        if not found:
            raise NotFound(f"no proposal with the id {name}; `crabmem review list` names those that wait")
        if len(found) > 1 or len(name) < _SHORTEST:
            said = name or "''"
            raise Inapplicable(f"{said} does not tell which proposal; give more of its id")
        return found[0]

    def add(self, files: Files, now: Files, note: Note, when: datetime) -> Proposal:
        """Keep a proposal of `files` until a person decides; return it, or an equal one that waits already.

        `now` is what the files say. Expired proposals, and those of the same texts made against others, are dropped.

        Raises:
            Full: too many proposals wait for a person to go through them.
            Inapplicable: the files say that already.
        """
        wanted = {path: (blob_or_none(now[path]), blob_or_none(data)) for path, data in files.items()}
        there = self._there
        for each in [commit for commit, kept in there.items() if self._has_expired(kept.time)]:
            self._let_go(each)
        same = [
            commit for commit, kept in there.items() if kept.after == {path: each[1] for path, each in wanted.items()}
        ]
        if known := next((self._read(each) for each in same if there[each].changes == wanted), None):
            return known
        waiting = len(there) - len(same)
        if waiting >= MOST_ASIDE:
            raise Full(f"{waiting} proposals wait already; ask the person to go through `crabmem review` first")
        blobs = {path: None if data is None else self._history.recording.put(data) for path, data in files.items()}
        timed = replace(note, trailers=(*note.trailers, (TIME, when.isoformat())))  # Git's have no parts of a second
        commit = self._history.aside.add(blobs, timed, when)
        made = self._read(commit) if commit else None
        if not made:
            raise Inapplicable(f"{next(iter(files))} says that already, so there is nothing to propose")
        for each in same:
            self._let_go(each)
        there[made.id] = _Kept(made.time, wanted)
        return made

    def drop(self, proposal: Proposal) -> None:
        """Let one go that a person decided on."""
        self._history.aside.drop(proposal.id)

    def _let_go(self, commit: str) -> None:
        self._history.aside.drop(commit)
        self._there.pop(commit, None)

    @once
    def _there(self) -> dict[str, _Kept]:
        """What waits, by commit. Only under the writer's lock."""
        found = self._history.aside.readable()
        changes = {commit: {path: (before, after) for path, before, after in self._changes(commit)} for commit in found}
        return {commit: _Kept(self._history.time(commit), changes[commit]) for commit in found}

    def _has_expired(self, time: datetime) -> bool:
        return self._since is not None and time < self._since

    def _changes(self, commit: str) -> tuple[Difference, ...]:
        """What a proposal changes; nothing while it is damaged, which `doctor` tells."""
        with suppress(DamagedHistory):
            return self._history.changes.of(commit)
        return ()

    def _read(self, commit: str) -> Proposal | None:
        """Return the proposal in a commit; None where nobody can decide on it.

        That is: no file is left in it after a purge, a file is no memory or may not be seen, or it is damaged.
        """
        if known := self._known.get(commit):
            return known if all(map(self._may_hold, known.files)) else None
        with suppress(DamagedHistory):
            changes = self._changes(commit)
            if not 0 < len(changes) <= _MOST_FILES or not all(map(self._may_hold, changes)):
                return None
            told, reason = self._history.commit(commit, with_paths=False), self._history.body(commit)
            words = told.subject.removeprefix("propose: ")
            who = told.author, told.agent, told.session
            made = Proposal(commit, told.time, *who, words, reason, tuple(self._files(changes)))
            return self._known.setdefault(commit, made)
        return None

    def _may_hold(self, change: Difference | ProposedFile) -> bool:
        return self._layout.is_kept(change.path) and self._allows(change.path)

    def _files(self, changes: tuple[Difference, ...]) -> Iterator[ProposedFile]:
        for path, before, after in changes:
            texts = (None if blob is None else self._history.blob(blob) for blob in (after, before))
            yield ProposedFile(path, *texts)


def expired_before(days: int, now: datetime) -> datetime | None:
    """The moment before which what waits has expired, by the setting `review.expire`; None for never."""
    return now - timedelta(days=days) if days else None
