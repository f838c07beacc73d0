"""`crabmem.toml`: what holds without it, and errors that name the key, the file and the way out."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import BadConfig, InvalidArguments, InvalidSettings
from crabmem.prompt.seeding import with_setting
from crabmem.text.toml import MOST_TEXT
from crabmem.workspace.settings import KEYS, AutoRecall, Settings, Vectors, parse_settings
from crabmem.workspace.settings_file import as_dict, as_toml
from tests.examples import examples
from tests.pace import costing_less_than

COUNTS = st.integers(1, 10_000)
CHOSEN = st.builds(
    Settings,
    recall_limit=st.integers(1, 1_000),
    language=st.sampled_from(["english", "german", "none"]),
    recall_budget=COUNTS,
    recency=st.floats(0, 1),
    soul_editable=st.booleans(),
    soul=st.sampled_from(["refuse", "propose"]),
    person=st.text(st.characters(exclude_categories=["Cs"])),
    lock_timeout=st.floats(0.001, 600),
    durability=st.sampled_from(["full", "fast"]),
    secrets=st.sampled_from(["refuse", "warn", "off"]),
    auto_recall=st.builds(AutoRecall, st.integers(1, 1_000), COUNTS, COUNTS, st.floats(0, 1)),
    vectors=st.builds(Vectors, model=st.text(st.characters(exclude_categories=["Cs"])), weight=st.floats(0, 1)),
)


@pytest.mark.parametrize("text", ["", "# nothing set\n", "[auto_recall]\n"])
def test_an_empty_file_means_the_documented_defaults(text: str) -> None:
    assert as_dict(parse_settings(text.encode(), "crabmem.toml")) == {
        "recall_limit": 5,
        "language": "english",
        "recall_budget": 20_000,
        "recency": 0.0,
        "soul_editable": False,
        "soul": "refuse",
        "person": "person",
        "lock_timeout": 10.0,
        "durability": "full",
        "secrets": "refuse",
        "profile": "",
        "tools": True,
        "pause": "auto",
        "layout": "ordinary",
        "extra_paths": (),
        "transcripts": (),
        "also": (),
        "auto_recall": {"limit": 3, "words": 0, "characters": 4_000, "threshold": 0.24},
        "hooks": {"messages": 8, "transcript": 400_000, "tidy": False},
        "vectors": {"provider": "auto", "model": "", "url": "", "key": "", "weight": 0.6, "timeout": 5.0},
        "sync": {"auto": "off", "tool": False},
        "review": {"wait": (), "protect": "off", "expire": 0},
    }


def test_what_is_set_holds_and_the_rest_keeps_its_default() -> None:
    text = 'soul_editable = true\r\nperson = "Emi <emi@example.org>"\r\n[auto_recall]\r\nlimit = 1\r\n'

    assert parse_settings(text.encode(), "crabmem.toml") == Settings(
        soul_editable=True, person="Emi <emi@example.org>", auto_recall=AutoRecall(limit=1)
    )


def test_a_byte_order_mark_is_no_part_of_the_settings() -> None:
    assert parse_settings("\ufeffrecall_limit = 3\n".encode(), "crabmem.toml").recall_limit == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recal_limit = 3", "unknown setting `recal_limit`; did you mean `recall_limit`?"),
        ("zzz = 1", "unknown setting `zzz`; known: recall_limit, language, recall_budget"),
        ("[auto_recall]\nword = 3", "unknown setting `auto_recall.word`; did you mean `words`?"),
        ("[auto_recall]\nzzz = 3", "unknown setting `auto_recall.zzz`; known: limit, words, characters, threshold"),
        ("[vectors]\nmodle = 'x'", "unknown setting `vectors.modle`; did you mean `model`?"),
        ("[vectors]\nzzz = 3", "unknown setting `vectors.zzz`; known: provider, model, url, key, weight, timeout"),
        ("[vectors]\nweight = 2", "vectors.weight must be a number of at most 1, and is 2"),
        ("[vectors]\nprovider = 'gpt'", "vectors.provider cannot be 'gpt'; known: auto, off, "),
        ("language = 'germna'", "language cannot be 'germna'; did you mean `german`?"),
        ('language = "\'"', 'language cannot be "\'"; known: none, arabic, '),
        ("[zzz]\nlimit = 3", "unknown setting `zzz`"),
        ('recall_limit = "3"', "recall_limit must be a whole number, and is '3'"),
        ("recall_limit = true", "recall_limit must be a whole number, and is true"),
        ("recall_limit = 0", "recall_limit must be a whole number of at least 1, and is 0"),
        ("soul_editable = 1", "soul_editable must be true or false, and is 1"),
        ("lock_timeout = 0", "lock_timeout must be a number above 0, and is 0"),
        ("lock_timeout = nan", "lock_timeout must be a number above 0, and is nan"),
        ("auto_recall = 3", "auto_recall must be a table, and is 3"),
        ("[auto_recall]\nlimit = 0", "auto_recall.limit must be a whole number of at least 1, and is 0"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(text: str, message: str) -> None:
    with pytest.raises(InvalidSettings, match=re.escape(message)) as caught:
        parse_settings(text.encode(), "/home/emi/crabmem.toml")

    assert str(caught.value).startswith("/home/emi/crabmem.toml: ")


@pytest.mark.parametrize(
    "name",
    ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PATH", "openai_api_key", "crabmem_key", "CRABMEM_TOKEN",
     "ANTHROPIC_API_KEY", "XCRABMEM_KEY", "OPENAI_API_KEY ", " CRABMEM_KEY"],
)  # fmt: skip
def test_no_variable_is_read_that_holds_something_else_than_a_key_for_vectors(name: str) -> None:
    for url in ("https://api.openai.com/v1", "https://evil.example/v1", ""):
        with pytest.raises(InvalidSettings, match=r"vectors\.key is not OPENAI_API_KEY .* CRABMEM_") as caught:
            parse_settings(f'[vectors]\nurl = "{url}"\nkey = "{name}"'.encode(), "crabmem.toml")
        assert "\n" not in str(caught.value) and (name.strip() in KEYS or name not in str(caught.value))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "api.openai.com.evil.example", "evilapi.openai.com", "api.openai.com@evil.example", "127.0.0.1:80",
     "api.openai.com%2eevil.example", "evil.example#api.openai.com", "evil.example?api.openai.com", "api.voyageai.com",
     "evil.example/api.openai.com", "openai.com", "api.openai.com.", "evil.example\\\\api.openai.com"],
)  # fmt: skip
def test_the_key_of_a_known_service_goes_to_that_service_alone(host: str) -> None:
    with pytest.raises(InvalidSettings, match=r"vectors.key is OPENAI_API_KEY, which is for api\.openai\.com alone"):
        parse_settings(f'[vectors]\nurl = "https://{host}"\nkey = "OPENAI_API_KEY"'.encode(), "crabmem.toml")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        *((f"https://{host}/v1", name) for name, hosts in KEYS.items() for host in hosts),
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
        ("HTTPS://API.OPENAI.COM:443/v1", "OPENAI_API_KEY"),
        ("https://mine.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"),
        ("https://gateway.example/v1", "CRABMEM_KEY"),
        ("http://127.0.0.1:4000/v1", "CRABMEM_KEY"),
        ("", "OPENAI_API_KEY"),
    ],
)
def test_a_key_may_go_where_it_is_for_and_one_of_ours_anywhere(url: str, key: str) -> None:
    assert parse_settings(f'[vectors]\nurl = "{url}"\nkey = "{key}"'.encode(), "crabmem.toml").vectors.key == key


@pytest.mark.parametrize(
    "said",
    ["recall_limit = 1_001", "recall_budget = 1_000_001", "lock_timeout = 601", "lock_timeout = inf", "recency = nan",
     "[auto_recall]\nlimit = 1_001", "[auto_recall]\nwords = 10_001", "[auto_recall]\ncharacters = 1_000_001",
     "[auto_recall]\nthreshold = nan", "[vectors]\ntimeout = 61", "[vectors]\ntimeout = inf", "[vectors]\nweight = nan",
     *(f"{name} = '{'x' * 1_001}'" for name in ("person", "profile")),
     *(f"[vectors]\n{name} = '{'x' * 1_001}'" for name in ("model", "url")),
     f"[review]\nwait = {['entries tagged x'] * 101}", "[review]\nexpire = 36_501"],
)  # fmt: skip
def test_a_setting_that_would_hang_or_flood_is_refused(said: str) -> None:
    with pytest.raises(InvalidSettings, match=r"must be .* (of at most|of at least|above) \d"):
        parse_settings(said.encode(), "crabmem.toml")


@pytest.mark.parametrize(
    "text",
    ["recall_limit =", "recall_limit: 3", "{}", "recall_limit = 3\nrecall_limit = 4", "x = " + "[" * 5_000, "\0"],
)
def test_a_file_that_is_not_toml_is_named(text: str) -> None:
    with pytest.raises(InvalidSettings, match=r"^crabmem\.toml is not TOML"):
        parse_settings(text.encode(), "crabmem.toml")


@given(CHOSEN)
@example(Settings(person="\x7f"))
@example(Settings(person='"\\\n# Emi'))
@limits(max_examples=examples(200))
def test_settings_printed_as_toml_are_the_same_settings(chosen: Settings) -> None:
    assert parse_settings(as_toml(chosen).encode(), "crabmem.toml") == chosen


_DEEP = "a" + ".a" * 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"{_DEEP} = 1\n",
        f"[{_DEEP}]\n",
        f"[[{_DEEP}]]\n",
        f"x = {{{_DEEP} = 1}}\n",
        f"x = [{{ a = 1, {_DEEP} = 1 }}]\n",
        '"a"' + " . 'a'" * 8_000 + " = 1\n",
        f'x = {{ a = """b\n"""", {_DEEP} = 1 }}\n',
        f"x = {{ a = '''b'''', {_DEEP} = 1 }}\n",
        "x = 1\n" + "[" + _DEEP[:30_000] + "]\n",
        "".join(f"x.y{number} = 1\n" for number in range(20_000)),
        f"lock_timeout = {'9' * 50_000}\n",
    ],
)
def test_settings_that_would_take_long_to_read_are_refused_at_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "crabmem.toml").write_text(text)
    (tmp_path / "mine.toml").write_text(text)
    with costing_less_than(2):
        with Memory(tmp_path, agent="me") as memory:
            with pytest.raises(
                InvalidSettings, match=r"crabmem\.toml(, line \d+: a key has| has|.* is not TOML)"
            ) as caught:
                memory.recall("vet")
            assert len(str(caught.value)) < 1_000
            assert any(found.path == "crabmem.toml" and found.level == "error" for found in memory.doctor())
        with (
            pytest.raises((InvalidSettings, InvalidArguments)),
            Memory(tmp_path, profile=str(tmp_path / "mine.toml")) as memory,
        ):
            memory.prompt()
        with pytest.raises((InvalidSettings, BadConfig)):
            with_setting(text, "profile", "camel")


def test_dots_in_texts_and_comments_of_settings_are_not_counted() -> None:
    text = "person = \"a.b.c.d.e.f.g.h.i.j.k\"  # a.b.c.d.e.f.g.h.i.j.k.l\n[vectors]\nmodel = 'a.b.c.d.e.f.g.h.i.j.k'\n"
    assert parse_settings(text.encode(), "crabmem.toml").person == "a.b.c.d.e.f.g.h.i.j.k"


def test_the_settings_that_crabmem_writes_are_few_enough_to_be_read() -> None:
    assert len(as_toml(Settings())) < MOST_TEXT // 4


@pytest.mark.parametrize("word", ["soal", "", "entries tagged", "entries tagged ", "entries tagged #", "Entries"])
def test_a_word_of_what_waits_that_means_nothing_is_refused_with_those_there_are(word: str) -> None:
    with pytest.raises(InvalidSettings, match="knows soul, overview, entries, everything, and entries tag"):
        parse_settings(f"[review]\nwait = ['{word}']".encode(), "crabmem.toml")
