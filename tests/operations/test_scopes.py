"""Several memories seen in one session: a project's, the person's, a team's."""

import json
import os
import shlex
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import AlreadyThere, Disabled, Inapplicable, InvalidArguments, Memory, NotFound, Stale
from crabmem.disk.allowed import Allowed
from crabmem.operations import purge
from crabmem.operations.moving import move
from crabmem.operations.reading import get_seen, seen_beside
from crabmem.session.engine import Engine
from crabmem.session.locate import known_settings_at, reach_of
from crabmem.session.scopes import others
from crabmem.session.session import Session
from crabmem.text.commands import program_at
from crabmem.text.values import replace
from crabmem.write.actor import Actor
from tests.conftest import Clock, git, typed
from tests.opening import opened_with
from tests.samples import VET

_PROFILE = """
about = "x"
tools = ["entries", "looking"]
part = [{ file = "{overview}" }]
kinds.group.hides = ["memory/entries/private-*.md"]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home with a memory of two facts, and a project in it that a session works in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Memory(tmp_path / ".crabmem") as me:
        me.remember("Editor", "which editor Ann prefers", "Helix")
        me.remember("Build", "how things are built", "with make, mostly")
    (tmp_path / "code").mkdir()
    git(tmp_path / "code", "init", "-q")
    monkeypatch.chdir(tmp_path / "code")
    return tmp_path


@pytest.fixture
def me(home: Path) -> Iterator[Memory]:
    with Memory(home / ".crabmem") as memory:
        yield memory


@pytest.fixture
def project(home: Path) -> Iterator[Memory]:
    with Memory(home / ".crabmem/.projects/code-1", agent="coder") as memory:
        memory.remember("Build", "how this is built", "make all")
        yield memory


run = partial(typed, "--project", ".")


def command_in(told: str) -> list[str]:
    """The first command of `crabmem` that a message names, as it is typed."""
    [words, *_] = [each for each in told.split("`") if each.startswith("crabmem ")]
    return shlex.split(words)[1:]


def team(home: Path, memory: Memory, folder: str = "team", is_allowed: bool = True) -> Memory:
    """A memory that `memory` names in `also`, allowed by the person unless it is not."""
    made = Memory(home / folder)
    made.remember("Deploy", "who deploys on Fridays", "Nobody does.")
    (memory.root / "crabmem.toml").write_text(f'also = ["{home / folder}"]\n')
    if is_allowed:
        allow(memory.root)
    return made


def allow(root: Path) -> None:
    allowed = Allowed(os.environ)
    allowed.allow(root, replace(reach_of(root, known_settings_at(root)[0]), parent="", remote=""))


def found(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.address for hit in memory.recall(query, **options)]


def test_two_threads_that_ask_at_once_open_a_memory_beside_once(
    project: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()

    def slowly(folder: str, *given: Any) -> Engine:
        opened.append(folder)
        time.sleep(0.05)
        return Engine(folder, *given)

    monkeypatch.setattr("crabmem.session.scopes.Engine", slowly)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: len(project.recall("things built")), range(4)))
    assert found == [2] * 4 and len(opened) == 1


def test_a_project_finds_what_the_person_prefers_also_before_its_own_first_fact(home: Path) -> None:
    done = run("recall", "which editor does Ann prefer")
    assert "(from me:memory/entries/editor.md" in done.stdout and done.exit_code == 0
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    assert "me:memory/entries/editor.md" in run("recall", "which editor does Ann prefer").stdout
    told = json.loads(run("recall", "how is this built", "--json").stdout)["hits"]
    assert [(hit["scope"], hit["path"]) for hit in told] == [
        (name, "memory/entries/build.md") for name in ("project", "me")
    ]
    assert run("--alone", "recall", "which editor does Ann prefer").exit_code == 1


def test_scores_are_those_of_one_memory_that_has_all_facts(project: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "all") as whole:
        for name, about, text in (
            ("Editor", "which editor Ann prefers", "Helix"),
            ("Build", "how things are built", "with make, mostly"),
            ("Build of it", "how this is built", "make all"),
        ):
            whole.remember(name, about, text)
        project.rename("Build", "Build of it")
        asked = "how is the editor built"
        assert {hit.entry.name: hit.score for hit in project.recall(asked)} == {
            hit.entry.name: hit.score for hit in whole.recall(asked)
        }


def test_of_the_same_fact_in_both_the_projects_comes_first(project: Memory, me: Memory) -> None:
    for memory in (me, project):
        memory.remember("Tabs", "tabs or spaces", "tabs")
    assert found(project, "tabs or spaces")[:2] == [f"{name}:memory/entries/tabs.md" for name in ("project", "me")]


def test_what_also_names_counts_once_it_is_allowed_on_this_machine(home: Path, project: Memory) -> None:
    with team(home, project, is_allowed=False):
        refused = project.recall("who deploys on Fridays")
        assert not refused.hits and "1 memory that nobody here has allowed not searched" in refused.note
        assert str(home) not in refused.note
        allow(project.root)
        assert found(project, "who deploys on Fridays") == ["team:memory/entries/deploy.md"]


def test_it_is_told_where_no_other_memory_may_be_seen(home: Path, me: Memory) -> None:
    with team(home, me, is_allowed=False):
        assert "nobody here has allowed" in me.recall("which editor").note


def test_what_the_persons_memory_names_is_seen_in_projects_too(home: Path, project: Memory, me: Memory) -> None:
    with team(home, me):
        assert list(others(project)) == ["me", "team"]
        assert list(others(me)) == ["team"]  # never the projects in it


def test_a_memory_that_cannot_be_read_is_told_and_hides_no_other(home: Path, project: Memory) -> None:
    with team(home, project):
        pass
    (home / "team").rename(home / "gone")
    recalled = project.recall("which editor")
    assert [hit.scope for hit in recalled] == ["me"]
    assert "the memory called team cannot be read; `crabmem doctor` says why" in recalled.note
    [finding] = [each for each in project.doctor() if each.check == "memories beside"]
    assert f"there is no memory in {home / 'team'}" in finding.message


def test_before_a_turn_the_persons_fact_is_told_with_whose_it_is(project: Memory) -> None:
    assert "(from me:memory/entries/editor.md)" in project.before_turn("which editor does Ann prefer?")


def test_the_prompt_has_the_overviews_of_both_in_one_budget(project: Memory, me: Memory) -> None:
    me.write_overview("Short answers.")
    project.write_overview("Rust code.")
    text = project.prompt()
    assert "Rust code." in text and "(from me:memory/MEMORY.md)\n\nShort answers." in text
    rows = {row.name: row.injected for row in project.context().parts}
    assert rows["me:memory/MEMORY.md"] == len("(from me:memory/MEMORY.md)\n\nShort answers.")
    assert all(row.status == "ok" for row in project.context().parts)
    assert len(project.context(limit=len(text) - 100).text) <= len(text) - 100


def test_dates_and_moments_count_in_each_memory(project: Memory, me: Memory) -> None:
    assert found(project, "built", since="1 day ago") == [
        f"{name}:memory/entries/build.md" for name in ("project", "me")
    ]
    assert project.recall("editor", blame=True)[0].provenance.learned == me.log(name="Editor")[0]  # type: ignore[union-attr]


def test_a_revision_is_the_projects_own_and_the_other_memories_are_as_they_were_when_it_was_made(
    home: Path, clock: Clock
) -> None:
    clock.now = datetime(2030, 1, 1, tzinfo=UTC)
    with (
        opened_with(home / ".crabmem", Actor(), clock) as me,
        opened_with(home / ".crabmem/.projects/code-1", Actor(), clock) as project,
    ):
        me.write_overview("Short answers.")
        clock.now = datetime(2030, 1, 1, 1, tzinfo=UTC)
        project.remember("Build", "how this is built", "make all")
        clock.now = datetime(2030, 1, 1, 2, tzinfo=UTC)
        me.remember("Editor", "which editor Ann prefers", "Vim")
        me.write_overview("Long answers.")
        me.remember("Shell", "which shell Ann prefers", "Fish")
        clock.now = datetime(2030, 1, 1, 3, tzinfo=UTC)
        project.remember("Docs", "where the docs are", "in docs")
        commit = project.log(name="Build")[0].commit
        for at in (commit, commit[:8], "HEAD~1", "2030-01-01 01:30+00:00"):
            [hit] = project.recall("which editor does Ann prefer", as_of=at, blame=True).hits
            assert (hit.scope, hit.entry.content) == ("me", "Helix"), at
            assert get_seen(project, "Editor", at).content == get_seen(project, "me:Editor", at).content == "Helix"
            assert "Short answers." in project.prompt(at)
            assert sorted(found(project, "which shell or editor does Ann prefer", since=at)) == [
                f"me:memory/entries/{name}.md" for name in ("editor", "shell")
            ]
            assert sorted(found(project, "how things are built, with which shell", until=at)) == [
                f"{name}:memory/entries/build.md" for name in ("me", "project")
            ]
            assert [entry.path for entry in seen_beside(project, at)] == [
                f"me:memory/entries/{name}.md" for name in ("build", "editor")
            ]
            assert [entry.path for entry in seen_beside(project, since=at)] == [
                f"me:memory/entries/{name}.md" for name in ("editor", "shell")
            ]
        with pytest.raises(NotFound, match="no revision named"):  # one of another memory's is none here
            project.recall("editor", as_of=me.log(limit=1)[0].commit)


def test_list_has_the_facts_of_other_memories_as_of_a_moment_too(home: Path) -> None:
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    listed = run("list", "--as-of", "HEAD").stdout
    assert "me:memory/entries/editor" in listed and "Build: how this is built" in listed
    assert "me:memory/entries/editor" in run("list", "--since", "1 hour ago").stdout


def test_get_and_list_see_all_and_an_address_names_one(project: Memory) -> None:
    assert get_seen(project, "Editor").path == "me:memory/entries/editor.md"
    assert get_seen(project, "Build").content == "make all"
    assert get_seen(project, "me:build").content == "with make, mostly"
    with pytest.raises(NotFound, match="no fact called nothing"):
        get_seen(project, "me:nothing")
    listed = project.call("list", {"limit": 2}, ["list"])
    assert "Build: how this is built" in listed.text and listed.data["total"] == 3
    rest = project.call("list", {"after": listed.data["next"]}, ["list"])
    assert rest.data["next"] is None and "Editor" in rest.text


def test_the_tool_is_told_the_names_where_there_are_several_and_writes_to_one(project: Memory, me: Memory) -> None:
    [schema] = [tool.input_schema["properties"] for tool in project.tools if tool.name == "remember"]
    assert schema["to"]["enum"] == ["project", "me"]
    assert not [tool for tool in me.tools if "to" in tool.input_schema["properties"]]
    heads = project.timeline.head(), me.timeline.head()
    assert project.call("remember", {**VET, "to": "me"}).text == "remembered: Luna's vet"
    assert project.timeline.head() == heads[0] and me.log(limit=1)[0].agent == "coder"
    assert "`to` is one of project, me" in project.call("remember", {**VET, "to": "you"}).text
    project.call("forget", {"name": "me:Luna's vet"})
    assert me.log(limit=1)[0].subject == "forget: Luna's vet"


def test_what_waits_in_the_other_memory_is_told_as_waiting(project: Memory, me: Memory) -> None:
    (me.root / "crabmem.toml").write_text('[review]\nwait = ["entries"]\n')
    (project.root / "crabmem.toml").write_text('[review]\nwait = ["overview"]\n')
    assert project.call("remember", {**VET, "to": "me"}).text.startswith("Nothing is written yet")
    with pytest.raises(Disabled, match="a person moves facts where"):
        move(project, "Build", "me")


def test_what_waits_in_another_memory_is_told_with_the_command_that_decides_on_it(home: Path, me: Memory) -> None:
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    bot = ("--agent", "bot", "--session", "s1", "--propose")
    way = f"`crabmem --dir {home / '.crabmem'} review --in s1`"
    done = run(*bot, "remember", "Tea", "-d", "which tea", "-c", "Assam.", "--to", "me")
    assert f"me:memory/entries/tea.md: `crabmem --dir {home / '.crabmem'} review`" in done.stderr
    for verb in (["review"], ["review", "list"], ["review", "apply", "--yes"], ["review", "reject", "--yes"]):
        told = run(*verb, "--in", "s1").stderr
        assert f"nothing that waits here fits `--in s1`\n1 proposal waits in {home / '.crabmem'}: {way}\n" in told, verb
        assert "1 proposal" not in run(*verb, "--in", "s2").stderr
    assert f"1 proposal waits in {home / '.crabmem'}: `crabmem --dir" in run("review").stderr
    assert f"to decide    1 proposal waits in {home / '.crabmem'}: `crabmem --dir" in run("status").stdout
    assert "nothing to review" not in typed(*way.strip("`").split()[1:], "--yes").stderr
    asked = '{"name": "Cups", "description": "which cups", "content": "Two.", "to": "me"}'
    assert ": me:memory/entries/cups.md (" in run(*bot, "call", "remember", asked).stdout
    run(*bot, "remember", "Pot", "-d", "which pot", "-c", "Blue.")
    assert "proposal waits in" not in run("review", "list").stderr


def test_a_moved_fact_keeps_its_file_and_undo_takes_both_commits_back(project: Memory, me: Memory) -> None:
    file = project.root / "memory/entries/build.md"
    me.forget("Build")
    file.write_text("---\nname: Build\ndescription: d\nmine: yes  # a comment\n---\n\nmake all\n")
    project.adopt()
    before, data = project.timeline.head(), file.read_bytes()
    done = move(project, "Build", "me")
    assert (me.root / done.path).read_bytes() == data and not file.exists()
    assert me.log(limit=1)[0].subject == "move: Build from project"
    project.undo()
    assert file.read_bytes() == data and not (me.root / done.path).exists()
    project.redo()
    assert (me.root / done.path).read_bytes() == data and not file.exists()
    assert project.timeline.head() != before


def test_a_moved_fact_is_judged_by_the_code_of_its_own_project_alone(home: Path) -> None:
    Path("send.py").write_text("retries = 3\n")
    run("remember", "Retries", "-d", "how often", "-c", "Three.", "--source", "send.py:1")
    [file] = (home / ".crabmem/.projects").glob("*/memory/entries/retries.md")
    data = file.read_bytes()
    run("move", "Retries", "--to", "me")
    assert b"sources_of: code\n" in (home / ".crabmem/memory/entries/retries.md").read_bytes()
    (home / "web").mkdir()
    git(home / "web", "init", "-q")
    assert "source" not in typed("--project", str(home / "web"), "recall", "how often", "--json").stdout
    Path("send.py").write_text("")
    assert "gone" in run("recall", "how often").stdout
    run("move", "me:Retries", "--to", "project")
    assert file.read_bytes() == data


def test_what_a_move_says_is_there_is_there(home: Path, project: Memory, me: Memory) -> None:
    with pytest.raises(NotFound, match="no fact called nosuch"):
        move(project, "nosuch", "project")
    with team(home, me), pytest.raises(InvalidArguments, match="Deploy is in team already"):
        move(project, "Deploy", "team")
    move(project, "Editor", "project")  # as `show Editor` shows it
    assert project.get("Editor").content == "Helix" and not (me.root / "memory/entries/editor.md").exists()
    with pytest.raises(InvalidArguments, match="Editor is in project already"):
        move(project, "project:Editor", "project")


def test_where_nobody_has_begun_a_memory_of_their_own_it_is_said_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git(tmp_path, "init", "-q", "code")
    monkeypatch.chdir(tmp_path / "code")
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    for words in (["move", "Build", "--to", "me"], ["remember", "Tabs", "-d", "d", "-c", "c", "--to", "me"]):
        done = run(*words)
        assert done.exit_code == 1 and "you have no memory of your own yet" in done.stderr
        assert "Build" in run("list").stdout
    assert typed(*command_in(done.stderr)).exit_code == 0
    assert run("move", "Build", "--to", "me").exit_code == 0
    assert "me:memory/entries/build" in run("list").stdout


def test_a_list_of_what_changed_or_was_then_has_what_is_in_other_memories_too(home: Path, me: Memory) -> None:
    run("remember", "Tabs", "-d", "tabs or spaces", "-c", "tabs")
    for words in (["--since", "1 hour ago"], ["--as-of", "HEAD"], ["--long"], ["--sort", "changed"]):
        told = run("list", *words)
        assert "Tabs" in told.stdout and "me:memory/entries/editor" in told.stdout and not told.stderr, words
    assert "me:memory/entries/editor" not in run("list", "--since", "3000-01-01").stdout
    day = me.log(limit=1)[0].time.astimezone().date().isoformat()
    assert run("list", "--long").stdout.count(f"  {day}  ") == 3
    with (me.root / "memory/entries/editor.md").open("a") as file:
        file.write("or Vim\n")
    assert run("list", "--sort", "changed").stdout.startswith("me:memory/entries/editor")
    commit = me.log(limit=1)[0].commit
    done = typed("list", "--as-of", commit)
    assert done.exit_code == 0 and not done.stderr
    with Memory(next((home / ".crabmem/.projects").iterdir())) as own:
        commit = own.log(limit=1)[0].commit
    assert "me:memory/entries/editor" in run("list", "--as-of", commit).stdout


def test_a_fact_of_another_memory_is_confirmed_and_renamed_there_by_its_address(home: Path, me: Memory) -> None:
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    done = run("confirm", "me:Editor", "--until", "3000-01-01")
    assert done.stdout == "confirmed: Editor, in me, until 3000-01-01\n"
    assert me.get("Editor").stale_after == "3000-01-01"
    assert run("rename", "me:Editor", "Vim").stdout.startswith("renamed: Editor to Vim, in me\n")
    assert me.get("Vim").content == "Helix"
    assert run("confirm", "project:Build", "--until", "3000-01-01").stdout.startswith("confirmed: Build, until")
    assert run("confirm", "me:nosuch").exit_code == 1


@pytest.mark.parametrize("words", [["restore", "me:Editor", "--to", "HEAD~1"], ["purge", "me:Editor", "--yes"]])
def test_what_is_not_done_to_a_fact_of_another_memory_names_the_command_that_does_it(
    home: Path, me: Memory, words: list[str]
) -> None:
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    me.remember("Editor", "which editor Ann prefers", "Vim")
    done = run(*words)
    assert done.exit_code == 1 and "me:Editor is in another memory" in done.stderr
    assert me.get("Editor").content == "Vim"
    [command, *rest] = command_in(done.stderr.replace("WHEN", "HEAD~1"))
    assert typed(command, *rest, *words[2:3] * (words[0] == "purge")).exit_code == 0
    assert not any(entry.content == "Vim" for entry in me.entries())


@pytest.mark.parametrize(
    "words",
    [
        ["edit", "me:Editor"],
        ["blame", "me:Editor"],
        ["log", "me:Editor"],
        ["links", "me:Editor"],
        ["diff", "HEAD", "--fact", "me:Editor"],
        ["restore", "me:Editor"],
        ["restore", "me:Editor", "--to", "HEAD"],
        ["purge", "--text", "zanzibar", "--yes"],
        ["review", "list"],
        ["status"],
    ],
    ids=" ".join,
)
def test_the_command_advised_for_another_memory_works_as_typed_whatever_the_environment_names(
    home: Path, me: Memory, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    for name, value in (("CRABMEM_PROJECT", "."), ("EDITOR", "true")):
        monkeypatch.setenv(name, value)
    typed("remember", "Build", "-d", "how this is built", "-c", "make all")
    me.remember("Bay", "where the boat lies", "in zanzibar")
    bot = ("--agent", "bot", "--propose")
    waits = typed(*bot, "remember", "Tea", "-d", "which tea", "-c", "Assam.", "--to", "me").stderr
    done = typed(*words)
    for told in (done.stdout + done.stderr, waits):
        advised = [word.replace("WHEN", "HEAD") for word in command_in(told)]
        is_review = advised[-1] == "review"
        again = typed(*advised, *["list"] * is_review, *words[1:] * (words[0] == "purge" and not is_review))
        assert again.exit_code == 0 and "in another memory" not in again.stderr, again.stderr
        assert not is_review or "memory/entries/tea.md" in again.stdout
    assert (me.get("Bay").content == "in (purged)") == (words[0] == "purge")


@pytest.mark.parametrize("verb", ["show", "blame", "links", "log", "forget"])
def test_a_fact_of_the_memory_at_hand_is_found_by_its_address_too(home: Path, verb: str) -> None:
    run("remember", "Tools", "-d", "what builds this", "-c", "make all")
    assert run(verb, "project:Tools").exit_code == 0
    assert run(verb, "project:nosuch").exit_code == 1


def test_the_log_of_which_restore_wants_a_moment_is_that_of_the_memory_that_was_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_PROJECT", ".")
    asked = typed("--dir", home / ".crabmem", "--project", "", "restore", "Editor")
    [log] = [each for each in asked.stderr.split("`") if each.endswith("log Editor")]
    assert "remember: Editor" in typed(*shlex.split(log)[1:]).stdout


@pytest.mark.parametrize("name", ["CRABMEM_PROJECT", "CRABMEM_WORKSPACE"])
def test_what_begins_a_command_for_a_folder_means_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, str(tmp_path) if name == "CRABMEM_PROJECT" else "bob")
    words = shlex.split(program_at(str(tmp_path / "a memory"), os.environ))[1:]
    assert typed(*words, "status", "--path").stdout == f"{tmp_path / 'a memory'}\n"


def test_an_address_is_the_name_of_no_fact(project: Memory, me: Memory) -> None:
    run("remember", "Build", "-d", "how this is built", "-c", "make all")
    heads = project.timeline.head(), me.timeline.head()
    for to in ([], ["--to", "me"]):
        done = run("remember", "me:Editor", "-d", "which editor", "-c", "Vim", *to)
        assert done.exit_code == 2 and "`crabmem remember NAME --to me` writes there, with Editor as" in done.stderr
    assert "give Build alone" in run("remember", "project:Build", "-d", "d", "-c", "c").stderr
    for words in (
        ["rename", "Build", "me:Y"],
        ["remember", "Build", "-n", "me:Y"],
        ["remember", "Luna sees Dr. Moreno.", "-n", "me:Y"],
    ):
        done = run(*words)
        assert done.exit_code == 2 and "`crabmem move` moves" in done.stderr and "to=" not in done.stderr
    told = project.call("remember", {**VET, "name": "me:Luna's vet"}).text
    assert 'give Luna\'s vet as the name, and to="me"' in told
    assert heads == (project.timeline.head(), me.timeline.head())
    run("remember", "me: I like walks", "-d", "what is read as a text", "-c", "By the sea.")
    assert "By the sea." in run("show", "me: I like walks").stdout
    me.remember("project:Build", "no memory here is called so", "make")


def test_of_a_fact_forgotten_elsewhere_it_is_said_whose_it_was_and_how_it_comes_back(
    project: Memory, me: Memory
) -> None:
    run("remember", "Tabs", "-d", "tabs or spaces", "-c", "tabs")
    done = run("forget", "me:Editor")
    assert done.stdout == "forgot: Editor, in me\n"
    command, _, words = done.stderr.strip().partition("` brings ")
    assert words == "Editor back, in me"
    typed(*shlex.split(command)[1:])
    assert me.get("Editor").content == "Helix"
    assert project.call("forget", {"name": "me:Editor"}).text == "forgot: Editor, in me"
    assert json.loads(run("forget", "me:Build", "--json").stdout)["facts"][0]["scope"] == "me"


def test_undo_of_a_move_changes_neither_side_where_one_cannot_be_taken_back(project: Memory, me: Memory) -> None:
    done = move(project, "me:Editor", "project")
    with pytest.raises(Inapplicable, match="not seen from here"):
        me.undo()
    with pytest.raises(Inapplicable, match="undo` takes that back on both sides"):
        me.revert(me.log(limit=1)[0].commit)
    me.remember("Editor", "another", "Vim")
    heads = project.timeline.head(), me.timeline.head()
    with pytest.raises(Inapplicable, match="was changed since"):
        project.undo()
    assert (project.timeline.head(), me.timeline.head()) == heads
    assert (project.root / done.path).exists()


def test_a_move_is_not_taken_back_where_a_purge_changed_one_side(project: Memory, me: Memory) -> None:
    project.remember("Plan", "what comes", "zanzibar too")
    done = move(project, "Plan", "me")
    project.purge(text="zanzibar")
    with pytest.raises(Inapplicable, match=r"do not say the same any more.* move me:Plan --to project` moves it back"):
        project.undo()
    assert me.read(done.path) and project.read(done.before) is None
    move(project, "me:Plan", "project")
    assert project.get("Plan").content == "zanzibar too"


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize("is_newest", [False, True])
def test_undo_where_the_other_side_is_not_seen_names_the_command_that_takes_it_back(
    home: Path, me: Memory, is_named: bool, is_newest: bool
) -> None:
    run("remember", "Tabs", "-d", "tabs or spaces", "-c", "tabs")
    run("move", "Tabs", "--to", "me")
    if not is_newest:
        run("remember", "Other", "-d", "another", "-c", "later")
    done = typed("undo", *([me.log(limit=1)[0].commit] if is_named else []))
    assert done.exit_code == 1 and ("`crabmem undo ID` takes back an older change" in done.stderr) is not is_named
    assert typed(*command_in(done.stderr)).exit_code == 0
    assert not (me.root / "memory/entries/tabs.md").exists()
    assert json.loads(run("--alone", "show", "Tabs", "--json").stdout)["content"] == "tabs"


def test_undo_of_a_move_says_how_a_fact_comes_back_that_was_changed_since(home: Path, me: Memory) -> None:
    run("remember", "Tabs", "-d", "tabs or spaces", "-c", "tabs")
    run("move", "Tabs", "--to", "me")
    me.rename("Tabs", "Spaces")
    done = run("undo")
    assert "move me:Spaces --to project` moves it back as it is now" in done.stderr
    me.forget("Spaces")
    me.remember("Tabs", "tabs or spaces", "spaces")
    me.forget("Tabs")
    done = run("undo")
    assert "brings it back as it was" in done.stderr and typed(*command_in(done.stderr)).exit_code == 0
    assert json.loads(run("--alone", "show", "Tabs", "--json").stdout)["content"] == "tabs"


def test_a_move_between_two_other_memories_says_how_the_fact_comes_back(home: Path, me: Memory) -> None:
    team(home, me).close()
    run("remember", "Build", "-d", "how to build", "-c", "make")
    me.remember("Tabs", "tabs or spaces", "tabs")
    done = run("move", "me:Tabs", "--to", "team")
    assert "`crabmem undo` is about the memory at hand" in done.stderr
    assert typed(*command_in(done.stderr)).exit_code == 0
    assert me.get("Tabs").content == "tabs" and run("show", "team:Tabs").exit_code == 1


def test_undo_of_a_move_names_a_fact_as_it_is_called_after_several_renames(home: Path, me: Memory) -> None:
    run("remember", "Tabs", "-d", "tabs or spaces", "-c", "tabs")
    run("move", "Tabs", "--to", "me")
    for before, after in pairwise(["Tabs", "Spaces", "Indentation", "Layout"]):
        me.rename(before, after)
    done = run("undo")
    assert "move me:Layout --to project` moves it back as it is now" in done.stderr
    me.rename("Layout", "Tabs")
    me.remember("Tabs", "tabs or spaces", "spaces")
    done = run("undo")
    assert "move me:Tabs --to project` moves it back as it is now" in done.stderr


def test_a_move_to_where_the_name_is_taken_changes_nothing(project: Memory, me: Memory) -> None:
    heads = project.timeline.head(), me.timeline.head()
    with pytest.raises(AlreadyThere):
        move(project, "me:Build", "project")
    with pytest.raises(InvalidArguments, match="in project already"):
        move(project, "Build", "project")
    assert (project.timeline.head(), me.timeline.head()) == heads


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["project", "me", "team"]), max_size=4), st.sampled_from(["main", "group"]))
def test_no_read_says_what_any_of_the_memories_hides(home: Path, hidden: list[str], kind: str) -> None:
    (home / "family.toml").write_text(_PROFILE)
    roots = {"project": home / ".crabmem/.projects/code-1", "me": home / ".crabmem", "team": home / "team"}
    for name, root in roots.items():
        root.mkdir(parents=True, exist_ok=True)
        for old in root.glob("memory/entries/*.md"):
            old.unlink()
        with Memory(root) as memory:
            stem = "Private plan" if name in hidden else "Plan"
            memory.remember(f"{stem} {name}", "the plan with quokkas", f"quokka of {name}")
        text = f'profile = "{home}/family.toml"\n' + (f'also = ["{roots["team"]}"]\n' if name == "project" else "")
        (root / "crabmem.toml").write_text(text)
        allow(root)
    with Memory(roots["project"], kind=kind) as memory:
        told = str(memory.recall("the plan with quokkas", explain=True)) + memory.before_turn("the plan with quokkas?")
        told += memory.call("list", {}, ["list"]).text + memory.prompt()
    for name in roots:
        assert (f"quokka of {name}" in told) is not (kind == "group" and name in hidden)
        assert (f"Private plan {name}" in told) is (kind == "main" and name in hidden)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["to me", "to project", "undo", "redo", "edit", "other"]), max_size=8))
def test_however_a_fact_is_moved_undone_and_edited_it_is_in_just_one_memory(home: Path, steps: list[str]) -> None:
    with tempfile.TemporaryDirectory(dir=home) as folder:
        me, project = (Memory(f"{folder}/{place}", agent="coder") for place in ("", ".projects/code-1"))
        me.remember("Tea", "which tea", "Oolong.")
        project.remember("Thing", "what it is", "A thing.")
        for number, step in enumerate(steps):
            there = next(each for each in (project, me) if _has_thing(each))
            with suppress(Inapplicable, InvalidArguments, NotFound):
                if step.startswith("to "):
                    move(project, "Thing" if there is project else "me:Thing", step.removeprefix("to "))
                elif step == "undo":
                    project.undo()
                elif step == "redo":
                    project.redo()
                elif step == "edit":
                    there.remember("Thing", "what it is", f"A thing, {number}.")
                else:
                    project.remember("Other", "another", str(number))
            if project.log(limit=1)[0].subject == "undo: remember Thing":
                break
            assert _has_thing(me) != _has_thing(project), steps
        me.close()
        project.close()


def _has_thing(memory: Memory) -> bool:
    return (memory.root / "memory/entries/thing.md").exists()


def test_a_move_that_was_cut_short_and_typed_again_is_undone_whole(project: Memory, me: Memory) -> None:
    project.remember("Plan", "what comes", "A plan.")
    write = Session.write

    def cut(session: Session, *given: Any, **named: Any) -> Any:
        if session.root == project.root:
            raise KeyboardInterrupt
        return write(session, *given, **named)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Session, "write", cut)
        move(project, "Plan", "me")
    assert me.get("Plan") and project.get("Plan")
    done = move(project, "Plan", "me")
    project.undo()
    assert project.get("Plan").content == "A plan." and me.read(done.path) is None


def test_of_two_that_move_a_fact_at_once_neither_takes_it_from_the_other(project: Memory, me: Memory) -> None:
    me.forget("Build")
    write = Session.write

    def overtaken(session: Session, *given: Any, **named: Any) -> Any:
        if session.root == project.root:  # the other is done between both writes of this one
            with pytest.MonkeyPatch.context() as back, Memory(project.root) as other:
                back.setattr(Session, "write", write)
                move(other, "Build", "me")
        return write(session, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "write", overtaken)
        with pytest.raises(Stale):
            move(project, "Build", "me")
    assert me.get("Build").content == "make all"
    assert not (project.root / "memory/entries/build.md").exists()


def test_what_a_memory_beside_has_wait_is_told_though_nothing_waits_here(project: Memory, me: Memory) -> None:
    (me.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    assert project.call("remember", {**VET, "to": "me"}).text.startswith("Nothing is written yet")
    assert project.call("forget", {"name": "me:Editor"}).text.startswith("Nothing is written yet")


def test_a_purge_says_which_other_memories_have_it_too_and_how_it_goes_there(home: Path, me: Memory) -> None:
    me.remember("Bay", "where the boat lies", "in zanzibar")
    with team(home, me) as others_too:
        others_too.remember("Harbour", "where we sail to", "to zanzibar, by night")
    way = f"`crabmem --dir {home / 'team'} purge`, with the same words, erases it there"
    told = f"{home / 'team'} has it too, in 1 file: {way}"
    asked = ("purge", "--text", "zanzibar")
    assert f"stays:   {told}" in typed(*asked, "--dry-run").stdout
    done = typed(*asked, "--yes")
    assert done.exit_code == 0 and "it stands nowhere in this memory" in done.stdout and told in done.stdout
    looked = typed(*asked, "--verify", "--all")
    assert looked.exit_code == 0 and "it stands nowhere in this memory" in looked.stdout and told in looked.stdout
    assert json.loads(typed(*asked, "--verify", "--json").stdout)["beside"] == {str(home / "team"): 1}
    again = typed(*asked, "--yes")
    assert again.exit_code == 1 and f"it stands in {home / 'team'}: {way}" in again.stderr
    assert typed("--dir", str(home / "team"), *asked, "--yes").exit_code == 0
    assert "team" not in typed(*asked, "--verify").stdout


def test_a_purge_in_all_workspaces_names_no_memory_that_it_purges_itself(project: Memory, me: Memory) -> None:
    me.remember("Bay", "where the boat lies", "in zanzibar")
    project.remember("Harbour", "where we sail to", "to zanzibar, by night")
    assert purge.standing(project, text="zanzibar").beside == {str(me.root): 1}
    done = typed("purge", "--text", "zanzibar", "--all", "--yes")
    assert done.exit_code == 0 and "has it too" not in done.stdout


def test_a_purge_says_which_memory_beside_it_could_not_be_looked_into(home: Path, project: Memory) -> None:
    with team(home, project):
        pass
    (home / "team").rename(home / "gone")
    told = typed("--dir", str(project.root), "purge", "--text", "make all", "--yes").stdout
    assert "it stands in none of them, but not all was looked into" in told
    assert f"not looked into: a memory that is seen here: there is no memory in {home / 'team'}" in told
