"""Each row of messages in `docs/troubleshooting.md` is of a message that the program has."""

import re

from .messages import messages, pattern
from .pages import DOCS

PAGE = (DOCS / "troubleshooting.md").read_text("utf-8").partition("## Messages that need more than they say")[2]
#: The messages between backquotes in the first column of its tables.
ROWS = [told for row in re.findall(r"^\| (`.*?`) \| ", PAGE, re.MULTILINE) for told in re.findall(r"`([^`]+)`", row)]


def plain(text: str) -> str:
    """A message as a cell of a table has it: without the backquotes around what one types."""
    return text.replace("`", "")


def test_no_row_is_of_a_message_that_is_gone() -> None:
    told = [plain(message.text) for message in messages() if not message.is_of_values_alone]
    assert [row for row in ROWS if not any(map(pattern(row).fullmatch, told))] == []
