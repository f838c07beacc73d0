"""The verbs that take back what somebody did, and keep what was done since."""

from collections.abc import Sequence

import click

from ...operations import revert as revert_operations
from ...results import Commit, Reverted, json_of
from ...text.hashes import short
from ...text.merge import Conflict, Conflicting, Take
from ...text.words import counted
from ..app import open_session, verb
from ..completing import complete_commits, complete_sessions, complete_writers
from ..options import dry_run_option, json_option
from ..output import diff_of_commit, plain, show
from ..restoring import done_or_waits, yes_really_option


@verb(after="bisect")
@click.argument("commits", nargs=-1, metavar="COMMIT…", shell_complete=complete_commits)
@click.option("--session", metavar="S", shell_complete=complete_sessions, help="What was done in a session.")
@click.option("--agent", metavar="A", shell_complete=complete_writers, help="What an agent did.")
@click.option(
    "--since",
    metavar="WHEN",
    shell_complete=complete_commits,
    help="Of a session or an agent, only what was done after that.",
)
@click.option("--ours", is_flag=True, help="Where the same was changed since, keep what is there now.")
@click.option("--theirs", is_flag=True, help="Where the same was changed since, take it back anyway.")
@dry_run_option
@yes_really_option
@json_option
@click.pass_context
def revert(
    ctx: click.Context,
    commits: tuple[str, ...],
    session: str | None,
    agent: str | None,
    since: str | None,
    ours: bool,
    theirs: bool,
    dry_run: bool,
    yes_really: bool,
    json_wanted: bool,
) -> None:
    """Take back what some commits did, as a new commit; what was done since stays.

    \b
    crabmem revert 3f2a91c7                            one commit of `crabmem log`
    crabmem revert --session s-42 --dry-run            all that was done in a session
    crabmem revert --agent coder --since '2 days ago'  what an agent did since then

    Where the same lines were changed since, nothing is guessed: it lists them, and changes nothing
    without --ours or --theirs. After --ours you may still take back the rest with --theirs. Reverting the
    revert brings everything back.
    """
    if ours and theirs:
        raise click.UsageError("--ours keeps what --theirs takes back: give one of them")
    take: Take = "ours" if ours else "theirs" if theirs else None
    memory = open_session(ctx)
    try:
        done = revert_operations.revert(
            memory,
            commits,
            session=session,
            agent=agent,
            since=since,
            take=take,
            dry_run=dry_run,
            even_if_many=yes_really,
        )
    except Conflicting as error:
        told = "\n".join(map(_conflict, error.conflicts))
        show(json_wanted, json_of(error), lambda: told)
        raise
    told = done_or_waits(memory, _summary(done, dry_run))
    show(json_wanted, json_of(done), lambda: f"{told}\n{diff_of_commit(done)}")


def _summary(done: Reverted, dry_run: bool) -> str:
    commits, files = counted(len(done.commits), "commit"), counted(len(done.paths), "file")
    if not done.commits:
        return "nothing to revert: all of it was taken back already"
    kept = f"; of {len(done.in_part)} what was changed since was kept: --theirs takes it back" if done.in_part else ""
    if not done.paths:
        return f"nothing to revert: the files say the same without {commits}{kept}"
    if dry_run:
        return f"would revert {commits} in {files}{kept}:\n{''.join(map(_line, done.commits))}"
    return f"reverted {commits} in {files}" + (f": {short(done.commit)}" if done.commit else "") + kept


def _line(commit: Commit) -> str:
    return plain(f"  {short(commit.commit)}  {commit.who}  {commit.subject}\n")


def _conflict(conflict: Conflict) -> str:
    """A conflict for a person: the file, and what both sides say."""
    sides = (("now", conflict.ours), ("without", conflict.theirs))
    return "\n".join([plain(conflict.path), *(line for word, text in sides for line in _side(word, text))])


def _side(word: str, text: str | None) -> Sequence[str]:
    lines = ["(no file)"] if text is None else text.splitlines() or ["(no lines)"]
    return [f"  {word + ':' if not at else '':9}{plain(line)}" for at, line in enumerate(lines)]
