"""The files below `memory/` as a tree, for tools that keep memory as files: reading them, and checking a write."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

from ..disk.fs import MAX_BYTES
from ..disk.scan import Scan
from ..errors import InvalidArguments, NotFound
from ..text.credentials import Screen
from ..text.edit import lenient_text
from ..text.entry import check_text, decode
from ..text.slug import is_portable, name_key
from ..text.values import value
from ..text.words import shortened
from ..workspace.layout import SETTINGS, Layout, is_text, way

# Bytes of the longest character.
_WIDEST = 4
# Bytes of a path from memory on. Git cannot open one of 4,096, other systems none of 1,024; so many of it are shown.
_LONGEST, _SHOWN = 800, 80


@value
class Tree:
    """Files by their paths from `memory/` on: `MEMORY.md`, `entries/wifi.md`; only those that `sees` lets be seen."""

    scan: Scan
    layout: Layout
    sees: Callable[[str], bool] = lambda path: True

    def whole(self, path: str) -> str:
        """A path of this tree as one of the workspace."""
        return self.layout.memory_path(path)

    def __contains__(self, path: str) -> bool:
        return self.whole(path) in self.scan.files and self.may_hold(path)

    def may_hold(self, path: str) -> bool:
        """Whether a file at `path` would be one of these: kept, seen, and neither settings nor who the agent is."""
        at = self.whole(path)
        is_memory = self.layout.is_kept(at) and at.casefold() not in (SETTINGS, self.layout.identity.casefold())
        return is_memory and self.sees(at)

    def paths(self, folder: str = "") -> list[str]:
        """The files in `folder` and below it, sorted."""
        start, own = self.whole(f"{folder}/" if folder else ""), self.whole("")
        below = (path.removeprefix(own) for path in self.scan.files if path.startswith(start))
        return sorted(filter(self.may_hold, below))

    def size(self, path: str) -> int:
        """How many bytes the file has."""
        return self.scan.files[self.whole(path)].stamp.size

    def text(self, path: str) -> str:
        """The whole file as it is.

        Raises:
            NotFound: there is none.
            Unreadable: it is not UTF-8.
        """
        data = self.scan.data(self.whole(path))
        if data is None:
            raise NotFound(f"there is no {self.whole(path)}")
        return decode(self.whole(path), data)


def inside(given: str) -> str | None:
    """The path in a tree that `given` means, "" for the tree itself; None where it leads out of it."""
    path = posixpath.normpath(given or ".")
    if path.startswith("/") or path.split("/")[0] == "..":
        return None
    return "" if path == "." else path


def drafted(tree: Tree, changes: Mapping[str, str | None], screen: Screen, largest: int) -> dict[str, bytes | None]:
    """What to write, by path in the workspace. A text that only moves is not looked into.

    Markdown has `largest` characters at most; another text, of which nothing is recalled, as much as a file may have.

    Raises:
        InvalidArguments: a path or a text cannot be kept.
        HoldsSecret: there is a credential that was in none of these files, and `screen` refuses that.
    """
    before = {path: lenient_text(tree.scan.data(tree.whole(path))) or "" for path in changes if path in tree}
    for path, text in changes.items():
        if path not in tree:
            _check_new(path, tree, changes)
        if text is None:
            continue
        is_markdown = path.endswith(".md")
        if text not in (said for other, said in before.items() if other.endswith(".md") == is_markdown):
            check_text("content", text, largest if is_markdown else MAX_BYTES)
            # One that would be too large could not be read again.
            if len(text) > MAX_BYTES // _WIDEST and (size := len(text.encode())) > MAX_BYTES:
                raise InvalidArguments(f"{path} would have {size:,} bytes; at most {MAX_BYTES:,} fit")
        if text not in before.values():
            screen.refuse_new(text, *before.values())
    return {tree.whole(path): None if text is None else text.encode() for path, text in changes.items()}


def check_markdown(path: str) -> None:
    """Refuse the name of a file that is no memory.

    Raises:
        InvalidArguments: it does not end in `.md`.
    """
    if not path.endswith(".md"):
        raise InvalidArguments(f"{path!r} is not memory: memory is Markdown; use a name that ends in .md")


def _check_new(path: str, tree: Tree, changes: Mapping[str, str | None]) -> None:
    """Refuse a file that history would not keep, or another system not tell from one that is there."""
    if odd := [part for part in path.split("/") if not is_portable(part)]:
        raise InvalidArguments(f"{odd[0]!r} cannot be a name on every system; use letters, digits and dashes")
    if len(path.encode()) > _LONGEST:
        raise InvalidArguments(f"the path {shortened(path, _SHOWN)} is too long; at most {_LONGEST} bytes fit")
    layout, whole = tree.layout, tree.whole(path)
    if not tree.may_hold(path):
        if not layout.has_texts:
            check_markdown(path)
        way_out = "use another name" if is_text(path) else "memory is text: use a name that ends in .md, .txt or .json"
        raise InvalidArguments(f"{path} is not kept as memory; {way_out}")
    stays = {place for other in tree.paths() if changes.get(other, "") is not None for place in way(other)}
    keys = {name_key(place): place for place in stays.difference(way(path))}
    if twin := next((keys[name_key(place)] for place in way(path) if name_key(place) in keys), None):
        raise InvalidArguments(f"{path}: other systems take that for {twin}, which is there; use its spelling")
    homes, there = {name_key(folder): folder for folder in layout.homes}, set(map(tree.whole, stays))
    new = [each for each in way(whole) if each not in there]
    takes_home = whole in layout.homes or any(homes.get(name_key(each), each) != each for each in new)
    if takes_home or (whole != layout.overview and any(map(layout.is_whole, way(whole)))):
        raise InvalidArguments(f"{path} would stand where something with a meaning belongs; use another name")
