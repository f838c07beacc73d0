"""Conversations in the exports of chat services, lists in JSON. Each becomes a fact, which is called a note here."""

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
#: Characters of a note at most; a longer conversation becomes several.
PART = 200_000
_NAME = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class Turn(NamedTuple):
    """One message: `who` is "user" or "assistant", `when` is None if the export gives no time."""

    who: str
    when: datetime | None
    text: str


def conversations(tree: Tree) -> Iterator[tuple[str, Any]]:
    """Yield the conversations of an export, each after its place; an error in place of one that cannot be read.

    They are in files named like `conversations.json`; if there is none, in any JSON file.
    """
    files = [*filter(_NAME.fullmatch, tree.files)] or [path for path in tree.files if path.lower().endswith(JSON)]
    return rows(tree, files)


def has_conversations(tree: Tree, key: str) -> bool:
    """Whether the first item of an export is a conversation of a service whose conversations have `key`."""
    _, first = next(conversations(tree), ("", None))
    return isinstance(first, dict) and key in first


def rows(tree: Tree, paths: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the items of the list in each JSON file, after their places; a CrabmemError in place of what is wrong.

    Items are parsed one by one, so that an export of hundreds of megabytes is never held as objects all at once, and a
    list that is cut short still gives the items before the cut.
    """
    for path in paths:
        try:
            text = decode(path, tree.read(path)).removeprefix(BOM).strip()
        except CrabmemError as error:
            yield path, without_path(error, path)
            continue
        at = int(text[:1] == "[")  # behind the bracket; a file without one is a single item
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
    """Yield the notes of all conversations in an export. `service` is its tag, `called` its name for people.

    `has_turns` recognises a conversation, and `read` returns the id, the title and the turns of one.
    """
    for where, row in conversations(tree):
        if isinstance(row, CrabmemError):
            yield Found(where, row)
        elif not isinstance(row, dict) or not has_turns(row):
            yield Found(where, InvalidArguments(f"it is no conversation of {called}"))
        else:
            yield from notes(where, service, *read(row))


def notes(where: str, service: str, id: str, title: object, turns: Sequence[Turn]) -> Iterator[Found]:
    """Yield a note for a conversation, called by its title, else by the first question; several for a very long one.

    With an `id` a later import replaces the note, else one from the same place. Date and id tell notes of one name
    apart.
    """
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
    """Yield the turns as Markdown, in texts of at most `PART` characters, cut between turns where that is possible."""
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
    if part := part.strip():  # the blank lines behind a turn may be all that is left
        yield part


def time_of(said: object) -> datetime | None:
    """Return the time that an export gives in ISO 8601 or in seconds since 1970; None for anything else."""
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
    """Return a text without what no file of memory may hold: NUL, and lone surrogates, as a cut emoji leaves them."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").strip()
