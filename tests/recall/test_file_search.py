"""Search over files: what is found where, fresh at each look, and nothing that is not to be seen."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import InvalidArguments, NotFound, Unreadable
from crabmem.operations import files as files_operations
from crabmem.operations import maintenance
from crabmem.recall import file_search as searching
from crabmem.recall.sections import Search, Section, sections_of
from crabmem.results import FileSearch
from crabmem.write.actor import Actor
from tests.conftest import git
from tests.embedding import Own
from tests.examples import examples
from tests.opening import opened_with
from tests.searched import profile, write

FILES = {
    "MEMORY.md": "# Memory\n\nLuna's vet is Dr. Moreno.\n\nThe wifi is called Pinguin.\n",
    "SOUL.md": "I look after the vet appointments.\n",
    "memory/2026-03-14.md": "# 2026-03-14\n\nTalked to the vet about the start of the cartography course.\n",
    "memory/projects/harbour.md": "# Harbour\n\nThe crane arrives in April.\n",
}
TODAY = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)
RECENT = "[{days = 0, factor = 1.5}, {days = 1, factor = 1.3}, {days = 7, factor = 1.1}]"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", FILES)


def opened(root: Path, unit: str = "paragraph", kind: str = "main", **search: object) -> Memory:
    return Memory(root, profile=profile(root.parent, unit, "claw", **search), kind=kind)


def on(day: datetime, root: Path, **search: object) -> Memory:
    """The memory as it is at that time."""
    where = profile(root.parent, "paragraph", "claw", **search)
    return opened_with(root, Actor(), lambda: day, profile=where)


def paths(found: FileSearch) -> list[str]:
    return [hit.path for hit in found]


# What is found


def test_a_hit_says_the_file_and_the_lines_and_shows_them(root: Path) -> None:
    with opened(root) as memory:
        first, second = memory.search("vet")
        assert (first.path, first.start, first.end, first.snippet) == ("MEMORY.md", 3, 3, "Luna's vet is Dr. Moreno.")
        assert (second.path, second.start, second.end) == ("memory/2026-03-14.md", 3, 3)
        assert first.score > second.score > 0


def test_files_are_found_however_deep_they_lie_and_the_identity_is_none_of_them(root: Path) -> None:
    with opened(root) as memory:
        assert paths(memory.search("crane")) == ["memory/projects/harbour.md"]
        assert paths(memory.search("appointments")) == []


def test_a_part_of_a_word_does_not_count_as_the_word(root: Path) -> None:
    with opened(root) as memory:
        assert paths(memory.search("art")) == paths(memory.search("star cart")) == []
        write(root, {"memory/art.md": "Modern art.\n"})
        assert paths(memory.search("art")) == ["memory/art.md"]


def test_a_profile_that_says_mmr_is_read_and_finds_as_one_without(root: Path, tmp_path: Path) -> None:
    found = []
    for said in (dict[str, Any](), {"mmr": 0.7}):
        with Memory(root, profile=profile(tmp_path, **said)) as memory:
            found.append([(hit.path, hit.score) for hit in memory.search("vet wifi")])
    assert found[0] == found[1] != []


def test_a_phrase_has_to_stand_there_and_a_beginning_of_words_is_enough(root: Path) -> None:
    write(root, {"memory/moreno.md": "Moreno sells wine. The Dr. is another one.\n"})
    with opened(root) as memory:
        assert paths(memory.search('"Dr. Moreno"')) == ["MEMORY.md"]
        assert paths(memory.search("harb*")) == ["memory/projects/harbour.md"]
        assert memory.search('"Moreno the vet"').note == (
            'no file says "Moreno the vet" word by word; these have the words'
        )


def test_the_frontmatter_of_an_entry_is_found_as_text(root: Path) -> None:
    with opened(root) as memory:
        memory.remember("Deploy key", "where it lives", "In the vault.", aliases=["release secret"])
        assert paths(memory.search("release")) == ["memory/entries/deploy-key.md"]


def test_a_daily_note_is_found_by_its_day(root: Path) -> None:
    write(root, {"memory/2026-03-12.md": "Bought a ladder.\n"})
    with opened(root) as memory:
        assert paths(memory.search("what happened on 12 March 2026?"))[0] == "memory/2026-03-12.md"


def test_the_day_of_a_note_makes_what_it_says_no_longer(tmp_path: Path) -> None:
    said = "Talked to the vet about the boiler.\n"
    files = {"memory/2026-03-14.md": said, "memory/2026-12-25.md": said, "memory/harbour.md": said}
    with opened(write(tmp_path / "notes", files)) as memory:
        assert len({hit.score for hit in memory.search("boiler")}) == 1
        memory.remember("Boiler", "the heating", "An E-4711.")
    with opened(tmp_path / "notes") as memory:  # from the cache, and after a change
        assert len({hit.score for hit in memory.search("talked")}) == 1


@pytest.mark.parametrize("among", [0, 100])
def test_scores_are_told_as_among_more_sections_and_the_order_stays(root: Path, among: int) -> None:
    with opened(root) as memory:
        bare = memory.search("vet wifi start")
    with opened(root, among=among) as memory:
        told = memory.search("vet wifi start")
    assert [(hit.path, hit.start) for hit in told] == [(hit.path, hit.start) for hit in bare]
    factors = {round(one.score / other.score, 9) for one, other in zip(told, bare, strict=True)}
    assert len(factors) == 1 and (factors == {1.0} if not among else factors.pop() > 2)


def test_among_many_sections_scores_are_as_bm25_has_them(tmp_path: Path) -> None:
    files = {f"memory/n{at}.md": f"Number {at}, and the vet.\n" for at in range(120)}
    with opened(write(tmp_path / "notes", files)) as memory:
        bare = [hit.score for hit in memory.search("vet 7")]
    with opened(tmp_path / "notes", among=100) as memory:
        assert [hit.score for hit in memory.search("vet 7")] == bare


def test_of_long_sections_the_passage_is_shown_that_matched(root: Path) -> None:
    write(root, {"memory/long.md": "filler words here. " * 100 + "The boiler is an E-4711. " + "and so on. " * 100})
    with opened(root, "file", snippet=120) as memory:
        [hit] = memory.search("boiler")
        assert "E-4711" in hit.snippet and len(hit.snippet) <= 120


@given(st.integers(1, 200), st.text(st.sampled_from("ab 語\n#é."), max_size=400))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_snippet_is_longer_than_the_profile_says(tmp_path: Path, most: int, text: str) -> None:
    root = write(tmp_path / "notes", {"memory/a.md": f"boiler {text}"})
    with opened(root, "chunk", snippet=most, size=100, overlap=20) as memory:
        assert all(len(hit.snippet) <= most for hit in memory.search("boiler a b 語"))


def test_no_more_is_found_than_is_asked_for(root: Path) -> None:
    write(root, {f"memory/2026-02-{day:02}.md": "The vet again.\n" for day in range(1, 20)})
    with opened(root, results=4) as memory:
        assert len(memory.search("vet")) == 4 and len(memory.search("vet", 9)) == 9
        with pytest.raises(InvalidArguments, match="limit must be at least 1"):
            memory.search("vet", 0)
        with pytest.raises(InvalidArguments, match="the question is empty"):
            memory.search(" ")


# Notes of late


def test_notes_of_late_come_first_by_the_local_day_and_those_of_the_future_do_not(root: Path) -> None:
    days = {"2026-03-15": 1.5, "2026-03-14": 1.3, "2026-03-09": 1.1, "2026-03-01": 1.0, "2026-03-16": 1.0}
    write(root, {f"memory/{day}.md": "The boiler hums.\n" for day in days})
    with on(TODAY, root, recent=RECENT) as memory:
        found = {hit.path[7:17]: hit.score for hit in memory.search("boiler")}
    base = found["2026-03-01"]
    assert {day: round(score / base, 6) for day, score in found.items()} == days


def test_only_a_date_that_is_the_whole_name_makes_a_note(root: Path) -> None:
    names = ["2026-03-15-standup", "x2026-03-15", "2026-13-45", "MEMORY"]
    write(root, {f"memory/{name}.md": "The boiler hums.\n" for name in names})
    with on(TODAY, root, recent=RECENT) as memory:
        assert len({hit.score for hit in memory.search("boiler hums")}) == 1


# What there is to say when nothing is found


def test_it_is_said_why_nothing_was_found(tmp_path: Path, root: Path) -> None:
    with opened(tmp_path / "nothing") as memory:
        assert memory.search("vet").note == "there are no memory files yet"
    with opened(root) as memory:
        assert memory.search("zebra").note == "no match in 3 files"
        assert memory.search("the of").note == "nothing to search for: only common words or signs"
        assert memory.search("vet").note == ""


def test_it_is_said_how_much_was_searched(root: Path) -> None:
    with opened(root) as memory:
        found = memory.search("zebra")
    assert found.searched == 3
    assert found.size == sum(len(text.encode()) for path, text in FILES.items() if path != "SOUL.md")


def test_a_file_that_is_no_text_is_said_and_hides_no_other(root: Path) -> None:
    (root / "memory" / "bad.md").write_bytes(b"\xff vet")
    with opened(root) as memory:
        found = memory.search("vet")
        assert len(found) == 2 and found.searched == 3 and found.note.startswith("1 file unreadable")


def test_links_are_not_followed_and_are_told(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.md": "vet zebra\n"})
    (root / "memory" / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "memory" / "folder").symlink_to(tmp_path / "outside")
    with opened(root) as memory:
        assert paths(memory.search("zebra")) == [] and memory.search("zebra").unreadable == 1
        with pytest.raises(Unreadable):
            files_operations.excerpt(memory, "memory/link.md")
        with pytest.raises((NotFound, Unreadable)):
            files_operations.excerpt(memory, "memory/folder/secret.md")


# Fresh at each look


def test_new_changed_and_deleted_files_are_seen_at_once(root: Path) -> None:
    with opened(root) as memory, opened(root) as other:
        assert paths(memory.search("zebra")) == paths(other.search("zebra")) == []
        write(root, {"memory/zoo.md": "A zebra.\n"})
        assert paths(memory.search("zebra")) == paths(other.search("zebra")) == ["memory/zoo.md"]
        write(root, {"memory/zoo.md": "A lion.\n"})
        assert paths(memory.search("zebra")) == [] and paths(other.search("lion")) == ["memory/zoo.md"]
        (root / "memory" / "zoo.md").unlink()
        assert paths(memory.search("lion")) == paths(other.search("lion")) == []
        assert memory.search("lion").searched == 3


def test_threads_search_one_memory_while_files_are_written(root: Path) -> None:
    with opened(root) as memory, ThreadPoolExecutor(4) as pool:

        def look(number: int) -> bool:
            write(root, {f"memory/{number % 5}.md": f"Zebra {number}.\n"})
            return "MEMORY.md" in paths(memory.search("vet", 50)) and bool(memory.search("zebra", 50))

        assert all(pool.map(look, range(60)))
        assert len(memory.search("zebra", 50)) == 5


TEXTS = st.sampled_from(["vet luna", "# Vet\n\nwifi\n\nluna", "wifi " * 40, "", "\n\n", "luna vet wifi 語"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["MEMORY.md", "memory/a.md", "memory/b/c.md"]), st.none() | TEXTS), max_size=8
)


@given(STEPS, st.sampled_from(["paragraph", "chunk", "file"]))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_memory_that_followed_finds_what_a_new_one_finds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None]], unit: str
) -> None:
    root = write(tmp_path_factory.mktemp("followed") / "notes", FILES)
    with opened(root, unit, size=100, overlap=10) as followed:
        for path, text in steps:
            if text is None:
                (root / path).unlink(missing_ok=True)
            else:
                write(root, {path: text})
            found = [followed.search(query) for query in ("vet", "luna wifi")]
        with opened(root, unit, size=100, overlap=10) as fresh:
            assert not steps or found == [fresh.search(query) for query in ("vet", "luna wifi")]


def test_searching_changes_no_file_and_no_history(root: Path) -> None:
    with opened(root) as memory:
        memory.init()
        memory.adopt()
        before = {path: (root / path).stat().st_mtime_ns for path in FILES}, git(root, "rev-parse", "HEAD")
        memory.search("vet")
        files_operations.excerpt(memory, "MEMORY.md")
    assert before == ({path: (root / path).stat().st_mtime_ns for path in FILES}, git(root, "rev-parse", "HEAD"))
    assert not git(root, "status", "--porcelain").strip()


# Kept between processes


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are taken apart from now on."""
    read = list[str]()

    def noted(text: str, search: Search) -> list[Section]:
        read.append(text)
        return sections_of(text, search)

    monkeypatch.setattr(searching, "sections_of", noted)
    return read


