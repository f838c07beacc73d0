"""One memory on many machines, through a Git remote, which a person names once on each machine.

Syncing is for persons: for a memory opened without `is_person`, it is refused unless the setting `[sync] tool` allows
agents.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import InvalidArguments
from ..results import Synced, SyncState
from ..session.session import Session
from ..text.words import listed
from ..workspace.layout import AGENTS
from ..workspace.workspace import ALL, Workspace
from ..write.beside import left

#: The placeholder for a workspace's name in an address, and the name of the workspace of all there.
PLACEHOLDER, MAIN = "{agent}", "main"
_NAMED = 5
_EXAMPLE = f"`crabmem sync --all --to ~/Shared/{PLACEHOLDER}.git`"


def name_remote(session: Session, url: str, folder: str | os.PathLike[str] = "", *, is_asked: bool = False) -> str:
    """Have this workspace synced with the remote at `url` from now on; return the address as it may be shown.

    A relative path starts at `folder`, else at the current one. A folder that is not there yet is made. With `is_asked`
    the remote is named only if it answers.

    Raises:
        Disabled: an agent asks.
        InvalidArguments: `url` is no address, or Git's `origin` has another one.
        SyncError: the remote does not answer, or does not let us in.
    """
    from ..sync.sync import name_remote  # late: it loads what reaches remotes, which few ask for

    return name_remote(session, url, os.path.abspath(folder), is_asked).shown


def is_remote(session: Session, url: str, folder: str | os.PathLike[str] = "") -> bool:
    """Whether this workspace is synced with the remote at `url` already. Naming it again would start over."""
    from ..remotes.address import parse_address

    return session.engine.allowed.reach(session.root).remote == parse_address(url, Path(os.path.abspath(folder))).url


def sync(
    session: Session,
    *,
    is_expected: bool = False,
    joins_apart: bool = False,
    even_if_many: bool = False,
    seconds: float = 120.0,
) -> Synced:
    """Take in what other machines did, and push what this one did to the remote. Outside edits are recorded first.

    `is_expected`: the person has seen what a remote holds that was never synced with. `joins_apart`: join a history
    that has nothing in common with this one. `even_if_many`: many facts may be lost at once. After so many `seconds`
    without an answer the remote is given up.

    Raises:
        Disabled: an agent asks, which may not sync, or gives an option that only a person may.
        NotFound: no remote was named on this machine.
        SyncError: the remote needs a person's decision, does not answer, does not let us in, went back to older
            commits, or sends something that cannot be trusted.
        MassLoss: too many facts would be gone at once.
        HoldsSecret: a commit that would be pushed holds what looks like a credential.
        Busy: the person is in the middle of a rebase or merge, or others push faster than we can.
    """
    from ..sync.sync import sync

    return sync(session, is_expected=is_expected, joins_apart=joins_apart, even_if_many=even_if_many, seconds=seconds)


def sync_status(session: Session) -> SyncState:
    """When the workspace was synced, what is not pushed yet, and what waits for a decision. Asks no remote."""
    from ..sync.standing import state

    return state(session)


def left_beside(session: Session) -> list[str]:
    """Files that are not memory and that a sync left as they are here, though the history has another text."""
    return left(session.engine.history, session.engine.workspace)


def left_words(paths: Sequence[str]) -> str:
    """A warning about the files of `left_beside`, with the commands that take either text."""
    return (
        f"not checked out, as you have something else there: {listed(paths, _NAMED, 'files')}; `git checkout HEAD -- "
        "FILE` takes what came, `git add FILE` yours; until then Git overlooks it, and no commit takes back what came"
    )


def addresses(session: Session, pattern: str) -> dict[str, str]:
    """The remote of this workspace and of each agent's and project's in it, by its place, "." for this one.

    `pattern` is an address with {agent} in it, which is replaced by the agent's or project's name, "main" for this one.

    Raises:
        InvalidArguments: `pattern` has no {agent}, or two workspaces would have the same address.
    """
    from .agents import nested  # late: what makes agents loads half the program

    if PLACEHOLDER not in pattern:
        raise InvalidArguments(f"a remote for each workspace needs {PLACEHOLDER} where its name goes: {_EXAMPLE}")
    places = [ALL, *(place for place, _ in nested(Workspace(session.root)))]
    found = {place: pattern.replace(PLACEHOLDER, _name(place)) for place in places}
    if len({*found.values()}) < len(found):
        raise InvalidArguments(f"two workspaces in {session.root} would have the same remote: name them one by one")
    return found


def _name(place: str) -> str:
    return MAIN if place == ALL else place.removeprefix(f"{AGENTS}/").replace("/", "-")
