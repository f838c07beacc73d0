"""The table of headers: what a list says from it is what the files say, whatever became of them meanwhile."""

from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.disk import state
from crabmem.operations import facts, reading
from crabmem.recall.synced import WORTH_SAVING

_MANY = WORTH_SAVING + 3


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "m") as memory:
        for number in range(_MANY):
            memory.remember(f"Fact {number:02}", f"about {number}", "text", tags=["a", f"t{number}"])
        (memory.root / "memory/entries/bare.md").write_text("No header, and two\nlines.\n")
        listed(memory)
    return tmp_path / "m"


def listed(memory: Memory) -> list[tuple[str, str, str, tuple[str, ...]]]:
    headers, _ = reading.headers_and_unreadable(memory)
    return [(each.path, each.name, each.about, each.labels) for each in headers]


def said(memory: Memory) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(each.path, each.name, each.about, each.labels) for each in facts.entries(memory)]


def table(root: Path) -> Path:
    return root / ".git/crabmem" / state.HEADERS


def test_headers_are_those_of_the_entries_and_are_kept_for_the_next_process(root: Path) -> None:
    assert table(root).exists()
    with Memory(root) as memory:
        assert listed(memory) == said(memory) and len(listed(memory)) == _MANY + 1


@pytest.mark.parametrize("change", ["edited", "removed", "renamed", "added", "damaged", "exchanged"])
def test_no_header_is_behind_its_file(root: Path, change: str) -> None:
    file = root / "memory/entries/fact-07.md"
    if change == "edited":
        file.write_text(file.read_text().replace("about 7", "about x"))
    elif change == "removed":
        file.unlink()
    elif change == "renamed":
        file.rename(file.with_name("other.md"))
    elif change == "added":
        file.with_name("new.md").write_text(file.read_text().replace("Fact 07", "New"))
    elif change == "damaged":
        data = table(root).read_bytes()
        table(root).write_bytes(data.replace(b"about 7", b"about y"))
    else:
        other = file.with_name("fact-08.md")
        one, two = file.read_bytes(), other.read_bytes()
        file.write_bytes(two), other.write_bytes(one)
    with Memory(root) as memory:
        assert listed(memory) == said(memory)


def test_what_was_purged_stands_in_no_table(root: Path) -> None:
    with Memory(root) as memory:
        memory.purge("Fact 07")
        assert listed(memory) == said(memory)
        assert not table(root).exists() or b"about 7\0" not in table(root).read_bytes()
