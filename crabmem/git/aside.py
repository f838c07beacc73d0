"""Commits set aside on no branch, as what waits for a person: each has a reference of its own until that is decided."""

from collections.abc import Mapping
from datetime import datetime

from .commits import Note
from .kept import ASIDE, MOST_ASIDE
from .parts import Parts
from .past import Past
from .recording import Recording


class Aside:
    """The commits of one repository that were set aside."""

    def __init__(self, parts: Parts, past: Past, recording: Recording) -> None:
        self._refs, self._objects = parts.refs, parts.objects
        self._past, self._recording = past, recording
        #: The references as they were last looked at, and their commits as `all` returns them.
        self._known: tuple[frozenset[str], list[str]] = frozenset(), []

    def add(self, changes: Mapping[str, str | None], note: Note, when: datetime, base: str | None = None) -> str | None:
        """Commit `changes` on top of the head, or of `base`, on no branch; return its id, one of `readable` then."""
        commit = self._recording.new_commit(base or self._past.head(), changes, note, when)
        if commit:
            self._objects.flush()
            self._refs.restore(f"{ASIDE}/{commit}", commit)
            self._objects.put_back()
        return commit

    def readable(self) -> list[str]:
        """Return the commits that were set aside and can be read, the oldest first; of many the first by id."""

        def age(commit: str) -> tuple[int, int, str]:
            times = self._objects.header(commit)
            return times.committed, times.authored, commit

        found = frozenset(sorted(self.all())[:MOST_ASIDE])
        if found != self._known[0]:
            readable = sorted(filter(self._past.is_commit, found), key=age)
            if len(readable) < len(found):  # which may be mended at any moment
                return readable
            self._known = found, readable
        return list(self._known[1])

    def all(self) -> set[str]:
        """Return the commits that were set aside, however many, readable or not."""
        refs = self._refs.all() if self._past.place.exists() else {}
        return {commit for ref, commit in refs.items() if ref == f"{ASIDE}/{commit}"}

    def unread(self) -> str | None:
        """Return what there is to say of more commits set aside than are read; None where all are."""
        more = len(self.all()) - MOST_ASIDE
        return (
            f"{more:,} proposals more than the {MOST_ASIDE:,} that are read: decide on those, or, if nobody here made "
            f"them, delete the references below {ASIDE}"
            if more > 0
            else None
        )

    def keep(self, commit: str) -> None:
        """Keep a commit beside the branch that another machine set aside; it is one of `readable` then. Nothing else is
        kept, whatever a remote calls so.
        """
        if self._past.is_commit(commit):
            self._refs.restore(f"{ASIDE}/{commit}", commit)

    def drop(self, commit: str) -> None:
        """Keep a commit no longer that was set aside: Git removes it by and by, `purge` at once."""
        self._refs.remove(f"{ASIDE}/{commit}")
