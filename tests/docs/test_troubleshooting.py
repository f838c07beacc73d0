"""Every error has its way out in `docs/troubleshooting.md`: a row with its message, or with a pattern of it."""

import re

import pytest

from .messages import Message, messages, pattern
from .pages import DOCS

PAGE = (DOCS / "troubleshooting.md").read_text("utf-8").partition("## Every message")[2]
#: The messages between backquotes in the first column of its tables.
ROWS = [told for row in re.findall(r"^\| (`.*?`) \| ", PAGE, re.MULTILINE) for told in re.findall(r"`([^`]+)`", row)]
MESSAGES = [message for message in messages() if not message.is_of_values_alone]


def plain(text: str) -> str:
    """A message as a cell of a table has it: without the backquotes around what one types."""
    return text.replace("`", "")


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.place)
def test_every_message_has_its_way_out(message: Message) -> None:
    found = [row for row in ROWS if pattern(row).fullmatch(plain(message.text))]
    assert found, f"{message.place}: {message.text!r} needs a row in docs/troubleshooting.md"


@pytest.mark.parametrize("row", ROWS)
def test_no_row_is_of_a_message_that_is_gone(row: str) -> None:
    assert any(pattern(row).fullmatch(plain(message.text)) for message in MESSAGES)


def test_all_errors_are_looked_for() -> None:
    assert len(MESSAGES) > 250
