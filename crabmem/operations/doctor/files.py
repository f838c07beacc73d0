"""What is odd about the files a person reads and edits: settings, texts, entries."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...disk import spelling
from ...errors import CrabmemError, Unreadable
from ...results import Finding, SourceState, lost_of, told_sources
from ...text import frontmatter as header
from ...text.credentials import credentials_in
from ...text.edit import is_in_conflict, lenient_text
from ...text.entry import NO_HEADER, Entry, decode, parse_entry
from ...text.limits import DEEPEST
from ...text.slug import name_key
from ...text.sources import sources_in
from ...text.staleness import STALE_AFTER
from ...text.words import listed, shortened
from ...workspace.layout import AGENTS, SETTINGS, Layout
from ...workspace.settings import Settings
from ...workspace.workspace import Workspace
from .patient import Patient, error, info, warning

# Links of a file that are named, and characters of each.
_NAMED = 3
_SHOWN = 80
# Settings of which every other value than the default protects the workspace less.
_PROTECTING = ("soul_editable", "secrets", "durability")


def settings(patient: Patient) -> Iterator[Finding]:
    """Whether `crabmem.toml` is valid, and protects as much as the defaults do."""
    try:
        rules = patient.settings()
    except CrabmemError as failed:
        yield error(SETTINGS, _without(SETTINGS, str(failed)))
        return
    usual = Settings()
    lowered = [name for name in _PROTECTING if getattr(rules, name) != getattr(usual, name)]
    if lowered:
        yield info(SETTINGS, f"it protects less than usual: {', '.join(lowered)}; see `crabmem config`")


def texts(patient: Patient) -> Iterator[Finding]:
    """Files that cannot be read, have broken frontmatter or conflict marks, or lie where recall does not look."""
    layout = patient.engine.workspace.layout
    for item in patient.scan.unusable:
        yield (warning if item.is_beside else error)(item.path, item.reason)
    for path in sorted(patient.scan.files):
        try:
            yield from _text(path, patient.scan.data(path) or b"", layout)
        except Unreadable as failed:
            yield (error if path.endswith(".md") else warning)(path, _without(path, str(failed)))
    if layout.identity not in patient.scan.files:
        yield info(layout.identity, "there is none; the built-in text is used")
    yield from _bystanders(patient)


def _text(path: str, data: bytes, layout: Layout) -> Iterator[Finding]:
    """Faults in the frontmatter of an entry, or conflict marks in another file.

    Raises:
        Unreadable: the bytes are no UTF-8.
    """
    text = decode(path, data)
    if layout.is_entry(path):
        entry = parse_entry(path, data)
        fault = None if entry.problem else header.fault(header.parts_of(text).header or "")
        if fault:
            yield warning(
                path,
                f"its frontmatter is not YAML: {fault}; it is read as it seems meant: put quotes around that value",
            )
        yield from _keys(path, header.keys(text))
    elif is_in_conflict(text):
        yield warning(path, f"it holds the marks of an unresolved merge; edit it, or `crabmem review resolve {path}`")


def _keys(path: str, keys: list[str]) -> Iterator[Finding]:
    for key in {key for key in keys if keys.count(key) > 1}:
        yield warning(path, f"its frontmatter has `{key}` more than once; the last one counts")
    if keys and "name" not in keys:
        yield info(path, "its frontmatter has no name; its file name serves as one")


def _bystanders(patient: Patient) -> Iterator[Finding]:
    """Files that look as if they were memory, and are not."""
    layout = patient.engine.workspace.layout
    for path in sorted(patient.scan.files):
        folder = path.rpartition("/")[0]
        is_beside_facts = folder and folder not in layout.entries and not layout.is_entry(path)
        if not path.endswith((".md", SETTINGS)):
            yield info(
                path, "it is not named *.md: it is not recalled, and recorded only once a tool of memory wrote it"
            )
        elif is_beside_facts and not patient.session.profile.finds(path):
            yield info(path, f"it is not {layout.where}, so it is recorded but not recalled")
    for path in sorted(patient.scan.folders):
        if any(layout.is_entry(each) and each.startswith(f"{path}/") for each in patient.scan.files):
            yield info(path, "it is a folder, although it is called like a file; the facts in it are recalled")
    yield from left_out(patient.engine.workspace)


def left_out(workspace: Workspace) -> Iterator[Finding]:
    """Files and folders that lie where memory is and are neither recorded nor recalled, and why."""
    layout = workspace.layout
    for path in _among_agents(workspace):
        yield warning(path, "it is no part of an agent's workspace, so it is neither recorded nor recalled; move it")
    for file in sorted(_below(workspace)):
        path = _path(workspace, file)
        left_over = path.endswith(("~", ".tmp", ".swp")) or file.name[0] in ".#"
        is_folder = layout.is_entry(path) and os.path.isdir(file)
        if is_folder and not any(layout.is_entry(_path(workspace, each)) for each in file.rglob("*.md")):
            yield warning(path, "it is a folder, so it is no fact; move it away")
        if os.path.isdir(file) and os.path.lexists(file / ".git") and path not in layout.folders:
            yield warning(path, "it is a Git repository of its own, so nothing in it is recorded or recalled; move it")
        if path.count("/") == DEEPEST and os.path.isdir(file):
            yield warning(path, f"it lies {DEEPEST} folders deep, so nothing in it is recorded or recalled; move it up")
        if not left_over and os.path.isfile(file) and not layout.is_kept(path):
            what = "called like a text" if layout.has_texts else "named *.md"
            yield info(path, f"it is not {what}, so it is neither recorded nor recalled")


def _below(workspace: Workspace) -> Iterator[Path]:
    """Yield the files and folders where memory is. Hidden folders are left out.

    A repository inside the workspace, and a folder that cannot hold memory, is yielded and not entered. If the folder
    of memory is a link, nothing is yielded.
    """
    top = workspace.file(workspace.layout.memory)
    for place, folders, names in () if os.path.islink(top) and top != workspace.root else os.walk(top):
        here = Path(place)
        below = [here / name for name in folders if not name.startswith(".")]
        if here != workspace.root and (here / ".git") in (here / name for name in (*folders, *names)):
            folders[:] = []  # a repository of its own, which `left_out` reports as one folder
            continue
        folders[:] = [each.name for each in below if workspace.layout.may_hold_files(_path(workspace, each))]
        yield from (*below, *(here / name for name in names))


def _among_agents(workspace: Workspace) -> list[str]:
    """The Markdown files in `agents/` that are in no workspace of an agent: their folder has no `.git`."""
    top = workspace.file(AGENTS)
    items = () if workspace.layout.memory or os.path.islink(top) or not os.path.isdir(top) else top.iterdir()
    strange = (item for item in items if not os.path.exists(item / ".git") and item.name[0] != ".")
    found = (file for item in strange for file in (item.rglob("*.md") if os.path.isdir(item) else [item]))
    return sorted(_path(workspace, file) for file in found if file.suffix == ".md" and os.path.isfile(file))


def _path(workspace: Workspace, file: Path) -> str:
    return file.relative_to(workspace.root).as_posix()


def entries(patient: Patient) -> Iterator[Finding]:
    """Entries that are stale, rest on changed sources, lack a header or a description, or share a name."""
    listing = patient.engine.catalog.listing(patient.scan)
    named = defaultdict(list)
    for entry in map(listing.at, listing.paths):
        named[name_key(entry.name)].append(entry)
        yield from _staleness(entry, patient.now.date().isoformat())
        yield from _sources(entry, patient.engine.sources_of(entry))
        if entry.problem == NO_HEADER and patient.session.profile.finds(entry.path):
            continue
        if entry.problem:
            say = info if entry.problem == NO_HEADER else warning
            yield say(entry.path, f"{entry.problem}; its file name serves as name, all of it as content")
        elif not entry.description.strip() and not entry.content.startswith(entry.name):
            yield info(entry.path, "it has no description, which recall searches first of all")
    for same in named.values():
        for entry in same[1:]:
            yield warning(entry.path, f"its name is also that of {same[0].path}: {entry.name}")
    yield from _alike(listing.paths)
    yield from _folded(patient)
    for half in listing.being_written:
        yield info(half.path, "it is being written at this moment; recall leaves it out until that is done")


def _staleness(entry: Entry, today: str) -> Iterator[Finding]:
    """Whether the last day on which an entry surely holds is past, or is no valid date."""
    day = entry.stale_after
    if day and day < today:
        yield info(
            entry.path, f"it is stale since {day}: see whether it still holds; `crabmem confirm` gives it a later day"
        )
    elif not day and STALE_AFTER in entry.keys:
        said = shortened(str(entry.keys[STALE_AFTER]), _SHOWN)
        yield warning(entry.path, f"its {STALE_AFTER} is no day, and counts as none: write 2026-12-31, not {said}")


def _sources(entry: Entry, judged: Iterable[SourceState]) -> Iterator[Finding]:
    """Sources of an entry that changed or are gone, and lines noted without a blob to compare them with."""
    lost = told_sources(lost_of(judged))
    bare = (f"source not compared: {each.place}" for each in sources_in(entry.keys) if each.line and not each.blob)
    for words in filter(None, (lost, *bare)):
        way_out = "see whether it holds; `crabmem remember NAME --source PATH` notes what is there"
        yield info(entry.path, f"{shortened(words, 2 * _SHOWN)}: {way_out}")


def _folded(patient: Patient) -> Iterator[Finding]:
    """Files of the history that this disk cannot have beside another one: it takes their two names for one."""
    files = patient.scan.files
    missing = patient.engine.history.files(patient.engine.history.head_if_any()).keys() - files.keys()
    for path, other in sorted(spelling.twins(patient.engine.workspace.root, missing, files).items()):
        yield warning(
            path,
            f"this disk takes it for {other}, so that only one of them is here: rename one where both are, or "
            f"`git show HEAD:{path}` under a name of its own",
        )


def links(patient: Patient) -> Iterator[Finding]:
    """Links that lead nowhere."""
    from ..links import references  # other verbs name the checks and run none

    broken: dict[str, dict[str, None]] = defaultdict(dict)
    for link in references(patient.engine.catalog.listing(patient.scan), lambda path: True):
        if link.to is None:
            broken[link.path][f"[[{shortened(link.target, _SHOWN)}]]"] = None
    for path, said in broken.items():
        what = "a fact that does not" if len(said) == 1 else "facts that do not"
        yield info(path, f"link to {what} exist: {listed(said, _NAMED)}")


def _alike(paths: Iterable[str]) -> Iterator[Finding]:
    """Files whose paths differ only in case or Unicode normal form: on some systems they are one file."""
    seen: dict[str, str] = {}
    for path in paths:
        other = seen.setdefault(name_key(path), path)
        if other != path:
            yield warning(
                path, f"only case or accents' form tells it from {other}: elsewhere they are one file; rename it"
            )


def secrets(patient: Patient) -> Iterator[Finding]:
    """Texts in files on disk that look like credentials, unless the settings want none named."""
    if not patient.wants_secrets_named:
        return
    for path in sorted(patient.scan.files):
        for found in credentials_in(lenient_text(patient.scan.data(path)) or ""):
            yield warning(
                path,
                f"it holds what looks like a secret: {found.masked}; take it out, and change it where it was issued: "
                "the history keeps it",
            )


def _without(path: str, message: str) -> str:
    """`message` without the path it begins with, which the finding has beside it."""
    return message.partition(path)[2].lstrip(": ") or message
