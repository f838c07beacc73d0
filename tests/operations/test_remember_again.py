"""`remember` for a fact that is there: what is given replaces, what is left out stays, and labels can be removed."""

import json
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run, git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    with Memory(root, is_person=True) as memory:
        memory.remember("Wifi", "the password for guests", "On the router.", aliases=["wlan"], tags=["home", "net"])
    return root


def wifi(run: Run) -> tuple[str, str, list[str], list[str]]:
    found = json.loads(run("show", "Wifi", "--json").stdout)
    return found["description"], found["content"], found["aliases"], found["tags"]


def test_a_fact_whose_content_alone_is_given_keeps_its_description_and_labels(run: Run) -> None:
    assert run("remember", "wifi", "-c", "On the fridge.").stdout.startswith("remembered: wifi\n")
    assert wifi(run) == ("the password for guests", "On the fridge.", ["wlan"], ["home", "net"])


@pytest.mark.parametrize(
    ("option", "aliases", "tags"),
    [("--no-tags", ["wlan"], []), ("--no-aliases", [], ["home", "net"])],
)
def test_labels_can_be_removed(run: Run, root: Path, option: str, aliases: list[str], tags: list[str]) -> None:
    run("remember", "Wifi", "-c", "On the router.", option)
    assert wifi(run) == ("the password for guests", "On the router.", aliases, tags)
    assert ("net" in (root / "memory/entries/wifi.md").read_text()) == bool(tags)


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (["Tea", "-c", "Green."], "there is no fact called Tea yet: give -d DESC"),
        (["wlan", "-c", "Green."], "there is no fact called wlan yet: give -d DESC"),
        (["Wifi", "-d", "", "-c", "On the fridge."], "the description is empty: say in a line"),
        (["Wifi", "-d", " ", "-c", "On the fridge."], "the description is empty: say in a line"),
        (["Wifi", "-d", "where", "-c", ""], "the content is empty. To remove a fact: `crabmem forget NAME`"),
        (["Wifi", "-d", "where", "-"], "the content is empty. To remove a fact: `crabmem forget NAME`"),
        (["Wifi", "-c", "On the fridge.", "-t", "net", "--no-tags"], "-t '' and -a '' remove all"),
    ],
)
def test_what_says_nothing_is_refused_with_a_way_out(run: Run, root: Path, words: list[str], way_out: str) -> None:
    head = git(root, "rev-parse", "HEAD")
    result = run("remember", *words)
    assert result.exit_code == 2 and way_out in " ".join(result.stderr.split())
    assert git(root, "rev-parse", "HEAD") == head
