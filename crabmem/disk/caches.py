"""Whose caches they are: what lies in `.git/crabmem/index` is believed only where this user began to keep it.

They are derived, so a stranger's cost nothing to throw away; to believe them is to believe what they say of files.
The mark is made of the folder's number and a key outside every workspace: a copy has another number. Loads next to
nothing, for processes that only ask.
"""

import os
from _blake2 import blake2b

from . import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "owner"
_SIZE = 16
_KEY_SIZE = 32


def mark(folder: str, key: bytes) -> bytes:
    """What the file `owner` in a folder of caches says when whoever has `key` made it."""
    number = os.lstat(folder).st_ino
    return blake2b(b"%d" % number, key=key, digest_size=_SIZE, person=b"crabmem caches").digest()


def are_ours(folder: str, key: bytes) -> bool:
    """Whether a folder of caches was made by whoever has `key`."""
    try:
        return _read(f"{folder}/{MARK}", _SIZE) == mark(folder, key)
    except OSError:
        return False


def key_of_user(environment: "Mapping[str, str]") -> bytes | None:
    """The key of this user, as `seal` makes it; None where there is none yet, or no place for one."""
    folder = state_path(environment)
    try:
        key = _read(f"{folder}/key", _KEY_SIZE) if folder else b""
    except OSError:
        return None
    return key if len(key) == _KEY_SIZE else None


def state_path(environment: "Mapping[str, str]") -> str | None:
    """The folder of this user's state, as text; see `user_state`."""
    chosen = environment.get("XDG_STATE_HOME", "")
    if os.path.isabs(chosen):  # the specification: a relative path is to be ignored
        return os.path.join(chosen, "crabmem")
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    return os.path.join(home, ".local", "state", "crabmem") if os.path.isabs(home) else None


def _read(file: str, size: int) -> bytes:
    handle = regular.opened(file, limit=size)
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)
