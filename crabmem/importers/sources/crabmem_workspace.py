"""Another workspace of crabmem: an entry is taken word by word, a note as one of OpenClaw's."""

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from ...text.entry import Fact, parse_entry
from ...workspace.layout import ORDINARY
from ..base import Found, Look, Skipped, Source, Tree, is_markdown
from ..texts import extra_keys, frontmatter
from .openclaw import note_of

_BARE = "---\n---\n"


def _is_it(tree: Tree) -> bool:
    return any(path.startswith(f"{ORDINARY.entries[0]}/") for path in tree.files) and (
        tree.has(ORDINARY.identity) or tree.has(ORDINARY.overview) or ".git" in tree.hidden
    )


def _facts(tree: Tree) -> Iterator[Found]:
    verbs = {ORDINARY.identity: "soul", ORDINARY.overview: "memory"}
    for path, reason in tree.files.items():
        if path in verbs and not reason:
            way = f"crabmem {verbs[path]} set --file {shlex.quote(str(PurePosixPath(*tree.parts, path)))}"
            yield Found(path, Skipped(f"only facts are imported; `{way}` takes it over, in place of any that is here"))
        elif reason or (is_markdown(path) and path.startswith(f"{ORDINARY.memory}/")):
            # Nobody else there has the name of an entry, so that needs no other mark.
            yield (tree.take(path, _fact)._replace(origin="") if ORDINARY.is_entry(path) else tree.take(path, note_of))


def _fact(path: str, data: bytes) -> Fact:
    """A fact of crabmem's, word by word."""
    entry = parse_entry(path, data)
    return Fact(
        entry.name,
        entry.description,
        entry.content,
        entry.aliases or None,
        entry.tags or None,
        extra_keys(entry),
        before=frontmatter(data) or _BARE,  # so that it gets no description that it does not have
        folder=str(PurePosixPath(path).relative_to(ORDINARY.entries[0]).parent).removeprefix("."),
    )


SOURCE = Source("crabmem", "another workspace of crabmem", _is_it, _facts, Look.OWN)
