"""LangGraph's store over a memory: what a graph keeps is a file that a person can read and edit.

graph.compile(store=Store(Memory("notes", agent="planner")))

Each item is an entry. The first text in its value under `content`, `text`, `data` or `memory` is the entry's content,
`description` is its description, and a block of JSON at the end holds the rest: edit any of it, and the graph sees it.
The frontmatter has namespace and key, time to live, and the paths to search the item by. Entries that no graph made, a
person's facts and those of tools, are in the namespace `("memory",)` under their names, and so are items put there.
"""

from .. import missing

try:
    import langgraph.store.base as _  # noqa: F401
except ImportError as error:
    raise missing("langgraph", "LangGraph", "langgraph") from error

from .store import AsyncStore, Store

__all__ = ["AsyncStore", "Store"]
