"""What a write is about to do, as its journal has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ..git.commits import Note
from ..git.trees import Item
from ..text.values import value


@value
class Step:
    """One file of a write: its blob before and after (None: no file), and the temporary file it is exchanged with.

    `mode` has the permissions of a new file that is not memory.
    """

    old: str | None
    new: str | None
    temporary: str
    mode: int | None = None


@value
class Join:
    """A commit that stands on the head and on another one, made at a time that no clock tells, but both of these.

    `beside` are files of the repository that are not memory: mode and id by path. Those among the steps of the write
    are checked out, too (`beside.py`).
    """

    commit: str
    when: datetime
    beside: Mapping[str, Item | None]


@value
class Intent:
    """A write that has begun: the words of its commit, its files by path, and the head it found.

    `join` is the history of another machine that it takes in. `is_taken_back` marks that of a purge: after a crash its
    files are put back as they were, instead of being finished. The new `.git`, once exchanged, has no such intent.
    """

    note: Note
    when: datetime
    steps: Mapping[str, Step]
    head: str | None = None
    join: Join | None = None
    is_taken_back: bool = False

    @property
    def beside(self) -> Mapping[str, Item | None]:
        """Files that are not memory, as the history that it takes in has them."""
        return self.join.beside if self.join else {}
