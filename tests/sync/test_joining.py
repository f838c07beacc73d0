"""Machines take in each other's histories: real workspaces, whose objects are carried over by hand."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich.repo import Repo

from crabmem import Memory
from crabmem.disk import fs
from crabmem.operations.proposals import apply_proposal, proposals
from crabmem.sync.joining import Taken, take_in
from crabmem.write.draft import Written
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
    waiting = one.engine.history.aside.readable()
    assert len(waiting) == 1
    assert waiting == other.engine.history.aside.readable()
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
        [waiting] = proposals(person)
        assert "+Lives in Wien." in waiting.diff
        apply_proposal(person, waiting.id)
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


def test_histories_that_took_each_other_in_crosswise_are_joined_alike(machines: tuple[Memory, Memory]) -> None:
    one, other = machines
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "The cat.\nTen years old.\nLikes fish.")
    copies = [Memory(memory.root.with_name(f"copy of {memory.root.name}")) for memory in machines]
    for memory, copy in zip(machines, copies, strict=True):
        take(copy, memory)
        memory.remember(f"More of {memory.agent}", "d", "Text.")
    # Each takes in what the other had a while ago, and has more itself: the newest that both stand on are two.
    assert take(one, copies[1]).result.is_joined
    assert take(other, copies[0]).result.is_joined
    tips = [git(memory.root, "rev-parse", "HEAD").strip() for memory in machines]
    clone = Memory(one.root.with_name("clone"))
    take(clone, one)
    take(one, other)
    assert len(one.engine.history.bases(*tips)) == 2
    take(other, clone)
    assert state(one) == state(other)
    assert {entry.name for entry in one.entries()} == {"Luna", "Tea", "More of a", "More of b"}
    assert "Likes fish." in one.get("Luna").content


@pytest.mark.parametrize("persons", [0, 1])
def test_what_is_chosen_after_one_of_two_joins_of_the_same_texts_stays_chosen(
    machines: tuple[Memory, Memory], persons: int
) -> None:
    """The newest commits that both stand on are two, of two texts: what both joins made of these is not seen of them.

    It was taken for the text whose id sorts first: where a person's stood, the other one that was chosen then went.
    """
    for number, (memory, years) in enumerate(zip(machines, ("Eleven", "Twelve"), strict=True)):
        with Memory(memory.root, is_person=True) as person:
            (person if number == persons else memory).remember("Luna", "the cat", f"A cat.\n{years} years old.")
    copies = [Memory(memory.root.with_name(f"copy of {memory.root.name}")) for memory in machines]
    for memory, copy in zip(machines, copies, strict=True):
        take(copy, memory)
        memory.remember(f"More of {memory.agent}", "d", "Text.")
    for memory, copy in zip(machines, reversed(copies), strict=True):
        assert len(take(memory, copy).result.disputes) == 1
    one, other = machines
    stood = one.get("Luna").content
    with Memory(one.root, is_person=True) as person:
        [waiting] = proposals(person)
        apply_proposal(person, waiting.id)
    chosen = one.get("Luna").content
    assert other.get("Luna").content == stood != chosen
    take(other, one)
    take(one, other)
    assert state(one) == state(other) and one.get("Luna").content == chosen


@pytest.mark.parametrize("later", ["forgotten", "with a line less", "as it was before"])
def test_what_changed_after_one_of_two_merges_that_took_the_same_text_of_two_stays(
    machines: tuple[Memory, Memory], later: str
) -> None:
    one, other = machines
    before = one.get("Luna").content
    taken, left = "A grey cat.\nTen years old.\nFar below.", "A black cat.\nTen years old."
    one.remember("Luna", "the cat", taken)
    other.remember("Luna", "the cat", left)
    for memory, each in ((one, other), (other, one)):
        git(memory.root, "fetch", "-q", str(each.root), "main:refs/heads/other")
    for memory, how in ((one, "ours"), (other, "theirs")):
        git(memory.root, "-c", "user.name=A", "-c", "user.email=a@x", "merge", "-q", "-X", how, "-m", "merge", "other")
        memory.adopt()
        assert memory.get("Luna").content.startswith("A grey cat.")
        memory.remember(f"More of {memory.agent}", "d", "Text.")
    if later == "forgotten":
        other.forget("Luna")
    else:
        content = taken.replace("\nFar below.", "") if later == "with a line less" else before
        other.remember("Luna", "the cat", content)
    take(one, other)
    take(other, one)
    assert state(one) == state(other)
    said = {entry.name: entry.content for entry in one.entries()}.get("Luna")
    assert said == {"forgotten": None, "with a line less": "A grey cat.\nTen years old."}.get(later, before)


@pytest.mark.parametrize("restores", [0, 1])
def test_a_fact_that_two_merges_left_out_and_somebody_brought_back_since_stays(
    machines: tuple[Memory, Memory], restores: int
) -> None:
    one, other = machines
    one.forget("Luna")
    other.remember("Luna", "the cat", "A black cat.")
    for memory, each in ((one, other), (other, one)):
        git(memory.root, "fetch", "-q", str(each.root), "main:refs/heads/other")
    without = git(one.root, "rev-parse", "main^{tree}").strip()
    for memory in machines:
        author = ["-c", "user.name=A", "-c", "user.email=a@x"]
        merge = git(memory.root, *author, "commit-tree", without, "-p", "main", "-p", "other", "-m", "merge").strip()
        git(memory.root, "reset", "-q", "--hard", merge)
        memory.remember(f"More of {memory.agent}", "d", "Text.")
    machines[restores].remember("Luna", "the cat", "A black cat.")
    take(one, other)
    take(other, one)
    assert state(one) == state(other)
    assert one.get("Luna").content == "A black cat."


def test_of_two_joins_of_the_same_texts_a_choice_in_one_and_an_edit_in_the_other_are_both_kept(
    machines: tuple[Memory, Memory],
) -> None:
    for memory, years in zip(machines, ("Eleven", "Twelve"), strict=True):
        memory.remember("Luna", "the cat", f"A cat.\n{years} years old.")
    copies = [Memory(memory.root.with_name(f"copy of {memory.root.name}")) for memory in machines]
    for memory, copy in zip(machines, copies, strict=True):
        take(copy, memory)
        memory.remember(f"More of {memory.agent}", "d", "Text.")
    for memory, copy in zip(machines, reversed(copies), strict=True):
        take(memory, copy)
    one, other = machines
    with Memory(one.root, is_person=True) as person:
        apply_proposal(person, proposals(person)[0].id)
    chosen = one.get("Luna").content
    edited = f"{other.get('Luna').content}, or so."
    other.remember("Luna", "the cat", edited)
    take(one, other)
    with Memory(one.root, is_person=True) as person:
        texts = [each.diff for each in proposals(person)]
    there = "\n".join([one.get("Luna").content, *texts])
    assert all(said.splitlines()[-1] in there for said in (chosen, edited))


def disputing(machines: tuple[Memory, Memory]) -> tuple[Memory, Memory]:
    """Two machines that have changed the same line, and each something of its own."""
    one, other = machines
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    other.remember("Key", "where it is", "In the vault.")
    return one, other


def killed(one: Memory, other: Memory, when: Callable[[str, str], bool]) -> None:
    """Have one machine take in what another has, and die at a change of the disk."""
    pid = os.fork()
    if not pid:

        def die(operation: str, path: str) -> None:
            if when(operation, path):
                os._exit(9)

        fs.before = die
        try:
            take(one, other)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def test_a_join_that_was_killed_among_its_files_is_finished_by_the_next_write(
    machines: tuple[Memory, Memory], tmp_path: Path
) -> None:
    one, other = disputing(machines)
    clone = Memory(tmp_path / "clone")
    take(clone, one)
    killed(one, other, lambda operation, path: operation != "link" and path.endswith("/luna.md"))
    one.adopt()
    take(clone, other)
    assert state(one)[:2] == state(clone)[:2]
    assert take(one, other).commit is None


def test_what_waits_waits_once_though_a_join_was_killed_and_something_written_before_the_next(
    machines: tuple[Memory, Memory],
) -> None:
    one, other = disputing(machines)
    killed(one, other, lambda operation, path: operation == "open" and path.endswith("/crabmem/journal"))
    assert len(one.engine.history.aside.readable()) == 1
    one.remember("Tea", "how it is made", "Cold.")
    take(one, other)
    [waiting] = proposals(one)
    assert waiting.path == "memory/entries/luna.md"


def test_a_join_that_a_stranger_began_adds_nothing_beside_memory_when_a_person_finishes_it(
    machines: tuple[Memory, Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = disputing(machines)
    (other.root / ".gitattributes").write_text("* filter=evil\n")
    git(other.root, "add", "-f", ".gitattributes")
    git(other.root, "-c", "user.name=m", "-c", "user.email=m@example.org", "commit", "-qm", "beside")
    killed(one, other, lambda operation, path: operation != "link" and path.endswith("/luna.md"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    with Memory(one.root, is_person=True) as memory:
        memory.engine.writer.repair()
        assert "Key" in {entry.name for entry in memory.entries()}
        assert ".gitattributes" not in git(one.root, "ls-tree", "-r", "--name-only", "HEAD")
