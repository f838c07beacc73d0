"""Which of what waits a verb is about, by ids, agent, session or tag; and what became of the decisions on it."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from ..errors import NotFound
from ..operations import proposals
from ..operations.review import Outcome
from ..results import Proposal
from ..session.session import Session
from ..text.hashes import short
from .completing import complete_from, complete_sessions, complete_writers
from .declared import TAGS
from .options import as_click
from .output import plain

_DONE = {"apply": "applied", "reject": "rejected", "later": "waits"}
complete_ids = complete_from(lambda memory: [short(proposal.id) for proposal in proposals.proposals(memory)])


def selected(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name some of what waits: `by`, `in_session` and `tags`."""
    for option in (
        as_click(TAGS),
        click.option(
            "--in", "in_session", metavar="S", shell_complete=complete_sessions, help="What was written in a session."
        ),
        click.option("--by", metavar="A", shell_complete=complete_writers, help="What an agent wrote."),
    ):
        function = option(function)
    return function


def meant_by(memory: Session, by: str | None, in_session: str | None, tags: Sequence[str]) -> list[Proposal]:
    """What waits of an agent, a session or facts with a tag; of everybody where none is named."""
    return proposals.proposals(memory, by, in_session, tags)


def chosen(
    memory: Session, ids: Sequence[str], by: str | None, in_session: str | None, tags: Sequence[str], is_all: bool
) -> list[Proposal]:
    """The proposals that words and options name.

    Raises:
        UsageError: they name none, or twice.
        NotFound: there is no proposal with such an id.
    """
    is_some = any(each is not None for each in (by, in_session, tags or None))
    if bool(ids) + (is_some or is_all) != 1:
        raise click.UsageError("name proposals by their ids, or by --by, --in, --tag or --all")
    if ids:
        return [proposals.proposal(memory, id) for id in dict.fromkeys(ids)]
    return meant_by(memory, by, in_session, tags)


def outcome_line(outcome: Outcome) -> str:
    """What became of one decision, for a person."""
    decision, error = outcome.decision, outcome.error
    gone = isinstance(error, NotFound)  # as by another review at the same time
    told = (
        f"{'decided already' if gone else 'waits still'}: {error.problem}"
        if error
        else _DONE[decision.what] + (", reworded" * bool(decision.wording))
    )
    why = f" ({decision.why})" if decision.why else ""
    return plain(f"{short(decision.id)}  {told}{why}")


def outcome_data(outcome: Outcome) -> dict[str, object]:
    """The same as data."""
    decision, error = outcome.decision, outcome.error
    done = "later" if error else decision.what
    return {
        "id": decision.id,
        "done": done,
        "reworded": bool(decision.wording),
        "why": decision.why or (error.problem if error else None),
    }
