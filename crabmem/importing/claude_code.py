"""Claude Code's own memory: `MEMORY.md`, which lists the other files, and a fact in each of those."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from ..entry import Fact
from ..links import is_fit, redirected
from .base import Found, Skipped, Source, Tree, is_markdown
from .texts import fact_of, keys_of, labelled, stem, value

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
    found = list(_read(tree))
    names = {stem(item.where): item.what.name for item in found if isinstance(item.what, Fact)}
    led = partial(redirected, new=partial(_by_name, names=names))
    yield from (
        item._replace(what=replace(item.what, content=led(item.what.content))) if isinstance(item.what, Fact) else item
        for item in found
    )


def _by_name(target: str, names: Mapping[str, str]) -> str | None:
    """What the fact is called that a link names by its file, whose name it does not keep."""
    name = names.get(target, target)
    return name if name != target and target not in names.values() and is_fit(name) else None


def _read(tree: Tree) -> Iterator[Found]:
    for path, reason in tree.files.items():
        if path == _INDEX and not reason:
            yield Found(path, Skipped("it only lists the others; what is always to be in view goes in your overview"))
        elif reason or is_markdown(path):
            yield tree.take(path, _fact)


def _fact(path: str, data: bytes) -> Fact:
    return labelled(fact_of(path, data), [_type(data)])


SOURCE = Source("claude-code", "Claude Code's own memory (~/.claude/projects/*/memory)", _is_it, _facts)
