"""Files, hooks, permission and memory of hosts, as their pages say them, from the table of hosts."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from crabmem.hosts.desired import Desired
from crabmem.hosts.host import EVENTS, Config, Host, OwnMemory
from crabmem.hosts.options import InstallOptions
from crabmem.hosts.surroundings import Surroundings
from crabmem.hosts.table import HOSTS

from .pages import DOCS
from .sessions import HOME, PROGRAM

FOLDER = DOCS / "hosts"
_HERE = Surroundings(Path(HOME), Path("PROJECT"), {}, "linux")
_MEMORY = Path(HOME) / ".crabmem/memory"


def facts(host: Host) -> str:
    """The table of a host."""
    rows = [("command", f"`crabmem install {host.name}`"), ("your config files", _files(host.user))]
    if host.project:
        rows.append(("a project's, with `--here`", _files(host.project)))
    rows += [("hooks", _hooks(host)), ("asks before each call", _permission(host)), ("its own memory", _memory(host))]
    rows.append(("next", host.next_step[0].upper() + host.next_step[1:]))
    if host.next_step_in_project:
        rows.append(("next, in a project", host.next_step_in_project[0].upper() + host.next_step_in_project[1:]))
    rows.append(
        ("to undo it", f"`crabmem uninstall {host.name}`: the configs are what they were, and the memory stays")
    )
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)])


def _files(configs: tuple[Config, ...]) -> str:
    shown = (str(each.file(_HERE)).replace(HOME, "~").removeprefix("PROJECT/") for each in configs)
    return ", ".join(f"`{file}`" for file in dict.fromkeys(shown))


def _written(host: Host, **chosen: object) -> list[Desired]:
    """What an installation with these options puts into the configs of a person."""
    given = {"host": host, "program": (PROGRAM,), "system": _HERE.system, "folder": _MEMORY, "tools": ("recall",)}
    asked = {field.name for field in fields(InstallOptions)}  # an installation may not care for which system it is
    want: Any = InstallOptions
    want = want(**{name: value for name, value in {**given, **chosen}.items() if name in asked})
    return [each for config in host.user for content in (config.content, config.choices) for each in content(want)]


def _hooks(host: Host) -> str:
    if len(_written(host)) == len(_written(host, with_hooks=False)):
        return "none" if host.hooks is None else "none of its own: it runs those of other hosts"
    assert host.hooks
    written = repr(_written(host))
    told = [host.hooks.name_of(event) for event in EVENTS if f" hook {event} " in written]
    return ", ".join(f"`{name}`" for name in told) or "a plugin, which does what hooks do"


def _permission(host: Host) -> str:
    if len(_written(host, allow=True)) > len(_written(host)):
        return "no, if you say yes when `crabmem install` asks, or `--allow`"
    return host.permission[:1].upper() + host.permission[1:] or "as the host has it"


def _memory(host: Host) -> str:
    own = host.own_memory
    if own is None:
        return "none that crabmem knows of"
    if own.note:
        return f"{own.title}; {own.note}"
    read = ", after what is in it was imported" if own.places is not OwnMemory._field_defaults["places"] else ""
    return f"{own.title}: goes on; with `--memory only` it is switched off{read}"


def all_facts() -> dict[Path, Host]:
    """The page of each host that has one of its own."""
    return {page: host for host in HOSTS if (page := FOLDER / f"{host.name}.md").exists()}


def others() -> list[Host]:
    """The hosts that have a row in `docs/hosts/servers.md`, for they have no page of their own."""
    named = {page.stem for page in all_facts()}
    return sorted((host for host in HOSTS if host.name not in named), key=lambda host: host.title.lower())


def table() -> str:
    """The rows of these."""
    lines = [
        "| host | `HOST` | your config files | a project's, with `--here` | asks before each call | its own memory |"
    ]
    lines.append(f"|{'---|' * 6}")
    for host in others():
        project = _files(host.project) if host.project else "–"
        cells = (host.title, f"`{host.name}`", _files(host.user), project, _permission(host), _memory(host))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
