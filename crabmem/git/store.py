"""dulwich's object store, for a folder in which others pack and remove objects at any moment, maybe a stranger's."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from dulwich.object_format import SHA1
from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, RawObjectID, ShaFile
from dulwich.pack import DELTA_TYPES, Pack, PackData, PackFileDisappeared, UnpackedObject, load_pack_index

from ..disk import fs, regular
from .objects import LARGEST, oid_of
from .packs import KINDS, BrokenPack, size_at, size_made_by, whole_entries

_LARGEST_PACK = 4_000_000_000
# Bytes of unpacked objects that are kept for each pack that is open; by itself dulwich keeps 96 MiB.
_KEPT = 4 << 20


class Disk(DiskObjectStore):
    """A store that looks twice: an object can be packed between the look into the packs and the one beside them.

    It reads nothing but regular files of its own folder, and no object of more than `LARGEST` bytes.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, loose_object_size_limit=LARGEST, delta_base_cache_limit=_KEPT)
        # Both only save time with many packs, and are read without a look at what kind of file they are.
        self._use_midx = self._use_commit_graph = False

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Return kind and bytes of an object; KeyError when it is not there."""
        try:
            return super().get_raw(name)
        except KeyError:
            return super().get_raw(name)

    def iter_prefix(self, prefix: bytes) -> Iterator[ObjectID]:
        """Return the ids that begin with `prefix`."""
        try:
            return iter(list(super().iter_prefix(prefix)))
        except PackFileDisappeared:
            return iter(list(super().iter_prefix(prefix)))

    def _read_alternate_paths(self) -> Iterator[str]:
        """Return nothing: objects of another repository are no memory, whatever `objects/info/alternates` says."""
        return iter(())

    def _update_pack_cache(self) -> list[Pack]:
        """Return the packs that are new in the folder, each made to refuse what is no regular file, or too large."""
        packs = super()._update_pack_cache()
        for pack in packs:
            if not (_is_readable(pack._idx_path) and _is_readable(pack._data_path)):
                self._pack_cache.pop(os.path.basename(pack._basename))
                continue
            pack._data_load = partial(
                Data, pack._data_path, object_format=self.object_format, delta_base_cache_limit=_KEPT
            )
        return [pack for pack in packs if isinstance(pack._data_load, partial)]

    def _get_loose_object(self, sha: ObjectID) -> ShaFile | None:
        try:
            os.close(regular.opened(self._get_shafile_path(sha)))
        except FileNotFoundError:
            return None
        return super()._get_loose_object(sha)


class Data(PackData):
    """A pack of which no object is unpacked that says it has more than `LARGEST` bytes, or becomes that by a delta.

    Dulwich ends as soon as an object is larger than it says, so that is all it takes.
    """

    def close(self) -> None:
        """Close the file; never an error, whoever still holds a view of it."""
        try:
            super().close()
        except BufferError:
            # An error that was raised while dulwich read the pack keeps its frames, and they keep the view. The
            # mapping goes when they go; dulwich has let go of it already, so the second call closes the file.
            super().close()

    def get_unpacked_object_at(self, offset: int, *, include_comp: bool = False) -> UnpackedObject:
        """Return the object at `offset` of the pack, deltas not yet applied; ValueError for one that is too large."""
        _check(size_at(self._buffer(), offset, 4)[0])
        unpacked = super().get_unpacked_object_at(offset, include_comp=include_comp)
        if unpacked.pack_type_num in DELTA_TYPES:
            _check(size_made_by(b"".join(unpacked.decomp_chunks)[:20]))  # both its sizes are in so many bytes
        return unpacked


def check_pack(pack: Path, index: Path, oids: Iterable[str]) -> None:
    """Read `oids` back from a pack on the disk, and compare each with its id.

    Raises:
        OSError: one is not what was written, or cannot be read.
    """
    try:
        whole_entries(fs.read(pack, limit=regular.HUGE)[0], index)  # dulwich leaves files open that it finds broken
        with closing(Pack.from_objects(Data(pack, SHA1), load_pack_index(index, SHA1))) as read:
            for oid in oids:
                kind, data = read.get_raw(ObjectID(oid.encode()))
                if oid_of(KINDS[kind], data) != oid:
                    raise BrokenPack(f"{oid} is another object in it")
    except OSError:
        raise
    except Exception as error:  # dulwich says it in a dozen ways
        raise OSError(errno.EIO, f"what was written reads otherwise ({error})", str(pack)) from None


def _check(size: int) -> None:
    if size > LARGEST:
        raise ValueError(f"an object of {size} bytes is larger than we read")


def _is_readable(file: str) -> bool:
    """Return whether a file is a regular one of a size that can be mapped: what cannot be, dulwich reads whole."""
    try:
        status = os.lstat(file)
        return stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_PACK
    except FileNotFoundError:
        return True  # gone meanwhile: who reads it looks again
