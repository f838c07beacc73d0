"""Feedback: what has rare words in common with what was found first moves up, and nothing else changes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.recall.feedback import FIRST, with_feedback
from crabmem.search import Ranked

SCORES = st.lists(st.floats(0.001, 30), max_size=70).map(lambda scores: sorted(scores, reverse=True))
TEXTS = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 5)), min_size=70, max_size=70)


@given(SCORES, TEXTS)
@settings(suppress_health_check=[HealthCheck.too_slow])  # seventy texts each, on a busy machine
def test_the_same_is_found_and_no_score_falls_or_rises_by_more_than_a_fifth_of_the_highest(
    scores: list[float], texts: list[dict[str, float]]
) -> None:
    found = [Ranked(f"{at:02}", score) for at, score in enumerate(scores)]
    moved = with_feedback(found, lambda key: texts[int(key)])
    assert sorted(each.key for each in moved) == [each.key for each in found]
    assert moved == sorted(moved, key=lambda each: -each.score) and moved[FIRST:] == found[FIRST:]
    before = {each.key: each.score for each in found}
    for each in moved:
        assert before[each.key] <= each.score <= before[each.key] + 0.2 * scores[0] + 1e-9


@given(SCORES)
def test_texts_that_have_nothing_in_common_stay_where_they_are(scores: list[float]) -> None:
    found = [Ranked(f"{at:02}", score) for at, score in enumerate(scores)]
    assert with_feedback(found, lambda key: {key: 1.0}) == found


def talk(memory: Memory) -> None:
    """Of two facts that have as much of the question, one has a rare word in common with the best."""
    memory.remember("Best", "of the harbour", "The crane was repaired by Moreno, who has a key to the crane.")
    memory.remember("A stranger", "of something", "A crane stood in the river for some time.")
    memory.remember("B neighbour", "of something", "A crane needs Moreno every so often.")
    for number in range(12):
        memory.remember(f"Note {number}", "of the day", f"Nothing happened, {number} times.")


@pytest.mark.parametrize("setting", ["", "feedback = true\n"])
def test_a_neighbour_of_the_best_moves_up_when_that_is_set(tmp_path: Path, setting: str) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    (root / "crabmem.toml").write_text(setting)
    with Memory(root) as memory:
        talk(memory)
        found = [hit.entry.name for hit in memory.recall("who has repaired the crane")]
        one = memory.recall("who has repaired the crane", 1)
        explained = memory.recall("who has repaired the crane", explain=True)
        budget = memory.recall("who has repaired the crane", budget=300)
    assert set(found) == {"Best", "A stranger", "B neighbour"} and found[0] == "Best" == one[0].entry.name
    assert (found.index("B neighbour") < found.index("A stranger")) == bool(setting)
    assert [hit.entry.name for hit in explained] == found == [*(hit.entry.name for hit in budget), *budget.left_out]


def test_feedback_goes_with_recency_and_with_filters(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    root.mkdir()
    (root / "crabmem.toml").write_text("feedback = true\nrecency = 0.5\n")
    with Memory(root) as memory:
        talk(memory)
        memory.remember("Tagged", "of a crane", "By Moreno.", tags=["harbour"])
        assert [hit.entry.name for hit in memory.recall("crane", tags=["harbour"])] == ["Tagged"]
        assert len(memory.recall("crane", 2)) == 2
