"""What the verbs `install` and `uninstall` do."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

from ..api import Memory
from ..disk.allowed import Allowed
from ..errors import CrabmemError, InvalidArguments
from ..hosts.desired import Wish
from ..hosts.host import Config, Host, Order, Surroundings, Whose
from ..hosts.install import Change, gone, has_ours, installation, make, removal, stands
from ..hosts.table import HOSTS, host_of
from ..locate import workspace_at
from ..results import Finding
from ..text.extras import how_to_get, whole
from .base import Failure, can_ask, coloured_diff, confirm, opened, plain, show, tell, wanted_of, warn
from .importing import Import, import_data, import_lines, summary, take_in

Configs: TypeAlias = Sequence[Config]

_MODULE = "crabmem"
_MAY_IT = "May {} read and write this memory without asking you each time? Every write is a commit you can undo."
_TEMPORARY = ("archive-v0", "environments-v2", "builds-v0")


@dataclass(frozen=True)
class Asked:
    """What a person asked for, beside the host. `allow` and `memory` are None where they said nothing of them."""

    project: bool
    dry_run: bool
    yes: bool
    json_wanted: bool
    allow: bool | None = None
    memory: Whose | None = None


@dataclass(frozen=True)
class _Chosen:
    """What was decided of a host: `allow` is None where no config of it takes a permission."""

    allow: bool | None
    memory: Whose


def install(ctx: click.Context, name: str, asked: Asked, *, hooks: bool = True, server: bool = True) -> None:
    """Put crabmem into the configs of a host: its hooks, its server, or both."""
    host = host_of(name)
    order, here = replace(_order(ctx), hooks=hooks, with_server=server), _surroundings()
    configs = _configs(host, asked.project)
    if asked.memory == "both" and (asked.project or not (host.own and host.own.unites)):
        raise InvalidArguments("--memory both is for claude-code, and for all of its projects at once")
    if not any(config.wishes(order) for config in configs):
        raise InvalidArguments(f"{host.title} has nothing but the server here; leave out --no-server")
    if server:
        _check_server(host, configs, order, asked.dry_run)
    if not _is_found(host, here):
        warn([f"{host.title} was not found here; what is written waits for it"])
    is_there = _is_there(configs, here, order)
    chosen = _choose(host, asked, configs, here, order, is_there)
    kept = host.own.lies(here, asked.project) if host.own and _is_news(chosen, configs, here, order, is_there) else ()
    order = replace(order, allow=bool(chosen.allow), memory=chosen.memory)
    changes = [installation(config, here, order, is_there) for config in configs]
    taken = _take_in(ctx, host, kept, dry_run=True, quiet=asked.json_wanted) if kept else None
    done = _carry_out(changes, here.project if asked.project else here.home, asked, "installed")
    if done and kept:
        taken = _take_in(ctx, host, kept, dry_run=False, quiet=True)
    to_do = (asked.project and host.to_do_in_project) or host.to_do
    said = [*_installed(changes, done, asked.dry_run, host), *_decided(host, configs, order, chosen, taken)]
    data = _data(host, asked.project, changes, done)
    chose = {
        "allow": chosen.allow,
        "memory": chosen.memory if host.own else None,
        "imported": taken and import_data(taken),
    }
    show(asked.json_wanted, {**data, **chose, "to_do": to_do}, lambda: "\n".join(said))
    if done or not asked.dry_run:
        tell(f"now: {to_do}")
    _mind(order, asked.project)


def _choose(host: Host, asked: Asked, configs: Configs, here: Surroundings, order: Order, is_there: bool) -> _Chosen:
    """What the person decides: what was said, else what they decided before, else what they answer.

    Where nobody can be asked the answer is that to which the question leans: whoever has memory installed wants the
    agent to use it, and every write is a commit that can be read and undone. An agent that gets no tools of ours keeps
    the memory of its host.
    """
    asks = can_ask() and not (asked.yes or asked.dry_run)
    takes_permission = any(_allowing(config, order, True) for config in configs)
    allow, memory = asked.allow, asked.memory
    if is_there:
        allow = _stands_allowed(configs, here, order) if allow is None else allow
        memory = _standing(host, configs, here, order) if memory is None else memory
    if allow is None and takes_permission:
        allow = click.confirm(_MAY_IT.format(host.title), True, err=True) if asks else True
    if memory is None:
        memory = (
            _whose(host, asked.project) if asks and host.own else "ours" if order.with_server or is_there else "host"
        )
    return _Chosen(allow if takes_permission else None, memory)


def _whose(host: Host, project: bool) -> Whose:
    assert host.own is not None
    tell(f"{host.title} has a memory of its own, too ({host.own.title}). Which is it to use?")
    tell("  ours  this memory alone; what is in its own is taken in first, and stays there")
    tell("  host  its own goes on beside this one")
    offered: list[Whose] = ["ours", "host"]
    if host.own.unites and not project:
        tell("  both  its own is kept in this memory's folder, each write a commit")
        offered.append("both")
    answer: Whose = click.prompt("Memory", "ours", type=click.Choice(offered), err=True)
    return answer


def _allowing(config: Config, order: Order, allow: bool) -> Sequence[Wish]:
    return config.choices(replace(order, allow=allow, memory="host"))


def _switching(config: Config, order: Order) -> Sequence[Wish]:
    return config.choices(replace(order, allow=False, memory="ours"))


def _stands_allowed(configs: Configs, here: Surroundings, order: Order) -> bool:
    return stands(configs, here, replace(order, allow=True, memory="host"))


def _standing(host: Host, configs: Configs, here: Surroundings, order: Order) -> Whose:
    """Whose memory a host has by its configs."""
    for memory in ("both", "ours"):
        chosen = replace(order, allow=False, memory=memory)
        if any(config.choices(chosen) for config in configs) and stands(configs, here, chosen):
            return memory
    return "host" if any(map(partial(_switching, order=order), configs)) else "ours"


def _is_news(chosen: _Chosen, configs: Configs, here: Surroundings, order: Order, is_there: bool) -> bool:
    """Whether ours becomes the memory of a host only now: what was forgotten since is not taken in again."""
    return chosen.memory == "ours" and not (
        is_there and stands(configs, here, replace(order, allow=False, memory="ours"))
    )


def _take_in(ctx: click.Context, host: Host, places: Sequence[Path], *, dry_run: bool, quiet: bool) -> Import | None:
    """Take in what a host remembers itself; None when there is nothing of it."""
    assert host.own is not None
    done = take_in(opened(ctx, tells_place=False), places, dry_run, host.own.source)
    if not done.items:
        return None
    if not quiet:
        tell(f"{host.title} has remembered before ({host.own.title}); this is taken in from {done.place}:")
        for line in import_lines(done, False):
            tell(f"  {line}")
    return done


def _decided(host: Host, configs: Configs, order: Order, chosen: _Chosen, taken: Import | None) -> Iterator[str]:
    """What was decided, for the person."""
    server, is_switched = order.with_server, any(map(partial(_switching, order=order), configs))
    if chosen.allow:
        yield "allowed: it reads and writes memory without asking each time (--no-allow: it asks)"
    elif chosen.allow is False and server:
        yield "not allowed: its own rules say when it asks before it uses memory (--allow: it need not)"
    elif server and host.asks:
        yield f"permission: {host.asks}"
    if host.own is None:
        return
    if chosen.memory == "ours" and (host.own.note or not is_switched):
        yield f"memory: this one; {host.own.note or f'no config of a project switches {host.own.title} off'}"
    elif chosen.memory == "ours":
        yield f"memory: this one alone, not {host.own.title} (--memory host: both go on)"
    elif chosen.memory == "both":
        yield f"memory: {host.own.title} is kept in this workspace"
    else:
        yield f"memory: this one, and {host.own.title} beside it (--memory ours: this one alone)"
    if taken and (words := summary(taken)):
        yield f"taken in from {host.own.title}: {words}" + ("" if taken.dry_run else "; `crabmem undo` takes it back")
        for where, item in taken.items:
            if isinstance(item, CrabmemError):
                yield f"not taken in: {where}: {' '.join(str(item).split())}"


def uninstall(ctx: click.Context, name: str, asked: Asked) -> None:
    """Take crabmem out of the configs of a host."""
    host = host_of(name)
    order, here = _order(ctx), _surroundings()
    configs = _configs(host, asked.project)
    is_there = _is_there(configs, here, order)
    changes = [removal(config, here, order, is_there) for config in configs]
    done = _carry_out(changes, here.project if asked.project else here.home, asked, "uninstalled")
    words = _uninstalled(changes, done, asked.dry_run, host)
    show(asked.json_wanted, _data(host, asked.project, changes, done), lambda: words)


def _is_there(configs: Configs, here: Surroundings, order: Order) -> bool:
    """Whether crabmem is installed in a host already."""
    return any(has_ours(config, here, order) for config in configs)


def _check_server(host: Host, configs: Configs, order: Order, dry_run: bool) -> None:
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
            if change.is_edit:
                click.echo(coloured_diff(change.diff), nl=False)
    if asked.dry_run or not wanted:
        return False
    if not asked.yes:
        confirm("Write this?", outcome)
    make(wanted, top)
    return True


def _configs(host: Host, project: bool) -> Configs:
    configs = host.project if project else host.user
    if not configs:
        raise InvalidArguments(f"{host.title} has no configs of projects; leave out --project")
    if project and Path.cwd() == Path.home():
        raise InvalidArguments("this is your home folder, not a project; leave out --project or go to one")
    return configs


def _installed(changes: Sequence[Change], done: bool, dry_run: bool, host: Host) -> list[str]:
    """What became of an installation."""
    if not any(change.is_one for change in changes):
        return [f"already installed in {host.title}: {_files(changes)}"]
    kept = [f"kept as it was: {change.backup}" for change in changes if change.keeps]
    return [f"{'installed' if done else 'would install'} in {host.title}", *(kept if done else ())]


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
                "backup": str(change.backup) if change.keeps else None,
                "diff": change.diff,
            }
            for change in changes
        ],
    }


def _action(change: Change) -> str:
    if not change.is_edit:
        return "none"
    return "create" if change.before is None else "remove" if change.after is None else "change"


def findings() -> Iterator[Finding]:
    """Hosts that call a crabmem that is not there any more; a config that cannot be read is the host's business."""
    order, here = Order((_MODULE,), sys.platform, Path()), _surroundings()
    for host in HOSTS:
        for scope in _scopes(here):
            for program in _gone(host, scope, here, order):
                more = " --project" if scope == "project" else ""
                words = f"{host.title} calls {program}, which is gone: `crabmem install {host.name}{more}` renews that"
                yield Finding("warning", "", words, "hosts")


