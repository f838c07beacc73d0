"""Opening the memory that the global options name, for a verb."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InvalidSettings, NotFound
from ..text.comparison import nearest
from ..text.hashes import short
from ..text.values import replace
from .options import global_options
from .output import echo, tell, warn

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..session.session import Session

# Fewer entries are read before anybody has read that.
_MANY = 2_000


def open_session(is_person: bool = True, tells_place: bool = True, is_brief: bool = True) -> Session:
    """The memory that the global options name, closed when the verb is done.

    Who types a verb without naming an agent is the person, unless `is_person` says otherwise. Where there is no memory
    yet, the person is told, for the folder may be mistyped; not so without `tells_place`. A verb that goes on for long
    is not `is_brief`. In a session of a kind whose tools only look, verbs write nothing either.
    """
    from ..session.engine import Options
    from ..session.init import is_begun
    from ..session.opening import session_at
    from ..session.rules import settings_problem
    from ..write.actor import Actor

    ctx, wanted = click.get_current_context(), global_options()
    options = Options(
        progress=_show_reading if sys.stderr.isatty() else None,
        profile=wanted.profile,
        is_parent_named=wanted.names_agent,
        is_brief=is_brief,
        is_alone=wanted.alone,
        project=wanted.worked_in,
    )
    actor = Actor(wanted.agent, wanted.session, is_person, proposes=wanted.propose)
    memory = session_at(wanted.place, actor, wanted.kind, options)
    ctx.call_on_close(lambda: memory.close(wait=False))
    ctx.call_on_close(lambda: _tell_waiting(memory))
    if is_brief and memory.kind != "main" and memory.profile.limits_tools(memory.kind):
        from ..tools.toolbox import Toolbox  # late: most sessions have all tools

        memory.actor = replace(memory.actor, only_reads=Toolbox(memory).only_look)
    if is_person and tells_place and not is_begun(memory):
        memory.engine.history.ownership.keep_out_of_projects(Path.home())
        ctx.with_resource(_telling_place(memory))
    elif is_person and tells_place and not os.path.lexists(git := os.path.join(memory.engine.workspace.folder, ".git")):
        ctx.call_on_close(lambda: _tell_new_history(git))
    for repair in memory.recovered:
        tell(repair)
    if problem := settings_problem(memory):
        if memory.actor.is_agent:
            ctx.with_resource(_warning(problem))
        else:
            warn([problem])
    return memory


@contextmanager
def _warning(problem: str) -> Iterator[None]:
    """Warn of settings at the end, but where an agent's write was refused for them: the refusal says the same.

    Raises:
        InvalidSettings: the refusal.
    """
    is_said = False
    try:
        yield
    except InvalidSettings:
        is_said = True
        raise
    finally:
        if not is_said:
            warn([problem])


def _tell_waiting(memory: Session) -> None:
    """Say what of an agent's write was not written, as it waits for the person, and in which memory if not here."""
    if not memory.withheld:
        return
    from ..operations.proposals import places_beside  # late, as what follows: mostly nothing waits
    from ..text.addresses import address
    from ..text.commands import program_at

    places = places_beside(memory, memory.withheld)
    for proposal in memory.withheld:
        name, folder = places.get(proposal.id, ("", ""))
        way = f": `{program_at(folder, os.environ)} review`" if folder else ""
        where = address(name, proposal.path) if name else proposal.path
        tell(f"not written yet, as it waits for the person ({proposal.rule}): {short(proposal.id)}  {where}{way}")


def _tell_new_history(git: str) -> None:
    """Say that a verb began a history beside files: somebody may have removed the one that was there."""
    if os.path.lexists(git):
        tell(f"began a new history: there was none in {git}")


@contextmanager
def telling_whole_file(memory: Session, name: str) -> Iterator[None]:
    """Where no fact is called `name`, but MEMORY.md, Crab.md or the settings are, name the verb that shows that file.

    Raises:
        NotFound: what was looked for within is not there.
    """
    try:
        yield
    except NotFound as error:
        layout = memory.layout
        verbs = {layout.overview: "overview", layout.identity: "identity"}
        path = layout.whole_file(name)
        if path is None:
            raise
        raise NotFound(f"{error.problem}: `crabmem {verbs.get(path, 'config')}` shows that file") from None


@contextmanager
def _telling_place(memory: Session) -> Iterator[None]:
    """Say of a folder without a memory that it is one, or that a verb began a memory there.

    Raises:
        NotFound: the verb did not find something, which says now that there is nothing at all.
    """
    from ..session.init import is_begun
    from ..session.locate import neighbours

    near = nearest(memory.root.name, neighbours(memory.engine.workspace))
    hint = f"; did you mean --workspace {near[0]}?" if near else ""
    nothing = f"there is no memory in {memory.root} yet{hint}"
    try:
        yield
    except NotFound as error:
        raise NotFound(nothing) from error
    if not is_begun(memory):
        tell(nothing)
    elif memory.root != Path.home() / ".crabmem":  # which nobody mistypes
        tell(f"began a new memory in {memory.root}{hint}")


def _show_reading(done: int, total: int) -> None:
    """Say how far the first reading of many entries is."""
    if total >= _MANY:
        echo(f"\rreading facts: {done:,} of {total:,}" if done < total else "\r\033[K", err=True)
