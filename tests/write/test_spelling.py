"""Names that differ in case or in Unicode's form alone: two facts where the disk has two, and never a mixture."""

import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory, Unwritable
from crabmem.disk import fs, system
from crabmem.disk.spelling import is_surely_composed
from crabmem.git.commits import Note, identity
from crabmem.operations import files
from crabmem.text.slug import free_slug, name_key, slug_of
from crabmem.workspace.workspace import Workspace
from crabmem.write.bylines import kept_paths
from crabmem.write.draft import Draft
from tests.conftest import assert_clean, git
from tests.folding import FoldingDisk

ENTRIES = "memory/entries"
ANNA = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def fact(name: str, text: str) -> str:
    return f"---\nname: {name}\ndescription: a test\n---\n\n{text}\n"


def tracked(root: Path) -> set[str]:
    """The entries that the history has, as it spells them."""
    return {path.removeprefix(f"{ENTRIES}/") for path in git(root, "-c", "core.quotepath=off", "ls-tree", "-r", "-z",
            "--name-only", "HEAD").split("\0") if path.startswith(ENTRIES)}  # fmt: skip


def texts(memory: Memory) -> dict[str, str]:
    return {entry.path.removeprefix(f"{ENTRIES}/"): entry.content for entry in memory.entries()}


@pytest.fixture(params=[True, False], ids=["folding", "told apart"])
def gate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the system says that its disks may fold names: on one that does not, that changes nothing."""
    monkeypatch.setattr(system, "MAY_FOLD", request.param)


@pytest.fixture
def portable(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a Mac does: but for the exchange of two files, which is not made with functions of `os`."""
    for name, value in {"LINUX": False, "TELLS_CHANGES": False, "TELLS_WRITERS": False, "MAY_FOLD": True}.items():
        monkeypatch.setattr(system, name, value)


@pytest.fixture
def mac(tmp_path: Path, portable: None) -> Iterator[Memory]:
    """A memory on a disk like a Mac's, with Luna and Ärger in it; as the agent coder."""
    (tmp_path / "disk").mkdir()
    with FoldingDisk(tmp_path / "disk"), Memory(tmp_path / "disk/notes", agent="coder") as memory:
        memory.remember("Luna", "the dog", "barks")
        memory.remember("Ärger", "what annoys", "noise")
        yield memory


# Where the disk tells them apart


@pytest.mark.usefixtures("gate")
@pytest.mark.parametrize(("one", "other"), [("Ä", nfd("Ä")), ("Vet", "vet")])
def test_two_files_that_a_mac_would_take_for_one_stay_two_facts(memory: Memory, one: str, other: str) -> None:
    memory.remember("First", "makes the folder", "x")
    for number, stem in enumerate((one, other)):
        (memory.root / ENTRIES / f"{stem}.md").write_text(fact(f"Fact {number}", f"text {number}"))
    assert {f"{one}.md": "text 0", f"{other}.md": "text 1"}.items() <= texts(memory).items()
    memory.remember("Fact 0", "a test", "new 0")
    memory.remember("Fact 1", "a test", "new 1")
    assert {f"{one}.md": "new 0", f"{other}.md": "new 1"}.items() <= texts(memory).items()
    assert tracked(memory.root) == {f"{one}.md", f"{other}.md", "first.md"}
    assert any("elsewhere they are one file" in found.message for found in memory.doctor())


@pytest.mark.usefixtures("gate")
def test_a_file_in_the_other_form_is_the_entry_of_that_name(memory: Memory) -> None:
    memory.remember("First", "makes the folder", "x")
    (memory.root / ENTRIES / nfd("ärger.md")).write_text("noise\n")
    assert memory.get("Ärger").path == f"{ENTRIES}/{nfd('ärger.md')}"
    assert not memory.remember("Ärger", "what annoys", "less noise").created
    assert texts(memory)[nfd("ärger.md")] == "less noise"


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_new_names_of_files_differ_on_every_disk(one: str, other: str) -> None:
    first = slug_of(one)
    second = free_slug(other, {name_key(first)})
    assert name_key(first) != name_key(second)
    assert unicodedata.is_normalized("NFC", first) and nfd(first).casefold() != nfd(second).casefold()


