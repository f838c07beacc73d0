"""The commit messages of outside edits: what they are called, which files they changed, and who made them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from ..errors import Unreadable
from ..git.commits import Note, identity
from ..text.entry import parse_entry
from ..text.values import value
from ..text.words import listed
from ..workspace.layout import Layout
from .actor import Actor

_NAMED = 3
# Lines and trailers of a commit that name files. A commit of 50,000 adopted files once became larger than we read.
_LISTED = 20


@value
class Edit:
    """One file before and after; None for no file."""

    before: bytes | None
    after: bytes | None


def edit_note(edits: Mapping[str, Edit], person: str, layout: Layout) -> Note:
    """The words of a commit of `edits`, by path, that a person made."""
    return _note("edit", edits, layout, identity(person), ())


def written_note(edits: Mapping[str, Edit], actor: Actor, person: str, layout: Layout) -> Note:
    """The words of a commit of `edits`, by path, that an agent made with a tool of its host."""
    bare = actor.note("write", "", person)
    return _note("write", edits, layout, bare.author, bare.trailers)


def _note(
    verb: str, edits: Mapping[str, Edit], layout: Layout, author: str, trailers: tuple[tuple[str, str], ...]
) -> Note:
    moves = _moves(edits)
    named = {path: edit for path, edit in edits.items() if path not in moves}
    names = list(dict.fromkeys(_title(path, edit, layout) for path, edit in named.items()))
    came_from = {new: old for old, new in moves.items()}
    lines = [
        f"renamed {came_from[path]} to {path}"
        if path in came_from
        else f"{'removed' if edit.after is None else 'saved'} {path}"
        for path, edit in named.items()
    ]
    more = [f"and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
    # One saved file is said by its name.
    body = "" if len(lines) == 1 and lines[0].startswith("saved") else "\n".join([*lines[:_LISTED], *more])
    entries = tuple(("Entry", name) for name in names[:_LISTED])
    return Note(f"{verb}: {listed(names, _NAMED)}", author, body, (*trailers, *entries))


def _moves(edits: Mapping[str, Edit]) -> dict[str, str]:
    """Where files went that stand elsewhere now, byte for byte."""
    came = {edit.after: path for path, edit in edits.items() if edit.before is None}
    return {
        path: came[edit.before]
        for path, edit in edits.items()
        if edit.after is None and edit.before is not None and edit.before in came
    }


def _title(path: str, edit: Edit, layout: Layout) -> str:
    """What a person would call the file: an entry's name, else the file's."""
    data = edit.before if edit.after is None else edit.after
    if not layout.is_entry(path):
        return PurePosixPath(path).name
    try:
        return parse_entry(path, data).name if data is not None else PurePosixPath(path).stem
    except Unreadable:
        return PurePosixPath(path).name
