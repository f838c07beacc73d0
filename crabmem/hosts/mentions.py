"""Which configs of hosts contain crabmem's name: a quick look, which parses none of them."""

import os
from collections.abc import Iterator
from pathlib import Path

from ..disk import fs
from .host import MAX_CONFIG_BYTES, NAME, Config, Host
from .surroundings import Surroundings
from .table import HOSTS


def mentions(here: Surroundings) -> Iterator[tuple[Host, bool]]:
    """Yield the hosts with a config that contains our name, and whether that is a project's config.

    Only these can hold an installation. A config that cannot be read counts as one without our name.
    """
    for host in HOSTS:
        for in_project in here.scopes:
            if any(_names_us(config, here) for config in (host.project if in_project else host.user)):
                yield host, in_project


def _names_us(config: Config, here: Surroundings) -> bool:
    try:
        return NAME.encode() in fs.read(Path(os.path.realpath(config.file(here))), limit=MAX_CONFIG_BYTES)[0]
    except OSError:
        return False
