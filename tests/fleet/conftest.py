"""A fleet for each test: a database, memories in bare repositories, and a follower's folder for mirrors."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.fleet import rights
from crabmem.fleet.following import Looked, follow_once, mirror_of
from crabmem.fleet.mirror import Mirror
from crabmem.fleet.postgres import Postgres
from crabmem.prompt.profile import Kind
from crabmem.results import Recall
from crabmem.sync.sync import name_remote, sync
from tests.fleet.server import NO_SERVER, Server, programs, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL; what needs one is skipped where there is none."""
    if programs() is None:
        pytest.skip(NO_SERVER)
    with serving() as found:
        yield found


@dataclass
class Fleet:
    """A database of its own, and memories with remotes that are followed in it."""

    server: Server
    folder: Path
    name: str

    @property
    def url(self) -> str:
        """The database, as its owner has it."""
        return self.server.url(self.name)

    def index(self) -> Postgres:
        """A connection of the owner's."""
        return Postgres(self.url)

    def mirror(self) -> Mirror:
        """The follower's mirrors."""
        (self.folder / "mirrors").mkdir(exist_ok=True)
        with self.index() as index:
            return mirror_of(index, self.folder / "mirrors", os.environ)

    def memory(self, name: str, agent: str | None = "coder") -> Memory:
        """A memory of that name, with a remote of its own that is followed."""
        root = self.folder / "machines" / name
        is_new = not root.exists()
        if is_new:
            (self.folder / "remotes" / name).parent.mkdir(parents=True, exist_ok=True)
            with Memory(root, is_person=True) as person:
                name_remote(person, f"{self.folder}/remotes/{name}.git", "/")
            self.follow(name)
        return Memory(root, agent=agent)

    def follow(self, name: str) -> None:
        """Follow the remote of that name."""
        with self.index() as index:
            rights.add(index, [rights.checked_memory(name, f"{self.folder}/remotes/{name}.git")])

    def push(self, name: str) -> None:
        """Sync the memory of that name, as a person does."""
        with Memory(self.folder / "machines" / name, is_person=True) as memory:
            sync(memory, is_expected=True)

    def say(self, name: str, **facts: str) -> None:
        """Remember facts in the memory of that name, one after the other, and push them."""
        with self.memory(name) as memory:
            for fact, content in facts.items():
                memory.remember(fact, "about", content)
        self.push(name)

    def look(self) -> list[Looked]:
        """Follow all once."""
        with self.index() as index:
            return follow_once(index, self.mirror())

    def grant(self, role: str, pattern: str, kind: Kind = "main") -> str:
        """Let a role ask; return the address it asks by. Roles are of the server, so each test has its own."""
        with self.index() as index:
            rights.grant(index, self.role(role), pattern, kind)
        return self.address(role)

    def role(self, name: str) -> str:
        """The name of a role in this test."""
        return f"{name}_{self.name}"

    def address(self, role: str) -> str:
        """The address of the database for a role."""
        return self.server.url(self.name, self.role(role))

    def ask(self, query: str, url: str | None = None, kind: str = "main", **given: object) -> Recall:
        """The answer to a session on an empty memory, of all that the address lets it see."""
        with Memory(self.folder / "asking", kind=kind) as memory:
            memory.engine.environment = {**os.environ, "CRABMEM_FLEET": url or self.url}
            return memory.recall(query, everywhere=True, **given)  # type: ignore[arg-type]


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Fleet:
    """A database with an empty index."""
    made = Fleet(server, tmp_path, server.database())
    with made.index() as index:
        index.create()
    return made
