"""What stands under a heading of Markdown is replaced, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments
from crabmem.text.markdown import code_lines, with_section, without_fenced

TEXT = "# Who I am\n\nA crab.\n\n## Voice\n\nLoud.\n\n### Where\n\nAt sea.\n\n## Limits\n\nNone.\n"
PLAIN = st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1).filter(lambda text: text.strip())
BODIES = st.lists(PLAIN, min_size=1).map("\n".join)


@pytest.mark.parametrize("section", ["Voice", "voice", "## Voice", "## Voice ##", "  VOICE  "])
def test_all_under_a_heading_goes_up_to_the_next_of_its_depth(section: str) -> None:
    assert with_section(TEXT, section, "Soft.") == (
        "# Who I am\n\nA crab.\n\n## Voice\n\nSoft.\n\n## Limits\n\nNone.\n"
    )


def test_the_last_section_goes_up_to_the_end() -> None:
    assert with_section(TEXT, "Limits", "\n\nSome.\n\n").endswith("At sea.\n\n## Limits\n\nSome.\n")


def test_a_section_that_is_not_there_comes_at_the_end() -> None:
    assert with_section(TEXT, "Tools", "Claws.") == TEXT + "\n## Tools\n\nClaws.\n"
    assert with_section("", "Tools", "Claws.") == "## Tools\n\nClaws.\n"


def test_a_body_that_brings_its_heading_along_does_not_have_it_twice() -> None:
    assert with_section(TEXT, "Limits", "## Limits\n\nSome.") == with_section(TEXT, "Limits", "Some.")


def test_what_stands_in_a_block_of_code_is_no_heading() -> None:
    text = "## Voice\n\n```sh\n# Limits\n```\n~~~\n## Limits\n~~~~\n\n## Limits\n\nNone.\n"
    assert with_section(text, "Limits", "Some.") == text.replace("None.", "Some.")
    assert with_section(text, "Voice", "Soft.") == "## Voice\n\nSoft.\n\n## Limits\n\nNone.\n"


def test_headings_know_the_code_that_links_know() -> None:
    in_an_item = "- do this:\n  ```\n  a\n## Limits\n  ```\n\n## Limits\n\nNone.\n"
    assert with_section(in_an_item, "Limits", "Some.") == in_an_item.replace("None.", "Some.")
    indented = "Say:\n\n    ```\n\n## Limits\n\nNone.\n"
    assert with_section(indented, "Limits", "Some.") == indented.replace("None.", "Some.")


def test_lines_of_code_are_those_of_fences_and_the_indented() -> None:
    lines = ["a", "```py", "b", "~~~", "```", "", "    c", "- d", "    e", "> ~~~", "> f", "> ~~~", "g"]
    assert [line for line, is_code in zip(lines, code_lines(lines), strict=True) if is_code] == [
        "```py", "b", "~~~", "```", "    c", "> ~~~", "> f", "> ~~~",
    ]  # fmt: skip


@given(
    st.lists(st.sampled_from(["a", "", "# h", "  b", "- i", "text `c`", "```\nx\n```", "~~~\n```\n\n~~~"])).map(
        "\n".join
    )
)
def test_a_plain_fenced_block_is_blank_from_fence_to_fence(text: str) -> None:
    def blank(code: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", code[0])

    assert without_fenced(text) == re.sub(r"(?ms)^(```|~~~).*?^\1", blank, text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("```\na\n```sh\nb\n```\nc", "c"),  # a fence with words opens, and closes nothing
        ("```\na\n`````\nb", "b"),  # one that is longer closes
        ("a\n```\nb\n~~~\nc", "a"),  # one that is never closed goes to the end
        ("```a`b\nc", "```a`b c"),  # no fence: the code ends on its line
        ("- a\n  ```\n  b\n  ```\nc", "- a c"),
        ("> a\n> ~~~\n> b\n> ~~~\nc", "> a c"),
        ("a\n\n    ```\n\nb", "a ``` b"),  # indented, it is code itself
        ("a\r\n```\r\nb\r\n```\r\nc", "a c"),
    ],
)
def test_fenced_blocks_are_those_of_commonmark(text: str, rest: str) -> None:
    assert " ".join(without_fenced(text).split()) == rest and len(without_fenced(text)) == len(text)


def test_of_two_headings_alike_none_is_guessed() -> None:
    with pytest.raises(InvalidArguments, match="2 headings voice, at lines 5, 17"):
        with_section(TEXT + "\n# Voice\n", "voice", "Soft.")


@pytest.mark.parametrize("section", ["", " ", "#", "## ", "a\nb", "a\rb"])
def test_a_section_is_the_text_of_a_heading(section: str) -> None:
    with pytest.raises(InvalidArguments, match="heading"):
        with_section(TEXT, section, "Soft.")


@pytest.mark.parametrize("body", ["", " \n\t\n", "## Voice\n", "# voice #"])
def test_a_section_is_not_emptied(body: str) -> None:
    with pytest.raises(InvalidArguments, match="nothing would stand under the heading Voice"):
        with_section(TEXT, "Voice", body)


@given(PLAIN, BODIES)
def test_what_is_written_under_a_heading_is_replaced_under_it_again(section: str, body: str) -> None:
    once = with_section(TEXT, section, "First.")
    assert with_section(with_section(once, section, body), section, "First.") == once


@given(st.lists(BODIES, max_size=5), BODIES)
def test_no_other_section_changes(bodies: list[str], body: str) -> None:
    text = "".join(f"## Number {number}\n\n{each}\n\n" for number, each in enumerate(bodies))
    changed = with_section(text, "Mine", body)
    assert changed.startswith(text.rstrip("\n"))
