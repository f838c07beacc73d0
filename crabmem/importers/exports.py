"""Memory as JSON: what mem0 exports, and the graph of the MCP reference server `memory`."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ..errors import CrabmemError, InvalidArguments
from ..text.entry import Fact, decode
from ..text.links import is_linkable
from ..text.words import shortened
from .base import JSON, Found, Skipped, Source, Tree, unnamed
from .texts import MAX_SUMMARY, labelled, summary

_MAX_NAME = 80
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ID = 8
#: A value and where it stands, or what is wrong there.
_Row: TypeAlias = tuple[str, Any]
_LISTS = ("results", "memories")


def _rows(tree: Tree) -> Iterator[_Row]:
    """The rows of all JSON files: the items of a list, the lines of a file of lines."""
    for path, reason in tree.files.items():
        if reason or path.lower().endswith(JSON):
            try:
                yield from [(path, reason)] if reason else _parsed(path, decode(path, tree.read(path)))
            except CrabmemError as error:
                yield path, unnamed(error, path)


def _parsed(path: str, text: str) -> Iterator[_Row]:
    try:
        whole = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        yield from _lines(path, text.removeprefix("\ufeff"), error)
        return
    rows = _listed(whole)
    yield from ((f"{path}[{number}]", row) for number, row in enumerate(rows)) if rows is not None else [(path, whole)]


def _listed(whole: Any) -> list[Any] | None:
    """The rows of a whole file; None when that is one row itself."""
    if isinstance(whole, list):
        return whole
    if not isinstance(whole, dict):
        return None
    if isinstance(whole.get("entities"), list):
        return [*_typed(whole, "entities", "entity"), *_typed(whole, "relations", "relation")]
    return next((whole[key] for key in _LISTS if isinstance(whole.get(key), list)), None)


def _typed(whole: Mapping[str, Any], key: str, kind: str) -> list[Any]:
    rows = whole.get(key)
    return [{"type": kind, **row} if isinstance(row, dict) else row for row in rows] if isinstance(rows, list) else []


def _lines(path: str, text: str, error: Exception) -> Iterator[_Row]:
    """A value a line; where the first is none, the whole file was meant to be one."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines or isinstance(_value(lines[0][1]), CrabmemError):
        first = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        yield path, InvalidArguments(f"line {first}: it is not JSON ({_said(error)})")
        return
    for number, line in lines:
        found = _value(line)
        yield (
            f"{path}:{number}",
            InvalidArguments(f"line {number}: {found}") if isinstance(found, CrabmemError) else found,
        )


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return InvalidArguments(f"it is not JSON ({_said(error)})")


def _said(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return error.msg.lower() if isinstance(error, json.JSONDecodeError) else str(error)


def _has(tree: Tree, *keys: str) -> bool:
    """Whether there is one file alone, and its first row is a mapping with texts under these keys."""
    rows: Iterator[Any] = (row for _, row in _rows(tree)) if len(tree.files) == 1 else iter(())
    first: dict[str, Any] = next((row for row in rows if isinstance(row, dict)), {})
    return all(isinstance(first.get(key), str) for key in keys)


# mem0


def _of_mem0(tree: Tree) -> Iterator[Found]:
    for where, row in _rows(tree):
        if isinstance(row, CrabmemError):
            yield Found(where, row)
        elif not isinstance(row, dict) or not isinstance(row.get("memory"), str) or not row["memory"].strip():
            yield Found(where, InvalidArguments("it has no text under `memory`"))
        else:
            known = str(row["id"]) if row.get("id") else ""
            yield Found(where, _memory(row), known[:_ID] or where, f"mem0:{known}" if known else "")


def _memory(row: Mapping[str, Any]) -> Fact:
    """A memory of mem0, called like its beginning; of whom and of when it is, is said below it."""
    text = row["memory"].strip()
    told = [f"- {key}: {said}" for key, said in _about(row) if said]
    content = "\n\n".join([text, "\n".join(told)] if told else [text])
    fact = Fact(shortened(text, _MAX_NAME), summary(text) or shortened(text, MAX_SUMMARY), content)
    return labelled(fact, _labels(row.get("categories")))


def _about(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    day = _DAY.match(str(row.get("created_at") or ""))
    yield "recorded", day[0] if day else ""
    yield from ((key.removesuffix("_id"), _plain(row.get(key))) for key in ("user_id", "agent_id"))
    about = row.get("metadata")
    yield from ((str(key), _plain(value)) for key, value in about.items()) if isinstance(about, dict) else ()


def _plain(value: object) -> str:
    return shortened(str(value), MAX_SUMMARY) if isinstance(value, str | int | float) else ""


def _labels(value: object) -> list[str]:
    return [_plain(label) for label in value] if isinstance(value, list) else []


# The graph


def _of_graph(tree: Tree) -> Iterator[Found]:
    rows = list(_rows(tree))
    names = {row["name"] for _, row in rows if _is(row, "entity", "name")}
    led: dict[str, list[str]] = defaultdict(list)
    for where, row in rows:
        if isinstance(row, CrabmemError):
            yield Found(where, row)
        elif _is(row, "relation", "from", "to", "relationType"):
            if row["from"] in names:
                led[row["from"]].append(_relation(row))
            else:
                yield Found(
                    where, Skipped(f"there is nothing called {shortened(row['from'], _MAX_NAME)} that it is from")
                )
        elif not _is(row, "entity", "name"):
            yield Found(where, InvalidArguments("it is neither an entity with a name nor a relation"))
    yield from (
        Found(where, _entity(row, led[row["name"]]), where, "") for where, row in rows if _is(row, "entity", "name")
    )


def _is(row: object, kind: str, *keys: str) -> bool:
    return isinstance(row, dict) and row.get("type") == kind and all(isinstance(row.get(key), str) for key in keys)


def _relation(row: Mapping[str, Any]) -> str:
    to = " ".join(row["to"].split())
    return f"- {' '.join(row['relationType'].split())} {f'[[{to}]]' if is_linkable(to) else to}"


def _entity(row: Mapping[str, Any], relations: Iterable[str]) -> Fact:
    """An entity with what was observed of it, and what it has to do with others, as links."""
    given = row.get("observations")
    observed = [_item(said) for said in given if isinstance(said, str)] if isinstance(given, list) else []
    content = "\n\n".join("\n".join(lines) for lines in (observed, list(relations)) if lines)
    name, kind = " ".join(row["name"].split()), _plain(row.get("entityType"))
    return labelled(Fact(name, summary(content) or kind or name, content), [kind])


def _item(said: str) -> str:
    return "- " + said.strip().replace("\n", "\n  ")


MEM0 = Source("mem0", "a JSON export of mem0", lambda tree: _has(tree, "memory"), _of_mem0)
GRAPH = Source(
    "mcp-memory",
    "the graph of the MCP server `memory` (memory.jsonl, or JSON with entities and relations)",
    lambda tree: _has(tree, "type", "name") or _has(tree, "type", "from", "to"),
    _of_graph,
)
