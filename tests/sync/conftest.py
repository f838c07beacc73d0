"""What several tests of sync begin with: a remote, and machines of a person that know it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dulwich.repo import Repo

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.results import Synced
from crabmem.sync.sync import name_remote, sync

Machine = Callable[[str], Memory]
Two = tuple[Memory, Memory]


def crab(root: Path, *words: str, status: int = 0) -> Result:
    """What the command line does in a folder, with that status."""
    result = CliRunner().invoke(cli, ["--dir", str(root), *words], prog_name="crabmem")
    assert result.exit_code == status, result.output
    return result


def crabs(root: Path, *words: str, status: int = 0) -> str:
    """What the command line says, all of it, with that status."""
    return crab(root, *words, status=status).output


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository."""
    Repo.init_bare(str(tmp_path / "hub.git"), mkdir=True, default_branch=b"main").close()
    return tmp_path / "hub.git"


@pytest.fixture
def machine(tmp_path: Path, hub: Path) -> Iterator[Machine]:
    """Makes machines of a person that know the remote."""
    made = list[Memory]()

    def make(name: str) -> Memory:
        memory = Memory(tmp_path / name, is_person=True)
        name_remote(memory, str(hub), "/")
        made.append(memory)
        return memory

    yield make
    for memory in made:
        memory.close()


def synced(memory: Memory) -> Synced:
    return sync(memory, is_expected=True)


@pytest.fixture
def two(machine: Machine) -> tuple[Memory, Memory]:
    """Two machines that have synced one fact."""
    one, other = machine("one"), machine("other")
    one.remember("Luna", "the cat", "A cat.\nTen years old.")
    synced(one)
    synced(other)
    return one, other


@pytest.fixture
def disputing(two: tuple[Memory, Memory]) -> tuple[Memory, Memory]:
    """Two machines on which the same line was changed, after both have synced."""
    one, other = two
    one.remember("Luna", "the cat", "A cat.\nEleven years old.")
    other.remember("Luna", "the cat", "A cat.\nTwelve years old.")
    synced(one)
    assert synced(other).disputed == ("memory/entries/luna.md",)
    synced(one)
    return one, other
