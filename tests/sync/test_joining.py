"""Machines take in each other's histories: real workspaces, whose objects are carried over by hand."""

from pathlib import Path

import pytest
from dulwich.repo import Repo

from crabmem import Memory
from crabmem.operations import proposals
from crabmem.sync.joining import Taken, take_in
from crabmem.write.writer import Written
from tests.conftest import git


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Memory, Memory]:
    """Two clones of one memory of two facts."""
    one = Memory(tmp_path / "one", agent="a")
    one.remember("Luna", "the cat", "A cat.\nTen years old.")
    one.remember("Tea", "how it is made", "Hot.")
    other = Memory(tmp_path / "other", agent="b")
    take(other, one)
    return one, other


def take(memory: Memory, other: Memory) -> Written[Taken]:
    """Have one machine take in what another has."""
    if not (memory.root / ".git").exists():
        Repo.init(str(memory.root), mkdir=not memory.root.exists(), default_branch=b"main").close()
    other.adopt()
    with Repo(str(other.root)) as theirs, Repo(str(memory.root)) as ours:
        theirs.fetch(ours)
        tip = theirs.head().decode()
    return take_in(memory.engine, tip)


def state(memory: Memory) -> tuple[str, dict[str, str], str]:
    """The commit, the files on disk, and what Git says of them."""
    files = {
        path.relative_to(memory.root).as_posix(): path.read_text() for path in (memory.root / "memory").rglob("*.md")
    }
    return git(memory.root, "rev-parse", "HEAD"), files, git(memory.root, "status", "--short")


def test_what_only_one_machine_has_the_other_takes_as_it_is(machines: tuple[Memory, Memory]) -> None:
    one, other = machines
    one.remember("Key", "where it is", "In the vault.")
    done = take(other, one)
    assert not done.result.is_joined
    assert state(other) == state(one)
    assert other.recall("vault").hits[0].entry.name == "Key"
    assert take(other, one).commit is None


def test_two_machines_that_join_the_same_make_the_same_commit(machines: tuple[Memory, Memory]) -> None:
    one, other = machines
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    one.remember("Key", "where it is", "In the vault.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    other.forget("Tea")
    clone = Memory(one.root.with_name("clone"))
    take(clone, one)
    assert take(one, other).result.is_joined
    take(other, clone)
    assert state(one) == state(other)
    assert not state(one)[2]
    waiting = one.engine.history.aside()
    assert len(waiting) == 1
    assert waiting == other.engine.history.aside()
    git(one.root, "fsck", "--strict")


def test_an_edit_that_nobody_recorded_yet_is_joined_too(machines: tuple[Memory, Memory]) -> None:
    one, other = machines
    path = next((one.root / "memory" / "entries").glob("luna*"))
    path.write_text(path.read_text() + "Likes milk.\n")
    other.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes tea.")
    take(one, other)
    assert "Likes milk." in path.read_text()
    assert "Likes tea." in path.read_text()


@pytest.mark.parametrize(
    "rule",
    ['wait = ["entries"]', 'wait = ["entries tagged person"]', 'protect = "human-lines"', 'wait = ["everything"]'],
)
@pytest.mark.parametrize("is_ahead", [False, True])
def test_what_would_have_to_wait_here_waits_when_it_comes_from_elsewhere(
    machines: tuple[Memory, Memory], rule: str, is_ahead: bool
) -> None:
    one, other = machines
    with Memory(one.root, is_person=True) as person:
        person.remember("Ann", "a friend", "Lives in Graz.", tags=["person"])
        take(other, one)
        if not is_ahead:
            person.remember("Key", "where it is", "In the vault.")
        (one.root / "crabmem.toml").write_text(f"[review]\n{rule}\n")
        person.adopt()
    other.remember("Ann", "a friend", "Lives in Wien.", tags=["person"])
    with Memory(other.root, is_person=True) as theirs:
        theirs.remember("Tea", "how it is made", "Cold.")
    done = take(one, other)
    assert [dispute.path for dispute in done.result.disputes] == ["memory/entries/ann.md"]
    assert one.get("Ann").content == "Lives in Graz." and one.get("Tea").content == "Cold."
    with Memory(one.root, is_person=True) as person:
        [waiting] = proposals.proposals(person)
        assert "+Lives in Wien." in waiting.diff
        proposals.apply_proposal(person, waiting.id)
        assert one.get("Ann").content == "Lives in Wien."
    take(other, one)
    assert state(other)[1:] == state(one)[1:] and other.get("Ann").content == "Lives in Wien."


def test_what_an_agent_wrote_before_there_was_a_rule_stays(machines: tuple[Memory, Memory]) -> None:
    one, other = machines
    one.remember("Key", "where it is", "In the vault.")
    with Memory(one.root, is_person=True) as person:
        (one.root / "crabmem.toml").write_text('[review]\nwait = ["entries"]\n')
        person.adopt()
    with Memory(other.root, is_person=True) as theirs:
        theirs.remember("Tea", "how it is made", "Cold.")
    for done in (take(one, other), take(other, one)):
        assert done.result.disputes == ()
    assert one.get("Key").content == other.get("Key").content == "In the vault."
    assert state(one)[1:] == state(other)[1:]
