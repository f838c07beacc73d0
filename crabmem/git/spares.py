"""A second name for every object that was written of late, out of the reach of `git prune`.

A prune looks first at what is reachable and deletes afterwards: an object written in between goes,
though a reference reaches it by then. From its second name it is put back.
"""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..disk import fs
from .refs import OID

_TRIES = 10
#: How many of the newest are kept: about twenty-five writes, longer than a prune looks and deletes.
MOST = 128


class Spares:
    """The second names, in `folder`, of objects in the folder `objects`. Only written under the writer's lock."""

    def __init__(self, folder: Path, objects: Path) -> None:
        self._folder = folder
        self._objects = objects

    def file(self, oid: str) -> Path:
        """Return where Git keeps the object, unless it lies in a pack."""
        return self._objects / f"{oid[:2]}/{oid[2:]}"

    def write(self, oid: str, data: bytes) -> None:
        """Store an object, as Git compresses it, under both names; the bytes are durable, the names not yet."""
        fs.make_folder(self._folder)
        temporary = self._folder / f"new-{secrets.token_hex(8)}"
        fs.create(temporary, data, 0o444)
        fs.rename(temporary, self._folder / oid)
        self.restore(oid)

    def add(self, oid: str) -> None:
        """Give an object that is there a second name; one in a pack needs none."""
        fs.make_folder(self._folder)
        with suppress(FileNotFoundError, FileExistsError):
            fs.link(self.file(oid), self._folder / oid)

    def restore(self, oid: str) -> None:
        """Give the object its name back, over whatever has it; FileNotFoundError when there is no spare."""
        for attempt in range(_TRIES):
            try:
                return fs.link(self._folder / oid, self.file(oid))
            except FileExistsError:
                return self._put_over(oid)
            except FileNotFoundError:
                # Not made yet, or somebody's `git gc` removed a folder that it left empty.
                if attempt == _TRIES - 1:
                    raise
                fs.make_folder(self.file(oid).parent)

    def _put_over(self, oid: str) -> None:
        """Replace what has the object's name, which is not whole."""
        temporary = self._folder / f"new-{secrets.token_hex(8)}"
        fs.link(self._folder / oid, temporary)
        fs.rename(temporary, self.file(oid))
        fs.unlink(temporary)  # a rename over the same file leaves it

    def read(self, oid: str) -> bytes | None:
        """Return the object as Git compresses it; None when there is no spare."""
        try:
            return fs.read(self._folder / oid, limit=fs.LARGE)[0]
        except OSError:
            return None

    def restore_all(self, is_stored: Callable[[str], bool]) -> list[str]:
        """Give every object that lost its name the name back; return which. Old spares go."""
        restored = []
        for place, (name, is_alone) in enumerate(self._newest_first()):
            if not OID.match(name):
                fs.unlink(self._folder / name)
            elif not is_alone:
                if place >= MOST:
                    fs.unlink(self._folder / name)
            elif is_stored(name):
                fs.unlink(self._folder / name)  # in a pack
            else:
                self.restore(name)
                restored.append(name)
        return restored

    def signature(self, oid: str) -> tuple[int, ...] | None:
        """Return size, time and number of the object's file, by which a change is seen; None when there is none."""
        try:
            status = os.lstat(f"{self._objects}/{oid[:2]}/{oid[2:]}")
        except FileNotFoundError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ino

    def _newest_first(self) -> list[tuple[str, bool]]:
        """Return the spares, newest first if too many, and whether that is the only name or the file is empty.

        Every write comes here: one look at each.
        """
        found = list[tuple[os.stat_result, str]]()
        with suppress(FileNotFoundError):  # there is no spare yet
            for name in os.listdir(self._folder):
                with suppress(FileNotFoundError):  # a compaction removed it meanwhile
                    found.append((os.lstat(f"{self._folder}/{name}"), name))
        if len(found) > MOST:
            found.sort(key=lambda item: item[0].st_mtime_ns, reverse=True)
        return [(name, status.st_nlink == 1 or not status.st_size) for status, name in found]
