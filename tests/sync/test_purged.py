"""A purge that travels: what was purged on one machine is gone from the remote and the others, and stays gone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dulwich.repo import Repo

from crabmem import Memory
from crabmem.errors import HoldsPurged, Unexpected
from crabmem.git.refs import PURGED
from crabmem.results import Synced
from crabmem.sync.sync import name_remote, sync, upcoming
from tests.conftest import git

Machine = Callable[[str], Memory]
SECRET = "hunter2-of-luna"


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository."""
    Repo.init_bare(str(tmp_path / "hub.git"), mkdir=True, default_branch=b"main").close()
    return tmp_path / "hub.git"


@pytest.fixture
def machine(tmp_path: Path, hub: Path) -> Iterator[Machine]:
    """Makes machines of a person that know the remote."""
    made = list[Memory]()

    def make(name: str) -> Memory:
        memory = Memory(tmp_path / name, is_person=True)
        name_remote(memory, str(hub), "/")
        made.append(memory)
        return memory

    yield make
    for memory in made:
        memory.close()


def synced(memory: Memory, is_expected: bool = False) -> Synced:
    return sync(memory, is_expected=is_expected)


@pytest.fixture
def two(machine: Machine) -> tuple[Memory, Memory]:
    """Two machines that have synced some facts, of which one holds a secret in its middle, and forgot another."""
    one, other = machine("one"), machine("other")
    one.remember("Luna", "the cat", f"A cat.\nHer chip is {SECRET}.\nTen years old.\nShe sleeps.")
    one.remember("Old address", "where we lived", "Twelve, Harbour Lane, by the old mill.")
    for name in ("Tea", "Key", "Marta", "Boat"):
        one.remember(name, f"about {name}", f"What is known of {name}.")
    synced(one)
    synced(other, is_expected=True)
    return one, other


def traces(root: Path, *texts: str) -> list[str]:
    """Where any of the texts stands: the objects of a repository, reached or not, and all files."""
    found = list[str]()
    ids = git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    for oid in ids:
        if any(text in git(root, "cat-file", "-p", oid) for text in texts):
            found.append(oid)
    for file in root.rglob("*"):
        if file.is_file() and "objects" not in file.parts:
            data = file.read_bytes()
            found += [str(file)] if any(text.encode() in data for text in texts) else []
    return found


def tip(root: Path) -> str:
    return git(root, "rev-parse", "main").strip()


def is_whole(root: Path) -> bool:
    return git(root, "fsck", "--strict", "--full", "--no-dangling") == "" and not git(root, "status", "--short")


def test_a_purge_reaches_the_remote_and_a_machine_with_nothing_of_its_own(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    one.purge(text=SECRET, force=True)
    done = synced(one)
    assert done.is_rewritten and done.sent == 0
    assert tip(hub) == tip(one.root)
    assert SECRET not in git(hub, "log", "--all", "-p")
    done = synced(other)
    assert (done.purges, done.quoting, done.taken) == (1, (), ())
    assert tip(other.root) == tip(one.root)
    assert not traces(other.root, SECRET)
    assert "(purged)" in other.get("Luna").content
    assert is_whole(other.root)
    assert synced(one).sent == synced(other).sent == 0
    assert synced(other).purges == 0


def test_work_that_was_not_pushed_is_put_on_the_purged_line(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text() + "She likes fish.\n")
    other.adopt()
    other.remember("Dora", "the dog", "A dog.")
    one.purge(text=SECRET, force=True)
    one.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    synced(one)
    done = synced(other)
    assert (done.purges, done.sent) == (1, 3)
    assert not traces(other.root, SECRET)
    assert "She likes fish." in other.get("Luna").content and "(purged)" in other.get("Luna").content
    assert other.get("Dora") and other.get("Vet")
    synced(one)
    assert tip(one.root) == tip(other.root) == tip(hub)
    assert SECRET not in git(hub, "log", "--all", "-p")
    assert is_whole(one.root) and is_whole(other.root)
    assert "remember: Dora" in git(one.root, "log", "--format=%s")


def test_what_was_pushed_before_the_purge_was_known_is_kept_and_rewritten(
    two: tuple[Memory, Memory], hub: Path
) -> None:
    one, other = two
    one.purge(text=SECRET, force=True)
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


def test_a_whole_fact_goes_with_its_name(two: tuple[Memory, Memory], hub: Path) -> None:
    one, other = two
    one.purge("Old address", force=True)
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
    one.purge("Old address", force=True)
    synced(one)
    before = tip(other.root)
    with pytest.raises(Unexpected, match=r"old-address\.md .* changed here where .* takes these changes, too"):
        synced(other)
    assert tip(other.root) == before
    assert "Sold in May" in other.get("Old address").content
    assert synced(other, is_expected=True).purges == 1
    assert not traces(other.root, "Harbour Lane", "Sold in May")
    synced(one)
    assert tip(one.root) == tip(other.root)


def test_a_change_of_the_purged_line_waits_for_a_word_and_goes_with_it(two: tuple[Memory, Memory]) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text().replace(f"chip is {SECRET}.", f"chip is {SECRET}, in the ear."))
    other.adopt()
    one.purge(text=SECRET, force=True)
    synced(one)
    with pytest.raises(Unexpected, match=r"luna\.md"):
        synced(other)
    assert SECRET in file.read_text()
    synced(other, is_expected=True)
    assert not traces(other.root, SECRET)


