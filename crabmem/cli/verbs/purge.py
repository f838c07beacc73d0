"""The verb that erases for good."""

import os
from collections.abc import Mapping
from textwrap import indent

import click

from ...operations import agents
from ...operations import purge as operation
from ...results import Purge, Standing, json_of
from ...session.scopes import check_is_here
from ...text.commands import program_at
from ...workspace.layout import AGENTS
from ...workspace.workspace import ALL, PROJECTS
from ..app import open_session, verb
from ..completing import complete_names
from ..input import LINE
from ..options import Renamed, json_option, yes_option, yes_really_option
from ..output import confirm, exit_failed, plain, show

_SHOWN = 10
_ONLY_NAME = (
    "\nno fact is or was called so: if one was purged, what it said is not known any more, and only its name was "
    "looked for; `crabmem purge --text WORDS --verify` looks for words"
)
_FORGES = "a forge keeps forks, caches and pull requests besides: ask it to remove them, and change what was a secret"


@verb(after="digest")
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--text", metavar="STRING", type=LINE, help="Erase this text wherever it stands; - is stdin.")
@click.option(
    "--pattern",
    metavar="REGEX",
    type=LINE,
    help="Erase what a regular expression finds; `^` and `$` are those of lines.",
)
@click.option("--dry-run", is_flag=True, help="Only print the plan.")
@click.option("--verify", is_flag=True, help="Only look where it still stands; exit status 1 when it does, or may.")
@yes_option
@yes_really_option("Also when a remote has it that no `crabmem sync` rewrites.", "--force")
@click.option(
    "--all",
    "everywhere",
    cls=Renamed,
    former=["--agents"],
    is_flag=True,
    help="Also in the workspaces of agents and of projects.",
)
@json_option
def purge(
    name: str | None,
    text: str | None,
    pattern: str | None,
    dry_run: bool,
    verify: bool,
    yes: bool,
    yes_really: bool,
    everywhere: bool,
    json_wanted: bool,
) -> None:
    """Erase a fact, a text or a pattern from history for good.

    NAME goes with every version of it, and with its name in commit messages. A text leaves `(purged)` in its place.
    Commits get new ids from the first that holds it on. Nothing takes a purge back: the plan comes first, and needs
    a yes. Agents' own workspaces are looked into, and purged with --all. Capitals count, so other spellings stay: a
    pattern that begins with (?i) finds them too. Encoded copies, such as base64, are not found.

    \b
    crabmem purge "Old address" --dry-run
    crabmem purge --text hunter2
    crabmem purge --pattern '(?i)hunter2'
    pbpaste | crabmem purge --text - --yes
    crabmem purge --text hunter2 --verify
    """
    memory = open_session()
    check_is_here(memory, name or "", "purge")
    if verify:
        return _verify(operation.standing(memory, name, text=text, pattern=pattern), json_wanted)

    def purged(**how: bool) -> dict[str, Purge]:
        if everywhere:
            return agents.purge_everywhere(memory, name, text=text, pattern=pattern, **how)
        return {ALL: operation.purge(memory, name, text=text, pattern=pattern, **how)}

    plans = purged(dry_run=True) if dry_run or not yes else {}
    if (dry_run or not yes) and not json_wanted:
        click.echo(plain("\n".join(_under_place(place, _plan(each)) for place, each in plans.items())))
    if dry_run:
        return show(json_wanted, _data(plans, everywhere), lambda: "")
    if not yes:
        confirm("Erase this for good?", "purged")
    done = purged(force=yes_really)
    told = "\n".join(_under_place(place, _outcome(each, with_plan=not plans)) for place, each in done.items())
    if not everywhere and any(place.startswith((f"{AGENTS}/", f"{PROJECTS}/")) for place in done[ALL].nested):
        told += "\nwith --all, the same purge erases it in the workspaces of agents and projects too"
    show(json_wanted, _data(done, everywhere), lambda: plain(told))
    if not all(each.standing and _is_gone(each.standing) for each in done.values()):
        exit_failed()


def _data(purges: Mapping[str, Purge], everywhere: bool) -> Mapping[str, object]:
    if not everywhere:
        one: Mapping[str, object] = json_of(purges[ALL])
        return one
    return {"workspaces": {place: json_of(each) for place, each in purges.items()}}


def _under_place(place: str, text: str) -> str:
    """Return `text`; for a workspace inside this one, indented below its path."""
    return text if place == ALL else f"{place}:\n{indent(text, '  ')}"


def _verify(found: Standing, json_wanted: bool) -> None:
    told = _verification(found, found.beside) + _ONLY_NAME * found.only_name
    show(json_wanted, json_of(found), lambda: plain(told))
    if found.only_name or not _is_gone(found):
        exit_failed()


def _is_gone(found: Standing) -> bool:
    """Return whether the text is found nowhere, and the system let us read every file that might hold it."""
    return not found.places and not found.unreadable


