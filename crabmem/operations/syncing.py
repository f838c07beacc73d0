"""One memory on many machines, through a remote of Git's, which a person names once on each machine.

A person syncs: of a memory that was opened without `is_person`, an agent's, that is refused unless `[sync] tool` lets
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

#: What stands in an address for the name of a workspace; and what that of all is called there.
PLACEHOLDER, MAIN = "{agent}", "main"
_NAMED = 5
_EXAMPLE = f"`crabmem sync --all --to ~/Shared/{PLACEHOLDER}.git`"


def name_remote(session: Session, url: str, folder: str | os.PathLike[str] = "", *, is_asked: bool = False) -> str:
    """Let this workspace be synced with the remote at `url` from now on, and return that as it is shown.

    A path is taken from `folder`, else from the current one. A folder that is not there yet is made. With `is_asked`
    the remote is named only if it answers.

    Raises:
        Disabled: an agent asks.
        InvalidArguments: it is no address, or Git's `origin` is another one.
        SyncError: it does not answer, or does not let us in.
    """
    from ..sync.sync import name_remote  # late: it loads what reaches remotes, which few ask for

    return name_remote(session, url, os.path.abspath(folder), is_asked).shown


def is_remote(session: Session, url: str, folder: str | os.PathLike[str] = "") -> bool:
    """Whether this workspace is synced with the remote at `url` already: to name it anew would begin anew."""
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
    """Take in what other machines did, and give the remote what this one did. Outside edits are recorded first.

    `is_expected`: a person has seen what a remote has that was never synced with. `joins_apart`: a history that has
    nothing in common with this one is joined to it. `even_if_many`: many facts at once may be lost. The remote may be
    silent for so many `seconds`.

    Raises:
        Disabled: an agent asks, and may not, or says what only a person may.
        NotFound: no remote was named on this machine.
        SyncError: the remote needs a person's word, does not answer, does not let us in, went back, or sends what is
            not believed.
        MassLoss: too many facts would be gone at once.
        HoldsSecret: a commit that is not there yet holds what looks like a credential.
        Busy: the person is in the middle of a rebase or merge, or others push faster than we can.
    """
    from ..sync.sync import sync

    return sync(session, is_expected=is_expected, joins_apart=joins_apart, even_if_many=even_if_many, seconds=seconds)


def sync_status(session: Session) -> SyncState:
    """What was synced when, what is still to be, and what waits to be decided. Asks no remote."""
    from ..sync.standing import state

    return state(session)


def left_beside(session: Session) -> list[str]:
    """Files that are not memory and that a sync left as they are here, though the history has another text."""
    return left(session.engine.history, session.engine.workspace)


def left_words(paths: Sequence[str]) -> str:
    """The words for those."""
    return (
        f"not checked out, as you have something else there: {listed(paths, _NAMED, 'files')}; `git checkout HEAD -- "
        "FILE` takes what came, `git add FILE` yours; until then Git overlooks it, and no commit takes back what came"
    )


def addresses(session: Session, pattern: str) -> dict[str, str]:
    """The remote of this workspace and of each agent's and project's in it, by its place, "." for this one.

    `pattern` is an address with {agent} in it, for which the name stands: that of an agent, "main" for this one.

    Raises:
        InvalidArguments: it says nowhere where the names go, or two would have the same.
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
