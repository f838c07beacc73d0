"""Review of proposals in an editor: they are rendered as one text, the person edits it, and it is read as decisions.

The text has a block for each proposal: a heading with its id, then each file as it would be. A block that is left is
applied, one that is deleted is rejected, one that is reworded is applied so; `# later` keeps it waiting. Every other
line that is no text of memory begins with `%%%`; a line of a text that begins so gets a backslash before it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ..errors import CrabmemError, InvalidArguments
from ..results import Proposal, byline
from ..session.session import Session
from ..text.edit import lenient_text, unified_diff
from ..text.hashes import short
from ..text.quoting import visible
from ..text.words import counted, listed
from .proposals import Verdict, Wording, apply_proposal, check_may_decide, reject_proposal, verdicts

MARK = "%%%"
LATER = "# later"
_HEAD = """\
{mark} {count} you. This file is memory as you want it:
{mark} what you leave is applied, what you delete from its heading on is rejected, what you reword is applied as you say
{mark} it, and a line {later!r} keeps it waiting. Lines that begin with {mark} are notes and no part of a text.
{mark} Nothing is done before you are asked, and nothing is decided by a file without a change.
{mark} To apply all as it is, delete this line.
"""
_HEADING = re.compile(rf"{MARK} \[([0-9a-f]{{4,40}})\]")
_FILE = re.compile(rf"{MARK} file ([0-9]{{1,4}}):[ \t]*(.*)")
# Lines of a text that would be read as ours; they are written with one more backslash before them.
_OURS = re.compile(rf"(\\*)({MARK}|[ \t]*#[ \t]*later[ \t]*$)", re.IGNORECASE)
_LATER = re.compile(r"[ \t]*#[ \t]*later[ \t]*", re.IGNORECASE)
_MOST_NOTED = 20


@dataclass(frozen=True)
class File:
    """A file of a block: its proposed `text`, "" for no file, and `base`, its bytes when the block was made."""

    path: str
    text: str
    base: bytes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A proposal as it is shown; `notes` say who proposed it, when and why. One that clashes with later changes
    `is_later`: it waits until the person deletes that line."""

    id: str
    notes: tuple[str, ...]
    files: tuple[File, ...]
    is_later: bool = False


@dataclass(frozen=True)
class Decision:
    """The decision of a person on the proposal `id`. `wording` has their own texts for some files, by path.

    `why` tells them why it waits, where they may not expect that. Files in `versions` must still be at the version that
    the person saw.
    """

    id: str
    what: Literal["apply", "reject", "later"]
    wording: Mapping[str, Wording] = field(default_factory=dict)
    why: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a decision: the `commit` that applied it (None: rejected, kept waiting, or the files said so
    already), or the `error` for which the proposal still waits."""

    decision: Decision
    error: CrabmemError | None = None
    commit: str | None = None


# From proposals to the text


def blocks(session: Session, waiting: Iterable[Proposal], now: datetime) -> list[Block]:
    """The proposals as they are shown at that moment, in their order."""
    check_may_decide(session)
    return [_block(proposal, verdicts(session, proposal), now) for proposal in waiting]


def _block(proposal: Proposal, found: Sequence[Verdict], now: datetime) -> Block:
    who = f"{byline(proposal.author, proposal.session)}, {proposal.time:%Y-%m-%d %H:%M} ({age(proposal.time, now)})"
    reason = [line for line in visible(proposal.reason).split("\n") if line.strip()]
    clash = [
        "the same place was changed since: this is what was proposed, and it waits until you delete the line below"
    ]
    notes = [who, *reason, *(clash if proposal.clashes else [])]
    files = tuple(_file(each) for each in found)
    return Block(proposal.id, (visible(proposal.change), *map(visible, notes)), files, proposal.clashes)


def _file(found: Verdict) -> File:
    """A file as it is shown, with notes on lines that go, on its removal, and on invisible characters."""
    text, before = lenient_text(found.after) or "", lenient_text(found.now)
    diff = unified_diff(before, lenient_text(found.after), found.path).splitlines()[2:]
    gone = [line for line in diff if line.startswith("-")]
    notes = [f"what is there and goes: {counted(len(gone), 'line')}", *gone[:_MOST_NOTED]] if gone else []
    notes += ["nothing of it is there then: write a text to keep the file with that"] if found.after is None else []
    if unseen := sorted({f"U+{ord(sign):04X}" for sign in set(text.replace("\r\n", "")) if not visible(sign)}):
        notes.append(f"mind: characters in it that nobody sees, {listed(unseen, _MOST_NOTED)}")
    return File(found.path, text.replace("\r\n", "\n"), found.now, tuple(map(visible, notes)))


def age(then: datetime, now: datetime) -> str:
    """How long ago something was, in days: `today`, `3 days ago`."""
    days = (now - then).days
    return f"{counted(days, 'day')} ago" if days > 0 else "today"


def rendered(shown: Sequence[Block]) -> str:
    """The text that a person edits."""
    verb = "waits" if len(shown) == 1 else "wait"
    count = f"{counted(len(shown), 'proposal')} {verb} for"
    return _HEAD.format(mark=MARK, later=LATER, count=count) + "".join(f"\n{block_text(each)}" for each in shown)


def block_text(block: Block) -> str:
    """The lines of one block."""
    return "".join(f"{line}\n" for line in _block_lines(block))


def _block_lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block: its heading, notes, `# later`, and its files, each with a line that numbers it."""
    first, *notes = block.notes or ("",)
    yield f"{MARK} [{short(block.id)}] {first}"
    yield from (f"{MARK} {note}" for note in notes)
    if block.is_later:
        yield LATER
    for number, file in enumerate(block.files, 1):
        yield f"{MARK} file {number}: {visible(file.path)}"
        yield from (f"{MARK}   {note}" for note in file.notes)
        yield from (_escaped(line) for line in file.text.removesuffix("\n").split("\n")) if file.text else ()


