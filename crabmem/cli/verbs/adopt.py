"""`crabmem adopt`: puts a host's folder under history."""

import os
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import click

from ...disk import fs
from ...disk.allowed import Allowed
from ...disk.scan import Unusable
from ...disk.store import Store
from ...operations import adoption, files, history, maintenance, setup
from ...operations.doctor.files import left_out
from ...prompt.profile import load_profile
from ...recall.catalog import Catalog
from ...session.locate import outside, workspace_at
from ...session.session import Session
from ...text.values import replace
from ...text.words import counted
from ...workspace.layout import AGENTS, FLAT, SETTINGS
from ...workspace.workspace import Workspace
from ..app import open_session, profile_option, verb
from ..completing import complete_folders
from ..options import NonEmptyPath, dry_run_option, global_options, json_option, yes_really_option
from ..output import plain, progress_bar, show, tell
from .record import fail_if_unrecorded, record, report

# Files at the top of a folder by which `_is_claude_code` recognises it.
_LOOKED_AT = 200
# Files that are named for one reason why they are left out; of more, only the number.
_NAMED = 5


@verb(after="try")
@click.argument(
    "folder", metavar="[DIR]", type=NonEmptyPath(readable=False), required=False, shell_complete=complete_folders
)
@profile_option
@yes_really_option("Even if DIR lies in a repository, or many facts are gone.")
@dry_run_option
@json_option
@click.pass_context
def adopt(ctx: click.Context, folder: str | None, yes_really: bool, dry_run: bool, json_wanted: bool) -> None:
    """Put a folder that a host uses under history, in place.

    MEMORY.md is its overview, and every other Markdown file beside it, or in a folder there, a fact; what is left out
    is named with the reason, as notes in `agents`, where agents have their own memory. The first commit holds all facts
    as they are; nothing is renamed or rewritten, and crabmem.toml says what the folder is. Twice is harmless. With
    --profile, the folder is what an agent of that family works in.

    \b
    crabmem adopt ~/.claude/projects/-home-ann-shop/memory     what Claude Code noted on one project
    crabmem adopt ~/.openclaw/workspace --profile claw         a workspace of that family
    crabmem adopt ~/.camelagi/agents/scribe --profile camel    an agent beside an adopted ~/.camelagi/workspace
    """
    if folder is None:  # as `record` was called
        ctx.invoke(record, yes_really=yes_really, dry_run=dry_run, json_wanted=json_wanted)
    else:
        _adopt_folder(ctx, folder, yes_really, dry_run, json_wanted)


def _adopt_folder(ctx: click.Context, folder: str, yes_really: bool, dry_run: bool, json_wanted: bool) -> None:
    """Write into the folder's settings what it is, begin a history there with all its files, and print what is in it.

    A profile that is a file elsewhere is allowed for this folder. An agent's folder is joined to the workspace of its
    family (`_join`). With `dry_run` only print which files that would be.

    Raises:
        UsageError: a global option names another folder.
        Failure: a loss of many facts was not recorded, as nobody confirmed it.
    """
    if global_options().folder or global_options().workspace or global_options().project:
        raise click.UsageError("the folder to adopt is the workspace; leave out --dir, --project and --workspace")
    meant = replace(global_options(), folder=folder, workspace="", project="")
    root = meant.root.absolute()
    if dry_run:
        return _would_adopt(root, meant.profile, yes_really, json_wanted)
    made = [name for name in (".git", SETTINGS) if not os.path.lexists(root / name)]
    whole = _declare(root, meant.profile, yes_really)
    if meant.profile is not None:
        Allowed(os.environ).allow_profile(root, outside(root, whole))
        _join(root, meant.profile)
    ctx.obj = replace(meant, folder=str(root))
    memory = open_session(tells_place=False)
    before = history.log(memory, limit=1)
    with progress_bar("recording") as progress:
        setup.init(memory, claim=True, is_seeded=False, progress=progress)
    adoption.adopt(memory, yes_really)
    commit = next((newest for newest in history.log(memory, limit=1) if newest not in before), None)
    facts = maintenance.stats(memory).entries
    report(memory, commit, {"path": str(root), "facts": facts}, json_wanted)
    kept = f"{counted(len(files.blobs(memory)), 'file')}, {counted(facts, 'fact')} among them, in {root}"
    tell(f"{kept}: give every command --dir {root}, or set CRABMEM_DIR={root}")
    for line in _left_out(Workspace(memory.root, memory.layout)):
        tell(line)
    _tell_broken(memory.look(lambda now: now.entries.unreadable))
    if not facts:
        tell(_why_nothing(memory))
    if ".git" in made:
        new = " ".join(shlex.quote(str(root / name)) for name in made)
        undone = f"`rm -r {new}` undoes all of this, `crabmem leave` all but the history"
        tell(f"its history is in {root / '.git'}, which is new; {undone}")
    if not meant.profile and _is_claude_code(memory):
        tell(f'Claude Code writes there with "autoMemoryDirectory": "{root}" in its settings')
    fail_if_unrecorded(memory)


