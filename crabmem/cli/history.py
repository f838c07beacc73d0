"""The verbs for what was: reading the history and going back in it."""

import sys
from dataclasses import replace
from itertools import chain, islice

import click

from ..operations import history, revert
from ..results import Commit, Restored, json_of
from ..session.init import is_begun
from ..text.hashes import short
from ..text.words import counted
from .base import as_json, coloured_diff, complete_names, complete_writers, dry, here, opened, paged, plain, show, tell
from .reverting import really


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many commits.")
@click.option("-p", "--patch", is_flag=True, help="With what each commit changed.")
@click.option("--agent", metavar="A", shell_complete=complete_writers, help="Only of this agent.")
@click.option("--session", metavar="S", help="Only of this session.")
@click.option("--tool", metavar="T", help="Only of this tool, as `remember`; `edit` for edits of files.")
@click.option("--author", metavar="NAME", help="Only of whoever is called so, or has the word in the name.")
@click.option("--since", metavar="REV|TIME", help="Only after a commit, a date, or '2 weeks ago'.")
@click.option("--until", metavar="REV|TIME", help="Only up to then: a commit of the last page begins the next.")
@as_json
@click.pass_context
def log(
    ctx: click.Context,
    name: str | None,
    limit: int,
    patch: bool,
    agent: str | None,
    session: str | None,
    tool: str | None,
    author: str | None,
    since: str | None,
    until: str | None,
    json_wanted: bool,
) -> None:
    """List who wrote what, newest first; with NAME, for that fact only.

    A star marks a person: `ann*` is Ann, `ann` would be an agent.
    """
    memory = opened(ctx)
    found = history.commits(
        memory, name, agent=agent, session=session, tool=tool, author=author, since=since, until=until
    )
    diffs = ((commit, history.patch(memory, commit.commit, name) if patch else "") for commit in islice(found, limit))
    if json_wanted:
        show(True, [json_of(commit) | ({"patch": diff} if patch else {}) for commit, diff in diffs], str)
    else:
        # Shown as they are found: the next may lie far back.
        lines = (f"{_line(commit)}\n{coloured_diff(diff)}" for commit, diff in diffs)
        if first := next(lines, ""):
            paged(ctx, chain([first], lines))
        elif is_begun(memory):
            tell("no commit is like that")


@click.command()
@click.argument("since", required=False)
@click.argument("until", required=False)
@click.option("--entry", "name", metavar="NAME", shell_complete=complete_names, help="Only this fact.")
@as_json
@click.pass_context
def diff(ctx: click.Context, since: str | None, until: str | None, name: str | None, json_wanted: bool) -> None:
    """Show what changed between two moments.

    Without arguments: edits of yours that are not recorded yet. With SINCE (a commit, or a time such
    as '2 days ago'): from then to the files as they are; with UNTIL: to that moment.
    """
    text = history.diff(opened(ctx), since, until, name)
    if json_wanted:
        return show(True, {"since": since, "until": until, "diff": text}, str)
    paged(ctx, [coloured_diff(text)])
    if not text:
        tell("nothing differs")


@click.command()
@click.option("--to", "to", metavar="REV|TIME", required=True, help="A commit of `log`, a date, or '2 days ago'.")
@click.option("--entry", "name", metavar="NAME", shell_complete=complete_names, help="Only this fact.")
@dry
@really
@as_json
@click.pass_context
def rollback(ctx: click.Context, to: str, name: str | None, dry_run: bool, yes_really: bool, json_wanted: bool) -> None:
    """Bring the files back to how they were, as a new commit. Nothing is erased; `crabmem undo` takes it back.

    `crabmem revert` takes back single commits, and keeps what was done since.
    """
    done = revert.rollback(opened(ctx), to, name, dry_run=dry_run, even_if_many=yes_really)
    words = f"{_files(done, 'would restore' if dry_run else '')} {'as of' if done.paths else 'from'} {short(done.to)}"
    show(json_wanted, json_of(done), lambda: f"{words}\n{coloured_diff(done.diff)}")


@click.command()
@click.option("--redo", is_flag=True, help="Bring back what the last undo took back.")
@really
@as_json
@click.pass_context
def undo(ctx: click.Context, redo: bool, yes_really: bool, json_wanted: bool) -> None:
    """Take back the newest commit, as a new one. Again, it takes back the one before; `rollback` goes further at once.

    With --redo it brings back what was undone, step by step too, until something else is written.
    """
    memory = opened(ctx)
    done = (revert.redo if redo else revert.undo)(memory, even_if_many=yes_really)
    words = f"{'redone' if redo else 'undone'}: {done.operation.subject if done.operation else 'nothing'}"
    show(json_wanted, json_of(done), lambda: f"{plain(words)}; {_files(done)}\n{coloured_diff(done.diff)}")
    if not json_wanted and not redo and sys.stderr.isatty():
        tell("`crabmem undo --redo` brings it back, `crabmem undo` takes back the commit before")


def _files(done: Restored, would: str = "") -> str:
    """What became of which files."""
    brought = len(done.paths) - len(done.removed)
    told = [
        *([f"{would or 'restored'} {counted(brought, 'file')}"] if brought else []),
        *([f"{'delete' if would else 'deleted'} {counted(len(done.removed), 'file')}"] if done.removed else []),
    ]
    return " and ".join(told) or "nothing differs"


def _line(commit: Commit) -> str:
    """One commit on one line: id, time, author, subject."""
    told = replace(commit, time=here(commit.time))
    return f"{click.style(short(commit.commit), fg='yellow')}  {plain(told.line)}"


COMMANDS = (log, diff, rollback, undo)
