"""Commits: their header and their message, written from a `Note` and read back as a `Commit`. Pure functions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from ..results import Commit
from ..text.agent_names import without_unseen
from ..text.values import value

# The end of the year 9998, after which datetime has no zones.
_LAST_TIME = 253_370_764_799
# The beginning of the year 2, before which it has none either.
_FIRST_TIME = -62_104_060_800
# No zone of datetime's is a whole day, in minutes, away.
_DAY = 24 * 60 - 1
_AUTHOR = re.compile(rb"(?P<who>.*) (?P<time>-?\d{1,20}) (?P<sign>[+-])(?P<zone>\d{1,20})")
COMMITTER = "crabmem <crabmem@crabmem.invalid>"
#: The time of a commit that is the same whenever it is made.
NEVER = datetime.fromtimestamp(0, UTC)
_TRAILER = re.compile(r"([A-Z][A-Za-z-]*): (.*)")
_UNFIT = re.compile("[\x00-\x1f\x7f<>\ud800-\udfff]+")
_BREAKS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]+")
_TO = " => "
#: The trailer with the time of a write to the microsecond, which Git's own times do not have.
TIME = "Time"
#: What the trailer `Tool` says of commits that join what two machines did, and of the texts that wait since then.
JOINING = "sync"
# Characters of a last paragraph that may be trailers: a revert of 20,000 commits has a million.
_LARGEST_TRAILERS = 4_000_000
# From the beginning of a write of many facts to its commit; a `Time` trailer further off is not of this commit.
_LONGEST_WRITE = timedelta(hours=1)
_IDENTITY = re.compile(r"(?P<name>[^<]*)<(?P<mail>[^>]*)>\s*\Z")


@value
class Note:
    """Who did what, before it is a commit: `author` is "Name <mail>", `trailers` pairs of key and value."""

    subject: str
    author: str
    body: str = ""
    trailers: tuple[tuple[str, str], ...] = ()

    @property
    def message(self) -> str:
        """The commit message: subject, body and trailers, each a paragraph."""
        lines = "\n".join(f"{key}: {one_line(value)}" for key, value in self.trailers)
        return "\n\n".join(part for part in (one_line(self.subject), self.body, lines) if part) + "\n"


def one_line(text: str) -> str:
    """Return `text` with spaces for line breaks, control characters and halves of surrogate pairs."""
    return " ".join(_BREAKS.sub(" ", text).split())


def identity(name: str) -> str:
    """Return "Name <mail>" for a Git header from "Name" or "Name <mail>"; characters that Git forbids are removed."""
    given = _IDENTITY.match(name.strip())
    plain = _clean(given["name"] if given else name) or "person"
    mail = _clean(given["mail"]) if given else ""
    return f"{plain} <{mail or _mailbox(plain) + '@crabmem.invalid'}>"


def identity_of_agent(name: str) -> str:
    """Return "Name <mail>" for an agent, with an address below `agents.crabmem.invalid`, made of the name."""
    plain = _clean(name) or "agent"
    return f"{plain} <{_mailbox(plain)}@agents.crabmem.invalid>"


class Header(NamedTuple):
    """The header of a commit; times are in seconds.

    `committed` is never before that of a parent in commits of ours, as commits are ordered by it. `authored` is what
    the clock said.
    """

    tree: str
    parents: tuple[str, ...]
    committed: int
    authored: int


def header(raw: bytes) -> Header:
    """Return the header in the bytes of a commit; ValueError when they are no commit's."""
    lines = header_lines(raw)
    parents = tuple(value.decode("ascii") for key, value in lines if key == b"parent")
    first = dict(reversed(lines))
    if not {b"tree", b"committer"} <= first.keys():
        raise ValueError("not a commit of Git's")
    *_, seconds, _ = first[b"committer"].rsplit(b" ", 2)
    committed = int(seconds)
    author = _AUTHOR.fullmatch(first.get(b"author", b""))
    return Header(first[b"tree"].decode("ascii"), parents, committed, _seconds(author) if author else committed)


