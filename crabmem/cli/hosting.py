"""The work of the verbs `install` and `uninstall`; the verbs themselves are in `verbs`."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from ..disk.allowed import Allowed
from ..errors import CrabmemError, InvalidArguments
from ..hosts.config_files import Change, write_changes
from ..hosts.host import Host
from ..hosts.installation import Installation
from ..hosts.options import InstallOptions, Whose
from ..hosts.surroundings import Surroundings, surroundings
from ..hosts.table import HOSTS, host_named
from ..results import Finding
from ..session.engine import Options
from ..session.locate import workspace_at
from ..session.opening import session_at
from ..text.extras import whole
from ..tools.toolbox import Toolbox
from .app import open_session
from .importing import Import, import_data, import_lines, import_summary, take_in
from .options import global_options
from .output import can_ask, coloured_diff, confirm, plain, show, tell, tell_always, warn

_MODULE = "crabmem"
#: What JSON calls the configs of a person, and those of a project.
_SCOPES = ("user", "project")
_MAY_IT = "May {} read and write this memory without asking you each time? Every write is a commit you can undo."
_TEMPORARY = ("archive-v0", "environments-v2", "builds-v0")


@dataclass(frozen=True)
class Request:
    """The options of `install` and `uninstall`. `allow` and `memory` are None where the person did not give them.

    `project` means the configs of the project at hand, instead of the person's own.
    """

    project: bool
    dry_run: bool
    yes: bool
    json_wanted: bool
    allow: bool | None = None
    memory: Whose | None = None


@dataclass(frozen=True)
class _Choice:
    """The decisions for a host: whether it may use the tools unasked, and whose memory its agent has.

    `allow` is None if no config of the host takes such a permission.
    """

    allow: bool | None
    memory: Whose


def install(name: str, request: Request, *, hooks: bool = True, server: bool = True) -> None:
    """Put crabmem into the configs of a host: its hooks, its server, or both. Print what was done.

    Ask what the person has not decided yet, show the diffs, and write after a yes. If crabmem becomes the only memory,
    then import what the host's own memory holds.

    Raises:
        InvalidArguments: the host has nothing that fits the options.
        Failure: the person cannot be asked.
    """
    host, here = host_named(name), surroundings()
    options = replace(options_for(host), with_hooks=hooks, with_server=server)
    installation = _installation(options, here, request)
    is_by_project = bool(global_options().project)
    if request.memory == "inside" and (request.project or not (host.own_memory and host.own_memory.can_unite)):
        raise InvalidArguments("--memory inside is for claude-code, and for all of its projects at once")
    if not installation.has_content:
        raise InvalidArguments(f"{host.title} has nothing but the server here; leave out --no-server")
    if not _is_found(host, here):
        warn([f"{host.title} was not found here; what is written waits for it"])
    choice = _choose(installation, request, is_by_project)
    if choice.memory == "inside" and is_by_project:
        raise InvalidArguments("--memory inside keeps one folder for all projects; say --memory only or beside, too")
    memories, takes_in = _known_to_host(installation, choice, here, request.project or is_by_project)
    changes = installation.changes(bool(choice.allow), choice.memory)
    imported = _import(host, memories, dry_run=True, takes_in=takes_in, quiet=request.json_wanted)
    wanted = _confirmed(changes, request, "installed")
    if not takes_in:
        imported = None
    elif (
        wanted
    ):  # before the configs say that the host's memory is off: should this fail, the next installation imports
        imported = _import(host, memories, dry_run=False, takes_in=True, quiet=True)
    is_done = _write(wanted)
    next_step = (request.project and host.next_step_in_project) or host.next_step
    lines = [*_outcome(host, changes, is_done), *_choice_lines(installation, choice, imported)]
    data = {
        **_data(host, request, changes, is_done),
        "allow": choice.allow,
        "memory": choice.memory if host.own_memory else None,
        "imported": imported and import_data(imported),
        "to_do": next_step,
    }
    show(request.json_wanted, data, lambda: "\n".join(lines))
    warn(f"{host.title} will not use all of it: {each}" for each in installation.obstacles(bool(choice.allow)))
    if is_done or not request.dry_run:
        tell(f"now: {next_step}")
    if set(_TEMPORARY) & set(Path(options.program[0]).parts):
        warn([f"{options.program[0]} lies in a cache that is cleared: uv tool install {whole()}, then once more"])
    if request.project:
        warn(["what was written names paths of this machine; think twice before you commit it"])


def uninstall(name: str, request: Request) -> None:
    """Take crabmem out of the configs of a host."""
    host, here = host_named(name), surroundings()
    changes = _installation(options_for(host), here, request).removal()
    is_done = _write(_confirmed(changes, request, "uninstalled"))
    lines = _removal_outcome(host, changes, is_done)
    show(request.json_wanted, _data(host, request, changes, is_done), lambda: "\n".join(lines))


def show_all(json_wanted: bool) -> None:
    """List the hosts, and whether each is found and has crabmem."""
    here = surroundings()
    options = options_for(HOSTS[0])
    rows = [_row(replace(options, host=host), here) for host in HOSTS]
    lines = (f"{row['host']:15} {row['found']:10} {row['installed']}" for row in rows)
    show(json_wanted, {"hosts": rows}, lambda: "\n".join(lines))
    if not json_wanted:
        warn(finding.message for finding in findings())
        tell("crabmem install HOST --dry-run shows what would change")


def findings() -> Iterator[Finding]:
    """A finding for each host that calls a crabmem that is gone. A config that cannot be read has none."""
    here = surroundings()
    for host in HOSTS:
        for project_option in here.scopes:
            for program in Installation(_plain_options(host), here, project_option).missing_programs():
                verb = f"crabmem install {host.name}{' --here' * project_option}"
                words = f"{host.title} calls {program}, which is gone: `{verb}` renews that"
                yield Finding("warning", "", words, "hosts")


def installed_in(mentioned: Iterable[tuple[Host, bool]]) -> list[dict[str, str]]:
    """The hosts that crabmem is installed in, with the scope, among those that `mentions` found.

    `mentions` looks for the bare name, which a person may have written for another reason: so these configs are parsed.
    """
    here = surroundings()
    return [
        {"host": host.name, "scope": _SCOPES[in_project]}
        for host, in_project in mentioned
        if Installation(_plain_options(host), here, in_project).is_found()
    ]


def _installation(options: InstallOptions, here: Surroundings, request: Request) -> Installation:
    """Return the installation in the person's configs, or with `request.project` in those of the project at hand.

    Raises:
        InvalidArguments: the host has no configs of projects, or we are in the person's home and not in a project.
    """
    installation = Installation(options, here, request.project)
    if not installation.configs:
        raise InvalidArguments(f"{options.host.title} has no configs of projects; leave out --here")
    if request.project and here.project == here.home:
        raise InvalidArguments("this is your home folder, not a project; leave out --here or go to one")
    return installation


def _choose(installation: Installation, request: Request, is_by_project: bool) -> _Choice:
    """Return what the person decides: by an option, else as the configs have it already, else by an answer.

    If nobody can be asked, take the default of each question. The agent is allowed to use memory, as the person
    installs it for that, and every write can be undone. The host's own memory stays on.
    """
    host, is_there = installation.host, installation.is_there
    asks = can_ask() and not (request.yes or request.dry_run)
    allow, memory = request.allow, request.memory
    if is_there:
        allow = installation.is_allowed if allow is None else allow
        memory = installation.memory if memory is None else memory
    if allow is None and installation.takes_permission:
        allow = click.confirm(_MAY_IT.format(host.title), True, err=True) if asks else True
    if memory is None and asks and host.own_memory:
        memory = _ask_for_memory(host, request.project or is_by_project)
    elif memory is None:
        memory = "beside" if host.own_memory else "only"
    return _Choice(allow if installation.takes_permission else None, memory)


def _ask_for_memory(host: Host, project: bool) -> Whose:
    """Ask whose memory the agent is to have. "inside" is offered only if the host can do that, and not in a project."""
    assert host.own_memory is not None
    tell_always(f"{host.title} has a memory of its own, too ({host.own_memory.title}). Which is it to use?")
    tell_always("  beside  both: its own goes on beside this one")
    tell_always(
        "  only    crabmem alone: its own is switched off, and what is in it is taken in first, and stays there"
    )
    offered: list[Whose] = ["beside", "only"]
    if host.own_memory.can_unite and not project:
        tell_always("  inside  its own is kept in this memory's folder, each write a commit")
        offered.append("inside")
    answer: Whose = click.prompt("Memory", "beside", type=click.Choice(offered), err=True)
    return answer


def _known_to_host(
    installation: Installation, choice: _Choice, here: Surroundings, of_project: bool
) -> tuple[Sequence[Path], bool]:
    """Return the places of the host's own memory, and whether to import them (else they are only listed).

    They are imported once, by the installation that makes ours the only memory: later, facts that were forgotten since
    would come back. They are listed only if crabmem was not installed before. In all other cases, and if the host's
    memory is kept inside ours, return no places. `of_project` limits them to the project at hand.
    """
    own, takes_in = installation.host.own_memory, choice.memory == "only"
    is_over = installation.has_our_memory_alone if takes_in else installation.is_there
    if own is None or choice.memory == "inside" or is_over:
        return (), False
    return own.places(here, of_project), takes_in


def _import(host: Host, places: Sequence[Path], *, dry_run: bool, takes_in: bool, quiet: bool) -> Import | None:
    """Import the host's own memory from `places`; None if there is nothing in it. Unless `quiet`, list what is there.

    With `takes_in` False the list says by which command it could be imported.
    """
    if host.own_memory is None or not places:
        return None
    done = take_in(open_session(tells_place=False), places, dry_run, host.own_memory.source)
    if not done.items:
        return None
    if not quiet:
        becomes = (
            "this is taken in from" if takes_in else f"`crabmem install {host.name} --memory only` takes it in from"
        )
        tell_always(f"{host.title} has remembered before ({host.own_memory.title}); {becomes} {done.place}:")
        for line in import_lines(done, False, hint=""):
            tell_always(f"  {line}")
    return done


def _choice_lines(installation: Installation, choice: _Choice, imported: Import | None) -> Iterator[str]:
    """Yield what was decided: the permission, whose memory the agent has, and what was imported or could not be."""
    host, own, server = installation.host, installation.host.own_memory, installation.options.with_server
    if choice.allow:
        yield "allowed: it reads and writes memory without asking each time (--no-allow: it asks)"
    elif choice.allow is False and server:
        yield "not allowed: its own rules say when it asks before it uses memory (--allow: it need not)"
    elif server and host.permission:
        yield f"permission: {host.permission}"
    if own is None:
        return
    if choice.memory == "inside":
        yield f"memory: {own.title} is kept in this workspace"
    elif own.note or not installation.can_switch_memory_off:
        yield f"memory: this one; {own.note or f'no config of a project switches {own.title} off'}"
    elif choice.memory == "only":
        yield f"memory: this one alone, not {own.title} (--memory beside: both go on)"
    else:
        yield f"memory: this one, and {own.title} beside it (--memory only: this one alone)"
    if imported and (words := import_summary(imported)):
        yield f"taken in from {own.title}: {words}" + ("" if imported.dry_run else "; `crabmem undo` takes it back")
        for where, item in imported.items:
            if isinstance(item, CrabmemError):
                yield f"not taken in: {where}: {' '.join(str(item).split())}"


def _confirmed(changes: Sequence[Change], request: Request, done_word: str) -> Sequence[Change]:
    """Show the diffs and ask; return the changes to write, none after a dry run.

    `done_word`, as "installed", words the refusal where nobody can be asked: "nothing was installed".
    """
    wanted = [change for change in changes if change.changes_anything]
    if not request.json_wanted:
        for change in wanted:
            if change.is_edit:  # a change of the backup alone has no diff
                click.echo(coloured_diff(change.diff), nl=False)
    if request.dry_run or not wanted:
        return ()
    if not request.yes:
        confirm("Write this?", done_word)
    return wanted


def _write(changes: Sequence[Change]) -> bool:
    """Write the configs; return whether there was anything to write."""
    write_changes(changes)
    return bool(changes)


def _outcome(host: Host, changes: Sequence[Change], is_done: bool) -> list[str]:
    if not any(change.changes_anything for change in changes):
        return [f"already installed in {host.title}: {_files(changes)}"]
    if not is_done:
        return [f"would install in {host.title}"]
    kept = (f"kept as it was: {change.backup}" for change in changes if change.makes_backup)
    return [f"installed in {host.title}", *kept]


def _removal_outcome(host: Host, changes: Sequence[Change], is_done: bool) -> list[str]:
    if not any(change.changes_anything for change in changes):
        return [f"not installed in {host.title}: {_files(changes)}"]
    if not is_done:
        return [f"would uninstall from {host.title}"]
    kept = (
        f"changed since the installation, so what was there before is still kept: {change.backup}"
        for change in changes
        if change.changes_anything and not change.drops_backup and change.backup.exists()
    )
    return [f"uninstalled from {host.title}", *kept]


def _files(changes: Sequence[Change]) -> str:
    return plain(", ".join(str(change.file) for change in changes))


def _data(host: Host, request: Request, changes: Sequence[Change], is_done: bool) -> dict[str, Any]:
    return {
        "host": host.name,
        "scope": _SCOPES[request.project],
        "written": is_done,
        "changes": [
            {
                "path": str(change.file),
                "action": _action(change),
                "backup": str(change.backup) if change.makes_backup else None,
                "diff": change.diff,
            }
            for change in changes
        ],
    }


def _action(change: Change) -> str:
    if not change.is_edit:
        return "none"
    return "create" if change.before is None else "remove" if change.after is None else "change"


def _row(options: InstallOptions, here: Surroundings) -> dict[str, Any]:
    """Return the row of a host; `gone` are programs that its configs call for crabmem and that no longer exist."""
    installations = [Installation(options, here, project_option) for project_option in here.scopes]
    there = {_SCOPES[number]: each for number, each in enumerate(installations) if _is_installed(each)}
    return {
        "host": options.host.name,
        "found": "found" if _is_found(options.host, here) else "not found",
        "installed": f"installed ({', '.join(there)})" if there else "not installed",
        "gone": sorted({program for each in there.values() for program in each.missing_programs()}),
    }


def _is_found(host: Host, here: Surroundings) -> bool:
    """Whether there are signs of a host on this machine: its program, or a folder of its own."""
    return bool(shutil.which(host.program)) or host.folder(here).is_dir()


def _is_installed(installation: Installation) -> bool:
    """Whether crabmem is in a host's configs; False and a warning where one cannot be read."""
    try:
        return installation.is_there
    except CrabmemError as error:
        warn([str(error)])
        return False


