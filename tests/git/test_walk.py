"""The line of first parents: what moments are looked up in, however the history was changed meanwhile."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from dulwich.objects import Commit, ObjectID, Tree
from dulwich.repo import Repo
from hypothesis import given
from hypothesis import strategies as st

from crabmem.git import walk
from crabmem.git.commits import Header, Note, identity
from crabmem.git.history import History
from crabmem.git.objects import Objects
from crabmem.git.walk import Graph, Line, fitted
from crabmem.workspace.workspace import Workspace
from tests.conftest import git
from tests.git.conftest import opened

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ids(count: int) -> list[str]:
    return [f"{number:040x}" for number in range(1, count + 1)]


def line_of(times: list[int]) -> Line:
    return Line().continued(0, list(zip(ids(len(times)), times, strict=True)))


@given(st.lists(st.integers(-50, 50), max_size=40).map(sorted), st.integers(-60, 60))
def test_the_commit_of_a_moment_is_the_newest_that_is_not_later(times: list[int], moment: int) -> None:
    earlier = [commit for commit, time in zip(ids(len(times)), times, strict=True) if time <= moment]
    assert line_of(times).before(moment) == (earlier[-1] if earlier else None)


_ROWS = st.lists(
    st.tuples(st.integers(-(2**40), 2**40), st.lists(st.integers(1, 99), max_size=3), st.none() | st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


def graph_of(file: Path, rows: list[tuple[int, list[int], int | None]]) -> Graph:
    """A graph of so many commits: the time, the parents and the number of changes of each, None for unknown."""
    graph = Graph(file)
    for commit, (time, parents, count) in zip(ids(len(rows)), rows, strict=True):
        changes = None if count is None else [(f"{number}.md", None, commit) for number in range(count)]
        graph.add(commit, Header("", tuple(f"{each:040x}" for each in parents), time, time - 1), changes)
    return graph


@given(_ROWS)
def test_what_is_known_of_commits_is_read_back_as_it_was_written(rows: list[tuple[int, list[int], int | None]]) -> None:
    with TemporaryDirectory() as folder, patch.object(walk, "_WORTH_SAVING", 1):
        graph = graph_of(Path(folder), rows)
        graph.save(Line())
        again = Graph(Path(folder))
        assert [again.get(commit) for commit in ids(len(rows))] == [graph.get(commit) for commit in ids(len(rows))]


@given(_ROWS, st.data())
def test_of_a_damaged_file_nothing_is_known(rows: list[tuple[int, list[int], int | None]], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, patch.object(walk, "_WORTH_SAVING", 1):
        file = Path(folder) / "index/commits"
        graph_of(Path(folder), rows).save(Line())
        whole = file.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1))
        other = data.draw(st.integers(1, 255))
        for damaged in (whole[:at], whole + b"x" * other, whole[:at] + bytes([whole[at] ^ other]) + whole[at + 1 :]):
            file.write_bytes(damaged)
            assert not any(map(Graph(Path(folder)).get, ids(len(rows))))


def test_a_commit_is_found_by_its_whole_id_only() -> None:
    shifted = Line(bytes.fromhex("00" * 19 + "01" + "02" * 20), (1, 2))
    assert shifted.place("00" * 18 + "01" + "02") is None
    assert shifted.place("02" * 20) == 1


def record(history: History, count: int, first: int = 0) -> list[str]:
    """So many commits, a minute between."""
    note, made = Note("edit: it", identity("Ann")), list[str]()
    for number in range(first, first + count):
        blob = history.recording.put(str(number).encode())
        made.append(history.recording.record({"a.md": blob}, note, NOON + timedelta(minutes=number)) or "")
    return made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits whose header was read."""
    heard, header = list[str](), Objects.header

    def counting(self: Objects, oid: str) -> Header:
        heard.append(oid)
        return header(self, oid)

    monkeypatch.setattr(Objects, "header", counting)
    return heard


