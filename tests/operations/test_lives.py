"""A purged entry is gone with every life it had, whatever renamed it and took that back; others keep theirs."""

import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import CrabmemError, InvalidArguments, Memory, NotFound
from crabmem.operations import purge
from crabmem.text.hashes import blob_id, short
from tests.conftest import ANN, git
from tests.conftest import typed_in as run
from tests.examples import examples
from tests.faults.repository import traces

CODE = "The launch code is banana-seven."


@pytest.fixture
def coded(memory: Memory) -> Memory:
    memory.remember("Wifi", "how to get online", "Ask at the desk in the hall.")
    memory.remember("Alpha", "secret thing", CODE)
    return memory


def test_a_purge_takes_the_life_that_an_undo_of_a_rename_ended(coded: Memory) -> None:
    coded.rename("Alpha", "Beta")
    coded.undo()
    plan = purge.purge(coded, "Alpha", dry_run=True)
    assert plan.entries == ("Alpha", "Beta") and plan.copies == {}
    done = coded.purge("Alpha")
    assert done.standing and done.standing.places == ()
    assert traces(coded.root, "banana-seven", "Alpha", "Beta", "alpha.md", "beta.md") == []
    assert coded.get("Wifi").content == "Ask at the desk in the hall."


@pytest.mark.parametrize("way", ["revert", "rollback", "redo", "rename"])
def test_a_purge_takes_former_lives_whatever_ended_them(coded: Memory, way: str) -> None:
    coded.rename("Alpha", "Beta")
    if way == "revert":
        coded.revert([coded.log(1)[0].commit])
    elif way == "rollback":
        coded.rollback("HEAD~1")
    elif way == "redo":
        coded.undo(), coded.redo(), coded.undo()
    else:
        coded.rename("Beta", "Gamma"), coded.rename("Gamma", "Alpha")
    coded.purge("Alpha")
    assert traces(coded.root, "banana-seven", "Beta", "Gamma") == []


def test_a_purge_takes_former_lives_of_an_entry_in_a_folder(coded: Memory) -> None:
    folder = coded.file("memory/entries/People")
    folder.mkdir()
    (folder / "twin.md").write_text(f"---\nname: twin\ndescription: d\n---\n\n{CODE} Twice.\n")
    coded.adopt()
    coded.rename("People/twin", "Sports twin")
    coded.undo(), coded.undo(), coded.redo()
    assert (folder / "twin.md").exists()
    coded.purge("People/twin")
    assert traces(coded.root, "Twice", "Sports twin") == []


def test_a_purge_takes_what_a_person_moved_away_and_back(coded: Memory) -> None:
    places = [coded.file(f"memory/entries/{name}.md") for name in ("alpha", "beta", "People/gamma", "alpha")]
    places[2].parent.mkdir()
    for number, (old, new) in enumerate(pairwise(places)):
        new.write_text(f"{old.read_text()}Line number {number}.\n")
        old.unlink()
        git(coded.root, "add", "-A")
        git(coded.root, *ANN, "commit", "-qm", f"step {number}")
    places[3].rename(places[1])  # and once more, which is in no commit yet
    coded.purge("Alpha")
    assert traces(coded.root, "banana-seven") == []


def test_a_purge_spares_an_entry_that_got_the_name_later(coded: Memory) -> None:
    coded.rename("Alpha", "Beta")
    coded.remember("Alpha", "another thing", "The moon is full tonight.")
    done = coded.purge("Beta")
    assert done.standing and done.standing.places == ()
    assert traces(coded.root, "banana-seven", "Beta") == []
    assert coded.get("Alpha").content == "The moon is full tonight."
    assert coded.log(1)[0].subject == "remember: Alpha"


def test_a_purge_spares_an_entry_that_gave_the_name_away(coded: Memory) -> None:
    coded.rename("Alpha", "Beta")
    coded.remember("Alpha", "another thing", "The moon is full tonight.")
    coded.purge("Alpha")
    assert traces(coded.root, "moon") == []
    assert coded.get("Beta").content == CODE
    assert CODE in git(coded.root, "log", "-p", "--all", "--", "memory/entries/alpha.md")


def test_a_purge_spares_what_a_rollback_put_back_in_its_place(coded: Memory) -> None:
    coded.rename("Alpha", "Beta")
    coded.remember("Gamma", "another thing", "The moon is full tonight.")
    coded.rename("Gamma", "Alpha")
    coded.rollback("HEAD~3")
    coded.purge("Gamma")
    assert traces(coded.root, "moon") == []
    assert coded.get("Alpha").content == CODE


def test_a_name_that_several_entries_had_is_refused_when_none_has_it_now(coded: Memory) -> None:
    coded.rename("Alpha", "Beta")
    coded.remember("Alpha", "another thing", "The moon is full tonight.")
    coded.rename("Alpha", "Gamma")
    with pytest.raises(InvalidArguments, match=r"several facts were called Alpha; .*beta\.md, .*gamma\.md"):
        coded.purge("Alpha")


