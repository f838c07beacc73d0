"""The verb `hook`. A process comes here only for its help, and within a program: see `hosts.hooks.command`."""

import os
import sys

import click

from ...hosts.host import EVENTS
from ...hosts.table import HOSTS
from ..app import verb
from ..options import global_options, json_option


@verb(after="call")
@click.argument("event", required=False, type=click.Choice(EVENTS))
@click.option(
    "--host",
    type=click.Choice([host.name for host in HOSTS if host.hooks]),
    help="Who asks; without it, its JSON tells.",
)
@click.option(
    "--deadline", metavar="SECONDS", type=float,
    help="Say nothing rather than later.  [default: 1.4; at session-start and wrote 5]",
)  # fmt: skip
@click.option("--guide", is_flag=True, help="At session-start, say how to use memory: for hosts that do not show it.")
@click.option("--without", type=click.Choice(("overview",)), help="What session-start need not say: the host reads it.")
@json_option
def hook(
    event: str | None,
    host: str | None,
    deadline: float | None,
    guide: bool,
    without: str | None,
    json_wanted: bool,
) -> None:
    """Answer the host of an agent at an event of its session: its JSON on stdin, ours on stdout.

    \b
    session-start  who the agent is and the overview
    prompt         what memory holds that bears on the message, if anything
    wrote          record the file that a tool of the host wrote, as this agent's
    stop           one more turn to store what is worth keeping; [hooks] in crabmem.toml says when
    pre-compact    remember that what was said goes out of sight
    session-end    record what is on disk and in no commit yet

    Without EVENT the JSON tells which. The agent is --agent, else the host; the session is the host's. It
    never gets in the way: whatever is wrong, it says {} in time, exits with 0, and why is in .git/crabmem/hooks.log.
    To Claude Code's pre-compact it says nothing at all: what is printed there goes to the model.

    \b
    echo '{"session_id": "s-1", "prompt": "where is the deploy key"}' | crabmem hook prompt --host claude-code
    """
    from ...hosts.hooks.command import Command
    from ...hosts.hooks.input import parse_input
    from ...hosts.hooks.process import answer_event

    wanted, command = global_options(), Command([])
    command.is_guide = guide
    command.options |= {
        "--agent": wanted.agent or "",
        "--session": wanted.session or "",
        "--profile": wanted.profile or "",
        "--kind": wanted.kind,
        "--without": without or "",
    }
    given = parse_input(sys.stdin.buffer.read(), event, host)
    click.echo(answer_event(given, wanted.root.absolute(), command, os.environ, lambda: True), nl=False)