def _plan(plan: Purge) -> str:
    """Return what a purge changes and removes, then what stays and who else has the text, a line each."""
    lines = [
        f"commits: {plan.rewritten:,} of {plan.commits:,} get a new id; {_count(plan.messages, 'message')} changed",
        f"files:   {_count(plan.versions, 'version')} of {_count(len(plan.paths), 'file')}{_listed(plan.paths)}",
        f"refs:    {_count(plan.refs, 'reference')} moved, all logs of them rewritten",
        f"objects: {plan.unreachable:,} that nothing reaches are removed too",
    ]
    if plan.entries:
        lines.insert(0, f"facts:   {', '.join(plan.entries[:_SHOWN])}{_more(len(plan.entries))}")
    if plan.erased:
        lines.insert(1, f"erased:  {', '.join(plan.erased[:_SHOWN])}{_more(len(plan.erased))}")
    if plan.signatures:
        lines.append(f"signed:  {_count(plan.signatures, 'signature')} dropped, for what they sign changes")
    if plan.leftovers:
        lines.append(f"copies of editors: {_count(plan.leftovers, 'file')} removed")
    lines += [
        f"stays:   {path} {'quotes ' + _count(count, 'line') + ' of' if count else 'names'} it; "
        "`crabmem purge --text` erases a text"
        for path, count in plan.copies.items()
    ]
    lines += [
        f"remote:  {name} {url} has it, and keeps it until `git push --force`" for name, url in plan.remotes.items()
    ]
    lines += [f"remote:  {name} {url} may have it: nothing here tells" for name, url in plan.unknown.items()]
    if plan.syncs_with:
        lines.append(
            f"remote:  {plan.syncs_with} has it until the next `crabmem sync`, which takes it out there, and from each "
            "machine that syncs with it"
        )
    lines += [
        f"stays:   {folder} is searched too, and not looked into: what it holds is yours" for folder in plan.elsewhere
    ]
    if not plan.is_done:
        lines += [f"stays:   {place} has it too; --all purges in the workspaces of agents" for place in plan.nested]
        lines += [f"stays:   {each}" for each in _beside(plan.beside)]
    return "\n".join(lines)


def _outcome(done: Purge, with_plan: bool) -> str:
    """Return what a purge did, what is left of the purged text and where; `with_plan` if no plan was shown before."""
    assert done.standing is not None
    told = [_plan(done)] if with_plan else []
    known = "purged" if not done.standing.unreadable else "purged where it could be looked for"
    words = known if not done.standing.places else "purged, but not everywhere"
    named = [f"its name stays in {', '.join(done.copies)}"] if done.copies and not done.standing.places else []
    end = "this cannot be undone"
    return "\n".join([*told, f"{words}; {_verification(done.standing, done.beside)}", end, *named, *_at_remotes(done)])


def _at_remotes(done: Purge) -> list[str]:
    """Return what is left to do for each remote that has the purged text, and what none of that reaches; or nothing."""
    lines = [f"not yet: {done.syncs_with}: `crabmem sync` takes it out there"] if done.syncs_with else []
    lines += [f"not rewritten: {name} {url}: `git push --force` does that" for name, url in done.remotes.items()]
    return [*lines, _FORGES] if lines else []


def _beside(memories: Mapping[str, int]) -> list[str]:
    """Return a line for each other memory that holds the text, with the command that erases it there."""
    return [
        f"{folder} has it too, in {_count(files, 'file')}: "
        f"`{program_at(folder, os.environ)} purge`, with the same words, erases it there"
        for folder, files in memories.items()
        if files
    ]


def _verification(found: Standing, beside: Mapping[str, int]) -> str:
    """Return how much was searched, where the text is still found, and what could not be read.

    `beside` has the number of files that hold it in other memories, by their folders.
    """
    places = "".join(f"\n  {place}" for place in found.places[:_SHOWN]) + _more(len(found.places))
    what = f"{_count(found.objects, 'object')} and {_count(found.files, 'file')} read, {found.size:,} bytes"
    unread = "".join(f"\nnot looked into: {place}" for place in found.unread[:_SHOWN]) + _more(len(found.unread))
    nowhere = (
        f"nowhere{' in this memory' if beside else ''}"
        if not found.unread
        else "in none of them, but not all was looked into"
    )
    others = "".join(f"\n{each}" for each in _beside(beside))
    it = "its name" if found.only_name else "it"
    return f"{what}: {it} stands {'in' + places if found.places else nowhere}{unread}{others}"


def _listed(paths: tuple[str, ...]) -> str:
    return f": {', '.join(paths[:_SHOWN])}{_more(len(paths))}" if paths else ""


def _more(count: int) -> str:
    return f" and {count - _SHOWN:,} more" if count > _SHOWN else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
