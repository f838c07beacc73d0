"""What the views of the page are given and give back: a request without its protocol, and what to answer."""

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
#: What an address says of what was just done.
OUTCOME = ("done", "rejected", "applied", "again")
_OK = 200
_DIGITS = 7


class Given(dict[str, list[str]]):
    """The fields of a query or a form, each with all that was said for it."""

    def one(self, name: str, otherwise: str = "") -> str:
        """What was said last for a field."""
        return (self.get(name) or [otherwise])[-1]

    def needed(self, name: str) -> str:
        """The same of one that has to be there.

        Raises:
            InvalidArguments: it is not, or blank.
        """
        if said := self.one(name):
            return said
        raise InvalidArguments(f"{name} is missing")

    def number(self, name: str, otherwise: int = 0) -> int:
        """A number that is not below 0; `otherwise` where that is none."""
        said = self.one(name)
        return int(said) if said.isascii() and said.isdigit() and len(said) <= _DIGITS else otherwise


@dataclass(frozen=True)
class Ask:
    """A request of the person: the memory, what was `decided` on here, the address, and what they filled in.

    `memory` is what one beside the memory at hand is called, "" for that. `memories` are all that are seen where there
    are several: what each is called, where its pages begin, and whether it is this one.
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
        """All that waits for the person, the oldest first."""
        return proposals.waiting(self.session).all()


@dataclass(frozen=True)
class Page:
    """A page to show: the template, and what is in it."""

    template: str
    shown: Mapping[str, Any]
    status: int = _OK


@dataclass(frozen=True)
class Go:
    """A page to go to after something was done, which may be taken back: by which commits, what was `rejected` or
    `applied`; what was taken back waits `again`."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    done: Sequence[str | None] = ()
    rejected: Sequence[str] = ()
    applied: Sequence[str] = ()
    again: Sequence[str] = ()

    @property
    def address(self) -> str:
        """Where that is, as seen from any page."""
        done = [commit for commit in self.done if commit]
        outcome = {"done": done, "rejected": self.rejected, "applied": self.applied, "again": self.again}
        query = urlencode({**self.query, **outcome}, doseq=True)
        return f".{self.path}?{query}" if query else f".{self.path}"


def version_at(session: Session, path: str, commit: str | None = None) -> str:
    """The version of the file at `path` now, or in a commit; "" for no file."""
    data = session.read(path, commit)
    return "" if data is None else version_of(data)


def paged(items: Sequence[Any], ask: Ask, size: int) -> dict[str, Any]:
    """Those of `items` on the page that is asked for, and where the pages before and after it are."""
    start = min(ask.query.number("from"), max(0, len(items) - 1)) // size * size
    query = {name: said[-1] for name, said in ask.query.items() if name not in ("from", *OUTCOME)}

    def at(place: int) -> str | None:
        return f".{ask.path}?{urlencode({**query, 'from': place})}" if 0 <= place < len(items) else None

    return {
        "items": items[start : start + size], "first": start + 1, "last": min(start + size, len(items)),
        "total": len(items), "before": at(start - size), "after": at(start + size),
    }  # fmt: skip
