"""A fact may name the code that it rests on: who is told the fact hears where that does not stand any more."""

import io
import json
import os
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.hosts.hooks import process
from crabmem.hosts.hooks.command import Command
from crabmem.operations import export, maintenance, tidy
from crabmem.text.entry import Fact, parse_entry, render_entry
from crabmem.text.sources import sources_in
from crabmem.write.actor import Actor
from tests.conftest import ANN, git, typed
from tests.opening import opened_with
from tests.web.browsing import site_of

FACT = "Retries", "how often a request is sent again", "Three times, then it gives up."
CODE = "import http\n\n\ndef send():\n    retries = 3\n    return retries\n"
LINE = ["src/a.py:5"]
MESSAGE = "how often is a request sent again? the retries?"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a line that is edited, and nothing in its history."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "src/a.py").write_text(CODE)
    (folder / ".gitignore").write_text("*.env\n")
    (folder / "key.env").write_text("SECRET=1\n")
    (folder / "link.py").symlink_to("src/a.py")
    return folder


@pytest.fixture
def memory(project: Path) -> Iterator[Memory]:
    with opened(project) as memory:
        yield memory


def opened(project: Path | None, root: Path | None = None) -> Memory:
    root = root or (project or Path()).parent / "notes"
    now = datetime(2026, 6, 15, 12, tzinfo=UTC)
    return opened_with(root, Actor(None, None), lambda: now, project=str(project or ""))


def told(memory: Memory) -> str:
    return memory.recall("retries")[0].caveat


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (CODE, ""),
        (f"# new\n{CODE}", "source moved: src/a.py:6"),
        (CODE.replace("3", "4"), "source changed: src/a.py:5"),
        (CODE.replace("    retries = 3\n", ""), "source gone: src/a.py:5"),
        (None, "source gone: src/a.py:5"),
    ],
)
def test_whoever_is_told_a_fact_hears_what_became_of_its_source(
    project: Path, memory: Memory, after: str | None, words: str
) -> None:
    memory.remember(*FACT, sources=LINE)
    (project / "src/a.py").unlink() if after is None else (project / "src/a.py").write_text(after)
    assert told(memory) == words
    for tool, asked in (("get", {"name": FACT[0]}), ("recall", {"query": "retries"})):
        answer = memory.call(tool, asked, [tool])
        assert (f", {words})" in answer.text) if words else "source" not in answer.text
    assert answer.data["hits"][0]["sources"][0]["state"] == (words.split(":")[0].removeprefix("source ") or "same")
    assert (words or "nothing") in (memory.before_turn(MESSAGE) + "nothing" * (not words))
    lost = [fact.name for fact in memory.digest().stale]
    found = [each.message for each in maintenance.doctor(memory) if "source" in each.message]
    assert bool(lost) == bool(found) == words.startswith(("source changed", "source gone"))
    with site_of(memory) as site:
        assert ("May not hold any more: 1 fact" in site.get("/facts").text) == bool(lost)


def test_of_several_sources_each_is_told_that_does_not_stand(project: Path, memory: Memory) -> None:
    memory.remember(*FACT, sources=[*LINE, "src/a.py:1", ".gitignore"])
    (project / "src/a.py").write_text("\n" + CODE.replace("3", "4"))
    (project / ".gitignore").write_text("")
    assert told(memory) == "source changed: src/a.py:5, source moved: src/a.py:2, source changed: .gitignore"


def test_without_the_project_or_in_another_one_or_of_a_past_nothing_is_said(project: Path, memory: Memory) -> None:
    memory.remember(*FACT, sources=LINE)
    (project / "src/a.py").unlink()
    assert memory.recall("retries", as_of="HEAD")[0].caveat == ""
    other = project.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    for place in (None, other, memory.root, project.parent / "none"):
        with opened(place, memory.root) as elsewhere:
            assert told(elsewhere) == ""
    with opened(memory.root, project.parent / "apart") as apart, pytest.raises(InvalidArguments, match="no Git repo"):
        apart.remember(*FACT, sources=["Crab.md"])


def test_a_projects_own_memory_goes_by_its_worktree_whatever_a_clone_is_called(project: Path) -> None:
    git(project, "add", ".")
    git(project, *ANN, "commit", "-qm", "first")
    with opened(None, project) as memory:
        memory.init(claim=True)
        path = memory.remember(*FACT, sources=LINE).path
        assert "sources_of" not in (project / path).read_text()
        with pytest.raises(InvalidArguments, match="it is memory itself"):
            memory.remember(*FACT, sources=[path])
    git(project, "clone", "-q", ".", "../clone")
    (project.parent / "clone/src/a.py").write_text(f"\n{CODE}")
    with opened(None, project.parent / "clone") as memory:
        assert told(memory) == "source moved: src/a.py:6"


