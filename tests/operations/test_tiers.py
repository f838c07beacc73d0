"""What an agent writes waits where the settings say so: by whatever way it writes, and until a person decides."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from crabmem import CrabmemError, Disabled, Full, Memory, Proposal
from crabmem.operations import adoption, files, links, notes, proposals
from crabmem.operations.status import status
from crabmem.results import Saved
from crabmem.text.entry import Fact
from crabmem.text.merge import Conflicting
from crabmem.write.actor import Actor
from tests.conftest import assert_clean, git
from tests.faults.repository import traces
from tests.opening import opened_with
from tests.operations.test_proposals import dying_at_each_call

OVERVIEW, VET = "memory/MEMORY.md", "memory/entries/luna-s-vet.md"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace in which a person wrote a fact and an agent added to it."""
    root = tmp_path / "memory"
    with Memory(root, is_person=True) as person:
        person.remember("Luna's vet", "who looks after the dog", "Dr. Moreno.\n\nBy the park.")
    with Memory(root, agent="coder") as agent:
        agent.remember("Luna's vet", "who looks after the dog", "Dr. Moreno.\n\nBy the park.\n\nOpen on Mondays.")
    yield root
    assert_clean(root)


def rule(root: Path, words: str) -> None:
    (root / "crabmem.toml").write_text(f"[review]\n{words}\n")
    with Memory(root, is_person=True) as person:
        person.adopt()


def waiting(root: Path) -> list[Proposal]:
    with Memory(root, is_person=True) as person:
        return proposals.proposals(person)


@pytest.mark.parametrize("verb", ["forget Luna's vet", "rename Luna's vet to The vet"])
def test_the_commit_of_an_apply_says_what_becomes_of_a_fact_that_goes_or_moves(root: Path, verb: str) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        agent.forget("Luna's vet") if verb.startswith("forget") else agent.rename("Luna's vet", "The vet")
    [proposal] = waiting(root)
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
        assert person.log(1)[0].subject == f"apply: {verb} as coder proposed"


def test_of_a_write_the_lines_of_a_person_wait_and_the_rest_goes_on(root: Path) -> None:
    rule(root, 'protect = "human-lines"')
    with Memory(root, agent="coder") as agent:
        text = "Dr. Ortega.\n\nBy the park.\n\nOpen on Tuesdays.\n\nShe has a parrot."
        saved = agent.remember("Luna's vet", "who looks after the dog", text)
    assert saved.commit and saved.proposal
    said = (root / VET).read_text()
    assert "Dr. Moreno." in said and "Tuesdays" in said and "parrot" in said and "Ortega" not in said
    [proposal] = waiting(root)
    assert "-Dr. Moreno.\n+Dr. Ortega.\n" in proposal.diff and "Tuesdays" not in proposal.diff.replace(" Open", "")
    assert proposal.rule == "it changes lines of a person"
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
        assert "Ortega" in (root / VET).read_text() and "Moreno" not in (root / VET).read_text()
        [line] = [line for line in person.blame("Luna's vet") if line.text.startswith("Dr. Ortega")]
        assert line.is_person


def test_a_line_that_a_person_approved_is_theirs(root: Path) -> None:
    rule(root, 'wait = ["entries"]\nprotect = "human-lines"')
    with Memory(root, agent="coder") as agent:
        agent.remember("Boiler", "which one", "A Vaillant.")
    [proposal] = waiting(root)
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
    rule(root, 'protect = "human-lines"')
    with Memory(root, agent="coder") as agent:
        assert agent.remember("Boiler", "which one", "A Junkers.").proposal
    assert "Vaillant" in (root / "memory/entries/boiler.md").read_text()


