"""When something was known: the commits in which a text appeared, changed and vanished."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple

from ..errors import InvalidArguments
from ..git.changes import Difference
from ..git.history import History
from ..results import Sighting, Sightings
from ..search import tokens
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.daily_notes import title
from ..text.entry import entry_in
from ..workspace.layout import Layout

#: Given a text, the lines of it that match the query; () if the text does not match.
Says = Callable[[str], tuple[str, ...]]
#: The same for the id of a blob; () for None, which is no file.
Lines = Callable[[str | None], tuple[str, ...]]


class _Step(NamedTuple):
    commit: str
    change: Difference


def when(session: Session, query: str) -> Sightings:
    """Find the commits in which `query` appeared, changed and vanished: in entries, notes, overview and identity.

    The query is matched word by word if any version ever had it so; else a text matches that has all its words.

    Raises:
        InvalidArguments: the query is blank.
    """
    session.view.check_whole()
    return session.look(partial(_sightings_of, session, query))


def _sightings_of(session: Session, query: str, now: Snapshot) -> Sightings:
    """`when` in a snapshot: sightings in the history, then the files that still match, recorded or not yet."""
    exact = " ".join(query.split()).casefold()
    if not exact:
        raise InvalidArguments("the text is empty: give one that memory says or said")
    history, layout, language = session.engine.history, session.layout, session.settings.language
    edited = {path: now.scan.data(path) for path in session.engine.writer.outside_edits(now.scan)}
    new = {path: data for path, data in edited.items() if data is not None and _is_searched(path, layout)}
    texts = cache(lambda blob: history.blob(blob).decode("utf-8", "replace"))
    exactly = _exactly(exact)
    found, unrecorded = _search(history, layout, _lines(texts, exactly), exactly, new)
    is_exact = bool(found or unrecorded)
    says = exactly if is_exact else _by_words(frozenset(tokens(query, language)), language)
    lines = _lines(texts, says)
    if not is_exact:
        found, unrecorded = _search(history, layout, lines, says, new)
    recorded = history.files(history.head()).items() if found else ()
    still = ((path, blob) for path, blob in recorded if path not in edited and _is_searched(path, layout))
    names = [_name(path, history.blob(blob), layout) for path, blob in still if lines(blob)]
    return Sightings(query, is_exact, tuple(found), (*names, *unrecorded), unrecorded)


def _search(
    history: History, layout: Layout, lines: Lines, says: Says, new: Mapping[str, bytes]
) -> tuple[list[Sighting], tuple[str, ...]]:
    """The sightings in commits, and the names of the files of `new` (bytes by path, not recorded yet) that match."""
    unrecorded = (_name(path, data, layout) for path, data in new.items() if says(data.decode("utf-8", "replace")))
    return list(_sightings(history, layout, lines)) if history.place.exists() else [], tuple(unrecorded)


def _is_searched(path: str, layout: Layout) -> bool:
    return layout.is_recalled(path) or layout.is_note(path) or path in (layout.overview, layout.identity)


def _lines(texts: Callable[[str], str], says: Says) -> Lines:
    return cache(lambda blob: says(texts(blob)) if blob else ())


def _steps(history: History, layout: Layout, lines: Lines) -> Iterator[_Step]:
    """Yield the changes of files whose matching lines may differ, oldest first, without files that were only moved."""
    for commit in reversed(list(history.ids())):
        if all(lines(before) == lines(after) for before, after in history.changes.blobs(commit)):
            continue
        changes = history.changes.own(commit)
        gone = {change.before for change in changes if change.after is None}
        come = {change.after for change in changes if change.before is None}
        sides = [{each.path: each.before for each in side} for side in history.changes.sides(commit)]
        for change in changes:
            # A merge brings lines that one of its parents has: the commit that wrote them is a step of its own.
            is_new = all(lines(side.get(change.path)) != lines(change.after) for side in sides)
            if is_new and _is_searched(change.path, layout) and not _is_move(change, gone & come):
                yield _Step(commit, change)


def _is_move(change: Difference, moved: set[str | None]) -> bool:
    return (change.before is None and change.after in moved) or (change.after is None and change.before in moved)


def _exactly(text: str) -> Says:
    def exactly(said: str) -> tuple[str, ...]:
        if text not in " ".join(said.split()).casefold():
            return ()
        return tuple(line for line in said.splitlines() if text in " ".join(line.split()).casefold()) or (text,)

    return exactly


def _by_words(words: frozenset[str], language: str) -> Says:
    def by_words(said: str) -> tuple[str, ...]:
        if not words or not words <= {*tokens(said, language)}:
            return ()
        return tuple(line for line in said.splitlines() if not words.isdisjoint(tokens(line, language)))

    return by_words


def _sightings(history: History, layout: Layout, lines: Lines) -> Iterator[Sighting]:
    for step in _steps(history, layout, lines):
        before, after = lines(step.change.before), lines(step.change.after)
        if before != after:
            what = "changed" if before and after else "appeared" if after else "vanished"
            path, blob = step.change.path, step.change.after if after else step.change.before
            name = _name(path, history.blob(blob), layout) if blob else path
            yield Sighting(history.commit(step.commit), what, path, name, before, after)


def _name(path: str, data: bytes, layout: Layout) -> str:
    if layout.is_note(path):
        return title(path)
    entry = entry_in(path, data) if layout.is_entry(path) else None
    return entry.name if entry else path.rpartition("/")[2]
