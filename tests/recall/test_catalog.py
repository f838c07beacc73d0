"""Finding entries: by name, file name or alias, by nearest name, by tag, by a word."""

import threading
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import CrabmemError, Fact, InvalidArguments, Memory, NotFound
from crabmem.recall.ranking import check_question
from crabmem.search import Index
from crabmem.text.slug import name_key
from tests.examples import examples


def put(memory: Memory, slug: str, name: str, aliases: str = "", content: str = "…", tags: str = "") -> None:
    """Write an entry as a person does, with an editor."""
    file = memory.root / "memory" / "entries" / f"{slug}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    header = f"name: {name}\ndescription: d\naliases: [{aliases}]\ntags: [{tags}]\n"
    file.write_text(f"---\n{header}---\n\n{content}\n", "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Memory:
    """A memory of files that nobody has committed."""
    return Memory(tmp_path)


@pytest.mark.parametrize(
    ("asked", "slug"),
    [
        ("Harbour", "by-name"),
        ("harbour", "by-name"),
        ("  HARBOUR ", "by-name"),
        ("lighthouse", "lighthouse"),
        ("LightHouse", "lighthouse"),
        ("the pier", "by-alias"),
        ("The  Pier", "by-alias"),
    ],
)
def test_an_entry_is_found_by_name_then_file_name_then_alias(folder: Memory, asked: str, slug: str) -> None:
    put(folder, "by-name", "Harbour")
    put(folder, "harbour", "Some other name")
    put(folder, "lighthouse", "Yet another", "Harbour")
    put(folder, "by-alias", "Jetty", "the pier, lighthouse")
    assert folder.get(asked).slug == slug


@pytest.mark.parametrize("asked", ["Käsespätzle", "KÄSESPÄTZLE", unicodedata.normalize("NFD", "käsespätzle")])
@pytest.mark.parametrize("kept", ["Käsespätzle", unicodedata.normalize("NFD", "Käsespätzle")])
def test_composed_and_decomposed_letters_are_the_same_name(folder: Memory, asked: str, kept: str) -> None:
    put(folder, "noodles", kept)
    assert folder.get(asked).slug == "noodles"


def test_case_is_folded_as_the_language_has_it(folder: Memory) -> None:
    put(folder, "street", "Hauptstraße")
    assert folder.get("HAUPTSTRASSE").slug == "street"


def test_a_name_that_several_entries_have_is_an_error_that_lists_their_files(folder: Memory) -> None:
    put(folder, "one", "Harbour")
    put(folder, "two", "HARBOUR")
    with pytest.raises(InvalidArguments, match=r"^several facts are called harbour; say which file: one, two$"):
        folder.get("harbour")


def test_each_file_that_is_listed_for_a_name_of_several_entries_can_be_asked_for(folder: Memory) -> None:
    put(folder, "harbour", "HARBOUR")
    put(folder, "two", "Harbour")
    with pytest.raises(InvalidArguments) as refused:
        folder.get("harbour")
    listed = refused.value.problem.partition("say which file: ")[2].split(", ")
    assert {folder.get(file).slug for file in listed} == {"harbour", "two"}


def test_of_names_that_differ_in_case_the_exact_one_is_meant(folder: Memory) -> None:
    put(folder, "one", "Harbour")
    put(folder, "two", "HARBOUR")
    assert [folder.get(name).slug for name in ("Harbour", "HARBOUR")] == ["one", "two"]


def test_entries_of_one_name_are_still_found_by_their_files(folder: Memory) -> None:
    put(folder, "one", "Harbour")
    put(folder, "two", "Harbour")
    assert folder.get("two").path == "memory/entries/two.md"


def test_an_alias_that_several_entries_have_is_an_error_that_lists_their_files(folder: Memory) -> None:
    put(folder, "one", "Harbour", "the quay")
    put(folder, "two", "Jetty", "The Quay")
    with pytest.raises(InvalidArguments, match="one, two"):
        folder.get("the quay")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("Harbor", '. Did you mean "Harbour"?'),
        ("harbour master", '. Did you mean "Harbour"?'),
        ("the quai", '. Did you mean "Jetty"?'),
        ("Xylophone", ""),
    ],
)
def test_a_name_that_nobody_has_is_an_error_with_the_near_ones(folder: Memory, asked: str, nearest: str) -> None:
    put(folder, "one", "Harbour")
    put(folder, "two", "Jetty", "the quay")
    with pytest.raises(NotFound) as caught:
        folder.get(asked)
    assert str(caught.value) == f"no fact called {asked}{nearest}"


