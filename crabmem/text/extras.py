"""How to get the libraries of an extra into the environment that crabmem runs in.

The advice never asks an index for crabmem itself: it may not be the crabmem there. It names what the extra requires.
"""

import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

#: The name under which the program is installed.
PROGRAM = "crabmem"
_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")


def how_to_get(extra: str, prefix: Path | None = None) -> str:
    """The command that installs what an extra needs, to be typed into any shell; `prefix` is that of this Python.

    An environment of pipx or uv is changed by their own commands.
    """
    prefix = prefix or Path(sys.prefix)
    needed = " ".join(f'"{requirement}"' for requirement in requirements(extra))  # which every shell leaves as it is
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {shlex.quote(prefix.name)} {needed}"
    if (prefix / "uv-receipt.toml").exists() or importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(sys.executable)} {needed}"
    return f"{shlex.quote(sys.executable)} -m pip install {needed}"


def whole() -> str:
    """crabmem, as pip and uv take it: from where this one came, when that is known."""
    origin = _origin()
    return f'"{PROGRAM} @ {origin}"' if origin else PROGRAM


def requirements(extra: str) -> list[str]:
    """What an extra requires beside crabmem, as `mcp>=2.3,<3`; its name where crabmem was never installed."""
    try:
        stated = metadata.requires(PROGRAM) or []
    except metadata.PackageNotFoundError:
        stated = []
    return list(_of_extra(stated, extra)) or [extra]


def own(requirements: Iterable[str]) -> list[str]:
    """Those of a package's requirements that are of no extra."""
    return [each for each in requirements if not _EXTRA.search(each)]


def _of_extra(requirements: Iterable[str], extra: str) -> Iterator[str]:
    """Those of a package's requirements that are of an extra, without their markers."""
    for requirement in requirements:
        needed, _, marker = requirement.partition(";")
        if extra in _EXTRA.findall(marker):
            yield needed.strip()


def _origin() -> str:
    """The folder, archive or repository that crabmem was installed from; "" when it came from an index."""
    try:
        origin = json.loads(metadata.distribution(PROGRAM).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    kind = origin.get("vcs_info", {}).get("vcs")
    return f"{kind}+{origin['url']}" if kind else str(origin.get("url", ""))