def test_the_verb_names_what_quotes_a_purged_entry_and_fails(coded: Memory) -> None:
    coded.remember("Notes", "of all kinds", f"Somebody said:\n{CODE}")
    commit = coded.log(1)[0].commit
    done = run(coded.root, "purge", "Alpha", "--yes")
    assert done.exit_code == 1
    assert "stays:   memory/entries/notes.md quotes 1 line of it" in done.output
    assert "purged, but not everywhere" in done.output and "nowhere" not in done.output
    assert commit not in git(coded.root, "log", "--format=%H")
    assert f"memory/entries/notes.md in commit {git(coded.root, 'rev-parse', 'HEAD')[:8]}" in done.output


def test_the_verb_says_where_the_name_of_a_purged_entry_stays(coded: Memory) -> None:
    coded.remember("Notes", "of all kinds", "See [[Alpha]].")
    done = run(coded.root, "purge", "Alpha", "--yes")
    assert done.exit_code == 0 and done.output.endswith("its name stays in memory/entries/notes.md\n"), done.output


def test_verify_of_a_purged_name_does_not_promise_that_what_it_said_is_gone(coded: Memory) -> None:
    coded.remember("Notes", "of all kinds", "See [[Alpha]].")
    done = run(coded.root, "purge", "Alpha", "--yes")
    assert "stays:   memory/entries/notes.md names it" in done.output and "quotes" not in done.output
    looked = run(coded.root, "purge", "Alpha", "--verify")
    assert looked.exit_code == 1 and "memory/entries/notes.md (its name)" in looked.output
    assert "`crabmem purge --text WORDS --verify` looks for words" in looked.output
    unknown = run(coded.root, "purge", "Alhpa", "--verify")
    assert unknown.exit_code == 1 and "no fact is or was called so" in unknown.output


def test_verify_refuses_a_name_that_no_fact_ever_had(coded: Memory) -> None:
    looked = run(coded.root, "purge", "Alhpa", "--verify")
    assert looked.exit_code == 1 and "no fact was ever called Alhpa" in looked.output
    with pytest.raises(NotFound, match="no fact was ever called Alhpa"):
        purge.standing(coded, "Alhpa")


def test_verify_names_the_path_and_commit_of_a_text(coded: Memory) -> None:
    commit = coded.log(1)[0].commit
    text = coded.file("memory/entries/alpha.md").read_bytes()
    coded.forget("Alpha")
    places = purge.standing(coded, text="banana-seven").places
    assert [place for place in places if "blob" in place] == [
        f"memory/entries/alpha.md in commit {short(commit)} (blob {blob_id(text)[:12]})"
    ], places


NAMES = st.sampled_from(["Alpha", "Beta", "Gamma"])
STEPS = st.one_of(
    st.tuples(st.just("rename"), NAMES),
    st.tuples(st.sampled_from(["undo", "redo", "edit", "forget", "again", "move", "stranger"]), st.just("")),
    st.tuples(st.just("rollback"), st.sampled_from(["HEAD~1", "HEAD~2", "HEAD~3"])),
)


def _step(memory: Memory, step: str, what: str, number: int) -> None:
    """Do something to the fact that has the code, if there is one."""
    entry = next((each for each in memory.entries() if "banana-seven" in memory.get(each.path).content), None)
    if step == "rename" and entry:
        memory.rename(entry.name, what)
    elif step in ("undo", "redo"):
        getattr(memory, step)()
    elif step == "rollback":
        memory.rollback(what)
    elif step == "edit" and entry:
        memory.remember(entry.name, "secret thing", f"banana-seven, edition {number} of the code")
    elif step == "forget" and entry:
        memory.forget(entry.name)
    elif step == "again" and entry and "People" not in entry.path:  # which would be another file, and so another fact
        memory.forget(entry.name)
        memory.remember(entry.name, "secret thing", f"banana-seven, again {number} of the code")
    elif step == "move" and entry:
        place = memory.file(entry.path)
        folder = memory.file("memory/entries") / ("" if "People" in entry.path else "People")
        folder.mkdir(exist_ok=True)
        if not (folder / place.name).exists():
            place.rename(folder / place.name)
        memory.adopt()
    elif step == "stranger":
        memory.remember(f"Stranger {number}", f"no secret {number}", f"walrus-{number} swims in the sea.")


@given(st.lists(STEPS, min_size=3, max_size=9))
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
def test_a_purged_entry_is_in_no_object_after_any_renames_and_what_took_them_back(steps: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "w") as memory:
        memory.remember("Stranger", "no secret", "walrus-first swims in the sea.")
        memory.remember("Alpha", "secret thing", CODE)
        for number, (step, what) in enumerate(steps):
            with suppress(CrabmemError):
                _step(memory, step, what, number)
        said = git(memory.root, "log", "--all", "-p")
        strangers = {f"walrus-{each}" for each in ("first", *range(len(steps))) if f"walrus-{each} " in said}
        now = [each for each in memory.entries() if "banana-seven" in memory.get(each.path).content]
        done = memory.purge(now[0].name if now else "Alpha")
        left = traces(memory.root, "banana-seven")
        assert not left or (done.copies and done.standing and done.standing.places), steps
        said = git(memory.root, "log", "--all", "-p")
        assert all(f"{each} " in said for each in strangers)