def options_for(host: Host) -> InstallOptions:
    """Return what to register in a host, with the command by which it is to call crabmem.

    The command is this program by its whole path, with the options that name the workspace, unless that is the person's
    usual one, and with the profile if one was named.
    """
    wanted = global_options()
    root = wanted.root.absolute()
    workspace = workspace_at(root, wanted.profile, Allowed(os.environ))
    if wanted.project:  # kept as an option: the host's process finds the project where it works
        base = replace(wanted, project="", workspace="").root.absolute()
        own = ("--workspace", wanted.workspace) if wanted.workspace else ()
    else:
        base, own = root, ()
    chosen: tuple[str, ...] = () if base == Path.home() / ".crabmem" and not wanted.project else ("--dir", str(base))
    # Then --dir is always given, too: a project's own settings for the host could set $CRABMEM_DIR.
    chosen += ("--project", wanted.project) if wanted.project else ()
    chosen += own
    chosen += ("--profile", workspace.profile) if wanted.profile and workspace.profile else ()
    with session_at(root, options=Options(profile=wanted.profile)) as memory:
        tools = tuple(Toolbox(memory).usual)
    folder = root / workspace.layout.memory
    return InstallOptions(host, (*program(), *chosen), folder, tools=tools)


def _plain_options(host: Host) -> InstallOptions:
    """Options that find what was installed, whatever it was installed with."""
    return InstallOptions(host, (_MODULE,), Path())


def program() -> tuple[str, ...]:
    """Return the command that starts this program from any folder: its whole path, else Python with `-m`."""
    for file in (Path(sys.argv[0]), Path(sys.executable).parent / _MODULE):
        found = shutil.which(str(file.absolute())) if file.stem == _MODULE else None
        if found:
            return (found,)
    return (sys.executable, "-m", _MODULE)
