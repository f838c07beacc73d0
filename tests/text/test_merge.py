"""Merging: what laws it keeps, whatever the texts, and what it takes for the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text.frontmatter import load, parts_of
from crabmem.text.merge import Merged, merge

PATH = "memory/entries/luna.md"
LINES = st.lists(st.sampled_from(["", "a", "b", "- c", "---", "name: x", "name: y", "tags: [p, q]"]), max_size=9)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n", "\r\n"]))
FILES = st.none() | TEXTS.map(str.encode) | st.sampled_from([b"\xff\xfe", b"", b"---\nname: [\n---\n"])


def of(base: str, ours: str, theirs: str, *take: str) -> Merged:
    """Texts merged."""
    return merge(PATH, base.encode(), ours.encode(), theirs.encode(), *take)  # type: ignore[arg-type]


@given(FILES, FILES)
def test_what_one_way_left_alone_is_as_the_other_has_it(base: bytes | None, changed: bytes | None) -> None:
    assert merge(PATH, base, base, changed) == Merged(changed)
    assert merge(PATH, base, changed, base) == Merged(changed)
    assert merge(PATH, base, changed, changed) == Merged(changed)


@given(TEXTS, TEXTS, TEXTS)
def test_both_ways_may_change_places(base: str, ours: str, theirs: str) -> None:
    texts = [text.replace("\r", "").replace("---", "-") for text in (base, ours, theirs)]
    one, other = of(texts[0], texts[1], texts[2]), of(texts[0], texts[2], texts[1])
    assert bool(one.conflicts) == bool(other.conflicts)
    assert one.conflicts or one.data == other.data


@given(TEXTS, TEXTS, TEXTS)
def test_a_conflict_taken_one_way_leaves_the_other_changes(base: str, ours: str, theirs: str) -> None:
    told = of(base, ours, theirs)
    assert of(base, ours, theirs, "ours").data == told.data
    taken = of(base, ours, theirs, "theirs")
    assert taken.conflicts == told.conflicts and (told.conflicts or taken.data == told.data)


@st.composite
def disjoint(draw: st.DrawFn) -> tuple[list[str], list[str | None], list[str | None]]:
    """Lines, no two alike, and for each what either side makes of it, None for nothing; never both."""
    base = draw(st.lists(st.integers(0, 99).map(str), unique=True, min_size=1, max_size=12))
    sides = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=len(base), max_size=len(base)))
    made = [
        draw(st.sampled_from([None, f"{line}!", f"{line}!\n{line}?"])) if side else line
        for line, side in zip(base, sides, strict=True)
    ]
    ours = [new if side == 1 else line for line, new, side in zip(base, made, sides, strict=True)]
    theirs = [new if side == 2 else line for line, new, side in zip(base, made, sides, strict=True)]
    return base, ours, theirs


@given(disjoint())
def test_edits_of_different_lines_are_all_made(edits: tuple[list[str], list[str | None], list[str | None]]) -> None:
    base, ours, theirs = edits
    both = [one if one != line else other for line, one, other in zip(base, ours, theirs, strict=True)]
    texts = ["".join(f"{line}\n" for line in lines if line is not None) for lines in (base, ours, theirs, both)]
    assert of(*texts[:3]) == Merged(texts[3].encode())


@given(disjoint())
def test_line_breaks_stay_those_of_the_text_that_is_there(
    edits: tuple[list[str], list[str | None], list[str | None]],
) -> None:
    texts = ["".join(f"{line}\n" for line in lines if line is not None) for lines in edits]
    base, ours, theirs = texts
    done = merge(PATH, base.encode(), ours.replace("\n", "\r\n").encode(), theirs.encode()).data or b""
    if ours and base != theirs:
        assert done.replace(b"\r\n", b"\n") == (of(base, ours, theirs).data or b"")
        assert done.count(b"\n") == done.count(b"\r\n")


VALUES = st.sampled_from(["x", "y", ["p"], ["p", "q"], ["q", "r"], []])
KEYS = st.dictionaries(st.sampled_from(["name", "description", "tags", "own"]), VALUES)


@given(KEYS, KEYS, KEYS, st.booleans())
def test_keys_are_merged_one_by_one(
    base: dict[str, object], ours: dict[str, object], theirs: dict[str, object], is_crlf: bool
) -> None:
    texts = [
        "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()).replace("'", "") + "---\n\nx\n"
        for keys in (base, ours, theirs)
    ]
    if is_crlf:
        texts[1] = texts[1].replace("\n", "\r\n")
    done = of(*texts)
    data = (done.data or b"").decode()
    found = load(parts_of(data).header or "")
    for key in {*base, *ours, *theirs}:
        values = [keys.get(key) for keys in (base, ours, theirs)]
        if values[0] == values[1] and not any(item.ours and key in item.ours for item in done.conflicts):
            assert found.get(key) == values[2]
        if values[0] == values[2]:
            assert found.get(key) == values[1]
    assert not is_crlf or texts[0] == texts[2] or "\n" not in data.replace("\r\n", "")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ("a\nb\n", "a\nb\nlater\n", "a\n", "a\nlater\n"),
        ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n", "a\nB\nC\n"),
        ("a\n", "before\na\n", "A\n", "before\nA\n"),
        ("a", "a\nlater", "A", "A\nlater"),
        ("---\nname: x\ntags: [p, bad]\n---\nt\n", "---\nname: x\ntags: [p, bad, q]\n---\nt\n",
         "---\nname: x\ntags: [p]\n---\nt\n", "---\nname: x\ntags: [p, q]\n---\nt\n"),
        ("---\nname: x\ndescription: bad\n---\nt\n", "---\nname: x\n# mine\ndescription: bad\nown: 1\n---\nu\n",
         "---\nname: x\ndescription: good\n---\nt\n", "---\nname: x\n# mine\ndescription: good\nown: 1\n---\nu\n"),
        ("---\nname: x\naliases:\n- a\n---\nt\n", "---\nname: z\naliases:\n- a\n# mine\n---\nt\n",
         "---\nname: x\n---\nt\n", "---\nname: z\n# mine\n---\nt\n"),
        ("---\n# bad\nname: x\n---\nt\n", "---\n# bad\nname: x\n---\nu\n", "---\nname: x\n---\nt\n",
         "---\nname: x\n---\nu\n"),
    ],
)  # fmt: skip
def test_later_work_beside_what_is_taken_back_stays(base: str, ours: str, theirs: str, expected: str) -> None:
    assert of(base, ours, theirs) == Merged(expected.encode())


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "lines"),
    [
        ("a\nb\n", "a\nB\n", "a\nc\n", ("B", "c")),
        ("a\n", "a\nx\n", "a\ny\n", ("x", "y")),
        ("a\n", "both\nmine\n", "both\n", ("mine", "")),
        ("---\nname: a\n---\nt\n", "---\nname: b\n---\nt\n", "---\nname: c\n---\nt\n", ("name: b\n", "name: c\n")),
        ("---\nname: a\ntags: [p]\n---\nt\n", "---\nname: a\ntags: [q]\n---\nt\n", "---\nname: a\ntags: [r]\n---\nt\n",
         ("tags: [q]\n", "tags: [r]\n")),
    ],
)  # fmt: skip
def test_nothing_is_guessed_where_both_changed_the_same(
    base: str, ours: str, theirs: str, lines: tuple[str, str]
) -> None:
    [conflict] = of(base, ours, theirs).conflicts
    assert (conflict.ours, conflict.theirs) == lines
    assert of(base, ours, theirs, "theirs").data == theirs.encode()
    assert of(base, ours, theirs, "ours").data == ours.encode()


def test_a_file_that_is_gone_or_no_text_is_in_conflict_as_a_whole() -> None:
    for base, ours, theirs in [(b"a", b"b", None), (b"a", None, b"b"), (None, b"a", b"b"), (b"a", b"\xff", b"b")]:
        [conflict] = merge(PATH, base, ours, theirs).conflicts
        assert (conflict.ours is None, conflict.theirs is None) == (ours is None, theirs is None)
        assert merge(PATH, base, ours, theirs, "theirs").data == theirs
        assert merge(PATH, base, ours, theirs, "ours").data == ours
