"""One history exchanged for another, wholly or not at all: by an order that is durable first, and anybody can finish.

All that is new lies ready in a folder first. While there is no order in it the old history stands, and the folder
is thrown away; from the moment there is one, every step can be done again, and the next command does so.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from .. import fs
from ..errors import Busy
from ..version import blob_id
from .compaction import checked
from .refs import Refs

_ORDER = "order"
_COMING = "order.coming"
_STAYING = frozenset(
    ["lock", "lock.d", "lock.pid", "packing", "purging", "purges", "tmp", "turns", "repairs.log", "recovered"]
)
# What Git and its users leave beside the references, made of words and ids of commits.
_LEFT = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG",
         "AUTO_MERGE", "MERGE_RR", "gc.log", "gitk.cache", "index.broken", "info/refs")  # fmt: skip


class Change(msgspec.Struct, frozen=True):
    """A file of the workspace: the blob it has now (None: no file), and under which name the new one lies ready."""

    path: str
    was: str | None
    ready: str | None


class Order(msgspec.Struct, frozen=True):
    """What is to be done. `refs` are the references as they were, `new` as they shall be.

    `moves` says for which file of `.git` each that lies ready is meant; `gone` are files of `.git` to be removed.
    """

    pack: str
    refs: Mapping[str, str]
    new: Mapping[str, str]
    moves: Mapping[str, str]
    files: tuple[Change, ...]
    gone: tuple[str, ...]


class Exchange:
    """The exchange in one repository. Only under the writer's lock."""

    def __init__(self, root: Path, private: Path, refs: Refs) -> None:
        self._root = root
        self._git = root / ".git"
        self._private = private
        self._folder, self._done = private / "purging", private / "purging.done"
        self._refs = refs
        self._count = 0

    def begin(self) -> None:
        """Make the folder in which things are made ready."""
        fs.make_folder(self._folder)

    def ready(self, data: bytes, mode: int = fs.PRIVATE_FILE) -> str:
        """Make a file ready, durably; its name."""
        self._count += 1
        name = f"{self._count:06}"
        fs.create(self._folder / name, data, mode)
        return name

    def ready_as(self, name: str, data: bytes) -> None:
        """Make a file ready whose name says what it is for."""
        fs.create(self._folder / name, data)

    def ready_pack(self, name: str, data: bytes, index: bytes, oids: list[str]) -> None:
        """Make a pack ready, and read every object back from the disk."""
        pack, place = self._folder / f"{name}.pack", self._folder / f"{name}.idx"
        fs.create(pack, data, 0o444)
        fs.create(place, index, 0o444)
        checked(pack, place, oids)

    def give(self, order: Order) -> None:
        """From here on the new history stands: what is missing of it anybody can do."""
        fs.create(self._folder / _COMING, msgspec.json.encode(order))
        fs.sync_folder(self._folder)
        fs.rename(self._folder / _COMING, self._folder / _ORDER)
        fs.sync_folder(self._folder)
        fs.sync_folder(self._private)

    def resumed(self) -> str | None:
        """Finish what a crash interrupted, or take it back; what there is to say about it."""
        fs.remove_tree(self._done)
        return self._resumed() if self._folder.exists() else None

    def _resumed(self) -> str:
        if not (self._folder / _ORDER).exists():
            self.give_up()
            return "a purge was interrupted before it changed anything: the history is the old one; purge again"
        try:
            self.finish()
        except Busy as error:  # the exchange is made, and it would be said to nobody who asked for it
            return f"a purge that was interrupted was finished, but {error}"
        return "a purge that was interrupted was finished: the history is the new one,"

    def give_up(self) -> None:
        """Throw away what lies ready."""
        fs.remove_tree(self._folder)

    def finish(self) -> None:
        """Do what the order says, as far as it is not done, and whatever the settings say of waiting for the disk.

        Raises:
            Busy: somebody moved a reference meanwhile, whose history still is the old one; no object was removed.
        """
        with fs.durability(True):
            self._finish()

    def _finish(self) -> None:
        order = msgspec.json.decode((self._folder / _ORDER).read_bytes(), type=Order)
        packs = self._git / "objects" / "pack"
        fs.make_folder(packs)
        for ending in ("pack", "idx"):
            self._move(f"{order.pack}.{ending}", packs / f"{order.pack}.{ending}")
        fs.sync_folder(packs)
        moved = self._moved_refs(order)
        self._put_refs(order, moved)
        for name, target in order.moves.items():
            self._move(name, self._git / target)
        for change in order.files:
            self._put_file(change)
        if not moved:
            self._remove_objects(order.pack)
        self._mark()  # first: who writes a cache after this knows that it must not
        self._remove_traces(order)
        fs.rename(self._folder, self._done)
        fs.sync_folder(self._private)
        fs.remove_tree(self._done)
        if moved:
            raise Busy(f"{', '.join(moved)}: made or moved meanwhile, and still with the old history: purge again")
        if late := self._moved_refs(order):
            raise Busy(f"{', '.join(late)}: made meanwhile, and names what is gone from the history: delete it")

    def _move(self, name: str, target: Path) -> None:
        if (self._folder / name).exists():
            fs.make_folder(target.parent)
            fs.rename(self._folder / name, target)

    def _moved_refs(self, order: Order) -> list[str]:
        """The references that are neither as they were nor as they shall be."""
        now = self._refs.all()
        return sorted(ref for ref, oid in now.items() if oid not in (order.refs.get(ref), order.new.get(ref)))

    def _put_refs(self, order: Order, moved: list[str]) -> None:
        """Set them: all stand in one file, which counts as soon as a reference has no file of its own."""
        self._move("packed-refs", self._git / "packed-refs")
        self._move("HEAD", self._git / "HEAD")
        fs.sync_folder(self._git)
        for ref in {**order.refs, **order.new}:
            if ref not in moved and (self._git / ref).is_file():
                fs.unlink(self._git / ref)
                fs.sync_folder((self._git / ref).parent)

    def _put_file(self, change: Change) -> None:
        """Exchange a file of the workspace; what somebody has saved there since stays."""
        ready = self._folder / (change.ready or f"gone-{blob_id(change.path.encode())}")
        with (
            suppress(FileNotFoundError, NotADirectoryError),
            fs.inside(self._root, change.path, bool(change.ready)) as spot,
        ):
            if change.was is None:
                if ready.exists():
                    with suppress(FileExistsError):
                        fs.link(ready, spot)
            elif self._blob(spot) == change.was:
                if change.ready:
                    fs.exchange(ready, spot)
                else:
                    fs.rename(spot, ready)
                if blob_id(ready.read_bytes()) != change.was:  # it was saved at this very moment
                    fs.exchange(ready, spot) if change.ready else fs.rename(ready, spot)

    def _blob(self, spot: fs.Spot) -> str | None:
        try:
            return blob_id(fs.read(spot)[0])
        except OSError:
            return None

    def _remove_objects(self, pack: str) -> None:
        """Remove every object, whoever reaches it, that is not in the pack."""
        objects = self._git / "objects"
        for folder in sorted(objects.iterdir()):
            if folder.is_dir() and folder.name not in ("pack", "info"):
                fs.remove_tree(folder)
        for file in [*_files_in(objects / "info"), *sorted(_files_in(objects / "pack"), key=_indexes_first)]:
            if file.stem != pack or file.suffix not in (".pack", ".idx"):
                fs.unlink(file)
        fs.sync_folder(objects / "pack")

    def _remove_traces(self, order: Order) -> None:
        """Remove what holds words of the old history, or was made of them."""
        fresh = {self._git / target for target in order.moves.values()}
        for log in [file for file in _files_in(self._git / "logs") if file not in fresh]:
            fs.unlink(log)
        for name in (*_LEFT, *order.gone):
            if (self._git / name).is_file():
                fs.unlink(self._git / name)
        for item in sorted(self._private.iterdir()):
            if item.name not in _STAYING and item not in fresh:
                fs.remove_tree(item) if item.is_dir() and not item.is_symlink() else fs.unlink(item)
        for file in (self._private / "tmp").glob("*"):
            if not file.name.startswith("lock-"):  # those that are held now
                fs.unlink(file)

    def _mark(self) -> None:
        """Tell others, who may hold words of the old history in memory, that there was a purge."""
        fs.append(self._private / "purges", b".")


def _files_in(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if not file.is_dir()) if folder.is_dir() else iter(())


def _indexes_first(file: Path) -> tuple[bool, str]:
    """An index without its pack is an error to Git; a pack without one is nothing."""
    return file.suffix == ".pack", file.name