def test_an_agent_rewords_what_agents_wrote_and_adds_beside_a_persons_lines(root: Path) -> None:
    rule(root, 'protect = "human-lines"')
    with Memory(root, agent="other") as agent:
        vet, before = agent.get("Luna's vet"), (root / VET).read_text()
        agent.remember("Luna's vet", vet.description, vet.content.replace("Mondays", "Fridays") + "\n\nNew.")
        agent.remember("New", "d", "Fact.")
    assert (root / VET).read_text() == before.replace("Mondays", "Fridays") + "\nNew.\n"
    assert waiting(root) == []


def test_what_waits_is_not_recalled_and_in_no_prompt(root: Path) -> None:
    rule(root, 'wait = ["entries", "overview", "soul"]')
    with Memory(root, agent="coder") as agent:
        agent.remember("Boiler", "which one", "A Vaillant ecoTEC.")
        agent.write_overview("# Overview\n\nThe Vaillant hums.\n")
        agent.write_identity("# I\n\nA Vaillant.\n")
        assert len(waiting(root)) == 3
        assert not agent.recall("Vaillant").hits and "Vaillant" not in agent.prompt()
        assert agent.before_turn("What about the Vaillant ecoTEC boiler?") == ""
        assert "Boiler" not in [entry.name for entry in agent.entries()]
        for proposal in waiting(root):
            with Memory(root, is_person=True) as person:
                proposals.apply_proposal(person, proposal.id)
        assert agent.recall("Vaillant").hits and agent.prompt().count("Vaillant") == 2


