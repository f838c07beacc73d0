"""The files below `memory/`, for whoever keeps memory as files: what one look found, and what may be written."""

from collections.abc import Mapping
from dataclasses import dataclass

from .credentials import refuse_new
from .edit import shown
from .entry import check_text, decoded
from .errors import InvalidArguments, NotFound
from .slug import is_portable, name_key
from .store import Scan
from .workspace import MEMORY, is_kept


@dataclass(frozen=True)
class Tree:
    """Files by their paths from `memory/` on: `MEMORY.md`, `entries/wifi.md`."""

    scan: Scan

    def __contains__(self, path: str) -> bool:
        return is_kept(whole(path)) and whole(path) in self.scan.files

    def paths(self, folder: str = "") -> list[str]:
        """The files in `folder` and below it, sorted."""
        start = whole(f"{folder}/" if folder else "")
        return sorted(path.removeprefix(whole("")) for path in self.scan.files if path.startswith(start))

    def size(self, path: str) -> int:
        """How many bytes the file has."""
        return self.scan.files[whole(path)].stamp.size

    def text(self, path: str) -> str:
        """The whole file as it is.

        Raises:
            NotFound: there is none.
            Unreadable: it is not UTF-8.
        """
        data = self.scan.data(whole(path))
        if data is None:
            raise NotFound(f"there is no {whole(path)}")
        return decoded(whole(path), data)


def whole(path: str) -> str:
    """A path below `memory/` as one of the workspace."""
    return f"{MEMORY}/{path}"


def drafted(tree: Tree, changes: Mapping[str, str | None], secrets: str) -> dict[str, bytes | None]:
    """What to write, by path in the workspace. A text that only moves is not looked into.

    Raises:
        InvalidArguments: a path or a text cannot be kept.
        HoldsSecret: there is a credential that was in none of these files, and the setting `secrets` refuses that.
    """
    before = [shown(tree.scan.data(whole(path))) or "" for path in changes if path in tree]
    for path, text in changes.items():
        if path not in tree:
            _check_new(path, tree, changes)
        if text is not None and text not in before:
            check_text("content", text)
            refuse_new(text, "\n".join(before), secrets)
    return {whole(path): None if text is None else text.encode() for path, text in changes.items()}


def _check_new(path: str, tree: Tree, changes: Mapping[str, str | None]) -> None:
    """Refuse a file that history would not keep, or another system not tell from one that is there."""
    if not path.endswith(".md"):
        raise InvalidArguments(f"{path!r} cannot be kept: memory is Markdown; use a name that ends in .md")
    if odd := [part for part in path.split("/") if not is_portable(part)]:
        raise InvalidArguments(f"{odd[0]!r} cannot be a name on every system; use letters, digits and dashes")
    stays = {place for other in tree.paths() if changes.get(other, "") is not None for place in _places(other)}
    keys = {name_key(place): place for place in stays.difference(_places(path))}
    if twin := next((keys[name_key(place)] for place in _places(path) if name_key(place) in keys), None):
        raise InvalidArguments(f"{path}: other systems take that for {twin}, which is there; use its spelling")


def _places(path: str) -> list[str]:
    """The path and the folders on it."""
    parts = path.split("/")
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
