"""Two sides of a sync: a memory here, and a repository elsewhere, reached in each of the ways that there are."""

import os
import secrets
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from crabmem import Memory
from crabmem.errors import Outrun, Unreachable
from crabmem.git.history import History
from crabmem.git.repository import create_bare
from crabmem.remotes.address import parse_address
from crabmem.remotes.limit import Limit
from crabmem.remotes.remote import Offer, Remote, Updates, remote
from crabmem.workspace.workspace import Workspace
from tests.conftest import git

MAIN = "refs/heads/main"


class Side:
    """The memory in a folder, and what it does with a remote."""

    def __init__(self, root: Path, to: str, environ: Mapping[str, str] | None = None) -> None:
        self.root, self.to = root, to
        self.environ = dict(os.environ if environ is None else environ)
        self.told: list[tuple[str, int]] = []

    def remote(self, seconds: float = 30) -> Remote:
        """The remote, opened."""
        address = parse_address(self.to, self.root)
        limit = Limit(address.shown, seconds, lambda step, done: self.told.append((step, done)))
        workspace = Workspace(self.root)
        return remote(address, workspace.git, workspace.private, self.environ, limit)

    def refs(self, seconds: float = 30) -> Offer:
        with self.remote(seconds) as there:
            return there.refs()

    def fetch(self, wants: Collection[str] | None = None, seconds: float = 30) -> int:
        """Fetch what the remote has on its branch, or `wants`."""
        with self.remote(seconds) as there, closing(History(Workspace(self.root))) as history:
            wants = [there.refs().refs[MAIN]] if wants is None else wants
            head = history.head()
            return there.fetch(wants, [head] if head else [], history.reaches)

    def push(self, updates: Updates | None = None, seconds: float = 30) -> None:
        """Push the branch, to where it stood when last asked, or `updates`."""
        with self.remote(seconds) as there:
            there.push({MAIN: (there.refs().refs.get(MAIN), self.head())} if updates is None else updates)

    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD").strip()

    def take(self) -> None:
        """Fetch, and set the branch there, as a clone does."""
        tip = self.refs().refs[MAIN]
        self.fetch()
        git(self.root, "reset", "-q", "--hard", tip)

    def remember(self, count: int = 1) -> str:
        """Remember so many facts, a commit each; the newest."""
        with Memory(self.root, agent="coder") as memory:
            for _ in range(count):
                memory.remember(f"Fact {secrets.token_hex(4)}", "d", secrets.token_hex(20))
        return self.head()


def begun(root: Path, count: int = 3) -> Side:
    """A side with a memory of a few facts, and a bare repository beside it."""
    bare = root / "bare.git"
    create_bare(bare)
    side = Side(root / "here", str(bare))
    side.remember(count)
    return side


def pushed_at_once(sides: Sequence[Side]) -> list[str]:
    """The outcome for a commit of each side, in their order, pushed by all at once: done, or the name of the error."""
    for side in sides:
        side.take()
        side.remember()
    said = dict[str, str]()

    def push(side: Side) -> None:
        try:
            side.push({MAIN: (git(side.root, "rev-parse", "HEAD~1").strip(), side.head())})
            said[side.root.name] = "done"
        except (Outrun, Unreachable) as error:
            said[side.root.name] = type(error).__name__

    threads = [threading.Thread(target=push, args=[side]) for side in sides]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [said[side.root.name] for side in sides]


def other(side: Side, name: str = "there") -> Side:
    """Another machine, with the same remote and nothing of its own yet."""
    root = side.root.parent / name
    with closing(History(Workspace(root))) as history:
        history.ownership.prepare()
    return Side(root, side.to, side.environ)


def is_whole(root: Path) -> bool:
    """Whether Git finds nothing wrong with a repository, and all that its references reach is there."""
    return git(root, "fsck", "--strict", "--full", "--no-dangling") == "" and bool(
        git(root, "rev-list", "--objects", "--all")
    )


def left_over(root: Path) -> list[str]:
    """The files that a fetch left behind."""
    private = root / ".git"
    return [file.name for file in (*private.glob("crabmem/tmp/fetch-*"), *private.glob("objects/pack/tmp_*"))]
