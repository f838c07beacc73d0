"""What commits stored and is not known to be on the disk yet: enough to make it again after a power cut, or a prune.

Objects, references and Git's index are written without waiting for the disk. What a commit needs is in one batch of the
redo log first: then it stands. A folder of thousands is there as the few bytes in which it differs from the one before.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..disk.fork_lock import Guard
from ..disk.redo_log import RedoLog, is_by, is_of_now
from ..disk.seal import Seal
from ..text.comparison import common_ends
from .packs import KINDS
from .refs import OID, is_ref

#: The largest cost of the patches of one batch: a larger batch is not logged.
MOST_LOGGED = 500_000
# Bytes that the log takes to say which object a patch makes.
_NAMED = 100
# A larger log is ignored if somebody else began it: ours are begun anew before that, except while `git gc` runs.
_MOST_BELIEVED = 3_000_000
# Bytes of an object; no number in the log is larger.
_LONGEST = 1 << 32
# Paths in one batch: one with 34,000 was larger than `RedoLog` reads back, and so was lost.
_MOST_PATHS = 1_000


class Patch(NamedTuple):
    """An object: `data` between the first `front` and the last `back` bytes of `base`. Without a base it is all."""

    kind: str
    oid: str
    base: str | None
    front: int
    back: int
    data: bytes

    def whole(self, base: bytes) -> bytes:
        """Return the bytes of the object, made from those of its base; ValueError if `base` is too short.

        Else its beginning and end would overlap, and each patch of a stranger's log could double the one before it, up
        to gigabytes.
        """
        if self.front + self.back > len(base):
            raise ValueError("no patch of this base")
        return base[: self.front] + self.data + base[len(base) - self.back :]


class Move(NamedTuple):
    """A commit, the reference that moves to it from `old` (None: a new reference), and the paths that it changes."""

    commit: str
    ref: str
    old: str | None
    paths: tuple[str, ...]


class Batch(NamedTuple):
    """The objects that one flush stored, and the move to the commit that has them; None if a later batch has that."""

    patches: tuple[Patch, ...]
    move: Move | None


class Redo:
    """The batches of one repository. Written under the writer's lock; read by any thread, one at a time.

    `RedoLog` reads on from where it was: two threads at once counted the same bytes twice, and then wrote behind a gap.
    """

    def __init__(self, file: Path, seal: Seal | None = None) -> None:
        """`seal` shows that this user began the log; None for a process that only continues it."""
        self._seal = seal
        self._file = file
        self._log = RedoLog(file)
        self._guard = Guard()
        self._bodies: Sequence[bytes] = ()
        self._parsed: dict[int, Batch] = {}

    def is_of_now(self) -> bool:
        """Return whether the log was begun since the machine was started. If not, its writes may be lost to a power
        cut, and have to be done again first; so have those of a copied log.
        """
        return is_of_now(os.fspath(self._file))

    def is_ours(self) -> bool:
        """Return whether this user began it on this machine."""
        return self._seal is not None and is_by(os.fspath(self._file), self._seal.key)

    def size(self) -> int:
        """Return how many bytes it has, as far as it was looked at."""
        return self._log.size()

    def begin(self) -> None:
        """Forget all batches, durably: what they stored is on the disk."""
        with self._guard:
            self._log.begin(self._seal.key if self._seal else None)

    def add(self, patches: Sequence[Patch], move: Move | None) -> None:
        """Add a batch, durably. A move of more than `_MOST_PATHS` files takes several, the first with the patches."""
        paths = move.paths if move else ()
        for start in range(0, len(paths) or 1, _MOST_PATHS):
            part = move and move._replace(paths=paths[start : start + _MOST_PATHS])
            head = json.dumps({"pieces": [(*each[:-1], len(each.data)) for each in patches], "move": part})
            with self._guard:
                self._log.append(b"\n".join([head.encode(), b"".join(each.data for each in patches)]))
            patches = ()

    def batches(self, newest: int | None = None) -> list[Batch]:
        """Return all batches, or at most so many of the newest, the oldest first."""
        with self._guard:
            numbers = range(len(self._look()))
            return [*map(self._batch, numbers if newest is None else numbers[-newest:])]

    def newest_patches(self, most: int) -> list[Patch]:
        """Return the objects of the newest `most` batches, oldest first, but no more than one batch may hold."""
        found, size = dict[str, Patch](), 0
        for each in (each for batch in reversed(self.batches(most)) for each in reversed(batch.patches)):
            size += cost([each])
            if size > MOST_LOGGED:
                break
            found.setdefault(each.oid, each)
        return [*found.values()][::-1]

    def moves(self) -> list[Move]:
        """Return the moves, newest first. The newest of a reference was logged, but a crash may have prevented it."""
        return [batch.move for batch in reversed(self.batches()) if batch.move]

    def patch(self, oid: str) -> Patch | None:
        """Return the patch that makes an object; None if no batch has one."""
        wanted = oid.encode()
        with self._guard:
            found = (self._batch(number) for number, body in enumerate(self._look()) if wanted in body)
            return next((each for batch in found for each in batch.patches if each.oid == oid), None)

    def _look(self) -> Sequence[bytes]:
        """Return the bodies of all batches, read from the file again if it grew; none if a stranger's log is too large.

        The parsed batches are dropped when the log was begun anew.
        """
        bodies = self._log.bodies()
        if self._log.size() > _MOST_BELIEVED and self._seal and not self.is_ours():
            bodies = ()
        if bodies is not self._bodies:
            self._bodies, self._parsed = bodies, {}
        return bodies

    def _batch(self, number: int) -> Batch:
        """Parse a batch, and cache it; an empty one if parsing it goes too deep."""
        if number not in self._parsed:
            try:
                self._parsed[number] = _parsed(self._bodies[number])
            except RecursionError:  # not cached: the caller's own depth may be the reason
                return Batch((), None)
        return self._parsed[number]


def cost(patches: Iterable[Patch]) -> int:
    """Return about how many bytes of a log patches take."""
    return sum(_NAMED + len(each.data) for each in patches)


def patch_of(kind: str, oid: str, data: bytes, base: tuple[str, bytes] | None) -> Patch:
    """Return the patch that makes an object from `base`, an id and bytes; with None it holds the whole object."""
    if base is None:
        return Patch(kind, oid, None, 0, 0, data)
    name, before = base
    front, back = common_ends(before, data)
    return Patch(kind, oid, name, front, back, data[front : len(data) - back])


def _parsed(body: bytes) -> Batch:
    """Return the batch in a body, whose checksum was checked; an empty one if the body is malformed."""
    head, _, data = body.partition(b"\n")
    try:
        said = json.loads(head)
        return Batch(tuple(_patches(said["pieces"], data)), _move(*said["move"]) if said["move"] else None)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Batch((), None)


def _patches(heads: Any, data: bytes) -> Iterator[Patch]:
    at = 0
    for kind, oid, base, *sizes in heads:
        are_sizes = len(sizes) == 3 and all(type(size) is int and 0 <= size < _LONGEST for size in sizes)
        if not (OID.match(oid) and OID.match(base or oid) and kind in KINDS.values() and are_sizes):
            raise ValueError("no patch of ours")
        front, back, length = sizes
        yield Patch(kind, oid, base, front, back, data[at : at + length])
        at += length


def _move(commit: Any, ref: Any, old: Any, paths: Any) -> Move:
    is_ours = OID.match(commit) and OID.match(old or commit)
    if (
        not is_ours
        or not (ref == "HEAD" or is_ref(ref))
        or not all(path.encode("utf-8", "surrogateescape") for path in paths)
    ):
        raise ValueError("no move of ours")
    return Move(commit, ref, old, tuple(paths))
