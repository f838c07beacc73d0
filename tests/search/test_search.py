"""The index: BM25 as Lucene scores it, after any changes, the same from both readers."""

import gc
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import bm25s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.search import Document, Index, Ranked, tokens
from crabmem.search.scoring import K1, B
from tests.conftest import FIXTURES
from tests.examples import examples

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "é", "犬"]), max_size=8)
DOCUMENTS = st.lists(WORDS, max_size=7)
KEYS = st.sampled_from(["k1", "k2", "é", "z", "K", "", "k1\n\0", "\udcff"])
CHANGES = st.lists(st.dictionaries(KEYS, st.none() | WORDS, max_size=4), max_size=8)

Model = dict[str, list[str]]
Change = dict[str, list[str] | None]
Said = TypeVar("Said")


def document(key: str, words: Sequence[str], labels: Sequence[str] = ()) -> Document:
    """A document whose mark says what its words are."""
    return Document(key, hash_of(words), words, labels)


def documents(change: Mapping[str, list[str] | None]) -> dict[str, Document | None]:
    """A change with documents of these words."""
    return {key: None if words is None else document(key, words) for key, words in change.items()}


def hash_of(words: Sequence[str]) -> bytes:
    """Some bytes of one length."""
    return (hash(tuple(words)) % 2**32).to_bytes(4, "big")


def indexed(documents: Sequence[Sequence[str]]) -> Index:
    """An index of documents whose keys are in the order of the list."""
    return Index().updated({f"{at:04}": document(f"{at:04}", words) for at, words in enumerate(documents)})


@contextmanager
def small_steps(few: int = 3, part: int = 10) -> Iterator[None]:
    """Within it few changes are many, so that segments are made, joined and built by bm25s.

    The large one is left as it is while the others are no more than the `part`th of it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crabmem.search.index.FEW", few)
        patch.setattr("crabmem.search.index._PART", part)
        patch.setattr("crabmem.search.segment.FEW", 1)
        patch.setattr("crabmem.search.segment._AT_ONCE", 2)
        yield


def after(
    changes: Sequence[Mapping[str, Said | None]],
    made: Callable[[Mapping[str, Said | None]], dict[str, Document | None]],
    few: int = 2,
    part: int = 1,
) -> tuple[Index, dict[str, Said]]:
    """An index after these changes, in several parts, and what is in it; `made` makes documents of a change."""
    index, model = Index(), dict[str, Said]()
    with small_steps(few, part):
        for change in changes:
            index = index.updated(made(change))
            model = {key: said for key, said in {**model, **change}.items() if said is not None}
    return index, model


def by_plain_python(index: Index, words: Sequence[str | tuple[str, ...]], limit: int | None = None) -> list[Ranked]:
    """What the first question of a process is answered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crabmem.search.index.numpy_pays", lambda: False)
        return index.search(words, limit)


def passages_by_hand(passages: Sequence[Sequence[str]], query: Iterable[str]) -> list[float]:
    """The score of each passage: Lucene's, which drops the factor k1 + 1."""
    average = sum(map(len, passages)) / max(1, len(passages))

    def score(words: Sequence[str]) -> float:
        total = 0.0
        for word in dict.fromkeys(query):
            if frequency := words.count(word):
                holding = sum(word in other for other in passages)
                idf = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
                total += idf * frequency / (frequency + K1 * (1 - B + B * len(words) / average))
        return total

    return list(map(score, passages))


def by_hand(documents: Model, query: Iterable[str]) -> dict[str, float]:
    """Scores of the documents that share a word with `query`."""
    scores = zip(documents, passages_by_hand(list(documents.values()), query), strict=True)
    return {key: score for key, score in scores if score > 0}


