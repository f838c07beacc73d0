"""Importing memory that people have already: whose it is, and the facts in it.

A source is a module with a `Source`; adding one is adding it to `SOURCES`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from ..errors import InvalidArguments
from ..text.entry import IMPORTED, Fact
from ..text.slug import name_key
from . import basic_memory, claude_code, exports, folder, obsidian, serena, workspaces
from .base import JSON, Found, Skipped, Source, Tree, What
from .disk import tree_at, tree_of
from .texts import labelled

__all__ = ["SOURCES", "Found", "Skipped", "Source", "Tree", "completed", "source_of", "tree_at", "tree_of"]

#: In the order in which they are tried: who has the most telling look comes first, and any folder is the last.
SOURCES: tuple[Source, ...] = (
    workspaces.OURS,
    serena.SOURCE,
    obsidian.SOURCE,
    claude_code.SOURCE,
    workspaces.CLAW,
    basic_memory.SOURCE,
    exports.GRAPH,
    exports.MEM0,
    folder.SOURCE,
)


def source_of(tree: Tree, name: str | None) -> Source:
    """The source called so; with None, the one whose look the files have.

    Raises:
        InvalidArguments: there is none of that name, or it is JSON of nobody's that is known.
    """
    if name is not None:
        return _called(name)
    found = next(source for source in SOURCES if source.is_it(tree))
    if found is folder.SOURCE and len(tree.files) == 1 and next(iter(tree.files)).lower().endswith(JSON):
        raise InvalidArguments("it is no JSON of an export that is known; name whose it is with --from")
    return found


def _called(name: str) -> Source:
    found = next((source for source in SOURCES if source.name == name), None)
    if found is None:
        raise InvalidArguments(f"{name} is no kind of memory; there are: {', '.join(each.name for each in SOURCES)}")
    return found


def completed(found: Iterable[Found], tags: Iterable[str], place: str = "") -> list[Found]:
    """All that was found, with `tags` and with what each was imported from, as a file below `place`.

    Facts of one name get what tells them apart, so that none replaces another.
    """
    every = [item._replace(what=_tagged(item.what, tuple(tags))) for item in found]
    names = Counter(name_key(item.what.name) for item in every if isinstance(item.what, Fact))
    origins = Counter[str]()
    return [_known_by(_told_apart(item, names), place, origins) for item in every]


def _tagged(what: What, tags: tuple[str, ...]) -> What:
    return labelled(what, tags) if tags and isinstance(what, Fact) else what


def _told_apart(item: Found, names: Counter[str]) -> Found:
    if not isinstance(item.what, Fact):
        return item
    apart = item.apart or str(PurePosixPath(item.where).with_suffix(""))
    name = item.what.name if names[name_key(item.what.name)] == 1 else f"{item.what.name} ({apart})"
    return item._replace(what=replace(item.what, name=name, apart=apart))


def _known_by(item: Found, place: str, origins: Counter[str]) -> Found:
    """What was found, with a key that says what it was imported from, if it is a file below `place` or knows itself.

    The key is never taken from the file itself: whoever wrote that would choose which entry here it replaces. Of
    several with the same origin the later ones are numbered.
    """
    if not isinstance(item.what, Fact):
        return item
    keys = dict(item.what.keys)
    if IMPORTED in keys:  # a file does not say itself what it is known by
        keys[IMPORTED] = None
    if origin := f"{place}/{item.where}" if place and item.origin is None else item.origin:
        origin = origin.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        origins[origin] += 1
        keys[IMPORTED] = origin if origins[origin] == 1 else f"{origin} {origins[origin]}"
    return item._replace(what=replace(item.what, keys=keys))
