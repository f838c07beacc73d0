"""What `crabmem export --format json` writes: all of a memory in one file."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import CrabmemError, InvalidArguments
from ...text.entry import Fact, decode
from ...workspace.layout import ORDINARY
from ..base import JSON, Found, Look, Skipped, Source, Tree
from ..texts import NOTE, WHOLE, stem

_TEXTS = ("name", "description", "content", "path")


def _is_it(tree: Tree) -> bool:
    [*files] = (path for path in tree.files if path.lower().endswith(JSON))
    return len(files) == 1 and bool(_facts_in(tree, files[0]))


def _facts_in(tree: Tree, path: str) -> Mapping[str, Any]:
    """Return the object in the file; {} if it is no such export."""
    try:
        said = json.loads(decode(path, tree.peek(path)))
    except (CrabmemError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(said, dict) and said.get("format") == "crabmem" and isinstance(said.get("facts"), list)
    return said if is_ours else {}


def _facts(tree: Tree) -> Iterator[Found]:
    for path, error in tree.files.items():
        if error:
            yield Found(path, error)
        elif path.lower().endswith(JSON):
            yield from _read(path, _facts_in(tree, path))


def _read(path: str, said: Mapping[str, Any]) -> Iterator[Found]:
    """Yield the facts of an export; identity, overview and daily notes as skipped."""
    if not said:
        yield Found(path, InvalidArguments("it is no export of crabmem"))
    for number, row in enumerate(said.get("facts", ())):
        where = f"{path}[{number}]"
        is_fact = isinstance(row, dict) and all(isinstance(row.get(key), str) for key in _TEXTS)
        yield Found(where, _fact(row) if is_fact else InvalidArguments("it is no fact with a name"), where, "")
    yield from (Found(f"{path}[{key}]", Skipped(reason)) for key, reason in WHOLE.items() if said.get(key))
    notes = said.get("notes")
    for number, note in enumerate(notes if isinstance(notes, list) else ()):
        place = note.get("path") if isinstance(note, dict) else None
        yield Found(f"{path}[{place or number}]", Skipped(NOTE))


def _fact(row: Mapping[str, Any]) -> Fact:
    """Return the fact of a row. It keeps the folder below that of entries, and the name of its file."""
    top = f"{ORDINARY.entries[0]}/"
    place = row["path"].removeprefix(top) if row["path"].startswith(top) else row["path"].rpartition("/")[2]
    aliases, tags, keys = (row.get(key) for key in ("aliases", "tags", "keys"))
    return Fact(
        row["name"],
        row["description"],
        row["content"],
        _labels(aliases),
        _labels(tags),
        {key: _text(value) for key, value in keys.items()} if isinstance(keys, dict) else {},
        folder=place.rpartition("/")[0],
        stem=stem(place),
    )


def _labels(value: object) -> tuple[str, ...] | None:
    labels = value if isinstance(value, list) else []
    return tuple(label for label in labels if label and isinstance(label, str)) or None


def _text(value: Any) -> Any:
    """Return a value for a frontmatter, in which everything but lists and objects is text."""
    if isinstance(value, dict):
        return {key: _text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_text(each) for each in value]
    return value if isinstance(value, str) else json.dumps(value)


SOURCE = Source("crabmem-json", "what `crabmem export --format json` wrote", _is_it, _facts, Look.OWN, JSON)
