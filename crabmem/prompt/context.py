"""What goes before a conversation, put together from the parts of a profile, and the account of it: pure.

What was cut or left out is always in the account, and in the text where the profile says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ..text.quoting import block, escaped, first_lines, joined, units, visible
from ..text.templates import template
from .budget import Budget, cut
from .profile import Kind, Part, Profile, Say

#: A file is there whole, was cut, is not there or blank, found no room, or is not for that kind of session.
Status = Literal["ok", "truncated", "missing", "left out", "hidden"]
# In words, where the tools are listed.
_TOOLS = "{tools}"
#: For a rough count where no model is asked: so many characters are a token of English.
_PER_TOKEN = 4
#: Of each file so many characters for each that there is room for are made fit for a prompt, within bounds: it costs
#: much time and memory.
_SPARE, _LEAST, _MOST = 2, 100_000, 1_000_000


class Piece(msgspec.Struct, frozen=True):
    """What a part of a profile is in a workspace: `raw` is the text of the file at `path`, None when there is none."""

    part: Part
    path: str
    raw: str | None


def written(part: Part) -> str:
    """The text of a part that is in no file of the workspace."""
    return template(part.template) if part.template else part.words


def guidance(parts: Iterable[Part], tools: str) -> str:
    """How to use the tools that `tools` lists, as those parts say it; "" without any."""
    words = (_TOOLS if part.say == "tools" else written(part) for part in parts)
    return joined(text.replace(_TOOLS, tools) for text in words if tools and _TOOLS in text)


class Told(msgspec.Struct, frozen=True):
    """One row of the account: how much there is of a part, how much of it goes in, and how much may, in characters."""

    JSON = ("name", "status", "raw", "injected", "limit", "raw_tokens", "injected_tokens")

    name: str
    status: Status
    raw: int
    injected: int
    limit: int

    @property
    def raw_tokens(self) -> int:
        """About how many tokens there are."""
        return tokens(self.raw)

    @property
    def injected_tokens(self) -> int:
        """About how many tokens go in."""
        return tokens(self.injected)


class Context(msgspec.Struct, frozen=True):
    """The text that goes before a conversation of that kind, and the account of its parts and tools.

    A file has `most_of_a_file` characters unless its part says otherwise, and all files together `most_of_all`; those
    of a share have that of `shares` together.
    """

    JSON = ("kind", "parts", "limits", "characters", "tokens", "tools")

    kind: Kind
    parts: tuple[Told, ...]
    tools: tuple[str, ...]
    text: str
    most_of_a_file: int
    most_of_all: int
    shares: Mapping[str, int]

    @property
    def limits(self) -> dict[str, int | Mapping[str, int]]:
        """How many characters of a file, of all files, and of the shares go in at most."""
        return {"file": self.most_of_a_file, "total": self.most_of_all, "shares": self.shares}

    @property
    def characters(self) -> int:
        """How long it is."""
        return len(self.text)

    @property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return tokens(len(self.text))


class _Row(msgspec.Struct, frozen=True):
    piece: Piece
    status: Status
    text: str

    @property
    def injected(self) -> int:
        return 0 if self.status == "missing" else len(self.text)


def tokens(characters: int) -> int:
    """About how many tokens so many characters are; never too few for English, often for other scripts and code."""
    return ceil(characters / _PER_TOKEN)


def assembled(
    profile: Profile,
    kind: Kind,
    pieces: Sequence[Piece],
    sayings: Mapping[Say, str],
    tools: Iterable[str],
    limit: int | None = None,
    root: Path | None = None,
) -> Context:
    """The context of a session: `pieces` are the parts for it in order, `sayings` what parts say that are no files.

    Words in which the tools would be listed are left out where there are none.

    With `limit`, the host's: so many characters at most, counted in UTF-16 as hosts do. The last file gives way first,
    with a line that says so and where below `root` the rest is, and never what is no file.
    """
    rows = _budgeted(profile, kind, pieces, sayings, str(root or ""))
    rows = rows if limit is None else _within(limit, rows, profile, root or Path())
    told = tuple(
        Told(
            row.piece.path,
            row.status,
            len(row.piece.raw or ""),
            row.injected,
            _limit(row.piece.part, profile),
        )
        for row in rows
        if row.piece.part.is_read
    )
    budget, text = profile.budget, _joined(rows, profile.between)
    shared = {name: profile.shares[name] for row in rows if (name := row.piece.part.share)}
    return Context(kind, told, tuple(tools), text, budget.part, budget.total, shared)


def _limit(part: Part, profile: Profile) -> int:
    """How much of a part may go in, when nothing else does."""
    most = profile.shares.get(part.share, profile.budget.total)
    return min(part.limit or profile.budget.part, most, profile.budget.total)


def _budgeted(
    profile: Profile, kind: Kind, pieces: Sequence[Piece], sayings: Mapping[Say, str], root: str
) -> list[_Row]:
    """The parts as far as the profile has room for them."""
    rows, left = list[_Row](), {"": profile.budget.total, **profile.shares}
    for piece in pieces:
        row = (
            _row(piece, profile, kind, left, root) if piece.part.is_read else _Row(piece, "ok", _words(piece, sayings))
        )
        rows.append(row)
        for share in {"", piece.part.share} if piece.part.is_read else ():
            left[share] -= row.injected
    short = [row.piece.path for row in rows if row.status in ("truncated", "left out")]
    words = f"Shortened here, to fit: {', '.join(short)}. Read the file for its whole text." if short else ""
    return [replace(row, text=words) if row.piece.part.say == "cut" else row for row in rows]


def _words(piece: Piece, sayings: Mapping[Say, str]) -> str:
    """What a part says that is no file."""
    if piece.part.say:
        return sayings.get(piece.part.say, "")
    text, tools = piece.raw or "", sayings.get("tools", "")
    return text.replace(_TOOLS, tools) if tools or _TOOLS not in text else ""


def _row(piece: Piece, profile: Profile, kind: Kind, left: Mapping[str, int], root: str) -> _Row:
    part = piece.part
    if profile.hides(piece.path, kind):
        return _Row(piece, "hidden", "")
    room = min(_limit(part, profile), left[""], left[part.share])
    budget = _KEPT[part.keep](profile.budget)
    raw = piece.raw or ""
    given = _near(raw, room, _KEPT["tail"](budget) if part.lines else budget)
    text = escaped(given, part.tag) if part.tag else visible(given).strip()
    if not text:
        marked = profile.missing if part.file else ""  # nothing is wrong about a day without a note
        return _Row(piece, "missing", marked.replace("{path}", piece.path))
    if min(left[""], left[part.share]) < profile.budget.least:
        return _Row(piece, "left out", "")
    wanted = "\n".join(text.split("\n")[-part.lines :])
    kept = cut(wanted, room, budget, piece.path, len(wanted) + len(raw) - len(given), root)
    is_whole = kept == text and given == raw
    return _Row(piece, "ok" if is_whole else "truncated" if kept else "left out", kept)


def _near(raw: str, room: int, budget: Budget) -> str:
    """`raw`, or the head and the tail of one that is far longer than there is `room`."""
    most = min(max(_SPARE * room, _LEAST), _MOST)
    if len(raw) <= most:
        return raw
    tail = int(most * budget.tail / ((budget.head + budget.tail) or 1))
    return raw[: most - tail] + raw[len(raw) - tail :]


def _within(limit: int, rows: list[_Row], profile: Profile, root: Path) -> list[_Row]:
    """The rows, of which files give way, the last one first, until all have room."""
    between, budget = profile.between, profile.budget
    for at in reversed(range(len(rows))):
        row, over = rows[at], units(_joined(rows, between)) - limit
        if over > 0 and row.text and row.piece.part.is_read:
            whole, of = _whole(row, budget)  # what the profile had room for says in its midst that it was cut
            mark = f"(cut here, of {of:,} characters; read {root / row.piece.path} for the rest)"
            kept = first_lines(whole, max(units(row.text) - over, units(mark)), mark)
            rows[at] = replace(row, text=kept, status="truncated")
    return rows


def _whole(row: _Row, budget: Budget) -> tuple[str, int]:
    """The head of a row before its profile cut it, at least as much as is in it now, and how long all of it is.

    Of what keeps its end the profile's cut is all there is.
    """
    part, raw = row.piece.part, row.piece.raw or ""
    if row.status != "truncated" or part.keep == "tail" or part.lines:
        return row.text, units(row.text)
    given = _near(raw, len(row.text), _KEPT["head"](budget))
    text = escaped(given, part.tag) if part.tag else visible(given).strip()
    return text, units(text) + len(raw) - len(given)


def _joined(rows: Iterable[_Row], between: str) -> str:
    framed = (_framed(row.piece, row.text) for row in rows)
    return between.join(text for text in framed if text)


def _framed(piece: Piece, text: str) -> str:
    if not text.strip():
        return ""
    part = piece.part
    inside = block(part.tag, text) if part.tag else text.strip()
    has_own = part.is_titled and inside.startswith("#")
    return joined(("" if has_own else part.title.replace("{file}", piece.path), inside))


_KEPT: dict[str, Callable[[Budget], Budget]] = {
    "both": lambda budget: budget,
    "head": lambda budget: replace(budget, head=1.0, tail=0.0),
    "tail": lambda budget: replace(budget, head=0.0, tail=1.0),
}
