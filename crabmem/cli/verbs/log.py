"""`crabmem log`: who wrote what."""

from itertools import chain, islice

import click
from click.core import ParameterSource

from ...operations import history
from ...results import json_of
from ...session.init import is_begun
from ...session.scopes import check_is_here
from ...text.hashes import short
from ..app import verb
from ..opening import open_session
from ..options import by_option, completing, in_option, json_option, limit_option, when_option
from ..output import coloured_diff, commit_line, exit_failed, paged, show, tell, tell_no_match


@verb(after="History")
@click.argument("name", required=False, shell_complete=completing("complete_names"))
@limit_option("How many commits.", 20)
@click.option("-p", "--patch", is_flag=True, help="With what each commit changed.")
@by_option(
    "Only of an agent or a person who is called so, or has the word in the name.",
    "--agent",
    "--author",
    names="complete_authors",
)
@in_option("Only of this session.", "--session")
@click.option(
    "--tool",
    metavar="T",
    shell_complete=completing("complete_writing_tools"),
    help="Only of this tool, as `remember`; `edit` for edits of files.",
)
@click.option("--words", metavar="TEXT", help="Only with all of these in the subject, or in the name of a fact.")
@when_option("--since", "Only after a commit, a date, or '2 weeks ago'.")
@when_option("--until", "Only up to then: a commit of the last page begins the next.")
@json_option
@click.pass_context
def log(
    ctx: click.Context,
    name: str | None,
    limit: int,
    patch: bool,
    by: str | None,
    in_session: str | None,
    tool: str | None,
    words: str | None,
    since: str | None,
    until: str | None,
    json_wanted: bool,
) -> None:
    """List who wrote what, newest first; with NAME, of that fact.

    A star marks a person: `ann*` is Ann, `ann` would be an agent. Exit status 1 when none is of what was asked for.

    \b
    crabmem log -n 5 --patch
    crabmem log "Deploy key"
    crabmem log --by coder --since '1 week ago'
    """
    memory = open_session()
    check_is_here(memory, name or "", "log")
    is_sought = any((name, by, in_session, tool, words, since, until))
    found = history.commits(
        memory, name, session=in_session, tool=tool, author=by, words=words, since=since, until=until
    )
    diffs = ((commit, history.patch(memory, commit.commit, name) if patch else "") for commit in islice(found, limit))
    if json_wanted:
        commits = [json_of(commit) | ({"patch": diff} if patch else {}) for commit, diff in diffs]
        show(True, {"commits": commits}, str)
        if is_sought and not commits:
            exit_failed()
    else:
        # Shown as they are found: the next may lie far back.
        lines = (f"{commit_line(commit)}\n{coloured_diff(diff)}" for commit, diff in diffs)
        if first := next(lines, ""):
            paged(chain([first], lines))
            if ctx.get_parameter_source("limit") is ParameterSource.DEFAULT and (older := next(found, None)):
                tell(f"there are older ones: -n N shows more, and --until {short(older.commit)} those from there on")
        elif is_sought and is_begun(memory):
            tell_no_match("no commit matches")
        elif is_begun(memory):
            tell("there is no commit yet")
