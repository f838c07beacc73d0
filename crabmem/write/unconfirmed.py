"""Losses on disk that a person was told of and has not decided on yet.

They are no longer many once enough new facts are there; still nobody said that they were meant.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..text.hashes import blob_id
from . import fs

# An id of each path, so that a name that is purged stands in no file of ours.
_DIGITS = 40


class Unconfirmed:
    """The paths noted in `file`. Noted under the writer's lock, looked at by whoever reads."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def among(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that are noted."""
        noted = self._noted()
        return {path for path in paths if _id(path) in noted} if noted else set()

    def note(self, paths: Iterable[str]) -> None:
        """Note these paths, and no others any more."""
        ids = set(map(_id, paths))
        if ids == self._noted():
            return
        if ids:
            fs.swap_in(self._file, "".join(f"{each}\n" for each in sorted(ids)).encode())
        else:
            fs.unlink(self._file)

    def _noted(self) -> set[str]:
        with suppress(OSError):
            lines = fs.read(self._file)[0].decode("ascii", "replace").splitlines()
            return {line for line in lines if len(line) == _DIGITS}
        return set()


def _id(path: str) -> str:
    return blob_id(path.encode("utf-8", "surrogateescape"))
