"""Passages of entries and files: where they are cut, and that the one that answers is ranked, shown and named."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.operations import files as files_operations
from crabmem.operations import maintenance
from crabmem.recall import passages
from crabmem.recall.passages import part_of, parts_of
from crabmem.results import json_of
from tests.examples import examples
from tests.searched import profile, write

FILLER = "Nothing of this is about what anybody might ask for, and it goes on for a while.\n"
LONG = FILLER * 40
TEXTS = st.text(st.sampled_from("ab é語\n"), max_size=400)


def spans(text: str) -> list[tuple[int, int]]:
    return [part for part in parts_of(text) if part]


@given(TEXTS, st.integers(20, 60), st.integers(0, 20), st.integers(60, 300))
@settings(max_examples=examples(300))
def test_passages_are_in_order_even_and_hold_all_of_the_text(text: str, size: int, overlap: int, whole: int) -> None:
    values = {
        "_SHORT": size,
        "_SIZE": size,
        "_OVERLAP": min(overlap, size // 2),
        "_WHOLE": whole,
        "_LINE": 5,
        "_WORD": 5,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(passages, name, value)
        parts, found = parts_of(text), spans(text)
    assert (None in parts) == (len(text) <= whole) and parts == [None] * (None in parts) + found
    assert bool(found) == (len(text) > size)
    if found:
        assert found[0][0] == 0 and found[-1][1] == len(text)
        lengths = [end - start for start, end in found]
        assert max(lengths) <= size + 5 + 1 and min(lengths) >= size / 2 - 5 - 1
    for (start, end), (following, last) in pairwise(found):
        assert start < following <= end <= last
        assert end - following <= overlap + 5


def test_a_cut_is_at_a_line_or_between_words() -> None:
    assert all(LONG[start - 1] == "\n" for start, _ in spans(LONG)[1:])
    long_line = "word " * 400
    assert all(long_line[start - 1] == " " for start, _ in spans(long_line)[1:])
    assert spans("語" * 5_000)[-1][1] == 5_000
    assert part_of("some text", None) == "some text" and part_of("some text", (5, 9)) == "text"


def test_a_long_fact_is_found_for_its_passage_and_not_for_words_that_stand_far_apart(memory: Memory) -> None:
    memory.remember("Scattered", "a log", f"The valve.\n{LONG}It was brass.\n{LONG}It is left-handed.")
    memory.remember("Together", "a log", f"{LONG}The valve is of brass and left-handed.\n{LONG}")
    for number in range(8):
        memory.remember(f"Note {number}", "a note", "A valve, or something of brass.")
    assert memory.recall("is the brass valve left-handed")[0].entry.name == "Together"


def test_the_lines_of_the_passage_that_counts_are_named_when_that_is_asked(memory: Memory) -> None:
    memory.remember("Long", "a log", f"{LONG}The valve is left-handed.\n{LONG}")
    memory.remember("Short", "a log", "The valve.")
    by_name = {hit.entry.name: hit for hit in memory.recall("valve left-handed", explain=True)}
    first, last = by_name["Long"].lines or (0, 0)
    assert first <= 41 <= last and last - first < 25
    assert by_name["Short"].lines is None and memory.recall("valve")[0].lines is None
    assert sum(match.added for match in by_name["Long"].matches) == pytest.approx(by_name["Long"].score)
    [told] = json_of(memory.recall("left-handed", explain=True))["hits"]
    assert told["lines"] == [first, last]


def test_within_a_budget_the_passage_that_counts_is_shown(memory: Memory) -> None:
    scattered = "The valve.\nThe brass.\nThe hand."  # says as much, in a passage that counts for less
    answer = "A valve of brass is opened by hand: valve, brass, hand."
    memory.remember("Log", "of the machine", f"{scattered}\n{LONG}{answer}\n{LONG}")
    [hit] = memory.recall("valve brass hand", budget=400)
    assert answer in hit.shown and "The valve." not in hit.shown


def test_sections_of_files_have_the_same_passages(tmp_path: Path) -> None:
    texts = {
        "MEMORY.md": f"The valve.\n{LONG}It was brass.\n{LONG}It is left-handed.\n",
        "memory/one.md": f"{LONG}The valve is of brass and left-handed.\n{LONG}",
        **{f"memory/note-{number}.md": "A valve, or something of brass.\n" for number in range(8)},
    }
    root = write(tmp_path / "notes", texts)
    with Memory(root, profile=profile(tmp_path, "file")) as searched:
        found = files_operations.search(searched, "is the brass valve left-handed")
        assert found[0].path == "memory/one.md"
        before = [(hit.path, hit.score) for hit in found]
        (root / "memory/one.md").write_text(f"{texts['memory/one.md']}{LONG}And more.\n")
        files_operations.search(searched, "valve")
        (root / "memory/one.md").write_text(texts["memory/one.md"])
        again = files_operations.search(searched, "is the brass valve left-handed")
    assert [(hit.path, hit.score) for hit in again] == before


def test_a_chunk_is_a_passage_as_it_is(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", {"MEMORY.md": f"The valve.\n{LONG}It is left-handed.\n"})
    for unit, has_passages in (("chunk", False), ("file", True)):
        with Memory(root, profile=profile(tmp_path, unit)) as searched:
            assert len(files_operations.search(searched, "valve")) == 1
            assert searched.engine.searcher.index.later().has_passages == has_passages


def test_an_edit_of_a_long_fact_ranks_as_an_index_made_anew(memory: Memory) -> None:
    memory.remember("Log", "of the machine", f"{LONG}The valve is left-handed.\n{LONG}")
    memory.remember("Other", "of the valve", LONG)
    memory.recall("valve")
    memory.remember("Log", "of the machine", f"{LONG}The valve is left-handed, the pump is not.\n{LONG * 2}")
    asked = "left-handed valve pump machine"
    found = [(hit.entry.name, hit.score) for hit in memory.recall(asked)]
    maintenance.reindex(memory)
    assert [(hit.entry.name, hit.score) for hit in memory.recall(asked)] == found


def test_a_line_of_a_person_is_found_before_an_answer_of_a_page_to_it(memory: Memory) -> None:
    answer = "For a leaking valve replace the seal. Turn the valve off, open it, clean it; a leaking seal is worn.\n"
    memory.remember("m1", "user, 5 January 2024", "My valve is leaking again, the one behind the boiler.")
    memory.remember("m2", "assistant, 5 January 2024", answer + LONG)
    for number in range(8):
        memory.remember(f"m{number + 3}", "assistant", f"{LONG}A boiler has a valve.\n")
    assert memory.recall("leaking valve")[0].entry.name == "m1"


@pytest.mark.parametrize(("who", "is_first"), [("user", True), ("Human, Monday", True), ("user guide", False)])
def test_the_same_words_count_more_in_a_turn_of_a_person(memory: Memory, who: str, is_first: bool) -> None:
    memory.remember("a", "assistant", "The valve leaks.")
    memory.remember("b", who, "The valve leaks.")
    first, second = memory.recall("valve")
    assert (first.entry.name == "b" and first.score > second.score) == is_first
    maintenance.reindex(memory)
    assert [hit.score for hit in memory.recall("valve")] == [first.score, second.score]
