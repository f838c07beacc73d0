"""Git's trees: read, looked into by path, listed, compared and changed, as the bytes that Git stores."""

import re
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from itertools import accumulate, count, repeat
from math import inf
from typing import TypeVar

from ..errors import DamagedHistory, DeniedHistory
from ..text.agent_names import without_unseen
from .objects import Objects, remember, remembered

REGULAR = 0o100644
FOLDER = 0o40000
SUBMODULE = 0o160000
#: Limits for the files of a tree with all its folders, and for their depth: a few small trees that contain one another
#: many times can stand for a billion files.
MOST_FILES, DEEPEST = 250_000, 100
_REMEMBERED = 8
# Bytes that are no row match to the end, with an empty group: to search for the next row in them takes quadratic time.
_ROW = re.compile(rb"([0-7]{5,6} [^\0/]+\0.{20})|.+", re.DOTALL)

T = TypeVar("T")
#: Mode and id of what a name in a tree stands for.
Item = tuple[int, str]


# One tree, as bytes


def to_text(raw: bytes) -> str:
    """Return the text of a path, or of other bytes that Git stores; `to_bytes` of it returns the same bytes."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Return the bytes that `to_text` made a text of."""
    return text.encode("utf-8", "surrogateescape")


def rows_of(raw: bytes) -> list[bytes]:
    """Return what a tree stores for each name in it; ValueError for bytes that are no tree's."""
    rows: list[bytes] = _ROW.findall(raw)
    if sum(map(len, rows)) != len(raw):
        raise ValueError("not a tree of Git's")
    return rows


def parsed_row(row: bytes) -> tuple[bytes, int, str]:
    """Return the name, mode and id in a row of a tree."""
    mode, _, name = row[:-21].partition(b" ")
    return name, int(mode, 8), row[-20:].hex()


def row_of(name: bytes, mode: int, oid: str) -> bytes:
    """Return the row of a tree for a name."""
    return b"%o %s\0%s" % (mode, name, bytes.fromhex(oid))


def sort_key(row: bytes) -> bytes:
    """Return what Git sorts the rows of a tree by: the name, a folder's with a `/`."""
    mode, _, name = row[:-21].partition(b" ")
    return name + b"/" if int(mode, 8) == FOLDER else name


def differing(before: frozenset[bytes], after: frozenset[bytes]) -> Iterator[tuple[bytes, Item | None, Item | None]]:
    """Yield each name that differs between two trees, given as sets of rows, with its item before and after.

    In Git's order; the name of a folder ends with `/`. An item is None where a tree lacks the name.
    """
    gone, come = _by_key(before - after), _by_key(after - before)
    return ((key, gone.get(key), come.get(key)) for key in sorted({*gone, *come}))


def _by_key(rows: frozenset[bytes]) -> dict[bytes, Item]:
    parsed_rows = map(parsed_row, rows)
    return {name + b"/" if mode == FOLDER else name: (mode, oid) for name, mode, oid in parsed_rows}


class Rows:
    """The rows of a tree as Git stores them, and where each begins, to find out how a similar tree differs.

    Between two commits mostly one row of thousands differs. Comparing beginnings and ends of the bytes finds it ten
    times as fast as parsing both trees and comparing all rows.
    """

    __slots__ = ("_starts", "raw", "rows")

    def __init__(self, raw: bytes, rows: list[bytes]) -> None:
        self.raw = raw
        self.rows = rows
        # Where each row begins, and where the last one ends.
        self._starts = list(accumulate(map(len, rows), initial=0))

    def apart(self, raw: bytes) -> tuple[slice, list[bytes]]:
        """Compare with the tree in `raw`: return which of these rows it lacks, and the rows that it has instead.

        All rows before and behind the slice are equal. ValueError if `raw` is no tree.
        """
        own, starts = self.raw, self._starts
        first = bisect_left(starts, True, key=lambda end: not raw.startswith(own[:end])) - 1
        begin = starts[first]
        last = bisect_left(starts, True, first, key=lambda at: raw.endswith(own[at:], begin))
        try:
            return slice(first, last), rows_of(raw[begin : len(raw) - len(own) + starts[last]])
        except ValueError:  # the equal end may begin within a row, as a name may look like one: `x 100644 a.md`
            return slice(first, None), rows_of(raw[begin:])

    def like(self, raw: bytes) -> "Rows":
        """Return the rows of a similar tree without parsing all of it; ValueError for bytes that are no tree's."""
        gone, come = self.apart(raw)
        rows = self.rows.copy()
        rows[gone] = come
        return Rows(raw, rows)


NO_ROWS = Rows(b"", [])


