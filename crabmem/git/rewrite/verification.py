"""Whether something still stands anywhere: in an object, reached or not, or in another file of the repository."""

import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...disk import fs
from ...disk.regular import HUGE
from ..erasing import Erasure
from ..objects import Objects
from .objects import names_in, words_in

# Files whose lines are messages of commits, or were made of them; others have words of Git's own.
_WORDS = re.compile(r"logs/.*|[A-Z_]+_(?:EDIT)?MSG|crabmem/repairs\.log|crabmem/journal|FETCH_HEAD")
# Those of Git's that hold objects, which are looked at one by one.
_PASSED_OVER = re.compile(
    r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(?:pack|idx|rev|bitmap|mtimes))"
)
_DEFLATED = re.compile(r"objects/.*|crabmem/recent/.*")
_PACKED_ENDINGS = (".gz", ".tgz", ".zip", ".xz", ".bz2", ".zst", ".7z", ".rar", ".bundle")
_PACKED = (
    b"\x1f\x8b\x08", b"PK\x03\x04", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07",
    b"# v2 git bundle", b"# v3 git bundle",
)  # fmt: skip


class Look(NamedTuple):
    """The size of something that was looked at; `place`, what it is, if it holds what is looked for.

    `unread` says what it is and why it could not be looked into.
    """

    size: int
    place: str | None = None
    unread: str | None = None


def look_at(data: bytes, name: str, is_in: bool) -> Look:
    """A look at bytes; those of a compressed archive say little of what it holds."""
    is_packed = data.startswith(_PACKED) or name.lower().endswith(_PACKED_ENDINGS)
    return Look(len(data), name if is_in else None, f"{name} (compressed)" if is_packed and not is_in else None)


def unread(name: str, error: OSError) -> Look:
    """A look that failed."""
    return Look(0, None, f"{name} ({fs.reason(error)})")


def in_objects(erasure: Erasure, objects: Objects, blobs: frozenset[str]) -> Iterator[Look]:
    """Of every object its size, and what it is if it holds any of it, or is one of `blobs`."""
    known: dict[str, bool] = {}
    for oid in sorted(objects.all_ids()):
        kind, data = objects.raw(oid)
        if kind == "blob":
            is_in = oid in blobs or erasure.is_in_file(data) or erasure.quoted(data) > 0
        elif kind == "tree":
            is_in = any([_is_in_name(name, erasure, known) for name in names_in(data)])
        else:
            is_in = any(map(erasure.is_in_words, words_in(data, erasure.contents is not None)))
        yield look_at(data, f"{kind} {oid[:12]}", is_in)


def in_copies(erasure: Erasure, objects: Objects, blobs: frozenset[str]) -> Iterator[Look]:
    """The same in a repository of somebody else's, where an entry of the same name may be another."""
    if erasure.contents is not None:
        yield from in_objects(erasure, objects, blobs)
        return
    for oid in sorted(objects.all_ids()):
        kind, data = objects.raw(oid)
        is_in = kind == "blob" and (oid in blobs or erasure.quoted(data) > 0)
        yield look_at(data, f"{kind} {oid[:12]}", is_in)


def _is_in_name(name: str, erasure: Erasure, known: dict[str, bool]) -> bool:
    """Whether a file's name holds it. The same names stand in thousands of trees."""
    if name not in known:
        known[name] = bool(erasure.contents and erasure.contents.number_in(name))
    return known[name]


def in_files(erasure: Erasure, git: Path) -> Iterator[Look]:
    """The same of every file, link and empty folder of the repository, but for those that hold objects."""
    for file in sorted(git.rglob("*")):
        name = file.relative_to(git).as_posix()
        if _PASSED_OVER.fullmatch(name):
            continue
        if not file.is_symlink() and file.is_file():
            try:
                data = fs.read(file, limit=HUGE)[0]
            except FileNotFoundError:  # a lock, or what somebody writes at this moment
                continue
            except OSError as error:
                yield unread(f".git/{name}", error)
                continue
            is_in = _is_in_own(name, data, erasure) or is_in_name(name, erasure)
            yield look_at(data, f".git/{name}", is_in)
        elif is_in_name(name_of_bare(file, name), erasure):
            yield Look(0, f".git/{name}")


def _is_in_own(name: str, data: bytes, erasure: Erasure) -> bool:
    if _DEFLATED.fullmatch(name):
        with suppress(zlib.error):
            data = zlib.decompress(data)
    if erasure.contents is None and _WORDS.fullmatch(name):
        lines = data.decode("utf-8", "surrogateescape").splitlines()
        return any(map(erasure.is_in_words, map(_said, lines)))
    return erasure.is_in_file(data) or erasure.quoted(data) > 0


def is_in_name(name: str, erasure: Erasure) -> bool:
    """Whether the name of a file or folder, or what a link leads to, holds it."""
    return bool(erasure.contents and erasure.contents.number_in(name))


def name_of_bare(file: Path, name: str) -> str:
    """All that a link or an empty folder says: its name, and where a link leads; nothing for what is neither."""
    with suppress(OSError):
        if file.is_symlink():
            return f"{name}\n{os.readlink(file)}"
        if file.is_dir() and not any(file.iterdir()):
            return name
    return ""


def _said(line: str) -> str:
    """The words of a line of a log, without who and when."""
    return line.partition("\t")[2] or line
