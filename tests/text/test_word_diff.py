"""Two texts word by word."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as some

from crabmem.text.word_diff import Piece, with_gaps, word_diff

TEXTS = some.lists(some.sampled_from(["a", "b", " ", "\n", "Luna's", ".", "\u05d0"]), max_size=30).map("".join)


@given(TEXTS, TEXTS)
def test_the_pieces_make_both_texts(before: str, after: str) -> None:
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after
    assert all(one.kind != other.kind for one, other in pairwise(pieces))


def test_a_word_that_changed_is_the_only_one() -> None:
    assert word_diff("The vet is Dr. Moreno.\n", "The vet is Dr. Ortega.\n") == [
        Piece("same", "The vet is Dr. "),
        Piece("gone", "Moreno"),
        Piece("new", "Ortega"),
        Piece("same", ".\n"),
    ]


def test_what_stays_is_cut_to_what_is_near() -> None:
    same = "".join(f"{number}\n" for number in range(20))
    found = with_gaps(word_diff(f"{same}x\n{same}", f"{same}y\n{same}"))
    assert "".join(piece.text for piece in found) == "…\n17\n18\n19\nxy\n0\n1\n…\n"


@given(TEXTS, TEXTS)
def test_a_gap_takes_nothing_that_changed(before: str, after: str) -> None:
    whole = word_diff(before, after)
    changed = [piece for piece in whole if piece.kind != "same"]
    assert [piece for piece in with_gaps(whole) if piece.kind != "same"] == changed
