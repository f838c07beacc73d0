"""From a question to an answer: what fits a budget, what a score is made of, which changes are meant."""

import math
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Expectation, Memory
from crabmem.errors import InvalidArguments, NotFound
from crabmem.operations import evaluate
from crabmem.recall.ranking import text_of
from crabmem.results import Recall
from crabmem.search import Index
from crabmem.text.quoting import BETWEEN
from tests.conftest import FIXTURES, git
from tests.examples import examples

LONG = " ".join(f"Sentence number {number} says nothing of it." for number in range(200))


def names(found: Recall) -> list[str]:
    return [hit.entry.name for hit in found]


def rendered(found: Recall) -> str:
    return BETWEEN.join(text_of(hit) for hit in found)


@pytest.fixture
def household(tmp_path: Path) -> Memory:
    """A sample whose entries a person committed one day after the other, the first on 1 March 2026."""
    root = tmp_path / "household"
    entries = sorted((FIXTURES / "household" / "memory" / "entries").glob("*.md"))
    (root / "memory/entries").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for day, file in enumerate(entries, start=1):
        (root / "memory/entries" / file.name).write_bytes(file.read_bytes())
        git(root, "add", ".")
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        git(root, *who, "commit", "-q", "-m", file.stem, when=f"2026-03-{day:02}T12:00:00Z")
    return Memory(root)


@given(budget=st.integers(1, 6_000), limit=st.integers(1, 8))
@settings(max_examples=examples(60))
def test_an_answer_keeps_its_budget_and_the_best_come_first(budget: int, limit: int) -> None:
    with Memory(FIXTURES / "household") as memory:
        whole = memory.recall("the dog and the house in winter, paper, water", limit)
        found = memory.recall("the dog and the house in winter, paper, water", limit, budget=budget)
    first = text_of(found[0], "")
    assert len(rendered(found)) <= max(budget, len(first))
    assert names(found) == names(whole)[: len(found)] and found.left_out == tuple(names(whole)[len(found) :])
    assert len(rendered(whole)) > budget or [hit.passage for hit in found] == [None] * len(whole)


def test_of_a_long_fact_the_passage_that_matched_is_shown(memory: Memory) -> None:
    memory.remember("Log", "of the machine", f"{LONG} The valve is left-handed. {LONG}")
    [hit] = memory.recall("valve", budget=400)
    assert hit.passage and "The valve is left-handed." in hit.passage and hit.entry.content.count("Sentence") == 400
    assert memory.recall("valve", budget=400).note == "1 fact cut to the passage that matched"


def test_what_a_budget_leaves_out_is_named(memory: Memory) -> None:
    for number in range(4):
        memory.remember(f"Log {number}", "of the valve", f"valve {LONG}")
    found = memory.recall("valve", budget=450)
    assert names(found) == ["Log 0", "Log 1"] and found.left_out == ("Log 2", "Log 3")
    assert found.note.endswith("left out, as the budget holds no more: Log 2, Log 3")
    said = memory.call("recall", {"query": "valve"})
    assert len(said.text) < memory.settings.recall_budget + 200


def test_the_first_may_have_half_of_the_budget_and_what_the_others_leave(memory: Memory) -> None:
    first, others = LONG[:3_000], [f"valve {number} " + LONG[:3_000] for number in range(3)]
    memory.remember("Log", "of the valve, the valve", f"valve {first}")
    memory.remember("Short", "a part", "The valve.")
    assert [hit.passage for hit in memory.recall("valve", budget=4_000)] == [None, None]
    for number, text in enumerate(others):
        memory.remember(f"Other {number}", "another part", text)
    found = memory.recall("of the valve", budget=4_000)
    assert 1_500 < len(text_of(found[0])) <= 2_000 and len(rendered(found)) > 3_500


def test_long_descriptions_leave_out_the_last_and_not_all_but_the_first(memory: Memory) -> None:
    for number in range(40):
        memory.remember(f"Log {number}", "of the valve " * 15, f"valve {LONG}")
    found = memory.recall("valve", 40, budget=4_000)
    assert len(found) == 2 and 3_000 < len(rendered(found)) <= 4_000
    assert all("valve" in hit.shown for hit in found)


def test_a_note_is_no_second_answer(memory: Memory) -> None:
    for number in range(40):
        memory.remember(f"Log {number} {'of the machine ' * 20}", "of the valve", "valve")
    left = memory.recall("valve", 40, budget=500)
    assert len(left.left_out) == 39 and left.note.endswith(" and 29 more") and len(left.note) < 1_000
    unsaid = memory.recall(f'"valve {LONG[:4_000]}"')
    assert unsaid.hits and len(unsaid.note) < 200


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_of_nothing_is_an_error(memory: Memory, budget: int) -> None:
    with pytest.raises(InvalidArguments, match="budget must be at least 1"):
        memory.recall("valve", budget=budget)


