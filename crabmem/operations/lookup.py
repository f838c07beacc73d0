"""Searching and reading the files of memory as files, by the rules of the profile."""

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..errors import InvalidArguments, NotFound, Unreadable
from ..recall.ranking import check_question
from ..results import Excerpt, FileSearch
from ..text.edit import lines_in
from ..text.entry import decode
from ..text.hashes import version_of
from ..workspace.settings import Settings
from .briefing import Briefing

if TYPE_CHECKING:
    from ..recall.file_search import Sections, Way


class Lookup(Briefing):
    """The files that the profile has searched, section by section."""

    def search(self, query: str, limit: int | None = None, *, as_of: str | None = None) -> FileSearch:
        """The sections of files that answer `query` best, at most `limit` (None: as many as the profile says).

        Which files, in which sections, and how much the notes of late count more is in the profile, too. Words,
        `deploy*` and `"deploy key"` are as in `recall`, and so is meaning. With `as_of`, in the files as they were
        at that revision or time.

        Raises:
            InvalidArguments: a blank or endless query, or a limit out of its bounds.
            NotFound: there is no such revision or time.
        """
        check_question(query, limit, ())
        look = self._searched if as_of is None else partial(self._searched_of_old, self._timeline.commit_at(as_of))
        found = self._steadily(lambda: look(query, limit))
        self._searcher().save()
        self._meaning_of_sections.save()
        return found

    def excerpt(self, path: str, start: int = 1, lines: int | None = None, at: str | None = None) -> Excerpt:
        """So many `lines` of a file that is searched, from line `start` on; None for all. With `at`, as it was then.

        Raises:
            InvalidArguments: it is none of those files, or a number is below 1.
            NotFound: there is no such file for a session of this kind, or no such revision or time.
            Unreadable: something else than a text is there.
        """
        for name, value in (("the first line", start), ("the number of lines", lines)):
            if value is not None and value < 1:
                raise InvalidArguments(f"{name} must be at least 1, not {value}")
        if not self.searches(path):
            there = ", ".join(self.profile.search.files) or "none in this profile"
            raise InvalidArguments(f"{path or 'nothing'} is none of the files that are searched ({there})")
        return self._steadily(lambda: self._excerpt(path, start, lines, at))

    def searches(self, path: str) -> bool:
        """Whether a file at `path` would be one of those that are searched."""
        from ..text.patterns import matches

        return bool(path) and self.layout.is_kept(path) and matches(path, self.profile.search.files)

    def _excerpt(self, path: str, start: int, count: int | None, at: str | None) -> Excerpt:
        scan, words = self._store.scan(), f"there is no {path}; it may not have been written yet"
        self._check_seen(path, words)
        if at is None and scan.is_hidden(path):
            raise Unreadable(f"{path} is no regular file that could be read; `crabmem doctor` says why")
        data = scan.data(path) if at is None else self._own(path, at)
        if data is None:
            raise NotFound(words if at is None else f"there was no {path} at {at}")
        lines = lines_in(decode(path, data))
        chosen = lines[start - 1 :][:count]
        return Excerpt(path, start, tuple(chosen), len(lines), version_of(data))

    def _searched(self, query: str, limit: int | None) -> FileSearch:
        shelf, way, rules = self._sections()
        return self._found(shelf, way, rules, query, limit)

    def _sections(self) -> "tuple[Sections, Way, Settings]":
        """What the files that are searched hold now."""
        self._searcher().begin()
        scan = self._store.scan()
        rules = self._settings_of(scan)
        way = self._way(rules)
        return self._searcher().now(scan, way), way, rules

    def _sections_anew(self) -> "Sections | None":
        """The same, every file read again, and kept; None where no files are searched."""
        if not self.profile.search.files:
            return None
        self._searcher().begin_anew()
        shelf, _, _ = self._steadily(self._sections)
        self._searcher().save(least=1)
        return shelf

    def _searched_of_old(self, commit: str, query: str, limit: int | None) -> FileSearch:
        from ..recall.file_search import of_old

        rules = self._rules_of(commit)
        way = self._way(rules)
        shelf = self._searcher().past(of_old(self._timeline.state_of(commit), self._history.blob, way.search), way)
        return replace(self._found(shelf, way, rules, query, limit), as_of=commit)

    def _found(self, shelf: "Sections", way: "Way", rules: Settings, query: str, limit: int | None) -> FileSearch:
        from ..recall.file_search import searched

        ranking = self._ranking_as_asked_now(shelf, rules, self._meaning_of_sections)
        profile = self.profile  # looked at once, for all files
        return searched(
            shelf,
            query,
            limit,
            way,
            self._today(),
            lambda path: not profile.hides(path, self.kind),
            ranking and ranking(query),
        )

    def _way(self, rules: Settings) -> "Way":
        from ..recall.file_search import Way

        return Way(self.profile.search, rules.language)