def _escaped(line: str) -> str:
    return f"\\{line}" if _OURS.match(line) else line


def _unescaped(line: str) -> str:
    return line[1:] if line.startswith("\\") and _OURS.match(line) else line


# From the text to decisions


def decisions(text: str, shown: Sequence[Block]) -> list[Decision]:
    """Read the decisions in an edited `text`, one for each block that was `shown`, in their order.

    An empty text, and one without a change, decides nothing: [].

    Raises:
        InvalidArguments: a line cannot be understood; then nothing must be done.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.strip() or text.rstrip() == rendered(shown).rstrip():
        return []
    found = _read_blocks(text, shown)
    return [_decision(block, found.get(block.id)) for block in shown]


@dataclass
class _ReadBlock:
    """A block as it was read: its lines by the number of their file."""

    files: dict[int, list[str]] = field(default_factory=dict)
    is_later: bool = False


def _read_blocks(text: str, shown: Sequence[Block]) -> dict[str, _ReadBlock]:
    """Parse the blocks that are left in an edited text, by the ids of their proposals.

    Raises:
        InvalidArguments: a heading, a path or a line is none that was shown.
    """
    found, block, lines, files = dict[str, _ReadBlock](), None, None, tuple[File, ...]()
    for number, line in enumerate(text.split("\n"), 1):
        if heading := _HEADING.match(line):
            block, lines = _ReadBlock(), None
            id = _block_id(heading[1], shown, number)
            if id in found:
                raise InvalidArguments(f"line {number}: [{heading[1]}] is there twice; nothing was decided")
            found[id] = block
            files = next(each.files for each in shown if each.id == id)
        elif file := _FILE.match(line):
            if block is None or int(file[1]) in block.files:
                raise InvalidArguments(f"line {number}: that file belongs to no heading; nothing was decided")
            if file[2].strip() != next((visible(each.path) for each in files[int(file[1]) - 1 :]), ""):
                raise InvalidArguments(f"line {number}: a path stays as it is here (`crabmem rename` changes one)")
            lines = block.files[int(file[1])] = []
        elif block is not None and _LATER.fullmatch(line):
            block.is_later = True
        elif lines is not None and not line.startswith(MARK):
            lines.append(_unescaped(line))
        elif line.strip() and not line.startswith(MARK):
            raise InvalidArguments(f"line {number} belongs to no file: it stands before the first; nothing was decided")
    return found


def _block_id(id: str, shown: Sequence[Block], line: int) -> str:
    meant = [block.id for block in shown if block.id.startswith(id)]
    if len(meant) != 1:
        raise InvalidArguments(f"line {line}: [{id}] is none of the proposals in this file; nothing was decided")
    return meant[0]


def _decision(block: Block, found: _ReadBlock | None) -> Decision:
    """The decision in a block as it was read back; None, for a block that was deleted, rejects.

    A file whose line or whole text is missing is no clear answer: the proposal waits.
    """
    if found is None:
        return Decision(block.id, "reject")
    wording = dict[str, Wording]()
    for number, file in enumerate(block.files, 1):
        if number not in found.files:
            why = f"the line of {file.path} is missing: delete the heading to reject"
            return Decision(block.id, "later", why="" if found.is_later else why)
        text = "\n".join(found.files[number]).rstrip()
        if text == file.text.rstrip():
            if block.is_later and not found.is_later:  # `# later` was deleted: the proposal is to replace what is there
                wording[file.path] = Wording(file.text or None, file.base)
            continue
        if not text.strip():
            why = f"{file.path} has no text: delete the heading, too, to reject it"
            return Decision(block.id, "later", why="" if found.is_later else why)
        wording[file.path] = Wording(f"{text}\n", file.base)
    if found.is_later:
        return Decision(
            block.id, "later", why="as it was proposed: it keeps waiting without your words" if wording else ""
        )
    return Decision(block.id, "apply", wording)


def carry_out_decisions(session: Session, decided: Iterable[Decision]) -> list[Outcome]:
    """Carry out decisions, each in a commit of the person's. A proposal that fails still waits, and stops no other."""
    return [_carry_out(session, each) for each in decided]


def _carry_out(session: Session, decision: Decision) -> Outcome:
    """Apply or reject one proposal, or leave it waiting; an error is part of the outcome."""
    commit = None
    try:
        if decision.what == "apply":
            commit = apply_proposal(session, decision.id, decision.wording, decision.versions).commit
        elif decision.what == "reject":
            reject_proposal(session, decision.id, decision.versions)
    except CrabmemError as error:
        return Outcome(decision, error)
    return Outcome(decision, commit=commit)
