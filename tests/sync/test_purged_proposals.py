"""Proposals when a purge comes: their own words stay, what was purged goes, and a decision is one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.operations.proposals import apply_proposal, proposals, reject_proposal
from tests.conftest import git
from tests.faults.repository import traces

from .conftest import Machine, synced

BOAT = Path("memory/entries/boat.md")
TEXT = "One.\nTwo.\nPin 12 34\nThree.\nFour."
Decide = Callable[[Memory, str], object]


@pytest.fixture
def two(machine: Machine) -> tuple[Memory, Memory]:
    """Two machines on which all that an agent writes waits."""
    one, other = machine("one"), machine("other")
    one.remember("Boat", "where it lies", TEXT)
    (one.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    one.adopt()
    synced(one)
    synced(other)
    return one, other


def propose(memory: Memory, text: str) -> None:
    memory.for_actor("bot", "s-1").remember("Boat", "where it lies", text)


def write(memory: Memory, text: str) -> None:
    """Change the fact as a person does in an editor."""
    file = memory.root / BOAT
    file.write_text(f"---\n{file.read_text().split('---')[1].strip()}\n---\n\n{text}\n")
    memory.adopt()


def purged(memory: Memory, others: tuple[Memory, ...], text: str = "Pin 12 34") -> None:
    """Purge on one machine, and sync until all have it."""
    memory.purge(text=text)
    settled(memory, *others)


def settled(*machines: Memory) -> None:
    for memory in machines * 3:
        synced(memory)
    assert len({git(memory.root, "for-each-ref", "refs/heads", "refs/crabmem/proposals") for memory in machines}) == 1
    for memory in machines:
        assert git(memory.root, "fsck", "--strict", "--no-dangling") == git(memory.root, "status", "--short") == ""


def waiting(memory: Memory) -> list[str]:
    """The texts that wait, without their headers."""
    return [(each.data or b"").decode().split("---\n")[-1].strip() for each in proposals(memory)]


def is_gone(text: str, hub: Path, *machines: Memory) -> bool:
    return not any(traces(memory.root, text) for memory in machines) and text not in git(hub, "log", "--all", "-p")


@pytest.mark.parametrize("was_synced", [True, False])
@pytest.mark.parametrize(
    "proposed",
    ["One.\nZwei.\nPin 12 34\nThree.\nFour.", "One.\nTwo.\nA.\nPin 12 34\nB.\nThree.\nFour.", f"{TEXT}\nFive."],
)
def test_words_beside_a_purged_line_wait_on(
    two: tuple[Memory, Memory], hub: Path, proposed: str, was_synced: bool
) -> None:
    one, other = two
    propose(other, proposed)
    if was_synced:
        synced(other)
        synced(one)
    purged(one, (other,))
    assert waiting(one) == waiting(other) == [proposed.replace("Pin 12 34", "(purged)")]
    assert is_gone("12 34", hub, one, other)


@pytest.mark.parametrize("edits", [True, False])
@pytest.mark.parametrize("was_synced", [True, False])
@pytest.mark.parametrize("proposed", [TEXT.replace("One.", "At sea."), f"{TEXT}\nAt sea."])
def test_a_change_of_a_fact_that_is_gone_is_purged_of_a_short_line(
    two: tuple[Memory, Memory], hub: Path, edits: bool, was_synced: bool, proposed: str
) -> None:
    one, other = two
    if edits:
        write(other, f"{TEXT}\nSold.")
    propose(other, proposed)
    (other.root / BOAT).unlink()
    other.adopt()
    if was_synced:
        synced(other)
        synced(one)
    purged(one, (other,))
    assert waiting(one) == waiting(other) == [proposed.replace("Pin 12 34", "(purged)")]
    assert is_gone("12 34", hub, one, other)


@pytest.mark.parametrize("edit", [TEXT.replace("Two.\n", ""), TEXT.replace("Two.", "Deux.")])
def test_words_of_who_purged_wait_on_though_another_edited_what_they_change(
    two: tuple[Memory, Memory], hub: Path, edit: str
) -> None:
    one, other = two
    propose(one, TEXT.replace("Two.", "Zwei."))
    write(other, edit)
    purged(one, (other,))
    assert waiting(one) == waiting(other) == [TEXT.replace("Two.", "Zwei.").replace("Pin 12 34", "(purged)")]
    assert one.get("Boat").content == other.get("Boat").content == edit.replace("Pin 12 34", "(purged)")
    assert is_gone("12 34", hub, one, other)


def test_a_renaming_that_waits_is_purged_of_a_short_line(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    other.for_actor("bot", "s-1").rename("Boat", "Ship")
    purged(one, (other,))
    assert waiting(one) == waiting(other) == [TEXT.replace("Pin 12 34", "(purged)")]
    assert is_gone("12 34", hub, one, other)


def test_what_was_applied_and_edited_is_purged_of_a_line_that_only_waited_elsewhere(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    propose(other, f"{TEXT}\nPin 99 88\nSix.")
    settled(other, one)
    apply_proposal(other, proposals(other)[0].id)
    write(other, f"{TEXT}\nPin 99 88\nSix.\nSeven.")
    purged(one, (other,), "Pin 99 88")
    assert one.get("Boat").content == other.get("Boat").content == f"{TEXT}\n(purged)\nSix.\nSeven."
    assert is_gone("99 88", hub, one, other)


@pytest.mark.parametrize("decide", [apply_proposal, reject_proposal])
@pytest.mark.parametrize("was_synced", [True, False])
def test_a_decision_after_a_purge_is_synced(
    two: tuple[Memory, Memory], hub: Path, decide: Decide, was_synced: bool
) -> None:
    one, other = two
    propose(one, f"{TEXT}\nFive.")
    synced(one)
    if was_synced:
        synced(other)
    one.purge(text="Pin 12 34")
    decide(one, proposals(one)[0].id)
    settled(one, other)
    assert waiting(one) == waiting(other) == []
    assert ("Five." in other.get("Boat").content) == (decide is apply_proposal)
    assert is_gone("12 34", hub, one, other)


@pytest.mark.parametrize("decide", [apply_proposal, reject_proposal])
@pytest.mark.parametrize("which", [0, 1])
def test_what_was_decided_before_a_purge_waits_no_more(
    two: tuple[Memory, Memory], hub: Path, decide: Decide, which: int
) -> None:
    one, other = two
    propose(one, f"{TEXT}\nFive.")
    settled(one, other)
    decide(two[which], proposals(one)[0].id)
    one.purge(text="Pin 12 34")
    synced(one)
    assert not synced(other).overruled
    settled(one, other)
    assert waiting(one) == waiting(other) == []
    assert ("Five." in one.get("Boat").content) == ("Five." in other.get("Boat").content) == (decide is apply_proposal)
    assert is_gone("12 34", hub, one, other)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("has_other_seen_it", [True, False])
@pytest.mark.parametrize("secret", ["tulip-4711", "Pin 99 88"])
@pytest.mark.parametrize("place", ["Four.\n", "Pin 12 34\n"])
def test_what_two_machines_purged_of_one_proposal_comes_back_to_neither(
    two: tuple[Memory, Memory], hub: Path, first: int, has_other_seen_it: bool, secret: str, place: str
) -> None:
    one, other = two
    proposed = f"{TEXT}\n".replace(place, f"{place}{secret}\n").strip()
    propose(one, proposed)
    synced(one)
    if has_other_seen_it:
        synced(other)
    one.purge(text=secret)
    other.purge(text="Pin 12 34")
    settled(two[first], two[1 - first])
    assert waiting(one) == waiting(other) == [proposed.replace("Pin 12 34", "(purged)").replace(secret, "(purged)")]
    assert is_gone("12 34", hub, one, other) and is_gone(secret, hub, one, other)


def test_of_two_purges_of_neighbouring_lines_one_text_waits(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    propose(other, f"{TEXT}\nC.")
    one.purge(text="Pin 12 34")
    other.purge(text="Two.")
    settled(one, other)
    assert waiting(one) == waiting(other) == ["One.\n(purged)\n(purged)\nThree.\nFour.\nC."]
    assert is_gone("12 34", hub, one, other) and is_gone("Two.", hub, one, other)


@pytest.mark.parametrize("how", ["extends another", "begins it anew", "quotes a later line"])
def test_a_short_line_goes_from_what_waits_at_its_path_whatever_that_was_made_of(
    two: tuple[Memory, Memory], hub: Path, how: str
) -> None:
    one, other = two
    secret = "Pin 12 34" if how == "begins it anew" else "Pin 99 88"
    proposed = f"{TEXT}\nPin 99 88\nSeven."
    if how == "extends another":
        propose(other, f"{TEXT}\nPin 99 88")
        settled(other, one)
    elif how == "begins it anew":
        other.forget("Boat")
    else:
        write(one, f"{TEXT}\nThe pin: Pin 99 88, and so on.")
        synced(one)
        proposed = f"{TEXT}\nThe pin: Pin 99 88, and so on.\nSeven."
    propose(other, proposed)
    synced(other)
    purged(one, (other,), secret)
    assert proposed.replace(secret, "(purged)") in waiting(one)
    assert waiting(one) == waiting(other)
    assert is_gone(secret, hub, one, other)


def test_a_line_that_was_said_again_since_its_purge_may_be_proposed(two: tuple[Memory, Memory]) -> None:
    one, other = two
    one.purge(text="Pin 12 34")
    write(one, f"{TEXT}\nIt may be known: Pin 12 34.")
    propose(one, f"{TEXT}\nFive.")
    settled(one, other)
    assert waiting(one) == waiting(other) == [f"{TEXT}\nFive."]


def test_of_two_lines_in_a_row_that_two_purges_took_none_is_left_in_what_waits(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    propose(other, f"{TEXT}\nSix.")
    settled(other, one)
    propose(other, f"{TEXT}\nSix.\nSeven.")
    one.purge(text="Pin 12 34")
    other.purge(text="Three.")
    settled(one, other)
    left = TEXT.replace("Pin 12 34", "(purged)").replace("Three.", "(purged)")
    assert sorted(waiting(one)) == sorted(waiting(other)) == [f"{left}\nSix.", f"{left}\nSix.\nSeven."]
    assert is_gone("12 34", hub, one, other) and is_gone("Three.", hub, one, other)


@pytest.mark.parametrize("clash", [True, False])
def test_words_that_no_purge_took_stay_in_what_waits(two: tuple[Memory, Memory], hub: Path, clash: bool) -> None:
    """Not so those of an edit beside the purged line, with which they go: that is told."""
    one, other = two
    propose(other, f"{TEXT}\nZwei.")
    settled(other, one)
    write(other, TEXT.replace("Two.\nPin 12 34", "Zwei.\nPin 55 66") if clash else TEXT.replace("Four.", "Vier."))
    purged(one, (other,))
    assert waiting(one) == waiting(other) == [TEXT.replace("Pin 12 34", "(purged)") + "\nZwei."]


def test_a_line_that_a_join_brought_back_below_another_purge_goes(
    two: tuple[Memory, Memory], machine: Machine, hub: Path
) -> None:
    """Where agents' changes wait, a join has the text from before one that was made where they do not."""
    one, other = two
    third = machine("third")
    synced(third)
    (other.root / "crabmem.toml").unlink()
    other.adopt()
    propose(other, TEXT.replace("Pin 12 34\n", ""))
    synced(other)
    synced(third)
    assert "Pin 12 34" in third.get("Boat").content
    third.purge(text="Three.")
    one.purge(text="Pin 12 34")
    settled(one, other, third)
    assert is_gone("12 34", hub, one, other, third) and is_gone("Three.", hub, one, other, third)


@pytest.mark.parametrize("text", ["Pin 12 34", "Grey."])
@pytest.mark.parametrize("first", [0, 1])
def test_of_two_facts_that_got_one_name_the_text_that_waits_is_purged(
    two: tuple[Memory, Memory], machine: Machine, hub: Path, text: str, first: int
) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nGrey.\nBig.\nOld.")
    for name in ("Tea", "Key", "Marta", "Vet", "Dora", "Wifi"):  # else two of three facts were to go at once
        one.remember(name, f"about {name}", f"What is known of {name}.")
    settled(one, other)
    third = machine("third")
    synced(third)
    other.rename("Boat", "Ada")
    third.rename("Luna", "Ada", keep_alias=True)
    machines = other, third
    synced(machines[first])
    assert synced(machines[1 - first]).disputed
    one.purge(text=text)
    settled(one, *machines)
    assert is_gone(text, hub, one, *machines)
    said = [*waiting(one), one.get("Ada").content]
    assert len(said) == 2 and sum("(purged)" in each for each in said) == 1
    assert {line for each in said for line in each.splitlines()} >= {"One.", "Four.", "A cat.", "Old.", "(purged)"}
