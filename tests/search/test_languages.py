"""One memory in many languages: each is found, however it is typed, and none disturbs another."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem import Memory
from tests.languages import FACTS, QUERIES, SPOKEN, Fact


def written(root: Path, facts: list[Fact], language: str | None = None) -> Memory:
    """A memory of these facts, as a person with an editor writes them."""
    entries = root / "memory" / "entries"
    entries.mkdir(parents=True)
    for at, fact in enumerate(facts):
        header = f"name: {json.dumps(fact.name)}\ndescription: {json.dumps(fact.description)}"
        (entries / f"{at:03}.md").write_text(f"---\n{header}\n---\n\n{fact.content}\n", "utf-8")
    if language:
        (root / "crabmem.toml").write_text(f'language = "{language}"\n')
    return Memory(root)


EVERYTHING = [fact for facts in FACTS.values() for fact in facts]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of all facts in all languages, with the settings as they come."""
    with written(tmp_path_factory.mktemp("languages") / "all", EVERYTHING) as memory:
        yield memory


def first(memory: Memory, query: str) -> str:
    """The name of the fact that recall puts first, "" for none."""
    hits = memory.recall(query).hits
    return hits[0].entry.name if hits else ""


def test_every_language_has_ten_facts_and_three_questions() -> None:
    assert FACTS.keys() == QUERIES.keys()
    assert min(map(len, FACTS.values())) >= 10
    assert min(map(len, QUERIES.values())) >= 3
    assert len({fact.name for fact in EVERYTHING}) == len(EVERYTHING)


@pytest.mark.parametrize(
    ("query", "name"),
    [pytest.param(*pair, id=f"{each}: {pair[0]}") for each in QUERIES for pair in QUERIES[each].items()],
)
def test_a_question_finds_its_fact_first_among_all_languages(memory: Memory, query: str, name: str) -> None:
    assert first(memory, query) == name


@pytest.mark.parametrize("language", FACTS)
def test_every_fact_is_found_by_its_own_name(memory: Memory, language: str) -> None:
    assert [first(memory, fact.name) for fact in FACTS[language]] == [fact.name for fact in FACTS[language]]


@pytest.mark.parametrize("language", SPOKEN)
def test_endings_of_the_language_of_the_settings_are_seen_through(tmp_path: Path, language: str) -> None:
    with written(tmp_path / language, EVERYTHING, language) as memory:
        assert {query: first(memory, query) for query in SPOKEN[language]} == SPOKEN[language]


def test_other_languages_do_not_change_what_english_questions_find(tmp_path: Path, memory: Memory) -> None:
    english = {fact.name for fact in FACTS["english"]}
    with written(tmp_path / "english", FACTS["english"]) as alone:
        for query in QUERIES["english"]:
            among = [hit.entry.name for hit in memory.recall(query, 100) if hit.entry.name in english]
            own = [hit.entry.name for hit in alone.recall(query, 100)]
            assert (among[0], set(among)) == (own[0], set(own))


def test_a_phrase_is_found_in_every_language(memory: Memory) -> None:
    for facts in FACTS.values():
        for fact in facts:
            assert first(memory, f'"{fact.content}"') == fact.name
