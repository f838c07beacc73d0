"""Where crabmem's name stands in the configs of hosts: found without parsing one, so that who asks is told at once."""

import os
from collections.abc import Iterator
from pathlib import Path

from ..disk import fs
from .host import MAX_CONFIG_BYTES, NAME, Config, Host
from .surroundings import Surroundings
from .table import HOSTS


def mentions(here: Surroundings) -> Iterator[tuple[Host, bool]]:
    """The hosts that have a config with our name in it, each with whether it is a project's.

    Only such a one can be of an installation. What cannot be read has no name in it.
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
