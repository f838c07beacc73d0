"""Dulwich's object store, for a folder in which others pack and remove objects at any moment."""

from collections.abc import Iterator

from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID
from dulwich.pack import PackFileDisappeared

# Bytes of unpacked objects that are kept for each pack that is open; by itself dulwich keeps 96 MiB.
_KEPT = 4 << 20


class Disk(DiskObjectStore):
    """A store that looks twice: an object can be packed between the look into the packs and the one beside them."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, delta_base_cache_limit=_KEPT)

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Kind and bytes of an object; KeyError when it is not there."""
        try:
            return super().get_raw(name)
        except KeyError:
            return super().get_raw(name)

    def iter_prefix(self, prefix: bytes) -> Iterator[ObjectID]:
        """The ids that begin with `prefix`."""
        try:
            return iter(list(super().iter_prefix(prefix)))
        except PackFileDisappeared:
            return iter(list(super().iter_prefix(prefix)))
