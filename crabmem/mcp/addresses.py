"""The addresses (URIs) of resources, and the notifications about them that a change on disk calls for."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, unquote

from .protocol import INVALID_PARAMS, RESOURCES_CHANGED, UPDATED, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..watch import News
    from ..workspace.layout import Layout
    from .protocol import Notice

MEMORY = "crabmem://memory"
SOUL = "crabmem://soul"
LOG = "crabmem://log"
SYNC = "crabmem://sync"
ENTRIES = "crabmem://entries/"
ENTRY = ENTRIES + "{slug}"


def address(label: str) -> str:
    """Return the address of an entry; `label` is what the layout calls its file (`Layout.label`)."""
    return ENTRIES + quote(label, safe="")


def entry_name_at(uri: str) -> str | None:
    """The name of the entry at an address; None for the address of something else."""
    return unquote(uri.removeprefix(ENTRIES)) or None if uri.startswith(ENTRIES) else None


def is_address(uri: str) -> bool:
    """Whether a client may subscribe to an address. That of an entry counts even if there is no such entry yet."""
    return uri in (MEMORY, SOUL, LOG, SYNC) or entry_name_at(uri) is not None


def no_resource(uri: str) -> Refused:
    """Return the error for an address without a resource."""
    return Refused(INVALID_PARAMS, f"no resource at: {uri[:200]}", {"uri": uri})


def updated(uri: str) -> Notice:
    """Return the notification that the resource at an address changed."""
    return UPDATED, {"uri": uri}


def notices(news: News, layout: Layout) -> Iterator[Notice]:
    """Yield the notifications that `news` calls for: each resource that changed, then the list of resources if an entry
    came or went, then the log if there is a new commit.
    """
    whole = {layout.overview: MEMORY, layout.identity: SOUL}
    for path in sorted(news.changed):
        if path in whole:
            yield updated(whole[path])
        elif layout.is_entry(path):
            yield updated(address(layout.label(path)))
    if any(map(layout.is_entry, news.listed)):
        yield RESOURCES_CHANGED, {}
    if news.committed:
        yield updated(LOG)
