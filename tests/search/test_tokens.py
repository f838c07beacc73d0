"""The words of a text."""

import re
import unicodedata
from datetime import date

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.search import tokens
from crabmem.search.english import BASES, MONTHS, SILENT
from tests.examples import examples

FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
#: What tells the ways apart that tokens goes: letters, joints, signs, dates, apostrophes, marks, scripts.
TEXTS = st.text() | st.text("abCD12 09.-_/@'’#+\néß日本한สี") | st.text("MayJun 2023-158.,thT/\n")
NAMES = st.lists(st.text("bcdfghjklmnpqrtvwxz", min_size=2, max_size=6), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("?! … — 🦀", []),
        ("Running runs", ["run", "run"]),
        ("the Boiler's pressure, in bar", ["boiler", "pressur", "bar"]),
        ("C++ and C#, or c", ["c++", "c#", "c"]),
        ("c++17 F#", ["c++", "17", "c++17", "f#"]),
        ("abc++ #tag b#c", ["abc", "tag", "b", "c"]),
        ("C++のビルド", ["c++", "のビ", "ビル", "ルド"]),
        ("日本語", ["日本", "本語"]),
        ("猫 x 犬", ["猫", "x", "犬"]),
        ("東京tower", ["東京", "tower"]),
        ("ﾊﾟﾝ ＨＴＴＰ", ["パン", "http"]),
        ("한국어", ["한국", "국어"]),
        ("HTTP 429", ["http", "429"]),
        ("STRASSE Straße", ["strass", "strass"]),
        ("“quoted”…and—dashed", ["quot", "dash"]),
        ("größe_max, user_name→id", ["gross", "groess", "max", "user", "name", "usernam", "id"]),
        ("हिन्दी भाषा", ["हिन्द", "भाष"]),
        ("ที่นี่ C++แมว", ["ที่นี่", "c++", "แมว"]),
    ],
)
def test_words_of_a_text(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parse_invoice_line", ["pars", "invoic", "line", "parseinvoicelin"]),
        ("parseInvoice", ["pars", "invoic", "parseinvoic"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("base64Encode", ["base64", "encod", "base64encod"]),
        ("APIs", ["api"]),
        ("CRABMEM_DIR", ["crabmem", "dir", "crabmemdir"]),
        ("`ops/deploy.sh`:", ["op", "deploy", "sh", "opsdeploysh"]),
        ("~/.ssh/id_rsa", ["ssh", "id", "rsa", "sshidrsa"]),
        ("../notes", ["note"]),
        ("v3.11.7,", ["v3", "11", "7", "v3-11-7"]),
        ("python-3.12", ["python", "3", "12", "python3-12"]),
        ("2.0.0b2", ["2", "0", "0b2", "2-0-0b2"]),
        ("E0502 PW-E312", ["e0502", "pw", "e312", "pwe312"]),
        ("e-mail email e mail", ["e", "mail", "email", "email", "e", "mail"]),
        ("check-in", ["check", "checkin"]),
        ("1/2 030-12345 sha-256", ["1", "2", "1-2", "030", "12345", "030-12345", "sha", "256", "sha256"]),
        ("CI/CD", ["ci", "cd", "cicd"]),
        ("anna@example.org", ["anna", "exampl", "org", "annaexampleorg"]),
        ("https://example.org/a-b?q=1", ["https", "exampl", "org", "b", "exampleorgab", "q", "1"]),
        ("--no-verify", ["no", "verifi", "noverifi"]),
        ("wait...what", ["wait"]),
        (".env", ["env"]),
        ("f" * 100 + "G", ["f" * 100 + "g"]),
    ],
)
def test_what_is_put_together_is_its_parts_and_the_whole(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Luna's Luna’s LUNA'S lunas'", ["luna", "luna", "luna", "luna"]),
        ("José's José’s", ["jose", "jose"]),
        ("I'm we'll", ["i", "we"]),
        ("don't can’t", ["don"]),
        ("O'Brien", ["o", "brien"]),
        ("What did she buy, and who was it for?", ["buy"]),
        ("Who is it?", []),
        ("I keep my notes", ["i", "keep", "my", "note"]),
        ("not in May, Will", ["not", "may", "will"]),
        ("went goes going gone", ["go", "go", "go", "go"]),
        ("bought buying", ["buy", "buy"]),
        ("two children, 3rd child, three feet", ["two", "child", "3", "child", "three", "foot"]),
        ("second rose left", ["second", "rose", "left"]),
    ],
)
def test_english_words_have_one_form_and_what_says_nothing_is_none(text: str, words: list[str]) -> None:
    assert tokens(text) == words


