"""What a stranger's repository says of other files, or stands for, is not believed."""

import zlib
from pathlib import Path

import pytest
from dulwich.objects import ObjectID

from crabmem import DamagedHistory, Memory
from crabmem.disk import state
from crabmem.git import objects, trees
from crabmem.git.objects import Objects, oid_of
from crabmem.git.purged import PUT, Erased, PurgeRecord
from crabmem.git.refs import Refs
from crabmem.git.repository import remotes
from crabmem.git.rewrite import objects as rewrite_objects
from crabmem.git.rewrite import purged_line
from crabmem.git.rewrite.objects import Survey, survey
from crabmem.git.rewrite.overlay import Overlay
from crabmem.git.rewrite.purged_line import PurgedLine
from crabmem.git.rewrite.went import Went
from crabmem.git.store import Disk
from crabmem.git.trees import FOLDER, REGULAR, Trees, read_rows, row_of
from tests.conftest import git


def test_no_object_of_another_repository_is_read(tmp_path: Path) -> None:
    with Memory(tmp_path / "theirs") as theirs, Memory(tmp_path / "ours") as ours:
        theirs.remember("Luna", "the cat", "Nobody's business.")
        ours.remember("Luna", "the cat", "A cat.")
    head = git(tmp_path / "theirs", "rev-parse", "HEAD").strip()
    folder = tmp_path / "ours/.git/objects"
    (folder / "info").mkdir(exist_ok=True)
    (folder / "info/alternates").write_text(f"{tmp_path / 'theirs/.git/objects'}\n")
    assert git(tmp_path / "ours", "cat-file", "-t", head) == "commit\n"  # Git reads it
    assert not Disk(str(folder)).contains_loose(ObjectID(head.encode()))
    assert list(Disk(str(folder)).alternates) == []
    with pytest.raises(DamagedHistory):
        Objects(folder).raw(head)


def test_no_file_that_settings_include_is_read(tmp_path: Path) -> None:
    (tmp_path / "more").write_text('[remote "more"]\n\turl = https://evil.example/x.git\n')
    (tmp_path / "config").write_text(f'[include]\n\tpath = {tmp_path / "more"}\n[remote "own"]\n\turl = /srv/x.git\n')
    assert git(tmp_path, "config", "--file", "config", "--includes", "remote.more.url")  # Git reads it
    assert remotes(tmp_path) == {"own": "/srv/x.git"}


def test_an_object_that_stands_for_more_than_is_read_is_not_inflated() -> None:
    bomb = zlib.compress(b"blob %d\0" % objects.LARGEST + bytes(objects.LARGEST), 1)
    with pytest.raises(ValueError):
        objects._unpacked(bomb)


def test_a_tree_of_trees_is_not_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few rows that stand for thousands of files."""
    monkeypatch.setattr(trees, "MOST_FILES", 100)
    Memory(tmp_path).remember("Luna", "the cat", "A cat.")
    found = Objects(tmp_path / ".git/objects", tmp_path / state.FOLDER / state.TEMPORARY)
    row, mode = bytes.fromhex(oid_of("blob", b"")), b"100644"
    for _ in range(3):
        tree = b"".join(b"%s %d\0%s" % (mode, number, row) for number in range(10))
        found.store({oid_of("tree", tree): ("tree", tree)})
        row, mode = bytes.fromhex(oid_of("tree", tree)), b"40000"
    with pytest.raises(DamagedHistory, match="more than 100 files"):
        Trees(found).files(row.hex())


def bomb(store: Objects, text: bytes, levels: int) -> str:
    """Return a tree of few bytes that says ten to the power of so many files."""
    tree = store.put("tree", row_of(b"a.txt", REGULAR, store.put("blob", text)))
    for _ in range(levels):
        tree = store.put("tree", b"".join(row_of(b"%d" % number, FOLDER, tree) for number in range(10)))
    return tree


def committed(store: Objects, tree: str, *parents: str) -> str:
    rows = "".join(f"parent {each}\n" for each in parents)
    who = "E <e@x> 1700000000 +0000"
    return store.put("commit", f"tree {tree}\n{rows}author {who}\ncommitter {who}\n\nx\n".encode())


@pytest.fixture
def store(tmp_path: Path) -> Objects:
    (tmp_path / "objects/pack").mkdir(parents=True)
    return Objects(tmp_path / "objects", tmp_path)


def test_a_survey_of_a_tree_of_trees_reads_few_of_them(store: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that meets an old line surveys it before anything of it is believed."""
    monkeypatch.setattr(trees, "MOST_FILES", 1_000)
    head = committed(store, bomb(store, b"x", 9))
    store.flush()
    read = list[str]()

    def noting(oid: str, objects: Objects) -> list[bytes]:
        read.append(oid)
        return read_rows(oid, objects)

    monkeypatch.setattr(rewrite_objects, "read_rows", noting)
    with pytest.raises(DamagedHistory, match="more than 1,000 files"):
        survey([head], store)
    assert len(read) < 1_000


