"""Facts of which only the words are given: what they are called, where they are filed, which answer first."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import InvalidArguments
from crabmem.operations import notes, salient_facts, uses
from crabmem.text.fact_names import by_category, name_of
from tests.conftest import git
from tests.embedding import Own


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Meet at 10:30 tomorrow", "Meet at 10:30 tomorrow"),
        ("key: value", "key: value"),
        ("The deploy key is in the vault. It was rotated in May.", "The deploy key is in the vault"),
        ("We met Dr. Moreno in town.", "We met Dr. Moreno in town"),
        ("Use uv, e.g. Python 3.11 needs it.", "Use uv, e.g. Python 3.11 needs it"),
        ("\n# Tea \n\nAnn drinks it.", "Tea"),
        ("- Ann drinks tea", "Ann drinks tea"),
        ("会议在三点钟开始请大家准时。地点不变。", "会议在三点钟开始请大家准时"),
        (" \n ", ""),
    ],
)
def test_a_fact_is_called_by_its_first_sentence_and_no_key_is_guessed(content: str, name: str) -> None:
    assert name_of(content) == name


@given(st.text(max_size=400), st.text(max_size=400))
def test_what_begins_alike_is_told_apart(one: str, other: str) -> None:
    start = "word " * 40
    first, second = (" ".join((start + "x" + text).split()) for text in (one, other))
    if first.rstrip(".") != second.rstrip(".") and name_of(first) == name_of(second):
        # Only where the first sentence is the same, or what differs is seen by nobody.
        assert any(mark in one + other for mark in ".!?。！？") or not (one + other).isprintable()
    assert len(name_of(first)) <= 130


def test_what_ends_in_signs_is_told_apart() -> None:
    names = {name_of(f"The program is written in {language}") for language in ("C", "C#", "C++")}
    assert len(names) == 3


@given(st.lists(st.sampled_from(["", "a", "A", "b", "c", "d", "e"]), max_size=20))
def test_the_best_categories_come_first_the_best_hit_stays_first_and_none_is_lost(categories: list[str]) -> None:
    ranked = list(enumerate(categories))
    ordered = by_category(ranked, lambda each: each[1])
    assert sorted(ordered) == ranked and ordered[:1] == ranked[:1]
    best = list(dict.fromkeys(map(str.casefold, categories)))[:3]
    within = [category.casefold() in best for _, category in ordered]
    assert within == sorted(within, reverse=True)


def test_saving_is_one_commit_of_the_fact_and_a_line_in_the_note_of_today(memory: Memory) -> None:
    memory.init()
    saved = notes.save_fact(memory, "Meet Ann at 10:30 tomorrow.\nShe brings the plans.", "meetings")
    assert saved.entry.name == "Meet Ann at 10:30 tomorrow" and saved.entry.tags == ("meetings",)
    paths = git(memory.root, "show", "--name-only", "--format=%s", "HEAD").split()
    assert paths[-2].startswith("memory/20") and paths[-1] == saved.entry.path
    note = memory.root / paths[-2]
    assert note.read_text().rstrip().endswith("] Meet Ann at 10:30 tomorrow. She brings the plans.")
    notes.save_fact(memory, "The gate code is 7.")
    assert note.read_text().count("\n- [") == 2 and "\n\n- [" not in note.read_text().partition("- [")[2]


def test_the_same_again_changes_nothing_and_more_of_it_replaces(memory: Memory) -> None:
    notes.save_fact(memory, "The deploy key is in the vault. Rotated in May.", "ops")
    head = git(memory.root, "rev-parse", "HEAD")
    assert notes.save_fact(memory, "The deploy key is in the vault. Rotated in May.").commit is None
    assert git(memory.root, "rev-parse", "HEAD") == head
    again = notes.save_fact(memory, "The deploy key is in the vault. Rotated in June.")
    assert (
        not again.created
        and again.entry.tags == ("ops",)
        and "-The deploy key is in the vault. Rotated in May." in again.diff
    )
    memory.remember(again.entry.name, "where it lies", "x", tags=["ops", "keys"])
    entry = notes.save_fact(memory, "The deploy key is in the vault", "secrets").entry
    assert (entry.tags, entry.description) == (("secrets", "keys"), "where it lies")


def test_facts_that_only_begin_alike_do_not_replace_each_other(memory: Memory) -> None:
    start = (
        "Ann, who has worked at the harbour office for eleven years and knows every pilot of the port by name, likes"
    )
    notes.save_fact(memory, f"{start} tea.")
    notes.save_fact(memory, f"{start} coffee.")
    assert len(memory.entries()) == 2


def test_a_fact_that_is_very_much_like_another_gets_its_category(memory: Memory) -> None:
    notes.save_fact(memory, "Ann drinks green tea without sugar in the morning", "preferences")
    assert notes.save_fact(memory, "In the morning Ann drinks green tea without sugar or milk").entry.tags == (
        "preferences",
    )
    assert notes.save_fact(memory, "The harbour crane is rented until the end of May").entry.tags == ()


def test_a_fact_that_says_nearly_the_same_as_another_is_told_of_and_never_merged(memory: Memory) -> None:
    notes.save_fact(memory, "The north gate is locked at ten by the harbour guard")
    saved = notes.save_fact(memory, "At ten the harbour guard locked the north gate")
    assert saved.like is not None
    assert saved.like.name == "The north gate is locked at ten by the harbour guard"
    assert len(memory.entries()) == 2
    assert not notes.save_fact(memory, "At ten the harbour guard locked the north gate. Always.").like
    assert not notes.save_fact(memory, "The south gate is never locked").like


@pytest.mark.parametrize("content", ["", " \n", "---"])
def test_a_blank_fact_is_refused_and_nothing_is_made(memory: Memory, content: str) -> None:
    with pytest.raises(InvalidArguments, match="blank"):
        notes.save_fact(memory, content)
    assert not memory.root.exists()


def filled(memory: Memory) -> None:
    notes.save_fact(memory, "Tea is what Ann drinks", "preferences")
    notes.save_fact(memory, "Tea arrives with the ship from Assam", "trade")
    notes.save_fact(memory, "Tea is taxed by weight", "law")
    notes.save_fact(memory, "Tea stains are removed with salt and lemon", "household")
    notes.save_fact(memory, "Ann is the pilot of the tug", "people")


def test_a_category_is_searched_alone_unless_nothing_there_answers(memory: Memory) -> None:
    filled(memory)
    assert [each.entry.tags[0] for each in salient_facts.recall_facts(memory, "tea", "Trade")] == ["trade"]
    elsewhere = salient_facts.recall_facts(memory, "lemon", "trade")
    assert [each.entry.tags[0] for each in elsewhere] == ["household"]
    assert "nothing in the category trade answers" in elsewhere.note
    assert salient_facts.recall_facts(memory, "submarine", "trade").note.startswith("no match in 5 facts")


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
@pytest.mark.parametrize("category", [None, "trade", "nowhere"])
def test_an_answer_never_has_more_than_was_asked_for(memory: Memory, limit: int, category: str | None) -> None:
    filled(memory)
    found = salient_facts.recall_facts(memory, "tea Ann", category, limit)
    assert 0 < len(found) <= limit and len({each.entry.path for each in found}) == len(found)


def test_of_two_that_answer_alike_the_one_that_matters_more_is_first(memory: Memory) -> None:
    for name in ("North", "South"):
        memory.remember(f"{name} gate", "", "The gate is locked at ten.")
    first, second = (each.entry.name for each in salient_facts.recall_facts(memory, "gate locked"))
    for _ in range(5):
        uses.count_uses_by_name(memory, memory.recall(second))
    assert [each.entry.name for each in salient_facts.recall_facts(memory, "gate locked")] == [second, first]


def test_with_vectors_facts_are_recalled_by_meaning_in_the_same_tiers(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=Own()) as memory:
        notes.save_fact(memory, "Moreno is the vet of the puppy", "animals")
        notes.save_fact(memory, "The network is down on Mondays", "house")
        assert [each.entry.tags[0] for each in salient_facts.recall_facts(memory, "physician for my dog")][:1] == [
            "animals"
        ]
        assert [each.entry.tags for each in salient_facts.recall_facts(memory, "internet", "house", 5)] == [("house",)]
        assert len(salient_facts.recall_facts(memory, "doctor wifi", limit=1)) == 1


def test_only_what_was_asked_for_by_its_name_counts_as_used(memory: Memory) -> None:
    memory.remember("North gate", "", "Locked at ten.", aliases=["Old gate"])
    memory.remember("South gate", "", "Never locked.")
    for query in ("gate locked", "north  GATE", "old gate"):
        uses.count_uses_by_name(memory, salient_facts.recall_facts(memory, query))
    assert {each.entry.name: each.score > 1 for each in salient_facts.salient(memory)} == {
        "North gate": True,
        "South gate": False,
    }


@pytest.mark.parametrize(("query", "limit"), [("", 5), ("tea", 0), ("tea", -1), ("tea", 1_001)])
def test_what_cannot_be_asked_is_refused(memory: Memory, query: str, limit: int) -> None:
    with pytest.raises(InvalidArguments):
        salient_facts.recall_facts(memory, query, limit=limit)
