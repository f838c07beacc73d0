"""What goes out: the objects that another repository lacks."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import DamagedHistory
from .commits import tag_target
from .objects import Objects
from .reach import Piece, Reach
from .walk import Graph, Walk


def walk_of(objects: Objects, private: Path) -> Walk:
    """Return what walks the commits of a repository; `private` is its folder of crabmem's own files."""
    return Walk(objects, Graph(private))


def outgoing(
    git: Path, private: Path, objects: Objects, tips: Collection[str], haves: Collection[str]
) -> Iterator[Piece]:
    """Yield what `tips` reach and `haves` do not, oldest first; of `haves`, what is not here is passed over.

    Some of it may be there: what a merge brought from its second parent is compared with the first.

    Raises:
        DamagedHistory: some of it cannot be read.
    """
    reach, commits = Reach(objects, git / "objects"), list[str]()
    for tip in tips:
        while objects.raw(tip)[0] == "tag":
            yield Piece(tip, "")
            tip = tag_target(objects.raw(tip)[1])
        commits.append(tip)
    known = list[str]()
    for have in haves:
        with suppress(DamagedHistory):
            known += [have] if objects.header(have) else []
    hidden = set[str]()
    for commit in [*walk_of(objects, private).newest_first(commits, known, hidden)][::-1]:
        if commit not in hidden:
            yield from reach.pieces(commit)
