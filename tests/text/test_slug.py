"""File names for entries: readable, safe everywhere, and never shared by two names."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem.text.slug import free_slug, name_key, slug_of
from tests.examples import examples

# Every code point, halves of surrogate pairs among them: agents' names come from command lines.
ANYTHING = st.text(st.characters())


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Luna's vet", "luna-s-vet"),
        ("C", "c"),
        ("C++", "c-plus-plus"),
        ("C#", "c-sharp"),
        ("C++ and C#", "c-plus-plus-and-c-sharp"),
        ("#tag", "tag"),
        ("日本語", "日本語"),
        ("🦀", "crab"),
        ("!!!", "exclamation-mark-exclamation-mark-exclamation-mark"),
        ("../../etc/passwd", "etc-passwd"),
        ("..\\..\\windows\\system32", "windows-system32"),
        ("C:notes.txt", "c-notes-txt"),
        (".git", "git"),
        ("ﬁne ＷＩＤＥ", "fine-wide"),
        ("สวัสดี ชาวโลก", "สวัสดี-ชาวโลก"),
        ("हिन्दी में", "हिन्दी-में"),
        ("", "entry"),
    ],
)
def test_slug_is_readable(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(ANYTHING)
@example("a" * 300)
@example("日" * 300)
@example("é" * 300)
@example("❤\ufe0f")
@example("Luna ❤\ufe0f")
@example("\u0301")
@example("con\ud800")
@settings(max_examples=examples(300))
def test_slug_of_any_name_is_safe_on_every_system(name: str) -> None:
    slug = slug_of(name)

    assert 0 < len(slug.encode()) <= 120
    assert unicodedata.is_normalized("NFC", slug)
    assert all(char == "-" or char.isalnum() or unicodedata.category(char)[0] == "M" for char in slug)
    assert not re.search("^-|--|-$", slug)
    assert not re.search("(^|-)[\u0300-\u036f]|[\u034f\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]", slug)


@given(ANYTHING)
@settings(max_examples=examples(200))
def test_slug_of_a_slug_is_itself(name: str) -> None:
    slug = slug_of(name)

    assert slug_of(slug) == slug


@pytest.mark.parametrize("device", ["CON", "prn", "Aux", "nul", "COM1", "com0", "LPT9", "COM¹"])
def test_windows_devices_get_a_name_of_their_own(device: str) -> None:
    assert re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)-[0-9a-f]{8}", slug_of(device))


@given(ANYTHING, st.sampled_from(["NFC", "NFD"]))
@example("Käsespätzle " * 20, "NFD")
@settings(max_examples=examples(200))
def test_composed_and_decomposed_spellings_are_one_name(name: str, form: "unicodedata._NormalizationForm") -> None:
    other = unicodedata.normalize(form, name)

    assert slug_of(other) == slug_of(name)
    assert name_key(other) == name_key(name)


@given(st.text("abcXYZ é日-+#.", max_size=200))
@example("con")
@settings(max_examples=examples(200))
def test_case_and_white_space_do_not_make_another_name(name: str) -> None:
    other = f" {name.upper()}\t"

    assert name_key(other) == name_key(name)
    assert slug_of(other) == slug_of(name)


@given(st.lists(st.text("aA+#!日é-", max_size=4) | st.just("a" * 300), max_size=12))
@example(["C", "c", "C!", "c?", "C"])
@settings(max_examples=examples(200))
def test_names_in_one_folder_never_share_a_slug(names: list[str]) -> None:
    taken: set[str] = set()
    for name in names:
        slug = free_slug(name, taken)

        assert name_key(slug) not in taken
        assert len(slug.encode()) <= 120
        taken.add(name_key(slug))


def test_a_taken_slug_gets_a_suffix_that_depends_on_the_name_alone() -> None:
    first, second = free_slug("C!", {"c"}), free_slug("C?", {"c", "d"})

    assert re.fullmatch("c-[0-9a-f]{8}", first)
    assert first == free_slug("c!", {"c", "something-else"})
    assert first != second


def test_a_free_slug_stays_as_it_is() -> None:
    assert free_slug("Luna's vet", {"luna", "vet"}) == "luna-s-vet"
