"""Three-way merge of a file: frontmatter by key, everything else by line. Pure functions.

A change of one side is taken. Changes of neighbouring lines do not clash.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from ..errors import CrabmemError, Way
from . import frontmatter as header
from .comparison import Change, changes, common_ends, lines_in, lines_of
from .edit import lenient_text, newline_of
from .frontmatter import Parts, Value
from .words import listed

Side = Literal["ours", "theirs"]
#: Whose text to take where both changed the same; None: nobody's, and the conflict is reported.
Take = Side | None

#: The value of a key; None where there is no such key.
MaybeValue: TypeAlias = "Value | None"

_OURS, _THEIRS = 0, 1  # in rows of base, ours and theirs they stand at 1 and 2
_NO_KEYS = "---\n---\n"
_NAMED = 3
_MOST_PLACES = 16  # at which one text may go on in another that repeats itself
_SIDES = Way('take="ours"', "{} keeps what is there now"), Way('take="theirs"', "{} takes it back all the same")
T = TypeVar("T")


@dataclass(frozen=True)
class Conflict:
    """What both ways say where they changed the same of the file at `path`; None for no file."""

    path: str
    ours: str | None
    theirs: str | None


class Conflicting(CrabmemError):
    """The places that were to be changed were changed since; nothing was written.

    `outcome` says what came of it and the way out; "" where nothing was taken back, and a side to take is the way out.
    """

    #: What JSON has of it (`results.json_of`).
    JSON = ("conflicts",)

    def __init__(self, conflicts: tuple[Conflict, ...], outcome: str = "") -> None:
        paths = list(dict.fromkeys(conflict.path for conflict in conflicts))
        places = "1 place was" if len(conflicts) == 1 else f"{len(conflicts)} places were"
        where = listed(paths, _NAMED, "files")
        message = f"{places} changed since, in {where}, so {outcome or 'nothing was taken back'}"
        super().__init__(message, *(() if outcome else _SIDES))
        self.conflicts = conflicts


@dataclass(frozen=True)
class Merged:
    """A file merged. Where there are `conflicts`, `data` has the side that was to be taken, else ours."""

    data: bytes | None
    conflicts: tuple[Conflict, ...] = ()


class _Hunk(NamedTuple):
    """The items from `start` to `end` of the base became others on one side, `grown` more than there were."""

    start: int
    end: int
    side: int
    grown: int


class _Piece(NamedTuple):
    """Where a piece of the base is on both sides, and the sides that changed it: only ours where both are alike."""

    ours: slice
    theirs: slice
    sides: frozenset[int]
    #: Whether nothing of the base is in it: what it has, one side or both put there.
    is_new: bool = False


def merge(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, take: Take = None, joins: bool = False
) -> Merged:
    """The file at `path` with both changes: that from `base` to `ours`, and that from `base` to `theirs`.

    None is no file. Line endings, comments and the order of keys are those of `ours`. What both put at the same place
    clashes, unless it `joins`: then all of it is there, ours first, and what both say once.
    """
    if base == ours or ours == theirs:
        return Merged(theirs)
    if base == theirs:
        return Merged(ours)
    texts = [_text(data) for data in (base, ours, theirs)]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return Merged(theirs if take == "theirs" else ours, (Conflict(path, lenient_text(ours), lenient_text(theirs)),))
    text, clashes = _texts(known, take, joins)
    return Merged(text.encode(), tuple(Conflict(path, *clash) for clash in clashes))


def applied(path: str, base: bytes | None, now: bytes | None, wanted: bytes | None) -> Merged:
    """Apply the change from `base` to `wanted` to the file as it is `now`; in a conflict take `wanted`.

    What `now` has of that change already is not applied twice.
    """
    if base is not None and now is not None and wanted is not None and _is_between(base, now, wanted):
        return Merged(wanted)
    if base is None and None not in (now, wanted) and now != wanted:
        base = b""  # both began the file, as the note of a day
    return merge(path, base, now, wanted, "theirs", joins=True)


def _is_between(base: bytes, now: bytes, wanted: bytes) -> bool:
    """Return whether `now` is `base` with some of the changes that make `wanted` of it, and with no other.

    Then `wanted` is all of them: a merge would put in again what is there. False if `now` repeats itself too often.
    """
    old, lines, new = map(lines_of, (base, now, wanted))
    # Places in `lines` up to which it matches, each change up to there being made or not.
    places, at = {0}, 0
    for start, end, first, last in [*changes(old, new), Change(len(old), len(old), len(new), len(new))]:
        same = old[at:start]
        places = {place + len(same) for place in places if lines[place : place + len(same)] == same}
        parts = old[start:end], new[first:last]
        places = {place + len(part) for place in places for part in parts if lines[place : place + len(part)] == part}
        if len(places) > _MOST_PLACES:
            return False
        at = end
    return len(lines) in places


def with_both(path: str, ours: bytes, theirs: bytes) -> Merged:
    """The file with the lines and items of both, ours first where they differ.

    A key has one value: that of ours where both have another, which is a conflict.
    """
    texts = [_text(data) for data in (ours, theirs)]
    if None in texts:
        return Merged(ours, (Conflict(path, lenient_text(ours), lenient_text(theirs)),))
    parts = [header.parts_of(text or "") for text in texts]
    has_keys = all(_keys(each.header) is not None for each in parts)
    mine, others = (each.content if has_keys else text or "" for each, text in zip(parts, texts, strict=True))
    said = set(lines_in(others))
    common = "".join(line for line in lines_in(mine) if line in said)
    base = f"{_NO_KEYS if has_keys else ''}{common}"
    return merge(path, base.encode(), ours, theirs, "ours", joins=True)


#: What both sides say where they clash.
_Clash = tuple[str, str]


def _texts(texts: Sequence[str], take: Take, joins: bool) -> tuple[str, list[_Clash]]:
    parts = [header.parts_of(text) for text in texts]
    loaded = [keys for each in parts if (keys := _keys(each.header)) is not None]
    if len(loaded) < len(parts):
        return _lines(texts, newline_of(texts[_OURS + 1]), take, joins)
    mine = parts[_OURS + 1]
    above, clashes = _headers(parts, loaded, take, joins)
    below, more = _lines([each.content for each in parts], mine.newline, take, joins)
    return f"{mine.bom}{mine.opening}{above}{mine.closing}{below}", clashes + more


def _headers(
    parts: Sequence[Parts], keys: Sequence[Mapping[str, Value]], take: Take, joins: bool
) -> tuple[str, list[_Clash]]:
    """Merge headers by key; by line where that gives the same keys, as it keeps comments and order of both sides."""
    base, ours, theirs = keys
    newline = parts[_OURS + 1].newline
    wanted, clashes = dict[str, MaybeValue](), list[_Clash]()
    for key in {**ours, **theirs}:
        wanted[key], clash = _values(key, (base.get(key), ours.get(key), theirs.get(key)), take, joins)
        clashes += clash
    text, unclear = _lines([each.header or "" for each in parts], newline, take)
    if not unclear and _keys(text) == {key: value for key, value in wanted.items() if value is not None}:
        return text, clashes  # comments and the order of keys, too, as both want them
    return header.with_keys(parts[_OURS + 1].header or "", wanted, newline), clashes


def _values(key: str, values: tuple[MaybeValue, ...], take: Take, joins: bool) -> tuple[MaybeValue, list[_Clash]]:
    """Return the merged value of a key, None to remove it, and its clash; lists are merged item by item."""
    base, ours, theirs = values
    if base == ours or ours == theirs:
        return theirs, []
    if base == theirs:
        return ours, []
    lists = [value or [] for value in values if value is None or isinstance(value, list)]
    pieces = list(_pieces(*([str(item) for item in each] for each in lists))) if len(lists) == len(values) else []
    if pieces and not any(_clashes(piece, joins) for piece in pieces):
        _, mine, others = lists
        return [item for piece in pieces for item in _lines_to_take(piece, mine, others, None, joins)] or None, []
    return (theirs if take == "theirs" else ours), [(_lines_of(key, ours), _lines_of(key, theirs))]


def _lines(texts: Sequence[str], newline: str, take: Take, joins: bool = False) -> tuple[str, list[_Clash]]:
    """Texts merged by line, with the line endings of ours, and `newline` for lines that are not ours."""
    base, ours, theirs = (text.replace("\r\n", "\n").split("\n") for text in texts)
    mine = list(zip(ours, _endings(texts[_OURS + 1], newline), strict=True))
    others = [(line, newline) for line in theirs]
    done, clashes = list[tuple[str, str]](), list[_Clash]()
    for piece in _pieces(base, ours, theirs):
        if _clashes(piece, joins):
            clashes.append(_differing_lines(ours[piece.ours], theirs[piece.theirs]))
        done += _lines_to_take(piece, mine, others, take, joins)
    # No line break follows the last of what line breaks separate.
    return "".join(f"{line}{ending}" for line, ending in done[:-1]) + "".join(line for line, _ in done[-1:]), clashes


def _differing_lines(ours: Sequence[str], theirs: Sequence[str]) -> _Clash:
    """What two sides say that do not agree, without the lines around it on which they do."""
    head, tail = common_ends(ours, theirs)
    mine, others = ("\n".join(lines[head : len(lines) - tail]) for lines in (ours, theirs))
    return mine, others


def _endings(text: str, newline: str) -> list[str]:
    """The line breaks of `text`, and at last the one to write where there is none yet."""
    return ["\r\n" if line.endswith("\r") else "\n" for line in text.split("\n")[:-1]] + [newline]


def _clashes(piece: _Piece, joins: bool) -> bool:
    return len(piece.sides) > 1 and not (joins and piece.is_new)


def _lines_to_take(piece: _Piece, ours: Sequence[T], theirs: Sequence[T], take: Take, joins: bool) -> Sequence[T]:
    """Return the items of a piece: of one side, or of both, ours first, where both inserted and that `joins`."""
    mine, others = ours[piece.ours], theirs[piece.theirs]
    if len(piece.sides) > 1 and not _clashes(piece, joins):
        said = {_wording(item) for item in mine}
        more = [item for item in others if _wording(item) not in said or not _wording(item)]
        return [*mine, *more] if any(map(_wording, more)) else mine
    return others if piece.sides == {_THEIRS} or (len(piece.sides) > 1 and take == "theirs") else mine


def _wording(item: object) -> str:
    """What an item says: of a line, without its ending."""
    return (item[0] if isinstance(item, tuple) else str(item)).strip()


def _pieces(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Piece]:
    """All of the base, piece by piece: what one side changed, what both did, and what lies between."""
    at, mine, others = 0, 0, 0
    untouched = frozenset({_OURS})
    for group in _groups([*_hunks(base, ours, _OURS), *_hunks(base, theirs, _THEIRS)]):
        start, end = group[0].start, max(hunk.end for hunk in group)
        yield _Piece(slice(at + mine, start + mine), slice(at + others, start + others), untouched)
        spots = start + mine, start + others
        mine += sum(hunk.grown for hunk in group if hunk.side == _OURS)
        others += sum(hunk.grown for hunk in group if hunk.side == _THEIRS)
        spot, other = slice(spots[_OURS], end + mine), slice(spots[_THEIRS], end + others)
        alike = ours[spot] == theirs[other]
        yield _Piece(spot, other, untouched if alike else frozenset(hunk.side for hunk in group), start == end)
        at = end
    yield _Piece(slice(at + mine, len(ours)), slice(at + others, len(theirs)), untouched)


def _groups(hunks: Sequence[_Hunk]) -> list[list[_Hunk]]:
    """Hunks in their order, those together that touch the same items, or put something at the same place."""
    groups, end = list[list[_Hunk]](), 0
    for hunk in sorted(hunks):
        if groups and (hunk.start < end or hunk[:2] == groups[-1][0][:2]):
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
            end = hunk.end
        end = max(end, hunk.end)
    return groups


def _hunks(base: Sequence[str], other: Sequence[str], side: int) -> Iterator[_Hunk]:
    for start, end, first, last in changes(base, other):
        yield _Hunk(start, end, side, (last - first) - (end - start))


def _keys(text: str | None) -> dict[str, Value] | None:
    """What frontmatter says; None when there is none that we read."""
    try:
        return None if text is None else header.load(text)
    except header.BadHeader:
        return None


def _lines_of(key: str, value: MaybeValue) -> str:
    return "" if value is None else header.dump({key: value}, "\n")


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None
