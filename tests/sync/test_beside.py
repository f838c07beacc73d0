"""Files of the repository that are not memory: sync checks them out as `git pull` does, or leaves them and says so."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.errors import Busy
from tests.conftest import assert_clean, git
from tests.sync.conftest import Machine, crabs, synced

ANNA = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
PICTURE = b"\x89PNG\r\n\0" + bytes(range(256)) * 9


def commit(memory: Memory, message: str = "mine", **files: str | bytes | None) -> None:
    """What the person of a machine commits with Git; a name has `_` for its dot."""
    for name, data in files.items():
        path = name.replace("_", ".")
        if data is None:
            git(memory.root, "rm", "-q", path)
            continue
        (memory.root / path).write_bytes(data if isinstance(data, bytes) else data.encode())
        git(memory.root, "add", path)
    git(memory.root, *ANNA, "commit", "-qm", message)


def commit_all(memory: Memory) -> None:
    subprocess.run(
        ["git", "-C", str(memory.root), *ANNA, "commit", "-qam", "all of it"], check=False, capture_output=True
    )


def killing(after: int) -> Callable[[str, str], None]:
    """What ends the process at the change of the disk that comes after so many."""
    changes = iter(range(after))

    def before(operation: str, path: str) -> None:
        if next(changes, None) is None:
            os._exit(137)

    return before


def status_of(memory: Memory) -> str:
    return git(memory.root, "status", "--short")


def texts(memory: Memory, commit: str = "HEAD") -> dict[str, str]:
    """What a commit has of files that are not memory."""
    names = git(memory.root, "ls-tree", "-r", "--name-only", commit).split()
    return {name: git(memory.root, "show", f"{commit}:{name}") for name in names if not name.endswith(".md")}


@pytest.fixture
def two(machine: Machine) -> tuple[Memory, Memory]:
    """Two machines that have synced a fact and a file that is no fact."""
    one, other = machine("one"), machine("other")
    one.remember("Luna", "the cat", "A cat.")
    commit(one, notes_txt="v1\n")
    synced(one)
    synced(other)
    return one, other


Two = tuple[Memory, Memory]


def test_what_another_machine_committed_is_on_the_disk(two: Two) -> None:
    one, other = two
    assert (other.root / "notes.txt").read_text() == "v1\n"
    commit(one, notes_txt="v2\n", plan_txt="plan\n", LICENSE="free\n", pic_png=PICTURE)
    synced(one)
    synced(other)
    assert (other.root / "notes.txt").read_text() == "v2\n" and (other.root / "pic.png").read_bytes() == PICTURE
    assert status_of(other) == ""
    commit(one, plan_txt=None)
    synced(one)
    synced(other)
    assert not (other.root / "plan.txt").exists()
    assert_clean(other.root)


def test_a_commit_of_all_takes_nobodys_work_back(two: Two) -> None:
    """Whatever is on the disk: what came in stays, also where the person has another text there."""
    one, other = two
    commit(one, notes_txt="v2 of one\n", plan_txt="new\n")
    (other.root / "notes.txt").write_text("v1\nand a word of other\n")
    (other.root / "plan.txt").write_text("untracked here\n")
    synced(one)
    done = synced(other)
    assert done.left == ("notes.txt", "plan.txt")
    assert (other.root / "notes.txt").read_text() == "v1\nand a word of other\n"
    (other.root / "own.txt").write_text("z")
    git(other.root, "add", "own.txt")
    commit_all(other)
    synced(other)
    synced(one)
    assert texts(one) == texts(other) == {"notes.txt": "v2 of one\n", "plan.txt": "new\n", "own.txt": "z"}
    assert (one.root / "notes.txt").read_text() == "v2 of one\n"


def test_what_is_left_is_said_until_the_person_decides(two: Two) -> None:
    one, other = two
    commit(one, notes_txt="v2\n")
    (other.root / "notes.txt").write_text("mine\n")
    synced(one)
    for verb in ("sync", "status", "sync"):
        assert "notes.txt; `git checkout HEAD" in " ".join(crabs(other.root, verb).split())
    assert any("notes.txt" in each.message for each in other.doctor())
    git(other.root, "checkout", "HEAD", "--", "notes.txt")
    assert "notes.txt" not in crabs(other.root, "sync") + crabs(other.root, "status")
    (other.root / "notes.txt").write_text("of later\n")
    assert status_of(other) == " M notes.txt\n"  # nothing is overlooked any more


def test_a_file_that_was_made_as_what_came_is_not_overlooked_any_more(two: Two) -> None:
    one, other = two
    commit(one, notes_txt="v2\n")
    (other.root / "notes.txt").write_text("mine\n")
    synced(one)
    assert synced(other).left == ("notes.txt",)
    (other.root / "notes.txt").write_text("v2\n")
    assert synced(other).left == ()
    (other.root / "notes.txt").write_text("v3\n")
    assert status_of(other) == " M notes.txt\n"


def test_what_was_left_stays_so_when_more_comes_in_and_after_a_doctor(two: Two) -> None:
    one, other = two
    (other.root / "notes.txt").write_text("mine\n")
    for text in ("v2\n", "v3\n"):
        commit(one, notes_txt=text)
        synced(one)
        assert synced(other).left == ("notes.txt",)
    crabs(other.root, "doctor", "--fix", status=0)
    other.remember("Tea", "d", "c")
    commit_all(other)
    assert texts(other)["notes.txt"] == "v3\n" and (other.root / "notes.txt").read_text() == "mine\n"


def test_of_two_pictures_one_stays_and_the_other_is_beside_it(two: Two) -> None:
    one, other = two
    commit(one, pic_png=PICTURE)
    synced(one)
    synced(other)
    pictures = [PICTURE + each for each in (b"\n1", b"\n2")]
    for memory, picture in zip(two, pictures, strict=True):
        commit(memory, pic_png=picture)
    synced(one)
    done = synced(other)
    [name] = done.copies
    assert name.startswith("pic-") and name.endswith(".png")
    synced(one)
    for memory in two:
        assert {(memory.root / each).read_bytes() for each in ("pic.png", name)} == set(pictures)
        assert status_of(memory) == ""
    assert git(one.root, "rev-parse", "HEAD") == git(other.root, "rev-parse", "HEAD")
    assert synced(one).copies == synced(other).copies == ()


def test_modes_links_and_submodules_stay_as_they_were_committed(two: Two) -> None:
    one, other = two
    (one.root / "run.sh").write_text("#!/bin/sh\n")
    os.symlink("notes.txt", one.root / "link")
    git(one.root, "add", "link")
    git(one.root, "add", "--chmod=+x", "run.sh")
    git(one.root, "update-index", "--add", "--cacheinfo", "160000", "1" * 40, "sub")
    git(one.root, *ANNA, "commit", "-qm", "odd")
    other.remember("Tea", "of the other", "c")
    synced(one)
    done = synced(other)
    tree = git(one.root, "ls-tree", "HEAD", "run.sh", "link", "sub", "notes.txt")
    assert git(other.root, "ls-tree", "HEAD", "run.sh", "link", "sub", "notes.txt") == tree
    assert stat.S_IMODE((other.root / "run.sh").stat().st_mode) & 0o111
    assert done.left == ("link",) and status_of(other) == ""
    for _ in range(2):
        other.remember("More", "of the other", os.urandom(8).hex())
        commit_all(other)
    assert git(other.root, "ls-tree", "HEAD", "run.sh", "link", "sub", "notes.txt") == tree


def test_nothing_is_written_through_a_link_or_into_a_repository(two: Two, tmp_path: Path) -> None:
    one, other = two
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", other.root / "docs")
    (other.root / "inner/.git").mkdir(parents=True)
    for folder in ("docs", "inner"):
        (one.root / folder).mkdir()
        (one.root / folder / "file.txt").write_text("text\n")
    git(one.root, "add", "docs", "inner")
    git(one.root, *ANNA, "commit", "-qm", "folders")
    synced(one)
    assert synced(other).left == ("docs/file.txt", "inner/file.txt")
    assert not any((tmp_path / "outside").iterdir()) and not (other.root / "inner/file.txt").exists()


def test_a_staged_change_of_the_same_file_stops_what_comes_in(two: Two) -> None:
    one, other = two
    commit(one, notes_txt="v2\n")
    synced(one)
    (other.root / "notes.txt").write_text("staged\n")
    git(other.root, "add", "notes.txt")
    (other.root / "notes.txt").write_text("v1\n")
    with pytest.raises(Busy, match="staged"):
        synced(other)
    assert git(other.root, "show", ":notes.txt") == "staged\n"
    other.remember("Tea", "goes on", "c")
    assert git(other.root, "show", ":notes.txt") == "staged\n"


def test_a_project_in_whose_repository_memory_lives(machine: Machine, tmp_path: Path) -> None:
    """All of the person's code is beside memory; edits that are not committed are theirs alone."""
    one, other = machine("one"), machine("other")
    code = {f"src/module{number}.py": f"number = {number}\n" for number in range(30)}
    for path, text in code.items():
        (one.root / path).parent.mkdir(parents=True, exist_ok=True)
        (one.root / path).write_text(text)
    one.remember("Style", "how we write", "Short.")
    git(one.root, "add", "src")
    git(one.root, *ANNA, "commit", "-qm", "code")
    synced(one)
    synced(other)
    assert status_of(other) == "" and (other.root / "src/module7.py").read_text() == "number = 7\n"
    (other.root / "src/module1.py").write_text("number = 'being edited'\n")
    (one.root / "src/module1.py").write_text("number = 11\n")
    (one.root / "src/module2.py").write_text("number = 22\n")
    git(one.root, *ANNA, "commit", "-qam", "numbers")
    synced(one)
    assert synced(other).left == ("src/module1.py",)
    assert (other.root / "src/module2.py").read_text() == "number = 22\n"
    other.remember("Tests", "how we test", "Often.")
    crabs(other.root, "doctor", "--fix")
    commit_all(other)
    synced(other)
    assert git(other.root, "show", "HEAD:src/module1.py") == "number = 11\n"


