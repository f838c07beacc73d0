"""What two machines do to one memory, case by case, through a real remote: both end up with the same."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from crabmem import Memory
from crabmem.errors import MassLoss, SyncError
from crabmem.operations.proposals import is_of_sync, proposals, propose_identity
from crabmem.sync.sync import name_remote, sync
from tests.conftest import git

from .conftest import Machine, Two, crab, crabs, synced

Act = Callable[[Memory], object]
ENTRIES = "memory/entries"
OVERVIEW = "memory/MEMORY.md"
LUNA = "A cat.\nTen years old.\nLikes fish.\nGrey."


def says(
    content: str,
    name: str = "Luna",
    description: str = "the cat",
    aliases: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> Act:
    """Remember a fact that says so."""
    return lambda memory: memory.remember(name, description, content, aliases=[*aliases] or None, tags=[*tags] or None)


def writes(path: str, text: str) -> Act:
    """Write a file as a person does."""

    def act(memory: Memory) -> None:
        memory.file(path).parent.mkdir(parents=True, exist_ok=True)
        memory.file(path).write_text(text)

    return act


def both(*acts: Act) -> Act:
    """Do one after the other."""
    return lambda memory: [act(memory) for act in acts]


class Case(NamedTuple):
    """What each machine does after both had `LUNA`, and what is there then: of facts what they say, by their names.

    Of words joined by "|" either stands, and the other waits to be decided.
    """

    one: Act
    other: Act
    facts: dict[str, str]
    overview: str = ""


GOOD = "# Overview\n\n- [Luna](entries/luna.md)\n"
CASES = {
    "the same line": Case(
        says(LUNA.replace("Ten", "Eleven")), says(LUNA.replace("Ten", "Twelve")),
        {"Luna": "A cat.\nEleven|Twelve years old.\nLikes fish.\nGrey."},
    ),
    "lines apart": Case(
        says(LUNA.replace("A cat", "The cat")), says(LUNA.replace("Grey", "Black")),
        {"Luna": "The cat.\nTen years old.\nLikes fish.\nBlack."},
    ),
    "different keys": Case(
        says(LUNA, description="our cat"), says(LUNA, tags=["pets"]), {"Luna": LUNA},
    ),
    "a key and a line": Case(
        says(LUNA, aliases=["the cat"]), says(LUNA.replace("Grey", "Black")), {"Luna": LUNA.replace("Grey", "Black")},
    ),
    "only blank lines": Case(
        says(LUNA.replace("\nGrey", "\n\nGrey")), says(LUNA.replace("A cat", "The cat")),
        {"Luna": "The cat.\nTen years old.\nLikes fish.\n\nGrey."},
    ),
    "the same change": Case(
        says(LUNA.replace("Ten", "Eleven")), says(LUNA.replace("Ten", "Eleven")),
        {"Luna": LUNA.replace("Ten", "Eleven")},
    ),
    "removed and changed": Case(
        lambda memory: memory.forget("Luna"), says(LUNA.replace("Ten", "Eleven")),
        {"Luna": LUNA.replace("Ten", "Eleven")},
    ),
    "removed by both": Case(lambda memory: memory.forget("Luna"), lambda memory: memory.forget("Luna"), {}),
    "removed, and removed and begun again": Case(
        lambda memory: memory.forget("Luna"),
        both(lambda memory: memory.forget("Luna"), says("Another cat.")),
        {"Luna": "Another cat."},
    ),
    "renamed and changed": Case(
        lambda memory: memory.rename("Luna", "Luna the cat"), says(LUNA.replace("Ten", "Eleven")),
        {"Luna the cat": LUNA.replace("Ten", "Eleven")},
    ),
    "renamed by both alike": Case(
        lambda memory: memory.rename("Luna", "Moon"), lambda memory: memory.rename("Luna", "Moon"), {"Moon": LUNA},
    ),
    "renamed and removed": Case(
        lambda memory: memory.rename("Luna", "Moon"), lambda memory: memory.forget("Luna"), {"Moon": LUNA},
    ),
    "two facts with one file name": Case(
        writes(f"{ENTRIES}/key.md", "---\nname: Deploy key\ndescription: d\n---\n\nIn the vault.\n"),
        writes(f"{ENTRIES}/key.md", "---\nname: Piano key\ndescription: d\n---\n\nOf C.\n"),
        {"Luna": LUNA, "Deploy key": "In the vault.", "Piano key": "Of C."},
    ),
    "one fact with two file names": Case(
        says("With milk.", "Tea"),
        writes(f"{ENTRIES}/hot.md", "---\nname: Tea\ndescription: the cat\n---\n\nWith milk.\n"),
        {"Luna": LUNA, "Tea": "With milk."},
    ),
    "one fact begun with two texts": Case(
        says("With milk.", "Tea"), says("With sugar.", "Tea"), {"Luna": LUNA, "Tea": "With milk.|sugar."},
    ),
    "names that differ by case": Case(
        says("With milk.", "Tea"), says("With milk.", "TEA"), {"Luna": LUNA, "Tea|TEA": "With milk."},
    ),
    "names that differ by how an accent is written": Case(
        says("Schön.", "\u00c4rger"), says("Schön.", "A\u0308rger"), {"Luna": LUNA, "\u00c4rger|A\u0308rger": "Schön."},
    ),
    "both add to the overview": Case(
        writes(OVERVIEW, f"{GOOD}- one\n"), writes(OVERVIEW, f"{GOOD}- two\n"), {"Luna": LUNA}, "- one\n- two\n",
    ),
    "both add one link to the overview": Case(
        both(says("With milk.", "Tea"), writes(OVERVIEW, f"{GOOD}- [Tea](entries/tea.md)\n")),
        writes(OVERVIEW, f"{GOOD}- b\n- [Tea](entries/tea.md)\n"),
        {"Luna": LUNA, "Tea": "With milk."}, "entries/tea.md",
    ),
    "both add a link to one fact, with other words": Case(
        both(says("With milk.", "Tea"), writes(OVERVIEW, f"{GOOD}- [Tea](entries/tea.md): green only\n")),
        writes(OVERVIEW, f"{GOOD}- [Tea](entries/tea.md): ALLERGIC to black tea\n"),
        {"Luna": LUNA, "Tea": "With milk."},
        "- [Tea](entries/tea.md): green only\n- [Tea](entries/tea.md): ALLERGIC to black tea\n",
    ),
    "both begin the note of a day": Case(
        writes("memory/2026-11-23.md", "# 2026-11-23\n\n## 08:00\n\nAte eggs.\n"),
        writes("memory/2026-11-23.md", "# 2026-11-23\n\n## 12:30\n\nHad bread.\n"), {"Luna": LUNA},
    ),
    "file names that differ by case": Case(
        writes(f"{ENTRIES}/Kiwi.md", "---\nname: Kiwi\ndescription: fruit\n---\n\nGreen.\n"),
        writes(f"{ENTRIES}/kiwi.md", "---\nname: Kiwi bird\ndescription: bird\n---\n\nBrown.\n"),
        {"Luna": LUNA, "Kiwi": "Green.", "Kiwi bird": "Brown."},
    ),
    "the overview is put in order, and added to": Case(
        writes(OVERVIEW, "# Overview\n\n- b\n- a\n- [Luna](entries/luna.md)\n"),
        writes(OVERVIEW, f"{GOOD}- a\n- b\n- last\n"), {"Luna": LUNA}, "- last\n",
    ),
}  # fmt: skip


def is_said(wanted: str, said: str) -> bool:
    """Whether a text is the wanted one, in which words joined by "|" are one of both."""
    choices = [word.split("|") for word in re.split(r"([ \n])", wanted)]
    return any("".join(words[min(number, len(words) - 1)] for words in choices) == said for number in (0, 1))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_two_machines_end_up_with_the_same_whoever_syncs_first(machine: Machine, case: Case) -> None:
    found = list[tuple[dict[str, str], str, int]]()
    one, other = machine("one"), machine("other")
    says(LUNA)(one)
    writes(OVERVIEW, GOOD)(one)
    for memory in (one, other):
        synced(memory)
    case.one(one)
    case.other(other)
    for memory in (one, other, one, other):
        synced(memory)
    for memory in (one, other):
        facts = {entry.name: entry.content for entry in memory.entries()}
        found.append((facts, memory.overview().text, len(proposals(memory))))
    assert found[0] == found[1]
    assert git(one.root, "rev-parse", "HEAD") == git(other.root, "rev-parse", "HEAD")
    facts, overview, waiting = found[0]
    assert len(facts) == len(case.facts)
    for name, text in case.facts.items():
        [there] = [each for each in facts if each in name.split("|")]
        assert is_said(text, facts[there]), facts
    assert waiting == sum("|" in f"{name}{text}" for name, text in case.facts.items())
    if case.overview.endswith("\n"):
        assert all(line in overview.splitlines() for line in case.overview.splitlines())
    elif case.overview:
        assert overview.count(case.overview) == 1
    for memory in (one, other):
        assert not any("<<<<<<<" in file.read_text() for file in memory.root.rglob("*.md"))
        assert not git(memory.root, "status", "--short")


def waiting(memory: Memory) -> list[str]:
    """The texts that wait to be decided since machines were joined."""
    return [each.text or "" for each in proposals(memory) if is_of_sync(each)]


@pytest.mark.parametrize("ages", [("Eleven", "Twelve"), ("Twelve", "Eleven")])
def test_a_text_waits_though_an_agents_proposal_waits_whose_tree_has_it(two: Two, ages: tuple[str, str]) -> None:
    one, other = two
    (one.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    for memory in (one, other, one):
        synced(memory)
    other.remember("Luna", "the cat", f"A cat.\n{ages[0]} years old.")
    synced(other)
    one.remember("Luna", "the cat", f"A cat.\n{ages[1]} years old.")
    one.for_actor("bot", None).remember("Key", "where", "In the vault.")
    assert synced(one).disputed == ("memory/entries/luna.md",)
    synced(other)
    for memory in two:
        [text] = waiting(memory)
        assert all(age in text + memory.get("Luna").content for age in ages)


def test_a_decision_that_the_other_machine_edits_meanwhile_is_not_lost(disputing: Two) -> None:
    one, other = disputing
    there = {memory.root: (memory.get("Luna").content, waiting(memory)) for memory in (one, other)}
    crab(one.root, "review", "resolve", "Luna", "--theirs")
    taken = one.get("Luna").content
    assert taken not in (there[one.root][0],)
    other.remember("Luna", "the cat", "A cat.\nForty years old.")
    for memory in (one, other, one):
        synced(memory)
    for memory in (one, other):
        [text] = waiting(memory)
        said = text + memory.get("Luna").content
        assert "Forty" in said and taken.splitlines()[1] in said


def test_what_came_of_a_text_that_one_machine_rejects_and_another_takes_is_said_where_it_was_rejected(
    disputing: Two,
) -> None:
    one, other = disputing
    crab(one.root, "review", "resolve", "Luna", "--theirs")
    crab(other.root, "review", "resolve", "Luna", "--ours")
    for first, then in ((one, other), (other, one)):
        synced(first)
        said = crabs(then.root, "sync")
        synced(first)
        if then is other:
            break
    assert "another machine took a text that you rejected here, in commit " in said
    commit = said.partition("crabmem undo ")[2].partition("`")[0]
    crab(other.root, "undo", commit)
    assert "rejected here" not in crabs(other.root, "sync")


def test_that_a_rejected_text_was_taken_is_said_though_the_rejection_was_synced_first(disputing: Two) -> None:
    one, other = disputing
    crab(one.root, "review", "resolve", "Luna", "--theirs")
    crab(other.root, "review", "resolve", "Luna", "--ours")
    synced(other)
    assert synced(one).overruled == ()
    assert len(synced(other).overruled) == 1
    assert synced(other).overruled == ()


def test_a_text_that_waits_is_told_on_every_machine(two: Two) -> None:
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    for memory in (one, other):
        synced(memory)
    assert "1 text of other machines to decide on: `crabmem review resolve`" in crabs(one.root, "sync")


def test_one_name_that_two_facts_have_is_told_at_once_and_the_command_ends_it(two: Two) -> None:
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    for memory in (one, other):
        synced(memory)
    one.file(f"{ENTRIES}/luna.md").write_text("---\nname: Moon\ndescription: d\n---\n\nA cat.\nTen years old.\n")
    other.file(f"{ENTRIES}/tea.md").write_text("---\nname: Moon\ndescription: d\n---\n\nWith milk.\n")
    synced(one)
    paths = ("memory/entries/luna.md", "memory/entries/tea.md")
    said = crabs(other.root, "sync")
    assert f"two facts are called Moon: {paths[0]}, {paths[1]}" in said
    assert synced(one).doubled == {"Moon": paths}
    crab(other.root, "rename", paths[1], "NEW NAME")
    crab(other.root, "remember", "Moon", "-d", "d", "-c", "Full.")
    assert synced(other).doubled == {}


def test_deletions_that_are_held_back_are_told_by_sync_which_records_them_when_they_are_meant(two: Two) -> None:
    one, other = two
    for number in range(12):
        one.remember(f"Fact {number}", "d", "Text.")
    synced(one)
    synced(other)
    for number in range(12):
        one.file(f"{ENTRIES}/fact-{number}.md").unlink()
    said = crabs(one.root, "sync")
    assert "12 of 13 facts are missing from the disk" in said and "`crabmem sync --yes-really`" in said
    assert "12 of 13" not in crabs(one.root, "sync", "--yes-really")
    assert len(one.entries()) == 1 and not git(one.root, "status", "--short")


def test_of_a_file_beside_memory_that_both_changed_both_are_there_and_told(two: Two) -> None:
    for memory, data in zip(two, (b"\x00\xff1", b"\x00\xff2"), strict=True):
        (memory.root / "pic.png").write_bytes(data)
        git(memory.root, "add", "-f", "pic.png")
        git(memory.root, "-c", "user.name=m", "-c", "user.email=m@example.org", "commit", "-qm", "pic")
    synced(two[0])
    assert "under another name, as theirs is taken or too long: pic-" in crabs(two[1].root, "sync")
    assert len([path for path in git(two[1].root, "ls-tree", "--name-only", "HEAD").split() if "pic" in path]) == 2


def test_that_a_fact_stays_which_only_one_machine_removed_is_said(two: Two) -> None:
    one, other = two
    one.forget("Luna")
    other.remember("Luna", "the cat", "A cat.\nEleven years old.")
    synced(one)
    assert synced(other).kept == ("memory/entries/luna.md",)
    assert synced(one).kept == ()
    one.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    other.forget("Luna")
    synced(one)
    said = crab(other.root, "sync").output
    assert "removed on one machine and changed on another, so still there: memory/entries/luna.md" in said


def test_an_identity_that_an_agent_elsewhere_wrote_is_not_in_force_until_a_person_takes_it(two: Two) -> None:
    one, other = two
    identity = one.identity().text
    with Memory(other.root, agent="coder", soul_editable=True) as agent:
        agent.write_identity("# I am a lobster\n")
    synced(other)
    one.remember("Tea", "hot", "With milk.")
    assert synced(one).disputed == ("Crab.md",)
    assert one.identity().text == identity
    synced(other)
    assert other.identity().text == identity
    crab(one.root, "review", "resolve", "Crab.md", "--theirs")
    for memory in (one, other):
        synced(memory)
        assert memory.identity().text == "# I am a lobster\n"


# What comes in, and what goes along


def test_a_sync_that_would_cost_most_facts_stops_until_a_person_means_it(two: Two) -> None:
    one, other = two
    one.remember("Key", "where", "In the vault.")
    for number in range(12):
        one.remember(f"Fact {number}", "d", "Text.")
    synced(one)
    synced(other)
    for number in range(12):
        one.file(f"{ENTRIES}/fact-{number}.md").unlink()
    one.adopt(even_if_many=True)
    synced(one)
    head = git(other.root, "rev-parse", "HEAD")
    with pytest.raises(MassLoss, match="12 of 14"):
        synced(other)
    assert (git(other.root, "rev-parse", "HEAD"), len(other.entries())) == (head, 14)
    sync(other, even_if_many=True)
    assert {entry.name for entry in other.entries()} == {"Luna", "Key"}


def test_the_branch_and_proposals_travel_and_nothing_else_of_ours(two: Two, hub: Path) -> None:
    one, other = two
    (one.root / "crabmem.toml").write_text('soul = "propose"\n')
    synced(one)
    synced(other)
    propose_identity(one.for_actor("coder", "s-1"), "# I am a lobster\n")
    git(one.root, "tag", "mine")
    git(one.root, "branch", "side")
    for memory in two:
        synced(memory)
    refs = git(hub, "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in refs if not ref.startswith("refs/crabmem/proposals/")] == ["refs/heads/main"]
    assert [each.agent for each in proposals(other)] == ["coder"]


def test_a_remote_that_another_memory_was_put_in_place_of_stops_it(two: Two, hub: Path, tmp_path: Path) -> None:
    one, _ = two
    git(tmp_path, "clone", "-q", "--bare", str(hub), "kept.git")
    git(hub, "update-ref", "-d", "refs/heads/main")
    with Memory(tmp_path / "stranger", is_person=True) as stranger:
        stranger.remember("Key", "where", "In the vault.")
        git(stranger.root, "push", "-q", str(hub), "main")
    with pytest.raises(SyncError, match="went back, or has another history"):
        sync(one, is_expected=True)
    assert {entry.name for entry in one.entries()} == {"Luna"}


def test_a_branch_that_was_renamed_at_the_remote_is_followed_as_its_commits_are_known_here(two: Two, hub: Path) -> None:
    one, other = two
    git(hub, "branch", "-m", "main", "trunk")
    git(hub, "symbolic-ref", "HEAD", "refs/heads/trunk")
    one.remember("Tea", "hot", "With milk.")
    sync(one)
    synced(other)
    assert git(hub, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/trunk"]
    assert {entry.name for entry in other.entries()} == {"Luna", "Tea"}


def test_no_git_program_is_needed(two: Two, tmp_path: Path) -> None:
    one, other = two
    one.remember("Tea", "hot", "With milk.")
    environment = {**os.environ, "PATH": str(tmp_path / "nothing")}
    for memory in two:
        command = [sys.executable, "-m", "crabmem", "--dir", str(memory.root), "sync"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    assert {entry.name for entry in other.entries()} == {"Luna", "Tea"}


def test_a_hook_answers_in_time_while_the_remote_hangs(two: Two, tmp_path: Path) -> None:
    one, _ = two
    with socket.create_server(("127.0.0.1", 0)) as silent:
        git(one.root, "remote", "remove", "origin")
        name_remote(one, f"http://127.0.0.1:{silent.getsockname()[1]}/memory.git", "/")
        (one.root / "crabmem.toml").write_text('[sync]\nauto = "session"\n')
        (one.root / ".git/crabmem/sync.json").unlink()
        command = [sys.executable, "-m", "crabmem", "--dir", str(one.root), "hook", "session-end"]
        began = time.monotonic()
        told = '{"session_id": "s", "hook_event_name": "SessionEnd"}'
        done = subprocess.run(command, input=told, text=True, capture_output=True, check=True)
        assert done.stdout == "{}\n"
        silent.settimeout(20)
        silent.accept()[0].close()  # the sync had begun, and asks
        assert time.monotonic() - began < 15
