"""A remote: what it has, what is fetched from it and what is pushed to it, whichever way it is reached.

What a repository's own configuration says of remotes (other addresses, proxies, programs) is never looked at.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Self, TypeVar

from ..disk import fs, state
from ..errors import CrabmemError, DamagedHistory, Outrun, Refused, SyncError, Untrusted
from ..git.kept import ASIDE
from ..git.objects import Objects
from ..git.packs import Growing
from ..git.reach import Look, Piece, outgoing
from ..git.refs import OID, is_ref
from ..git.walk import Graph, Walk
from ..text.quoting import visible
from ..text.words import enumerated, shortened
from .address import Address, Kind
from .limit import FEW, MOST_OBJECTS, MOST_PACK, MOST_REFS, Limit

T = TypeVar("T")
# Commits of ours that are said to the other side, which then knows what it need not send.
_MOST_KNOWN = 200

#: For each reference what it is expected to be, None for not there, and what it is to be, None for gone.
Updates = Mapping[str, tuple[str | None, str | None]]


@dataclass(frozen=True)
class Offer:
    """What a remote has: ids by reference; `branch` is the reference that its HEAD names, None where it names none."""

    refs: Mapping[str, str]
    branch: str | None = None

    @property
    def aside(self) -> set[str]:
        """The commits that were set aside, each on a reference called by it."""
        return {oid for ref, oid in self.refs.items() if ref == f"{ASIDE}/{oid}"}


class Remote(ABC):
    """A remote of the repository at `git`; `private` is the folder of crabmem's own files in that.

    Raises:
        SyncError: by every method, when the remote does not do what it should; the message says which step failed.
    """

    def __init__(self, address: Address, git: Path, private: Path, limit: Limit) -> None:
        self._address, self._git, self._private, self._limit = address, git, private, limit
        self._objects = Objects(git / "objects", private / state.TEMPORARY)
        self._look: Look | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections."""
        self._objects.close()

    @property
    def limit(self) -> Limit:
        """How long all of this may take, and how much may be said."""
        return self._limit

    def refs(self) -> Offer:
        """Return what the remote has."""
        self._limit.allow(MOST_REFS)
        return self._in_time(self._refs)

    def forget(self) -> None:
        """Read everything of ours anew from now on: a purge exchanged the objects for others."""
        self._objects.forget()

    def fetch(
        self,
        wants: Collection[str],
        haves: Collection[str],
        is_ours: Callable[[str], bool],
        refused: Set[str] = frozenset(),
        lasts: bool = True,
    ) -> int:
        """Store all that `wants`, ids that the remote offered, reach and is not here; return how many objects came.

        No reference is moved. `haves` are commits that our references name; `is_ours` tells whether a commit is one
        that such a one stands on. Not under the writer's lock, which this takes for a moment. `refused` are objects
        that may not come in. What can be fetched again need not last: a power cut may take it.

        Raises:
            Untrusted: what came is broken, too large, or not enough; nothing was kept.
            HoldsPurged: it has what is refused; nothing was kept.
        """

        def is_known(oid: str) -> bool:
            with suppress(DamagedHistory):
                return is_ours(oid)
            return False

        missing = [want for want in wants if not (self._objects.is_there(want) and is_known(want))]
        if not missing:
            return 0
        from .quarantine import Quarantine  # late: most syncs bring nothing

        with Quarantine(self._git, self._private, self._objects, self._limit, refused) as quarantine:
            self._limit.allow(MOST_REFS)
            self._in_time(partial(self._download, missing, haves, quarantine.write))
            return quarantine.admit(missing, haves, is_known, lasts)

    def push(self, updates: Updates, look: Look | None = None) -> None:
        """Send what the new ids reach and is not there, and set the references, if all are still what is expected.

        All of them or none, where the remote can do that. `look` is told of each file that goes out, before any does;
        what it raises ends the push.

        Raises:
            Outrun: one of them is something else now.
            Refused: the remote does not allow it.
        """
        self._limit.allow(MOST_REFS)
        self._look = look
        self._in_time(partial(self._upload, updates))

    def _in_time(self, work: Callable[[], T]) -> T:
        try:
            return self._limit.run(work)
        except CrabmemError:
            self._stop()
            raise
        except Exception as error:  # dulwich says it in a dozen ways
            raise self._trouble(error) from error

    def _stop(self) -> None:  # noqa: B027  # most have nothing that goes on by itself
        """End what is still under way."""

    def _trouble(self, error: Exception) -> SyncError:
        """Return what went wrong, and what to do about it."""
        if isinstance(error, OSError):
            return Refused(f"{self._limit.where} cannot be used: {fs.reason(error)}")
        said = shortened(visible(str(error)), 200) or type(error).__name__
        return Untrusted(
            f"{self._limit.where} broke off ({said}): nothing was kept; see whether a Git repository is there"
        )

    @abstractmethod
    def _refs(self) -> Offer: ...

    @abstractmethod
    def _download(self, wants: list[str], haves: Collection[str], write: Callable[[bytes], int]) -> None: ...

    @abstractmethod
    def _upload(self, updates: Updates) -> None: ...

    def _going(self, tips: Collection[str], haves: Collection[str], thin: bool = False) -> Growing:
        """Return a pack of what `tips` reach here and `haves` do not."""
        pieces = outgoing(self._git, self._private, self._objects, tips, haves, self._look)
        return pack_of(pieces, self._objects, self._limit, thin)

    def known(self, haves: Collection[str]) -> list[str]:
        """Return commits that are here: `haves`, and the newest of those that they stand on."""
        newest = Walk(self._objects, Graph(self._private)).newest_first(haves)
        return [*dict.fromkeys(chain(haves, islice(newest, _MOST_KNOWN)))]

    def check_expected(self, refs: Mapping[str, str], updates: Updates) -> None:
        """Raise Outrun if a reference is not what it is expected to be."""
        moved = [ref for ref, (old, _) in updates.items() if refs.get(ref) != old]
        if moved:
            raise Outrun(
                f"somebody else has pushed to {enumerated(sorted(moved))} of {self._limit.where} meanwhile: fetch and "
                "merge that first, and push again"
            )


