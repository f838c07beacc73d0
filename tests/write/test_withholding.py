"""The rule by which an agent's write waits: pure functions over bytes."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as some

from crabmem.operations.proposals import verdict
from crabmem.results import ProposedFile
from crabmem.text.entry import parse_entry
from crabmem.workspace.layout import FLAT, ORDINARY
from crabmem.workspace.settings import Review
from crabmem.write.withholding import OF_BROKEN, OF_SETTINGS, Files, Rule, Withheld

PATH = "memory/entries/luna.md"
LINES = some.lists(some.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n", b"---\n"]), max_size=8)


def all_of(path: str, text: bytes) -> list[bool]:
    return [True] * text.count(b"\n")


def of(review: Review, before: Files, after: Files) -> Withheld:
    return Rule(review, (ORDINARY,), all_of).withheld(before, after)


@given(LINES, LINES, some.data())
def test_the_lines_of_a_person_stay_and_all_else_goes_on(
    old: Sequence[bytes], new: Sequence[bytes], data: some.DataObject
) -> None:
    theirs = data.draw(some.lists(some.booleans(), min_size=len(old), max_size=len(old)))
    before, after = b"".join(old), b"".join(new)
    rule = Rule(Review(protect="human-lines"), (ORDINARY,), lambda path, text: theirs)
    done = rule.withheld({PATH: before}, {PATH: after})
    said = done.goes_on.get(PATH, before) or b""
    kept = [
        line for line, is_theirs in zip(old, theirs, strict=True) if is_theirs and line.strip() not in (b"", b"---")
    ]
    left = iter(said.splitlines(keepends=True))
    assert all(any(line == other for other in left) for line in kept), "in their order"
    if not kept:
        assert said == after and not done.waits
    for part in done.waits:
        assert part.files == {PATH: after} and kept
        assert verdict(ProposedFile(PATH, after, before), said).after == after, (
            "who applies it has what the agent wrote"
        )


@given(LINES, LINES)
def test_where_all_lines_stay_an_agent_only_adds(old: Sequence[bytes], new: Sequence[bytes]) -> None:
    before, after = b"".join(old), b"".join(new)
    done = of(Review(protect="all-lines"), {PATH: before}, {PATH: after})
    said = (done.goes_on.get(PATH, before) or b"").splitlines()
    assert not Counter(line for line in before.splitlines() if line not in (b"", b"---")) - Counter(said)


@pytest.mark.parametrize(
    ("review", "path", "why"),
    [
        (Review(wait=("soul",)), "Crab.md", "soul"),
        (Review(wait=("soul",)), "crab.MD", "soul"),
        (Review(wait=("overview",)), "memory/MEMORY.md", "overview"),
        (Review(wait=("entries",)), "memory/entries/People/Ann.md", "entries"),
        (Review(wait=("entries",)), "memory/2026-11-23.md", ""),
        (Review(wait=("everything",)), "memory/2026-11-23.md", "everything"),
        (Review(wait=("soul",)), "memory/MEMORY.md", ""),
        (Review(wait=("soul",)), "crabmem.toml", OF_SETTINGS),
    ],
)
def test_a_word_names_its_files_and_no_others(review: Review, path: str, why: str) -> None:
    for before, after in ((None, b"new\n"), (b"old\n", b"new\n"), (b"old\n", None)):
        done = of(review, {path: before}, {path: after})
        assert [part.why for part in done.waits] == ([why] if why else [])
        assert (path in done.goes_on) is not bool(why)


def fact(header: str) -> bytes:
    return f"---\nname: X\n{header}\n---\n\nText.\n".encode()


@pytest.mark.parametrize("header", ["tags: [person]", "tags: Person, home", "tag: '#person'", "type: person"])
def test_a_tag_counts_however_it_is_written_before_and_after(header: str) -> None:
    review = Review(wait=("entries tagged #Person",))
    for before, after in ((None, fact(header)), (fact(header), fact("x: y")), (fact(header), None)):
        [part] = of(review, {PATH: before}, {PATH: after}).waits
        assert part.why == "entries tagged person"
    assert not of(review, {PATH: fact("tags: [home]")}, {PATH: fact("tags: [town]")}).waits


def test_a_fact_whose_tags_cannot_be_read_waits() -> None:
    broken = b"---\n{tags\n---\n\nText.\n"
    [part] = of(Review(wait=("entries tagged person",)), {PATH: broken}, {PATH: b"Other.\n"}).waits
    assert part.why == OF_BROKEN


def test_what_goes_away_and_comes_elsewhere_waits_whole_or_not_at_all() -> None:
    other, link = "memory/entries/other.md", "memory/MEMORY.md"
    before = {PATH: fact("tags: [person]"), other: None, link: b"[[X]]\n"}
    after = {PATH: None, other: fact("tags: [person]"), link: b"[[Y]]\n"}
    done = of(Review(wait=("entries tagged person",)), before, after)
    assert not done.goes_on and [set(part.files) for part in done.waits] == [{PATH, other, link}]
    assert of(Review(wait=("soul",)), before, after).goes_on == after
    moved = {**before, other: before[PATH], PATH: None}
    assert of(Review(protect="all-lines"), before, moved).goes_on == {PATH: None, other: before[PATH]}
    assert of(Review(protect="all-lines"), before, after).waits


def test_in_a_folder_of_another_layout_the_words_mean_its_files() -> None:
    rule = Rule(Review(wait=("overview",)), (FLAT,), all_of)
    assert rule.withheld({"MEMORY.md": b"a\n"}, {"MEMORY.md": b"b\n"}).waits
    assert not rule.withheld({"memory/MEMORY.md": b"a\n"}, {"memory/MEMORY.md": b"b\n"}).waits


def test_what_does_not_change_does_not_wait() -> None:
    assert of(Review(wait=("everything",)), {PATH: b"a\n"}, {PATH: b"a\n"}) == Withheld({})


@pytest.mark.parametrize(
    "added", ["  and more", "description: other", "tags: &x [a]\nalso: *x", "---\n\nText.\n\n---\ndescription: other"]
)
def test_no_line_that_is_added_changes_what_a_persons_line_of_the_header_says(added: str) -> None:
    before = fact("description: mine")
    after = before.replace(b"mine\n", f"mine\n{added}\n".encode())
    done = of(Review(protect="human-lines"), {PATH: before}, {PATH: after})
    said = done.goes_on.get(PATH, before) or b""
    entry = parse_entry(PATH, said)
    assert (entry.name, entry.description) == ("X", "mine")
    assert of(
        Review(protect="human-lines"), {PATH: before}, {PATH: before.replace(b"mine\n", b"mine\nsource: x\n")}
    ).goes_on
