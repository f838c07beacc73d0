"""Resources, which a client can read: the overview, the identity, the log, how syncing stands, and every entry."""

from functools import partial
from itertools import islice

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from ..operations import facts, files, history, syncing
from ..results import json_of
from ..text.entry import Entry
from ..text.json_text import as_json
from ..text.quoting import hit_text, visible
from ..tools.looking import log_text
from .addresses import ENTRY, LOG, MEMORY, SOUL, SYNC, address, entry_name_at
from .served import Context, Served, in_thread, refuse_cursor, unknown_cursor

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
JSON = "application/json"
_PAGE = 200
_COMMITS = 50
#: What a cursor begins with: the page after that file.
_AFTER = "after:"

_FIXED = (
    Resource(uri=MEMORY, name="memory", title="Overview", description="What is always in view.", mime_type=MARKDOWN),
    Resource(uri=SOUL, name="soul", title="Identity", description="Who the agent is.", mime_type=MARKDOWN),
    Resource(uri=LOG, name="log", title="Log", description="Who wrote what lately.", mime_type=PLAIN),
)
# For the person whom a client shows it: no model has a use for how long a remote was not there.
_SYNC = Resource(
    uri=SYNC,
    name="sync",
    title="Sync",
    description="How syncing with other machines stands.",
    mime_type=JSON,
    annotations=Annotations(audience=["user"]),
)
_TEMPLATE = ResourceTemplate(
    uri_template=ENTRY, name="entry", title="Fact", description="One fact, by its file name.", mime_type=MARKDOWN
)


class Resources:
    """Answers requests about resources."""

    def __init__(self, served: Served) -> None:
        self._memory = served.memory

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """List a page of resources: first those that there always are, then the entries in the order of their files."""
        cursor = params.cursor if params else None
        if cursor is not None and not cursor.startswith(_AFTER):
            raise unknown_cursor(cursor)
        after = cursor.removeprefix(_AFTER) if cursor else ""
        entries = await in_thread(self._memory, partial(facts.page, self._memory), after, _PAGE + 1)
        page = entries[:_PAGE]
        follows = f"{_AFTER}{page[-1].path}" if len(entries) > _PAGE else None
        fixed = [] if cursor else [*_FIXED, *([_SYNC] if self._is_synced else [])]
        listed = [_to_protocol(entry, self._memory.layout.label(entry.path)) for entry in page]
        return ListResourcesResult(resources=fixed + listed, next_cursor=follows)

    async def list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """List the one template, for entries."""
        refuse_cursor(params)
        return ListResourceTemplatesResult(resource_templates=[_TEMPLATE])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return the text at an address, without characters that a person would not see."""
        text, kind = await in_thread(self._memory, self._text, str(params.uri))
        found = TextResourceContents(uri=params.uri, mime_type=kind, text=visible(text))
        return ReadResourceResult(contents=[found])

    @property
    def _is_synced(self) -> bool:
        return bool(self._memory.engine.allowed.reach(self._memory.root).remote)

    def _text(self, uri: str) -> tuple[str, str]:
        if uri == MEMORY:
            return files.overview(self._memory).text, MARKDOWN
        if uri == SOUL:
            return files.identity(self._memory).text, MARKDOWN
        if uri == LOG:
            return log_text(tuple(islice(history.commits(self._memory), _COMMITS))), PLAIN
        if uri == SYNC and self._is_synced:
            return as_json(json_of(syncing.sync_status(self._memory)), 2), JSON
        if name := entry_name_at(uri):
            found = facts.get(self._memory, name)
            return hit_text(found.path, found.name, found.description, found.content, found.version), MARKDOWN
        raise MCPError(INVALID_PARAMS, f"no resource at: {uri[:200]}", {"uri": uri})


def _to_protocol(entry: Entry, label: str) -> Resource:
    return Resource(
        uri=address(label),
        name=label,
        title=visible(entry.name),
        description=visible(entry.description) or None,
        mime_type=MARKDOWN,
    )
