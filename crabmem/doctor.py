"""What is wrong or odd about a workspace. Looks, and changes nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from . import header
from .catalog import Catalog
from .edit import is_in_conflict
from .entry import NO_HEADER, Entry, decoded, parsed
from .errors import CrabmemError, Unreadable
from .history import History
from .results import Finding
from .settings import Settings
from .slug import name_key
from .store import Scan, Store
from .workspace import ENTRIES, IDENTITY, MEMORY, OVERVIEW, SETTINGS, Workspace, is_entry, is_kept
from .writer import Writer


def examined(
    workspace: Workspace,
    store: Store,
    history: History,
    writer: Writer,
    catalog: Catalog,
    settings: Callable[[], Settings],
) -> list[Finding]:
    """Everything there is to say, errors first."""
    found = [*_settings(settings), *_surroundings(workspace)]
    try:
        scan = store.scan()
    except CrabmemError as error:
        return [*found, Finding("error", "", str(error))]
    found += [
        *_files(scan),
        *_bystanders(workspace, scan),
        *_entries(catalog.listing(scan).entries),
        *_history(workspace, history, writer, scan),
    ]
    return sorted(found, key=lambda finding: ("error", "warning", "info").index(finding.level))


def _settings(settings: Callable[[], Settings]) -> Iterator[Finding]:
    try:
        settings()
    except CrabmemError as error:
        yield Finding("error", SETTINGS, _without(SETTINGS, str(error)))


def _surroundings(workspace: Workspace) -> Iterator[Finding]:
    around = next((folder for folder in workspace.root.parents if (folder / ".git").exists()), None)
    if around and not (workspace.parent and around == workspace.parent.root):
        yield Finding(
            "warning",
            "",
            f"the workspace lies inside the repository {around}, which will not hold its files: "
            "keep it elsewhere, or list it in that repository's .gitignore",
        )
    for path in (MEMORY, ENTRIES):
        if (file := workspace.file(path)).is_symlink() or (file.exists() and not file.is_dir()):
            yield Finding("error", path, "it is not a folder, so nothing in it is remembered; move it away")
    for path in (IDENTITY, OVERVIEW):
        if workspace.file(path).is_dir():
            yield Finding("error", path, "it is not a regular file; move it away")


def _bystanders(workspace: Workspace, scan: Scan) -> Iterator[Finding]:
    """Files that look as if they were memory, and are not."""
    for path in scan.files:
        if path.startswith(f"{ENTRIES}/") and not is_entry(path):
            yield Finding("info", path, "it is not directly in memory/entries, so it is recorded but not recalled")
    for file in sorted(workspace.file(MEMORY).rglob("*")):
        path = file.relative_to(workspace.root).as_posix()
        left_over = path.endswith(("~", ".tmp", ".swp")) or any(part[0] in ".#" for part in path.split("/"))
        if not left_over and file.is_file() and not is_kept(path):
            yield Finding("info", path, "it is not named *.md, so it is neither recorded nor recalled")


def _files(scan: Scan) -> Iterator[Finding]:
    for item in scan.unusable:
        yield Finding("error", item.path, item.reason)
    for path, file in scan.files.items():
        try:
            text = decoded(path, file.data)
            if is_entry(path):
                parsed(path, file.data)
                yield from _keys(path, header.keys(text))
            elif is_in_conflict(text):
                yield Finding("warning", path, "it holds the marks of an unresolved merge; edit it")
        except Unreadable as error:
            yield Finding("error", path, _without(path, str(error)))
    if IDENTITY not in scan.files:
        yield Finding("info", IDENTITY, "there is none; the built-in text is used")


def _keys(path: str, keys: list[str]) -> Iterator[Finding]:
    for key in {key for key in keys if keys.count(key) > 1}:
        yield Finding("warning", path, f"its frontmatter has `{key}` more than once; the last one counts")
    if keys and "name" not in keys:
        yield Finding("info", path, "its frontmatter has no name; its file name serves as one")


def _without(path: str, message: str) -> str:
    """`message` without the path it begins with, which the finding has beside it."""
    return message.partition(path)[2].lstrip(": ") or message


def _entries(entries: Iterable[Entry]) -> Iterator[Finding]:
    named = defaultdict(list)
    for entry in entries:
        named[name_key(entry.name)].append(entry)
        if entry.problem:
            level = "info" if entry.problem == NO_HEADER else "warning"
            yield Finding(level, entry.path, f"{entry.problem}; its file name serves as name, all of it as content")
        elif not entry.description.strip():
            yield Finding("info", entry.path, "it has no description, which recall searches first of all")
    for same in named.values():
        for entry in same[1:]:
            yield Finding("warning", entry.path, f"its name is also that of {same[0].path}: {entry.name}")


def _history(workspace: Workspace, history: History, writer: Writer, scan: Scan) -> Iterator[Finding]:
    try:
        if not history.exists():
            yield Finding("info", ".git", "there is no history yet; the first write begins one")
            return
        for path, blob in history.files(history.head()).items():
            if not history.has(blob):
                yield Finding("error", path, "its text is missing from the newest commit; save the file with a change")
        for path, file in sorted(writer.outside(scan).items()):
            state = "changed" if file else "removed"
            yield Finding("info", path, f"{state} outside and not yet recorded; the next write does that")
    except CrabmemError as error:
        yield Finding("error", ".git", str(error))
    yield from _leftovers(workspace, writer)


def _leftovers(workspace: Workspace, writer: Writer) -> Iterator[Finding]:
    if writer.is_interrupted():
        yield Finding("info", ".git/crabmem/journal", "a write was interrupted; the next one finishes it")
    for lock in (workspace.git / "index.lock", workspace.git / "HEAD.lock"):
        if lock.exists():
            yield Finding("warning", f".git/{lock.name}", "another Git process holds it; if none runs, remove it")
    for file in _listed(workspace.private / "recovered"):
        yield Finding("warning", str(file), "text of a save that a crash left over; look at it, then delete it")
    if workspace.repairs.exists():
        for line in workspace.repairs.read_text("utf-8").splitlines():
            yield Finding("info", ".git/crabmem/repairs.log", line)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
