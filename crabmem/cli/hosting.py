"""What the verbs `install` and `uninstall` do."""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from .. import hosts
from ..allowed import Allowed
from ..errors import CrabmemError, InvalidArguments
from ..extras import how_to_get, whole
from ..hosts import Change, Host, Order, Surroundings
from ..locating import workspace_at
from .base import Failure, coloured_diff, confirm, plain, show, tell, wanted_of, warn

_MODULE = "crabmem"
_TEMPORARY = ("archive-v0", "environments-v2", "builds-v0")


@dataclass(frozen=True)
class Asked:
    """What a person asked for, beside the host."""

    project: bool
    dry_run: bool
    yes: bool
    json_wanted: bool


def install(
    ctx: click.Context, name: str, asked: Asked, *, hooks: bool = True, server: bool = True, auto_memory: bool = False
) -> None:
    """Put crabmem into the configs of a host: its hooks, its server, or both."""
    host = hosts.host_of(name)
    if auto_memory and (not host.has_auto_memory or asked.project):
        raise InvalidArguments("--auto-memory is for claude-code, and for all of its projects at once")
    order, here = replace(_order(ctx), hooks=hooks, with_server=server, auto_memory=auto_memory), _surroundings()
    configs = _configs(host, asked.project)
    if not any(config.wishes(order) for config in configs):
        raise InvalidArguments(f"{host.title} has nothing but the server here; leave out --no-server")
    if server:
        _check_server(host, configs, order, asked.dry_run)
    if not _is_found(host, here):
        warn([f"{host.title} was not found here; what is written waits for it"])
    changes = [hosts.installation(config, here, order) for config in configs]
    done = _carry_out(changes, here.project if asked.project else here.home, asked, "installed")
    to_do = (asked.project and host.to_do_in_project) or host.to_do
    words = _installed(changes, done, asked.dry_run, host)
    show(asked.json_wanted, {**_data(host, asked.project, changes, done), "to_do": to_do}, lambda: words)
    if done or not asked.dry_run:
        tell(f"now: {to_do}")
    _mind(order, asked.project)


def uninstall(ctx: click.Context, name: str, asked: Asked) -> None:
    """Take crabmem out of the configs of a host."""
    host = hosts.host_of(name)
    order, here = _order(ctx), _surroundings()
    changes = [hosts.removal(config, here, order) for config in _configs(host, asked.project)]
    done = _carry_out(changes, here.project if asked.project else here.home, asked, "uninstalled")
    words = _uninstalled(changes, done, asked.dry_run, host)
    show(asked.json_wanted, _data(host, asked.project, changes, done), lambda: words)


def _check_server(host: Host, configs: Sequence[hosts.Config], order: Order, dry_run: bool) -> None:
    """Stop before a host is given a server that could not start.

    Raises:
        Failure: the libraries of the server are not here; without `dry_run`, which only warns.
    """
    try:
        from ..mcp import Served  # noqa: F401  its whole package: an older library may be there, and not enough
    except ImportError:
        without = replace(order, with_server=False)
        way_out = "; --no-server installs the hooks alone" if any(each.wishes(without) for each in configs) else ""
        words = f"the server for {host.title} needs more than is installed: {how_to_get('mcp')}{way_out}"
        if not dry_run:
            raise Failure(f"nothing was installed: {words}") from None
        warn([words])


def _carry_out(changes: Sequence[Change], top: Path, asked: Asked, outcome: str) -> bool:
    """Show the diffs and make the changes below `top`, which then is the `outcome`; whether any were made."""
    wanted = [change for change in changes if change.is_one]
    if not asked.json_wanted:
        for change in wanted:
            click.echo(coloured_diff(change.diff), nl=False)
    if asked.dry_run or not wanted:
        return False
    if not asked.yes:
        confirm("Write this?", outcome)
    hosts.make(wanted, top)
    return True


def _configs(host: Host, project: bool) -> Sequence[hosts.Config]:
    configs = host.project if project else host.user
    if not configs:
        raise InvalidArguments(f"{host.title} has no configs of projects; leave out --project")
    if project and Path.cwd() == Path.home():
        raise InvalidArguments("this is your home folder, not a project; leave out --project or go to one")
    return configs


