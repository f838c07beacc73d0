"""The lives of entries: which versions of files are of one entry, wherever it was renamed or moved to, and back."""

from collections.abc import Callable, Iterable, Mapping

from .diff import similarity

#: The path of a file and the id of what it held.
Version = tuple[str, str]
#: The blobs of files before and after a commit, by path; None for no file.
Changes = Mapping[str, tuple[str | None, str | None]]

_ALIKE = 0.5
# So many pairs of texts are compared in one commit; beyond them only equal files are taken for moved.
_MOST_PAIRS = 20_000


class Lives:
    """Connects versions of files, told of one commit after the other, parents first."""

    def __init__(self, content: Callable[[Version], bytes]) -> None:
        """`content` reads what a version says, by which a moved file is known again."""
        self._content = content
        self._joined: dict[Version, set[Version]] = {}
        self._connected: dict[Version, frozenset[Version]] = {}

    def knows(self, version: Version) -> bool:
        """Whether a commit was told of that had it."""
        return version in self._joined

    def take(self, sides: Iterable[Changes], renamed: tuple[str, str] | None = None) -> None:
        """Take in what a commit changed in each parent, and the paths of what it says it renamed.

        A version that was at its path before keeps the life it had: an undo or a rollback puts it back, and what
        stood there meanwhile may be another entry.
        """
        self._connected.clear()
        for changes, new in [(changes, self._new(changes)) for changes in sides]:
            for version in new:
                self._joined.setdefault(version, set())
            self._take(changes, new, renamed)

    def _new(self, changes: Changes) -> dict[Version, Version | None]:
        """The versions that were never seen, each with the one in whose place it is."""
        return {
            (path, after): (path, before) if before else None
            for path, (before, after) in changes.items()
            if after and not self.knows((path, after))
        }

    def _take(self, changes: Changes, new: Mapping[Version, Version | None], renamed: tuple[str, str] | None) -> None:
        if renamed:
            self._join_renamed(changes, *renamed)
        gone = [(path, before) for path, (before, after) in changes.items() if before and not after]
        by_blob = {version[1]: version for version in gone}
        for version, before in new.items():
            if old := before or by_blob.get(version[1]):
                self._join(old, version)
        left = [version for version in new if not self._joined[version]]
        if len(gone) * len(left) <= _MOST_PAIRS:
            for version in left:
                self._join_likest(gone, version)

    def connected(self, version: Version) -> frozenset[Version]:
        """All versions of the entry that `version` is of; the same object for each of them."""
        if version not in self._connected:
            found, waiting = {version}, [version]
            while waiting:
                others = self._joined.get(waiting.pop(), set()) - found
                found |= others
                waiting += others
            self._connected |= dict.fromkeys(found, frozenset(found))
        return self._connected[version]

    def _join(self, one: Version, other: Version) -> None:
        self._joined.setdefault(one, set()).add(other)
        self._joined.setdefault(other, set()).add(one)

    def _join_renamed(self, changes: Changes, old: str, new: str) -> None:
        before, after = changes.get(old, (None, None))[0], changes.get(new, (None, None))[1]
        if before and after:
            self._join((old, before), (new, after))

    def _join_likest(self, gone: Iterable[Version], version: Version) -> None:
        text = self._content(version)
        likeness, old = max(((similarity(self._content(each), text), each) for each in gone), default=(0.0, version))
        if likeness >= _ALIKE:
            self._join(old, version)