def test_other_languages_have_the_words_of_their_own() -> None:
    assert tokens("die was will geht's", "german") == ["die", "was", "will", "geht", "s"]
    assert tokens("l'homme d'abord", "french") == ["l", "homm", "d", "abord"]
    assert tokens("The children's running", "none") == ["the", "children", "s", "running"]


NINTH_OF_JUNE = {"9", "june", "2024", "2024-06", "2024-06-09"}


@pytest.mark.parametrize(
    "text",
    [
        "9 June 2024",
        "9 june, 2024",
        "9th of June, 2024",
        "June 9, 2024",
        "June 9th 2024",
        "9. June 2024",
        "2024-06-09",
        "2024-6-9",
        "2024/06/09",
        "(2024-06-09)",
        "2024-06-09.",
        "09.06.2024",
        "9.6.2024",
    ],
)
def test_however_a_date_is_written_it_is_the_same_words(text: str) -> None:
    assert set(tokens(text)) == NINTH_OF_JUNE


@pytest.mark.parametrize(
    "text", ["memory/2024-06-09.md", "2024-06-09T07:30:00Z", "from=2024-06-09", "日2024-06-09", "9-Jun-2024"]
)
def test_a_date_is_found_among_other_things(text: str) -> None:
    assert set(tokens(text)) > NINTH_OF_JUNE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("in June 2024", {"june", "2024", "2024-06"}),
        ("2024-06", {"june", "2024", "2024-06"}),
        ("Dec 25, 2023", {"dec", "decemb", "25", "2023", "2023-12", "2023-12-25"}),
        ("12/25/2023", {"decemb", "25", "2023", "2023-12", "2023-12-25"}),
        ("25/12/2023", {"decemb", "25", "2023", "2023-12", "2023-12-25"}),
        ("06/06/2024", {"june", "6", "2024", "2024-06", "2024-06-06"}),
    ],
)
def test_dates_have_a_month_and_a_day_to_be_found_by(text: str, words: set[str]) -> None:
    assert set(tokens(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "06/09/2024",
        "30.13.2023",
        "2024.1.0",
        "mayJune 2024",
        "émay 2024",
        "12024-06-09",
        "2024-06-091.",
        "9 June",
        "8 2023",
    ],
)
def test_what_may_be_another_date_or_none_is_no_date(text: str) -> None:
    assert not any(re.fullmatch(r"20\d\d-\d\d(-\d\d)?", word) for word in tokens(text))


def test_a_date_ends_with_its_line() -> None:
    assert tokens("9 June\n2024") == ["9", "june", "2024"]


def test_dates_in_numbers_are_for_every_language_their_months_for_english() -> None:
    assert tokens("2024-06-09", "german") == ["2024", "9", "2024-06", "2024-06-09"]


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
@settings(max_examples=examples(100))
def test_a_question_for_a_day_or_its_month_has_only_words_of_the_date(day: date) -> None:
    words = set(tokens(day.isoformat()))

    for way in (
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
    ):
        assert set(tokens(way)) == words
    assert set(tokens(f"{day:%B} {day.year}")) | set(tokens(f"{day:%Y-%m}")) < words


def test_months_are_known_by_the_words_of_their_names() -> None:
    days = [date(2023, month, 1) for month in range(1, 13)]

    assert {name for day in days for way in ("%B", "%b") for name in tokens(f"{day:{way}}")} | {"sept"} == set(MONTHS)
    assert all(MONTHS[tokens(f"{day:{way}}")[0]] == day.month for day in days for way in ("%B", "%b"))


def test_no_word_is_a_form_of_a_form_or_says_nothing() -> None:
    assert not BASES.keys() & set(BASES.values())
    assert not SILENT & (BASES.keys() | set(BASES.values()))


def test_forms_that_have_their_base_by_rule_are_not_listed() -> None:
    stem = Stemmer.Stemmer("english").stemWord

    assert [form for form, base in BASES.items() if stem(form) == stem(base)] == []


