"""What goes out: the objects that the other side lacks, and a pack of them."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import DamagedHistory, Untrusted
from ..git.commits import tag_target
from ..git.compaction import Filling
from ..git.objects import Objects
from ..git.packs import Growing
from ..git.reach import Piece, Reach
from ..git.walk import Graph, Walk
from .limit import MOST_PACK, Limit


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
    for commit in [*walk_of(objects, private).newer(commits, known)][::-1]:
        yield from reach.pieces(commit)


def pack_of(pieces: Iterator[Piece], objects: Objects, limit: Limit) -> Growing:
    """Return a pack of them, each where it can be as its difference to one before it."""
    filling = Filling(objects.raw, Growing(), {})
    for piece in pieces:
        filling.take(piece)
        if filling.growing.size > MOST_PACK:
            raise Untrusted(f"more than {MOST_PACK:,} bytes would go to or from {limit.where}: that is no memory's")
        limit.left()
        limit.tell("packing", len(filling.growing))
    return filling.growing