def _gone(host: Host, scope: str, here: Surroundings, order: Order) -> list[str]:
    """The programs that a host's configs call for us, and that are not there."""
    found: set[str] = set()
    for config in (host.user, host.project)[scope == "project"]:
        with suppress(CrabmemError, ValueError):
            found |= set(gone(config, here, order))
    return sorted(found)


def show_all(ctx: click.Context, json_wanted: bool) -> None:
    """The hosts, and what there is of each."""
    order, here = _order(ctx), _surroundings()
    rows = [_row(host, here, order) for host in HOSTS]
    show(json_wanted, rows, lambda: "\n".join(f"{row['host']:15} {row['found']:10} {row['installed']}" for row in rows))
    if not json_wanted:
        warn(finding.message for finding in findings())
    if not json_wanted:
        tell("crabmem install HOST --dry-run shows what would change")


def _scopes(here: Surroundings) -> Sequence[str]:
    """The scopes that are apart here: at home a project's configs are the person's."""
    return ("user",) if here.project == here.home else ("user", "project")


def _row(host: Host, here: Surroundings, order: Order) -> dict[str, Any]:
    scopes = [scope for scope in _scopes(here) if _has(host, scope, here, order)]
    return {
        "host": host.name,
        "found": "found" if _is_found(host, here) else "not found",
        "installed": f"installed ({', '.join(scopes)})" if scopes else "not installed",
        "gone": sorted({program for scope in scopes for program in _gone(host, scope, here, order)}),
    }


def _is_found(host: Host, here: Surroundings) -> bool:
    """Whether there are signs of a host on this machine: its program, or a folder of its own."""
    return bool(shutil.which(host.program)) or host.home(here).is_dir()


def _has(host: Host, scope: str, here: Surroundings, order: Order) -> bool:
    """Whether crabmem is in a host's configs; one that cannot be read is talked of, and has not."""
    try:
        return _is_there((host.user, host.project)[scope == "project"], here, order)
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
    with Memory(root, profile=wanted.profile) as memory:
        tools = tuple(memory.usual_tools)
    return Order((*_program(), *chosen), sys.platform, root / workspace.layout.memory, tools=tools)


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
