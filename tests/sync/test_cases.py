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
from crabmem.operations.proposals import proposals, propose_identity
from crabmem.sync.sync import name_remote, sync
from tests.conftest import git

from .conftest import Machine, Two, crab, synced

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
        writes(OVERVIEW, f"{GOOD}- [Tea](entries/tea.md): hot\n"),
        {"Luna": LUNA, "Tea": "With milk."}, "entries/tea.md",
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


def test_tags_that_both_added_are_all_there(two: Two) -> None:
    for memory, tag in zip(two, ("home", "vet"), strict=True):
        memory.remember("Luna", "the cat", "A cat.\nTen years old.", tags=[tag])
    for memory in (*two, *two):
        synced(memory)
    for memory in two:
        assert sorted(memory.get("Luna").tags) == ["home", "vet"]


def test_lines_beside_each_other_are_kept_in_full(two: Two) -> None:
    one, other = two
    one.remember("Luna", "the cat", "The cat.\nTen years old.")
    other.remember("Luna", "the cat", "A cat.\nEleven years old.")
    for memory in (*two, *two):
        synced(memory)
    for memory in two:
        said = memory.get("Luna").content + "".join(each.text or "" for each in proposals(memory))
        assert all(words in said for words in ("The cat.", "Eleven years old."))


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
    crab(one.root, "resolve", "Crab.md", "--theirs")
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
