"""Documents of several passages: each passage is ranked for itself, and the best one counts for its document."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.search import Document, Index, load, save
from crabmem.search.segment import Segment, build
from tests.examples import examples
from tests.search.test_search import after, by_plain_python, indexed, passages_by_hand, scores_of, small_steps

Passages = list[list[str]]
Model = dict[str, Passages]
Change = dict[str, Passages | None]

WORDS = st.lists(st.sampled_from("abcd"), max_size=5)
PASSAGES = st.lists(WORDS, min_size=1, max_size=4)
CHANGES = st.lists(st.dictionaries(st.sampled_from("klmno"), st.none() | PASSAGES, max_size=4), max_size=7)


def document(key: str, passages: Passages) -> Document:
    first, *further = passages
    return Document(key, repr(passages)[:4].encode(), first, ["all", f"is {key}"], further=further)


def documents(change: Mapping[str, Passages | None]) -> dict[str, Document | None]:
    return {key: None if passages is None else document(key, passages) for key, passages in change.items()}


def by_hand(model: Model, query: Sequence[str]) -> dict[str, list[float]]:
    """The scores of the passages of each document."""
    scores = iter(passages_by_hand([words for passages in model.values() for words in passages], query))
    return {key: [next(scores) for _ in passages] for key, passages in model.items()}


STEPS = (st.sampled_from([0, 2, 3]), st.sampled_from([1, 10]))


@given(CHANGES, WORDS, *STEPS)
@settings(max_examples=examples(300))
def test_a_document_scores_as_its_best_passage_after_any_changes(
    changes: list[Change], query: list[str], few: int, part: int
) -> None:
    index, model = after(changes, documents, few, part)
    expected = {key: max(scores) for key, scores in by_hand(model, query).items() if max(scores) > 0}
    assert scores_of(index.search(query)) == pytest.approx(expected, rel=1e-12)
    assert len(index) == len(model) and index.marks().keys() == model.keys()
    assert index.marks() == {key: repr(passages)[:4].encode() for key, passages in model.items()}


@given(CHANGES, WORDS, st.integers(1, 6), *STEPS)
@settings(max_examples=examples(300))
def test_both_readers_and_an_index_made_anew_answer_the_same_to_the_last_bit(
    changes: list[Change], query: list[str], limit: int, few: int, part: int
) -> None:
    index, model = after(changes, documents, few, part)
    found = index.search(query)
    assert found == by_plain_python(index, query) == Index().updated(documents({**model})).search(query)
    assert found[:limit] == index.search(query, limit) == by_plain_python(index, query, limit)


@given(CHANGES, *STEPS)
@settings(max_examples=examples(200))
def test_labels_and_words_are_those_of_documents(changes: list[Change], few: int, part: int) -> None:
    index, model = after(changes, documents, few, part)
    assert index.labelled("all") == sorted(model)
    assert sorted(index.pairs("is")) == sorted((f"is {key}", key) for key in model)
    for words in (["a"], ["a", "b"], ["c", "d", "a"]):
        held = {key: {word for passage in passages for word in passage} for key, passages in model.items()}
        assert index.having(words) == sorted(key for key in model if set(words) <= held[key])
    for word in "abx":
        assert index.document_frequency(word) == sum(word in words for each in model.values() for words in each)


@given(CHANGES, WORDS, *STEPS)
@settings(max_examples=examples(200))
def test_what_words_add_is_what_they_add_to_the_passage_that_counts(
    changes: list[Change], query: list[str], few: int, part: int
) -> None:
    index, model = after(changes, documents, few, part)
    words = list(dict.fromkeys(query))
    found = index.search(words)
    keys = [each.key for each in found]
    scores, best = by_hand(model, words), index.best_passages(words, keys)
    for each, added, number in zip(found, index.explained(words, keys), best, strict=True):
        assert math.isclose(sum(added.values()), each.score)
        assert added.keys() == set(words) & set(model[each.key][number])
        assert math.isclose(scores[each.key][number], each.score)


@given(CHANGES, *STEPS)
@settings(max_examples=examples(100))
def test_what_is_kept_on_disk_answers_the_same(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change], few: int, part: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    index, _ = after(changes, documents, few, part)
    assert save(index, folder)
    kept = load(folder)
    assert kept is not None
    for query in (["a"], ["b", "c"], ["a", "d", "x"]):
        assert kept.search(query) == by_plain_python(kept, query) == index.search(query)
    with small_steps(few, part):
        changed = [each.updated({"k": document("k", [["a"], ["b", "c"]]), "l": None}) for each in (index, kept)]
    assert changed[0].search(["a", "b"]) == changed[1].search(["a", "b"])
    assert (len(changed[0]), changed[0].marks()) == (len(changed[1]), changed[1].marks())


def test_a_passage_is_no_longer_for_what_it_is_found_by_and_does_not_say() -> None:
    said, found = Document("k", b"", ["day", "a"], (), [["day", "b"]], [1, 1]), Document("l", b"", ["c"])
    for index in (Index().updated({"k": said, "l": found}), Index([build([said, found])])):
        same = index.search(["a"])[0].score
        assert same == index.search(["b"])[0].score == index.search(["c"])[0].score
    with small_steps():
        again = Index([build([found])], build([said])).updated({"l": None})
        assert [int(length) for length in again.later().lengths] == [1, 1]


def test_where_every_document_is_one_passage_nothing_is_kept_of_passages() -> None:
    index = indexed([["a"], ["b"]])
    [segment] = [index.later()]
    assert not segment.has_passages and isinstance(segment.firsts, range)
    assert Segment(bytes(segment.data)).find("0001") == 1
