"""The fact that says nearly the same as a new one: surely the same, or none."""

import tomllib
from collections import Counter
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.recall.duplicates import near_duplicate
from crabmem.recall.entries import Entries
from crabmem.recall.labels import document
from crabmem.search import Index
from crabmem.text.entry import Entry, parse_entry

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
CASES = tomllib.loads((FIXTURES / "duplicates.toml").read_text())["fact"]


def fact(name: str, description: str = "", content: str = "", number: int = 0, **more: object) -> Entry:
    return Entry(f"memory/entries/{number}.md", "0" * 12, name, description, content, **more)  # type: ignore[arg-type]


def entries(facts: list[Entry]) -> Entries:
    index = Index().updated({each.path: document(each, bytes(40), "english") for each in facts})
    return Entries(index=index, read={each.path: each for each in facts}.__getitem__)


def workspace(name: str) -> Entries:
    files = sorted((FIXTURES / name / "memory/entries").glob("*.md"))
    return entries([parse_entry(f"memory/entries/{file.name}", file.read_bytes()) for file in files])


def like(new: Entry, among: Entries) -> str | None:
    found = near_duplicate(new, among, "english")
    return found.name if found else None


def test_what_is_named_is_nearly_the_same_and_most_of_what_is_nearly_the_same_is_named() -> None:
    known = {name: workspace(name) for name in {case["workspace"] for case in CASES}}
    outcomes = Counter[str]()
    for case in CASES:
        found = like(fact(case["name"], case["description"], case["content"]), known[case["workspace"]])
        if found is None:
            outcomes["missed" if "like" in case else "silent"] += 1
        else:
            outcomes["right" if found == case.get("like") else f"wrong: {case['name']}"] += 1
    assert not [each for each in outcomes if each.startswith("wrong")]
    assert outcomes["right"] >= 22
    assert outcomes["silent"] >= 30


@pytest.mark.parametrize("name", ["household", "coding-agent"])
def test_no_fact_of_a_sample_workspace_is_like_another(name: str) -> None:
    known = workspace(name)
    for path in known.paths:
        others = entries([known.at(other) for other in known.paths if other != path])
        assert like(known.at(path), others) is None


def test_a_name_that_is_an_alias_of_another_fact_is_that_fact() -> None:
    assert like(fact("Wireless LAN"), entries([fact("Wifi", aliases=("wireless LANs",), number=1)])) == "Wifi"


def test_names_that_differ_by_a_number_are_of_two_facts() -> None:
    one = fact("Incident 12", "what happened in the warehouse, and why", "The scanner lost its network for an hour.")
    other = fact("Incident 13", one.description, one.content, number=1)
    assert like(one, entries([other])) is None


def test_neither_a_note_nor_an_item_of_a_store_is_named() -> None:
    said = "The tide gauge at the north mole is read at noon, by whoever has the watch."
    note = fact("2026-03-01", "", said, is_note=True)
    item = fact("gauge", "", said, number=1, keys={"namespace": ["a"]})
    new = fact("Tide gauge", "", said, number=2)
    assert like(new, entries([note, item])) is None
    assert like(new, entries([note, item, fact("Reading", "", said, number=3)])) == "Reading"


_BIRDS = ["gull", "heron", "plover", "dunlin", "curlew", "teal", "wigeon", "scaup", "eider", "smew", "godwit", "knot"]


@given(st.lists(st.sampled_from(_BIRDS), min_size=8, unique=True))
def test_what_was_said_word_by_word_is_found_under_any_other_name(said: list[str]) -> None:
    known = [fact("Ringed", "", " ".join(said)), fact("Tide tables", "", "in the drawer", 1)]
    assert like(fact("List", "", " ".join(reversed(said)), 2), entries(known)) == "Ringed"


def test_a_very_long_fact_is_compared_with_none() -> None:
    said = " ".join(f"word{number}" for number in range(2_000))
    assert like(fact("A", "", said), entries([fact("B", "", said, 1)])) is None


def test_it_takes_less_than_a_millisecond_among_ten_thousand_facts() -> None:
    words = [f"{first}{last}" for first in ("sal", "mor", "tern", "keld") for last in map(str, range(700))]
    known = entries(
        [
            fact(f"Fact {number}", f"about {words[number % 2_800]}", " ".join(words[number % 53 :: 71]), number)
            for number in range(10_000)
        ]
    )
    new = fact("Fact new", "about what is new", f"{' '.join(words[5::71])} and what nobody else says", 10_000)
    near_duplicate(new, known, "english")

    def once() -> float:
        began = process_time()
        near_duplicate(new, known, "english")
        return process_time() - began

    assert min(once() for _ in range(20)) < 0.001
