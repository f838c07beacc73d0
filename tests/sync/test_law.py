"""The law of joining: what it keeps whatever the files, and what it makes of each case that people meet."""

from collections.abc import Mapping
from unicodedata import normalize

from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.sync.law import Joined, Rules, Said, Side, join
from crabmem.text.hashes import blob_id
from crabmem.workspace.layout import ORDINARY
from tests.examples import examples

ENTRIES = "memory/entries"
OVERVIEW = ORDINARY.overview
Files = Mapping[str, bytes]


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


def _changes(base: Files, files: Files) -> dict[str, str | None]:
    changed = {path: files.get(path) for path in {**base, **files} if base.get(path) != files.get(path)}
    return {path: None if data is None else blob_id(data) for path, data in changed.items()}


def tree(base: Files, done: Joined, *sides: Files) -> dict[str, bytes]:
    """The files after joining."""
    blobs = {blob_id(data): data for files in (base, *sides) for data in files.values()}

    def data(said: Said) -> bytes | None:
        return blobs[said] if isinstance(said, str) else said

    files = {**base, **{path: data(said) for path, said in done.files.items()}}
    return {path: data for path, data in files.items() if data is not None}


# Laws

NAMES = st.sampled_from(["Luna", "Deploy key", "deploy-key", "Ä", "A\u0308", "Tea"])
PATHS = st.sampled_from([f"{ENTRIES}/{name}.md" for name in ("luna", "Luna", "deploy-key", "ä", "a\u0308", "tea", "x")])
LINES = st.lists(st.sampled_from(["a", "b", "c", "- d", "", "e"]), max_size=6)
TAGS = st.lists(st.sampled_from("pqr"), max_size=3, unique=True)
FACTS = st.builds(lambda name, lines, tags: entry(name, *lines, tags=tags), NAMES, LINES, TAGS)
OVERVIEWS = st.lists(
    st.sampled_from(["# Memory", "", "- [Luna](entries/luna.md)", "- [The cat](entries/luna.md)", "- [[Tea]]", "so"]),
    max_size=6,
).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
FILES = st.builds(
    lambda facts, overview: {**facts, **({} if overview is None else {OVERVIEW: overview})},
    st.dictionaries(PATHS, FACTS | st.just(b"\xff"), max_size=4),
    st.none() | OVERVIEWS,
)
PERSONS = st.tuples(st.just("") | PATHS, st.just("") | PATHS)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Files, Files, Files]:
    """Files, and what two sides made of them: most stay."""
    base = draw(FILES)

    def grown() -> Files:
        kept = {path: data for path, data in base.items() if draw(st.integers(0, 3))}
        return {**kept, **draw(FILES)}

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
    done = joined(base, one, base, persons)
    assert not done.disputes
    assert tree(base, done, one) == dict(one)


@given(histories(), PERSONS)
@settings(max_examples=examples(300))
def test_joining_again_changes_nothing(files: tuple[Files, Files, Files], persons: tuple[str, str]) -> None:
    base, one, other = files
    whole = tree(base, joined(base, one, other, persons), one, other)
    for side in (one, other):
        again = joined(side, whole, side)
        assert not again.disputes
        assert tree(side, again, whole) == whole


@given(histories(), PERSONS)
@settings(max_examples=examples(400))
def test_no_line_is_lost_that_nobody_removed(files: tuple[Files, Files, Files], persons: tuple[str, str]) -> None:
    base, one, other = files
    done = joined(base, one, other, persons)
    there = [*tree(base, done, one, other).values(), *(dispute.waiting for dispute in done.disputes)]
    old = {line for data in base.values() for line in data.splitlines()}
    new = {
        line for side in (one, other) for path, data in side.items() if path != OVERVIEW for line in data.splitlines()
    }
    for line in new - old:
        assert any(line in data.splitlines() for data in there) or line.startswith(b"tags"), line


@given(histories(), PERSONS)
def test_no_two_files_have_paths_that_a_disk_takes_for_one(
    files: tuple[Files, Files, Files], persons: tuple[str, str]
) -> None:
    def folded(files: Files) -> list[str]:
        return [normalize("NFC", path.casefold()) for path in files]

    base, one, other = files
    if all(len(set(folded(each))) == len(each) for each in files):
        paths = folded(tree(base, joined(base, one, other, persons), one, other))
        assert len(set(paths)) == len(paths)


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
        assert [(each.path, waiting in each.waiting, each.is_guarded) for each in done.disputes] == [
            (LUNA, True, False)
        ]