def by_bm25s(documents: Model) -> Callable[[Sequence[str]], dict[str, float]]:
    """What gives the scores of bm25s, which has indexed all of `documents` anew."""
    if not any(documents.values()):
        return lambda query: {}
    index = bm25s.BM25(k1=1.5, b=0.6, method="lucene")
    index.index(list(documents.values()), show_progress=False)

    def scores(query: Sequence[str]) -> dict[str, float]:
        known = [word for word in dict.fromkeys(query) if word in index.vocab_dict]
        found = index.get_scores(known) if known else [0.0] * len(documents)
        return {key: float(score) for key, score in zip(documents, found, strict=True) if score > 0}

    return scores


def scores_of(hits: Sequence[Ranked]) -> dict[str, float]:
    return {hit.key: hit.score for hit in hits}


@given(DOCUMENTS, WORDS)
@settings(max_examples=examples(200))
def test_scores_are_lucenes_bm25(documents: list[list[str]], query: list[str]) -> None:
    model = {f"{at:04}": words for at, words in enumerate(documents)}

    hits = scores_of(indexed(documents).search(query))

    assert (K1, B) == (1.5, 0.6)
    assert hits == pytest.approx(by_hand(model, set(query)), rel=1e-12)
    assert hits == pytest.approx(by_bm25s(model)(query), rel=1e-6)


@given(CHANGES, WORDS, st.sampled_from([0, 2, 3]), st.sampled_from([1, 10]))
@settings(max_examples=examples(400))
def test_after_any_changes_all_is_as_if_indexed_anew(
    changes: list[Change], query: list[str], few: int, part: int
) -> None:
    model: Model = {}
    index = Index()
    with small_steps(few, part):
        for change in changes:
            index = index.updated(documents(change))
            model = {key: words for key, words in (model | change).items() if words is not None}
            assert scores_of(index.search(query)) == pytest.approx(by_bm25s(model)(query), rel=1e-6)
            assert scores_of(index.search(query)) == pytest.approx(by_hand(model, set(query)), rel=1e-12)
            assert index.marks() == {key: hash_of(words) for key, words in model.items()}
            assert len(index) == len(model)


@given(DOCUMENTS, WORDS, st.integers(1, 9))
@settings(max_examples=examples(200))
def test_the_best_come_first_and_ties_in_the_order_of_keys(
    documents: list[list[str]], query: list[str], limit: int
) -> None:
    index = indexed(documents + documents)
    later = index.updated({key: None for key in ("0000", "0003")}).updated(
        {f"{at:04}": document(f"{at:04}", documents[at]) for at in (0, 3) if at < len(documents)}
    )

    hits = index.search(query)

    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.key))
    assert len({hit.key for hit in hits}) == len(hits)
    assert index.search(query, limit) == hits[:limit]
    assert later.search(query, limit) == hits[:limit] or len(documents) <= 3


@pytest.mark.parametrize("limit", [1, 6, 40, 999, 1000, None])
def test_of_many_that_score_the_same_the_first_keys_are_found(limit: int | None) -> None:
    index = indexed([["same", "thing"]] * 1000)

    assert [hit.key for hit in index.search(["same"], limit)] == [f"{at:04}" for at in range(1000)][:limit]
    assert by_plain_python(index, ["same"], limit) == index.search(["same"], limit)


def test_very_common_words_are_left_to_numpy_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    index = indexed([["same", "thing"]] * 20)
    monkeypatch.setattr("crabmem.search.index._MANY", 39)
    monkeypatch.setattr("crabmem.search.index.scores_of", None)

    assert by_plain_python(index, ["same", "thing"]) == index.search(["thing", "same"])


@given(DOCUMENTS, WORDS, st.sets(st.integers(0, 14)), st.integers(1, 9))
@settings(max_examples=examples(200))
def test_what_is_not_accepted_is_left_out_and_changes_nothing_else(
    documents: list[list[str]], query: list[str], chosen: set[int], limit: int
) -> None:
    accept: Callable[[str], bool] = lambda key: int(key) in chosen  # noqa: E731
    index = indexed(documents + documents)
    hits = [hit for hit in index.search(query) if accept(hit.key)]

    assert index.search(query, None, accept) == hits
    assert index.search(query, limit, accept) == hits[:limit]


