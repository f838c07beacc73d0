"""Search: the words of a text, and BM25 as Lucene scores it."""

import math
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.search import Index, tokens
from crabmem.search.bm25 import K1, B

WORDS = st.lists(st.sampled_from("abcde"), max_size=8)
DOCUMENTS = st.lists(WORDS, max_size=7)


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


def by_hand(documents: list[list[str]], query: set[str]) -> dict[int, float]:
    """Scores of the documents that share a word with `query`: Lucene's, which drops the factor k1 + 1."""
    count = len(documents)
    average = sum(map(len, documents)) / count if count else 0.0
    scores: dict[int, float] = {}
    for word in sorted(query):
        holding = sum(word in document for document in documents)
        idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
        for position, document in enumerate(documents):
            if frequency := document.count(word):
                part = frequency / (frequency + K1 * (1 - B + B * len(document) / average))
                scores[position] = scores.get(position, 0.0) + idf * part
    return scores


@given(DOCUMENTS, WORDS)
@settings(max_examples=200, deadline=None)
def test_scores_are_lucenes_bm25(documents: list[list[str]], query: list[str]) -> None:
    hits = Index(documents).search(query)

    assert (K1, B) == (1.5, 0.75)
    assert dict(hits) == pytest.approx(by_hand(documents, set(query)), rel=1e-5)


@given(DOCUMENTS, WORDS)
@settings(max_examples=200, deadline=None)
def test_the_best_come_first_and_ties_in_the_order_indexed(documents: list[list[str]], query: list[str]) -> None:
    twice = Index(documents + documents)

    hits = twice.search(query)

    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.position))
    assert len({hit.position for hit in hits}) == len(hits)
    assert twice.search(query) == hits


@given(DOCUMENTS, WORDS, st.lists(st.integers(0, 6), max_size=5))
@settings(max_examples=200, deadline=None)
def test_among_leaves_out_the_others_and_changes_nothing_else(
    documents: list[list[str]], query: list[str], chosen: list[int]
) -> None:
    among = [position for position in chosen if position < len(documents)]
    index = Index(documents)

    assert index.search(query, among) == [hit for hit in index.search(query) if hit.position in among]


def test_a_word_counts_once_however_often_the_query_has_it() -> None:
    index = Index([["luna", "vet"], ["luna"], ["vet", "vet"]])

    assert index.search(["luna", "vet", "luna", "luna"]) == index.search(["luna", "vet"]) != []


def test_a_document_that_shares_no_word_is_no_hit() -> None:
    hits = Index([["luna"], [], ["vet"]]).search(["luna", "unheard"])

    assert [hit.position for hit in hits] == [0]


@pytest.mark.parametrize("documents", [[], [[]], [[], []], [["luna"]]])
@pytest.mark.parametrize("query", [[], ["unheard"], [""]])
def test_nothing_to_find_is_no_hit(documents: list[list[str]], query: list[str]) -> None:
    assert Index(documents).search(query) == []
