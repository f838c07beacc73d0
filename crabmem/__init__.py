"""Plain-file memory for AI agents, with its history in Git.

with Memory("notes", agent="coder") as memory:
    memory.remember("Deploy key", "where the deploy key lives", "In the vault, under ops/deploy.")
    memory.recall("deploy key")[0].entry.content
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import Memory
    from .bisecting import Moment
    from .context import Context, Piece, Told
    from .entry import Entry, Fact
    from .errors import (
        AlreadyThere,
        Busy,
        CrabmemError,
        DamagedHistory,
        DeniedHistory,
        Disabled,
        EmbedderFailed,
        Full,
        HoldsSecret,
        InvalidArguments,
        InvalidSettings,
        MassLoss,
        Moved,
        NotFound,
        Stale,
        Unreadable,
        Unwritable,
    )
    from .history import Packed
    from .losses import Losses
    from .merging import Conflict, Conflicting
    from .profile import Profile
    from .questions import Expectation
    from .results import (
        Agent,
        Answer,
        Begun,
        Bisected,
        Changed,
        Commit,
        Document,
        Evaluation,
        Excerpt,
        FileHit,
        FileSearch,
        Finding,
        Forgotten,
        Hit,
        Links,
        Proposal,
        Proposed,
        Provenance,
        Purge,
        Recall,
        Reference,
        Reindexed,
        Renamed,
        Restored,
        Reverted,
        Rewritten,
        Saved,
        Standing,
        Stats,
    )
    from .settings import Settings
    from .slots import Slot
    from .tools import Result, Tool
    from .traces import Digest, Line, News, Sighting, Sightings
    from .tree import Tree
    from .vectors.embedder import Embedder
    from .windows import Due
    from .workspace import Layout

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AlreadyThere",
    "Answer",
    "Begun",
    "Bisected",
    "Busy",
    "Changed",
    "Commit",
    "Conflict",
    "Conflicting",
    "Context",
    "CrabmemError",
    "DamagedHistory",
    "DeniedHistory",
    "Digest",
    "Disabled",
    "Document",
    "Due",
    "Embedder",
    "EmbedderFailed",
    "Entry",
    "Evaluation",
    "Excerpt",
    "Expectation",
    "Fact",
    "FileHit",
    "FileSearch",
    "Finding",
    "Forgotten",
    "Full",
    "Hit",
    "HoldsSecret",
    "InvalidArguments",
    "InvalidSettings",
    "Layout",
    "Line",
    "Links",
    "Losses",
    "MassLoss",
    "Memory",
    "Moment",
    "Moved",
    "News",
    "NotFound",
    "Packed",
    "Piece",
    "Profile",
    "Proposal",
    "Proposed",
    "Provenance",
    "Purge",
    "Recall",
    "Reference",
    "Reindexed",
    "Renamed",
    "Restored",
    "Result",
    "Reverted",
    "Rewritten",
    "Saved",
    "Settings",
    "Sighting",
    "Sightings",
    "Slot",
    "Stale",
    "Standing",
    "Stats",
    "Told",
    "Tool",
    "Tree",
    "Unreadable",
    "Unwritable",
]

# Where each name is. Loaded when it is asked for: `crabmem recall` answers before all of them are.
_HOMES = {
    "Agent": "results",
    "AlreadyThere": "errors",
    "Answer": "results",
    "Begun": "results",
    "Bisected": "results",
    "Busy": "errors",
    "Changed": "results",
    "Commit": "results",
    "Conflict": "merging",
    "Conflicting": "merging",
    "Context": "context",
    "CrabmemError": "errors",
    "DamagedHistory": "errors",
    "DeniedHistory": "errors",
    "Digest": "traces",
    "Disabled": "errors",
    "Document": "results",
    "Due": "windows",
    "Embedder": "vectors.embedder",
    "EmbedderFailed": "errors",
    "Entry": "entry",
    "Evaluation": "results",
    "Excerpt": "results",
    "Expectation": "questions",
    "Fact": "entry",
    "FileHit": "results",
    "FileSearch": "results",
    "Finding": "results",
    "Forgotten": "results",
    "Hit": "results",
    "Full": "errors",
    "HoldsSecret": "errors",
    "InvalidArguments": "errors",
    "InvalidSettings": "errors",
    "Layout": "workspace",
    "Line": "traces",
    "Links": "results",
    "Losses": "losses",
    "MassLoss": "errors",
    "Memory": "api",
    "Moment": "bisecting",
    "News": "traces",
    "Moved": "errors",
    "NotFound": "errors",
    "Packed": "history",
    "Piece": "context",
    "Profile": "profile",
    "Proposal": "results",
    "Proposed": "results",
    "Provenance": "results",
    "Purge": "results",
    "Recall": "results",
    "Reference": "results",
    "Reindexed": "results",
    "Renamed": "results",
    "Restored": "results",
    "Result": "tools",
    "Reverted": "results",
    "Rewritten": "results",
    "Saved": "results",
    "Settings": "settings",
    "Sighting": "traces",
    "Sightings": "traces",
    "Slot": "slots",
    "Stale": "errors",
    "Standing": "results",
    "Stats": "results",
    "Told": "context",
    "Tool": "tools",
    "Tree": "tree",
    "Unreadable": "errors",
    "Unwritable": "errors",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
