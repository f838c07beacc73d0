"""Packs loose objects as Git would, without Git, while others write and a person's Git does what it does.

The order is what makes it safe at every moment. A new pack holds all of our previous one and what is
to be packed; it is on the disk, read back and compared with the ids, before it gets its name; and it has
its name before any other copy is removed. Whoever dies or fails leaves copies too many, never too few.

No lock of Git's is held, for writers hold `gc.pid` themselves and would wait:

- A writer that finds its object stored, and does not write it, finds it in our pack a moment later; `Disk` looks twice.
- `git prune-packed` removes what is in a pack, which by then is read back; `git prune` what nothing reaches, and
  we touch nothing but what references reach. A `git prune --expire=now` that takes our temporary files
  makes us fail before anything was removed.
- `git repack -a -d` and `git gc` remove packs they saw before they walked the references, and put what those
  reach into their own. If they saw our new pack, what is in it was reached already when they walked; if they did
  not, they leave it. One that saw it before it had its index takes it from under the index: then the index goes
  too, and nothing is removed. When they remove our previous pack, we have read it before, or read objects elsewhere.
- A process that has the index of our previous pack open and looks for its objects after we removed it looks through
  the folder again and finds the new one: Git does, and dulwich.

A `git gc` that already runs is still waited for, by coming again later: both would do the same work.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..disk import fs, state
from ..disk.regular import HUGE
from ..errors import DamagedHistory
from .kept import KEEP
from .objects import Objects
from .packing import Packed
from .packs import (
    DEEPEST,
    PACK_NAME,
    TEMPORARY,
    BrokenPack,
    Entry,
    Growing,
    Packs,
    give_name,
    ids,
    written_aside,
)
from .reach import Piece, Reach
from .refs import Refs
from .store import check_pack

#: Bytes of our pack at which the next compaction begins another: to grow, the whole pack is copied each time.
LARGEST = 16_000_000
#: Bytes that are added at a time; the rest follows in a pack of its own.
MOST_ADDED = 24_000_000
#: Bytes of a loose file that is not packed: it is no memory.
TOO_LARGE = 8_000_000
# A chain's levels of bases, and by how many versions each is apart; how many chains the note keeps.
_STEP = 16
_LEVELS = 3
_MOST_CHAINS = 64
# Git's index over several packs, in one file or as a row of files.
_SHARED = "multi-pack-index"
_SHARED_ROW = "multi-pack-index.d"


@dataclass(frozen=True)
class Chain:
    """The versions of one folder, or the commits, in a pack. `bases` are the newest, the newest 16th and 256th of them.

    A version is a delta to the one before it, each 16th to the one 16 before, each 256th to the one 256 before. So none
    is more than fifty deltas away from a whole one, of which there is one for thousands.
    """

    count: int
    bases: tuple[str, ...]

    @classmethod
    def first(cls, oid: str) -> "Chain":
        """Return a chain of one."""
        return cls(1, (oid,) * _LEVELS)

    @property
    def base(self) -> str:
        """What the next version is a delta to."""
        return self.bases[self._level()]

    def plus(self, oid: str) -> "Chain":
        """Return the chain with another version."""
        level = self._level()
        return Chain(self.count + 1, (oid,) * (level + 1) + self.bases[level + 1 :])

    def _level(self) -> int:
        return max(level for level in range(_LEVELS) if self.count % _STEP**level == 0)


@dataclass(frozen=True)
class Ours:
    """The note about our pack: its name, the name of the pack that it replaced, and the chains of folders in it."""

    pack: str
    before: str | None = None
    chains: Mapping[str, Chain] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "Ours | None":
        """Return the note in `file`; None if it is missing or malformed."""
        try:
            note = json.loads(fs.read(file)[0])
            chains = {path: Chain(int(each["count"]), tuple(each["bases"])) for path, each in note["chains"].items()}
            found = cls(note["pack"], note["before"], chains)
            return found if found._is_sound() else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def to_json(self) -> bytes:
        """Return what `read` reads."""
        newest = dict(list(self.chains.items())[-_MOST_CHAINS:])
        return json.dumps(asdict(replace(self, chains=newest))).encode()

    def _is_sound(self) -> bool:
        chains = all(each.count > 0 and len(each.bases) == _LEVELS for each in self.chains.values())
        return chains and all(PACK_NAME.match(name) for name in (self.pack, self.before) if name is not None)


class Filling:
    """A pack that is being filled, and the chains of folders in it."""

    def __init__(
        self,
        read: Callable[[str], tuple[str, bytes]],
        growing: Growing,
        chains: Mapping[str, Chain],
        is_there: Callable[[str], bool] = lambda oid: False,
        packs: Packs | None = None,
        coming: Set[str] = frozenset(),
    ) -> None:
        """`read` returns kind and bytes of an object by its id, or raises DamagedHistory.

        `is_there` tells whether the receiver of a thin pack has an object, which may then be a base without being in
        the pack. Objects in `packs` are copied from there as they lie; the base of a copied delta comes along if it is
        among the `coming`, the objects that the pack is to have.
        """
        self._is_there = is_there
        self._packs, self._coming = packs, coming
        self.growing = growing
        self.chains = dict(chains)
        self._read = read
        #: Kind and bytes of the objects to which later versions of the chains will be deltas.
        self._bases: dict[str, tuple[str, bytes]] = {}

    def take(self, piece: Piece) -> None:
        """Put an object into the pack, unless that has it: copied from another pack, or as a delta, or whole.

        A folder or commit continues the chain of its path.

        Raises:
            DamagedHistory: the object cannot be read.
        """
        if piece.oid in self.growing:
            return
        if self._packs and self._copied(piece.oid, self._packs):
            if not piece.is_file:
                self.chains[piece.path] = Chain.first(piece.oid)
            return
        kind, data = self._read(piece.oid)
        if not piece.is_file:
            return self._chained(piece, kind, data)
        self.growing.add(piece.oid, kind, data, self._base(piece.older, kind))

    def _copied(self, oid: str, packs: Packs) -> bool:
        """Copy an object as it lies in `packs`, after the bases of its delta; return False if that is not possible.

        It is not if a base will not be in this pack and the receiver lacks it, or the chain of deltas gets too long.
        """
        row, name = list[tuple[str, Entry]](), oid
        while name not in self.growing:
            entry = packs.get(name)
            if entry is None or len(row) > DEEPEST or (row and name not in self._coming):
                break
            row.append((name, entry))
            if entry.base is None:
                break
            name = entry.base
        if not row:
            return False
        base = row[-1][1].base
        is_whole = base is None or base in self.growing or self._is_there(base)
        depth = self.growing.depth(base) if base and base in self.growing else 0
        if not is_whole or depth + len(row) > DEEPEST:
            return False
        for name, entry in reversed(row):
            self.growing.take(name, entry)
        return True

    def _chained(self, piece: Piece, kind: str, data: bytes) -> None:
        """Put the next version of a folder, or of the commits, into the pack: a delta to the base of its chain.

        If it does not become a delta, a new chain begins with it.
        """
        chain = self.chains.pop(piece.path, None)
        older = piece.older if piece.older and self._is_there(piece.older) else None
        is_delta = self.growing.add(piece.oid, kind, data, self._base(chain.base if chain else older, kind))
        chain = chain.plus(piece.oid) if chain and is_delta else Chain.first(piece.oid)
        self.chains[piece.path] = chain  # behind the others: those that were used last are kept
        self._bases[piece.oid] = kind, data
        for gone in set(self._bases) - {base for each in self.chains.values() for base in each.bases}:
            del self._bases[gone]

    def _base(self, oid: str | None, kind: str) -> tuple[str, bytes] | None:
        """Return id and bytes of an object that can be a base: of this kind, and in the pack or with the receiver."""
        if oid is None or not (oid in self.growing or self._is_there(oid)):
            return None
        try:
            other, data = self._bases.get(oid) or self._read(oid)
        except DamagedHistory:
            return None
        return (oid, data) if other == kind else None


class Compaction:
    """One compaction, which nobody else does at the same time."""

    def __init__(self, git: Path, private: Path, refs: Refs, progress: Callable[[int], None], whole: bool) -> None:
        """With `whole` the newest commits are packed too."""
        self._refs = refs
        self._whole = whole
        self._private = private
        self._progress = progress
        self._loose = git / "objects"
        self._packs = self._loose / "pack"
        #: The notes of our pack, as `Ours` has it, and of the one that is being put in its place.
        self._note, self._coming_note = private / state.PACK, private / state.PACK_COMING
        self._objects = Objects(self._loose)
        self._reach = Reach(self._objects, self._loose)
        #: The folders of the newest commits, which stay loose.
        self._folders: list[Piece] = []

    def run(self) -> Packed | None:
        """Clear up what a crash left, and pack what is loose now; return what was packed, None for nothing."""
        try:
            self._clear_up()
            commits, staying = self._loose_commits()
            sums = self._remove_duplicates(staying)
            while commits:
                part = self._round(commits, staying, sums.objects if sums else 0)
                sums = sums + part if sums and part else sums or part
            return sums
        finally:
            self._objects.close()

    def _loose_commits(self) -> tuple[deque[str], set[str]]:
        """Return the loose commits to pack, oldest first, and the ids of the newest ones' objects, which stay loose.

        A fresh process then writes on top of these without opening a pack. With `whole` they are packed too. Fills
        `_folders`.
        """
        head, refs = self._refs.head().commit, self._refs.all()
        newest = {commit for commit in (head, refs.get(KEEP)) if commit}
        staying: set[str] = set()
        for commit in newest:
            with suppress(DamagedHistory):
                self._folders += self._reach.folders(commit)
                staying |= {piece.oid for piece in (*self._reach.pieces(commit), *self._folders)}
        commits = self._reach.commits({*refs.values(), *newest})
        if self._whole:
            return deque(commits), set()
        return deque(commit for commit in commits if commit not in newest), staying

    # What a crash left

    def _clear_up(self) -> None:
        """Finish or undo the compaction that a crash interrupted; remove the pack that ours replaced.

        A pack with an index was complete: its note takes effect. One without an index nobody has used: it goes.
        """
        for file in self._packs.glob(f"tmp_*_{TEMPORARY}*"):
            fs.unlink(file)
        coming = Ours.read(self._coming_note)
        if coming and self._file(coming.pack, "idx").exists():
            self._take_over()
        elif self._coming_note.exists():
            if coming:
                fs.unlink(self._file(coming.pack, "pack"))  # nobody has seen it: it has no index
            fs.unlink(self._coming_note)
        ours = Ours.read(self._note)
        if ours:
            self._is_there(ours.pack)
        self._drop_replaced(ours)

    def _is_there(self, name: str) -> bool:
        """Return whether a pack of ours is there; remove an index that lost its pack, which is an error to Git.

        `git repack -a -d` removes a pack that it saw before we gave it its index.
        """
        if self._file(name, "pack").exists():
            return self._file(name, "idx").exists()
        fs.unlink(self._file(name, "idx"))
        return False

    def _take_over(self) -> None:
        """Make the new pack ours: its note replaces the old one, once the pack's name is durable."""
        fs.sync_folder(self._packs)
        fs.rename(self._coming_note, self._note)
        fs.sync_folder(self._private)

    def _drop_replaced(self, ours: Ours | None) -> None:
        """Remove the pack that ours replaced, if all of it is in ours and nobody wants it kept."""
        if ours and ours.before and ours.before != ours.pack and self._file(ours.before, "pack").exists():
            if self._file(ours.before, "keep").exists():
                return
            index = self._file(ours.before, "idx")
            with suppress(BrokenPack, FileNotFoundError):
                if not index.exists() or ids(index) <= ids(self._file(ours.pack, "idx")):
                    self._drop(ours.before)  # without an index it was on its way out already

    def _drop(self, name: str) -> None:
        shared = self._packs / _SHARED
        if shared.exists() and name.encode() in fs.read(shared, limit=HUGE)[0]:
            fs.unlink(shared)  # an index over several packs, which Git removes itself when one of them goes
        for ending in ("idx", "rev", "bitmap", "pack"):
            fs.unlink(self._file(name, ending))

    def _file(self, name: str, ending: str) -> Path:
        return self._packs / f"{name}.{ending}"

    def _remove_duplicates(self, staying: set[str]) -> Packed | None:
        """Remove loose objects that our pack has, after reading them back from it; return what that freed.

        A crash came before that was done, or a power cut undid it. None if there was nothing to remove.
        """
        ours = Ours.read(self._note)
        if ours is None or not self._is_there(ours.pack):
            return None
        file, index = self._file(ours.pack, "pack"), self._file(ours.pack, "idx")
        try:
            inside = ids(index)
            oids = [oid for oid in self._reach.all() if oid in inside and oid not in staying]
            if not oids:
                return None
            check_pack(file, index, oids)
        except (BrokenPack, OSError):
            return None  # that pack is not grown either, and left alone
        freed, size = sum(self._reach.size(oid) or 0 for oid in oids), file.stat().st_size
        self._remove(oids, ours.pack)
        return Packed(len(oids), freed + size, size)

    # One pack

    def _round(self, commits: deque[str], staying: set[str], already: int) -> Packed | None:
        """Pack the oldest of `commits`, about 24 MB, and take them off the queue; None if nothing of them was packed.

        `already` is how many objects were packed before, for `progress`.
        """
        filling, ours = self._growing()
        size, packed = filling.growing.size, len(filling.growing)
        oids: list[str] = []
        while commits and filling.growing.size < size + MOST_ADDED:
            oids += self._take(commits.popleft(), filling)
            self._progress(already + len(oids))
        if len(filling.growing) == packed:
            return None
        bases = [] if ours or commits else self._bases(filling)
        name = self._publish(filling, ours, [*oids, *bases])
        going = [oid for oid in oids if oid not in staying]
        freed = sum(self._reach.size(oid) or 0 for oid in going)
        self._remove(going, name)
        self._drop_replaced(Ours.read(self._note))
        return Packed(len(oids), freed + size, filling.growing.size)

    def _growing(self) -> tuple[Filling, Ours | None]:
        """Return a copy of our pack, to be filled further, with its note; an empty one and None if it cannot grow."""
        ours = Ours.read(self._note)
        if ours and self._can_grow(ours.pack):
            growing = Growing()
            with suppress(BrokenPack, OSError):
                growing.copy(fs.read(self._file(ours.pack, "pack"), limit=HUGE)[0], self._file(ours.pack, "idx"))
                return Filling(self._reach.raw, growing, ours.chains), ours
        return Filling(self._reach.raw, Growing(), {}), None

    def _can_grow(self, name: str) -> bool:
        """Return whether a pack of ours is small enough to be copied, and nothing keeps it from being replaced."""
        file = self._file(name, "pack")
        if self._file(name, "keep").exists() or (self._packs / _SHARED_ROW).exists():
            return False
        return file.exists() and file.stat().st_size < LARGEST

    def _take(self, commit: str, filling: Filling) -> list[str]:
        """Put the loose objects that a commit brought into the pack; return their ids, none for a damaged commit.

        Objects that the newest commits still use go in too, though their files stay: no later compaction would find
        them, as it looks only at what each loose commit brought.
        """
        try:
            pieces = [piece for piece in self._reach.pieces(commit) if self._is_for_pack(piece)]
            for piece in pieces:
                filling.take(piece)
        except DamagedHistory:
            return []
        return [piece.oid for piece in pieces]

    def _bases(self, filling: Filling) -> list[str]:
        """Put the newest commits' folders into a new pack, for paths without a chain; return the ids of those it has.

        Later versions become deltas to them. Their files stay loose.
        """
        pieces = [piece for piece in self._folders if piece.path not in filling.chains]
        for piece in pieces:
            with suppress(DamagedHistory):
                filling.take(piece)
        return [piece.oid for piece in pieces if piece.oid in filling.growing]

    def _is_for_pack(self, piece: Piece) -> bool:
        size = self._reach.size(piece.oid)
        return size is not None and (size < TOO_LARGE or not piece.is_file)

    def _publish(self, filling: Filling, ours: Ours | None, oids: list[str]) -> str:
        """Write the pack, read `oids` back from the disk, and make it ours; return its name.

        After a crash `_clear_up` goes by the order: the coming note, the pack's name, its index's name, the note.
        """
        name, data, index = filling.growing.finish()
        with written_aside(self._packs, data, index) as (new, new_index):
            check_pack(new, new_index, oids)
            fs.overwrite(self._coming_note, Ours(name, ours.pack if ours else None, filling.chains).to_json())
            fs.sync_folder(self._private)
            give_name(new, new_index, name)
            self._take_over()
        return name

    def _remove(self, oids: list[str], name: str) -> None:
        """Remove the loose files of objects that the pack `name` has, oldest first.

        After an interruption `_remove_duplicates` finds the rest.
        """
        for oid in dict.fromkeys(oids):
            if not self._is_there(name):
                return  # somebody's `git repack` was quicker: it has packed all of this, and removed ours
            file = self._loose / oid[:2] / oid[2:]
            if file.exists():
                fs.unlink(file)
