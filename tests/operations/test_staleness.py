"""A fact may name the last day on which it holds: who asks is told once it is past, and all else is as it was."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.mcp.protocol import Caller
from crabmem.mcp.resources import read_resource
from crabmem.mcp.served import Served
from crabmem.operations import export, facts, maintenance
from crabmem.text.staleness import checked_day, stale_after
from crabmem.write.actor import Actor
from tests.conftest import typed_in as crabmem
from tests.opening import opened_with

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
FACT = "Parking permit", "where the car may stand", "Zone 4, by the harbour."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened_with(tmp_path / "notes", Actor(None, None), lambda: NOW) as memory:
        yield memory


def findings(memory: Memory) -> list[tuple[str, str]]:
    return [(found.level, found.message) for found in maintenance.doctor(memory) if "stale" in found.message]


@pytest.mark.parametrize(
    ("day", "since"), [("2026-06-14", "2026-06-14"), ("2026-06-15", ""), ("2026-06-16", ""), ("", "")]
)
def test_a_hit_says_since_when_it_is_stale_once_its_day_is_past(memory: Memory, day: str, since: str) -> None:
    memory.remember(*FACT, stale_after=day)
    hit = memory.recall("parking")[0]
    assert hit.stale_since == since
    answer = memory.call("recall", {"query": "parking"})
    assert (f", stale since {since}: still true? Then save it with a later stale_after)" in answer.text) == bool(since)
    assert answer.data["hits"][0].get("stale_since", "") == since
    assert (f"stale since {since}" in memory.before_turn("where may the car stand? the parking permit?")) == bool(since)


@pytest.mark.parametrize(("day", "is_stale"), [("2020-12-31", True), ("2099-12-31", False)])
def test_a_fact_read_whole_says_since_when_it_is_stale_but_not_as_it_was_then(
    tmp_path: Path, day: str, is_stale: bool
) -> None:
    root = tmp_path / "notes"
    crabmem(root, "remember", FACT[0], "-d", FACT[1], "-c", FACT[2], "--stale-after", day)
    shown = crabmem(root, "show", FACT[0])
    assert (f"stale since {day}: still true? `crabmem confirm NAME`" in shown.stderr) == is_stale
    assert json.loads(crabmem(root, "show", FACT[0], "--json").stdout).get("stale_since") == (day if is_stale else None)
    said = f", stale since {day}: still true? Then save it with a later stale_after)"
    asked = json.dumps({"name": FACT[0]})
    assert (said in crabmem(root, "call", "--tools", "get", "get", asked).stdout) == is_stale
    assert "stale since" not in crabmem(root, "show", FACT[0], "--as-of", "HEAD").stderr
    assert "stale" not in crabmem(root, "call", "--tools", "get", "get", asked[:-1] + ', "at": "HEAD"}').stdout
    with Memory(root) as memory:
        read = read_resource(Served(memory, None, None), {"uri": "crabmem://entries/parking-permit"}, Caller())
        assert (said in read["contents"][0]["text"]) == is_stale


def test_a_tool_says_until_when_a_fact_holds(memory: Memory) -> None:
    given = dict(zip(("name", "description", "content"), FACT, strict=True))
    assert not memory.call("remember", {**given, "stale_after": "2026-12-31"}).is_error
    assert memory.get("Parking permit").stale_after == "2026-12-31"
    assert memory.call("remember", {**given, "stale_after": "soon"}).is_error


def test_a_fact_is_confirmed_for_as_long_as_it_was_given_at_first(tmp_path: Path) -> None:
    day = NOW
    with opened_with(tmp_path / "notes", Actor(None, None, is_person=True), lambda: day) as memory:
        memory.remember(*FACT, stale_after="2026-07-05")  # 20 days
        memory.remember("Boiler", "its service", "In May.", stale_after="2026-06-01")
        memory.remember("Roof", "its tiles", "Holds.")
        day = datetime(2026, 7, 10, tzinfo=UTC)
        memory.remember(FACT[0], FACT[1], "Zone 5, by the harbour.")  # which does not write the day again
        file = memory.root / memory.get(FACT[0]).path
        before = file.read_text()
        assert facts.confirm(memory, "parking PERMIT").entry.stale_after == "2026-07-30"
        assert file.read_text() == before.replace("2026-07-05", "2026-07-30")
        assert memory.log()[0].subject == "confirm: Parking permit"
        assert memory.recall("parking")[0].stale_since == ""
        assert [facts.confirm(memory, name).entry.stale_after for name in ("Boiler", "Roof")] == ["2026-10-08"] * 2
        assert facts.confirm(memory, "Roof", "2027-01-01").entry.stale_after == "2027-01-01"
        for until in ("2026-07-10", "", "soon"):
            with pytest.raises(InvalidArguments):
                facts.confirm(memory, "Roof", until)
        assert memory.call("confirm", {"name": "Roof"}, ["confirm"]).text.startswith(
            "confirmed: Roof, until 2027-01-01"
        )


def test_nothing_is_hidden_or_ranked_down(memory: Memory) -> None:
    memory.remember(*FACT)
    memory.remember("Parking fines", "what they cost", "Forty, at the harbour.")
    before = [(hit.entry.name, hit.score) for hit in memory.recall("parking harbour")]
    memory.remember(*FACT, stale_after="2020-01-01")
    assert [(hit.entry.name, hit.score) for hit in memory.recall("parking harbour")] == before


def test_memory_as_it_was_is_not_stale(memory: Memory) -> None:
    memory.remember(*FACT, stale_after="2020-01-01")
    assert memory.recall("parking", as_of="HEAD")[0].stale_since == ""


def test_what_is_left_out_stays_and_an_empty_day_is_removed(memory: Memory) -> None:
    path = memory.remember(*FACT, stale_after="2026-12-31").entry.path
    assert "stale_after: 2026-12-31\n" in (memory.root / path).read_text()
    assert memory.remember(*FACT[:2], "Zone 5.").entry.stale_after == "2026-12-31"
    assert memory.remember(*FACT[:2], "Zone 5.", stale_after="").entry.stale_after == ""
    assert "stale" not in (memory.root / path).read_text()


@pytest.mark.parametrize("day", ["tomorrow", "2026-13-01", "31.12.2026", "20261231", "2026-12-31x"])
def test_what_is_no_day_is_refused_and_nothing_is_written(memory: Memory, day: str) -> None:
    with pytest.raises(InvalidArguments, match="stale_after must be a day such as 2026-12-31, not "):
        memory.remember(*FACT, stale_after=day)
    assert not memory.root.exists()


@pytest.mark.parametrize("said", ["next week", "[2026, 1, 1]", "2026-02-30", "{a: b}", '""'])
def test_what_a_person_wrote_that_is_no_day_counts_as_none_and_the_doctor_says_so(memory: Memory, said: str) -> None:
    memory.remember(*FACT)
    (memory.root / "memory/entries/odd.md").write_text(f"---\nname: Odd\nstale_after: {said}\n---\n\nA harbour.\n")
    assert [hit.stale_since for hit in memory.recall("harbour")] == ["", ""]
    (found,) = findings(memory)
    assert found[0] == "warning"
    assert found[1].startswith("its stale_after is no day, and counts as none: write 2026-12-31, not ")


def test_doctor_and_digest_list_what_is_stale_the_oldest_first(memory: Memory) -> None:
    memory.remember(*FACT, stale_after="2026-06-01")
    memory.remember("Boiler", "its service", "In May.", stale_after="2026-05-31")
    memory.remember("Roof", "its tiles", "Holds.", stale_after="2027-01-01")
    found = [(fact.name, fact.stale_since) for fact in memory.digest().stale]
    assert found == [("Boiler", "2026-05-31"), ("Parking permit", "2026-06-01")]
    assert memory.digest(until="HEAD").stale == ()
    assert sorted(level for level, _ in findings(memory)) == ["info", "info"]


def test_a_time_as_other_programs_write_it_and_a_key_that_claude_code_moved_count(memory: Memory) -> None:
    memory.remember(*FACT)
    folder = memory.root / "memory/entries"
    (folder / "a.md").write_text("---\nname: A\nstale_after: 2026-01-03T10:00:00Z\n---\n\nharbour\n")
    (folder / "b.md").write_text("---\nname: B\nmetadata:\n  stale_after: 2026-01-04\n---\n\nharbour\n")
    assert {hit.entry.name: hit.stale_since for hit in memory.recall("harbour")} == {
        "A": "2026-01-03",
        "B": "2026-01-04",
        "Parking permit": "",
    }


@pytest.mark.parametrize("form", ["okf", "json", "markdown"])
def test_exports_and_imports_carry_it(memory: Memory, tmp_path: Path, form: str) -> None:
    memory.remember(*FACT, stale_after="2026-06-01")
    export.export(memory, tmp_path / "out", form)  # type: ignore[arg-type]
    said = "".join(file.read_text() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert ('stale_after": "2026-06-01"' if form == "json" else "stale_after: 2026-06-01\n") in said
    other = tmp_path / "other"
    result = crabmem(other, "import", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    with opened_with(other, Actor(None, None), lambda: NOW) as read:
        assert read.recall("parking")[0].stale_since == "2026-06-01"


def test_the_command_line_sets_it_and_says_it(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    words = "remember", FACT[0], "-d", FACT[1], "-c", FACT[2]
    assert crabmem(root, *words, "--stale-after", "2020-02-03").exit_code == 0
    hits = json.loads(crabmem(root, "recall", "parking", "--json").stdout)["hits"]
    assert hits[0]["stale_since"] == "2020-02-03"
    assert "(from memory/entries/parking-permit.md, version " in crabmem(root, "recall", "parking").stdout
    assert "stale since 2020-02-03: still true? " in crabmem(root, "recall", "parking").stdout
    assert "## Stale (1)\n\n- **Parking permit**: where the car may stand (since 2020-02-03)\n" in (
        crabmem(root, "digest").stdout
    )
    assert json.loads(crabmem(root, "digest", "--json").stdout)["stale"][0]["name"] == "Parking permit"
    confirmed = json.loads(crabmem(root, "confirm", "Parking permit", "--until", "2099-01-01", "--json").stdout)
    assert (confirmed["name"], confirmed["stale_after"]) == ("Parking permit", "2099-01-01")
    assert "2020-02-03" not in crabmem(root, "recall", "parking").stdout
    assert crabmem(root, "confirm", "Nobody").exit_code == 1
    assert crabmem(root, *words, "--stale-after", "").exit_code == 0
    assert "stale_since" not in crabmem(root, "recall", "parking", "--json").stdout
    assert crabmem(root, *words, "--stale-after", "soon").exit_code == 2


@given(st.dates())
def test_any_day_is_read_as_it_was_given(day: object) -> None:
    assert stale_after({"stale_after": checked_day(str(day))}) == str(day)


@given(st.one_of(st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text())))
def test_whatever_stands_there_is_a_day_or_none(said: object) -> None:
    found = stale_after({"stale_after": said})
    assert found == "" or found == str(said).strip()[:10]
