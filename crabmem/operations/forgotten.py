"""What memory does not hold any more: facts whose files are gone, the last version of each, and the way back."""

from __future__ import annotations

from collections.abc import Iterator

from ..git.walk import key
from ..results import Commit
from ..session.session import Session
from ..text.entry import Entry, entry_in
from ..text.values import value


@value
class Gone:
    """A fact that is not there: as it was in the commit `before`, and the `commit` that took it away."""

    path: str
    entry: Entry | None
    before: str
    commit: Commit

    @property
    def name(self) -> str:
        """What it was called; the name of its file where that cannot be read."""
        return self.entry.name if self.entry else self.path.rpartition("/")[2]


@value
class Removal:
    """A commit after which a file was not there any more."""

    commit: str
    path: str
    blob: str


def removals(session: Session) -> list[Removal]:
    """The files of facts that are gone, each with the last commit that took it away, newest first.

    One that was moved, or renamed, is not gone.
    """
    session.view.check_whole()
    history = session.engine.history
    there = set(map(key, history.files(history.head_if_any())))
    return list(_removals(session, there)) if history.place.exists() else []


def _removals(session: Session, seen: set[bytes]) -> Iterator[Removal]:
    history = session.engine.history
    for commit in history.ids():
        row = history.changes.row(commit)
        is_listed = row.changes is not None
        if is_listed and all(after or name in seen for name, after in row.written()):
            seen.update(name for name, _ in row.written())
            continue
        changes = history.changes.own(commit)
        come = {each.after for each in changes if each.before is None}
        renamed = history.commit(commit, with_paths=False).renamed
        for path, before, after in changes:
            is_gone = before and after is None and key(path) not in seen and session.layout.is_entry(path)
            if is_gone and before not in come and not (renamed and renamed[0] == path):
                yield Removal(commit, path, before or "")
            seen.add(key(path))


def described(session: Session, removal: Removal) -> Gone:
    """What a removal took away."""
    session.view.check_whole()
    history = session.engine.history
    commit = history.commit(removal.commit, with_paths=False)
    before = next((each for each in commit.parents if history.file(each, removal.path) == removal.blob), removal.commit)
    return Gone(removal.path, entry_in(removal.path, history.blob(removal.blob)), before, commit)
