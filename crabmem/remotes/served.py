"""Remotes behind Git's own protocol, by ssh or HTTP, which dulwich speaks."""

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from functools import partial
from pathlib import Path

from dulwich.client import GitClient
from dulwich.errors import GitProtocolError, HangupException, SendPackError
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import ObjectID
from dulwich.pack import UnpackedObject
from dulwich.refs import Ref

from ..errors import Refused, SyncError, Unreachable
from ..text.quoting import visible
from ..text.words import enumerated, shortened
from .address import Address, Kind
from .limit import MOST_PACK, Limit
from .remote import Offer, Remote, Updates, offer

_NONE = "0" * 40
_PREFIXES = (b"HEAD", b"refs/heads/", b"refs/crabmem/")


class Client(GitClient):
    """The base of our ssh and HTTP clients, which adds to dulwich's."""

    #: Whether the other side accepts thin packs; known once a push has begun.
    takes_thin = True

    def _negotiate_receive_pack_capabilities(self, server_capabilities: set[bytes]) -> tuple[set[bytes], bytes | None]:
        self.takes_thin = b"no-thin" not in server_capabilities
        return super()._negotiate_receive_pack_capabilities(server_capabilities)

    def problem(self) -> SyncError | None:
        """Return an error that explains why the connection failed; None if the client has raised it, or cannot tell."""
        return None


class Served(Remote):
    """A remote that dulwich talks to."""

    def __init__(self, address: Address, git: Path, private: Path, environ: Mapping[str, str], limit: Limit) -> None:
        super().__init__(address, git, private, limit)
        self._path = address.path.encode()
        self._client = _client(address, environ, limit)

    def close(self) -> None:
        """Let go of files and connections."""
        super().close()
        self._stop()

    def _stop(self) -> None:
        self._client.close()

    def _trouble(self, error: Exception) -> SyncError:
        where, said = self._limit.where, shortened(visible(str(error)), 200)
        if problem := self._client.problem():
            return problem
        if isinstance(error, HangupException):
            return Unreachable(f"{where} hung up before it was done: try again")
        if isinstance(error, SendPackError):
            return Refused(f"{where} could not store what was pushed ({said}): see whether its disk is full")
        return super()._trouble(error)

    def _refs(self) -> Offer:
        said = self._client.get_refs(self._path, ref_prefix=_PREFIXES)
        if said.object_format not in (None, "sha1"):
            raise Refused(f"{self._limit.where} has Git's {said.object_format} format, which crabmem does not write")
        return offer(_texts(said.refs), said.symrefs.get(Ref(b"HEAD"), Ref(b"")).decode("utf-8", "replace"))

    def _download(self, wants: list[str], haves: Collection[str], write: Callable[[bytes], int]) -> None:
        def wanted(refs: object, depth: object = None) -> list[ObjectID]:
            self._limit.allow(MOST_PACK)
            return [ObjectID(want.encode()) for want in wants]

        known, ends = (map(ObjectID, oids) for oids in (map(str.encode, self.known(haves)), self._objects.shallow()))
        # Without parents: else dulwich would name every commit of the history to the server.
        walker = ObjectStoreGraphWalker(known, lambda oid: [], set(ends))
        self._client.fetch_pack(self._path, wanted, walker, write)

    def _upload(self, updates: Updates) -> None:
        """Push with dulwich: all references or none, unless the server cannot do that; then check what it reports."""

        def update(refs: Mapping[Ref, ObjectID]) -> dict[Ref, ObjectID]:
            self.check_expected(_texts(refs), updates)
            return {Ref(ref.encode()): ObjectID((new or _NONE).encode()) for ref, (_, new) in updates.items()}

        def pack(
            have: Set[ObjectID], want: Set[ObjectID], *, ofs_delta: bool = True, progress: object = None
        ) -> tuple[int, Iterator[UnpackedObject]]:
            tips, known = ([oid.decode() for oid in oids] for oids in (want, have))
            growing = self._going(tips, known, self._client.takes_thin)
            return len(growing), growing.unpacked()

        send = partial(self._client.send_pack, self._path, update, pack)
        try:
            result = send(atomic=len(updates) > 1)
        except GitProtocolError as error:
            if "atomic" not in str(error):
                raise
            result = send()
        if result.ref_status is None or any(result.ref_status.values()):
            self._check_done(updates, {why for why in (result.ref_status or {}).values() if why})

    def _check_done(self, updates: Updates, why: set[str]) -> None:
        """Ask the remote for its references after a push that it did not confirm; `why` are its messages.

        Raises:
            Outrun: somebody else moved one of the references.
            Refused: one is not set, and nobody else moved any.
        """
        now = self._refs().refs
        if any(now.get(ref) != new for ref, (_, new) in updates.items()):
            self.check_expected(now, updates)
            said = enumerated(sorted(shortened(visible(each), 100) for each in why or {"it does not say why"}))
            raise Refused(
                f"{self._limit.where} does not take the push: {said}; see its rules for branches, and its hooks"
            )


def _client(address: Address, environ: Mapping[str, str], limit: Limit) -> Client:
    if address.kind is Kind.SSH:
        from .ssh import Ssh

        return Ssh(address, environ, limit)
    from .https import Http

    return Http(address, environ, limit)


def _texts(refs: Mapping[Ref, ObjectID] | Mapping[Ref, ObjectID | None]) -> dict[str, str]:
    return {ref.decode("utf-8", "replace"): (oid or b"").decode("ascii", "replace") for ref, oid in refs.items()}
