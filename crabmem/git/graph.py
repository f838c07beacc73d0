"""The graph of a repository's objects, walked: which commits are new, and what each of them brought."""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from ..errors import DamagedHistory
from .commits import tag_target
from .objects import Objects
from .reach import Piece, Reach
from .walk import Graph, Walk

#: Told of each file that a commit brought, unless it is a merge: the commit, the path, and what the file says.
Look: TypeAlias = Callable[[str, str, bytes], None]


def walk_of(objects: Objects, private: Path) -> Walk:
    """Return what walks the commits of a repository; `private` is its folder of crabmem's own files."""
    return Walk(objects, Graph(private))


def outgoing(
    git: Path, private: Path, objects: Objects, tips: Collection[str], haves: Collection[str], look: Look | None = None
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
        if commit in hidden:
            continue
        looks = look if len(objects.header(commit).parents) < 2 else None
        for piece in reach.pieces(commit):
            if looks and piece.is_file:
                looks(commit, piece.path, objects.blob(piece.oid))
            yield piece
