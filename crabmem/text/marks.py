"""Marks that a purge leaves: whether a text is another one with pieces taken out, and what two purged texts share.

Pure functions, linear in the texts or bounded: what they are given may come from a remote.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from . import frontmatter as header
from .comparison import common_ends, rising

#: What stands in the place of what was erased: in a line of a text, and in the name of a file.
MARKS = (("(purged)", "purged"), ("(erased)", "erased"), ("(…)", "x"))
_MARK, _NAME_MARK = MARKS[0]
_IN_TEXT = re.compile(r"\((?:purged|erased|…)\)")
_IN_NAME = re.compile(r"purged|erased|(?<![^\W_])x(?![^\W_])")
_IN_SHARED_NAME = re.compile(r"(?<![^\W_])(?:purged|erased)(?![^\W_])")
_EOL = re.compile(r"(\r?\n)")
_KEY = re.compile(r"[^\s#-].*:(?:\s|\Z)|[?]")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_NUMBERED = re.compile(r"-\d+(?=(?:\.md)?\Z)")
_TOKEN = re.compile(rf"{_IN_TEXT.pattern}|\w+|\s+|.", re.DOTALL)
_WIDE = ("utf-16-le", "utf-16-be")
_BOM = "\ufeff"
# Cells of a table of two regions that share nothing unique, and of all tables for two texts.
_TABLE, _WORK = 40_000, 400_000
#: Cells of all tables for what one sync brings, 3 µs each.
MOST_WORK = 1_000_000
_DEEPEST = 30
_ALL_MARKS = frozenset(mark for marks in MARKS for mark in marks)
# Yielded for two rows that do not fit together, marks and all; and the score of a way that leads nowhere.
_MISFIT, _NEVER = "\0", -(10**9)


def marked(text: str, mark: str) -> str:
    """Return what stands in the place of a text: a mark in each line of it, so that no two lines become one."""
    lines = _EOL.split(text)
    return "".join(mark if at % 2 == 0 and line.strip() else line for at, line in enumerate(lines)) or mark


def takes_away(old: str, new: str) -> bool:
    """Return whether `new` is `old`, or `old` with marks in the place of pieces of its lines.

    A mark that is a line of its own may stand for several, once.
    """
    if old == new:
        return True
    before, after = old.split("\n"), new.split("\n")
    more = len(before) - len(after)
    if more < 0:
        return False
    if more == 0:
        return all(map(_takes_from_line, before, after))
    head = next((at for at, line in enumerate(after) if not _takes_from_line(before[at], line)), len(after))
    tail = next(
        (at for at, line in enumerate(reversed(after)) if not _takes_from_line(before[-1 - at], line)), len(after)
    )
    places = range(max(0, len(after) - 1 - tail), min(head, len(after) - 1) + 1)
    return any(_IN_TEXT.fullmatch(after[at].rstrip("\r")) for at in places)


def _takes_from_line(old: str, new: str, marks: re.Pattern[str] = _IN_TEXT) -> bool:
    """Return whether a line is the `old` one, or that with marks in the place of pieces that are not empty."""
    if old == new:
        return True
    first, *parts = marks.split(new)
    if not parts or not old.startswith(first):
        return False
    at = len(first)
    for part in parts[:-1]:  # each as early as it can be, which leaves the most room for the others
        place = old.find(part, at + 1)
        if place < 0:
            return False
        at = place + len(part)
    return old.endswith(parts[-1]) and len(old) - len(parts[-1]) > at


def is_marked(name: str) -> bool:
    """Return whether the name of a file has a mark in it."""
    return bool(_IN_NAME.search(name))


def unnumbered(name: str) -> str:
    """Return the name of a file without the number that keeps it apart from another one."""
    return _NUMBERED.sub("", name)


def takes_from_name(old: str, new: str) -> bool:
    """Return whether the path `new` is `old` with marks in it; a number may keep it apart from another one."""
    one, other = old.split("/"), new.split("/")
    return len(one) == len(other) and all(
        _takes_from_line(before, after, _IN_NAME) or _takes_from_line(before, unnumbered(after), _IN_NAME)
        for before, after in zip(one, other, strict=True)
    )


def takes_from_file(old: bytes, new: bytes) -> bool:
    """Return whether a file holds what another one does with marks in it.

    As text, in UTF-16, or by the keys and values of its frontmatter, which a purge may have to write anew.
    """
    one, other = (data.decode("utf-8", "surrogateescape") for data in (old, new))
    if takes_away(one, other):
        return True
    for form in _WIDE if b"\0" in old else ():
        with suppress(UnicodeDecodeError):
            if takes_away(old.decode(form), new.decode(form)):
                return True
    if not (one.lstrip(_BOM).startswith("---") and other.lstrip(_BOM).startswith("---")):
        return False
    before, after = header.parts_of(one), header.parts_of(other)
    try:
        keys = [header.load(each.header or "") for each in (before, after)]
    except header.BadHeader:
        return False
    return (
        takes_away(before.content, after.content)
        and _takes_from_value(*keys)
        and _says_no_more(before.header or "", after.header or "", keys[1])
    )


def _says_no_more(old: str, new: str, keys: Mapping[str, header.Value]) -> bool:
    """Return whether a header that was written anew has no key twice, and no comment that it had not."""
    twice = sum(bool(_KEY.match(line)) for line in new.splitlines()) - len(keys)
    return twice <= 0 and not new.startswith("{") and all(found[0] in old for found in _COMMENT.finditer(new))


def _takes_from_value(old: header.Value, new: header.Value) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        return takes_away(old, new) or takes_away(" ".join(old.split()), new)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_takes_from_value, old, new))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return (
            len(old) == len(new)
            and all(map(takes_away, old, new))
            and all(map(_takes_from_value, old.values(), new.values()))
        )
    return old == new


def shared(one: str, other: str, work: list[int] | None = None) -> str:
    """Return what two texts have in common that two purges made of one: what either took is a mark.

    The same for either order. The marks of each line stand for something in that of the other, and all between them
    stays; where lines do not fit together, one mark stands for all but their beginning and end. `work` holds one
    number, the cells of tables left for all texts of a remote, and is counted down: where it is used up, lines do not
    fit.
    """
    if one == other:
        return one
    first, second = (text.split("\n") for text in sorted((one, other)))
    if len(first) == len(second):
        return "\n".join(
            line if line == each else _shared_line(line, each, work) for line, each in zip(first, second, strict=True)
        )
    beginning, end = _ends_alike(first, second)
    return "\n".join([*beginning, _MARK, *end])


def _shared_line(one: str, other: str, work: list[int] | None) -> str:
    first, second = (_TOKEN.findall(text) for text in sorted((one, other)))
    most = min(_WORK, work[0]) if work else _WORK
    left = [most]
    kept = list(_common_tokens(first, second, left, _DEEPEST))
    if work:
        work[0] -= most - left[0]
    if _MISFIT in kept:
        beginning, end = _ends_alike(first, second)
        kept = [*beginning, None, *end]
    said = list[str]()
    for token in kept:
        each = _MARK if token is None else token
        if not (said and _is_mark(each) and _is_mark(said[-1])):
            said.append(each)
    return "".join(said)


def shared_name(one: str, other: str, work: list[int] | None = None) -> str:
    """Return what two names of a file have in common that two purges gave it."""
    first, second = (_IN_SHARED_NAME.sub(_MARK, name) for name in (one, other))
    return shared(first, second, work).replace(_MARK, _NAME_MARK)


def _is_mark(token: str) -> bool:
    return bool(_IN_TEXT.fullmatch(token))


def _alike(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many tokens both begin with, and how many of the rest both end in; no mark among them."""
    least = min(len(one), len(other))
    head = next((at for at in range(least) if one[at] != other[at] or one[at] in _ALL_MARKS), least)
    rest = range(1, least - head + 1)
    tail = next((at - 1 for at in rest if one[-at] != other[-at] or one[-at] in _ALL_MARKS), least - head)
    return head, tail


