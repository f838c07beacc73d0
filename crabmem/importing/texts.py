"""From a text to the fact it tells. Pure functions."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from .. import header
from ..edit import BOM, shortened
from ..entry import MAX_LABELS, Fact, decoded, parsed
from .base import is_markdown

MAX_TITLE = 120
MAX_SUMMARY = 200
FENCES = re.compile(r"^(```+|~~~+).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^ \t\n].*)$", re.MULTILINE)
_SECTION = re.compile(r"^#{1,2}[ \t]+(?P<title>[^ \t\n].*)$", re.MULTILINE)
_MARKS = re.compile(r"[ \t]*(?:[-*+>][ \t]+|\d+[.)][ \t]+)*")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
# A dot after so short a word with a capital is that of `Dr.` or `St.`, and if not, a sentence more does no harm.
_SHORT = "".join(rf"(?<!\b[A-Z]{small})" for small in ("", "[a-z]", "[a-z]{2}"))
_SENTENCE = re.compile(rf".*?(?:{_SHORT}\.|[!?])(?=\s|\Z)|.+", re.DOTALL)


def fact_of(path: str, data: bytes) -> Fact:
    """The fact that a file tells: what its frontmatter does not say is taken from its text.

    Raises:
        Unreadable: it is no whole text.
    """
    entry = parsed(path, data)
    content = entry.content.replace("\r\n", "\n").strip("\n")
    text = FENCES.sub("", header.taken_apart(content).content)
    name = entry.name if "name" in keys_of(data) else (_title(text) if is_markdown(path) else "") or entry.name
    description = entry.description or summary(text) or name
    return Fact(name, description, content, entry.aliases or None, entry.tags or None)


def named(fact: Fact, name: str) -> Fact:
    """The fact under another name; its description, where it was only its name, says that too."""
    return replace(fact, name=name, description=name if fact.description == fact.name else fact.description)


def labelled(fact: Fact, tags: Iterable[str] = (), aliases: Iterable[str] = ()) -> Fact:
    """The fact with more labels, each once, as far as there is room; what is none is left out."""
    return replace(fact, tags=_joined(fact.tags, tags), aliases=_joined(fact.aliases, aliases))


def _joined(labels: Iterable[str] | None, more: Iterable[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(filter(None, (*(labels or ()), *more))))[:MAX_LABELS] or None


def stem(path: str) -> str:
    """The last part of a path, without the ending."""
    return PurePosixPath(path).stem


def keys_of(data: bytes) -> Mapping[str, header.Value]:
    """The frontmatter of a file; nothing where there is none that can be read."""
    try:
        return header.load(header.taken_apart(data.decode("utf-8")).header or "")
    except (header.BadHeader, UnicodeDecodeError):
        return {}


def value(keys: Mapping[str, header.Value], *names: str) -> str:
    """The text under a key, or under a key of the mapping under that; "" for none."""
    found: object = keys
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found.strip() if isinstance(found, str) else ""


def sections(path: str, data: bytes) -> list[tuple[str, str]]:
    """The sections of a text, heading and what stands under it, those apart that are empty; "" heads the beginning.

    Raises:
        Unreadable: it is no text.
    """
    text = header.taken_apart(decoded(path, data).replace("\r\n", "\n")).content
    hidden = FENCES.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    heads = [match for match in _SECTION.finditer(hidden)]
    starts = [(0, 0, ""), *((match.start(), match.end(), match["title"].rstrip(" #")) for match in heads)]
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    found = ((title, text[after:end].strip()) for (_, after, title), end in zip(starts, ends, strict=True))
    return [(title, content) for title, content in found if content]


def summary(text: str) -> str:
    """The first sentence that is in no heading; "" when there is none."""
    paragraphs = _HEADING.sub("", text.removeprefix(BOM)).split("\n\n")
    said = next((words for words in map(_bare, paragraphs) if any(map(str.isalnum, words))), "")
    sentence = _SENTENCE.match(said)
    return shortened(sentence[0], MAX_SUMMARY) if sentence else ""


def _title(text: str) -> str:
    """The first heading; "" when there is none."""
    heading = _HEADING.search(text)
    return shortened(heading["title"].rstrip().rstrip("#"), MAX_TITLE) if heading else ""


def _bare(paragraph: str) -> str:
    """The lines of a paragraph as one, or only the first item of a list; without marks of lists and quotes."""
    lines = paragraph.strip().split("\n")
    kept = lines[:1] if _ITEM.match(lines[0]) else lines
    marks = map(_MARKS.match, kept)
    return " ".join(line[mark.end() if mark else 0 :] for line, mark in zip(kept, marks, strict=True)).strip()
