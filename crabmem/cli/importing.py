"""`crabmem import`: remembers the Markdown and text files below a folder, in one commit.

Nothing is followed out of the folder, and nothing in it is changed. What is not taken is named, with the
reason; only names with a leading dot and files of other kinds are passed over.
"""

import re
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import click

from .. import fs, header
from ..edit import BOM, shortened
from ..entry import Fact, parsed
from ..errors import CrabmemError, InvalidArguments, Unreadable
from ..results import Saved
from ..slug import name_key
from .base import Failure, as_json, opened, plain, show, tell, warn

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_SUFFIXES = (*_MARKDOWN, ".txt", ".text")
_MAX_DEPTH = 64
_MAX_TITLE = 120
_MAX_SUMMARY = 200
_FENCES = re.compile(r"^(```+|~~~+).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<title>[^ \t\n].*)$", re.MULTILINE)
_MARKS = re.compile(r"[ \t]*(?:[-*+>][ \t]+|\d+[.)][ \t]+)*")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_SENTENCE = re.compile(r".*?[.!?](?=\s|\Z)|.+", re.DOTALL)

#: What became of a file: its path below the folder, and the fact it holds, what was saved, or why it was not.
Found: TypeAlias = tuple[str, Fact | CrabmemError]
Done: TypeAlias = tuple[str, Saved | CrabmemError]


@dataclass(frozen=True)
class _Import:
    """What came of an import, by file."""

    folder: str
    files: tuple[Done, ...]
    dry_run: bool

    @property
    def counts(self) -> Counter[str]:
        """How many files were made, replaced, the same, and skipped."""
        return Counter(_state(item) for _, item in self.files)

    @property
    def commit(self) -> str | None:
        """The commit that was made; None when nothing changed."""
        return next((item.commit for _, item in self.files if isinstance(item, Saved) and item.commit), None)


@click.command("import")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-t", "--tag", "tags", multiple=True, help="A label that every fact gets; may be repeated.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@as_json
@click.pass_context
def import_(ctx: click.Context, folder: Path, tags: tuple[str, ...], dry_run: bool, json_wanted: bool) -> None:
    """Remember every Markdown and text file below DIR, in one commit. Twice is harmless.

    A fact is called what its frontmatter says, else by the first heading, else by the file's name; files of
    the same name are told apart by their paths. Exit status 1 when a file could not be taken.
    """
    memory = opened(ctx)
    found = _told_apart(_with_tags(_read(folder, memory.root), tags))
    facts = [item for _, item in found if isinstance(item, Fact)]
    results = iter(memory.remember_all(facts, folder.resolve().name, dry_run))
    files = ((path, next(results) if isinstance(item, Fact) else item) for path, item in found)
    done = _Import(str(folder), tuple(files), dry_run)
    show(json_wanted, _data(done), lambda: "\n".join(_line(path, item) for path, item in done.files))
    warn(f"{path}: {words}" for path, item in done.files if isinstance(item, Saved) for words in item.warnings)
    _conclude(done, json_wanted)


def _conclude(done: _Import, json_wanted: bool) -> None:
    """Sum up for the person; a Failure when a file could not be taken."""
    counts = done.counts
    if not json_wanted:
        words = ", ".join(f"{counts[state]} {state}" for state in ("made", "replaced", "unchanged") if counts[state])
        tell(f"{words or 'nothing made'}{'; nothing was written' if done.dry_run else ''}")
    if counts["skipped"]:
        words = f"{counts['skipped']} of {len(done.files)} files in {done.folder} could not be taken"
        raise Failure(" ".join(words.split()))


def _state(item: Saved | CrabmemError) -> str:
    if isinstance(item, CrabmemError):
        return "skipped"
    return "made" if item.created else "replaced" if item.diff else "unchanged"


def _line(path: str, item: Saved | CrabmemError) -> str:
    what = str(item) if isinstance(item, CrabmemError) else item.entry.name
    return f"{_state(item):9}  {plain(' '.join(f'{path}: {what}'.split()))}"


def _data(done: _Import) -> dict[str, Any]:
    files = [{"file": path, "state": _state(item), **_details(item)} for path, item in done.files]
    return {"from": done.folder, "commit": done.commit, "dry_run": done.dry_run, "files": files}


def _details(item: Saved | CrabmemError) -> dict[str, Any]:
    if isinstance(item, CrabmemError):
        return {"reason": str(item)}
    return {"name": item.entry.name, "slug": item.entry.slug, "path": item.path, "diff": item.diff}


# Reading


