"""Every object that references reach, each looked at as `git fsck` does."""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import DamagedHistory, DeniedHistory
from .objects import Objects

if TYPE_CHECKING:
    from dulwich.objects import ShaFile


@dataclass(frozen=True)
class Stored:
    """An object of the history: `path` is that of a file or folder, "" for others. `data` is None when it is broken."""

    oid: str
    kind: str
    path: str
    data: bytes | None


def everything(tips: Iterable[str], objects: Objects) -> Iterator[Stored]:
    """All that `tips` reach, each object once; what is broken is told and not followed.

    Raises:
        DeniedHistory: this user may not read one of them.
    """
    seen: set[str] = set()
    waiting = [(tip, "commit", "") for tip in sorted(set(tips))]
    while waiting:
        oid, kind, path = waiting.pop()
        if oid in seen:
            continue
        seen.add(oid)
        try:
            item = objects.verified(oid)
        except DeniedHistory:
            raise
        except DamagedHistory:
            yield Stored(oid, kind, path, None)
            continue
        yield Stored(oid, item.type_name.decode(), path, item.as_raw_string())
        waiting.extend(_below(item, path, objects))


def _below(item: "ShaFile", path: str, objects: Objects) -> Iterator[tuple[str, str, str]]:
    """What `item` refers to: id, kind and path."""
    from dulwich.objects import Commit, Tag, Tree

    if isinstance(item, Commit):
        yield from ((parent, "commit", "") for parent in objects.parents(item.id.decode()))
        yield item.tree.decode(), "tree", ""
    elif isinstance(item, Tag):
        yield item.object[1].decode(), "commit", ""
    elif isinstance(item, Tree):
        for name, mode, oid in item.iteritems():
            below = f"{path}/{name.decode('utf-8', 'replace')}".lstrip("/")
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield oid.decode(), "tree" if stat.S_ISDIR(mode) else "blob", below
