"""The follower: one process, or several, that keep an index in step with the branches of remotes.

A look at a memory compares its branch with the index, and depends on nothing else. It takes place soon after a push is
reported, and otherwise at intervals.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ..disk import fs
from ..errors import CrabmemError, NotFound, SyncError, Unreachable
from ..text.slug import slug_of
from .mirror import Mirror
from .postgres import NEXT, Postgres

#: Seconds between two looks at a memory that nobody says was pushed to.
EVERY = 60.0
# Seconds between two queries for memories that are due, and before a database that failed is tried again. `_JITTER`
# shortens the interval of looks at random, so that several followers do not look at the same time.
_POLL_SECONDS, _RETRY_SECONDS = 5.0, 2.0
_JITTER = 0.2


@dataclass(frozen=True)
class Looked:
    """A look at a memory: how many facts it changed, and how long it took. `error` is why it failed; "" for nothing."""

    name: str
    changed: int
    seconds: float
    error: str = ""


def follow(
    url: str,
    place: Path,
    environment: Mapping[str, str],
    every: float = EVERY,
    tell: Callable[[Looked], None] = lambda looked: None,
) -> None:
    """Follow for ever. While the database does not answer, or has no index, it is tried again."""
    while True:
        try:
            with Postgres(url) as index:
                mirror = mirror_of(index, place, environment)
                while True:
                    mirror.forget({space.mirror for space in index.spaces()})
                    for id in index.due(every * random.uniform(1 - _JITTER, 1)):
                        if (looked := look(index, mirror, id)) and (looked.changed or looked.error):
                            tell(looked)
                    index.wait(min(every, _POLL_SECONDS))
        except (Unreachable, NotFound) as error:
            tell(Looked("", 0, 0.0, str(error)))
            time.sleep(_RETRY_SECONDS)


def follow_once(index: Postgres, mirror: Mirror, tell: Callable[[Looked], None] = lambda looked: None) -> list[Looked]:
    """Look at each memory once, and return the results; memories that another follower looks at are left out."""
    found = list[Looked]()
    for space in index.spaces():
        if looked := look(index, mirror, space.id):
            tell(looked)
            found.append(looked)
    return found


def mirror_of(index: Postgres, place: Path, environment: Mapping[str, str]) -> Mirror:
    """The mirrors of an index, in a folder below `place` that is its database's own."""
    info = index.connection.info
    folder = place / f"{slug_of(info.dbname)}-{blake2b(f'{info.host} {info.port}'.encode(), digest_size=4).hexdigest()}"
    fs.make_folder(folder)
    return Mirror(folder, environment)


def look(index: Postgres, mirror: Mirror, id: int) -> Looked | None:
    """Look at a memory: bring its rows in step with its branch. None where another follower is at it."""
    with index.alone(id) as space:
        if space is None:
            return None
        began, changed, why = time.monotonic(), 0, ""
        try:
            with mirror.look(space) as contents:
                changed = 0 if contents is None else index.put(space, contents)
        except (CrabmemError, OSError) as error:
            if index.connection.closed:
                raise
            why = str(error)
        index.looked(id, why)
        return Looked(space.name, changed, time.monotonic() - began, why)


def rebuild(
    index: Postgres,
    place: Path,
    environment: Mapping[str, str],
    tell: Callable[[Looked], None] = lambda looked: None,
) -> int:
    """Build a new index beside this one, which serves meanwhile, then replace this one. Return how many facts it has.

    Raises:
        SyncError: a memory could not be read; the old index stays in place.
    """
    with Postgres(index.url, NEXT) as new:
        mirror = mirror_of(new, place / "anew", environment)
        try:
            new.drop()
            new.create()
            index.copy_to(new)
            for looked in follow_once(new, mirror, tell):
                if looked.error:
                    raise SyncError(f"the old index stays, as {looked.name} could not be read: {looked.error}")
            new.take_over()
        finally:
            if not new.connection.closed:
                new.drop()
            fs.remove_tree(mirror.place)
    return sum(each.facts for each in index.followed())
