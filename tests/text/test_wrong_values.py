"""What is wrong with a value: in our words, whatever the value; none of msgspec's stay."""

import re
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidSettings
from crabmem.text import toml
from crabmem.text.values import fields_of
from crabmem.text.wrong_values import place_in, value_at, wrong_value
from crabmem.workspace.settings import Settings
from crabmem.workspace.settings_file import form_of

_VALUES = st.one_of(
    st.integers(-(2**62), 2**62), st.floats(), st.booleans(),
    st.text(st.characters(codec="utf-8", exclude_characters="$`"), max_size=2_000),  # by which the library is known
    st.lists(st.integers(0, 3)), st.dictionaries(st.sampled_from("abc"), st.booleans()), st.dates(), st.datetimes(),
)  # fmt: skip


@given(st.sampled_from(sorted(fields_of(Settings))), _VALUES)
def test_a_wrong_value_is_told_with_its_key_and_without_a_word_of_the_library(key: str, value: Any) -> None:
    text = tomlkit.dumps({key: value})
    try:
        toml.read(text, "crabmem.toml", form_of(Settings))
    except InvalidSettings as error:
        told = str(error)
        assert re.match(
            rf"crabmem\.toml: (?:{key}(?:\.\w+|\[\d+\])? (?:must be|cannot be) |unknown setting `{key}\.)", told
        )
        assert not re.search(r"`?\$|Expected|got `|enum", told.replace(repr(value), ""))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("a", {"b": [1, 2]}),
        ("a.b[1]", 2),
        ("a.b[7]", ...),
        ("a[...].b", ...),
        ("", {"a": {"b": [1, 2]}}),
        ("a.b.c", ...),
    ],
)
def test_a_value_is_found_where_the_message_says(place: str, value: Any) -> None:
    found = value_at({"a": {"b": [1, 2]}}, place)
    assert found == value if value is not ... else found is value_at({}, "x")


def test_a_value_that_cannot_be_found_is_not_named() -> None:
    message = "Expected `int` >= 1 - at `$.shares[...]`"
    place = place_in(message)
    assert wrong_value(message, place, value_at({"shares": {"a": 0}}, place)) == (
        "shares[...] must be a whole number of at least 1"
    )
    assert wrong_value("something else", "x", 3) == ""
