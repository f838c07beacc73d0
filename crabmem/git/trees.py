"""One folder of a commit, kept as the bytes that Git stores: a change costs a splice, not a parse."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

REGULAR = 0o100644
FOLDER = 0o40000
# What is none is taken whole, as "": a search for the next one would read the rest again from each byte.
_ENTRY = re.compile(rb"(([0-7]{5,6}) ([^\0/]+)\0.{20})|.+", re.DOTALL)

#: Mode and id of what a name in a folder stands for.
Item = tuple[int, str]


class Listing:
    """The names in a folder, each with its mode and id, in Git's order. Never changed once made."""

    __slots__ = ("_folders", "_keys", "_pieces")

    def __init__(self, keys: list[bytes], pieces: list[bytes], folders: frozenset[bytes]) -> None:
        """`keys` are the names as Git sorts them, a folder's with a `/`; `pieces` what a tree stores for each."""
        self._keys = keys
        self._pieces = pieces
        self._folders = folders

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[bytes, int, str]]:
        """Name, mode and id of everything."""
        for key, piece in zip(self._keys, self._pieces, strict=True):
            mode, oid = _item(piece)
            yield key.removesuffix(b"/"), mode, oid

    def get(self, name: bytes) -> Item | None:
        """What `name` stands for; None when it is not there."""
        for key in (name, name + b"/"):
            at = bisect_left(self._keys, key)
            if at < len(self._keys) and self._keys[at] == key:
                return _item(self._pieces[at])
        return None

    def folders(self) -> list[str]:
        """The ids of the folders in it."""
        found = map(self.get, self._folders)
        return [item[1] for item in found if item]

    def changed(self, items: Mapping[bytes, Item | None]) -> "Listing":
        """The folder with these names set, or gone for None."""
        keys, pieces, folders = self._keys.copy(), self._pieces.copy(), self._folders
        for name, item in items.items():
            for key in (name, name + b"/"):
                at = bisect_left(keys, key)
                if at < len(keys) and keys[at] == key:
                    del keys[at], pieces[at]
            is_folder = item is not None and item[0] == FOLDER
            if is_folder != (name in folders):
                folders ^= {name}
            if item:
                key = name + b"/" * is_folder
                at = bisect_left(keys, key)
                keys.insert(at, key)
                pieces.insert(at, b"%o %s\0%s" % (item[0], name, bytes.fromhex(item[1])))
        return Listing(keys, pieces, folders)

    def raw(self) -> bytes:
        """The bytes of the tree."""
        return b"".join(self._pieces)


EMPTY = Listing([], [], frozenset())


def parsed(raw: bytes) -> Listing:
    """The folder in the bytes of a tree. Names out of Git's order are put into it.

    Raises:
        ValueError: they are no tree's.
    """
    found = _ENTRY.findall(raw)
    pieces = [piece for piece, _, _ in found]
    if sum(map(len, pieces)) != len(raw):
        raise ValueError("not a tree of Git's")
    keys = [name + b"/" if int(mode, 8) == FOLDER else name for _, mode, name in found]
    if not all(map(bytes.__lt__, keys, keys[1:])):
        ordered = dict(sorted(zip(keys, pieces, strict=True)))
        keys, pieces = list(ordered), list(ordered.values())
    return Listing(keys, pieces, frozenset(key[:-1] for key in keys if key.endswith(b"/")))


def _item(piece: bytes) -> Item:
    return int(piece[: piece.index(b" ")], 8), piece[-20:].hex()
