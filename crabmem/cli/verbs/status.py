"""`crabmem status`: how the workspace stands, on one screen."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from ...operations import maintenance
from ...operations.status import status as status_of
from ...operations.status import waiting_words
from ...results import Stats, Status, UnrecordedEdit, json_of
from ...session.locate import project_meant
from ...session.rules import settings_problem
from ...session.session import Session
from ...text.words import counted, enumerated
from ..app import verb
from ..opening import open_session
from ..options import global_options, json_option
from ..output import coloured, commit_line, day, plain, show, tell
from ..standing import paused_words, standing

# Edits that are named.
_NAMED = 5
_WIDTH = 11
_COLOURS = {"new": "green", "changed": "yellow", "removed": "red"}


@verb(after="Upkeep")
@click.option("--path", "is_path", is_flag=True, help="Only print the folder of the memory.")
@json_option
def status(is_path: bool, json_wanted: bool) -> None:
    """Show how memory stands, on one screen.

    What is in it, who wrote last, which edits of yours are not recorded yet, what waits for you, what is odd, how often
    it spoke unasked, and which hosts crabmem is installed in.

    It looks at the files and at the newest commit; `crabmem doctor` reads everything.

    With --project P the memory is that of the Git repository which folder P is in: of its own, and the same in all of
    its worktrees. It lies among yours, in .projects, and never in the repository, which may be a stranger's. Of a
    folder in no repository it is yours.

    \b
    crabmem status
    crabmem status --path --project .
    crabmem --workspace coder status --json
    """
    memory = open_session(tells_place=False)
    if is_path:
        return _show_path(str(memory.root), json_wanted)
    found, spoken, hosts = status_of(memory), maintenance.stats(memory), _hosts()
    data = {**json_of(found), "spoken": json_of(spoken), "hosts": hosts}
    show(json_wanted, data, lambda: "\n".join([*_lines(found, spoken), *_beside(memory), *_host_lines(hosts)]))


def _show_path(root: str, json_wanted: bool) -> None:
    """Print the folder of the memory; if a project was asked for, tell what is odd about it, or that there is none."""
    wanted = global_options().project
    project = project_meant(wanted, os.environ)
    show(json_wanted, {"path": root, "project": project and project.place}, lambda: root)
    if project and project.problem:
        tell(f"{project.place} has a memory of its own: {project.problem}")
    elif project is None and (wanted or (wanted is None and os.environ.get("CRABMEM_PROJECT"))):
        tell("there is no Git repository there: this is the memory for all that is in none")


def _hosts() -> list[dict[str, str]]:
    """The hosts that crabmem is installed in, for any workspace."""
    from ...hosts.mentions import mentions
    from ...hosts.surroundings import surroundings

    mentioned = list(mentions(surroundings()))
    if not mentioned:
        return []
    from ..hosting import installed_in  # late: it edits configs, and takes longer to load than all else

    return installed_in(mentioned)


def _beside(memory: Session) -> Iterator[str]:
    """Yield a line for each other memory seen here in which proposals wait."""
    if settings_problem(memory) or not memory.engine.sees_others(memory.settings):
        return
    from ...operations.proposals import waiting_beside  # late: most see no other memory
    from ..selecting import waiting_lines

    for words in waiting_lines(waiting_beside(memory)):
        yield _line("to decide", words, "yellow")


def _host_lines(hosts: list[dict[str, str]]) -> Iterator[str]:
    names = [plain(each["host"]) + (" (project)" if each["scope"] == "project" else "") for each in hosts]
    yield _line("hosts", enumerated(names) if names else "none yet: `crabmem install` lists those there are")


def _lines(found: Status, spoken: Stats) -> Iterator[str]:
    yield _line("workspace", f"{plain(found.root)}, profile {plain(found.profile)}")
    if not found.is_begun:
        yield _line("facts", "none: there is no memory here yet; `crabmem init` or `crabmem remember` begins one")
    else:
        broken = f", {counted(found.unreadable, 'file')} unreadable" if found.unreadable else ""
        missing = f", {found.missing:,} missing from the disk: `crabmem restore`" if found.missing else ""
        yield _line("facts", f"{found.facts:,}{broken}{missing}", "red" if missing else "")
        yield _line("last write", commit_line(found.last) if found.last else "none yet")
        if found.edits or not found.missing:
            yield from _edits(found.edits)
    if spoken.since:
        yield _line("unasked", _spoken(spoken, spoken.since))
    if found.agents:
        yield _line("agents", f"{plain(enumerated(found.agents))}: `crabmem --workspace NAME status`")
    if found.paused:
        yield _line("paused", paused_words(found.paused).removeprefix("paused "), "yellow")
    yield from _sync(found)
    if proposals := found.proposals - (found.sync.waiting if found.sync else 0):
        yield _line("to decide", waiting_words(proposals, found.waiting_since, datetime.now(UTC)), "yellow")
    if found.in_progress:
        words = f"a {found.in_progress} of yours is not finished; what is written meanwhile comes after it"
        yield _line("in progress", words, "yellow")
    for words in found.odd:
        yield _line("odd", plain(words), "red")
    if found.odd or found.unreadable:
        yield _line("", "`crabmem doctor` says more")


def _spoken(found: Stats, since: datetime) -> str:
    times = counted(found.facts, "time")
    return (
        f"spoke before {found.spoke:,} of {found.turns:,} turns ({found.spoke / found.turns:.0%}) in "
        f"{counted(found.sessions, 'session')} since {day(since)}, telling a fact {times}"
    )


def _sync(found: Status) -> Iterator[str]:
    if found.sync is None:
        return
    is_well = not (found.sync.error or found.sync.waiting or found.sync.shows_purged or found.sync.purge_waits)
    for number, words in enumerate(standing(found.sync)):
        yield _line("" if number else "sync", words.removeprefix("syncs "), "" if is_well else "yellow")


def _edits(edits: tuple[UnrecordedEdit, ...]) -> Iterator[str]:
    """Yield lines on the edits that no commit has yet, with the paths of the first few."""
    if not edits:
        return (yield _line("edits", "all recorded"))
    count = counted(len(edits), "edited file")
    yield _line("edits", f"{count} not in the history yet: the next write records that, or `crabmem record`")
    for edit in edits[:_NAMED]:
        yield f"{'':{_WIDTH}}  {coloured(f'{edit.state:8}', _COLOURS[edit.state])} {plain(edit.path)}"
    if len(edits) > _NAMED:
        yield f"{'':{_WIDTH}}  and {len(edits) - _NAMED:,} more: `crabmem diff`"


def _line(label: str, text: str, colour: str = "") -> str:
    return f"{coloured(f'{label:{_WIDTH}}', colour or 'cyan')}  {text}"