class Tree:
    """The rows of a tree in Git's order: a change costs a splice, not a parse. Never changed once made."""

    __slots__ = ("_folders", "_keys", "_rows")

    def __init__(self, keys: list[bytes], rows: list[bytes], folders: frozenset[bytes]) -> None:
        """`keys` are the names as Git sorts them, a folder's with a `/`; `folders` the names of folders without."""
        self._keys = keys
        self._rows = rows
        self._folders = folders

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[bytes, int, str]]:
        """Yield name, mode and id of everything."""
        return map(parsed_row, self._rows)

    def get(self, name: bytes) -> Item | None:
        """Return what `name` stands for; None when it is not there."""
        for key in (name, name + b"/"):
            at = bisect_left(self._keys, key)
            if at < len(self._keys) and self._keys[at] == key:
                return parsed_row(self._rows[at])[1:]
        return None

    def folders(self) -> list[str]:
        """Return the ids of the folders directly in it."""
        found = map(self.get, self._folders)
        return [item[1] for item in found if item]

    def changed(self, items: Mapping[bytes, Item | None]) -> "Tree":
        """Return the tree with these names set, or gone for None."""
        keys, rows, folders = self._keys.copy(), self._rows.copy(), self._folders
        for name, item in items.items():
            is_folder = item is not None and item[0] == FOLDER
            row = row_of(name, *item) if item else None
            splice(keys, rows, name, None if is_folder else row)
            splice(keys, rows, name + b"/", row if is_folder else None)
            if is_folder != (name in folders):
                folders ^= {name}
        return Tree(keys, rows, folders)

    def raw(self) -> bytes:
        """Return the bytes of the tree."""
        return b"".join(self._rows)


def splice(keys: list[bytes], rows: list[bytes], key: bytes, row: bytes | None) -> None:
    """Set the row of `key` in two parallel lists, sorted by key; None removes it. Both lists change in place."""
    at = bisect_left(keys, key)
    if at < len(keys) and keys[at] == key:
        del keys[at], rows[at]
    if row is not None:
        keys.insert(at, key)
        rows.insert(at, row)


EMPTY = Tree([], [], frozenset())


def parse_tree(raw: bytes) -> Tree:
    """Return the tree in `raw`; ValueError when that is none.

    Trees that another program stored may be malformed: rows are put into Git's order, and of two rows with one name the
    last counts. Trees from a remote have passed `check_tree`, which refuses both.
    """
    rows = rows_of(raw)
    keys = [sort_key(row) for row in rows]
    if not all(map(bytes.__lt__, keys, keys[1:])):
        ordered = dict(sorted(zip(keys, rows, strict=True)))
        keys, rows = list(ordered), list(ordered.values())
    return Tree(keys, rows, frozenset(key[:-1] for key in keys if key.endswith(b"/")))


_MODES = frozenset((REGULAR, 0o100755, 0o100664, 0o120000, FOLDER, SUBMODULE))
_PLAIN = b"100644 "


def check_tree(raw: bytes, known: Set[bytes]) -> set[bytes]:
    """Check a tree from a remote; return its rows that are not in `known`, which were checked before.

    Raises:
        ValueError: the bytes are no tree, or `git fsck` would complain: wrong order, unknown mode, a name like `.git`.
    """
    rows = rows_of(raw)
    new = set(rows) - known
    for row in new:
        name, mode, _ = parsed_row(row)
        if mode not in _MODES or row.startswith(b"0") or name in (b".", b"..") or is_git(to_text(name)):
            raise ValueError(f"a tree has a name or a mode that no tree of Git's has: {to_text(name)[:60]!r} {mode:o}")
    if are_plain(rows):
        names = keys = [row[:-20] for row in rows]  # which are in order as rows: found out ten times as quickly
    else:
        keys = [*map(sort_key, rows)]
        names = sorted({key.removesuffix(b"/") for key in keys})
    if len(names) != len(rows) or not all(map(bytes.__lt__, keys, keys[1:])):
        raise ValueError("a tree is not in Git's order")
    return new


def are_plain(rows: list[bytes]) -> bool:
    """Return whether all rows of a tree are of files that are not executable."""
    return all(map(bytes.startswith, rows, repeat(_PLAIN)))


def checked_like(raw: bytes, like: Rows, known: Set[bytes]) -> tuple[set[bytes], Rows] | None:
    """Check a tree of plain files by its differences to `like`, which was checked; return its new rows, and all.

    Return None if these differences do not suffice: the caller then asks `check_tree`, which raises if the tree is bad.
    """
    try:
        gone, come = like.apart(raw)
    except ValueError:
        return None
    rows = like.rows.copy()
    rows[gone] = come
    around = [row[:-20] for row in rows[max(0, gone.start - 1) : gone.start + len(come) + 1]]
    if not are_plain(come) or not all(map(bytes.__lt__, around, around[1:])):
        return None
    new = set(come) - known
    if any(name in (b".", b"..") or is_git(to_text(name)) for name, _, _ in map(parsed_row, new)):
        return None
    return new, Rows(raw, rows)


