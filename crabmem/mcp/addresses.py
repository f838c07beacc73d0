"""The addresses of what can be read, and what a change on disk means for them."""

from collections.abc import Iterator
from urllib.parse import quote, unquote

from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from ..watch import News
from ..workspace.layout import Layout

MEMORY = "crabmem://memory"
SOUL = "crabmem://soul"
LOG = "crabmem://log"
ENTRIES = "crabmem://entries/"
ENTRY = ENTRIES + "{slug}"


def address(label: str) -> str:
    """Where the entry is read whose file a layout labels so."""
    return ENTRIES + quote(label, safe="")


def name_at(uri: str) -> str | None:
    """The name of an entry in an address; None when it is of something else."""
    return unquote(uri.removeprefix(ENTRIES)) or None if uri.startswith(ENTRIES) else None


def events(news: News, layout: Layout) -> Iterator[ServerEvent]:
    """What clients are told of: the resources that changed, and that there are others than before."""
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
