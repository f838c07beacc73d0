"""What waits as one file, and the decisions that it is once a person has edited it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from crabmem import InvalidArguments
from crabmem.operations.review import LATER, MARK, Block, Decision, File, block_text, decisions, rendered

LINES = some.one_of(
    some.text(some.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20),
    some.sampled_from([MARK, f"{MARK} [abcd1234] x", f"{MARK} file 1: x", LATER, f"\\{LATER}", f"\\\\{MARK}",
                       "# LATER ", f" {LATER}", "---", "# Heading", "", " ", "\\"]),
)  # fmt: skip
TEXTS = some.lists(LINES, min_size=1, max_size=6).map("\n".join).map(lambda text: f"x{text}\n")


@some.composite
def shown_blocks(draw: some.DrawFn) -> list[Block]:
    """Proposals as they are shown, whatever their texts and notes say."""
    ids = draw(some.lists(some.integers(0, 16**8 - 1), min_size=1, max_size=4, unique=True))
    found = []
    for id in ids:
        texts = draw(some.lists(some.one_of(some.just(""), TEXTS), min_size=1, max_size=3))
        notes = tuple(draw(some.lists(LINES, min_size=1, max_size=3)))
        files = tuple(File(f"{n}.md", text, b"now", notes) for n, text in enumerate(texts))
        found.append(Block(f"{id:08x}{'0' * 32}", notes, files))
    return found


@given(shown_blocks(), some.data())
def test_the_file_says_what_was_decided_whatever_the_texts_say(shown: list[Block], data: some.DataObject) -> None:
    lines, wanted = [f"{MARK} mine\n"], list[tuple[str, str, dict[str, str]]]()
    for block in shown:
        what = data.draw(some.sampled_from(["apply", "reject", "later", "reword"]))
        if what == "reject":
            wanted.append((block.id, "reject", {}))
            continue
        first, *rest = block.files
        said = data.draw(TEXTS) if what == "reword" else first.text
        files = (replace(first, text=said), *rest)
        lines.append(block_text(replace(block, files=files, is_later=what == "later")))
        is_reworded = said.rstrip() != first.text.rstrip()
        wanted.append((block.id, "later" if what == "later" else "apply", {first.path: said} if is_reworded else {}))
    found = decisions("\n".join(lines), shown)
    assert [(each.id, each.what, _words(each)) for each in found] == [
        (id, what, {path: text.rstrip() for path, text in words.items()}) for id, what, words in wanted
    ]


def _words(decision: Decision) -> dict[str, str]:
    return {path: (each.text or "").rstrip() for path, each in decision.wording.items()}


@given(shown_blocks(), some.sampled_from(["", "\n", " \n\n", "rendered", "windows", "ended otherwise"]))
def test_an_empty_file_and_one_without_a_change_decide_nothing(shown: list[Block], kind: str) -> None:
    text = rendered(shown)
    same = {"rendered": text, "windows": text.replace("\n", "\r\n"), "ended otherwise": text.rstrip() + "\n\n\n"}
    assert decisions(same.get(kind, kind), shown) == []


ONE = Block("ab" * 20, ("remember: Vet",), (File("vet.md", "Dr. Moreno.\n"),))
CLASH = Block("cd" * 20, ("remember: Wifi",), (File("wifi.md", "Theirs.\n", b"Mine.\n"),), is_later=True)


def test_what_does_not_fit_any_more_waits_until_its_line_is_deleted() -> None:
    text = rendered([CLASH]) + f"{MARK} x\n"
    assert [each.what for each in decisions(text, [CLASH])] == ["later"]
    [decision] = decisions(text.replace(f"{LATER}\n{MARK} file", f"{MARK} file"), [CLASH])
    assert decision.what == "apply"
    assert [(each.text, each.base) for each in decision.wording.values()] == [("Theirs.\n", b"Mine.\n")]


def test_a_text_that_was_emptied_waits_and_is_not_taken_for_a_removal() -> None:
    [decision] = decisions(rendered([ONE]).replace("Dr. Moreno.\n", ""), [ONE])
    assert decision.what == "later" and "delete the heading" in decision.why


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (f"{MARK} [abababab] ", "words\n", "belongs to no file"),
        (f"{MARK} [abababab] ", f"{MARK} [12345678] ", "none of the proposals"),
        ("Dr. Moreno.\n", f"Dr. Moreno.\n{MARK} [abababab] again\n", "is there twice"),
        ("Dr. Moreno.\n", f"{MARK} file 1: x\n", "belongs to no heading"),
    ],
)
def test_a_file_that_does_not_tell_decides_nothing(before: str, after: str, words: str) -> None:
    with pytest.raises(InvalidArguments, match=words):
        decisions(rendered([ONE]).replace(before, after, 1), [ONE])
