"""The machine as the command line finds it, for where hosts keep their configs."""

import os
import sys
from pathlib import Path

from ..hosts.surroundings import Surroundings


def surroundings() -> Surroundings:
    """This person's home folder, the folder we are in, the environment and the system."""
    return Surroundings(Path.home(), Path.cwd(), os.environ, sys.platform)
