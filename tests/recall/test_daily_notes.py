"""Daily notes among facts: recall, `when` and `show` find them, and nothing takes them for facts."""

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import Result

from crabmem import Memory, NotFound
from crabmem.operations import context, history, keyvalue, links, maintenance, salient_facts
from crabmem.prompt.profile import load_profile
from crabmem.text.keys import Key
from crabmem.text.passages import blocks_with
from crabmem.workspace.layout import FLAT, ORDINARY
from crabmem.write.actor import Actor
from tests.conftest import Clock, typed
from tests.opening import opened_with

SAID = "Called the vet, Luna is fine"


@pytest.fixture
def noted(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """A memory with a fact, a note of today, and one that a person wrote in an editor long ago."""
    with opened_with(tmp_path / "m", Actor("coder", "s-1"), clock) as memory:
        memory.remember("Boiler", "the heating", "An E-4711, serviced in May.", tags=["home"])
        memory.write_note("Bought a boat.")
        clock.now += timedelta(hours=2)
        memory.write_note(SAID)
        (memory.root / "memory/2025-01-02.md").write_text("The chimney was swept.\n")
        yield memory


def today(memory: Memory) -> str:
    return memory.layout.note_path(memory.engine.today())


def asked(memory: Memory, *words: str) -> Result:
    return typed("--dir", memory.root, *words)


def test_a_note_is_recalled_with_its_date_its_file_and_the_block_that_answers(noted: Memory) -> None:
    [hit] = noted.recall("vet luna")
    path = today(noted)
    assert hit.entry.is_note and hit.entry.path == path and hit.entry.name == f"note of {hit.entry.slug}"
    assert SAID in hit.shown and "boat" not in hit.shown and "boat" in hit.entry.content
    done = asked(noted, "recall", "vet", "luna")
    assert f"\n\n## note of {hit.entry.slug}\n(from {path})\n\n" in done.stdout and SAID in done.stdout
    assert "boat" not in done.stdout and done.exit_code == 0
    with Memory(noted.root) as memory:
        told = memory.call("recall", {"query": "vet luna"})
    assert f"## note of {hit.entry.slug}" in told.text and path in told.text


def test_a_note_that_a_person_wrote_in_an_editor_is_recalled_however_old_it_is(noted: Memory) -> None:
    assert [hit.entry.path for hit in noted.recall("chimney")] == ["memory/2025-01-02.md"]
    (noted.root / "memory/2025-01-02.md").write_text("The gutter was cleaned.\n")
    assert not noted.recall("chimney") and noted.recall("gutter")
    (noted.root / "memory/2025-01-02.md").unlink()
    assert not noted.recall("gutter")


def test_the_data_of_a_hit_says_that_it_is_a_note(noted: Memory) -> None:
    with Memory(noted.root) as memory:
        found = {query: memory.call("recall", {"query": query}).data["hits"] for query in ("vet", "boiler")}
    kinds = {query: hits[0].get("kind") for query, hits in found.items()}
    assert kinds == {"vet": "note", "boiler": None}


def test_facts_and_notes_are_ranked_together(noted: Memory) -> None:
    noted.remember("Vet", "who looks after Luna", "Dr. Moreno.")
    assert [hit.entry.is_note for hit in noted.recall("who looks after luna, the vet")] == [False, True]


def test_a_note_is_found_by_its_day_and_not_by_the_word_note(noted: Memory) -> None:
    assert [hit.entry.path for hit in noted.recall("2 January 2025")] == ["memory/2025-01-02.md"]
    assert not noted.recall("notes")


def test_when_knows_what_a_note_says_and_said(noted: Memory) -> None:
    found = noted.when("Luna is fine")
    assert found.is_exact and [step.what for step in found.steps] == ["appeared"]
    assert found.now == (f"note of {Path(today(noted)).stem}",)
    assert "never said" not in asked(noted, "when", "Luna is fine").stderr
    (noted.root / today(noted)).unlink()
    noted.adopt()
    assert [step.what for step in noted.when("Luna is fine").steps] == ["appeared", "vanished"]


@pytest.mark.parametrize("form", ["{}", "{}.md", "memory/{}.md", "note of {}"])
def test_a_note_is_shown_whole_by_its_day(noted: Memory, form: str) -> None:
    day = Path(today(noted)).stem
    shown = asked(noted, "show", form.format(day))
    assert shown.exit_code == 0 and SAID in shown.stdout and "Bought a boat." in shown.stdout
    with pytest.raises(NotFound):
        noted.get(form.format("2001-01-01"))


def test_a_note_is_shown_and_recalled_as_it_was(noted: Memory) -> None:
    then = history.newest(noted) or ""
    noted.write_note("The zebra came by.")
    assert noted.recall("zebra") and not noted.recall("zebra", as_of=then)
    assert SAID in noted.recall("vet", as_of=then)[0].shown
    assert "zebra" not in noted.get(Path(today(noted)).stem, then).content


def test_since_and_until_hold_for_notes(noted: Memory) -> None:
    noted.adopt()
    then = history.newest(noted) or ""
    assert not noted.recall("vet", since=then) and noted.recall("vet", until=then)
    noted.write_note("The vet wrote a bill.")
    assert noted.recall("vet", since=then)


def test_a_filter_by_tags_finds_no_note(noted: Memory) -> None:
    found = noted.recall("vet boiler", tags=["home"])
    assert [hit.entry.name for hit in found] == ["Boiler"]
    assert noted.recall("vet", tags=["home"]).note.startswith("no match in 1 fact, with the tags")


def test_notes_are_no_facts(noted: Memory) -> None:
    day = Path(today(noted)).stem
    assert [entry.name for entry in noted.entries()] == [entry.name for entry in noted.entries("HEAD")] == ["Boiler"]
    assert maintenance.stats(noted).entries == maintenance.reindex(noted).entries == 1
    assert [hit.entry.name for hit in salient_facts.salient(noted)] == ["Boiler"]
    assert salient_facts.recall_facts(noted, "vet").note == "no match in 1 fact"
    assert [entry.name for entry in keyvalue.items(noted)] == ["Boiler"] and keyvalue.item(noted, Key((), day)) is None
    assert not noted.recall("vet", where=lambda entry: True) and not noted.recall("vet", namespace=["anywhere"])
    with pytest.raises(NotFound):
        noted.forget(day)
    assert noted.remember(day, "a fact called as a day is", "x").entry.path == f"memory/entries/{day}.md"
    assert not noted.get(day).is_note and noted.get(today(noted)).is_note


def test_the_words_why_nothing_was_found_count_notes_apart(noted: Memory, tmp_path: Path) -> None:
    assert noted.recall("zebra").note == "no match in 1 fact and 2 notes"
    with Memory(tmp_path / "empty") as memory:
        assert memory.recall("zebra").note == "this memory is empty"
        memory.write_note("A boat.")
        assert memory.recall("zebra").note == "no match in 0 facts and 1 note"
        assert memory.recall("zebra").searched == 0 and memory.recall("boat").note == ""


def test_links_out_of_and_into_a_note_are_what_they_were(noted: Memory) -> None:
    noted.write_note("See [[Boiler]] and [[nowhere]].")
    day = Path(today(noted)).stem
    noted.remember("Trip", "by boat", f"As in [[{day}]].")
    assert [link.path for link in links.links(noted, "Boiler").into] == [today(noted)]
    assert [link.target for link in links.links(noted).broken] == ["nowhere"]
    assert [link.path for link in links.links(noted, day).into] == ["memory/entries/trip.md"]


def test_a_budget_leaves_the_blocks_of_a_note_that_answer(noted: Memory) -> None:
    noted.write_note("The vet, at length. " * 200)
    [hit] = noted.recall("vet")
    assert len(hit.shown) <= 700
    [short] = noted.recall("vet luna", budget=300)
    assert short.passage is not None and "vet" in short.passage and len(short.passage) < 300


def test_before_a_turn_a_note_is_told_of_in_its_block_and_only_once(noted: Memory) -> None:
    first = noted.before_turn("Is Luna fine, what did the vet say?")
    assert SAID in first and f"(from {today(noted)})" in first and "boat" not in first
    noted.write_note("Something else.")  # the file is another, the block is not
    assert noted.before_turn("Is Luna fine, what did the vet say?") == ""


def test_words_from_all_over_a_day_are_no_reason_to_speak_of_it(noted: Memory) -> None:
    words = ["harbour", "violin", "granite", "saffron", "pendulum", "orchid"]
    for word in words:
        noted.write_note(f"About the {word}, and a great deal of what has to do with it besides. " * 4)
    scattered = context.confidence(noted, " ".join(words))
    noted.write_note(f"About {' '.join(words)}.")
    assert scattered < context.confidence(noted, " ".join(words))


def test_a_session_that_may_not_see_a_note_is_not_told_of_it(tmp_path: Path, clock: Clock) -> None:
    family = tmp_path / "family.toml"
    family.write_text(
        'about = "hidden notes"\n[kinds.group]\nhides = ["memory/????-??-??.md"]\n[[part]]\nfile = "{identity}"\n'
    )
    with opened_with(tmp_path / "m", Actor("coder"), clock, profile=str(family)) as memory:
        memory.remember("Boiler", "the heating", "An E-4711.")
        memory.write_note(SAID)
        group = memory.of_kind("group")
        assert memory.recall("vet") and not group.recall("vet") and not group.recall("vet", as_of="HEAD")
        assert group.recall("vet").note == "no match in 1 fact"
        assert (
            group.before_turn("what about the vet, is Luna fine?") == ""
            and context.confidence(group, "vet luna fine") == 0
        )
        for name in (Path(today(memory)).stem, today(memory)):
            with pytest.raises(NotFound):
                group.get(name)
            with pytest.raises(NotFound):
                group.get(name, "HEAD")


def test_profiles_with_a_rule_of_their_own_for_notes_recall_facts_alone(tmp_path: Path) -> None:
    layouts = [load_profile(name).layout for name in ("camel", "claw", "harness", "legion")]
    assert all(layout and not layout.recall_notes for layout in layouts)
    assert ORDINARY.recall_notes and FLAT.recall_notes
    with Memory(tmp_path, profile="camel") as memory:
        memory.write_note(SAID)
        assert not memory.recall("vet").hits


def test_when_knows_what_a_note_says_that_recall_does_not_look_into(tmp_path: Path) -> None:
    with Memory(tmp_path, profile="claw") as memory:
        memory.write_note("the zebra is striped")
        found = memory.when("zebra is striped")
        assert len(found.now) == 1 and [step.what for step in found.steps] == ["appeared"]


def test_a_cache_of_another_profile_gives_and_hides_no_note(noted: Memory) -> None:
    noted.close()
    for profile, count in (("camel", 0), ("crab", 1)):
        with Memory(noted.root, profile=profile) as memory:
            assert len(memory.recall("vet")) == count


def test_a_note_of_which_part_is_no_text_is_named_and_a_blank_one_is_nothing(noted: Memory) -> None:
    (noted.root / "memory/2025-01-03.md").write_bytes(b"\xff\xfe")
    (noted.root / "memory/2025-01-04.md").write_bytes(b"")
    assert noted.recall("zebra").note.endswith("1 file unreadable (`crabmem doctor` names them)")
    assert "memory/2025-01-03.md" in {found.path for found in noted.doctor()}
    assert noted.remember("2025-01-03", "d", "c").entry.path == "memory/entries/2025-01-03.md"


def test_a_fresh_process_answers_with_facts_and_notes(noted: Memory) -> None:
    for file in noted.root.rglob("*.md"):
        os.utime(file, (1, 1))
    noted.recall("boiler")
    noted.close()
    with Memory(noted.root) as memory:
        maintenance.reindex(memory)
    assert "vet" in asked(noted, "recall", "vet").stdout
    (noted.root / "memory/2025-01-05.md").write_text("The boiler hums.\n")
    done = asked(noted, "recall", "boiler", "--json")
    assert [hit.get("kind") for hit in json.loads(done.stdout)["hits"]] in ([None, "note"], ["note", None])


def test_the_blocks_of_a_text_that_answer_are_shown_with_marks_for_the_others() -> None:
    text = "# 2026-01-01\n\n## 10:00\n\none boat\n\n## 11:00\n\ntwo\n\n## 12:00\n\nthree boats, one boat\n"
    worth = {"boat": 1.0}
    assert blocks_with(text, worth, str.split, 500) == "## 10:00\n\none boat\n\n…\n\n## 12:00\n\nthree boats, one boat"
    assert blocks_with(text, worth, str.split, 40) == "## 10:00\n\none boat\n\n…"
    assert blocks_with(text, {"two": 1.0}, str.split, 500) == "…\n\n## 11:00\n\ntwo\n\n…"
    assert blocks_with(text, {}, str.split, 500) == text.strip()
    assert len(blocks_with("boat " * 100, worth, str.split, 60)) <= 60
