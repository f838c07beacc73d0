"""Diversity: hits that say the same make room for others where the profile says so, and nowhere else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidSettings, Memory
from crabmem.operations import files
from crabmem.operations import recall as operation
from crabmem.prompt.shipped import toml_of
from crabmem.recall.diversity import diverse
from crabmem.search import Ranked
from tests.searched import profile, write

SCORES = st.lists(st.floats(0, 30), max_size=20).map(lambda scores: sorted(scores, reverse=True))
TEXTS = st.lists(st.frozensets(st.sampled_from("abcdefgh")), min_size=20, max_size=20)
SAME = "The crane in the harbour was repaired by Moreno on Friday."


def ranked(scores: list[float]) -> list[Ranked]:
    return [Ranked(f"{at:02}", score) for at, score in enumerate(scores)]


@given(SCORES, TEXTS, st.floats(0, 1), st.integers(1, 25))
def test_as_many_of_what_was_found_are_chosen_the_best_first_and_none_twice(
    scores: list[float], texts: list[frozenset[str]], share: float, limit: int
) -> None:
    found = ranked(scores)
    chosen = diverse(found, lambda key: texts[int(key)], share, limit)
    assert len({each.key for each, _ in chosen}) == len(chosen) == min(limit, len(found))
    assert all(each in found and 0 <= said <= 1 for each, said in chosen)
    if found and share > 0:
        assert chosen[0] == (found[0], 0)


@given(SCORES, TEXTS, st.integers(1, 25))
def test_by_scores_alone_or_of_texts_with_no_word_in_common_the_order_stays(
    scores: list[float], texts: list[frozenset[str]], limit: int
) -> None:
    found = ranked(scores)
    assert [each for each, _ in diverse(found, lambda key: texts[int(key)], 1.0, limit)] == found[:limit]
    assert diverse(found, lambda key: frozenset(key + text for text in "xy"), 0.5, limit) == [
        (each, 0) for each in found[:limit]
    ]


def test_what_says_the_same_makes_room_and_so_much_less_as_its_score_counts_more() -> None:
    found, texts = ranked([10, 9, 4]), [frozenset("abc"), frozenset("abc"), frozenset("xyz")]

    def keys(share: float) -> list[str]:
        return [each.key for each, _ in diverse(found, lambda key: texts[int(key)], share, 2)]

    assert keys(0.7) == ["00", "01"] and keys(0.5) == ["00", "02"]  # .63 - .3 and .28; .45 - .5 and .2
    assert diverse(found, lambda key: texts[int(key)], 0.7, 3)[1:] == [(found[1], 1.0), (found[2], 0.0)]


def told_thrice(memory: Memory) -> None:
    """Three facts that say the same, and another that has less of the question."""
    for name in ("First", "Second", "Third"):
        memory.remember(name, "on the harbour", SAME)
    memory.remember("Keys", "who has them", "The yellow key of the crane hangs beside the radio.")


def test_facts_that_say_the_same_make_room_in_a_profile_that_says_so(tmp_path: Path) -> None:
    own = profile(tmp_path, mmr=0.3)
    with Memory(tmp_path / "own", profile=own) as memory, Memory(tmp_path / "plain") as plain:
        for each in (memory, plain):
            told_thrice(each)
        assert [hit.entry.name for hit in plain.recall("crane harbour", 2)] == ["First", "Second"]
        assert [hit.entry.name for hit in memory.recall("crane harbour", 2)] == ["First", "Keys"]
        found = operation.recall(memory, "crane harbour", explain=True).hits
        assert [hit.entry.name for hit in found] == ["First", "Keys", "Second", "Third"]
        assert found[0].repeated == 0 and 0 < (found[1].repeated or 0) < 0.5 < (found[2].repeated or 0) < 1
        assert all(hit.matches for hit in found)
        assert operation.recall(plain, "crane", explain=True).hits[0].repeated is None
        assert memory.recall("crane")[0].repeated is None


def test_sections_that_say_the_same_make_room_for_others_as_in_openclaw_with_its_share_turned_on(
    tmp_path: Path,
) -> None:
    said = toml_of("claw") or ""
    (tmp_path / "mine.toml").write_text(said.replace("snippet = 700\n", "snippet = 700\nmmr = 0.7\n"))
    for name, wanted in (("claw", 8), (str(tmp_path / "mine.toml"), 2)):
        with Memory(tmp_path / f"workspace-{wanted}", profile=name) as memory:
            write(memory.root, {f"memory/2026-05-{day:02}.md": f"{SAME}\n" for day in range(1, 8)})
            write(
                memory.root, {"MEMORY.md": "In the harbour the crane is yellow, and so is the key beside the radio.\n"}
            )
            found = [hit.path for hit in files.search(memory, "the crane in the harbour", 8).hits]
            assert len(found) == 8 and found.index("MEMORY.md") == wanted - 1


@pytest.mark.parametrize("value", ["1.5", "-0.1", '"high"'])
def test_a_share_is_from_nothing_to_all(tmp_path: Path, value: str) -> None:
    with pytest.raises(InvalidSettings, match="mmr"), Memory(tmp_path / "m", profile=profile(tmp_path, mmr=value)) as m:
        m.recall("crane")
