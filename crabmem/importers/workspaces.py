"""Workspaces of agents: OpenClaw's and CamelAGI's, whose memory is one file and a note a day, and crabmem's own."""

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from ..text.entry import Fact, parse_entry
from ..workspace.layout import ORDINARY
from .base import Found, Skipped, Source, Tree, is_markdown
from .texts import fact_of, facts_of_sections, frontmatter, kept, labelled, named, stem

_CURATED = ("MEMORY.md", "memory.md")
_WHO = ("SOUL.md", "IDENTITY.md", "AGENTS.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md")
_KNOWN = ("USER.md", "TOOLS.md")
_BARE = "---\n---\n"
_DAY = re.compile(r"memory/\d{4}-\d\d-\d\d[^/]*\.md")


def _is_claw(tree: Tree) -> bool:
    has_memory = any(path in _CURATED or _DAY.fullmatch(path) for path in tree.files)
    return has_memory and any(path in tree.files for path in (*_WHO[:3], *_KNOWN))


def _of_claw(tree: Tree) -> Iterator[Found]:
    for path, reason in tree.files.items():
        if reason:
            yield Found(path, reason)
        elif path in _CURATED:
            yield from _curated(tree, path)
        elif path in _WHO:
            yield Found(
                path, Skipped("it says who the agent is and what to do; what of it should stay goes in Crab.md")
            )
        elif path in _KNOWN or (is_markdown(path) and path.startswith(f"{ORDINARY.memory}/")):
            yield tree.take(path, _note)
        elif is_markdown(path):
            yield Found(path, Skipped("it lies outside of memory/"))


def _curated(tree: Tree, path: str) -> Iterator[Found]:
    """A fact for each section of the curated memory."""
    whole = tree.take(path, fact_of)
    if isinstance(whole.what, Fact):
        yield from facts_of_sections(path, tree.read(path), whole.what)
    else:
        yield whole


def _note(path: str, data: bytes) -> Fact:
    """A file; a note of a day is called by that day."""
    fact = fact_of(path, data)
    return labelled(named(fact, stem(path)), ["daily"]) if _DAY.fullmatch(path) else fact


def _is_ours(tree: Tree) -> bool:
    return any(path.startswith(f"{ORDINARY.entries[0]}/") for path in tree.files) and (
        tree.has(ORDINARY.identity) or tree.has(ORDINARY.overview) or ".git" in tree.hidden
    )


def _of_ours(tree: Tree) -> Iterator[Found]:
    verbs = {ORDINARY.identity: "soul", ORDINARY.overview: "memory"}
    for path, reason in tree.files.items():
        if path in verbs and not reason:
            way = f"crabmem {verbs[path]} set --file {shlex.quote(str(PurePosixPath(*tree.parts, path)))}"
            yield Found(path, Skipped(f"only facts are imported; `{way}` takes it over, in place of any that is here"))
        elif reason or (is_markdown(path) and path.startswith(f"{ORDINARY.memory}/")):
            # Nobody else there has the name of an entry, so that needs no other mark.
            yield (tree.take(path, _entry)._replace(origin="") if ORDINARY.is_entry(path) else tree.take(path, _note))


def _entry(path: str, data: bytes) -> Fact:
    """A fact of crabmem's, word by word."""
    entry = parse_entry(path, data)
    return Fact(
        entry.name,
        entry.description,
        entry.content,
        entry.aliases or None,
        entry.tags or None,
        kept(entry),
        before=frontmatter(data) or _BARE,  # so that it gets no description that it does not have
        folder=str(PurePosixPath(path).relative_to(ORDINARY.entries[0]).parent).removeprefix("."),
    )


CLAW = Source(
    "openclaw", "a workspace of OpenClaw or CamelAGI (SOUL.md, MEMORY.md, memory/YYYY-MM-DD.md)", _is_claw, _of_claw
)
OURS = Source("crabmem", "another workspace of crabmem", _is_ours, _of_ours)
