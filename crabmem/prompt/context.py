"""The context: what goes before a conversation, put together from the parts of a profile, with an account of each
part. Pure.

The account always says what was cut or left out; the text says it where the profile has it so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Literal

import msgspec

from ..text.quoting import block, escaped, first_lines, joined, units, visible
from ..text.templates import template
from ..text.values import replace
from .budget import Budget, cut
from .profile import Generated, Kind, Part, Profile

#: The outcome for a file, in this order: in the context whole; cut; missing or blank; left out for want of room; hidden
#: from that kind of session; there, but no text that can be read.
Status = Literal["ok", "truncated", "missing", "left out", "hidden", "unreadable"]
# The placeholder in words for the list of tools.
_TOOLS = "{tools}"
# Characters per token in English, for a rough count without a tokenizer.
_PER_TOKEN = 4
# Escaping a long file takes much time and memory: only `_SPARE` times its room, at least `_LEAST` and at most `_MOST`
# characters, are escaped.
_SPARE, _LEAST, _MOST = 2, 100_000, 1_000_000


class Piece(msgspec.Struct, frozen=True):
    """A part of a profile in one workspace: `raw` is the text of the file at `path`, None when there is no file.

    For a part that is no file `path` is "", and `raw` has its words. A piece that `is_hidden` from the session has no
    text, nor has one whose file cannot be read: `trouble` says why.
    """

    part: Part
    path: str
    raw: str | None
    is_hidden: bool = False
    trouble: str = ""


def fixed_text(part: Part) -> str:
    """The words or the template of a part; "" for a part with another source."""
    return template(part.template) if part.template else part.words


def guidance(parts: Iterable[Part], tools: str) -> str:
    """The texts of the parts that mention the tools, with the list `tools` filled in; "" if `tools` is empty."""
    words = (_TOOLS if part.say == "tools" else fixed_text(part) for part in parts)
    return joined(text.replace(_TOOLS, tools) for text in words if tools and _TOOLS in text)


class ContextRow(msgspec.Struct, frozen=True):
    """A row of the account: how many characters the file `name` has (`raw`), how many of them are in the context
    (`injected`), and how many may be (`limit`); `trouble` is why it cannot be read."""

    JSON = ("name", "status", "raw", "injected", "limit", "raw_tokens", "injected_tokens", "trouble?")

    name: str
    status: Status
    raw: int
    injected: int
    limit: int
    trouble: str = ""

    @property
    def raw_tokens(self) -> int:
        """About how many tokens the file has."""
        return tokens(self.raw)

    @property
    def injected_tokens(self) -> int:
        """About how many tokens of the file are in the context."""
        return tokens(self.injected)


class Context(msgspec.Struct, frozen=True):
    """The `text` that goes before a conversation of a `kind`, with a row for each file and the names of the tools.

    `most_of_a_file` is the most characters of one file, unless its part has a limit of its own; `most_of_all` of all
    files together but those that have a limit together: `shares`, by its name.
    """

    JSON = ("kind", "parts", "limits", "characters", "tokens", "tools")

    kind: Kind
    parts: tuple[ContextRow, ...]
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
        """How many characters the text has."""
        return len(self.text)

    @property
    def tokens(self) -> int:
        """About how many tokens the text has."""
        return tokens(len(self.text))


class _Row(msgspec.Struct, frozen=True):
    """A piece as it goes into the context: `text` is what is left of it, or the mark of a missing file."""

    piece: Piece
    status: Status
    text: str

    @property
    def injected(self) -> int:
        return 0 if self.status in ("missing", "unreadable") else len(self.text)


def tokens(characters: int) -> int:
    """Estimate the tokens of so many characters: not too low for English, often too low for other scripts and code."""
    return ceil(characters / _PER_TOKEN)


def assemble(
    profile: Profile,
    kind: Kind,
    pieces: Sequence[Piece],
    generated: Mapping[Generated, str],
    tools: Iterable[str],
    limit: int | None = None,
    root: Path | None = None,
) -> Context:
    """Put the context of a session together: `pieces` are its parts in order, `generated` the texts that `say` names.

    Words that would list the tools are left out if there are none.

    `limit` is the host's: the most characters, counted in UTF-16 units as hosts do. The last file is shortened first,
    with a line that names the file below `root` for the rest; parts that are no files are never shortened.
    """
    rows = _rows_in_budget(profile, pieces, generated, str(root or ""))
    rows = rows if limit is None else _rows_in_limit(limit, rows, profile, root or Path())
    account = tuple(
        ContextRow(
            row.piece.path,
            row.status,
            len(row.piece.raw or ""),
            row.injected,
            _limit(row.piece.part, profile),
            row.piece.trouble,
        )
        for row in rows
        if row.piece.part.is_read
    )
    budget, text = profile.budget, _text_of(rows, profile.between)
    shared = {name: profile.shares[name] for row in rows if (name := row.piece.part.share)}
    return Context(kind, account, tuple(tools), text, budget.part, budget.total, shared)


def _limit(part: Part, profile: Profile) -> int:
    """The most characters of a part in the context, if the other parts take nothing of what they share."""
    return min(part.limit or profile.budget.part, profile.shares.get(part.share, profile.budget.total))


def _rows_in_budget(
    profile: Profile, pieces: Sequence[Piece], generated: Mapping[Generated, str], root: str
) -> list[_Row]:
    """The parts in order, each cut to the room that the parts before have left of its share, else of the total.

    The part that says which files were cut gets its text last.
    """
    rows, left = list[_Row](), {"": profile.budget.total, **profile.shares}
    for piece in pieces:
        row = _row(piece, profile, left, root) if piece.part.is_read else _Row(piece, "ok", _words(piece, generated))
        rows.append(row)
        if piece.part.is_read:
            left[piece.part.share] -= row.injected
    short = [row.piece.path for row in rows if row.status in ("truncated", "left out")]
    words = f"Shortened here, to fit: {', '.join(short)}. Read the file for its whole text." if short else ""
    return [replace(row, text=words) if row.piece.part.say == "cut" else row for row in rows]


def _words(piece: Piece, generated: Mapping[Generated, str]) -> str:
    """The text of a part that is no file; "" for words that would list the tools where there are none."""
    if piece.part.say:
        return generated.get(piece.part.say, "")
    text, tools = piece.raw or "", generated.get("tools", "")
    return text.replace(_TOOLS, tools) if tools or _TOOLS not in text else ""


def _row(piece: Piece, profile: Profile, left: Mapping[str, int], root: str) -> _Row:
    """The row of a file. `left` has the characters that are left: by name of each share, under "" of the total."""
    part = piece.part
    if piece.is_hidden:
        return _Row(piece, "hidden", "")
    if piece.trouble:
        return _Row(piece, "unreadable", f"{piece.path} is left out here, as it cannot be read.")
    room = min(_limit(part, profile), left[part.share])
    budget = _KEPT[part.keep](profile.budget)
    raw = piece.raw or ""
    given = _near(raw, room, _KEPT["tail"](budget) if part.lines else budget)
    text = _shown(given, part)
    if not text:
        mark = profile.missing if part.file else ""  # nothing is wrong about a day without a note
        return _Row(piece, "missing", mark.replace("{path}", piece.path))
    if left[part.share] < profile.budget.least:
        return _Row(piece, "left out", "")
    wanted = "\n".join(text.split("\n")[-part.lines :])
    kept = cut(wanted, room, budget, piece.path, len(wanted) + len(raw) - len(given), root)
    is_whole = kept == text and given == raw
    return _Row(piece, "ok" if is_whole else "truncated" if kept else "left out", kept)


def _shown(raw: str, part: Part) -> str:
    """A text as a model sees it: escaped, so that it cannot close the block around it, and without invisible signs."""
    return escaped(raw, part.tag) if part.tag else visible(raw).strip()


def _near(raw: str, room: int, budget: Budget) -> str:
    """`raw`; if it is far longer than `room`, only its head and tail, which are enough for `cut`."""
    most = min(max(_SPARE * room, _LEAST), _MOST)
    if len(raw) <= most:
        return raw
    tail = int(most * budget.tail / ((budget.head + budget.tail) or 1))
    return raw[: most - tail] + raw[len(raw) - tail :]


def _rows_in_limit(limit: int, rows: list[_Row], profile: Profile, root: Path) -> list[_Row]:
    """The rows, with files shortened, the last one first, until the whole text fits into `limit`. Changes `rows`."""
    between, budget = profile.between, profile.budget
    for at in reversed(range(len(rows))):
        row, over = rows[at], units(_text_of(rows, between)) - limit
        if over > 0 and row.text and row.piece.part.is_read:
            whole, of = _whole(row, budget)  # what the profile had room for says in its midst that it was cut
            mark = f"(cut here, of {of:,} characters; read {root / row.piece.path} for the rest)"
            kept = first_lines(whole, max(units(row.text.strip()) - over, units(mark)), mark)
            rows[at] = replace(row, text=kept, status="truncated")
    return rows


def _whole(row: _Row, budget: Budget) -> tuple[str, int]:
    """The text of a row before the profile cut it, at least its head, and the length of the whole.

    Where the end of the file is kept, and not its head, that is the row's text as it was cut.
    """
    part, raw = row.piece.part, row.piece.raw or ""
    if row.status != "truncated" or part.keep == "tail" or part.lines:
        return row.text, units(row.text)
    given = _near(raw, len(row.text), _KEPT["head"](budget))
    text = _shown(given, part)
    return text, units(text) + len(raw) - len(given)


def _text_of(rows: Iterable[_Row], between: str) -> str:
    framed = (_in_frame(row.piece, row.text) for row in rows)
    return between.join(text for text in framed if text)


def _in_frame(piece: Piece, text: str) -> str:
    """A text in the block and under the title of its part; "" if it is blank."""
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
