"""The digest of a time: what memory learned, what changed, what was dropped, and who did it."""

from collections.abc import Iterable

import msgspec

from ..git.changes import Difference
from ..git.history import History
from ..recall.labels import SOURCED, STALE
from ..results import CREATOR, Commit, Digest, News, StaleFact, lost_of
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.entry import Entry, entry_in
from ..text.slug import name_key
from ..text.values import replace
from ..workspace.layout import SETTINGS, Layout

#: The blobs of a file before and after some commits; None for no file.
Step = tuple[str | None, str | None]


class _Fate(msgspec.Struct, frozen=True):
    """A file that commits wrote: its blob before the first and after the last of them, and the `newest` blob it had.

    `is_whole`: it is the overview or the identity, which are no facts.
    """

    before: str | None
    after: str | None
    newest: str
    news: News
    is_whole: bool

    @property
    def kind(self) -> str:
        """The fate of the file: "" for no change, "passing" if it came and went. A new overview counts as changed."""
        if self.after and (self.before or self.is_whole):
            return "changed" if self.before != self.after else ""
        return "learned" if self.after else "dropped" if self.before else "passing"


def digest(
    session: Session,
    since: str | None = "1 week ago",
    until: str | None = None,
    agent: str | None = None,
    from_session: str | None = None,
) -> Digest:
    """What was learned, changed and dropped between two revisions or times; `until` of None is the newest commit.

    `since` of None is the beginning. With `agent` or `from_session`, only the commits of that agent or session count.
    Facts that are stale today are added where none of `until`, `agent` and `from_session` is given.

    Raises:
        NotFound: there is no such revision or time.
    """
    session.view.check_whole()
    history, timeline = session.engine.history, session.timeline
    begin = timeline.before(since) if since and timeline.head() else None
    end = timeline.commit_at(until) if until else timeline.head()

    def is_meant(commit: Commit) -> bool:
        is_theirs = agent in (None, commit.agent) and from_session in (None, commit.session)
        return is_theirs and commit.author != CREATOR

    found = timeline.commits(None, begin, end, is_meant) if end else iter(())
    steps = [(commit, history.changes.own(commit.commit)) for commit in found]
    commits, fates = tuple(commit for commit, _ in steps), _with_moves(_fates(history, session.layout, steps))

    def of(kind: str) -> tuple[News, ...]:
        found = [fate.news for fate in fates if fate.kind == kind]
        return tuple(sorted(found, key=lambda news: name_key(news.name)))

    stale = stale_facts(session) if until is agent is from_session is None else ()
    return Digest(begin, end, commits, of("learned"), of("changed"), of("dropped"), of("passing"), stale)


def stale_facts(session: Session) -> tuple[StaleFact, ...]:
    """The facts whose day is past, the oldest day first, then the facts whose sources changed or are gone."""
    today = session.engine.today().isoformat()

    def read(now: Snapshot) -> tuple[StaleFact, ...]:
        days = sorted((label.removeprefix(STALE), path) for label, path in now.entries.index.pairs(STALE))
        found = [(day, path) for day, path in days if day < today]
        found += sorted(("", path) for _, path in now.entries.index.pairs(SOURCED))
        facts = (_stale(session, now.entries.at(path), day) for day, path in found)
        return tuple(fact for fact in facts if fact.stale_since or fact.sources)

    return session.look(read)


def _stale(session: Session, entry: Entry, day: str) -> StaleFact:
    sources = () if day else session.engine.sources_of(entry)
    return StaleFact(entry.name, entry.path, entry.description, day, lost_of(sources))


def texts_of(session: Session, news: News) -> list[tuple[str, str]]:
    """The text of a file before and after each stretch of changes to it, the oldest first; "" for no file."""
    session.view.check_whole()
    history = session.engine.history

    def text(blob: str | None) -> str:
        return "" if blob is None else history.blob(blob).decode("utf-8", "replace")

    return [(text(before), text(after)) for before, after in news.steps if before != after]


def _fates(history: History, layout: Layout, steps: Iterable[tuple[Commit, Iterable[Difference]]]) -> list[_Fate]:
    """The fate of each file, without the settings. `steps` are the commits, newest first, with their changes."""
    found: dict[str, _Fate] = {}
    for commit, changes in steps:
        for path, before, after in changes:
            if not layout.is_kept(path) or path == SETTINGS:
                continue
            known = found.get(path) or _Fate(
                before, after, after or before or "", News(path, path, "", ()), layout.is_whole(path)
            )
            joined = _prepended((before, after), known.news.steps)
            news = replace(known.news, commits=(*known.news.commits, commit), steps=joined)
            found[path] = replace(known, before=before, news=news)
    return [replace(fate, news=_with_name(fate, history, layout)) for fate in found.values()]


def _prepended(step: Step, later: tuple[Step, ...]) -> tuple[Step, ...]:
    """Put an earlier step before `later`; it becomes one with the next if that begins where it ends."""
    if later and later[0][0] == step[1]:
        return ((step[0], later[0][1]), *later[1:])
    return (step, *later)


def _with_name(fate: _Fate, history: History, layout: Layout) -> News:
    """The news of a file with the name and description of its entry, by the newest version; else the file's name."""
    path = fate.news.path
    entry = entry_in(path, history.blob(fate.newest)) if layout.is_entry(path) else None
    name, description = (entry.name, entry.description) if entry else (path.rpartition("/")[2], "")
    return replace(fate.news, name=name, description=description)


def _with_moves(fates: Iterable[_Fate]) -> list[_Fate]:
    """The fates with each move joined: a fact dropped in one file and learned in another is one that changed.

    A move is recognised by the same name, or the same text; with the same text nothing became of the fact (`kind` "").
    """
    rest = list(fates)
    dropped = [fate for fate in rest if fate.kind == "dropped"]
    for new in [fate for fate in rest if fate.kind == "learned"]:
        old = next((each for each in dropped if _is_moved(each, new)), None)
        if old:
            dropped.remove(old)
            rest.remove(old)
            # As `News` has them: commits the newest first, steps the oldest first.
            commits = tuple(dict.fromkeys((*new.news.commits, *old.news.commits)))
            news = replace(new.news, commits=commits, steps=(*old.news.steps, *new.news.steps))
            rest[rest.index(new)] = replace(new, before=old.before, news=news)
    return rest


def _is_moved(old: _Fate, new: _Fate) -> bool:
    return old.before == new.after or name_key(old.news.name) == name_key(new.news.name)
