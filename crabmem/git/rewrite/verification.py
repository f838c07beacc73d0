"""Whether something still stands anywhere: in an object, reached or not, or in another file of the repository."""

import errno
import os
import re
import zlib
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...disk import fs
from ...disk.regular import HUGE
from ..objects import Objects
from ..trees import to_text
from .objects import names_in, texts_in
from .rule import Search

# Files whose lines are messages of commits, or were made of them; others have words of Git's own.
_LOGS = re.compile(r"logs/.*|[A-Z_]+_(?:EDIT)?MSG|crabmem/repairs\.log|crabmem/journal|FETCH_HEAD")
# Those of Git's that hold objects, which are inspected one by one.
_HOLDS_OBJECTS = re.compile(
    r"objects/(?:[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(?:pack|idx|rev|bitmap|mtimes))"
)
_DEFLATED = re.compile(r"objects/.*|crabmem/recent/.*")
_ARCHIVE_ENDINGS = (".gz", ".tgz", ".zip", ".xz", ".bz2", ".zst", ".7z", ".rar", ".bundle")
_ARCHIVE_BEGINNINGS = (
    b"\x1f\x8b\x08", b"PK\x03\x04", b"\xfd7zXZ\0", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07",
    b"# v2 git bundle", b"# v3 git bundle",
)  # fmt: skip


class Inspection(NamedTuple):
    """A look at one object or file, of `size` bytes.

    `place` says what it is, if it holds what is sought; `unread` what it is and why it could not be looked into,
    `is_refused` that this was the system's doing: one that is too large, or compressed, is left alone by us.
    """

    size: int
    place: str | None = None
    unread: str | None = None
    is_refused: bool = False


def inspect_objects(search: Search, objects: Objects, but: Set[str] = frozenset()) -> Iterator[Inspection]:
    """Inspect every object of a repository, reached or not, `but` those of which nothing is a person's."""
    known: dict[str, bool] = {}  # the same names stand in thousands of trees
    for oid in sorted(objects.all_ids() - but):
        kind, data = objects.raw(oid)
        if kind == "blob":
            is_in = search.is_in_blob(oid, data)
        elif kind == "tree":
            names = list(names_in(data)) if search.is_anywhere else []
            known |= {name: search.is_in_name(name) for name in names if name not in known}
            is_in = any(known[name] for name in names)
        else:
            is_in = any(map(search.is_in_message, texts_in(data, search.is_anywhere)))
        yield _inspected(data, f"{kind} {oid[:12]}", is_in)


def inspect_git_files(search: Search, git: Path) -> Iterator[Inspection]:
    """Inspect every file, link and empty folder of a repository, but for those that hold objects."""

    def is_in(data: bytes, name: str) -> bool:
        if _DEFLATED.fullmatch(name):
            with suppress(zlib.error):
                data = zlib.decompress(data)
        if search.is_anywhere or not _LOGS.fullmatch(name):
            return search.is_in_file(data)
        lines = to_text(data).splitlines()
        return any(search.is_in_message(line.partition("\t")[2] or line) for line in lines)  # without who and when

    for file in sorted(git.rglob("*")):
        name = file.relative_to(git).as_posix()
        if not _HOLDS_OBJECTS.fullmatch(name):
            yield from inspect_file(file, name, search, is_in, prefix=".git/")


def inspect_file(
    file: Path, name: str, search: Search, is_in: Callable[[bytes, str], bool], limit: int = HUGE, prefix: str = ""
) -> Iterator[Inspection]:
    """Inspect a file, a link or an empty folder; yields nothing for a pipe, a device, or what is gone meanwhile.

    `is_in` says whether bytes and `name` hold it. What is larger than `limit` is not read; `prefix` precedes the name
    where the inspection says it.
    """
    if file.is_symlink() or file.is_dir():
        if search.is_in_name(_text_of_bare(file, name)):
            yield Inspection(0, f"{prefix}{name}")
        return
    try:
        if not file.is_file():  # a pipe, or a device
            return
        data = fs.read(file, limit=limit)[0]
    except FileNotFoundError:  # it went meanwhile: a lock, or what somebody writes at this moment
        return
    except OSError as error:
        is_large = error.errno == errno.EFBIG
        reason = f"larger than {limit // 1_000_000} MB" if is_large else fs.reason(error)
        yield Inspection(0, None, f"{prefix}{name} ({reason})", is_refused=not is_large)
        return
    yield _inspected(data, f"{prefix}{name}", is_in(data, name) or search.is_in_name(name))


def _inspected(data: bytes, name: str, is_in: bool) -> Inspection:
    """Return the inspection of bytes; those of a compressed archive say little of what it holds."""
    is_archive = data.startswith(_ARCHIVE_BEGINNINGS) or name.lower().endswith(_ARCHIVE_ENDINGS)
    unread = f"{name} (compressed)" if is_archive and not is_in else None
    return Inspection(len(data), name if is_in else None, unread)


def _text_of_bare(file: Path, name: str) -> str:
    """Return the name of a link or an empty folder, and where a link leads; "" for a folder that is not empty."""
    with suppress(OSError):
        if file.is_symlink():
            return f"{name}\n{os.readlink(file)}"
        if not any(file.iterdir()):
            return name
    return ""
