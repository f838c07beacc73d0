"""`crabmem sync`: one memory on many machines, through a remote of Git's."""

import os
from collections.abc import Iterator

import click

from ...errors import Unexpected
from ...results import Commit, Synced, SyncState, Upcoming, json_of
from ...session.session import Session
from ...sync import sync as operation
from ...text.hashes import short
from ...text.words import counted, listed
from ..app import open_session, verb
from ..failure import Failure
from ..options import dry_run_option, json_option, yes_option
from ..output import can_ask, confirm, here, plain, show, tell
from ..restoring import yes_really_option

_NAMED = 5
_KEPT = (
    "what was there before is kept unseen until `git gc --prune=now` is run there; a forge does that when asked, and "
    "keeps forks, caches and pull requests besides"
)
# Commits of each way that a look ahead lists.
_MOST = 20


@verb(after="watch")
@click.option("--to", "url", metavar="URL", help="Sync with this remote from now on: a folder, ssh, https, a .bundle.")
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

    What two machines changed is joined by key, item and line, the same on each; where both changed the same line, a
    person's stands before an agent's, and the other text waits: `crabmem resolve`. Nothing is ever forced, and no file
    gets marks of a conflict. Only what you name here is followed, never a remote that came with a folder. No `git` is
    needed; ssh, and Git's helper for passwords, are run where the remote needs them.
    """
    memory = open_session(ctx)
    if is_status:
        state = operation.state(memory)
        return show(json_wanted, json_of(state), lambda: _standing(state))
    if url is not None:
        tell(f"syncs with {operation.name_remote(memory, url, os.getcwd()).shown} from now on")
    if dry_run:
        found = operation.upcoming(memory)
        return show(json_wanted, json_of(found), lambda: _preview(found))
    done = _synced(memory, yes, joins, yes_really)
    show(json_wanted, json_of(done), lambda: plain(_summary(done)))


def _synced(memory: Session, yes: bool, joins: bool, yes_really: bool) -> Synced:
    try:
        return operation.sync(memory, is_expected=yes, joins_apart=joins, even_if_many=yes_really)
    except Unexpected as error:
        if yes or not can_ask():
            words = "if that is meant" if error.is_meant else "if it is yours"
            raise Failure(f"{error}: give {'--join' if error.is_apart else '--yes'} {words}") from None
        confirm(f"{error}. {'Go on?' if error.is_meant else 'Take it in?'}", "taken in")
        return operation.sync(memory, is_expected=True, joins_apart=joins, even_if_many=yes_really)


def _summary(done: Synced) -> str:
    came = f"{counted(len(done.taken), 'file')} came in" if done.taken else "nothing came in"
    went = f"{counted(done.sent, 'commit')} went out" if done.sent else "nothing went out"
    lines = [f"{done.remote}: {came}, {went}"]
    if done.disputed:
        lines.append(
            f"both machines changed the same place of {listed(done.disputed, _NAMED, 'files')}: the other text waits; "
            "`crabmem resolve` decides"
        )
    return "\n".join([*lines, *_of_purges(done)])


def _of_purges(done: Synced) -> Iterator[str]:
    if done.purges:
        yield f"took in {counted(done.purges, 'purge')}: what it took is gone from the files here, and from history"
    if done.quoting:
        yield (
            f"not all: {listed(done.quoting, _NAMED, 'files')}, changed here, still "
            "quote a line of what was purged; `crabmem purge --text` erases a text"
        )
    if done.is_rewritten:
        yield f"rewritten: {done.remote}, which does not show any more what was purged"
        yield _KEPT
    if done.still_there:
        yield f"not rewritten: {listed(done.still_there, _NAMED, 'references')} of {done.remote}: delete them there"
    if done.not_rewritten:
        yield f"not rewritten: {listed(done.not_rewritten, _NAMED, 'remotes')}: `git push --force` does that"


def _standing(state: SyncState) -> str:
    if state.remote is None:
        return "syncs with nothing: `crabmem sync --to URL` names a remote"
    lines = [f"syncs with {plain(state.remote)}: {counted(state.ahead, 'commit')} to send"]
    lines += [f"{counted(state.behind, 'commit')} to take in"] if state.behind else []
    lines += [f"last done {here(state.succeeded):%Y-%m-%d %H:%M}"] if state.succeeded else ["never done yet"]
    if state.error and state.failing_since:
        lines.append(f"fails since {here(state.failing_since):%Y-%m-%d %H:%M}: {plain(state.error)}")
    return "\n".join(lines)


def _preview(found: Upcoming) -> str:
    parts = (("would come", found.come), ("would go", found.go))
    purges = [f"would come: {counted(found.purges, 'purge')}"] if found.purges else []
    return "\n".join([*purges, *(line for words, commits in parts for line in _listed(words, commits))])


def _listed(words: str, commits: tuple[Commit, ...]) -> list[str]:
    more = [f"  and {len(commits) - _MOST} more"] if len(commits) > _MOST else []
    lines = [plain(f"  {short(each.commit)}  {each.line}") for each in commits[:_MOST]]
    return [f"{words}: {counted(len(commits), 'commit')}", *lines, *more]
