"""Resources, which a client can read: the overview, the identity, the log, how syncing stands, and every entry."""

from __future__ import annotations

import json
from itertools import islice

from ..operations import facts, files, history, syncing
from ..results import json_of, told_caveat
from ..session.session import Session
from ..text.entry import Entry
from ..text.quoting import hit_text, visible
from ..tools.looking import log_text
from .addresses import ENTRY, LOG, MEMORY, SOUL, SYNC, address, entry_name_at, no_resource
from .protocol import Caller, cursor_in, refuse_cursor, text_in, unknown_cursor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Params
    from .served import Served

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
JSON = "application/json"
_PAGE_SIZE = 200
_MAX_COMMITS = 50
#: A cursor is this and the path of the last entry on the page before.
_AFTER = "after:"

_FIXED: list[Answer] = [
    {"uri": MEMORY, "name": "memory", "title": "Overview", "description": "What is always in view."},
    {"uri": SOUL, "name": "soul", "title": "Identity", "description": "Who the agent is."},
    {"uri": LOG, "name": "log", "title": "Log", "description": "Who wrote what lately.", "mimeType": PLAIN},
]
# Addressed to the person alone: no model has a use for how long a remote could not be reached.
_SYNC: Answer = {
    "uri": SYNC,
    "name": "sync",
    "title": "Sync",
    "description": "How syncing with other machines stands.",
    "mimeType": JSON,
    "annotations": {"audience": ["user"]},
}
_TEMPLATE = {"uriTemplate": ENTRY, "name": "entry", "title": "Fact", "description": "One fact, by its file name."}


def list_resources(served: Served, params: Params, caller: Caller) -> Answer:
    """List a page of resources: on the first one the fixed ones, with `SYNC` if there is a remote, then the entries in
    the order of their paths. `nextCursor` is there if more follow.

    Raises:
        Refused: the cursor is not one of ours.
    """
    cursor, memory = cursor_in(params), served.memory
    if cursor is not None and not cursor.startswith(_AFTER):
        raise unknown_cursor(cursor)
    entries = facts.page(memory, cursor.removeprefix(_AFTER) if cursor else "", _PAGE_SIZE + 1)
    page = entries[:_PAGE_SIZE]
    fixed = [] if cursor else [*_FIXED, *([_SYNC] if _is_synced(memory) else [])]
    listed = [_entry(entry, memory.layout.label(entry.path)) for entry in page]
    follows = {"nextCursor": f"{_AFTER}{page[-1].path}"} if len(entries) > _PAGE_SIZE else {}
    return {"resources": [{"mimeType": MARKDOWN, **each} for each in fixed + listed], **follows}


def list_templates(served: Served, params: Params, caller: Caller) -> Answer:
    """List the one template, for entries."""
    refuse_cursor(params)
    return {"resourceTemplates": [{**_TEMPLATE, "mimeType": MARKDOWN}]}


def read_resource(served: Served, params: Params, caller: Caller) -> Answer:
    """Return the text at an address, without characters that a person would not see.

    Raises:
        Refused: no resource has this address.
        NotFound: it is the address of an entry that does not exist.
    """
    uri = text_in(params, "uri")
    text, kind = _text(served.memory, uri)
    return {"contents": [{"uri": uri, "mimeType": kind, "text": visible(text)}]}


def _is_synced(memory: Session) -> bool:
    return bool(memory.engine.allowed.reach(memory.root).remote)


def _text(memory: Session, uri: str) -> tuple[str, str]:
    """Return the text at an address, and its MIME type. An entry looks as in a recall, with a caveat if it is stale."""
    if uri == MEMORY:
        return files.overview(memory).text, MARKDOWN
    if uri == SOUL:
        return files.identity(memory).text, MARKDOWN
    if uri == LOG:
        return log_text(tuple(islice(history.commits(memory), _MAX_COMMITS))), PLAIN
    if uri == SYNC and _is_synced(memory):
        return json.dumps(json_of(syncing.sync_status(memory)), ensure_ascii=False, indent=2), JSON
    if name := entry_name_at(uri):
        found = facts.get(memory, name)
        caveat = told_caveat(memory.engine.stale_since(found), memory.engine.sources_of(found))
        return hit_text(found.path, found.name, found.description, found.content, found.version, caveat), MARKDOWN
    raise no_resource(uri)


def _entry(entry: Entry, label: str) -> Answer:
    description = visible(entry.description)
    more = {"description": description} if description else {}
    return {"uri": address(label), "name": label, "title": visible(entry.name), **more}
