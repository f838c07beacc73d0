"""The past as a repository has it: commits, their files and texts, who wrote what. Changes nothing."""

import math
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from ..errors import DamagedHistory
from ..results import Commit
from .blame import Blame
from .changes import Changes, Origin
from .commits import Note, author_and_message, body
from .parts import Parts
from .place import Place
from .revisions import resolve
from .trees import Item
from .walk import Line


class Past:
    """The past of one workspace, which may have none yet.

    `changes` says what its commits changed, and follows files that were renamed.
    """

    def __init__(self, parts: Parts, place: Place) -> None:
        self.place, self.branch = place, parts.branch
        self._refs, self._objects, self._trees = parts.refs, parts.objects, parts.trees
        self._walk, self._keep = parts.walk, parts.keep
        self.changes = Changes(parts.objects, parts.trees, parts.walk)
        self._blame = Blame(parts.objects, self.changes, parts.walk)
        #: The id of the tree that was listed last, and its files.
        self._listed: tuple[str | None, Mapping[str, str]] = (None, {})

    def head(self) -> str | None:
        """Return the commit the next one stands on, as `Branch.head` does."""
        return self.branch.head()

    def head_if_any(self) -> str | None:
        """Return the head; None also where there is no repository yet."""
        return self.head() if self.place.exists() else None

    def kept(self) -> str | None:
        """Return the newest commit of ours, on the branch or not; None if it, or a folder of it, cannot be read."""
        tip = self._keep.tip()
        return tip if tip and self._trees.is_readable(tip) else None

    def files(self, commit: str | None) -> Mapping[str, str]:
        """Return path and blob of every regular file at `commit`; empty for None."""
        tree, listed = self.tree(commit), self._listed
        if tree != listed[0]:
            listed = self._listed = (tree, self._trees.files(tree))
        return listed[1]

    def file(self, commit: str | None, path: str) -> str | None:
        """Return the blob of the regular file at `path` in `commit`; None when there is none."""
        return self._trees.file(self.tree(commit), path)

    def items(self, commit: str | None) -> Mapping[str, Item]:
        """Return mode and id of all that is at `commit`, links and submodules too; empty for None."""
        return self._trees.items(self.tree(commit))

    def item(self, commit: str | None, path: str) -> Item | None:
        """Return mode and id of what is at `path` in `commit`; None when there is nothing."""
        return self._trees.item(self.tree(commit), path)

    def blob(self, oid: str) -> bytes:
        """Return the bytes stored under `oid`."""
        return self._objects.blob(oid)

    def has(self, oid: str) -> bool:
        """Return whether `oid` is stored and whole."""
        return self._objects.has(oid)

    # Commits

    def commits(
        self,
        start: str | None = None,
        without: str | None = None,
        path: str | None = None,
        accept: Callable[[Commit], bool] | None = None,
        with_paths: bool = True,
    ) -> Iterator[Commit]:
        """Yield `start` (None: the head) and its ancestors, newest first, but not `without` and the ancestors of that.

        With `path`, only commits that touch that file, also where it was before it was moved. With `accept`, only those
        for which it returns True; it is given commits without their paths, which take long to find.
        """
        head = start or self.head()
        oids = self._walk.commits(head, without) if head else iter(())
        for oid in oids if path is None else (oid for oid, _ in self.changes.followed(oids, path)):
            if accept is None or accept(self.commit(oid, with_paths=False)):
                yield self.commit(oid, with_paths)

    def owners(self, text: bytes, path: str, at: str | None = None) -> list[Commit | None]:
        """Blame: for each line of `text`, return the commit that wrote it; None for lines that no commit has.

        `text` is compared with the file at `path` in the commit `at`, or in the head.
        """
        owners = self._blame.owners(text, self._newest(path, at))
        commits = {oid: self.commit(oid) for oid in {*owners} if oid}
        return [commits[oid] if oid else None for oid in owners]

    def writers(self, paths: Iterable[str], at: str | None = None) -> dict[str, list[Commit]]:
        """Return, for each path, the commits that wrote its file up to `at` (None: the head), newest first.

        They go back to when the file was last created; none if `at` has no such file.
        """
        files = {path: self._newest(path, at) for path in paths}
        found = self._blame.writers(file for file in files.values() if file)
        return {path: [*map(self.commit, found[file])] if file else [] for path, file in files.items()}

    def last_changes(self, files: Mapping[str, str]) -> dict[str, Commit]:
        """Return, for each file in `files` (blobs by path), the newest commit that wrote it with this blob.

        Newest commits come first; they have no paths. Files that no commit wrote so are left out.
        """
        found = {path: oid for oid, path in self.changes.newest(self.ids(), files)}
        commits = {oid: self.changes.commit(oid, with_paths=False) for oid in {*found.values()}}
        return {path: commits[oid] for path, oid in found.items()}

    def ids(self, without: str | None = None) -> Iterator[str]:
        """Return the head and the commits it stands on, newest first, but `without` and what that stands on."""
        head = self.head_if_any()
        return self._walk.commits(head, without) if head else iter(())

    def commit(self, oid: str, with_paths: bool = True) -> Commit:
        """Return the commit called `oid`; `with_paths` with what it changed, which takes long to find."""
        return self.changes.commit(oid, with_paths)

    def body(self, oid: str) -> str:
        """Return what the message of a commit says between its subject and its trailers."""
        return body(self._objects.raw(oid)[1])

    def _newest(self, path: str, at: str | None = None) -> Origin | None:
        head = at or self.head_if_any()
        blob = self.file(head, path)
        return Origin(head, path, blob) if head and blob else None

    # Commits beside each other

    def parent(self, commit: str) -> str | None:
        """Return the first parent of `commit`; None for the first commit."""
        return next(iter(self._objects.parents(commit)), None)

    def bases(self, one: str, other: str) -> list[str]:
        """Return the newest commits that two stand on, in the order of their ids; none for histories apart."""
        return self._walk.bases(one, other)

    def commits_since(self, bases: Iterable[str], tip: str) -> list[str]:
        """Return the commits that `tip` stands on and none of `bases` does, newest first."""
        return self._walk.commits_since(bases, [tip])

    def commits_between(self, base: str, tip: str) -> list[str]:
        """Return the commits after `base` up to `tip`, each the first parent of the next; none if not in a row."""
        found: list[str] = []
        commit: str | None = tip
        while commit and commit != base and self.is_commit(commit):
            found.append(commit)
            commit = self.parent(commit)
        return found[::-1] if commit == base else []

    def is_merge(self, commit: str) -> bool:
        """Return whether a commit stands on more than one."""
        return len(self._walk.parents(commit)) > 1

    def reaches(self, commit: str) -> bool:
        """Return whether the head is `commit` or stands on it."""
        head = self.head()
        return head is not None and self._walk.is_ancestor(commit, head)

    def has_recorded(self, note: Note, when: datetime, base: str | None) -> bool:
        """Return whether a commit since `base`, made at `when` or later, has the author and message of `note`."""
        head, since = self.head(), int(when.timestamp())
        older = set(self._walk.readable(base, since)) if base else set()
        words = (note.author.encode(), note.message.encode("utf-8", "replace"))
        newer = [each for each in self._walk.readable(head, since) if each not in older] if head else []
        found = (self._objects.raw(each)[1] for each in newer if self._objects.has(each))
        return any(author_and_message(raw) == words for raw in found)

    def is_commit(self, oid: str) -> bool:
        """Return whether `oid` is a commit that can be read."""
        with suppress(DamagedHistory):
            return bool(self._objects.header(oid).tree)
        return False

    def is_of_memory(self, commit: str) -> bool:
        """Return whether the head, or a commit that was kept when the branch was rewritten, stands on `commit`."""
        head = self.head()
        with suppress(DamagedHistory):  # to look on the line is only quicker; the answer comes from below
            if head and self._walk.line(head).place(commit) is not None:
                return True
        tips = (head, self._keep.tip(), *self._keep.rewritten())
        return commit in self._walk.reached(filter(None, tips))

    def irregular(self, commit: str) -> Iterator[str]:
        """Yield the paths of a commit that are links or repositories, and no files."""
        return (path for path, (mode, _) in self.items(commit).items() if not stat.S_ISREG(mode))

    # Finding a commit

    def resolve(self, revision: str, anywhere: bool = False) -> str:
        """Return the commit `revision` names, of memory's own history, or `anywhere` in the repository.

        Raises:
            NotFound: it names none there.
            InvalidArguments: it names several.
        """
        accept = None if anywhere else self.is_of_memory
        return resolve(revision, self.head(), self._refs, self._objects, self.back, accept)

    def at(self, when: datetime, now: datetime | None = None) -> str | None:
        """Return the commit that was current at `when`; None when the history begins later.

        Commits that say they were made after `now` were made by a clock that was wrong.
        """
        head = self.head()
        present = now.timestamp() if now else math.inf
        return self._walk.line(head).before(when.timestamp(), present) if head else None

    def time(self, commit: str) -> datetime:
        """Return when `commit` was made."""
        return datetime.fromtimestamp(self._walk.row(commit).authored, UTC)

    def authored_after(self, when: datetime) -> list[str]:
        """Return the commits up to the head whose authors say that they were made after `when`, newest first."""
        latest = when.timestamp()
        return [commit for commit in self.ids() if self._walk.row(commit).authored > latest]

    def line(self, end: str) -> Line:
        """Return the commits up to `end`, each the first parent of the next."""
        head = self.head()
        if head:
            self._walk.line(head)  # cached first: the line of `end` mostly has the same beginning, and continues it
        return self._walk.line(end)

    def tree(self, commit: str | None) -> str | None:
        """Return the id of all that is in `commit`; None for None."""
        return self._objects.header(commit).tree if commit else None

    def back(self, commit: str, steps: int) -> str | None:
        """Return the commit so many first parents before `commit`; None when the history begins later."""
        return self._walk.back(commit, steps, self.head())

    def folder(self, commit: str, path: str) -> str | None:
        """Return the id of the folder at `path` in `commit`, "" for the outermost; None when there is none."""
        return self._trees.folder(self.tree(commit), path)

    def files_in(self, commit: str, path: str, with_folders: bool) -> Mapping[str, str]:
        """Return path and blob of every regular file in the folder at `path`; `with_folders` in those below it too."""
        files = self._trees.files if with_folders else self._trees.files_in
        return files(self.folder(commit, path), f"{path}/" if path else "")
