"""`crabmem install`: gives an agent's host this memory."""

from typing import Any

import click

from ...errors import NotFound
from ..app import verb
from ..options import dry_run_option, json_option, yes_option

_FORMER = {"ours": "only", "host": "beside", "both": "inside"}


def check_host(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Callback of the argument HOST: return the name of the host; None if none is given.

    Raises:
        BadParameter: there is no such host.
    """
    from ...hosts.table import host_named

    try:
        return value if value is None else host_named(value).name
    except NotFound as error:
        raise click.BadParameter(f"{error}.", ctx, param) from None


def complete_hosts(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The hosts whose names begin with what was typed."""
    from ...hosts.table import NAMES

    return [name for name in NAMES if name.startswith(begun)]


here_option = click.option("--here", "project", is_flag=True, help="In this folder's configs instead of yours.")


class _Whose(click.Choice[str]):
    """A choice that takes the former words, too, for one more version."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(_FORMER.get(value, value), param, ctx)


class _WithHosts(click.Command):
    """Lists the hosts in its help; only then are they loaded."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ...hosts.table import HOSTS

        with formatter.section("Hosts"):
            rows = [(host.name, host.title + ("" if host.hooks else ", the server alone")) for host in HOSTS]
            formatter.write_dl(rows)


@verb(after="Agents", cls=_WithHosts)
@click.argument("name", metavar="[HOST]", callback=check_host, shell_complete=complete_hosts, required=False)
@here_option
@click.option("--no-hooks", is_flag=True, help="The server alone: nothing is said before a turn or at the end.")
@click.option(
    "--no-server", is_flag=True, help="The hooks alone: the agent is told what memory holds, and has no tools."
)
@click.option(
    "--allow/--no-allow",
    default=None,
    help="Let it use memory without asking each time, or as its own rules say.  [default: asks; with --yes, allow]",
)
@click.option(
    "--memory", type=_Whose(("only", "beside", "inside")),
    help="This memory only, the host's own beside it, or the host's own inside this folder (Claude Code).  "
    "[default: asks; with --yes, beside]",
)  # fmt: skip
@dry_run_option
@yes_option
@json_option
def install(
    name: str | None,
    project: bool,
    no_hooks: bool,
    no_server: bool,
    allow: bool | None,
    memory: Any,
    dry_run: bool,
    yes: bool,
    json_wanted: bool,
) -> None:
    """Give this memory to the program that runs your agent.

    It gets the server with its tools, and hooks where it has those, which recall by themselves.

    \b
    crabmem install                            which hosts there are, found and installed
    crabmem install claude-code --dry-run      what would change in its configs
    crabmem install claude-code
    crabmem --dir ~/notes install codex        another workspace than yours
    crabmem --project . install codex          each Git repository has a memory of its own

    It edits the host's own configs and nothing else in them: comments, order and what others registered stay. The
    diff comes first and needs a yes (--yes where nobody can be asked), and what was there is kept beside each. Twice is
    harmless, and renews paths that moved; what you decided before stays so.

    On a terminal it asks two things, once. May the agent use memory without asking you each time? Every write is a
    commit, so yes is safe; the answer becomes the host's own permission for this server and no other. And, where the
    host has a memory of its own: which of them is it to use? Its own goes on unless you say `only`: then it is
    switched off where it has a setting for that, and what is in it is imported first, in one commit; nothing of it is
    deleted. `crabmem uninstall` takes all of this back.
    """
    from .. import hosting

    if name is None:
        return hosting.show_all(json_wanted)
    if no_hooks and no_server:
        raise click.UsageError("--no-hooks and --no-server together leave nothing to install")
    request = hosting.Request(project, dry_run, yes, json_wanted, allow, memory)
    hosting.install(name, request, hooks=not no_hooks, server=not no_server)
