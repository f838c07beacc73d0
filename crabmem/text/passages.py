"""Excerpts: the part of a text that holds most of what was asked for."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import groupby

_ENDS = re.compile(r"\n+|(?<=[.!?;:])\s+|(?<=[。！？；।])")
_PIECE = 240
_CUT = "…"
# Where a heading begins the next block of a text.
_HEADING = re.compile(r"^(?=#{1,6}\s)", re.MULTILINE)
# A block is taken that is worth at least this share of the best one.
_AS_GOOD = 0.5

#: The words of a text, as they are searched.
Words = Callable[[str], Sequence[str]]
Span = tuple[int, int]


def passage(text: str, worth: Mapping[str, float], words: Words, characters: int, within: Span | None = None) -> str:
    """The part of `text` that holds most of what was asked for, in at most `characters`, "…" where it is cut.

    `worth` says what each word that was asked for counts. Whole sentences as far as they fit; the first part of
    several that hold as much. With `within` it is what this span holds that counts.
    """
    if len(text) <= characters:
        return text
    room = characters - 2 * len(_CUT)
    if room < 1:
        return text[:characters]
    spans = list(_pieces(text, min(_PIECE, room)))
    asked = worth.keys()
    held = [asked & set(words(text[start:end])) if _meet(within, start, end) else set[str]() for start, end in spans]
    first, last = _best(spans, held, worth, room)
    start, end = spans[first][0], _last_fitting_end(spans, first, last, room)
    before, after = text[:start].strip(), text[end:].strip()
    return f"{_CUT if before else ''}{text[start:end].strip()}{_CUT if after else ''}"


def blocks_with(text: str, worth: Mapping[str, float], words: Words, characters: int) -> str:
    """The blocks of `text` that hold what was asked for, in at most `characters`; "…" stands for others left out.

    A heading begins a block. In texts that collect what has little to do with each other, as notes of a day, it is
    these that answer. A text without any, or with a block that is too long, gives its `passage`.
    """
    blocks = [block.strip() for block in _HEADING.split(text)]
    blocks = [block for block in blocks if "\n" in block or (block and not block.startswith("#"))]
    values = [sum(worth[word] for word in worth.keys() & set(words(block))) for block in blocks]
    best = max(values, default=0.0)
    order = sorted(range(len(blocks)), key=lambda at: (-values[at], at)) if best else []
    chosen, room = set[int](), characters - 2 * len(_CUT)
    for at in order:
        if values[at] >= best * _AS_GOOD:
            if not chosen and len(blocks[at]) > room:
                break
            # What goes between two blocks is as long as a mark with blank lines around it.
            room -= len(blocks[at]) + len(f"\n\n{_CUT}\n\n")
            chosen.update([at] if room >= 0 or not chosen else ())
    return _without_others(blocks, chosen) if chosen else passage(text.strip(), worth, words, characters)


def _without_others(blocks: Sequence[str], chosen: Set[int]) -> str:
    """The blocks that are chosen, with one mark for each run of others."""
    runs = groupby(range(len(blocks)), key=chosen.__contains__)
    return "\n\n".join("\n\n".join(blocks[at] for at in run) if is_chosen else _CUT for is_chosen, run in runs)


def _pieces(text: str, most: int) -> Iterator[Span]:
    """Lines and sentences in order, cut where they are longer than `most`, at white space if there is any."""
    start = 0
    for end in [*(found.end() for found in _ENDS.finditer(text)), len(text)]:
        while end - start > most:
            space = text.rfind(" ", start + 1, start + most)
            cut = space + 1 if space > start else start + most
            yield start, cut
            start = cut
        if end > start:
            yield start, end
            start = end


def _meet(span: Span | None, start: int, end: int) -> bool:
    return span is None or (start < span[1] and end > span[0])


def _best(spans: Sequence[Span], held: Sequence[Set[str]], worth: Mapping[str, float], room: int) -> Span:
    """Return the first and the last of the neighbouring spans that fit into `room` and are worth most together.

    A window slides over the spans: its first one goes where it does not fit, or has no word that others do not have.
    """
    inside, first, best, found = Counter[str](), 0, -1.0, (0, 0)
    for last, (_, end) in enumerate(spans):
        inside.update(held[last])
        while end - spans[first][0] > room or (first < last and all(inside[word] > 1 for word in held[first])):
            inside.subtract(held[first])
            first += 1
        value = sum(worth[word] for word, times in inside.items() if times)
        if value > best:
            best, found = value, (first, last)
    return found


def _last_fitting_end(spans: Sequence[Span], first: int, last: int, room: int) -> int:
    fitting = [end for _, end in spans[last:] if end - spans[first][0] <= room]
    return fitting[-1] if fitting else spans[last][1]
