"""The verbs for the workspace itself."""

import signal
import sys
import threading

import click
from click.shell_completion import get_completion_class

from ..errors import CrabmemError
from ..operations import maintenance, setup
from ..operations.doctor.examine import CHECKS
from ..results import Stats, json_of
from ..session.session import Session
from ..text.hashes import short
from ..text.words import counted
from ..tools.formats import FORMATS
from ..tools.toolbox import Toolbox
from .base import (
    TEXT,
    Failure,
    as_json,
    as_profile,
    as_text,
    cli,
    dry,
    names_of,
    opened,
    plain,
    show,
    tell,
    wanted_of,
    warn_of_secrets,
)

_WIDTH = 30
_COLOURS = {"error": "red", "warning": "yellow", "info": None}


@click.command()
@as_profile
@dry
@as_json
@click.pass_context
def init(ctx: click.Context, dry_run: bool, json_wanted: bool) -> None:
    """Make the workspace, also inside a repository of yours. Twice is harmless.

    With --profile, also for one that is there: crabmem.toml names the profile, and the files that it begins with are
    made where there are none, in one commit. What is there stays as it is, and what you once deleted stays away.

    Other verbs make the workspace too when they first write, but never inside a repository of something else.

    \b
    crabmem init --profile camel                 see `crabmem profile list`
    """
    memory = opened(ctx, tells_place=False)
    begin = setup.use_profile if wanted_of(ctx).profile else setup.init
    done = begin(memory, claim=True, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    words = f"{verb if done.made else 'already there:'} {memory.root}"
    show(json_wanted, json_of(done), lambda: words)
    if done.paths and not json_wanted:
        tell(f"{'would write' if dry_run else 'wrote'} {', '.join(done.paths)}")


@click.command()
@as_json
@click.pass_context
def path(ctx: click.Context, json_wanted: bool) -> None:
    """Print the folder of the workspace."""
    root = str(opened(ctx, tells_place=False).root)
    show(json_wanted, {"path": root}, lambda: root)


@click.command()
@as_json
@click.pass_context
def stats(ctx: click.Context, json_wanted: bool) -> None:
    """How much there is, and how often it spoke before a turn without being asked."""
    found = maintenance.stats(opened(ctx))
    show(json_wanted, json_of(found), lambda: _told(found))


def _told(found: Stats) -> str:
    """The figures for a person."""
    unreadable = f", {counted(found.unreadable, 'file')} unreadable" if found.unreadable else ""
    facts = f"{found.entries:,} fact{'' if found.entries == 1 else 's'}{unreadable}"
    if not found.since:
        return f"{facts}\nno host has asked before a turn yet (`before_turn`)"
    share = found.spoke / found.turns
    return (
        f"{facts}\n{found.turns:,} turns in {found.sessions:,} sessions since {found.since:%Y-%m-%d}: "
        f"spoke before {found.spoke:,} ({share:.0%}), of {found.facts:,} facts in {found.characters:,} characters"
    )


@click.command()
@click.option("--fix", is_flag=True, help="First mend what can be mended without a choice.")
@as_json
@click.pass_context
def doctor(ctx: click.Context, fix: bool, json_wanted: bool) -> None:
    """Look for what is wrong or odd: a line for each check that is fine, and for each finding what mends it.

    Reads the whole history, as `git fsck` does, and changes nothing without --fix. Exit status 1 when there
    is an error.
    """
    from . import hosting

    memory = opened(ctx)
    if fix:
        _mend(memory)
    findings = [*maintenance.doctor(memory, _progress), *hosting.findings()]
    troubled = {finding.check for finding in findings if finding.level != "info"}
    fine = (f"{click.style('ok', fg='green')}: {check}" for check in (*CHECKS, "hosts") if check not in troubled)
    lines = (
        f"{click.style(finding.level, fg=_COLOURS[finding.level])}: "
        + plain(f"{finding.path}: {finding.message}" if finding.path else finding.message)
        for finding in findings
    )
    show(json_wanted, json_of(findings), lambda: "\n".join((*fine, *lines)))
    if any(finding.level == "error" for finding in findings):
        ctx.exit(1)


def _mend(memory: Session) -> None:
    try:
        for words in maintenance.mend(memory):
            tell(f"mended: {words}")
    except CrabmemError as error:  # what is wrong is told with the rest
        tell(f"not mended: {error}")


def _progress(count: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\rchecking the history: {count} objects", err=True, nl=False)


@click.command()
@as_json
@click.pass_context
def reindex(ctx: click.Context, json_wanted: bool) -> None:
    """Read every fact anew, and make the vectors that recall by meaning still lacks.

    Recall does both by itself, a little at a time. Do this once after you named a model or a service under
    [vectors] in crabmem.toml, and allowed that with `crabmem config allow`: it fetches a model that is not on this
    machine, which recall never does.
    """
    done = maintenance.reindex(opened(ctx), _embedding)
    about = f"; vectors by {done.embedder}, {done.dimension} dimensions: {done.made} made now" if done.embedder else ""
    sections = f" and {done.sections} sections of files" if done.sections else ""
    show(json_wanted, json_of(done), lambda: f"read: {done.entries} entries{sections}{plain(about)}")


def _embedding(done: int, total: int) -> None:
    if sys.stderr.isatty():
        width = round(_WIDTH * done / total)
        bar = f"\rmaking vectors: [{'#' * width}{'-' * (_WIDTH - width)}] {done:,} of {total:,}"
        click.echo(bar if done < total else "\r\033[K", nl=False, err=True)


@click.command()
@click.option("--json", "json_wanted", is_flag=True, help="Print a line of JSON for each commit.")
@click.pass_context
def watch(ctx: click.Context, json_wanted: bool) -> None:
    """Record edits as soon as you pause, until Ctrl-C. Without it they are recorded at the next write."""
    from ..watch import watched

    memory = opened(ctx)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    tell(f"watching {memory.root}; stop with Ctrl-C")
    said = ""
    for item in watched(memory, stop):
        if isinstance(item, CrabmemError):
            if str(item) != said:
                tell(f"crabmem: {item}")
            said = str(item)
        else:
            click.echo(as_text(json_of(item)) if json_wanted else f"{short(item.commit)}  {plain(item.subject)}")
            warn_of_secrets(memory, item.paths)


@click.command()
@click.argument("tool")
@click.argument("arguments", metavar="[JSON|-]", type=TEXT, default="{}")
@click.option("--tools", metavar="A,B,…", help="Of these tools, as `crabmem mcp --tools`, instead of those offered.")
@as_json
@click.pass_context
def call(ctx: click.Context, tool: str, arguments: str, tools: str | None, json_wanted: bool) -> None:
    """Call a tool exactly as an agent's host does; `-` reads the JSON from stdin.

    What `crabmem tools` lists can be called; others that there are have to be asked for by name.

    \b
    crabmem call recall '{"query": "deploy key"}'
    crabmem call --tools get,log log '{"limit": 3}'
    """
    memory, names = opened(ctx, is_person=False), names_of(tools)
    if names is None and not json_wanted and _is_for_who_asks(memory, tool):
        raise Failure(
            f"{tool} is not among the tools offered; ask for it by name: crabmem call --tools {tool} {tool} …"
        )
    result = Toolbox(memory).call(tool, arguments, names)
    data = {"text": result.text, "data": result.data, "is_error": result.is_error}
    if result.is_error and not json_wanted:
        raise Failure(result.text.partition("\n")[0])
    show(json_wanted, data, lambda: plain(result.text))
    if result.is_error:
        ctx.exit(1)


def _is_for_who_asks(memory: Session, tool: str) -> bool:
    """Whether there is a tool of that name that is only offered to who names it."""
    try:
        return tool not in Toolbox(memory).usual and bool(Toolbox(memory).chosen([tool]))
    except CrabmemError:  # there is none, or what is wrong is said by the call
        return False


@click.command()
@click.option(
    "--format", "wanted", type=click.Choice(list(FORMATS)), help="Print them as that API takes them, in JSON."
)
@as_json
@click.pass_context
def tools(ctx: click.Context, wanted: str | None, json_wanted: bool) -> None:
    """List the tools an agent is offered; with --json, their schemas.

    With --format, the definitions for function calling: answer each call of the model with `crabmem call`.
    """
    offered = Toolbox(opened(ctx, tells_place=False)).offered
    if wanted:
        return click.echo(as_text(FORMATS[wanted](offered), indent=2))
    data = [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in offered]
    width = max((len(tool.name) for tool in offered), default=0)
    lines = (f"{tool.name.ljust(width)}  {tool.description.splitlines()[0]}" for tool in offered)
    show(json_wanted, data, lambda: "\n".join(lines))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a completion script: source it from your shell's start-up file."""
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(cli, {}, "crabmem", "_CRABMEM_COMPLETE").source())


COMMANDS = (init, stats, doctor, reindex, watch, call, tools, path, completion)