REFUSED = ["../notes", "/etc/passwd", "src/../src/a.py", ".git/HEAD", "key.env", "link.py", "src", "none.py",
           "src/a.py:2", "src/a.py:99", "https://x.org/a", "a\nb"]  # fmt: skip


@pytest.mark.parametrize("source", REFUSED)
def test_what_cannot_be_a_source_is_refused_with_the_way_out_and_nothing_is_written(
    memory: Memory, source: str
) -> None:
    with pytest.raises(InvalidArguments, match=r"^sources: .*(name|give|such as) "):
        memory.remember(*FACT, sources=[source])
    assert not memory.root.exists()


@pytest.mark.parametrize(
    "source", ["src/a.py:4-5", "src/a.py:0", "src/a.py:x", "src/a.py:5:3", "src/a.py:5, src/a.py:6"]
)
def test_of_what_is_no_line_of_a_file_that_is_there_the_refusal_names_the_form(memory: Memory, source: str) -> None:
    with pytest.raises(InvalidArguments, match=r"FILE or FILE:LINE, with lines counted from 1") as refused:
        memory.remember(*FACT, sources=[source])
    assert "there is no such file" not in str(refused.value) and repr(source) in str(refused.value)
    to_large_file(memory.root.parent / "shop/src/a.py")
    with pytest.raises(InvalidArguments, match=r"FILE or FILE:LINE|larger than"):
        memory.remember(*FACT, sources=[source])


def test_a_file_whose_name_has_a_colon_can_be_a_source(project: Path, memory: Memory) -> None:
    (project / "a:1-2").write_text("x\n")
    assert memory.remember(*FACT, sources=["a:1-2"]).commit


def to_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def to_link(file: Path) -> None:
    text = file.read_text()
    file.unlink()
    (file.parent.parent / "elsewhere.py").write_text(text)
    file.symlink_to("../elsewhere.py")


def to_link_of_folder(file: Path) -> None:
    file.parent.rename(file.parent.parent / "lib")
    file.parent.symlink_to("lib")


def to_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def to_large_file(file: Path) -> None:
    file.write_text(CODE + "#" * 1_100_000)


def to_ignored_file(file: Path) -> None:
    (file.parent.parent / ".gitignore").write_text("*.py\n")


def to_file_beside_rules_that_cannot_be_read(file: Path) -> None:
    to_folder(file.parent.parent / ".gitignore")


GONE = "source gone: src/a.py:5"


@pytest.mark.parametrize(
    ("becomes", "words"),
    [
        (to_folder, GONE),
        (to_link, GONE),
        (to_link_of_folder, GONE),
        (to_pipe, GONE),
        (to_large_file, "source not compared: src/a.py:5 (it is larger than 1000000 bytes)"),
        (to_ignored_file, "source not compared: src/a.py:5 (Git ignores it, so it is not read)"),
        (
            to_file_beside_rules_that_cannot_be_read,
            "source not compared: src/a.py:5 (.gitignore cannot be read: it is not a regular file)",
        ),
    ],
)
def test_a_source_in_whose_place_is_no_plain_file_is_gone_and_one_that_cannot_be_read_is_told_with_the_reason(
    project: Path, memory: Memory, becomes: Callable[[Path], None], words: str
) -> None:
    memory.remember(*FACT, sources=LINE)
    becomes(project / "src/a.py")
    assert told(memory) == words
    assert f", {words})" in memory.call("get", {"name": FACT[0]}, ["get"]).text
    assert [each.about for each in tidy.tidy(memory)] == [words]
    assert [fact.why for fact in memory.digest().stale] == [words]
    assert any(each.message.startswith(f"{words}: see") for each in maintenance.doctor(memory))


def test_what_a_person_wrote_that_may_not_be_read_or_compared_is_never_said_to_stand(memory: Memory) -> None:
    path = memory.root / memory.remember(*FACT).path
    for said, states in {
        "[key.env:1@0123456]": ["not compared"],
        "[/etc/passwd:1@0123456]": ["not compared"],
        "link.py:1@0123456": ["gone"],
        "[src/a.py:5]": [],
        "{a: b}": [],
    }.items():
        path.write_text(f"---\nname: Retries\nsources: {said}\n---\n\nThree times.\n")
        assert [each.state for each in memory.recall("retries")[0].sources] == states
    path.write_text("---\nname: Retries\nsources: [src/a.py:5]\n---\n\nThree times.\n")
    assert "source not compared: src/a.py:5: see" in "".join(each.message for each in maintenance.doctor(memory))