def test_steps_back_are_counted_from_any_commit_also_one_beside_the_line(history: History, tmp_path: Path) -> None:
    commits = record(history, 40)
    assert [history.back(commits[-1], steps) for steps in (0, 1, 17, 39, 40, 10**9)] == [
        commits[39], commits[38], commits[22], commits[0], None, None,
    ]  # fmt: skip
    assert history.back(commits[30], 20) == commits[10]
    git(tmp_path, "update-ref", "refs/heads/main", commits[5])
    assert history.back(commits[30], 20) == commits[10]
    assert history.resolve(f"{commits[30]}~20") == commits[10]


def test_a_moment_in_a_long_history_is_looked_up_without_walking_it_again(
    history: History, tmp_path: Path, reads: list[str]
) -> None:
    commits = record(history, 100)
    assert history.at(NOON + timedelta(minutes=10, seconds=5)) == commits[10]
    reads.clear()
    assert history.at(NOON + timedelta(minutes=50)) == commits[50]
    assert len(reads) == 0
    again = History(Workspace(tmp_path))
    assert again.at(NOON + timedelta(minutes=20)) == commits[20]
    assert len(set(reads)) <= 1  # that the line begins where the history does
    more = record(history, 3, 100)
    assert again.at(NOON + timedelta(minutes=101)) == more[1]
    assert len(set(reads)) <= 8


def test_a_history_that_was_rewritten_is_followed(history: History, tmp_path: Path) -> None:
    commits = record(history, 80)
    assert history.at(NOON + timedelta(days=1)) == commits[-1]
    git(tmp_path, "update-ref", "refs/heads/main", commits[40])
    other = record(history, 2, 60)
    assert history.at(NOON + timedelta(days=1)) == other[1]
    assert history.at(NOON + timedelta(minutes=60)) == other[0]
    assert history.at(NOON + timedelta(minutes=59)) == commits[40]


def test_a_file_of_another_history_is_not_believed(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for number, folder in enumerate(folders):
        history = opened(folder)
        record(history, 70, number)
        history.at(NOON)
    kept = [folder / ".git/crabmem/index/commits" for folder in folders]
    kept[1].write_bytes(kept[0].read_bytes())
    again = History(Workspace(folders[1]))
    assert again.at(NOON + timedelta(days=1)) == again.head()


def test_a_clone_that_was_made_deeper_reaches_further_back(history: History, tmp_path: Path) -> None:
    commits = record(history, 90)
    git(tmp_path, "clone", "-q", "--depth", "70", f"file://{tmp_path}", "copy")
    copy = tmp_path / "copy"
    (copy / ".git/crabmem").mkdir()
    shallow = History(Workspace(copy))
    assert shallow.at(NOON + timedelta(minutes=10)) is None
    shallow.close()
    git(copy, "fetch", "-q", "--unshallow")
    assert (copy / ".git/crabmem/index/commits").exists()
    deeper = History(Workspace(copy))
    assert deeper.at(NOON + timedelta(minutes=10)) == commits[10]
    deeper.close()


def test_where_nothing_of_ours_is_nothing_is_left(history: History, tmp_path: Path) -> None:
    record(history, 70)
    git(tmp_path, "clone", "-q", f"file://{tmp_path}", "copy")
    copy = History(Workspace(tmp_path / "copy"))
    assert copy.at(NOON) is not None
    copy.close()
    assert not (tmp_path / "copy/.git/crabmem").exists()


# Clocks that were wrong

RISING = st.lists(st.integers(0, 1000), min_size=5, max_size=40).map(sorted)


@given(RISING, st.data())
def test_one_wrong_clock_changes_nothing_for_the_others(times: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(2, len(times) - 1))  # of two that disagree nobody knows which is right
    wrong = data.draw(st.sampled_from([-(10**9), 10**9]))
    given = [*times[:at], wrong, *times[at:]]
    found = fitted(given, now=1000)
    assert [*found[:at], *found[at + 1 :]] == times
    assert found == sorted(found)


@given(st.lists(st.integers(-50, 50), max_size=40), st.integers(-60, 60))
def test_times_are_fitted_so_that_they_never_fall_and_most_stay(times: list[int], now: int) -> None:
    found = fitted(times, now)
    assert found == sorted(found)
    longest = [0] * len(times)
    for place, time in enumerate(times):
        before = [longest[each] for each in range(place) if times[each] <= time]
        longest[place] = (1 + max(before, default=0)) if time <= now else 0
    kept = sum(one == other for one, other in zip(times, found, strict=True) if one <= now)
    assert kept >= max(longest, default=0)


def test_more_right_times_than_wrong_ones_win_after_the_wrong_moment_has_come() -> None:
    times = [1, 2, 900, 901, 3, 4, 5, 6]
    assert fitted(times, now=950) == [1, 2, 3, 3, 3, 4, 5, 6]
    assert line_of(times).before(4, now=950) == ids(8)[5]


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sets(st.integers(1, 6), max_size=2)), min_size=1, max_size=14),
    st.sets(st.integers(0, 13), min_size=1, max_size=2),
    st.sets(st.integers(0, 13), max_size=2),
)
def test_what_some_commits_lack_of_others_is_found_though_many_were_made_in_one_second(
    rows: list[tuple[int, set[int]]], tips: set[int], known: set[int]
) -> None:
    names, time, reached = ids(len(rows)), 0, list[set[str]]()
    with TemporaryDirectory() as folder:
        graph = Graph(Path(folder))
        for place, (later, back) in enumerate(rows):
            time += later
            parents = [place - steps for steps in sorted(back) if steps <= place]
            reached.append({names[place]}.union(*(reached[parent] for parent in parents)))
            graph.add(names[place], Header("", tuple(names[parent] for parent in parents), time, time), None)
        wanted, had = ([place for place in places if place < len(rows)] for places in (tips, known))
        told = walk.Walk(Objects(Path(folder)), graph).commits_since(
            [names[place] for place in had], [names[place] for place in wanted]
        )
    there, here = (set[str]().union(*(reached[place] for place in places)) for places in (wanted, had))
    assert sorted(told) == sorted(there - here)


