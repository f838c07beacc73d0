"""The past of a memory that was joined: what blame, log, as-of, bisect, undo and revert make of it, on each machine."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import Inapplicable
from crabmem.operations.bisect import Claim
from crabmem.session.snapshot import Snapshot
from crabmem.sync.sync import sync
from tests.conftest import git

from .conftest import Machine, Two, synced


def of_agent(memory: Memory, agent: str, session: str, name: str, content: str) -> None:
    """Have an agent remember something on a machine."""
    memory.for_actor(agent, session).remember(name, f"about {name}", content)


def exchanged(*machines: Memory) -> None:
    """Sync until all have the same."""
    for memory in (*machines, *machines):
        synced(memory)
    assert len({git(memory.root, "rev-parse", "HEAD") for memory in machines}) == 1


def joined(two: Two) -> Two:
    """Two machines that both had something new, and were joined."""
    one, other = two
    time.sleep(1.1)  # a commit has no smaller time, and of one second any may come first in the log
    of_agent(one, "coder", "s-1", "Tea", "With milk.")
    of_agent(other, "planner", "s-2", "Key", "In the vault.")
    of_agent(other, "planner", "s-2", "Key", "In the vault.\nUnder ops.")
    exchanged(one, other)
    return two


def test_a_line_that_came_through_a_join_has_its_author_and_commit(two: Two) -> None:
    one, other = two
    of_agent(one, "coder", "s-1", "Luna", "A cat.\nTen years old.\nLikes fish.")
    of_agent(other, "planner", "s-2", "Luna", "A cat, grey.\nTen years old.")
    exchanged(one, other)
    for memory in two:
        found = {line.text: (line.author, line.session, line.commit) for line in memory.blame("Luna")}
        commits = {each.session: each.commit for each in memory.log() if each.session}
        assert found["Likes fish."] == ("coder", "s-1", commits["s-1"])
        assert found["A cat, grey."] == ("planner", "s-2", commits["s-2"])


def test_the_log_has_what_all_machines_did_newest_first_and_the_join_before_what_it_joined(two: Two) -> None:
    one, other = joined(two)
    log = one.log()
    assert [each.commit for each in other.log()] == [each.commit for each in log]
    seconds = [int(each.time.timestamp()) for each in log]
    assert seconds == sorted(seconds, reverse=True)
    places = {each.commit: number for number, each in enumerate(log)}
    assert all(places[parent] > places[each.commit] for each in log for parent in each.parents)
    subjects = [each.subject for each in log]
    assert subjects.index("sync: the work of two machines, joined") < subjects.index("remember: Tea")


def test_memory_as_it_was_before_a_join_is_what_one_machine_had_and_each_says_the_same(two: Two) -> None:
    one, other = two
    before = one.log()[0].commit
    time.sleep(1.1)  # a commit has no smaller time
    of_agent(one, "coder", "s-1", "Tea", "With milk.")
    of_agent(other, "planner", "s-2", "Key", "In the vault.")
    tips = [memory.log()[0] for memory in two]
    exchanged(one, other)
    for memory in two:
        assert [entry.name for entry in memory.entries(at=before)] == ["Luna"]
        for tip, name in zip(tips, ("Tea", "Key"), strict=True):
            assert {entry.name for entry in memory.entries(at=tip.commit)} == {"Luna", name}
    earlier = one.engine.history.time(before).isoformat()
    seen = [{entry.name for entry in memory.entries(at=earlier)} for memory in two]
    assert seen == [{"Luna"}, {"Luna"}]
    latest = max(tip.time for tip in tips).isoformat()
    # A join counts as made when the newest of what it joins was.
    assert [{entry.name for entry in memory.entries(at=latest)} for memory in two] == [{"Luna", "Tea", "Key"}] * 2


@pytest.mark.parametrize("wrong", ["With milk.", "In the vault."])
def test_the_commit_that_made_an_answer_bad_is_found_on_whichever_machine_it_was_made(two: Two, wrong: str) -> None:
    one, other = two
    for number in range(3):
        of_agent(one, "coder", "s-1", f"Tea {number}", "With sugar.")
        of_agent(other, "planner", "s-2", f"Key {number}", "At the door.")
    of_agent(one, "coder", "s-3", "Tea", "With milk.")
    of_agent(other, "planner", "s-4", "Key", "In the vault.")
    exchanged(one, other)
    one.remember("After", "what came after", "Nothing.")
    exchanged(one, other)

    def is_good(now: Snapshot) -> bool:
        return all(wrong not in now.shown(path) for path in now.files)

    for memory in two:
        found = memory.bisect(is_good).commit
        assert found is not None
        assert found.session == ("s-3" if wrong == "With milk." else "s-4")


def test_a_join_that_made_an_answer_bad_by_itself_is_named(two: Two) -> None:
    one, _ = joined(two)
    found = one.bisect(lambda now: len(now.entries.paths) < 3).commit
    assert found is not None
    assert found.subject == "sync: the work of two machines, joined"


def test_a_claim_is_tried_on_what_another_history_brought(machine: Machine) -> None:
    one, apart = machine("one"), machine("apart")
    one.remember("Luna", "the cat", "A cat.")
    synced(one)
    (apart.root / "Crab.md").write_text("I am another.\n")
    apart.remember("Tea", "hot", "With milk.")
    apart.remember("Key", "where", "In the vault.")
    sync(apart, is_expected=True, joins_apart=True)
    claim = Claim("in the vault", "Key", is_wanted=False)
    found = apart.bisect(lambda now: claim.holds(now.recall(claim.query))).commit
    assert found is not None
    assert found.subject in ("remember: Key", "sync: the work of two machines, joined")


def test_a_session_of_another_machine_is_taken_back_and_the_rest_stays(two: Two) -> None:
    one, _ = joined(two)
    done = one.revert(session="s-2")
    assert len(done.commits) == 2
    exchanged(*two)
    for memory in two:
        assert {entry.name for entry in memory.entries()} == {"Luna", "Tea"}


def test_a_rollback_on_one_machine_took_back_nothing_of_another_session_elsewhere(two: Two) -> None:
    one, other = two
    start = one.log()[0].commit
    of_agent(one, "coder", "s-1", "Tea", "With milk.")
    of_agent(other, "planner", "s-2", "Key", "In the vault.")
    time.sleep(1.1)  # the rollback is the newest, as the log tells it
    one.rollback(start)
    exchanged(one, other)
    assert {entry.name for entry in one.entries()} == {"Luna", "Key"}
    one.revert(session="s-2")
    assert {entry.name for entry in one.entries()} == {"Luna"}


def test_a_join_cannot_be_reverted_for_each_machine_brought_something(two: Two) -> None:
    one, _ = joined(two)
    [join] = [each for each in one.log() if len(each.parents) > 1]
    with pytest.raises(Inapplicable, match="joined the work of two machines, and both stay"):
        one.revert(join.commit)


def test_what_was_undone_elsewhere_is_not_undone_again(two: Two) -> None:
    one, other = joined(two)
    time.sleep(1.1)
    one.remember("Vet", "the doctor", "Dr. Moreno.")
    other.remember("Wifi", "the network", "On the router.")
    other.undo()
    exchanged(one, other)
    undone = one.undo().operation
    assert undone is not None
    assert undone.subject == "remember: Vet"
    assert {entry.name for entry in one.entries()} == {"Luna", "Tea", "Key"}


@pytest.mark.parametrize(
    "clock", [lambda now: now, lambda now: now.replace(year=2001), lambda now: now.replace(year=2098)]
)
def test_a_clock_that_is_wrong_on_one_machine_changes_nothing_of_what_is_remembered(
    two: Two, clock: Callable[..., object], tmp_path: Path
) -> None:
    one, other = two
    right = other.engine.clock
    other.engine.clock = lambda: clock(right())  # type: ignore[assignment, return-value]
    one.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes fish.")
    other.remember("Luna", "the cat", "A cat, grey.\nTen years old.")
    other.remember("Key", "where", "In the vault.")
    exchanged(one, other)
    for memory in two:
        assert memory.get("Luna").content == "A cat, grey.\nTen years old.\nLikes fish."
        assert {entry.name for entry in memory.entries()} == {"Luna", "Key"}
    one.forget("Key")
    exchanged(one, other)
    assert {entry.name for entry in other.entries()} == {"Luna"}


def test_a_text_appeared_in_the_commit_that_wrote_it_and_not_in_the_join(two: Two) -> None:
    for memory in joined(two):
        for text, session in (("With milk.", "s-1"), ("In the vault.", "s-2")):
            [seen] = memory.when(text).steps
            assert (seen.commit.session, seen.what) == (session, "appeared")


def test_a_line_that_a_join_brought_into_a_file_that_both_changed_appeared_once(two: Two) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes fish.")
    other.remember("Luna", "our cat", "A cat.\nTen years old.")
    exchanged(*two)
    for memory in two:
        assert [(step.what, step.commit.subject) for step in memory.when("Likes fish.").steps] == [
            ("appeared", "remember: Luna")
        ]


def test_an_undo_that_cannot_go_behind_a_join_names_the_way_that_can(two: Two) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes fish.")
    time.sleep(1.1)
    other.remember("Luna", "our cat", "A cat.\nTen years old.")
    exchanged(*two)
    with pytest.raises(Inapplicable, match=r"`crabmem undo ([0-9a-f]+)` takes back only that change") as told:
        one.undo()
    one.revert(str(told.value).partition("crabmem undo ")[2].partition("`")[0])
    assert (one.get("Luna").description, "Likes fish." in one.get("Luna").content) == ("the cat", True)


def test_the_digest_of_a_time_has_the_facts_of_every_machine_once(two: Two) -> None:
    before = two[0].log()[0].commit
    for memory in joined(two):
        assert sorted(each.name for each in memory.digest(since=before).learned) == ["Key", "Tea"]
