"""The law of joining: what it keeps whatever the files, and what it makes of each case that people meet."""

import time
from collections import Counter
from collections.abc import Mapping
from unicodedata import normalize

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crabmem.git import diff
from crabmem.sync.law import Dispute, Joined, Rules, Said, Side, Why, join, lost
from crabmem.text.hashes import blob_id
from crabmem.text.slug import slug_of
from crabmem.workspace.layout import ORDINARY
from tests.examples import examples

ENTRIES = "memory/entries"
OVERVIEW = ORDINARY.overview
Files = Mapping[str, bytes]
Named = Mapping[str, list[str]]


def entry(name: str, *lines: str, **keys: object) -> bytes:
    """A fact's file."""
    header = "".join(f"{key}: {value}\n" for key, value in {"name": name, **keys}.items())
    return f"---\n{header}---\n".encode() + "".join(f"{line}\n" for line in lines).encode()


def joined(base: Files, one: Files, other: Files, persons: tuple[str, str] = ("", ""), guarded: str = "") -> Joined:
    """What two states of files make; `persons` is, for each side, the path that a person changed."""
    blobs = {blob_id(data): data for files in (base, one, other) for data in files.values()}
    sides = [
        Side(changes := _changes(base, files), frozenset({path} if path else ()), changes.keys() - {path})
        for files, path in zip((one, other), persons, strict=True)
    ]
    names = {path: blob_id(data) for path, data in base.items()}
    return join(names, sides[0], sides[1], Rules(ORDINARY, blobs.__getitem__, frozenset({guarded} - {""})))


def lost_of(base: Files, one: Files, other: Files, done: Joined) -> list[Dispute]:
    """What the product's own check finds in what was made of two states."""
    blobs = {blob_id(data): data for files in (base, one, other) for data in files.values()}
    names = {path: blob_id(data) for path, data in base.items()}
    sides = [Side(_changes(base, files)) for files in (one, other)]
    waiting = [each.waiting for each in done.disputes]
    return lost(names, sides, done.files, waiting, Rules(ORDINARY, blobs.__getitem__))


def _changes(base: Files, files: Files) -> dict[str, str | None]:
    changed = {path: files.get(path) for path in {**base, **files} if base.get(path) != files.get(path)}
    return {path: None if data is None else blob_id(data) for path, data in changed.items()}


def tree(base: Files, done: Joined, *sides: Files) -> dict[str, bytes]:
    """The files after joining: the same on each side."""
    blobs = {blob_id(data): data for files in (base, *sides) for data in files.values()}

    def data(said: Said) -> bytes | None:
        return blobs[said] if isinstance(said, str) else said

    made = {path: data(said) for path, said in done.files.items()}
    found = [{path: data for path, data in {**files, **made}.items() if data is not None} for files in sides]
    assert all(each == found[0] for each in found)
    return found[0]


def folded(files: Files) -> list[str]:
    """What a disk that minds neither case nor the form of letters takes the paths for."""
    return [normalize("NFC", normalize("NFC", path).casefold()) for path in files]


def has_twins(*trees: Files) -> bool:
    """Whether some disk takes two paths of one tree for the same, or a file for the folder of another."""
    paths = [folded(each) for each in trees]
    return any(
        len(set(each)) < len(each) or len(_without_folders(dict.fromkeys(each, b""))) < len(each) for each in paths
    )


def lines_of(*texts: bytes) -> set[bytes]:
    """The lines of texts that say something, but for tags, which are joined by item."""
    return {line.strip() for text in texts for line in text.splitlines() if line.strip() and line[:4] != b"tags"}


# Laws

