"""Frontmatter: what counts as one, what is refused, and that one key changes without the others."""

import re
import threading

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from crabmem.text.frontmatter import (
    MAX_DEPTH,
    BadHeader,
    Value,
    dump,
    fault,
    load,
    map_texts,
    parts_of,
    with_keys,
)
from crabmem.text.limits import MAX_HEADER
from tests.examples import examples

YAMLISH = st.text(st.sampled_from("ab1 \n\t\r\x85\u2028\ufeff\0\ud800{}[]:-?!&*|>%@`'\"#,~<=.…🦀"))
FRAGMENTS = st.lists(
    st.sampled_from(
        ["---", "...", "\n", "\r\n", "\r", "a: ", "? ", "- ", "  ", "!!set", "%YAML 9.9", "|2", '"\\x', "{"]
    )
).map("".join)


@given(YAMLISH | FRAGMENTS)
@example("---\n---\n")
@example("---\na: b")
@example("\ufeff---\r\na: b\r\n---")
@settings(max_examples=examples(150))
def test_a_text_taken_apart_is_whole_again(text: str) -> None:
    parts = parts_of(text)

    assert parts.bom + parts.opening + (parts.header or "") + parts.closing + parts.content == text


@pytest.mark.parametrize(
    ("text", "header", "content"),
    [
        ("---\na: b\n---\nc", "a: b\n", "c"),
        ("\ufeff---\r\na: b\r\n---\r\nc", "a: b\r\n", "c"),
        ("---\n---\n", "", ""),
        ("--- \na: b\n---\t\n\nc\n---\nd", "a: b\n", "\nc\n---\nd"),
        ("---\na: b\n---", "a: b\n", ""),
        ("---\na: x---\n---\n", "a: x---\n", ""),
        ("---\na: b\n", None, "---\na: b\n"),
        ("----\na: b\n---\n", None, "----\na: b\n---\n"),
        ("\n---\na: b\n---\n", None, "\n---\na: b\n---\n"),
        ("a: b\n---\n", None, "a: b\n---\n"),
    ],
)
def test_only_a_closed_fence_at_the_very_beginning_is_frontmatter(text: str, header: str | None, content: str) -> None:
    parts = parts_of(text)

    assert (parts.header, parts.content) == (header, content)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: no", "no"),
        ("a: 1.10", "1.10"),
        ("a: 2026-01-02", "2026-01-02"),
        ("a: 0x1F", "0x1F"),
        ("a:", ""),
        ("a: [1, true, [no]]", ["1", "true", ["no"]]),
        ("a: {b: 007}", {"b": "007"}),
        ("a: !!python/object/apply:os.system [echo]", ["echo"]),
        ("a: !!python/name:os.system", ""),
        ("a: !!binary aGk=", "aGk="),
        ("a: 1\na: 2", "2"),
    ],
)
def test_every_scalar_is_the_text_that_was_typed(line: str, value: Value) -> None:
    assert load(line) == {"a": value}


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        ("a: null", {"a": ""}),
        ("a: ~\nb: Null # none\nc: NULL", {"a": "", "b": "", "c": ""}),
        ("a: [null, {b: ~}]", {"a": ["", {"b": ""}]}),
        ("a: 'null'\nb: \"~\"\nc: !!str null", {"a": "null", "b": "~", "c": "null"}),
        ("a: null words\nb: nUll\nc: ~/notes", {"a": "null words", "b": "nUll", "c": "~/notes"}),
        ("null: a\n~: b", {"null": "a", "~": "b"}),
    ],
)
def test_null_is_no_value_unless_it_is_in_quotes(lines: str, keys: dict[str, Value]) -> None:
    assert load(lines) == keys


