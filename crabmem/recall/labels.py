"""What an index knows of an entry: the words it is ranked by, and the labels it is found by exactly."""

from __future__ import annotations

from collections.abc import Set

from ..search import Document, Index, tokens
from ..text.entry import Entry
from ..text.keys import DEFAULT_NAMESPACE, Key, key_in, key_with_label, label_prefix, ttl_of
from ..text.slug import name_key
from ..text.sources import SOURCES
from .passages import Part, part_of, parts_of

#: Name, aliases and the beginning of a description count as if they were said so often, and so does what a person says
#: in a chat. From 3 to 5 find about as much.
TIMES = 4
# So many words of a description say in short what an entry is about; from 10 to 20 make no difference.
_BEGINNING = 12
# Who speaks in a turn of a chat is named first in its description, as in "user, 5 January 2024".
_PERSON = ("user", "human")
#: What an entry is found by, each before its `name_key`.
NAME, FILE, ALIAS = "name ", "file ", "alias "
#: What an entry is found by that a store of keys keeps, before the label of its key.
KEY = "slot "
#: What an item of such a store is found by that does not stay, before how many seconds it lives.
LIFE = "life "
#: What a daily note is found by, before its day. It has no other label, so that nothing takes it for an entry.
NOTE = "note "
#: What an entry is found by that was imported, before what it was imported from.
ORIGIN = "origin "
#: What an entry is found by that names the last day on which it surely holds, before that day.
STALE = "stale "
#: The label of an entry that names sources.
SOURCED = "sourced"


def document(entry: Entry, mark: bytes, language: str) -> Document:
    """The document of an entry or daily note for an index: words by passage, labels and lengths."""
    parts = [fields(entry, language, part) for part in parts_of(entry.content)]
    first, *further = ([word for words in part.values() for word in words] for part in parts)
    made = Document(entry.path, mark, first, labels_of(entry), further)
    if is_persons(entry):  # a turn of theirs counts more (`fields`), and is not longer for it
        again = (len(part["content"]) // TIMES * (TIMES - 1) for part in parts)
        made.lengths = [length - more for length, more in zip(made.lengths, again, strict=True)]
    return made


def is_persons(entry: Entry) -> bool:
    """Whether an entry is a person's turn in a chat.

    Those count more: among answers a page long, the person's own lines say what the chat was about.
    """
    return entry.description.partition(",")[0].strip().lower() in _PERSON


def labels_of(entry: Entry) -> list[str]:
    """The labels of an entry, or of a daily note."""
    if entry.is_note:
        return [NOTE + entry.slug]
    kept = _labels_of_key(entry) if "namespace" in entry.keys else []
    aliases = [ALIAS + name_key(alias) for alias in entry.aliases]
    origins = [ORIGIN + entry.origin] if entry.origin else []
    days = [STALE + entry.stale_after] if entry.stale_after else []
    sourced = [SOURCED] if SOURCES in entry.keys else []
    return [NAME + name_key(entry.name), FILE + name_key(entry.slug), *aliases, *kept, *origins, *days, *sourced]


def _labels_of_key(entry: Entry) -> list[str]:
    key = key_in(entry.keys)
    if key is None:
        return []
    life = ttl_of(entry.keys)
    return [KEY + key.label, *([] if life is None else [f"{LIFE}{life.total_seconds()}"])]


def fields(entry: Entry, language: str, part: Part = None) -> dict[str, list[str]]:
    """The words of each field of an entry, repeated as often as they count; with `part`, only that part of its content.

    Repeating words gives a field its weight, so that ranking is plain BM25. Only the beginning of a description has
    that weight; the rest counts like content, and is left out for a passage.
    """
    content = tokens(part_of(entry.content, part), language)
    if entry.is_note:  # of its title only the day: otherwise each note would answer to the word "note"
        return {"name": tokens(entry.slug, language), "content": content}
    description = tokens(entry.description, language)
    beginning = description[:_BEGINNING]
    return {
        "name": tokens(entry.name, language) * TIMES,
        "aliases": tokens("\n".join(entry.aliases), language) * TIMES,
        "description": (beginning if part else description) + beginning * (TIMES - 1),
        "content": content * (TIMES if is_persons(entry) else 1),
        "tags": tokens("\n".join(entry.tags), language),
    }


def keys_within(index: Index, namespace: tuple[str, ...], notes: Set[str]) -> dict[str, Key | None]:
    """The paths of the entries in a namespace and below it, with their keys; None for those of no store.

    `notes` are the paths in the index that are no entries'.
    """
    depth, has_others = len(namespace), DEFAULT_NAMESPACE[: len(namespace)] == namespace
    start = KEY if has_others else KEY + label_prefix(namespace)
    kept = {path: key_with_label(label.removeprefix(KEY)) for label, path in index.pairs(start)}
    found: dict[str, Key | None] = {path: key for path, key in kept.items() if key.namespace[:depth] == namespace}
    return found | dict.fromkeys(index.marks().keys() - kept.keys() - notes) if has_others else found