def test_a_fact_that_waits_and_the_note_of_the_day_that_does_not_are_one_write(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        saved = notes.save_fact(agent, "The boiler is a Vaillant.")
        assert saved.proposal and saved.entry.content == "The boiler is a Vaillant."
        [note] = files.notes(agent)
        assert "Vaillant" in (root / note).read_text()
    assert [each.path for each in waiting(root)] == ["memory/entries/the-boiler-is-a-vaillant.md"]


def test_a_rename_that_waits_waits_whole_and_is_applied_whole(root: Path) -> None:
    with Memory(root, agent="coder") as agent:
        agent.write_overview("# Overview\n\n[[Luna's vet]]\n")
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        done = agent.rename("Luna's vet", "Dr. Moreno")
        assert done.proposal and done.commit is None
    assert "[[Luna's vet]]" in (root / OVERVIEW).read_text()
    [proposal] = waiting(root)
    assert {file.path for file in proposal.files} == {VET, "memory/entries/dr-moreno.md", OVERVIEW}
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
        assert person.get("Dr. Moreno").path == "memory/entries/dr-moreno.md"
        assert [each.to for each in links.links(person).out] == []
    assert not (root / VET).exists() and "[[Dr. Moreno]]" in (root / OVERVIEW).read_text()


def test_what_an_agent_forgets_is_there_until_a_person_agrees(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        gone = agent.forget("Luna's vet")
        assert gone.proposal and gone.commit is None and agent.get("Luna's vet")
    [proposal] = waiting(root)
    assert proposal.data is None and proposal.text is None and "-Dr. Moreno.\n" in proposal.diff
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
    assert not (root / VET).exists()


def test_what_was_changed_since_is_merged_and_what_no_longer_fits_is_shown_with_both_texts(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    vet = "who looks after the dog"
    with Memory(root, agent="coder") as agent:
        agent.remember("Luna's vet", vet, "Dr. Moreno.\n\nBy the lake.\n\nOpen on Mondays.")
        agent.remember("Luna's vet", vet, "Dr. Ortega.\n\nBy the park.\n\nOpen on Mondays.")
    (root / VET).write_text((root / VET).read_text().replace("Dr. Moreno", "Dr. Vega"))
    fits, clashes = sorted(waiting(root), key=lambda each: each.clashes)
    assert clashes.clashes and "-Dr. Vega.\n+Dr. Ortega.\n" in clashes.diff
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, fits.id)
        with pytest.raises(Conflicting):
            proposals.apply_proposal(person, clashes.id)
    assert "Dr. Vega.\n\nBy the lake." in (root / VET).read_text()


def test_two_notes_of_a_day_that_both_wait_are_both_there_when_both_are_applied(root: Path) -> None:
    rule(root, 'wait = ["everything"]')
    with Memory(root, agent="coder") as agent:
        for text in ("The boiler hums.", "Luna sleeps."):
            notes.write_note(agent, text)
    with Memory(root, is_person=True) as person:
        for each in waiting(root):
            proposals.apply_proposal(person, each.id)
        [note] = files.notes(person)
    assert "hums" in (root / note).read_text() and "sleeps" in (root / note).read_text()


def test_what_waits_since_the_same_second_is_in_the_order_in_which_it_was_written(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    names = [f"Fact {number}" for number in range(9)]
    with Memory(root, agent="coder") as agent:
        for name in names:
            agent.remember(name, "d", "Text.")
    assert [each.change for each in waiting(root)] == [f"remember: {name}" for name in names]


def test_the_same_write_again_is_one_proposal(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        ids = {agent.remember("Boiler", "which", "A Vaillant.").proposal.id for _ in range(3)}  # type: ignore[union-attr]
    assert {each.id for each in waiting(root)} == ids and len(ids) == 1


def test_no_agent_switches_the_rule_off(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, is_person=True) as person:
        person.adopt()
    settings = (root / "crabmem.toml").read_bytes()
    with Memory(root, agent="coder") as agent:
        (root / "crabmem.toml").write_text("")
        adoption.adopt_written(agent, [str(root / "crabmem.toml")])
        assert (root / "crabmem.toml").read_bytes() == settings
        for way in (lambda: agent.rollback(to="HEAD~2"), lambda: agent.revert("HEAD"), agent.undo):
            with suppress(CrabmemError):
                way()
            assert (root / "crabmem.toml").read_bytes() == settings
        assert agent.remember("Boiler", "which", "A Vaillant.").proposal
    with Memory(root) as program, suppress(CrabmemError):
        program.rollback(to="HEAD~2")
    assert (root / "crabmem.toml").read_bytes() == settings


def test_what_waits_expires_only_where_a_setting_says_so(root: Path) -> None:
    now = [datetime(2026, 5, 1, 12, tzinfo=UTC)]

    def at(days: int, actor: Actor) -> Memory:
        now[0] += timedelta(days=days)
        return opened_with(root, actor, lambda: now[0], environment=os.environ)

    rule(root, 'wait = ["entries"]')
    with at(0, Actor("coder")) as agent:
        agent.remember("Boiler", "which", "A Vaillant.")
    with at(400, Actor(is_person=True)) as person:
        assert len(proposals.proposals(person)) == 1
        rule(root, 'wait = ["entries"]\nexpire = 30')
        assert proposals.proposals(person) == []
        assert status(person).proposals == 0
    with at(0, Actor("coder")) as agent:
        agent.remember("Door", "which", "The green one.")
    with at(29, Actor(is_person=True)) as person:
        assert [each.path for each in proposals.proposals(person)] == ["memory/entries/door.md"]
        assert git(root, "for-each-ref", "refs/crabmem/proposals").count("\n") == 1


def test_a_tool_says_that_nothing_is_stored_yet(root: Path) -> None:
    rule(root, 'wait = ["entries tagged person"]')
    with Memory(root, agent="coder") as agent:
        arguments = {"name": "Ann", "description": "who", "content": "A friend.", "tags": ["Person"]}
        result = agent.call("remember", arguments)
        [proposal] = waiting(root)
        assert not result.is_error and result.data["proposal"] == proposal.id and result.data["commit"] is None
        assert result.text.startswith("Nothing is written yet") and proposal.id[:8] in result.text
        assert "entries tagged person" in result.text and "remembered" not in result.text
        assert agent.call("remember", {**arguments, "name": "Door", "tags": []}).text == "remembered: Door"
        [remember] = agent.tools_named(["remember"])
        jsonschema.validate(result.data, remember.output_schema)


def test_a_tool_says_what_of_a_write_waits(root: Path) -> None:
    rule(root, 'protect = "human-lines"')
    with Memory(root, agent="coder") as agent:
        vet = agent.get("Luna's vet")
        content = vet.content.replace("Moreno", "Ortega") + "\n\nMore."
        result = agent.call("remember", {"name": vet.name, "description": vet.description, "content": content})
    assert result.text.startswith("remembered: Luna's vet") and "Of this, not written yet" in result.text
    [made] = waiting(root)
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, made.id)
        assert person.get(vet.name).content == content, "what went on already is not there twice"


def test_half_a_proposal_is_applied_at_no_crash(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(root, agent="coder") as agent:
        agent.write_overview("# Overview\n\n[[Luna's vet]]\n")
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        agent.rename("Luna's vet", "Dr. Moreno")
    [made] = waiting(root)
    before = {path: (root / path).read_bytes() for path in (VET, OVERVIEW)}

    def work(memory: Memory) -> object:
        return proposals.apply_proposal(memory, made.id)

    for died, copy in dying_at_each_call(root, tmp_path, monkeypatch, work):
        with Memory(copy, is_person=True) as person:
            person.engine.recover()
            is_done = (copy / "memory/entries/dr-moreno.md").exists()
            assert is_done or died
            assert (copy / VET).exists() is not is_done
            assert is_done == ("[[Dr. Moreno]]" in (copy / OVERVIEW).read_text())
            if not is_done:
                assert {path: (copy / path).read_bytes() for path in before} == before
                assert [each.id for each in proposals.proposals(person)] == [made.id]
        assert_clean(copy)


def test_a_write_of_an_agent_that_waits_in_part_is_whole_or_not_there_at_any_crash(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule(root, 'protect = "human-lines"')
    with Memory(root, is_person=True) as person:
        vet = person.get("Luna's vet")
    text = vet.content.replace("Moreno", "Ortega") + "\n\nMore."
    before = (root / VET).read_text()

    def work(memory: Memory) -> object:
        return memory.for_actor("coder", None).remember(vet.name, vet.description, text)

    for died, copy in dying_at_each_call(root, tmp_path, monkeypatch, work):
        with Memory(copy, is_person=True) as person:
            person.engine.recover()
            said = (copy / VET).read_text()
            assert said in (before, before + "\nMore.\n")
            assert said != before or died
            assert died or len(proposals.proposals(person)) == 1
        assert_clean(copy)


def test_a_purge_reaches_what_waits_in_several_files(root: Path) -> None:
    with Memory(root, agent="coder") as agent:
        agent.write_overview("# Overview\n\n[[Luna's vet]]\n")
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        agent.rename("Luna's vet", "HUNTER2SECRET")
        agent.forget("Luna's vet")
    with Memory(root, is_person=True) as person:
        done = person.purge(text="HUNTER2SECRET")
        assert done.standing and done.standing.places == ()
        assert traces(root, "HUNTER2SECRET") == []
        left = proposals.proposals(person)
        assert sorted(len(each.files) for each in left) == [1, 3]
        for each in sorted(left, key=lambda each: -len(each.files)):
            with suppress(Conflicting):
                proposals.apply_proposal(person, each.id)
    assert "[[(purged)]]" in (root / OVERVIEW).read_text()


def test_an_import_of_an_agent_waits_fact_by_fact(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        many = [Fact(f"Fact {number}", "d", f"Text {number}.") for number in range(60)]
        assert all(isinstance(done, Saved) and done.proposal for done in agent.remember_all(many, "elsewhere"))
        assert agent.entries() == [agent.get("Luna's vet")]
    assert len(waiting(root)) == 60
    assert git(root, "log", "-1", "--format=%s").strip() == "edit: crabmem.toml"


def test_more_waits_than_a_person_goes_through_and_the_agent_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabmem.write.proposals.MOST_ASIDE", 3)
    rule(root, 'wait = ["entries"]')
    with Memory(root, agent="coder") as agent:
        for number in range(3):
            agent.remember(f"Fact {number}", "d", f"Text {number}.")
        with pytest.raises(Full, match="3 proposals wait already"):
            agent.remember("One more", "d", "Text.")
        agent.write_overview("# Goes on\n")
    assert len(waiting(root)) == 3


def test_a_file_that_an_agents_host_made_is_gone_until_it_is_applied(root: Path) -> None:
    rule(root, 'wait = ["entries"]')
    new, note = root / "memory/entries/new.md", root / "memory/2026-05-01.md"
    with Memory(root, agent="coder", session="s-1") as agent:
        new.write_text("---\nname: New\ndescription: d\n---\n\nA fact.\n")
        note.write_text("# A day\n")
        commit = adoption.adopt_written(agent, [str(new), str(note)])
    assert not new.exists() and note.exists()
    assert commit and commit.agent == "coder" and commit.paths == ("memory/2026-05-01.md",)
    [proposal] = waiting(root)
    assert (proposal.agent, proposal.session, proposal.change) == ("coder", "s-1", "write: 2026-05-01.md, New")
    with Memory(root, is_person=True) as person:
        proposals.apply_proposal(person, proposal.id)
        assert person.get("New").content == "A fact."


def test_what_a_host_wrote_is_put_back_whole_or_later_at_any_crash(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule(root, 'wait = ["entries"]')
    before, after = (root / VET).read_bytes(), b"Other.\n"

    def work(memory: Memory) -> object:
        (memory.root / VET).write_bytes(after)
        return adoption.adopt_written(memory.for_actor("coder", "s-1"), [str(memory.root / VET)])

    for died, copy in dying_at_each_call(root, tmp_path, monkeypatch, work):
        with Memory(copy, agent="next") as memory:
            if (copy / VET).read_bytes() == after and not (copy / ".git/crabmem/bylines").exists():
                assert died  # before the host had told: a person's, as any file that nobody signed
                continue
            memory.remember("Other", "d", "c")
            assert (copy / VET).read_bytes() == before
            assert sorted(each.path for each in proposals.proposals(memory)) == [VET, "memory/entries/other.md"]
        assert_clean(copy)


@pytest.mark.parametrize("who", ["coder", None])
def test_no_agent_purges_where_what_it_writes_waits(root: Path, who: str | None) -> None:
    with Memory(root, agent=who) as memory:
        memory.remember("Gone", "d", "c")
        assert memory.purge("Gone").is_done
        rule(root, 'wait = ["soul"]')
        with pytest.raises(Disabled, match="a person purges"):
            memory.purge("Luna's vet")
        assert memory.purge("Luna's vet", dry_run=True).entries
    with Memory(root, is_person=True) as person:
        assert person.purge("Luna's vet").is_done


@pytest.mark.parametrize("weaker", ["", '[review]\nwait = ["soul"]\n', '[review]\nprotect = "human-lines"\n'])
@pytest.mark.parametrize("tells_of", [["crabmem.toml", VET], [VET, "crabmem.toml"], [VET]])
def test_an_agents_host_that_writes_the_settings_first_gets_around_nothing(
    root: Path, weaker: str, tells_of: list[str]
) -> None:
    rule(root, 'wait = ["entries"]')
    before = {path: (root / path).read_bytes() for path in ("crabmem.toml", VET)}
    with Memory(root, agent="coder", session="s-1") as agent:
        (root / "crabmem.toml").write_text(weaker)
        (root / VET).write_text("Other.\n")
        for path in tells_of:
            with suppress(CrabmemError):
                adoption.adopt_written(agent, [str(root / path)])
    assert (root / VET).read_bytes() == before[VET]
    if "crabmem.toml" in tells_of:
        assert (root / "crabmem.toml").read_bytes() == before["crabmem.toml"]
    with Memory(root, is_person=True) as person:
        person.adopt()
