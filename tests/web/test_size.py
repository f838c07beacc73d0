"""The page stays as small as it was meant to be."""

from pathlib import Path

import crabmem.web

ROOM = Path(crabmem.web.__file__).parent


def lines(*endings: str) -> int:
    return sum(
        len(file.read_text("utf-8").splitlines())
        for ending in endings
        for file in ROOM.rglob(f"*.{ending}")
        if "__pycache__" not in file.parts
    )


def test_the_page_is_of_few_lines() -> None:
    """Python; templates with their style; the script, without which all works."""
    assert lines("py") <= 1_460
    assert lines("html", "css") <= 650
    assert lines("js") <= 160