def test_a_file_that_one_side_removed_and_the_other_changed_stays() -> None:
    base = {LUNA: entry("Luna", "A cat.")}
    other = {LUNA: entry("Luna", "A cat.", "Twelve.")}
    assert tree(base, joined(base, {}, other), other) == other


def test_a_change_follows_the_file_to_its_new_name() -> None:
    base = {LUNA: entry("Luna", "A cat.", "Likes tea.")}
    moved = {f"{ENTRIES}/luna-the-cat.md": entry("Luna the cat", "A cat.", "Likes tea.", aliases=["Luna"])}
    other = {LUNA: entry("Luna", "A cat.", "Likes milk.")}
    after = tree(base, joined(base, moved, other), moved, other)
    [(path, data)] = after.items()
    assert path in moved
    assert b"Likes milk." in data and b"Luna the cat" in data


def test_of_two_new_names_a_persons_stands() -> None:
    base = {LUNA: entry("Luna", "A cat.", "Likes tea.")}
    cat, dog = (
        {f"{ENTRIES}/{name}.md": entry(name, "A cat.", "Likes tea.", aliases=["Luna"])} for name in ("cat", "dog")
    )
    assert list(tree(base, joined(base, cat, dog), cat, dog)) == [*cat]
    assert list(tree(base, joined(base, cat, dog, ("", next(iter(dog)))), cat, dog)) == [*dog]


def test_two_facts_that_were_begun_at_one_path_are_two_files() -> None:
    path = f"{ENTRIES}/key.md"
    one, other = {path: entry("Deploy key", "In the vault.")}, {path: entry("Piano key", "Of C.")}
    after = tree({}, joined({}, one, other), one, other)
    assert sorted(after.values()) == sorted([one[path], other[path]])
    assert path in after


def test_one_fact_that_was_begun_at_two_paths_is_one_file() -> None:
    one, other = {LUNA: entry("Luna", "A cat.")}, {f"{ENTRIES}/luna-2.md": entry("Luna", "A cat.")}
    assert [*tree({}, joined({}, one, other), one, other)] == [f"{ENTRIES}/luna-2.md"]


def test_one_fact_that_was_begun_with_two_texts_is_one_file_and_the_other_text_waits() -> None:
    one, other = {LUNA: entry("Luna", "A cat.")}, {LUNA: entry("Luna", "A dog.")}
    done = joined({}, one, other)
    [dispute] = done.disputes
    assert sorted([tree({}, done, one, other)[LUNA], dispute.waiting]) == sorted([one[LUNA], other[LUNA]])


def test_the_overview_has_the_new_lines_of_both_and_one_for_each_fact() -> None:
    base = {OVERVIEW: b"# Memory\n\n- [Tea](entries/tea.md)\n"}
    one = {OVERVIEW: base[OVERVIEW] + b"- [Luna](entries/luna.md): the cat\n- [Key](entries/key.md)\n"}
    other = {OVERVIEW: base[OVERVIEW] + b"- [Luna](entries/luna.md): a cat\n- [Piano](entries/piano.md)\n"}
    done = joined(base, one, other)
    assert not done.disputes
    text = tree(base, done, one, other)[OVERVIEW].decode()
    assert [text.count(name) for name in ("[Tea]", "[Luna]", "[Key]", "[Piano]")] == [1, 1, 1, 1]


def test_what_an_agent_made_of_a_guarded_file_waits_and_a_persons_is_taken() -> None:
    identity = ORDINARY.identity
    base, one = {identity: b"I am Crab.\n"}, {identity: b"I am Root.\n"}
    done = joined(base, one, base, guarded=identity)
    assert tree(base, done, one) == base
    assert [(each.path, each.waiting, each.is_guarded) for each in done.disputes] == [(identity, b"I am Root.\n", True)]
    assert tree(base, joined(base, one, base, (identity, ""), guarded=identity), one) == one


@given(FILES, FILES, FILES, st.sets(PATHS), st.sets(PATHS))
def test_what_waits_of_agents_is_as_it_was_and_is_the_same_in_either_order(
    base: Files, one: Files, other: Files, first: set[str], second: set[str]
) -> None:
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