NAMES = st.sampled_from(["Luna", "Deploy key", "deploy-key", "Ä", "A\u0308", "Tea"])
STEMS = ("luna", "Luna", "deploy-key", "ä", "a\u0308", "tea", "x", "pets/luna", "luna.md/x")
PATHS = st.sampled_from([*(f"{ENTRIES}/{stem}.md" for stem in STEMS), "plan.png", "Plan.png"])
NOTE = f"{ORDINARY.memory}/2026-11-23.md"
LINES = st.lists(st.sampled_from(["a", "b", "c", "- d", "", "e"]), max_size=6)
TAGS = st.lists(st.sampled_from("pqr"), max_size=3, unique=True)
FACTS = st.builds(lambda name, lines, tags: entry(name, *lines, tags=tags), NAMES, LINES, TAGS)
OVERVIEWS = st.lists(
    st.sampled_from(["# Memory", "", "- [Luna](entries/luna.md)", "- [The cat](entries/luna.md)", "- [[Tea]]", "so"]),
    max_size=6,
).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
NOTES = st.lists(
    st.builds("\n## {}\n\n{}\n".format, st.sampled_from(["08:00", "08:00 (a)", "12:30"]), st.sampled_from("abcd")),
    max_size=3,
).map(lambda sections: "".join(["# Day\n", *sections]).encode())
FILES = st.builds(
    lambda facts, overview, note: {
        **_without_folders(facts),
        **{path: data for path, data in ((OVERVIEW, overview), (NOTE, note)) if data is not None},
    },
    st.dictionaries(PATHS, FACTS | st.sampled_from([b"\xff", b"\xff\n\xfe"]), max_size=4),
    st.none() | OVERVIEWS,
    st.none() | NOTES,
)
PERSONS = st.tuples(st.just("") | PATHS, st.just("") | PATHS)


def _without_folders(files: Files) -> Files:
    """The files but for those in the place of which another has a folder."""
    return {path: data for path, data in files.items() if not any(each.startswith(f"{path}/") for each in files)}


@st.composite
def histories(draw: st.DrawFn) -> tuple[Files, Files, Files]:
    """Files, and what two sides made of them: most stay."""
    base = draw(FILES)

    def grown() -> Files:
        kept = {path: data for path, data in base.items() if draw(st.integers(0, 3))}
        return _without_folders({**kept, **draw(FILES)})

    return base, grown(), grown()


@given(histories(), PERSONS)
@settings(max_examples=examples(400))
def test_both_sides_make_the_same_in_either_order(files: tuple[Files, Files, Files], persons: tuple[str, str]) -> None:
    base, one, other = files
    assert joined(base, one, other, persons) == joined(base, other, one, persons[::-1])


@given(histories(), PERSONS)
def test_what_one_side_left_alone_is_as_the_other_has_it(
    files: tuple[Files, Files, Files], persons: tuple[str, str]
) -> None:
    base, one, _ = files
    assume(not has_twins(one))
    done = joined(base, one, base, persons)
    assert not done.disputes
    assert tree(base, done, one, base) == dict(one)


@given(histories(), PERSONS)
@settings(max_examples=examples(300))
def test_joining_again_changes_nothing(files: tuple[Files, Files, Files], persons: tuple[str, str]) -> None:
    base, one, other = files
    whole = tree(base, joined(base, one, other, persons), one, other)
    for side in (one, other):
        again = joined(side, whole, side)
        assert not again.disputes
        assert tree(side, again, whole, side) == whole


@given(histories(), PERSONS)
@settings(max_examples=examples(400))
def test_no_line_is_lost_that_nobody_removed(files: tuple[Files, Files, Files], persons: tuple[str, str]) -> None:
    base, one, other = files
    done = joined(base, one, other, persons)
    there = [*tree(base, done, one, other).values(), *(dispute.waiting for dispute in done.disputes)]
    assert lines_of(*one.values(), *other.values()) - lines_of(*base.values()) <= lines_of(*there)
    assert not lost_of(base, one, other, done)


@given(histories(), PERSONS)
def test_no_two_files_have_paths_that_a_disk_takes_for_one(
    files: tuple[Files, Files, Files], persons: tuple[str, str]
) -> None:
    base, one, other = files
    assert not has_twins(tree(base, joined(base, one, other, persons), one, other))


# What the product checks itself


@given(histories())
def test_a_result_that_lacks_a_text_of_either_side_is_found_whatever_the_law_makes(
    files: tuple[Files, Files, Files],
) -> None:
    base, one, other = files
    done = joined(base, one, other)
    for path, said in done.files.items():
        short = Joined({**done.files, path: None if path not in base else blob_id(base[path])}, done.disputes)
        kept = [data for side in (one, other) for path, data in side.items() if ORDINARY.is_kept(path)]
        missing = lines_of(*kept) - lines_of(
            *base.values(), *tree(base, short, one, other).values(), *(each.waiting for each in done.disputes)
        )
        found = lost_of(base, one, other, short)
        assert not missing or (said and found and missing <= lines_of(*(each.waiting for each in found)))
        assert all(each.why is Why.WHOLE and ORDINARY.is_kept(each.path) for each in found)


