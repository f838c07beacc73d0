"""How many facts a change would cost, and which losses on disk wait for a person's word.

A slip empties a memory as quickly as a wish does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ..disk import fs, state
from ..errors import MassLoss
from ..text.hashes import blob_id
from ..text.values import value
from ..workspace.layout import Layout

#: A memory of at least this many facts is large: there, losing fewer than this many is no mishap.
LEAST = 10
#: In a smaller memory only losing all facts is a mishap, if there are at least this many.
LEAST_OF_FEW = 2
_SHARE = 3
# Digits of the id that is noted instead of a path, so that a purged name stands in no file of ours.
_DIGITS = 40


@value
class Losses:
    """Files that are gone, or have no content any more; `count` of them are entries, of which there were `total`."""

    paths: tuple[str, ...]
    count: int
    total: int

    @property
    def are_many(self) -> bool:
        """Whether that is so much of all that it may be a mishap.

        Ten entries or more, and more than a third of them; in a memory of fewer than ten, all of two or more.
        """
        if self.total < LEAST:
            return self.count == self.total >= LEAST_OF_FEW
        return self.count >= LEAST and self.count * _SHARE > self.total

    @property
    def share(self) -> str:
        """How many of how many."""
        return f"{self.count:,} of {self.total:,} facts"

    @property
    def words(self) -> str:
        """What to say of losses on disk that nobody has confirmed."""
        return (
            f"{self.missing}. Bring them back: `crabmem restore`. They are meant to go: `crabmem record --yes-really`"
        )

    @property
    def missing(self) -> str:
        """The fault, without the ways out."""
        return f"{self.share} are missing from the disk, or empty, and nobody forgot them"

    @property
    def error(self) -> MassLoss:
        """The same as an error."""
        return MassLoss(self.words, self.count, self.total)


def losses_of_change(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None], files: Iterable[str], layout: Layout
) -> Losses:
    """What a change costs a memory of these `files`; what only moved is not lost."""
    stays = {None, *after.values()}
    gone = (
        path
        for path, data in after.items()
        if before[path] not in stays and (data is None or (is_blank(data) and not is_blank(before[path])))
    )
    return losses(gone, files, layout)


def losses(gone: Iterable[str], files: Iterable[str], layout: Layout) -> Losses:
    """What it costs a memory of these `files` that some are gone or empty."""
    paths = tuple(sorted(gone))
    return Losses(paths, sum(map(layout.is_entry, paths)), sum(map(layout.is_entry, files)))


def is_blank(data: bytes | None) -> bool:
    """Whether there is no file, or one without content."""
    from ..text.frontmatter import parts_of  # late: it takes longer to load than a write takes

    return data is None or not parts_of(data.decode("utf-8", "replace")).content.strip("\ufeff \t\r\n")


class Unconfirmed:
    """Losses on disk that a person was told of and has not decided on yet.

    Noted because new facts could make the losses a small share, and they would then be recorded unconfirmed. Changed
    under the writer's lock, read without it. `private` is `.git/crabmem`.
    """

    def __init__(self, private: Path) -> None:
        self._file = private / state.UNCONFIRMED

    def among(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths that are noted."""
        noted = self._noted()
        return {path for path in paths if _id(path) in noted} if noted else set()

    def note(self, paths: Iterable[str]) -> None:
        """Note these paths, and no others any more."""
        ids = set(map(_id, paths))
        if ids == self._noted():
            return
        if ids:
            fs.swap_in(self._file, "".join(f"{each}\n" for each in sorted(ids)).encode())
        else:
            fs.unlink(self._file)

    def _noted(self) -> set[str]:
        with suppress(OSError):
            lines = fs.read(self._file)[0].decode("ascii", "replace").splitlines()
            return {line for line in lines if len(line) == _DIGITS}
        return set()


def _id(path: str) -> str:
    return blob_id(path.encode("utf-8", "surrogateescape"))
