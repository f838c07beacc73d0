"""Entries that a person keeps in folders: found, written and erased where they lie, and never moved by us."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from crabmem import Fact, InvalidArguments, Memory, NotFound, Saved, Unreadable, Unwritable
from crabmem.operations import facts, files, keyvalue, purge
from crabmem.text.keys import Key
from crabmem.text.limits import DEEPEST
from tests import forked
from tests.conftest import assert_clean, git
from tests.conftest import typed as run

_MARTA = "---\nname: Marta Alves\ndescription: the contractor\n---\n\nBuilds the kitchen.\n"
_PLACE = "memory/entries/People/marta-alves.md"


def put(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def ordered(memory: Memory) -> Memory:
    """A memory in which a person put one fact into a folder; it is recorded."""
    memory.remember("Luna", "the dog", "A lagotto.")
    put(memory.root, _PLACE, _MARTA)
    memory.adopt()
    return memory


def fresh(root: Path, *question: str) -> str:
    """What a process of its own recalls."""
    done = subprocess.run([*forked.COMMAND, "--dir", str(root), "recall", *question], capture_output=True, text=True)
    return done.stdout


# Found


def test_an_entry_in_a_folder_is_recalled_listed_and_shown(ordered: Memory) -> None:
    assert [hit.entry.path for hit in ordered.recall("kitchen")] == [_PLACE]
    assert [entry.path for entry in ordered.entries()] == [_PLACE, "memory/entries/luna.md"]
    assert ordered.get("marta alves").content == "Builds the kitchen."
    listed = run("--dir", str(ordered.root), "list").stdout
    assert "People/marta-alves  Marta Alves: the contractor" in listed and "luna " in listed
    shown = json.loads(run("--dir", str(ordered.root), "show", "Marta Alves", "--json").stdout)
    assert shown["path"] == _PLACE and shown["slug"] == "marta-alves"


def test_an_entry_is_found_by_its_folder_and_its_file_name(ordered: Memory) -> None:
    for name in (_PLACE, "People/marta-alves", "People/marta-alves.md", "entries/people/Marta-Alves"):
        assert ordered.get(name).path == _PLACE
    with pytest.raises(NotFound):
        ordered.get("Team/marta-alves")
    with pytest.raises(NotFound):
        ordered.get("eople/marta-alves")


def test_files_of_one_name_in_two_folders_are_two_entries_and_the_plain_name_asks_which(ordered: Memory) -> None:
    put(ordered.root, "memory/entries/People/Vera.md", "Likes tea.\n")
    put(ordered.root, "memory/entries/Work/Vera.md", "Leads sales.\n")
    put(ordered.root, "memory/entries/Old/Work/Vera.md", "Led sales.\n")
    with pytest.raises(InvalidArguments, match="several facts are called vera; say which file: memory/entries/Old"):
        ordered.get("vera")
    assert ordered.get("People/Vera").content == "Likes tea.\n"
    with pytest.raises(InvalidArguments, match="several facts are called Work/Vera"):
        ordered.get("Work/Vera")
    assert ordered.get("entries/Work/Vera").content == "Leads sales.\n"
    with pytest.raises(InvalidArguments, match="several facts are called Vera"):
        ordered.remember("Vera", "who", "Somebody.")
    assert {finding.path for finding in ordered.doctor() if "its name is also that of" in finding.message} == {
        "memory/entries/People/Vera.md",
        "memory/entries/Work/Vera.md",
    }


def test_an_entry_in_a_folder_that_cannot_be_read_is_told_of_and_not_written_beside(ordered: Memory) -> None:
    put(ordered.root, "memory/entries/People/otto.md", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    with pytest.raises(Unreadable, match=r"memory/entries/People/otto\.md holds the marks of an unresolved merge"):
        ordered.get("Otto")
    with pytest.raises(Unwritable, match=r"memory/entries/People/otto\.md"):
        ordered.remember("Otto", "the cat", "Sleeps.")
    ordered.adopt()


# Written


def test_remember_updates_an_entry_where_it_lies_and_puts_a_new_one_at_the_top(ordered: Memory) -> None:
    saved = ordered.remember("Marta Alves", "the contractor", "Builds the bath.")
    assert (saved.path, saved.created) == (_PLACE, False)
    assert ordered.remember("Otto", "the cat", "Sleeps.").path == "memory/entries/otto.md"
    assert not (ordered.root / "memory/entries/marta-alves.md").exists()


def test_rename_keeps_the_folder_and_leads_links_there(ordered: Memory) -> None:
    ordered.remember("Kitchen", "the kitchen", "By [[People/marta-alves]] and [[Marta Alves]].")
    assert ordered.rename("Marta Alves", "Marta Silva").path == "memory/entries/People/marta-silva.md"
    assert ordered.get("Kitchen").content == "By [[People/marta-silva]] and [[Marta Silva]]."
    assert [commit.subject for commit in ordered.log(name="Marta Silva")][-1].startswith("edit: Marta Alves")


def test_forget_undo_rollback_and_restore_work_in_a_folder(ordered: Memory) -> None:
    ordered.forget("Marta Alves")
    assert not (ordered.root / _PLACE).exists()
    assert [commit.subject for commit in ordered.log(name="Marta Alves")] == [
        "forget: Marta Alves",
        "edit: Marta Alves",
    ]
    ordered.undo()
    assert (ordered.root / _PLACE).read_text() == _MARTA
    ordered.remember("Marta Alves", "the contractor", "Builds the bath.")
    ordered.rollback(to="HEAD~1", name="Marta Alves")
    assert (ordered.root / _PLACE).read_text() == _MARTA
    (ordered.root / _PLACE).unlink()
    assert ordered.restore().paths == (_PLACE,)


def test_the_past_knows_entries_in_folders(ordered: Memory) -> None:
    then = ordered.log(limit=1)[0].commit
    ordered.remember("Marta Alves", "the contractor", "Builds the bath.")
    assert [line.text for line in ordered.blame("Marta Alves")][-1] == "Builds the bath."
    assert ordered.get("People/marta-alves", at=then).content == "Builds the kitchen."
    assert [hit.entry.path for hit in ordered.recall("kitchen", as_of=then)] == [_PLACE]
    assert [entry.path for entry in ordered.entries(at=then)] == [_PLACE, "memory/entries/luna.md"]
    assert [each.path for each in ordered.when("kitchen").steps] == [_PLACE, _PLACE]


def test_the_history_of_a_deleted_entry_in_a_folder_that_only_git_recorded_is_found(ordered: Memory) -> None:
    git(ordered.root, "config", "user.name", "Ann")
    git(ordered.root, "config", "user.email", "ann@example.org")
    put(ordered.root, "memory/entries/People/otto.md", "---\nname: Otto\n---\n\nSleeps.\n")
    git(ordered.root, "add", "-A")
    git(ordered.root, "commit", "-q", "-m", "by hand")
    (ordered.root / "memory/entries/People/otto.md").unlink()
    git(ordered.root, "commit", "-q", "-a", "-m", "gone")
    assert [commit.subject for commit in ordered.log(name="People/otto")] == ["gone", "by hand"]
    assert [commit.subject for commit in ordered.log(name="otto")] == ["gone", "by hand"]


def test_revert_takes_back_what_a_session_did_in_a_folder(ordered: Memory) -> None:
    ordered.remember("Marta Alves", "the contractor", "Builds the bath.")
    ordered.revert(session="s-1", agent="coder")
    assert (ordered.root / _PLACE).read_text() == _MARTA


def test_purge_erases_an_entry_in_a_folder(ordered: Memory) -> None:
    with Memory(ordered.root) as person:
        person.purge("Marta Alves")
    assert not (ordered.root / _PLACE).exists()
    assert "marta" not in git(ordered.root, "log", "--all", "--name-only", "-p").casefold()


# What is not entered


def test_hidden_folders_nested_repositories_links_and_folders_too_deep_are_not_entered(tmp_path: Path) -> None:
    root, entries = tmp_path / "w", "memory/entries"
    put(root, f"{entries}/.trash/a.md", "secretword\n")
    put(root, f"{entries}/project/notes/b.md", "secretword\n")
    git(root / entries / "project", "init", "-q")
    outside = put(tmp_path, "elsewhere/c.md", "secretword\n").parent
    (root / entries / "linked").symlink_to(outside)
    put(root, f"{entries}/{'d/' * DEEPEST}e.md", "secretword\n")
    with Memory(root) as memory:
        memory.remember("Luna", "the dog", "A lagotto.")
        assert not memory.recall("secretword").hits
        said = {finding.path: finding.message for finding in memory.doctor()}
    assert git(root, "ls-files").split() == ["Crab.md", "memory/entries/luna.md"]
    assert "a Git repository of its own" in said[f"{entries}/project"]
    assert any(f"{DEEPEST} folders deep" in message for message in said.values())


def test_a_folder_that_history_could_not_hold_does_not_block_memory(tmp_path: Path) -> None:
    put(tmp_path, f"memory/{'d/' * 150}x.md", "deep\n")
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "the dog", "A lagotto.")
        memory.adopt()
        assert memory.remember("Otto", "the cat", "Sleeps.").commit
        assert len(memory.log()) == 3


def test_learnings_and_agents_are_no_entries_of_a_folder_with_folders(tmp_path: Path) -> None:
    put(tmp_path, "People/Marta.md", "Builds.\n")
    put(tmp_path, "learnings/errors.md", "- oops\n")
    put(tmp_path, "agents/x/y.md", "secret\n")
    assert "1 fact" in run("adopt", str(tmp_path)).stderr
    with Memory(tmp_path) as memory:
        assert [entry.path for entry in memory.entries()] == ["People/Marta.md"]


# Who else looks at the files


def test_doctor_has_nothing_to_say_of_an_entry_in_a_folder(ordered: Memory) -> None:
    assert [finding for finding in ordered.doctor() if "People" in finding.path] == []


def test_a_group_does_not_see_entries_in_folders_that_are_hidden(tmp_path: Path) -> None:
    profile = put(tmp_path, "mine.toml", 'about = "x"\n[[part]]\nfile = "{overview}"\n')
    text = '[kinds.group]\nhides = ["memory/entries/People/**/*"]\n'
    profile.write_text(profile.read_text() + text)
    with Memory(tmp_path / "w", profile=str(profile)) as memory:
        memory.remember("Luna", "the dog", "A lagotto in the kitchen.")
        put(memory.root, _PLACE, _MARTA)
        group = memory.of_kind("group")
        assert [hit.entry.name for hit in group.recall("kitchen")] == ["Luna"]
        with pytest.raises(NotFound):
            group.get("People/marta-alves")


def test_a_group_sees_nothing_below_a_folder_whose_files_are_hidden(tmp_path: Path) -> None:
    text = 'about = "x"\n[[part]]\nfile = "{overview}"\n[kinds.group]\nhides = ["memory/entries/secret/*"]\n'
    profile = put(tmp_path, "mine.toml", text)
    with Memory(tmp_path / "w", profile=str(profile)) as memory:
        memory.remember("Luna", "the dog", "A lagotto in the kitchen.")
        put(memory.root, "memory/entries/secret/f.md", "A safe in the kitchen.\n")
        put(memory.root, "memory/entries/secret/deep/g.md", "A key in the kitchen.\n")
        assert [hit.entry.name for hit in memory.of_kind("group").recall("kitchen")] == ["Luna"]
        assert len(memory.recall("kitchen").hits) == 3


def test_a_fresh_process_sees_what_came_into_and_left_folders(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Memory(root) as memory:
        memory.remember("Luna", "the dog", "A lagotto in the kitchen.")
        put(root, _PLACE, _MARTA)
        memory.adopt()
    time.sleep(2.6)
    with Memory(root) as memory:
        memory.recall("kitchen")
    assert "Marta Alves" in fresh(root, "kitchen")
    put(root, "memory/entries/People/otto.md", "Otto sleeps in the kitchen.\n")
    assert "Otto sleeps" in fresh(root, "kitchen")
    (root / "memory/entries/People/otto.md").unlink()
    assert "Otto" not in fresh(root, "kitchen")
    put(root, "memory/entries/vera.md", "Vera cooks in the kitchen.\n")
    (root / _PLACE).rename(root / "memory/entries/marta.md")
    assert "Vera cooks" in fresh(root, "kitchen") and "Marta" in fresh(root, "kitchen")


def test_a_process_that_stays_sees_a_file_saved_in_a_new_folder(ordered: Memory) -> None:
    ordered.recall("kitchen")
    ordered.recall("kitchen")
    put(ordered.root, "memory/entries/Work/new/otto.md", "Otto guards the harbour.\n")
    assert [hit.entry.slug for hit in ordered.recall("harbour")] == ["otto"]
    os.rename(ordered.root / "memory/entries/Work", ordered.root / "memory/entries/Done")
    assert [hit.entry.path for hit in ordered.recall("harbour")] == ["memory/entries/Done/new/otto.md"]
    ordered.adopt()
    assert_clean(ordered.root)


# What a path means as a name


@pytest.fixture
def readmes(ordered: Memory) -> Memory:
    """A memory with two files of one name in folders; they are recorded."""
    put(ordered.root, "memory/entries/A/readme.md", "Of the alpha project.\n")
    put(ordered.root, "memory/entries/B/readme.md", "Of the beta project.\n")
    ordered.adopt()
    return ordered


def names(memory: Memory) -> set[str]:
    return {entry.path for entry in memory.entries()}


def test_a_path_as_the_name_of_a_fact_updates_the_entry_there_which_keeps_its_name(readmes: Memory) -> None:
    before = names(readmes)
    with pytest.raises(InvalidArguments, match=r"give the path of the one that is meant: memory/entries/A/readme\.md"):
        readmes.remember("Readme", "which", "New.")
    path = "memory/entries/A/readme.md"
    saved = readmes.remember(path, "of alpha", "New.", if_version=readmes.get(path).version)
    assert (saved.path, saved.created, saved.entry.name) == (path, False, "readme")
    assert readmes.log(limit=1)[0].subject == "remember: readme"
    assert readmes.remember("B/readme", "of beta", "Newer.").path == "memory/entries/B/readme.md"
    assert readmes.remember("People/marta-alves.md", "builder", "Paints.").entry.name == "Marta Alves"
    assert readmes.remember("people/Marta-Alves", "builder", "Sings.").path == _PLACE
    assert names(readmes) == before


def test_two_files_of_one_name_are_saved_by_their_paths_in_one_commit(readmes: Memory) -> None:
    paths = ["memory/entries/A/readme.md", "memory/entries/B/readme.md"]
    saved = readmes.remember_all([Fact(path, "new", "New.") for path in paths], "a list")
    assert [each.path for each in saved if isinstance(each, Saved)] == paths
    [first, second] = readmes.remember_all([Fact(paths[0], "x", "X."), Fact("A/readme", "y", "Y.")], "a list")
    assert isinstance(first, Saved) and isinstance(second, InvalidArguments)


def test_the_end_of_a_path_that_two_files_have_is_refused_and_a_fact_of_that_name_goes_before_it(
    readmes: Memory,
) -> None:
    put(readmes.root, "memory/entries/Old/A/readme.md", "Of the old alpha project.\n")
    with pytest.raises(InvalidArguments, match="several facts are called A/readme; give the path"):
        readmes.remember("A/readme", "which", "New.")
    put(readmes.root, "memory/entries/ab.md", "---\nname: B/readme\n---\n\nAbout it.\n")
    assert readmes.remember("B/readme", "which", "New.").path == "memory/entries/ab.md"
    assert readmes.get("B/readme").path == "memory/entries/ab.md"


def test_a_file_that_cannot_be_read_is_not_written_beside_under_its_path(ordered: Memory) -> None:
    put(ordered.root, "memory/entries/People/otto.md", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    for name in ("memory/entries/People/otto.md", "People/otto"):
        with pytest.raises(Unwritable, match="marks of an unresolved merge"):
            ordered.remember(name, "the cat", "Sleeps.")


def test_a_path_means_its_entry_whatever_is_called_so(readmes: Memory) -> None:
    path, impostor = "memory/entries/A/readme.md", "memory/entries/shadow.md"
    put(readmes.root, impostor, f"---\nname: {path}\n---\n\nNot the one.\n")
    readmes.adopt()
    assert readmes.get(path).path == path
    assert readmes.remember(path, "d", "New.").path == path
    assert facts.rewrite_entry(readmes, path, "Newer.\n").path == path
    assert [line.text for line in readmes.blame(path)] == ["Newer."]
    assert all(path in commit.paths for commit in readmes.log(name=path))
    assert readmes.rename("memory/entries/B/readme.md", "Beta").path_before == "memory/entries/B/readme.md"
    with Memory(readmes.root) as person:
        plan = purge.purge(person, path, dry_run=True)
        assert plan.erased == (path,) and plan.entries == ("readme",)
        person.purge(path)
        assert names(person) >= {impostor} and path not in names(person)
        assert person.get("shadow").content == "Not the one."
    assert readmes.forget("shadow").path == impostor


def test_purge_by_the_end_of_a_path_leaves_what_was_once_called_so(ordered: Memory) -> None:
    put(ordered.root, "memory/entries/x.md", "---\nname: People/marta-alves\n---\n\nSomebody else altogether.\n")
    ordered.adopt()
    ordered.forget("x")
    with Memory(ordered.root) as person:
        assert person.purge("People/marta-alves").erased == (_PLACE,)
        assert person.get("x", at="HEAD~1").content == "Somebody else altogether."


def test_the_history_of_a_path_is_that_of_the_file_that_was_there(readmes: Memory) -> None:
    path = "memory/entries/A/readme.md"
    put(readmes.root, "memory/entries/shadow.md", f"---\nname: {path}\n---\n\nNot the one.\n")
    readmes.adopt()
    readmes.forget(path)
    readmes.forget("shadow")
    assert [commit.subject for commit in readmes.log(name=path)] == ["forget: readme", "edit: readme"]


def test_an_entry_called_like_the_overview_is_meant_by_its_path(ordered: Memory) -> None:
    path = put(ordered.root, "memory/entries/A/memory.md", "How it is remembered.\n")
    ordered.adopt()
    assert ordered.blame("memory/entries/A/memory.md")[0].text == path.read_text().strip()


def test_an_entry_is_not_given_a_name_that_is_another_ones_path(ordered: Memory) -> None:
    for name in (_PLACE, "People/marta-alves", "People/Marta-Alves.md"):
        with pytest.raises(InvalidArguments, match=f"is what {_PLACE} answers to already"):
            ordered.rename("Luna", name)


def test_purge_says_which_files_it_erases(readmes: Memory) -> None:
    done = run("--dir", str(readmes.root), "purge", "memory/entries/A/readme.md", "--yes")
    assert "erased:  memory/entries/A/readme.md\n" in done.stdout
    done = run("--dir", str(readmes.root), "purge", "B/readme", "--yes", "--json")
    assert json.loads(done.stdout)["erased"] == ["memory/entries/B/readme.md"]


def test_a_store_of_keys_keeps_its_items_apart_from_files_of_their_names(ordered: Memory) -> None:
    key = Key(("People",), "marta-alves")
    keyvalue.keep(ordered, {key: Fact("People/marta-alves", "", "Hers.")})
    assert (ordered.root / _PLACE).read_text() == _MARTA
    item = keyvalue.item(ordered, key)
    assert item is not None and item.content == "Hers."


# Folders that are repositories of their own


@pytest.mark.parametrize("below", ["memory/entries", "memory", "memory/entries/People"])
@pytest.mark.parametrize("is_file", [False, True])
def test_nothing_is_written_into_a_folder_that_is_a_repository_of_its_own(
    ordered: Memory, below: str, is_file: bool
) -> None:
    git_of_it = ordered.root / below / ".git"
    ordered.remember("Dog", "the dog", "Barks.")
    if is_file:
        git_of_it.write_text("gitdir: elsewhere\n")
    else:
        git_of_it.mkdir()
    path = "memory/entries/dog.md" if below != "memory/entries/People" else _PLACE
    before = (ordered.root / path).read_bytes()
    with Memory(ordered.root) as fresh_one:
        with pytest.raises(Unwritable, match=rf"{below}/\.git.*a repository of its own.*move .*\.git away"):
            files.rewrite(fresh_one, "x", lambda tree: {path.removeprefix("memory/"): "New.\n"}, even_if_many=True)
        if below != "memory/entries/People":
            with pytest.raises(Unwritable, match=rf"{below}/\.git"):
                fresh_one.remember("Dog", "the dog", "Sleeps.")
            assert "this memory is empty" not in fresh_one.recall("barks").note
            assert f"{below}/.git" in fresh_one.recall("barks").note
    assert (ordered.root / path).read_bytes() == before


@pytest.mark.parametrize("below", ["memory/entries", "memory"])
def test_a_fresh_process_says_that_the_folder_of_facts_is_a_repository(tmp_path: Path, below: str) -> None:
    root = tmp_path / "w"
    with Memory(root) as memory:
        memory.remember("Luna", "the dog", "A lagotto in the kitchen.")
    time.sleep(2.6)
    with Memory(root) as memory:
        memory.recall("kitchen")
    assert "lagotto" in fresh(root, "kitchen")
    (root / below / ".git").mkdir()
    done = run("--dir", str(root), "recall", "kitchen")
    assert "lagotto" not in fresh(root, "kitchen")
    assert f"{below}/.git" in done.stderr and "this memory is empty" not in done.stderr


def test_a_process_that_stays_sees_a_git_come_and_go(ordered: Memory) -> None:
    for _ in range(3):  # from the second look on, the system tells of changes
        assert ordered.recall("lagotto").hits
    (ordered.root / "memory/entries/.git").mkdir()
    assert not ordered.recall("lagotto").hits
    (ordered.root / "memory/entries/.git").rmdir()
    assert ordered.recall("lagotto").hits


def test_a_git_in_a_folder_is_told_of_by_doctor_and_lets_others_be_written(ordered: Memory) -> None:
    (ordered.root / "memory/entries/People/.git").mkdir()
    assert ordered.remember("Otto", "the cat", "Sleeps.").path == "memory/entries/otto.md"
    said = {finding.path: finding.message for finding in ordered.doctor()}
    assert "a Git repository of its own" in said["memory/entries/People"]
    assert [hit.entry.name for hit in ordered.recall("cat")] == ["Otto"]


# Folders called like files


def test_a_fact_gets_another_file_where_a_folder_is_called_like_its_own(ordered: Memory) -> None:
    put(ordered.root, "memory/entries/x.md/y.md", "About y.\n")
    saved = ordered.remember("x", "an x", "Unknown.")
    assert saved.path.startswith("memory/entries/x-") and ordered.get("x").content == "Unknown."
    said = {finding.path: finding.message for finding in ordered.doctor()}
    assert "facts in it are recalled" in said["memory/entries/x.md"]
    assert "move it away" not in said["memory/entries/x.md"]
    assert [hit.entry.slug for hit in ordered.recall("about y")] == ["y"]
