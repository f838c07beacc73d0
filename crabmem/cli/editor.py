"""Opening a file in an editor: a person edits it where it lies, an agent a copy of it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from ..disk import fs
from ..errors import CrabmemError
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
        raise Failure(f"{error.message}; set $EDITOR to another") from None


def edit_copy(name: str, text: str, write: Callable[[str], T]) -> T | None:
    """What `write` says of the text that an agent made of `text` in an editor; None when it changed nothing.

    The agent edits a copy called `name`. An edit of the file itself would be recorded as the person's by whoever
    writes or watches while the editor is open. When `write` refuses the text, the copy stays and is named.
    """
    folder = Path(tempfile.mkdtemp(prefix="crabmem-"))
    file, keep = folder / name, False
    try:
        fs.create(file, text.encode())
        edit_file(file)
        after = text_in(str(file))
        if after == text:
            return None
        try:
            return write(after)
        except CrabmemError:
            keep = True
            tell(f"what you wrote is in {file}")
            raise
    finally:
        if not keep:
            fs.remove_tree(folder)
