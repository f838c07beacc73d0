"""`crabmem sync`: one memory on many machines, through a remote of Git's."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import click

from ...errors import CrabmemError, PurgeWaits, Unexpected
from ...operations import syncing
from ...operations.syncing import left_words
from ...results import Commit, Synced, Upcoming, json_of
from ...session.session import Session
from ...sync import sync as operation
from ...text.hashes import short
from ...text.words import counted, listed
from ...workspace.layout import SETTINGS
from ..app import open_session, verb
from ..options import dry_run_option, json_option, yes_if_many_option, yes_option
from ..output import Failure, can_ask, confirm, echo, exit_failed, plain, show, tell, tell_always
from ..standing import standing

#: The JSON of what was done, and lines for a person.
Done: TypeAlias = tuple[Mapping[str, object], list[str]]
_NAMED = 5
#: Seconds between two updates of the progress line.
EVERY = 1.0
_KEPT = (
    "what was there before is kept unseen until `git gc --prune=now` is run there; a forge does that when asked, and "
    "keeps forks, caches and pull requests besides"
)
# Commits that --dry-run lists in each direction.
_MOST = 20


@verb(after="ui")
@click.option("--to", "url", metavar="URL", help="Sync with this remote from now on: a folder, ssh, https, a .bundle.")
@click.option("--off", "is_off", is_flag=True, help="Sync with no remote from now on; it keeps what it has.")
@click.option("--all", "is_all", is_flag=True, help="Also the workspaces of agents and projects in this one.")
@click.option("--status", "is_status", is_flag=True, help="Say how it stands, and ask nobody.")
@click.option(
    "--join",
    "joins",
    is_flag=True,
    help="Also join a history that has nothing in common with this one.",
)
@dry_run_option
@yes_option
@yes_if_many_option
@json_option
def sync(
    url: str | None,
    is_off: bool,
    is_all: bool,
    is_status: bool,
    joins: bool,
    dry_run: bool,
    yes: bool,
    yes_really: bool,
    json_wanted: bool,
) -> None:
    """Share memory with your other machines through a Git remote.

    \b
    crabmem sync --to git@example.org:ann/memory.git    once on each machine
    crabmem sync                                        whenever you like
    crabmem sync --dry-run                              what would come, and what would go
    crabmem sync --all --to ~/Shared/{agent}.git        agents' own workspaces, too, a remote each

    What two machines changed is joined by key, item and line, the same on each; where both changed the same line, a
    person's stands before an agent's, and the other text waits: `crabmem review resolve`. Nothing is forced but after a
    purge, and no file gets marks of a conflict. Only what you name here is followed, never a remote that came with a
    folder, and only once it has answered. No `git` is needed; ssh, and Git's helper for passwords, are run where the
    remote needs them.

    With --all the remote has {agent} in it, for which the name of each agent stands, and main for this workspace. One
    that fails does not stop the others; then the exit status is 1.
    """
    memory = open_session()

    def work(one: Session, may_ask: bool = True) -> Done:
        if is_status:
            state = syncing.sync_status(one)
            return json_of(state), standing(state)
        if dry_run:
            found = operation.upcoming(one)
            return json_of(found), _preview(found)
        done = _sync(one, yes, joins, yes_really, may_ask)
        return json_of(done), _summary(done)

    if is_off:
        if url or is_all or is_status or dry_run:
            raise click.UsageError("--off goes alone")
        was = operation.forget_remote(memory)
        words = f"does not sync with {was} any more; Git's origin stays" if was else "no remote was named"
        return show(json_wanted, {"remote": was or None}, lambda: words)
    if url and dry_run:
        raise click.UsageError("--to names a remote, and --dry-run changes nothing: `--to URL --status` names it first")
    if is_all:
        named = syncing.addresses(memory, url) if url else {}
        if not _in_all(memory, lambda one: work(one, may_ask=False), named, is_status, json_wanted):
            exit_failed()
        return
    if url is not None:
        tell(f"syncs with {syncing.name_remote(memory, url, is_asked=not is_status)} from now on")
    try:
        data, lines = work(memory)
    except Unexpected as error:
        _show_what_goes(error)
        raise Failure(_way_out(error)) from None
    show(json_wanted, data, lambda: plain("\n".join(lines)))


def _in_all(
    memory: Session, work: Callable[[Session], Done], named: Mapping[str, str], is_status: bool, json_wanted: bool
) -> bool:
    """Do `work` in this workspace and in each one inside it; print a line for each when it is done.

    `named` has the remote of each workspace, by its place (path in this one): one that is not its remote yet is named
    before the work. Return whether nothing failed.
    """
    from ...operations.agents import in_each  # late: what makes agents loads half the program

    data, is_well = dict[str, object](), True

    def named_and_done(one: Session) -> Done:
        place = one.root.relative_to(memory.root).as_posix()
        if place in named and not syncing.is_remote(one, named[place]):
            syncing.name_remote(one, named[place], is_asked=not is_status)
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
    """Return the words of an error, with its way out as an option of the command line."""
    options = {"even_if_many=True": "--yes-really", "is_expected=True": "--yes", "joins_apart=True": "--join"}
    return " ".join(error.text(options).split())


def _show_what_goes(error: Unexpected) -> None:
    if isinstance(error, PurgeWaits):
        for line in error.becomes:
            tell_always(plain(line))


def _sync(memory: Session, yes: bool, joins: bool, yes_really: bool, may_ask: bool) -> Synced:
    """Sync. If that needs a person's word, ask for it and sync again.

    Raises:
        Unexpected: a person's word is needed, and nobody can be asked, or `yes` did not suffice.
    """
    try:
        return _with_progress(memory, is_expected=yes, joins_apart=joins, even_if_many=yes_really)
    except Unexpected as error:
        if yes or not may_ask or not can_ask():
            raise
        _show_what_goes(error)
        confirm(f"{error.problem}. {'Go on?' if error.is_meant else 'Take it in?'}", "taken in")
        joins = joins or error.is_apart
        return _with_progress(memory, is_expected=True, joins_apart=joins, even_if_many=yes_really)


def _with_progress(memory: Session, **words: Any) -> Synced:
    """Sync, and show on a terminal what is under way, at most once a second; clear that line at the end."""
    told, is_shown = time.monotonic(), False

    def progress(step: str, done: int) -> None:
        nonlocal told, is_shown
        if time.monotonic() - told >= EVERY and sys.stderr.isatty():
            told, is_shown = time.monotonic(), True
            unit = "bytes" if step == "receiving" else "objects"
            click.echo(f"\r\033[K{step}: {done:,} {unit}", nl=False, err=True)

    try:
        return operation.sync(memory, **words, progress=progress)
    finally:
        if is_shown:
            click.echo("\r\033[K", nl=False, err=True)


def _summary(done: Synced) -> list[str]:
    """Return what a sync did, and then each thing that a person may have to decide or repair, a line each."""
    came = f"{counted(len(done.taken), 'file')} came in" if done.taken else "nothing came in"
    went = f"{counted(done.sent, 'commit')} went out" if done.sent else "nothing went out"
    lines = [f"{done.remote}: {came}, {went}"]
    if done.kept:
        lines.append(
            f"removed on one machine and changed on another, so still there: {listed(done.kept, _NAMED, 'files')}"
        )
    if done.copies:
        lines.append(f"under another name, as theirs is taken or too long: {listed(done.copies, _NAMED, 'files')}")
    if done.moved:
        lines.append(
            f"another name for what stood where a file or folder came in: {listed(done.moved, _NAMED, 'places')}"
        )
    if done.left:
        lines.append(left_words(done.left))
    if same := [path for path in done.disputed if path != SETTINGS]:
        lines.append(
            f"both machines changed the same place of {listed(same, _NAMED, 'files')}: the other text waits; "
            "`crabmem review resolve` decides"
        )
    if SETTINGS in done.disputed:
        lines.append(
            f"{SETTINGS} of another machine waits, and is not in force: `crabmem review resolve` says why, and decides"
        )
    if more := done.waiting - len(done.disputed):
        lines.append(f"{counted(more, 'text')} of other machines to decide on: `crabmem review resolve`")
    lines += [
        f"two facts are called {name}: {listed(paths, _NAMED, 'files')}; `crabmem rename {paths[-1]} 'NEW NAME'` tells "
        "them apart, and nothing can be saved under that name before"
        for name, paths in done.doubled.items()
    ]
    lines += [
        f"another machine took a text that you rejected here, in commit {short(commit)}: that stands; "
        f"`crabmem undo {short(commit)}` takes it back"
        for commit in done.overruled
    ]
    if done.held:
        lines.append(f"{done.held}, as does `crabmem sync --yes-really`")
    return [*map(plain, lines), *_of_purges(done)]


def _of_purges(done: Synced) -> Iterator[str]:
    """Yield lines on purges that came from other machines or went to the remote, and on what they did not reach."""
    if done.purges:
        yield f"took in {counted(done.purges, 'purge')}: what it took is gone from the files here, and from history"
    if done.given_up:
        named = listed(done.given_up, _NAMED, "files")
        yield f"changed here where it took something, and what it took is gone from these changes, too: {named}"
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


def _preview(found: Upcoming) -> list[str]:
    parts = (("would come", found.come), ("would go", found.go))
    purges = [f"would come: {counted(found.purges, 'purge')}"] if found.purges else []
    return [*purges, *(line for words, commits in parts for line in _commit_lines(words, commits))]


def _commit_lines(words: str, commits: tuple[Commit, ...]) -> list[str]:
    more = [f"  and {len(commits) - _MOST} more"] if len(commits) > _MOST else []
    lines = [plain(f"  {short(each.commit)}  {each.line}") for each in commits[:_MOST]]
    return [f"{words}: {counted(len(commits), 'commit')}", *lines, *more]
