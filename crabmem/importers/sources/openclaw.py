"""A workspace of OpenClaw or CamelAGI, whose memory is one curated file and a note for each day."""

import re
from collections.abc import Iterator

from ...text.entry import Fact
from ...workspace.layout import ORDINARY
from ..base import Found, Look, Skipped, Source, Tree, is_markdown
from ..texts import fact_of, facts_of_sections, stem, with_labels

_CURATED = ("MEMORY.md", "memory.md")
_WHO = ("SOUL.md", "IDENTITY.md", "AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md")
_KNOWN = ("USER.md", "TOOLS.md")
_DAY = re.compile(r"memory/\d{4}-\d\d-\d\d[^/]*\.md")


def _is_it(tree: Tree) -> bool:
    has_memory = any(path in _CURATED or _DAY.fullmatch(path) for path in tree.files)
    return has_memory and any(path in tree.files for path in (*_WHO[:3], *_KNOWN))


def _facts(tree: Tree) -> Iterator[Found]:
    """Yield the sections of the curated file, the notes, and the files on user and tools; skip those on the agent."""
    for path, error in tree.files.items():
        if error:
            yield Found(path, error)
        elif path in _CURATED:
            yield from _sections(tree, path)
        elif path in _WHO:
            yield Found(
                path, Skipped("it says who the agent is and what to do; what of it should stay goes in Crab.md")
            )
        elif path in _KNOWN or (is_markdown(path) and path.startswith(f"{ORDINARY.memory}/")):
            yield tree.take(path, note_of)
        elif is_markdown(path):
            yield Found(path, Skipped("it lies outside of memory/"))


def _sections(tree: Tree, path: str) -> Iterator[Found]:
    whole = tree.take(path, fact_of)
    if isinstance(whole.what, Fact):
        yield from facts_of_sections(path, tree.read(path), whole.what)
    else:
        yield whole


def note_of(path: str, data: bytes) -> Fact:
    """Return the fact of a file. The note of a day is named after the day, with the tag `daily`."""
    return with_labels(fact_of(path, data, stem(path)), ["daily"]) if _DAY.fullmatch(path) else fact_of(path, data)


SOURCE = Source(
    "openclaw",
    "a workspace of OpenClaw or CamelAGI (SOUL.md, MEMORY.md, memory/YYYY-MM-DD.md)",
    _is_it,
    _facts,
    Look.NAMES,
)