def is_git(name: str) -> bool:
    """Return whether some file system takes a name for `.git`: one that ignores case, invisible characters, final dots,
    or, on Windows, what follows a colon; `git~1` is its short name there.
    """
    return without_unseen(name).partition(":")[0].rstrip(" .").lower() in (".git", "git~1")


# The trees of a repository


class Trees:
    """The trees of one repository, by id; None is a tree without anything. Paths are text.

    Raises:
        DamagedHistory: by every method, when a tree is missing or broken, and when more than `most` names in all were
            gone through.
    """

    def __init__(self, objects: Objects, most: float = inf) -> None:
        self._objects = objects
        self._most = most
        #: How many names were gone through in all, which `most` bounds: by listings, by differences and by `grafted`.
        self.walked = 0
        self._trees: dict[str, Tree] = {}
        self._rows: dict[str, Rows] = {}

    def forget(self) -> None:
        """Read everything anew from now on: the objects were exchanged for others."""
        self._trees.clear()
        self._rows.clear()

    def tree(self, oid: str | None) -> Tree:
        """Return the tree called `oid`, whose bytes were compared with its name."""
        return EMPTY if oid is None else remembered(self._trees, oid, self._read_tree)

    def _read_tree(self, oid: str) -> Tree:
        return _read(parse_tree, oid, self._objects.tree(oid, is_compared=True))

    def _rows_of(self, oid: str | None, other: str | None) -> Rows:
        """Return the rows of a tree, parsed by its differences to the tree `other` if that is cached; unlike `tree`, a
        packed one is not compared with its id.
        """
        if oid is None:
            return NO_ROWS
        like = self._rows.get(other or "", NO_ROWS).like
        return remembered(self._rows, oid, partial(self._read_rows, like), _REMEMBERED)

    def _read_rows(self, like: Callable[[bytes], Rows], oid: str) -> Rows:
        return _read(like, oid, self._objects.tree(oid, is_compared=False))

    def files(self, tree: str | None, prefix: str = "") -> dict[str, str]:
        """Return path and blob of each regular file in `tree` and below, in Git's order; paths begin with `prefix`.

        Raises:
            DamagedHistory: it is broken, or has more than `MOST_FILES` files, or folders more than `DEEPEST` deep.
        """
        return {path: oid for path, (mode, oid) in self.items(tree, prefix).items() if stat.S_ISREG(mode)}

    def items(self, tree: str | None, prefix: str = "") -> dict[str, Item]:
        """Return what `files` does, with modes, and links and submodules as well."""
        found: dict[str, Item] = {}
        self._add_items(found, tree, prefix, DEEPEST - prefix.count("/"), count())
        return found

    def _add_items(self, found: dict[str, Item], tree: str | None, folder: str, depth: int, seen: "count[int]") -> None:
        """Add all files below a tree to `found`. `seen` counts names, not files: folders without files, which contain
        one another, could make a billion of them.
        """
        for name, mode, oid in self.tree(tree):
            self._check_extent(next(seen), depth)
            path = folder + to_text(name)
            if mode == FOLDER:
                self._add_items(found, oid, f"{path}/", depth - 1, seen)
            else:
                found[path] = mode, oid

    def files_in(self, tree: str | None, prefix: str) -> dict[str, str]:
        """Return path and blob of each regular file in `tree` itself, whose paths begin with `prefix`."""
        found = ((name, oid) for name, mode, oid in self.tree(tree) if stat.S_ISREG(mode))
        return {prefix + to_text(name): oid for name, oid in found}

    def file(self, tree: str | None, path: str) -> str | None:
        """Return the blob of the regular file at `path` in `tree`; None when there is none."""
        mode, oid = self.item(tree, path) or (0, None)
        return oid if stat.S_ISREG(mode) else None

    def item(self, tree: str | None, path: str) -> Item | None:
        """Return mode and id of what is at `path` in `tree`; None when there is nothing."""
        above, _, name = path.rpartition("/")
        return self.tree(self.folder(tree, above)).get(to_bytes(name))

    def folder(self, tree: str | None, path: str) -> str | None:
        """Return the id of the folder at `path` in `tree`, which is itself at ""; None when there is none."""
        for step in to_bytes(path).split(b"/") if path else ():
            mode, tree = self.tree(tree).get(step) or (0, None)
            if mode != FOLDER:
                return None
        return tree

    def differences(self, before: str | None, after: str | None) -> Iterator[tuple[str, str | None, str | None]]:
        """Yield the path of each regular file that differs between two trees, and its blob in each, in Git's order.

        Folders that are the same are not read.
        """
        found = ((path, _blob(old), _blob(new)) for path, old, new in self.item_differences(before, after))
        return (each for each in found if each[1] or each[2])

    def item_differences(self, before: str | None, after: str | None) -> Iterator[tuple[str, Item | None, Item | None]]:
        """Yield what `differences` does, with modes, and links and submodules as well."""
        return self._differences(before, after, b"", count())

    def _differences(
        self, before: str | None, after: str | None, folder: bytes, seen: "count[int]"
    ) -> Iterator[tuple[str, Item | None, Item | None]]:
        if before == after:
            return
        after_rows = self._rows_of(after, before)
        before_rows = self._rows_of(before, after)
        gone, come = before_rows.apart(after_rows.raw)
        for key, old, new in differing(frozenset(before_rows.rows[gone]), frozenset(come)):
            self._check_extent(next(seen), DEEPEST - folder.count(b"/"))
            path = folder + key
            if path.endswith(b"/"):
                yield from self._differences(old and old[1], new and new[1], path, seen)
            else:
                yield to_text(path), old, new

    def _check_extent(self, files: int, depth: int) -> None:
        """Count a name that was gone through, and check both limits: that of one tree, and `most` for all of them."""
        check_extent(files, depth)
        self.walked += 1
        if self.walked > self._most:
            raise DamagedHistory(
                f"to compare the commits of the history more than {self._most:,} names would be gone through: it is no "
                "memory's"
            )

    def is_readable(self, commit: str) -> bool:
        """Return whether the commit and all folders of its tree, but not its files, are there and whole.

        Raises:
            DeniedHistory: this user may not look.
        """
        try:
            row = [commit, self._objects.header(commit).tree]
            for oid in row:
                if not self._objects.is_unchanged(oid) and not self._objects.has(oid):
                    return False
                row += self.tree(oid).folders() if oid != commit else []
        except DeniedHistory:
            raise
        except DamagedHistory:
            return False
        return True

    def grafted(self, tree: str | None, changes: Mapping[str, str | Item | None]) -> str | None:
        """Put the tree that `tree` becomes with `changes`, and its folders; return its id, None if no file is left.

        `changes` has for each path its blob, or its mode and blob, or None to remove it. With a blob alone a file that
        is there keeps its mode. The objects are stored by the next `Objects.flush`.
        """
        base = self.tree(tree)
        self.walked += len(base)
        items: dict[bytes, Item | None] = {}
        for name, below in by_first_part(changes).items():
            key = to_bytes(name)
            mode, oid = base.get(key) or (0, None)
            if "" in below:
                new = below[""]
                items[key] = (mode if stat.S_ISREG(mode) else REGULAR, new) if isinstance(new, str) else new
            else:
                grown = self.grafted(oid if mode == FOLDER else None, below)
                items[key] = (FOLDER, grown) if grown else None
        changed = base.changed(items)
        if not len(changed):
            return None
        oid = self._objects.put("tree", changed.raw(), (tree, base.raw()) if tree else None)
        remember(self._trees, oid, changed)
        return oid