def test_at_most_three_near_names_are_listed(folder: Memory) -> None:
    for number in range(5):
        put(folder, f"file-{number}", f"Harbour {number}")
    with pytest.raises(NotFound, match=r'Did you mean "Harbour \d" or "Harbour \d" or "Harbour \d"\?$'):
        folder.get("Harbour")


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        ([], {"Luna", "Wifi", "Vet"}),
        (["dog"], {"Luna", "Vet"}),
        (["DOG"], {"Luna", "Vet"}),
        (["#dog"], {"Luna", "Vet"}),
        (["dog", "health"], {"Vet"}),
        (["dog", "house"], set()),
        (["cat"], set()),
    ],
)
def test_recall_with_tags_gives_only_entries_that_have_all_of_them(
    folder: Memory, tags: list[str], names: set[str]
) -> None:
    for name, kept in (("Luna", "Dog"), ("Vet", "'#dog', health"), ("Wifi", "house")):
        put(folder, name, name, content="thursday", tags=kept)
    assert {hit.entry.name for hit in folder.recall("thursday", tags=tags)} == names


def test_tags_are_filtered_before_the_limit_cuts(folder: Memory) -> None:
    for number in range(5):
        put(folder, f"walk-{number}", f"Walk {number}", content="dog dog dog")
    put(folder, "vet", "Vet", content="a dog among many other words of little weight", tags="health")
    assert [hit.entry.name for hit in folder.recall("dog", 1, ["health"])] == ["Vet"]


@pytest.mark.parametrize("query", ["zeppelin", "quokka", "narwhal", "walrus", "marmot", "quokkas"])
def test_every_part_of_an_entry_is_searched(folder: Memory, query: str) -> None:
    folder.remember("Zeppelin", "a quokka", "some narwhal", aliases=["the walrus"], tags=["marmot"])
    folder.remember("Other", "thing", "nothing of the kind")
    assert [hit.entry.name for hit in folder.recall(query)] == ["Zeppelin"]


def test_a_word_weighs_more_where_an_entry_says_what_it_is_about(folder: Memory) -> None:
    of_no_weight = "a b c d e f g h j k l m n o p q r s t u v w x y z"
    folder.remember("In content", of_no_weight, "of the quokka")
    folder.remember("In tags", of_no_weight, "one two", tags=["quokka"])
    folder.remember("In the description", f"quokka {of_no_weight[2:]}", "one two")
    folder.remember("Late in the description", f"{of_no_weight[2:]} quokka", "one two")
    folder.remember("In the alias", of_no_weight, "one two", aliases=["quokka"])
    scores = {hit.entry.name: hit.score for hit in folder.recall("quokka")}
    said_once = scores.pop("In content"), scores.pop("In tags"), scores.pop("Late in the description")
    assert list(scores) == ["In the description", "In the alias"]
    assert min(scores.values()) > max(said_once)


@pytest.mark.parametrize("query", ["The Who", " the  WHO", "It"])
def test_a_name_of_words_that_say_nothing_is_found_when_it_is_all_that_is_asked(folder: Memory, query: str) -> None:
    put(folder, "the-who", "The Who", aliases="It", content="the band")
    put(folder, "who", "Who is who", aliases="Who", content="the people of the house")
    assert [hit.entry.name for hit in folder.recall(query)] == ["The Who"]
    assert (
        folder.recall(query, tags=["music"]).note
        == folder.recall("which?").note
        == "nothing to search for: only common words or signs"
    )


