"""What two sequences have in common: right for any two, near the least that changed, and quick whatever they are."""

import time
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import crabmem
from crabmem.text import comparison
from crabmem.text.comparison import changes, common_ends, lines_in, lines_of, matched, nearest
from crabmem.text.edit import unified_diff
from crabmem.text.merge import merge
from crabmem.text.word_diff import files_in
from crabmem.workspace.layout import ORDINARY
from crabmem.workspace.settings import Review
from crabmem.write.withholding import Rule
from tests.examples import examples
from tests.worst_texts import WORST, Pair, of_lines

PATH = "memory/entries/luna.md"
WORDS = st.sampled_from(["", "", "a", "b", "c", "  a", "\tb", "- c", "d"])
LINES = st.lists(WORDS, max_size=30)
EDITS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.lists(WORDS, max_size=3)))
#: Bounds that the least text reaches, in the order of what is given up.
BOUNDS = st.sampled_from([{}, {"_FEW": 0}, {"_FEW": 0, "_MAX_BITS": 9}, {"_FEW": 0, "_MAX_ITEMS": 4}])


def edited(lines: list[str], edits: list[tuple[int, int, list[str]]]) -> list[str]:
    changed = list(lines)
    for at, size, new in edits:
        changed[at : at + size] = new
    return changed


def bounded(monkeypatch: pytest.MonkeyPatch, bounds: dict[str, int]) -> None:
    for name, most in bounds.items():
        monkeypatch.setattr(comparison, name, most)


@settings(max_examples=examples(300))
@given(LINES, LINES | EDITS.map(lambda edits: edited(["a", "b", "", "c"] * 5, edits)), BOUNDS)
def test_the_changes_make_one_text_of_the_other(old: list[str], new: list[str], bounds: dict[str, int]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        bounded(monkeypatch, bounds)
        made, at = list[str](), 0
        for start, end, first, last in changes(old, new):
            assert start >= at and (end > start or last > first)
            made += old[at:start] + new[first:last]
            at = end
    assert made + old[at:] == new


@settings(max_examples=examples(300))
@given(LINES, EDITS, st.booleans())
def test_an_item_is_matched_with_an_equal_one_in_order_and_none_is_left_beside_one(
    old: list[str], edits: list[tuple[int, int, list[str]]], is_small: bool
) -> None:
    new = edited(old, edits)
    with pytest.MonkeyPatch.context() as monkeypatch:
        bounded(monkeypatch, {} if is_small else {"_FEW": 0})
        pairs = matched(old, new)
    assert all(new[here] == old[there] for here, there in pairs.items())
    assert sorted(pairs) == list(pairs) and sorted(set(pairs.values())) == list(pairs.values())
    # Between two matches that follow each other nothing equal is left.
    for (first, above), (last, below) in pairwise([(-1, -1), *pairs.items(), (len(new), len(old))]):
        assert not {*new[first + 1 : last]} & {*old[above + 1 : below]}


def longest(one: list[str], other: list[str]) -> int:
    """How long a longest common subsequence is, by the table of the textbook."""
    row = [0] * (len(other) + 1)
    for item in one:
        above = row
        row = [0]
        for at, each in enumerate(other):
            row.append(above[at] + 1 if item == each else max(above[at + 1], row[at]))
    return row[-1]


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from("abc"), max_size=80), st.lists(st.sampled_from("abc"), max_size=80))
@example([*"aabaaccccc"] * 2, [*"aabcaacccc"] * 2)  # between the common ends, b stands once in both: an anchor
def test_without_anchors_as_much_is_matched_as_can_be(one: list[str], other: list[str]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        bounded(monkeypatch, {"_ROUNDS": 0})
        assert len(matched(one, other)) == longest(one, other)


@settings(max_examples=examples(200))
@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 400))
def test_lines_that_are_told_apart_are_matched_wherever_they_stand_in_both(
    gone: set[int], come: set[int], more: int
) -> None:
    before = [f"line {number}" for number in range(61 + more) if number not in gone]
    after = [f"line {number}" for number in range(61 + more) if number not in come]
    assert {after[here] for here in matched(before, after)} == {*before} & {*after}


@settings(max_examples=examples(200))
@given(st.lists(st.integers(0, 25), min_size=10, max_size=90), EDITS)
def test_an_edit_of_some_lines_shows_no_more_than_difflib_does(
    numbers: list[int], edits: list[tuple[int, int, list[str]]]
) -> None:
    old = [f"line {number}" if number < 15 else "" for number in numbers]
    new = edited(old, edits[:3])
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    assert len(matched(old, new)) >= sum(block.size for block in blocks) * 0.8


def test_a_paragraph_that_moved_is_all_that_changed() -> None:
    paragraphs = [[f"Paragraph {number}.", "It goes on.", ""] for number in range(40)]
    moved = [*paragraphs[:5], *paragraphs[6:30], paragraphs[5], *paragraphs[30:]]
    old, new = ([line for lines in each for line in lines] for each in (paragraphs, moved))
    assert sum(end - start + last - first for start, end, first, last in changes(old, new)) == 6


def test_an_entry_that_grew_keeps_its_lines() -> None:
    before = b"---\nname: A\n---\n\nOne.\n\nTwo.\n"
    after = b"---\nname: A\ntags: x\n---\n\nOne.\n\nOne and a half.\n\nTwo.\n"
    assert matched(lines_of(before), lines_of(after)) == {0: 0, 1: 1, 3: 2, 4: 3, 5: 4, 8: 5, 9: 6}