@pytest.mark.parametrize("query", ["who looks after the dog", "boiler fault code F28", "Oma Grete Sahne Käsespätzle"])
def test_what_is_explained_makes_up_the_score(query: str) -> None:
    with Memory(FIXTURES / "household") as memory:
        for plain, hit in zip(memory.recall(query), memory.recall(query, explain=True), strict=True):
            assert (plain.entry, plain.score, plain.matches) == (hit.entry, hit.score, ())
            assert math.isclose(sum(match.added for match in hit.matches), hit.score)
            assert all(match.added > 0 for match in hit.matches)


def test_many_hits_are_explained_by_as_many_looks_as_one(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        memory.remember(f"Log {number}", "of the valve", f"valves{number} and pipes")
    looks, holders = [0], Index._holders

    def counted(self: Index, word: Any) -> Any:
        looks[0] += 1
        return holders(self, word)

    monkeypatch.setattr(Index, "_holders", counted)
    taken = []
    for limit in (1, 12):
        looks[0] = 0
        assert len(memory.recall("valve* pipe", limit, explain=True)) == limit
        taken.append(looks[0])
    assert taken[1] <= taken[0]


def test_an_explanation_names_the_word_as_asked_and_its_field(memory: Memory) -> None:
    memory.remember("Luna", "the dog", "Dr. Moreno is for dogs.", aliases=["Moreno"], tags=["pets"])
    [hit] = memory.recall("dogs, pets? MORENO!", explain=True)
    found = {(match.word, match.field) for match in hit.matches}
    dogs, moreno = {("dogs,", "content"), ("dogs,", "description")}, {("MORENO!", "aliases"), ("MORENO!", "content")}
    assert found == {*dogs, *moreno, ("pets?", "tags")}


def test_only_facts_changed_since_or_until_are_found(household: Memory) -> None:
    slugs = [entry.slug for entry in household.entries()]
    query = " ".join(entry.name for entry in household.entries())

    def found(since: str | None, until: str | None) -> set[str]:
        return {hit.entry.slug for hit in household.recall(query, 100, since=since, until=until)}

    every = found(None, None)
    assert every == set(slugs)
    for day in (1, 3, len(slugs)):
        after, before = found(f"2026-03-{day:02} 13:00", None), found(None, f"2026-03-{day:02} 13:00")
        assert before == set(slugs[:day]) and after == set(slugs[day:])
    assert found("2026-03-02 13:00", "2026-03-04 13:00") == set(slugs[2:4])
    assert found("2020-01-01", None) == every and found(None, "2020-01-01") == set()


@pytest.mark.parametrize("when", ["", " ", "nonsense"])
def test_a_time_that_is_none_is_an_error_and_not_all_times(household: Memory, when: str) -> None:
    questions = [Expectation("dog", ("Luna's vet",))]
    for ask in (
        lambda: household.recall("dog", since=when),
        lambda: household.recall("dog", until=when),
        lambda: evaluate.evaluate(household, questions, since=when),
    ):
        with pytest.raises(NotFound, match="no revision named"):
            ask()


def test_an_edit_that_no_commit_has_yet_is_a_change_since_the_last(household: Memory) -> None:
    (household.root / "memory/entries/new.md").write_text("A quokka.")
    assert names(household.recall("quokka", since="HEAD")) == ["new"]
    assert household.recall("quokka", until="HEAD").note.endswith("with the tags and dates that were asked for")
    with pytest.raises(NotFound, match="no revision named never"):
        household.recall("quokka", since="never")


@pytest.mark.parametrize("recency", ["", "recency = 1.0"])
def test_recency_is_for_files_named_by_a_day_and_only_when_set(tmp_path: Path, recency: str) -> None:
    entries = tmp_path / "memory/entries"
    entries.mkdir(parents=True)
    today = date.today()
    old, new = today - timedelta(days=50), today - timedelta(days=1)
    for name in (f"{old}-log", f"{new}-log", "a"):
        (entries / f"{name}.md").write_text("---\nname: Log\n---\n\nquokka seen")
    (tmp_path / "crabmem.toml").write_text(recency)
    with Memory(tmp_path) as memory:
        order = [hit.entry.slug for hit in memory.recall("quokka")]
        scores = {hit.entry.slug: hit.score for hit in memory.recall("quokka")}
    dated = [f"{new}-log", f"{old}-log", "a"]
    assert order == (dated if recency else sorted(dated))
    assert scores[f"{new}-log"] / scores["a"] == pytest.approx(1 + 0.5 ** (1 / 30) if recency else 1)


def test_a_question_of_a_beginning_that_thousands_of_words_have_asks_once_how_rare_it_is(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Many", "d", " ".join(f"qz{number}" for number in range(2_000)))
    asked, idf = [], Index.idf

    def counting(self: Index, word: Any, least: int = 0) -> float:
        asked.append(word)
        return idf(self, word, least)

    monkeypatch.setattr(Index, "idf", counting)
    assert memory.recall("q*").hits and len(asked) < 20
