"""LangChain's standard tests, which come as a package, on `crabmem.adapters.langchain`."""

import shutil
from collections.abc import Iterator

from .peer import FIXTURES, Counts, Peer, Place, tested

_FILE = "test_standard.py"


def run(place: Place) -> Iterator[Counts]:
    """Those of a retriever and of four tools."""
    folder = place.folder("standard")
    shutil.copy(FIXTURES / "langchain_standard.py", folder / _FILE)
    yield tested("retriever and four tools", place, folder, [_FILE])


PEER = Peer("LangChain's standard tests", run, packages=("langchain-tests", "langchain-core>=1.7,<2", "vcrpy"))
