"""Whether an object lies in a pack, by the indexes of the packs alone."""

import mmap
import struct
from bisect import bisect_left
from pathlib import Path

from ..disk import fs

_HEAD = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = 8
_NAMES = _FANOUT + 256 * 4
_SIZE = 20


def is_packed(objects: Path, oid: str) -> bool:
    """Whether a pack in the folder `objects` has the object called `oid`. Indexes that cannot be read have none."""
    name = bytes.fromhex(oid)
    # A pack may be replaced by a larger one while we look: the second look finds that.
    indexes = (index for _ in range(2) for index in (objects / "pack").glob("pack-*.idx"))
    return any(_lists(index, name) and index.with_suffix(".pack").exists() for index in indexes)


def _lists(index: Path, name: bytes) -> bool:
    try:
        with fs.mapped(index) as data:
            if data[:_FANOUT] != _HEAD:
                return False
            first = struct.unpack_from(">I", data, _FANOUT + 4 * (name[0] - 1))[0] if name[0] else 0
            last = struct.unpack_from(">I", data, _FANOUT + 4 * name[0])[0]
            at = bisect_left(range(last), name, first, key=lambda place: _name(data, place))
            return at < last and _name(data, at) == name
    except (OSError, ValueError, struct.error):
        return False


def _name(data: mmap.mmap, place: int) -> bytes:
    start = _NAMES + place * _SIZE
    return data[start : start + _SIZE]
