"""Memory in a project's repository: asked for, on one branch, and nothing of the project's is ever recorded by it."""

from pathlib import Path

import pytest
from click.testing import Result

from crabmem import Inapplicable, Memory, Unwritable
from crabmem.operations import adoption, agents, setup
from crabmem.operations.doctor import machine
from crabmem.operations.status import status
from tests.conftest import git, typed

OURS = {"Crab.md", "crabmem.toml", "memory/entries/luna.md", "memory/entries/tea.md"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project on a feature branch, with changes that are dirty, staged and untracked."""
    git(tmp_path, "init", "-q", "-b", "main")
    for key, value in (("user.name", "Ann"), ("user.email", "ann@home")):
        git(tmp_path, "config", key, value)
    for path in ("README.md", "CLAUDE.md", "src/a.py", "agents/planner.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("committed\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "project")
    git(tmp_path, "checkout", "-qb", "feature")
    for path in ("README.md", "CLAUDE.md", "TODO.md", "src/b.py"):
        (tmp_path / path).write_text("half-written thought\n")
    git(tmp_path, "add", "CLAUDE.md", "src/b.py")
    return tmp_path


def committed(root: Path) -> set[str]:
    """Every path of a commit since the project's own."""
    return set(git(root, "log", "--format=", "--name-only", "main..HEAD").split())


def of_the_person(root: Path) -> str:
    return git(root, "status", "--porcelain", "-uall")


def test_memory_in_a_project_commits_nothing_of_the_persons(project: Path) -> None:
    before = of_the_person(project)
    with Memory(project, agent="coder") as memory:
        memory.init(claim=True)
        assert committed(project) == {"Crab.md", "crabmem.toml"}
        memory.remember("Luna", "dog", "Thursday")
        (project / "NOTES.md").write_text("an idea\n")
        (project / "README.md").write_text("half-written, and on\n")
        adoption.adopt(memory)
    with Memory(project, agent="coder") as memory:
        memory.remember("Tea", "how Ann takes it", "black")
        assert not status(memory).edits and {entry.name for entry in memory.entries()} == {"Luna", "Tea"}
    assert committed(project) == OURS
    assert sorted(of_the_person(project).splitlines()) == sorted([*before.splitlines(), "?? NOTES.md"])


def test_a_dry_run_refuses_what_the_run_would_refuse(project: Path) -> None:
    (project / "memory").mkdir()
    (project / "memory/pool.py").write_text("code\n")
    before = of_the_person(project)
    refused = [typed("--dir", project, "init", how) for how in ("--dry-run", "--yes")]
    assert refused[0].stderr == refused[1].stderr and "has files of the project" in refused[0].stderr
    assert [done.exit_code for done in refused] == [1, 1] and of_the_person(project) == before


def test_the_beginning_of_a_memory_in_a_project_is_not_undone(project: Path) -> None:
    with Memory(project, is_person=True) as memory:
        memory.init(claim=True)
        memory.remember("Luna", "dog", "Thursday")
        memory.undo()
        with pytest.raises(Inapplicable, match="nothing to undo"):
            memory.undo()
        memory.redo()
        assert memory.get("Luna") and committed(project) == {*OURS} - {"memory/entries/tea.md"}


def test_git_shows_new_files_of_a_project_that_has_memory(project: Path) -> None:
    with Memory(project) as memory:
        memory.init(claim=True)
        memory.remember("Luna", "dog", "Thursday")
    new = [".env", ".github/ci.yml", "agents/new.py", "notes.tmp", "src/.hidden", "src/old~"]
    for path in (*new, "memory/.obsidian/app", "memory/entries/.luna.md.swp", "memory/entries/luna.md~"):
        (project / path).parent.mkdir(exist_ok=True)
        (project / path).write_text("")
    shown = git(project, "ls-files", "--others", "--exclude-standard").split()
    assert shown == sorted([*new, "TODO.md"])
    with Memory(project / "agents/scout") as scout:
        scout.remember("Luna", "dog", "Thursday")
    assert git(project, "ls-files", "--others", "--exclude-standard").split() == shown


def test_init_in_a_project_asks_and_names_what_it_would_do_to_which_branch(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(*words: str, answer: str = "") -> Result:
        monkeypatch.setattr("crabmem.cli.verbs.init.can_ask", lambda: bool(answer))
        return typed("--dir", project, "init", *words, stdin=answer)

    before = git(project, "log", "--all", "--format=%H"), of_the_person(project), files(project)
    refused = init()
    assert refused.exit_code == 1 and "--yes" in refused.stderr
    assert refused.stderr.index("--project") < refused.stderr.index("Crab.md") < refused.stderr.index("branch feature")
    declined = init(answer="n\n")
    assert declined.exit_code == 1 and "--project" in declined.stderr and "branch feature" in declined.stderr
    would = init("--dry-run")
    assert would.exit_code == 0 and "would write Crab.md, crabmem.toml" in would.stderr
    assert (git(project, "log", "--all", "--format=%H"), of_the_person(project), files(project)) == before
    made = init(answer="y\n")
    assert made.exit_code == 0 and "branch feature" in made.stdout
    assert init().stdout.startswith("already there")


def files(root: Path) -> dict[str, bytes]:
    skipped = {".git/index"}
    found = (file for file in root.rglob("*") if file.is_file())
    return {path: file.read_bytes() for file in found if (path := file.relative_to(root).as_posix()) not in skipped}


def test_a_write_in_a_project_names_a_memory_beside_it_first(project: Path) -> None:
    with Memory(project) as memory, pytest.raises(Unwritable, match="project's repository") as refused:
        memory.remember("Luna", "dog", "Thursday")
    assert 0 < str(refused.value).index("--project") < str(refused.value).index(" init`")


def test_memory_that_was_begun_on_one_branch_is_not_written_to_another(project: Path) -> None:
    with Memory(project, agent="coder") as memory:
        memory.init(claim=True)
    git(project, "stash", "-qu")
    git(project, "checkout", "-q", "main")
    (project / "README.md").write_text("half-written\n")
    with Memory(project, agent="coder") as memory, pytest.raises(Unwritable, match="project's repository"):
        memory.remember("Luna", "dog", "Thursday")
    assert git(project, "log", "--format=%s", "main") == "project\n"
    with Memory(project, agent="coder") as memory:
        memory.init(claim=True)
        memory.remember("Luna", "dog", "Thursday")
    assert of_the_person(project) == " M README.md\n"


def test_a_clone_of_a_project_with_memory_keeps_to_it(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with Memory(project) as memory:
        memory.init(claim=True)
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", str(project), ".")
    (clone / "README.md").write_text("an idea\n")
    with Memory(clone) as memory:
        memory.remember("Luna", "dog", "Thursday")
    (clone / ".env").write_text("")
    assert of_the_person(clone) == " M README.md\n?? .env\n"


@pytest.mark.parametrize("file", ["alloc.c", "README.md", "entries/alloc.c"])
def test_files_of_a_project_where_memory_would_lie_stay_out_of_it(project: Path, file: str) -> None:
    (project / "memory" / file).parent.mkdir(parents=True)
    (project / "memory" / file).write_text("int x;\n")
    git(project, "add", "memory")
    git(project, "commit", "-qm", "an allocator")
    with Memory(project) as memory:
        with pytest.raises(Unwritable, match="project's repository"):
            memory.remember("Luna", "dog", "Thursday")
        with pytest.raises(Unwritable, match="has files of the project"):
            memory.init(claim=True)
    assert not (project / ".git/crabmem").exists() and not (project / "Crab.md").exists()


def test_an_agents_folder_of_the_project_becomes_no_memory(project: Path) -> None:
    (project / "agents/coder").mkdir()
    (project / "agents/coder/prompt.md").write_text("Be brief.\n")
    with Memory(project) as memory:
        memory.init(claim=True)
        assert agents.agents(memory) == []
        with pytest.raises(Unwritable, match="has files of the project"):
            agents.new_agent(memory, "coder")
        agents.new_agent(memory, "scribe")
    with Memory(project / "agents/coder") as coder, pytest.raises(Unwritable, match="has files of the project"):
        coder.init(dry_run=True)
        assert [each.name for each in agents.agents(memory)] == ["scribe"]
    assert not (project / "agents/coder/.git").exists()
    assert "?? agents/coder/prompt.md" in of_the_person(project)


def test_a_repository_without_commits_is_a_projects_once_it_has_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Memory(tmp_path) as memory:
        assert setup.branch_of_project(memory) == ""
    (tmp_path / "README.md").write_text("# A project\n")
    with Memory(tmp_path) as memory, pytest.raises(Unwritable, match="project's repository"):
        memory.remember("Luna", "dog", "Thursday")


def test_a_family_does_not_take_a_projects_pages_for_its_own(project: Path) -> None:
    with Memory(project, profile="claw") as memory, pytest.raises(Unwritable, match="adopt"):
        setup.use_profile(memory, claim=True)
    assert not (project / ".git/crabmem").exists()


def test_adopting_a_project_hides_no_file_of_it_from_git(project: Path) -> None:
    refused = typed("adopt", project)
    assert refused.exit_code == 1 and "--project" in refused.stderr
    assert typed("adopt", project, "--yes-really").exit_code == 0
    (project / ".env").write_text("")
    assert ".env" in of_the_person(project)


def test_a_projects_folder_keeps_its_permissions(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "open_to_others", lambda root: True)  # that of tests has a folder above that is not
    project.chmod(0o755)
    for words in (["doctor"], ["init", "--yes"], ["doctor", "--fix"]):
        assert "chmod" not in typed("--dir", project, *words).stdout
    assert project.stat().st_mode & 0o777 == 0o755
