"""Which of what waits a verb is about, by ids, agent, session or tag; and what became of the decisions on it."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from ..errors import NotFound
from ..operations import proposals
from ..operations.review import Outcome
from ..results import Proposal
from ..session.session import Session
from ..text.commands import program_at
from ..text.hashes import short
from ..text.quoting import spelled
from ..text.words import counted
from .completing import complete_from
from .options import by_option, in_option, tag_option
from .output import plain, show

_DONE = {"apply": "applied", "reject": "rejected", "later": "waits"}
complete_ids = complete_from(lambda memory: [short(proposal.id) for proposal in proposals.proposals(memory)])


_SOME = (
    tag_option,
    in_option("What was written in a session."),
    by_option("What an agent wrote."),
)
_IDS = click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=complete_ids)
_ALL = click.option("--all", "is_all", is_flag=True, help="All that waits.")


@dataclass(frozen=True, slots=True)
class Selection:
    """The proposals a person named: by id, agent, session or tags (all of them), or all that wait."""

    by: str | None
    in_session: str | None
    tags: tuple[str, ...]
    ids: tuple[str, ...] = ()
    is_all: bool = False

    @property
    def is_by_id(self) -> bool:
        """True if ids, and nothing else, name the proposals."""
        return bool(self.ids) and not (self.by or self.in_session or self.tags or self.is_all)

    @property
    def _is_some(self) -> bool:
        return self.by is not None or self.in_session is not None or bool(self.tags)

    @property
    def options(self) -> str:
        """The filters as they are typed; "" for none."""
        named = (("--by", self.by), ("--in", self.in_session), *(("--tag", tag) for tag in self.tags))
        return shlex.join(word for option, value in named if value is not None for word in (option, value))

    def words_of_none(self, memory: Session) -> str:
        """Return the words for an empty selection: what else waits, here and in the memories seen beside this one."""
        words = "nothing to review"
        if not memory.settings.review.is_on:
            words += ". To have agents' writes wait: [review] in crabmem.toml"
        if self.options:
            count = len(proposals.proposals(memory))
            words = f"nothing that waits here fits `{self.options}`"
            words += f"; {proposals_wait(count)}: `crabmem review list`" if count else ""
        beside = proposals.waiting_beside(memory, self.by, self.in_session, self.tags)
        return "\n".join([words, *waiting_lines(beside, self.options)])

    def found(self, memory: Session) -> list[Proposal]:
        """Return what waits from an agent, from a session or on tagged facts; without a filter, all of it."""
        return proposals.proposals(memory, self.by, self.in_session, self.tags)

    def chosen(self, memory: Session) -> list[Proposal]:
        """Return the named proposals.

        Raises:
            UsageError: nothing is named, or it is named in two ways.
            NotFound: no proposal has such an id.
        """
        if bool(self.ids) + (self._is_some or self.is_all) != 1:
            raise click.UsageError("name proposals by their ids, or by --by, --in, --tag or --all")
        if self.ids:
            return [proposals.proposal(memory, id) for id in dict.fromkeys(self.ids)]
        return self.found(memory)


def waiting_lines(beside: Mapping[str, int], options: str = "") -> list[str]:
    """Return how much waits in other memories, by their folders, and what is typed to decide on it."""
    review = f"review {options}".rstrip()
    return [
        f"{proposals_wait(count)} in {folder}: `{program_at(folder, os.environ)} {review}`"
        for folder, count in beside.items()
    ]


def proposals_wait(count: int) -> str:
    """Return `1 proposal waits`, or how many wait."""
    return f"{counted(count, 'proposal')} {'waits' if count == 1 else 'wait'}"


def selected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give `function` the options that filter proposals, as its argument `meant`."""
    return _with_selection(function, _SOME)


def selected_by_id(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give `function` those options, ids and `--all`, as its argument `meant`."""
    return _with_selection(function, (_ALL, *_SOME, _IDS))


def _with_selection(function: Callable[..., Any], options: Iterable[Callable[..., Any]]) -> Callable[..., Any]:
    """Give a verb the `options`; `function` gets their values as one `Selection`, its argument `meant`."""

    @wraps(function)
    def call(
        *args: Any,
        by: str | None,
        in_session: str | None,
        tags: tuple[str, ...],
        ids: tuple[str, ...] = (),
        is_all: bool = False,
        **given: Any,
    ) -> Any:
        return function(*args, meant=Selection(by, in_session, tags, ids, is_all), **given)

    found: Callable[..., Any] = call
    for option in options:
        found = option(found)
    return found


def show_outcomes(json_wanted: bool, outcomes: Sequence[Outcome], proposed: Iterable[Proposal]) -> None:
    """Print what became of decisions on the proposals in `proposed`.

    Raises:
        CrabmemError: a decision failed: the first such error, after all outcomes are printed.
    """
    about = {each.id: each.change for each in proposed}
    data = {"proposals": [_outcome_data(each) for each in outcomes]}
    show(json_wanted, data, lambda: "\n".join(_outcome_line(each, about) for each in outcomes))
    if failed := next((each.error for each in outcomes if each.error), None):
        raise failed


def _outcome_line(outcome: Outcome, about: Mapping[str, str]) -> str:
    decision, error = outcome.decision, outcome.error
    gone = isinstance(error, NotFound)  # as by another review at the same time
    told = (
        f"{'decided already' if gone else 'waits still'} ({error.problem})"
        if error
        else _DONE[decision.what] + (", reworded" * bool(decision.wording))
    )
    why = f" ({decision.why})" if decision.why else ""
    return plain(spelled(f"{short(decision.id)}  {told}: {about[decision.id]}{why}"))


def _outcome_data(outcome: Outcome) -> dict[str, object]:
    """Return an outcome for JSON; one that failed counts as "later", as the proposal still waits."""
    decision, error = outcome.decision, outcome.error
    done = "later" if error else decision.what
    return {
        "id": decision.id,
        "done": done,
        "reworded": bool(decision.wording),
        "why": decision.why or (error.problem if error else None),
    }