def test_an_edit_of_code_that_nobody_else_changed_is_seen_by_git(two: Two) -> None:
    one, other = two
    (other.root / "notes.txt").write_text("being edited\n")
    one.remember("Tea", "d", "c")
    synced(one)
    assert synced(other).left == ()
    crabs(other.root, "doctor", "--fix")
    assert status_of(other) == " M notes.txt\n"


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_kill_at_any_step_loses_no_file(two: Two) -> None:
    """The next sync goes on, and a commit of all in between takes nothing back."""
    one, other = two
    (other.root / "plan.txt").write_text("mine\n")
    commit(one, notes_txt="v2\n", plan_txt="theirs\n", more_txt="more\n")
    synced(one)
    before = Path(str(other.root) + ".before")
    subprocess.run(["cp", "-a", other.root, before], check=True)
    step, is_done, crashes = 0, False, 0
    while not is_done:
        step += 13  # every step took no kill that these do not
        subprocess.run(["rm", "-rf", other.root], check=True)
        subprocess.run(["cp", "-a", before, other.root], check=True)
        child = os.fork()
        if child == 0:
            fs.before = killing(step)
            with Memory(other.root, is_person=True) as memory:
                synced(memory)
            os._exit(0)
        crashes += 1
        is_done = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        commit_all(other)
        with Memory(other.root, is_person=True) as memory:
            synced(memory)
            synced(memory)
        assert texts(other) == {"notes.txt": "v2\n", "plan.txt": "theirs\n", "more.txt": "more\n"}, step
        assert (other.root / "plan.txt").read_text() == "mine\n", step
        assert (other.root / "notes.txt").read_text() == "v2\n", step
        commit_all(other)
        assert texts(other)["plan.txt"] == "theirs\n", step
    assert crashes > 5


