"""Faults injected into real processes and files, and what has to hold after each.

Every module listed in `SUITES` has `run(long, say)`: it tries its faults, in a short form or all of
them, says how far it is, and returns what it counted. The first broken promise is an AssertionError.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeAlias

#: What a suite counted, in the order to be shown: faults tried, writes acknowledged, and so on.
Counts: TypeAlias = Mapping[str, int]
#: Tells the person how far a suite is.
Say: TypeAlias = Callable[[str], None]

#: The suites and what each does to a memory.
SUITES = {
    "crashes": "stops or fails every call that changes the disk, before and after it",
    "power": "cuts the power at every call: what was not synced is gone",
    "kills": "kills writers, watchers and adopters at random moments",
    "persons_git": "runs a person's Git commands against a writer",
    "editors": "saves as three kinds of editors against an agent that overwrites",
    "storm": "lets writers, readers, a watcher and an editor at one memory at once",
    "disk": "fills the disk, and takes away the right to write",
    "damage": "breaks a repository in every way there is, and puts bad files among the entries",
    "sync_crashes": "stops or fails every call of a sync, on this machine or at the remote",
    "sync_power": "cuts the power at every call of a sync, of the machine alone or of the remote too",
    "sync_pushers": "lets machines push at once while agents write, and kills them",
    "sync_remotes": "syncs with remotes that are damaged, hostile, slow, cut off, or lie",
    "fuzz": "feeds every parser with what a fuzzer makes up",
}


def run(name: str, long: bool, say: Say) -> Counts:
    """Run one suite.

    Raises:
        AssertionError: a promise was broken; the message says which and where.
    """
    counts: Counts = import_module(f"tests.faults.{name}").run(long, say)
    return counts
