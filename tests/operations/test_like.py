"""The answer of `remember` names the fact that says nearly the same."""

import json
from pathlib import Path

from crabmem import Memory
from tests.conftest import typed

VET = "Luna's vet", "who looks after the dog", "Dr. Moreno, every Thursday, on Tannery Lane."
AGAIN = "Vet of Luna", "which vet the dog sees", "Dr. Moreno."


def test_a_new_fact_that_says_nearly_the_same_is_saved_and_the_other_is_named(memory: Memory) -> None:
    memory.remember(*VET)
    saved = memory.remember(*AGAIN)
    assert saved.created
    assert saved.like == memory.get("Luna's vet")
    assert [entry.name for entry in memory.entries()] == ["Luna's vet", "Vet of Luna"]


def test_a_fact_that_replaces_one_is_like_none(memory: Memory) -> None:
    memory.remember(*VET)
    memory.remember(*AGAIN)
    assert memory.remember(*AGAIN[:2], "Dr. Adeyemi.").like is None
    assert memory.remember(*AGAIN[:2], "Dr. Adeyemi.").like is None


def test_a_fact_of_its_own_is_like_none(memory: Memory) -> None:
    memory.remember(*VET)
    assert memory.remember("Luna's groomer", "who cuts the dog's fur", "Tamsin, every eight weeks.").like is None


def test_a_model_is_told_in_a_line_and_a_name_cannot_write_more_of_them(memory: Memory) -> None:
    memory.remember(*VET)
    answer = memory.call("remember", dict(zip(("name", "description", "content"), AGAIN, strict=True)))
    assert answer.text == "remembered: Vet of Luna\nlike *Luna's vet*: update it instead?"
    assert answer.data["like"] == "Luna's vet"
    (memory.root / "memory/entries/odd.md").write_text('---\nname: "Bin\\u2028days\\u2028now"\n---\n\nTuesday.\n')
    answer = memory.call("remember", {"name": "Bin days, now", "description": "", "content": "Wednesday."})
    assert answer.text.count("\n") == 1


def test_the_command_line_says_it_beside_the_data_and_json_has_a_field(tmp_path: Path) -> None:
    def crabmem(*words: str) -> tuple[str, str]:
        result = typed("--dir", tmp_path / "notes", *words)
        assert result.exit_code == 0, result.output
        return result.stdout, result.stderr

    crabmem("remember", VET[0], "-d", VET[1], "-c", VET[2])
    out, said = crabmem("remember", AGAIN[0], "-d", AGAIN[1], "-c", AGAIN[2])
    assert out == "remembered: Vet of Luna\n"
    assert said.startswith("nearly the same as Luna's vet. To keep one: `crabmem forget")
    out, said = crabmem("remember", "Luna's vets", "-d", "x", "-c", "y", "--json")
    assert json.loads(out)["like"] in ("Luna's vet", "Vet of Luna")
    assert said == ""


def test_what_a_session_may_not_see_is_not_named_to_it(tmp_path: Path) -> None:
    family = """about = "x"\npart = []\n[kinds.group]\nhides = ["memory/entries/luna-*.md"]\n"""
    (tmp_path / "family.toml").write_text(family)
    with Memory(tmp_path / "memory", profile=str(tmp_path / "family.toml")) as memory:
        memory.remember(*VET)
        assert memory.of_kind("group").remember(*AGAIN).like is None
        memory.forget(AGAIN[0])
        assert memory.remember(*AGAIN).like is not None
