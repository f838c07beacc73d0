"""What of an agent's write waits for a person: the one rule, by the setting `review`. Pure functions over bytes.

Files that a write takes away and others that it puts there belong together, as in a rename: of such a write all waits
or nothing. Else each file is judged by itself, and of one in which lines are protected, what leaves these as they are
goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from ..text.comparison import lines_of, matched
from ..text.entry import NO_HEADER, entry_in
from ..text.frontmatter import BadHeader, load, parts_of
from ..text.merge import Merged, applied
from ..text.slug import name_key
from ..workspace.layout import SETTINGS, Layout
from ..workspace.settings import TAGGED, Review
from .losses import is_blank

#: Bytes by path; None for no file.
Files = Mapping[str, bytes | None]
#: Says of each line of a text at a path, which is there now, whether it is a person's.
Persons = Callable[[str, bytes], Sequence[bool]]

#: Why something waits, where no word of the setting says it.
OF_SETTINGS = "the settings are for a person"
OF_BROKEN = "its tags cannot be read"
_PROTECTED = {"human-lines": "it changes lines of a person", "all-lines": "it changes lines that are there"}
# What no text is lost with.
_BARE = (b"", b"---")


@dataclass(frozen=True)
class Part:
    """Files that wait together, and why."""

    files: Files
    why: str


@dataclass(frozen=True)
class Withheld:
    """What of a write goes on, and what waits."""

    goes_on: Files
    waits: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Rule:
    """What agents may write at once, as the settings `review` of a workspace say, in which a word means the files that
    any of its `layouts` has for it."""

    review: Review
    layouts: Sequence[Layout]
    persons: Persons

    def withheld(self, before: Files, after: Files) -> Withheld:
        """Part what a write changes, the bytes of the same paths `before` and `after`."""
        changed = {path: data for path, data in after.items() if data != before.get(path)}
        came = [path for path in changed if before.get(path) is None]
        gone = [path for path in changed if changed[path] is None]
        if came and gone:
            why = next(filter(None, (self._why(path, before.get(path), changed[path]) for path in changed)), "")
            why = why or self._of_lines_that_go(before, changed)
            return Withheld({}, (Part(changed, why),)) if why else Withheld(changed)
        goes_on, waits = dict[str, bytes | None](), list[Part]()
        for path, data in changed.items():
            allowed, why = self._allowed(path, before.get(path), data)
            if allowed != before.get(path):
                goes_on[path] = allowed
            if why:
                waits.append(Part({path: data}, why))
        return Withheld(goes_on, tuple(waits))

    def _allowed(self, path: str, before: bytes | None, after: bytes | None) -> tuple[bytes | None, str]:
        """The bytes that a file may have at once, `before` where all of a change waits; why anything waits, or ""."""
        if why := self._why(path, before, after):
            return before, why
        if before is None:
            return after, ""
        kept = self._with_protected(path, before, after)
        return kept, "" if kept == after else _PROTECTED[self.review.protect]

    def _why(self, path: str, before: bytes | None, after: bytes | None) -> str:
        """Why a change of a whole file waits; "" where it does not."""
        wait, layouts = self.review.wait, self.layouts
        if path.casefold() == SETTINGS:
            return OF_SETTINGS
        words = {
            "everything": True,
            "soul": any(path.casefold() == each.identity.casefold() for each in layouts),
            "overview": any(path.casefold() == each.overview.casefold() for each in layouts),
            "entries": self._is_entry(path),
        }
        if word := next((word for word in wait if words.get(word)), ""):
            return word
        tags = self.review.tags if self._is_entry(path) else frozenset[str]()
        if tags and before is not None and _is_broken(path, before):
            return OF_BROKEN
        found = sorted(tags & {tag for data in (before, after) for tag in _tags(path, data)}) if tags else []
        return f"{TAGGED}{found[0]}" if found else ""

    def _is_entry(self, path: str) -> bool:
        return any(each.is_entry(path) for each in self.layouts)

    # Lines

    def _protected(self, path: str, data: bytes) -> list[bool]:
        """Return for each line of a text whether agents may not change it; [] where nothing is protected."""
        if self.review.protect == "off":
            return []
        lines = lines_of(data)
        theirs = self.persons(path, data) if self.review.protect == "human-lines" else [True] * len(lines)
        return [is_theirs and line.strip() not in _BARE for line, is_theirs in zip(lines, theirs, strict=True)]

    def _of_lines_that_go(self, before: Files, after: Files) -> str:
        """Return why a write that moves files waits: a protected line would be in no file, or an entry's in no entry.

        "" where each of them stays somewhere. Lines are counted, so that of two equal ones both have to stay.
        """
        stays = Counter(
            (self._is_entry(path), line.strip()) for path, data in after.items() for line in lines_of(data or b"")
        )
        protected = Counter(
            (self._is_entry(path), line.strip())
            for path, data in before.items()
            if path in after and data is not None
            for line, is_protected in zip(lines_of(data), self._protected(path, data), strict=False)
            if is_protected
        )
        return _PROTECTED[self.review.protect] if protected - stays else ""

    def _with_protected(self, path: str, before: bytes, after: bytes | None) -> bytes | None:
        """Return `after` with protected lines as they were; `before` where that would change what they mean.

        Also `before` if the rest of the change could not be merged into the result later, when a person accepts it.
        """
        protected = self._protected(path, before)
        if not any(protected):
            return after
        if after is None:
            return before
        kept = b"".join(_joined(_pieces(before, after, protected)))
        can_follow = applied(path, before, kept, after) == Merged(after)  # by whoever decides on what waits
        return kept if can_follow and _means_the_same(kept, before, protected) else before


def _pieces(before: bytes, after: bytes, protected: Sequence[bool]) -> Iterator[list[bytes]]:
    """The lines of `after`, piece by piece; where one takes a protected line away, those of `before`."""
    old, new = lines_of(before), lines_of(after)
    at, to = 0, 0
    for here, there in [*matched(old, new).items(), (len(new), len(old))]:
        is_held = any(protected[at:there])
        yield old[at:there] if is_held else new[to:here]
        yield new[here : here + 1]
        at, to = there + 1, here + 1


def _joined(pieces: Iterable[list[bytes]]) -> Iterator[bytes]:
    """The lines of all pieces, each of which ends where another follows."""
    lines = [line for piece in pieces for line in piece]
    for number, line in enumerate(lines):
        yield line if line.endswith(b"\n") or number == len(lines) - 1 else line + b"\n"


def _means_the_same(text: bytes, before: bytes, protected: Sequence[bool]) -> bool:
    """Return whether header keys on protected lines still have their values.

    An added line may continue the one above it, or repeat its key, and so change the value.
    """
    keys, known = _keys(text), _keys(before)
    if keys is None or known is None:
        return keys is known
    named = {line.partition(b":")[0].decode(errors="replace") for line in compress(lines_of(before), protected)}
    return all(keys.get(key) == value for key, value in known.items() if key in named)


def _keys(data: bytes) -> Mapping[str, object] | None:
    try:
        header = parts_of(data.decode()).header
        return None if header is None else load(header)
    except (UnicodeDecodeError, BadHeader):
        return None


def _is_broken(path: str, data: bytes) -> bool:
    """Whether there may be tags that nobody can read."""
    entry = entry_in(path, data)
    return not is_blank(data) if entry is None else entry.problem not in (None, NO_HEADER)


def _tags(path: str, data: bytes | None) -> Iterator[str]:
    """The tags of an entry, as they are compared."""
    entry = entry_in(path, data) if data is not None else None
    return (name_key(label) for label in (entry.labels if entry else ()))