@pytest.mark.parametrize("text", ["café", "Käsespätzle", "パン", "한국어", "Ångström", "José's"])
def test_composed_and_decomposed_letters_are_the_same_words(text: str) -> None:
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFC", text)) != []


@given(NAMES)
@settings(max_examples=examples(200))
def test_however_a_name_is_joined_each_part_finds_it_and_so_does_the_whole(parts: list[str]) -> None:
    camel = parts[0] + "".join(map(str.capitalize, parts[1:]))
    ways = {camel, *(joint.join(parts) for joint in "._-/"), "_".join(parts).upper(), f"`{'-'.join(parts)}`,"}
    words = {tuple(tokens(way)) for way in ways}

    assert len(words) == 1
    for part in (*parts, "".join(parts), "".join(parts).upper()):
        assert set(tokens(part)) <= set(*words)


@given(st.lists(st.integers(0, 99), min_size=2, max_size=4))
def test_a_version_is_found_by_each_of_its_numbers_and_whole(numbers: list[int]) -> None:
    version = ".".join(map(str, numbers))

    assert tokens(version) == [*map(str, numbers), "-".join(map(str, numbers))]


@given(TEXTS, TEXTS, st.sampled_from(["english", "german", "none"]))
@settings(max_examples=examples(500))
def test_the_words_of_two_lines_are_those_of_one_and_of_the_other(first: str, second: str, language: str) -> None:
    assert tokens(f"{first}\n{second}", language) == tokens(first, language) + tokens(second, language)


@given(TEXTS, st.sampled_from(["english", "german", "none"]))
@settings(max_examples=examples(500))
def test_no_word_is_empty_or_holds_white_space(text: str, language: str) -> None:
    assert all(word and not any(char.isspace() for char in word) for word in tokens(text, language))


@given(st.text(st.characters(max_codepoint=127)) | st.text("abC1 20-3#+_'.\n"))
@settings(max_examples=examples(500))
def test_letters_of_full_width_are_the_same_words(text: str) -> None:
    assert tokens(text.translate(FULL_WIDTH)) == tokens(text)


@given(TEXTS)
@settings(max_examples=examples(200))
def test_what_was_asked_before_changes_no_words(text: str) -> None:
    first = tokens(text)
    tokens(text.swapcase())

    assert tokens(text) == first


def test_words_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens.__globals__, "_CACHED_WORDS", 2)
    assert tokens("walks walked walking running walks") == ["walk", "walk", "walk", "run", "walk"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Call +34 600 123 456 now.", "600123456"),
        ("Call +34 600 123 456 now.", "+34600123456"),
        ("Call +34 600 123 456 now.", "34 600 123 456"),
        ("(030) 1234 56789 is the office", "123456789"),
        ("IBAN 3704 0044 0532 0130 00", "370400440532013000"),
        ("call 600-123-456", "600123456"),
    ],
)
def test_a_long_number_is_found_however_its_digits_are_grouped(written: str, asked: str) -> None:
    assert {*tokens(asked)} & {*tokens(written)} - {"34", "600", "123", "456"}


@pytest.mark.parametrize(
    "text", ["2019 2020", "on 2024-06-09 we", "1 2 3 4", "5.5 600 123 456.7", "x1 600-123456789012"]
)
def test_numbers_that_are_no_long_one_stay_apart(text: str) -> None:
    assert [word for word in tokens(text) if word.isdigit() and len(word) > 12] == []
    assert "20192020" not in tokens(text) and "20240609" not in tokens(text) and "1234" not in tokens(text)


@pytest.mark.parametrize("piece", ["\ufdfa", "\ufdfa\ufdfa\ufdfa{}", "\ufdfa{} "])
def test_a_text_of_signs_that_fold_into_many_letters_has_no_more_words_than_another(piece: str) -> None:
    text = "".join(piece.format(chr(0x4E00 + at)) for at in range(5_000))

    assert len(tokens(text)) <= 2 * len(text) + 64


def test_the_end_of_a_talk_with_many_signs_of_three_dots_is_found() -> None:
    assert tokens("「是吗……不知道」" * 200 + "龙虾")[-1] == "龙虾"
