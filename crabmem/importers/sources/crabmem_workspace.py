"""Another workspace of crabmem, or an export of one as Markdown.

Entries are taken word by word, and keep their folders and the names of their files, as links name these. Other files in
the folder of memory are taken like notes of OpenClaw, except daily notes, which are skipped in each form of an export.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from ...disk.export_folder import MARK
from ...errors import CrabmemError
from ...text.entry import Fact, parse_entry
from ...text.values import replace
from ...workspace.layout import ORDINARY
from ..base import Found, Look, Skipped, Source, Tree, is_markdown
from ..texts import NOTE, as_fact, stem
from .openclaw import note_of

# An empty frontmatter.
_BARE = "---\n---\n"


def _is_it(tree: Tree) -> bool:
    return _is_exported(tree) or (
        any(path.startswith(f"{ORDINARY.entries[0]}/") for path in tree.files)
        and (tree.has(ORDINARY.identity) or tree.has(ORDINARY.overview) or ".git" in tree.hidden)
    )


def _is_exported(tree: Tree) -> bool:
    """Whether `crabmem export --format markdown` wrote these files, by the mark that it leaves."""
    try:
        return MARK in tree.hidden and json.loads(tree.read(MARK))["format"] == "markdown"
    except (CrabmemError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _facts(tree: Tree) -> Iterator[Found]:
    """Yield entries and other texts; as skipped daily notes, and identity and overview with the command that takes them
    over.
    """
    verbs = {ORDINARY.identity: "identity", ORDINARY.overview: "overview"}
    for path, error in tree.files.items():
        if path in verbs and not error:
            way = f"crabmem {verbs[path]} set --file {shlex.quote(str(PurePosixPath(*tree.parts, path)))}"
            yield Found(path, Skipped(f"only facts are imported; `{way}` takes it over, in place of any that is here"))
        elif ORDINARY.is_note(path) and not error:
            yield Found(path, Skipped(NOTE))
        elif error or (is_markdown(path) and path.startswith(f"{ORDINARY.memory}/")):
            # "" (see `Found.origin`): known by its name alone, as no two entries there share one.
            yield (tree.take(path, _fact)._replace(origin="") if ORDINARY.is_entry(path) else tree.take(path, note_of))


def _fact(path: str, data: bytes) -> Fact:
    fact = as_fact(parse_entry(path, data), data)
    top = f"{ORDINARY.entries[0]}/"
    return replace(
        fact,
        before=fact.before or _BARE,  # so that it gets no description that it does not have
        folder=path.removeprefix(top).rpartition("/")[0] if path.startswith(top) else "",
        stem=stem(path),
    )


SOURCE = Source("crabmem", "another workspace of crabmem", _is_it, _facts, Look.OWN)
