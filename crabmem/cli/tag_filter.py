"""What is said of a tag that no fact has, by verbs that filter by it."""

from __future__ import annotations

from ..text.comparison import nearest
from .output import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..recall.headers import Header
    from ..text.entry import Entry


def tell_unknown_tags(entries: Sequence[Entry | Header], tags: Sequence[str]) -> None:
    """Say which of the tags no fact has, with the nearest that one has."""
    known = {tag.casefold(): tag for entry in entries for tag in entry.labels}
    for tag in tags:
        if tag.casefold() not in known:
            near = nearest(tag.casefold(), known)
            tell(f"no fact has the tag {tag}{f' (nearest: {known[near[0]]})' if near else ''}")
