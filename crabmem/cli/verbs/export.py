"""`crabmem export`: takes memory along, in a form that other programs read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ...operations import export as operation
from ...results import Exported, LeftOut, json_of
from ...session.session import Session
from ...text.words import counted, listed
from ..app import open_session, verb
from ..options import NonEmptyPath, as_of_option, dry_run_option, json_option, yes_really_option
from ..output import Failure, as_text, echo, plain, show, tell

_KEPT = ": memory has it no more, and it was changed here since: delete it, or an import brings it back"
_STATES = ("made", "replaced", "unchanged", "removed", "kept")
_WOULD = {"made": "would make", "replaced": "would replace", "removed": "would remove"}
# Files that are named for one reason why they are left out; of more, only the number.
_TOLD = 5
# Files that an error names.
_NAMED = 3


@verb(after="import")
@click.argument("place", metavar="DIR|-", type=NonEmptyPath(allow_dash=True, path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(operation.FORMS), help="Of the files.  [default: markdown; json for -]"
)
@as_of_option
@yes_really_option("Overwrite files in DIR that no export wrote.", "--force")
@dry_run_option
@json_option
def export(
    place: Path, form: operation.Form | None, as_of: str | None, yes_really: bool, dry_run: bool,
    json_wanted: bool,
) -> None:  # fmt: skip
    """Write memory into a folder, for other programs and people.

    History stays here.

    \b
    markdown  the files as they are, but the settings: a workspace of crabmem without its history
    okf       a bundle of the Open Knowledge Format 0.2: each fact a concept with type, title and who wrote it when,
              [[links]] as ordinary ones, an index.md in each folder
    json      all of it in one file, memory.json; for - on standard output

    `crabmem import DIR` reads each of them back: names, descriptions, contents, tags, every other key, and links.
    DIR is new or empty, or an earlier export, which is renewed: what is gone from memory is removed there, unless
    somebody changed it since. Exit status 1 when a file of memory could not be read.

    \b
    crabmem export ~/knowledge --format okf
    crabmem export - | jq '.facts[].name'
    """
    memory = open_session()
    if str(place) == "-":
        return _print(memory, form, as_of, yes_really or dry_run)
    done = operation.export(memory, place, form or "markdown", force=yes_really, dry_run=dry_run, at=as_of)
    show(json_wanted, json_of(done), lambda: "\n".join(_lines(done)))
    if not json_wanted:
        tell(_summary(done))
    _fail_if_unreadable(done.unreadable)


def _print(memory: Session, form: str | None, as_of: str | None, is_for_folder: bool) -> None:
    if form not in (None, "json") or is_for_folder:
        raise click.UsageError("on standard output there is JSON alone; name a folder for the rest")
    data, unreadable = operation.data(memory, as_of)
    echo(as_text(data, indent=2) + "\n")
    _fail_if_unreadable(unreadable)


def _lines(done: Exported) -> Iterator[str]:
    """Yield a line for each file that changes, and for those left out, of these only the first few per reason."""
    width = max(map(len, _WOULD.values())) if done.dry_run else max(map(len, _STATES))
    for each in done.files:
        if each.state != "unchanged":
            name = f": {each.name}" if each.name else ""
            why = _KEPT if each.state == "kept" else ""
            yield f"{_word(each.state, done):{width}}  {plain(' '.join(f'{each.file}{name}'.split()))}{why}"
    times = Counter[str]()
    for out in (*done.left_out, *done.unreadable):
        times[out.reason] += 1
        if times[out.reason] <= _TOLD:
            yield f"{'left out':{width}}  {plain(' '.join(f'{out.file}: {out.reason}'.split()))}"
    yield from (
        f"{'left out':{width}}  {count - _TOLD} more: {plain(reason)}"
        for reason, count in times.items()
        if count > _TOLD
    )


def _summary(done: Exported) -> str:
    counts = Counter(each.state for each in done.files)
    words = [_counted(counts[state], state, done) for state in _STATES if counts[state]]
    if left := len(done.left_out) + len(done.unreadable):
        words.append(f"{left} left out")
    return f"{done.form}: {', '.join(words) or 'nothing to export'}{'; nothing was written' if done.dry_run else ''}"


def _counted(count: int, state: str, done: Exported) -> str:
    return f"{_word(state, done)} {count}" if done.dry_run and state in _WOULD else f"{count} {state}"


def _word(state: str, done: Exported) -> str:
    return _WOULD.get(state, state) if done.dry_run else state


def _fail_if_unreadable(unreadable: Sequence[LeftOut]) -> None:
    """Fail after an export that lacks files of memory.

    Raises:
        Failure: some files could not be read.
    """
    if unreadable:
        named = listed([f"{each.file}: {each.reason}" for each in unreadable], _NAMED)
        raise Failure(f"{counted(len(unreadable), 'file')} could not be read: {named}")
