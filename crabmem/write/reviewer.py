"""The reviewer: before an agent's write reaches any file, what of it waits for a person is set aside."""

from collections.abc import Mapping
from contextlib import suppress

from ..errors import CrabmemError
from ..git.commits import Note
from ..git.history import History
from ..results import OF_SESSION, WAITS, Proposal
from ..text.values import replace
from ..workspace.layout import LAYOUTS, SETTINGS, Layout
from ..workspace.settings import Review, Settings, read_settings
from .proposals import Proposals, expired_before
from .recorder import Recorder
from .withholding import Files, Rule

# The word of the settings for all that an agent writes.
_ALL = "everything"


class Reviewer:
    """Parts what agents write to one workspace, by the rule of `withholding`, and keeps what waits. Only under the
    writer's lock."""

    def __init__(self, recorder: Recorder, at: str | None, proposes: bool = False) -> None:
        """`at` is the commit with the files from before the write. With `proposes`, all that the agent writes waits."""
        self._recorder = recorder
        self._at = at
        self._proposes = proposes

    def parted(self, before: Files, after: Files, note: Note) -> tuple[Files, Mapping[str, Proposal]]:
        """Make proposals of what has to wait; return the bytes that each file may have now, and proposals by path.

        `before` and `after` have the same paths.

        Raises:
            Full: too many proposals wait already for a person to go through them.
        """
        recorder = self._recorder
        by_settings = self._review()
        review = by_settings.and_all_of(Review((_ALL,))) if self._proposes else by_settings
        if not review.is_on:
            return after, {}
        layout, now = recorder.workspace.layout, recorder.clock()
        held = Rule(review, self._layouts(), self._persons).withheld(before, after)
        waiting = Proposals(recorder.history, layout, lambda path: True, expired_before(review.expire, now))
        proposals = dict[str, Proposal]()
        for part in held.waits:
            why = OF_SESSION if part.why == _ALL and _ALL not in by_settings.wait else part.why
            body = "\n\n".join(filter(None, (note.body, f"{WAITS}{why}")))
            words = replace(note, subject=f"propose: {note.subject}", body=body)
            made = waiting.add(part.files, {path: before.get(path) for path in part.files}, words, now)
            proposals |= dict.fromkeys(part.files, made)
        stay = {path: before.get(path) for path in proposals}
        return {**after, **stay, **held.goes_on}, proposals

    def _layouts(self) -> tuple[Layout, ...]:
        """Return the layout that memory was opened with and, if the settings name no profile, the one that they name.

        So opening memory with another profile gets around no rule.
        """
        layout, settings = self._recorder.workspace.layout, self._recorder.settings()
        return (layout,) if settings.profile else (layout, LAYOUTS[settings.layout])

    def _review(self) -> Review:
        """What waits by the settings as they are, and as they were: an agent's host may just have written them."""
        review, before = self._recorder.settings().review, settings_at(self._recorder.history, self._at)
        return review.and_all_of(before.review) if before else review

    def _persons(self, path: str, text: bytes) -> list[bool]:
        """Return for each line of a text whether it is the person's; a line that no commit has yet counts as theirs."""
        owners = self._recorder.history.owners(text, path, self._at)
        return [owner is None or owner.is_person for owner in owners]


def settings_at(history: History, commit: str | None) -> Settings | None:
    """The settings as a commit has them; None where there are none, or they cannot be read."""
    blob = history.file(commit, SETTINGS)
    with suppress(CrabmemError):
        return read_settings(history.blob(blob), SETTINGS)[0] if blob else None
    return None
