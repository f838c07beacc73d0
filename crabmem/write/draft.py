"""Drafts, which operations want written, and the results of writing them. Loads nothing that writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from ..text.values import field, value

if TYPE_CHECKING:
    from ..git.commits import Note
    from ..results import Proposal
    from .intent import Join
    from .losses import Losses

T_co = TypeVar("T_co", covariant=True)


@value
class Draft(Generic[T_co]):
    """The changes that an operation wants: bytes by path (None removes the file), and the words of its commit.

    `result` is what the operation has to say of it: it may decide twice, and only what was written counts.
    `even_if_many` says that many facts are meant to be lost, if they are. `join` is the history of another machine that
    this takes in.
    """

    changes: Mapping[str, bytes | None]
    note: Note
    result: T_co
    even_if_many: bool = False
    join: Join | None = None


@value
class Written(Generic[T_co]):
    """The result of a write: its commit (None when everything was so already), and the bytes before and after.

    `result` is that of its draft.

    `unrecorded` are so many facts that were lost outside that this waits for somebody to confirm it. With
    `is_index_foreign` the person's Git does not know of the write: their next commit would take it back. `secrets`
    is the setting when the write began: callers need not read the settings again, which can fail.
    """

    commit: str | None
    before: Mapping[str, bytes | None]
    after: Mapping[str, bytes | None]
    secrets: str
    result: T_co
    unrecorded: Losses | None = None
    is_index_foreign: bool = False
    #: By path what waits for a person instead of being written: such a file is `after` as it was `before`, apart from
    #: lines that nothing protects.
    waits: Mapping[str, Proposal] = field(default_factory=dict)

    @property
    def proposal(self) -> Proposal | None:
        """The proposal of what waits, or the first of several; None where nothing does."""
        return next(iter(self.waits.values()), None)
