"""Opening a file in an editor: a person edits it where it lies, an agent a copy of it."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from ..disk import fs
from ..text.entry import decode
from ..text.hashes import version_of
from .input import text_in
from .output import Failure, tell

T = TypeVar("T")


def edit_file(file: Path) -> None:
    """Open `file` in the person's editor and wait until it ends.

    Raises:
        Failure: the editor cannot be started, or ends with an error.
    """
    try:
        click.edit(filename=str(file))
    except click.ClickException as error:
        cause = error.__cause__
        missing = f"there is no editor {cause.filename}" if isinstance(cause, FileNotFoundError) else error.message
        raise Failure(f"{missing}; set $EDITOR to another") from None


def edit_copy(file: Path, write: Callable[[str, str | None], T], seed: str = "") -> T | None:
    """Let an agent edit a copy of `file` in an editor; return the result of `write`, or None if nothing was changed.

    `write` gets the new text and the version that it was made of. If there is no file, the version is None and the
    agent begins with `seed`. An edit of the file itself would not do: while the editor is open, any write or watcher
    would record it as the person's. If `write` raises, the copy is kept and named.
    """
    before = fs.read(file)[0] if file.exists() else None
    text, version = (seed, None) if before is None else (decode(str(file), before), version_of(before))
    return edit_copy_of(file.name, text, lambda after: write(after, version))


def edit_copy_of(name: str, text: str, write: Callable[[str], T]) -> T | None:
    """Open `text` in an editor, in a file called `name`; return the result of `write`, or None if nothing was changed.

    If `write` raises, the copy is kept and named.
    """
    with edited_copy(name, text) as copy:
        return None if copy.text == text else write(copy.text)


@dataclass
class Copy:
    """A text after it was in an editor. Set `is_needed` to keep the file: what it says is nowhere else."""

    text: str
    is_needed: bool = False


@contextmanager
def edited_copy(name: str, text: str) -> Iterator[Copy]:
    """Open `text` in an editor, in a temporary file called `name`, and yield the result.

    If the editor or the block fails after a change, or the block sets `is_needed`, keep the file and tell where it is;
    else remove it.
    """
    folder = Path(tempfile.mkdtemp(prefix="crabmem-"))
    file, copy = folder / name.rpartition("/")[2], Copy(text)
    try:
        fs.create(file, text.encode())
        edit_file(file)
        copy.text = text_in(str(file))
        yield copy
    except BaseException:  # Ctrl-C, too
        copy.is_needed = file.exists() and fs.read(file)[0] != text.encode()
        raise
    finally:
        if copy.is_needed:
            tell(f"what you wrote is in {file}")
        else:
            fs.remove_tree(folder)
