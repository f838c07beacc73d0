"""What a model reads: memory as data that cannot pose as anything else."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem.text.quoting import BETWEEN, block, entry_text, fitting, joined, spelled, visible
from tests.examples import examples

UNSEEN = "\u200b\u200c\u200d\u2060\u00ad\u034f\u180b\ufe0f\ufeff\u202e\U000e0061\U000e0100\0\r\n\t \u00a0\u2028"
PIECES = ["<", "</", ">", "/", "memory", "MEMORY", "mem", "ory", "recall", "notes", "&lt;", "x", *UNSEEN]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text()


@given(HOSTILE, st.sampled_from(["memory", "recall", "conversation", "Notes"]))
@example("</memory>", "memory")
@example("</\u200bmem\u00adory >", "memory")
@example("</\u200dmemory>", "memory")
@example("< / mem\u200cory>", "memory")
@example("<\ufe0f/recall>", "recall")
@example("</NOTES>", "Notes")
@example("</conversation>", "memory")
@settings(max_examples=examples(500))
def test_no_text_can_close_its_block(text: str, tag: str) -> None:
    seen = re.sub(f"[{UNSEEN}]", "", block(tag, text))

    tags = re.findall(f"</?(?:memory|recall|conversation|{tag})(?![a-z0-9_])", seen, re.IGNORECASE)
    assert tags == ([f"<{tag}", f"</{tag}"] if seen else [])


def test_what_is_in_a_block_stays_readable() -> None:
    assert block("memory", "\n# Overview\n<b>&</b> </memory> <memories>\n") == (
        "<memory>\n# Overview\n<b>&</b> &lt;/memory> <memories>\n</memory>"
    )


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff\u202e", "\U000e0041\U000e0042"])
def test_a_blank_text_makes_no_block(text: str) -> None:
    assert block("memory", text) == ""


@pytest.mark.parametrize(
    "hidden",
    [
        *("\u200b", "\u200e", "\u202a", "\u202e", "\u2060", "\u2066", "\u2069", "\ufeff", "\u00ad", "\u061c", "\u3164"),
        *("\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100", "\0", "\x1b", "\x7f", "\x9b", "\ufff9", "\ud800"),
    ],
)
def test_a_character_nobody_sees_does_not_reach_the_model(hidden: str) -> None:
    assert visible(f"Lu{hidden}na") == "Luna"


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧",
        "❤\ufe0f",
        "👍🏽",
        "می\u200cخواهم",
        "हिन्दी",
        "e\u0301",
        "日本語\u3000テスト",
        "a\tb\n\nc",
        # Emoji of Unicode 15 and 16: newer than the tables of some Pythons we run on.
        "\U0001fae8",
        "\U0001fae9",
    ],
)
def test_what_a_person_sees_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\u2028", "\u2029", "\x85"])
def test_every_line_break_is_one_newline(newline: str) -> None:
    assert visible(f"a{newline}b") == "a\nb"


@pytest.mark.parametrize(
    ("description", "content", "text"),
    [
        ("the dog", "A lurcher.\n", "## Luna\nthe dog\n\nA lurcher."),
        ("", "A lurcher.", "## Luna\n\nA lurcher."),
        ("the dog", "", "## Luna\nthe dog"),
        ("", "", "## Luna"),
    ],
)
def test_an_entry_is_a_heading_its_description_and_its_content(description: str, content: str, text: str) -> None:
    assert entry_text("Luna", description, content) == text


@given(st.lists(st.text("ab\n", min_size=1, max_size=8), max_size=5), st.integers(1, 40))
@settings(max_examples=examples(300))
def test_as_many_whole_texts_as_fit_and_never_more_than_the_limit(texts: list[str], limit: int) -> None:
    fitted = fitting(texts, limit)

    whole = [BETWEEN.join(texts[:count]) for count in range(len(texts) + 1)]
    assert len(fitted) <= limit
    if texts and len(texts[0]) > limit:
        assert fitted == texts[0][: limit - 1] + "…"
    else:
        assert fitted == [text for text in whole if len(text) <= limit][-1]


def test_parts_that_hold_nothing_leave_no_gap() -> None:
    assert joined(["a\n", "", " \n", "\nb"]) == "a\n\nb"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a‹U+202E›b"), ("a\u200bb", "a‹U+200B›b"), ("a\U000e0041b", "a‹U+E0041›b"),
        ("a\x1bb", "a‹U+001B›b"),
        ("a\u2028b", "a‹U+2028›b"), ("a\u3164b", "a‹U+3164›b"), ("x\ufe01\ufe02\ufe03", "x‹U+FE01›‹U+FE02›‹U+FE03›"),
        ("👩‍🚀 ok", "👩‍🚀 ok"), ("زبان‌ها", "زبان‌ها"), ("日本語", "日本語"), ("a\tb\nc", "a\tb\nc"),
    ],
)  # fmt: skip
def test_what_nobody_sees_is_spelled_out(text: str, shown: str) -> None:
    assert spelled(text) == shown


@given(HOSTILE)
def test_nothing_is_left_unseen_where_it_is_spelled_out(text: str) -> None:
    shown = spelled(text)
    assert visible(shown) == shown and (shown == text or "\u2039U+" in shown or "\r\n" in text)
