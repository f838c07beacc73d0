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
    """The address of the entry whose file has that label in the layout."""
    return ENTRIES + quote(label, safe="")


def entry_name_at(uri: str) -> str | None:
    """The name of the entry at an address; None for the address of something else."""
    return unquote(uri.removeprefix(ENTRIES)) or None if uri.startswith(ENTRIES) else None


def is_address(uri: str) -> bool:
    """Whether there may be a resource at an address: an entry may come that is not there yet."""
    return uri in (MEMORY, SOUL, LOG, SYNC) or entry_name_at(uri) is not None


def no_resource(uri: str) -> Refused:
    """The error for an address at which there is nothing."""
    return Refused(INVALID_PARAMS, f"no resource at: {uri[:200]}", {"uri": uri})


def updated(uri: str) -> Notice:
    """The notification that what is at an address changed."""
    return UPDATED, {"uri": uri}


def notices(news: News, layout: Layout) -> Iterator[Notice]:
    """The notifications to clients about `news`: resources that changed, and a list of resources that did."""
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
