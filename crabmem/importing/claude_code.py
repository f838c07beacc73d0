"""Claude Code's own memory: `MEMORY.md`, which lists the other files, and a fact in each of those."""

from collections.abc import Iterator

from ..entry import Fact
from .base import Found, Skipped, Source, Tree, is_markdown
from .texts import fact_of, keys_of, labelled, value

_INDEX = "MEMORY.md"
_TYPES = ("user", "feedback", "project", "reference")


def _is_it(tree: Tree) -> bool:
    facts = (path for path in tree.files if is_markdown(path) and path != _INDEX and "/" not in path)
    return tree.has(_INDEX) and any(_type(tree.peek(path)) in _TYPES for path in facts)


def _type(data: bytes) -> str:
    """The type of a fact, which stands under `metadata`, in older files by itself."""
    keys = keys_of(data)
    return (value(keys, "metadata", "type") or value(keys, "type")) if {"name", "description"} <= keys.keys() else ""


def _facts(tree: Tree) -> Iterator[Found]:
    for path, reason in tree.files.items():
        if path == _INDEX and not reason:
            yield Found(path, Skipped("it only lists the others; what is always to be in view goes in your overview"))
        elif reason or is_markdown(path):
            yield tree.take(path, _fact)


def _fact(path: str, data: bytes) -> Fact:
    return labelled(fact_of(path, data), [_type(data)])


SOURCE = Source("claude-code", "Claude Code's own memory (~/.claude/projects/*/memory)", _is_it, _facts)
