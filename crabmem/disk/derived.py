"""Derived files: indexes, vectors and tables that are made of files and history, and may be deleted at any time.

All have one form: a label with the version, the size and a checksum, then the body. A file that is not whole, or of
another version, counts as absent; a new one is exchanged for it whole. They lie in `.git/crabmem/index`, which is
believed only where this user began to keep it: a stranger's index could say anything about our files.
The file `owner` in it proves that: a hash of the folder's inode, keyed from outside every workspace. A copy fails it.
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
    """Return a derived file mapped into memory; None where there is none, or a link leads elsewhere."""
    try:
        return None if is_elsewhere(file) else regular.mapped(file)
    except (OSError, ValueError):  # nothing there, or an empty file
        return None


def load(file: "str | Path", label: str) -> memoryview | None:
    """Return the body of a derived file, a view of the mapped file; None if it is missing, damaged or outdated."""
    data = mapped(file)
    return None if data is None else body(data, label)


def save(file: "Path", data: bytes) -> None:
    """Replace a derived file by `data`, which `packed` made. Do nothing where a link leads elsewhere.

    Raises:
        OSError: the disk refused to write the file.
    """
    from . import fs  # far more than a process that only asks needs

    if not is_elsewhere(file):
        fs.make_folder(file.parent)
        fs.swap_in(file, data)


def is_elsewhere(file: "str | Path") -> bool:
    """Return whether `file`, or one of the three folders above it (up to `.git`), is a link that may lead anywhere."""
    for _ in range(4):
        if os.path.islink(file):
            return True
        file = os.path.dirname(file)
    return False


class Cache:
    """The place of a derived file or folder, and how many purges ran before its holder's data in memory was made.

    `private` is `.git/crabmem`, `name` the place below it, one of the constants of `state`.
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
        """Return whether a purge ran since this was last asked: then the holder's data may have purged words.

        Each purge is reported once, so the holder has to drop its data at once.
        """
        return self._generation.renew()

    def keep(self, write: "Callable[[Path], object]") -> bool:
        """Save the holder's data with `write`, which is given the place; return whether it was saved and stays.

        Nothing is written where there is no `.git/crabmem` yet, nor after a purge: the data may have purged words. If a
        purge ran during `write`, the saved file is removed again.
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
    """Return what the file `owner` holds where the holder of `key` began to keep the derived files below `private`."""
    number = os.lstat(os.path.join(private, state.INDEX)).st_ino
    return blake2b(b"%d" % number, key=key, digest_size=_MARK_SIZE, person=b"crabmem caches").digest()


def are_ours(private: "str | Path", key: bytes) -> bool:
    """Return whether the holder of `key` began to keep the derived files below `private`."""
    try:
        return regular.read(os.path.join(private, state.OWNER), _MARK_SIZE) == mark(private, key)
    except OSError:
        return False
