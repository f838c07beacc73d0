"""`crabmem call`: calls a tool as an agent's host does."""

import click

from ...errors import CrabmemError
from ...session.session import Session
from ...tools.toolbox import Toolbox
from ..app import open_session, verb
from ..completing import complete_listed_tools, complete_tools
from ..input import standard_input
from ..options import json_option, tool_names
from ..output import Failure, exit_failed, plain, show


@verb(after="tools")
@click.argument("tool", shell_complete=complete_tools)
@click.argument("arguments", metavar="[JSON|-]", default="{}")
@click.option(
    "--tools",
    metavar="A,B,…",
    shell_complete=complete_listed_tools,
    help="Of these tools, as `crabmem mcp --tools`, instead of those offered.",
)
@json_option
def call(tool: str, arguments: str, tools: str | None, json_wanted: bool) -> None:
    """Call a tool exactly as an agent's host does; `-` reads the JSON from stdin.

    What `crabmem tools` lists can be called; others that there are have to be asked for by name.

    \b
    crabmem call recall '{"query": "deploy key"}'
    crabmem call --tools get,log log '{"limit": 3}'
    """
    memory, names = open_session(is_person=False), tool_names(tools)
    if names is None and not json_wanted and _is_offered_by_name_only(memory, tool):
        raise Failure(
            f"{tool} is not among the tools offered; ask for it by name: crabmem call --tools {tool} {tool} …"
        )
    given = standard_input(may_be_empty=True) if arguments == "-" else arguments  # what is wrong with it, the tool says
    result = Toolbox(memory).call(tool, given, names)
    data = {"text": result.text, "data": result.data, "is_error": result.is_error}
    if result.is_error and not json_wanted:
        raise Failure(result.text.partition("\n")[0])
    show(json_wanted, data, lambda: plain(result.text))
    if result.is_error:
        exit_failed()


def _is_offered_by_name_only(memory: Session, tool: str) -> bool:
    """Return whether there is a tool of that name that is not offered unless it is asked for by name."""
    try:
        return tool not in Toolbox(memory).usual and bool(Toolbox(memory).chosen([tool]))
    except CrabmemError:  # there is no such tool, or the call itself will report what is wrong
        return False
