"""What is put out of a text is not in it any more, and nothing else of it is."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.operations.erasure.lives import Lives
from crabmem.operations.erasure.rule import by_pattern, by_text, erasure_of_entry, erasure_of_text
from crabmem.text.entry import Fact, parse_entry, render_entry
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY

#: Few letters, so that they meet; some that have several forms, and what YAML and JSON quote.
LETTERS = st.text(alphabet="abé'\"\\-: (pu)\n", max_size=30)
SECRETS = st.text(alphabet="abé'\"\\-: (pu)", min_size=4, max_size=8).filter(lambda text: len(text.strip()) >= 4)


@given(LETTERS, SECRETS, LETTERS)
def test_a_text_is_not_in_what_it_was_put_redact(before: str, secret: str, after: str) -> None:
    redaction = by_text(secret)
    bare = redaction.redact(before + secret + after)
    assert secret not in bare
    assert not redaction.is_in(bare)


@given(LETTERS, SECRETS)
def test_a_text_without_it_stays_as_it_is(text: str, secret: str) -> None:
    redaction = by_text(secret)
    assert redaction.is_in(text) or redaction.redact(text) == text


@given(SECRETS)
def test_every_form_of_a_text_is_found(secret: str) -> None:
    redaction, composed = by_text(secret), unicodedata.normalize("NFC", secret)
    for said in (composed, unicodedata.normalize("NFD", secret), json.dumps(secret)[1:-1], secret.replace("'", "''")):
        assert redaction.is_in(f"x {said} x")


@given(LETTERS, SECRETS, LETTERS)
def test_an_entry_without_a_text_is_still_an_entry(name: str, secret: str, content: str) -> None:
    path, label = "memory/entries/x.md", " ".join(f"a{name} {secret}".split())
    data = render_entry(Fact(label, secret, f"{content}{secret}", (secret.strip(),), ("tag",)), None).encode()
    erasure = erasure_of_text(by_text(secret.strip()), ORDINARY, [path], [(path, data)])
    entry = parse_entry(path, erasure.new_file(path, data))
    assert entry.problem is None
    assert entry.tags == ("tag",)
    assert secret.strip() not in entry.name + entry.description + entry.content + "".join(entry.aliases)


def test_two_files_never_get_one_name() -> None:
    paths = ["memory/entries/abc-111.md", "memory/entries/abc-222.md", "memory/entries/purged.md", "abc-3/x.md"]
    moved = erasure_of_text(by_pattern(r"abc-\d+"), ORDINARY, paths, []).paths
    assert [moved.get(path) for path in paths] == [
        "memory/entries/purged-2.md",
        "memory/entries/purged-3.md",
        None,
        "purged/x.md",
    ]


def test_the_names_of_crabmem_itself_stay() -> None:
    paths = ["memory/MEMORY.md", "memory/entries/memory.md", "Crab.md", "crabmem.toml"]
    assert erasure_of_text(by_text("memory"), ORDINARY, paths, []).paths == {
        "memory/entries/memory.md": "memory/entries/purged.md"
    }


def test_a_name_is_left_where_it_is_part_of_another() -> None:
    versions = {
        (f"memory/entries/{slug_of(name)}.md", "0" * 40): render_entry(Fact(name, "d", "c"), None).encode()
        for name in ("Vet", "Vet bills")
    }
    erasure = erasure_of_entry("vet", versions, Lives(lambda *pair: 0.0), {}, None)
    assert erasure is not None
    assert erasure.new_message("remember: Vet\n\nEntry: Vet bills\nVets, Vet.") == (
        "remember: (purged)\n\nEntry: Vet bills\nVets, (purged)."
    )


@pytest.mark.parametrize("text", ["(purged)", "purged"])
def test_a_mark_is_never_what_is_erased(text: str) -> None:
    redaction = by_text(text)
    assert not redaction.is_in(redaction.redact(f"it was {text} before"))
