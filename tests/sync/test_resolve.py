"""Deciding between two texts: of two machines, or of a merge that Git itself left undecided."""

import json

import pytest

from crabmem import NotFound
from crabmem.errors import Disabled
from crabmem.operations import proposals
from crabmem.operations.conflicts import take_side

from .conftest import Two, crab, crabs


def test_a_decision_is_called_so_in_the_history_and_is_the_persons(disputing: Two) -> None:
    one, _ = disputing
    crab(one.root, "resolve", "Luna", "--theirs")
    newest = one.log()[0]
    assert (newest.subject, newest.is_person) == ("resolve: Luna as the other machine has it", True)
    assert not proposals.proposals(one)


MARKED = (
    "---\nname: Luna\ndescription: the cat\n---\n\n"
    "A cat.\n<<<<<<< HEAD\nEleven.\n=======\nTwelve.\n>>>>>>> other\nGrey.\n"
)


@pytest.mark.parametrize(("side", "text"), [("ours", "A cat.\nEleven.\nGrey."), ("theirs", "A cat.\nTwelve.\nGrey.")])
@pytest.mark.parametrize("name", ["Luna", "memory/entries/luna.md", "luna.md"])
def test_a_file_with_marks_that_git_left_is_not_recalled_until_one_text_is_taken(
    two: Two, side: str, text: str, name: str
) -> None:
    one, _ = two
    (one.root / "memory/entries/luna.md").write_text(MARKED)
    assert not one.recall("cat").hits
    assert any("`crabmem resolve`" in each.message for each in one.doctor())
    assert "memory/entries/luna.md" in crab(one.root, "resolve").stdout
    assert [each["path"] for each in json.loads(crab(one.root, "resolve", "--json").stdout)] == [
        "memory/entries/luna.md"
    ]
    assert "Twelve." in crab(one.root, "resolve", name).stdout
    crab(one.root, "resolve", name, f"--{side}")
    assert one.get("Luna").content == text
    assert crabs(one.root, "resolve") == "nothing waits to be decided\n"
    assert one.log()[0].is_person


def test_of_an_overview_with_marks_each_side_can_be_taken(two: Two) -> None:
    one, _ = two
    file = one.root / "memory/MEMORY.md"
    file.write_text(
        "# Overview\r\n<<<<<<< HEAD\r\none\r\n||||||| base\r\nnone\r\n=======\r\ntwo\r\n>>>>>>> laptop\r\n", newline=""
    )
    assert any(
        each.path == "memory/MEMORY.md" and "`crabmem resolve memory/MEMORY.md`" in each.message
        for each in one.doctor()
    )
    crab(one.root, "resolve", "MEMORY.md", "--theirs")
    assert file.read_bytes() == b"# Overview\r\ntwo\r\n"


def test_an_agent_decides_between_no_two_texts(two: Two) -> None:
    one, _ = two
    (one.root / "memory/entries/luna.md").write_text(MARKED)
    with pytest.raises(Disabled, match="a person decides between two texts"):
        take_side(one.for_actor("coder", None), "memory/entries/luna.md", "ours")
    (one.root / "memory/entries/luna.md").write_text(MARKED.replace("=======\n", ""))
    with pytest.raises(NotFound, match="no two texts between whole marks"):
        take_side(one, "memory/entries/luna.md", "ours")
