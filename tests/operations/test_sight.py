"""Hidden files reach a kind of session by no way there is: those that are no operation alone, or write.

The others are found, and tried in `test_seen.py`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import CrabmemError, Fact, Memory, NotFound
from crabmem.errors import Stale
from crabmem.operations import (
    agents,
    export,
    history,
    keyvalue,
    maintenance,
    salient_facts,
    setup,
)
from crabmem.prompt.profile import load_profile, parse_profile
from crabmem.session.view import View
from crabmem.text.keys import Key
from tests.conftest import git

FAMILY = """
about = "one keeper has secrets"
tools = ["entries", "files", "looking", "notes", "harness", "legion"]

[layout]
identity = "WHO.md"
overview = "NOTES.md"
recall_notes = true

[kinds.group]
hides = ["NOTES.md", "memory/entries/private-*.md", "memory/????-??-??.md"]

[search]
files = ["NOTES.md", "memory/**/*.md"]

[[part]]
file = "{overview}"

[[part]]
say = "salient"
"""
#: Stands in hidden files only, their names included.
SECRET = "quokka"
PLACE = Key(("zoo", "animals"), "feeding")

Way = Callable[[Memory], object]
WAYS: dict[str, Way] = {
    "its name then": lambda memory: memory.get("Vet", "HEAD"),
    "forgetting it": lambda memory: memory.forget("marsupial"),
    "forgetting what is called nearly so": lambda memory: memory.forget("marsupia"),
    "renaming it": lambda memory: memory.rename("marsupial", "Other", dry_run=True),
    "renaming what it links to": lambda memory: memory.rename("Wifi", "Network", dry_run=True),
    "writing over it": lambda memory: memory.remember("Vet", "", "x", if_version="0000000"),
    "writing over the overview": lambda memory: memory.write_overview("x", "0000000"),
    "recall": lambda memory: memory.recall("feeding marsupial", explain=True, blame=True),
    "recall of then": lambda memory: memory.recall("feeding marsupial", as_of="HEAD", tags=["zoo"]),
    "recall by namespace": lambda memory: memory.recall("feeding", namespace=["zoo"]),
    "the prompt": lambda memory: memory.prompt(),
    "the prompt of then": lambda memory: memory.prompt("HEAD"),
    "a key": lambda memory: keyvalue.item(memory, PLACE),
    "keys": lambda memory: keyvalue.items(memory),
    "a namespace": lambda memory: keyvalue.items(memory, ("zoo",)),
    "namespaces": lambda memory: keyvalue.namespaces(memory),
    "removing a key": lambda memory: keyvalue.keep(memory, {PLACE: None}),
    "filling a key": lambda memory: keyvalue.keep(memory, {PLACE: Fact("x", "", "y")}),
    "a patch": lambda memory: [
        history.patch(memory, commit) for commit in git(memory.root, "rev-list", "HEAD").split()
    ],
    "a patch of it": lambda memory: history.patch(memory, "HEAD~1", "NOTES.md"),
    "a diff": lambda memory: memory.diff(git(memory.root, "rev-list", "HEAD").split()[-1]),
    "a diff of it": lambda memory: memory.diff("HEAD~3", name="NOTES.md"),
    "going back": lambda memory: memory.rollback("HEAD~3", dry_run=True),
    "going back of it": lambda memory: memory.rollback("HEAD~1", "marsupial", dry_run=True),
    "going back for good": lambda memory: memory.rollback("HEAD~3"),
    "reverting": lambda memory: memory.revert(git(memory.root, "rev-list", "HEAD").split()[:2], dry_run=True),
    "reverting for good": lambda memory: memory.revert(git(memory.root, "rev-list", "HEAD").split()[:2]),
    "undoing": lambda memory: memory.undo(),
    "tools": lambda memory: [
        memory.call(tool.name, arguments, [tool.name])
        for tool in memory.tools_named(["recall", "get", "list", "log", "memory_search", "memory_list", "memory_read"])
        for arguments in (
            {},
            *({key: text} for key in ("query", "name", "filename") for text in ("feeding", "marsupia", "NOTES.md")),
        )
    ],
}


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    """A workspace in which a file of each kind is hidden from groups."""
    (tmp_path / "family.toml").write_text(FAMILY)
    root = tmp_path / "memory"
    with Memory(root, profile=str(tmp_path / "family.toml")) as memory:
        memory.remember("Wifi", "the network", "The network of the house. See [[marsupial]].")
        keyvalue.keep(
            memory, {PLACE: Fact("Private quokka", "feeding the quokka", "The quokka: at dawn, by hand. [[Wifi]]")}
        )
        memory.remember("Private quokka", "feeding", "The quokka: at dawn, by hand. [[Wifi]]", aliases=["marsupial"])
        vet = "---\nname: Vet\n---\n\nDr. Moreno looks after the quokka.\n"
        (root / "memory/entries/private-vet.md").write_text(vet)
        with (root / "memory/entries/wifi.md").open("a") as file:
            file.write("Its key is on the fridge.\n")
        memory.adopt()  # one commit, whose subject names both
        memory.write_overview("# Notes\n\nThe quokka is fed at dawn. [[Wifi]]\n")
        memory.write_note("The quokka was fed.")
    return root


def told(value: object) -> str:
    """All that a value tells whoever has it."""
    return repr(value) + (json.dumps([str(value)]) if isinstance(value, CrabmemError) else "")


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_hidden_file_reaches_a_session(secretive: Path, tmp_path: Path, way: str) -> None:
    with Memory(secretive, agent="guest", profile=str(tmp_path / "family.toml"), kind="group") as guest:
        before = git(secretive, "rev-parse", "HEAD")
        try:
            said = told(WAYS[way](guest))
        except CrabmemError as error:
            said = told(error) + (told(vars(error)) if isinstance(error, Stale) else "")
    assert SECRET not in said.casefold()
    assert git(secretive, "rev-parse", "HEAD") == before


def test_what_is_counted_is_what_a_session_sees(secretive: Path, tmp_path: Path) -> None:
    with Memory(secretive, profile=str(tmp_path / "family.toml"), kind="group") as guest:
        found = guest.recall("submarine")
        assert (found.searched, found.note) == (1, "no match in 1 fact")
        assert salient_facts.recall_facts(guest, "submarine").note == "no match in 1 fact"


def test_the_figures_of_a_session_count_what_it_sees(secretive: Path, tmp_path: Path) -> None:
    for name in ("open", "private-odd"):
        (secretive / f"memory/entries/{name}.md").write_text("\0")
    with Memory(secretive, profile=str(tmp_path / "family.toml")) as memory:
        found, guests = maintenance.stats(memory), maintenance.stats(memory.of_kind("group"))
    assert (found.entries, found.unreadable) == (3, 2)
    assert (guests.entries, guests.unreadable) == (1, 1)


def test_a_hidden_name_is_hidden_however_its_letters_are_composed() -> None:
    family = parse_profile('about = "x"\npart = []\n[kinds.group]\nhides = ["memory/entries/Jos\u00e9.md"]', "x.toml")
    assert not View.of(family, "group").allows("memory/entries/jose\u0301.md")


def test_an_agent_of_another_family_does_not_show_groups_what_its_parent_hides(tmp_path: Path) -> None:
    with Memory(tmp_path / "home", profile="camel") as home:
        setup.use_profile(home)
        home.write_overview("# Notes\n\nThe quokka is fed at dawn.\n")
        agents.new_agent(home, "writer")
    own = tmp_path / "home/agents/writer"
    (own / "crabmem.toml").write_text('profile = "crab"\n')
    with Memory(own) as writer:
        assert SECRET in writer.prompt() + writer.overview().text
        guest = writer.of_kind("group")
        assert SECRET not in guest.prompt() + guest.overview().text + repr(guest.overview("HEAD"))


@pytest.mark.parametrize("profile", ["camel", "claw", "legion"])
def test_no_folder_of_a_persons_memory_is_deep_enough_for_a_group(profile: str) -> None:
    guests = View.of(load_profile(profile), "group")
    places = ["MEMORY.md", "memory/2026-03-01.md", "memory/a/b/c.md", "Memory/entries/x.md"]
    assert not any(map(guests.allows, places))
    assert profile != "legion" or not guests.allows("learnings/old/errors.md")


def test_a_commit_of_several_facts_names_no_hidden_one(secretive: Path, tmp_path: Path) -> None:
    """Neither as the history of another fact, nor in what an export says of when facts changed."""
    family = str(tmp_path / "family.toml")
    (secretive / "memory/entries/private-hopper.md").write_text("---\nname: Quokka\n---\n\nHops.\n")
    with (secretive / "memory/entries/wifi.md").open("a") as file:
        file.write("Its name is Marabou.\n")
    with Memory(secretive, profile=family) as memory:
        memory.adopt()
        assert SECRET in next(iter(memory.log(name="Wifi"))).subject.casefold()
    with Memory(secretive, agent="guest", profile=family, kind="group") as guest:
        with pytest.raises(NotFound, match="no fact called Quokka"):
            guest.log(name="Quokka")
        assert SECRET not in told(export.data(guest)).casefold()
