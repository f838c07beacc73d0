"""The argument and the results of views: a request without its protocol, a page, a redirect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from ..errors import InvalidArguments
from ..operations import proposals
from ..operations.chronicle import Chronicle
from ..results import Proposal
from ..session.session import Session
from ..text.hashes import version_of

#: The status of a page that says why nothing was done.
CONFLICT = 409
#: Fields of a query that tell what was just done: the commits made, and the ids of proposals. See `Go`.
OUTCOME = ("done", "rejected", "applied", "again")
_OK = 200
_DIGITS = 7


class Given(dict[str, list[str]]):
    """The fields of a query or a form, each with all values that were given for it."""

    def one(self, name: str, otherwise: str = "") -> str:
        """Return the last value of a field, `otherwise` if it is missing."""
        return (self.get(name) or [otherwise])[-1]

    def needed(self, name: str) -> str:
        """Return the last value of a field that has to be there.

        Raises:
            InvalidArguments: the field is missing or empty.
        """
        if said := self.one(name):
            return said
        raise InvalidArguments(f"{name} is missing")

    def number(self, name: str, otherwise: int = 0) -> int:
        """Return the last value of a field as a number from 0 on; `otherwise` if it is none of at most seven digits."""
        said = self.one(name)
        return int(said) if said.isascii() and said.isdigit() and len(said) <= _DIGITS else otherwise


@dataclass(frozen=True)
class Ask:
    """A request of the person, with the memory it is about.

    `decided` has the ids of the proposals decided on in this memory since the server began; views add to it. `path` is
    that of the page. `memory` is the name of a memory beside the one at hand, "" for that one. `memories` are all that
    can be shown, if there are several: the name of each, the address of its first page, and whether it is this one.
    """

    session: Session
    chronicle: Chronicle
    decided: set[str]
    path: str
    query: Given
    form: Given = field(default_factory=Given)
    memory: str = ""
    memories: tuple[tuple[str, str, bool], ...] = ()

    @cached_property
    def waiting(self) -> list[Proposal]:
        """All proposals that wait for the person, the oldest first; read once for each request."""
        return proposals.waiting(self.session).all()


@dataclass(frozen=True)
class Page:
    """A page to show: the name of its template, and the variables for it."""

    template: str
    shown: Mapping[str, Any]
    status: int = _OK


@dataclass(frozen=True)
class Go:
    """A redirect to another page after something was done. That page tells what was done, and offers to take it back.

    `done` are the commits that were made, None for a step without one. `rejected` and `applied` are the ids of
    proposals decided on; `again` those that were taken back, and wait again.
    """

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    done: Sequence[str | None] = ()
    rejected: Sequence[str] = ()
    applied: Sequence[str] = ()
    again: Sequence[str] = ()

    @property
    def address(self) -> str:
        """The address relative to any page, with what was done in its query (`OUTCOME`)."""
        done = [commit for commit in self.done if commit]
        outcome = {"done": done, "rejected": self.rejected, "applied": self.applied, "again": self.again}
        query = urlencode({**self.query, **outcome}, doseq=True)
        return f".{self.path}?{query}" if query else f".{self.path}"


def version_at(session: Session, path: str, commit: str | None = None) -> str:
    """The version of the file at `path` now, or in a commit; "" for no file."""
    data = session.read(path, commit)
    return "" if data is None else version_of(data)


def paged(items: Sequence[Any], ask: Ask, size: int) -> dict[str, Any]:
    """Return the items of the page that `from` in the query asks for, for the template: see the keys.

    `before` and `after` are the addresses of the pages before and after it, None where there is none.
    """
    start = min(ask.query.number("from"), max(0, len(items) - 1)) // size * size
    query = {name: said[-1] for name, said in ask.query.items() if name not in ("from", *OUTCOME)}

    def at(place: int) -> str | None:
        return f".{ask.path}?{urlencode({**query, 'from': place})}" if 0 <= place < len(items) else None

    return {
        "items": items[start : start + size], "first": start + 1, "last": min(start + size, len(items)),
        "total": len(items), "before": at(start - size), "after": at(start + size),
    }  # fmt: skip
