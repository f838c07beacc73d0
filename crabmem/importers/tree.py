"""The files that a person wants imported, read from the disk. No link below the folder is followed."""

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
#: Bytes of a JSON file at most. An export has thousands of facts or conversations in one file, so this is more than
#: what a file of memory may have.
MAX_EXPORT = MAX_TEXT


def tree_at(place: Path, own: Path) -> Tree:
    """Return the files below a folder or in a zip archive, or a single file, as a tree.

    Raises:
        InvalidArguments: `place` is not there, cannot be listed or unpacked, or is in the workspace at `own`.
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
    """Return the bytes of stdin as a tree of one file.

    The file gets the first of `endings` that fits: one for JSON if the bytes look like that, else one for text; if none
    fits, the first of all.
    """
    looks_so = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    ending = next((ending for ending in endings if (ending in JSON) is looks_so), endings[0])
    return Tree(("stdin",), {f"stdin{ending}": None}, lambda path: data)


def _alone(file: Path) -> Tree:
    return Tree((*file.resolve().parent.parts,), {file.name: None}, partial(_read, file.parent))


def _files(
    folder: fs.Folder, prefix: str, own: Path, hidden: set[str], depth: int = 0
) -> Iterator[tuple[str, CrabmemError | None]]:
    """Yield the path of each file below an open folder, with the error that keeps it from being read, or None.

    Paths begin with `prefix`. Those with a leading dot in their last part are added to `hidden` instead, and not
    entered.
    """
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
    """Return the mode (`st_mode`) of what has that name; 0 if it is gone meanwhile."""
    try:
        return folder.status(name).st_mode
    except FileNotFoundError:
        return 0


def _below(
    folder: fs.Folder, name: str, path: str, own: Path, hidden: set[str], depth: int
) -> Iterator[tuple[str, CrabmemError | None]]:
    """Yield the files below one folder, as `_files` does; its own path with an error if it is not entered."""
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
