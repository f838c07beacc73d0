"""A folder that memory is exported to: what an earlier export wrote there is replaced, and nothing else.

A file in it, `MARK`, says what an export wrote, by the hash of each file. It may have come with the folder: it lets an
export replace or remove files there whose bytes have these hashes, and reaches nothing outside. No link is followed.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..errors import Inapplicable, Unwritable, Way
from ..text.words import counted, listed
from ..workspace.layout import is_contained
from . import fs

MARK = ".crabmem-export.json"
_STAGED = ".crabmem-export.new"
_LARGEST = 100_000_000
# Files that an error names.
_NAMED = 3


class ExportFolder:
    """The folder at `place`, which may not be there yet; `own` is the workspace that is exported."""

    def __init__(self, place: Path, own: Path) -> None:
        """Raises Inapplicable: `place` is a file, lies in the workspace, or is a memory itself."""
        self._folder = place.resolve()
        self._place = place
        if self._folder.is_relative_to(own.resolve()):
            raise Inapplicable(f"{place} is in the workspace itself; name a folder elsewhere")
        if self._folder.exists() and not self._folder.is_dir():
            raise Inapplicable(f"{place} is a file; name a folder")
        if (self._folder / ".git/crabmem").exists():
            raise Inapplicable(f"{place} is a memory itself; name another folder, or use `crabmem import` there")

    def changes(self, files: Mapping[str, bytes], force: bool, form: str) -> dict[str, str]:
        """What becomes of each file when `files` are written there: made, replaced, unchanged or removed.

        A file that an earlier export wrote, that is not in `files` and that somebody changed since is "kept", now and
        at later exports.

        Raises:
            Inapplicable: without `force`, something else is there that would be overwritten, or the folder is not
                empty and no earlier export of this `form`.
            Unwritable: a file there cannot be read.
        """
        hashes, before = self._earlier()
        if hashes is None and not force and self._is_used():
            raise Inapplicable(
                f"{self._place} is not empty, and no earlier export; name another folder",
                Way("force=True", "{} writes there all the same, and deletes nothing"),
            )
        if not force and before not in (None, form):
            raise Inapplicable(
                f"{self._place} holds an export as {before}; name another folder",
                Way("force=True", "{} puts this one in its place"),
            )
        known, states, theirs = hashes or {}, dict[str, str](), list[str]()
        for path in (*files, *(path for path in known if path not in files)):
            there, wanted = self._read(path), files.get(path)
            is_theirs = there not in (None, wanted) and hash_of(there or b"") not in known.get(path, ())
            if is_theirs and wanted is not None:
                theirs.append(path)
            if there is not None or wanted is not None:
                states[path] = "kept" if is_theirs and wanted is None else _state(there, wanted)
        if theirs and not force:
            about = f"{counted(len(theirs), 'file')} in {self._place} would be overwritten that no export wrote so"
            raise Inapplicable(
                f"{about}: {listed(theirs, _NAMED)}",
                Way("force=True", "{} overwrites", "name another folder"),
            )
        return states

    def write(self, files: Mapping[str, bytes], states: Mapping[str, str], form: str) -> None:
        """Write `files` there; `states` is what `changes` returned for them.

        After an interruption a second call completes the export: `MARK` lists the new hashes beside the old ones before
        the first file is written, so that new files are known as ours. At the end it lists the new ones alone.

        Raises:
            Unwritable: the disk refuses.
        """
        new = {path: [hash_of(data)] for path, data in files.items()}
        before = self._earlier()[0] or {}
        try:
            fs.make_folder(self._folder)
            with fs.durability(waits=False):
                self._put(
                    MARK, _mark(form, {path: [*before.get(path, ()), *new.get(path, ())] for path in before | new})
                )
                for path, state in states.items():
                    if state == "removed":
                        self._remove(path)
                    elif state in ("made", "replaced"):
                        self._put(path, files[path])
                kept = {path: before[path] for path, state in states.items() if state == "kept"}
                self._put(MARK, _mark(form, new | kept))
        except OSError as error:
            raise Unwritable(f"{error.filename or self._place} cannot be written: {fs.reason(error)}") from error

    def _is_used(self) -> bool:
        return self._folder.is_dir() and any(self._folder.iterdir())

    def _earlier(self) -> tuple[dict[str, list[str]] | None, str | None]:
        """Return what `MARK` has of an earlier export: by path the hashes that a file of ours may have, and its form.

        Both are None where there is no valid mark; the form is also None in a mark that names none.
        """
        try:
            said = json.loads(self._read(MARK) or b"")
            hashes = {path: [*map(str, each)] for path, each in said["files"].items() if is_contained(path)}
            return hashes, str(said["format"]) if "format" in said else None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None, None

    def _read(self, path: str) -> bytes | None:
        try:
            with fs.inside(self._folder, path) as spot:
                return fs.read(spot, limit=_LARGEST)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unwritable(f"{self._place / path} is in the way: {fs.reason(error)}") from None

    def _put(self, path: str, data: bytes) -> None:
        staged = self._folder / _STAGED
        fs.unlink(staged)
        fs.create(staged, data)
        try:
            with fs.inside(self._folder, path, make=True) as spot:
                fs.rename(staged, spot)
        except OSError:
            fs.unlink(staged)
            raise

    def _remove(self, path: str) -> None:
        """Remove a file, and the folders that are empty then."""
        with fs.inside(self._folder, path) as spot:
            fs.unlink(Path(spot.where))
        with suppress(OSError):
            for folder in _above(path):
                fs.remove_folder(self._folder / folder)


def hash_of(data: bytes) -> str:
    """What a file of these bytes is known by."""
    return hashlib.sha256(data).hexdigest()


def _mark(form: str, files: Mapping[str, list[str]]) -> bytes:
    said = {"made by": "crabmem export", "format": form, "files": {path: files[path] for path in sorted(files)}}
    return json.dumps(said, indent=1, ensure_ascii=False).encode() + b"\n"


def _state(there: bytes | None, wanted: bytes | None) -> str:
    if wanted is None:
        return "removed"
    return "made" if there is None else "unchanged" if there == wanted else "replaced"


def _above(path: str) -> Iterator[str]:
    """The folders that a path leads through, the innermost first."""
    while path := path.rpartition("/")[0]:
        yield path