def test_what_a_mac_takes_apart_is_looked_at_and_most_names_need_no_table() -> None:
    for char in map(chr, range(0x80, sys.maxunicode + 1)):
        apart = nfd(char)
        if apart != char and unicodedata.normalize("NFC", apart) == char:
            assert not is_surely_composed(f"a{apart}.md"), hex(ord(char))
    assert all(map(is_surely_composed, ["memory/entries/a-b.md", "ärger.md", "猫.md", "고양이.md", "кот-1.md"]))


# Where it does not


def test_the_disk_of_these_tests_is_like_a_macs(tmp_path: Path) -> None:
    with FoldingDisk(tmp_path):
        (tmp_path / "A").mkdir()
        os.close(os.open(tmp_path / "a/Ä.md", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        with pytest.raises(FileExistsError):
            os.open(tmp_path / "A" / nfd("ä.MD"), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.rename(tmp_path / "A/ä.md", tmp_path / "A/ä.md")
        assert os.listdir(tmp_path / "a") == ["ä.md"]


def test_git_is_told_that_the_disk_folds_names(mac: Memory, memory: Memory) -> None:
    memory.remember("Luna", "the dog", "barks")
    found = [git(each.root, "config", "--default", "false", "core.ignorecase").strip() for each in (mac, memory)]
    assert found == ["true", "false"]
    assert git(mac.root, "config", "core.precomposeunicode").strip() == "true"


def test_a_file_whose_name_is_written_in_another_case_is_renamed_in_the_history(mac: Memory) -> None:
    os.rename(mac.root / ENTRIES / "luna.md", mac.root / ENTRIES / "Luna.md")
    mac.remember("Luna", "the dog", "sleeps")
    assert tracked(mac.root) == {"Luna.md", "ärger.md"}
    assert texts(mac) == {"Luna.md": "sleeps", "ärger.md": "noise"}
    assert_clean(mac.root)


def test_a_folder_whose_name_is_written_in_another_case_is_renamed_in_the_history(mac: Memory) -> None:
    files.rewrite(mac, "file", lambda tree: {"entries/work/plan.md": fact("Plan", "soon")})
    os.rename(mac.root / ENTRIES / "work", mac.root / ENTRIES / "Work")
    mac.adopt()
    assert tracked(mac.root) == {"luna.md", "ärger.md", "Work/plan.md"}
    assert_clean(mac.root)


def test_a_name_in_the_form_that_macs_write_is_the_same_name(mac: Memory) -> None:
    """The Finder writes NFD: Git on a Mac takes that for NFC, and so does its history here."""
    folder = mac.root / ENTRIES
    os.rename(folder / "ärger.md", folder / "x.md")
    os.rename(folder / "x.md", folder / nfd("ärger.md"))
    assert nfd("ärger.md") in os.listdir(folder)
    before = git(mac.root, "rev-parse", "HEAD")
    assert mac.adopt() is None and git(mac.root, "rev-parse", "HEAD") == before
    mac.remember("Ärger", "what annoys", "less noise")
    assert tracked(mac.root) == {"luna.md", "ärger.md"}
    assert texts(mac)["ärger.md"] == "less noise"
    assert os.listdir(folder).count(nfd("ärger.md")) == 1


def test_a_hook_names_a_file_in_either_form(mac: Memory) -> None:
    named = [str(mac.root / ENTRIES / form("ärger.md")) for form in (str, nfd)]
    assert kept_paths(Workspace(mac.root), named) == [f"{ENTRIES}/ärger.md"] * 2


@pytest.mark.parametrize("path", ["entries/LUNA.md", f"entries/{nfd('ärger')}.MD", "Entries/new.md"])
def test_a_new_file_does_not_take_the_place_of_one_with_another_spelling(mac: Memory, path: str) -> None:
    """Each way to write memory checks names by itself; this is what stands behind all of them."""
    before = texts(mac)
    writer = mac.engine.writer
    note = Note("edit: x", identity("coder"))
    with pytest.raises(Unwritable, match=r"this disk takes .* which is there"):
        writer.write(lambda scan: Draft({f"memory/{path}": b"other words\n"}, note, None))
    assert texts(mac) == before and tracked(mac.root) == set(before)
    assert_clean(mac.root)


def test_to_take_back_a_rename_of_case_alone_is_refused_and_loses_nothing(mac: Memory) -> None:
    os.rename(mac.root / ENTRIES / "luna.md", mac.root / ENTRIES / "Luna.md")
    renamed = mac.adopt()
    assert renamed
    with pytest.raises(Unwritable, match="or rename that first"):
        mac.revert(renamed.commit)
    assert texts(mac) == {"Luna.md": "barks", "ärger.md": "noise"}
    os.rename(mac.root / ENTRIES / "Luna.md", mac.root / ENTRIES / "luna.md")
    mac.remember("Ärger", "what annoys", "less noise")
    assert tracked(mac.root) == {"luna.md", "ärger.md"}
    assert_clean(mac.root)


def test_a_write_that_died_is_finished_on_such_a_disk(mac: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    os.rename(mac.root / ENTRIES / "luna.md", mac.root / ENTRIES / "Luna.md")

    def die(operation: str, path: str) -> None:
        if operation == "rename" and path.endswith("Luna.md"):
            monkeypatch.setattr(fs, "before", lambda operation, path: None)
            raise KeyboardInterrupt

    monkeypatch.setattr(fs, "before", die)
    with pytest.raises(KeyboardInterrupt):
        mac.remember("Luna", "the dog", "sleeps")
    mac.remember("Vet", "who looks after the dog", "Dr. Moreno")
    assert texts(mac) == {"Luna.md": "barks", "ärger.md": "noise", "vet.md": "Dr. Moreno"}
    assert tracked(mac.root) == {"Luna.md", "ärger.md", "vet.md"}
    assert_clean(mac.root)


@pytest.mark.usefixtures("portable")
def test_memory_in_a_folder_of_another_spelling_is_named_and_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "disk/notes/Memory/Entries").mkdir(parents=True)
    with FoldingDisk(tmp_path / "disk"), Memory(tmp_path / "disk/notes") as memory:
        with pytest.raises(Unwritable, match="this disk takes memory for Memory"):
            memory.remember("Luna", "the dog", "barks")
        assert os.listdir(tmp_path / "disk/notes/Memory/Entries") == []


@pytest.mark.usefixtures("portable")
@pytest.mark.parametrize(("one", "other"), [("Vet", "vet"), ("Ä", nfd("Ä"))])
def test_two_facts_of_a_clone_that_became_one_file_are_both_kept_in_the_history(
    tmp_path: Path, one: str, other: str
) -> None:
    """A checkout puts the text of the second into the file of the first: nobody deleted one, or changed the other."""
    with Memory(tmp_path / "linux", agent="coder") as memory:
        memory.remember("Luna", "the dog", "barks")
        for number, stem in enumerate((one, other)):
            (memory.root / ENTRIES / f"{stem}.md").write_text(fact(f"Fact {number}", f"text {number}"))
        memory.adopt()
    (tmp_path / "disk").mkdir()
    clone = tmp_path / "disk/notes"
    subprocess.run(["git", "clone", "-q", tmp_path / "linux", clone], check=True)
    (clone / ENTRIES / f"{other}.md").rename(clone / ENTRIES / f"{one}.md")
    had = tracked(clone)
    with FoldingDisk(tmp_path / "disk"), Memory(clone, agent="coder") as memory:
        assert texts(memory) == {"luna.md": "barks", unicodedata.normalize("NFC", f"{one}.md"): "text 1"}
        memory.remember("Luna", "the dog", "sleeps")
        assert memory.adopt() is None
        assert tracked(clone) == had
        assert [found.level for found in memory.doctor() if "this disk takes it for" in found.message] == ["warning"]
    assert "text 0" in git(clone, "show", f"HEAD:{ENTRIES}/{one}.md")
    assert "text 1" in git(clone, "show", f"HEAD:{ENTRIES}/{other}.md")