def header_lines(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Return key and value of each header line of a commit or tag; continuation lines stay part of the value."""
    found: list[tuple[bytes, bytes]] = []
    for line in raw.partition(b"\n\n")[0].split(b"\n"):
        key, _, value = line.partition(b" ")
        if key or not found:
            found.append((key, value))
        else:
            found[-1] = found[-1][0], found[-1][1] + b"\n" + line
    return found


def author_and_message(raw: bytes) -> tuple[bytes, bytes]:
    """Return who wrote a commit, as "Name <mail>", and its message."""
    author = dict(reversed(header_lines(raw))).get(b"author", b"")
    return author.rsplit(b" ", 2)[0], raw.partition(b"\n\n")[2]


def tag_target(raw: bytes) -> str:
    """Return the id of the object that the bytes of a tag are about."""
    return raw.partition(b"\n")[0].removeprefix(b"object ").decode("ascii", "replace")


def raw_commit(tree: str, parents: list[str], note: Note, when: datetime, not_before: int) -> bytes:
    """Return the bytes of a commit with the author's time `when`; the committer's time is at least `not_before`.

    `not_before` is the time of the newest parent, in seconds: Git and we rely on parents being older. The author's time
    stays what the clock said: a clock that was once wrong must not make all later commits wrong.
    """
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {note.author} {_stamp(when)}", f"committer {committer(when, not_before)}", "", ""]
    return "\n".join(lines).encode() + note.message.encode("utf-8", "replace")


def committer(when: datetime, not_before: int = 0) -> str:
    """Return crabmem and the time, as Git writes it in commits and logs."""
    return f"{COMMITTER} {_stamp(when, not_before)}"


def _stamp(when: datetime, not_before: int = 0) -> str:
    minutes = int((when.utcoffset() or timedelta()).total_seconds()) // 60
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
    return f"{max(int(when.timestamp()), not_before)} {zone}"


def read_commit(oid: str, raw: bytes, paths: tuple[str, ...] = ()) -> Commit:
    """Return a commit, parsed from its bytes for users of the library; ValueError when they are no commit's."""
    parents, (author, time) = header(raw).parents, _written_by(raw)
    message = raw.partition(b"\n\n")[2].decode("utf-8", "replace")
    trailers = _trailers(message)
    known = dict(trailers)
    return Commit(
        commit=oid,
        time=_exact(time, known.get(TIME, "")),
        author=author,
        subject=message.partition("\n")[0],
        tool=known.get("Tool"),
        agent=known.get("Agent"),
        session=known.get("Session"),
        entries=tuple(value for key, value in trailers if key == "Entry"),
        paths=paths,
        parents=parents,
        reverts=tuple(value for key, value in trailers if key == "Reverts"),
        restores=known.get("Restores"),
        renamed=_renamed(known.get("Renamed", "")),
        applies=known.get("Proposal"),
        moved=known.get("Moved"),
    )


def is_join(commit: Commit) -> bool:
    """Return whether a commit only joined what two machines did."""
    return commit.tool == JOINING and len(commit.parents) > 1


def body(raw: bytes) -> str:
    """Return the body of a commit that was made of a `Note`: its message between subject and trailers."""
    _, _, message = raw.partition(b"\n\n")
    return message.decode("utf-8", "replace").partition("\n\n")[2].rpartition("\n\n")[0]


def moving(before: str, after: str) -> tuple[str, str]:
    """Return the trailer of a commit that gave an entry another name; it may have the same path as before."""
    return "Renamed", f"{before}{_TO}{after}"


def _renamed(value: str) -> tuple[str, str] | None:
    before, _, after = value.partition(_TO)
    return (before, after) if after else None


def _written_by(raw: bytes) -> tuple[str, datetime]:
    """Return name and time of a commit's author; "" and 1970 if that line is malformed. Absurd zones are limited."""
    found = _AUTHOR.fullmatch(dict(reversed(header_lines(raw))).get(b"author", b""))
    if not found:
        return "", datetime.fromtimestamp(0, UTC)
    hours, minutes = divmod(int(found["zone"]), 100)
    offset = timedelta(minutes=max(-_DAY, min(_DAY, (hours * 60 + minutes) * (-1 if found["sign"] == b"-" else 1))))
    name, has_mail, _ = found["who"].partition(b"<")
    name = name.removesuffix(b" ") if has_mail else name.removesuffix(b">")
    return name.decode("utf-8", "replace"), datetime.fromtimestamp(_seconds(found), timezone(offset))


def _exact(time: datetime, trailer: str) -> datetime:
    """Return the exact time in the `Time` trailer if it is close to the author's `time`; else `time`.

    After a rebase or an amend the trailer may be an older commit's.
    """
    try:
        exact = datetime.fromisoformat(trailer)
        fits = -timedelta(seconds=1) < time - exact < _LONGEST_WRITE
    except (ValueError, TypeError, OverflowError):
        return time
    return exact if fits else time


def _seconds(author: re.Match[bytes]) -> int:
    """Return the seconds in an author's line, limited to what datetime can represent."""
    return max(_FIRST_TIME, min(int(author["time"]), _LAST_TIME))


def _trailers(message: str) -> list[tuple[str, str]]:
    """Return key and value of the trailers: the lines of the last paragraph, if all of them have that form."""
    paragraph = message.strip().rpartition("\n\n")[2]
    last = paragraph.splitlines() if len(paragraph) <= _LARGEST_TRAILERS else []
    found = [_TRAILER.fullmatch(line) for line in last]
    return [(match[1], match[2]) for match in found if match] if all(found) else []


def _clean(text: str) -> str:
    return without_unseen(_UNFIT.sub(" ", text)).strip(" .,:;\"'")


def _mailbox(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower().encode("ascii", "ignore").decode()).strip("-") or "someone"
