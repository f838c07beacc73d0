"""How many facts a change would cost. A slip empties a memory as quickly as a wish does. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .errors import MassLoss
from .header import taken_apart
from .workspace import is_entry

#: Fewer are no accident that anybody must be asked about.
LEAST = 10
_SHARE = 3


@dataclass(frozen=True)
class Losses:
    """Files that are gone, or have no content any more; there were `total` entries. Only entries count."""

    paths: tuple[str, ...]
    total: int

    @property
    def count(self) -> int:
        """How many entries are lost."""
        return sum(map(is_entry, self.paths))

    @property
    def are_many(self) -> bool:
        """Whether that is so much of all that it may be a mishap."""
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


def lost(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None], entries: Iterable[str]) -> Losses:
    """What a change of files costs a memory of these `entries`; what only moved is not lost."""
    stays = {None, *after.values()}
    gone = (path for path, data in after.items() if before[path] not in stays and _is_emptied(before[path], data))
    return losses(gone, entries)


def losses(gone: Iterable[str], entries: Iterable[str]) -> Losses:
    """What it costs a memory of these `entries` that files are gone or empty."""
    return Losses(tuple(sorted(gone)), sum(map(is_entry, entries)))


def is_blank(data: bytes | None) -> bool:
    """Whether there is no file, or one without content."""
    return data is None or not taken_apart(data.decode("utf-8", "replace")).content.strip("\ufeff \t\r\n")


def _is_emptied(before: bytes | None, after: bytes | None) -> bool:
    return after is None or (is_blank(after) and not is_blank(before))
