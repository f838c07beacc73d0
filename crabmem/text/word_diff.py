"""How two texts differ, word by word. Pure functions."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from .edit import lines_in

Kind = Literal["same", "gone", "new"]
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Words of a changed place, above which it is one that goes and one that comes: to compare them takes their square.
_MOST_WORDS = 2_000
_MOST_LINES = 20_000


class Piece(NamedTuple):
    """A part of two texts: in both of them, in the first, or in the second."""

    kind: Kind
    text: str


def word_diff(before: str, after: str) -> list[Piece]:
    """The pieces of two texts: those that are not new make `before`, those that are not gone make `after`."""
    old, new = lines_in(before), lines_in(after)
    if max(len(old), len(new)) > _MOST_LINES:
        return _merged([Piece("gone", before), Piece("new", after)])
    pieces = list[Piece]()
    for tag, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        gone, came = "".join(old[start:end]), "".join(new[first:last])
        pieces += [Piece("same", gone)] if tag == "equal" else _of_words(gone, came)
    return _merged(pieces)


def _of_words(before: str, after: str) -> Iterator[Piece]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if not (old and new) or max(len(old), len(new)) > _MOST_WORDS:
        yield from (Piece("gone", before), Piece("new", after))
        return
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(old[start:end]))
        else:
            yield from (Piece("gone", "".join(old[start:end])), Piece("new", "".join(new[first:last])))


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces without those that are empty, neighbours of one kind together."""
    found = list[Piece]()
    for piece in pieces:
        if found and piece.text and found[-1].kind == piece.kind:
            found[-1] = Piece(piece.kind, found[-1].text + piece.text)
        elif piece.text:
            found.append(piece)
    return found


def with_gaps(pieces: Sequence[Piece], lines: int = 2, gap: str = "…\n") -> list[Piece]:
    """The pieces, of which what is the same is cut to so many `lines` beside what is not."""
    found = list[Piece]()
    for at, piece in enumerate(pieces):
        rows = lines_in(piece.text)
        head = 0 if at == 0 else lines + 1
        tail = 0 if at == len(pieces) - 1 else lines + 1
        if piece.kind != "same" or len(rows) <= head + tail + 1:
            found.append(piece)
        else:
            kept = [*rows[:head], gap, *(rows[len(rows) - tail :] if tail else [])]
            found.append(Piece("same", "".join(kept)))
    return found
