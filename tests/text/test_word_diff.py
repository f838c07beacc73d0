"""A diff taken apart says what the diff says, whatever stands in the texts."""

from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.comparison import lines_in
from crabmem.text.edit import unified_diff
from crabmem.text.word_diff import FileDiff, files_in

_LINES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n"), max_size=12),
        st.sampled_from(
            ["", "-- x", "--- a/b", "+++ b/b", "@@ -1 +1 @@", "\\ No newline", "a b c", "a b d", " ", "日本語"]
        ),
    ),
    max_size=8,
).map("\n".join)


def side(file: FileDiff, signs: str) -> list[str]:
    return ["".join(text for text, _ in line.pieces) for line in file.lines if line.sign in signs]


@given(_LINES, _LINES)
def test_the_lines_of_both_texts_are_there_with_their_numbers(before: str, after: str) -> None:
    [*files] = files_in(unified_diff(before, after, "m/x.md"))
    assert len(files) == (before != after)
    for file in files:
        assert (file.before, file.after, file.path) == ("m/x.md", "m/x.md", "m/x.md")
        for text, signs, number in ((before, " -", "old"), (after, " +", "new")):
            lines = [line.removesuffix("\n") for line in lines_in(text)]
            numbers = [getattr(line, number) for line in file.lines if line.sign in signs]
            assert side(file, signs) == [lines[at - 1] for at in numbers] and numbers == sorted(numbers)


@given(_LINES, _LINES, _LINES)
def test_each_of_several_files_is_told_apart(one: str, other: str, third: str) -> None:
    diff = unified_diff(one, other, "a.md") + unified_diff(None, third, "b.md") + unified_diff(other, None, "c.md")
    found = {file.path: file for file in files_in(diff)}
    assert set(found) <= {"a.md", "b.md", "c.md"}
    assert "b.md" not in found or (found["b.md"].before is None and not side(found["b.md"], " -"))
    assert "c.md" not in found or (found["c.md"].after is None and not side(found["c.md"], " +"))


def test_words_that_differ_are_marked_and_no_others() -> None:
    [file] = files_in(unified_diff("The vet is Dr. Moreno.\n", "The vet is Dr. Sousa.\n", "x.md"))
    assert [line.pieces for line in file.lines] == [
        (("The vet is Dr. ", False), ("Moreno", True), (".", False)),
        (("The vet is Dr. ", False), ("Sousa", True), (".", False)),
    ]


def test_scripts_without_spaces_are_compared_sign_by_sign() -> None:
    [file] = files_in(unified_diff("次の予約は十一月です\n", "次の予約は十二月です\n", "x.md"))
    assert [text for line in file.lines for text, differs in line.pieces if differs] == ["一", "二"]


def test_texts_that_have_little_in_common_are_two_texts() -> None:
    [file] = files_in(unified_diff("Alpha beta gamma.\n", "Quite another thing altogether, and more of it.\n", "x.md"))
    assert all(not differs for line in file.lines for _, differs in line.pieces)


def test_a_word_that_became_two_lines_is_marked_in_both() -> None:
    [file] = files_in(unified_diff("one two three\n", "one two\nthree four\n", "x.md"))
    assert side(file, "+") == ["one two", "three four"]
    assert [line.sign for line in file.lines] == ["-", "+", "+"]


def test_lines_that_are_left_out_between_two_changes_are_marked() -> None:
    lines = [f"line {number}" for number in range(30)]
    other = ["first", *lines[1:-1], "last"]
    [file] = files_in(unified_diff("\n".join(lines), "\n".join(other), "x.md"))
    assert [line.sign for line in file.lines].count("@") == 1
