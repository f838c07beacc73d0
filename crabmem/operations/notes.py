"""What is said in one go: the notes of a day, lessons, and facts of which only the words are given."""

import dataclasses
from datetime import datetime

from ..disk.store import Scan
from ..errors import InvalidArguments
from ..git.commit import one_line
from ..recall.auto_recall import likest, said_in
from ..recall.catalog import NAME
from ..results import Changed, Saved
from ..text.credentials import Screen
from ..text.edit import appended
from ..text.entry import MAX_NOTE, Entry, Fact, check_text, checked, decode
from ..text.fact_names import ALIKE, SAME, name_of, tags_for
from ..text.learnings import Lesson, with_lesson
from ..text.slug import name_key
from ..text.words import shortened
from ..write.writer import Draft
from .writing import Writing

# Of a fact, so much stands in a note: a line.
_NOTED = 300


class Noting(Writing):
    """Whoever says it finds no name, and looks at nothing that is there already."""

    def save_fact(self, content: str, category: str | None = None) -> Saved:
        """Save a fact of which only the words are given, and note it in the note of today, in one commit.

        It is called by its first sentence, and replaces what is called so; the same again changes nothing. Its
        category is its first tag; without one a new fact gets that of a fact that is much alike. Of one that says as
        good as the same a warning tells: what only seems to be the same is never merged.

        Raises: as `remember`.
        """
        name, now = name_of(content), self._clock()
        if not name:
            raise InvalidArguments("the content is blank; say the fact")
        before, like = self._known(name, content)
        tags = tags_for(category, before, like)
        fact = checked(Fact(name, before.description if before else "", content, tags=tags))
        line = f"- [{now:%H:%M}] {shortened(content, _NOTED)}\n"
        screen = self._screen(fact.words, line)

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan, screen)
            plan.add(fact)
            noted = self._noted(scan, now, line, screen) if plan.changed else {}
            return Draft({**plan.files, **noted}, self._note("remember", fact.name))

        done = self._write(decide)
        saved = self._saved(done, next(iter(done.after)))
        if like is None or not _is_twin(content, like.content, self.settings.language):
            return saved
        twin = f"{like.name} says nearly the same; forget one of them"
        return dataclasses.replace(saved, warnings=(*saved.warnings, twin))

    def write_note(self, text: str, title: str = "") -> Changed:
        """Add `text`, under a heading with the time and `title`, to the note of today, `memory/YYYY-MM-DD.md`.

        Nothing that is there changes, whoever adds to it at the same moment. For what is to be kept and is no fact
        yet: recall finds notes where the profile says so, as `crab` does; other profiles have searches of their own.

        Raises:
            InvalidArguments: it cannot be kept.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        check_text("note", text, MAX_NOTE)
        if not text.strip():
            raise InvalidArguments("the note is empty; give it a text")
        now = self._clock()
        heading = f"{now:%H:%M} ({one_line(title)})" if title else f"{now:%H:%M}"
        path, whole = self.layout.note_path(now.date()), f"## {heading}\n\n{text}\n"
        screen = self._screen(whole)

        def decide(scan: Scan) -> Draft:
            files = self._noted(scan, now, whole, screen)
            return Draft(files, self._note("note", path.rpartition("/")[2]))

        return self._changed(self._write(decide), path)

    def learn(self, lesson: Lesson) -> Changed:
        """Add what was learned of a mistake to the file of its kind, as `learnings/errors.md`; one line, one commit.

        What the last line there says already is not said again. Of a file of more than 50,000 bytes the older half
        goes; history keeps it.

        Raises:
            InvalidArguments: it cannot be kept.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        check_text("lesson", lesson.words)
        path, screen = self.layout.learning_path(lesson.kind), self._screen(lesson.words)

        def decide(scan: Scan) -> Draft:
            before = decode(path, scan.data(path) or b"")
            after = with_lesson(before, lesson, self._clock())
            screen.refuse_new(lesson.words, before)
            return Draft({path: after.encode()}, self._note("learn", lesson.kind))

        return self._changed(self._write(decide), path)

    def _noted(self, scan: Scan, now: datetime, text: str, screen: Screen) -> dict[str, bytes | None]:
        """The note of a day with `text` after a blank line, by its path; lines of one list go together.

        Raises:
            HoldsSecret: there is a credential in it, and `screen` refuses that.
        """
        path = self.layout.note_path(now.date())
        before = decode(path, scan.data(path) or b"")
        is_listed = text.startswith("- ") and before.rstrip("\r\n").rpartition("\n")[2].startswith("- ")
        after = appended(before or f"# {now.date().isoformat()}\n", text if is_listed else f"\n{text}")
        screen.refuse_new(text, before)
        return {path: after.encode()}

    def _known(self, name: str, content: str) -> tuple[Entry | None, Entry | None]:
        """The entry of that name; or, without one, another that says much of `content`."""
        language = self.settings.language

        def look() -> tuple[Entry | None, Entry | None]:
            listing = self._listing()
            if same := listing.having(NAME + name_key(name)):
                return same[0], None
            like = likest(content, listing, language, self._in_sight(None))
            return None, like if like and said_in(content, like.content, language) >= ALIKE else None

        return self._steadily(look)


def _is_twin(one: str, other: str, language: str) -> bool:
    """Whether two texts say nearly the same."""
    return min(said_in(one, other, language), said_in(other, one, language)) >= SAME
