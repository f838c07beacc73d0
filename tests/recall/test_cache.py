"""The index on disk: what is loaded is what was saved, or nothing."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem.disk import fs
from crabmem.search import Document, Index, load, save
from tests.examples import examples

WORDS = ["luna", "vet", "boiler", "käse", "犬", "thursday", "\udcff"]


def documents(first: int, last: int, seed: int = 0) -> dict[str, Document | None]:
    """Documents of luck's words, some of several passages."""
    luck = random.Random(seed)
    found: dict[str, Document | None] = {}
    for at in range(first, last):
        words = luck.choices(WORDS, k=luck.randrange(9))
        mark, labels = b"%08d" % luck.randrange(10**8), [f"name {at}", "all"]
        further = [luck.choices(WORDS, k=luck.randrange(9)) for _ in range(luck.choice([0, 0, 3]))]
        found[f"k{at:03}"] = Document(f"k{at:03}", mark, words, labels, further=further)
    return found


def answers(index: Index) -> object:
    """All that an index can be asked."""
    hits = [[(hit.key, hit.score) for hit in index.search(words)] for words in ([word] for word in WORDS)]
    labels = {label: index.labelled(label) for label in index.labels()}
    return hits, [(hit.key, hit.score) for hit in index.search(WORDS, 5)], labels, dict(index.marks()), len(index)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with a large segment, and with changes: new, other and removed documents."""
    monkeypatch.setattr("crabmem.search.index.FEW", 10)
    monkeypatch.setattr("crabmem.search.segment.FEW", 10)
    index = Index().updated(documents(0, 60)).updated(documents(58, 62, seed=1)).updated({"k001": None, "k007": None})
    assert [len(each.keys) for each in index.settled()] == [60] and len(index.later().keys) == 4
    return index


@pytest.fixture
def saved(index: Index, tmp_path: Path) -> Path:
    """The folder that has it."""
    assert save(index, tmp_path / "cache")
    return tmp_path / "cache"


def loaded(folder: Path) -> Index:
    found = load(folder)
    assert found is not None
    return found


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def test_what_is_loaded_is_what_was_saved(index: Index, saved: Path) -> None:
    assert answers(loaded(saved)) == answers(index)


def test_what_is_loaded_can_be_changed_and_saved_again(index: Index, saved: Path) -> None:
    changes = documents(30, 34, seed=2) | {"k002": None, "k059": None, "k061": documents(61, 62, seed=3)["k061"]}
    changed = loaded(saved).updated(changes)
    assert save(changed, saved)
    assert answers(loaded(saved)) == answers(changed) == answers(index.updated(changes))


def test_documents_that_are_only_removed_stay_removed(index: Index, tmp_path: Path) -> None:
    removed = Index(index.settled()[:1]).updated({"k001": None})
    assert save(removed, tmp_path)
    assert answers(loaded(tmp_path)) == answers(removed)


def test_many_changes_are_joined_and_saved_as_one(index: Index, saved: Path) -> None:
    changed = loaded(saved).updated(documents(50, 90, seed=4))
    assert len(changed.later()) == 0
    assert save(changed, saved)
    assert answers(loaded(saved)) == answers(changed) == answers(index.updated(documents(50, 90, seed=4)))


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with a segment of many changes between the large one and the last changes."""
    monkeypatch.setattr("crabmem.search.index.FEW", 6)
    monkeypatch.setattr("crabmem.search.segment.FEW", 6)
    monkeypatch.setattr("crabmem.search.index._PART", 2)
    index = Index().updated(documents(0, 60)).updated(documents(57, 64, seed=1) | {"k001": None, "k057": None})
    index = index.updated({"k002": None, "k062": None}).updated(documents(61, 62, seed=3))
    assert [len(each.keys) for each in (*index.settled(), index.later())] == [60, 6, 1]
    return index


def test_a_segment_of_many_changes_is_kept_too(grown: Index, tmp_path: Path) -> None:
    assert save(grown, tmp_path)
    assert answers(loaded(tmp_path)) == answers(grown)
    before = {name: (tmp_path / name).stat() for name in ("base", "more")}
    changed = loaded(tmp_path).updated(documents(3, 4, seed=5))
    assert save(changed, tmp_path)
    assert answers(loaded(tmp_path)) == answers(changed) == answers(grown.updated(documents(3, 4, seed=5)))
    assert before == {name: (tmp_path / name).stat() for name in before}


@pytest.mark.parametrize("name", ["base", "more", "later"])
def test_what_is_damaged_is_left_out_with_what_stands_on_it(grown: Index, tmp_path: Path, name: str) -> None:
    assert save(grown, tmp_path)
    (tmp_path / name).write_bytes(flipped((tmp_path / name).read_bytes(), 250))
    left = {"base": None, "more": Index(grown.settled()[:1]), "later": Index(grown.settled())}[name]
    found = load(tmp_path)
    assert (found and answers(found)) == (left and answers(left))


def test_a_segment_that_is_left_over_does_not_come_back(index: Index, grown: Index, tmp_path: Path) -> None:
    assert save(grown, tmp_path)
    short = Index(grown.settled()[:1]).updated({"k003": None})
    assert save(short, tmp_path)
    assert answers(loaded(tmp_path)) == answers(short)


def test_nothing_is_kept_of_an_empty_folder_or_index(tmp_path: Path) -> None:
    assert load(tmp_path) is None
    assert load(tmp_path / "missing") is None
    assert save(Index(), tmp_path)
    assert answers(loaded(tmp_path)) == answers(Index())


def test_only_changes_are_written_when_only_they_are_new(index: Index, saved: Path) -> None:
    before = (saved / "base").stat()
    assert save(index.updated({"k003": None}), saved)
    after = (saved / "base").stat()  # being read changes when it was last read
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    assert {file.name for file in saved.iterdir()} == {"base", "later"}


