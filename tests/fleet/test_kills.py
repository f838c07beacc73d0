"""Followers and the server are killed at any moment: no fact is doubled or lost, no mark is ahead of its rows."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import CrabmemError
from crabmem.fleet.postgres import Postgres
from crabmem.sync.sync import name_remote, sync
from tests.conftest import git, needs_git
from tests.fleet.server import NO_SERVER, Server, programs, serving

_FOLLOWERS, _MEMORIES = 2, 4
_QUIET = 60.0


class Killing:
    """Memories that are written to and pushed, followers that are killed, and what the index says meanwhile."""

    def __init__(self, folder: Path, server: Server, seed: int) -> None:
        self.folder, self.server, self.chance = folder, server, random.Random(seed)
        self.url = server.url(server.database())
        self.checked = 0
        with Postgres(self.url) as index:
            index.create()
            for number in range(_MEMORIES):
                with Memory(self._root(number), is_person=True) as memory:
                    memory.remember("First", "about", "x")
                    name_remote(memory, str(self._remote(number)), "/")
                    sync(memory)
                index.add(f"memory-{number}", str(self._remote(number)), "")

    def _root(self, number: int) -> Path:
        return self.folder / f"memory-{number}"

    def _remote(self, number: int) -> Path:
        return self.folder / f"remote-{number}.git"

    @contextmanager
    def followers(self) -> Iterator[list[subprocess.Popen[bytes]]]:
        """So many followers; whoever kills one begins another in its place."""
        running = [self.follower(number) for number in range(_FOLLOWERS)]
        try:
            yield running
        finally:
            for each in running:
                each.kill()
                each.wait()

    def follower(self, number: int) -> subprocess.Popen[bytes]:
        """A follower with mirrors of its own, as one on another machine."""
        (place := self.folder / f"mirrors-{number}").mkdir(exist_ok=True)
        command = [sys.executable, "-m", "crabmem", "fleet", "follow", "--every", "1", "--state", str(place)]
        environment = {**os.environ, "CRABMEM_FLEET": self.url}
        none = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, stdout=none, stderr=none)

    def write(self) -> None:
        """Change a memory, and push that."""
        number = self.chance.randrange(_MEMORIES)
        with Memory(self._root(number), is_person=True) as memory:
            for _ in range(self.chance.randint(1, 5)):
                name = f"Fact {self.chance.randrange(8)}"
                if self.chance.random() < 0.3 and any(entry.name == name for entry in memory.entries()):
                    memory.forget(name)
                else:
                    memory.remember(name, "about", f"text {self.chance.random()}")
            sync(memory)

    def check(self) -> None:
        """Compare the rows of each memory with the commit that it is marked with."""
        with Postgres(self.url) as index, index.connection.transaction():
            index.connection.execute("set transaction isolation level repeatable read")
            for name, commit in index.connection.execute("select name, commit from space").fetchall():
                query = (
                    "select path, blob, parts from fact join space on space.id = space where name = %s order by path"
                )
                rows = index.connection.execute(query, (name,)).fetchall()
                assert [row[:2] for row in rows] == (self._files(int(name[-1]), commit) if commit else [])
                self.checked += 1
            odd = index.connection.execute(
                "select path from fact left join post on post.fact = fact.id group by fact.id, path, parts"
                " having count(distinct part) <> parts"
            ).fetchall()
            counted = index.connection.execute("select space, facts from amount where kind = 1 order by 1").fetchall()
            held = index.connection.execute("select space, count(*) from fact group by 1 order by 1").fetchall()
        assert not odd and counted == held

    def _files(self, number: int, commit: str) -> list[tuple[str, str]]:
        listed = git(self._remote(number), "ls-tree", "-r", commit, "memory/entries").splitlines()
        return sorted((line.split("\t")[1], line.split()[2]) for line in listed)

    def settle(self) -> None:
        """Wait until the index says what all tips say."""
        tips = {
            f"memory-{number}": git(self._remote(number), "rev-parse", "main").strip() for number in range(_MEMORIES)
        }
        until = time.monotonic() + _QUIET
        while time.monotonic() < until:
            try:
                with Postgres(self.url) as index:
                    if {each.name: each.commit for each in index.spaces()} == tips:
                        return
            except CrabmemError:
                pass
            time.sleep(0.2)
        raise AssertionError(f"the index is not in step after {_QUIET} s")


@needs_git
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("followers", "server"), [(6, 1), pytest.param(200, 10, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_no_kill_of_a_follower_or_of_the_server_breaks_the_index(tmp_path: Path, followers: int, server: int) -> None:
    if programs() is None:
        pytest.skip(NO_SERVER)
    with serving(durably=True) as running:
        killing = Killing(tmp_path, running, seed=followers)
        with killing.followers() as processes:
            every = max(1, followers // server)
            for number in range(followers):
                killing.write()
                time.sleep(killing.chance.uniform(0, 1.2))
                at = killing.chance.randrange(_FOLLOWERS)
                processes[at].kill()
                processes[at].wait()
                killing.check()
                processes[at] = killing.follower(at)
                if number % every == every // 2:
                    running.kill()
                    running.start()
                    killing.check()
            killing.settle()
            killing.check()
        assert killing.checked >= followers * _MEMORIES
