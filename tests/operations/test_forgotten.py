"""What is gone from memory, how memory grew, and that nothing is taken away in another version than was seen."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory, NotFound, Stale
from crabmem.errors import Disabled
from crabmem.operations.adoption import adopt
from crabmem.operations.chronicle import OTHERS, Chronicle
from crabmem.operations.forgotten import Removal, described, removals
from crabmem.operations.links import links
from crabmem.session.session import Session


def gone(memory: Session) -> list[str]:
    return [described(memory, removal).name for removal in removals(memory)]


def test_what_was_forgotten_is_listed_with_what_it_said_last(memory: Memory) -> None:
    assert removals(memory) == []
    memory.remember("Vet", "who", "Dr. Moreno.")
    memory.remember("Vet", "who", "Dr. Sousa.")
    memory.remember("Wifi", "password", "On the router.")
    assert gone(memory) == []
    memory.forget("Vet")
    memory.forget("Wifi")
    [wifi, vet] = [described(memory, removal) for removal in removals(memory)]
    assert (wifi.name, vet.name) == ("Wifi", "Vet")
    assert vet.entry and vet.entry.content == "Dr. Sousa." and vet.commit.subject == "forget: Vet"
    memory.rollback(vet.before, vet.path)
    assert gone(memory) == ["Wifi"] and memory.get("Vet").content == "Dr. Sousa."
    memory.forget("Vet")
    assert gone(memory) == ["Vet", "Wifi"]


def test_what_has_another_name_or_folder_is_not_gone(memory: Memory) -> None:
    memory.remember("Vet", "who", "Dr. Moreno.")
    memory.remember("Wifi", "password", "On the router.")
    memory.rename("Vet", "Animal doctor")
    folder = memory.root / "memory" / "entries" / "house"
    folder.mkdir()
    os.rename(memory.root / "memory" / "entries" / "wifi.md", folder / "wifi.md")
    adopt(memory)
    assert gone(memory) == []


def test_what_a_person_deleted_is_gone_too_and_no_overview_is_a_fact(memory: Memory) -> None:
    memory.remember("Vet", "who", "Dr. Moreno.")
    memory.write_overview("# All")
    (memory.root / "memory" / "entries" / "vet.md").unlink()
    (memory.root / "memory" / "MEMORY.md").unlink()
    adopt(memory)
    assert gone(memory) == ["Vet"]


def test_a_file_that_cannot_be_read_is_called_by_its_file(memory: Memory) -> None:
    memory.remember("Vet", "who", "Dr. Moreno.")
    file = memory.root / "memory" / "entries" / "vet.md"
    file.write_bytes(b"\xff\xfe")
    adopt(memory)
    file.unlink()
    adopt(memory)
    assert gone(memory) == ["vet.md"]


def test_who_does_not_see_all_is_not_told_what_is_gone(sample: Callable[[str], Path]) -> None:
    removal = Removal("0" * 40, "memory/entries/x.md", "0" * 40)
    with Memory(sample("claw"), profile="claw", kind="group") as memory:
        for ask in (lambda: removals(memory), lambda: described(memory, removal), lambda: Chronicle(memory)):
            with pytest.raises(Disabled):
                ask()


def test_memory_grows_by_day_and_author(story: Path) -> None:
    with Memory(story, agent="coder") as memory:
        chronicle = Chronicle(memory)
        strides = chronicle.strides(30)
        assert len(strides) == 30 and strides == sorted(strides, key=lambda stride: stride.begin)
        assert sum(sum(stride.writes.values()) for stride in strides) == len(
            [c for c in memory.log() if c.author != "crabmem"]
        )
        assert {name for stride in strides for name in stride.writes} == {"coder", "planner", "Ann"}
        assert strides[-1].files == len(memory.entries()) and strides[0].files < strides[-1].files
        memory.remember("One more", "d", "c")
        grown = chronicle.strides(1)
        assert [stride.files for stride in grown] == [strides[-1].files + 1]
        assert grown == Chronicle(memory).strides(1)  # what is read on is what is read anew
        memory.forget("One more")
        assert chronicle.strides(1)[0].files == strides[-1].files
        assert [removal.path for removal in chronicle.gone()][:1] == ["memory/entries/one-more.md"]


def test_authors_beyond_the_first_few_are_together(memory: Memory) -> None:
    for number in range(9):
        for time in range(9 - number):
            memory.for_actor(f"agent-{number}", None).remember(f"Fact {number} {time}", "d", "c")
    [stride] = Chronicle(memory).strides(1)
    assert len(stride.writes) == 6 and stride.writes[OTHERS] == 1 + 2 + 3 + 4


def test_links_are_those_of_the_files_as_they_are_now(memory: Memory) -> None:
    chronicle = Chronicle(memory)
    memory.remember("Vet", "who", "See [[Wifi]].")
    memory.remember("Wifi", "password", "On the router.")
    wifi = "memory/entries/wifi.md"
    assert [link.path for link in chronicle.links(wifi)[1]] == ["memory/entries/vet.md"]
    found = links(memory, "Vet")
    assert chronicle.links(found.path or "") == (list(found.out), list(found.into))
    memory.remember("Vet", "who", "Nobody.")
    assert chronicle.links(wifi) == ([], [])


def test_a_fact_is_forgotten_and_renamed_in_the_version_that_was_seen_alone(memory: Memory) -> None:
    seen = memory.remember("Vet", "who", "Dr. Moreno.").entry.version
    memory.remember("Vet", "who", "Dr. Sousa.")
    head = memory.log(limit=1)
    for refused in (
        lambda: memory.forget("Vet", if_version=seen),
        lambda: memory.rename("Vet", "Doctor", if_version=seen),
        lambda: memory.rename("Vet", "Doctor", if_version=seen, dry_run=True),
    ):
        with pytest.raises(Stale) as error:
            refused()
        assert "Dr. Sousa." in error.value.diff and memory.log(limit=1) == head
    renamed = memory.rename("Vet", "Doctor", if_version=memory.get("Vet").version)
    memory.forget("Doctor", if_version=memory.get(renamed.path).version)
    with pytest.raises(NotFound):
        memory.forget("Doctor", if_version=seen)


def test_a_version_of_nothing_is_for_what_is_not_there(memory: Memory) -> None:
    saved = memory.remember("Vet", "who", "Dr. Moreno", if_version="")
    assert saved.commit
    with pytest.raises(Stale, match="is there already"):
        memory.remember("Vet", "who", "Dr. Haas", if_version="")
    memory.forget("Vet")
    with pytest.raises(Stale):
        memory.rollback(saved.commit, "Vet", if_version=saved.version)
    assert memory.rollback(saved.commit, "Vet", if_version="").paths
    with pytest.raises(Stale):
        memory.rollback(saved.commit, "Vet", if_version="")
    assert memory.get("Vet").content == "Dr. Moreno"
