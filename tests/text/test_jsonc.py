"""Settings of other programs: a change is cut into the text, and taken out again without a trace."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import BadConfig
from crabmem.text import jsonc

KEYS = st.sampled_from(["a", "b", "mcpServers", "hooks", "ü", 'q"'])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.floats(-2, 2)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\n\t", " // said\n", "/* so */", "\n  // {\n  ", "\r\n"])


@st.composite
def texts(draw: st.DrawFn, value: Any) -> str:
    """`value` as somebody may have written it."""
    if isinstance(value, dict | list):
        space, ends_with_comma = draw(SPACES), draw(st.booleans())
        named = value.items() if isinstance(value, dict) else [(None, item) for item in value]
        members = [
            ("" if key is None else json.dumps(key) + draw(SPACES) + ":") + draw(SPACES) + draw(texts(item))
            for key, item in named
        ]
        written = (space + "," + draw(SPACES)).join(members) + ("," if members and ends_with_comma else "")
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + draw(SPACES) + written + draw(SPACES) + closing
    return json.dumps(value)


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    value = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    return value, draw(SPACES) + draw(texts(value)) + draw(SPACES)


def places(value: Any, path: jsonc.Path = ()) -> list[jsonc.Path]:
    """Where something new can be put: under a new key of any object, at the end of any array."""
    if isinstance(value, dict):
        inner = [place for key, item in value.items() for place in places(item, (*path, key))]
        return [(*path, "new"), (*path, "new", "er"), *inner]
    if isinstance(value, list):
        inner = [place for at, item in enumerate(value) for place in places(item, (*path, at))]
        return [(*path, len(value)), *inner]
    return []


@given(documents())
def test_a_text_holds_what_was_written(document: tuple[dict[str, Any], str]) -> None:
    value, text = document
    assert jsonc.parse(text) == value


@given(VALUES)
def test_strict_json_is_what_python_reads(value: Any) -> None:
    assert jsonc.parse(json.dumps(value, indent=1), strict=True) == value


@given(documents(), VALUES, st.data())
def test_what_was_put_is_there_and_dropping_it_gives_the_same_bytes_back(
    document: tuple[dict[str, Any], str], value: Any, data: st.DataObject
) -> None:
    _, text = document
    path = data.draw(st.sampled_from(places(jsonc.parse(text))))
    changed = jsonc.put(text, path, value)
    found: Any = jsonc.parse(changed)
    for key in path:
        found = found[key]
    assert found == value
    made = path[: path.index("new") + 1] if "new" in path else path
    assert jsonc.drop(changed, made) == text


@given(documents(), st.data())
def test_what_is_dropped_is_gone_and_nothing_else(document: tuple[dict[str, Any], str], data: st.DataObject) -> None:
    value, text = document
    if value:
        key = data.draw(st.sampled_from(sorted(value)))
        assert jsonc.parse(jsonc.drop(text, (key,))) == {name: item for name, item in value.items() if name != key}
        assert jsonc.parse(jsonc.put(text, (key,), [1])) == {**value, key: [1]}


@given(st.text(alphabet='{}[]",: \n/*a1\\', max_size=30))
def test_no_text_raises_anything_but_bad_config(text: str) -> None:
    try:
        jsonc.parse(text)
    except BadConfig as error:
        assert str(error).startswith("line ")


def test_a_new_member_is_written_in_the_manner_of_its_neighbours() -> None:
    text = '{\n\t// mine\n\t"servers": {\n\t\t"a": {} // first\n\t},\n}\n'
    assert jsonc.put(text, ("servers", "b"), {"x": 1}) == (
        '{\n\t// mine\n\t"servers": {\n\t\t"a": {}, // first\n\t\t"b": {\n\t\t\t"x": 1\n\t\t}\n\t},\n}\n'
    )


def test_a_comment_after_the_closing_bracket_stays_there() -> None:
    assert jsonc.put('{\n  "a": 1 /* x */ } /* y */\n', ("b",), 2) == ('{\n  "a": 1,\n  "b": 2 /* x */ } /* y */\n')


def test_one_line_stays_one_line() -> None:
    assert jsonc.put('{"a": {"b": 1}}', ("a", "c"), [1, 2]) == '{"a": {"b": 1, "c": [1, 2]}}'


def test_lines_of_windows_stay_lines_of_windows() -> None:
    assert jsonc.put('{\r\n  "a": 1\r\n}\r\n', ("b",), {"c": 2}) == (
        '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n "a": 2}', "line 2: the key 'a' is there twice"),
        ('{"a": 1\n "b": 2}', "line 2: a comma or } is missing"),
        ('{"a": NaN}', "line 1: 'NaN' is no value"),
        ("{'a': 1}", "line 1: a key in double quotes is missing"),
        ('{"a": 1}\n}', "line 2: something follows the end"),
        ('{"a": ', "line 1: it ends too early"),
        ("[" * 1000, "line 1: too deeply nested"),
        ('{"a": 1}\n/* and then', "line 2: a comment does not end"),
    ],
)
def test_errors_name_the_line(text: str, words: str) -> None:
    with pytest.raises(BadConfig) as error:
        jsonc.parse(text)
    assert str(error.value) == words


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1 // said\n}'])
def test_strict_json_has_no_comments_and_no_last_comma(text: str) -> None:
    assert jsonc.parse(text) == {"a": 1}
    with pytest.raises(BadConfig):
        jsonc.parse(text, strict=True)


def test_a_text_where_an_object_is_needed_is_an_error() -> None:
    with pytest.raises(BadConfig, match="line 2: 'b' can only stand in an object"):
        jsonc.put('{\n"a": 1}', ("a", "b"), 2)
