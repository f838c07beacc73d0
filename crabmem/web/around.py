"""Views on other machines, other workspaces, and figures of how memory grew and was used."""

from typing import Any

from ..operations import agents, maintenance, proposals, reading, status, syncing
from .asking import Ask, Page
from .plots import columns, growth

_STRIDES = 90
_MOST_USED = 15


def sync(ask: Ask) -> Page:
    """Show how syncing stands, without asking the remote, and the texts that two machines disagree about."""
    waiting = [each for each in ask.waiting if proposals.is_of_sync(each)]
    return Page("sync", {"title": "Sync", "state": syncing.sync_status(ask.session), "conflicts": waiting})


def workspaces(ask: Ask) -> Page:
    """This workspace, and those of agents in it."""
    shown = {"title": "Workspaces", "status": status.status(ask.session), "agents": agents.agents(ask.session)}
    return Page("workspaces", shown)


def figures(ask: Ask) -> Page:
    """Writes by author and facts over time, what recall used, how often memory spoke."""
    strides, people = ask.chronicle.strides(_STRIDES), ask.chronicle.people()
    shown = {
        "title": "Figures", "used": _most_used(ask), "stats": maintenance.stats(ask.session),
        "writes": columns(strides, people) if strides else None, "growth": growth(strides) if strides else None,
    }  # fmt: skip
    return Page("figures", shown)


def _most_used(ask: Ask) -> list[tuple[Any, int, Any]]:
    """Return the headers of the facts that were used most, each with how often and when last."""
    known = ask.session.engine.uses.known()
    headers, _ = reading.headers_and_unreadable(ask.session)
    found = [(header, used.times, used.last) for header in headers if (used := known(header.path))]
    return sorted(found, key=lambda row: (-row[1], row[0].name))[:_MOST_USED]
