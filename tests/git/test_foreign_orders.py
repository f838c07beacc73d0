"""What a crash left is finished unasked only where this user began it: a folder may come from a stranger."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import CrabmemError, Memory, Unwritable
from crabmem.disk import fs
from crabmem.operations import files as files_operations
from crabmem.operations import maintenance
from crabmem.session.opening import local_time
from crabmem.write.actor import Actor
from tests.conftest import assert_clean
from tests.git.test_purge_crashes import Death, Died
from tests.opening import opened_with
from tests.operations.test_purge import traces

SECRET = "HUNTER2SECRET"


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file below `root` but for caches, which reading may make, and the lock."""
    ours = (".git/crabmem/index", ".git/crabmem/lock", ".git/crabmem/turns", ".git/crabmem/uses")
    files = {file.relative_to(root).as_posix(): file for file in root.rglob("*") if file.is_file()}
    return {path: file.read_bytes() for path, file in files.items() if not path.startswith(ours)}


def order(**changes: object) -> bytes:
    """An order of a purge as crabmem gives it, with some of it changed."""
    plain = {"pack": f"pack-{'0' * 40}", "refs": {}, "new": {}, "moves": {}, "files": [], "gone": []}
    return json.dumps(plain | changes).encode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", agent="a") as memory:
        memory.remember("Vet", "where the vet is", "In the old town.")
    return tmp_path / "memory"


def put_order(root: Path, text: bytes) -> None:
    folder = root / ".git/crabmem/purging"
    folder.mkdir()
    (folder / "order").write_bytes(text)
    (folder / "000001").write_bytes(b"echo PWNED\n")


OUT = "../../../victim"


@pytest.mark.parametrize(
    "text",
    [
        lambda victim: order(moves={"000001": f"{victim}/bashrc"}),
        lambda victim: order(moves={"000001": f"{OUT}/bashrc"}),
        lambda victim: order(moves={"000001": "config"}),
        lambda victim: order(moves={"000001": f"logs/refs/{OUT}/bashrc"}),
        lambda victim: order(moves={f"{victim}/precious": "index"}),
        lambda victim: order(gone=[f"{victim}/precious"]),
        lambda victim: order(gone=[f"{OUT}/precious"]),
        lambda victim: order(gone=["crabmem/recovered/.."]),
        lambda victim: order(refs={f"{OUT}/precious": "0" * 40}),
        lambda victim: order(refs={f"refs/{OUT}/precious": "0" * 40}),
        lambda victim: order(new={str(victim / "precious"): "0" * 40}),
        lambda victim: order(pack=f"{OUT}/pack"),
        lambda victim: order(files=[{"path": f"{OUT}/bashrc", "was": None, "ready": "000001"}]),
        lambda victim: order(files=[{"path": ".git/hooks/pre-commit", "was": None, "ready": "000001"}]),
        lambda victim: order(files=[{"path": ".GIT/config", "was": None, "ready": "000001"}]),
        lambda victim: order(files=[{"path": "x.md", "was": None, "ready": f"{victim}/precious"}]),
    ],
)
@pytest.mark.parametrize("is_sealed", [False, True], ids=["unsealed", "sealed"])
def test_no_order_of_a_purge_touches_what_no_purge_touches(
    root: Path, text: Callable[[Path], bytes], is_sealed: bool
) -> None:
    """Not even a sealed one: what is believed is still checked."""
    victim = root.parent / "victim"
    victim.mkdir()
    (victim / "bashrc").write_text("mine\n")
    (victim / "precious").write_text("precious\n")
    wanted = text(victim)
    put_order(root, seal_of_this_user(wanted) if is_sealed else wanted)
    before = snapshot(root)
    with Memory(root, agent="me") as memory:
        assert [hit.entry.name for hit in memory.recall("vet")] == ["Vet"]
        memory.doctor()
        assert snapshot(root) == before
        memory.remember("Next", "a write", "It works.")
        assert any("names files that a purge does not touch" in line for line in memory.engine.writer.repairs())
        maintenance.mend(memory)
    assert {file.name: file.read_text() for file in victim.iterdir()} == {"bashrc": "mine\n", "precious": "precious\n"}
    assert "PWNED" not in (root / ".git/config").read_text()
    assert_clean(root)


def seal_of_this_user(text: bytes) -> bytes:
    from crabmem.disk.seal import Seal
    from crabmem.disk.user_state import state_folder

    return Seal(state_folder(os.environ), "purge").sealed(text)


