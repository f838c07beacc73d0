"""Ids of texts and commits, as Git makes them. Knows nothing of files or repositories."""

import sys

try:  # `hashlib` loads OpenSSL, which takes as long as to recall among 1,000 facts
    from _sha1 import sha1  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha1

VERSION_DIGITS = 12
SHORT_DIGITS = 8
# Bytes from which on OpenSSL, several times as fast, is worth the 2 ms that it takes to load.
_LARGE = 1_000_000


def short(commit: str) -> str:
    """A commit's id as people see it."""
    return commit[:SHORT_DIGITS]


def blob_id(data: bytes) -> str:
    """The 40 hex digits under which Git stores `data` as a blob."""
    return str(sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())


def blob_or_none(data: bytes | None) -> str | None:
    """The id of a file's bytes; None for no file."""
    return None if data is None else blob_id(data)


def checksum(*parts: bytes | bytearray | memoryview) -> bytes:
    """The 20 bytes of the SHA-1 of `parts` one after the other, which packs and indexes end in."""
    begin = sha1
    if sum(map(len, parts)) > _LARGE or "_hashlib" in sys.modules:
        from hashlib import sha1 as begin
    made = begin(usedforsecurity=False)
    for part in parts:
        made.update(part)
    return bytes(made.digest())


def version_of(data: bytes) -> str:
    """The short form of `blob_id` that callers see and pass back as `if_version`."""
    return blob_id(data)[:VERSION_DIGITS]