def _read(folder: Path, own: Path) -> list[Found]:
    """The facts below `folder`, in the order of their paths; a bar shows how far it is.

    Raises:
        InvalidArguments: it is in the workspace at `own`, or holds no text.
    """
    if folder.resolve().is_relative_to(own.resolve()):
        raise InvalidArguments(f"{folder} is in this memory already; edit its files, or import another folder")
    try:
        with fs.opened(folder) as here:
            paths = sorted(_texts(here, "", own.resolve()))
    except OSError as error:
        raise InvalidArguments(f"{folder} cannot be listed: {fs.reason(error)}") from None
    if not paths:
        raise InvalidArguments(f"there is no Markdown or text file in {folder}")
    with click.progressbar(paths, label="reading", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        return [(path, reason or _fact_at(folder, path)) for path, reason in bar]


def _texts(folder: fs.Folder, prefix: str, own: Path, depth: int = 0) -> Iterator[tuple[str, CrabmemError | None]]:
    """The paths of what is named like a text below an open folder, and why some cannot be read."""
    for name in (name for name in fs.names(folder) if not name.startswith(".")):
        path, mode = prefix + name, _mode(folder, name)
        if stat.S_ISDIR(mode):
            yield from _below(folder, name, path, own, depth)
        elif stat.S_ISLNK(mode):
            yield path, Unreadable("it is a link, which may lead anywhere; import what it leads to")
        elif mode and name.lower().endswith(_SUFFIXES):
            yield path, None


def _mode(folder: fs.Folder, name: str) -> int:
    """The kind of what has that name; 0 for what is gone meanwhile."""
    try:
        return folder.status(name).st_mode
    except FileNotFoundError:
        return 0


def _below(folder: fs.Folder, name: str, path: str, own: Path, depth: int) -> Iterator[tuple[str, CrabmemError | None]]:
    if (folder.path / name).resolve() == own:
        yield path, Unreadable("it is this memory itself")
    elif depth == _MAX_DEPTH:
        yield path, Unreadable(f"it is more than {_MAX_DEPTH} folders down")
    else:
        try:
            with fs.entered(folder, name) as below:
                yield from _texts(below, f"{path}/", own, depth + 1)
        except OSError as error:
            yield path, Unreadable(f"the folder cannot be listed: {fs.reason(error)}")


def _fact_at(folder: Path, path: str) -> Fact | CrabmemError:
    try:
        with fs.inside(folder, path) as spot:
            return fact_of(path, fs.read(spot)[0])
    except OSError as error:
        return Unreadable(fs.reason(error))
    except CrabmemError as error:
        return Unreadable(str(error).replace(path, "it", 1))


# From texts to facts: pure


def fact_of(path: str, data: bytes) -> Fact:
    """The fact that a file tells: what its frontmatter does not say is taken from its text.

    Raises:
        Unreadable: it is no whole text.
    """
    entry = parsed(path, data)
    content = entry.content.replace("\r\n", "\n").strip("\n")
    text = _FENCES.sub("", header.taken_apart(content).content)
    keys = _keys(data)
    name = entry.name if "name" in keys else (_title(text) if path.lower().endswith(_MARKDOWN) else "") or entry.name
    description = entry.description or _summary(text) or name
    return Fact(name, description, content, entry.aliases or None, entry.tags or None)


def _keys(data: bytes) -> set[str]:
    """The keys of the frontmatter of a text that was parsed."""
    try:
        return set(header.load(header.taken_apart(data.decode()).header or ""))
    except header.BadHeader:
        return set()


def _title(text: str) -> str:
    """The first heading; "" when there is none."""
    heading = _HEADING.search(text)
    return shortened(heading["title"].rstrip().rstrip("#"), _MAX_TITLE) if heading else ""


def _summary(text: str) -> str:
    """The first sentence that is in no heading; "" when there is none."""
    paragraphs = _HEADING.sub("", text.removeprefix(BOM)).split("\n\n")
    said = next((words for words in map(_bare, paragraphs) if any(map(str.isalnum, words))), "")
    sentence = _SENTENCE.match(said)
    return shortened(sentence[0], _MAX_SUMMARY) if sentence else ""


def _bare(paragraph: str) -> str:
    """The lines of a paragraph as one, or only the first item of a list; without marks of lists and quotes."""
    lines = paragraph.strip().split("\n")
    kept = lines[:1] if _ITEM.match(lines[0]) else lines
    return " ".join(_MARKS.sub("", line, count=1) for line in kept).strip()


# Names and labels


def _with_tags(found: list[Found], tags: tuple[str, ...]) -> list[Found]:
    def tagged(item: Fact | CrabmemError) -> Fact | CrabmemError:
        if not tags or isinstance(item, CrabmemError):
            return item
        return replace(item, tags=tuple(dict.fromkeys((*(item.tags or ()), *tags))))

    return [(path, tagged(item)) for path, item in found]


def _told_apart(found: list[Found]) -> list[Found]:
    """Facts of one name get the paths of their files, so that none replaces another."""
    names = Counter(name_key(item.name) for _, item in found if isinstance(item, Fact))

    def unique(path: str, item: Fact | CrabmemError) -> Fact | CrabmemError:
        if isinstance(item, CrabmemError) or names[name_key(item.name)] == 1:
            return item
        return replace(item, name=f"{item.name} ({PurePosixPath(path).with_suffix('')})")

    return [(path, unique(path, item)) for path, item in found]


COMMANDS = (import_,)
