"""A purge that travels: what was purged on one machine is gone from the remote and the others, and stays gone."""

import os
import random
import shutil
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from click.testing import CliRunner
from dulwich.repo import Repo

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.disk import fs
from crabmem.errors import HoldsPurged, MassLoss, NotFound, PurgeWaits, SyncError, Unexpected, Untrusted, Unwritable
from crabmem.git import purged
from crabmem.git.objects import Objects
from crabmem.git.purged import Erased, PurgeRecord
from crabmem.git.refs import PURGED
from crabmem.git.rewrite import repository
from crabmem.git.rewrite.files import PurgedFiles
from crabmem.git.rewrite.overlay import Overlay
from crabmem.operations.proposals import proposals
from crabmem.results import Synced
from crabmem.sync.standing import state, trouble
from crabmem.sync.sync import _Syncing, name_remote, sync, upcoming
from tests.conftest import git
from tests.faults.repository import traces
from tests.remotes.servers import needs_git, serving

from .conftest import Machine, synced

SECRET = "hunter2-of-luna"
_DEATHS = 12
ANN = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


@pytest.fixture
def two(machine: Machine) -> tuple[Memory, Memory]:
    """Two machines that have synced some facts, of which one holds a secret in its middle, and forgot another."""
    one, other = machine("one"), machine("other")
    one.remember("Luna", "the cat", f"A cat.\nHer chip is {SECRET}.\nTen years old.\nShe sleeps.")
    one.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill.")
    for name in ("Tea", "Key", "Marta", "Boat"):
        one.remember(name, f"about {name}", f"What is known of {name}.")
    sync(one)
    sync(other, is_expected=True)
    return one, other


def agreed(memory: Memory, match: str = "nothing was taken in or sent") -> Synced:
    """Sync as a person does whom a purge of another machine asks; before their word nothing changes."""
    memory.adopt()
    before = tip(memory.root), {file: file.read_bytes() for file in memory.root.rglob("*.md")}
    with pytest.raises(PurgeWaits, match=match):
        sync(memory)
    assert before == (tip(memory.root), {file: file.read_bytes() for file in memory.root.rglob("*.md")})
    return sync(memory, is_expected=True)


def tip(root: Path) -> str:
    return git(root, "rev-parse", "main").strip()


def is_whole(root: Path) -> bool:
    return git(root, "fsck", "--strict", "--full", "--no-dangling") == "" and not git(root, "status", "--short")