@given(st.text("ab\n\r\f\u2028\ud800", max_size=20))
def test_only_a_line_feed_ends_a_line(text: str) -> None:
    lines = lines_in(text)
    assert "".join(lines) == text and "" not in lines
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])
    assert lines_of(text.encode("utf-8", "surrogatepass")) == [line.encode("utf-8", "surrogatepass") for line in lines]


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
@example("aa", "aaa")
def test_ends_that_are_common_do_not_overlap(one: str, other: str) -> None:
    head, tail = common_ends(one, other)
    assert one[:head] == other[:head] and head + tail <= min(len(one), len(other))
    assert one[len(one) - tail :] == other[len(other) - tail :]
    rest, more = one[head : len(one) - tail], other[head : len(other) - tail]
    assert not rest or not more or (rest[0] != more[0] and rest[-1] != more[-1])


def test_the_nearest_name_is_the_one_mistyped() -> None:
    known = ["remember", "recall", "rename", "review", "rollback"]
    assert nearest("remeber", known) == ["remember"]
    assert nearest("rnmae", known) == ["rename"]
    assert nearest("Luna's vet", known) == nearest("", known) == nearest("x", []) == []
    assert nearest("re", ["re", "red"], 2) == ["re", "red"]


def test_names_of_many_characters_are_compared_in_a_moment() -> None:
    name = "ab" * 100_000
    known = [name[:size] for size in range(100, 1_000)] + [name, "ba" * 100_000]
    assert _seconds(lambda: nearest(name[:500], known)) < _MOST_SECONDS


def test_nothing_in_the_package_compares_texts_by_difflib() -> None:
    """It takes the cube of the size, for texts that others choose."""
    files = Path(crabmem.__file__).parent.rglob("*.py")
    assert [file.name for file in files if "difflib" in file.read_text("utf-8")] == []


# Merging what was given up

_SAID = st.lists(st.sampled_from(["a", "b", "c"]), max_size=8)


@settings(max_examples=examples(200))
@given(_SAID, _SAID, _SAID, BOUNDS)
def test_where_a_comparison_is_given_up_a_merge_loses_no_line(
    base: list[str], ours: list[str], theirs: list[str], bounds: dict[str, int]
) -> None:
    """What one side has that the base has not is in the text, or in a conflict."""
    new = [[f"{line} of {side}" if at % 3 == 0 else line for at, line in enumerate(lines)]
           for side, lines in (("ours", ours), ("theirs", theirs))]  # fmt: skip
    with pytest.MonkeyPatch.context() as monkeypatch:
        bounded(monkeypatch, bounds)
        texts = ["".join(f"{line}\n" for line in lines).encode() for lines in (base, *new)]
        done = merge(PATH, texts[0], texts[1], texts[2])
    said = (done.data or b"").decode().split("\n")
    for conflict in done.conflicts:
        said += (conflict.ours or "").split("\n") + (conflict.theirs or "").split("\n")
    assert {line for lines in new for line in lines if " of " in line} <= {*said}


def test_texts_that_are_too_much_work_to_merge_are_in_one_conflict() -> None:
    base, theirs = WORST["two lines in turn"]()
    ours = of_lines(["c", *base.split()[2:], "d"])
    done = merge(PATH, base.encode(), ours.encode(), theirs.encode())
    [conflict] = done.conflicts
    assert done.data == ours.encode()
    assert (conflict.ours, conflict.theirs) == (ours.strip(), theirs.strip())


# Time

#: Seconds of the processor for two texts as large as a fact may be: three times what was measured, at most.
_MOST_SECONDS = 0.9


#: Those that took longest, each of another caller; all of them in the long form.
_QUICK = ["every other line one of 101 signs", "words between anchors", "permuted", "signs at random", "one line"]


def _seconds(run: Callable[[], object]) -> float:
    """How long it took the processor; of two times the faster, where it seems long: the machine may have been busy."""
    found = list[float]()
    while len(found) < 2 and min(found, default=_MOST_SECONDS) >= _MOST_SECONDS:
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def _reviewed(before: bytes, after: bytes) -> object:
    rule = Rule(Review(protect="all-lines"), (ORDINARY,), lambda path, text: [])
    return rule.withheld({PATH: before}, {PATH: after})


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in _QUICK else pytest.mark.long) for name in WORST]
)
def test_the_worst_texts_are_compared_in_a_moment(name: str) -> None:
    pair: Pair = WORST[name]()
    before, after = (text.encode() for text in pair)
    diff = unified_diff(*pair, PATH)
    runs: dict[str, Callable[[], object]] = {
        "blame": lambda: matched(lines_of(before), lines_of(after)),
        "merge": partial(merge, PATH, before, after, after[len(after) // 2 :] + before[: len(before) // 2]),
        "merge of one more line": partial(merge, PATH, before, after, after + b"more\n"),
        "review": partial(_reviewed, before, after),
        "diffs, of messages too": partial(unified_diff, *pair, PATH),
        "words of the page and the digest": partial(files_in, diff),
    }
    seconds = {caller: _seconds(run) for caller, run in runs.items()}
    assert {caller: took for caller, took in seconds.items() if took > _MOST_SECONDS} == {}