def test_what_a_side_removed_and_what_frontmatter_says_in_another_form_is_no_loss() -> None:
    new = f"{ENTRIES}/moon.md"
    base = {LUNA: entry("Luna", "A cat.", "Ten years old.", "Likes tea.", tags=["a"])}
    one = {new: entry("Moon", "A cat.", "Likes tea.", "", aliases=["Luna"], tags=["a", "b"])}
    other = {LUNA: entry("Luna", "A cat.  ", "Ten years old.", "Likes tea.", "Black.", tags="[a, c]")}
    assert not lost_of(base, one, other, joined(base, one, other))


def test_the_check_takes_time_in_proportion_to_the_texts() -> None:
    def cost(count: int) -> float:
        one, other = (
            {f"{ENTRIES}/{number}.md": entry(f"F{number}", *(f"{word} {line}" for line in range(200)))
             for number in range(count)}
            for word in ("one", "other")
        )  # fmt: skip
        done = Joined({path: blob_id(data) for path, data in one.items()})
        began = time.process_time()
        assert len(lost_of({}, one, other, done)) == count
        return time.process_time() - began

    assert cost(400) < 8 * cost(100)


# Cases

LUNA = f"{ENTRIES}/luna.md"


def test_both_may_add_lines_at_the_end_of_a_fact() -> None:
    base = {LUNA: entry("Luna", "A cat.")}
    one, other = ({LUNA: entry("Luna", "A cat.", line)} for line in ("Twelve.", "Likes tea."))
    text = tree(base, joined(base, one, other), one, other)[LUNA].decode()
    assert sorted(text.splitlines()[3:]) == ["A cat.", "Likes tea.", "Twelve."]


def test_tags_of_both_are_all_there() -> None:
    base = {LUNA: entry("Luna", "A cat.", tags=["pets"])}
    one, other = ({LUNA: entry("Luna", "A cat.", tags=["pets", tag])} for tag in ("home", "vet"))
    done = joined(base, one, other)
    assert not done.disputes
    assert all(tag in tree(base, done, one, other)[LUNA].decode() for tag in ("pets", "home", "vet"))


def test_where_both_changed_a_line_a_persons_stands_and_the_other_waits() -> None:
    base = {LUNA: entry("Luna", "A cat.", "Ten years old.")}
    one, other = ({LUNA: entry("Luna", "A cat.", line)} for line in ("Eleven years old.", "Twelve years old."))
    for persons, live, waiting in ((("", LUNA), b"Twelve", b"Eleven"), ((LUNA, ""), b"Eleven", b"Twelve")):
        done = joined(base, one, other, persons)
        assert live in tree(base, done, one, other)[LUNA]
        assert [(each.path, waiting in each.waiting, each.why is Why.GUARDED) for each in done.disputes] == [
            (LUNA, True, False)
        ]


def test_of_two_new_names_a_persons_stands() -> None:
    base = {LUNA: entry("Luna", "A cat.", "Likes tea.")}
    cat, dog = (
        {f"{ENTRIES}/{name}.md": entry(name, "A cat.", "Likes tea.", aliases=["Luna"])} for name in ("cat", "dog")
    )
    assert list(tree(base, joined(base, cat, dog), cat, dog)) == [*cat]
    assert list(tree(base, joined(base, cat, dog, ("", next(iter(dog)))), cat, dog)) == [*dog]


def test_two_notes_of_one_day_are_one_with_its_sections_by_their_times() -> None:
    def note(*sections: str) -> bytes:
        return b"# 2026-11-23\n" + "".join(f"\n## {each}\n" for each in sections).encode()

    one = {NOTE: note("08:00\n\nAte eggs.", "12:30 (lunch)\n\nSoup.")}
    other = {NOTE: note("09:15\n\nRead mail.", "12:30 (lunch)\n\nBread.", "18:00\n\nHome.")}
    done = joined({}, one, other)
    assert not done.disputes
    times = [line for line in tree({}, done, one, other)[NOTE].decode().splitlines() if line[:2] == "##"]
    assert times == ["## 08:00", "## 09:15", "## 12:30 (lunch)", "## 18:00"]
    assert lines_of(tree({}, done, one, other)[NOTE]) == lines_of(one[NOTE], other[NOTE])
    more = {NOTE: one[NOTE] + b"\n## 20:00\n\nTea.\n"}
    less = {NOTE: note("08:00\n\nAte two eggs.", "19:00\n\nRead.")}
    done = joined(one, more, less)
    assert tree(one, done, more, less)[NOTE] == note("08:00\n\nAte two eggs.", "19:00\n\nRead.", "20:00\n\nTea.")


