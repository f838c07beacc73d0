"""Transcripts as lines: who said what when, whatever else stands in them, and no credential."""

import hashlib
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.credentials import credentials_in, redacted
from crabmem.text.transcripts import lines_of, time_of
from tests.pace import costing_less_than

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LINES = "\n".join(f"{at:02}MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7/x+{at:02}" for at in range(25))
KEY = f"-----BEGIN PRIVATE KEY-----\n{LINES}\n-----END PRIVATE KEY-----"


def said(text: object, **more: object) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}, **more}).encode()


@pytest.mark.parametrize(
    ("stamp", "shown"),
    [("2026-03-14T09:30:00.123Z", "2026-03-14T09:30:00Z "), ("2026-03-14T10:30:00+01:00", "2026-03-14T09:30:00Z "),
     (1_773_480_600_000, "2026-03-14T09:30:00Z "), ("yesterday", ""), (None, ""), (10**400, ""),
     ({}, ""), ("9999-12-31T23:59:59-23:00", "")],
)  # fmt: skip
def test_a_time_is_told_in_one_form_and_read_again(stamp: object, shown: str) -> None:
    [line] = lines_of(said("hello", timestamp=stamp))
    assert line == f"{shown}user: hello"
    assert (time_of(line) is not None) == bool(shown)
    if shown.startswith("2026"):
        assert time_of(line) == datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


def test_a_long_message_has_several_lines_each_with_who_and_when() -> None:
    words = "many words of one message " * 100
    lines = list(lines_of(said(words, timestamp="2026-03-14T09:30:00Z")))
    assert len(lines) > 4 and all(line.startswith("2026-03-14T09:30:00Z user: ") and len(line) < 540 for line in lines)
    assert " ".join(line.partition("user: ")[2] for line in lines) == words.strip()
    assert len(list(lines_of(said("x" * 1_200)))) == 3


@given(st.text(max_size=2_000))
def test_no_word_of_a_message_is_lost_and_no_line_breaks(text: str) -> None:
    lines = list(lines_of(said(text)))
    whole = "".join("".join(line.removeprefix("user: ").split()) for line in lines)
    assert whole == "".join(redacted(text).split())
    assert all(len(line.splitlines()) == 1 for line in lines)


@given(st.text(max_size=300), st.text(max_size=300))
def test_what_is_redacted_holds_no_credential(before: str, after: str) -> None:
    shown = redacted(f"{before} {TOKEN} {after}")
    assert TOKEN not in shown and not [each for each in credentials_in(shown) if TOKEN in each.text]


def test_credentials_are_masked_wherever_they_stand() -> None:
    assert redacted(f"it is {TOKEN}, as {TOKEN}") == "it is [GitHub token], as [GitHub token]"
    assert redacted("nothing\u200b here") == "nothing\u200b here"
    hidden = TOKEN[:12] + "\u200b" + TOKEN[12:]
    broken = TOKEN[:12] + "\n" + TOKEN[12:]
    assert redacted(f"it is {hidden}") == "it is [GitHub token]"
    assert redacted(f"it is {broken}") == "[left out: GitHub token]"
    for key in (KEY, KEY.replace("\n", "\\n"), KEY.replace("\n", "\r\n"), KEY[:400]):
        assert redacted(f"a key:\n{key}\n").strip() == "a key:\n[private key]"
    assert "hunter2hunter" not in redacted("api_key = hunter2hunter99x")
    for text in (hidden, broken, KEY):
        assert TOKEN[4:12] not in "".join(lines_of(said(text))) and "MIIEvQ" not in "".join(lines_of(said(text)))


def test_a_text_of_very_many_credentials_is_left_out_in_a_moment() -> None:
    many = "\n".join(f"ghp_{hashlib.sha256(bytes([at % 256, at // 256])).hexdigest()[:36]}" for at in range(20_000))
    with costing_less_than(5):
        assert redacted(many) == "[left out: 20,000 credentials]"