def test_the_next_process_reads_only_what_changed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(root) as memory:
        memory.init()
        memory.search("vet")
    assert (root / ".git" / "crabmem" / "index" / "sections").is_dir()
    write(root, {"memory/new.md": "A zebra.\n"})
    with opened(root) as memory:
        read = reads(monkeypatch)
        assert paths(memory.search("zebra")) == ["memory/new.md"]
        assert read == ["A zebra.\n"]
        assert paths(memory.search("wifi")) == ["MEMORY.md"]


def test_the_cache_may_be_deleted_or_broken(root: Path) -> None:
    with opened(root) as memory:
        memory.init()
        before = memory.search("vet luna")
    kept = root / ".git" / "crabmem" / "index" / "sections"
    for file in kept.iterdir():
        file.write_bytes(file.read_bytes()[:-3] + b"abc")
    with opened(root) as memory:
        assert memory.search("vet luna") == before


def test_another_way_to_take_files_apart_is_another_index(root: Path) -> None:
    for unit, lines in (("file", (1, 5)), ("paragraph", (3, 3)), ("file", (1, 5))):
        with opened(root, unit) as memory:
            memory.init()
            hit = memory.search("moreno")[0]
            assert (hit.start, hit.end) == lines


def test_what_is_purged_is_in_no_cache(root: Path) -> None:
    write(root, {"memory/key.md": "The key is hunterzwei.\n"})
    with opened(root) as memory, opened(root) as other:
        memory.adopt()
        assert other.search("hunterzwei").hits and memory.search("hunterzwei").hits
        memory.purge(text="hunterzwei")
        assert not other.search("hunterzwei").hits and not memory.search("hunterzwei").hits
    cached = [file.read_bytes() for file in (root / ".git" / "crabmem").rglob("*") if file.is_file()]
    assert not any(b"hunterzwei" in data for data in cached)


