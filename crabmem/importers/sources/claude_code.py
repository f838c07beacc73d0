"""Claude Code's own memory: `MEMORY.md`, which lists the other files, and a fact in each of those."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from ...text.entry import Fact
from ..base import Found, Look, Skipped, Source, Tree, is_markdown
from ..texts import fact_of, facts_of_sections, keys_of, value, with_labels

_INDEX = "MEMORY.md"
# An item of a list that begins with a link, in whatever style, perhaps emphasised.
_LISTED = re.compile(
    r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+[*_]*"
    r"(?:\[[^\[\]\n]*\]\(<?(?P<path>[^()<>\n]+?)>?\)|\[\[(?P<wiki>[^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\])"
)
_TYPES = ("user", "feedback", "project", "reference")


def _is_it(tree: Tree) -> bool:
    facts = (path for path in tree.files if is_markdown(path) and path != _INDEX and "/" not in path)
    return tree.has(_INDEX) and any(_type(tree.peek(path)) in _TYPES for path in facts)


def _type(data: bytes) -> str:
    """Return the type of a fact, under `metadata` or, in older files, at the top; "" if the file is no such fact."""
    keys = keys_of(data)
    return (value(keys, "metadata", "type") or value(keys, "type")) if {"name", "description"} <= keys.keys() else ""


def _facts(tree: Tree) -> Iterator[Found]:
    for path, error in tree.files.items():
        if path == _INDEX and not error:
            yield from _of_index(tree)
        elif error or is_markdown(path):
            yield tree.take(path, _fact)


def _of_index(tree: Tree) -> Iterator[Found]:
    """Yield a fact for each section of the index, without the lines that list other files; and say what was skipped."""
    whole = tree.take(_INDEX, fact_of)
    if not isinstance(whole.what, Fact):
        yield whole
        return
    text = tree.read(_INDEX).decode("utf-8")
    rest = "".join(line for line in text.splitlines(keepends=True) if not _is_listing(line, tree))
    sections = facts_of_sections(_INDEX, rest.encode(), whole.what)
    found = [item for item in sections if isinstance(item.what, Fact)]  # a heading of the list alone says nothing
    if rest != text or not found:
        more = "; what else it says is taken" if found else "; what is always to be in view goes in your overview"
        yield Found(_INDEX, Skipped(f"it {'also' if found else 'only'} lists the others, each a fact itself{more}"))
    yield from found


def _is_listing(line: str, tree: Tree) -> bool:
    """Whether a line is an item that begins with a link to one of the other files."""
    item = _LISTED.match(line)
    target = unquote(item["path"] or item["wiki"] or "").removeprefix("./") if item else ""
    return bool(target) and any(name != _INDEX and tree.has(name) for name in (target, f"{target}.md"))


def _fact(path: str, data: bytes) -> Fact:
    return with_labels(fact_of(path, data), [_type(data)])


SOURCE = Source("claude-code", "Claude Code's own memory (~/.claude/projects/*/memory)", _is_it, _facts, Look.NAMES)