def test_a_note_that_a_person_put_in_another_order_keeps_it() -> None:
    base = {NOTE: b"# Day\n\n## 18:00\n\nHome.\n\n## 08:00\n\nAte.\n"}
    one, other = {NOTE: base[NOTE].replace(b"Home", b"At home")}, {NOTE: base[NOTE].replace(b"Ate", b"Ate eggs")}
    whole = base[NOTE].replace(b"Home", b"At home").replace(b"Ate", b"Ate eggs")
    assert tree(base, joined(base, one, other), one, other)[NOTE] == whole


def test_a_side_that_began_a_fact_of_its_own_at_the_new_name_has_not_taken_the_rename() -> None:
    text = ("Black.", "Ten years old.", "Eats fish.", "Sleeps a lot.")
    new = f"{ENTRIES}/luna-the-cat.md"
    base = {LUNA: entry("Luna", *text)}
    one = {new: entry("Luna the cat", *text)}
    other = {LUNA: entry("Luna", *text, "Allergic to penicillin!"), new: entry("Luna the cat", "A film by Ozu.")}
    done = joined(base, one, other)
    there = [*tree(base, done, one, other).values(), *(each.waiting for each in done.disputes)]
    assert lines_of(*one.values(), *other.values()) <= lines_of(*there)
    assert LUNA in done.kept


def test_a_fact_that_one_side_moved_and_both_rewrote_is_one() -> None:
    moved = f"{ENTRIES}/pets/luna.md"
    base = {LUNA: entry("Luna", "A cat.", "Ten years old.")}
    one, other = {moved: entry("Luna", "Black, and asleep.")}, {LUNA: entry("Luna", "Eats fish, and nothing else.")}
    done = joined(base, one, other)
    assert [*tree(base, done, one, other)] == [moved]
    assert len(done.disputes) == 1


def test_of_two_new_names_that_stands_whose_file_is_called_so() -> None:
    base = {LUNA: entry("Luna", "A cat.", "Likes tea.")}
    for name in ("Madam Luna", "Zoe", "Anna"):
        one, other = (
            {f"{ENTRIES}/{slug_of(each)}.md": entry(each, "A cat.", "Likes tea.", aliases=["Luna"])}
            for each in ("Luna the cat", name)
        )
        [(path, text)] = tree(base, joined(base, one, other), one, other).items()
        assert f"name: {'Luna the cat' if 'the-cat' in path else name}\n".encode() in text


def test_a_file_that_gives_way_to_its_twin_takes_no_other_files_place() -> None:
    text = entry("Kiwi", "Green.")
    taken = f"{ENTRIES}/kiwi-{blob_id(text)[:8]}.md"
    base = {taken: entry("Fruit", "All of them.")}
    one, other = {**base, f"{ENTRIES}/kiwi.md": text}, {**base, f"{ENTRIES}/Kiwi.md": entry("Bird", "Brown.")}
    after = tree(base, joined(base, one, other), one, other)
    assert sorted(after.values()) == sorted({*one.values(), *other.values()})


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        ({"luna": ["Luna"]}, {"Luna": ["Luna"]}, {"luna": ["Luna", "Keep me."], "Luna": ["Luna"]}),
        ({"Luna": []}, {"luna": ["Luna"]}, {"Luna": ["Luna"], "ä": ["Luna"]}),
        ({"luna": ["Luna", "a"]}, {"Luna": ["Luna", "b"]}, {"luna": ["Luna", "c"], "LUNA": ["Moon", "d"]}),
    ],
)
def test_paths_that_differ_by_case_cost_no_text(base: Named, one: Named, other: Named) -> None:
    before, mine, theirs = (
        {f"{ENTRIES}/{path}.md": entry(*said) if said else b"\xff" for path, said in each.items()}
        for each in (base, one, other)
    )
    done = joined(before, mine, theirs)
    after = tree(before, done, mine, theirs)
    said = lines_of(*after.values(), *(each.waiting for each in done.disputes))
    assert lines_of(*mine.values(), *theirs.values()) - lines_of(*before.values()) <= said
    assert not has_twins(after)


