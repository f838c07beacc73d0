"""HTML of texts that may say anything."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as some

from crabmem.text.html import element, escaped

BAD = some.one_of(
    some.text(some.characters(exclude_categories=["Cs"])),
    some.sampled_from(
        ["<script>alert(1)</script>", "</p><img src=x onerror=y>", '" onclick="x', "&lt;", "<!--", "]]>"]
    ),
)


class Reader(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags, self.text = list[tuple[str, dict[str, str | None]]](), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(BAD, BAD)
def test_no_text_makes_a_tag_or_an_attribute(text: str, value: str) -> None:
    read = Reader(element("p", text, class_="x", title=value))
    assert [(tag, set(attributes)) for tag, attributes in read.tags] == [("p", {"class", "title"})]


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u2066", "\x1b", "\0", "\u00ad", "\U000e0041", "\r"])
def test_what_nobody_sees_is_shown(sign: str) -> None:
    assert Reader(escaped(f"a{sign}b")).text == f"a‹U+{ord(sign):04X}›b"
    assert sign not in element("p", sign, title=sign)


@pytest.mark.parametrize("text", ["👨‍👩‍👧", "❤️", "می‌خواهم", "a\tb\n"])
def test_joiners_within_emoji_and_words_stay(text: str) -> None:
    assert Reader(escaped(text)).text == text
