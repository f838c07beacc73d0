"""Where things are: which folder is meant, and which paths are memory."""

from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.errors import CrabmemError, InvalidArguments
from crabmem.text.daily_notes import is_note
from crabmem.workspace.layout import FLAT, LAYOUTS, ORDINARY, Layout
from crabmem.workspace.settings import Settings
from crabmem.workspace.settings_file import form_of
from crabmem.workspace.workspace import Workspace, agent_folder, folder_of
from tests.examples import examples

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
    assert folder_of(folder, agent, environment, str(HOME)) == root


def test_a_tilde_is_the_home_folder() -> None:
    assert folder_of(None, None, {"CRABMEM_DIR": "~/notes"}, str(Path.home())) == str(Path.home() / "notes")


def test_the_home_folder_of_nobody_is_an_error_for_the_caller() -> None:
    with pytest.raises(CrabmemError, match="nobody-of-that-name"):
        folder_of("~nobody-of-that-name/notes", None, {}, str(HOME))


@given(st.text(st.characters()).filter(lambda name: bool(name.strip())))
@settings(max_examples=examples(200))
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
        ("memory/notes.txt", True),
        ("memory/entries/state.JSON", True),
        ("memory/UP.MD", True),
        ("memory/Makefile", True),
        ("notes.txt", False),
        ("agents/notes.txt", False),
        ("memory/photo.png", False),
        ("memory/key.pem", False),
        ("memory/notes.txt~", False),
        ("memory/#notes#", False),
        ("memory/4913", False),
        ("memory/sedAb1C_2", False),
        ("memory/tmpx81_", False),
        ("memory/.env", False),
        ("memory/.git/config", False),
        ("memory/CRABMEM.toml", False),
        ("memory/notes.", False),
        ("memory/", False),
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
def test_markdown_of_ours_texts_below_memory_and_the_settings_are_kept(path: str, kept: bool) -> None:
    assert ORDINARY.is_kept(path) is kept


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("MEMORY.md", True),
        ("user-role.md", True),
        ("team/shared.md", True),
        ("entries/luna.md", True),
        ("crabmem.toml", True),
        ("team/crabmem.toml", False),
        ("notes.txt", False),
        (".consolidate-lock", False),
        (".obsidian/x.md", False),
        (".git/x.md", False),
        ("agents/bob/MEMORY.md", False),
        ("../x.md", False),
        ("/etc/x.md", False),
    ],
)
def test_of_a_flat_folder_all_markdown_is_kept_but_that_of_agents(path: str, kept: bool) -> None:
    assert FLAT.is_kept(path) is kept


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("memory/entries/luna.md", True),
        (ORDINARY.entry_path("c-plus-plus"), True),
        ("memory/luna.md", True),
        ("memory/2026-11-20-standup.md", True),
        ("memory/entries/2026-11-20.md", True),
        ("memory/entries/MEMORY.md", True),
        ("memory/MEMORY.md", False),
        ("memory/Memory.md", False),
        ("memory/2026-11-20.md", False),
        ("memory/.luna.md", False),
        ("memory/entries/.luna.md", False),
        ("memory/luna.txt", False),
        ("memory/entries", False),
        ("memory/entries/pets/luna.md", True),
        ("memory/entries/pets/.old/luna.md", False),
        ("memory/entries-old/luna.md", False),
        ("memory/projects/plan.md", False),
        ("agents/bob/memory/entries/luna.md", False),
        ("Crab.md", False),
        ("luna.md", False),
    ],
)
def test_an_entry_lies_directly_in_a_folder_of_entries(path: str, entry: bool) -> None:
    assert ORDINARY.is_entry(path) is entry


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        (FLAT.entry_path("user-role"), True),
        ("user-role.md", True),
        ("README.md", True),
        ("entries/luna.md", True),
        ("MEMORY.md", False),
        ("memory.md", False),
        ("Crab.md", False),
        ("CRAB.md", False),
        ("2026-11-20.md", False),
        ("crabmem.toml", False),
        ("team/shared.md", True),
        ("team/MEMORY.md", True),
        ("learnings/errors.md", False),
        ("agents/bob/luna.md", False),
        ("team/.old/shared.md", False),
        (".hidden.md", False),
    ],
)
def test_of_a_flat_folder_each_markdown_file_is_an_entry_but_overview_identity_and_daily_notes(
    path: str, entry: bool
) -> None:
    assert FLAT.is_entry(path) is entry


_names = st.sampled_from(["luna", "MEMORY", "memory", "Crab", "2026-11-20", "entries", "agents", "x.md", ".x", "é"])
_paths = st.lists(_names, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".md")
_layouts = st.sampled_from([*LAYOUTS.values(), Layout("other", "SOUL.md", "MEMORY.md", ("facts",), "memory", "memory")])


@given(_layouts, _paths)
@settings(max_examples=examples(500))
def test_history_keeps_every_entry_and_none_is_a_whole_file(layout: Layout, path: str) -> None:
    assert layout.is_kept(layout.overview) and layout.is_kept(layout.identity)
    if layout.is_entry(path):
        assert layout.is_kept(path) and path.casefold() not in (layout.overview.casefold(), layout.identity.casefold())


@given(_layouts, st.text("abc-é", min_size=1))
@settings(max_examples=examples(100))
def test_an_entry_of_any_slug_is_one_wherever_it_may_be(layout: Layout, slug: str) -> None:
    slug = f"x{slug}"
    assert layout.entry_path(slug) == layout.places(slug)[0]
    assert all(map(layout.is_entry, layout.places(slug)))


def test_the_setting_knows_every_layout_by_its_name() -> None:
    assert get_args(get_type_hints(form_of(Settings))["layout"]) == tuple(LAYOUTS)
    assert tuple(LAYOUTS) == tuple(each.name for each in LAYOUTS.values())


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("2026-11-20.md", True), ("2026-1-2.md", False), ("2026-11-20-x.md", False), ("2026-11-20.txt", False),
     ("٢٠٢٦-١١-٢٠.md", False), ("abcd-ef-gh.md", False), ("", False)],
)  # fmt: skip
def test_a_daily_note_is_called_by_its_date_alone(name: str, is_one: bool) -> None:
    assert is_note(name) is is_one


@pytest.mark.parametrize(
    ("root", "parent"),
    [
        ("/home/emi/.crabmem/agents/bob", Path("/home/emi/.crabmem")),
        ("/home/emi/.crabmem", None),
        ("/home/emi/agents", None),
        ("/", None),
    ],
)
def test_only_a_named_agent_has_a_parent(root: str, parent: Path | None) -> None:
    assert Workspace(Path(root)).around == parent


def test_what_is_ours_and_no_memory_lies_inside_the_repository() -> None:
    workspace = Workspace(Path("/notes"))

    assert workspace.file("memory/entries/luna.md") == Path("/notes/memory/entries/luna.md")
    assert workspace.git in workspace.private.parents
