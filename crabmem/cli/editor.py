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
    """Open `file` in the person's editor and wait.

    Raises:
        Failure: there is no such editor, or it says that it failed.
    """
    try:
        click.edit(filename=str(file))
    except click.ClickException as error:
        cause = error.__cause__
        missing = f"there is no editor {cause.filename}" if isinstance(cause, FileNotFoundError) else error.message
        raise Failure(f"{missing}; set $EDITOR to another") from None


def edit_copy(file: Path, write: Callable[[str, str | None], T], seed: str = "") -> T | None:
    """What `write` says of the text that an agent made of a file's in an editor; None when it changed nothing.

    `write` takes the text and the version it was made of, None where there was no file: then the agent begins with
    `seed`. The agent edits a copy. An edit of the file itself would be recorded as the person's by whoever writes or
    watches while the editor is open. When `write` refuses the text, the copy stays and is named.
    """
    before = fs.read(file)[0] if file.exists() else None
    text, version = (seed, None) if before is None else (decode(str(file), before), version_of(before))
    return edit_copy_of(file.name, text, lambda after: write(after, version))


def edit_copy_of(name: str, text: str, write: Callable[[str], T]) -> T | None:
    """What `write` says of what was made of `text` in an editor, in a file of that name; None when nothing was.

    When `write` refuses the text, the copy stays and is named.
    """
    with edited_copy(name, text) as copy:
        return None if copy.text == text else write(copy.text)


@dataclass
class Copy:
    """What somebody made of a text in an editor; whether its file `is_needed` still, for what is in it alone."""

    text: str
    is_needed: bool = False


@contextmanager
def edited_copy(name: str, text: str) -> Iterator[Copy]:
    """`text` as it is after an editor had it, in a file of that name.

    When something fails then, or in the editor itself, what was written stays and is named.
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
