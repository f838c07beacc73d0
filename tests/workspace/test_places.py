"""Which memory a command is about: told where there is none yet, and chosen before or after the verb."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.operations import agents
from tests.conftest import git, typed

Run = Callable[..., Result]
FACT = ("remember", "Vet", "-d", "who looks after the dog", "-c", "Dr. Moreno.")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CRABMEM_DIR", "CRABMEM_WORKSPACE", "CRABMEM_AGENT", "CRABMEM_SESSION", "CRABMEM_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with one fact, in which the agent coder has one of its own."""
    with Memory(tmp_path / "notes", agent="ada") as memory:
        memory.remember("Wifi", "the password for guests", "On the router.")
        agents.new_agent(memory, "coder")
    return tmp_path / "notes"


def run(*words: str) -> Result:
    return typed(*words)


@pytest.mark.parametrize(
    "words", [["list"], ["log"], ["list", "--tags"], ["doctor"], ["recall", "tea"], ["overview", "show"]]
)
def test_a_verb_that_reads_says_that_there_is_no_memory_in_the_folder(words: list[str], tmp_path: Path) -> None:
    done = run("--dir", str(tmp_path / "notse"), *words)
    assert done.exit_code == (words[0] == "recall") and done.stderr.endswith(
        f"there is no memory in {tmp_path / 'notse'} yet\n"
    )
    assert not (tmp_path / "notse").exists()


@pytest.mark.parametrize("words", [["show", "Vet"], ["forget", "Vet"], ["log", "Vet"]])
def test_what_is_not_found_where_there_is_no_memory_is_one_line_that_says_so(words: list[str], home: Path) -> None:
    done = run("--dir", str(home / "notse"), *words)
    assert done.exit_code == 1 and done.stderr == f"crabmem: there is no memory in {home / 'notse'} yet\n"


def test_a_memory_that_a_verb_began_is_told_with_its_folder_and_only_then(home: Path) -> None:
    began = f"began a new memory in {home / 'notse'}\n"
    assert run("--dir", str(home / "notse"), *FACT).stderr == began
    assert run("--dir", str(home / "notse"), *FACT).stderr == ""


def test_a_history_that_begins_anew_beside_files_is_told(notes: Path) -> None:
    shutil.rmtree(notes / ".git")
    assert run("--dir", str(notes), "list").stderr == ""
    told = f"began a new history: there was none in {notes / '.git'}\n"
    assert run("--dir", str(notes), *FACT).stderr == told
    assert run("--dir", str(notes), *FACT).stderr == ""


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="only Linux has such a folder")
def test_a_folder_in_which_no_file_can_be_made_is_not_to_be_tried_again_only() -> None:
    done = run("--dir", "/proc", *FACT)
    assert done.exit_code == 1 and done.stderr.endswith("try again, or name another folder\n")


def test_the_usual_folder_is_begun_without_a_word_for_nobody_mistypes_it(home: Path) -> None:
    assert run("list").stderr == f"there is no memory in {home / '.crabmem'} yet\n"
    assert run(*FACT).stderr == ""


def test_a_new_agent_is_told_with_the_one_whose_name_is_near(notes: Path) -> None:
    hint = "; did you mean --workspace coder?\n"
    chosen = ("--dir", str(notes), "--workspace", "codr")
    assert run(*chosen, "list").stderr == f"there is no memory in {notes / 'agents' / 'codr'} yet{hint}"
    assert run(*chosen, *FACT).stderr == f"began a new memory in {notes / 'agents' / 'codr'}{hint}"
    far = run("--dir", str(notes), "--workspace", "zoe", "list").stderr
    assert far == f"there is no memory in {notes / 'agents' / 'zoe'} yet\n"


def test_files_without_a_history_are_a_memory(home: Path) -> None:
    (home / "plain" / "memory").mkdir(parents=True)
    (home / "plain" / "memory" / "tea.md").write_text("Green, at four.")
    assert run("--dir", str(home / "plain"), "list").stderr == ""


def test_a_project_with_a_history_of_its_own_is_no_memory(home: Path) -> None:
    (home / "project" / ".git").mkdir(parents=True)
    assert "there is no memory in" in run("--dir", str(home / "project"), "list").stderr


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_no_memory_begins_in_a_folder_of_a_project_unasked(home: Path, mark: str) -> None:
    project, below = home / "project", home / "project" / "some" / "docs"
    below.mkdir(parents=True)
    if mark == "folder":
        git(project, "init", "--quiet")
    else:
        (project / ".git").write_text("gitdir: /elsewhere\n")  # as in a worktree
    done = run("--dir", str(below), *FACT)
    assert done.exit_code == 1 and f"{below} lies in a project's repository, {project}" in done.stderr
    assert list(below.iterdir()) == []
    assert f"`crabmem --project {project}`" in done.stderr and f"`crabmem --dir {below} init`" in done.stderr
    assert run("--dir", str(below), "init").exit_code == 0
    assert run("--dir", str(below), *FACT).exit_code == 0


def test_a_home_folder_that_is_a_repository_is_no_project(home: Path) -> None:
    git(home, "init", "--quiet")
    assert run(*FACT).exit_code == 0
    assert run("--workspace", "coder", *FACT).exit_code == 0
    assert run("--dir", str(home / "notes"), "--workspace", "ada", *FACT).exit_code == 0


@pytest.mark.parametrize("words", [["call", "recall", '{"query": "x"}'], ["init"], ["status", "--path"], ["tools"]])
def test_agents_and_verbs_that_say_the_folder_anyway_are_told_nothing(words: list[str], home: Path) -> None:
    assert "memory in" not in run("--dir", str(home / "new"), *words).stderr


# Global options after the verb


@pytest.mark.parametrize(
    "words",
    [["recall", "wifi"], ["show", "wifi"], ["list"], ["log"], ["overview", "show"], ["agents"], ["agents", "list"]],
)
def test_global_options_may_stand_after_the_verb(notes: Path, words: list[str]) -> None:
    before, after = run("--dir", str(notes), *words), run(*words, "--dir", str(notes))
    assert (after.exit_code, after.output) == (0, before.output)
    assert run("--dir", "/nowhere", *words, "--dir", str(notes)).output == before.output


def test_who_writes_and_where_may_be_said_after_the_verb(notes: Path) -> None:
    assert run(*FACT, "--dir", str(notes), "--workspace", "coder", "--agent", "ada", "--session", "s-9").exit_code == 0
    with Memory(notes / "agents" / "coder") as memory:
        newest = memory.log(limit=1)[0]
        assert (newest.agent, newest.session) == ("ada", "s-9")
    assert run("path", "--dir", str(notes), "--workspace", "coder").stdout == f"{notes}/agents/coder\n"


def test_an_option_that_a_verb_has_itself_keeps_its_meaning(notes: Path) -> None:
    run("--dir", str(notes), *FACT)
    written = [run("log", "--dir", str(notes), *by).stdout for by in (["--agent", "ada"], ["--by", "ada"], [])]
    assert written[0] == written[1] and 0 < written[0].count("\n") < written[2].count("\n")


def test_every_verb_takes_the_global_options() -> None:
    def check(group: click.Group, ctx: click.Context) -> None:
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            assert command is not None
            given = [option for param in command.params for option in param.opts]
            for option in ("--dir", "--workspace", "--agent", "--session", "--profile", "--kind"):
                assert given.count(option) == 1, (name, option)
            if isinstance(command, click.Group):
                check(command, ctx)

    check(cli, click.Context(cli))
