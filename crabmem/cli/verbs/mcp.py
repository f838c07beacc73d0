"""The verb for hosts that speak the Model Context Protocol."""

import os
import secrets
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ..app import open_session, verb
from ..completing import complete_listed_tools
from ..options import global_options, tool_names
from ..output import Failure, tell, tell_always

if TYPE_CHECKING:
    from ...mcp.served import Served

_PORT = 8765
_HINT = """\b
Over standard input and output, as hosts start it:
  claude mcp add crabmem -- crabmem mcp
Over HTTP, on this machine only, for who names the token:
  CRABMEM_TOKEN=… crabmem mcp --http --port 8765"""


@verb(after="profile", epilog=_HINT)
@click.option("--http", is_flag=True, help="Over HTTP at 127.0.0.1, instead of standard input and output.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=_PORT, show_default=True, help="With --http: 0 is any free one."
)
@click.option(
    "--token", metavar="T", envvar="CRABMEM_TOKEN",
    help="With --http: what clients must name; without it one is made and told.  [env: CRABMEM_TOKEN]",
)  # fmt: skip
@click.option(
    "--tools",
    metavar="A,B,…",
    shell_complete=complete_listed_tools,
    help="Only these tools, of all there are; also get, list, log, that only look, and note.",
)
@click.option(
    "--data",
    is_flag=True,
    help="For programs: answers are data too, with schemas. Over HTTP a client may ask by ?data=1 in its URL.",
)
@click.pass_context
def mcp(ctx: click.Context, http: bool, port: int, token: str | None, tools: str | None, data: bool) -> None:
    """Serve memory to an agent's host by MCP, until it closes the connection or Ctrl-C.

    Tools, resources and prompts; your edits are recorded as you pause, and hosts are told of them. Who writes is the
    client by its own name, in the session that its host names, unless --agent and --session say otherwise. --http needs
    the extra `mcp-http`.
    """
    if not http:
        _refuse_what_is_for_http(ctx)
        if sys.stdin.isatty():
            tell("waiting for a host on standard input; `crabmem mcp --help` says how one starts this")
        from ...mcp.stdio import process_server

        # Before the memory is opened: the client may ask already.
        server = process_server()
        served = _open_served(tools, data, os.environ)
        from ...standby.offer import offering  # late: the client is answered first

        with offering(os.environ):
            return server.serve(served, sys.argv[1:], os.environ)
    try:
        from ...mcp.http import over_http
    except ImportError:  # also of an older library, which lacks a name
        from ...text.extras import how_to_get

        needed = how_to_get("mcp-http")
        raise Failure(f"`crabmem mcp --http` needs the libraries of the extra mcp-http: {needed}") from None
    # No host started this process: its environment is that of the person who typed the command, and not a client's.
    served = _open_served(tools, data, {})
    made = token or secrets.token_urlsafe(24)

    def ready(address: str) -> None:
        tell_always(
            f"serving {served.memory.root} at {address}; stop with Ctrl-C" + ("" if token else f"\ntoken: {made}")
        )

    from ...standby.offer import offering

    with offering(os.environ):
        over_http(served, port, made, ready)


def _refuse_what_is_for_http(ctx: click.Context) -> None:
    for name in ("port", "token"):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} goes with --http")


def _open_served(tools: str | None, data: bool, environment: Mapping[str, str]) -> "Served":
    """Open the memory that the options name, for clients.

    `environment` is the one that the client's host started us with; over HTTP there is none.
    """
    from ...mcp.served import Served

    wanted = global_options()
    return Served(
        open_session(is_person=False, is_brief=False),
        wanted.agent,
        wanted.session,
        tool_names(tools),
        data,
        environment,
    )
