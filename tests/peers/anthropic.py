"""The tests that Anthropic's SDK has of its memory tool on a folder, with `crabmem.adapters.anthropic` in its place."""

import re
import shutil
from collections.abc import Iterator

from .peer import FIXTURES, Counts, Peer, Place, tested

_REPOSITORY = "anthropics/anthropic-sdk-python"
_FILE = "test_filesystem.py"
# What brings in their two tools, and what brings in ours; how to look at a folder is a function of the tests.
_TOOLS = re.compile(
    r"^from anthropic\.lib\.tools\._beta_builtin_memory_tool import \(\n(.+?)^\)\n", re.DOTALL | re.MULTILINE
)
_SNAPSHOT = re.compile(r"^def get_directory_snapshot\(.+?(?=^\S)", re.DOTALL | re.MULTILINE)
_OURS = """\
from crab_memory_tool import get_directory_snapshot
from crab_memory_tool import LocalTool as BetaLocalFilesystemMemoryTool
from crab_memory_tool import AsyncLocalTool as BetaAsyncLocalFilesystemMemoryTool
"""


def run(place: Place) -> Iterator[Counts]:
    """Those of the synchronous tool and of the asynchronous one."""
    folder = place.folder("memory-tool")
    text = (place.clone(_REPOSITORY) / "tests" / "lib" / "tools" / "memory_tools" / _FILE).read_text("utf-8")
    for theirs, ours in ((_SNAPSHOT, ""), (_TOOLS, _OURS)):
        text, found = theirs.subn(ours, text)
        if found != 1:
            raise ValueError(
                f"{_FILE} is made in another way than it was: look at what tests/peers/anthropic.py replaces"
            )
    (folder / _FILE).write_text(text, "utf-8")
    shutil.copy(FIXTURES / "crab_memory_tool.py", folder)
    yield tested("memory tool, sync and async", place, folder, [_FILE])


PEER = Peer(
    "Anthropic's memory tool",
    run,
    repository=_REPOSITORY,
    packages=("anthropic>=2.12,<3",),
    reasons={
        "test_validate_path_returns_resolved_path_not_symlink_target": (
            "it asks a private method of theirs where a link leads; ours follows none"
        ),
    },
)