def test_a_purge_reaches_the_remote_and_a_machine_with_nothing_of_its_own(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    one.purge(text=SECRET)
    done = synced(one)
    assert done.is_rewritten and done.sent == 0
    assert tip(hub) == tip(one.root)
    assert SECRET not in git(hub, "log", "--all", "-p")
    done = agreed(other)
    assert (done.purges, done.quoting, done.taken) == (1, (), ())
    assert tip(other.root) == tip(one.root)
    assert not traces(other.root, SECRET)
    assert "(purged)" in other.get("Luna").content
    assert is_whole(other.root)
    assert synced(one).sent == synced(other).sent == 0
    assert synced(other).purges == 0


def test_the_old_line_is_not_fetched_again_by_who_purged_it(
    two: tuple[Memory, Memory], hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it was compared with the purged one: 18 s for 1,500 commits."""
    one, _ = two
    one.purge(text=SECRET)
    monkeypatch.setattr("crabmem.sync.purged.make_incoming", lambda private: pytest.fail("it is fetched"))
    assert synced(one).is_rewritten
    assert tip(hub) == tip(one.root)
    assert SECRET not in git(hub, "log", "--all", "-p")


def test_a_sync_begins_again_where_another_process_purges_meanwhile(
    two: tuple[Memory, Memory], hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that an object was missing, or that the disk refused, as it had read the repository before."""
    one, _ = two
    one.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    push, done = _Syncing._push, list[str]()

    def late(self: _Syncing, *given: Any) -> int:
        if not done:
            done.append("purged")
            with Memory(one.root, is_person=True) as another:
                another.purge(text=SECRET)
        return push(self, *given)

    monkeypatch.setattr(_Syncing, "_push", late)
    assert synced(one).rounds == 2
    assert tip(hub) == tip(one.root)
    assert SECRET not in git(hub, "log", "--all", "-p")


def test_work_that_was_not_pushed_is_put_on_the_purged_line(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text() + "She likes fish.\n")
    other.adopt()
    other.for_actor("bot", "s-1").remember("Dora", "the dog", "A dog.")
    one.purge(text=SECRET)
    one.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    synced(one)
    done = agreed(other)
    assert (done.purges, done.sent) == (1, 3)  # both changes, and the commit that joins them with Vet
    assert not traces(other.root, SECRET)
    assert "She likes fish." in other.get("Luna").content and "(purged)" in other.get("Luna").content
    assert other.get("Dora") and other.get("Vet")
    synced(one)
    assert tip(one.root) == tip(other.root) == tip(hub)
    assert SECRET not in git(hub, "log", "--all", "-p")
    assert is_whole(one.root) and is_whole(other.root)
    put = git(one.root, "log", "--format=%an%n%b%x1f", "--grep", "before a purge was known")
    agents, persons, *_ = put.split("\x1f")
    assert agents.startswith("bot\n") and "Agent: bot" in agents and "Session: s-1" in agents
    assert persons.startswith("\nperson\n") and "Agent" not in persons
    assert "Dora" not in agents


def test_what_was_pushed_before_the_purge_was_known_is_kept_and_rewritten(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    one.purge(text=SECRET)
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text() + "She likes fish.\n")
    other.adopt()
    synced(other)
    done = synced(one)
    assert done.is_rewritten
    assert not traces(one.root, SECRET)
    assert "She likes fish." in one.get("Luna").content
    assert SECRET not in git(hub, "log", "--all", "-p")
    synced(other)
    assert tip(one.root) == tip(other.root) == tip(hub)
    assert not traces(other.root, SECRET)


def test_what_another_took_back_since_a_push_does_not_return_with_a_purge(
    two: tuple[Memory, Memory], machine: Machine
) -> None:
    one, other = two
    third = machine("third")
    synced(third)
    one.purge(text=SECRET)
    other.remember("Tea", "about Tea", "What is known of Tea.\nGreen.\nBlack.")
    synced(other)
    synced(third)
    third.remember("Tea", "about Tea", "What is known of Tea.\nGreen.")
    synced(third)
    for memory in (one, other, third):
        assert not synced(memory).disputed
        assert memory.get("Tea").content == "What is known of Tea.\nGreen."
    assert tip(one.root) == tip(other.root) == tip(third.root)


def test_until_the_next_sync_a_person_is_told_that_the_remote_shows_what_was_purged(
    two: tuple[Memory, Memory],
) -> None:
    one, _ = two
    assert not state(one).shows_purged
    one.purge(text=SECRET)
    told = f"{state(one).remote} shows what was purged here until the next `crabmem sync`"
    assert trouble(state(one), one.engine.clock()) == told
    assert [found.message for found in one.doctor() if found.check == "sync"] == [told]
    for verb in (["status"], ["sync", "--status"]):
        result = CliRunner().invoke(cli, ["--dir", str(one.root), *verb])
        assert "it shows what was purged here until the next `crabmem sync`" in result.output
    for memory in two:
        synced(memory)
        assert not state(memory).shows_purged and not trouble(state(memory), memory.engine.clock())


def test_a_whole_fact_goes_with_its_name(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    one.purge("Old address")
    other.remember("Dora", "the dog", "A dog.")
    synced(one)
    synced(other)
    assert not traces(other.root, "Harbour Lane", "Old address", "old-address")
    assert "Old address" not in [entry.name for entry in other.entries()]
    assert not (other.root / "memory/entries/old-address.md").exists()
    synced(one)
    assert tip(one.root) == tip(other.root)


def test_a_change_of_what_is_purged_waits_for_a_word_and_goes_with_it(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill. Sold in May.")
    one.purge("Old address")
    synced(one)
    said = r"text goes from memory/entries/old-address\.md .*old-address\.md: removed; .*these changes go with it"
    assert agreed(other, said).purges == 1
    assert not traces(other.root, "Harbour Lane", "Sold in May")
    synced(one)
    assert tip(one.root) == tip(other.root)


def test_others_read_what_of_theirs_goes_with_a_purge_that_somebody_let_take_it(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill. Sold in May.")
    synced(other)
    one.purge("Old address")
    with pytest.raises(
        Unexpected, match=r"old-address\.md: changed where a purge takes something, .* nothing was changed"
    ):
        sync(one)
    assert synced(one).given_up == ()
    agreed(other, r"old-address\.md: removed; .*old-address\.md: changed where a purge .* these changes go with it")
    assert tip(one.root) == tip(other.root)
    assert not traces(other.root, "Harbour Lane", "Sold in May")


def test_a_text_that_waits_for_a_purged_fact_goes_with_it_and_is_named(two: tuple[Memory, Memory]) -> None:
    one, other = two
    for memory, text in zip(two, ("Grey.", "Black."), strict=True):
        memory.remember("Tea", "a drink", text)
        synced(memory)
    synced(one)
    one.purge("Tea")
    synced(one)
    assert synced(other).given_up == ("memory/entries/tea.md",)
    assert not proposals(one) and not proposals(other)


def test_what_waits_stays_as_it_is_when_two_machines_purge_other_texts(two: tuple[Memory, Memory]) -> None:
    one, other = two
    (one.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    agent = one.for_actor("coder", "s-1")
    for name in ("Tea", "Boat"):
        agent.remember(name, f"about {name}", "As an agent has it.")
    synced(one)
    synced(other)
    waiting = {each.id: each.diff for each in proposals(one)}
    one.purge(text=SECRET)
    other.purge(text="Ten years")
    other.remember("Vet", "who looks after her", "Dr. Moreno.")
    for memory in (one, other, one, other):
        synced(memory)
    assert len(waiting) == 2
    assert (
        {each.id: each.diff for each in proposals(one)} == {each.id: each.diff for each in proposals(other)} == waiting
    )


def test_a_text_that_waits_at_the_remote_goes_with_the_fact_that_was_changed_there_and_is_purged_here(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    (other.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    other.remember("Tea", "a drink", "Hot.")
    other.for_actor("coder", "s-1").remember("Tea", "a drink", "Cold.")
    synced(other)
    one.purge("Tea")
    synced(one)
    assert not proposals(one)
    assert not traces(one.root, "Cold.", "Hot.")
    assert "Cold." not in git(hub, "log", "-p", "--all")
    assert synced(other).given_up == ("memory/entries/tea.md",)
    assert not proposals(other)


def test_a_text_that_two_wrote_alike_is_purged_where_no_commit_of_the_purge_has_it(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    for memory in two:
        memory.remember("Vet", "who looks after her", "Dr. Moreno.\nHer code is vet-77af2c.")
    one.purge(text="vet-77af2c")
    synced(one)
    synced(other)
    synced(one)
    assert tip(one.root) == tip(other.root) == tip(hub)
    for memory in two:
        assert memory.get("Vet").content == "Dr. Moreno.\nHer code is (purged)."
        assert not traces(memory.root, "vet-77af2c")


def test_a_copy_in_which_a_mark_stands_now_is_not_told_to_quote_what_was_purged(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Copy", "of the chip", f"Zebra {SECRET} again.")
    one.purge(text=SECRET)
    synced(one)
    assert agreed(other).quoting == ()
    assert "Zebra (purged) again." in (other.root / "memory/entries/copy.md").read_text()


def test_a_change_of_the_purged_line_goes_with_it_after_a_word(two: tuple[Memory, Memory]) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    said = file.read_text().replace(f"chip is {SECRET}.", f"chip is {SECRET}, in the ear.")
    file.write_text(f"{said}She likes fish.\n")
    one.purge(text=SECRET)
    synced(one)
    done = agreed(other, r"luna\.md: changed where a purge takes something, and these changes go with it")
    assert done.given_up == ("memory/entries/luna.md",)
    assert not traces(other.root, SECRET)
    assert "Her chip is (purged).\n" in file.read_text() and "She likes fish.\n" in file.read_text()


def test_what_went_with_a_purge_is_told_by_the_next_answer_if_what_came_after_it_failed(
    two: tuple[Memory, Memory],
) -> None:
    one, other = two
    (other.root / "memory/MEMORY.md").write_text(f"# Memory\n\nThe chip: {SECRET}.\n")
    other.adopt()
    one.purge(text=SECRET)
    for file in (one.root / "memory/entries").iterdir():
        file.unlink()
    one.adopt(even_if_many=True)
    synced(one)
    with pytest.raises(MassLoss):
        synced(other)
    assert not traces(other.root, SECRET)
    assert sync(other, is_expected=True, even_if_many=True).given_up == ("memory/MEMORY.md",)
    assert synced(other).given_up == ()


def test_what_went_with_a_purge_is_told_by_the_next_answer_if_something_of_it_still_stands(
    two: tuple[Memory, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    (other.root / "memory/MEMORY.md").write_text(f"# Memory\n\nThe chip: {SECRET}.\n")
    one.purge(text=SECRET)
    synced(one)
    with monkeypatch.context() as context, pytest.raises(SyncError, match=r"still stands in .*: sync again"):
        context.setattr(PurgedFiles, "held", lambda *_: ["memory/entries/luna.md"])  # an editor that saves just then
        synced(other)
    assert synced(other).given_up == ("memory/MEMORY.md",)


def test_a_line_and_a_key_that_were_copied_elsewhere_go_and_another_word_is_said(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Notes", "from the book", "She wrote:\nTwelve, Harbour Lane, by the old mill.")
    other.remember("Copy", "of a word", f"I wrote:\n{SECRET} it is.")
    other.remember("Dates", "of letters", "One came on 1907-05-01, too.")
    one.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill.\nSince 1907-05-01.")
    one.purge("Old address")
    one.purge(text=SECRET)
    synced(one)
    done = agreed(other, r"copy\.md, memory/entries/notes\.md: changed where")
    assert done.given_up == ("memory/entries/copy.md", "memory/entries/notes.md")
    assert (other.get("Notes").content, other.get("Copy").content) == (
        "She wrote:\n(purged)",
        "I wrote:\n(purged) it is.",
    )
    assert other.get("Dates").content and not traces(other.root, "Harbour Lane", SECRET)


def test_a_line_that_stands_where_the_purge_was_made_stays_everywhere(two: tuple[Memory, Memory]) -> None:
    one, other = two
    one.remember("Notes", "from the book", "She wrote:\nTwelve, Harbour Lane, by the old mill.")
    synced(one)
    synced(other)
    other.rename("Notes", "The book")
    other.remember("The book", "from the book", "She wrote:\nTwelve, Harbour Lane, by the old mill.\nIn 1907.")
    one.purge("Old address")
    synced(one)
    agreed(other)
    assert other.get("The book").content == "She wrote:\nTwelve, Harbour Lane, by the old mill.\nIn 1907."


def test_a_fact_that_has_another_name_here_is_purged_too(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.rename("Luna", "Luna the cat")
    other.rename("Old address", "Address")
    one.purge(text=SECRET)
    one.purge("Old address")
    synced(one)
    agreed(other, r"address\.md: changed where")
    assert not traces(other.root, SECRET, "Harbour Lane")
    assert "(purged)" in other.get("Luna the cat").content


def written_again(other: Memory, words: str) -> None:
    other.forget("Luna")
    other.remember("Luna", "the cat", f"{words} Well.")


def moved_onto_and_back(other: Memory, words: str) -> None:
    luna, tea = (other.root / f"memory/entries/{name}.md" for name in ("luna", "tea"))
    texts = luna.read_text(), tea.read_text()
    tea.replace(luna)
    other.adopt()
    luna.write_text(f"{texts[0]}Well.\n")
    tea.write_text(texts[1])
    other.adopt()


@pytest.mark.parametrize("does", [written_again, moved_onto_and_back])
@pytest.mark.parametrize("is_pushed", [False, True])
def test_a_short_line_that_was_away_for_a_commit_and_is_there_again_is_purged(
    machine: Machine, hub: Path, does: Callable[[Memory, str], None], is_pushed: bool
) -> None:
    """By no word that tells it from others: what was made before it was away is compared with it."""
    one, other = machine("one"), machine("other")
    words = "A cat.\nHer Pin 12 34.\nTen years old.\nShe sleeps."
    one.remember("Luna", "the cat", words)
    one.remember("Tea", "a drink", "What is known of Tea.")
    synced(one)
    synced(other)
    does(other, words)
    one.purge(text="Pin 12 34")
    for memory in (other, one) if is_pushed else (one, other):
        synced(memory)
    for memory in (other, one, other, one):
        synced(memory)
    assert "Pin 12 34" not in git(hub, "log", "--all", "-p")
    assert tip(one.root) == tip(other.root) and not traces(one.root, "Pin 12 34")


@pytest.mark.parametrize("place", ["Red.\nPin 12 34", "Pin 12 34\nRed.", "Red.\nPin 12 34\nRed."])
@pytest.mark.parametrize("joins", [False, True])
def test_a_line_that_was_written_beside_a_purged_one_stays(
    two: tuple[Memory, Memory], machine: Machine, place: str, joins: bool
) -> None:
    """Also where what was made before the purge is of several commits, by which the text is compared one by one."""
    one, other = two
    words = "One.\nPin 12 34\nTwo.\nThree."
    one.remember("Boat", "where it lies", words)
    synced(one)
    third = machine("third")
    for memory in (third, other):
        synced(memory)
    if joins:
        third.remember("Boat", "where it lies", words.replace("Two.", "Zwei."))
        synced(third)
    one.remember("Tea", "a drink", "Green.")
    one.remember("Boat", "where it lies", f"Zero.\n{words.replace('Pin 12 34', place)}")
    synced(one)
    text = one.get("Boat").content.replace("Pin 12 34", "(purged)")
    other.purge(text="Pin 12 34")
    done = [synced(memory) for memory in (other, third, one, other, third)]
    assert not any(each.given_up for each in done)
    for memory in (one, other, third):
        assert memory.get("Boat").content == text and not traces(memory.root, "Pin 12 34")
    assert "Zwei." in text or not joins


def test_a_line_beside_a_purged_one_stays_where_a_third_machine_replaced_that(
    two: tuple[Memory, Memory], machine: Machine, hub: Path
) -> None:
    one, other = two
    words = "One.\nPin 12 34\nTwo.\nThree."
    one.remember("Boat", "where it lies", words)
    synced(one)
    third = machine("third")
    for memory in (third, other):
        synced(memory)
    other.remember("Boat", "where it lies", words.replace("Pin", "Red.\nPin"))
    third.remember("Boat", "where it lies", words.replace("Pin 12 34", "Grey."))
    synced(other)
    one.purge(text="Pin 12 34")
    for memory in (third, one, other, third, one):
        synced(memory)
    for memory in (one, other, third):
        assert "Red." in memory.get("Boat").content.splitlines()
        assert not traces(memory.root, "Pin 12 34")
    assert "Pin 12 34" not in git(hub, "log", "--all", "-p")


@pytest.mark.parametrize(
    "text",
    ["One.\nTwo.\nThree.\nPin 12 34", "Pin 12 34\nOne.\nTwo.\nThree.", "One.\nPin 12 34\nTwo.\nThree.\nPin 12 34"],
)
@pytest.mark.parametrize("renames", [False, True])
def test_a_short_line_that_was_moved_within_its_file_goes(
    two: tuple[Memory, Memory], hub: Path, text: str, renames: bool
) -> None:
    one, other = two
    one.remember("Boat", "where it lies", "One.\nPin 12 34\nTwo.\nThree.")
    synced(one)
    synced(other)
    other.rename("Boat", "Keel") if renames else None
    other.remember("Keel" if renames else "Boat", "where it lies", text)
    one.purge(text="Pin 12 34")
    done = [synced(memory) for memory in (one, other, one)]
    assert done[1].given_up
    for memory in (one, other):
        assert not traces(memory.root, "Pin 12 34")
        lines = memory.get("Keel" if renames else "Boat").content.splitlines()
        assert [line for line in lines if line != "(purged)"] == ["One.", "Two.", "Three."]
    assert "Pin 12 34" not in git(hub, "log", "--all", "-p")


def test_a_purged_short_line_goes_from_a_fact_whose_old_name_another_has(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    one.remember("Boat", "where it lies", "One.\nPin 12 34\nTwo.\nThree.")
    synced(one)
    synced(other)
    file = other.root / "memory/entries/boat.md"
    (file.parent / "keel.md").write_text(file.read_text().replace("name: Boat", "name: Keel"))
    file.write_text("---\nname: Boat\ndescription: another\n---\n\nQuite another.\n")
    other.adopt()
    one.purge(text="Pin 12 34")
    for memory in (one, other, one):
        synced(memory)
    assert one.get("Keel").content == other.get("Keel").content == "One.\n(purged)\nTwo.\nThree."
    assert not traces(one.root, "Pin 12 34") and not traces(other.root, "Pin 12 34")


def test_a_fact_that_was_moved_onto_a_purged_one_and_back_is_there_once(two: tuple[Memory, Memory]) -> None:
    one, other = two
    folder = other.root / "memory/entries"
    (folder / "tea.md").replace(folder / "old-address.md")
    other.adopt()
    other.undo()
    one.purge("Old address")
    synced(one)
    for memory in (other, one, other):
        synced(memory)
    assert not (folder / "old-address.md").exists() and (folder / "tea.md").exists()
    assert tip(one.root) == tip(other.root)


def test_a_fact_that_was_moved_renamed_and_rewritten_here_is_purged_by_its_lines(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.rename("Old address", "Letters")
    file = other.root / "memory/entries/letters.md"
    moved = other.root / "memory/entries/work/post.md"
    moved.parent.mkdir()
    own = "".join(f"On day {day} a letter came from the sea.\n" for day in range(12))
    moved.write_text(file.read_text() + own)
    file.unlink()
    other.adopt()
    one.purge("Old address")
    synced(one)
    assert agreed(other).given_up == ("memory/entries/letters.md", "memory/entries/work/post.md")
    assert own in moved.read_text()
    assert not traces(other.root, "Harbour Lane")


def test_a_line_with_a_key_that_was_rewritten_in_a_fact_that_was_renamed_goes(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Luna", "the cat", f"A cat.\nWhoever asks: {SECRET} is in her ear, and only there.")
    other.rename("Luna", "Luna the cat", keep_alias=True)
    one.purge(text=SECRET)
    synced(one)
    assert agreed(other).given_up
    assert not traces(other.root, SECRET)


def test_a_text_that_waits_under_another_name_is_purged_by_its_lines(two: tuple[Memory, Memory]) -> None:
    one, other = two
    (other.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    other.adopt()
    said = "She moved here when her mother died.\n" * 3 + "Twelve, Harbour Lane, by the old mill."
    with Memory(other.root, agent="bot") as agent:
        agent.remember("Post", "where letters go", said)
    one.purge("Old address")
    synced(one)
    agreed(other)
    (waits,) = proposals(other)
    assert waits.text is not None and waits.text.endswith("\nShe moved here when her mother died.\n(purged)\n")
    assert not traces(other.root, "Harbour Lane")


def test_a_commit_of_which_a_killed_fetch_left_nothing_else_is_stored_whole(tmp_path: Path) -> None:
    with Memory(tmp_path / "one") as memory:
        memory.remember("Luna", "the cat", "A cat.")
    (tmp_path / "objects").mkdir()
    below, head = Objects(tmp_path / "objects"), tip(tmp_path / "one")
    overlay = Overlay(tmp_path / "one/.git/objects", below)
    below.store({head: overlay.raw(head)})
    new = overlay.new([head], lambda commit: False)
    assert {head, *new} == {*git(tmp_path / "one", "rev-list", "--objects", "--no-object-names", head).split()}
    assert not overlay.new([head], lambda commit: True)


def test_files_that_nobody_recorded_yet_are_not_lost(two: tuple[Memory, Memory]) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text() + "She likes fish.\n")
    (other.root / "memory/entries/luna.md~").write_text(f"old {SECRET}")
    one.purge(text=SECRET)
    synced(one)
    synced(other)
    assert "She likes fish." in file.read_text()
    assert not traces(other.root, SECRET)


def test_a_text_that_stood_in_the_first_commit_goes_too(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    word = (one.root / "Crab.md").read_text().split()[3]
    other.remember("Dora", "the dog", "A dog.")
    one.purge(pattern=rf"\b{word}\b")
    for memory in (one, other, one):
        synced(memory)
    assert tip(one.root) == tip(other.root) == tip(hub)
    assert not git(hub, "log", "--all", "-p", f"-G\b{word}\b", "--format=%h")
    assert is_whole(other.root) and other.get("Dora")


def test_two_purges_one_after_the_other(two: tuple[Memory, Memory], machine: Machine) -> None:
    one, other = two
    third = machine("third")
    synced(third)
    one.purge(text=SECRET)
    synced(one)
    synced(other)
    other.purge("Old address")
    third.remember("Dora", "the dog", "A dog.")
    synced(other)
    assert agreed(third).purges == 2
    for memory in (one, other, third, one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root) == tip(third.root)
    for memory in (one, other, third):
        assert not traces(memory.root, SECRET, "Harbour Lane")
        assert is_whole(memory.root)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"text": SECRET}, {"name": "Old address"}),
        ({"text": SECRET}, {"text": "Ten years"}),
        ({"name": "Luna"}, {"text": SECRET}),
    ],
)
def test_two_purges_at_the_same_time(two: tuple[Memory, Memory], first: dict[str, str], second: dict[str, str]) -> None:
    one, other = two
    one.remember("Vet", "who looks after her", "Dr. Moreno.")
    one.purge(first.get("name"), text=first.get("text"))
    other.remember("Dora", "the dog", "A dog.")
    other.purge(second.get("name"), text=second.get("text"))
    for memory in (one, other, one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root)
    gone = [*first.values(), *second.values(), SECRET] + ["Harbour Lane"] * ("name" in second)
    for memory in (one, other):
        assert not traces(memory.root, *gone)
        assert is_whole(memory.root)
        assert {"Vet", "Dora", "Tea"} <= {entry.name for entry in memory.entries()}


@pytest.mark.parametrize("text", [SECRET, "Ten years", "Green tea"])
def test_a_purge_of_what_another_had_put_on_its_purged_line_meanwhile(
    two: tuple[Memory, Memory], hub: Path, text: str
) -> None:
    one, other = two
    other.remember("Tea", "about Tea", "Green tea, and black.")
    synced(other)
    one.purge(text=SECRET)
    other.purge(text=text)
    other.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    for memory in (one, other, one, other):
        assert not synced(memory).disputed
    assert tip(one.root) == tip(other.root) == tip(hub)
    for memory in two:
        assert memory.get("Vet").content and "black." in memory.get("Tea").content
        assert not traces(memory.root, SECRET, text)
        assert is_whole(memory.root)


@pytest.mark.parametrize("how_many", [2, 3])
def test_what_stands_between_two_purged_words_of_a_line_stays(machine: Machine, hub: Path, how_many: int) -> None:
    names = ("one", "other", "third")[:how_many]
    machines = [machine(name) for name in names]
    one = machines[0]
    said = "The code is tulip-4711; call Marta on Sunday, and the key is under fern-0815."
    one.remember("Gate", "how to open it", f"{said} Ask rose-9 first.")
    for memory in machines:
        synced(memory)
    for memory, word in zip(machines, ("tulip-4711", "fern-0815", "rose-9"), strict=False):
        memory.remember(f"Own {word[0]}", "not pushed", "Written before any of the others' purges was known.")
        memory.purge(text=word)
    for memory in machines * 3:
        synced(memory)
    assert len({tip(memory.root) for memory in machines}) == 1 and tip(hub) == tip(one.root)
    left = said.replace("tulip-4711", "(purged)").replace("fern-0815", "(purged)")
    last = "(purged)" if how_many > 2 else "rose-9"
    for memory in machines:
        assert memory.get("Gate").content.strip() == f"{left} Ask {last} first."
        assert len(memory.entries()) == 1 + how_many
        assert not traces(memory.root, "tulip-4711", "fern-0815", *["rose-9"] * (how_many > 2))
        assert is_whole(memory.root)


def test_two_purges_of_which_one_took_from_two_lines_keep_what_stands_between(two: tuple[Memory, Memory]) -> None:
    one, other = two
    one.purge(pattern=r"A cat\.\nHer")
    other.purge(text="Ten years")
    for memory in (one, other, one, other):
        synced(memory)
    for memory in two:
        assert memory.get("Luna").content.strip() == (
            f"(purged)\n(purged) chip is {SECRET}.\n(purged) old.\nShe sleeps."
        )
        assert not traces(memory.root, "A cat", "Ten years")


def test_two_purges_that_give_a_file_other_names_make_one_of_both(two: tuple[Memory, Memory]) -> None:
    one, other = two
    one.remember("Key of luna-4711 at fern-0815", "where", "By the door, under luna-4711 and fern-0815.")
    for memory in (one, other):
        synced(memory)
    one.purge(text="luna-4711")
    other.purge(text="fern-0815")
    for memory in (one, other, one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root)
    for memory in two:
        assert not traces(memory.root, "luna-4711", "fern-0815")
        assert "By the door, under (purged) and (purged)." in memory.get("Key of (purged) at (purged)").content


@pytest.mark.parametrize(("first", "second"), [("tok-1", "tok-2"), ("tok-1", "tok-1"), ("tok-1", "A drink")])
def test_two_purges_of_words_in_names_keep_both_facts(two: tuple[Memory, Memory], first: str, second: str) -> None:
    one, other = two
    for name in ("Call tok-1", "Card of tok-2"):
        one.remember(name, "A drink", f"Says {name} here.")
    for memory in two:
        synced(memory)
    one.purge(text=first)
    other.purge(text=second)
    for memory in (one, other, one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root)
    last = "(purged)" if second == "tok-2" else "tok-2"
    for memory in two:
        assert {"Call (purged)", f"Card of {last}"} <= {entry.name for entry in memory.entries()}
        assert not traces(memory.root, first, second)
        assert is_whole(memory.root)


# A stock `git fetch` or `git pull` between


def fetched(memory: Memory) -> None:
    git(memory.root, "fetch", "-q", "origin")


def test_a_purge_of_what_stands_nowhere_is_none_also_after_a_fetch_of_the_old_line(two: tuple[Memory, Memory]) -> None:
    one, _ = two
    one.purge(text=SECRET)
    fetched(one)
    for text in ("nothing-4711", "nothing-4711"):
        with pytest.raises(NotFound, match="stands nowhere"):
            one.purge(text=text)
    assert one.purge(text=SECRET).standing  # which the fetch brought again


def test_a_fetch_between_two_purges_changes_nothing(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    one.purge(text=SECRET)
    fetched(one)
    one.purge("Old address")
    for memory in (one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root) == tip(hub)
    assert SECRET not in git(hub, "log", "--all", "-p") and "Harbour" not in git(hub, "log", "--all", "-p")
    for memory in two:
        assert not traces(memory.root, SECRET, "Harbour Lane")


@pytest.mark.parametrize("purges", [1, 2])
def test_a_fetch_of_what_was_pushed_meanwhile_changes_nothing(
    two: tuple[Memory, Memory], hub: Path, purges: int
) -> None:
    one, other = two
    other.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill. Sold in May.")
    synced(other)
    one.purge(text=SECRET)
    fetched(one)
    if purges == 2:
        one.purge("Tea")
    assert sync(one).is_rewritten  # no question, as nothing of this machine goes
    agreed(other)
    assert sync(one).sent == sync(other).sent == 0
    assert tip(one.root) == tip(other.root) == tip(hub)
    for memory in two:
        assert "Sold in May" in memory.get("Old address").content
        assert not traces(memory.root, SECRET)


def test_what_a_pull_merged_again_is_put_on_the_purged_line_before_the_next_purge(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    one.purge("Old address")
    git(one.root, "-c", "user.name=A", "-c", "user.email=a@x", "pull", "-q", "--no-rebase", "--no-edit",
        "-X", "ours", "--allow-unrelated-histories", "origin", "main")  # fmt: skip
    with pytest.raises(Unwritable, match="before a purge are here again, as `git pull` brings them: `crabmem sync`"):
        one.purge(text=SECRET)
    synced(one)
    one.purge(text=SECRET)
    for memory in (one, other):
        synced(memory)
    assert tip(one.root) == tip(other.root) == tip(hub)
    for memory in two:
        assert not traces(memory.root, SECRET, "Harbour Lane")


def test_a_record_has_one_end_for_a_commit(two: tuple[Memory, Memory]) -> None:
    one, _ = two
    old = git(one.root, "rev-list", "main").split()
    one.purge(text=SECRET)
    fetched(one)
    one.purge("Old address")
    record = one.engine.history.rewrite().record()
    assert {len(record.ends(commit)) for commit in old} == {1}


def test_a_stash_on_an_old_line_is_the_persons_to_decide_on(two: tuple[Memory, Memory]) -> None:
    one, other = two
    (other.root / "memory/entries/luna.md").write_text("---\nname: Luna\ndescription: d\n---\n\nA stash.\n")
    git(other.root, "-c", "user.name=A", "-c", "user.email=a@x", "stash", "-q")
    one.purge(text=SECRET)
    synced(one)
    with pytest.raises(Unwritable, match="`git stash pop` or `git stash drop` it"):
        synced(other)
    git(other.root, "stash", "drop", "-q")
    assert synced(other).purges == 1


def test_who_joins_later_takes_the_purged_line_and_the_record(two: tuple[Memory, Memory], machine: Machine) -> None:
    one, _ = two
    one.purge(text=SECRET)
    synced(one)
    third = machine("third")
    synced(third)
    assert not traces(third.root, SECRET)
    assert git(third.root, "rev-parse", PURGED) == git(one.root, "rev-parse", PURGED)
    assert synced(third).purges == 0


def test_the_old_line_that_plain_git_pushes_back_is_not_taken_in(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path
) -> None:
    one, other = two
    git(tmp_path, "clone", "-q", str(hub), "clone")
    clone = tmp_path / "clone"
    one.purge(text=SECRET)
    synced(one)
    synced(other)
    (clone / "memory/entries/by-hand.md").write_text("---\nname: By hand\ndescription: d\n---\n\nWritten by hand.\n")
    git(clone, "add", "-A")
    git(clone, "-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "by hand")
    git(clone, "push", "-q", "--force")
    before = tip(one.root)
    with pytest.raises(Unexpected, match="has again what was purged"):
        sync(one)
    assert tip(one.root) == before
    assert not traces(one.root, SECRET)
    done = synced(one)
    assert done.is_rewritten
    assert one.get("By hand")
    assert SECRET not in git(hub, "log", "--all", "-p")
    synced(other)
    assert tip(other.root) == tip(one.root) == tip(hub)
    for memory in (one, other):
        assert not traces(memory.root, SECRET)


def test_a_merge_of_both_lines_by_plain_git_is_put_on_the_purged_one(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path
) -> None:
    one, other = two
    git(tmp_path, "clone", "-q", str(hub), "clone")
    clone, ann = tmp_path / "clone", ("-c", "user.name=Ann", "-c", "user.email=a@example.org")
    one.purge("Old address")
    synced(one)
    (clone / "memory/entries/by-hand.md").write_text("---\nname: By hand\ndescription: d\n---\n\nWritten by hand.\n")
    git(clone, "add", "-A")
    git(clone, *ann, "commit", "-qm", "by hand")
    git(clone, *ann, "pull", "-q", "--no-rebase", "--no-edit", "-X", "ours", "--allow-unrelated-histories")
    git(clone, "push", "-q")
    assert "Harbour Lane" in git(hub, "log", "-p", "main")
    synced(one)
    assert one.get("By hand")
    synced(other)
    assert tip(other.root) == tip(one.root) == tip(hub)
    for memory in (one, other):
        assert not traces(memory.root, "Harbour Lane")
        assert is_whole(memory.root)


def test_what_was_purged_and_is_said_again_is_not_pushed(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    said = (one.root / "memory/entries/old-address.md").read_bytes()
    one.purge("Old address")
    sync(one)
    (one.root / "memory/entries/old-address.md").write_bytes(said)
    one.adopt()
    with pytest.raises(HoldsPurged, match=r"old-address\.md in commit .* is again what was purged"):
        sync(one)
    assert "Harbour Lane" not in git(hub, "log", "-p", "main")
    assert one.get("Old address")
    synced(other)
    other.purge("Tea")
    synced(other)
    with pytest.raises(Unexpected, match=r"old-address\.md"):
        sync(one)
    assert one.get("Old address")


def test_a_look_ahead_says_what_a_purge_brings_and_keeps_nothing(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Dora", "the dog", "A dog.")
    one.purge(text=SECRET)
    found = upcoming(one)
    assert (found.come, found.go, found.purges) == ((), (), 0)
    one.remember("Vet", "who", "Dr. Moreno.")
    synced(one)
    found = upcoming(other)
    assert ([each.subject for each in found.come], found.purges) == (["remember: Vet"], 1)
    assert [each.subject for each in found.go] == ["remember: Dora"]


@pytest.mark.parametrize("kind", [pytest.param("http", marks=needs_git), "bundle"])
def test_a_purge_travels_by_every_kind_of_remote(tmp_path: Path, hub: Path, kind: str) -> None:
    with ExitStack() as stack:
        url = str(tmp_path / "memory.bundle")
        if kind == "http":
            address, _ = stack.enter_context(serving(hub.parent))
            url = f"{address}/{hub.name}"
        one, other = (stack.enter_context(Memory(tmp_path / name, is_person=True)) for name in ("one", "other"))
        for memory in (one, other):
            name_remote(memory, url, "/")
        one.remember("Luna", "the cat", f"A cat.\nHer chip is {SECRET}.\nTen years old.")
        one.remember("Tea", "hot", "With milk.")
        for memory in (one, other):
            synced(memory)
        one.purge(text=SECRET)
        one.remember("Vet", "who looks after Luna", "Dr. Moreno.")
        other.remember("Dora", "the dog", "A dog.")
        synced(other)
        assert synced(one).is_rewritten
        assert synced(other).purges == 1
        synced(one)
        assert tip(one.root) == tip(other.root)
        for memory in (one, other):
            assert not traces(memory.root, SECRET)
            assert len(memory.entries()) == 4
            assert is_whole(memory.root)


def test_a_protected_branch_says_that_it_was_not_rewritten(two: tuple[Memory, Memory], hub: Path) -> None:
    one, _ = two
    git(hub, "config", "receive.denyNonFastForwards", "true")
    with serving(hub.parent) as (address, _):
        name_remote(one, f"{address}/{hub.name}", "/")
        sync(one, is_expected=True)
        one.purge(text=SECRET)
        with pytest.raises(SyncError, match="does not take the push"):
            sync(one)
    assert SECRET in git(hub, "log", "-p", "main")


def test_a_folder_that_keeps_every_commit_is_not_rewritten_and_says_so(two: tuple[Memory, Memory], hub: Path) -> None:
    one, _ = two
    git(hub, "config", "receive.denyNonFastForwards", "true")
    one.remember("Tea", "about Tea", "Green.")
    assert sync(one).sent == 1
    one.purge(text=SECRET)
    with pytest.raises(SyncError, match=r"main was not rewritten, and shows still what was purged: set that to false"):
        sync(one)
    assert SECRET in git(hub, "log", "-p", "main")
    git(hub, "config", "receive.denyNonFastForwards", "false")
    assert sync(one).is_rewritten


def said(memory: Memory, *words: str) -> str:
    """What the command line prints."""
    result = CliRunner().invoke(cli, ["--dir", str(memory.root), *words], prog_name="crabmem")
    return result.output


def test_the_answers_name_each_remote_that_was_and_was_not_rewritten(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path
) -> None:
    one, other = two
    Repo.init_bare(str(tmp_path / "backup.git"), mkdir=True).close()
    git(one.root, "remote", "add", "backup", str(tmp_path / "backup.git"))
    git(one.root, "push", "-q", "backup", "main")
    git(hub, "branch", "before", "main")
    assert f"remote:  {hub} has it until the next `crabmem sync`" in said(one, "purge", "--text", SECRET, "--dry-run")
    refused = said(one, "purge", "--text", SECRET, "--yes")
    assert "was pushed to backup: it stays there" in refused and "origin" not in refused.splitlines()[-1]
    done = said(one, "purge", "--text", SECRET, "--yes", "--yes-really")
    assert f"not yet: {hub}: `crabmem sync` takes it out there" in done
    assert f"not rewritten: backup {tmp_path / 'backup.git'}" in done
    assert "a forge keeps forks, caches and pull requests" in done
    done = said(one, "sync")
    assert f"rewritten: {hub}, which does not show any more what was purged" in done
    assert f"not rewritten: refs/heads/before of {hub}: delete them there" in done
    assert "not rewritten: backup: `git push --force` does that" in done
    assert "would come: 1 purge\n" in said(other, "sync", "--dry-run")
    refused = said(other, "sync")
    assert "text goes from memory/entries/luna.md here, and from history; nothing was taken in or sent" in refused
    assert "give --yes if that is meant" in refused
    assert "took in 1 purge: what it took is gone from the files here, and from history" in said(other, "sync", "--yes")
    assert not traces(other.root, SECRET)


def test_a_remote_that_never_had_it_is_not_rewritten(two: tuple[Memory, Memory], hub: Path) -> None:
    one, _ = two
    one.remember("Pin", "of the door", "tulip-4711")
    assert not one.purge(text="tulip-4711").syncs_with
    done = synced(one)
    assert not done.is_rewritten and done.sent == 1
    assert "tulip-4711" not in git(hub, "log", "-p", "main")


# Proposals


def test_a_proposal_that_holds_it_is_purged_everywhere_and_waits_on(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    for memory, text in ((one, "Eleven"), (other, "Twelve")):
        memory.remember("Luna", "the cat", f"A cat.\nHer chip is {SECRET}.\n{text} years old.\nShe sleeps.")
    synced(one)
    assert synced(other).disputed
    synced(one)
    assert len(proposals(one)) == len(proposals(other)) == 1
    one.purge(text=SECRET)
    for memory in (one, other, one):
        synced(memory)
        assert len(proposals(memory)) == 1
        assert not traces(memory.root, SECRET)
    assert proposals(one) == proposals(other)
    assert SECRET not in git(hub, "log", "--all", "-p")
    assert len(git(hub, "for-each-ref", "refs/crabmem/proposals").splitlines()) == 1


def test_a_text_that_waits_is_the_same_after_a_purge_that_knew_nothing_of_the_join(
    two: tuple[Memory, Memory], machine: Machine
) -> None:
    one, other = two
    third = machine("third")
    synced(third)
    for memory, text in ((one, "Eleven"), (other, "Twelve")):
        memory.remember("Tea", "a drink", f"{text} cups.")
    synced(one)
    assert synced(other).disputed
    one.remember("Boat", "where it lies", "In the harbour.")  # the join is no commit that the remote names
    synced(one)
    (before,) = proposals(one)
    third.purge(text=SECRET)
    for memory in (third, other, one):
        synced(memory)
        (waiting,) = proposals(memory)
        assert (waiting.data, waiting.base) == (before.data, before.base)


def test_a_text_that_waits_beside_one_of_another_machine_holds_nothing_of_a_purged_fact(
    two: tuple[Memory, Memory], machine: Machine
) -> None:
    one, other = two
    third, file = machine("third"), other.root / "memory/entries/luna.md"
    one.purge("Luna")
    file.write_text(f"{file.read_text()}She likes fish.\n")
    synced(other)
    third.remember("Luna", "another cat", "Of the neighbour.")
    assert sync(third, is_expected=True, joins_apart=True).disputed == ("memory/entries/luna.md",)
    for memory in (one, third, other, one):
        synced(memory)
    for memory in (one, third, other):
        assert not traces(memory.root, SECRET)
        said = [each.data or b"" for each in proposals(memory)]
        assert any(b"Of the neighbour." in each for each in (*said, *(e.content.encode() for e in memory.entries())))


@pytest.mark.parametrize("texts", [("Grey.", "Black."), ("Black.", "Grey.")])
def test_of_a_fact_that_two_began_the_text_that_nobody_purged_stays(
    machine: Machine, hub: Path, texts: tuple[str, str]
) -> None:
    one, other = machine("one"), machine("other")
    other.adopt()
    sync(other)
    synced(one)
    for memory, text in zip((one, other), texts, strict=True):
        memory.remember("Luna", "the cat", text)
    sync(other)
    other.purge("Luna")
    assert sync(one).disputed == ("memory/entries/luna.md",)
    synced(other)
    agreed(one)
    synced(other)
    assert tip(one.root) == tip(other.root) == tip(hub)
    for memory in (one, other):
        assert not traces(memory.root, texts[1])
        assert synced(memory).waiting == len(waiting := proposals(memory))
        assert texts[0] in ((waiting[0].data or b"").decode() if waiting else memory.get("Luna").content)
        assert is_whole(memory.root)


# A record that is not believed


def test_a_record_of_too_many_rows_is_refused_in_words(
    two: tuple[Memory, Memory], hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    recorded(hub, PurgeRecord([Erased({f"{number:040x}": f"{number + 50:040x}" for number in range(50)})]))
    monkeypatch.setattr(purged, "MOST_ROWS", 49)
    with pytest.raises(Untrusted, match=r"is no record of purges, or has more than 49 rows: nothing was changed"):
        sync(other)
    monkeypatch.setattr(repository, "MOST_ROWS", 1)
    with pytest.raises(Unwritable, match=r"the record of purges would have \d+ rows, more than the 1 that are read"):
        one.purge(text=SECRET)


def test_a_long_record_costs_as_much_as_reading_it_once() -> None:
    erased = Erased({f"{number:040x}": f"{number + 40_000:040x}" for number in range(40_000)})
    cost = [process_time()]
    record = PurgeRecord([Erased.of(erased.data)])
    cost.append(process_time())
    assert len(record.refused) == 40_000 and not record.siblings and record.commit("f" * 40) == "f" * 40
    cost.append(process_time())
    assert cost[2] - cost[1] < cost[1] - cost[0] + 0.2


def recorded(hub: Path, record: PurgeRecord) -> None:
    """Put a record on the remote, as a stranger would."""
    for kind, data in record.objects():
        (hub / "new").write_bytes(data)
        git(hub, "hash-object", "-w", "-t", kind, "new")
    git(hub, "update-ref", PURGED, record.tip or "")


def rewritten(one: Memory, hub: Path) -> dict[str, str]:
    """Have a stranger rewrite the remote so that one fact says something else; old and new commits."""
    old = git(hub, "rev-list", "--reverse", "main").split()
    script = "git show :memory/entries/tea.md 2>/dev/null | sed s/known/lied/ > ../x && test -s ../x && "
    script += "git update-index --cacheinfo 100644,$(git hash-object -w ../x),memory/entries/tea.md || true"
    git(hub, "filter-branch", "-f", "--index-filter", script, "main")
    git(hub, "update-ref", "-d", "refs/original/refs/heads/main")
    return dict(zip(old, git(hub, "rev-list", "--reverse", "main").split(), strict=True))


@pytest.mark.parametrize("what", ["no record", "other blobs", "circle", "nothing there", "binary"])
def test_a_record_of_a_stranger_takes_nothing(
    two: tuple[Memory, Memory], hub: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    one, other = two
    monkeypatch.setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")
    before, files = tip(other.root), {file: file.read_bytes() for file in other.root.rglob("*.md")}
    commits = git(hub, "rev-list", "main").split()
    expected: type[SyncError] | None = SyncError
    if what == "no record":
        git(hub, "update-ref", PURGED, "main")
    elif what == "other blobs":
        recorded(hub, PurgeRecord([Erased({old: new for old, new in rewritten(one, hub).items() if old != new})]))
        expected = Untrusted
    elif what == "circle":
        recorded(hub, PurgeRecord([Erased({commits[0]: commits[1], commits[1]: commits[0]})]))
        expected = None
    elif what == "nothing there":
        recorded(hub, PurgeRecord([Erased(dict.fromkeys(commits, "1" * 40))]))
        with pytest.raises(HoldsPurged, match="If none did, `crabmem sync --yes` goes on"):
            sync(other)
        expected = None
    else:
        (hub / "new").write_bytes(b"crabmem purge 1\n" + b"\xff" * 1000)
        blob = git(hub, "hash-object", "-w", "new").strip()
        git(hub, "update-index", "--add", "--cacheinfo", f"100644,{blob},{blob}")
        tree = git(hub, "write-tree").strip()
        commit = git(hub, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", tree, "-m", "x").strip()
        git(hub, "update-ref", PURGED, commit)
    with pytest.raises(expected) if expected else nullcontext():
        sync(other, is_expected=True)
    assert tip(other.root) == before == tip(hub) or what == "other blobs"
    assert {file: file.read_bytes() for file in other.root.rglob("*.md")} == files
    assert is_whole(other.root)


# Deaths


def dying(root: Path, at: int) -> int:
    """Sync in a process that dies at a change of the disk; how many there were."""
    read, write = os.pipe()
    if not (child := os.fork()):
        count = 0

        def before(operation: str, path: str) -> None:
            nonlocal count
            count += 1
            if count >= at:
                os._exit(9)

        try:
            with Memory(root, is_person=True) as memory:
                fs.before = before
                synced(memory)
                os.write(write, str(count).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        done = said.read()
    os.waitpid(child, 0)
    return int(done or 0)


def survived(root: Path, hub: Path, kept: Path, at: int) -> None:
    """Sync as it was kept, die, and go on: nothing is lost, and nothing that was purged is left."""
    for place in (root, hub):
        shutil.rmtree(place)
        shutil.copytree(kept / place.name, place, symlinks=True)
    dying(root, at)
    for lock in hub.rglob("*.lock"):  # of a reference there, which whoever pushes next is told to remove
        lock.unlink()
    with Memory(root, is_person=True) as memory:
        memory.remember("After", "the crash", "It goes on.")
        assert not [*(root / ".git/crabmem").glob("incoming/*"), *(root / ".git/crabmem").glob("tmp/fetch-*")]
        synced(memory)
        assert {"Dora", "After", "Vet", "Tea"} <= {entry.name for entry in memory.entries()}
    assert not traces(root, SECRET)
    assert SECRET not in git(hub, "log", "--all", "-p")
    assert is_whole(root)
    assert tip(root) == tip(hub)


@pytest.mark.parametrize("who", ["a stale machine", "the one that purged"])
def test_a_death_at_any_step_loses_nothing_and_leaves_nothing(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path, who: str
) -> None:
    one, other = two
    one.purge(text=SECRET)
    one.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    other.remember("Dora", "the dog", "A dog.")
    sync(one if who == "a stale machine" else other)
    memory = other if who == "a stale machine" else one
    one.close()
    other.close()
    kept = tmp_path / "kept"
    for place in (memory.root, hub):
        shutil.copytree(place, kept / place.name, symlinks=True)
    count = dying(memory.root, 1_000_000)
    assert count > 20
    for at in sorted(random.Random(3).sample(range(1, count + 1), _DEATHS)):
        survived(memory.root, hub, kept, at)


def test_a_push_of_which_only_the_record_arrived_goes_on_unasked(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    old = git(hub, "rev-parse", "main").strip()
    one.purge(text=SECRET)
    sync(one)
    git(hub, "update-ref", "refs/heads/main", old)
    (one.root / ".git/crabmem/sync.json").unlink()  # it was not written yet
    with pytest.raises(HoldsPurged, match="sync the machine that purged first"):
        sync(other)
    assert sync(one).is_rewritten
    synced(other)
    assert tip(other.root) == tip(one.root) == tip(hub)


def test_a_text_that_waits_comes_in_also_where_the_old_line_was_pulled(
    two: tuple[Memory, Memory], machine: Machine
) -> None:
    one, other = two
    third = machine("third")
    synced(third)
    one.purge(text=SECRET)
    git(one.root, "fetch", "-q", "origin")
    git(one.root, *ANN, "merge", "-q", "-s", "ours", "-m", "both", "origin/main")
    for memory, text in ((other, "Eleven"), (third, "Twelve")):
        memory.remember("Tea", "a drink", f"{text} cups.")
        waiting = synced(memory).waiting
    assert waiting == 1
    for memory in (one, third, other):
        assert synced(memory).waiting == len(proposals(memory)) == 1
        assert not traces(memory.root, SECRET)


@pytest.mark.parametrize("text", ["On the river.", "By the bridge.", "At the mill."])
def test_a_fact_that_a_join_moved_stays_where_another_join_stands_on_that(
    two: tuple[Memory, Memory], machine: Machine, text: str
) -> None:
    one, other = two
    third, file = machine("third"), one.root / "memory/entries/work/Bank.md"
    file.parent.mkdir()
    file.write_text("---\nname: Bank\ndescription: d\n---\n\nOf Ann.\nIts pin is p-4711.\n")
    one.adopt()
    synced(one)
    other.remember("Bank", "where it is", text)
    assert synced(other).disputed == ("memory/entries/bank.md",)
    one.purge(text="p-4711")
    third.remember("Dora", "the dog", "A dog.")
    sync(third, is_expected=True, joins_apart=True)
    for memory in (one, third, other, one):
        synced(memory)
        said = [each.data or b"" for each in proposals(memory)]
        for each in (b"Of Ann.", text.encode()):
            assert any(each in data for data in (*said, (memory.root / "memory/entries/bank.md").read_bytes()))
        assert not traces(memory.root, "p-4711")
