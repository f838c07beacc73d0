"""Lines are matched where they are equal and in order; where lines are told apart, as any diff must match them."""

import time
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.git.diff import matched, similarity
from tests.examples import examples

WORDS = st.sampled_from(["", "", "a", "b", "c", "  a", "\tb", "- c", "d"])
LINES = st.lists(WORDS, max_size=30)
EDITS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.lists(WORDS, max_size=3)))


def text_of(lines: list[str], ends: bool = True) -> bytes:
    text = "\n".join(lines)
    return (text + "\n" * (ends and bool(lines))).encode()


def lines_of(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True)


def edited(lines: list[str], edits: list[tuple[int, int, list[str]]]) -> list[str]:
    changed = list(lines)
    for at, size, new in edits:
        changed[at : at + size] = new
    return changed


@settings(max_examples=examples(300))
@given(LINES, EDITS, st.booleans())
def test_a_line_is_matched_with_an_equal_one_in_order_and_none_is_left_beside_one(
    lines: list[str], edits: list[tuple[int, int, list[str]]], ends: bool
) -> None:
    before, after = text_of(lines), text_of(edited(lines, edits), ends)
    pairs, old, new = matched(before, after), lines_of(before), lines_of(after)
    assert all(new[here] == old[there] for here, there in pairs.items())
    assert sorted(pairs) == list(pairs) and sorted(set(pairs.values())) == list(pairs.values())
    # Between two matches that follow each other nothing equal is left.
    edges = [(-1, -1), *pairs.items(), (len(new), len(old))]
    for (first, above), (last, below) in pairwise(edges):
        assert not {*new[first + 1 : last]} & {*old[above + 1 : below]}


@settings(max_examples=examples(200))
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 400))
def test_lines_that_are_told_apart_are_matched_wherever_they_stand_in_both(
    gone: set[int], come: set[int], more: int
) -> None:
    before = [f"line {number}" for number in range(61 + more) if number not in gone]
    after = [f"line {number}" for number in range(61 + more) if number not in come]
    pairs = matched(text_of(before), text_of(after))
    assert {after[here] for here in pairs} == {*before} & {*after}


def test_an_entry_that_grew_keeps_its_lines() -> None:
    before = b"---\nname: A\n---\n\nOne.\n\nTwo.\n"
    after = b"---\nname: A\ntags: x\n---\n\nOne.\n\nOne and a half.\n\nTwo.\n"
    assert matched(before, after) == {0: 0, 1: 1, 3: 2, 4: 3, 5: 4, 8: 5, 9: 6}


def test_texts_that_share_lines_in_no_order_or_very_often_are_matched_in_a_moment() -> None:
    lines = [f"line {number * 7919 % 5003}" for number in range(5003)]
    often = [("", "a", "b", "- c")[number * number % 7 % 4] for number in range(5003)]
    started = time.process_time()
    for before, after in ((sorted(lines), lines), (lines, lines[::-1]), (often, often[1::2] + often[::2])):
        assert matched(text_of(before), text_of(after))
    assert time.process_time() - started < 3


def test_a_text_is_like_itself_and_not_like_another() -> None:
    assert similarity(b"one\ntwo\n", b"one\ntwo\n") == 1
    assert similarity(b"one\ntwo\n", b"six\nten\n") == 0
    assert similarity(b"", b"") == 0


def test_a_paragraph_in_which_a_word_was_changed_is_like_what_it_was() -> None:
    text = b"We deploy on Fridays. The key is in the vault, under ops. Ask Ada, who wrote the script."
    assert similarity(text, text.replace(b"Fridays", b"Mondays")) > 0.5
    assert similarity(text, text.replace(b"\n", b"\r\n")) == 1
