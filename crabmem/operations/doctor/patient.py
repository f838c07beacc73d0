"""What every check of the doctor is given."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from ...disk.scan import Scan
from ...errors import CrabmemError
from ...git.history import History
from ...recall.catalog import Catalog
from ...recall.file_search import Files
from ...recall.hybrid import Meaning
from ...results import Finding, SourceState, SyncState
from ...text.entry import Entry
from ...workspace.settings import Settings
from ...workspace.workspace import Workspace
from ...write.writer import Writer


@dataclass(frozen=True)
class Patient:
    """One workspace and its parts, with `scan`, its files as they were a moment ago."""

    workspace: Workspace
    history: History
    writer: Writer
    catalog: Catalog
    meaning: Meaning
    settings: Callable[[], Settings]
    #: Whether agents come upon a file without recall.
    is_found: Callable[[str], bool]
    scan: Scan
    now: datetime
    #: Told how many objects of the history were looked at.
    progress: Callable[[int], None]
    #: How syncing stands.
    sync: Callable[[], SyncState]
    #: The files outside of the workspace that are searched.
    elsewhere: Callable[[], Files]
    #: Why other memories that this one may see cannot be read.
    beside: Callable[[], Iterable[str]]
    #: How the sources of an entry stand.
    sources: Callable[[Entry], tuple[SourceState, ...]]

    @property
    def wants_secrets_named(self) -> bool:
        """Whether the settings, as far as they can be read, want credentials told."""
        try:
            return self.settings().secrets != "off"
        except CrabmemError:
            return True


def error(path: str, message: str) -> Finding:
    """Something that does not work."""
    return Finding("error", path, message)


def warning(path: str, message: str) -> Finding:
    """Something that may do harm."""
    return Finding("warning", path, message)


def info(path: str, message: str) -> Finding:
    """Something worth knowing."""
    return Finding("info", path, message)
