"""Parts of texts, and shares of a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.passages import passage, shares

BOILER = "The boiler stands in the cellar. Its pressure should be 1.5 bar;"
TEXT = (
    "The house has three floors. Nobody uses the attic.\n\n"
    f"{BOILER} refill it at the blue tap.\n"
    "The garden gate sticks in winter. Lift it while you push. "
)


def words(text: str) -> list[str]:
    return [word.strip(".;!,").lower() for word in text.split()]


@pytest.mark.parametrize(
    ("asked", "characters", "found"),
    [
        ("boiler", 400, TEXT),
        ("boiler pressure", 100, f"…{BOILER} refill it at the blue tap.…"),
        ("boiler pressure", 70, f"…{BOILER}…"),
        ("attic", 40, "…Nobody uses the attic.…"),
        ("gate winter", 50, "…The garden gate sticks in winter.…"),
        ("push", 40, "…Lift it while you push."),
        ("nothing of that", 45, "The house has three floors.…"),
        ("attic", 2, "Th"),
    ],
)  # fmt: skip
def test_a_passage_is_where_the_words_stand(asked: str, characters: int, found: str) -> None:
    assert passage(TEXT, dict.fromkeys(asked.split(), 1.0), words, characters) == found


def test_what_counts_may_be_what_a_part_of_the_text_holds() -> None:
    asked = {"the": 1.0, "house": 1.0, "attic": 1.0}
    start = TEXT.index("The garden")
    assert "house" in passage(TEXT, asked, words, 60)
    assert (
        passage(TEXT, asked, words, 60, (start, len(TEXT)))
        == "…The garden gate sticks in winter. Lift it while you push."
    )


def test_the_rarer_word_decides_where_not_all_fit() -> None:
    assert "attic" in passage(TEXT, {"boiler": 1.0, "attic": 3.0}, words, 45)
    assert "boiler" in passage(TEXT, {"boiler": 3.0, "attic": 1.0}, words, 45)


@given(st.text("ab .\n。"), st.sets(st.sampled_from("ab")), st.integers(0, 40))
def test_a_passage_is_a_part_of_the_text_and_keeps_the_budget(text: str, asked: set[str], characters: int) -> None:
    found = passage(text, dict.fromkeys(asked, 1.0), words, characters)
    assert len(found) <= characters or found == text
    assert len(found) <= max(characters, 0)
    assert found.removeprefix("…").removesuffix("…") in text


@given(st.text("ab .\n", min_size=30), st.sampled_from("ab"), st.integers(10, 29))
def test_a_passage_holds_the_word_where_the_text_does(text: str, word: str, characters: int) -> None:
    found = passage(text, {word: 1.0}, lambda part: [char for char in part if char.isalpha()], characters)
    assert (word in text) == (word in found)


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(1, 200))), st.integers(1, 3_000))
def test_shares_keep_the_budget_and_leave_out_the_last(texts: list[tuple[int, int]], budget: int) -> None:
    lengths, least = [length for length, _ in texts], [least for _, least in texts]
    given_ = shares(lengths, budget, least)
    assert sum(given_) <= budget
    assert all(share <= length for share, length in zip(given_, lengths, strict=False))
    enough = zip(given_, map(min, lengths, least), strict=False)
    assert len(given_) == 1 or all(share >= needed for share, needed in enough)
    assert sum(lengths) > budget or given_ == lengths
    assert bool(given_) == bool(lengths)


def test_a_short_text_leaves_its_rest_to_a_long_one() -> None:
    assert shares([1_000, 50, 1_000], 850, [100] * 3) == [400, 50, 400]


def test_the_last_are_left_out_rather_than_cut_to_nothing() -> None:
    assert shares([1_000] * 5, 450, [200] * 5) == [225, 225]
    assert shares([1_000] * 5, 100, [200] * 5) == [100]
