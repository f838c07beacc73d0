"""Telling the follower that this machine has pushed: in a process of its own, for which nobody waits."""

import os
from contextlib import suppress
from pathlib import Path

from ..disk.allowed import Allowed
from ..errors import CrabmemError
from .asking import address_in
from .postgres import PATIENCE, Postgres
from .rights import stem_of


def main(root: str) -> None:
    """Say that the remote of the workspace at `root` was pushed to; silent when that fails: it is looked at anyway."""
    with suppress(CrabmemError), Postgres(address_in(os.environ), patience=PATIENCE) as index:
        index.pushed(stem_of(Allowed(os.environ).reach(Path(root)).remote))
