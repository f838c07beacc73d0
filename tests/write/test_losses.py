"""Many facts are never lost at once by accident: not by an operation, and not because files are gone from disk."""

import itertools
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import CrabmemError, Fact, MassLoss, Memory
from crabmem.disk import fs
from crabmem.operations import adoption
from crabmem.results import Commit
from crabmem.watch import watched
from crabmem.workspace.layout import ORDINARY
from crabmem.write.losses import LEAST, losses
from tests.conftest import assert_clean, git, typed

ENTRIES = "memory/entries"
ANN = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
MANY, ALL = 12, 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with so many facts."""
    root = tmp_path / "notes"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember_all([Fact(f"Fact {number}", "what", f"Text {number}.") for number in range(ALL)], "notes")
    return root


def remove(root: Path, count: int = MANY) -> None:
    for number in range(count):
        (root / f"{ENTRIES}/fact-{number}.md").unlink()


def empty(root: Path, count: int = MANY) -> None:
    for number in range(count):
        file = root / f"{ENTRIES}/fact-{number}.md"
        file.write_text("" if number % 2 else file.read_text().partition("Text")[0])


def recorded(root: Path) -> int:
    """How many entries the newest commit has."""
    return len(git(root, "ls-tree", "--name-only", "HEAD", f"{ENTRIES}/").splitlines())


@pytest.mark.parametrize("others", [(), ("memory/MEMORY.md",)])
def test_more_than_a_third_and_at_least_ten_are_many_and_all_of_a_small_memory(others: tuple[str, ...]) -> None:
    def many(count: int, total: int) -> bool:
        files = [f"{ENTRIES}/fact-{number}.md" for number in range(total)]
        return losses((*files[:count], *others), files, ORDINARY).are_many

    assert [many(LEAST - 1, LEAST), many(LEAST, LEAST), many(LEAST, 3 * LEAST), many(LEAST + 1, 3 * LEAST + 2)] == [
        False, True, False, True,
    ]  # fmt: skip
    told = [many(0, 0), many(1, 1), many(1, 2), many(2, 2), many(LEAST - 2, LEAST - 1), many(LEAST - 1, LEAST - 1)]
    assert told == [False, False, False, True, False, True]


def test_all_facts_of_a_small_memory_are_not_lost_by_accident(tmp_path: Path) -> None:
    root = tmp_path / "few"
    with Memory(root, is_person=True) as memory:
        memory.init()
        for number in range(3):
            memory.remember(f"Fact {number}", "what", f"Text {number}.")
        with pytest.raises(MassLoss, match="3 of 3 facts"):
            memory.rollback("HEAD~3")
        remove(root, 3)
        memory.write_overview("# Overview\n")
        lost = adoption.unrecorded(memory)
        assert lost and recorded(root) == 3 and "3 of 3 facts are missing" in lost.words
        assert len(memory.restore().paths) == 3
        for number in range(3):  # one by one is no accident
            memory.forget(f"Fact {number}")
        assert adoption.unrecorded(memory) is None and memory.entries() == []
    assert_clean(root)


BACK: dict[str, Callable[[Memory, bool], object]] = {
    "rollback": lambda memory, really: memory.rollback("HEAD~1", even_if_many=really),
    "revert": lambda memory, really: memory.revert(session="s-1", even_if_many=really),
}


@pytest.mark.parametrize("back", BACK)
def test_an_operation_that_would_cost_too_much_stops_until_it_is_confirmed(root: Path, back: str) -> None:
    with Memory(root, is_person=True) as memory:
        head = memory.log(1)[0].commit
        with pytest.raises(MassLoss, match=r"30 of 30 facts.*: even_if_many=True") as caught:
            BACK[back](memory, False)
        assert (caught.value.count, caught.value.total) == (ALL, ALL)
        assert (memory.log(1)[0].commit, len(memory.entries())) == (head, ALL)
        BACK[back](memory, True)
        assert memory.entries() == []
    assert_clean(root)


def test_what_an_import_just_added_is_undone_unasked(root: Path) -> None:
    with Memory(root, is_person=True) as memory:
        memory.undo()
        assert memory.entries() == []
        memory.redo()
        assert len(memory.entries()) == ALL
        with pytest.raises(MassLoss):  # they were there before they were brought back
            memory.undo()
    assert_clean(root)


def test_an_import_that_also_replaced_facts_is_undone_whole(root: Path) -> None:
    with Memory(root, is_person=True) as memory:
        more = [Fact(f"Fact {number}", "what", "Other text.") for number in range(ALL - 2, 2 * ALL)]
        memory.remember_all(more, "more")
        memory.undo()
        assert len(memory.entries()) == ALL and memory.get("Fact 29").content == "Text 29."


def test_files_that_were_there_when_they_were_recorded_are_not_undone_unasked(tmp_path: Path) -> None:
    with Memory(tmp_path, is_person=True) as memory:
        memory.remember("First", "what", "x")
        for number in range(ALL):
            (tmp_path / ENTRIES / f"{number}.md").write_text("A file of the person.\n")
        memory.adopt()
        with pytest.raises(MassLoss):
            memory.undo()
    assert len(list((tmp_path / ENTRIES).iterdir())) == ALL + 1


def test_a_refusal_speaks_the_words_of_the_command_line(root: Path) -> None:
    refused = typed("--dir", root, "restore", "--to", "HEAD~1").stderr
    assert refused.endswith("so nothing was changed; if you mean it: --yes-really\n") and "even_if" not in refused


def test_an_import_that_would_empty_facts_stops(root: Path) -> None:
    with Memory(root, agent="coder") as memory:
        with pytest.raises(MassLoss):
            memory.remember_all([Fact(f"Fact {number}", "what", "") for number in range(MANY)], "a bad export")
        assert memory.get("Fact 1").content == "Text 1."


@pytest.mark.parametrize("lose", [remove, empty])
def test_facts_lost_on_disk_stop_no_write_and_are_not_recorded(root: Path, lose: Callable[[Path], None]) -> None:
    lose(root)
    (root / f"{ENTRIES}/fact-20.md").write_text("An edit of the person.\n")
    with Memory(root, agent="coder") as memory:
        saved = memory.remember("Other", "what", "x")
        assert saved.commit and "12 of 30 facts are missing from the disk, or empty" in saved.warnings[0]
        assert [commit.subject for commit in memory.log(2)] == ["remember: Other", "edit: fact-20"]
        assert recorded(root) == ALL + 1
        assert memory.adopt() is None
        [told] = [finding for finding in memory.doctor() if "crabmem restore" in finding.message]
        assert told.level == "warning" and "12 of 31 facts" in told.message
        assert not [finding for finding in memory.doctor() if "the next write does that" in finding.message]
    assert git(root, "status", "--porcelain").count("\n") == MANY


@pytest.mark.parametrize("lose", [remove, empty])
def test_facts_lost_on_disk_are_one_command_from_being_back(root: Path, lose: Callable[[Path], None]) -> None:
    lose(root)
    with Memory(root, is_person=True) as memory:
        assert len(memory.restore().paths) == MANY
        assert memory.get("Fact 1").content == "Text 1."
        assert (adoption.unrecorded(memory), memory.restore().paths) == (None, ())
        # What somebody saved is recorded before it is replaced; that files were gone for a while is not.
        subject = "import: 30 facts from notes" if lose is remove else "restore: 12 files"
        assert memory.log(1)[0].subject == subject
    assert_clean(root)


@pytest.mark.parametrize("lose", [remove, empty])
def test_facts_lost_on_disk_are_recorded_when_that_is_confirmed(root: Path, lose: Callable[[Path], None]) -> None:
    lose(root)
    with Memory(root, is_person=True) as memory:
        commit = memory.adopt(even_if_many=True)
        assert commit and len(commit.paths) == MANY
        assert adoption.unrecorded(memory) is None
    assert_clean(root)


def test_a_persons_own_commit_confirms_it(root: Path) -> None:
    remove(root)
    git(root, *ANN, "commit", "-qam", "tidy up")
    with Memory(root, agent="coder") as memory:
        assert memory.remember("Other", "what", "x").warnings == ()
        assert len(memory.entries()) == ALL - MANY + 1
    assert_clean(root)


def test_a_few_lost_files_are_recorded_at_once_and_come_back_too(root: Path) -> None:
    remove(root, 3)
    with Memory(root, is_person=True) as memory:
        assert adoption.unrecorded(memory) is None
        done = memory.restore()
        assert len(done.paths) == 3 and len(memory.entries()) == ALL
        assert [commit.subject for commit in memory.log(2)] == ["restore: 3 files", "edit: Fact 0, Fact 1, Fact 2"]
    assert_clean(root)


def test_facts_that_moved_are_not_lost(root: Path) -> None:
    for number in range(MANY):
        (root / f"{ENTRIES}/fact-{number}.md").rename(root / f"{ENTRIES}/moved-{number}.md")
    with Memory(root, agent="coder") as memory:
        assert memory.remember("Other", "what", "x").warnings == ()
        assert len(memory.entries()) == ALL + 1
    assert_clean(root)


def test_a_lost_fact_that_is_remembered_anew_is_not_lost_any_more(root: Path) -> None:
    remove(root)
    empty_one = root / f"{ENTRIES}/fact-20.md"
    empty_one.write_text("---\nname: Fact 20\nmine: yes\n---\n")
    with Memory(root, agent="coder") as memory:
        memory.remember("Fact 1", "what", "New.")
        memory.remember("Fact 20", "what", "New, too.")
        held = adoption.unrecorded(memory)
        assert held and len(held.paths) == MANY - 1
        assert "+mine: yes" in git(root, "log", "-p", "--format=", "--", f"{ENTRIES}/fact-20.md")
        memory.restore()
        assert memory.get("Fact 1").content == "New."
        assert len(memory.entries()) == ALL
    assert_clean(root)


def test_everything_gone_comes_back_with_the_facts(root: Path) -> None:
    (root / "memory/MEMORY.md").write_text("# Overview\n")
    with Memory(root, is_person=True) as person:
        person.adopt()
        shutil.rmtree(root / "memory")
        (root / "Crab.md").unlink()
        with Memory(root, agent="coder") as agent:
            agent.remember("Other", "what", "x")
            agent.restore()
            assert agent.overview().text == "# Overview\n"
            assert len(agent.entries()) == ALL + 1
        assert not (root / "Crab.md").exists()
        assert person.restore().paths == ("Crab.md",)
    assert_clean(root)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_bringing_facts_back_can_be_killed_and_done_again(root: Path, tmp_path: Path) -> None:
    remove(root)
    killed = 0
    for last in range(0, 130, 9):
        copy = Path(shutil.copytree(root, tmp_path / f"copy-{last}"))
        child = os.fork()
        if child == 0:
            calls = itertools.count()
            fs.before = lambda operation, path: os._exit(137) if next(calls) == last else None  # noqa: B023
            with Memory(copy, agent="coder") as memory:
                memory.restore()
            os._exit(0)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 137
        with Memory(copy, agent="coder") as memory:
            memory.remember("Other", "what", "x")
            assert recorded(copy) == ALL + 1
            memory.restore()
            assert len(memory.entries()) == ALL + 1
        assert_clean(copy)
    assert killed > 5


def test_the_watcher_reports_lost_facts_and_records_the_rest(root: Path) -> None:
    remove(root)
    (root / "memory/MEMORY.md").write_text("Edited.\n")
    stop = threading.Event()
    with Memory(root, is_person=True) as memory:
        seen = watched(memory, stop)
        commit, held = next(seen), next(seen)
        stop.set()
        assert not list(seen)
    assert isinstance(commit, Commit) and commit.paths == ("memory/MEMORY.md",)
    assert isinstance(held, MassLoss) and isinstance(held, CrabmemError) and held.count == MANY


@pytest.mark.parametrize("many", [2, 12])
def test_a_loss_that_was_told_stays_unrecorded_however_many_facts_come_after_it(tmp_path: Path, many: int) -> None:
    with Memory(tmp_path) as memory:
        memory.remember_all([Fact(f"Fact {number}", "what", f"Text {number}.") for number in range(many)], "here")
    for file in (tmp_path / "memory/entries").iterdir():
        file.unlink()
    for number in range(40):  # more than it takes for the loss to be a small share
        with Memory(tmp_path, agent=f"agent {number % 2}") as memory:
            saved = memory.remember(f"New {number}", "what", f"New text {number}.")
            assert f"{many} of {many + number} facts are missing from the disk" in " ".join(saved.warnings)
    with Memory(tmp_path, is_person=True) as memory:
        assert memory.adopt() is None
        assert len(memory.restore().paths) == many
        assert len(memory.entries()) == many + 40 and adoption.unrecorded(memory) is None
        memory.remember("Last", "what", "Last text.")
    assert not (tmp_path / ".git/crabmem/unconfirmed").exists()


def test_a_fact_that_was_brought_back_and_then_removed_is_a_loss_of_its_own(tmp_path: Path) -> None:
    with Memory(tmp_path, is_person=True) as memory:
        memory.remember_all([Fact(f"Fact {number}", "what", f"Text {number}.") for number in range(12)], "here")
        files = sorted((tmp_path / "memory/entries").iterdir())
        for file in files:
            file.unlink()
        assert len(memory.restore().paths) == 12
        files[0].unlink()
        recorded = memory.adopt()
        assert recorded is not None and recorded.paths == (f"memory/entries/{files[0].name}",)


def test_a_loss_that_was_told_is_recorded_when_it_is_meant(tmp_path: Path) -> None:
    with Memory(tmp_path, is_person=True) as memory:
        memory.remember_all([Fact(f"Fact {number}", "what", f"Text {number}.") for number in range(12)], "here")
        for file in (tmp_path / "memory/entries").iterdir():
            file.unlink()
        memory.remember("New", "what", "New text.")
        assert memory.adopt(even_if_many=True) and adoption.unrecorded(memory) is None
        assert not memory.remember("Newer", "what", "Newer text.").warnings