def test_a_survey_of_a_tree_of_trees_in_each_of_many_commits_is_bounded(
    store: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_FILES", 10_000)
    heads = [committed(store, bomb(store, b"%d" % number, 2)) for number in range(10)]
    store.flush()
    assert len(survey(heads[:1], store).files) == 100
    with pytest.raises(DamagedHistory, match="more than 10,000 files"):
        survey(heads, store)


def test_purges_of_trees_of_trees_are_compared_within_a_bound(
    tmp_path: Path, store: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purged_line, "MOST_NAMES", 8_000)
    sides = [[committed(store, bomb(store, b"%d %s" % (n, text), 3)) for n in range(6)] for text in (b"x", b"(purged)")]
    store.flush()
    pairs = dict(zip(*sides, strict=True))
    few = dict(list(pairs.items())[:3])

    def run(ends: dict[str, str]) -> object:
        line = PurgedLine(PurgeRecord([Erased(ends)]), Overlay(tmp_path / "objects", store))
        return line.run(Survey(commits=[*ends]), [*ends])

    assert run(few) == few
    with pytest.raises(DamagedHistory, match="more than 8,000 names"):
        run(pairs)
    monkeypatch.setattr(trees, "MOST_FILES", 1_000)
    with pytest.raises(DamagedHistory, match="more than 1,000 files"):
        run(few)


def test_lines_that_a_purge_took_are_known_by_what_another_left_of_the_same_text(store: Objects) -> None:
    both = store.put("blob", b"Her chip is hunter2-of-luna.\nShe was born in Harbour Lane.\n")
    left = store.put("blob", b"Her chip is hunter2-of-luna.\nShe was born in (purged).\n")
    store.flush()
    ours, theirs = Erased({}, {both: None}), Erased({}, {both: left})
    went = Went(PurgeRecord([ours, theirs]), PurgeRecord([ours]), {}, store)
    went.here.add(left)
    assert b"Her chip is hunter2-of-luna." in went.lines


def test_what_this_machine_left_of_a_text_loses_what_another_purge_took_of_it(store: Objects) -> None:
    whole = oid_of("blob", b"Chip 4711, code 0815.\n")
    ours, theirs = (
        store.put("blob", each) for each in (b"Chip (purged), code 0815.\n", b"Chip 4711, code (purged).\n")
    )
    store.flush()
    own = PurgeRecord([Erased({}, {whole: ours})])
    went = Went(own | PurgeRecord([Erased({}, {whole: theirs})]), own, {}, store)
    end = went.end(ours) if went.is_gone(ours) else None
    store.flush()
    assert store.blob(end or "") == b"Chip (purged), code (purged).\n"


def test_what_another_machine_left_of_a_text_loses_what_a_third_took_of_it(store: Objects) -> None:
    """The text itself is nowhere here any more, as one of their purges was taken in before."""
    whole = oid_of("blob", b"Chip 4711, code 0815.\n")
    one, other = (store.put("blob", each) for each in (b"Chip (purged), code 0815.\n", b"Chip 4711, code (purged).\n"))
    store.flush()
    went = Went(PurgeRecord([Erased({}, {whole: each}) for each in (one, other)]), PurgeRecord(), {}, store)
    for text in (one, other):
        end = went.end(text) if went.is_gone(text) else None
        store.flush()
        assert store.blob(end or "") == b"Chip (purged), code (purged).\n"


def test_a_commit_stays_where_what_it_stands_on_was_put_anew_and_came_to_the_same(
    tmp_path: Path, store: Objects
) -> None:
    """A purge has made what is here of a commit of which another machine made something else: else two machines would
    put each other's joins on the line for ever."""
    tree = store.put("tree", row_of(b"x.md", REGULAR, store.put("blob", b"x")))
    purged, elsewhere, missing = committed(store, tree), committed(store, tree, committed(store, tree)), "9" * 40
    store.flush()

    def put(oid: str) -> tuple[str, Overlay]:
        overlay = Overlay(tmp_path / "objects", store)
        record = PurgeRecord([Erased({missing: below}), Erased({missing: elsewhere}, kind=PUT)])
        return PurgedLine(record, overlay).run(survey([oid], overlay), [oid])[oid], overlay

    below = purged
    below, overlay = put(purged)
    for kind, data in overlay.made.values():
        store.put(kind, data)
    later = committed(store, tree, below)
    store.flush()
    assert below != purged and put(below)[0] == below
    assert put(later)[0] == later


def test_a_reference_that_somebody_moved_meanwhile_is_left_to_them(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "the cat", "A cat.")
        memory.remember("Luna", "the cat", "A dog.")
    new, old = git(tmp_path, "rev-parse", "HEAD", "HEAD~1").split()
    refs = Refs(tmp_path / ".git", tmp_path / state.FOLDER / state.TEMPORARY)
    assert not refs.swap("refs/heads/main", old, "1" * 40) and refs.read("refs/heads/main") == new
    assert not refs.swap("refs/heads/main", None, "1" * 40) and refs.read("refs/heads/main") == new
    assert refs.swap("refs/heads/main", new, old) and refs.read("refs/heads/main") == old