def test_of_a_file_beside_memory_that_both_changed_both_are_there() -> None:
    for base in ({}, {"plan/pic.png": b"\x00"}):
        one, other = {"plan/pic.png": b"\x00\xff1"}, {"plan/pic.png": b"\x00\xff2"}
        done = joined(base, one, other)
        assert sorted(tree(base, done, one, other).values()) == [b"\x00\xff1", b"\x00\xff2"]
        assert not done.disputes and len(done.copies) == 1


def test_what_an_agent_made_of_a_guarded_file_waits_and_a_persons_is_taken() -> None:
    identity = ORDINARY.identity
    base, one = {identity: b"I am Crab.\n"}, {identity: b"I am Root.\n"}
    done = joined(base, one, base, guarded=identity)
    assert tree(base, done, one, base) == base
    assert [(each.path, each.waiting, each.why is Why.GUARDED) for each in done.disputes] == [
        (identity, b"I am Root.\n", True)
    ]
    assert tree(base, joined(base, one, base, (identity, ""), guarded=identity), one, base) == one


@given(FILES, FILES, FILES, st.sets(PATHS), st.sets(PATHS))
def test_what_waits_of_agents_is_as_it_was_and_is_the_same_in_either_order(
    base: Files, one: Files, other: Files, first: set[str], second: set[str]
) -> None:
    assume(not has_twins(base))
    blobs = {blob_id(data): data for files in (base, one, other) for data in files.values()}
    names = {path: blob_id(data) for path, data in base.items()}

    def side(files: Files, waiting: set[str]) -> Side:
        changes = _changes(base, files)
        return Side(changes, frozenset(), frozenset(changes), frozenset(waiting))

    sides = side(one, first), side(other, second)
    rules = Rules(ORDINARY, blobs.__getitem__)
    done = join(names, *sides, rules)
    assert done == join(names, *sides[::-1], rules)
    everything = frozenset(base) | frozenset(one) | frozenset(other)
    held = join(names, side(one, {*everything}), side(other, {*everything}), rules)
    assert tree(base, held, one, other) == dict(base)
    assert {each.path for each in held.disputes} <= {path for each in sides for path in each.changes}


def test_hundreds_that_a_side_moved_and_rewrote_are_compared_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is compared with each, while others wait for the lock. Two machines compare the same, in whatever order."""
    monkeypatch.setattr(diff, "MOST_BYTES", 500_000)
    pairs = list[int]()
    whole = diff._sentences

    class Noted(Counter[bytes]):
        def __and__(self, other: Counter[bytes]) -> Counter[bytes]:
            pairs.append(1)
            return super().__and__(other)

    monkeypatch.setattr(diff, "_sentences", lambda text: Noted(whole(text)))

    def sides(count: int) -> tuple[Files, Files, Files]:
        texts = {number: [f"{number} says {line}." for line in range(20)] for number in range(count)}
        names = {number: (f"{ENTRIES}/f{number}.md", f"{ENTRIES}/g{number}.md") for number in texts}
        return (
            {names[number][0]: entry(f"F{number}", *text) for number, text in texts.items()},
            {names[number][0]: entry(f"F{number}", *text, "More.") for number, text in texts.items()},
            {names[number][1]: entry(f"G{number}", *text[:15], "Else.") for number, text in texts.items()},
        )

    base, one, other = sides(10)
    done = joined(base, one, other)
    assert not done.kept and len(tree(base, done, one, other)) == 10
    base, one, other = sides(100)
    pairs.clear()
    done = joined(base, one, other)
    assert len(pairs) < 250
    assert done.kept and not lost_of(base, one, other, done)
    again = joined(base, other, one)
    assert tree(base, again, other, one) == tree(base, done, one, other)


@pytest.mark.parametrize("path", [f"{ENTRIES}/{'ä' * 140}.md", f"{ENTRIES}/{'b' * 300}/x.md", "c" * 300])
def test_a_path_that_no_disk_holds_is_cut_and_nothing_is_lost(path: str) -> None:
    text = entry("Long", "A text.")
    one, other = {LUNA: entry("Luna", "A cat.")}, {path: text}
    done = joined({}, one, other)
    made = tree({}, done, one, other)
    (new,) = made.keys() - {LUNA}
    assert (
        made[new] == text
        and done.copies == (new,)
        and new.startswith(path[:10])
        and ORDINARY.is_entry(new) == ORDINARY.is_entry(path)
    )
    assert all(len(part.encode()) <= 255 for part in new.split("/"))
    again = joined(made, made, {**made, path: text})
    assert tree(made, again, made, {**made, path: text}) == made
