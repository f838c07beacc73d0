"""Patterns of paths."""

import pytest

from crabmem.globs import matches


@pytest.mark.parametrize(
    ("path", "pattern", "does"),
    [
        ("MEMORY.md", "MEMORY.md", True), ("memory.md", "MEMORY.md", False), ("MEMORYxmd", "MEMORY.md", False),
        ("memory/a.md", "memory/*.md", True), ("memory/b/a.md", "memory/*.md", False),
        ("memory/a.md", "memory/**/*.md", True), ("memory/b/c/a.md", "memory/**/*.md", True),
        ("notmemory/a.md", "memory/**/*.md", False), ("a/memory/a.md", "**/memory/*.md", True),
        ("a\nb.md", "*.md", True), ("ab.md", "a?.md", True), ("a/.md", "a?.md", False),
    ],
)  # fmt: skip
def test_a_pattern_stands_for_paths(path: str, pattern: str, does: bool) -> None:
    assert matches(path, [pattern]) is does
    assert not matches(path, [pattern, f"!{pattern}"]) and not matches(path, [f"!{pattern}", pattern])


def test_what_a_pattern_takes_away_is_all_that_is_missing() -> None:
    patterns = ["!memory/entries/*", "memory/**/*.md"]
    paths = ["memory/a.md", "memory/b/a.md", "memory/entries/a.md", "memory/entries/b/a.md", "a.md"]
    assert [path for path in paths if matches(path, patterns)] == [
        "memory/a.md",
        "memory/b/a.md",
        "memory/entries/b/a.md",
    ]