def test_null_keeps_its_bytes_when_another_key_changes() -> None:
    assert with_keys("a: null\nb: ~ # none\nc: x\n", {"a": "", "c": "y"}, "\n") == "a: null\nb: ~ # none\nc: y\n"


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n"])
def test_a_header_without_keys_is_empty_and_fine(text: str) -> None:
    assert load(text) == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: " + "x" * MAX_HEADER, "longer than"),
        ("a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested too deeply"),
        ("a: [" + "x," * 3_000 + "]", "nested too deeply or too long"),
        ("a: &x 1\nb: *x", "anchors or aliases"),
        ("a: &x 1", "anchors or aliases"),
        ("<<: *x", "anchors or aliases"),
        ("a: b\n  name: KB: x", "line 3: "),
        ("a: 'b\nc", "line "),
        ("- a\n- b", "not a list of `key: value` lines"),
        ("just words", "not a list of `key: value` lines"),
        ("[a]: b", "line 2: "),
        ("a: b\n--- \nc: d", "line "),
        ("a: \0", "it is not YAML|unacceptable|control characters"),
    ],
)
def test_a_bad_header_says_where_and_why(text: str, why: str) -> None:
    with pytest.raises(BadHeader, match=why):
        load(text)


@given(YAMLISH | FRAGMENTS)
@settings(max_examples=examples(300))
def test_any_text_loads_as_keys_or_is_a_bad_header(text: str) -> None:
    try:
        keys = load(text)
    except BadHeader as error:
        assert str(error)
    else:
        assert all(isinstance(key, str) for key in keys)


@pytest.mark.parametrize(
    "text",
    ["a: " + "[" * 16_000, "{a: " * 4_000, "- " * 8_000, "? " * 8_000, "".join(" " * n + "a:\n" for n in range(170))],
)
def test_deep_nesting_is_refused_where_the_stack_is_small(text: str) -> None:
    refused: list[str] = []

    def attempt() -> None:
        try:
            load(text)
        except BadHeader as error:
            refused.append(str(error))

    before = threading.stack_size(128 * 1024)
    try:
        thread = threading.Thread(target=attempt)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()

    assert refused == ["it is nested too deeply or too long"]


OTHER_LINES = st.sampled_from(
    [
        "# a comment, kept\n",
        "\n",
        "plain: green # why\n",
        'quoted: "# not a comment" # but this\n',
        "crab: 🦀 äöü # é\n",
        "flow: {by: [aunt, Tilda], times: 2}\n",
        "list:\n  - house # here\n  # between\n  - garden\n",
        "block: |\n  a: b\n  # text\n\n",
        "empty:\n",
        "x-order : [3, 1, 2]\n",
    ]
)
SET_LINES = st.sampled_from(
    [
        ("key: old", ""),
        ("key: 'old'", " # stays"),
        ("key: old\u00a0", ""),
        ("key:", " # stays"),
        ("'key' : old", "  "),
        ("key: [old, older]", " # stays"),
        ("key:\n  - old\n  - older", "\n# stays"),
        ("key: >-\n  old\n  older", "\n"),
        ('key: "old\n  older"', ""),
    ]
)
NEW_VALUES = st.sampled_from(["new", "", "no", "# new", "a: b", "🦀", "two\nlines", "new\u3000"]) | st.lists(
    st.sampled_from(["new", "a, b", "[x]"]), max_size=3
)


@given(st.lists(OTHER_LINES), SET_LINES, st.lists(OTHER_LINES), NEW_VALUES, st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=examples(150))
def test_setting_one_key_keeps_every_other_byte(
    above: list[str], line: tuple[str, str], below: list[str], value: Value, newline: str
) -> None:
    before, old, tail, after = (
        text.replace("\n", newline) for text in ("".join(above), line[0], f"{line[1]}\n", "".join(below))
    )
    assume(load(before + old + tail + after)["key"] != value)

    text = with_keys(before + old + tail + after, {"key": value}, newline)

    assert re.fullmatch(f"{re.escape(before)}'?key'?: [^\r\n]+{re.escape(tail + after)}", text)
    assert load(text)["key"] == value


@given(st.lists(OTHER_LINES), NEW_VALUES)
@settings(max_examples=examples(100))
def test_a_new_key_goes_below_the_others(above: list[str], value: Value) -> None:
    before = "".join(above)

    text = with_keys(before, {"key": value}, "\n")

    assert re.fullmatch(f"{re.escape(before)}key: [^\n]+\n", text)


