"""Files as they were found: values."""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import Busy
from ...text.hashes import blob_id
from ..stat import Stamp, changed_ns


class File(NamedTuple):
    """One file as it was found. `mark` is its packed stamp, which belongs to exactly these bytes.

    `data` is None when they were not read, because they were known. `is_partial` when somebody was
    writing the file at that moment, so that they may be half of a text; `is_young` when the file may
    change once more and keep its stamp.
    """

    path: str
    blob: str
    mark: bytes
    data: bytes | None = None
    is_partial: bool = False
    is_young: bool = False

    @property
    def stamp(self) -> Stamp:
        """The status of the file."""
        return Stamp(self.mark)

    @property
    def remembered(self) -> bytes:
        """What another process may know it by; a stamp that no file has when that cannot be relied on."""
        is_sure = not (self.is_young or self.is_partial)
        return (self.mark if is_sure else bytes(len(self.mark))) + bytes.fromhex(self.blob)


@dataclass(frozen=True)
class Unusable:
    """A file that is there and cannot be read as one of ours; `reason` says why.

    `is_denied` when it may well be one of ours, and only this user may not read it. `is_repository` when it is a
    folder that memory is in, whose files belong to another repository. `is_beside` when it is no Markdown, so that no
    fact is missing.
    """

    path: str
    reason: str
    is_denied: bool = False
    is_repository: bool = False
    is_beside: bool = False


@dataclass(frozen=True)
class Scan:
    """Every file that crabmem keeps the history of, by path in no order, and those it cannot use.

    `folders` are those that are called like such a file.
    """

    files: Mapping[str, File]
    unusable: tuple[Unusable, ...]
    _read: Callable[[str], bytes | None] = field(repr=False, default=lambda path: None)
    # All that ever changed, which scans of one store share, and how much of it this one has seen.
    _changes: list[str] = field(repr=False, default_factory=list)
    _seen: int = field(repr=False, default=0)
    folders: frozenset[str] = frozenset()

    def data(self, path: str) -> bytes | None:
        """The bytes at `path`; None when there is no such file.

        Raises:
            Busy: the file was known, not read, and is being changed at this moment.
        """
        file = self.files.get(path)
        if file is None or file.data is not None:
            return file.data if file else None
        data = self._read(path)
        if data is None or blob_id(data) != file.blob:
            raise Busy(f"{path} changes at this moment; try again")
        return data

    def since(self, earlier: "Scan") -> set[str] | None:
        """The paths that may differ from an earlier scan of the same store; None when that is not known."""
        if earlier._changes is not self._changes:
            return None
        return set(self._changes[earlier._seen : self._seen])

    def is_hidden(self, path: str) -> bool:
        """Whether something that cannot be used stands at `path`, or keeps us from looking there."""
        return any(path == item.path or path.startswith(f"{item.path}/") for item in self.unusable)

    def newest(self, count: int) -> list[str]:
        """The paths of the files that were changed last."""
        return heapq.nlargest(count, self.files, key=lambda path: changed_ns(self.files[path].mark))

    def blob(self, path: str) -> str | None:
        """The blob at `path`; None when there is no such file."""
        return self.files[path].blob if path in self.files else None


@dataclass(frozen=True)
class Placed:
    """What happened to one path: the bytes that stood there (None: no file) and the stamp of the new file."""

    displaced: bytes | None
    stamp: Stamp | None
