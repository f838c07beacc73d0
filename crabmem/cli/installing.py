"""The verbs that make crabmem a part of a host, and take it out again. What they need is loaded when they run."""

import click

from .base import as_json, dry, sure


def _known(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a host."""
    from ..hosts import NAMES

    if value is not None and value not in NAMES:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(NAMES)}.", ctx, param)
    return value


def _completed(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The hosts whose names begin so."""
    from ..hosts import NAMES

    return [name for name in NAMES if name.startswith(begun)]


in_project = click.option("--project", is_flag=True, help="In this folder's configs instead of yours.")


@click.command()
@click.argument("name", metavar="[HOST]", callback=_known, shell_complete=_completed, required=False)
@in_project
@click.option("--no-hooks", is_flag=True, help="The server alone: nothing is said before a turn or at the end.")
@click.option(
    "--no-server", is_flag=True, help="The hooks alone: the agent is told what memory holds, and has no tools."
)
@click.option("--auto-memory", is_flag=True, help="Claude Code keeps its own memory in the workspace too.")
@dry
@sure
@as_json
@click.pass_context
def install(
    ctx: click.Context,
    name: str | None,
    project: bool,
    no_hooks: bool,
    no_server: bool,
    auto_memory: bool,
    dry_run: bool,
    yes: bool,
    json_wanted: bool,
) -> None:
    """Give an agent's host this memory: the server with its tools, and hooks that recall by themselves.

    \b
    crabmem install                            which hosts there are, found and installed
    crabmem install claude-code --dry-run      what would change in its configs
    crabmem install claude-code
    crabmem --dir ~/notes install codex        another workspace than yours

    It edits the host's own configs and nothing else in them: comments, order and what others registered stay. The
    diff comes first and needs a yes (--yes where nobody can be asked), and what was there is kept beside each. Twice is
    harmless, and renews paths that moved.
    """
    from . import hosting

    if name is None:
        return hosting.show_all(ctx, json_wanted)
    if no_hooks and no_server:
        raise click.UsageError("--no-hooks and --no-server together leave nothing to install")
    asked = hosting.Asked(project, dry_run, yes, json_wanted)
    hosting.install(ctx, name, asked, hooks=not no_hooks, server=not no_server, auto_memory=auto_memory)


@click.command()
@click.argument("name", metavar="HOST", callback=_known, shell_complete=_completed)
@in_project
@dry
@sure
@as_json
@click.pass_context
def uninstall(ctx: click.Context, name: str, project: bool, dry_run: bool, yes: bool, json_wanted: bool) -> None:
    """Take crabmem out of a host's configs again. What you changed in them since stays; so does the memory.

    A config that nobody else changed is then what it was, byte for byte.
    """
    from . import hosting

    hosting.uninstall(ctx, name, hosting.Asked(project, dry_run, yes, json_wanted))


COMMANDS = (install, uninstall)
