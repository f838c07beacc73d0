"""The words of a text."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.search import tokens
from crabmem.search.tokens import _of_any


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("?! … — 🦀", []),
        ("Running runs", ["run", "run"]),
        ("C++ and C#, or c", ["c++", "and", "c#", "or", "c"]),
        ("abc++ #tag a#b", ["abc", "tag", "a", "b"]),
        ("C++のビルド", ["c++", "のビ", "ビル", "ルド"]),
        ("日本語", ["日本", "本語"]),
        ("猫 x 犬", ["猫", "x", "犬"]),
        ("東京tower", ["東京", "tower"]),
        ("ﾊﾟﾝ ＨＴＴＰ", ["パン", "http"]),
        ("한국어", ["한국", "국어"]),
        ("parse_invoice_line", ["pars", "invoic", "line"]),
        ("HTTP 429", ["http", "429"]),
        ("Luna's", ["luna", "s"]),
        ("STRASSE Straße", ["strass", "strass"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("สวัสดี ที่นี่", ["สวัสดี", "ที่นี่"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize("text", ["café", "Käsespätzle", "パン", "한국어", "Ångström"])
def test_composed_and_decomposed_letters_are_the_same_words(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text)) != []


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_no_word_is_empty_or_holds_white_space(text: str) -> None:
    assert all(word and not any(char.isspace() for char in word) for word in tokens(text))


@given(st.text(st.characters(max_codepoint=127)) | st.text("abC1 #+_-'\n"))
@settings(max_examples=500, deadline=None)
def test_ascii_has_the_same_words_on_its_shorter_way(text: str) -> None:
    assert tokens(text) == list(_of_any(text, "english"))


def test_words_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens.__globals__, "_CACHED_WORDS", 2)
    assert tokens("walks walked walking running walks") == ["walk", "walk", "walk", "run", "walk"]