def test_no_more_are_asked_about_than_must_be() -> None:
    asked: list[str] = []
    index = indexed([["dog"] * (1 + at % 7) for at in range(400)])

    def accept(key: str) -> bool:
        asked.append(key)
        return len(asked) > 5

    hits = index.search(["dog"], 3, accept)

    assert asked == [hit.key for hit in index.search(["dog"], 8)]
    assert hits == index.search(["dog"], 8)[5:]


@pytest.mark.parametrize("documents", [[], [[]], [[], []], [["luna"]]])
@pytest.mark.parametrize("query", [[], ["unheard"], [""]])
@pytest.mark.parametrize("limit", [None, 1, 6])
def test_nothing_to_find_is_no_hit(documents: list[list[str]], query: list[str], limit: int | None) -> None:
    assert indexed(documents).search(query, limit) == by_plain_python(indexed(documents), query, limit) == []


def test_labels_are_found_exactly_and_never_ranked() -> None:
    index = Index().updated(
        {
            key: document(key, ["word"], labels)
            for key, labels in {"b": ["Dog", "pet"], "a": ["pet", "pet"], "c": []}.items()
        }
    )

    assert index.labelled("pet") == ["a", "b"]
    assert index.labelled("pe") == index.labelled("word") == [] == index.search(["pet"])
    assert list(index.labels()) == ["Dog", "pet"]
    assert list(index.labels("p")) == ["pet"]
    assert sorted(index.pairs("p")) == [("pet", "a"), ("pet", "b")]


@given(CHANGES)
@settings(max_examples=examples(200))
def test_labels_follow_the_changes(changes: list[Change]) -> None:
    def labelled(change: Mapping[str, list[str] | None]) -> dict[str, Document | None]:
        return {key: None if labels is None else document(key, [], labels) for key, labels in change.items()}

    index, model = after(changes, labelled)
    every = sorted({label for labels in model.values() for label in labels})
    assert list(index.labels()) == every
    assert sorted(index.pairs("")) == sorted((label, key) for key, labels in model.items() for label in {*labels})
    assert [index.labelled(label) for label in every] == [
        sorted(key for key, labels in model.items() if label in labels) for label in every
    ]


def test_an_index_stays_as_it_was_when_others_are_made_of_it() -> None:
    old = indexed([["luna"], ["vet"]])
    one = old.updated({"0000": None, "new": document("new", ["luna", "park"])})
    other = old.updated({"0001": document("0001", ["luna", "luna"])})
    further = one.updated({"0001": document("0001", ["park"])})

    assert [hit.key for hit in old.search(["luna"])] == ["0000"]
    assert [hit.key for hit in one.search(["luna"])] == ["new"]
    assert [hit.key for hit in other.search(["luna"])] == ["0001", "0000"]
    assert [hit.key for hit in further.search(["park"])] == ["0001", "new"]
    assert [len(each) for each in (old, one, other, further)] == [2, 2, 2, 2]


def test_threads_may_ask_and_change_one_index() -> None:
    index = indexed([["dog", f"w{at}"] for at in range(200)])

    def changed(at: int) -> list[str]:
        new = index.updated({f"n{at}": document(f"n{at}", ["dog", "new"])})
        return [hit.key for hit in new.search(["new"])] + [hit.key for hit in index.search([f"w{at}", "new"])]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(changed, range(200))) == [[f"n{at}", f"{at:04}"] for at in range(200)]


def test_marks_of_different_lengths_are_refused() -> None:
    marks = {str(at): Document(str(at), b"x" * at, ["word"]) for at in range(5)}
    with small_steps(), pytest.raises(ValueError, match="marks differ in length"):
        Index().updated(marks)


def test_bm25s_and_counting_by_hand_build_the_same_segment() -> None:
    from crabmem.search.segment import build

    documents = [document(str(at), ["x"] * at * at + [f"w{at % 7}", "all"], ["even"] * (at % 2)) for at in range(60)]
    counted = build(documents)
    with small_steps():
        assert bytes(build(documents).data) == bytes(counted.data)


