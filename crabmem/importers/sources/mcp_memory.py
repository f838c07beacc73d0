"""The graph of the MCP reference server `memory`: an entity is a fact, and its relations are links in it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...errors import CrabmemError, InvalidArguments
from ...text.entry import Fact
from ...text.links import is_linkable
from ...text.words import shortened
from ..base import JSON, Found, Skipped, Source, Tree
from ..json_rows import MAX_NAME, fields_left_out, has_rows_with, other_fields, rows, short_text
from ..texts import summary, with_labels

_KNOWN = ("type", "name", "entityType", "observations")


def _is_it(tree: Tree) -> bool:
    return has_rows_with(tree, "type", "name") or has_rows_with(tree, "type", "from", "to")


def _facts(tree: Tree) -> Iterator[Found]:
    """Yield the entities as facts. Relations may precede their entities, so all are gathered first.

    A relation from an entity that is not there is skipped; one to such an entity is kept.
    """
    found = list(rows(tree))
    names = {row["name"] for _, row in found if _is(row, "entity", "name")}
    relations: dict[str, list[str]] = defaultdict(list)
    for where, row in found:
        if isinstance(row, CrabmemError | Skipped):
            yield Found(where, row)
        elif _is(row, "relation", "from", "to", "relationType"):
            if row["from"] in names:
                relations[row["from"]].append(_relation(row))
            else:
                yield Found(
                    where, Skipped(f"there is nothing called {shortened(row['from'], MAX_NAME)} that it is from")
                )
        elif not _is(row, "entity", "name"):
            yield Found(where, InvalidArguments("it is neither an entity with a name nor a relation"))
    for where, row in found:
        if _is(row, "entity", "name"):
            others, long = other_fields(row, _KNOWN)
            yield Found(where, _fact(row, relations[row["name"]], others), where, "")
            yield from fields_left_out(where, long)


def _is(row: object, kind: str, *keys: str) -> bool:
    return isinstance(row, dict) and row.get("type") == kind and all(isinstance(row.get(key), str) for key in keys)


def _relation(row: Mapping[str, Any]) -> str:
    to = " ".join(row["to"].split())
    return f"- {' '.join(row['relationType'].split())} {f'[[{to}]]' if is_linkable(to) else to}"


def _fact(row: Mapping[str, Any], relations: Iterable[str], others: Mapping[str, Any]) -> Fact:
    """Return the fact of an entity: its observations and then its relations, as lists, and its type as a tag."""
    given = row.get("observations")
    observed = [_item(text) for text in given if isinstance(text, str)] if isinstance(given, list) else []
    content = "\n\n".join("\n".join(lines) for lines in (observed, list(relations)) if lines)
    name, kind = " ".join(row["name"].split()), short_text(row.get("entityType"))
    keys = {SOURCE.name: others} if others else {}
    return with_labels(Fact(name, summary(content) or kind or name, content, keys=keys), [kind])


def _item(text: str) -> str:
    return "- " + text.strip().replace("\n", "\n  ")


SOURCE = Source(
    "mcp-memory",
    "the graph of the MCP server `memory` (memory.jsonl, or JSON with entities and relations)",
    _is_it,
    _facts,
    endings=JSON,
)
