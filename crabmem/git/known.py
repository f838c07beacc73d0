"""What each commit changed, kept in a file: derived, and disposable at any time. It holds ids and digests, no names.

Looking for who wrote an entry would else read two folders of thousands of names for every commit there is.
"""

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

from ..disk import derived, state

_LABEL = "changes 2"
# Id, time, how many parents, and how many bytes of changes follow them.
_HEAD = struct.Struct(">20sqBI")
_OID = 20
_KEY = 8
_CHANGE = _KEY + 2 * _OID
_NONE = bytes(_OID)
# A commit of more changes, as a great import, is looked at anew each time.
_MOST = 500
# So many commits are known at most, in memory as in the file: half a kilobyte each.
_MOST_ROWS = 50_000
# So many new ones are worth writing the file.
_WORTH_SAVING = 256


class Row(NamedTuple):
    """What is known of a commit: its changes in its first parent come first, then those in others."""

    time: int
    parents: tuple[str, ...]
    changes: bytes


#: Path, and blob before and after.
Changes = Sequence[tuple[str, str | None, str | None]]


class Known:
    """The rows kept in a file, and new ones. `private` is the folder of crabmem's own files."""

    def __init__(self, private: Path) -> None:
        self._cache = derived.Cache(private, state.CHANGES)
        self._loaded: dict[str, Row] | None = None
        self._new = 0

    @property
    def _rows(self) -> dict[str, Row]:
        if self._loaded is None:
            self._loaded = dict(_read(self._cache.place))
        return self._loaded

    def get(self, commit: str) -> Row | None:
        """What is known of a commit; None for nothing."""
        return self._rows.get(commit)

    def add(self, commit: str, time: int, parents: tuple[str, ...], changes: Sequence[Changes]) -> None:
        """Remember what a commit changed in each of its parents."""
        if sum(map(len, changes)) <= _MOST and len(parents) < 256:
            if len(self._rows) >= _MOST_ROWS:
                self._forget_old()
            self._rows[commit] = Row(time, parents, b"".join(_change(*each) for group in changes for each in group))
            self._new += 1

    def _forget_old(self) -> None:
        """Forget the older half: who walks back through more than that asks for each of them once."""
        newer = nlargest(_MOST_ROWS // 2, self._rows.items(), key=lambda item: item[1].time)
        self._loaded = dict(newer)

    def save(self) -> None:
        """Keep the rows for the next process, when that is worth it; where there is no place, nothing is kept."""
        if self._cache.renew():  # the rows are of commits that a purge rewrote
            self._loaded, self._new = None, 0
        if self._new >= _WORTH_SAVING:
            data = derived.packed(_LABEL, b"".join(_raw(commit, row) for commit, row in list(self._rows.items())))
            with suppress(OSError):
                if self._cache.keep(lambda file: derived.save(file, data)):
                    self._new = 0


def may_touch(row: Row, path: str) -> bool:
    """Whether a commit may have changed the file at `path`; seldom yes for one that did not."""
    return _key(path) in row.changes


@lru_cache(maxsize=64)
def _key(path: str) -> bytes:
    return blake2b(path.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()


def _change(path: str, before: str | None, after: str | None) -> bytes:
    return _key(path) + b"".join(bytes.fromhex(oid) if oid else _NONE for oid in (before, after))


def blobs(row: Row) -> Iterator[tuple[str | None, str | None]]:
    """The blobs before and after each change."""
    for at in range(_KEY, len(row.changes), _CHANGE):
        before, after = row.changes[at : at + _OID], row.changes[at + _OID : at + 2 * _OID]
        yield _named(before), _named(after)


def _named(oid: bytes) -> str | None:
    return None if oid == _NONE else oid.hex()


def _raw(commit: str, row: Row) -> bytes:
    head = _HEAD.pack(bytes.fromhex(commit), row.time, len(row.parents), len(row.changes))
    return head + bytes.fromhex("".join(row.parents)) + row.changes


def _read(file: Path) -> Iterator[tuple[str, Row]]:
    """The rows in a file; none when it is not whole and ours."""
    data = bytes(derived.load(file, _LABEL) or b"")
    at = 0
    while at < len(data):
        oid, time, parents, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        ids = data[at : at + _OID * parents].hex()
        at += _OID * parents
        yield oid.hex(), Row(time, tuple(ids[n : n + 40] for n in range(0, len(ids), 40)), data[at : at + size])
        at += size
