"""Deciding between two texts: of two machines, or of a merge that Git itself left undecided."""

import json

import pytest

from crabmem import Memory, NotFound
from crabmem.errors import Disabled
from crabmem.operations import proposals
from crabmem.operations.conflicts import disputed, keep_both, take_side

from .conftest import Two, crab, crabs, synced


def test_a_decision_is_called_so_in_the_history_and_is_the_persons(disputing: Two) -> None:
    one, _ = disputing
    crab(one.root, "review", "resolve", "Luna", "--theirs")
    newest = one.log()[0]
    assert (newest.subject, newest.is_person) == ("resolve: Luna as the other machine has it", True)
    assert not proposals.proposals(one)


def test_who_decides_is_shown_who_wrote_both_texts_and_when_and_which_words_differ(two: Two) -> None:
    one, other = two
    agent = one.for_actor("coder", "s-1")
    agent.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    for memory in (one, other, one):
        synced(memory)
    for memory in (one, other):
        listed = crab(memory.root, "review", "resolve").stdout
        assert "there: person*, 20" in listed and "waits: coder [s-1], 20" in listed
        shown = crab(memory.root, "review", "resolve", "Luna").stdout
        assert "-[-Twelve-] years old." in shown and "+{+Eleven+} years old." in shown
        assert "there  person*" in shown and "waits  coder [s-1]" in shown
    [data] = json.loads(crab(one.root, "review", "resolve", "--json").stdout)["proposals"]
    assert (data["ours"]["author"], data["theirs"]["agent"], data["theirs"]["session"]) == ("person", "coder", "s-1")
    assert data["theirs"]["time"] and data["path"] == "memory/entries/luna.md"


def test_both_keeps_the_lines_of_both_texts_in_one_fact(disputing: Two) -> None:
    one, other = disputing
    assert crab(one.root, "review", "resolve", "Luna", "--both").stdout == "both are kept: memory/entries/luna.md\n"
    for memory in (one, other):
        synced(memory)
        assert sorted(memory.get("Luna").content.splitlines()) == ["A cat.", "Eleven years old.", "Twelve years old."]
        assert not proposals.proposals(memory)


def test_both_keeps_two_descriptions_in_one(two: Two) -> None:
    for memory, words in zip(two, ("our cat", "a cat, black"), strict=True):
        memory.remember("Luna", words, "A cat.\nTen years old.")
    for memory in (*two, two[0]):
        synced(memory)
    crab(two[0].root, "review", "resolve", "Luna", "--both")
    assert sorted(two[0].get("Luna").description.split("; ")) == ["a cat, black", "our cat"]


def test_both_makes_two_facts_where_one_key_has_two_values(two: Two) -> None:
    for memory, colour in zip(two, ("black", "grey"), strict=True):
        text = f"---\nname: Luna\ndescription: the cat\ncolour: {colour}\n---\n\nA cat.\nTen years old.\n"
        memory.file("memory/entries/luna.md").write_text(text)
    for memory in (*two, two[0]):
        synced(memory)
    one, other = two
    assert (
        "memory/entries/luna.md and memory/entries/luna-2.md"
        in crab(one.root, "review", "resolve", "Luna", "--both").stdout
    )
    assert {one.get(name).keys["colour"] for name in ("Luna", "Luna (2)")} == {"black", "grey"}
    for memory in (one, other):
        synced(memory)
        assert not proposals.proposals(memory)
        assert len(memory.entries()) == 2


def test_the_editor_opens_with_the_lines_of_both_and_nothing_is_decided_if_nothing_is_written(
    disputing: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = disputing
    monkeypatch.setenv("EDITOR", "true")
    assert crabs(one.root, "resolve", "Luna", "--edit") == "nothing changed; it still waits\n"
    assert proposals.proposals(one)
    monkeypatch.setenv("EDITOR", "sed -i -e /Eleven/d -e s/Twelve/Thirteen/")
    crab(one.root, "review", "resolve", "Luna", "--edit")
    assert one.get("Luna").content == "A cat.\nThirteen years old."
    assert not proposals.proposals(one)
    assert one.log()[0].is_person


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
    assert any("`crabmem review resolve`" in each.message for each in one.doctor())
    assert "memory/entries/luna.md" in crab(one.root, "review", "resolve").stdout
    assert [each["path"] for each in json.loads(crab(one.root, "review", "resolve", "--json").stdout)["proposals"]] == [
        "memory/entries/luna.md"
    ]
    assert "Twelve." in crab(one.root, "review", "resolve", name).stdout
    crab(one.root, "review", "resolve", name, f"--{side}")
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
        each.path == "memory/MEMORY.md" and "`crabmem review resolve memory/MEMORY.md`" in each.message
        for each in one.doctor()
    )
    crab(one.root, "review", "resolve", "MEMORY.md", "--theirs")
    assert file.read_bytes() == b"# Overview\r\ntwo\r\n"


def test_an_agent_decides_between_no_two_texts(two: Two) -> None:
    one, _ = two
    (one.root / "memory/entries/luna.md").write_text(MARKED)
    with pytest.raises(Disabled, match="a person decides between two texts"):
        take_side(one.for_actor("coder", None), "memory/entries/luna.md", "ours")
    with Memory(one.root) as nobody, pytest.raises(Disabled, match="a person decides between two texts"):
        take_side(nobody, "memory/entries/luna.md", "ours")
    (one.root / "memory/entries/luna.md").write_text(MARKED.replace("=======\n", ""))
    with pytest.raises(NotFound, match="no two texts between whole marks"):
        take_side(one, "memory/entries/luna.md", "ours")


def test_an_agent_keeps_no_two_texts(disputing: Two) -> None:
    one, _ = disputing
    [waiting] = disputed(one)
    with pytest.raises(Disabled):
        keep_both(one.for_actor("coder", None), waiting.proposal)
    assert disputed(one) == [waiting]


def test_the_beginning_of_an_id_decides_of_one_text_and_an_empty_name_of_none(disputing: Two) -> None:
    one, other = disputing
    for memory, text in ((one, "Loud."), (other, "Quiet.")):
        memory.remember("Ada", "the dog", text)
    for memory in (one, other, one):
        synced(memory)
    waiting = {each.path: each.proposal.id for each in disputed(one)}
    for vague in ("", waiting["memory/entries/luna.md"][:1]):
        assert "does not tell which" in crab(one.root, "review", "resolve", vague, "--theirs", status=1).stderr
    assert len(disputed(one)) == 2
    crab(one.root, "review", "resolve", waiting["memory/entries/luna.md"][:8], "--theirs")
    assert [each.path for each in disputed(one)] == ["memory/entries/ada.md"]


@pytest.mark.parametrize("names", [["Our cat"], ["Our cat", "The cat"], ["Our cat", "Luna"]])
def test_what_waits_follows_its_fact_to_another_name(disputing: Two, names: list[str]) -> None:
    one, other = disputing
    before = "Luna"
    for name in names:
        one.rename(before, name)
        before = name
    listed = crab(one.root, "review", "resolve").stdout
    assert one.get(before).path in listed and "there: person*, 20" in listed and "waits: person*, 20" in listed
    crab(one.root, "review", "resolve", before, "--theirs")
    assert (one.get(before).name, one.get(before).content.splitlines()[1]) == (before, "Eleven years old.")
    assert not proposals.proposals(one) and len(one.entries()) == len(other.entries())
    for memory in (one, other):
        synced(memory)
    assert other.get(before).content == one.get(before).content
