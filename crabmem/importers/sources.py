"""The kinds of memory that can be imported, and which of them some files are.

A source is a module with a `Source`; adding one is writing that module and naming it in `SOURCES`.
"""

from ..errors import InvalidArguments
from . import basic_memory, claude_code, crabmem_workspace, folder, mcp_memory, mem0, obsidian, openclaw, serena
from .base import JSON, Source, Tree

#: In the order in which they are tried: who has the most telling look comes first, and any folder is the last.
SOURCES: tuple[Source, ...] = (
    crabmem_workspace.SOURCE,
    serena.SOURCE,
    obsidian.SOURCE,
    claude_code.SOURCE,
    openclaw.SOURCE,
    basic_memory.SOURCE,
    mcp_memory.SOURCE,
    mem0.SOURCE,
    folder.SOURCE,
)


def source_of(tree: Tree, name: str | None) -> Source:
    """The source called `name`; with None, the first whose look the files have.

    Raises:
        InvalidArguments: there is none of that name, or the files are JSON of no known kind.
    """
    if name is not None:
        named = next((source for source in SOURCES if source.name == name), None)
        if named is None:
            there = ", ".join(source.name for source in SOURCES)
            raise InvalidArguments(f"{name} is no kind of memory; there are: {there}")
        return named
    found = next(source for source in SOURCES if source.is_it(tree))
    if found is folder.SOURCE and len(tree.files) == 1 and next(iter(tree.files)).lower().endswith(JSON):
        raise InvalidArguments("it is no JSON of an export that is known; name whose it is with --from")
    return found
