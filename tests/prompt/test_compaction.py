"""What is due of a window that fills up: pure rules, and one number that the host keeps."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.prompt.compaction import Window

CLAW = Window(reserve=20_000, soft=4_000, store="note")
CAMEL = Window(flush=0.8, keep=6, unit="turn", store="note", silent="NOTHING")
LEGION = Window(flush=0.6, compact=0.7, warn=0.8, prune=0.9, least=100)

windows = st.builds(
    Window,
    flush=st.floats(0, 1),
    compact=st.floats(0, 1),
    warn=st.floats(0, 1),
    prune=st.floats(0, 1),
    reserve=st.integers(0, 300),
    soft=st.integers(0, 300),
)
sizes = st.integers(-10, 500)


@pytest.mark.parametrize(
    ("window", "size", "thresholds"),
    [
        (CLAW, 200_000, {"flush": 176_000}),
        (CAMEL, 80_000, {"flush": 64_000}),
        (LEGION, 100, {"flush": 60, "compact": 70, "prune": 90, "warn": 80}),
        (Window(flush=0.58), 50, {"flush": 29}),
        (Window(), 200_000, {}),
    ],
)
def test_each_step_is_due_from_so_many_tokens_on(window: Window, size: int, thresholds: dict[str, int]) -> None:
    assert window.thresholds(size) == thresholds
    for step, tokens in thresholds.items():
        assert step in window.due(tokens, size) and step not in window.due(tokens - 1, size)


@pytest.mark.parametrize("size", [24_000, 20_000, 1, 0, -1])
def test_a_window_no_larger_than_the_reserve_is_never_flushed(size: int) -> None:
    assert CLAW.due(10**9, size) == ()


@given(windows, sizes)
def test_nothing_is_due_while_nobody_knows_how_full_it_is(window: Window, size: int) -> None:
    assert window.due(None, size) == ()


@given(windows, st.integers(0, 500), st.integers(0, 500), sizes)
def test_what_is_due_stays_due_as_the_window_fills(window: Window, some: int, more: int, size: int) -> None:
    assert set(window.due(some, size)) <= set(window.due(some + more, size))


def test_what_is_cut_was_stored_before_and_the_warning_comes_last() -> None:
    assert LEGION.due(95, 100) == ("flush", "compact", "prune", "warn")
    assert LEGION.due(85, 100, cycle=2, flushed=2) == ("compact", "warn")
    assert LEGION.warning_text(85_000, 100_000).startswith("The context is 85 % full (85,000 of 100,000 tokens).")


@given(windows, st.integers(0, 600), sizes, st.lists(st.booleans()))
def test_a_flush_is_due_once_in_each_cycle_and_in_every_one(
    window: Window, tokens: int, size: int, ends: list[bool]
) -> None:
    is_full = "flush" in window.due(tokens, size)
    cycle, flushed, stored = 0, None, list[int]()
    for is_shortened in ends:
        if "flush" in window.due(tokens, size, cycle, flushed):
            stored.append(cycle)
            flushed = cycle
        cycle += is_shortened
    if ends:
        assert stored == (list(range(sum(ends[:-1]) + 1)) if is_full else [])


def test_a_flush_that_failed_is_due_again_and_a_counter_that_begins_anew_stops_none() -> None:
    assert CLAW.due(180_000, 200_000, cycle=3, flushed=2) == ("flush",)
    assert CLAW.due(180_000, 200_000, cycle=0, flushed=3) == ("flush",)
    assert CLAW.due(180_000, 200_000, cycle=3, flushed=3) == ()


@given(windows, st.integers(0, 600), sizes)
def test_who_may_not_store_is_not_asked_to_and_all_else_stays(window: Window, tokens: int, size: int) -> None:
    without = window.due(tokens, size, may_store=False)
    assert without == tuple(step for step in window.due(tokens, size) if step != "flush")


def test_the_prompt_names_the_note_its_date_and_the_token() -> None:
    text = CLAW.flush_prompt("memory/2026-03-01.md", date(2026, 3, 1))
    assert "to memory/2026-03-01.md, the note of 2026-03-01" in text
    assert "answer NO_REPLY and nothing else" in text and "{" not in text


def test_who_stores_facts_is_not_told_of_a_note_that_no_tool_adds_to() -> None:
    text = LEGION.flush_prompt("memory/2026-03-01.md", date(2026, 3, 1))
    assert "with your tools for memory" in text and "note" not in text.replace("nothing", "") and "{" not in text


@given(st.text(max_size=80), st.text(min_size=1, max_size=12))
def test_words_of_ones_own_that_lack_the_token_get_it(words: str, silent: str) -> None:
    window = Window(ask=words, silent=silent)
    assert silent in window.flush_prompt("memory/2026-03-01.md", date(2026, 3, 1))


def test_words_of_ones_own_that_have_the_token_stay_as_they_are() -> None:
    window = Window(ask="Store what matters in {note} ({date}), or say {silent}.")
    assert window.flush_prompt("x.md", date(2026, 3, 1)) == "Store what matters in x.md (2026-03-01), or say NO_REPLY."


@pytest.mark.parametrize("reply", ["", " \n", "NO_REPLY", "no_reply", " **NO_REPLY**\n", "`NO_REPLY`", "NO_REPLY."])
def test_a_silent_reply_is_for_nobody(reply: str) -> None:
    assert CLAW.is_silent(reply)


@pytest.mark.parametrize("reply", ["NO_REPLY is what I would say.", "Done.", "no reply", "- It uses NO_REPLY"])
def test_what_only_mentions_the_token_is_said(reply: str) -> None:
    assert not CLAW.is_silent(reply)


@pytest.mark.parametrize("reply", ["NOTHING", "Nothing.", "- none", "nine char", "NO_REPLY"])
def test_nothing_and_next_to_nothing_is_not_stored(reply: str) -> None:
    assert CLAW.is_nothing(reply) and not CLAW.is_nothing("- The dog is called Luna.")