def test_a_long_question_with_one_rare_word_finds_its_entry_first(folder: Memory) -> None:
    for number in range(40):
        put(folder, f"note-{number}", f"Note {number}", content="When we go to the shop and what to do this week.")
    put(folder, "boiler", "Boiler", content="Fault F28: press reset for five seconds.")
    question = (
        "Good morning! I was about to go to the shop with the children when I saw that it is cold in here, and on "
        "what is in the cellar the display says F28, which I have never seen before; what do we do about it this week?"
    )
    assert folder.recall(question)[0].entry.name == "Boiler"


def test_a_word_of_the_question_counts_once_however_often_it_is_said(folder: Memory) -> None:
    put(folder, "dog", "Dog", content="a dog")
    put(folder, "boiler", "Boiler", content="the boiler in the cellar")
    assert folder.recall("dog dog dog dog dog boiler cellar")[0].entry.name == "Boiler"


def test_an_edit_on_disk_is_found_at_once(folder: Memory) -> None:
    put(folder, "vet", "Vet", content="thursday")
    assert len(folder.recall("friday")) == 0
    put(folder, "vet", "Vet", content="friday")
    assert [hit.entry.content for hit in folder.recall("friday")] == ["friday"]
    assert len(folder.recall("thursday")) == 0


def test_entries_that_score_the_same_come_in_the_order_of_their_files(folder: Memory) -> None:
    for slug in ("c", "a", "b"):
        put(folder, slug, "Same", content="quokka")
    assert [hit.entry.slug for hit in folder.recall("quokka")] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("query", "limit", "tags", "words"),
    [
        ("x" * 10_001, None, [], "at most 10000 fit"),
        ("dog", 1_001, [], "at most 1000"),
        ("dog", 0, [], "at least 1"),
        ("dog", None, ["pets"] * 101, "tags: at most 100"),
    ],
)
def test_questions_have_bounds_that_are_said(query: str, limit: int | None, tags: list[str], words: str) -> None:
    with pytest.raises(InvalidArguments, match=words):
        check_question(query, limit, tags)


