"""Remotes in a single file: Git's bundles."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

from ..disk import fs, regular
from ..errors import Outrun, Refused, Unreachable, Untrusted
from ..text.words import enumerated
from .address import Address
from .limit import MOST_PACK, Limit
from .remote import Offer, Remote, Updates, offer

_PIECE, _LONGEST = 1 << 16, 2_000
_BEGINNINGS = ([b"# v2 git bundle\n"], [b"# v3 git bundle\n"])


class Bundle(Remote):
    """A file of Git's, with references and all that they reach; each push writes it anew, whole."""

    def __init__(self, address: Address, git: Path, private: Path, limit: Limit) -> None:
        super().__init__(address, git, private, limit)
        self._file = Path(os.path.realpath(address.path))

    def _refs(self) -> Offer:
        return self._read(None)

    def _read(self, write: Callable[[bytes], int] | None) -> Offer:
        """Return the offer in the bundle's head, an empty one without a file; pass its pack to `write`, if given."""
        try:
            with os.fdopen(regular.opened(str(self._file)), "rb") as file:
                lines = [*iter(lambda: self._line(file), b"\n")]
                while write and (piece := file.read(_PIECE)):
                    self._limit.heard(write(piece))
        except FileNotFoundError:
            return Offer({})
        if lines[:1] not in _BEGINNINGS:
            raise Untrusted(f"{self._limit.where} is no bundle of Git's: nothing was kept")
        if any(line.startswith(b"@") and line != b"@object-format=sha1\n" for line in lines):
            raise Refused(f"{self._limit.where} is a bundle of a form that crabmem does not read")
        pairs = [line.decode("utf-8", "replace").rstrip("\n").partition(" ") for line in lines[1:]]
        refs = {ref: oid for oid, _, ref in pairs if not oid.startswith(("-", "@"))}
        named = [ref for ref, oid in refs.items() if oid == refs.get("HEAD") and ref.startswith("refs/heads/")]
        return offer(refs, named[0] if named else "")

    def _line(self, file: BinaryIO) -> bytes:
        """Return a line of the head, whose last is empty; Untrusted if the line is cut short or too long."""
        line = file.readline(_LONGEST)
        self._limit.heard(len(line))
        if not line.endswith(b"\n"):
            raise Untrusted(f"{self._limit.where} is no bundle of Git's, or cut short: nothing was kept")
        return line

    def _download(self, wants: list[str], haves: Collection[str], write: Callable[[bytes], int]) -> None:
        self._limit.allow(MOST_PACK)
        self._read(write)

    def _upload(self, updates: Updates) -> None:
        """Write the bundle anew, with all its references, under the name of a lock file; then rename that.

        A pushed bundle is whole again, so everything that it has must be here too.
        """
        now = self._refs()
        self.check_expected(now.refs, updates)
        wanted = {**now.refs, **{ref: new for ref, (_, new) in updates.items()}}
        refs = {ref: oid for ref, oid in wanted.items() if oid}
        branch = now.branch or next((ref for ref in refs if ref.startswith("refs/heads/")), None)
        if lacking := [ref for ref, oid in refs.items() if not self._objects.is_there(oid)]:
            raise Outrun(f"{self._limit.where} has {enumerated(lacking)}, which is not here: fetch that first")
        growing = self._going(refs.values(), [])
        named = {**refs, "HEAD": refs[branch]} if branch in refs else refs
        lock = self._file.with_name(f"{self._file.name}.lock")
        try:
            head = "".join(f"{oid} {ref}\n" for ref, oid in named.items())
            fs.create(lock, _BEGINNINGS[0][0] + head.encode() + b"\n" + growing.raw())
        except FileExistsError:
            raise Unreachable(f"{lock} is held by another push; if none runs, a crash left it: remove it") from None
        except OSError:
            fs.unlink(lock)
            raise
        try:
            self.check_expected(self._refs().refs, updates)
            self._limit.left()  # after a timeout the caller has been told of a failure: then do not finish the push
            fs.rename(lock, self._file)
            fs.sync_folder(lock.parent)
        except BaseException:
            fs.unlink(lock)
            raise
