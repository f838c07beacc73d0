"""A bundle of the Open Knowledge Format: a concept is a fact, which keeps its folder and the name of its file.

The format gives a concept a `title` and no `name`. crabmem writes both in an export: then the `name` is the fact's.
"""

import posixpath
from collections.abc import Iterator

from ...text import frontmatter as header
from ...text import okf
from ...text.daily_notes import is_note
from ...text.entry import MAX_NAME, Fact, parse_entry
from ...text.sources import SOURCES
from ...text.values import replace
from ...text.words import shortened
from ..base import Found, Look, Skipped, Source, Tree, What, is_markdown
from ..texts import NOTE, WHOLE, as_fact, keys_of, stem, summary, value

# Concepts whose headers are read to recognise the format.
_MAX_PROBED = 20
_LISTS = {
    okf.INDEX: "it lists the others, each a fact itself",
    okf.LOG: "it says what was done when; facts alone are taken",
}
_WHOLE = {okf.OVERVIEW: WHOLE["overview"], okf.IDENTITY: WHOLE["identity"]}


def _is_it(tree: Tree) -> bool:
    """Whether there is an index that names the version of the format, or whose concepts all have a `type`.

    A concept with a `permalink` is a note of basic-memory.
    """
    if not tree.has(okf.INDEX):
        return False
    if "okf_version" in keys_of(tree.peek(okf.INDEX)):
        return True
    concepts = [path for path in tree.files if is_markdown(path) and not okf.is_reserved(path)][:_MAX_PROBED]
    every = [keys_of(tree.peek(path)) for path in concepts]
    return bool(every) and all(value(keys, "type") and "permalink" not in keys for keys in every)


def _facts(tree: Tree) -> Iterator[Found]:
    """Yield what is found, with ordinary links in facts made wiki links: that needs the names of all concepts first."""
    found = list(_read(tree))
    facts = (
        (item.where, item.what.name, item.what.aliases or (), False) for item in found if isinstance(item.what, Fact)
    )
    wholes = ((item.where, stem(item.where), (), True) for item in found if _is_whole(item.what))
    bundle = okf.Bundle((*facts, *wholes))
    for item in found:
        if isinstance(item.what, Fact):
            content = bundle.with_wiki_links(item.what.content, posixpath.dirname(item.where))
            item = item._replace(what=replace(item.what, content=content))
        yield item


def _is_whole(what: What) -> bool:
    """Whether a find is a page of an exported memory that is no fact: the identity, the overview or a daily note."""
    return isinstance(what, Skipped) and what.reason in (*_WHOLE.values(), NOTE)


def _read(tree: Tree) -> Iterator[Found]:
    """Yield each list as skipped, each Markdown file, and each file that cannot be read, whatever its ending."""
    for path, error in tree.files.items():
        name = path.rpartition("/")[2].lower()
        if name in _LISTS and not error:
            yield Found(path, Skipped(_LISTS[name]))
        elif error or is_markdown(path):
            yield tree.take(path, _concept)


def _concept(path: str, data: bytes) -> What:
    """Return the fact of a concept; skip the identity, the overview and the daily notes of an exported memory.

    Without a `name` of its own it is called by its `title`. A `type` that an export gives every fact is left out.
    """
    own = keys_of(data)
    if (kind := value(own, "type")) in _WHOLE:
        return Skipped(_WHOLE[kind])
    if kind == okf.NOTE and path.startswith("notes/") and is_note(path.removeprefix("notes/")):
        return Skipped(NOTE)
    entry = parse_entry(path, data)
    name = entry.name if value(own, "name") else shortened(value(own, "title"), MAX_NAME) or entry.name
    description = entry.description if "description" in own else summary(entry.content) or name
    fact = as_fact(entry, data)
    keys = dict(fact.keys)
    if not value(own, "name"):
        keys.pop("title", None)
    if kind == okf.FACT:
        keys.pop("type", None)
    if sources := okf.bare_sources(keys):
        keys[SOURCES] = sources
    before, parts = fact.before, header.parts_of(fact.before)
    if parts.header:
        before = f"{parts.opening}{okf.header_of_fact(parts.header, parts.newline)}{parts.closing}"
    place = {"folder": posixpath.dirname(path), "stem": stem(path)}
    return replace(fact, name=name, description=description, keys=keys, before=before, **place)


SOURCE = Source("okf", "a bundle of the Open Knowledge Format (OKF)", _is_it, _facts, Look.OWN)