def _ends_alike(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    """Return what both begin with and end in, without one item of the shorter, for which a mark stands."""
    head, tail = common_ends(one, other)
    least = min(len(one), len(other)) - 1
    head = min(head, least)
    return one[:head], one[len(one) - min(tail, least - head) :]


def _common_tokens(one: Sequence[str], other: Sequence[str], work: list[int], depth: int) -> Iterator[str | None]:
    """Yield the tokens that both have, None for what either took; `work` is how many cells are left."""
    head, tail = _alike(one, other)
    yield from one[:head]
    mine, others = one[head : len(one) - tail], other[head : len(other) - tail]
    if len(mine) * len(others) <= min(_TABLE, work[0]):
        work[0] -= len(mine) * len(others)
        yield from _fitted(mine, others)
    else:
        yield from _between_unique(mine, others, work, depth)
    yield from one[len(one) - tail :]


# What a pair of places is aligned by: both say the same, or a mark of one stands for what the other says there.
_SAME, _ONE, _OTHER = range(3)


def _fitted(one: Sequence[str], other: Sequence[str]) -> Iterator[str | None]:
    """Yield the most tokens that both have, by dynamic programming: a mark is a wild card for one token or more.

    None stands for what a mark of either covers. Where the rows do not fit together, only `_MISFIT` is yielded.
    """
    marks = [_is_mark(token) for token in one], [_is_mark(token) for token in other]
    # By place in each row and the mark that is open there: how many tokens are kept from there on, and the next state.
    best = dict[tuple[int, int, int], tuple[int, tuple[int, int, int] | None]]()
    for at in range(len(one), -1, -1):
        for place in range(len(other), -1, -1):
            ways = list[tuple[int, tuple[int, int, int] | None]]()
            if at == len(one) and place == len(other):
                ways.append((0, None))
            if at < len(one) and place < len(other):
                if one[at] == other[place]:
                    ways.append((best[at + 1, place + 1, _SAME][0] + 1, (at + 1, place + 1, _SAME)))
                if marks[0][at]:
                    ways.append((best[at, place + 1, _ONE][0], (at, place + 1, _ONE)))
                if marks[1][place]:
                    ways.append((best[at + 1, place, _OTHER][0], (at + 1, place, _OTHER)))
            best[at, place, _SAME] = max(ways, default=(_NEVER, None), key=lambda way: way[0])
            for side, is_open in (
                (_ONE, at < len(one) and marks[0][at]),
                (_OTHER, place < len(other) and marks[1][place]),
            ):
                if is_open:  # the mark ends here, or stands for one token more
                    ends = (at + 1, place, _SAME) if side == _ONE else (at, place + 1, _SAME)
                    on = (at, place + 1, side) if side == _ONE else (at + 1, place, side)
                    best[at, place, side] = max(
                        ((best.get(way, (_NEVER,))[0], way) for way in (ends, on)), key=lambda way: way[0]
                    )
    way: tuple[int, int, int] | None = (0, 0, _SAME)
    if best[0, 0, _SAME][0] <= _NEVER // 2:
        yield _MISFIT
        return
    while way:
        after = best[way][1]
        is_kept = way[2] == _SAME and after and after[2] == _SAME
        if is_kept:
            yield one[way[0]]
        elif after and after[2] != _SAME and way[2] == _SAME:
            yield None
        way = after


def _between_unique(one: Sequence[str], other: Sequence[str], work: list[int], depth: int) -> Iterator[str | None]:
    """Yield what long rows have in common around the tokens that either has once, in one order (patience diff)."""
    counts = Counter(one), Counter(other)
    places = {
        token: at for at, token in enumerate(other) if counts[0][token] == counts[1][token] == 1 and not _is_mark(token)
    }
    pairs = [(places[token], at) for at, token in enumerate(one) if token in places]
    at = place = 0
    for others, mine in rising(pairs) if depth else ():
        yield from _common_tokens(one[at:mine], other[place:others], work, depth - 1)
        yield one[mine]
        at, place = mine + 1, others + 1
    yield from _common_tokens(one[at:], other[place:], work, depth - 1) if at else (_MISFIT,)
