"""Plain-file memory for AI agents, with its history in Git.

with Memory("notes", agent="coder") as memory:
    memory.remember("Deploy key", "where the deploy key lives", "In the vault, under ops/deploy.")
    memory.recall("deploy key")[0].entry.content
"""

from .api import Memory
from .entry import Entry, Fact
from .errors import (
    Busy,
    CrabmemError,
    DamagedHistory,
    Disabled,
    HoldsSecret,
    InvalidArguments,
    InvalidSettings,
    NotFound,
    Stale,
    Unreadable,
    Unwritable,
)
from .results import Changed, Commit, Document, Finding, Forgotten, Hit, Recall, Restored, Saved
from .tools import Result, Tool

__version__ = "0.1.0"

__all__ = [
    "Busy",
    "Changed",
    "Commit",
    "CrabmemError",
    "DamagedHistory",
    "Disabled",
    "Document",
    "Entry",
    "Fact",
    "Finding",
    "Forgotten",
    "Hit",
    "HoldsSecret",
    "InvalidArguments",
    "InvalidSettings",
    "Memory",
    "NotFound",
    "Recall",
    "Restored",
    "Result",
    "Saved",
    "Stale",
    "Tool",
    "Unreadable",
    "Unwritable",
]
