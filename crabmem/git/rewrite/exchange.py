"""One history exchanged for another, wholly or not at all: an order is durable first, and then anybody can finish it.

All that is new is prepared in a folder. While there is no order in it the old history stands, and the folder is thrown
away; from the moment there is one, every step can be done again, and the next command does so.

An order moves and deletes files, so it is believed only when this user gave it on this machine, or a person says so,
and when it names nothing but what a purge has to do with.
"""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...disk import fs, state
from ...disk.seal import Seal
from ...errors import Busy, Unwritable
from ...text.hashes import blob_id
from ..packs import PACK_NAME
from ..refs import OID, Refs, is_ref
from ..store import check_pack

_ORDER = "order"
_COMING = "order.coming"
_STAYING = frozenset(
    [
        *(state.LOCK, f"{state.LOCK}.d", f"{state.LOCK}.pid", state.PACKING, state.PURGING, state.PURGES),
        *(state.TEMPORARY, state.TURNS, state.REPAIRS, state.RECOVERED, state.ASIDE),
    ]
)
# Decoded, an order takes many times its bytes; one of more than some thousand files is no stranger's to finish.
_LARGEST_FOREIGN = 1_000_000
_READY = re.compile(r"[0-9]{6,9}\Z")
# What a purge makes anew of `.git`, but for references and their logs; and what of it may go.
_MADE_ANEW = frozenset(
    ["index", *(f"crabmem/{name}" for name in (state.PACK, state.TURNS, state.USES, state.REPAIRS, state.SYNC))]
)
_GOING = re.compile(rf"crabmem/({state.RECOVERED}|{state.TEMPORARY})/[^/]+\Z")
# What Git and its users leave beside the references, made of words and ids of commits.
_LEFT = ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG",
         "AUTO_MERGE", "MERGE_RR", "gc.log", "gitk.cache", "index.broken", "info/refs")  # fmt: skip


class Change(msgspec.Struct, frozen=True):
    """A file of the workspace: the blob it is now (None: no file), and the prepared file it becomes (None: it goes)."""

    path: str
    was: str | None
    ready: str | None


class Order(msgspec.Struct, frozen=True):
    """What is to be done. `refs` are the references as they were, `new` as they shall be.

    `moves` has the place in `.git` of each prepared file by its name; `gone` are files of `.git` to be removed.
    """

    pack: str
    refs: Mapping[str, str]
    new: Mapping[str, str]
    moves: Mapping[str, str]
    files: tuple[Change, ...]
    gone: tuple[str, ...]


class _Found(NamedTuple):
    """An order on the disk (None: one that is not to be done), and whether this user gave it on this machine."""

    order: Order | None
    is_ours: bool


