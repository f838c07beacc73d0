"""The lives of entries: which versions of files are of one entry, wherever it was renamed or moved to, and back."""

from collections.abc import Callable, Iterable, Mapping

from ...errors import Inapplicable
from ...text.slug import name_key

#: The path of a file and the id of what it held.
Version = tuple[str, str]
#: The blobs of files before and after a commit, by path; None for no file.
Changes = Mapping[str, tuple[str | None, str | None]]

_ALIKE = 0.5
# So many pairs of texts are compared in one commit; beyond them only equal files are taken for moved.
_MOST_PAIRS = 20_000


class Lives:
    """Connects versions of files, from one commit after the other, parents first."""

    def __init__(self, likeness: Callable[[Version, Version], float]) -> None:
        """`likeness` says how much of one version is in another, from 0 to 1, by which a moved file is known again."""
        self._likeness = likeness
        self._lives: dict[Version, set[Version]] = {}

    def knows(self, version: Version) -> bool:
        """Whether a commit so far had it."""
        return version in self._lives

    def life(self, version: Version) -> set[Version]:
        """All versions of the entry that `version` is of; the same object for each of them."""
        return self._lives.setdefault(version, {version})

    def add(self, sides: Iterable[Changes], renamed: tuple[str, str] | None = None) -> None:
        """Add what a commit changed in each parent, and the old and new path of what its message says it renamed.

        A version that was at its path before keeps the life it had: an undo or a rollback puts it back, and what
        stood there meanwhile may be another entry.
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
    """The versions of the entry called `name`, and of those of the same names at the same paths that are no more.

    `names` has the name of each entry that ever was; for the others see `rule.erasure_of_entry`.

    Raises:
        Inapplicable: no entry answers to `name` now, and several that have another name now were called so.
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
