"""LangGraph's store over a memory: what a graph keeps is a file that a person can read and edit.

graph.compile(store=Store(Memory("notes", agent="planner")))

A value's first text under `content`, `text`, `data` or `memory` is the content of an entry, its `description` that of
the entry, and what else it holds a block of JSON at the end: edit any of it, and the graph sees it. Namespace and key
are in the frontmatter. What no graph made, a person's facts and those of tools, is in the namespace `("memory",)`
under its name, and so is what any graph puts there.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..api import Memory
from ..bounds import MAX_LIMIT, MAX_QUERY
from ..entry import MAX_DESCRIPTION, Entry, Fact
from ..errors import InvalidArguments
from ..slots import Slot, own_slot, slot_of
from . import missing

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise missing("langgraph", "LangGraph", "langgraph") from error

# Where values have their text; the first that is one.
_FIELDS = ("content", "text", "data", "memory")
_OPENING, _CLOSING = "```json\n", "\n```"
_COMPARE = {
    "$eq": lambda one, other: one == other,
    "$ne": lambda one, other: one != other,
    "$gt": lambda one, other: one > other,
    "$gte": lambda one, other: one >= other,
    "$lt": lambda one, other: one < other,
    "$lte": lambda one, other: one <= other,
}

Value = Mapping[str, Any]


class Store(BaseStore):
    """A store over one memory. The puts of a batch are one commit; searches with a query are its recall.

    Nothing expires, and `index` of a put says nothing: all text is found.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of `ops`: what is asked is answered as it was before what is put."""
        given = list(ops)
        puts = {Slot(tuple(op.namespace), op.key): _wanted(op) for op in given if isinstance(op, PutOp)}
        answers = [self._answered(op) for op in given]
        if puts:
            self._memory.keep({slot: _fact(slot, value) for slot, value in puts.items()})
        return answers

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same on a thread, so that nobody waits for the disk."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answered(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            return self._got(op)
        if isinstance(op, SearchOp):
            return self._found(op)
        if isinstance(op, ListNamespacesOp):
            return _listed(self._memory.namespaces(), op)
        raise InvalidArguments(f"this store does not know the operation {type(op).__name__}")

    def _got(self, op: GetOp) -> Item | None:
        entry = self._memory.item(Slot(tuple(op.namespace), op.key))
        if entry is None:
            return None
        [(created, updated)] = self._memory.times([entry])
        return Item(value=_value(entry), key=op.key, namespace=op.namespace, created_at=created, updated_at=updated)

    def _found(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 0 or op.offset < 0:
            raise InvalidArguments(f"limit and offset must be at least 0, not {op.limit} and {op.offset}")
        where = partial(_is_match, op.filter) if op.filter else None
        namespace, scores = tuple(op.namespace_prefix), list[float | None]()
        if op.query and op.query.strip():
            limit = min(op.offset + op.limit, MAX_LIMIT)
            kept = where or (lambda entry: not entry.is_note)  # daily notes are in no store
            hits = self._memory.recall(op.query[:MAX_QUERY], limit or 1, namespace=namespace, where=kept).hits
            hits = hits[op.offset : limit]
            entries, scores = [hit.entry for hit in hits], [hit.score for hit in hits]
        else:
            entries = self._memory.items(namespace, where, op.offset, op.limit)
        return self._items(entries, scores or [None] * len(entries))

    def _items(self, entries: Sequence[Entry], scores: Sequence[float | None]) -> list[SearchItem]:
        times = self._memory.times(entries)
        return [
            SearchItem(*slot_of(entry), _value(entry), created, updated, score)
            for entry, (created, updated), score in zip(entries, times, scores, strict=True)
        ]


def _wanted(op: PutOp) -> Value | None:
    if op.ttl is not None:
        raise InvalidArguments("this store keeps what it is given until it is deleted; put it without a ttl")
    return op.value


# Between values and entries


def _fact(slot: Slot, value: Value | None) -> Fact | None:
    """The fact that holds a value."""
    if value is None:
        return None
    rest = dict(value)
    field = next((field for field in _FIELDS if _is_text(rest.get(field))), None)
    text = rest.pop(field) if field else ""
    description = rest.pop("description") if _is_line(rest.get("description")) else ""
    content = _joined(text, rest)
    return Fact(slot.name, description, content, keys={"field": None if field in (None, _FIELDS[0]) else field})


def _value(entry: Entry) -> dict[str, Any]:
    """The value that an entry holds, as it now stands in its file."""
    if own_slot(entry.keys) is None:
        text, rest = entry.content, dict[str, Any]()
    else:
        text, rest = _parted(entry.content)
    field = str(entry.keys.get("field") or _FIELDS[0])
    found = {field: text} if text else {}
    return found | ({"description": entry.description} if entry.description else {}) | rest


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value != "" and len(value) <= MAX_DESCRIPTION


def _joined(text: str, rest: Value) -> str:
    """A text and a block with the rest; none for no rest, unless the text would then seem to end with one."""
    if text and not rest and _parted(text) == (text, {}):
        return text
    return "\n\n".join(filter(None, (text, f"{_OPENING}{_as_json(rest)}{_CLOSING}")))


def _parted(content: str) -> tuple[str, dict[str, Any]]:
    """A text and what the block at its end holds; all of it is text, when there is no such block."""
    text, opening, block = f"\n\n{content}".rpartition(f"\n\n{_OPENING}")
    if not opening or not block.rstrip().endswith(_CLOSING):
        return content, {}
    try:
        rest = json.loads(block.rstrip().removesuffix(_CLOSING))
    except (ValueError, RecursionError):
        return content, {}
    return (text.removeprefix("\n\n"), rest) if isinstance(rest, dict) else (content, {})


def _as_json(rest: Value) -> str:
    try:
        return json.dumps(rest, ensure_ascii=False, allow_nan=False, indent=2)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArguments(f"a value must be what JSON can say: {error}") from None


# Filters and namespaces


def _is_match(wanted: Value, entry: Entry) -> bool:
    value = _value(entry)
    return all(_fits(value.get(key), asked) for key, asked in wanted.items())


def _fits(value: Any, asked: Any) -> bool:
    """Whether a value is as a filter asks, part by part."""
    if isinstance(asked, Mapping):
        if any(key.startswith("$") for key in asked):
            return all(_compares(value, operator, other) for operator, other in asked.items())
        return isinstance(value, dict) and all(_fits(value.get(key), other) for key, other in asked.items())
    if isinstance(asked, (list, tuple)):
        same_length = isinstance(value, list) and len(value) == len(asked)
        return same_length and all(map(_fits, value, asked))
    return bool(value == asked)


def _compares(value: Any, operator: str, other: Any) -> bool:
    if operator not in _COMPARE:
        raise InvalidArguments(f"filters do not know {operator}; there are {', '.join(_COMPARE)}")
    try:
        return bool(_COMPARE[operator](value, other))
    except TypeError:  # nothing is more or less than what it cannot be compared to
        return False


def _listed(namespaces: Iterable[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    conditions = op.match_conditions or ()
    found = {namespace for namespace in namespaces if all(_matches(each, namespace) for each in conditions)}
    return sorted({namespace[: op.max_depth] for namespace in found})[op.offset : op.offset + op.limit]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    parts = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", part) for wanted, part in zip(path, parts, strict=True))
