"""`crabmem remember` with one argument: a text, or the name of a fact of which something else is changed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.disk.scan import Scan
from crabmem.disk.store import Store
from crabmem.importers.texts import title_of
from tests.conftest import Run, git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The deploy key is in the vault, under ops/deploy.", "Deploy key"),
        ("Our staging servers are in Zürich", "Staging servers"),
        ("Der Hausmeister ist Herr Vogel", "Hausmeister"),
        ("La contraseña del wifi está en la puerta", "Contraseña del wifi"),
        ("Wifi: on the door", "Wifi"),
        ("retries = 5 for every client", "Retries"),
        ("It is never deployed on a Friday afternoon", "It is never deployed on a"),
        ("Luna eats umbrellas.", "Luna eats umbrellas"),
        ("# Incident 12\n\nThe disk was full.", "Incident 12"),
        ("我们每周五部署到生产环境", "我们每周五部署到生产环境"),
    ],
)
def test_a_text_alone_is_named_after_what_it_says(run: Run, root: Path, text: str, name: str) -> None:
    done = run("remember", text)
    assert (done.exit_code, done.stdout) == (0, f"remembered: {name}\n") and "-n NAME" in done.stderr
    with Memory(root) as memory:
        assert memory.get(name).content == text and memory.get(name).description


@given(st.text().filter(str.strip))
def test_every_text_has_a_name_that_a_fact_can_have(text: str) -> None:
    name = title_of(text)
    assert name == name.strip() and "\n" not in name and len(name) <= 120


def test_a_text_on_standard_input_is_named_too(run: Run) -> None:
    assert run("remember", "-", stdin="The tide turns at noon.\n").stdout == "remembered: The tide turns at noon\n"
    empty = run("remember", "-", stdin=" \n")
    assert empty.exit_code == 2 and "standard input is empty" in empty.stderr


def test_a_text_replaces_no_fact_that_says_something_else(run: Run, root: Path) -> None:
    run("remember", "The deploy key is in the vault.")
    assert "it said so already" in run("remember", "The deploy key is in the vault.").stdout
    other = run("remember", "The deploy key is under the mat.")
    assert other.exit_code == 2 and "there is a fact called Deploy key already" in other.stderr
    assert run("remember", "The deploy key is under the mat.", "-n", "Spare key").stdout == "remembered: Spare key\n"
    with Memory(root) as memory:
        assert [entry.name for entry in memory.entries()] == ["Deploy key", "Spare key"]


@pytest.mark.parametrize("words", [["rename", "Wifi", "Net"], ["remember", "Wifi", "-n", "Net"]])
def test_an_agent_that_renames_is_told_of_links_it_may_not_lead_there(run: Run, root: Path, words: list[str]) -> None:
    run("remember", "Wifi", "-d", "d", "-c", "c")
    (root / "Crab.md").write_text("I serve [[Wifi]].\n")
    done = run("--agent", "coder", *words)
    assert done.stdout.startswith("renamed: Wifi to Net\n") and "Crab.md links to the old name" in done.stderr


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (["-t", "ops", "-t", "keys"], "tags", ("ops", "keys")),
        (["-d", "where it is"], "description", "where it is"),
        (["-a", "door code"], "aliases", ("door code",)),
        (["-t", ""], "tags", ()),
        (["-a", ""], "aliases", ()),
        (["--no-tags"], "tags", ()),
        (["--stale-after", "2030-01-01"], "stale_after", "2030-01-01"),
    ],
)
def test_one_part_of_a_fact_is_changed_alone(
    run: Run, root: Path, options: list[str], field: str, value: object
) -> None:
    run("remember", "Wifi", "-d", "the password", "-c", "On the door.", "-t", "home", "-a", "wlan")
    for name in ("Wifi", "wlan")[: 1 if field == "aliases" else 2]:
        assert run("remember", name, *options).exit_code == 0
    with Memory(root) as memory:
        changed = memory.get("Wifi")
        kept = {"content": "On the door.", "description": "the password", "tags": ("home",), "aliases": ("wlan",)}
        assert getattr(changed, field) == value
        if field != "aliases":
            assert {key: getattr(changed, key) for key in kept if key != field} == {
                key: each for key, each in kept.items() if key != field
            }
        assert len(memory.entries()) == 1


def test_a_name_alone_is_changed_as_rename_does(run: Run, root: Path) -> None:
    run("remember", "Wifi", "-d", "the password", "-c", "On the door.")
    assert run("remember", "Wifi", "-n", "Wlan").stdout.startswith("renamed: Wifi to Wlan\n")
    assert git(root, "log", "-1", "--format=%s").startswith("rename:")
    refused = run("remember", "Wlan", "-n", "Net", "-t", "home")
    assert refused.exit_code == 2 and "-n goes alone" in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Wifi"], "what should Wifi say? -c TEXT"),
        (["Wifo"], 'there is no fact called Wifo. Did you mean "Wifi"?'),
        (["the wifi code", "-t", "ops"], "there is no fact called the wifi code"),
        ([""], "the name is empty"),
        (["", "-d", "d", "-c", "c"], "the name is empty"),
    ],
)
def test_what_is_neither_a_text_nor_a_fact_writes_nothing(run: Run, root: Path, words: list[str], said: str) -> None:
    run("remember", "Wifi", "-d", "the password", "-c", "On the door.")
    refused = run("remember", *words)
    assert refused.exit_code == 2 and said in refused.stderr
    assert git(root, "rev-list", "--count", "HEAD") == "2\n"


def test_an_agent_reads_the_first_sentence_of_a_text_once(run: Run) -> None:
    run("remember", "The tide turns at noon.")
    assert run("recall", "tide").stdout.count("tide turns at noon.") == 1


def test_a_fact_given_whole_is_written_with_one_look_at_the_files(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "Luna", "-d", "the cat", "-c", "A cat.")
    looks, scan = list[Store](), Store.scan

    def counted(store: Store) -> Scan:
        looks.append(store)
        return scan(store)

    monkeypatch.setattr(Store, "scan", counted)
    assert run("remember", "Tea", "-d", "which tea", "-c", "Green.").exit_code == 0
    assert len(looks) == 1