def test_a_line_that_was_copied_elsewhere_stays_and_is_said(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Notes", "from the book", "She wrote:\nTwelve, Harbour Lane, by the old mill.")
    one.purge("Old address", force=True)
    synced(one)
    assert synced(other).quoting == ("memory/entries/notes.md",)


def test_files_that_nobody_recorded_yet_are_not_lost(two: tuple[Memory, Memory]) -> None:
    one, other = two
    file = other.root / "memory/entries/luna.md"
    file.write_text(file.read_text() + "She likes fish.\n")
    (other.root / "memory/entries/luna.md~").write_text(f"old {SECRET}")
    one.purge(text=SECRET, force=True)
    synced(one)
    synced(other)
    assert "She likes fish." in file.read_text()
    assert not traces(other.root, SECRET)


def test_two_purges_one_after_the_other(two: tuple[Memory, Memory], machine: Machine) -> None:
    one, other = two
    third = machine("third")
    synced(third, is_expected=True)
    one.purge(text=SECRET, force=True)
    synced(one)
    synced(other)
    other.purge("Old address", force=True)
    third.remember("Dora", "the dog", "A dog.")
    synced(other)
    assert synced(third).purges == 2
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
    one.purge(**first, force=True)
    other.remember("Dora", "the dog", "A dog.")
    other.purge(**second, force=True)
    for memory in (one, other, one, other):
        synced(memory, is_expected=True)
    assert tip(one.root) == tip(other.root)
    gone = [*first.values(), *second.values(), SECRET] + ["Harbour Lane"] * ("name" in second)
    for memory in (one, other):
        assert not traces(memory.root, *gone)
        assert is_whole(memory.root)
        assert {"Vet", "Dora", "Tea"} <= {entry.name for entry in memory.entries()}


def test_who_joins_later_takes_the_purged_line_and_the_record(two: tuple[Memory, Memory], machine: Machine) -> None:
    one, _ = two
    one.purge(text=SECRET, force=True)
    synced(one)
    third = machine("third")
    synced(third, is_expected=True)
    assert not traces(third.root, SECRET)
    assert git(third.root, "rev-parse", PURGED) == git(one.root, "rev-parse", PURGED)
    assert synced(third).purges == 0


def test_the_old_line_that_plain_git_pushes_back_is_not_taken_in(
    two: tuple[Memory, Memory], hub: Path, tmp_path: Path
) -> None:
    one, other = two
    git(tmp_path, "clone", "-q", str(hub), "clone")
    clone = tmp_path / "clone"
    one.purge(text=SECRET, force=True)
    synced(one)
    synced(other)
    (clone / "memory/entries/by-hand.md").write_text("---\nname: By hand\ndescription: d\n---\n\nWritten by hand.\n")
    git(clone, "add", "-A")
    git(clone, "-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "by hand")
    git(clone, "push", "-q", "--force")
    before = tip(one.root)
    with pytest.raises(Unexpected, match="has again what was purged"):
        synced(one)
    assert tip(one.root) == before
    assert not traces(one.root, SECRET)
    done = synced(one, is_expected=True)
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
    one.purge("Old address", force=True)
    synced(one)
    (clone / "memory/entries/by-hand.md").write_text("---\nname: By hand\ndescription: d\n---\n\nWritten by hand.\n")
    git(clone, "add", "-A")
    git(clone, *ann, "commit", "-qm", "by hand")
    git(clone, *ann, "pull", "-q", "--no-rebase", "--no-edit", "-X", "ours", "--allow-unrelated-histories")
    git(clone, "push", "-q")
    assert "Harbour Lane" in git(hub, "log", "-p", "main")
    synced(one, is_expected=True)
    assert one.get("By hand")
    synced(other, is_expected=True)
    assert tip(other.root) == tip(one.root) == tip(hub)
    for memory in (one, other):
        assert not traces(memory.root, "Harbour Lane")
        assert is_whole(memory.root)


def test_what_was_purged_and_is_said_again_is_not_pushed(two: tuple[Memory, Memory], hub: Path) -> None:
    one, _ = two
    said = (one.root / "memory/entries/old-address.md").read_bytes()
    one.purge("Old address", force=True)
    synced(one)
    (one.root / "memory/entries/old-address.md").write_bytes(said)
    one.adopt()
    with pytest.raises(HoldsPurged, match=r"old-address\.md in commit .* is again what was purged"):
        synced(one)
    assert "Harbour Lane" not in git(hub, "log", "-p", "main")
    assert one.get("Old address")


def test_a_look_ahead_says_what_a_purge_brings_and_keeps_nothing(two: tuple[Memory, Memory]) -> None:
    one, other = two
    other.remember("Dora", "the dog", "A dog.")
    one.purge(text=SECRET, force=True)
    found = upcoming(one)
    assert (found.come, found.go, found.purges) == ((), (), 0)
    one.remember("Vet", "who", "Dr. Moreno.")
    synced(one)
    found = upcoming(other)
    assert ([each.subject for each in found.come], found.purges) == (["remember: Vet"], 1)
    assert [each.subject for each in found.go] == ["remember: Dora"]