def test_a_remote_with_only_a_readme_asks_once(machine: Machine, hub: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(hub), "web")
    (tmp_path / "web/LICENSE").write_text("free\n")
    git(tmp_path / "web", "add", "LICENSE")
    git(tmp_path / "web", *ANNA, "commit", "-qm", "Initial commit")
    git(tmp_path / "web", "push", "-q", "origin", "HEAD:main")
    one = machine("one")
    one.remember("Luna", "the cat", "A cat.")
    said = crabs(one.root, "sync", status=1)
    assert "has 0 facts" in said and "nothing in common" in said and "--join" in said and "--yes" not in said
    crabs(one.root, "sync", "--join")
    assert (one.root / "LICENSE").read_text() == "free\n" and status_of(one) == ""


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("memory/entries/pets", "memory/entries/pets/rex.md"),
        ("memory/entries/rex.md", "memory/entries/rex.md/dog.md"),
        ("memory/entries/rex.md/plan.txt", "memory/entries/rex.md"),
    ],
    ids=["a file and a folder of facts", "a fact and a folder of facts", "a folder and a fact"],
)
def test_what_stands_where_a_file_or_folder_comes_in_gets_another_name_that_is_told(
    two: Two, here: str, there: str
) -> None:
    one, other = two
    for memory, path, name in ((one, there, "Rex"), (other, here, "Max")):
        (memory.root / path).parent.mkdir(parents=True, exist_ok=True)
        (memory.root / path).write_text(f"---\nname: {name}\ndescription: a dog\n---\n\nBarks.\n")
        memory.adopt()
    synced(one)
    done = synced(other)
    (moved,) = done.moved
    assert moved.startswith(f"memory/entries/{here.split('/')[2].removesuffix('.md')}-")
    place = other.root / moved
    assert "name: Max" in (place / "plan.txt" if place.is_dir() else place).read_text()
    assert other.get("Rex").path == there
    synced(one)
    assert git(one.root, "rev-parse", "HEAD") == git(other.root, "rev-parse", "HEAD")
    assert synced(other).moved == ()
    assert "another name" not in crabs(one.root, "sync")
