"""Derived files: indexes, vectors and tables that are made of files and history, and may be deleted at any time.

All have one form: a label with the version, the size and a checksum, then the body. A file that is not whole, or of
another version, counts as absent; a new one is exchanged for it whole. They lie in `.git/crabmem/index`, which is
believed only where this user began to keep it: to believe a stranger's files is to believe what they say of ours.
The mark of that is made of the folder's number and a key outside every workspace, so that a copy has another one.
Loads next to nothing, for processes that only ask.
"""

import mmap
import os
import struct
import zlib
from _blake2 import blake2b

from . import regular, state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Data = bytes | mmap.mmap | memoryview

_HEADER = struct.Struct("<52sQI")
#: Bytes before the body.
BODY = _HEADER.size
_MARK_SIZE = 16


def packed(label: str, body: bytes) -> bytes:
    """The file of a body. `label` names what it is and the version of its form."""
    return _HEADER.pack(_named(label), len(body), zlib.crc32(body)) + body


def body(data: "Data", label: str) -> memoryview | None:
    """The body in the bytes of a file; None for one that is not exactly what `packed` made under this label."""
    view = memoryview(data)
    if len(view) < BODY:
        return None
    name, size, checksum = _HEADER.unpack_from(view)
    found = view[BODY:]
    # Sizes first: a file of gigabytes that claims to be ours need not be read.
    is_whole = name == _named(label).ljust(52, b"\0") and size == len(found) and checksum == zlib.crc32(found)
    return found if is_whole else None


def _named(label: str) -> bytes:
    return f"crabmem {label}\n".encode()


def mapped(file: "str | Path") -> mmap.mmap | None:
    """A derived file as it lies on the disk, read only where it is looked at; None where there is none of ours."""
    try:
        return None if is_elsewhere(file) else regular.mapped(file)
    except (OSError, ValueError):  # nothing there, or an empty file
        return None


def load(file: "str | Path", label: str) -> memoryview | None:
    """The body of a derived file, which stays mapped while it is looked at; None when there is none to be believed."""
    data = mapped(file)
    return None if data is None else body(data, label)


def save(file: "Path", data: bytes) -> None:
    """Exchange a derived file for `data`, which `packed` made. Nothing is written where a link leads elsewhere.

    Raises:
        OSError: there is no place for it.
    """
    from . import fs  # far more than a process that only asks needs

    if not is_elsewhere(file):
        fs.make_folder(file.parent)
        fs.swap_in(file, data)


def is_elsewhere(file: "str | Path") -> bool:
    """Whether a file, or a folder that it lies in up to Git's, is a link: nobody's files elsewhere are touched."""
    for _ in range(4):
        if os.path.islink(file):
            return True
        file = os.path.dirname(file)
    return False


class Cache:
    """One derived file, or folder of them, in its place, and the generation of what its holder has in memory.

    `name` is one of `state`; `private` the folder of these.
    """

    def __init__(self, private: "Path | str", name: str) -> None:
        #: Where it lies, as text.
        self.path = os.path.join(private, name)
        self._private = private
        self._generation = state.Generation(private)

    @property
    def place(self) -> "Path":
        """Where it lies."""
        from pathlib import Path  # late: a process that only asks has no use for it

        return Path(self.path)

    def renew(self) -> bool:
        """Whether there was a purge, so that what is held has words that it took and must be forgotten. Asked once."""
        return self._generation.renew()

    def keep(self, write: "Callable[[Path], object]") -> bool:
        """Save what is held with `write`, which is given the place; False where that was not done, or is undone.

        Nothing is written where nothing of ours is yet, and what was written while a purge went on is removed again: it
        may hold what that took.
        """
        from . import fs

        if self._generation.is_over() or not fs.is_own_folder(self._private):
            return False
        write(self.place)
        if self._generation.is_over():
            fs.remove_tree(self.place)
            return False
        return True


# Whose they are


def mark(private: "str | Path", key: bytes) -> bytes:
    """What `owner` says among the derived files below `private` when whoever has `key` began to keep them."""
    number = os.lstat(os.path.join(private, state.INDEX)).st_ino
    return blake2b(b"%d" % number, key=key, digest_size=_MARK_SIZE, person=b"crabmem caches").digest()


def are_ours(private: "str | Path", key: bytes) -> bool:
    """Whether whoever has `key` began to keep the derived files below `private`."""
    try:
        return regular.read(os.path.join(private, state.OWNER), _MARK_SIZE) == mark(private, key)
    except OSError:
        return False
