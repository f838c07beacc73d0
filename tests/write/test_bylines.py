"""What a host says that an agent wrote: recorded as the agent's, by whoever records it, and only that."""

from datetime import timedelta
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import fs
from crabmem.operations import adoption
from crabmem.session.opening import local_time
from crabmem.text.hashes import blob_id
from crabmem.write.actor import Actor
from crabmem.write.bylines import Byline, Bylines, bylines_for
from tests.conftest import assert_clean
from tests.opening import opened_with

LAMP = "memory/entries/lamp.md"
TEXT = "---\nname: Lamp\ndescription: which bulb it takes\n---\n\nE27.\n"


def written(memory: Memory, path: str, text: str = TEXT) -> str:
    """A file of the workspace that somebody else than memory has written."""
    file = memory.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def test_file_that_the_host_wrote_is_the_agents_commit(memory: Memory) -> None:
    memory.init()
    commit = adoption.adopt_written(memory, [written(memory, LAMP)])
    assert commit and (commit.author, commit.subject, commit.tool) == ("coder", "write: Lamp", "write")
    assert (commit.session, commit.entries, commit.paths) == ("s-1", ("Lamp",), (LAMP,))
    assert adoption.adopt_written(memory, [written(memory, LAMP)]) is None
    assert memory.get("lamp").content == "E27."


def test_files_of_one_call_are_one_commit(memory: Memory) -> None:
    memory.init()
    files = [written(memory, f"memory/entries/{name}.md", name) for name in "abcde"]
    commit = adoption.adopt_written(memory, files)
    assert commit and commit.subject == "write: a, b, c and 2 more" and len(commit.paths) == 5


def test_edits_of_others_are_recorded_before_unless_they_are_of_this_moment(memory: Memory) -> None:
    memory.init()
    written(memory, "memory/entries/theirs.md", "of a person, or of another tool\n")
    commit = adoption.adopt_written(memory, [written(memory, LAMP)])
    assert commit and memory.log()[1].subject == "init: a new memory"
    later = opened_with(memory.root, Actor("coder"), lambda: local_time() + timedelta(minutes=1))
    assert adoption.adopt_written(later, [written(memory, LAMP, TEXT.replace("27", "14"))])
    told = [(commit.author, commit.subject) for commit in memory.log()[:2]]
    assert told == [("coder", "write: Lamp"), ("person", "edit: theirs")]


def test_another_writer_says_whose_it_is_while_nobody_changes_it(memory: Memory) -> None:
    memory.init()
    written(memory, LAMP), written(memory, "memory/entries/stove.md", "wood")
    bylines = Bylines(memory.root / ".git/crabmem/bylines")
    bylines.add(Byline(path, blob_id(b"wood"), "host", "s-9") for path in (LAMP, "memory/entries/stove.md"))
    memory.remember("Boiler", "when it was serviced", "In May.")
    assert [(commit.author, commit.subject) for commit in memory.log()[:3]] == [
        ("coder", "remember: Boiler"),
        ("host", "write: stove"),
        ("person", "edit: Lamp"),
    ]
    written(memory, "memory/entries/stove.md", "coal")
    memory.adopt()
    written(memory, "memory/entries/stove.md", "wood")
    assert (memory.adopt() or memory.log()[0]).author == "person"


def test_what_another_tool_told_of_is_recorded_with_its_name_even_if_it_never_gets_its_turn(memory: Memory) -> None:
    memory.init()
    stove = "memory/entries/stove.md"
    written(memory, stove, "wood")
    Bylines(memory.root / ".git/crabmem/bylines").add(bylines_for(memory.root, [stove], "other", "s-2"))
    # Of this moment both; the other tool was ended while it waited.
    assert (adoption.adopt_written(memory, [written(memory, LAMP)]) or memory.log()[0]).paths == (LAMP,)
    memory.adopt()
    told = {commit.author: commit.paths for commit in memory.log()[:2]}
    assert told == {"coder": (LAMP,), "other": (stove,)}


def test_each_agent_and_session_has_a_commit_of_its_own(memory: Memory) -> None:
    memory.init()
    bylines = Bylines(memory.root / ".git/crabmem/bylines")
    for number, (agent, session) in enumerate([("a", "1"), ("a", "2"), (None, None), ("b", None)]):
        path = f"memory/entries/{number}.md"
        written(memory, path, path)
        bylines.add([Byline(path, blob_id(path.encode()), agent, session)])
    memory.adopt()
    told = [(commit.author, commit.agent, commit.session) for commit in memory.log()[:4]]
    assert sorted(told, key=str) == [("a", "a", "1"), ("a", "a", "2"), ("agent", None, None), ("b", "b", None)]


def test_of_many_bylines_that_wait_none_is_dropped(memory: Memory) -> None:
    """Above 64,000 bytes the older half once went, and with it whose texts they were."""
    memory.init()
    bylines, paths = Bylines(memory.root / ".git/crabmem/bylines"), [f"memory/entries/{n}.md" for n in range(600)]
    for path in paths:
        written(memory, path, "wood")
        bylines.add([Byline(path, blob_id(b"wood"), "host", "s-9")])
    memory.adopt()
    assert {commit.author for commit in memory.log()[:-1]} == {"host"}
    assert {path for commit in memory.log()[:-1] for path in commit.paths} == {*paths}


@pytest.mark.parametrize("junk", [b"{", b"\xff\n", b'{"path": 1}\n', b'{"path":"x","blob":"","agent":"' + b"a" * 300])
def test_what_is_no_byline_is_left_out(memory: Memory, junk: bytes) -> None:
    memory.init()
    (memory.root / ".git/crabmem/bylines").write_bytes(b"[" + junk + b'","session":null}]\n')
    written(memory, "x", "")
    written(memory, LAMP)
    commit = memory.adopt()
    assert commit and commit.author == "person"
    (memory.root / "x").unlink()


def test_of_a_report_that_was_cut_short_nothing_is_believed(memory: Memory) -> None:
    """A host's report that is half written must not give half of its files to the agent, and half to the person."""
    memory.init()
    files = [written(memory, f"memory/entries/{name}.md") for name in ("lamp", "shelf")]
    own = memory.engine.workspace.private / "bylines"
    Bylines(own).add(bylines_for(memory.root, ["memory/entries/lamp.md", "memory/entries/shelf.md"], "coder", "s-1"))
    assert len(Bylines(own).signed()) == len(files) == 2
    whole = own.read_bytes()
    for size in range(len(whole) - 1):
        own.write_bytes(whole[:size])
        assert not Bylines(own).signed()
    assert adoption.adopt(memory)


def test_names_that_no_file_here_can_have_are_passed_over(memory: Memory) -> None:
    memory.init()
    root = memory.root
    assert (
        adoption.adopt_written(
            memory, ["", "/", "\0", f"{root}/memory/\0.md", f"{root}/..", f"{root}/memory/", "/nowhere/x.md"]
        )
        is None
    )
    assert_clean(root)


@pytest.mark.parametrize("name", ["notes/a.md", "./notes/../notes/a.md", "link/a.md"])
def test_path_of_a_file_is_found_by_whatever_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "link").symlink_to("notes")
    monkeypatch.chdir(tmp_path)
    for file in (name, str(tmp_path / name)):
        assert fs.path_in(tmp_path / "notes", file) == fs.path_in(tmp_path / "link", file) == "a.md"
    (tmp_path / "notes" / "a.md").symlink_to(tmp_path / "elsewhere.md")
    assert fs.path_in(tmp_path / "notes", name) == "a.md"
    assert fs.path_in(tmp_path / "notes", str(tmp_path / "elsewhere.md")) is None
