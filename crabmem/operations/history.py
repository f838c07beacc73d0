"""The history of memory as people and programs ask for it: who wrote what and when. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..errors import InvalidArguments
from ..git.timeline import State, limited, state_on_disk
from ..results import Commit
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.slug import name_key
from ..text.values import value
from .reading import path_of


@value
class _Filter:
    """A filter of commits; a field of "" accepts all. `author` is a name or whole words of one.

    `tool` is a commit's tool, or what stands before the colon of its subject. Each of `words` must be part of the
    subject, or of the name of a fact that the commit is about.
    """

    agent: str = ""
    session: str = ""
    tool: str = ""
    author: str = ""
    words: str = ""

    def __call__(self, commit: Commit) -> bool:
        """Whether the filter accepts `commit`; case does not matter."""
        tools = (commit.tool or "", commit.subject.partition(":")[0])
        return (
            _is(self.agent, commit.agent or "")
            and _is(self.session, commit.session or "")
            and any(_is(self.tool, tool) for tool in tools)
            and self._is_author(commit)
            and self._says_all(commit)
        )

    def _is_author(self, commit: Commit) -> bool:
        """Whether the author's name has these words; a star behind them, as the log shows it, asks for a person."""
        name, is_persons = self.author.removesuffix("*"), self.author.endswith("*")
        is_called_so = f" {name} ".casefold() in f" {commit.author} ".casefold()
        return not self.author or (is_called_so and (commit.is_person or not is_persons))

    def _says_all(self, commit: Commit) -> bool:
        if not self.words:
            return True
        said = name_key("\n".join([commit.subject, *commit.entries]))
        return all(word in said for word in name_key(self.words).split())


def _is(wanted: str, given: str) -> bool:
    return not wanted or wanted.casefold() == given.casefold()


def log(memory: Session, limit: int | None = None, name: str | None = None, **asked: str | None) -> list[Commit]:
    """Return `commits` as a list, newest first, at most `limit` of them; `asked` are its keyword arguments."""
    if limit is not None and limit < 1:
        raise InvalidArguments(f"limit must be at least 1, not {limit}")
    return list(islice(commits(memory, name, **asked), limit))


def commits(
    memory: Session,
    name: str | None = None,
    *,
    agent: str | None = None,
    session: str | None = None,
    tool: str | None = None,
    author: str | None = None,
    words: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Iterator[Commit]:
    """Yield commits, newest first; with `name`, those that touch that entry, even if it was forgotten.

    Each argument narrows the answer: `agent`, `session`, `tool` (`edit` for edits from outside); `author`, whole words
    of a name, a person's if a star ends them; `words`, which must all be in the subject or in the name of a fact that
    the commit is about; after the revision or time `since`, and not after `until`. Commits that touch files which this
    session may not see are left out, as their subjects would name these.

    Raises:
        NotFound: there is no such entry, revision or time.
    """
    accept = _Filter(agent or "", session or "", tool or "", author or "", words or "")
    path = path_of(memory, name) if name else None
    found = memory.timeline.commits(path, since, until, accept if accept != _Filter() else None)
    view = memory.view
    return found if view.is_whole else (each for each in found if all(map(view.allows, each.paths)))


def newest(session: Session) -> str | None:
    """The id of the newest commit; None before the first."""
    return session.timeline.head()


def diff(session: Session, since: str | None = None, until: str | None = None, name: str | None = None) -> str:
    """What changed from `since` (None: the newest commit) to `until` (None: the files now), as a unified diff."""
    timeline = session.timeline

    def read(now: Snapshot) -> str:
        before = timeline.state_since(since)
        after = timeline.state_of(timeline.commit_at(until)) if until else state_on_disk(now.scan, before)
        only = _paths_since(session, name, since) if name else None
        return _diff(session, before, after, only, now)

    return session.look(read)


def patch(session: Session, commit: str, name: str | None = None) -> str:
    """What a commit changed, as a unified diff; with `name`, in that entry."""
    timeline = session.timeline
    found_at = timeline.commit_at(commit)
    before, after = timeline.state_of(timeline.history.parent(found_at)), timeline.state_of(found_at)
    only = timeline.places(path_of(session, name), found_at) if name else None
    return session.look(lambda now: _diff(session, before, after, only, now))


def _diff(session: Session, before: State, after: State, only: set[str] | None, now: Snapshot) -> str:
    """The unified diff of two states, for the files at the paths `only` (None: all) that this session may see."""
    one, other = (limited(state, only) for state in (before, after))
    seen = None if now.view.is_whole else set(filter(now.view.allows, {*one, *other}))
    return session.timeline.diff(limited(one, seen), limited(other, seen), now.scan)


def _paths_since(session: Session, name: str, since: str | None) -> set[str]:
    """The path of an entry now, and the one it had at `since`, as it may have been moved."""
    path, commit = path_of(session, name), session.timeline.before(since) if since else None
    return {path, session.timeline.path_at(path, commit)} if commit else {path}
