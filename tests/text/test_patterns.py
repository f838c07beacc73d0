"""Patterns of paths."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.patterns import covers, matches
from tests.pace import costing_less_than


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


def slowly(path: str, pattern: str) -> bool:
    """The same, said plainly."""
    if not pattern:
        return not path
    if pattern.startswith("**/"):
        below = (slowly(path[at + 1 :], pattern) for at, char in enumerate(path) if char == "/")
        return slowly(path, pattern[3:]) or any(below)
    if pattern[0] == "*":
        return slowly(path, pattern[1:]) or (path[:1] not in ("", "/") and slowly(path[1:], pattern))
    return (
        bool(path)
        and (path[0] == pattern[0] or (pattern[0] == "?" and path[0] != "/"))
        and slowly(path[1:], pattern[1:])
    )


@given(
    st.lists(st.text("ab.", max_size=4), min_size=1, max_size=4).map("/".join),
    st.lists(st.one_of(st.just("**"), st.text("ab.*?", max_size=5)), min_size=1, max_size=4),
)
def test_a_pattern_stands_for_what_it_says(path: str, names: list[str]) -> None:
    # Only a whole name of two stars is any folders.
    pattern = "/".join(name if name == "**" else re.sub(r"\*+", "*", name) for name in names)
    assert matches(path, [pattern]) is slowly(path, pattern)


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "**/" * 40 + "b", "*?" * 60 + "b", "**/*a/" * 20 + "b"])
def test_no_pattern_keeps_a_search_busy(pattern: str) -> None:
    with costing_less_than(5):
        assert not matches("a" * 250 + "/a" * 1_000, [pattern])


@pytest.mark.parametrize(
    ("path", "does"),
    [
        ("memory/secret/a.md", True), ("memory/secret/deep/f.md", True), ("memory/secret/deep/er/f.md", True),
        ("memory/secrets.md", False), ("memory/a.md", False), ("secret/a.md", False),
        ("memory/secret/deep/shown.md", False), ("memory/secret/shown.md/f.md", True),
    ],
)  # fmt: skip
def test_a_pattern_covers_what_is_below_a_folder_that_it_stands_for(path: str, does: bool) -> None:
    for pattern in ("memory/secret/*", "memory/secret", "memory/secre?/**/*"):
        assert covers(path, [pattern, "!**/shown.md"]) is does
