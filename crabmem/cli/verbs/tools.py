"""`crabmem tools`: the tools an agent is offered."""

import click

from ...tools.formats import FORMATS
from ...tools.toolbox import Toolbox
from ..app import open_session, verb
from ..options import json_option
from ..output import as_text, show


@verb(after="mcp")
@click.option(
    "--format", "wanted", type=click.Choice(list(FORMATS)), help="Print them as that API takes them, in JSON."
)
@json_option
def tools(wanted: str | None, json_wanted: bool) -> None:
    """List the tools an agent is offered; with --json, their schemas.

    With --format, the definitions for function calling: answer each call of the model with `crabmem call`.

    \b
    crabmem tools
    crabmem tools --format anthropic > tools.json
    """
    offered = Toolbox(open_session(tells_place=False)).offered
    if wanted:
        return click.echo(as_text(FORMATS[wanted](offered), indent=2))
    data = [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in offered]
    width = max((len(tool.name) for tool in offered), default=0)
    lines = (f"{tool.name.ljust(width)}  {tool.description.splitlines()[0]}" for tool in offered)
    show(json_wanted, {"tools": data}, lambda: "\n".join(lines))