def read_rows(oid: str, objects: Objects) -> list[bytes]:
    """Return the rows of a tree after checking its id; DamagedHistory when it is missing, broken or no tree."""
    return _read(rows_of, oid, objects.tree(oid, is_compared=True))


def _read(parse: Callable[[bytes], T], oid: str, data: bytes) -> T:
    try:
        return parse(data)
    except ValueError:
        raise DamagedHistory(f"object {oid} of the history is no tree") from None


def check_extent(files: int, depth: int) -> None:
    """Raise DamagedHistory if `files` is more than `MOST_FILES`, or `depth`, the levels still allowed, is below 0."""
    if files > MOST_FILES or depth < 0:
        raise DamagedHistory(
            f"the history has a commit of more than {MOST_FILES:,} files or {DEEPEST} folders deep: it is no memory's"
        )


def _blob(item: Item | None) -> str | None:
    return item[1] if item and stat.S_ISREG(item[0]) else None


def by_first_part(files: Mapping[str, T]) -> dict[str, dict[str, T]]:
    """Group values by the first part of their paths: part to rest of the path to value. The rest is "" for a file."""
    grouped: dict[str, dict[str, T]] = {}
    for path, each in files.items():
        first, _, rest = path.partition("/")
        grouped.setdefault(first, {})[rest] = each
    return grouped