def _would_adopt(root: Path, profile: str | None, is_meant: bool, json_wanted: bool) -> None:
    """Print which files the history would have, and how many of them are facts; write nothing."""
    _declare(root, profile, is_meant, dry_run=True)
    workspace = Workspace(root, FLAT) if profile is None else workspace_at(root, profile, Allowed(os.environ))
    scan = Store(workspace, time.time_ns).scan()
    paths, listing = sorted({*scan.files, SETTINGS}), Catalog(workspace, lambda scan: "none").listing(scan)
    facts = len(listing.paths)
    data = {"path": str(root), "facts": facts, "commit": None, "paths": paths}
    show(json_wanted, data, lambda: "\n".join(map(plain, paths)))
    if not json_wanted:
        tell(f"would keep the history of {counted(len(paths), 'file')}, {counted(facts, 'fact')} among them, in {root}")
        for line in _left_out(workspace):
            tell(line)
        _tell_broken(listing.unreadable)


def _tell_broken(broken: Sequence[Unusable]) -> None:
    """Tell which files cannot be read as facts, with the reason; only the first few."""
    for item in broken[:_NAMED]:
        tell(plain(f"not recalled: {item.path}: {item.reason}"))
    if len(broken) > _NAMED:
        tell(f"not recalled: {len(broken) - _NAMED} more; `crabmem doctor` names them")


def _left_out(workspace: Workspace) -> Iterator[str]:
    """Yield a line for each file that is no part of memory, with the reason; for each reason only the first few."""

    times = Counter[str]()
    for found in left_out(workspace):
        times[found.message] += 1
        if times[found.message] <= _NAMED:
            yield plain(f"left out: {found.path}: {found.message}")
    yield from (f"left out: {count - _NAMED} more: {why}" for why, count in times.items() if count > _NAMED)


def _why_nothing(memory: Session) -> str:
    broken = maintenance.stats(memory).unreadable
    if broken:
        return f"nothing in it can be recalled: {counted(broken, 'file')} cannot be read; `crabmem doctor` says why"
    what = "no Markdown file lies" if files.blobs(memory).keys() <= {SETTINGS} else "none of its files lies"
    return f"nothing in it can be recalled yet: facts are Markdown files, and {what} {memory.layout.where}"


def _is_claude_code(memory: Session) -> bool:
    """Whether a folder looks like one in which Claude Code keeps facts."""
    from ...importers.base import Tree  # late: the other verbs ask for none
    from ...importers.recognition import source_of

    top = islice((path for path in sorted(files.blobs(memory)) if "/" not in path), _LOOKED_AT)
    hidden = frozenset(name for name in os.listdir(memory.root) if name.startswith(".") and name != ".git")
    tree = Tree(memory.root.parts, dict.fromkeys(top), lambda path: fs.read(memory.file(path))[0], hidden)
    return ".claude" in memory.root.parts or source_of(tree).name == "claude-code"


def _declare(root: Path, profile: str | None, is_meant: bool, dry_run: bool = False) -> str:
    """Write into the settings what the folder is: a flat folder of facts, or the workspace of a profile.

    Return the profile as the settings name it, a file by its whole path; "" without a profile. With `is_meant` the
    folder may lie in a repository; with `dry_run` nothing is written, but the same is refused.
    """
    if profile is None:
        setup.declare(root, "layout", FLAT.name, is_meant, dry_run)
        return ""
    load_profile(profile)  # raises for an unknown profile, before anything is written
    whole = os.path.abspath(os.path.expanduser(profile)) if profile.endswith(".toml") else profile
    setup.declare(root, "profile", whole, is_meant, dry_run)
    return whole


def _join(root: Path, profile: str) -> None:
    """Let an agent's folder show the files that it lacks from the workspace of its family, and tell so.

    Do nothing unless the folder lies in `agents/` and the profile says where that workspace is (`parent`). If crabmem
    does not keep it yet, tell how to adopt it.
    """
    way = load_profile(profile).parent
    if not way or root.parent.name != AGENTS:
        return
    parent = Path(os.path.normpath(os.path.realpath(root) / Path(way)))
    if os.path.realpath(parent) != str(parent):  # a tree that came with a link would lend the agent any folder
        tell(f"{parent} is, or lies behind, a symbolic link, so this agent has nothing from it")
    elif fs.is_own_folder(Workspace(parent).private):
        Allowed(os.environ).allow_parent(root, parent)
        tell(f"what this agent lacks it has from {parent}; `crabmem config disallow` takes that back")
    elif parent.is_dir():
        first = f"crabmem adopt {shlex.quote(str(parent))} --profile {shlex.quote(profile)}"
        tell(
            f"what this agent lacks it could have from {parent}, which is no memory yet: `{first}`, and then this again"
        )
