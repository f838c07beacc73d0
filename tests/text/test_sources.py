"""A line that a fact rests on stands, moved, was changed or is gone, whatever was edited around it."""

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from crabmem.text.hashes import blob_id
from crabmem.text.sources import Source, seen_source, source_in, sources_in, standing

LINES = st.lists(st.sampled_from(["", "  a = 1", "b()", "}", "return x", "# c", "ü", "d"]), min_size=1, max_size=12)
TEXTS = LINES.filter(any)
NEW = st.lists(st.sampled_from(["new()", "", "  other"]), min_size=1, max_size=4)


def data(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def seen(lines: list[str], line: int) -> Source:
    found = seen_source("src/a.py", line, data(lines))
    assert found
    return found


def judged(source: Source, lines: list[str]) -> tuple[str, int]:
    return standing(source, data(lines))


def text_before(lines: list[str], at: int) -> str:
    return next((line.strip() for line in lines[:at][::-1] if line.strip()), "")


def stand_together(lines: list[str], one: str, other: str) -> bool:
    return (one, other) in pairwise(["", *(line.strip() for line in lines if line.strip()), ""])


def is_unique(lines: list[str], at: int) -> bool:
    return [line.strip() for line in lines].count(lines[at].strip()) == 1


@given(TEXTS, st.data(), NEW)
def test_a_line_is_the_same_moved_changed_or_gone_by_what_was_done_to_it(
    lines: list[str], draw: st.DataObject, new: list[str]
) -> None:
    at = draw.draw(st.sampled_from([at for at, line in enumerate(lines) if line]))
    source, before = seen(lines, at + 1), draw.draw(st.integers(0, at))
    assert judged(source, lines) == ("same", at + 1)
    assert judged(source, [f"\t{line}\r" for line in lines]) == ("same", at + 1)
    above = [*lines[:before], *new, *lines[before:]]
    edited, without = [*lines[:at], "changed()", *lines[at + 1 :]], [*lines[:at], *lines[at + 1 :]]
    if is_unique(lines, at):
        assert judged(source, above) == ("moved", at + 1 + len(new))
        # Where its neighbours stand beside each other elsewhere, a changed line looks as one that went.
        is_told = not stand_together(edited, text_before(lines, at), text_before(lines[::-1], len(lines) - 1 - at))
        assert judged(source, edited) == ("changed" if is_told else "gone", 0)
        assert judged(source, without) == ("gone", 0)
    for after in (above, edited, without):
        state, line = judged(source, after)
        assert (state in ("same", "moved")) == bool(line)
        assert not line or after[line - 1].strip() == lines[at].strip()


@given(LINES, LINES)
def test_a_file_as_a_whole_is_the_same_changed_or_gone(lines: list[str], after: list[str]) -> None:
    for source in (seen(lines, 0), Source("src/a.py", 3, blob_id(data(lines))[:8])):
        assert judged(source, after)[0] == ("same" if after == lines else "changed")
        assert standing(source, None) == ("gone", 0)


def test_of_two_lines_that_say_the_same_the_one_between_its_neighbours_is_meant() -> None:
    lines = ["def a():", "    return None", "def b():", "    return None", "done"]
    source = seen(lines, 4)
    assert judged(source, ["x", "y", *lines]) == ("moved", 6)
    assert judged(source, [*lines[:3], "    return 1", "done"]) == ("changed", 0)


@given(st.text("abc/.:@-ü1", min_size=1, max_size=12).filter(lambda path: "://" not in path), LINES, st.integers(0, 12))
def test_a_source_is_read_as_it_was_written(path: str, lines: list[str], line: int) -> None:
    made = seen_source(path, line, data(lines))
    assume(made)
    assert made
    found = source_in(made.text)
    assert found and (found.text, found.blob, found.marks) == (made.text, made.blob, made.marks)
    assert sources_in({"sources": [{"resource": made.text}]}) == (found,)


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_whatever_stands_under_the_key_is_sources_or_none(said: object) -> None:
    assert all(isinstance(found, Source) for found in sources_in({"sources": said}))
    assert sources_in({"sources": ["https://example.com:443"]}) == ()