def test_the_command_that_tidy_names_for_a_changed_source_mends_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    monkeypatch.chdir(project)
    typed("--dir", root, "remember", FACT[0], "-d", FACT[1], "-c", FACT[2], "--source", *LINE)
    (project / "src/a.py").write_text(CODE.replace("3", "4"))
    (found,) = json.loads(typed("--dir", root, "tidy", "--json").stdout)["found"]
    assert found["command"] == f"crabmem remember Retries --source {LINE[0]}"
    assert any(
        "`crabmem remember NAME --source PATH`" in line for line in typed("--dir", root, "doctor").stdout.split("; ")
    )
    for code in (None, ""):
        if code is not None:
            (project / "src/a.py").unlink()
        (found,) = json.loads(typed("--dir", root, "tidy", "--json").stdout)["found"]
        assert typed("--dir", root, *shlex.split(found["command"])[1:]).exit_code == 0
        assert json.loads(typed("--dir", root, "tidy", "--json").stdout)["found"] == []


def test_what_is_left_out_stays_and_nothing_removes_it(memory: Memory) -> None:
    memory.remember(*FACT, sources=LINE)
    assert sources_in(memory.remember(*FACT[:2], "Four times.").entry.keys)
    file = memory.root / memory.remember(*FACT, sources=[]).path
    assert "source" not in file.read_text()
    with opened(None, memory.root) as elsewhere, pytest.raises(InvalidArguments, match="or leave them out"):
        elsewhere.remember(*FACT, sources=LINE)


@pytest.mark.parametrize("form", ["okf", "json", "markdown"])
def test_exports_and_imports_carry_them(project: Path, memory: Memory, tmp_path: Path, form: str) -> None:
    before = memory.remember(*FACT, sources=[*LINE, ".gitignore"]).entry
    export.export(memory, tmp_path / "out", form)  # type: ignore[arg-type]
    if form == "okf":
        assert "resource: " in "".join(file.read_text() for file in (tmp_path / "out").rglob("retries.md"))
    assert typed("--dir", tmp_path / "other", "import", tmp_path / "out").exit_code == 0
    with opened(project, tmp_path / "other") as read:
        assert read.get(FACT[0]).keys["sources"] == before.keys["sources"]
        (project / "src/a.py").write_text(f"\n{CODE}")
        assert told(read) == "source moved: src/a.py:6"


def test_the_command_line_and_hooks_go_by_the_folder_where_they_work(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    monkeypatch.chdir(project / "src")
    assert typed("--dir", root, "remember", FACT[0], "-d", FACT[1], "-c", FACT[2], "--source", *LINE).exit_code == 0
    (project / "src/a.py").write_text(f"\n{CODE}")
    said = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": MESSAGE}
    command = Command(["--dir", str(root), "hook", "prompt", "--host", "claude-code"])
    for folder, began, words in ((project, "", True), (tmp_path, "", False), (tmp_path, str(project), True)):
        monkeypatch.chdir(folder)
        found = typed("--dir", root, "recall", "retries").stdout
        assert ("source moved: src/a.py:6" in found) == (folder == project)
        environment = {"HOME": str(tmp_path), **({"CLAUDE_PROJECT_DIR": began} if began else {})}
        stdin = io.BytesIO(json.dumps({**said, "session_id": folder.name + began}).encode())
        answer = process.answer_command(command, environment, root, stdin.read)
        assert (b"source moved: src/a.py:6" in answer) == words
    assert "source moved" in typed("--dir", root, "show", FACT[0], "--project", "").stderr or folder != project
    own = "--dir", root, "--project", project
    assert "(from me:memory/entries/retries.md, " in (found := typed(*own, "recall", "retries").stdout)
    assert "source moved: src/a.py:6" in found and "source moved" in typed(*own, "show", "me:Retries").stderr
    assert typed(*own, "remember", FACT[0], "-d", FACT[1], "-c", FACT[2], "--source", "src/a.py:6").exit_code == 0
    hits = json.loads(typed(*own, "recall", "retries", "--json").stdout)["hits"]
    assert {hit["scope"]: hit["sources"][0]["state"] for hit in hits} == {"project": "same", "me": "moved"}
    (file,) = root.glob("memory/entries/*.md")
    file.write_text(file.read_text().replace("sources_of: shop\n", ""))
    hits = json.loads(typed(*own, "recall", "retries", "--json").stdout)["hits"]
    assert {hit["scope"]: len(hit.get("sources", ())) for hit in hits} == {"project": 1, "me": 0}
    apart = typed("--dir", (root / ".projects").glob("*").__next__(), "recall", "retries", "--json")
    assert "sources" not in json.loads(apart.stdout)["hits"][0]


@given(
    st.lists(st.text("ab/.:@-,# ü[]'", min_size=1), min_size=1, max_size=3).map(lambda given: [*map(str.strip, given)])
)
def test_a_header_is_read_as_it_was_written_whatever_the_path(sources: list[str]) -> None:
    fact = Fact("n", "d", "c", keys={"sources": sources})
    text = render_entry(fact, None)
    assert parse_entry("a.md", text.encode()).keys["sources"] == sources
    again = render_entry(Fact("n", "d", "c", keys={"sources": [*sources, "x.py:1@0123456"]}), text)
    assert parse_entry("a.md", again.encode()).keys["sources"] == [*sources, "x.py:1@0123456"]
