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

# Entries from which on progress is shown: fewer are read before a person could notice it.
_MANY = 2_000


def open_session(is_person: bool = True, tells_place: bool = True, is_brief: bool = True) -> Session:
    """Open the memory that the global options name; click closes it when the verb ends.

    The session is the person's unless an agent is named; with `is_person` False it is nobody's then. If there is no
    memory in the folder yet, tell so, as the folder may be mistyped; `tells_place` False leaves that out. A verb that
    runs for long gives `is_brief` False. If the profile gives sessions of this kind only tools that read, verbs cannot
    write either.

    Also tells what a crash left and was finished, warns of unknown settings, and tells at the end what waits for the
    person instead of being written.
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
    """Warn of a problem in the settings after the block, unless the block raises InvalidSettings, which says the same.

    Raises:
        InvalidSettings: the block raised it: an agent's write was refused.
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
    """Tell which writes of the session wait for the person, each with its id; if in another memory, in which."""
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
    """Tell if a verb began a history for files that had none: somebody may have removed the old one by mistake."""
    if os.path.lexists(git):
        tell(f"began a new history: there was none in {git}")


@contextmanager
def telling_whole_file(memory: Session, name: str) -> Iterator[None]:
    """Let a NotFound of the block name the verb to use, if `name` means MEMORY.md, Crab.md or the settings.

    Raises:
        NotFound: the block found no fact `name`.
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
    """For a folder without a memory: tell at the end that there is none, or that the verb began one.

    Raises:
        NotFound: the block did not find something; the message now says that there is no memory at all.
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
    """Show how many entries were read, if there are many."""
    if total >= _MANY:
        echo(f"\rreading facts: {done:,} of {total:,}" if done < total else "\r\033[K", err=True)
