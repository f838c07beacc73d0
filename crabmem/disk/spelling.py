"""Names that a disk takes for one: they differ in case, or in Unicode's form, alone. A Mac's usual disk folds them so.

What is there keeps its spelling; a name in the form NFD, as Macs write them, is taken in NFC, as Git has it there.
Where the disk tells names apart, nothing is done here.
"""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress

from ..errors import Unwritable
from ..text.slug import composed, name_key
from . import fs
from .system import may_fold


def names(folder: fs.Folder) -> list[str]:
    """The names of what is in an open folder of a disk that may fold them, each as Git has it."""
    return [_composed(folder, name) for name in fs.names(folder)]


def as_git_has_it(root: str | os.PathLike[str], path: str) -> str:
    """A path below `root` in NFC, where that names the same file."""
    return _composed(fs.Folder(os.fspath(root), None), path) if may_fold(root) else path


def twins(root: str | os.PathLike[str], paths: Collection[str], others: Iterable[str]) -> dict[str, str]:
    """Return those of `paths` that are on disk one file with one of `others`, spelled differently; map each to that."""
    if not (paths and may_fold(root)):  # `others` may be long: it is not iterated in vain
        return {}
    folder, called = fs.Folder(os.fspath(root), None), {name_key(other): other for other in others}
    pairs = ((path, called.get(name_key(path), path)) for path in paths)
    return {path: other for path, other in pairs if other != path and _are_one(folder, path, other)}


def check_new(root: str | os.PathLike[str], path: str) -> None:
    """Refuse a new path that the disk treats as another spelling of an existing one: one file would have to hold both.

    Raises:
        Unwritable: a part of `path` is taken under another spelling, which the message names.
    """
    if not may_fold(root):
        return
    place = os.fspath(root)
    for part in path.split("/"):
        if not os.path.lexists(os.path.join(place, part)):
            return
        with fs.opened(place) as folder:
            there = names(folder)
        if part not in there:
            twin = next((name for name in there if name_key(name) == name_key(part)), "another name")
            raise Unwritable(
                f"{path}: this disk takes {part} for {twin}, which is there: use that spelling, or rename that first"
            )
        place = os.path.join(place, part)


def is_surely_composed(name: str) -> bool:
    """Whether a name has none of the signs of NFD, so that nobody needs Unicode's table to compose it.

    NFD as Macs write it has combining marks, which are no letters, or Hangul Jamo.
    """
    bare = name.replace("-", "").replace(".", "").replace("/", "")
    return name.isascii() or (bare.isalnum() and not any("\u1100" <= char <= "\u11ff" for char in bare))


def _composed(folder: fs.Folder, path: str) -> str:
    found = path if is_surely_composed(path) else composed(path)
    return found if found != path and _are_one(folder, path, found) else path


def _are_one(folder: fs.Folder, path: str, other: str) -> bool:
    with suppress(OSError):  # one is gone, or was never there
        return os.path.samestat(folder.status(path), folder.status(other))
    return False
