"""The way of a commit: made of what was put, and moved onto the branch by comparing, so that nobody's is lost."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ..disk import fs, state
from ..errors import Busy, CrabmemError
from .commits import Note, committer, header, raw_commit
from .index import Index
from .kept import KEEP, Stretch, Waiting
from .parts import Parts
from .past import Past
from .redo import Move
from .trees import Item

_TRIES = 50


class Recording:
    """Commits to one repository. Only under the writer's lock, but for `put_ahead`.

    A commit is made of one read of HEAD, which is both its parent and the value that is compared as the branch moves.
    References below `refs/crabmem` keep it reachable whatever a person does to the branch.
    """

    def __init__(self, parts: Parts, past: Past, index: Index) -> None:
        self._git, self._branch = parts.git, parts.branch
        self._refs, self._objects, self._trees = parts.refs, parts.objects, parts.trees
        self._walk, self._keep = parts.walk, parts.keep
        self._past, self._index = past, index
        self._waiting = Waiting(parts.private / state.WAITING)
        #: Errors that came once this write's commit was on the branch. The write has succeeded: the next mends them.
        self.late_failures: list[OSError | CrabmemError] = []

    def begin(self) -> None:
        """Begin a write: forget what a failed one put, and the `late_failures` of the one before."""
        self._objects.begin()
        self.late_failures.clear()

    def put(self, data: bytes) -> str:
        """Store bytes, in no commit yet; return their id. Durable after `flush`, or with a commit."""
        return self._objects.put("blob", data)

    def put_ahead(self, blobs: Iterable[bytes]) -> Iterator[bytes]:
        """Store many bytes without the writer's lock, as `Objects.put_ahead` does; yield each of them."""
        return self._objects.put_ahead(blobs)

    def flush(self) -> None:
        """Make what was put durable."""
        self._objects.flush()

    def record(
        self,
        changes: Mapping[str, str | Item | None],
        note: Note,
        when: datetime,
        journalled: bool = False,
        joined: str | None = None,
    ) -> str | None:
        """Commit `changes` (path to blob, or to mode and id; None to remove) on top of the head; return the commit.

        Return None if the head has them already. If the branch moves meanwhile, begin again from its new head. The
        paths are remembered for Git's index, unless they are `journalled`: then recovery settles them after a kill.
        With `joined`, make a merge whose other parent is that commit; if `joined` descends from the head and has the
        same files, return `joined` itself (fast-forward).

        Raises:
            Busy: the branch kept moving.
        """
        if not journalled:
            self._index.expect(changes)
        for _ in range(_TRIES):
            head = self._refs.head()
            commit = self.new_commit(self._branch.base(head), changes, note, when, joined)
            if commit is None:
                # The person has committed the same files before us: keep that commit reachable instead.
                base = self._branch.base(head)
                if base and base != self._keep.tip():
                    self._keep.advance(base)
                return None
            if self._move_branch(Move(commit, head.ref, head.commit, tuple(changes)), note, when):
                self._past.place.note(commit)
                return commit
        raise Busy(f"{self._git} changes faster than we can commit; try again")

    def prospective(
        self, changes: Mapping[str, str | Item | None], note: Note, when: datetime, joined: str
    ) -> str | None:
        """Store the commit that `record` would make, without moving the branch; return its id."""
        commit = self.new_commit(self._branch.head(), changes, note, when, joined)
        self._objects.flush()
        return commit

    def waiting(self) -> list[Stretch]:
        """Return the commits that were made on no branch, as in a rebase of the person, once HEAD is on a branch again.

        Until then none. Stretches that cannot be read, or are not memory's own history, are left out: the file of them
        may be a stranger's.
        """
        found = [] if self._branch.in_progress() or self._branch.is_detached() else self._waiting.all()
        return [each for each in found if all(map(self._past.is_commit, each)) and self._past.is_of_memory(each.tip)]

    def forget_waiting(self) -> None:
        """Forget what `waiting` returns."""
        self._waiting.clear()

    def without_text(self, blobs: Mapping[str, str]) -> list[str]:
        """Return the paths, of `blobs` by path, at which the head names that blob though its object is missing."""
        head = self._branch.head()
        kept = [path for path, blob in blobs.items() if blob == self._past.file(head, path)]
        return [path for path in kept if not self._objects.is_there(blobs[path])]

    def new_commit(
        self,
        base: str | None,
        changes: Mapping[str, str | Item | None],
        note: Note,
        when: datetime,
        joined: str | None = None,
    ) -> str | None:
        """Put a commit of `changes` on `base`, and maybe `joined`; return its id, None if nothing differs from `base`.

        It is stored by the next `flush`, and on no branch.
        """
        before = self._past.tree(base)
        tree = self._trees.grafted(before, changes) or self._objects.put("tree", b"")
        if joined and tree == self._past.tree(joined) and (base is None or self._walk.is_ancestor(base, joined)):
            return joined
        if not joined and (tree == before or (before is None and not any(changes.values()))):
            return None
        # Sorted, so that two machines which join the same commits make the same merge.
        parents = sorted(filter(None, (base, joined)))
        not_before = max((self._objects.header(each).committed for each in parents), default=0)
        raw = raw_commit(tree, parents, note, when, not_before)
        commit = self._objects.put("commit", raw)
        self._walk.graph.add_new(commit, header(raw))
        return commit

    def _move_branch(self, move: Move, note: Note, when: datetime) -> bool:
        """Store the commit durably, and move the branch to it; return False if somebody else moved the branch.

        While the person rebases or merges, the branch stays, and only `refs/crabmem/keep` advances: the commit is noted
        in `Waiting`. Errors after the branch moved are `late_failures`.
        """
        commit = move.commit
        if self._branch.in_progress():  # only what keeps it makes it part of memory
            self._objects.flush(move._replace(ref=KEEP))
            bases, before = self._objects.parents(commit), self._branch.before() or self._keep.tip()
            if bases and before:
                self._waiting.add(bases[0], commit, before)
            self._objects.put_back()
            self._keep.advance(commit)
            return True
        self._refs.wait_for(KEEP)  # now, while a lock that stays can still fail the write
        self._objects.flush(move)
        if move.ref == "HEAD" and (bases := self._objects.parents(commit)):
            self._waiting.add(bases[0], commit, bases[0])  # no branch has it once HEAD is on one
        with fs.durability(False):  # from here on the redo log has it
            if not self._swap(move):
                return False
            logs = ("HEAD",) if move.ref == "HEAD" else ("HEAD", move.ref)
            self._refs.note(logs, move.old, commit, committer(when).encode(), note.subject)
            for step in (self._objects.put_back, lambda: self._keep.advance(commit)):
                try:
                    step()
                except (OSError, CrabmemError) as error:
                    self.late_failures.append(error)
        return True

    def _swap(self, move: Move) -> bool:
        """Move the branch from `old` to the commit; return False if it was not at `old`.

        An error after the branch has moved, as from the wait for the disk, is a late failure.
        """
        try:
            return self._refs.swap(move.ref, move.old, move.commit)
        except OSError as error:
            if self._refs.read(move.ref) != move.commit:
                raise
            self.late_failures.append(error)
            return True
