"""History: the commits of one workspace, in an ordinary Git repository, without a `git` binary.

Commits are made from objects with one read of the head, which is both parent and the value that is
compared when the branch moves. References below `refs/crabmem` keep every commit of ours reachable
whatever a person does to the branch.
"""

import math
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..disk import fs, state
from ..disk.lock import WriterLock
from ..disk.seal import Seal
from ..errors import Busy, CrabmemError, DamagedHistory, Moved, Unwritable
from ..results import Commit
from ..text.hashes import SHORT_DIGITS, short
from ..workspace.layout import SETTINGS
from ..workspace.workspace import Workspace
from . import repository
from .blame import Blame
from .changes import Changes, Origin
from .commits import Note, author_and_message, body, committer, header, raw_commit
from .index import Index, Settled, UnknownIndex
from .kept import ASIDE, KEEP, MOST_ASIDE, Keep, Stretch, Waiting
from .mend import mend_head
from .objects import Objects, denied
from .packing import Packed, Packing
from .reach import Stored, everything
from .redo import Batch, Move, Redo
from .refs import MAIN, OID, Head, Refs
from .revisions import resolve
from .trees import Item, Trees
from .walk import Graph, Line, Walk

if TYPE_CHECKING:
    from .rewrite.repository import RepositoryRewrite


#: What a folder is, by `fs.identity`; None for none.
Identity = tuple[int, int] | None
_TRIES = 50
#: So many of the newest batches are looked for, in case a prune took what was not reached yet, at the first write of a
#: process, and whenever the log is begun anew; in between each write looks for that of the one before it.
_LATELY = 25
#: A log of so many bytes is begun anew by the next write, if nobody did so before.
FULL = 2_000_000
# So many bytes are made of a log that somebody else began, at most.
_MOST_MADE = 30_000_000
# Seconds for which upkeep waits for writers.
_PATIENCE = 5.0
# While one of these exists the person is in the middle of something that moves the branch.
_IN_PROGRESS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


# What Git goes back to when such a thing is aborted.
_BRANCH_BEFORE = ("rebase-merge/orig-head", "rebase-apply/orig-head", "sequencer/head")


