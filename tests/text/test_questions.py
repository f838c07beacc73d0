"""A person's own test set: what may be written, and errors that name the file, the place and the way out."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments
from crabmem.text.questions import Expectation, parsed

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: text.strip() == text)


def test_toml_and_lines_of_json_say_the_same() -> None:
    toml = """
        [[query]]
        text = "who looks after the dog"
        find = ["Luna's vet", "dog sitter"]
        tags = ["pets"]
        first = true
        workspace = "household"

        [[query]]
        query = " wifi for guests "
        find = "Wifi"
    """
    lines = """{"text": "who looks after the dog", "find": ["Luna's vet", "dog sitter"], "tags": "pets", "first": true,\
 "workspace": "household"}\n\n{"query": " wifi for guests ", "find": "Wifi"}\n"""
    dog = Expectation("who looks after the dog", ("Luna's vet", "dog sitter"), ("pets",), True, "household")
    assert parsed(toml, "x") == parsed(lines, "x") == [dog, Expectation("wifi for guests", ("Wifi",))]


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_questions() -> None:
    assert parsed('\ufeff[[query]]\r\ntext = "a"\r\nfind = "b"\r\n', "x") == [Expectation("a", ("b",))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "q.toml has no questions; write [[query]]"),
        ("# none yet\n", "q.toml has no questions"),
        ("query = []", "q.toml has no questions"),
        ('[[query]]\ntext = "a"\nfind = \n', "q.toml is not TOML: Invalid value (at line 3, column 8)"),
        ("x = " + "[" * 5_000, "q.toml is not TOML"),
        ('[[queries]]\ntext = "a"', "q.toml: unknown key `queries`; write [[query]]"),
        ('[query]\ntext = "a"', "q.toml: `query` is not a list of tables; write [[query]]"),
        ("query = [3]", "q.toml, query 1: Expected a table, got `int`"),
        ('[[query]]\nfind = "b"', "q.toml, query 1: no `text`; say what is asked"),
        ('[[query]]\ntext = " "\nfind = "b"', "q.toml, query 1: no `text`"),
        ('[[query]]\ntext = "a"\nquery = "a"\nfind = "b"', "q.toml, query 1: `text` and `query` are the same"),
        (
            '[[query]]\ntext = "a"\nfind = "b"\n[[query]]\ntext = "c"',
            "q.toml, query 2 (c): no `find`; name the entries",
        ),
        ('[[query]]\ntext = "a"\nfind = []', "q.toml, query 1 (a): no `find`"),
        ('[[query]]\ntext = "a"\nfind = [" "]', "q.toml, query 1 (a): no `find`"),
        ('[[query]]\ntext = "a"\nfinds = "b"', "q.toml, query 1: unknown key `finds`; did you mean `find`?"),
        ('[[query]]\ntext = "a"\nzzz = 1', "q.toml, query 1: unknown key `zzz`; known: text, query, find, tags, first"),
        ('[[query]]\ntext = 3\nfind = "b"', "q.toml, query 1: Expected `str`, got `int` - at `text`"),
        ('[[query]]\ntext = "a"\nfind = [3]', "q.toml, query 1: Expected `str`, got `int` - at `find[0]`"),
        ('{"text": "a", "find": "b"}\n{"text": ', "q.toml, line 2 is not JSON: Expecting value"),
        ('{"text": "a", "find": "b"}\n[]', "q.toml, line 2: Expected a table, got `array`"),
        ('\n{"text": "a", "fnd": "b"}', "q.toml, line 2: unknown key `fnd`; did you mean `find`?"),
        ('{"text": ' + "[" * 100_000, "q.toml, line 1 is not JSON"),
    ],
)
def test_what_is_wrong_is_one_line_with_file_and_place(text: str, message: str) -> None:
    with pytest.raises(InvalidArguments, match=re.escape(message)) as caught:
        parsed(text, "q.toml")
    assert "\n" not in str(caught.value)


@given(st.builds(Expectation, TEXTS, st.lists(TEXTS, min_size=1).map(tuple), st.lists(TEXTS).map(tuple), st.booleans()))
def test_a_question_written_as_json_is_the_same_question(question: Expectation) -> None:
    keys = {"text": question.query, "find": question.find, "tags": question.tags, "first": question.first}
    assert parsed(json.dumps(keys), "x") == [question]


@given(st.text())
def test_any_text_is_questions_or_an_error_of_one_line(text: str) -> None:
    try:
        assert parsed(text, "x")
    except InvalidArguments as error:
        assert "\n" not in " ".join(str(error).split())
