"""The files that a person wants imported, read from the disk. No link is followed out of the folder."""

import os
import stat
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from ..disk import fs
from ..errors import CrabmemError, InvalidArguments, Unreadable
from .archive import MAX_TEXT, tree_in
from .base import JSON, MARKDOWN, Tree

_MAX_DEPTH = 64
#: An export is one file with thousands of facts, or of conversations; it was named by a person.
MAX_EXPORT = MAX_TEXT


def tree_at(place: Path, own: Path) -> Tree:
    """The files below a folder or in a zip archive, or a file alone.

    Raises:
        InvalidArguments: it is not there, cannot be listed or unpacked, or is in the workspace at `own`.
    """
    if not os.path.lexists(place):
        raise InvalidArguments(f"there is no file or folder {place} to import")
    if place.resolve().is_relative_to(own.resolve()):
        raise InvalidArguments(f"{place} is in this memory already; edit its files, or import another folder")
    if not place.is_dir():
        return tree_in(place) if place.suffix.lower() == ".zip" else _alone(place)
    try:
        with fs.opened(place) as here:
            hidden = set[str]()
            files = dict(sorted(_files(here, "", own.resolve(), hidden)))
    except OSError as error:
        raise InvalidArguments(f"{place} cannot be listed: {fs.reason(error)}") from None
    return Tree(place.resolve().parts, files, partial(_read, place), frozenset(hidden))


def tree_of(data: bytes, endings: Sequence[str] = (*MARKDOWN, *JSON)) -> Tree:
    """The bytes of stdin as one file alone; of the `endings` it has the first for JSON if it looks so, else another."""
    looks_so = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    ending = next((ending for ending in endings if (ending in JSON) is looks_so), endings[0])
    return Tree(("stdin",), {f"stdin{ending}": None}, lambda path: data)


def _alone(file: Path) -> Tree:
    return Tree((*file.resolve().parent.parts,), {file.name: None}, partial(_read, file.parent))


def _files(
    folder: fs.Folder, prefix: str, own: Path, hidden: set[str], depth: int = 0
) -> Iterator[tuple[str, CrabmemError | None]]:
    """The paths of the files below an open folder, and why some cannot be read; what has a leading dot is `hidden`."""
    for name in fs.names(folder):
        if name.startswith("."):
            hidden.add(prefix + name)
            continue
        path, mode = prefix + name, _mode(folder, name)
        if stat.S_ISDIR(mode):
            yield from _below(folder, name, path, own, hidden, depth)
        elif stat.S_ISLNK(mode):
            yield path, Unreadable("it is a link, which may lead anywhere; import what it leads to")
        elif mode:
            yield path, None


def _mode(folder: fs.Folder, name: str) -> int:
    """The kind of what has that name; 0 for what is gone meanwhile."""
    try:
        return folder.status(name).st_mode
    except FileNotFoundError:
        return 0


def _below(
    folder: fs.Folder, name: str, path: str, own: Path, hidden: set[str], depth: int
) -> Iterator[tuple[str, CrabmemError | None]]:
    if Path(folder.where, name).resolve() == own:
        yield path, Unreadable("it is this memory itself")
    elif depth == _MAX_DEPTH:
        yield path, Unreadable(f"it is more than {_MAX_DEPTH} folders down")
    else:
        try:
            with fs.entered(folder, name) as below:
                yield from _files(below, f"{path}/", own, hidden, depth + 1)
        except OSError as error:
            yield path, Unreadable(f"the folder cannot be listed: {fs.reason(error)}")


def _read(folder: Path, path: str) -> bytes:
    limit = MAX_EXPORT if path.lower().endswith(JSON) else fs.MAX_BYTES
    try:
        with fs.inside(folder, path) as spot:
            return fs.read(spot, limit=limit)[0]
    except OSError as error:
        raise Unreadable(fs.reason(error)) from None
