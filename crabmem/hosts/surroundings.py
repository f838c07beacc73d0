"""The machine on which hosts are looked for. Loads little: a mere look needs only this module and the table."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Surroundings(NamedTuple):
    """The places and settings by which a host's configs are found: the home folder, the folder of the project,
    environment, and system (`sys.platform`).
    """

    home: Path
    project: Path
    environment: Mapping[str, str]
    system: str

    @property
    def scopes(self) -> tuple[bool, ...]:
        """The scopes to look at, as values of `in_project`. In the home folder a project's configs are the person's."""
        return (False,) if self.project == self.home else (False, True)

    def folder(self, variable: str, default: str) -> Path:
        """The folder that an environment variable names, else `default` below the home folder."""
        named = self.environment.get(variable)
        return Path(named) if named else self.home / default

    @property
    def applications(self) -> Path:
        """Where programs with windows keep their settings."""
        if self.system == "darwin":
            return self.home / "Library/Application Support"
        return self.folder("XDG_CONFIG_HOME", ".config")


def surroundings() -> Surroundings:
    """This person's home folder, the folder we are in, the environment and the system."""
    return Surroundings(Path.home(), Path.cwd(), os.environ, sys.platform)
