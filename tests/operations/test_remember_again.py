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
    assert run("remember", "wifi", "-c", "On the fridge.").stdout.startswith("remembered: Wifi\n")
    assert wifi(run) == ("the password for guests", "On the fridge.", ["wlan"], ["home", "net"])


@pytest.mark.parametrize("called", ["wlan", "memory/entries/wifi.md", "wifi"])
def test_a_content_alone_goes_to_the_fact_that_is_found_so(run: Run, root: Path, called: str) -> None:
    file = root / "memory/entries/wifi.md"
    file.write_text(file.read_text().replace("name: Wifi", "name: Net"))
    assert run("remember", called, "-c", "On the fridge.").stdout.startswith("remembered: Net\n")
    assert json.loads(run("show", called, "--json").stdout)["content"] == "On the fridge."
    with Memory(root) as memory:
        assert [(entry.name, entry.aliases) for entry in memory.entries()] == [("Net", ("wlan",))]


def test_a_whole_fact_by_the_name_of_an_alias_is_a_new_one_that_says_whose_alias_it_was(run: Run) -> None:
    done = run("remember", "wlan", "-d", "which network guests take", "-c", "The second one.")
    assert done.stdout.startswith("remembered: wlan\n") and "nearly the same as Wifi" in done.stderr


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
        (["Wifi", "-d", "", "-c", "On the fridge."], "the description is empty: say in a line"),
        (["Wifi", "-d", " ", "-c", "On the fridge."], "the description is empty: say in a line"),
        (["Wifi", "-d", "where", "-c", ""], "the content is empty. To remove a fact: `crabmem forget NAME`"),
        (
            ["Wifi", "-d", "where", "-"],
            "standard input is empty: the program before the pipe may have failed; run it alone",
        ),
        (["Wifi", "-c", "On the fridge.", "-t", "net", "--no-tags"], "-t '' and -a '' remove all"),
    ],
)
def test_what_says_nothing_is_refused_with_a_way_out(run: Run, root: Path, words: list[str], way_out: str) -> None:
    head = git(root, "rev-parse", "HEAD")
    result = run("remember", *words)
    assert result.exit_code == 2 and way_out in " ".join(result.stderr.split())
    assert git(root, "rev-parse", "HEAD") == head