def test_recall_in_a_fresh_process_loads_nothing_of_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "plain") as memory:
        memory.remember("Wifi", "its name", "Pinguin")
    code = (
        "import sys; from crabmem import Memory; memory = Memory(sys.argv[1]); memory.recall('wifi'); memory.close(); "
        "print('crabmem.recall.file_search' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code, tmp_path / "plain"], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"


# As it was


def test_files_are_searched_as_they_were(root: Path) -> None:
    with opened(root) as memory:
        memory.adopt()
        then = memory.log(1)[0].commit
        write(root, {"MEMORY.md": "Nothing.\n", "memory/zoo.md": "A zebra.\n"})
        (root / "memory" / "2026-03-14.md").unlink()
        memory.adopt()
        found = memory.search("vet", as_of=then)
        assert paths(found) == ["MEMORY.md", "memory/2026-03-14.md"] and found[0].snippet == "Luna's vet is Dr. Moreno."
        assert memory.search("zebra", as_of=then).note == f"no match in 3 files; as memory was at {then[:8]}"
        assert paths(memory.search("zebra")) == ["memory/zoo.md"]
        [hit] = [hit for hit in found if hit.path == "memory/2026-03-14.md"]
        read = files_operations.excerpt(memory, hit.path, hit.start, hit.end - hit.start + 1, at=then)
        assert hit.snippet in "".join(read.lines) and read.total >= hit.end
        with pytest.raises(NotFound, match=f"there was no memory/zoo.md at {then}"):
            files_operations.excerpt(memory, "memory/zoo.md", at=then)


# By meaning


def test_sections_are_found_by_words_and_by_what_they_mean_each_once(root: Path) -> None:
    where = profile(root.parent, "paragraph")
    with Memory(root, profile=where) as words, Memory(root, profile=where, embedder=Own()) as both:
        assert paths(words.search("internet physician")) == []
        found = both.search("internet physician")
        assert {(hit.path, hit.start) for hit in found} == {
            ("MEMORY.md", 3),
            ("MEMORY.md", 5),
            ("memory/2026-03-14.md", 3),
        }
        assert len({(hit.path, hit.start) for hit in both.search("vet luna wifi puppy")}) == len(
            both.search("vet luna wifi puppy")
        )
        assert paths(both.search("cartography")) == ["memory/2026-03-14.md"]


def test_words_go_on_when_meaning_fails_and_it_is_said(root: Path) -> None:
    class Fails:
        identity = "fails"

        def embed(self, texts: object, /) -> object:
            raise OSError("no network")

    with Memory(root, profile=profile(root.parent), embedder=Fails()) as memory:  # type: ignore[arg-type]
        found = memory.search("vet")
        assert len(found) == 2 and "by words alone" in found.note


def test_vectors_are_kept_and_those_of_another_model_are_made_anew(root: Path) -> None:
    where = profile(root.parent, "paragraph")
    first, again, other = Own(), Own(), Own((("vet", "internet"),))
    for embedder in (first, again, other):
        with Memory(root, profile=where, embedder=embedder) as memory:
            memory.init()
            memory.search("internet")
    assert len(first.asked) > 5 and again.asked == ["internet"]
    assert "internet" in other.asked and len(other.asked) > 5


def test_only_sections_that_changed_get_new_vectors(root: Path) -> None:
    own = Own()
    with Memory(root, profile=profile(root.parent, "paragraph"), embedder=own) as memory:
        memory.search("internet")
        own.asked.clear()
        write(root, {"memory/2026-03-14.md": FILES["memory/2026-03-14.md"] + "\nA puppy.\n"})
        memory.search("dog")
        assert own.asked == ["dog", "A puppy."]


def test_reindexing_reads_files_anew_and_gives_all_sections_vectors(root: Path) -> None:
    with Memory(root, profile=profile(root.parent, "paragraph"), embedder=Own()) as memory:
        memory.init()
        done = maintenance.reindex(memory)
        assert done.sections == 7 and done.made >= 7 and maintenance.reindex(memory).made == 0


# What a kind of session does not see


def test_a_group_never_finds_or_reads_what_is_hidden_from_it(root: Path) -> None:
    write(root, {"memory/vet.md": "The vet is nice.\n"})
    where = profile(root.parent, "paragraph")
    for embedder in (None, Own()):
        with Memory(root, profile=where, kind="group", embedder=embedder) as memory:
            found = memory.search("vet physician luna wifi", 50)
            assert paths(found) == ["memory/vet.md"]
            assert found.searched == 2 and found.size < 100
            assert memory.search("Moreno").note == "no match in 2 files"
            for path in ("MEMORY.md", "memory/2026-03-14.md"):
                with pytest.raises(NotFound):
                    files_operations.excerpt(memory, path)
            assert "MEMORY.md" in paths(memory.of_kind("main").search("vet"))


# Lines of a file


def test_lines_are_given_as_they_are(root: Path) -> None:
    text = "one\r\ntwo\n\nfour"
    write(root, {"memory/lines.md": text})
    with opened(root) as memory:
        whole = files_operations.excerpt(memory, "memory/lines.md")
        assert "".join(whole.lines) == text and whole.total == 4 and whole.version
        assert files_operations.excerpt(memory, "memory/lines.md", 2, 2).lines == ("two\n", "\n")
        assert files_operations.excerpt(memory, "memory/lines.md", 4, 100).lines == ("four",)
        assert files_operations.excerpt(memory, "memory/lines.md", 5).lines == ()


@pytest.mark.parametrize(("start", "lines"), [(0, None), (-1, 2), (1, 0)])
def test_lines_are_counted_from_1(root: Path, start: int, lines: int | None) -> None:
    with opened(root) as memory, pytest.raises(InvalidArguments, match="at least 1"):
        files_operations.excerpt(memory, "MEMORY.md", start, lines)


@pytest.mark.parametrize(
    "path",
    ["", "SOUL.md", "crabmem.toml", "memory", "memory/", "/etc/passwd", "../ab/MEMORY.md", "memory/../SOUL.md",
     "memory/../../ab/MEMORY.md", "memory/../MEMORY.md", "memory//a.md", "memory/.hidden.md", ".git/config",
     "memory/.git/x.md", "agents/a/memory/x.md", "memory/a.txt", "./MEMORY.md", "MEMORY.md/x.md"],
)  # fmt: skip
def test_nothing_but_the_files_that_are_searched_is_read(root: Path, path: str) -> None:
    write(root.parent / "ab", {"MEMORY.md": "a secret"})
    with opened(root) as memory, pytest.raises(InvalidArguments, match="none of the files"):
        files_operations.excerpt(memory, path)


def test_a_file_that_is_not_there_yet_is_not_found(root: Path) -> None:
    with opened(root) as memory, pytest.raises(NotFound, match="may not have been written yet"):
        files_operations.excerpt(memory, f"memory/{date(2026, 3, 15) + timedelta(days=1)}.md")


def test_the_overview_is_found_under_its_old_name_too(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", {"memory.md": "The vet is Dr. Moreno.\n"})
    with opened(root) as memory:
        assert paths(memory.search("vet")) == ["memory.md"] and files_operations.excerpt(memory, "memory.md").total == 1
