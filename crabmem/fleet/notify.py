"""Telling the follower that this machine has pushed: in a process of its own, for which nobody waits."""

from contextlib import suppress

from ..disk.allowed import Allowed
from ..errors import CrabmemError
from ..session.opening import session_at
from .asking import address_in
from .postgres import PATIENCE, Postgres
from .rights import stem_of


def main(root: str) -> None:
    """Report that the workspace at `root` was pushed to its remote. Ignore errors: the follower looks anyway, later."""
    with suppress(CrabmemError), session_at(root) as session:
        environment = session.engine.environment
        with Postgres(address_in(environment), patience=PATIENCE) as index:
            index.pushed(stem_of(Allowed(environment).reach(session.root).remote))
