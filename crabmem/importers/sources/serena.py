"""Serena's memories of a project: a file for each, named by its path, as `modules/frontend`."""

from collections.abc import Iterator

from ...text.entry import Fact
from ..base import Found, Look, Source, Tree, is_markdown
from ..texts import fact_of, without_ending

_PLACE = (".serena", "memories")


def _is_it(tree: Tree) -> bool:
    return tree.parts[-2:] == _PLACE or (tree.name == _PLACE[0] and any(map(_is_inside, tree.files)))


def _is_inside(path: str) -> bool:
    return path.startswith(f"{_PLACE[1]}/")


def _facts(tree: Tree) -> Iterator[Found]:
    """Yield the files of `memories/` if the tree is `.serena`; all files if it is `memories` itself."""
    is_above = tree.parts[-2:] != _PLACE and any(map(_is_inside, tree.files))
    for path, error in tree.files.items():
        if (error or is_markdown(path)) and (_is_inside(path) or not is_above):
            yield tree.take(path, _fact)


def _fact(path: str, data: bytes) -> Fact:
    return fact_of(path, data, without_ending(path.removeprefix(f"{_PLACE[1]}/")))


SOURCE = Source("serena", "Serena's memories (.serena/memories)", _is_it, _facts, Look.OWN)
