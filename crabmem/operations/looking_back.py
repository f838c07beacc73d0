"""Looking back: who wrote what and when, and which commit changed an answer. Changes nothing."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from ..disk.store import Scan
from ..errors import InvalidArguments
from ..git.timeline import State, limited, state_on_disk
from ..results import Bisected, Commit, Step
from .bisect import Moment, Test, bisected
from .digest import digested
from .lookup import Lookup
from .occurrences import seen
from .provenance import blamed
from .traces import Digest, Filter, Line, Sightings


class Hindsight(Lookup):
    """The history of one memory, as people and programs ask for it."""

    def log(self, limit: int | None = None, name: str | None = None, **asked: str | None) -> list[Commit]:
        """The newest commits first, at most `limit`: those of `commits`, which knows what may be `asked`."""
        if limit is not None and limit < 1:
            raise InvalidArguments(f"limit must be at least 1, not {limit}")
        return list(islice(self.commits(name, **asked), limit))

    def commits(
        self,
        name: str | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        tool: str | None = None,
        author: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Iterator[Commit]:
        """The commits one by one, newest first; with `name`, those that touch that entry, even if it was forgotten.

        Only those of an agent, a session, a tool (or `edit`, for edits from outside), or an author who is called
        `author`, in whole words; only those after the revision or time `since` and not after `until`. Those that touch
        what a session of this kind may not see are left out: their subjects name it.

        Raises:
            NotFound: there is no such entry, revision or time.
        """
        accept = Filter(agent or "", session or "", tool or "", author or "")
        path = self._path_of(name) if name else None
        found = self._timeline.commits(path, since, until, accept if accept != Filter() else None)
        return found if self.kind == "main" else (each for each in found if all(map(self._sees, each.paths)))

    def newest(self) -> str | None:
        """The id of the newest commit; None before the first."""
        return self._timeline.head()

    def blame(self, name: str) -> tuple[Line, ...]:
        """The lines of an entry's file as it is on disk, or of MEMORY.md or Crab.md, with who wrote each and when.

        Raises:
            NotFound: there is none; of a forgotten one the message names the commit that removed it.
        """
        path = self._path_of(name)
        return blamed(self._history, self._timeline, path, name, self._store.read(path))

    def when(self, query: str) -> Sightings:
        """When memory said `query`: word by word if it ever did, else all its words in one entry.

        Raises:
            InvalidArguments: the query is blank.
        """
        self._check_whole()
        scan = self._store.scan()
        edited = {path: scan.data(path) for path in self._writer.outside(scan)}
        return seen(query, self.settings.language, self._history, self.layout, edited)

    def digest(self, since: str = "1 week ago", until: str | None = None) -> Digest:
        """What was learned, changed and dropped between two revisions or times; `until` of None is the newest commit.

        Raises:
            NotFound: there is no such revision or time.
        """
        self._check_whole()
        return digested(self._history, self._timeline, self.layout, since, until)

    def diff(self, since: str | None = None, until: str | None = None, name: str | None = None) -> str:
        """What changed from `since` (None: the newest commit) to `until` (None: the files now), as a unified diff."""
        scan = self._store.scan()
        before = self._timeline.state_since(since)
        after = self._timeline.state_at(until) if until else state_on_disk(scan, before)
        only = self._paths_since(name, since) if name else None
        return self._diff(before, after, only, scan)

    def patch(self, commit: str, name: str | None = None) -> str:
        """What a commit changed, as a unified diff; with `name`, in that entry."""
        found_at = self._timeline.commit_at(commit)
        before = self._timeline.state_of(self._timeline.parent(found_at))
        only = self._timeline.places(self._path_of(name), found_at) if name else None
        after = self._timeline.state_of(found_at)
        return self._diff(before, after, only, self._store.scan())

    def bisect(
        self,
        test: Test,
        since: str | None = None,
        until: str | None = None,
        progress: Callable[[Step], None] | None = None,
    ) -> Bisected:
        """The commit that made memory bad: `test` says of it at a moment whether it is good, None for cannot be told.

        Looked for after `since`, where it was good, and not after `until` (None: the newest commit), where it is bad.
        Without `since` the last good moment is looked for backwards, in steps that double. Takes about so many looks
        as the number of commits can be halved; `progress` is told of each. No file of the workspace is touched.

        Raises:
            InvalidArguments: it is good at `until`, bad at `since`, or good nowhere.
            NotFound: there is no such revision or time.
        """
        self._check_whole()
        return bisected(self._timeline, self._moment, test, since, until, progress)

    def _diff(self, before: State, after: State, only: set[str] | None, scan: Scan) -> str:
        """What lies between two states, of the files at the paths `only` (None: all) that may be seen."""
        one, other = (limited(state, only) for state in (before, after))
        seen = None if self.kind == "main" else set(filter(self._sees, {*one, *other}))
        return self._timeline.diff(limited(one, seen), limited(other, seen), scan)

    def _paths_since(self, name: str, since: str | None) -> set[str]:
        """Where the entry called `name` is, and where it was then."""
        path, commit = self._path_of(name), self._timeline.before(since) if since else None
        return {path, self._timeline.path_at(path, commit)} if commit else {path}

    def _moment(self, commit: str) -> Moment:
        files = partial(self._timeline.state_of, commit)
        return Moment(commit, files, self._history.blob, partial(self._source, commit, keep=False))
