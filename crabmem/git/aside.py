"""Commits set aside on no branch, as what waits for a person: each has a reference of its own until that is decided.

Each stands on a commit of its own that has the files it changes as they were, and nothing else. They stood on the
history once: each purge made all of it anew that waited, every machine in its way, and a person was asked ten times.
"""

from collections.abc import Mapping
from datetime import datetime

from .commits import COMMITTER, NEVER, Note, raw_commit
from .kept import ASIDE, MOST_ASIDE
from .parts import Parts
from .past import Past

# The words of the commit that one set aside stands on: the same for the same files, whoever makes it.
_GROUND = Note("what a proposal changes, as it was", COMMITTER)


class Aside:
    """The commits of one repository that were set aside."""

    def __init__(self, parts: Parts, past: Past) -> None:
        self._refs, self._objects, self._trees, self._past = parts.refs, parts.objects, parts.trees, past
        #: The references as they were last looked at, and their commits as `all` returns them.
        self._known: tuple[frozenset[str], list[str]] = frozenset(), []

    def add(self, changes: Mapping[str, str | None], note: Note, when: datetime, base: str | None = None) -> str | None:
        """Set aside a commit of `changes` to files of the head, or of `base`; return its id, None if nothing differs.

        Its parent is a commit of its own, with only these files as they were. Both are stored durably.
        """
        tip, put = base or self._past.head(), self._objects.put
        files = {path: blob for path in changes if tip and (blob := self._past.file(tip, path))}
        after = {path: blob for path, blob in {**files, **changes}.items() if blob}
        if after == files:
            return None
        was, is_now = (self._trees.grafted(None, each) or put("tree", b"") for each in (files, after))
        ground = put("commit", raw_commit(was, [], _GROUND, NEVER, 0))
        commit = put("commit", raw_commit(is_now, [ground], note, when, 0))
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
