"""Hidden files reach a kind of session by no verb of the command line."""

from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from crabmem import Disabled, Memory
from crabmem.cli.app import cli
from crabmem.operations import context, purge
from tests import samples
from tests.conftest import git
from tests.operations.test_sight import FAMILY

#: In hidden files alone: words, names, aliases, parts of paths, targets of links.
SECRETS = ("quokka", "marsupi", "dingo", "moreno", "private-", "eucalyptus")
FACT = """\
---
name: Private quokka
description: feeding
aliases: [marsupial]
---

The quokka: at dawn, by hand. [[Wifi]] [[eucalyptus]]
"""
PATH = "memory/entries/private-vet.md"


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    """A workspace in which files are hidden from groups, some of them odd, and one edited since."""
    (tmp_path / "family.toml").write_text(FAMILY)
    root = tmp_path / "memory"
    with Memory(root, profile=str(tmp_path / "family.toml")) as memory:
        memory.remember("Wifi", "the network", "The network of the house.")
        (root / "memory/entries/private-quokka.md").write_text(FACT)
        (root / "memory/entries/private-vet.md").write_text("---\nname: Vet\n---\n\nDr. Moreno. See [[dingo]].\n")
        (root / "memory/entries/private-odd.md").write_bytes(b"quokka \xff\xfe")
        (root / "memory/entries/private-loud.md").write_text(
            "---\nname: [dingo\n---\n\nghp_" + "a1B2" * 9 + " of the quokka\n"
        )
        memory.adopt()
        memory.write_overview("# Notes\n\nThe quokka is fed at dawn. [[Wifi]] [[dingo]]\n")
        memory.write_note("The quokka was fed.")
        memory.remember("Wifi", "the network", "The network of the house. Its key is on the fridge.")
    (root / "memory/entries/private-vet.md").write_text(
        "---\nname: Vet\n---\n\nDr. Moreno, at the dingo's. [[dingo]]\n"
    )
    (tmp_path / "imported").mkdir()
    (tmp_path / "imported/vet.md").write_text("---\nname: Vet\n---\n\nAnother.\n")
    (tmp_path / "questions.jsonl").write_text('{"text": "feeding", "find": ["Wifi"]}\n')
    return root


def typed(root: Path, *words: str) -> str:
    """All that a verb says, typed in a session with a group."""
    home = root.parent
    places = {"IMPORTED": str(home / "imported"), "QUESTIONS": str(home / "questions.jsonl")}
    options = ["--dir", str(root), "--profile", str(home / "family.toml"), "--kind", "group", "--agent", "guest"]
    done = CliRunner().invoke(
        cli,
        [*options, *(places.get(word, word) for word in words)],
        input='{"session_id": "s", "prompt": "feeding at dawn"}',
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert done.exit_code != 2, (words, done.stderr)
    return f"{done.stdout}\n{done.stderr}"


def assert_silent(said: str) -> None:
    bare = said.casefold()
    assert not [secret for secret in SECRETS if secret in bare], said


@pytest.mark.parametrize("verb", [verb for verb in samples.verbs() if samples.unseen(verb)])
def test_no_verb_tells_a_session_what_it_may_not_see(
    secretive: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    for words in samples.unseen(verb):
        assert_silent(typed(secretive, *words))


@pytest.mark.parametrize("verb", ["purge", "doctor"])
def test_what_looks_at_everything_is_refused_in_words(secretive: Path, verb: str) -> None:
    said = typed(secretive, verb, *(["Wifi", "--yes"] if verb == "purge" else []))
    assert "crabmem: sessions of the kind group see only some files; ask in one of the kind main\n" in said


def test_how_much_of_a_message_is_known_is_told_of_what_is_seen(secretive: Path) -> None:
    family = str(secretive.parent / "family.toml")
    with Memory(secretive, profile=family) as memory:
        assert context.confidence(memory, "the quokka at dawn by hand") > context.confidence(
            memory.of_kind("group"), "the quokka at dawn by hand"
        )


def test_an_edit_of_a_hidden_file_is_recorded_for_a_session_that_is_not_told_of_it(secretive: Path) -> None:
    with Memory(secretive, profile=str(secretive.parent / "family.toml"), kind="group") as guest:
        done = guest.adopt()
    assert done and (done.subject, done.paths, done.entries) == ("", (), ())
    assert git(secretive, "log", "-1", "--format=%s").strip() == "edit: Vet"


def test_a_purge_is_refused_to_a_session_that_does_not_see_all(secretive: Path) -> None:
    family = str(secretive.parent / "family.toml")
    with Memory(secretive, profile=family, kind="group") as guest:
        for way in (guest.purge, partial(guest.purge, dry_run=True), partial(purge.standing, guest)):
            with pytest.raises(Disabled, match="sessions of the kind group"):
                way("Wifi")
    with Memory(secretive, kind="group") as guest:  # of a family that hides nothing
        assert purge.purge(guest, "Wifi", dry_run=True).entries == ("Wifi",)
