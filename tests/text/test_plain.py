"""Entries of the plain form are read as YAML reads them, or left to it."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from crabmem.text import frontmatter as header
from crabmem.text.frontmatter import dump
from crabmem.text.plain import plain_lines, read_plain
from tests.conftest import FIXTURES

_WORDS = st.text(alphabet="abZ0 :#-[],'\"{}&*!|>%@`?~=.\t\n\x85\u2028éß🦀", max_size=12)
_LINE = st.tuples(st.sampled_from(["name", "description", "tags", "aliases", "x-y", "", "na me"]), _WORDS)
_BLOCKS = [
    "metadata:",
    "metadata: ",
    "metadata:\n  type: user",
    "metadata: \n  node_type: memory\n  type: a b\n  x: [a, b]",
]
_PLAIN = _LINE.map(lambda pair: f"{pair[0]}: {pair[1]}")
_HEADER = st.lists(_PLAIN | _PLAIN.map(lambda line: f"  {line}") | st.sampled_from(_BLOCKS), max_size=5).map("\n".join)


@given(_HEADER, _WORDS)
@example("name: a\n---", "x")
@example("tags: [a, b]", "")
@example("tags: [a, 'b']", "")
@example("name: a: b", "")
@example("name: yes", "")
@example("name: null\ntags: [Null, NULL]", "")
@example("null: null", "")
@example("name: a\nname: b", "")
@example("name: a #b", "")
@example("name: a:", "")
@example('name: "a: #b, [c]"', "")
@example('name: ""', "")
@example('name: "', "")
@example('name: "a\\nb"', "")
@example("metadata:\n  type: user\nname: a", "")
@example("metadata:\n  type: user\n  type: project", "")
@example("metadata:\n   type: user", "")
@example("metadata:\n  type: user\nmetadata:\n  type: project", "")
@example("metadata:\nname: a", "")
@example("name: a\n  type: user", "")
def test_what_is_read_without_yaml_is_what_yaml_reads(lines: str, content: str) -> None:
    text = f"---\n{lines}\n---\n\n{content}\n"
    found = read_plain(text)
    if found:
        parts = header.parts_of(text)
        assert parts.header is not None
        assert header.load(parts.header) == found[0]
        assert parts.content.removeprefix("\n").removesuffix("\n") == found[1]


def test_what_crabmem_writes_is_nearly_always_of_the_plain_form() -> None:
    text = '---\nname: Luna\ndescription: the dog, since 2019 (a "rescue")\ntags: [pets, vet]\n---\n\nThursday.\n'
    assert read_plain(text) == (
        {"name": "Luna", "description": 'the dog, since 2019 (a "rescue")', "tags": ["pets", "vet"]},
        "Thursday.",
    )


def test_what_claude_code_writes_is_of_the_plain_form() -> None:
    facts = [file for file in sorted((FIXTURES / "claude-code").glob("*.md")) if file.name != "MEMORY.md"]
    for file in facts:
        found, whole = read_plain(file.read_text("utf-8")), header.parts_of(file.read_text("utf-8"))
        assert found and found[0] == header.load(whole.header or "")
    assert len(facts) == 5


_SAID = st.text(st.sampled_from("aA eEnNyY;!?&=%@, 019 ._/+()':#x\u00e9"), max_size=12) | st.sampled_from(
    ["yes", "No", "1e5", "inf", "nan", "x.y", "0x1F", "true", "null", "y", "on", "where the key is, and why?"]
)


@given(
    st.dictionaries(st.sampled_from(["name", "description", "tags"]), _SAID | st.lists(_SAID, max_size=3), min_size=1)
)
def test_lines_that_are_written_without_yaml_are_those_that_yaml_writes(keys: dict[str, str | list[str]]) -> None:
    lines = plain_lines(keys)
    assert lines is None or lines == dump(dict[str, Any](keys), "\n")


def test_what_people_say_of_a_fact_is_written_without_yaml() -> None:
    keys = {"name": "Deploy key", "description": "where the deploy key lives, and who has it?", "tags": ["ops", "keys"]}
    assert plain_lines(keys) == "".join(
        ["name: Deploy key\n", "description: where the deploy key lives, and who has it?\n", "tags: [ops, keys]\n"]
    )
