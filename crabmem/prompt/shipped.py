"""The profiles that crabmem brings, as their files lie in the package: a folder for each family. Loads nothing."""

from __future__ import annotations

import os
from functools import cache

#: A folder each, with its profile and, where it has tools of its own, `tools.py`.
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "profiles")
FILE = "profile.toml"


def families_with(file: str) -> tuple[str, ...]:
    """The families whose folders hold a file of that name."""
    return tuple(sorted(name for name in os.listdir(FOLDER) if os.path.isfile(os.path.join(FOLDER, name, file))))


@cache
def toml_of(name: str) -> str | None:
    """The text of the profile of the family called `name`; None where there is none."""
    if name not in families_with(FILE):
        return None
    with open(os.path.join(FOLDER, name, FILE), encoding="utf-8") as text:
        return text.read()
