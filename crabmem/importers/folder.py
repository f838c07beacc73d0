"""Any folder of Markdown and text files: a fact each."""

from collections.abc import Iterator

from .base import Found, Source, Tree, is_text
from .texts import fact_of


def _facts(tree: Tree) -> Iterator[Found]:
    return tree.take_all(fact_of, is_text)


SOURCE = Source("folder", "Markdown and text files", lambda tree: True, _facts)
