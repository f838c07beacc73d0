"""Words of all scripts: pairs where nothing separates words, accents and points or none, endings by script."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crabmem.search import scripts, tokens
from crabmem.search.query import Phrase
from crabmem.search.scripts import folded, holds, is_unit, normal, runs, terms
from tests.pace import costing_less_than

HAN = "猫黒白家東京的人々"
KANA = "のとカタルンがー"
HANGUL = "한국어고양이집"
THAI = "กขคงมวยรลอหเแโใไะาิีึืุู็่้๊๋ัํ์ๆ"
LAO = "ກຂຄງຈສເແໂໃໄະາິີຶື່້ຽ"
KHMER = "កខគងចរលសាិីុូេែំះ្់"
MYANMAR = "ကခဂငစနမရာိီုူေဲံ့း္်ျြွှ"


def units_of(word: str) -> list[str]:
    return [unit for _, units in runs(word) for unit in units]


@pytest.mark.parametrize("letters", [HAN, KANA, HANGUL, THAI, LAO, KHMER, MYANMAR, HAN + KANA])
def test_the_words_of_any_part_are_among_those_of_the_text(letters: str) -> None:
    @given(st.text(letters, min_size=2, max_size=20), st.data())
    def law(text: str, data: st.DataObject) -> None:
        units = units_of(text)
        assume(len(units) > 1)
        start = data.draw(st.integers(0, len(units) - 2))
        end = data.draw(st.integers(start + 2, len(units)))
        assert set(terms("".join(units[start:end]), "none")) <= set(terms(text, "none"))

    law()


@given(st.text(HAN + THAI + LAO + KHMER + MYANMAR + "aé1"))
def test_pieces_of_a_word_are_the_whole_word(text: str) -> None:
    assert "".join(run for run, _ in runs(text)) == text
    assert all("".join(units) == run for run, units in runs(text) if units)


@pytest.mark.parametrize(
    ("word", "units"),
    [
        ("รหัสผ่าน", ["ร", "หั", "ส", "ผ่า", "น"]),
        ("เครื่อง", ["เค", "รื่", "อ", "ง"]),
        ("ຫ້ອງ", ["ຫ້", "ອ", "ງ"]),
        ("សៀវភៅ", ["សៀ", "វ", "ភៅ"]),
        ("ផ្ទះ", ["ផ្ទះ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("人々", ["人", "々"]),
    ],
)
def test_letters_stay_with_what_is_written_around_them(word: str, units: list[str]) -> None:
    assert units_of(word) == units


def test_one_unit_is_told_from_pairs_and_from_words() -> None:
    assert [word for word in ("猫", "แม", "집", "猫の", "แมว", "é", "a", "ф", "猫x") if is_unit(word)] == [
        "猫",
        "แม",
        "집",
    ]
    assert holds("黒猫", "猫") and holds("แมว", "แม") and not holds("ยาก", "ย")


@pytest.mark.parametrize("language", ["english", "none", "german", "porter"])
@pytest.mark.parametrize(
    ("word", "typed"),
    [
        ("Käse", "KASE"),
        ("Käse", "kaese"),
        ("Ångström", "angstrom"),
        ("Biomüll", "biomuell"),
        ("Größe", "groesse"),
        ("Öl", "Oel"),
    ],
)
def test_an_umlaut_is_found_with_and_without_an_e(word: str, typed: str, language: str) -> None:
    assert set(tokens(word, language)) >= {*tokens(typed, language)} != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("naïve", "naive"),
        ("Straße", "strasse"),
        ("smørrebrød", "smorrebrod"),
        ("œuvre", "oeuvre"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ISIRGAN", "ısırgan"),
        ("mật khẩu đường", "mat khau duong"),
        ("ёлка", "елка"),
        ("за́мок", "замок"),
        ("κωδικός", "ΚΩΔΙΚΟΣ"),
        ("γάτα", "γατα"),
        ("كِتَابٌ", "كتاب"),
        ("أحمد آخر", "احمد اخر"),
        ("مـفـتـاح", "مفتاح"),
        ("שָׁלוֹם", "שלום"),
        ("می\u200cخواهم", "میخواهم"),
        ("सड़क", "सडक"),
        ("२०२३ ٢٠٢٣", "2023 2023"),
        ("Kranken\u00advers\u00adicherung", "Krankenversicherung"),
    ],
)
def test_both_ways_of_typing_are_the_same_words(one: str, other: str) -> None:
    assert tokens(one) == tokens(other) != []


@pytest.mark.parametrize(
    ("one", "other"), [("мой", "мои"), ("คา", "คี"), ("কল", "কাল"), ("फल", "फूल"), ("ґанок", "канок")]
)
def test_signs_that_make_another_word_stay(one: str, other: str) -> None:
    assert tokens(one, "none") != tokens(other, "none")


@pytest.mark.parametrize("word", ["क्षत्रिय", "বিড়ালের", "குழந்தைகள்", "పిల్లి", "ಬೆಕ್ಕು", "പൂച്ച", "ਬਿੱਲੀ", "બિલાડી", "පූසා", "བོད་"])
def test_marks_belong_to_their_words(word: str) -> None:
    assert len(tokens(f"a {word} b", "none")) == 3


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("english", "пароли", "паролей"),
        ("english", "мачке", "мачка"),
        ("serbian", "мачке", "mačka"),
        ("english", "المدرسة", "مدرسة"),
        ("english", "बिल्लियाँ", "बिल्ली"),
        ("english", "κωδικοί", "κωδικός"),
        ("english", "գաղտնաբառեր", "գաղտնաբառը"),
        ("english", "பூனையின்", "பூனைகள்"),
        ("english", "הסיסמה", "סיסמה"),
        ("english", "חתולים", "החתול"),
        ("russian", "deployed", "deploys"),
        ("russian", "пароли", "паролей"),
        ("french", "préférées", "préféré"),
        ("french", "preferee", "préférée"),
        ("german", "Häuser", "Haus"),
        ("german", "Schlüssel", "Schluessel"),
        ("german", "Größe", "groesse"),
        ("turkish", "anahtarı", "anahtarlar"),
        ("spanish", "contraseñas", "contrasena"),
    ],
)
def test_endings_are_those_of_the_script_and_of_the_language(language: str, one: str, other: str) -> None:
    assert set(tokens(one, language)) & set(tokens(other, language))


def test_no_language_leaves_the_endings() -> None:
    assert tokens("пароли cafés हिन्दी", "none") == ["пароли", "cafes", "हिन्दी"]


LANGUAGES = st.sampled_from(["english", "none", "french", "german", "russian", "arabic", "yiddish", "tamil", "serbian"])


@given(st.text(), LANGUAGES)
def test_any_text_has_words_that_are_composed_and_never_empty(text: str, language: str) -> None:
    found = tokens(text, language)
    assert all(found)
    assert found == [unicodedata.normalize("NFC", word) for word in found]


def test_marks_without_end_take_no_time_without_end() -> None:
    stack = "e" + "\u0301\u0316" * 50_000
    with costing_less_than(2):  # more than five seconds, if all were put in order
        assert tokens(f"caf{stack}") == ["cafe"] and Phrase("cafe", "english").is_in([f"caf{stack}"])


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    once = folded(normal(text))
    assert folded(once) == once


def test_threads_get_the_words_that_one_alone_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "spellings", lru_cache(3)(scripts.spellings.__wrapped__))
    text = "пароли кошки préférée Häuser मकान الكتاب " * 40
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: tokens(text, "french"), range(40))) == [tokens(text, "french")] * 40