def _installed(changes: Sequence[Change], done: bool, dry_run: bool, host: Host) -> str:
    """What became of an installation."""
    if not any(change.is_one for change in changes):
        return f"already installed in {host.title}: {_files(changes)}"
    kept = [f"kept as it was: {change.backup}" for change in changes if change.is_one and change.keeps]
    return "\n".join([f"{'installed' if done else 'would install'} in {host.title}", *(kept if done else ())])


def _uninstalled(changes: Sequence[Change], done: bool, dry_run: bool, host: Host) -> str:
    """What became of taking it back."""
    if not any(change.is_one for change in changes):
        return f"not installed in {host.title}: {_files(changes)}"
    kept = [
        f"changed since the installation, so what was there before is still kept: {change.backup}"
        for change in changes
        if change.is_one and not change.spent and change.backup.exists()
    ]
    return "\n".join([f"{'uninstalled' if done else 'would uninstall'} from {host.title}", *(kept if done else ())])


def _files(changes: Sequence[Change]) -> str:
    return plain(", ".join(str(change.file) for change in changes))


def _data(host: Host, project: bool, changes: Sequence[Change], done: bool) -> dict[str, Any]:
    """What happened, for programs."""
    return {
        "host": host.name,
        "scope": "project" if project else "user",
        "written": done,
        "changes": [
            {
                "path": str(change.file),
                "action": _action(change),
                "backup": str(change.backup) if change.is_one and change.keeps else None,
                "diff": change.diff,
            }
            for change in changes
        ],
    }


def _action(change: Change) -> str:
    if not change.is_one:
        return "none"
    return "create" if change.before is None else "remove" if change.after is None else "change"


def show_all(ctx: click.Context, json_wanted: bool) -> None:
    """The hosts, and what there is of each."""
    order, here = _order(ctx), _surroundings()
    rows = [_row(host, here, order) for host in hosts.HOSTS]
    show(json_wanted, rows, lambda: "\n".join(f"{row['host']:15} {row['found']:10} {row['installed']}" for row in rows))
    if not json_wanted:
        tell("crabmem install HOST --dry-run shows what would change")


def _row(host: Host, here: Surroundings, order: Order) -> dict[str, str]:
    scopes = [scope for scope in ("user", "project") if _has(host, scope, here, order)]
    return {
        "host": host.name,
        "found": "found" if _is_found(host, here) else "not found",
        "installed": f"installed ({', '.join(scopes)})" if scopes else "not installed",
    }


def _is_found(host: Host, here: Surroundings) -> bool:
    """Whether there are signs of a host on this machine: its program, or a folder of its own."""
    return bool(shutil.which(host.program)) or host.home(here).is_dir()


def _has(host: Host, scope: str, here: Surroundings, order: Order) -> bool:
    """Whether crabmem is in a host's configs; one that cannot be read is talked of, and has not."""
    if scope == "project" and here.project == here.home:
        return False
    try:
        return any(hosts.has_ours(config, here, order) for config in (host.user, host.project)[scope == "project"])
    except CrabmemError as error:
        warn([str(error)])
        return False


def _surroundings() -> Surroundings:
    return Surroundings(Path.home(), Path.cwd(), os.environ, sys.platform)


def _order(ctx: click.Context) -> Order:
    """Everything there is to register, and how a host is to call crabmem: this program by its whole path, with the
    workspace unless it is yours, and with the profile that is named."""
    wanted = wanted_of(ctx)
    root = wanted.root.absolute()
    workspace = workspace_at(root, wanted.profile, Allowed(os.environ))
    chosen: tuple[str, ...] = () if root == Path.home() / ".crabmem" else ("--dir", str(root))
    chosen += ("--profile", workspace.profile) if wanted.profile and workspace.profile else ()
    return Order((*_program(), *chosen), sys.platform, root / workspace.layout.memory, auto_memory=True)


def _program() -> tuple[str, ...]:
    """This program as anybody can call it."""
    for file in (Path(sys.argv[0]), Path(sys.executable).parent / _MODULE):
        found = shutil.which(str(file.absolute())) if file.stem == _MODULE else None
        if found:
            return (found,)
    return (sys.executable, "-m", _MODULE)


def _mind(order: Order, project: bool) -> None:
    """Say what will be in the way."""
    if set(_TEMPORARY) & set(Path(order.program[0]).parts):
        warn([f"{order.program[0]} lies in a cache that is cleared: uv tool install {whole('mcp')}, then once more"])
    if project:
        warn(["what was written names paths of this machine; think twice before you commit it"])
