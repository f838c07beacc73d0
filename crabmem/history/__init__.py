"""History: the commits of one workspace, in an ordinary Git repository, without a `git` binary.

Commits are made from objects with one read of the head, which is both parent and the value that is
compared when the branch moves. `refs/crabmem/keep` keeps every commit of ours reachable whatever
a person does to the branch.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from dulwich.diff_tree import tree_changes
from dulwich.objects import Blob, ObjectID, Tag
from dulwich.objects import Commit as RawCommit
from dulwich.walk import Walker

from ..errors import Busy, DamagedHistory, InvalidArguments, NotFound
from . import repository
from .commit import COMMITTER, Commit, Note, identity, raw_commit, read_commit
from .index import Index, Settled
from .objects import Objects
from .refs import KEEP, MAIN, Head, Refs, is_ref

__all__ = ["Commit", "History", "Note", "identity"]

_TRIES = 50
# While one of these exists the person is in the middle of something that moves the branch.
_IN_PROGRESS = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG")
_REVISION = re.compile(r"(?P<name>.+?)(?P<steps>(?:~\d*|\^)*)\Z", re.DOTALL)
_HEX = re.compile(r"[0-9a-f]{4,40}\Z")


class History:
    """The repository at `root/.git`, which need not exist yet; `private` is the folder for what is ours."""

    def __init__(self, root: Path, private: Path) -> None:
        self._root = root
        self._git = root / ".git"
        self._refs = Refs(self._git, private / "tmp")
        self._objects = Objects(self._git / "objects")
        self._index = Index(self._git, private, self._refs)
        self._listed: tuple[str | None, Mapping[str, str]] = (None, {})

    def close(self) -> None:
        """Close the files that reading has opened."""
        self._objects.close()

    def exists(self) -> bool:
        """Whether there is a repository.

        Raises:
            DamagedHistory: `.git` is something else than a folder.
        """
        if self._git.is_symlink() or (self._git.exists() and not self._git.is_dir()):
            raise DamagedHistory(
                f"{self._git} is not a folder (a worktree, a submodule or a link); "
                "memory needs a repository of its own: use another folder"
            )
        return self._git.is_dir()

    def has_begun(self) -> bool:
        """Whether there is a first commit, readable or not."""
        try:
            return self.exists() and self.head() is not None
        except DamagedHistory:
            return self._git.is_dir()

    def create(self) -> None:
        """Make the repository."""
        repository.create(self._root)

    def recover(self) -> None:
        """Take away what a crash left locked or half made. Only under the writer's lock."""
        repository.clear_unfinished(self._root)
        self._refs.release_leftovers()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What every write happens in: nobody's `git gc` may run beside it."""
        with self._refs.without_gc():
            yield

    def mend(self) -> str | None:
        """Make the head readable again after a crash of the machine; what was done, None when nothing had to be.

        Raises:
            DamagedHistory: nothing readable is left to go on from.
        """
        try:
            head = self._refs.head()
            if head.commit is None or self._is_whole(head.commit):
                return None
        except DamagedHistory:
            head = self._head_again()
        for commit in self._candidates(head.ref):
            if self._is_whole(commit):
                self._refs.restore(head.ref, commit)
                return f"{head.ref} could not be read and was set to {commit[:12]}"
        raise DamagedHistory(
            f"no commit of {self._git} can be read; the files are untouched. Move {self._git} away "
            "to begin a new history, or restore it from a backup"
        )

    def head(self) -> str | None:
        """The commit the next one stands on: the branch's, None before the first.

        While the person is in the middle of a rebase or merge the branch is theirs, and ours wait in
        `refs/crabmem/keep`.
        """
        return self._base(self._refs.head())

    def kept(self) -> str | None:
        """The newest commit of ours, on the branch or not."""
        return self._readable(KEEP)

    def files(self, commit: str | None) -> Mapping[str, str]:
        """Path and blob of every regular file at `commit`; empty for None."""
        tree = self._tree(commit)
        if tree != self._listed[0]:
            self._listed = (tree, dict(self._objects.files(tree)))
        return self._listed[1]

    def blob(self, oid: str) -> bytes:
        """The bytes stored under `oid`."""
        return self._objects.blob(oid)

    def text_of(self, version: str) -> bytes | None:
        """The stored bytes whose blob's id begins with `version`, at least four hex digits; None when unknown."""
        if not _HEX.match(version):
            return None
        found = (self._objects.get(oid) for oid in self._objects.starting_with(version))
        return next((bytes(item.as_raw_string()) for item in found if isinstance(item, Blob)), None)

    def has(self, oid: str) -> bool:
        """Whether `oid` is stored and whole."""
        return self._objects.has(oid)

    def put(self, data: bytes) -> str:
        """Store bytes durably, in no commit yet; their id."""
        return self._objects.put_blob(data)

    def record(self, changes: Mapping[str, str | None], note: Note, when: datetime) -> str | None:
        """Commit `changes` (path to blob, None to remove) on top of the head; the commit's id.

        None when the head already says so. A branch that moves meanwhile is followed.
        """
        self._index.expect(changes)
        for _ in range(_TRIES):
            head = self._refs.head()
            commit = self._made(head, changes, note, when)
            if commit is None or self._moved(head, commit, note):
                return commit
        raise Busy(f"{self._git} changes faster than we can commit; try again")

    def settle(self, paths: Mapping[str, Settled]) -> None:
        """Make Git's index agree with the head about `paths`, and about those a crash left unsettled."""
        if (paths or self._index.is_behind()) and not self._in_progress():
            self._index.settle(paths, self.files(self.head()))

    def contains(self, commit: str) -> bool:
        """Whether `commit` is in what is kept."""
        kept = self._readable(KEEP)
        return kept is not None and (kept == commit or self._is_ancestor(commit, kept))

    def log(self, limit: int | None = None, path: str | None = None, start: str | None = None) -> list[Commit]:
        """The newest commits first, at most `limit`, only those that touch `path` when it is given."""
        head = start or self.head()
        if head is None:
            return []
        paths = [path.encode()] if path else None
        walker = Walker(self._objects.store, [_oid(head)], max_entries=limit, paths=paths)
        return [read_commit(found.commit, self._paths(found.commit)) for found in walker]

    def parent(self, commit: str) -> str | None:
        """The first parent of `commit`; None for the first commit."""
        parents = self._objects.commit(commit).parents
        return parents[0].decode() if parents else None

    def resolve(self, revision: str) -> str:
        """The commit `revision` names: an id (four digits or more), HEAD, a branch or tag, with `~N` or `^`.

        Raises:
            NotFound: it names none.
            InvalidArguments: it names several.
        """
        match = _REVISION.match(revision.strip())
        commit = self._named(match["name"]) if match else None
        for step in re.findall(r"~\d*|\^", match["steps"] if match else ""):
            for _ in range(int(step[1:] or 1) if step != "^" else 1):
                commit = self.parent(commit) if commit else None
        if commit is None:
            raise NotFound(f"no revision named {revision}; `crabmem log` lists them")
        return commit

    def at(self, when: datetime) -> str:
        """The commit that was current at `when`.

        Raises:
            NotFound: the history begins later.
        """
        commit = self.head()
        while commit:
            raw = self._objects.commit(commit)
            if raw.commit_time <= when.timestamp():
                return commit
            commit = self.parent(commit)
        raise NotFound(f"the history begins after {when:%Y-%m-%d %H:%M}; `crabmem log` lists it")

    def _made(self, head: Head, changes: Mapping[str, str | None], note: Note, when: datetime) -> str | None:
        """A commit of `changes` on `head`, not yet on any branch; None when nothing differs."""
        base = self._base(head)
        before = self._tree(base)
        tree = self._objects.grafted(before, changes) or self._objects.put(self._objects.tree(None))
        if tree == before or (before is None and not any(changes.values())):
            return None
        parents = [base] if base else []
        times = [self._objects.commit(parent).commit_time for parent in parents]
        return self._objects.put(raw_commit(tree, parents, note, when, max(times, default=0)))

    def _moved(self, head: Head, commit: str, note: Note) -> bool:
        """Whether the branch took `commit`, which is then kept; it waits while the person rebases."""
        if not self._in_progress():
            if not self._refs.swap(head.ref, head.commit, commit):
                return False
            logs = ("HEAD",) if head.ref == "HEAD" else ("HEAD", head.ref)
            self._refs.note(logs, head.commit, commit, self._who(commit), note.subject)
        self._objects.settled()
        self._keep(commit)
        return True

    def _keep(self, commit: str) -> None:
        """Make `refs/crabmem/keep` reach `commit` and all it reached before."""
        for _ in range(_TRIES):
            old = self._readable(KEEP)
            if old is None:
                return self._refs.restore(KEEP, commit)
            new = commit if self._is_ancestor(old, commit) else self._merged(old, commit)
            if self._refs.swap(KEEP, old, new):
                return None
        raise Busy(f"{KEEP} changes faster than we can follow; try again")

    def _merged(self, old: str, commit: str) -> str:
        raw = self._objects.commit(commit)
        note = Note("keep: the branch was rewritten", COMMITTER)
        when = datetime.fromtimestamp(raw.commit_time).astimezone()
        return self._objects.put(raw_commit(raw.tree.decode(), [old, commit], note, when, 0))

    def _readable(self, ref: str) -> str | None:
        """The commit of `ref` when it is there and whole."""
        try:
            commit = self._refs.read(ref)
        except DamagedHistory:
            return None
        return commit if commit and self._objects.has(commit) else None

    def _is_ancestor(self, old: str, new: str) -> bool:
        return any(commit == old for commit in self._ancestors(new))

    def _ancestors(self, commit: str) -> Iterator[str]:
        """`commit` and what it stands on, nearest first, as far as it can be read."""
        seen: set[str] = set()
        row = [commit]
        while row:
            yield from row
            seen.update(row)
            row = [parent for parent in self._parents(row) if parent not in seen]

    def _parents(self, commits: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        for commit in commits:
            if self._objects.has(commit):
                found.update((parent.decode(), None) for parent in self._objects.commit(commit).parents)
        return list(found)

    def _base(self, head: Head) -> str | None:
        kept = self._readable(KEEP) if self._in_progress() else None
        return kept if kept and head.commit and self._is_ancestor(head.commit, kept) else head.commit

    def _in_progress(self) -> bool:
        return any((self._git / name).exists() for name in _IN_PROGRESS)

    def _is_whole(self, commit: str) -> bool:
        """Whether the commit and the folders of its tree can be read."""
        try:
            self.files(commit)
        except DamagedHistory:
            return False
        return True

    def _head_again(self) -> Head:
        """The head, with a HEAD that cannot be read pointed at the main branch again."""
        text = (self._git / "HEAD").read_bytes() if (self._git / "HEAD").is_file() else b""
        ref = text.decode("ascii", "replace").removeprefix("ref: ").strip()
        if not is_ref(ref):
            ref = MAIN
            self._refs.restore("HEAD", f"ref: {MAIN}")
        return Head(ref, None)

    def _candidates(self, ref: str) -> Iterator[str]:
        """Commits to go on from, the likeliest first."""
        readable = self._readable(ref)
        if readable:
            yield readable
        yield from self._refs.last_noted(ref)
        yield from self._refs.last_noted("HEAD")
        kept = self._readable(KEEP)
        if kept:
            yield from self._ancestors(kept)

    def _named(self, name: str) -> str | None:
        if name in ("HEAD", "@"):
            return self.head()
        for ref in (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"):
            found = self._refs.read(ref) if is_ref(ref) else None
            if found:
                return self._peeled(found)
        return self._by_digits(name)

    def _by_digits(self, digits: str) -> str | None:
        if not _HEX.match(digits):
            return None
        found = [oid for oid in self._objects.starting_with(digits) if isinstance(self._objects.get(oid), RawCommit)]
        if len(found) > 1:
            raise InvalidArguments(f"{digits} is short for {len(found)} commits; give more digits")
        return found[0] if found else None

    def _peeled(self, oid: str) -> str | None:
        found = self._objects.get(oid)
        while isinstance(found, Tag):
            found = self._objects.get(found.object[1].decode())
        return found.id.decode() if isinstance(found, RawCommit) else None

    def _tree(self, commit: str | None) -> str | None:
        return self._objects.commit(commit).tree.decode() if commit else None

    def _paths(self, raw: RawCommit) -> tuple[str, ...]:
        before = self._tree(raw.parents[0].decode()) if raw.parents else None
        store = self._objects.store
        changes = tree_changes(store, _oid(before) if before else None, raw.tree)
        paths = [(change.new or change.old) for change in changes]
        return tuple(item.path.decode("utf-8", "replace") for item in paths if item and item.path)

    def _who(self, commit: str) -> bytes:
        raw = self._objects.commit(commit)
        zone = raw.commit_timezone // 60
        sign = "-" if zone < 0 else "+"
        stamp = f"{sign}{abs(zone) // 60:02}{abs(zone) % 60:02}"
        return bytes(raw.committer) + f" {raw.commit_time} {stamp}".encode()


def _oid(text: str) -> ObjectID:
    return ObjectID(text.encode())
