"""What a model is told: the parts of a profile before a conversation, and what bears on a message before a turn."""

import os
from collections.abc import Callable
from datetime import timedelta
from operator import methodcaller
from typing import TYPE_CHECKING

from ..recall.auto_recall import bearing, counted
from ..results import Stats
from ..text.entry import decode
from ..text.own_words import own_words
from ..text.templates import template
from ..workspace.layout import Layout
from .reading import Reading

if TYPE_CHECKING:
    from ..prompt.context import Piece
    from ..prompt.profile import Part
    from ..prompt.windows import Due


class Briefing(Reading):
    """What memory says of itself to a model."""

    def pieces(self, at: str | None = None) -> list["Piece"]:
        """What the parts of the profile are here, for a session of this kind, now or at a revision or time.

        Words are as they are written: what stands in them for something is still there.
        """
        parts = self.profile.parts_for(self.kind)
        return [piece for part in parts if self._is_given(part.given, at) for piece in self._pieces(part, at)]

    def before_turn(self, message: str, again: bool = False, is_heard: Callable[[], bool] = lambda: True) -> str:
        """What memory holds that bears on `message`, as a `<recall>` block; "" for silence.

        What hosts, tools and memories put around a message, as in `<system-reminder>`, is not asked about.
        Silent about what the prompt says anyway, what was said in this session before, and what does not
        have enough in common with the message. With `again`, not about what was said before: for hosts that keep
        nothing of it in view. `is_heard` is asked last: where nobody hears it any more, nothing is said, nor counts
        as said. Changes no memory, and is never called by crabmem itself: the host decides.
        """
        rules, prompt, message = self.settings, self._in_prompt(), own_words(message)
        said = self._steadily(
            lambda: self._speaker.bearing(
                message, self._listing(), rules.auto_recall, rules.language, prompt, again, self._sees
            )
        )
        self._catalog.save()
        if not is_heard():
            return ""
        self._speaker.said(said, self._clock())
        return said.text

    def confidence(self, message: str) -> float:
        """How much of what `message` says the fact has that bears most on it: what `auto_recall.threshold` bounds."""
        rules = self.settings
        return self._steadily(lambda: bearing(message, self._listing(), rules.auto_recall, rules.language, self._sees))

    def stats(self) -> Stats:
        """How much there is that this session may see, and how often memory spoke before turns, in any session."""
        listing = self._steadily(self._listing)
        unreadable = (item.path for item in listing.unreadable)
        seen, unread = (sum(map(self._sees, paths)) for paths in (listing.paths, unreadable))
        return counted(seen, unread, self._turns.all())

    @property
    def may_flush(self) -> bool:
        """Whether this session is to store what a full window would lose: its kind is, and the disk lets it."""
        folder = next(folder for folder in (self.root, *self.root.parents) if os.path.exists(folder))
        is_seen = self._sees(self.layout.note_path(self._today()))
        return self.profile.flushes(self.kind) and is_seen and os.access(folder, os.W_OK)

    def due(self, tokens: int | None, window: int, *, cycle: int = 0, flushed: int | None = None) -> "Due":
        """What is due in this session, with so many tokens (None: nobody knows) in a window of so many, and its words.

        `cycle` is how often the conversation was shortened, `flushed` in which cycle it was last asked to store: the
        host keeps that number. The date is that of this machine, as for `write_note`.
        """
        from ..prompt.windows import due

        today = self._today()
        note = self.layout.note_path(today)
        return due(self.profile.window, tokens, window, cycle, flushed, self.may_flush, note, today)

    def notes(self) -> list[str]:
        """The paths of the daily notes there are, oldest first."""
        return sorted(path for path in self.blobs() if self.layout.is_note(path) and self._sees(path))

    def _in_prompt(self) -> str:
        """What the model reads anyway."""
        from ..prompt.context import assembled

        return assembled(self.profile, self.kind, self.pieces(), {}, ()).text

    def _is_given(self, file: str, at: str | None) -> bool:
        """Whether there is a file, with something in it, that a part is only for."""
        return not file or bool((self._file_text("nearest", file, at) or "").strip())

    def _pieces(self, part: "Part", at: str | None) -> list["Piece"]:
        """What a part is here; one for each of the days whose notes it is."""
        from ..prompt.context import Piece, written

        if part.notes:
            days = (self._today() - timedelta(days=ago) for ago in range(part.notes))
            return [Piece(part, path, self._file_text("own", path, at)) for path in map(self.layout.note_path, days)]
        if part.file:
            path, text = self.layout.named(part.file), self._file_text(part.of, part.file, at)
            return [Piece(part, path, template(part.default) if text is None and part.default else text)]
        return [Piece(part, "", written(part))]

    def _file_text(self, of: str, file: str, at: str | None) -> str | None:
        """The text of an agent's own file or of its parent's; None where there is none, or it is not to be seen."""
        path_in: Callable[[Layout], str] = methodcaller("named", file)
        path = path_in(self.layout)
        if not self._sees(path):
            return None
        is_own = of != "parent" or self._parent is None
        data = self._own(path, at) if is_own else self._parents(path_in, at)
        if data is None and of == "nearest":
            data = self._parents(path_in, at)
        return None if data is None else decode(path, data)