def test_the_texts_of_the_fixtures_score_as_bm25s_has_it() -> None:
    model = {str(file): tokens(file.read_text("utf-8", "replace")) for file in sorted(FIXTURES.rglob("*.md"))}
    index = Index().updated({key: document(key, words) for key, words in model.items()})
    queries = [words[at : at + 5] for words in model.values() for at in range(0, len(words), 17)][:300]

    anew = by_bm25s(model)

    for query in queries:
        assert scores_of(index.search(query)) == pytest.approx(anew(query), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_large_random_corpus_scores_as_bm25s_has_it(seed: int) -> None:
    luck = random.Random(seed)
    model = {f"{at:04}": [f"w{int(luck.paretovariate(0.6))}" for _ in range(luck.randrange(200))] for at in range(1200)}
    index = Index().updated({key: document(key, words) for key, words in list(model.items())[:700]})
    index = index.updated({key: document(key, words) for key, words in list(model.items())[700:900]})
    index = index.updated({key: document(key, words) for key, words in list(model.items())[900:]})
    anew = by_bm25s(model)

    for _ in range(50):
        query = [f"w{int(luck.paretovariate(0.6))}" for _ in range(luck.randrange(1, 8))]
        hits = index.search(query)
        assert scores_of(hits) == pytest.approx(anew(query), rel=2e-6)
        assert by_plain_python(index, query) == hits
        assert index.search(query, 6) == by_plain_python(index, query, 6) == hits[:6]


@given(CHANGES)
@settings(max_examples=examples(60))
def test_the_rarity_of_a_word_is_what_scores_are_made_of(changes: list[Change]) -> None:
    index, kept = after(changes, documents)
    for word in ("a", "é", "unknown"):
        holding = sum(word in words for words in kept.values())
        assert index.idf(word) == math.log(1 + (len(kept) - holding + 0.5) / (holding + 0.5))
        index.search([word])
        assert index.idf(word) == math.log(1 + (len(kept) - holding + 0.5) / (holding + 0.5))


def test_a_document_that_is_not_there_explains_nothing() -> None:
    [nobody, somebody] = indexed([["a"]]).explained(["a"], ["nobody", "0000"])
    assert nobody == {} and somebody


GROUPS = st.lists(st.sampled_from(["a", "b", "é", "犬", "x"]), min_size=1, max_size=3, unique=True).map(tuple)


@given(CHANGES, WORDS, GROUPS, st.integers(1, 9))
@settings(max_examples=examples(300))
def test_words_of_a_group_count_as_one_word(
    changes: list[Change], query: list[str], group: tuple[str, ...], limit: int
) -> None:
    index, model = after(changes, documents)
    as_one = {key: ["one" if word in group else word for word in words] for key, words in model.items()}

    expected = scores_of(index.search(query))
    for key, score in by_hand(as_one, {"one"}).items():
        expected[key] = expected.get(key, 0.0) + score

    assert scores_of(index.search([*query, group])) == pytest.approx(expected, rel=1e-12)
    assert by_plain_python(index, [group, *query]) == index.search([group, *query])
    assert index.search([group, *query], limit) == index.search([group, *query])[:limit]


@given(CHANGES, WORDS, GROUPS)
@settings(max_examples=examples(200))
def test_documents_that_have_all_words_are_found_whatever_their_order(
    changes: list[Change], words: list[str], group: tuple[str, ...]
) -> None:
    index, model = after(changes, documents)
    held = {key for key, own in model.items() if set(words) <= set(own) and set(group) & set(own)}

    assert index.having([*words, group]) == sorted(held)


@given(st.lists(st.text("abé犬", max_size=5), max_size=12), st.text("abé犬", min_size=1, max_size=3))
@settings(max_examples=examples(300))
def test_words_are_found_by_their_beginning_and_by_any_part(words: list[str], part: str) -> None:
    index = Index().updated({"recent": document("recent", words[::2])})
    with small_steps():
        index = index.updated({str(at): document(str(at), [word]) for at, word in enumerate(words)})

    assert index.containing(part) == sorted({word for word in words if part in word})
    assert index.starting(part) == sorted({word for word in words if word.startswith(part)})


def keys(index: Index, *words: str) -> list[str]:
    assert by_plain_python(index, words) == index.search(words)
    return [hit.key for hit in index.search(words)]


def test_a_word_nobody_has_is_found_in_longer_ones() -> None:
    index = indexed([["krankenversicherungskart"], ["haftpflichtversicherung"], ["sicher"], ["prevent", "eventu"]])

    assert keys(index, "versicherung") == ["0000", "0001"]
    assert keys(index, "event") == ["0003"]
    assert index.search(["event"]) == index.search(["eventu"])
    assert keys(index, "sich") == keys(index, "versicherung1") == keys(index, "rank") == []
    assert keys(index, "krankenversicherungskarten") == keys(index, "eventuality") == []


def test_a_word_somebody_has_is_not_looked_for_elsewhere() -> None:
    index = indexed([["versicherung"], ["krankenversicherung"], ["kranken"]])
    without = index.updated({"0000": None})

    assert keys(index, "versicherung") == ["0000"]
    assert keys(index, "krankenversicherung") == ["0001"]
    assert keys(without, "versicherung") == ["0001"]


@pytest.mark.parametrize(("unit", "pairs"), [("猫", ["黒猫", "猫の"]), ("집", ["집에"]), ("แม", ["แมว"])])
def test_one_character_is_found_in_all_pairs_that_have_it(unit: str, pairs: list[str]) -> None:
    index = indexed([[unit], pairs, ["犬の", "แซม"]])

    assert sorted(keys(index, unit)) == ["0000", "0001"]


def test_a_pair_nobody_has_is_found_where_one_of_it_stands_alone() -> None:
    index = indexed([["빵"], ["빵집"], ["을"], ["약"]])

    assert keys(index, "빵을") == ["0000", "0002"]
    assert keys(index, "빵") == ["0000", "0001"]


def test_an_ending_nobody_removed_is_seen_through_outside_of_ascii() -> None:
    index = indexed([["বিড়াল"], ["বিড়"], ["deploys"], ["পা"]])

    assert keys(index, "বিড়ালের") == ["0000"]
    assert keys(index, "deploysed") == keys(index, "পাসওয়ার্ড") == []


@given(CHANGES, st.sampled_from(["aaaaa", "bbbbb", "犬"]))
@settings(max_examples=examples(200))
def test_what_stands_for_a_word_does_not_depend_on_what_is_gone(changes: list[Change], word: str) -> None:
    longer = {"a": "xxaaaaa", "b": "bbbbbx", "c": "yyybbbbb", "d": "yyyaaaaa", "犬": "犬の"}
    changes = [
        {key: words and [longer.get(each, each) for each in words] for key, words in change.items()}
        for change in changes
    ]
    index, model = after(changes, documents)
    anew = Index().updated(documents({**model}))

    assert scores_of(index.search([word])) == pytest.approx(scores_of(anew.search([word])), rel=1e-12)
    assert by_plain_python(index, [word]) == index.search([word])
    for ranked in index.search([word, "a", "bbbbb"]):
        [added] = index.explained(list(index.terms_for([word, "a", "bbbbb"])), [ranked.key])
        assert sum(added.values()) == pytest.approx(ranked.score, rel=1e-12)


def test_a_new_word_is_one_object_to_the_garbage_collector() -> None:
    """With three a document of many different words took four times as long."""
    many = Document("a.md", b"", [f"w{at}" for at in range(10_000)])
    before = len(gc.get_objects())
    index = Index().updated({"a.md": many})

    assert len(gc.get_objects()) - before < 11_000
    assert index.is_held("w9999")