class Exchange:
    """The exchange in one repository. Only under the writer's lock."""

    def __init__(self, root: Path, private: Path, refs: Refs, seal: Seal) -> None:
        self._seal = seal
        self._root = root
        self._git = root / ".git"
        self._private = private
        self._folder, self._done = private / state.PURGING, private / state.PURGED
        self._refs = refs
        self._count = 0

    def begin(self) -> None:
        """Make the folder in which files are prepared."""
        fs.make_folder(self._folder)

    def prepare(self, data: bytes, mode: int = fs.PRIVATE_FILE, name: str = "") -> str:
        """Prepare a file, durably; return its name: `name`, or a number."""
        self._count += not name
        name = name or f"{self._count:06}"
        fs.create(self._folder / name, data, mode)
        return name

    def prepare_pack(self, name: str, data: bytes, index: bytes, oids: list[str]) -> None:
        """Prepare a pack, and read every object back from the disk."""
        pack, place = self._folder / f"{name}.pack", self._folder / f"{name}.idx"
        fs.create(pack, data, 0o444)
        fs.create(place, index, 0o444)
        check_pack(pack, place, oids)

    def check(self, order: Order) -> None:
        """Refuse an order that nobody would believe, so that a crash could not be mended.

        Raises:
            Unwritable: naming what has a name that no order may have.
        """
        if strange := next(_strange_names(order), None):
            raise Unwritable(f"{strange!r} is no name that a purge can deal with: rename it, and purge again")

    def give(self, order: Order) -> None:
        """Give an order that was checked. From here on the new history stands: what is missing of it anybody can do."""
        fs.create(self._folder / _COMING, self._seal.sealed(msgspec.json.encode(order)))
        fs.sync_folder(self._folder)
        fs.rename(self._folder / _COMING, self._folder / _ORDER)
        fs.sync_folder(self._folder)
        fs.sync_folder(self._private)

    def is_ours(self) -> bool:
        """Return whether there is an order, done or not, that this user gave on this machine."""
        found = self._read_order(self._folder) or self._read_order(self._done)
        return found is not None and found.order is not None and found.is_ours

    def is_foreign(self) -> bool:
        """Return whether there is an order of somebody else that could be done."""
        found = self._read_order(self._folder)
        return found is not None and found.order is not None and not found.is_ours

    def _read_order(self, folder: Path) -> _Found | None:
        """Return the order in a folder; None where there is none."""
        try:
            sealed = self._seal.opened(fs.read(folder / _ORDER, limit=fs.LARGE)[0])
            data, is_ours = sealed.data, sealed.is_ours
            if not is_ours and (len(data) > _LARGEST_FOREIGN or not _are_plain(folder)):
                return _Found(None, False)
            order = msgspec.json.decode(data, type=Order)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _Found(None, False)
        return _Found(order, is_ours) if next(_strange_names(order), None) is None else _Found(None, False)

    def resume(self, believes_others: bool) -> str | None:
        """Finish what a crash interrupted, or take it back; return what there is to say about it.

        Raises:
            Unwritable: somebody else began it, and nobody said `believes_others`.
        """
        self._remove_done()
        if not os.path.lexists(self._folder):
            return None
        found = self._read_order(self._folder)
        if found is None:
            self.give_up()
            return "a purge was interrupted before it changed anything: the history is the old one; purge again"
        if found.order is None:
            fs.make_folder(aside := self._private / state.ASIDE)
            place = aside / f"purging-{secrets.token_hex(4)}"
            fs.rename(self._folder, place)
            return (
                f"what claims to be a purge names files that a purge does not touch: it was moved to {place}, not done"
            )
        if not (found.is_ours or believes_others):
            raise Unwritable(
                f"{self._root} holds a purge that another user or another machine began: if you trust this folder, "
                "`crabmem doctor --fix` finishes it; reading goes on"
            )
        try:
            self.finish(found.order)
        except Busy as error:  # the exchange is made, and it would be said to nobody who asked for it
            return f"a purge that was interrupted was finished, but {error}"
        return "a purge that was interrupted was finished: the history is the new one,"

    def give_up(self) -> None:
        """Throw away what was prepared."""
        fs.remove_tree(self._folder)

    @fs.durability(True)
    def finish(self, order: Order) -> None:
        """Do what an order says, as far as it is not done, and whatever the settings say of waiting for the disk.

        Raises:
            Busy: somebody moved a reference meanwhile, whose history still is the old one; no object was removed.
        """
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
        # Others may hold words of the old history in memory. Told before their files go: who writes a cache after
        # this knows that it must not.
        fs.append(self._private / state.PURGES, b".")
        self._remove_traces(order)
        fs.rename(self._folder, self._done)
        fs.sync_folder(self._private)
        self._remove_done()
        if moved:
            raise Busy(f"{', '.join(moved)}: made or moved meanwhile, and still with the old history: purge again")
        if late := self._moved_refs(order):
            raise Busy(f"{', '.join(late)}: made meanwhile, and names what is gone from the history: delete it")

    def _remove_done(self) -> None:
        """Remove what a finished purge replaced; its order last, by which the next command knows that it may."""
        if self._done.is_dir() and not self._done.is_symlink():
            for file in sorted(self._done.iterdir()):
                if file.name != _ORDER and not file.is_dir():
                    fs.unlink(file)
        fs.remove_tree(self._done)

    def _move(self, name: str, target: Path) -> None:
        if (self._folder / name).exists():
            fs.make_folder(target.parent)
            fs.rename(self._folder / name, target)

    def _moved_refs(self, order: Order) -> list[str]:
        """Return the references that are neither as they were nor as they shall be."""
        now = self._refs.all()
        return sorted(ref for ref, oid in now.items() if oid not in (order.refs.get(ref), order.new.get(ref)))

    def _put_refs(self, order: Order, moved: list[str]) -> None:
        """Set the references: all stand in one file, which counts as soon as one has no file of its own."""
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
            elif _blob_at(spot) == change.was:
                if change.ready:
                    fs.exchange(ready, spot)
                else:
                    fs.rename(spot, ready)
                if blob_id(fs.read(ready)[0]) != change.was:  # it was saved at this very moment
                    fs.exchange(ready, spot) if change.ready else fs.rename(ready, spot)

    def _remove_objects(self, pack: str) -> None:
        """Remove every object, whoever reaches it, that is not in the pack."""
        objects = self._git / "objects"
        for folder in sorted(objects.iterdir()):
            if folder.is_dir() and folder.name not in ("pack", "info"):
                fs.remove_tree(folder)
        # An index without its pack is an error to Git; a pack without one is nothing.
        packs = sorted(_files_in(objects / "pack"), key=lambda file: (file.suffix == ".pack", file.name))
        for file in [*_files_in(objects / "info"), *packs]:
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
        for file in (self._private / state.TEMPORARY).glob("*"):
            if not file.name.startswith("lock-"):  # those that are held now
                fs.unlink(file)


def _blob_at(spot: fs.Spot) -> str | None:
    try:
        return blob_id(fs.read(spot)[0])
    except OSError:
        return None


def _are_plain(folder: Path) -> bool:
    """Return whether a folder holds nothing but files, none of which has a second name elsewhere."""
    with os.scandir(folder) as items:
        return all(
            item.is_file(follow_symlinks=False) and item.stat(follow_symlinks=False).st_nlink == 1 for item in items
        )


def _strange_names(order: Order) -> Iterator[str]:
    """Yield the names in an order that no purge of ours gives: they may lead to what a purge leaves alone."""
    yield from [] if PACK_NAME.match(order.pack) else [order.pack]
    for refs in (order.refs, order.new):
        yield from (ref for ref in refs if not is_ref(ref))
        yield from (oid for oid in refs.values() if not OID.match(oid))
    yield from (name for name in order.moves if not _READY.match(name))
    logs = (target for target in order.moves.values() if target not in _MADE_ANEW)
    yield from (log for log in logs if log != "logs/HEAD" and not (log.startswith("logs/") and is_ref(log[5:])))
    for change in order.files:
        yield from [] if _is_in_workspace(change.path) else [change.path]
        yield from [change.was] if change.was is not None and not OID.match(change.was) else []
        yield from [change.ready] if change.ready is not None and not _READY.match(change.ready) else []
    yield from (name for name in order.gone if not (_GOING.match(name) and name.rpartition("/")[2] not in (".", "..")))


def _is_in_workspace(path: str) -> bool:
    """Return whether a path stays in the workspace, and out of every repository in it."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts) and "\0" not in path


def _files_in(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if not file.is_dir()) if folder.is_dir() else iter(())
