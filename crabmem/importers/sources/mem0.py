"""Exports of mem0: a list in JSON of memories, each with its categories and the user or agent that it is about."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import CrabmemError, InvalidArguments
from ...text.entry import Fact
from ...text.words import shortened
from ..base import JSON, Found, Skipped, Source, Tree
from ..json_rows import MAX_NAME, fields_left_out, has_rows_with, other_fields, rows, short_text
from ..texts import MAX_SUMMARY, summary, with_labels

_KNOWN = frozenset(["id", "memory", "categories", "user_id", "agent_id", "metadata"])
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
#: Characters of an id that tell two memories of one name apart.
_ID = 8


def _is_it(tree: Tree) -> bool:
    return has_rows_with(tree, "memory")


def _facts(tree: Tree) -> Iterator[Found]:
    for where, row in rows(tree):
        if isinstance(row, CrabmemError | Skipped):
            yield Found(where, row)
        elif not isinstance(row, dict) or not isinstance(row.get("memory"), str) or not row["memory"].strip():
            yield Found(where, InvalidArguments("it has no text under `memory`"))
        else:
            id = str(row["id"]) if row.get("id") else ""
            others, long = _others(row)
            yield Found(where, _fact(row, others), id[:_ID] or where, f"mem0:{id}" if id else "")
            yield from fields_left_out(where, long)


def _others(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields that `_fact` puts neither into the text nor into the labels, and the names of those too long.

    That includes values of `metadata` that the text has only shortened, or not at all.
    """
    about = row.get("metadata")
    if not isinstance(about, dict):
        return other_fields(row, _KNOWN)
    untold = {key: value for key, value in about.items() if value and short_text(value) != _whole(value)}
    return other_fields({**row, "metadata": untold}, _KNOWN - {"metadata"})


def _whole(value: object) -> str | None:
    return str(value) if isinstance(value, str | int | float) else None


def _fact(row: Mapping[str, Any], others: Mapping[str, Any]) -> Fact:
    """Return the fact of a memory, named by its first words. Date, user, agent and metadata follow as a list."""
    text = row["memory"].strip()
    about = [f"- {key}: {value}" for key, value in _about(row) if value]
    content = "\n\n".join([text, "\n".join(about)] if about else [text])
    keys = {"mem0": others} if others else {}
    fact = Fact(shortened(text, MAX_NAME), summary(text) or shortened(text, MAX_SUMMARY), content, keys=keys)
    return with_labels(fact, _labels(row.get("categories")))


def _about(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    day = _DAY.match(str(row.get("created_at") or ""))
    yield "recorded", day[0] if day else ""
    yield from ((key.removesuffix("_id"), short_text(row.get(key))) for key in ("user_id", "agent_id"))
    about = row.get("metadata")
    yield from ((str(key), short_text(value)) for key, value in about.items()) if isinstance(about, dict) else ()


def _labels(value: object) -> list[str]:
    return [short_text(label) for label in value] if isinstance(value, list) else []


SOURCE = Source("mem0", "a JSON export of mem0", _is_it, _facts, endings=JSON)
