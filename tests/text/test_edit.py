"""Text to text: diffs that apply, short lines, and line breaks in the style of what was there."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem.text.comparison import lines_in
from crabmem.text.edit import (
    BOM,
    NoSuchLine,
    NotOnce,
    appended,
    grown,
    in_style_of,
    insert_lines,
    newline_of,
    replace_once,
    unified_diff,
)
from crabmem.text.words import shortened
from tests.conftest import git
from tests.examples import examples

PIECES = ["a", "b", "Käse", "\n", "\n\n", "\r\n", "\f", "\u2028", "---"]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)
STYLES = st.sampled_from(["", "a\n", "a\r\nb", f"{BOM}a\n", f"{BOM}a\r\nb\n"])


def test_diff_reads_as_git_words_it() -> None:
    diff = unified_diff("one\ntwo\n", "one\n2\n", "memory/MEMORY.md")

    assert diff == "--- a/memory/MEMORY.md\n+++ b/memory/MEMORY.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"


@pytest.mark.parametrize(
    ("before", "after", "heads"),
    [(None, "a\n", "--- /dev/null\n+++ b/x.md\n"), ("a\n", None, "--- a/x.md\n+++ /dev/null\n")],
)
def test_diff_of_a_new_and_of_a_gone_file_names_no_file(before: str | None, after: str | None, heads: str) -> None:
    assert unified_diff(before, after, "x.md").startswith(heads)


def test_diff_says_where_the_last_line_break_is_missing() -> None:
    assert unified_diff("a\n", "a", "x.md").endswith("-a\n+a\n\\ No newline at end of file\n")


@given(TEXTS)
@settings(max_examples=examples(50))
def test_no_change_is_no_diff(text: str) -> None:
    assert unified_diff(text, text, "x.md") == ""


@given(TEXTS, TEXTS)
@example("a\u2028b\n", "a\u2028c\n")
@example("a\rb\nc\n", "a\rb\nd\n")
@example("a\r\nb", "a\r\nb\r\n")
@settings(max_examples=examples(60))
def test_git_can_apply_the_diff(before: str, after: str) -> None:
    with TemporaryDirectory() as folder:
        file, patch = Path(folder, "x.md"), Path(folder, "patch")
        file.write_bytes(before.encode())
        patch.write_bytes(unified_diff(before, after, "x.md").encode())

        git(Path(folder), "apply", "--allow-empty", "patch")

        assert file.read_bytes().decode() == after


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [("a  b\n\tc ", 9, "a b c"), ("Luna barks", 10, "Luna barks"), ("Luna barks", 6, "Luna…"), ("Luna", 1, "…")],
)
def test_shortened_text_is_one_line_and_shows_what_is_missing(text: str, limit: int, short: str) -> None:
    assert shortened(text, limit) == short


@given(st.text(), st.integers(1, 30))
@settings(max_examples=examples(100))
def test_shortened_text_keeps_its_limit(text: str, limit: int) -> None:
    assert len(shortened(text, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb\r\n", "\n")],
)
def test_the_first_line_decides_the_line_break(text: str, newline: str) -> None:
    assert newline_of(text) == newline


@pytest.mark.parametrize(
    ("text", "before", "styled"),
    [
        ("a\nb", "", "a\nb\n"),
        ("a\r\nb", "old\n", "a\nb\n"),
        ("a\nb\r\nc\n", "old\r\n", "a\r\nb\r\nc\r\n"),
        ("a", f"{BOM}old\r\n", f"{BOM}a\r\n"),
        ("", f"{BOM}old\n", BOM),
    ],
)
def test_new_text_takes_the_style_of_the_old(text: str, before: str, styled: str) -> None:
    assert in_style_of(text, before) == styled


@given(TEXTS | TEXTS.map(BOM.__add__), STYLES)
@example(f"{BOM}a\n", f"{BOM}b\n")
@settings(max_examples=examples(100))
def test_text_in_style_already_does_not_change(text: str, before: str) -> None:
    styled = in_style_of(text, before)

    assert in_style_of(styled, before) == styled


@given(st.text(), st.text())
@example("\r", "")
def test_a_text_grows_by_what_is_added_and_keeps_every_letter(before: str, added: str) -> None:
    whole = grown(before, appended(before, added))
    assert whole is not None and whole.startswith(before)


@given(st.text(alphabet="ab\n\r\ufeff", max_size=8), st.text(alphabet="ab\n\r\ufeff", max_size=8))
def test_what_grows_begins_with_all_that_was_there(before: str, after: str) -> None:
    whole = grown(before, after)
    assert whole is None or whole.startswith(before)


@pytest.mark.parametrize("after", ["", "a", "A\nb\n", "x\na\nb\n", "a\nbc\n"])
def test_a_text_that_lacks_something_does_not_grow(after: str) -> None:
    assert grown("a\nb\n", after) is None


def test_line_breaks_and_a_mark_that_a_writer_loses_are_no_change() -> None:
    assert grown("\ufeffa\r\nb\r\n", "a\nb\nc\n") == "\ufeffa\r\nb\r\nc\r\n"
    assert grown("a\nb\n", "a\nb") == "a\nb\n"


@pytest.mark.parametrize(
    ("before", "line", "text", "after"),
    [
        ("", 0, "x", "x\n"),
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x\n\n", "a\nb\nx\n\n"),
        ("a\nb\n", 1, "", "a\n\nb\n"),
        ("a\nb", 2, "x\n", "a\nb\nx"),
        ("a\nb\r\n", 1, "x\ny", "a\nx\ny\nb\r\n"),
        ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
        (f"{BOM}a\n", 0, "x", f"{BOM}x\na\n"),
    ],
)
def test_lines_are_inserted_in_the_way_of_the_file(before: str, line: int, text: str, after: str) -> None:
    assert insert_lines(before, line, text) == after


#: Texts of few letters, so that a piece is often there, and often more than once; lines end in both ways.
MIXED = st.lists(st.sampled_from(["a", "b", "aa", "\n", "\r\n"]), max_size=12).map("".join)
UNIX = st.text("ab\n", max_size=12)


def windows(text: str) -> str:
    """The same lines, each ended with a carriage return and a line feed."""
    return text.replace("\n", "\r\n")


@given(MIXED | MIXED.map(BOM.__add__), st.integers(-1, 9), st.text("ab\n"))
@example("a", 1, "")
@example("a", 1, "b\n\n")
@settings(max_examples=examples(200))
def test_inserting_leaves_every_other_byte(before: str, line: int, text: str) -> None:
    bare = before.removeprefix(BOM)
    count = len(lines_in(bare))
    if not 0 <= line <= count:
        with pytest.raises(NoSuchLine) as error:
            insert_lines(before, line, text)
        assert error.value.count == count
        return
    after, at = insert_lines(before, line, text), before.removesuffix(bare) + "".join(lines_in(bare)[:line])
    assert after.startswith(at) and after.endswith(before.removeprefix(at))
    new = after[len(at) : len(after) - len(before) + len(at)]
    assert new.strip("\r\n").replace("\r\n", "\n") == text.strip("\n")
    lines = text.removesuffix("\n").split("\n")
    # A blank line at the end of a text whose last line has no end is that end.
    is_end = line == count and bare[-1:] not in ("", "\n") and not lines[-1]
    assert len(lines_in(after.removeprefix(BOM))) == count + len(lines) - is_end


@given(UNIX.filter(lambda text: "\n" in text), st.integers(0, 12), UNIX, st.booleans())
def test_lines_that_are_inserted_end_as_those_of_the_file(before: str, line: int, text: str, has_own: bool) -> None:
    line = min(line, len(lines_in(before)))
    given = windows(text) if has_own else text
    assert insert_lines(windows(before), line, given) == windows(insert_lines(before, line, text))


@given(MIXED, MIXED, MIXED)
@example("aaa", "aa", "b")
@example("", "", "a")
@example("a\r\nb\nc", "\n", "")
@settings(max_examples=examples(500))
def test_a_text_is_replaced_where_it_stands_once_and_all_else_stays(text: str, old: str, new: str) -> None:
    flat, sought = text.replace("\r\n", "\n"), old.replace("\r\n", "\n")
    places = [at for at in range(len(flat) + 1) if flat.startswith(sought, at)]
    if len(places) != 1:
        with pytest.raises(NotOnce) as error:
            replace_once(text, old, new)
        assert error.value.lines == ", ".join(str(flat.count("\n", 0, at) + 1) for at in places)
        return
    [at] = places
    after, line = replace_once(text, old, new)
    assert line == flat.count("\n", 0, at) + 1
    head, tail = flat[:at], flat[at + len(sought) :]
    start = next(
        end for end in range(len(text) + 1) if text[:end].replace("\r\n", "\n") == head and text[end - 1 : end] != "\r"
    )
    assert after.startswith(text[:start])
    rest = next(text[at:] for at in range(len(text), -1, -1) if text[at:].replace("\r\n", "\n") == tail)
    assert after.endswith(rest)
    assert after.replace("\r\n", "\n") == head + new.replace("\r\n", "\n") + tail


@given(UNIX.filter(lambda text: "\n" in text), UNIX, UNIX, st.booleans(), st.booleans())
def test_how_lines_end_changes_nothing_about_a_replacement(
    text: str, old: str, new: str, has_old: bool, has_new: bool
) -> None:
    try:
        after, line = replace_once(text, old, new)
    except NotOnce as error:
        with pytest.raises(NotOnce) as other:
            replace_once(windows(text), windows(old) if has_old else old, new)
        assert other.value.lines == error.lines
        return
    given = windows(old) if has_old else old, windows(new) if has_new else new
    assert replace_once(windows(text), *given) == (windows(after), line)


@given(TEXTS, st.integers(0, 40), st.integers(0, 40), TEXTS)
def test_what_was_replaced_can_be_put_back(text: str, start: int, size: int, new: str) -> None:
    old = text[start : start + size]
    try:
        after, _ = replace_once(text, old, new)
        back, _ = replace_once(after, new, old)
    except NotOnce:
        return
    assert back.replace("\r\n", "\n") == text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("piece", "text", "lines"),
    [
        ("a", "a\nb\naa", "1, 3, 3"),
        ("aa", "aaa", "1, 1"),
        ("a\n", "a\r\na\nb", "1, 2"),
        ("a", "a" * 1_002, ", ".join(["1"] * 1_000) + ", …"),
        ("two\r", "two\r\n", ""),
        ("", "ab", "1, 1, 1"),
    ],
)
def test_places_are_told_by_their_lines_where_they_overlap_too(piece: str, text: str, lines: str) -> None:
    with pytest.raises(NotOnce) as error:
        replace_once(text, piece, "x")
    assert error.value.lines == lines
