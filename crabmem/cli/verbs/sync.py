"""`crabmem sync`: one memory on many machines, through a remote of Git's."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import click

from ...errors import CrabmemError
from ...operations import syncing
from ...operations.agents import in_each
from ...results import Commit, Synced, Upcoming, json_of
from ...session.session import Session
from ...sync import sync as operation
from ...text.hashes import short
from ...text.words import counted, listed
from ..app import open_session, verb
from ..failure import Failure
from ..options import dry_run_option, json_option, yes_option
from ..output import can_ask, confirm, echo, plain, show, tell
from ..restoring import yes_really_option
from ..sync_state import standing

#: The JSON of what was done, and lines for a person.
Done: TypeAlias = tuple[object, list[str]]
_NAMED = 5
# Commits of each way that a look ahead lists.
_MOST = 20


@verb(after="watch")
@click.option("--to", "url", metavar="URL", help="Sync with this remote from now on: a folder, ssh, https, a .bundle.")
@click.option("--all", "is_all", is_flag=True, help="Also the workspaces of agents and projects in this one.")
@click.option("--status", "is_status", is_flag=True, help="Say how it stands, and ask nobody.")
@click.option("--join", "joins", is_flag=True, help="Join a history that has nothing in common with this one.")
@dry_run_option
@yes_option
@yes_really_option
@json_option
@click.pass_context
def sync(
    ctx: click.Context,
    url: str | None,
    is_all: bool,
    is_status: bool,
    joins: bool,
    dry_run: bool,
    yes: bool,
    yes_really: bool,
    json_wanted: bool,
) -> None:
    """Take in what your other machines remembered, and give them what this one did, through any Git remote.

    \b
    crabmem sync --to git@example.org:ann/memory.git    once on each machine
    crabmem sync                                        whenever you like
    crabmem sync --dry-run                              what would come, and what would go
    crabmem sync --all --to ~/Shared/{agent}.git        agents' own workspaces, too, a remote each

    What two machines changed is joined by key, item and line, the same on each; where both changed the same line, a
    person's stands before an agent's, and the other text waits: `crabmem resolve`. Nothing is ever forced, and no file
    gets marks of a conflict. Only what you name here is followed, never a remote that came with a folder. No `git` is
    needed; ssh, and Git's helper for passwords, are run where the remote needs them.

    With --all the remote has {agent} in it, for which the name of each agent stands, and main for this workspace. One
    that fails does not stop the others; then the exit status is 1.
    """
    memory = open_session(ctx)

    def work(one: Session, may_ask: bool = True) -> Done:
        if is_status:
            state = syncing.sync_status(one)
            return json_of(state), standing(state)
        if dry_run:
            found = operation.upcoming(one)
            return json_of(found), _preview(found)
        done = _synced(one, yes, joins, yes_really, may_ask)
        return json_of(done), _summary(done)

    if is_all:
        named = syncing.addresses(memory, url) if url else {}
        if not _in_all(memory, lambda one: work(one, may_ask=False), named, json_wanted):
            ctx.exit(1)
        return
    if url is not None:
        tell(f"syncs with {syncing.name_remote(memory, url)} from now on")
    try:
        data, lines = work(memory)
    except operation.Unexpected as error:
        raise Failure(_way_out(error)) from None
    show(json_wanted, data, lambda: plain("\n".join(lines)))


def _in_all(memory: Session, work: Callable[[Session], Done], named: Mapping[str, str], json_wanted: bool) -> bool:
    """Do `work` in this workspace and those in it, a line for each as it is done; whether none failed.

    `named` are the remotes to name first, by place.
    """
    data, is_well = dict[str, object](), True

    def named_and_done(one: Session) -> Done:
        place = one.root.relative_to(memory.root).as_posix()
        if place in named and not syncing.is_remote(one, named[place]):
            syncing.name_remote(one, named[place])
        return work(one)

    for place, done in in_each(memory, named_and_done):
        if isinstance(done, CrabmemError):
            is_well, data[place], lines = False, {"problem": _way_out(done)}, [f"failed: {_way_out(done)}"]
        else:
            data[place], lines = done
        if not json_wanted:
            echo(plain(f"{place}: {'; '.join(lines)}\n"))
    if json_wanted:
        show(True, {"workspaces": data}, lambda: "")
    return is_well


def _way_out(error: CrabmemError) -> str:
    """What is wrong, and what to do, in words of the command line."""
    if isinstance(error, operation.Unexpected):
        return f"{error}: give {'--join' if error.is_apart else '--yes'} if it is yours"
    return " ".join(error.text({"even_if_many=True": "--yes-really"}).split())


def _synced(memory: Session, yes: bool, joins: bool, yes_really: bool, may_ask: bool) -> Synced:
    try:
        return operation.sync(memory, is_expected=yes, joins_apart=joins, even_if_many=yes_really)
    except operation.Unexpected as error:
        if yes or not may_ask or not can_ask():
            raise
        confirm(f"{error}. Take it in?", "taken in")
        return operation.sync(memory, is_expected=True, joins_apart=joins, even_if_many=yes_really)


def _summary(done: Synced) -> list[str]:
    came = f"{counted(len(done.taken), 'file')} came in" if done.taken else "nothing came in"
    went = f"{counted(done.sent, 'commit')} went out" if done.sent else "nothing went out"
    lines = [f"{done.remote}: {came}, {went}"]
    if done.kept:
        lines.append(
            f"removed on one machine and changed on another, so still there: {listed(done.kept, _NAMED, 'files')}"
        )
    if done.disputed:
        lines.append(
            f"both machines changed the same place of {listed(done.disputed, _NAMED, 'files')}: the other text waits; "
            "`crabmem resolve` decides"
        )
    return lines


def _preview(found: Upcoming) -> list[str]:
    parts = (("would come", found.come), ("would go", found.go))
    return [line for words, commits in parts for line in _listed(words, commits)]


def _listed(words: str, commits: tuple[Commit, ...]) -> list[str]:
    more = [f"  and {len(commits) - _MOST} more"] if len(commits) > _MOST else []
    lines = [plain(f"  {short(each.commit)}  {each.line}") for each in commits[:_MOST]]
    return [f"{words}: {counted(len(commits), 'commit')}", *lines, *more]
