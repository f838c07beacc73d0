"""Tests of `crabmem.adapters` against the real SDKs, which the extra `adapters` installs and `dev` does not."""

import re
from importlib import metadata

from crabmem.text.extras import requirements

INSTALL = "pip install -e '.[adapters]'"


def lacking() -> list[str]:
    """The packages of the extra `adapters` that are not installed here."""
    packages = [re.split(r"[^\w.-]", requirement)[0] for requirement in requirements("adapters")]
    return [package for package in packages if not list(metadata.distributions(name=package))]