@pytest.mark.parametrize("wrong", [1, 2, 20])
def test_commits_of_a_wrong_clock_hide_what_they_stand_on(tmp_path: Path, wrong: int) -> None:
    """A remote whose newest commits are dated in 1970 has all that is below them."""
    names, graph = ids(100 + wrong + 2), Graph(tmp_path)
    times = [*range(1_000, 1_100), *range(wrong), 2_000, 2_001]
    parents = [[each - 1] if each else [] for each in range(len(names))]
    mine, join = len(names) - 2, len(names) - 1
    parents[mine], parents[join] = [99], [mine, mine - 1]
    for place, name in enumerate(names):
        graph.add(name, Header("", tuple(names[each] for each in parents[place]), times[place], times[place]), None)
    found = walk.Walk(Objects(tmp_path), graph).commits_since([names[mine - 1]], [names[join]])
    assert found == [names[join], names[mine]]


_SHAPES = st.lists(
    st.tuples(st.sets(st.integers(0, 11), max_size=2), st.integers(0, 30)), min_size=2, max_size=12
)  # the parents of each commit, by number, as far as they come before it; its time


@given(_SHAPES, st.data())
def test_bases_are_the_newest_commits_that_both_stand_on(
    shapes: list[tuple[set[int], int]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        history = opened(Path(folder))
        commits, behind = list[str](), list[set[str]]()
        for number, (parents, time) in enumerate(shapes):
            own = [commits[each] for each in sorted(parents) if each < number]
            with Repo(folder) as repository:
                commits.append(commit_of(repository, own, time, f"{number}"))
            behind.append({commits[-1]}.union(*(behind[commits.index(each)] for each in own)))
        one, other = (data.draw(st.integers(0, len(commits) - 1)) for _ in range(2))
        common = behind[one] & behind[other]
        below = {each for base in common for each in behind[commits.index(base)] - {base}}
        assert history.bases(commits[one], commits[other]) == sorted(common - below)
        history.close()


def commit_of(repository: Repo, parents: list[str], time: int, message: str) -> str:
    """Store a commit of no files."""
    tree, made = Tree(), Commit()
    made.tree, made.parents = tree.id, [ObjectID(each.encode()) for each in parents]
    made.author = made.committer = b"A <a@example.org>"
    made.author_time = made.commit_time = 1_700_000_000 + time
    made.author_timezone = made.commit_timezone = 0
    made.message = message.encode()
    repository.object_store.add_object(tree)
    repository.object_store.add_object(made)
    return made.id.decode()
