"""What is put out of a text is not in it any more, and nothing else of it is."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.git.erasing import Needle, by_pattern, by_text, of_entry, of_needle
from crabmem.git.lives import Lives
from crabmem.text.entry import Fact, parse_entry, render_entry
from crabmem.workspace.layout import ORDINARY

#: Few letters, so that they meet; some that have several forms, and what YAML and JSON quote.
LETTERS = st.text(alphabet="abé'\"\\-: (pu)\n", max_size=30)
SECRETS = st.text(alphabet="abé'\"\\-: (pu)", min_size=4, max_size=8).filter(lambda text: len(text.strip()) >= 4)


@given(LETTERS, SECRETS, LETTERS)
def test_a_text_is_not_in_what_it_was_put_out_of(before: str, secret: str, after: str) -> None:
    needle = by_text(secret)
    bare = needle.out_of(before + secret + after)
    assert secret not in bare
    assert needle.number_in(bare) == 0


@given(LETTERS, SECRETS)
def test_a_text_without_it_stays_as_it_is(text: str, secret: str) -> None:
    needle = by_text(secret)
    assert needle.number_in(text) or needle.out_of(text) == text


@given(SECRETS)
def test_every_form_of_a_text_is_found(secret: str) -> None:
    needle, composed = by_text(secret), unicodedata.normalize("NFC", secret)
    for said in (composed, unicodedata.normalize("NFD", secret), json.dumps(secret)[1:-1], secret.replace("'", "''")):
        assert needle.number_in(f"x {said} x")


@given(LETTERS, SECRETS, LETTERS)
def test_an_entry_without_a_text_is_still_an_entry(name: str, secret: str, content: str) -> None:
    path, label = "memory/entries/x.md", " ".join(f"a{name} {secret}".split())
    data = render_entry(Fact(label, secret, f"{content}{secret}", (secret.strip(),), ("tag",)), None).encode()
    erasure = of_needle(by_text(secret.strip()), ORDINARY, [path], [(path, data)])
    entry = parse_entry(path, erasure.out_of_file(path, data))
    assert entry.problem is None
    assert entry.tags == ("tag",)
    assert secret.strip() not in entry.name + entry.description + entry.content + "".join(entry.aliases)


def test_two_files_never_get_one_name() -> None:
    paths = ["memory/entries/abc-111.md", "memory/entries/abc-222.md", "memory/entries/purged.md", "abc-3/x.md"]
    moved = of_needle(by_pattern(r"abc-\d+"), ORDINARY, paths, []).paths
    assert [moved.get(path) for path in paths] == [
        "memory/entries/purged-2.md",
        "memory/entries/purged-3.md",
        None,
        "purged/x.md",
    ]


def test_the_names_of_crabmem_itself_stay() -> None:
    paths = ["memory/MEMORY.md", "memory/entries/memory.md", "Crab.md", "crabmem.toml"]
    assert of_needle(by_text("memory"), ORDINARY, paths, []).paths == {
        "memory/entries/memory.md": "memory/entries/purged.md"
    }


def test_a_name_is_left_where_it_is_part_of_another() -> None:
    files = [
        ("memory/entries/vet.md", render_entry(Fact("Vet", "d", "c"), None).encode()),
        ("memory/entries/vet-bills.md", render_entry(Fact("Vet bills", "d", "c"), None).encode()),
    ]
    erasure = of_entry("vet", ORDINARY, files, None, Lives(lambda version: b""), {})
    assert erasure is not None
    assert erasure.out_of_words("remember: Vet\n\nEntry: Vet bills\nVets, Vet.") == (
        "remember: (purged)\n\nEntry: Vet bills\nVets, (purged)."
    )


@pytest.mark.parametrize("text", ["(purged)", "purged"])
def test_a_mark_is_never_what_is_erased(text: str) -> None:
    needle: Needle = by_text(text)
    assert needle.number_in(needle.out_of(f"it was {text} before")) == 0