@given(st.binary(max_size=400) | st.binary(max_size=300).map(lambda tail: b"crabmem search 3 little\n" + tail))
@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_of_anything_is_not_trusted(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "base").write_bytes(data)
    assert load(tmp_path) is None


@pytest.mark.parametrize("data", [b"", b"longer"])
def test_a_file_with_something_behind_it_is_not_trusted(saved: Path, data: bytes) -> None:
    with open(saved / "base", "ab") as file:
        file.write(data)
    assert (load(saved) is None) == bool(data)


def test_another_version_and_another_byte_order_are_not_trusted(saved: Path) -> None:
    data = (saved / "base").read_bytes()
    for old, new in ((b"search 3 ", b"search 4 "), (b"little\n", b"biggie\n")):
        assert old in data or sys.byteorder == "big"
        (saved / "base").write_bytes(data.replace(old, new, 1))
        assert load(saved) is None


def test_changes_of_another_segment_are_left_out(saved: Path, tmp_path: Path) -> None:
    other = Index().updated(documents(0, 60, seed=9))
    assert save(other, tmp_path / "other")
    shutil.copy(saved / "later", tmp_path / "other" / "later")
    assert answers(loaded(tmp_path / "other")) == answers(other)


def test_a_damaged_cache_is_mended_by_the_next_save(index: Index, saved: Path) -> None:
    (saved / "base").write_bytes(flipped((saved / "base").read_bytes(), 300))
    assert save(index, saved)
    assert answers(loaded(saved)) == answers(index)


def test_a_folder_in_the_place_of_a_file_is_no_index(index: Index, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    assert load(tmp_path) is None
    assert not save(index, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["base"]


def test_an_index_in_use_outlives_its_files(index: Index, saved: Path) -> None:
    kept = loaded(saved)
    save(index.updated(documents(0, 80, seed=5)), saved)
    shutil.rmtree(saved)
    assert answers(kept) == answers(index)
    assert save(kept, saved)
    assert answers(loaded(saved)) == answers(index)


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(index: Index, saved: Path) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    for pid in (int(gone.stdout), os.getppid()):
        (saved / f"base.{pid}.1").write_bytes(b"half")
    assert save(index, saved)
    assert {file.name for file in saved.iterdir()} == {"base", "later", f"base.{os.getppid()}.1"}


@pytest.fixture
def failing() -> Iterator[list[str]]:
    """Operations that the disk refuses."""
    refused: list[str] = []

    def refuse(operation: str, path: str) -> None:
        if operation in refused:
            raise OSError(28, "no space left", path)

    old, fs.before = fs.before, refuse
    yield refused
    fs.before = old


@pytest.mark.parametrize("operation", ["mkdir", "hint", "write", "rename"])
def test_a_disk_that_refuses_leaves_what_was_kept(
    index: Index, saved: Path, failing: list[str], operation: str
) -> None:
    failing.append(operation)
    other = index.updated(documents(0, 60, seed=6))
    assert not save(other, saved / "new" if operation == "mkdir" else saved)
    assert answers(loaded(saved)) == answers(index)
    assert {file.name for file in saved.iterdir()} == {"base", "later"}


SAVES = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from crabmem.search import Index, load, save
from tests.recall.test_cache import documents
folder, seed = Path({folder!r}), int(sys.argv[1])
for turn in range(6):
    index = Index().updated(documents(0, 600 + turn, seed))
    save(index.updated(documents(0, 3, seed + 1)), folder)
    found = load(folder)
    assert found and len(found) >= 600 and found.search(["luna"], 5), found
"""


def test_processes_that_save_at_once_leave_one_whole_index(tmp_path: Path) -> None:
    code = SAVES.format(root=str(Path(__file__).parent.parent.parent), folder=str(tmp_path / "cache"))
    running = [subprocess.Popen([sys.executable, "-c", code, str(seed)]) for seed in (1, 2)]
    assert [process.wait(100) for process in running] == [0, 0]
    kept = answers(loaded(tmp_path / "cache"))
    bases = [Index().updated(documents(0, 605, seed)) for seed in (1, 2)]
    assert kept in [answers(index) for index in bases] + [
        answers(index.updated(documents(0, 3, seed))) for index, seed in zip(bases, (2, 3), strict=True)
    ]
    assert {file.name for file in (tmp_path / "cache").iterdir()} == {"base", "later"}


COLD = """
import sys, types
crabmem = types.ModuleType("crabmem")  # without what the package itself imports
crabmem.__path__ = [{package!r}]
sys.modules["crabmem"] = crabmem
from pathlib import Path
before = set(sys.modules)
from crabmem.search import load, tokens
first = load(Path({folder!r})).search(tokens("Luna, boiler: Thursday! vet"), 7)
print(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
index = load(Path({folder!r}))
assert index.search(tokens("luna boiler thursday vet"), 7) == first and "numpy" in sys.modules
print(first)
"""


def test_a_first_question_is_answered_without_large_imports_and_like_the_second(index: Index, saved: Path) -> None:
    package = str(Path(__file__).parent.parent.parent / "crabmem")
    code = COLD.format(package=package, folder=str(saved))
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    unwanted = {"numpy", "bm25s", "json", "dataclasses", "inspect"}
    assert not unwanted & set(eval(told[0]))
    assert told[1] == repr(index.search(["luna", "boiler", "thursday", "vet"], 7))


def test_a_saved_cache_is_for_its_owner_only(saved: Path) -> None:
    assert [os.stat(saved / name).st_mode & 0o77 for name in ("base", "later", "")] == [0, 0, 0]
