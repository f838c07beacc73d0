"""LangGraph's store over a memory: what a graph keeps is a file that a person can read and edit.

graph.compile(store=Store(Memory("notes", agent="planner")))

A value's first text under `content`, `text`, `data` or `memory` is the content of an entry, its `description` that of
the entry, and what else it holds a block of JSON at the end: edit any of it, and the graph sees it. Namespace and key
are in the frontmatter, and so are a time to live and what to search an item by. What no graph made, a person's facts
and those of tools, is in the namespace `("memory",)` under its name, and so is what any graph puts there.
"""

from .. import missing

try:
    import langgraph.store.base as _  # noqa: F401
except ImportError as error:
    raise missing("langgraph", "LangGraph", "langgraph") from error

from .store import AsyncStore, Store

__all__ = ["AsyncStore", "Store"]
