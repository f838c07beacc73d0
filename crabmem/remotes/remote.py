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
# Commits of ours that we name to the other side, so that it need not send what they reach.
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
        """The commits that were set aside: each has a reference below `refs/crabmem/proposals` called by its id."""
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
        """Fetch and store what is missing here of all that `wants`, ids from the offer, reach; return how many came.

        No reference is moved. `haves` are the commits that our references name; `is_ours` tells whether these reach a
        commit. `refused` are ids of objects that may not come in. Without `lasts`, do not wait for the disk: what a
        power cut takes can be fetched again. Call this without the writer's lock, which it takes for a moment.

        Raises:
            Untrusted: the pack is broken, too large or incomplete; nothing was kept.
            HoldsPurged: the pack has a refused object; nothing was kept.
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
        """Send the objects that the remote lacks, and set its references, if all are still as `updates` expects.

        All references or none, if the remote can do that. `look` is called with each file before anything is sent;
        an error that it raises ends the push.

        Raises:
            Outrun: a reference is not as expected: somebody else pushed.
            Refused: the remote does not accept the push.
        """
        self._limit.allow(MOST_REFS)
        self._look = look
        self._in_time(partial(self._upload, updates))

    def _in_time(self, work: Callable[[], T]) -> T:
        """Do `work` within the limit of time; errors of libraries become a SyncError with a message for the person."""
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
        """Return an error with a message for the person, for one that a library or the system raised."""
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
        """Return `haves` and the `_MOST_KNOWN` newest commits that they reach, to be named to the other side."""
        newest = Walk(self._objects, Graph(self._private)).newest_first(haves)
        return [*dict.fromkeys(chain(haves, islice(newest, _MOST_KNOWN)))]

    def check_expected(self, refs: Mapping[str, str], updates: Updates) -> None:
        """Raise Outrun if one of `refs`, as the remote has them now, is not what `updates` expects."""
        moved = [ref for ref, (old, _) in updates.items() if refs.get(ref) != old]
        if moved:
            raise Outrun(
                f"somebody else has pushed to {enumerated(sorted(moved))} of {self._limit.where} meanwhile: fetch and "
                "merge that first, and push again"
            )


def pack_of(pieces: Iterator[Piece], objects: Objects, limit: Limit, thin: bool = False) -> Growing:
    """Return a pack of the objects `pieces`, as deltas where that is smaller; it reports progress to `limit`.

    A `thin` pack may have deltas to older versions that the receiver has, and the pack lacks.

    Raises:
        Untrusted: there are too many objects or bytes.
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
        # Only what a parent has at the same path is surely with the receiver: our own packs may have deltas to objects
        # that nothing reaches any more, as after a purge.
        there = {piece.older for piece in found} - brought if thin else set()
        filling = Filling(objects.raw, Growing(), {}, there.__contains__, packs, brought)
        for piece in found:
            filling.take(piece)
            if filling.growing.size > MOST_PACK:
                raise Untrusted(f"more than {MOST_PACK:,} bytes would go to or from {limit.where}: that is no memory's")
            limit.tell("packing", len(filling.growing))
    return filling.growing


def remote(address: Address, git: Path, private: Path, environ: Mapping[str, str], limit: Limit) -> Remote:
    """Return the remote at an address, without connecting to it. `environ` is the person's environment."""
    if address.kind is Kind.FOLDER:
        from .folder import Folder

        return Folder(address, git, private, limit)
    if address.kind is Kind.BUNDLE:
        from .bundle import Bundle

        return Bundle(address, git, private, limit)
    from .served import Served

    return Served(address, git, private, environ, limit)


def offer(refs: Mapping[str, str], branch: str | None) -> Offer:
    """Return the offer without malformed references and ids, and without the peeled rows (`^{}`) of tags."""
    sound = {ref: oid for ref, oid in refs.items() if is_ref(ref) and OID.match(oid) and not ref.endswith("^{}")}
    return Offer(sound, branch if branch and is_ref(branch) else None)
