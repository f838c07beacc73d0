"""basic-memory: notes with `title`, `type`, `permalink` and `tags`. Observations and relations stay as text."""

from collections.abc import Iterator

from ...text.entry import Fact
from ...text.slug import name_key, slug_of
from ..base import MARKDOWN, Found, Source, Tree, is_markdown
from ..texts import fact_of, keys_of, value, with_labels

# Files whose headers are read to recognise the format.
_MAX_PROBED = 20


def _is_it(tree: Tree) -> bool:
    notes = [path for path in tree.files if is_markdown(path)][:_MAX_PROBED]
    known = sum({"title", "permalink"} <= keys_of(tree.peek(path)).keys() for path in notes)
    return known > 0 and known * 2 >= len(notes)


def _facts(tree: Tree) -> Iterator[Found]:
    return tree.take_all(_fact, MARKDOWN)


def _fact(path: str, data: bytes) -> Fact:
    """Return the fact of a note. Its permalink becomes an alias, so that links by it still find the note."""
    keys = keys_of(data)
    title, link, kind = (value(keys, key) for key in ("title", "permalink", "type"))
    fact = fact_of(path, data, title)
    is_new = name_key(link) not in (name_key(fact.name), slug_of(fact.name))
    return with_labels(fact, [kind] if kind != "note" else [], [link] if is_new else [])


SOURCE = Source("basic-memory", "a project of basic-memory", _is_it, _facts)
