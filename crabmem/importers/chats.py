"""Conversations in the exports of chat services: a list of JSON, of which a note is made for each."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple

from ..errors import CrabmemError, InvalidArguments
from ..text.edit import BOM
from ..text.entry import Fact, decode
from ..text.values import replace
from ..text.words import shortened
from .base import JSON, Found, Skipped, Tree, without_path
from .json_rows import MAX_NAME
from .texts import MAX_SUMMARY, summary, title_of, with_labels

MAX_CONVERSATIONS = 100_000
#: Characters of a note; a longer conversation has several.
PART = 200_000
_NAME = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class Turn(NamedTuple):
    """A text that a "user" or an "assistant" said, at a time where the export says it."""

    who: str
    when: datetime | None
    text: str


def conversations(tree: Tree) -> Iterator[tuple[str, Any]]:
    """The conversations of an export, each with where it is; or what is wrong there."""
    files = [*filter(_NAME.fullmatch, tree.files)] or [path for path in tree.files if path.lower().endswith(JSON)]
    return rows(tree, files)


def has_conversations(tree: Tree, key: str) -> bool:
    """Whether the first thing in an export is a conversation, which has a `key`."""
    _, first = next(conversations(tree), ("", None))
    return isinstance(first, dict) and key in first


def rows(tree: Tree, paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The items of lists of JSON, one held at a time, and what is wrong; of a list that is cut short those before."""
    for path in paths:
        try:
            text = decode(path, tree.read(path)).removeprefix(BOM).strip()
        except CrabmemError as error:
            yield path, without_path(error, path)
            continue
        at = int(text[:1] == "[")
        for number in count():
            at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
            if at >= len(text) or text[at] == "]":
                break
            try:
                row, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                why = "nested too deeply" if isinstance(error, RecursionError) else "no JSON: cut short, or damaged"
                row, at = InvalidArguments(f"from here on it is {why}"), len(text)
            if number == MAX_CONVERSATIONS:
                row, at = InvalidArguments(f"only {number:,} conversations of a file are taken"), len(text)
            yield f"{path}[{number}]", row


def facts_of(
    tree: Tree,
    service: str,
    called: str,
    has_turns: Callable[[Any], bool],
    read: Callable[[Any], tuple[str, object, Sequence[Turn]]],
) -> Iterator[Found]:
    """The notes of all conversations in an export of the service that people call `called`.

    `read` takes a conversation's id, its title and its turns from one that `has_turns`.
    """
    for where, row in conversations(tree):
        if isinstance(row, CrabmemError):
            yield Found(where, row)
        elif not isinstance(row, dict) or not has_turns(row):
            yield Found(where, InvalidArguments(f"it is no conversation of {called}"))
        else:
            yield from notes(where, service, *read(row))


def notes(where: str, service: str, id: str, title: object, turns: Sequence[Turn]) -> Iterator[Found]:
    """A note for a conversation, called by its title, else by the first question; several for a very long one."""
    said = [turn._replace(text=text) for turn in turns if (text := _clean(turn.text))]
    if not said:
        yield Found(where, Skipped("nothing was said in it"))
        return
    first = next((turn.text for turn in said if turn.who == "user"), said[0].text)
    name = shortened(" ".join(_clean(title).split()) if isinstance(title, str) else "", MAX_NAME) or title_of(first)
    day = next((f"{turn.when:%Y-%m-%d}, " for turn in said if turn.when), "")
    fact = Fact(name, summary(first) or shortened(" ".join(first.split()), MAX_SUMMARY), "", folder=service)
    for number, content in enumerate(_parts(said), 1):
        part, mark = (f" (part {number})", f"#{number}") if number > 1 else ("", "")
        what = with_labels(replace(fact, name=name + part, content=content), [service])
        yield Found(where, what, f"{day}{id[:8] or where}", f"{service}:{id}{mark}" if id else None)


def _parts(turns: Iterable[Turn]) -> Iterator[str]:
    """The turns as Markdown, in texts that a note has room for."""
    part = ""
    for turn in turns:
        said = f"**{turn.who}**{f', {turn.when:%Y-%m-%d %H:%M}' if turn.when else ''}:\n\n{turn.text}\n\n"
        if part and len(part) + len(said) > PART:
            yield part.strip()
            part = ""
        while len(part) + len(said) > PART:
            yield said[:PART].strip()
            said = said[PART:]
        part += said
    yield part.strip()


def time_of(said: object) -> datetime | None:
    """A time as exports say it: in ISO 8601, or in seconds since 1970."""
    try:
        if isinstance(said, str):
            return datetime.fromisoformat(said).astimezone(UTC)
        return datetime.fromtimestamp(said, UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def message_text(parts: object) -> str:
    """Join the texts of a message: a list of texts and blocks. Blocks without text are thoughts and tool calls."""
    said = parts if isinstance(parts, list) else []
    texts = (each.get("text") if isinstance(each, dict) else each for each in said)
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _clean(text: str) -> str:
    """A text without what no file of memory holds: NUL, and halves of surrogate pairs, where an emoji was cut."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()
