"""How many facts a change would cost. A slip empties a memory as quickly as a wish does. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import MassLoss
from ..text.frontmatter import parts_of
from ..workspace.layout import Layout

#: Fewer of many are no accident that anybody must be asked about.
LEAST = 10
#: Fewer are none even where they are all there is.
LEAST_OF_FEW = 2
_SHARE = 3


@dataclass(frozen=True)
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
        return f"{self.count:,} of {self.total:,} entries"

    @property
    def words(self) -> str:
        """What to say of losses on disk that nobody has confirmed."""
        return (
            f"{self.share} are gone from disk, or empty, without having been forgotten; history still has them: "
            "`crabmem restore` brings them back, `crabmem adopt --yes-really` records that this is meant"
        )

    @property
    def error(self) -> MassLoss:
        """The same as an error."""
        return MassLoss(self.words, self.count, self.total)


def lost(
    before: Mapping[str, bytes | None], after: Mapping[str, bytes | None], files: Iterable[str], layout: Layout
) -> Losses:
    """What a change costs a memory of these `files`; what only moved is not lost."""
    stays = {None, *after.values()}
    gone = (path for path, data in after.items() if before[path] not in stays and _is_emptied(before[path], data))
    return losses(gone, files, layout)


def losses(gone: Iterable[str], files: Iterable[str], layout: Layout) -> Losses:
    """What it costs a memory of these `files` that some are gone or empty."""
    paths = tuple(sorted(gone))
    return Losses(paths, sum(map(layout.is_entry, paths)), sum(map(layout.is_entry, files)))


def is_blank(data: bytes | None) -> bool:
    """Whether there is no file, or one without content."""
    return data is None or not parts_of(data.decode("utf-8", "replace")).content.strip("\ufeff \t\r\n")


def _is_emptied(before: bytes | None, after: bytes | None) -> bool:
    return after is None or (is_blank(after) and not is_blank(before))
