"""`crabmem undo`: takes back the newest commit, or what some commits did, and keeps what was done since."""

import sys
from collections.abc import Sequence

import click

from ...operations import purge, revert
from ...results import Commit, Reverted, json_of
from ...text.hashes import short
from ...text.merge import Conflict, Conflicting, Take
from ...text.words import counted
from ..app import open_session, verb
from ..completing import complete_commits
from ..options import by_option, dry_run_option, in_option, json_option, when_option, yes_if_many_option, yes_option
from ..output import Failure, can_ask, diff_of_commit, plain, show, tell
from .restore import done_or_waits, files_restored

_PURGED = "the last change is a purge, which cannot be undone"


@verb(after="when")
@click.argument("commits", nargs=-1, metavar="[COMMIT]...", shell_complete=complete_commits)
@by_option("What an agent did.")
@in_option("What was done in a session.")
@when_option("--since", "With --by or --in, only what was done after that.")
@click.option("--ours", is_flag=True, help="Where the same was changed since, keep what is there now.")
@click.option("--theirs", is_flag=True, help="Where the same was changed since, take it back anyway.")
@click.option("--redo", is_flag=True, help="Bring back what the last undo took back.")
@dry_run_option
@yes_option
@yes_if_many_option
@json_option
def undo(
    commits: tuple[str, ...],
    by: str | None,
    in_session: str | None,
    since: str | None,
    ours: bool,
    theirs: bool,
    redo: bool,
    dry_run: bool,
    yes: bool,
    yes_really: bool,
    json_wanted: bool,
) -> None:
    """Take back the last change, or what some commits did.

    It is a new commit, and nothing is erased. Without arguments it takes back the newest commit; again, the one before.
    With --redo it brings back what was undone, step by step too, until something else is written. After a purge, which
    cannot be undone, it asks before it takes back what was done earlier. An agent has to name a change of a person's.

    \b
    crabmem undo
    crabmem undo 3f2a91c7                      one commit of `crabmem log`; what was done since stays
    crabmem undo --in s-42 --dry-run           all that was done in a session
    crabmem undo --by coder --since '2 days ago'

    Where the same lines were changed since, nothing is guessed: it lists them, and changes nothing without --ours or
    --theirs. After --ours you may still take back the rest with --theirs. `crabmem restore --to WHEN` goes back to a
    moment.
    """
    if ours and theirs:
        raise click.UsageError("--ours keeps what --theirs takes back: give one of them")
    is_named = bool(commits) or by is not None or in_session is not None
    if redo and is_named:
        raise click.UsageError("--redo goes alone: it brings back what the last undo took back")
    if not is_named and (since is not None or ours or theirs):
        raise click.UsageError("say what to take back: COMMIT, --by or --in")
    memory = open_session()
    if is_named:
        take: Take = "ours" if ours else "theirs" if theirs else None
        try:
            reverted = revert.revert(
                memory,
                commits,
                session=in_session,
                agent=by,
                since=since,
                take=take,
                dry_run=dry_run,
                even_if_many=yes_really,
            )
        except Conflicting as error:
            conflicts = "\n".join(map(_conflict, error.conflicts))
            show(json_wanted, json_of(error), lambda: conflicts)
            raise
        told = done_or_waits(memory, _summary(reverted, dry_run))
        return show(json_wanted, json_of(reverted), lambda: f"{told}\n{diff_of_commit(reverted)}")
    if not (redo or yes or dry_run) and purge.is_newest(memory):
        if not can_ask():
            raise Failure(f"{_PURGED}: `crabmem undo --yes` takes back what was done before it")
        click.confirm(f"{_PURGED}. Take back what was done before it?", abort=True, err=True)
    done = (revert.redo if redo else revert.undo)(
        memory, even_if_many=yes_really, stops_at_person=memory.actor.is_agent, dry_run=dry_run
    )
    verb = f"would {'redo' if redo else 'undo'}" if dry_run else "redone" if redo else "undone"
    words = f"{verb}: {done.operation.subject if done.operation else 'nothing'}"
    told = done_or_waits(memory, f"{plain(words)}; {files_restored(done, 'restore' if dry_run else '')}")
    show(json_wanted, json_of(done), lambda: f"{told}\n{diff_of_commit(done)}")
    if not (json_wanted or redo or dry_run) and sys.stderr.isatty():
        tell("`crabmem undo --redo` brings it back, `crabmem undo` takes back the commit before")


def _summary(done: Reverted, dry_run: bool) -> str:
    """Return what was taken back, or would be, or why there is nothing; and of how many commits something was kept."""
    commits, files = counted(len(done.commits), "commit"), counted(len(done.paths), "file")
    if not done.commits:
        return "nothing to undo: all of it was taken back already"
    kept = f"; of {len(done.in_part)} what was changed since was kept: --theirs takes it back" if done.in_part else ""
    if not done.paths:
        return f"nothing to undo: the files say the same without {commits}{kept}"
    if dry_run:
        return f"would undo {commits} in {files}{kept}:\n{''.join(map(_line, done.commits))}"
    return f"undone: {commits} in {files}" + (f": {short(done.commit)}" if done.commit else "") + kept


def _line(commit: Commit) -> str:
    return plain(f"  {short(commit.commit)}  {commit.who}  {commit.subject}\n")


def _conflict(conflict: Conflict) -> str:
    """Return a conflict in lines: the path, the text as it is now, and the text without the commits."""
    sides = (("now", conflict.ours), ("without", conflict.theirs))
    return "\n".join([plain(conflict.path), *(line for word, text in sides for line in _side(word, text))])


def _side(word: str, text: str | None) -> Sequence[str]:
    lines = ["(no file)"] if text is None else text.splitlines() or ["(no lines)"]
    return [f"  {word + ':' if not at else '':9}{plain(line)}" for at, line in enumerate(lines)]
