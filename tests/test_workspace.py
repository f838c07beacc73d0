"""Where things are: which folder is meant, and which paths are memory."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.errors import CrabmemError, InvalidArguments
from crabmem.workspace import Workspace, agent_folder, entry_path, is_entry, is_kept, root_of

HOME = Path("/home/emi")


@pytest.mark.parametrize(
    ("folder", "agent", "environment", "root"),
    [
        (None, None, {}, "/home/emi/.crabmem"),
        (None, None, {"CRABMEM_DIR": "/env"}, "/env"),
        ("/given", None, {"CRABMEM_DIR": "/env"}, "/given"),
        ("", "", {"CRABMEM_DIR": "", "CRABMEM_WORKSPACE": ""}, "/home/emi/.crabmem"),
        (None, "bob", {}, "/home/emi/.crabmem/agents/bob"),
        (None, None, {"CRABMEM_WORKSPACE": "bob"}, "/home/emi/.crabmem/agents/bob"),
        ("/given", "bob", {"CRABMEM_DIR": "/env", "CRABMEM_WORKSPACE": "eve"}, "/given/agents/bob"),
        ("/given", "../../etc", {}, "/given/agents/etc"),
        ("/given", "Bob the Builder", {}, "/given/agents/bob-the-builder"),
    ],
)
def test_the_nearest_wish_decides_which_folder_is_meant(
    folder: str | None, agent: str | None, environment: dict[str, str], root: str
) -> None:
    assert root_of(folder, agent, environment, HOME) == Path(root)


def test_a_tilde_is_the_home_folder() -> None:
    assert root_of(None, None, {"CRABMEM_DIR": "~/notes"}, Path.home()) == Path.home() / "notes"


def test_the_home_folder_of_nobody_is_an_error_for_the_caller() -> None:
    with pytest.raises(CrabmemError, match="nobody-of-that-name"):
        root_of("~nobody-of-that-name/notes", None, {}, HOME)


@given(st.text(st.characters()).filter(lambda name: bool(name.strip())))
@settings(max_examples=200, deadline=None)
def test_any_name_of_an_agent_is_one_folder_of_its_own(name: str) -> None:
    folder = agent_folder(name)

    assert folder and not set(folder) & set("/\\:\0") and not folder.startswith(".")


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_agent_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArguments, match="agent's name is empty"):
        agent_folder(name)


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("Crab.md", True),
        ("USER.md", True),
        ("crabmem.toml", True),
        ("memory/MEMORY.md", True),
        ("memory/2026-01-02.md", True),
        ("memory/entries/luna.md", True),
        ("memory/entries/日本語.md", True),
        ("memory/projects/2026/plan.md", True),
        ("", False),
        ("README", False),
        ("notes.toml", False),
        ("memory/crabmem.toml", False),
        ("memory/notes.txt", False),
        ("memory/entries/left-over.tmp", False),
        ("memory/entries/.luna.md.swp", False),
        ("memory/entries/.luna.md", False),
        ("memory/.obsidian/x.md", False),
        (".md", False),
        (".git/x.md", False),
        (".git/crabmem/journal.md", False),
        ("memory/.git/x.md", False),
        ("memory/../x.md", False),
        ("../x.md", False),
        ("./x.md", False),
        ("/etc/x.md", False),
        ("memory//x.md", False),
        ("memory/x.md/", False),
        ("docs/x.md", False),
        ("Memory/x.md", False),
        ("agents/bob/memory/MEMORY.md", False),
        ("agents/bob.md", False),
    ],
)
def test_only_markdown_of_ours_and_the_settings_are_kept(path: str, kept: bool) -> None:
    assert is_kept(path) is kept


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("memory/entries/luna.md", True),
        (entry_path("c-plus-plus"), True),
        ("memory/MEMORY.md", False),
        ("memory/entries", False),
        ("memory/entries/pets/luna.md", False),
        ("memory/entries-old/luna.md", False),
        ("agents/bob/memory/entries/luna.md", False),
        ("Crab.md", False),
    ],
)
def test_an_entry_lies_directly_in_the_folder_of_entries(path: str, entry: bool) -> None:
    assert is_entry(path) is entry


@pytest.mark.parametrize(
    ("root", "parent"),
    [
        ("/home/emi/.crabmem/agents/bob", Workspace(Path("/home/emi/.crabmem"))),
        ("/home/emi/.crabmem", None),
        ("/home/emi/agents", None),
        ("/", None),
    ],
)
def test_only_a_named_agent_has_a_parent(root: str, parent: Workspace | None) -> None:
    assert Workspace(Path(root)).parent == parent


def test_what_is_ours_and_no_memory_lies_inside_the_repository() -> None:
    workspace = Workspace(Path("/notes"))

    assert workspace.file("memory/entries/luna.md") == Path("/notes/memory/entries/luna.md")
    assert workspace.git in workspace.private.parents and workspace.git in workspace.repairs.parents