def test_recall_answers_while_changes_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index that is being made anew keeps nobody waiting, and misses nothing that comes meanwhile."""
    monkeypatch.setattr("crabmem.search.index.FEW", 5)
    monkeypatch.setattr("crabmem.search.segment.FEW", 5)
    begun, go_on, real = threading.Event(), threading.Event(), Index.joined

    def slow(index: Index) -> Index:
        begun.set()
        assert go_on.wait(20)
        return real(index)

    monkeypatch.setattr(Index, "joined", slow)
    with Memory(tmp_path) as memory:
        for number in range(8):
            put(memory, f"n{number}", f"Name {number}", content=f"word{number}")
            assert [hit.entry.slug for hit in memory.recall(f"word{number}")] == [f"n{number}"]
        assert begun.wait(20)
        put(memory, "late", "Late", content="meanwhile")
        (tmp_path / "memory/entries/n0.md").unlink()
        assert [hit.entry.slug for hit in memory.recall("meanwhile word0")] == ["late"]
        go_on.set()
        memory.engine.catalog.close()
        assert not memory.engine.catalog.known()._changes_since_joining() > 5
        assert [hit.entry.slug for hit in memory.recall("meanwhile word0 word7")] == ["late", "n7"]
        assert len(memory.entries()) == 8


def test_recall_finds_all_where_no_thread_can_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.search.index.FEW", 5)
    monkeypatch.setattr("crabmem.search.segment.FEW", 5)

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Memory(tmp_path) as memory:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refused)
            for number in range(9):
                put(memory, f"n{number}", f"Name {number}", content=f"word{number}")
                assert [hit.entry.slug for hit in memory.recall(f"word{number}")] == [f"n{number}"]
        put(memory, "late", "Late", content="word0")
        assert [hit.entry.slug for hit in memory.recall("word0")] == ["late", "n0"]
        memory.engine.catalog.close()
        assert not memory.engine.catalog.known()._changes_since_joining() > 5


def test_reading_many_entries_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Memory(tmp_path, progress=lambda done, total: told.append((done, total))) as memory:
        for number in range(3):
            put(memory, f"n{number}", f"Name {number}")
        memory.recall("name")
    assert told[0] == (1, 3) and told[-1] == (3, 3)


def place_of(memory: Memory, name: str) -> str | CrabmemError:
    """Where a fact of that name would be saved, or why not."""
    [done] = memory.remember_all([Fact(name, "d", "new")], "a test", dry_run=True)
    return done if isinstance(done, CrabmemError) else done.entry.path


def test_of_names_that_differ_in_case_the_exact_one_is_written_over_too(memory: Memory) -> None:
    memory.init()
    put(memory, "a", "Case One")
    put(memory, "b", "case one")
    kept = memory.get("Case One")
    saved = memory.remember("case one", "d", "new", if_version=memory.get("case one").version)
    assert (saved.entry.slug, memory.get("Case One"), memory.get("case one").content) == ("b", kept, "new")
    assert memory.forget("case one").path == "memory/entries/b.md"
    assert memory.remember("CASE ONE", "d", "newer").entry.slug == "a"


@pytest.mark.parametrize("name", ["CASE ONE", "Case  ONE"])
def test_where_nothing_tells_which_name_is_meant_no_fact_is_written_over(memory: Memory, name: str) -> None:
    memory.init()
    put(memory, "a", "Case One")
    put(memory, "b", "case one")
    for way in (memory.get, memory.forget, lambda name: memory.rename(name, "Other"), lambda name: save(memory, name)):
        with pytest.raises(InvalidArguments, match=f"several facts are called {name}"):
            way(name)
    assert {entry.content for entry in memory.entries()} == {"…"}
    memory.adopt()


def save(memory: Memory, name: str) -> None:
    memory.remember(name, "d", "new")


SPELLINGS = ["Café", "CAFÉ", "cafe\u0301", " café", "Case One", "case  one", "C++", "c plus plus", "Straße", "STRASSE"]
SLUGS = ["cafe", "café", "case-one", "c-plus-plus", "one", "two"]
names = st.sampled_from(SPELLINGS)


@given(
    st.dictionaries(st.sampled_from(SLUGS), st.tuples(names, st.lists(names, max_size=2)), min_size=1, max_size=4),
    st.sampled_from([*SPELLINGS, *SLUGS]),
)
@settings(max_examples=examples(60))
def test_what_is_saved_under_a_name_is_put_where_that_name_is_found(
    files: dict[str, tuple[str, list[str]]], asked: str
) -> None:
    with TemporaryDirectory() as place, Memory(place) as memory:
        for slug, (name, aliases) in files.items():
            put(memory, slug, f"'{name}'", ", ".join(f"'{alias}'" for alias in aliases))
        same = [entry for entry in memory.entries() if name_key(entry.name) == name_key(asked)]
        there = place_of(memory, asked)
        if isinstance(there, CrabmemError):
            assert len(same) > 1
            with pytest.raises(InvalidArguments, match="several facts are called"):
                memory.get(asked)
        elif same:
            assert memory.get(asked).path == there
        else:  # what answers by its file's name or an alias is another fact, and stays
            assert there not in {entry.path for entry in memory.entries()}
            assert memory.remember(asked, "d", "new").entry.path == there == memory.get(asked).path


def test_a_fact_that_somebody_is_writing_is_not_recalled(tmp_path: Path) -> None:
    """Half of a text may say the opposite; it is named instead."""
    with Memory(tmp_path / "notes") as memory:
        saved = memory.remember("Vet", "who cares for Luna", "Never Dr. Sousa.")
        file = tmp_path / "notes" / saved.entry.path
        with file.open("r+") as opened:
            opened.write(file.read_text().replace("Never Dr. Sousa.", "Dr. Sousa."))
            opened.truncate()
            opened.flush()
            found = memory.recall("who cares for luna")
            assert [hit.entry.content for hit in found] == [] and "1 file" in found.note
        assert memory.recall("who cares for luna")[0].entry.content.strip() == "Dr. Sousa."
