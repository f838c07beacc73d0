"""Facts that are gone from memory: the commit that removed each, and its last version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..git.walk import key as path_key
from ..results import Commit
from ..session.session import Session
from ..text.entry import Entry, entry_in
from ..text.values import value


@value
class Gone:
    """A fact that is gone: its `entry` as it was in the commit `before`, None if that cannot be read; and the `commit`
    that removed it."""

    path: str
    entry: Entry | None
    before: str
    commit: Commit

    @property
    def name(self) -> str:
        """The name of the fact; of its file, where the entry cannot be read."""
        return self.entry.name if self.entry else self.path.rpartition("/")[2]


@value
class Removal:
    """A `commit` that removed the file at `path`, and the `blob` that its first parent has there."""

    commit: str
    path: str
    blob: str


def removals(session: Session) -> list[Removal]:
    """The files of facts that are gone, each with the last commit that took it away, newest first.

    A fact that was moved or renamed is not gone.

    Raises:
        Disabled: this session sees only some files.
    """
    session.view.check_whole()
    history = session.engine.history
    there = map(path_key, history.files(history.head_if_any()))
    return list(_removals(session, there)) if history.place.exists() else []


def _removals(session: Session, there: Iterable[bytes]) -> Iterator[Removal]:
    """The removals from the head back: the first commit that touches a path decides.

    `there` are the keys of the paths that exist now, so that nothing removed these for good.
    """
    history, settled = session.engine.history, set(there)
    for commit in history.ids():
        row = history.changes.row(commit)
        # The quick way: the row alone shows that the commit removed no path that is not settled.
        if row.changes is not None and all(after or name in settled for name, after in row.written()):
            settled.update(name for name, _ in row.written())
            continue
        changes = history.changes.own(commit)
        come = {each.after for each in changes if each.before is None}
        renamed = history.commit(commit, with_paths=False).renamed
        for path, blob_before, blob_after in changes:
            is_removed = blob_before and not blob_after and path_key(path) not in settled
            # The commit has the same blob under another path: it moved the file there.
            is_moved = blob_before in come or (renamed is not None and renamed[0] == path)
            if is_removed and not is_moved and session.layout.is_entry(path):
                yield Removal(commit, path, blob_before or "")
            settled.add(path_key(path))


def described(session: Session, removal: Removal) -> Gone:
    """Read the fact that a removal took away.

    Raises:
        Disabled: this session sees only some files.
    """
    session.view.check_whole()
    history = session.engine.history
    commit = history.commit(removal.commit, with_paths=False)
    return Gone(removal.path, entry_in(removal.path, history.blob(removal.blob)), commit.parents[0], commit)
