"""Git's index: kept in step with our commits, so that `git status` stays clean. Only ever a cache to us."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ..disk import fs, regular
from ..errors import Busy
from . import rows
from .refs import Refs
from .rows import OddIndex, Rows, Settled, UnknownIndex

_WAIT = 1.0
_CHECKSUM = 20


class Index:
    """`.git/index`. Paths that wait to be settled are remembered in a file, whatever comes between."""

    def __init__(self, git: Path, private: Path, refs: Refs) -> None:
        self._file = git / "index"
        self._behind = private / "index-behind"
        self._refs = refs
        self._known: tuple[bytes, Rows] | None = None
        #: Whether the index was last found in a form that we do not write, so that Git does not know what was written.
        self.is_foreign = False

    def settle(self, paths: Mapping[str, Settled], head: Callable[[], Mapping[str, str]]) -> bool:
        """Make the index say `paths`; whether it does. `head` tells the whole head, when that is needed."""
        late = self._late()
        files = head() if set(late) - paths.keys() else {}
        wanted = {**{path: (files.get(path), None) for path in late}, **paths}
        try:
            self._refs.replace("index", lambda: self._with(wanted, head), _WAIT)
        except (Busy, UnknownIndex) as error:
            self.is_foreign = isinstance(error, UnknownIndex)
            self.expect(paths, durably=False)
            return False
        self.is_foreign = False
        if self.is_behind():
            fs.unlink(self._behind)
        return True

    def expect(self, paths: Iterable[str], durably: bool) -> None:
        """Remember that `paths` are about to change, or have, and nobody has settled them yet."""
        late = "\n".join(dict.fromkeys([*self._late(), *paths])).encode("utf-8", "surrogateescape")
        if not late:
            return None
        if not durably:
            return fs.hint(self._behind, late)
        fs.overwrite(self._behind, late)
        fs.sync_folder(self._behind.parent)

    def is_behind(self) -> bool:
        """Whether paths wait to be caught up."""
        return self._behind.exists()

    def _late(self) -> list[str]:
        try:
            return fs.read(self._behind)[0].decode("utf-8", "surrogateescape").splitlines()
        except FileNotFoundError:
            return []

    def _with(self, paths: Mapping[str, Settled], head: Callable[[], Mapping[str, str]]) -> bytes:
        wanted = {path.encode("utf-8", "surrogateescape"): settled for path, settled in paths.items()}
        try:
            changed = self._rows().settled(wanted)
        except OddIndex:
            from .index_forms import settled_by_parsing  # what it needs takes long to import

            self._known = None
            return settled_by_parsing(self._file, wanted, head)
        data = changed.raw()
        self._known = data[-_CHECKSUM:], changed
        return data

    def _rows(self) -> Rows:
        """The rows of the index; those we wrote last, if it still ends in their checksum."""
        if self._known and self._checksum() == self._known[0]:
            return self._known[1]
        try:
            return rows.parsed(fs.read(self._file, limit=fs.LARGE)[0])
        except FileNotFoundError:
            raise OddIndex from None

    def _checksum(self) -> bytes:
        try:
            handle = regular.opened(os.fspath(self._file))
            with os.fdopen(handle, "rb") as file:
                file.seek(-_CHECKSUM, os.SEEK_END)
                return file.read()
        except OSError:
            return b""
