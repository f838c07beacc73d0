"""A family of agents with tools of its own is a folder below `crabmem/profiles` and one below `prompts`, and no line
anywhere else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crabmem import InvalidSettings, Memory
from crabmem.prompt.profile import profile_names
from tests.conftest import FIXTURES, PACKAGE, assert_clean

PROFILE = """
about = "beekeepers: a board, and a tool that counts hives"
tools = ["bees", "files.memory"]

[layout]
identity = "KEEPER.md"
overview = "BOARD.md"

[kinds.group]
tools = ["bees.hives"]
hides = ["BOARD.md"]

[[part]]
template = "bees/keeping"

[[part]]
file = "{overview}"
"""
TOOLS = '''
"""The tool of beekeepers: how many hives there are."""

from typing import Annotated, TypedDict

from ...operations.files import overview
from ...session.session import Session
from ...tools.result import Result
from ...tools.tool import Hints, ToolFunction


class HivesData(TypedDict):
    """How many hives there are."""

    hives: int


def hives(memory: Session) -> Annotated[Result, HivesData]:
    """Count the hives on the board."""
    count = overview(memory).text.count("- hive")
    return Result(f"{count} hives", {"hives": count})


TOOLS = (ToolFunction(hives, "Count the hives", Hints(read_only=True, destructive=False)),)
'''
#: All that a family is: what crabmem has of it, and what a test has, a workspace as its agents leave it.
FAMILY = {
    "crabmem/profiles/bees/profile.toml": PROFILE,
    "crabmem/profiles/bees/tools.py": TOOLS,
    "crabmem/prompts/bees/keeping.md": "You keep bees. Your tools: {tools}.\n",
    "fixtures/bees/BOARD.md": "# Board\n\n- hive one\n- hive two\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """crabmem as it is installed, and these files, which are new to it."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, site / "crabmem", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE.parent / "prompts", site / "crabmem/prompts")
    for path, text in FAMILY.items():
        file = site / path
        assert not file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return site


@pytest.fixture
def root(site: Path, tmp_path: Path) -> Path:
    """A workspace of the family."""
    root = Path(shutil.copytree(site / "fixtures/bees", tmp_path / "bees"))
    run(site, root, "init", "--profile", "bees")
    return root


def run(site: Path, root: Path, *words: str) -> str:
    """What the crabmem of `site` prints."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "crabmem", "--dir", str(root), *words]
    done = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_a_family_is_found_by_its_folder(site: Path, root: Path) -> None:
    assert sorted(json.loads(run(site, root, "profile", "list", "--json"))) == sorted([*profile_names(), "bees"])
    assert run(site, root, "profile", "check", "bees").startswith("bees is right: 2 parts, tools bees, files.memory")
    assert run(site, root, "profile", "show", "bees") == PROFILE


def test_its_prompt_tools_and_kinds_of_sessions_work(site: Path, root: Path) -> None:
    assert (
        run(site, root, "prompt")
        == "You keep bees. Your tools: `memory`, `hives`.\n\n# Board\n\n- hive one\n- hive two\n"
    )
    assert [tool["name"] for tool in json.loads(run(site, root, "tools", "--json"))["tools"]] == ["memory", "hives"]
    assert run(site, root, "call", "hives", "{}") == "2 hives\n"
    assert run(site, root, "--kind", "group", "call", "hives", "{}") == "0 hives\n"
    assert run(site, root, "call", "memory", '{"content": "- hive one"}').startswith("BOARD.md updated")
    assert run(site, root, "call", "hives") == "1 hives\n"
    assert_clean(root)


def test_a_file_of_somebodys_has_the_tools_of_a_family_by_its_name(site: Path, root: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(run(site, root, "profile", "show", "bees"))
    assert "tools bees" in run(site, root, "--profile", str(mine), "profile", "check")
    assert run(site, root, "--profile", str(mine), "call", "hives", "{}") == "2 hives\n"


@pytest.mark.parametrize(
    "name",
    [
        "mine",
        "tools",
        "os",
        "crabmem.profiles.camel.tools",
        "../mine/tools",
        "./tools",
        "camel/tools",
        "__init__",
        "toolbox",
    ],
)
def test_a_file_of_somebodys_names_no_python_to_load(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what lies beside it, nor what could be imported."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "tools.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')\nTOOLS = ()\n")
    (folder / "profile.toml").write_text(f'about = "x"\npart = [{{ words = "x" }}]\ntools = ["{name}"]\n')
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(tmp_path)
    with Memory(tmp_path / "notes", profile=str(folder / "profile.toml")) as memory:
        with pytest.raises(InvalidSettings, match=r"there is no set of tools called .*; there are entries, files, "):
            assert not memory.tools
        assert memory.call("recall", {"query": "x"}).is_error
    assert not (tmp_path / "loaded").exists()


def test_every_family_with_files_of_its_own_has_a_sample_workspace() -> None:
    assert {name for name in profile_names() if name != "crab"} <= {folder.name for folder in FIXTURES.iterdir()}
