"""Two machines of one person and the remote between them, for the suites of sync; and what must hold of all three."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crabmem import Memory
from crabmem.operations.proposals import proposals
from crabmem.results import Synced
from crabmem.sync.sync import name_remote, sync

from .actors import left_locks
from .crashes import tree
from .repository import assert_clean, complaints, git

#: What is done to a machine's memory.
Act = Callable[[Memory], object]
LUNA = "memory/entries/luna.md"
# What is written for the check, and how joins are called.
_BESIDE = ("memory/entries/after-", "memory/entries/same")
_OURS = ("remember: After", "remember: Same", "sync: ", "init: ")


@dataclass(frozen=True)
class World:
    """Two machines, `here` and `there`, and a remote, in a folder that keeps its name: what a person allowed is known
    by it. What they allowed lies beside the folder.
    """

    folder: Path
    remote: str = "hub.git"

    @property
    def here(self) -> Path:
        return self.folder / "here"

    @property
    def there(self) -> Path:
        return self.folder / "there"

    @property
    def hub(self) -> Path:
        return self.folder / self.remote

    def keep(self) -> None:
        """Keep all as it is, for `again`."""
        _copy(self.folder, self.kept)

    def again(self) -> None:
        """Have all as it was when it was kept. Two names of one file stay that: locks are known by it."""
        shutil.rmtree(self.folder)
        _copy(self.kept, self.folder)

    @property
    def kept(self) -> Path:
        """Where it is as it was kept."""
        return self.folder.with_name(f"{self.folder.name}.kept")


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source, target], check=True)


def made(folder: Path, remote: str = "hub.git") -> World:
    """A world in which both machines know the remote, and nobody wrote anything."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    world = World(folder / "world", remote)
    for root in (world.here, world.there):
        root.mkdir(parents=True)
        with person(root) as memory:
            name_remote(memory, str(world.hub), "/")
    return world


def shared(folder: Path, remote: str = "hub.git") -> World:
    """A world in which both machines have the same two facts and an overview."""
    world = made(folder, remote)
    with person(world.here) as memory:
        memory.remember("Luna", "the cat", "A cat.\nTen years old.\nLikes milk.")
        memory.remember("Marta", "a friend", "Lives in Graz.")
        memory.write_overview("- [[Luna]]\n")
        sync(memory)
    exchanged(world.there)
    return world


def person(root: Path) -> Memory:
    """The memory at `root`, as its person opens it."""
    return Memory(root, is_person=True)


def exchanged(root: Path) -> Synced:
    """Sync the machine at `root`, whatever the remote has."""
    with person(root) as memory:
        return sync_all(memory)


def sync_all(memory: Memory) -> Synced:
    """Sync, whatever the remote has."""
    return sync(memory, is_expected=True, joins_apart=True)


@dataclass(frozen=True)
class End:
    """What both machines agree on: the files; path and text of what waits; author and subject of commits."""

    files: Mapping[str, bytes]
    waiting: tuple[tuple[str, str], ...]
    commits: tuple[tuple[str, str], ...]


def settled(world: World) -> End:
    """Let both machines write and sync until they agree; what they agree on, but for what was written for that.

    Raises:
        AssertionError: a repository is broken, something was left behind, or there is something twice.
    """
    for root in (world.here, world.there):
        with person(root) as memory:
            memory.recall("cat milk")
            memory.remember(f"After {root.name}", "written after the fault", "It works.")
            sync_all(memory)
    assert exchanged(world.here).sent == 0, "what is here was not sent at once"
    assert len({git(root, "rev-parse", "HEAD") for root in (world.here, world.there)}) == 1, "they do not agree"
    ends = [_end(root) for root in (world.here, world.there)]
    assert ends[0] == ends[1], f"they do not agree: {ends}"
    check_remote(world)
    left = left_locks(world.hub) if world.hub.is_dir() else [*world.folder.glob("*.lock")]
    assert not left, f"locks were left: {left}"
    return ends[0]


def check_remote(world: World) -> None:
    """Whatever happens, the remote is whole: no branch of it names what is not there."""
    if world.hub.is_dir():
        assert complaints(world.hub) == [], "git fsck complains about the remote"
        git(world.hub, "rev-list", "--objects", "--all")
    elif world.hub.exists():
        git(world.there, "bundle", "verify", "-q", str(world.hub))


def _end(root: Path) -> End:
    with person(root) as memory:
        memory.adopt()  # which takes away what the last sync displaced
    assert_clean(root)
    assert left_locks(root) == [], f"locks were left: {left_locks(root)}"
    left = [file.name for file in (root / ".git/crabmem/tmp").glob("*-*") if not file.name.startswith("fetch-")]
    assert left == [], f"temporary files were left: {left}"
    with person(root) as memory:
        names = [entry.name for entry in memory.entries()]
        waiting = sorted((each.path, each.text or "") for each in proposals(memory))
        commits = sorted((commit.author, commit.subject) for commit in memory.log())
    assert len(set(names)) == len(names), f"two facts of one name: {sorted(names)}"
    assert len(set(waiting)) == len(waiting), f"a text waits twice: {waiting}"
    files = {path: data for path, data in tree(root).items() if not path.startswith(_BESIDE)}
    marked = [path for path, data in files.items() if b"<<<<<<<" in data]
    assert marked == [], f"marks of a conflict in {marked}"
    return End(files, tuple(waiting), tuple(words for words in commits if not words[1].startswith(_OURS)))
