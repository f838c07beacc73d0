"""Of a text that is too long head and tail stay, and never more than there is room for, the mark included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.prompt.budget import Budget, cut

CAMEL = Budget(20_000, 150_000, mark="\n\n[...truncated, read file for full content...]\n\n")


@given(st.text(max_size=400), st.integers(0, 450), st.floats(0, 1), st.floats(0, 1), st.text(max_size=80))
def test_what_is_cut_is_never_longer_than_its_room(text: str, room: int, head: float, tail: float, mark: str) -> None:
    kept = cut(text, room, Budget(head=head, tail=tail, mark=mark), "MEMORY.md")
    assert len(kept) <= room or kept == text
    assert kept == text or len(text) > room


def test_a_text_one_character_too_long_keeps_nearly_all_its_room() -> None:
    text = "a" * 14_000 + "b" * 6_001
    kept = cut(text, 20_000, CAMEL, "MEMORY.md")
    assert kept == "a" * 14_000 + CAMEL.mark + "b" * 4_000
    assert len(cut("a" * 20_000, 20_000, CAMEL, "x")) == 20_000


@pytest.mark.parametrize("room", [0, 1, 63])
def test_too_little_room_is_none(room: int) -> None:
    assert cut("a" * 64, room, CAMEL, "MEMORY.md") == ""


def test_in_64_characters_the_mark_still_has_text_around_it() -> None:
    kept = cut("a" * 500 + "b" * 500, 64, CAMEL, "MEMORY.md")
    assert len(kept) == 64 and kept.startswith("aaa") and kept.endswith("bbb") and CAMEL.mark in kept


def test_the_mark_says_which_file_and_how_much() -> None:
    kept = cut("x" * 1_000, 300, Budget(mark="[{file}: {kept} of {of}]"), "MEMORY.md")
    assert f"[MEMORY.md: {kept.count('x')} of 1000]" in kept
