"""The lives of entries: which versions of files belong to one entry, across renames and moves."""

from collections.abc import Callable, Iterable, Mapping

from ...errors import Inapplicable
from ...text.slug import name_key

#: The path of a file and the id of what it held.
Version = tuple[str, str]
#: The blobs of files before and after a commit, by path; None for no file.
Changes = Mapping[str, tuple[str | None, str | None]]

# Share of one text in another from which on a file counts as moved.
_ALIKE = 0.5
# Pairs of texts that are compared in one commit; with more, only equal files count as moved.
_MOST_PAIRS = 20_000


class Lives:
    """Connects versions of files to lives. Commits are added one by one, parents first: a file must be known before
    the commit that moves it."""

    def __init__(self, likeness: Callable[[Version, Version], float]) -> None:
        """`likeness` returns how much of one version is in another, from 0 to 1: by it a moved file is recognised."""
        self._likeness = likeness
        #: The life of each version; all versions of a life share one set.
        self._lives: dict[Version, set[Version]] = {}

    def knows(self, version: Version) -> bool:
        """Whether a commit that was added so far had this version."""
        return version in self._lives

    def life(self, version: Version) -> set[Version]:
        """Return all versions of the entry of `version`: one shared set; a version not seen before begins one."""
        return self._lives.setdefault(version, {version})

    def add(self, sides: Iterable[Changes], renamed: tuple[str, str] | None = None) -> None:
        """Add a commit: its changes against each parent, and the old and new path of a rename that its message states.

        Each new version joins the life of the version before it at its path; else of a removed file with the same
        bytes, or with a text that is alike. A version that was at its path before keeps the life it had: an undo or a
        rollback put it back, and another entry may have stood there meanwhile.
        """
        unseen = [
            (side, [(path, blob) for path, (_, blob) in side.items() if blob and not self.knows((path, blob))])
            for side in sides
        ]
        for side, new in unseen:
            if renamed:
                before, after = side.get(renamed[0], (None, None))[0], side.get(renamed[1], (None, None))[1]
                if before and after:
                    self._join((renamed[0], before), (renamed[1], after))
            gone = [(path, before) for path, (before, after) in side.items() if before and not after]
            by_blob = {version[1]: version for version in gone}
            for path, blob in new:
                before = side[path][0]
                if old := (path, before) if before else by_blob.get(blob):
                    self._join(old, (path, blob))
            left = [version for version in new if len(self.life(version)) == 1]
            for version in left if gone and len(gone) * len(left) <= _MOST_PAIRS else ():
                likeness, old = max((self._likeness(each, version), each) for each in gone)
                if likeness >= _ALIKE:
                    self._join(old, version)

    def _join(self, one: Version, other: Version) -> None:
        """Make one life of two: the larger set takes in the smaller, whose versions then point to it."""
        small, large = sorted((self.life(one), self.life(other)), key=len)
        if small is not large:
            large |= small
            self._lives |= dict.fromkeys(small, large)


def versions_of_entry(
    name: str,
    names: Mapping[Version, str],
    lives: Lives,
    now: Mapping[str, str],
    path_now: str | None,
    is_place: bool,
) -> set[Version]:
    """Return the versions of the entry called `name`, and of gone entries that had one of its names at its path then.

    Gone entries count, as one that was forgotten and remembered again is the same; a life with a version that is now
    the file of another entry does not. `names` has the name that each version gives its entry; the other arguments
    are those of `rule.erasure_of_entry`.

    Raises:
        Inapplicable: no entry answers to `name` now, and several that were once called so have another name now.
    """
    named = [version for version, each in names.items() if name_key(each) == name_key(name)]
    if at_path := [version for version in names if version[0] == name]:
        path_now, named = name, at_path
    elif is_place:
        named = []
    first = [(path_now, now[path_now])] if path_now and path_now in now else named
    wanted = {id(life): life for life in map(lives.life, first)}.values()
    alive = {path for life in wanted for path, blob in life if now.get(path) == blob}
    if first is named and sum(not life.isdisjoint(now.items()) for life in wanted) > 1:
        raise Inapplicable(f"several facts were called {name}; name the one you mean: {', '.join(sorted(alive))}")
    others = {version for version in now.items() if version[0] not in alive}
    alike: dict[tuple[str, str], list[Version]] = {}
    for version, each in names.items():
        alike.setdefault((version[0], name_key(each)), []).append(version)
    meant, waiting = set[Version](), [*first, *named]
    while waiting:
        version = waiting.pop()
        if version not in meant and (life := lives.life(version)).isdisjoint(others):
            meant |= life
            for path, key in {(each[0], name_key(names[each])) for each in life & names.keys()}:
                waiting += alike.pop((path, key), ())
    return meant
