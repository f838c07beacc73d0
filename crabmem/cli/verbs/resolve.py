"""`crabmem resolve`: decides between two texts of one file, after a sync of machines that both changed it."""

import click

from ...errors import NotFound
from ...operations import adoption, conflicts, facts
from ...operations import proposals as operation
from ...results import Proposal, json_of
from ...session.session import Session
from ...text.hashes import short
from ...text.slug import slug_of
from ..app import open_session, verb
from ..completing import complete_names
from ..editor import edit_file
from ..options import json_option
from ..output import coloured_diff, plain, show, tell

_MARKED = "both texts are in it, between marks that Git left"


@verb(after="sync")
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--ours", is_flag=True, help="Keep what is there; the other text goes.")
@click.option("--theirs", is_flag=True, help="Have what waits instead, with what was changed since.")
@click.option("--edit", "is_edited", is_flag=True, help="Write it yourself, in your editor; the other text goes.")
@json_option
@click.pass_context
def resolve(ctx: click.Context, name: str | None, ours: bool, theirs: bool, is_edited: bool, json_wanted: bool) -> None:
    """Decide between two texts, where two machines changed the same place of a file.

    \b
    crabmem resolve                        what waits
    crabmem resolve "Luna's vet"           both texts, as a diff from what is there to what waits
    crabmem resolve "Luna's vet" --ours    what is there stays
    crabmem resolve "Luna's vet" --theirs

    Nothing waits on another machine that was decided here, once both have synced. Until then memory goes on with what
    is there. NAME is a fact, a file, or the id that the list has. Where Git itself left both texts in a file, with
    marks between them, --ours is the first of them and --theirs the second.
    """
    if ours + theirs + is_edited > 1:
        raise click.UsageError("--ours, --theirs and --edit are different answers: give one of them")
    memory = open_session(ctx)
    waiting, marked = [*filter(operation.is_of_sync, operation.proposals(memory))], conflicts.marked(memory)
    if name is None:
        if ours or theirs or is_edited:
            raise click.UsageError("say of what: crabmem resolve NAME --ours")
        data = [*map(json_of, waiting), *({"path": path, "reason": _MARKED} for path in marked)]
        lines = [*map(_line, waiting), *(plain(f"marks     {path}  {_MARKED}") for path in marked)]
        show(json_wanted, data, lambda: "\n".join(lines))
        return None if lines or json_wanted else tell("nothing waits to be decided")
    if path := _marked(name, marked):
        text = f"decided: {path}"
        if is_edited:
            edit_file(memory.file(path))
            adoption.adopt(memory)
        elif ours or theirs:
            conflicts.take_side(memory, path, "theirs" if theirs else "ours")
        else:
            text = memory.file(path).read_text("utf-8", "replace")
        return show(json_wanted, [{"path": path, "reason": _MARKED}], lambda: plain(text))
    found = _meant(memory, name, waiting)
    if not (ours or theirs or is_edited):
        return show(json_wanted, [json_of(each) for each in found], lambda: "\n".join(map(_shown, found)))
    if is_edited:
        edit_file(memory.file(found[0].path))
        adoption.adopt(memory)
    for each in found:
        (operation.apply_proposal if theirs else operation.reject_proposal)(memory, each.id)
    show(json_wanted, [json_of(each) for each in found], lambda: plain(f"decided: {found[0].path}"))


def _marked(name: str, paths: tuple[str, ...]) -> str | None:
    """The file with marks that a name means: a path, a file name, or the name of a fact; None for another."""
    ends = {name, f"{name}.md", f"{slug_of(name)}.md"}
    return next((path for path in paths if path == name or path.rpartition("/")[2] in ends), None)


def _meant(memory: Session, name: str, waiting: list[Proposal]) -> list[Proposal]:
    """What waits for the file that a name means; of an id, that alone."""
    by_id = [each for each in waiting if each.id.startswith(name.lower()) or each.path == name]
    found = by_id or [each for each in waiting if each.path == facts.get(memory, name).path]
    if not found:
        raise NotFound(f"nothing waits to be decided of {name}; `crabmem resolve` lists what does")
    return found


def _line(proposal: Proposal) -> str:
    return plain(f"{short(proposal.id)}  {proposal.path}  {proposal.reason}")


def _shown(proposal: Proposal) -> str:
    return f"{_line(proposal)}\n\n{coloured_diff(proposal.diff)}"
