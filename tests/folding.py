"""A disk that takes names for one that differ in case or in Unicode's form alone, as that of a Mac does.

While a `FoldingDisk` is entered, the functions of `os` find files below its folder by any spelling of their names in
this process; each keeps the spelling that it was made with. Other processes, such as `git`, see an ordinary disk.
"""

import os
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

_ONE = ("open", "stat", "lstat", "listdir", "scandir", "mkdir", "rmdir", "unlink", "remove", "utime", "chmod", "access",
        "readlink", "truncate")  # fmt: skip
_TWO = ("rename", "replace", "link")


def folded(name: str) -> str:
    """What two spellings of a name have in common on such a disk."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


class FoldingDisk(AbstractContextManager["FoldingDisk"]):
    """The disk of a folder."""

    def __init__(self, top: Path) -> None:
        self._top = os.fspath(top)
        self._patch = pytest.MonkeyPatch()
        self._lstat, self._listdir = os.lstat, os.listdir

    def __enter__(self) -> "FoldingDisk":
        for name in _ONE:
            self._patch.setattr(os, name, partial(self._one, getattr(os, name)))
        for name in _TWO:
            self._patch.setattr(os, name, partial(self._two, name, getattr(os, name)))
        return self

    def __exit__(self, *given: object) -> None:
        self._patch.undo()

    def _one(self, real: Callable[..., Any], path: Any = ".", *given: Any, **options: Any) -> Any:
        return real(self._found(path, options.get("dir_fd")), *given, **options)

    def _two(self, name: str, real: Callable[..., Any], source: Any, target: Any, **options: Any) -> Any:
        here, there = options.get("src_dir_fd"), options.get("dst_dir_fd")
        one, other = self._found(source, here), self._found(target, there)
        if name != "link" and one == other:  # the new spelling is taken
            folder, slash, _ = other.rpartition("/")
            other = folder + slash + os.path.basename(os.fspath(target))
        return real(one, other, **options)

    def _found(self, path: Any, folder: int | None) -> Any:
        """`path` as it is spelled on the disk, as far as it is there."""
        if isinstance(path, int | bytes):
            return path
        text = os.fspath(path)
        if folder is not None:
            return self._spelled(text, self._listdir(folder)) if "/" not in text else text
        if not os.path.abspath(text).startswith(f"{self._top}/"):
            return text
        here = self._top
        for part in os.path.abspath(text).removeprefix(f"{self._top}/").split("/"):
            try:
                self._lstat(f"{here}/{part}")
            except OSError:
                part = self._spelled(part, self._listdir(here) if os.path.isdir(here) else [])
            here = f"{here}/{part}"
        return here

    def _spelled(self, name: str, there: list[str]) -> str:
        if name in there:
            return name
        return next((other for other in there if folded(other) == folded(name)), name)