def pack_of(pieces: Iterator[Piece], objects: Objects, limit: Limit, thin: bool = False) -> Growing:
    """Return a pack of them, each where it can be as its difference to one before it.

    A `thin` one is said in the terms of what the other side has.
    """
    from ..git.compaction import Filling  # late: most syncs send and bring nothing

    with ExitStack() as held:
        found, packs = list[Piece](), None
        for piece in pieces:
            found.append(piece)
            if len(found) > MOST_OBJECTS:
                raise Untrusted(
                    f"more than {MOST_OBJECTS:,} objects would go to or from {limit.where}: that is no memory's"
                )
            if len(found) == FEW:
                packs = held.enter_context(objects.in_bulk())
            limit.tell("looking", len(found))
        brought = {piece.oid for piece in found}
        # Nothing else is surely there: a pack of ours has deltas to what nothing reaches any more, as after a purge.
        there = {piece.older for piece in found} - brought if thin else set()
        filling = Filling(objects.raw, Growing(), {}, there.__contains__, packs, brought)
        for piece in found:
            filling.take(piece)
            if filling.growing.size > MOST_PACK:
                raise Untrusted(f"more than {MOST_PACK:,} bytes would go to or from {limit.where}: that is no memory's")
            limit.tell("packing", len(filling.growing))
    return filling.growing


def remote(address: Address, git: Path, private: Path, environ: Mapping[str, str], limit: Limit) -> Remote:
    """Return the remote at an address. `environ` is the person's environment; nothing is asked of the net yet."""
    if address.kind is Kind.FOLDER:
        from .folder import Folder

        return Folder(address, git, private, limit)
    if address.kind is Kind.BUNDLE:
        from .bundle import Bundle

        return Bundle(address, git, private, limit)
    from .served import Served

    return Served(address, git, private, environ, limit)


def offer(refs: Mapping[str, str], branch: str | None) -> Offer:
    """Return what is offered, without what is no reference or no id."""
    sound = {ref: oid for ref, oid in refs.items() if is_ref(ref) and OID.match(oid) and not ref.endswith("^{}")}
    return Offer(sound, branch if branch and is_ref(branch) else None)
