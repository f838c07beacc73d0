"""When something was known: the commits in which a text appeared, changed and vanished."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from .entry import parsed
from .errors import InvalidArguments, Unreadable
from .history import Difference, History
from .notes import title
from .search import tokens
from .traces import Sighting, Sightings
from .workspace import Layout

#: The lines of a text that say what is looked for; none when it does not.
Says = Callable[[str], tuple[str, ...]]
#: The same of a blob; none of no blob.
Lines = Callable[[str | None], tuple[str, ...]]


class _Step(NamedTuple):
    commit: str
    change: Difference


def seen(query: str, language: str, history: History, layout: Layout) -> Sightings:
    """When memory said `query`, in what recall looks into, the overview or the identity: word by word if it ever did,
    else all its words.

    Raises:
        InvalidArguments: the query has no words.
    """
    exact = " ".join(query.split()).casefold()
    if not exact:
        raise InvalidArguments("the query is blank; give a text that memory says or said")
    if not history.exists():
        return Sightings(query, False, (), ())
    texts = cache(lambda blob: history.blob(blob).decode("utf-8", "replace"))
    lines = _lines(texts, _exactly(exact))
    found = list(_sightings(history, layout, lines))
    is_exact = bool(found)
    if not found:
        lines = _lines(texts, _by_words(frozenset(tokens(query, language)), language))
        found = list(_sightings(history, layout, lines))
    now = [_name(path, history.blob(blob), layout) for path, blob in _read(history, layout) if found and lines(blob)]
    return Sightings(query, is_exact, tuple(found), tuple(now))


def _read(history: History, layout: Layout) -> list[tuple[str, str]]:
    """Path and blob of what memory reads from now."""
    return [item for item in history.files(history.head()).items() if _counts(item[0], layout)]


def _counts(path: str, layout: Layout) -> bool:
    return layout.is_recalled(path) or path in (layout.overview, layout.identity)


def _lines(texts: Callable[[str], str], says: Says) -> Lines:
    return cache(lambda blob: says(texts(blob)) if blob else ())


def _steps(history: History, layout: Layout, lines: Lines) -> Iterator[_Step]:
    """The changes that may bear on it, oldest first; files that merely moved are left out."""
    for commit in reversed(list(history.ids())):
        if all(lines(before) == lines(after) for before, after in history.blobs(commit)):
            continue
        changes = history.made(commit)
        gone = {change.before for change in changes if change.after is None}
        come = {change.after for change in changes if change.before is None}
        for change in changes:
            if _counts(change.path, layout) and not _has_moved(change, gone & come):
                yield _Step(commit, change)


def _has_moved(change: Difference, moved: set[str | None]) -> bool:
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
    try:
        return parsed(path, data).name if layout.is_entry(path) else path.rpartition("/")[2]
    except Unreadable:
        return path.rpartition("/")[2]
