"""A repository made whole again after a crash.

Objects, references and Git's index are written without waiting for the disk; what makes them again is in the redo log,
until they are brought to the disk here.
"""

import math
import os
from collections.abc import Iterator, Sequence

from ..disk import fs, state
from ..disk.lock import WriterLock
from ..errors import DamagedHistory
from ..text.hashes import short
from . import repository
from .index import Index
from .kept import KEEP
from .parts import Parts
from .redo import Batch, Move
from .refs import MAIN, is_ref

#: Newest batches whose objects are looked for, as a `git prune` may have deleted what was not reached yet: at the first
#: write of a process, and whenever the log is begun anew. In between, each write checks the newest batch alone.
_BATCHES_LOOKED_FOR = 25
#: Bytes of a log at which the next write begins it anew, if `harden_beside` did not do so before.
FULL = 2_000_000
# Bytes that are made of a log that somebody else began, at most.
_MOST_MADE = 30_000_000
# Seconds for which upkeep waits for writers.
_PATIENCE = 5.0


class Mending:
    """Mends one repository. Only under the writer's lock, but for `has_lost` and `harden_beside`."""

    def __init__(self, parts: Parts, index: Index) -> None:
        self._root, self._git, self._private = parts.root, parts.git, parts.private
        self._redo, self._refs, self._objects = parts.redo, parts.refs, parts.objects
        self._trees, self._walk, self._keep, self._branch = parts.trees, parts.walk, parts.keep, parts.branch
        self._index = index
        #: Whether this process has looked for what a prune may have taken.
        self._has_looked = False

    def clear_leftovers(self) -> str | None:
        """Remove locks and half-made files that a crash left; return the report of an interrupted purge, else None."""
        report = repository.clear_purge(self._root)
        repository.clear_unfinished(self._root)
        repository.clear_incoming(self._private)
        self._refs.release_leftovers()
        self._objects.clear_leftovers()
        return report

    def mend(self) -> str | None:
        """Repair what a crash, a power cut or a `git prune` took; return a report, None if nothing was wrong.

        After a power cut do the redo log's writes again; else check that the newest objects are there. Then make the
        head readable.

        Raises:
            DamagedHistory: no readable commit is left.
        """
        restored, replayed = 0, None
        if not self._redo.is_of_now():
            replayed = self._replay()
        else:
            newest = self._redo.batches(1 if self._has_looked else _BATCHES_LOOKED_FOR)
            restored = self._make_again(newest, is_read=False)
            if self._redo.size() > FULL and not self._refs.is_gc_running():
                self.harden()
        self._has_looked = True
        done = replayed or self._mend_head() or self._keep.lost()
        return done or (f"{restored} objects that were missing were put back" if restored else None)

    def _replay(self) -> str | None:
        """Do the writes of the redo log again after a power cut: objects, references, index. Then begin the log anew.

        Return a report; None if nothing was lost.
        """
        moves = self._redo.moves()
        restored = self._make_again(self._redo.batches(), is_read=True)
        moved = [ref for ref in {move.ref for move in moves} - {KEEP} if self._move_on(ref, moves)]
        last, tip = next((move.commit for move in moves if self._objects.has(move.commit)), None), self._keep.tip()
        if last and not (tip and self._walk.is_ancestor(last, tip)):
            self._keep.advance(last)
        if paths := {path for move in moves for path in move.paths}:
            self._index.expect(paths)
            self._index.settle({})
        self.harden()
        if not restored and not moved:
            return None
        return f"{restored} objects that a power cut took were made again" + "".join(
            f", and {ref} was set to {short(self._refs.read(ref) or '')}" for ref in moved
        )

    def _make_again(self, batches: Sequence[Batch], is_read: bool) -> int:
        return self._objects.restore(batches, is_read, math.inf if self._redo.is_ours() else _MOST_MADE)

    def _move_on(self, ref: str, moves: Sequence[Move]) -> bool:
        """Set a reference to the newest logged commit if a power cut undid that move; return whether it had to be set.

        `moves` are newest first. The reference stays if it names a commit that we never moved it to, or if its own log
        shows that the person moved it back.
        """
        ours = [move for move in moves if move.ref == ref]
        last = next((move.commit for move in ours if self._trees.is_readable(move.commit)), None)
        if last is None or (ref == "HEAD" and not self._branch.is_detached()):
            return False
        try:
            now = self._refs.read(ref)
        except DamagedHistory:
            self._refs.restore(ref, last)
            return True
        before = {move.old for move in ours} | {move.commit for move in ours}
        if now == last or now not in before:
            return False
        noted = [*self._refs.last_noted(ref)]
        if now is None and (ours[-1].old is not None or not (last in noted or self._refs.head().ref == ref)):
            return False  # the person renamed or deleted the branch: Git moved, or removed, its log too
        if noted[:1] == [now] and last in noted:
            return False
        self._refs.restore(ref, last)
        return True

    @fs.durability(True)
    def harden(self) -> None:
        """Make everything in the redo log durable without it, and begin it anew; after a power cut, `_replay` first.

        Objects that a prune took are put back first: nothing else knows them afterwards. The newest objects stay in the
        log: a prune that listed objects before these were reached may still delete them.
        """
        self._make_again(self._redo.batches(), is_read=False)
        self._sync_logged()
        for ref in {*(move.ref for move in self._redo.moves()), KEEP}:
            self._refs.sync(ref)
        self._index.sync()
        newest = self._redo.newest_patches(_BATCHES_LOOKED_FOR)
        self._redo.begin()
        if newest:
            self._redo.add(newest, None)

    def has_lost(self) -> bool:
        """Return whether the machine went down after writes of this user that nobody had brought to the disk."""
        return not self._redo.is_of_now() and self._redo.is_ours() and bool(self._redo.moves())

    @fs.durability(True)
    def harden_beside(self) -> None:
        """Do what `harden` does without the writer's lock, as far as possible: most is made durable before it is taken.

        Nothing is begun anew while `git gc` runs: it may still delete objects that it found unreachable a moment ago.

        Raises:
            Busy: writers held the lock for too long.
        """
        if self._redo.moves() and self._redo.is_of_now():
            self._sync_logged()
            with WriterLock(self._private / state.LOCK).held(_PATIENCE):
                if self._redo.is_of_now() and not self._refs.is_gc_running():
                    self.harden()

    def _sync_logged(self) -> None:
        self._objects.sync(each.oid for batch in self._redo.batches() for each in batch.patches)

    def has_left_purge(self) -> bool:
        """Return whether an interrupted purge left something to clear up, and no other user began the redo log."""
        if not os.path.lexists(self._git):
            return repository.is_beside(self._root)
        is_foreign = os.path.lexists(self._private / state.REDO) and not self._redo.is_ours()
        return not is_foreign and bool(repository.left_of_purge(self._root))

    # The head

    def _mend_head(self) -> str | None:
        """Make the head readable; return what was done, None when nothing had to be.

        Raises:
            DamagedHistory: nothing readable is left to go on from.
        """
        is_whole = self._trees.is_readable
        try:
            head = self._refs.head()
            lost = head.commit is None and any(map(is_whole, self._refs.last_noted(head.ref)))
            if not lost and (head.commit is None or is_whole(head.commit)):
                return None
            ref = head.ref
        except DamagedHistory:
            ref = self._repaired_head()
        for commit in self._candidates(ref):
            if is_whole(commit):
                self._refs.restore(ref, commit)
                return f"{ref} could not be read and was set to {short(commit)}"
        raise DamagedHistory(
            f"no commit of {self._git} can be read; the files are untouched. Move {self._git} away "
            "to begin a new history, or restore it from a backup"
        )

    def _repaired_head(self) -> str:
        """Return the reference in HEAD; if HEAD is missing or malformed, point it at the main branch first."""
        file = self._git / "HEAD"
        text = fs.read(file)[0] if file.is_file() and not file.is_symlink() else b""
        ref = text.decode("ascii", "replace").removeprefix("ref: ").strip()
        if not is_ref(ref):
            ref = MAIN
            self._refs.restore("HEAD", f"ref: {MAIN}")
        return ref

    def _candidates(self, ref: str) -> Iterator[str]:
        """Yield commits to go on from, the likeliest first."""
        if readable := self._keep.readable(ref):
            yield readable
        yield from self._refs.last_noted(ref)
        yield from self._refs.last_noted("HEAD")
        kept = self._keep.tip()
        for commit in [kept] if kept else self._keep.rewritten():
            yield from self._walk.readable(commit)
