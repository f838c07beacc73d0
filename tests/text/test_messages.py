"""Messages of a conversation: what belongs together stays together, and nothing of what is asked about is left out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.messages import Message, facts_in, groups, portions, split_messages, transcript, turns


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def openai(*ids: str) -> list[Message]:
    calls = [{"id": each, "type": "function", "function": {"name": "recall", "arguments": "{}"}} for each in ids]
    results = [{"role": "tool", "tool_call_id": each, "content": f"result of {each}"} for each in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def anthropic(*ids: str) -> list[Message]:
    calls = [{"type": "tool_use", "id": each, "name": "recall", "input": {"query": "x"}} for each in ids]
    results = [{"type": "tool_result", "tool_use_id": each, "content": f"result of {each}"} for each in ids]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def responses(*ids: str) -> list[Message]:
    calls = [{"type": "function_call", "call_id": each, "name": "recall", "arguments": "{}"} for each in ids]
    return [*calls, *({"type": "function_call_output", "call_id": each, "output": f"result of {each}"} for each in ids)]


STYLES = {"openai": openai, "anthropic": anthropic, "responses": responses}


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Talk, and calls of tools in one style; ids are never used twice."""
    style = draw(st.sampled_from([openai, anthropic, responses]))
    messages: list[Message] = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["user", "assistant", "call"]))
        ids = [f"c-{number}-{each}" for each in range(draw(st.integers(1, 3)))]
        plain = [user(f"question {number}")] if kind == "user" else [said(f"answer {number}")]
        messages += style(*ids) if kind == "call" else plain
    return messages


def ids_in(messages: list[Message]) -> tuple[set[str], set[str]]:
    """The calls and the results among messages, read off their JSON."""
    text = json.dumps(messages)
    called = {each for each in ID if f'"id": "{each}"' in text or f'"call_id": "{each}", "name"' in text}
    answered = {
        each
        for each in ID
        if f'use_id": "{each}"' in text
        or f'tool_call_id": "{each}"' in text
        or f'"function_call_output", "call_id": "{each}"' in text
    }
    return called, answered


ID = [f"c-{number}-{each}" for number in range(12) for each in range(3)]


@given(conversations(), st.integers(1, 6), st.sampled_from(["group", "turn"]))
def test_no_cut_parts_a_call_from_its_result_and_nothing_is_lost(messages: list[Message], keep: int, unit: Any) -> None:
    first, old, kept = split_messages(messages, keep, unit)
    assert first + old + kept == messages
    for part in (old, kept):
        called, answered = ids_in(part)
        assert called == answered


@given(conversations())
def test_groups_and_turns_are_the_messages_in_order(messages: list[Message]) -> None:
    for units in (groups(messages), turns(messages)):
        assert [message for unit in units for message in unit] == messages and all(units)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_a_call_of_two_tools_and_their_results_are_one_group(style: Any) -> None:
    messages = [user("where is the key"), *style("a", "b"), said("in the vault")]
    assert [len(group) for group in groups(messages)] == [1, len(messages) - 2, 1]
    assert len(turns(messages)) == 1


def test_a_result_whose_call_is_gone_stays_with_what_is_before_it() -> None:
    orphan = {"role": "tool", "tool_call_id": "gone", "content": "x"}
    assert groups([orphan, user("a"), orphan]) == [[orphan], [user("a"), orphan]]


def test_messages_of_the_system_stay_in_front_and_count_as_none() -> None:
    system = {"role": "system", "content": "be kind"}
    assert split_messages([system, user("a"), said("b")], 1, "group") == ([system], [user("a")], [said("b")])


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_what_is_told_has_every_call_and_result(style: Any) -> None:
    text = transcript([user("where is the key"), *style("a"), said("in the vault")])
    assert "user: where is the key" in text and "(recall: {" in text and "result of a" in text
    assert text.endswith("assistant: in the vault")


def test_a_picture_is_named_and_its_bytes_are_not_told() -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBOR" * 100}}
    text = transcript([{"role": "user", "content": [{"type": "text", "text": "look"}, picture]}])
    assert text == "user: look\n(image)"


@given(st.text(max_size=300), st.integers(2, 100))
def test_portions_are_the_whole_text_in_pieces_that_are_small_enough(text: str, size: int) -> None:
    pieces = list(portions(text, size))
    assert "".join(pieces) == text and all(0 < len(piece) <= size for piece in pieces)


FACT = {"key": "dog", "value": "Luna", "category": "people"}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps([FACT]),
        f"Here they are [1]:\n```json\n{json.dumps([FACT], indent=2)}\n```\nAnything else?",
        json.dumps({"facts": [FACT]}),
        f"[] no, wait: {json.dumps([FACT])}",
    ],
)
def test_facts_are_found_whatever_a_model_writes_around_them(reply: str) -> None:
    assert facts_in(reply) == [FACT]


@pytest.mark.parametrize("reply", ["", "I cannot do that.", '[{"key": "dog", "value', "[1, 2]", "[" * 5_000])
def test_what_is_no_array_of_objects_is_no_answer(reply: str) -> None:
    assert facts_in(reply) is None


def test_an_empty_array_is_an_answer() -> None:
    assert facts_in("There is nothing: []") == []
