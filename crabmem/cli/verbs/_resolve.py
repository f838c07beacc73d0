"""`crabmem review resolve`: decides between two texts of one file, after a sync of machines that both changed it."""

from contextlib import suppress

import click

from ...errors import NotFound
from ...operations import adoption, conflicts, facts
from ...operations import proposals as operation
from ...operations.proposals import Wording
from ...results import Commit, Disputed, json_of
from ...session.session import Session
from ...text.hashes import short
from ...text.slug import slug_of
from ...text.words import enumerated
from ..app import open_session
from ..completing import complete_names
from ..editor import edit_copy_of, edit_file
from ..options import json_option
from ..output import minute, plain, show, tell, worded_diff

_MARKED = "both texts are in it, between marks that Git left"


@click.command()
@click.argument("name", required=False, shell_complete=complete_names)
@click.option("--ours", is_flag=True, help="Keep what is there; the other text goes.")
@click.option("--theirs", is_flag=True, help="Have what waits instead, with what was changed since.")
@click.option("--both", is_flag=True, help="Keep the lines of both; two facts, if one key has two values.")
@click.option("--edit", "is_edited", is_flag=True, help="Write it yourself: your editor opens with the lines of both.")
@json_option
def resolve(name: str | None, ours: bool, theirs: bool, both: bool, is_edited: bool, json_wanted: bool) -> None:
    """Decide between two texts, where two machines changed the same place of a file.

    \b
    crabmem review resolve                        what waits, by whom, from when
    crabmem review resolve "Luna's vet"           both texts, as a diff from what is there to what waits
    crabmem review resolve "Luna's vet" --ours    what is there stays
    crabmem review resolve "Luna's vet" --theirs
    crabmem review resolve "Luna's vet" --both    the lines of both

    Nothing waits on another machine that was decided here, once both have synced. Until then memory goes on with what
    is there. NAME is a fact, a file, or the id that the list has. If Git itself left both texts in a file, with marks
    between them, --ours is the first of them and --theirs the second.
    """
    if ours + theirs + both + is_edited > 1:
        raise click.UsageError("--ours, --theirs, --both and --edit are different answers: give one of them")
    memory = open_session()
    waiting, marked = conflicts.disputed(memory), conflicts.marked(memory)
    if name is None:
        if ours or theirs or both or is_edited:
            raise click.UsageError("say of what: crabmem review resolve NAME --ours")
        data = [*map(json_of, waiting), *({"path": path, "reason": _MARKED} for path in marked)]
        lines = [*map(_line, waiting), *(plain(f"marks     {path}  {_MARKED}") for path in marked)]
        show(json_wanted, {"proposals": data}, lambda: "\n".join(lines))
        return None if lines or json_wanted else tell("nothing waits to be decided")
    if path := _file_with_marks(name, marked):
        text = f"decided: {path}"
        if both:
            raise click.UsageError(f"{path} has both texts already, between marks: --ours, --theirs or --edit")
        if is_edited:
            edit_file(memory.file(path))
            adoption.adopt(memory)
        elif ours or theirs:
            conflicts.take_side(memory, path, "theirs" if theirs else "ours")
        else:
            text = memory.file(path).read_text("utf-8", "replace")
        return show(json_wanted, {"proposals": [{"path": path, "reason": _MARKED}]}, lambda: plain(text))
    found = _disputes_of(memory, name, waiting)
    data = [json_of(each) for each in found]
    if not (ours or theirs or both or is_edited):
        return show(json_wanted, {"proposals": data}, lambda: "\n".join(map(_both_texts, found)))
    said = f"decided: {found[0].path}"
    if is_edited and not _write_by_hand(memory, found):
        return tell("nothing changed; it still waits")
    if both:
        paths = dict.fromkeys(path for each in found for path in conflicts.keep_both(memory, each.proposal))
        said = f"both are kept: {enumerated([*paths])}"
    for each in found if ours or theirs else ():
        (operation.apply_proposal if theirs else operation.reject_proposal)(memory, each.proposal.id)
    show(json_wanted, {"proposals": data}, lambda: plain(said))


def _write_by_hand(memory: Session, found: list[Disputed]) -> bool:
    """Let the person write the text in an editor that opens with the lines of both; return whether they changed it.

    If they did, the first proposal is applied with their text and all others in `found` are rejected.
    """
    first, path = found[0].proposal, found[0].path
    before, text = memory.look(lambda now: now.read(path)), conflicts.both_texts(memory, first)[0]
    wording = {path: text.decode("utf-8", "replace")}
    done = edit_copy_of(
        path,
        wording[path],
        lambda after: operation.apply_proposal(memory, first.id, {path: Wording(after, before)}),
    )
    for each in found[1:] if done else ():
        operation.reject_proposal(memory, each.proposal.id)
    return done is not None


def _file_with_marks(name: str, paths: tuple[str, ...]) -> str | None:
    """Return which of `paths`, files with marks, a name means: by path, file name or name of a fact; None for none."""
    ends = {name, f"{name}.md", f"{slug_of(name)}.md"}
    return next((path for path in paths if path == name or path.rpartition("/")[2] in ends), None)


def _disputes_of(memory: Session, name: str, waiting: list[Disputed]) -> list[Disputed]:
    """Return the disputes that a name means: those of a path or a fact, else the one whose id begins so.

    Raises:
        NotFound: nothing waits for that file, or there is no such fact.
        Inapplicable: the beginning of an id does not tell which one.
    """
    path = name
    if not any(each.path == name for each in waiting):
        with suppress(NotFound):
            path = facts.get(memory, name).path
    found = [each for each in waiting if each.path == path]
    if not found:
        with suppress(NotFound):
            meant = operation.proposal(memory, name).id
            found = [each for each in waiting if each.proposal.id == meant]
    if not found:
        raise NotFound(f"nothing waits to be decided of {name}; `crabmem review resolve` lists what does")
    return found


def _line(each: Disputed) -> str:
    said = f"there: {_who(each.ours)}; waits: {_who(each.theirs)}"
    return plain(f"{short(each.proposal.id)}  {each.path}  {said}")


def _who(commit: Commit | None) -> str:
    return f"{commit.who}, {minute(commit.time)}" if commit else "in no commit"


def _both_texts(each: Disputed) -> str:
    """Return a dispute for a person: who wrote each text when, then a diff from what is there to what waits."""
    commits = (("there", each.ours), ("waits", each.theirs))
    lines = [f"{what}  {_who(commit)}  {short(commit.commit)}" for what, commit in commits if commit]
    head = "\n".join([f"{short(each.proposal.id)}  {each.path}", each.proposal.reason, *lines])
    return f"{plain(head)}\n\n{worded_diff(each.proposal.diff)}"
