"""Files in sections: lines as editors count them, nothing lost, nothing longer than it may be."""

import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabmem.recall.sections import Recent, Search, Section, age_factor, sections_of
from crabmem.text.comparison import lines_in

TEXTS = st.text(st.sampled_from("ab é語\n\r\t#-\u2028"), max_size=300)
PARAGRAPHS = Search(unit="paragraph")


def told_apart(text: str) -> str:
    """A text with the same spaces, whose letters occur once, so that they tell where a chunk lies."""
    return "".join(sign if sign.isspace() else chr(0x4E00 + at) for at, sign in enumerate(text))


@given(TEXTS, st.integers(1, 60), st.integers(0, 80))
@example("a" * 100, 10, 3)
@example("\n" * 40 + "a" * 40, 7, 3)
@example("ab\n" + "a" * 50 + "\nab", 20, 10)
def test_every_character_is_in_a_chunk_and_none_is_longer_than_its_size(text: str, size: int, overlap: int) -> None:
    text = told_apart(text)
    chunks = sections_of(text, Search(unit="chunk", size=size, overlap=overlap))
    lines = lines_in(text)
    held = set[int]()
    for chunk in chunks:
        assert len(chunk.text) <= size
        at = text.index(chunk.text)
        held.update(range(at, at + len(chunk.text)))
        assert chunk.text in "".join(lines[chunk.start - 1 : chunk.end])
    assert all(text[place].isspace() for place in set(range(len(text))) - held)


@given(st.text(st.sampled_from("ab \n"), min_size=1, max_size=300), st.integers(4, 60), st.integers(1, 30))
def test_neighbours_overlap_by_no_more_than_is_asked(text: str, size: int, overlap: int) -> None:
    unique = told_apart(text)
    chunks = [each.text for each in sections_of(unique, Search(unit="chunk", size=size, overlap=overlap))]
    for before, after in pairwise(chunks):
        common = set(re.findall(r"\S", before)) & set(re.findall(r"\S", after))
        assert len(common) <= min(overlap, size // 2)
        if not any(sign.isspace() for sign in unique):
            assert common


def test_chunks_begin_and_end_at_lines_where_they_can() -> None:
    text = "".join(f"line {number:02}\n" for number in range(1, 21))
    chunks = sections_of(text, Search(unit="chunk", size=48, overlap=16))
    assert [(each.start, each.end) for each in chunks] == [(1, 6), (5, 10), (9, 14), (13, 18), (17, 20)]
    assert all(each.text.startswith("line") and each.text.endswith("\n") for each in chunks)


def test_a_line_that_is_too_long_is_cut_between_words() -> None:
    text = "first\n" + "cartography starts here " * 10
    chunks = sections_of(text, Search(unit="chunk", size=60, overlap=20))
    words = {word for each in chunks for word in each.text.split()}
    assert words == {"first", "cartography", "starts", "here"}
    assert {each.end for each in chunks[1:]} == {2}


def test_paragraphs_end_at_blank_lines_and_before_headings() -> None:
    text = "# Notes\nLuna's vet\r\nDr. Moreno\r\n \r\n\n  indented\n## Next\ntext"
    assert sections_of(text, PARAGRAPHS) == [
        Section(1, 3, "# Notes\nLuna's vet\r\nDr. Moreno"),
        Section(6, 6, "  indented"),
        Section(7, 8, "## Next\ntext"),
    ]


@given(TEXTS)
def test_every_word_is_in_one_paragraph_at_the_lines_it_says(text: str) -> None:
    found = sections_of(text, PARAGRAPHS)
    lines = lines_in(text)
    assert "".join("".join(each.text.split()) for each in found) == "".join(text.split())
    assert all(each.text == "".join(lines[each.start - 1 : each.end]).strip("\r\n") for each in found)


@pytest.mark.parametrize("unit", ["paragraph", "chunk", "file"])
@pytest.mark.parametrize("text", ["", "\n", " \r\n\t\n"])
def test_a_blank_text_has_no_sections(unit: str, text: str) -> None:
    assert sections_of(text, Search(unit=unit)) == []  # type: ignore[arg-type]


def test_a_whole_file_is_one_section() -> None:
    assert sections_of("a\n\nb\n", Search(unit="file")) == [Section(1, 3, "a\n\nb\n")]


def test_notes_count_more_the_younger_they_are_and_never_from_the_future() -> None:
    recent = (Recent(0, 1.5), Recent(1, 1.3), Recent(7, 1.1))
    today = date(2026, 3, 14)
    days = {"2026-03-14": 1.5, "2026-03-13": 1.3, "2026-03-12": 1.1, "2026-03-07": 1.1, "2026-03-06": 1.0,
            "2026-03-15": 1.0}  # fmt: skip
    assert {day: age_factor((today - date.fromisoformat(day)).days, recent) for day in days} == days