@pytest.fixture
def half_purged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory whose purge died after its order was given."""
    root = tmp_path / "purged"
    with Memory(root, agent="a") as memory:
        memory.remember(f"About {SECRET}", "what it is", f"It is {SECRET}.")
        memory.remember("Wifi", "how to get online", "Ask.")
    for at in range(1, 1000):
        copy = tmp_path / f"copy-{at}"
        shutil.copytree(root, copy)
        memory_of_copy = opened_with(copy, Actor(), local_time, environment=os.environ)
        with monkeypatch.context() as patched, suppress(Died):
            patched.setattr(fs, "before", Death(at))
            memory_of_copy.purge(text=SECRET)
        memory_of_copy.engine.history.close()
        if (copy / ".git/crabmem/purging/order").exists():
            return copy
        shutil.rmtree(copy)
    raise AssertionError("no purge gave an order")


def test_a_purge_that_this_user_began_is_finished_by_the_next_command(half_purged: Path) -> None:
    with Memory(half_purged) as memory:
        assert any("was finished" in line for line in memory.recovered)
    assert traces(half_purged, SECRET) == []


def test_a_purge_of_another_user_waits_for_the_persons_word(
    half_purged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another home"))
    before = snapshot(half_purged)
    with Memory(half_purged, agent="me") as memory:
        assert [hit.entry.name for hit in memory.recall("wifi")] == ["Wifi"]
        assert memory.recovered == ()
        assert any("begun by another user" in found.message for found in memory.doctor())
        with pytest.raises(Unwritable, match="crabmem doctor --fix"):
            memory.remember("New", "d", "c")
        assert snapshot(half_purged) == before
        maintenance.mend(memory)
        memory.remember("New", "d", "c")
    assert traces(half_purged, SECRET) == []
    assert_clean(half_purged)


def interrupted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of two files that dies when the first is in its place."""
    with Memory(root, agent="a") as memory:
        memory.remember("Fish", "what it eats", "Flakes.")
    dying = opened_with(root, Actor("coder"), local_time, environment=os.environ)

    def before(operation: str, path: str) -> None:
        if operation == "exchange" and path.endswith("vet.md"):
            raise Died

    with monkeypatch.context() as patched, suppress(Died):
        patched.setattr(fs, "before", before)
        files_operations.rewrite(dying, "move", lambda tree: {"entries/fish.md": "fish!\n", "entries/vet.md": "vet!\n"})
    dying.engine.history.close()
    assert (root / ".git/crabmem/journal").stat().st_size


def test_a_write_of_another_user_is_kept_aside_and_writes_go_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(root, monkeypatch)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another home"))
    before = snapshot(root)
    with Memory(root, agent="me") as memory:
        memory.recall("vet")
        assert snapshot(root) == before
        memory.remember("New", "d", "c")
        assert any("the write 'memory: move'" in found.message for found in memory.doctor())
        assert (root / "memory/entries/vet.md").read_text() != "vet!\n"
        maintenance.mend(memory)
        assert (root / "memory/entries/vet.md").read_text() == "vet!\n"
        assert not any("was begun by another user" in found.message for found in memory.doctor())
    assert_clean(root)


def test_a_write_of_this_user_is_finished_by_the_next_command(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(root, monkeypatch)
    with Memory(root):
        assert (root / "memory/entries/vet.md").read_text() == "vet!\n"
    assert_clean(root)


@pytest.mark.parametrize("how", ["symlink_to", "hardlink_to"])
def test_no_order_of_a_stranger_gives_a_file_elsewhere_a_name_in_memory(root: Path, tmp_path: Path, how: str) -> None:
    """Not even when the person says that it may be done."""
    (tmp_path / "id_rsa").write_text("secretkey\n")
    put_order(root, b"x\n" + order(files=[{"path": "memory/entries/notes.md", "was": None, "ready": "000001"}]))
    ready = root / ".git/crabmem/purging/000001"
    ready.unlink()
    getattr(ready, how)(tmp_path / "id_rsa")
    links = (tmp_path / "id_rsa").stat().st_nlink
    with Memory(root, agent="me") as memory:
        with suppress(CrabmemError):
            maintenance.mend(memory)
        assert not memory.recall("secretkey")
    assert not (root / "memory/entries/notes.md").exists()
    assert (tmp_path / "id_rsa").stat().st_nlink == links
