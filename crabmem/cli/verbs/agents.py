"""The verb about agents that have a workspace of their own."""

import click

from ...operations import agents
from ...results import Agent, Begun, json_of
from ...text.words import counted
from ..app import open_session, verb
from ..completing import complete_agents
from ..input import LINE
from ..options import json_option
from ..output import minute, plain, show, tell


@verb(after="uninstall", cls=click.Group, invoke_without_command=True)
@json_option
@click.pass_context
def agents_verbs(ctx: click.Context, json_wanted: bool) -> None:
    """List, make or copy agents with a memory of their own.

    Each lies in agents/NAME with a history of its own. Files of the prompt that it lacks are those of the workspace
    around it. `crabmem --workspace NAME` before any verb is about that agent's memory.

    \b
      crabmem agents new coder
      crabmem --workspace coder remember "Code style" -d "how code is formatted" -c "120 columns."
      crabmem agents clone coder reviewer
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, json_wanted=json_wanted)


@agents_verbs.command("list", hidden=True)
@json_option
def list_(json_wanted: bool) -> None:
    """List the agents, with how many facts each has and when it was last written.

    \b
    crabmem agents list --json
    """
    memory = open_session()
    found = agents.agents(memory)
    data = {"workspace": str(memory.root), "agents": [json_of(agent) for agent in found]}
    show(json_wanted, data, lambda: "\n".join(map(_line, found)))
    if not found and not json_wanted:
        tell(f"no agent has a workspace of its own in {memory.root}; `crabmem agents new NAME` makes one")


@agents_verbs.command()
@click.argument("name")
@click.option("-d", "--description", type=LINE, default="", help="What it is for, where the profile keeps that.")
@json_option
def new(name: str, description: str, json_wanted: bool) -> None:
    """Make a workspace for the agent NAME, with the files that the profile has it begin with.

    \b
    crabmem agents new coder
    crabmem --profile legion agents new coder -d "writes the code"
    """
    _say(agents.new_agent(open_session(), name, description), json_wanted)


@agents_verbs.command()
@click.argument("source", metavar="FROM", shell_complete=complete_agents)
@click.argument("target", metavar="TO", shell_complete=complete_agents)
@json_option
def clone(source: str, target: str, json_wanted: bool) -> None:
    """Copy the memory of the agent FROM to the agent TO, who may be new; `.` is the workspace around them.

    The profile says which files that are. What TO has already stays as it is.

    \b
    crabmem agents clone coder reviewer
    crabmem agents clone . coder
    """
    _say(agents.clone_agent(open_session(), source, target), json_wanted)


def _line(agent: Agent) -> str:
    written = minute(agent.written) if agent.written else "never"
    return plain(f"{agent.name}  {counted(agent.entries, 'fact')}, last written {written}  {agent.root}")


def _say(done: Begun, json_wanted: bool) -> None:
    show(json_wanted, json_of(done), lambda: "\n".join([done.root, *(f"  {plain(path)}" for path in done.paths)]))
    if done.left and not json_wanted:
        tell(f"already there, and left as they are: {', '.join(done.left)}")
    if not (done.made or done.paths or done.left or json_wanted):
        tell("there is nothing to copy")
