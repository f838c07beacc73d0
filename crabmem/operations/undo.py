"""Undo and redo: which commit the next undo or redo takes back. Changes nothing."""

import re
from collections.abc import Iterator

from ..disk.scan import Scan
from ..errors import Inapplicable
from ..git.commits import is_join
from ..git.timeline import State, Timeline
from ..results import CREATOR, Commit
from ..text.hashes import short

_ID = re.compile("[0-9a-f]{40}")


class Undo:
    """The undos and redos in the history of one workspace."""

    def __init__(self, timeline: Timeline) -> None:
        self._history, self._timeline = timeline.history, timeline
        #: A head, and what `_pairs` returned for it.
        self._paired: tuple[str, dict[str, str]] = "", {}

    def to_undo(self) -> Commit:
        """The newest commit that is not undone yet: each undo takes back one commit more, step by step.

        Passes over commits that changed only files outside memory, such as code.

        Raises:
            Inapplicable: there is none.
        """
        already_undone, walk = set[str](), self._backwards()
        for commit in walk:
            if commit.commit in already_undone:
                continue
            chain = self._chain(commit)
            if not _is_undo(chain):
                # The first commit has nothing before it to go back to; in a project's repository it is ours.
                if not commit.parents or (commit.author == CREATOR and next(walk, None) is None):
                    break
                return commit
            already_undone.add(chain[1].commit)
        raise Inapplicable("nothing to undo")

    def to_redo(self) -> Commit:
        """The newest undo that no redo took back, while nothing else was written to memory after it.

        Raises:
            Inapplicable: there is no such undo. After a revert, the message says that an undo brings back its commits.
        """
        already_redone = set[str]()
        for commit in self._backwards():
            if commit.commit in already_redone:
                continue
            chain = self._chain(commit)
            if _is_undo(chain):
                return commit
            if len(chain) == 1:
                if commit.tool == "revert" and not already_redone:
                    way = "`crabmem undo` brings back what the last change took back"
                    raise Inapplicable(f"nothing to redo: {way} ({commit.subject})")
                break
            already_redone.add(chain[1].commit)
        raise Inapplicable("nothing to redo: the last change was not an undo")

    def _backwards(self) -> Iterator[Commit]:
        """The head and the commits before it, each by its first parent: those that changed a file of memory.

        A commit that joined the work of two machines is left out: the commits of both sides come in order of time.
        """
        head = self._timeline.head()
        waiting = [self._history.commit(head)] if head else []
        seen = {head}
        while waiting:
            commit = max(waiting, key=lambda each: each.time)
            waiting.remove(commit)
            is_joining = is_join(commit)
            if not is_joining and self.changes(commit.commit):
                yield commit
            new = [each for each in commit.parents[: None if is_joining else 1] if each not in seen]
            seen.update(new)
            waiting += map(self._history.commit, new)

    def changes(self, commit: str) -> dict[str, tuple[str | None, str | None]]:
        """The files of memory that a commit changed in its first parent: their blobs before and after."""
        return {
            path: (before, after)
            for path, before, after in self._history.changes.of(commit)
            if before != after and self._timeline.is_restorable(path)
        }

    def operation(self, commit: Commit) -> Commit:
        """The operation at the end of the chain that an undo or redo began; any other commit itself."""
        return self._chain(commit)[-1]

    def _chain(self, commit: Commit) -> list[Commit]:
        """A commit, the one that it took back, the one that this took back, and so on to an operation."""
        chain = [commit]
        while taken_back := self._taken_back(chain[-1]):
            chain.append(taken_back)
        return chain

    def _taken_back(self, commit: Commit) -> Commit | None:
        """The commit that an undo or redo took back; None when `commit` is neither.

        The trailer `Reverts` names it. After a rebase commits have other ids: then it is the commit with the opposite
        changes. If there is none, as somebody wrote the trailer by hand or squashed commits, `commit` counts as an
        operation of its own.
        """
        head = self._timeline.head()
        if head is None or not _goes_back(commit):
            return None
        named = commit.reverts[0]
        if not self._is_there(head, named):
            named = self._pairs(head).get(commit.commit, named)
        return self._history.commit(named) if self._history.reaches(named) else None

    def _is_there(self, head: str, commit: str) -> bool:
        """Whether `head` is or stands on `commit`; False for an id that a rebase has replaced."""
        return self._history.line(head).place(commit) is not None or self._history.reaches(commit)

    def _pairs(self, head: str) -> dict[str, str]:
        """The commit that each undo or redo took back, by ids, for those whose trailer names no ancestor of `head`.

        Each took back the commit before it whose changes are the opposite of its own. They are paired like brackets,
        from the newest commit on: a commit belongs to the nearest undo that may have taken it back and has none yet.
        """
        if self._paired[0] != head:
            pairs, waiting = dict[str, str](), list[Commit]()
            for commit in self._backwards():
                found = next((each for each in reversed(waiting) if self._is_opposite(each, commit)), None)
                if found:
                    waiting.remove(found)
                    pairs[found.commit] = commit.commit
                if _goes_back(commit) and not self._is_there(head, commit.reverts[0]):
                    waiting.append(commit)
            self._paired = head, pairs
        return self._paired[1]

    def _is_opposite(self, back: Commit, commit: Commit) -> bool:
        """Whether `back` changed the same files as `commit` the other way; a redo takes back undos, no other does."""
        if (back.tool == "redo") != (commit.tool == "undo"):
            return False
        opposite = {path: (after, before) for path, (before, after) in self.changes(commit.commit).items()}
        return self.changes(back.commit) == opposite

    def without(self, commit: Commit, scan: Scan) -> State:
        """The state of the files of `commit` as they were before it.

        Raises:
            Inapplicable: a file was changed since.
            Unreadable: this user may not read a file, so that nobody can tell whether it was changed.
        """
        changes = self.changes(commit.commit)
        for path, (_, after) in changes.items():
            scan.check_not_denied(path)
            if scan.blob(path) != after:
                raise Inapplicable(
                    f"{path} was changed since; `crabmem undo {short(commit.commit)}` takes back only that change, "
                    "`crabmem restore --to` all of it"
                )
        return {path: before for path, (before, _) in changes.items()}


def _is_undo(chain: list[Commit]) -> bool:
    """Whether the first commit of a chain undoes the operation at its end; a redo, or an undo of an undo, does not."""
    return len(chain) % 2 == 0


def _goes_back(commit: Commit) -> bool:
    """Whether a commit is an undo or redo of exactly one other, by its trailers."""
    return commit.tool in ("undo", "redo") and len(commit.reverts) == 1 and bool(_ID.fullmatch(commit.reverts[0]))


def going_back(operation: str) -> str:
    """Return the subject of an operation without its colon, to stand after `undo: `: `remember Luna's vet`."""
    kind, colon, what = operation.partition(": ")
    return f"{kind} {what}" if colon and kind.isalpha() else operation
