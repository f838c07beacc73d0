"""Plain-file memory for AI agents, with its history in Git.

with Memory("notes", agent="coder") as memory:
    memory.remember("Deploy key", "where the deploy key lives", "In the vault, under ops/deploy.")
    memory.recall("deploy key")[0].entry.content
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import Memory
    from .embeddings.embedder import Embedder
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
    from .git import Packed
    from .git.traces import Digest, Line, News, Sighting, Sightings
    from .operations.bisect import Moment
    from .prompt.context import Context, Piece, Told
    from .prompt.profile import Profile
    from .prompt.windows import Due
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
    from .text.entry import Entry, Fact
    from .text.evaluation import Expectation
    from .text.keys import Key
    from .text.merge import Conflict, Conflicting
    from .tools import Result, Tool
    from .workspace.layout import Layout
    from .workspace.settings import Settings
    from .write.losses import Losses
    from .write.tree import Tree

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
    "Key",
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
    "Conflict": "text.merge",
    "Conflicting": "text.merge",
    "Context": "prompt.context",
    "CrabmemError": "errors",
    "DamagedHistory": "errors",
    "DeniedHistory": "errors",
    "Digest": "git.traces",
    "Disabled": "errors",
    "Document": "results",
    "Due": "prompt.windows",
    "Embedder": "embeddings.embedder",
    "EmbedderFailed": "errors",
    "Entry": "text.entry",
    "Evaluation": "results",
    "Excerpt": "results",
    "Expectation": "text.evaluation",
    "Fact": "text.entry",
    "FileHit": "results",
    "FileSearch": "results",
    "Finding": "results",
    "Forgotten": "results",
    "Hit": "results",
    "Full": "errors",
    "HoldsSecret": "errors",
    "InvalidArguments": "errors",
    "InvalidSettings": "errors",
    "Key": "text.keys",
    "Layout": "workspace.layout",
    "Line": "git.traces",
    "Links": "results",
    "Losses": "write.losses",
    "MassLoss": "errors",
    "Memory": "api",
    "Moment": "operations.bisect",
    "News": "git.traces",
    "Moved": "errors",
    "NotFound": "errors",
    "Packed": "git",
    "Piece": "prompt.context",
    "Profile": "prompt.profile",
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
    "Settings": "workspace.settings",
    "Sighting": "git.traces",
    "Sightings": "git.traces",
    "Stale": "errors",
    "Standing": "results",
    "Stats": "results",
    "Told": "prompt.context",
    "Tool": "tools",
    "Tree": "write.tree",
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
