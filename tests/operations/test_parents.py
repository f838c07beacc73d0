"""What an agent's own workspace shows of its parent's: one around it or, where a person adopted both, one beside it."""

import os
import shutil
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.session import rules
from tests.conftest import git
from tests.conftest import typed as run

_SOUL = "# Soul\n\nDry wit.\n"


def put(root: Path, **files: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / f"{name}.md").write_text(text)
    return root


@pytest.fixture
def herd(tmp_path: Path) -> Path:
    """CamelAGI's folder: the agents lie beside the workspace."""
    put(tmp_path / "workspace", AGENTS="Be kind.\n", SOUL=_SOUL, USER="Ann, in Porto.\n", TOOLS="ssh.\n")
    put(tmp_path / "agents/scribe", SOUL="Scribe.\n", MEMORY="Ledgers.\n", USER="Somebody else.\n")
    put(tmp_path / "elsewhere", AGENTS="Secret plans.\n", TOOLS="Secret tools.\n")
    return tmp_path


def files(root: Path) -> dict[str, bytes]:
    found = (file for file in root.rglob("*.md") if ".git" not in file.parts)
    return {str(file.relative_to(root)): file.read_bytes() for file in found}


def test_an_agent_shows_files_of_a_parent_to_which_crabmem_has_not_written(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/MEMORY.md").write_text("Three hives.\n")
    scribe = ("--dir", str(tmp_path), "--workspace", "scribe")
    assert run(*scribe, "overview", "show").stdout == "Three hives.\n"
    assert run(*scribe, "remember", "Luna", "-d", "the dog", "-c", "A lagotto.").exit_code == 0
    assert "Three hives." in run(*scribe, "prompt").stdout
    assert not (tmp_path / ".git").exists()
    with Memory(tmp_path / "agents/scribe", is_parent_named=True) as agent:
        assert agent.overview().text == "Three hives.\n"
    with Memory(tmp_path / "agents/scribe") as agent:  # which may be a stranger's, as the folder around it
        assert agent.overview().text == ""


def test_a_project_around_an_agents_folder_is_no_parent(tmp_path: Path) -> None:
    git(put(tmp_path, AGENTS="Of the project.\n", Crab="Of the project.\n"), "init", "-q")
    with Memory(tmp_path / "agents/scribe", profile="camel", is_parent_named=True) as agent:
        assert "Of the project." not in agent.prompt()


def test_an_adopted_agent_beside_an_adopted_workspace_has_from_it_what_it_lacks(herd: Path) -> None:
    before = files(herd)
    assert run("adopt", str(herd / "workspace"), "--profile", "camel").exit_code == 0
    done = run("adopt", str(herd / "agents/scribe"), "--profile", "camel")
    assert f"what this agent lacks it has from {herd}/workspace" in done.stderr
    assert files(herd) == before
    text = run("--dir", str(herd / "agents/scribe"), "prompt").stdout
    assert all(each in text for each in ("Be kind.", "ssh.", "Scribe.", "Ledgers.", "Ann, in Porto."))
    assert "Dry wit." not in text and "Somebody else." not in text
    run("--dir", str(herd / "agents/scribe"), "config", "disallow")
    assert "Be kind." not in run("--dir", str(herd / "agents/scribe"), "prompt").stdout


def test_adopting_an_agent_before_its_workspace_says_what_to_do(herd: Path) -> None:
    said = run("adopt", str(herd / "agents/scribe"), "--profile", "camel").stderr
    assert f"which is no memory yet: `crabmem adopt {herd}/workspace --profile camel`, and then this again" in said
    assert "Be kind." not in run("--dir", str(herd / "agents/scribe"), "prompt").stdout


@pytest.mark.parametrize("link", ["workspace", "."])
def test_a_tree_whose_workspace_is_a_link_lends_its_agent_nothing(herd: Path, tmp_path: Path, link: str) -> None:
    run("adopt", str(herd / "workspace"), "--profile", "camel")
    stranger = herd / "stranger"
    put(stranger / "agents/x", SOUL="I tell all I know.\n")
    (stranger / "workspace").symlink_to("../workspace")
    if link == ".":  # the whole tree is reached by a link, which is the person's own way there
        (herd / "way").symlink_to(stranger)
        stranger = herd / "way"
    said = run("adopt", str(stranger / "agents/x"), "--profile", "camel").stderr
    assert "symbolic link, so this agent has nothing from it" in said
    assert "Be kind." not in run("--dir", str(stranger / "agents/x"), "prompt").stdout


def test_no_file_of_an_agent_names_a_parent(herd: Path) -> None:
    for name in ("workspace", "elsewhere"):
        run("adopt", str(herd / name), "--profile", "camel")
    agent = herd / "agents/scribe"
    run("adopt", str(agent), "--profile", "camel")
    (agent / "crabmem.toml").write_text('profile = "own.toml"\n')
    own = run("profile", "show", "camel").stdout.replace("../../workspace", "../../elsewhere")
    (agent / "own.toml").write_text(own)
    assert "elsewhere" in own
    text = run("--dir", str(agent), "prompt").stdout
    assert "Be kind." in text and "Secret" not in text
    (agent / "crabmem.toml").write_text('profile = "camel"\nparent = "../../elsewhere"\n')
    with Memory(agent) as memory:
        assert "parent" in rules.settings_problem(memory) and "Secret" not in memory.prompt()


def test_a_copy_of_an_agents_folder_has_no_parent_beside_it(herd: Path, tmp_path: Path) -> None:
    run("adopt", str(herd / "workspace"), "--profile", "camel")
    run("adopt", str(herd / "agents/scribe"), "--profile", "camel")
    shutil.copytree(herd / "agents/scribe", tmp_path / "stranger/agents/scribe")
    os.symlink(herd / "workspace", tmp_path / "stranger/workspace")
    assert "Be kind." not in run("--dir", str(tmp_path / "stranger/agents/scribe"), "prompt").stdout
