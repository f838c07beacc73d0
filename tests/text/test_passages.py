"""Parts of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.passages import passage

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
