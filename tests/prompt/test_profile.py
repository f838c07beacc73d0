"""A profile in force: what a session is told, what it sees and which tools it gets, from data alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import CrabmemError, Memory
from crabmem.errors import Disabled, InvalidArguments, InvalidSettings, NotFound
from crabmem.operations import files, history
from crabmem.prompt.profile import load_profile
from tests import samples
from tests.conftest import allow, git, typed

FAMILY = """
about = "a family of its own"
tools = ["entries", "files.memory", "looking.get"]

[layout]
identity = "WHO.md"
overview = "NOTES.md"

[kinds.group]
tools = ["entries.recall"]
hides = ["NOTES.md", "memory/entries/private-*.md", "memory/????-??-??.md"]

[kinds.subagent]
tools = []

[[part]]
words = "You may use:\\n{tools}"

[[part]]
file = "{identity}"

[[part]]
file = "PERSON.md"
of = "parent"
title = "## {file}"

[[part]]
file = "{overview}"
tag = "memory"

[[part]]
notes = 2

[[part]]
words = "Take on the tone of who you are."
given = "{identity}"
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The file of a profile."""
    file = tmp_path / "family.toml"
    file.write_text(FAMILY)
    return file


@pytest.fixture
def root(tmp_path: Path, family: Path) -> Path:
    """A workspace whose settings name it."""
    root = tmp_path / "notes"
    with Memory(root, profile=str(family)) as memory:
        memory.remember("Wifi", "the password of the guests", "Pinguin")
        memory.remember("Private wifi", "the password of the house", "Walross")
        memory.write_overview("Likes tea.")
    (root / "WHO.md").write_text("I am Ada.")
    (root / "crabmem.toml").write_text('profile = "../family.toml"\n')
    allow(root)
    return root


def test_the_settings_name_a_profile_beginning_at_their_folder(root: Path, family: Path) -> None:
    with Memory(root) as memory:
        assert memory.profile.about == "a family of its own" and memory.engine.profile_name == str(family)
        assert memory.layout.identity == "WHO.md" and memory.identity().text == "I am Ada."
        memory.adopt()
    assert not git(root, "status", "--porcelain").strip()


def test_a_profile_says_how_much_may_be_written_to_a_whole_file(root: Path, family: Path) -> None:
    family.write_text(f"largest = 20\n{FAMILY}")
    with Memory(root, profile=str(family)) as memory:
        assert (
            memory.write_overview("x" * 20).commit
            and files.rewrite(memory, "fit", lambda tree: {"a.md": "x" * 20}).commit
        )
        for write in (memory.write_overview, lambda text: files.rewrite(memory, "grow", lambda tree: {"a.md": text})):
            with pytest.raises(InvalidArguments, match="the content has 21 characters; at most 20 fit"):
                write("x" * 21)
        memory.remember("Long", "a fact", "x" * 100)


def test_the_prompt_is_what_the_parts_say(root: Path) -> None:
    with Memory(root) as memory:
        memory.write_note("Tea again.")
        assert [tool.name for tool in memory.tools] == [*samples.USUAL, "get"]
        text = memory.prompt()
    assert text.startswith("You may use:\n`remember`, `forget`, `recall`, `memory`, `get`\n")
    parts = ["I am Ada.", "<memory>\nLikes tea.\n</memory>", "Tea again.", "Take on the tone"]
    assert sorted(parts, key=text.index) == parts and "PERSON.md" not in text


def test_a_group_never_sees_what_is_hidden_from_it(root: Path) -> None:
    with Memory(root) as memory:
        memory.write_note("A secret of the day.")
    with Memory(root, kind="group") as memory:
        assert "tea" not in memory.prompt() and "secret" not in memory.prompt()
        assert [told.status for told in memory.context().parts] == ["ok", "missing", "hidden", "hidden", "hidden"]
        assert [hit.entry.name for hit in memory.recall("password")] == ["Wifi"]
        assert [hit.entry.name for hit in memory.recall("password", as_of="now")] == ["Wifi"]
        assert "asked for" not in memory.recall("quokka").note and "asked for" in memory.recall("x", tags=["y"]).note
        assert [entry.name for entry in memory.entries()] == ["Wifi"] and memory.overview().text == ""
        assert "Walross" not in memory.before_turn("what is the password of the house and of the guests?")
        assert files.browse(memory, lambda tree: tree.paths()) == ["entries/wifi.md"] and files.notes(memory) == []
        with pytest.raises(NotFound, match=r"^no fact called Private wifi\. Did you mean \"Wifi\"\?$"):
            memory.get("Private wifi")
        with pytest.raises(NotFound, match=r"^no fact called Private wifi\. Did you mean \"Wifi\"\?$"):
            memory.forget("Private wifi")
        with Memory(root) as main:
            head = history.newest(main)
        for write in (
            lambda: memory.write_overview("Mine."),
            lambda: memory.remember("Private wifi", "the password of the house", "Seehund"),
            lambda: memory.write_note("More."),
        ):
            refused(write)
        assert history.newest(memory) == head


def refused(write: Callable[[], object]) -> None:
    with pytest.raises(Disabled, match="is not for sessions of the kind group"):
        write()


def test_tools_are_those_of_the_kind_of_session(root: Path) -> None:
    with Memory(root, kind="group") as memory:
        assert [tool.name for tool in memory.tools] == ["recall"]
        assert not memory.call("recall", {"query": "wifi"}).is_error
        assert memory.call("get", {"name": "Wifi"}).text.startswith("no tool named: get (there are: recall)")
        assert memory.of_kind("subagent").tools == [] and "You may use" not in memory.prompt(kind="subagent")
        assert memory.call("recall", {"query": "wifi"}).text.count("##") == 1
    with Memory(root) as memory:
        assert [tool.name for tool in memory.tools_named(["log", "recall"])] == ["recall", "log"]


def test_tools_can_be_switched_off_and_the_files_are_still_told(root: Path) -> None:
    (root / "crabmem.toml").write_text('profile = "../family.toml"\ntools = false\n')
    with Memory(root) as memory:
        assert memory.tools == [] and "Likes tea." in memory.prompt() and "You may use" not in memory.prompt()
        result = memory.call("recall", {"query": "wifi"})
        assert result.is_error and "tools = true" in result.text


def test_an_agents_own_workspace_has_its_parents_profile_unless_it_names_one(root: Path) -> None:
    (root / "PERSON.md").write_text("Ann.")
    own = root / "agents" / "scout"
    with Memory(own) as memory:
        memory.remember("Tea", "what Ann drinks", "Green.")
        (own / "PERSON.md").write_text("Not Ann.")
        assert memory.layout.identity == "WHO.md"
        text = memory.prompt()
        assert "I am Ada." in text and "## PERSON.md\n\nAnn." in text and "Not Ann" not in text
    (own / "crabmem.toml").write_text('profile = "crab"\n')
    with Memory(own) as memory:
        assert memory.layout.identity == "Crab.md" and memory.engine.profile_name == "crab"


def test_an_argument_goes_before_the_settings(root: Path) -> None:
    with Memory(root, profile="crab") as memory:
        assert memory.layout.identity == "Crab.md" and "Likes tea" not in memory.prompt()


def test_a_profile_that_changes_under_an_open_workspace_is_told(root: Path) -> None:
    with Memory(root) as memory:
        (root / "crabmem.toml").write_text("")
        with pytest.raises(InvalidSettings, match=r"profile is the usual, and it was .*start it again"):
            memory.recall("wifi")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('profile = "nope"', r"crabmem\.toml: there is no profile nope; there are "),
        ('profile = "../gone.toml"', r"the profile .*gone\.toml cannot be read"),
        ('profile = "../bad.toml"', r"bad\.toml: unknown setting `abut`; did you mean `about`\?"),
        ('profile = "../half.toml"', r"half\.toml: `part` is missing"),
        ('profile = "../gone.toml"', r"notes.crabmem\.toml: the profile "),
        ('profile = "../text.toml"', r"text\.toml: crabmem has no template nowhere; say it in `words`"),
    ],
)
def test_a_profile_that_is_none_is_told_at_once(root: Path, tmp_path: Path, said: str, message: str) -> None:
    (tmp_path / "bad.toml").write_text('abut = "x"\n')
    (tmp_path / "half.toml").write_text('about = "x"\n')
    (tmp_path / "text.toml").write_text('about = "x"\npart = [{ template = "nowhere" }]\n')
    (root / "crabmem.toml").write_text(said + "\n")
    allow(root)
    with pytest.raises(CrabmemError, match=message):
        Memory(root)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("[kinds.grup]\ntools = []", "kinds cannot have the key 'grup'; did you mean `group`\\?"),
        ("[kinds.guest]\ntools = []", "known: main, subagent, "),
        ('[[part]]\nfile = "../SOUL.md"', r"part 2 is \.\./SOUL\.md, which history does not keep"),
        ('[[part]]\nfile = "SOUL.txt"', "part 2 is SOUL.txt, which history does not keep; name a .md file"),
        ('[layout]\nidentity = "../x.md"', r"layout\.identity is \.\./x\.md, whose history"),
        ('[layout]\nnotes = "../days"', r"layout\.notes is \.\./days, whose history"),
        ('[layout]\nlearnings = "elsewhere"', r"layout\.learnings is elsewhere, whose history"),
        ("[layout]\nentries = []", "layout.entries must be a list of at least 1, and has 0"),
        ('[layout]\nbeside = [".git"]', r"layout\.beside is \.git, whose history"),
        ('[[seed]]\nfile = "../.bashrc"\nwords = "x"', r"seed 1 is \.\./\.bashrc, which history does not keep"),
        ('[[part]]\nfile = "a.md"\ngiven = "../x"', r"\.\./x is not in the workspace"),
        ('[[part]]\nfile = "a.md"\ntag = "x>"', r"part\[1\]\.tag cannot be 'x>'"),
        ('[[part]]\ntemplate = "../../x"', r"crabmem has no template \.\./\.\./x"),
    ],
)
def test_a_profile_that_leads_where_nothing_is_kept_is_refused(tmp_path: Path, said: str, message: str) -> None:
    (tmp_path / "odd.toml").write_text(f'about = "x"\n[[part]]\nwords = "Hello."\n{said}\n')
    with pytest.raises(InvalidSettings, match=f"odd.toml: .*{message}"):
        load_profile(str(tmp_path / "odd.toml"))


@pytest.mark.parametrize(
    "said",
    ["[[part]]\nnotes = 101", '[[part]]\nfile = "a.md"\nlimit = 10_000_001', "[budget]\ntotal = 10_000_001",
     "[budget]\npart = 10_000_001", "[shares]\nx = 10_000_001", "[search]\nsize = 99", "[search]\nresults = 1_001",
     "[search]\nsnippet = 1_000_001", f"[search]\nfiles = ['{'*' * 301}']", f"[search]\nfiles = {['x'] * 101}",
     "[[search.recent]]\ndays = 1\nfactor = inf", f"[kinds.group]\nhides = {['x'] * 101}",
     f"[layout]\nentries = {['x'] * 101}",
     "[window]\nportion = 999", '[[part]]\nwords = "x"\n' * 100, '[[seed]]\nfile = "a.md"\nwords = "x"\n' * 101],
)  # fmt: skip
def test_a_profile_that_would_hang_or_flood_is_refused(tmp_path: Path, said: str) -> None:
    (tmp_path / "odd.toml").write_text(f'about = "x"\n[[part]]\nwords = "Hello."\n{said}\n')
    with pytest.raises(InvalidSettings, match=r"must be .* (of at most|of at least|above) \d"):
        load_profile(str(tmp_path / "odd.toml"))


@pytest.mark.parametrize("key", ["clone", "append_only"])
def test_a_profile_with_endless_patterns_is_refused(tmp_path: Path, key: str) -> None:
    (tmp_path / "odd.toml").write_text(f'about = "x"\n{key} = {["x"] * 101}\n[[part]]\nwords = "Hello."\n')
    with pytest.raises(InvalidSettings, match=f"{key} must be a list of at most 100, and has "):
        load_profile(str(tmp_path / "odd.toml"))


def test_an_unknown_kind_of_session_names_those_there_are(root: Path) -> None:
    with pytest.raises(InvalidArguments, match="no kind of session party; there are main, subagent, "):
        Memory(root, kind="party")


def test_an_installed_host_is_given_the_profile_that_was_named(
    family: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = tmp_path / ".claude.json"
    for words in (["--profile", str(family), "install"], ["uninstall"]):
        assert typed(*words, "claude-code", "--yes").exit_code == 0
        assert (settings.exists() and str(family) in settings.read_text()) == ("install" in words)
