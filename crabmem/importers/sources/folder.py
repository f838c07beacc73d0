"""Any folder of Markdown and text files: a fact each."""

from collections.abc import Iterator

from ..base import TEXTS, Found, Look, Source, Tree
from ..texts import fact_of, in_its_folder


def _facts(tree: Tree) -> Iterator[Found]:
    return map(in_its_folder, tree.take_all(fact_of, TEXTS))


SOURCE = Source("folder", "Markdown and text files", lambda tree: True, _facts, Look.ANYTHING, TEXTS)