class History:
    """The repository of a workspace, which need not exist yet.

    `changes` says what its commits changed, and follows files that were renamed.
    """

    def __init__(
        self,
        workspace: Workspace,
        seal: Seal | None = None,
        claim_caches: Callable[[Path], None] = lambda private: None,
        identities: tuple[Identity, Identity] | None = None,
    ) -> None:
        """`seal` shows that this user began the redo log; `claim_caches` is called when there is a place for caches.
        `identities` are those of the repository and of the folder around it when whoever opened the workspace did so;
        None: they are as now.
        """
        self._claim_caches = claim_caches
        self._root, self._git, self._private = workspace.root, workspace.git, workspace.private
        self._is_free_of_links = self._is_claimed = False
        self._links = repository.LinkSearch(self._git)
        #: What failed after the commit of this write was on the branch: no failure of the write, the next one mends it.
        self.late_failures: list[OSError | CrabmemError] = []
        self._looked_into = workspace.repository_folders
        self._layout = workspace.layout
        private = self._private
        self._refs = Refs(self._git, private / state.TEMPORARY)
        self._redo = Redo(private / state.REDO, seal)
        self._objects = Objects(self._git / "objects", private / state.TEMPORARY, self._redo)
        self._trees = Trees(self._objects)
        self._walk = Walk(self._objects, Graph(private))
        self.changes = Changes(self._objects, self._trees, self._walk)
        self._blame = Blame(self._objects, self.changes, self._walk)
        self._index = Index(self._git, private, self._refs)
        self._keep = Keep(self._refs, self._objects, self._walk)
        self._waiting = Waiting(private / state.WAITING)
        self._packing = Packing(self._git, private, self._refs)
        self._listed: tuple[str | None, Mapping[str, str]] = (None, {})
        #: What the repository and the folder around it are, None before there is one; its newest commit.
        self._place, self._folder = identities or (
            None if os.path.islink(self._git) else fs.identity(self._git),
            fs.identity(self._root),
        )
        self._last: str | None = None
        self._aside: tuple[frozenset[str], list[str]] = frozenset(), []
        self._has_looked = False

    def close(self) -> None:
        """Close the files that reading has opened, and keep for the next process what commits changed."""
        self._walk.save()
        self._objects.close()

    # The repository, and what a crash left of it

    def exists(self) -> bool:
        """Return whether there is a repository.

        Raises:
            DamagedHistory: `.git` is something else than a folder, or waits beside its place for the next write.
            DeniedHistory: this user may not look into it.
            Moved: there was one, and it is gone.
        """
        try:
            for folder in self._looked_into:
                fs.check_folder(folder)
        except PermissionError as error:
            raise denied(error) from None
        if os.path.islink(self._git) or (os.path.exists(self._git) and not os.path.isdir(self._git)):
            raise DamagedHistory(
                f"{self._git} is not a folder (a worktree, a submodule or a link); "
                "memory needs a repository of its own: use another folder"
            )
        if not self._is_free_of_links and (link := self._links.found()):
            raise DamagedHistory(
                f"{link} is a symbolic link, which may lead anywhere and is not followed: put the folder itself there"
            )
        self._is_free_of_links = True
        known = self._place  # asked for first: another thread may begin the repository just now
        is_there = os.path.isdir(self._git)
        if not is_there and repository.is_beside(self._root):
            raise DamagedHistory(
                f"a purge was interrupted and left the history in {self._root / state.BESIDE}: the next write puts it "
                "back, and so does `mv`, to `.git`"
            )
        if known and not is_there:
            if fs.identity(self._root) != self._folder or not os.listdir(self._root):
                raise Moved(
                    f"{self._root} is not where it was: it was moved or deleted after this process had opened it; "
                    "put it back, or start again to begin a new memory there"
                )
            self.forget()  # somebody deleted the repository, and not the files around it
            self._place = self._last = None
        if known and self._last is None:  # no link is in the way of reading it, as was found out above
            self._last = self._branch_tip()
        return is_there

    def _branch_tip(self) -> str | None:
        """Return the commit that the branch names, readable or not."""
        try:
            return self._refs.head().commit
        except (CrabmemError, OSError):
            return None

    def _check_same(self) -> None:
        """Refuse to write into another repository than before, unless it has the newest commit that was known.

        So a clone or a copy that a person put in place goes on. So does the repository that a purge by another process
        put in place, whose commits may all have new ids: it says which folder it replaced.
        """
        identity = fs.identity(self._git)
        if self._place and identity != self._place:
            self.forget()
            if self._last and not (self._has_replaced(self._place) or self._objects.has(self._last)):
                raise Moved(
                    f"{self._root} is not the memory that this process had opened: its history lacks commit "
                    f"{self._last[:SHORT_DIGITS]}; start again if it is the one you mean, or put the other back"
                )
        self._place, self._folder = identity, fs.identity(self._root)

    def _has_replaced(self, folder: tuple[int, int]) -> bool:
        with suppress(OSError):
            return b"%d %d" % folder in fs.read(self._private / state.PURGES)[0].splitlines()
        return False

    def check_place(self) -> None:
        """Refuse to write where the memory that this process opened is not any more.

        Raises:
            Moved: it was moved, or another is in its place.
        """
        if self.exists():
            self._check_same()
            self._last = self._branch_tip() or self._last

    def has_begun(self) -> bool:
        """Return whether there is a first commit, readable or not, and what is ours beside it."""
        try:
            is_begun = self.exists() and os.path.isdir(self._private) and self.head() is not None
            return is_begun and not self.is_of_project()
        except DamagedHistory:
            return os.path.isdir(self._private)

    def prepare(self) -> None:
        """Make the repository, or what is ours in one that was cloned or begun by hand.

        Raises:
            Unwritable: it is the repository of something else.
        """
        self._is_free_of_links = False  # somebody may have changed the folder since
        repository.put_back(self._root)
        if not self.exists():
            repository.create(self._root)
        self._check_same()
        self._refuse_foreign_format()
        if self.is_of_project():
            raise Unwritable(
                f"{self._root} is a project's repository. For a memory beside it: `crabmem --project "
                f"{shlex.quote(str(self._root))}`; to put memory into the project's own history: "
                f"`crabmem --dir {shlex.quote(str(self._root))} init`"
            )
        if not os.path.isdir(self._private):
            self.claim()
        if not os.path.isdir(self._private / state.TEMPORARY):
            fs.make_folder(self._private / state.TEMPORARY)
        self._claim_caches(self._private)

    def _refuse_foreign_format(self) -> None:
        form = repository.foreign_format(self._git)
        if form:
            raise DamagedHistory(
                f"{self._git} has Git's {form} format, which crabmem does not write; use another folder"
            )

    def is_of_project(self) -> bool:
        """Return whether the repository is a project's, on whose branch there is no memory: it has files, none is ours.

        What a person agreed to on one branch is no word about another. Markdown in a folder `memory/` is no sign of
        ours: a project may document its own there.
        """
        is_ours = os.path.isdir(self._private) and not os.path.lexists(self._private / state.PROJECT)
        if self._is_claimed or is_ours or not self.exists():
            return False
        layout, head = self._layout, self.head()
        signs = (layout.identity, layout.overview, SETTINGS)
        if head is None:
            own = (*signs, layout.memory)
            return os.listdir(self._root) != [".git"] and not any(os.path.lexists(self._root / each) for each in own)
        if not layout.memory:
            return not any(map(layout.is_kept, self.files(head)))
        facts = (
            self.files_in(head, layout.entries[0], with_folders=False) if self.folder(head, layout.entries[0]) else {}
        )
        return not (facts and all(map(layout.is_entry, facts))) and not any(self.file(head, each) for each in signs)

    def claim(self) -> None:
        """Put what is ours into a repository that somebody else made.

        Raises:
            Unwritable: it is a project's, which has something where memory would lie.
        """
        self._refuse_foreign_format()
        layout, head = self._layout, self.head()
        if (
            layout.is_guest
            and self.is_of_project()
            and any(files for _, _, files in os.walk(self._root / layout.memory))
        ):
            raise Unwritable(
                f"{self._root / layout.memory} has files of the project, and memory would lie there. For a memory "
                f"beside it: `crabmem --project {shlex.quote(str(self._root))}`"
            )
        is_all_ours = not layout.is_guest and all(
            layout.is_kept(path) or path.rpartition("/")[2][0] == "." for path in self.files(head)
        )
        folders = None if is_all_ours else [each for each in layout.folders if "/" not in each]
        repository.furnish(self._git, self._private, folders, layout.is_guest)
        self._is_claimed = True

    def recover(self) -> str | None:
        """Take away what a crash left locked or half made; return a report of a purge. Only under the writer's lock."""
        report = repository.clear_purge(self._root)
        repository.clear_unfinished(self._root)
        repository.clear_incoming(self._private)
        self._refs.release_leftovers()
        self._objects.clear_leftovers()
        return report

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep `git gc` from running beside a write, and count what the write stores."""
        self._objects.begin()
        self.late_failures.clear()
        with self._refs.without_gc():
            try:
                yield
            finally:
                self._packing.count(*self._objects.written())

    def is_compaction_due(self) -> bool:
        """Return whether so much lies loose that `compact` is worth its while. Costs next to nothing."""
        return self.exists() and os.path.isdir(self._private) and self._packing.is_due()

    def compact(self, progress: Callable[[int], None] | None = None, whole: bool = False) -> Packed | None:
        """Pack what writes left loose, while others read and write; None when nothing was done. See `Packing`."""
        if not (self.exists() and os.path.isdir(self._private)):
            return None
        with suppress(CrabmemError, OSError):  # what is packed is on the disk before it loses its files
            self.harden_beside()
        return self._packing.compact(progress, whole)

    def mend(self) -> str | None:
        """Make the head readable again; return what was done, None for nothing. DamagedHistory when that fails."""
        restored, replayed = 0, None
        if not self._redo.is_of_now():
            replayed = self._replay()
        else:
            newest = self._redo.batches(1 if self._has_looked else _LATELY)
            restored = self._make_again(newest, is_read=False)
            if self._redo.size() > FULL and not self._refs.is_gc_running():
                self.harden()
        self._has_looked = True
        done = (
            replayed
            or mend_head(self._git, self._refs, self._keep, self._walk, self._trees.is_readable)
            or self._keep.lost()
        )
        return done or (f"{restored} objects that were missing were put back" if restored else None)

    def _replay(self) -> str | None:
        """Do again what a power cut took; return what was done, None for nothing."""
        moves = self._redo.moves()
        restored = self._make_again(self._redo.batches(), is_read=True)
        moved = [ref for ref in {move.ref for move in moves} - {KEEP} if self._move_on(ref, moves)]
        last, tip = next((move.commit for move in moves if self._objects.has(move.commit)), None), self._keep.tip()
        if last and not (tip and self._walk.is_ancestor(last, tip)):
            self._keep.advance(last)
        if paths := {path for move in moves for path in move.paths}:
            self._index.expect(paths)
            self.settle({})
        self.harden()
        if not restored and not moved:
            return None
        return f"{restored} objects that a power cut took were made again" + "".join(
            f", and {ref} was set to {short(self._refs.read(ref) or '')}" for ref in moved
        )

    def _make_again(self, batches: Sequence[Batch], is_read: bool) -> int:
        return self._objects.restore(batches, is_read, math.inf if self._redo.is_ours() else _MOST_MADE)

    def _move_on(self, ref: str, moves: Sequence[Move]) -> bool:
        """Move a reference to the newest commit that it was moved to, where a power cut undid that; whether it did.

        `moves` are the newest first. Where the person took it back, which the reference's log says, it stays.
        """
        ours = [move for move in moves if move.ref == ref]
        last = next((move.commit for move in ours if self._trees.is_readable(move.commit)), None)
        if last is None or (ref == "HEAD" and not self.is_detached()):
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
            return False  # Git takes the log of a branch along when somebody renames it, and removes it with the branch
        if noted[:1] == [now] and last in noted:
            return False
        self._refs.restore(ref, last)
        return True

    @fs.durability(True)
    def harden(self) -> None:
        """Wait until all that the redo log has is on the disk by itself, and begin it anew.

        The newest objects stay in it: a prune that looked before they were reached may yet take them. What one took is
        put back first, as nothing else knows it afterwards. Only under the writer's lock, and after what a power cut
        took was done again.
        """
        self._make_again(self._redo.batches(), is_read=False)
        self._sync_logged()
        for ref in {*(move.ref for move in self._redo.moves()), KEEP}:
            self._refs.sync(ref)
        self._index.sync()
        newest = self._redo.newest_pieces(_LATELY)
        self._redo.begin()
        if newest:
            self._redo.add(newest, None)

    def has_lost(self) -> bool:
        """Return whether the machine went down after writes of this user that nobody had brought to the disk."""
        return not self._redo.is_of_now() and self._redo.is_ours() and bool(self._redo.moves())

    @fs.durability(True)
    def harden_beside(self) -> None:
        """Do what `harden` does, beside writers: they wait only for what was written meanwhile.

        Not while `git gc` runs: what it found unreached a moment ago it still takes away.

        Raises:
            Busy: they let nobody in between.
        """
        if self._redo.moves() and self._redo.is_of_now():
            self._sync_logged()
            with WriterLock(self._private / state.LOCK).held(_PATIENCE):
                if self._redo.is_of_now() and not self._refs.is_gc_running():
                    self.harden()

    def _sync_logged(self) -> None:
        self._objects.sync(each.oid for batch in self._redo.batches() for each in batch.pieces)

    # Purges

    def has_left_purge(self) -> bool:
        """Return whether a purge left something which was interrupted, beside nothing that somebody else began."""
        if not os.path.lexists(self._git):
            return repository.is_beside(self._root)
        is_foreign = os.path.lexists(self._private / state.REDO) and not self._redo.is_ours()
        return not is_foreign and bool(repository.left_of_purge(self._root))

    def rewrite(self) -> "RepositoryRewrite":
        """Return what rewrites this repository by a rule."""
        from .rewrite.repository import RepositoryRewrite

        return RepositoryRewrite(self._git, self._private, self._refs, self._objects, self._packing)

    def forget(self) -> None:
        """Read everything anew from now on."""
        self._objects.forget()
        self._trees.forget()
        self._listed = None, {}

    # The head, the files of a commit, and their texts

    def head(self) -> str | None:
        """Return the commit the next one stands on: the branch's, None before the first.

        While the person is in the middle of a rebase or merge the branch is theirs, and ours wait in
        `refs/crabmem/keep`.
        """
        return self._base(self._refs.head())

    def head_if_any(self) -> str | None:
        """Return the head; None also where there is no repository yet."""
        return self.head() if self.exists() else None

    def kept(self) -> str | None:
        """Return the newest commit of ours, on the branch or not; None when it cannot be read."""
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

    def put(self, data: bytes) -> str:
        """Store bytes, in no commit yet; return their id. Durable after `flush`, or with a commit."""
        return self._objects.put("blob", data)

    def put_ahead(self, blobs: Iterable[bytes]) -> Iterator[bytes]:
        """Store bytes as `put` does, without the writer's lock; yield each of them. At the end all are stored."""
        return self._objects.put_ahead(blobs)

    def flush(self) -> None:
        """Make what was put durable."""
        self._objects.flush()

    # Writing commits

    def record(
        self,
        changes: Mapping[str, str | Item | None],
        note: Note,
        when: datetime,
        journalled: bool = False,
        joined: str | None = None,
    ) -> str | None:
        """Commit `changes` (path to blob, or to mode and id; None to remove) on top of the head; return the commit.

        Return None when the head already says so. A branch that moves meanwhile is followed. Paths that a journal
        names are settled after a kill without this remembering them. With `joined`, another commit, the new one stands
        on that too; it is `joined` itself where that stands on the head and has the same files.
        """
        if not journalled:
            self._index.expect(changes)
        for _ in range(_TRIES):
            head = self._refs.head()
            commit = self._new_commit(self._base(head), changes, note, when, joined)
            if commit is None:
                # Somebody's own commit holds this write, which was quicker on the disk: that one is kept.
                base = self._base(head)
                if base and base != self._keep.tip():
                    self._keep.advance(base)
                return None
            if self._move_branch(Move(commit, head.ref, head.commit, tuple(changes)), note, when):
                self._last = commit
                return commit
        raise Busy(f"{self._git} changes faster than we can commit; try again")

    def prospective(
        self, changes: Mapping[str, str | Item | None], note: Note, when: datetime, joined: str
    ) -> str | None:
        """Store the commit that `record` would make, on no branch; return its id."""
        commit = self._new_commit(self.head(), changes, note, when, joined)
        self._objects.flush()
        return commit

    def set_aside(
        self, changes: Mapping[str, str | None], note: Note, when: datetime, base: str | None = None
    ) -> str | None:
        """Commit `changes` on top of the head, or of `base`, on no branch; return its id, one of `aside` then."""
        commit = self._new_commit(base or self.head(), changes, note, when)
        if commit:
            self._objects.flush()
            self._refs.restore(f"{ASIDE}/{commit}", commit)
            self._objects.put_back()
        return commit

    def aside(self) -> list[str]:
        """Return the commits that were set aside and can be read, the oldest first; of many the first by id."""

        def age(commit: str) -> tuple[int, int, str]:
            times = self._objects.header(commit)
            return times.committed, times.authored, commit

        found = frozenset(sorted(self.all_aside())[:MOST_ASIDE])
        if found != self._aside[0]:
            readable = sorted(filter(self._is_commit, found), key=age)
            if len(readable) < len(found):  # which may be mended at any moment
                return readable
            self._aside = found, readable
        return list(self._aside[1])

    def all_aside(self) -> set[str]:
        """Return the commits that were set aside, however many, readable or not."""
        refs = self._refs.all() if self.exists() else {}
        return {commit for ref, commit in refs.items() if ref == f"{ASIDE}/{commit}"}

    def aside_words(self) -> str | None:
        """Return what there is to say of more commits set aside than are read; None where all are."""
        more = len(self.all_aside()) - MOST_ASIDE
        return (
            f"{more:,} proposals more than the {MOST_ASIDE:,} that are read: decide on those, or, if nobody here made "
            f"them, delete the references below {ASIDE}"
            if more > 0
            else None
        )

    def keep_aside(self, commit: str) -> None:
        """Keep a commit beside the branch that another machine set aside; it is one of `aside` then. Nothing else is
        kept, whatever a remote calls so.
        """
        if self._is_commit(commit):
            self._refs.restore(f"{ASIDE}/{commit}", commit)

    def drop_aside(self, commit: str) -> None:
        """Keep a commit no longer that was set aside: Git removes it by and by, `purge` at once."""
        self._refs.remove(f"{ASIDE}/{commit}")

    def has_recorded(self, note: Note, when: datetime, base: str | None) -> bool:
        """Return whether `note` was committed at `when` or later, after the head had been `base`."""
        head, since = self.head(), int(when.timestamp())
        older = set(self._walk.readable(base, since)) if base else set()
        words = (note.author.encode(), note.message.encode("utf-8", "replace"))
        newer = [each for each in self._walk.readable(head, since) if each not in older] if head else []
        found = (self._objects.raw(each)[1] for each in newer if self._objects.has(each))
        return any(author_and_message(raw) == words for raw in found)

    def waiting(self) -> list[Stretch]:
        """Return what was written during a rebase or merge of the person that is over, as far as it can be read.

        Only what is memory's own history is believed to be that.
        """
        found = [] if self.in_progress() else self._waiting.all()
        return [each for each in found if all(map(self._is_commit, each)) and self._is_of_memory(each.tip)]

    def forget_waiting(self) -> None:
        """Forget what `waiting` returns."""
        self._waiting.clear()

    def bases(self, one: str, other: str) -> list[str]:
        """Return the newest commits that two stand on, in the order of their ids; none for histories apart."""
        return self._walk.bases(one, other)

    def commits_since(self, bases: Iterable[str], tip: str) -> list[str]:
        """Return the commits that `tip` stands on and none of `bases` does, newest first."""
        hidden = set[str]()
        found = list(self._walk.newest_first([tip], bases, hidden))
        return [commit for commit in found if commit not in hidden]

    def is_merge(self, commit: str) -> bool:
        """Return whether a commit stands on more than one."""
        return len(self._walk.parents(commit)) > 1

    def reaches(self, commit: str) -> bool:
        """Return whether the head is `commit` or stands on it."""
        head = self.head()
        return head is not None and self._walk.is_ancestor(commit, head)

    def commits_between(self, base: str, tip: str) -> list[str]:
        """Return the commits behind `base` up to `tip`, each the first parent of the next; none if not in a row."""
        found: list[str] = []
        commit: str | None = tip
        while commit and commit != base and self._is_commit(commit):
            found.append(commit)
            commit = self.parent(commit)
        return found[::-1] if commit == base else []

    # Other machines

    def origin(self) -> str | None:
        """Return the address that Git's configuration names for `origin`; None for none."""
        return repository.remotes(self._git).get("origin")

    def set_origin(self, url: str) -> None:
        """Have Git's configuration name `url` for `origin`."""
        repository.set_remote(self._git, "origin", url)

    def branch(self) -> str:
        """Return the reference of the branch that HEAD is on; of the usual one where it is on none."""
        ref = self._refs.head().ref
        return MAIN if ref == "HEAD" else ref

    def tracked(self, ref: str) -> str | None:
        """Return what a reference names, as where a branch of another repository was seen last; None without it."""
        return self._refs.read(ref)

    def track(self, ref: str, commit: str | None) -> None:
        """Remember where a branch of another repository was seen; None forgets it."""
        if commit is None:
            self._refs.remove(ref)
        else:
            self._refs.restore(ref, commit)

    def irregular(self, commit: str) -> Iterator[str]:
        """Yield the paths of a commit that are links or repositories, and no files."""
        return (path for path, (mode, _) in self.items(commit).items() if not stat.S_ISREG(mode))

    # Git's index, and what the person is doing with Git

    def settle(self, paths: Mapping[str, Settled]) -> None:
        """Make Git's index agree with the head about `paths`, and about those a crash left unsettled."""
        if not paths and not self._index.is_behind():
            return
        if self.in_progress():
            self._index.expect(paths)
        else:
            self._index.settle(paths, self._items_of_head)

    def settle_first(self, paths: Mapping[str, Settled]) -> None:
        """Make Git's index agree about `paths` before the branch moves; Busy where it cannot now.

        So a person who commits in between takes nothing back.
        """
        if paths and (self.in_progress() or not self._index.settle(paths, self._items_of_head)):
            raise Busy(f"Git's index of {self._root} is locked, or of a form that crabmem does not write: try again")

    def _items_of_head(self) -> Mapping[str, Item]:
        return self.items(self.head())

    def staged(self) -> dict[str, tuple[int, str, int]] | None:
        """Return mode, id and flags of each path in Git's index; None where there is none.

        Raises:
            Busy: a merge is under way in it, or it is of a form that crabmem does not read.
        """
        try:
            return self._index.items()
        except (UnknownIndex, OSError):
            raise Busy(f"Git's index of {self._root} is in a merge, or of a form that crabmem does not read") from None

    def left(self) -> dict[str, Item]:
        """Return what Git's index has of the paths that it is told to overlook on the disk."""
        try:
            rows = (self._index.items(only_left=True) if self.exists() else None) or {}
        except (UnknownIndex, OSError):
            return {}
        return {path: (mode, oid) for path, (mode, oid, _) in rows.items()}

    def is_index_foreign(self) -> bool:
        """Return whether Git's index is in a form that we do not write: Git takes what was written for its removal."""
        return self._index.is_foreign

    def has_plain_index(self) -> bool:
        """Return whether Git's index, if there is one, is in a form that writes keep in step with the branch."""
        with suppress(Busy):
            self.staged()
            return True
        return False

    def in_progress(self) -> str | None:
        """Return what the person is in the middle of that moves the branch, such as "rebase"; None for nothing."""
        try:
            names = os.listdir(self._git)
        except FileNotFoundError:
            return None
        except PermissionError as error:
            raise denied(error) from None
        return next((doing for name, doing in _IN_PROGRESS.items() if name in names), None)

    def is_detached(self) -> bool:
        """Return whether HEAD is on no branch."""
        return self._refs.head().ref == "HEAD"

    # Whether all is well

    def everything(self) -> Iterator[Stored]:
        """Return every object that a reference reaches, checked."""
        return everything(self._refs.tips(), self._objects)

    def unreadable_files(self) -> list[str]:
        """Return the files of the repository, apart from objects and references, that Git cannot read."""
        files = {
            ".git/packed-refs": self._refs.packed_is_whole(),
            ".git/config": repository.is_readable(self._git / "config"),
            ".git/shallow": self._is_shallow_readable(),
        }
        return [path for path, is_fine in files.items() if not is_fine]

    def _is_shallow_readable(self) -> bool:
        try:
            return all(OID.match(each.decode("ascii", "replace")) for each in self._objects.shallow())
        except DamagedHistory:
            return False

    def locks(self) -> list[Path]:
        """Return the locks of other Git processes, or of one that died."""
        return [lock for lock in (*self._git.glob("*.lock"), *(self._git / "refs").rglob("*.lock"))]

    def left_locks(self) -> list[Path]:
        """Return the locks that a write of ours left which was ended; Git waits for them."""
        ours = [lock for lock in self._refs.our_locks() if lock.suffix == ".lock"]
        return ours if ours and not WriterLock(self._private / state.LOCK).is_holder_alive() else []

    def without_text(self, blobs: Mapping[str, str]) -> list[str]:
        """Return the paths at which the head has the given blob, which is missing from the history."""
        head = self.head()
        kept = [path for path, blob in blobs.items() if blob == self.file(head, path)]
        return [path for path in kept if not self._objects.is_there(blobs[path])]

    # Reading commits

    def commits(
        self,
        start: str | None = None,
        without: str | None = None,
        path: str | None = None,
        accept: Callable[[Commit], bool] | None = None,
        with_paths: bool = True,
    ) -> Iterator[Commit]:
        """Yield `start` (None: the head) and what it stands on, newest first; not `without` and what that stands on.

        Only those that touch `path`, or where that file was before it was moved there, and that `accept` takes. It is
        given commits without their paths, which take long to find.
        """
        head = start or self.head()
        oids = self._walk.commits(head, without) if head else iter(())
        for oid in oids if path is None else (oid for oid, _ in self.changes.followed(oids, path)):
            if accept is None or accept(self.commit(oid, with_paths=False)):
                yield self.commit(oid, with_paths)

    def owners(self, text: bytes, path: str, at: str | None = None) -> list[Commit | None]:
        """Return the commit that each line of `text`, now the file at `path`, came with; None for new lines.

        With `at`, of the file as that commit has it.
        """
        owners = self._blame.owners(text, self._newest(path, at))
        commits = {oid: self.commit(oid) for oid in {*owners} if oid}
        return [commits[oid] if oid else None for oid in owners]

    def writers(self, paths: Iterable[str], at: str | None = None) -> dict[str, list[Commit]]:
        """Return the commits that wrote the file at each path in `at` (None: the head) since it was last missing.

        Newest first; none for no file.
        """
        files = {path: self._newest(path, at) for path in paths}
        found = self._blame.writers(file for file in files.values() if file)
        return {path: [*map(self.commit, found[file])] if file else [] for path, file in files.items()}

    def last_changes(self, files: Mapping[str, str]) -> dict[str, Commit]:
        """Return the newest commit that wrote each of `files`, blobs by path; without its paths, newest first."""
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

    def parent(self, commit: str) -> str | None:
        """Return the first parent of `commit`; None for the first commit."""
        return next(iter(self._objects.parents(commit)), None)

    # Finding a commit

    def resolve(self, revision: str, anywhere: bool = False) -> str:
        """Return the commit `revision` names, of memory's own history, or `anywhere` in the repository.

        Raises:
            NotFound: it names none there.
            InvalidArguments: it names several.
        """
        accept = None if anywhere else self._is_of_memory
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
            self._walk.line(head)  # which `end` shares the beginning with
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

    # How a commit gets on the branch

    def _new_commit(
        self,
        base: str | None,
        changes: Mapping[str, str | Item | None],
        note: Note,
        when: datetime,
        joined: str | None = None,
    ) -> str | None:
        """Return a commit of `changes` on `base`, not yet on any branch; None when nothing differs."""
        before = self.tree(base)
        tree = self._trees.grafted(before, changes) or self._objects.put("tree", b"")
        if joined and tree == self.tree(joined) and (base is None or self._walk.is_ancestor(base, joined)):
            return joined
        if not joined and (tree == before or (before is None and not any(changes.values()))):
            return None
        # In an order that both machines know that join the same two.
        parents = sorted(filter(None, (base, joined)))
        not_before = max((self._objects.header(each).committed for each in parents), default=0)
        raw = raw_commit(tree, parents, note, when, not_before)
        commit = self._objects.put("commit", raw)
        self._walk.graph.add_new(commit, header(raw))
        return commit

    def _move_branch(self, move: Move, note: Note, when: datetime) -> bool:
        """Return whether the branch took a commit, which is then kept; it waits while the person rebases."""
        commit = move.commit
        if self.in_progress():  # only what keeps it makes it part of memory
            self._objects.flush(move._replace(ref=KEEP))
            bases, before = self._objects.parents(commit), self._branch_before() or self._keep.tip()
            if bases and before:
                self._waiting.add(bases[0], commit, before)
            self._objects.put_back()
            self._keep.advance(commit)
            return True
        self._refs.wait_for(KEEP)  # before the branch moves: what is on it is not called failed any more
        self._objects.flush(move)
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
        """Return whether the branch is at the commit now, moved there by us from where it was found."""
        try:
            return self._refs.swap(move.ref, move.old, move.commit)
        except OSError as error:
            if self._refs.read(move.ref) != move.commit:
                raise
            self.late_failures.append(error)
            return True

    def _branch_before(self) -> str | None:
        """Return where the branch was before the rebase or the row of picks that the person is in the middle of."""
        for file in _BRANCH_BEFORE:
            with suppress(DamagedHistory):
                if before := self._refs.read(file):
                    return before
        return None

    def _is_commit(self, oid: str) -> bool:
        with suppress(DamagedHistory):
            return bool(self._objects.header(oid).tree)
        return False

    def _is_of_memory(self, commit: str) -> bool:
        """Return whether the head, or a commit that was kept when the branch was rewritten, stands on `commit`."""
        head = self.head()
        with suppress(DamagedHistory):  # the line is only the quicker look
            if head and self._walk.line(head).place(commit) is not None:
                return True
        tips = (head, self._keep.tip(), *self._keep.rewritten())
        return commit in self._walk.reached(filter(None, tips))

    def _base(self, head: Head) -> str | None:
        kept = self._keep.tip() if self.in_progress() else None
        return kept if kept and head.commit and self._walk.is_ancestor(head.commit, kept) else head.commit
