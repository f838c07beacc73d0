"""The addresses (URIs) of resources, and the notifications about them that a change on disk calls for."""

from collections.abc import Iterator
from urllib.parse import quote, unquote

from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from ..watch import News
from ..workspace.layout import Layout

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


def events(news: News, layout: Layout) -> Iterator[ServerEvent]:
    """The notifications to clients about `news`: resources that changed, and a list of resources that did."""
    whole = {layout.overview: MEMORY, layout.identity: SOUL}
    for path in sorted(news.changed):
        if path in whole:
            yield ResourceUpdated(whole[path])
        elif layout.is_entry(path):
            yield ResourceUpdated(address(layout.label(path)))
    if any(map(layout.is_entry, news.listed)):
        yield ResourcesListChanged()
    if news.committed:
        yield ResourceUpdated(LOG)
