"""An index in step with what it is told, while changes are joined and while a purge comes between."""

import threading
from pathlib import Path

import pytest

from crabmem.disk import state
from crabmem.recall.synced import SyncedIndex, differing
from crabmem.search import Document, Index
from crabmem.workspace.workspace import Workspace


def documents(first: int, end: int) -> dict[str, Document | None]:
    return {f"k{at}": Document(f"k{at}", b"m", ["all", f"w{at}"], []) for at in range(first, end)}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / state.FOLDER).mkdir(parents=True)
    return Workspace(tmp_path)


@pytest.fixture
def joining(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Joining waits for this."""
    may_go, joined = threading.Event(), Index.joined

    def slow(index: Index) -> Index:
        may_go.wait(20)
        return joined(index)

    monkeypatch.setattr("crabmem.search.index.FEW", 10)
    monkeypatch.setattr(Index, "joined", slow)
    return may_go


def test_what_changes_while_others_are_joined_is_not_lost(workspace: Workspace, joining: threading.Event) -> None:
    synced = SyncedIndex(workspace)
    with synced.guard:
        synced.change(documents(0, 20))
        synced.change({**documents(20, 22), "k3": None})
    joining.set()
    synced.close()
    assert len(synced.index) == 21 and not synced.index.is_grown()
    with (again := SyncedIndex(workspace)).guard:
        assert again.index.marks() == synced.index.marks()


def test_what_was_being_joined_when_a_purge_came_does_not_come_back(
    workspace: Workspace, joining: threading.Event
) -> None:
    forgotten = list[bool]()

    class Holder(SyncedIndex):
        def _forget(self) -> None:
            forgotten.append(True)

    synced = Holder(workspace)
    with synced.guard:
        synced.change(documents(0, 20))
    thread = next(each for each in threading.enumerate() if each.name == "crabmem index")
    (workspace.private / state.PURGES).write_bytes(b".")
    with synced.guard:
        assert synced.forget_purged() and forgotten
    joining.set()
    thread.join()
    assert len(synced.index) == 0
    synced.close()
    assert not (workspace.private / state.INDEX / "base").exists() or len(SyncedIndex(workspace).index) == 0


def kept(workspace: Workspace) -> int:
    with (again := SyncedIndex(workspace)).guard:
        return len(again.index)


def ended(workspace: Workspace, changes: dict[str, Document | None]) -> None:
    synced = SyncedIndex(workspace)
    with synced.guard:
        synced.change(changes)
    synced.close()


@pytest.mark.parametrize(("known", "fewest"), [(0, 1), (50, 1), (450, 5), (5_000, 8)])
def test_a_process_that_ends_keeps_as_many_changes_as_are_worth_writing_the_index(
    workspace: Workspace, known: int, fewest: int
) -> None:
    ended(workspace, documents(0, known))
    ended(workspace, documents(known, known + fewest - 1))
    assert kept(workspace) == known
    ended(workspace, documents(known, known + fewest))
    assert kept(workspace) == known + fewest


def test_a_long_document_is_worth_writing_the_index(workspace: Workspace) -> None:
    ended(workspace, documents(0, 5_000))
    ended(workspace, {"long": Document("long", b"m", ["all"] * 7_000)})
    assert kept(workspace) == 5_001


def test_marks_are_compared_from_a_byte_on() -> None:
    known = {"a": b"1x", "b": b"1y", "c": b"1z"}
    assert differing(known, {"a": b"1x", "b": b"2y", "d": b"1w"}) == (["b", "d"], ["c"])
    assert differing(known, {"a": b"2x", "b": b"1q"}, 1) == (["b"], ["c"])
