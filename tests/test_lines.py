"""Lines are matched as Git matches them; a sample, as blame is compared with Git's over whole histories."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem.lines import matched, similarity

WORDS = st.sampled_from(["", "", "a", "b", "c", "  a", "\tb", "- c", "d"])
LINES = st.lists(WORDS, max_size=30)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def text_of(lines: list[str], ends: bool = True) -> bytes:
    text = "\n".join(lines)
    return (text + "\n" * (ends and bool(lines))).encode()


def numbers(text: bytes) -> range:
    return range(text.count(b"\n") + (text != b"" and not text.endswith(b"\n")))


def by_git(folder: Path, before: bytes, after: bytes) -> dict[int, int]:
    """The lines that `git diff` leaves."""
    (folder / "before").write_bytes(before)
    (folder / "after").write_bytes(after)
    words = ["git", "diff", "--no-index", "--no-ext-diff", "--diff-algorithm=myers", "--text", "-U0", "before", "after"]
    shown = subprocess.run(words, cwd=folder, capture_output=True, check=False).stdout.decode()
    old, new = list(numbers(before)), list(numbers(after))
    for first, count, second, other in HUNK.findall(shown):
        for row, at, size in ((old, first, count), (new, second, other)):
            for number in range(int(at) - 1, int(at) - 1 + int(size or 1)):
                row.remove(number)
    return dict(zip(new, old, strict=True))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.lists(WORDS, max_size=3))), st.booleans())
def test_lines_are_matched_as_git_does(
    tmp_path: Path, lines: list[str], edits: list[tuple[int, int, list[str]]], ends: bool
) -> None:
    changed = list(lines)
    for at, size, new in edits:
        changed[at : at + size] = new
    before, after = text_of(lines), text_of(changed, ends)
    assert matched(before, after) == by_git(tmp_path, before, after)


@pytest.mark.parametrize("width", [3, 40, 400])
def test_long_texts_too(tmp_path: Path, width: int) -> None:
    before = text_of([f"line {number * 7 % width}" for number in range(900)])
    after = text_of([f"line {number * 7 % width}" for number in range(900) if number % 11] + ["the end"])
    assert matched(before, after) == by_git(tmp_path, before, after)


def test_texts_that_share_lines_in_no_order_are_matched_in_a_moment() -> None:
    lines = [f"line {number * 7919 % 3001}" for number in range(3001)]
    pairs = matched(text_of(sorted(lines)), text_of(lines))
    rows = [line.encode() for line in lines], [line.encode() for line in sorted(lines)]
    assert pairs and all(rows[0][new] == rows[1][old] for new, old in pairs.items())
    assert [*pairs.values()] == sorted(pairs.values())


def test_a_text_is_like_itself_and_not_like_another() -> None:
    assert similarity(b"one\ntwo\n", b"one\ntwo\n") == 1
    assert similarity(b"one\ntwo\n", b"six\nten\n") == 0
    assert similarity(b"", b"") == 0
