"""Merging two ways that the note of a day went: section by section, in the order of their times. Pure functions."""

import re
from collections import Counter

from .merge import Merged, Take, merge

# A section begins with the blank line before its heading.
_SECTION = re.compile(rb"(?m)^(?:\r?\n)?## (\d\d:\d\d).*$")

#: A section: its time, its heading, and how many with that heading stand before it.
_Key = tuple[bytes, bytes, int]


def merge_notes(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, take: Take = None, joins: bool = False
) -> Merged:
    """Merge as `merge` does; if the sections of all three rise by time, section by section, so that they still do."""
    notes = [_sections(each or b"") for each in (base, ours, theirs)]
    if ours is None or theirs is None or any([*note] != sorted(note) for note in notes):
        return merge(path, base, ours, theirs, take, joins)
    keys = sorted({key for note in notes for key in note})
    sections = [[note.get(key, b"") for note in notes] for key in keys]
    parts = [merge(path, one, two, three, take, joins) for one, two, three in sections]
    data = b""
    for part in parts:
        data += (b"\n" if data and part.data and not data.endswith(b"\n") else b"") + (part.data or b"")
    return Merged(data, tuple(clash for part in parts for clash in part.conflicts))


def _sections(note: bytes) -> dict[_Key, bytes]:
    """Return the sections by their keys, in their order; the first is what stands before them."""
    found = [*_SECTION.finditer(note)]
    starts = [0, *(each.start() for each in found), len(note)]
    seen, keys = Counter[bytes](), [(b"", b"", 0)]
    for each in found:
        heading = each[0].strip()
        keys.append((each[1], heading, seen[heading]))
        seen[heading] += 1
    return {key: note[start:end] for key, start, end in zip(keys, starts[:-1], starts[1:], strict=True)}
