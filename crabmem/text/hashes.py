"""Ids of texts and commits, as Git makes them. Knows nothing of files or repositories."""

try:  # `hashlib` loads OpenSSL, which takes as long as to recall among 1,000 facts
    from _sha1 import sha1  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha1

VERSION_DIGITS = 12
SHORT_DIGITS = 8


def short(commit: str) -> str:
    """A commit's id as people see it."""
    return commit[:SHORT_DIGITS]


def blob_id(data: bytes) -> str:
    """The 40 hex digits under which Git stores `data` as a blob."""
    return str(sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())


def version_of(data: bytes) -> str:
    """The short form of `blob_id` that callers see and pass back as `if_version`."""
    return blob_id(data)[:VERSION_DIGITS]