@given(FRAGMENTS | st.lists(OTHER_LINES).map("".join))
@settings(max_examples=examples(200))
def test_setting_a_key_to_what_it_is_changes_no_byte(text: str) -> None:
    try:
        keys = load(text)
    except BadHeader:
        assume(False)

    assert with_keys(text, keys, "\n") == text


@pytest.mark.parametrize(
    "text", ["{a: 1, b: [2]}\n", "? a\n: 1\n? b\n: [2]\n", "  a: 1\n  b: [2]\n", "a: 1\nb: [2]\n...\n"]
)
def test_an_odd_layout_loses_no_key(text: str) -> None:
    assert load(with_keys(text, {"a": "new", "c": "3"}, "\n")) == {"a": "new", "b": ["2"], "c": "3"}


def test_the_last_of_two_equal_keys_is_the_one_that_is_set() -> None:
    assert with_keys("a: 1\nb: 2\na: 3 # last\n", {"a": "new"}, "\n") == "a: 1\nb: 2\na: new # last\n"


@given(
    st.dictionaries(st.sampled_from("abc"), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
)
@example({"a": "x\u00a0"})
@example({"a": "\u3000"})
@settings(max_examples=examples(150))
def test_an_exported_header_loads_as_what_was_given(keys: dict[str, str]) -> None:
    text = dump(keys, "\n")

    assert load(text) == keys
    assert len(text.splitlines()) == max(len(keys), 1)


@pytest.mark.parametrize(
    ("header", "read"),
    [
        (
            "description: vet: looks after the dog\nname: Vet\n",
            {"description": "vet: looks after the dog", "name": "Vet"},
        ),
        ("name: @home\ndescription: it's: ok # really\n", {"name": "@home", "description": "it's: ok # really"}),
        ('name: {{title}}\r\na: "b" c\r\n', {"name": "{{title}}", "a": '"b" c'}),
        ("name: *Very* good\ntags:\n  - @a\n  - b\n", {"name": "*Very* good", "tags": ["@a", "b"]}),
        ("tags: [x,\n  y]\n# why: so\n\na: b: c\n", {"tags": ["x", "y"], "a": "b: c"}),
        (
            "name: Broken\ndescription: [unclosed\ntags: {a\n",
            {"name": "Broken", "description": "[unclosed", "tags": "{a"},
        ),
        ("x: |\n  literal: a: b\ny: a: b\n", {"x": "literal: a: b\n", "y": "a: b"}),
    ],
)
def test_a_value_that_yaml_refuses_is_read_as_it_was_meant(header: str, read: dict[str, Value]) -> None:
    assert fault(header) is not None
    assert load(header) == read


@pytest.mark.parametrize("header", ["a: &x [1]\nb: c: d\n", "a: b\n  c: d: e\n", "a\nb: c: d\n", "a: b\n\tc: d\n"])
def test_what_nobody_can_tell_the_meaning_of_is_not_guessed(header: str) -> None:
    with pytest.raises(BadHeader):
        load(header)


@given(
    st.dictionaries(
        st.text("abc", min_size=1), st.text(st.sampled_from("ab :#-'\"@*{}[]!%|,"), max_size=20), max_size=4
    )
)
def test_lines_of_keys_and_words_are_always_read(values: dict[str, str]) -> None:
    lines = {key: f"x{value}".rstrip() for key, value in values.items()}

    found = load("".join(f"{key}: {value}\n" for key, value in lines.items()))

    for key, line in lines.items():
        alone = f"{key}: {line}"
        assert found[key] == (line if fault(alone) else load(alone)[key])


def test_one_key_changes_beside_a_value_that_yaml_refuses() -> None:
    header = "# mine\nname: Vet\ndescription: vet: looks after the dog\nrating:   5\n"

    assert with_keys(header, {"rating": "5"}, "\n") == header
    assert with_keys(header, {"name": "Doctor"}, "\n") == (
        "# mine\nname: Doctor\ndescription: 'vet: looks after the dog'\nrating:   5\n"
    )
    assert map_texts(header, lambda text: text.replace("dog", "cat"), (), "\n") == (
        "# mine\nname: Vet\ndescription: 'vet: looks after the cat'\nrating:   5\n"
    )
