"""Zip archives, in which services send exports. They are read in memory; nothing is unpacked onto the disk."""

import zipfile
import zlib
from functools import partial
from io import BytesIO
from pathlib import Path

from ..disk import fs
from ..errors import CrabmemError, InvalidArguments, Unreadable
from .base import JSON, TEXTS, Tree

#: Bytes at most: of an archive as it is, of one text in it unpacked, of all its texts unpacked.
MAX_ARCHIVE, MAX_TEXT, MAX_TEXTS = 1_000_000_000, 300_000_000, 2_000_000_000
MAX_NAMES = 100_000
# The signature of an entry in the central directory. Counting these is cheap, whereas `ZipFile` makes an object of
# each, and millions of them in a hostile archive would fill the memory.
_MARK = b"PK\x01\x02"


def tree_in(archive: Path) -> Tree:
    """Return the files in a zip archive as a tree. Files are unpacked only when they are read.

    Raises:
        InvalidArguments: it cannot be read, is no zip archive, is damaged, or holds too much.
    """
    try:
        data = fs.read(archive, limit=MAX_ARCHIVE)[0]
        opened = zipfile.ZipFile(BytesIO(data)) if data.count(_MARK) <= MAX_NAMES else None
    except OSError as error:
        raise InvalidArguments(f"{archive} cannot be read: {fs.reason(error)}; unpack and import it") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise InvalidArguments(f"{archive} is no whole zip archive ({error}); download it again") from None
    members = {each.filename: each for each in opened.infolist() if not each.is_dir()} if opened else {}
    if not opened or sum(each.file_size for each in members.values() if _is_text(each)) > MAX_TEXTS:
        most = f"{MAX_NAMES:,} files, or {MAX_TEXTS:,} bytes of texts"
        raise InvalidArguments(f"{archive} holds more than {most}; unpack it, and import a part of it")
    hidden = frozenset(name for name in members if name[0] == "." or "/." in name)
    files = {name: _odd(members[name]) for name in sorted(members.keys() - hidden)}
    return Tree(archive.resolve().parts, files, partial(_read, opened), hidden)


def _is_text(member: zipfile.ZipInfo) -> bool:
    return member.filename.lower().endswith((*TEXTS, *JSON))


def _odd(member: zipfile.ZipInfo) -> CrabmemError | None:
    """Return the reason why a file of an archive must not be read; None if it may be."""
    if "" in member.filename.split("/") or not member.filename.isprintable():
        return Unreadable("it has a name that no file has")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return Unreadable("it is packed in a way that is not known here; unpack it")
    return Unreadable(f"it is larger than {MAX_TEXT:,} bytes") if member.file_size > MAX_TEXT else None


def _read(opened: zipfile.ZipFile, name: str) -> bytes:
    try:
        return opened.read(name)  # never more bytes than the archive states, which `_odd` has checked
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:
        raise Unreadable(f"it cannot be unpacked ({error}); download the archive again") from None
