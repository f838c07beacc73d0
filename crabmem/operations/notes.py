"""Texts saved without a name: facts of which only the text is given, the note of the day, lessons."""

from datetime import datetime

from ..errors import InvalidArguments
from ..git.commits import one_line
from ..recall.auto_recall import nearest_entry, share_of_words
from ..recall.labels import NAME
from ..results import Changed, Saved
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.credentials import Screen
from ..text.edit import appended
from ..text.entry import MAX_NOTE, Entry, Fact, check_text, checked
from ..text.fact_names import ALIKE, SAME, name_of, tags_for
from ..text.learnings import Lesson, with_lesson
from ..text.slug import name_key
from ..text.values import replace
from ..text.words import shortened
from ..write.draft import Draft
from .changes import changed, saved
from .plan import Plan

# Characters of a fact that stand in today's note, as one line.
_MAX_IN_NOTE = 300


def save_fact(session: Session, content: str, category: str | None = None) -> Saved:
    """Save a fact without a name, and note it in the note of today, in one commit: OpenLegion's `memory_save`.

    Its name is its first sentence. It replaces the fact of that name; the same text again changes nothing. Its first
    tag is its category; a new fact without one gets the category of a fact that is much alike. A fact that says nearly
    the same under another name is `like` of the answer, and stays: facts are never merged on a guess.

    Raises: as `remember`.
    """
    name, moment = name_of(content), session.engine.clock()
    if not name:
        raise InvalidArguments("the content is blank; say the fact")
    before, like = session.look(lambda now: _same_or_alike(now, name, content))
    tags = tags_for(category, before, like)
    fact = checked(Fact(name, before.description if before else "", content, tags=tags))
    line = f"- [{moment:%H:%M}] {shortened(content, _MAX_IN_NOTE)}\n"
    screen = rules.screen(session, fact.words, line)

    def decide(now: Snapshot) -> Draft[str]:
        plan = Plan(now, screen)
        path = plan.add(fact)
        noted = _note_with(now, moment, line, screen) if plan.changed else {}
        return Draft({**plan.files, **noted}, rules.note(session, "remember", fact.name), path)

    done = session.write(decide)
    result = saved(session, done, done.result)
    is_twin = like is not None and _is_twin(content, like.content, session.settings.language)
    return replace(result, like=like) if is_twin else result


def write_note(session: Session, text: str, title: str = "") -> Changed:
    """Add `text`, under a heading with the time and `title`, to the note of today, `memory/YYYY-MM-DD.md`.

    Its present text stays, even if others add to it at the same moment. Notes are for what is worth keeping and is no
    fact yet: recall finds them where the profile says so, as `crab` does; other profiles have searches of their own.

    Raises:
        InvalidArguments: the text is blank or too long, or cannot be kept.
        HoldsSecret: there is a credential in the text, and the settings refuse that.
    """
    check_text("note", text, MAX_NOTE)
    if not text.strip():
        raise InvalidArguments("the note is empty; give it a text")
    moment = session.engine.clock()
    heading = f"{moment:%H:%M} ({one_line(title)})" if title else f"{moment:%H:%M}"
    path, whole = session.layout.note_path(moment.date()), f"## {heading}\n\n{text}\n"
    screen = rules.screen(session, whole)

    def decide(now: Snapshot) -> Draft[None]:
        files = _note_with(now, moment, whole, screen)
        return Draft(files, rules.note(session, "note", path.rpartition("/")[2]), None)

    return changed(session, session.write(decide), path)


def learn(session: Session, lesson: Lesson) -> Changed:
    """Add a lesson from a mistake to the file of its kind, as `learnings/errors.md`: one line, one commit.

    A lesson that the last line has already is not added again. Of a file of more than 50,000 bytes the older half is
    removed; history keeps it.

    Raises:
        InvalidArguments: the lesson cannot be kept.
        HoldsSecret: there is a credential in it, and the settings refuse that.
    """
    check_text("lesson", lesson.words)
    path, screen = session.layout.learning_path(lesson.kind), rules.screen(session, lesson.words)

    def decide(now: Snapshot) -> Draft[None]:
        before = now.text(path) or ""
        after = with_lesson(before, lesson, session.engine.clock())
        screen.refuse_new(lesson.words, before)
        return Draft({path: after.encode()}, rules.note(session, "learn", lesson.kind), None)

    return changed(session, session.write(decide), path)


def _note_with(now: Snapshot, moment: datetime, text: str, screen: Screen) -> dict[str, bytes | None]:
    """The note of a day, by its path, with `text` added after a blank line; after a list, a list item without one.

    Raises:
        HoldsSecret: there is a credential in it, and `screen` refuses that.
    """
    path = now.layout.note_path(moment.date())
    before = now.text(path) or ""
    is_listed = text.startswith("- ") and before.rstrip("\r\n").rpartition("\n")[2].startswith("- ")
    after = appended(before or f"# {moment.date().isoformat()}\n", text if is_listed else f"\n{text}")
    screen.refuse_new(text, before)
    return {path: after.encode()}


def _same_or_alike(now: Snapshot, name: str, content: str) -> tuple[Entry | None, Entry | None]:
    """The entry of that name, else None, and where there is none the entry that says much of `content`, if any does."""
    if same := now.entries.having(NAME + name_key(name)):
        return same[0], None
    language = now.settings.language
    like = nearest_entry(content, now.entries, language)
    return None, like if like and share_of_words(content, like.content, language) >= ALIKE else None


def _is_twin(one: str, other: str, language: str) -> bool:
    return min(share_of_words(one, other, language), share_of_words(other, one, language)) >= SAME
