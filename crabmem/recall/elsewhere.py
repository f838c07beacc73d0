"""Files outside of the workspace that search reads and nothing writes: texts in folders that a person named, and the
transcripts that hosts keep of sessions. History, sync, export and purge know nothing of them.

Each is known by its whole path, on which no link is followed; credentials in it are masked before it is searched.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from ..disk import fs
from ..disk.scan import is_settled
from ..disk.stat import BLOB, SIZE, packed
from ..errors import Busy
from ..text.credentials import redacted
from ..text.hashes import blob_id
from ..text.limits import DEEPEST
from ..text.transcripts import is_transcript, lines_of
from ..text.values import value
from .file_search import Files

# Plain texts that people write; no code and no settings, among which keys stand.
_TEXTS = (".adoc", ".markdown", ".md", ".org", ".rst", ".text", ".txt")
# Bytes of a file; the transcript of a day of work has some millions.
_LARGEST_TEXT, _LARGEST_TRANSCRIPT = 1_000_000, 20_000_000
#: So many files and so many bytes are searched, the newest of all that is found.
MOST_FILES, _MOST_BYTES = 2_000, 200_000_000
#: So many names are looked at in one place.
MOST_NAMES = 50_000


@value
class Place:
    """A folder by its real path, and whether its transcripts are searched or its texts."""

    folder: str
    has_transcripts: bool = False

    def may_hold(self, path: str) -> bool:
        """Whether a file at `path` could be one that is searched here."""
        fits = is_transcript(path) if self.has_transcripts else path.lower().endswith(_TEXTS)
        return fits and path.startswith(f"{self.folder.rstrip(os.sep)}{os.sep}")


class Elsewhere:
    """Looks at places, and reads what changed in them."""

    def __init__(self, now_ns: Callable[[], int], workspace: str) -> None:
        """`workspace` is a folder that is no part of any place; `now_ns` is the time on the disk's clock."""
        self._now_ns = now_ns
        self._workspace = workspace
        self._known: dict[str, bytes] = {}

    def look(self, places: Iterable[Place], known: Mapping[str, bytes], trouble: str = "") -> Files:
        """The files of these places, the newest first up to the bounds; others are `unusable`.

        `known` are the marks that an older process saved, so that unchanged files are not read. `trouble` is passed on.
        """
        unusable, lost, found = list[str](), list[str](), dict[str, os.stat_result]()
        for place in places:
            for path, status in self._found(place, unusable, lost):
                found.setdefault(path, status)
        marks, left = dict[str, bytes](), _MOST_BYTES
        for path, status in sorted(found.items(), key=lambda item: -item[1].st_mtime_ns):
            if status.st_size > min(_largest(path), left) or len(marks) >= MOST_FILES:
                unusable.append(path)
                continue
            try:
                marks[path] = self._mark(path, status, known)
                left -= status.st_size
            except OSError:
                unusable.append(path)
        self._known = marks

        def data(path: str) -> bytes:
            with suppress(OSError):
                read = _read(path)[0]
                if _digest(path, read) == marks[path][BLOB]:
                    return _shown(path, read)
            raise Busy(f"{path} changes at this moment; try again")

        return Files(marks, data, lambda path: found[path].st_size, False, (*unusable, *lost), trouble, tuple(lost))

    def _found(self, place: Place, unusable: list[str], lost: list[str]) -> Iterator[tuple[str, os.stat_result]]:
        """Yield path and status of each file in a place.

        Folders that cannot be listed are appended to `unusable`, and the place itself to `lost` if it cannot be opened.
        """
        own, names = fs.identity(self._workspace), 0

        def walk(folder: fs.Folder, depth: int) -> Iterator[tuple[str, os.stat_result]]:
            nonlocal names
            for name in fs.names(folder):
                names += 1
                if name[0] == "." or not name.isprintable() or names > MOST_NAMES:
                    continue
                try:
                    status = folder.status(name)
                except OSError:
                    continue  # gone since
                path = os.path.join(folder.where, name)
                if stat.S_ISREG(status.st_mode):
                    if place.may_hold(path):
                        yield path, status
                elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) != own and depth < DEEPEST:
                    try:
                        with fs.entered(folder, name) as below:
                            yield from walk(below, depth + 1)
                    except OSError:
                        unusable.append(path)

        try:
            with fs.straight(place.folder) as folder:
                yield from walk(folder, 0)
        except OSError:
            lost.append(place.folder)
        if names > MOST_NAMES:
            unusable.append(place.folder)

    def _mark(self, path: str, status: os.stat_result, known: Mapping[str, bytes]) -> bytes:
        """The mark of a file: stamp and digest. The file is read only if its stamp is new.

        A file changed so recently that it may change again within one tick gets an empty stamp, and is read next time.

        Raises:
            OSError: the file cannot be read.
        """
        stamp = packed(status)
        for before in (self._known.get(path, b""), known.get(path, b"")):
            if before[:SIZE] == stamp:
                return before[: BLOB.stop]
        data, status = _read(path)
        is_sure = is_settled(status, self._now_ns())
        return (packed(status) if is_sure else bytes(SIZE)) + _digest(path, data)


def _largest(path: str) -> int:
    return _LARGEST_TRANSCRIPT if is_transcript(path) else _LARGEST_TEXT


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes and the status of a file, following no link: one may have been put on the path since it was found.

    Raises:
        OSError: the file cannot be read, or is no regular file any more.
    """
    folder, name = os.path.split(path)
    with fs.straight(folder) as here:
        return fs.read(here.spot(name), limit=_largest(path))


def _digest(path: str, data: bytes) -> bytes:
    """The mark of the bytes of a file. The id of their blob would not do: in a file of the workspace the same
    bytes have other sections, as nothing is masked there."""
    return bytes.fromhex(blob_id((b"said\0" if is_transcript(path) else b"text\0") + data))


def _shown(path: str, data: bytes) -> bytes:
    """What of a file is searched and shown."""
    if is_transcript(path):
        return "\n".join(lines_of(data)).encode("utf-8", "replace")
    return redacted(data.decode("utf-8", "replace")).encode()
