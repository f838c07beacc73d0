"""A seal tells what this user made on this machine from what came with a folder.

A write that a crash interrupted is finished by whoever comes next, from a file in the workspace. That file may be a
stranger's, so what is finished without a question bears a seal: keyed BLAKE2b, by a key that lies in no
workspace.
"""

from __future__ import annotations

import os
from _blake2 import blake2b
from contextlib import suppress
from functools import cache
from pathlib import Path

from . import derived, fs, state
from .user_state import KEY, KEY_SIZE, key_in


class Seal:
    """Seals texts for one purpose, with the key in `folder`, which is made when it is needed first."""

    def __init__(self, folder: Path | None, purpose: str) -> None:
        """`folder` of None: there is no place for a key, and only this process knows its own texts again."""
        self._folder = folder
        self._purpose = purpose.encode()

    def sealed(self, data: bytes) -> bytes:
        """`data` behind a line with its seal."""
        return self._sign(data, _key(self._folder, make=True)) + b"\n" + data

    def opened(self, text: bytes) -> tuple[bytes, bool]:
        """The data of a sealed text, and whether this user sealed it on this machine."""
        seal, _, data = text.partition(b"\n")
        expected = self._sign(data, _key(self._folder, make=False))
        return data, len(seal) == len(expected) and _are_same(seal, expected)

    @property
    def key(self) -> bytes:
        """What it seals with."""
        return _key(self._folder, make=True)

    def _sign(self, data: bytes, key: bytes) -> bytes:
        return blake2b(self._purpose + b"\n" + data, key=key, digest_size=32).hexdigest().encode()


def _are_same(one: bytes, other: bytes) -> bool:
    """Whether two seals are equal, in a time that does not tell where they differ."""
    import hmac  # late, as it loads OpenSSL: a journal to be opened is what a crash left

    return hmac.compare_digest(one, other)


def claim_caches(private: Path, folder: Path | None) -> None:
    """Mark the derived files below `private` as this user's, with the key in `folder`; remove anybody else's first.

    Does nothing where they are marked so already, where there is no `.git/crabmem`, or where the disk refuses.
    """
    key = _key(folder, make=True)
    if not fs.is_own_folder(private) or derived.are_ours(private, key):
        return
    with suppress(OSError):  # a disk that is full or read-only: nothing can be kept there
        fs.remove_tree(private / state.INDEX)
        fs.make_folder(private / state.INDEX)
        fs.swap_in(private / state.OWNER, derived.mark(private, key))


def _key(folder: Path | None, make: bool) -> bytes:
    """The key in `folder`; where there is none, and none can be made, one that only this process has."""
    found = key_in(folder) if folder else None
    if found is None and folder and make:
        with suppress(OSError):  # there is no place for it
            _make(folder)
        found = key_in(folder)
    return found or _key_of_this_process()


def _make(folder: Path) -> None:
    """Put a key into `folder`, wholly or not at all; one that another process was quicker with stays."""
    import secrets  # late: done once in a user's life

    fs.make_folder(folder)
    new = folder / f"{KEY}.{secrets.token_hex(8)}"
    fs.create(new, secrets.token_bytes(KEY_SIZE))
    try:
        fs.link(new, folder / KEY)
    except FileExistsError:
        return
    finally:
        fs.unlink(new)
    fs.sync_folder(folder)


@cache
def _key_of_this_process() -> bytes:
    return os.urandom(KEY_SIZE)
