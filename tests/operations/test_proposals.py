"""An agent that may not write the identity proposes it, nothing changes, and a person decides."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import jsonschema
import pytest

import crabmem
from crabmem import (
    CrabmemError,
    Disabled,
    Full,
    HoldsSecret,
    InvalidArguments,
    Memory,
    NotFound,
    Proposal,
    Proposed,
    Stale,
)
from crabmem.disk import fs
from crabmem.operations import maintenance, proposals, purge
from crabmem.session.opening import local_time
from crabmem.text.merge import Conflicting
from crabmem.write.actor import Actor
from tests import forked
from tests.conftest import assert_clean, git
from tests.faults.repository import complaints, traces
from tests.git.test_purge_crashes import Death, Died
from tests.opening import opened_with

TEXT = "# Who I am\n\nA crab.\n\n## Voice\n\nLoud.\n\n## Limits\n\nNone.\n"
LOUDER = TEXT.replace("Loud.", "Louder.")
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
REFS = "refs/crabmem/proposals"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace whose agents propose; its history must end up clean."""
    root = tmp_path / "memory"
    with Memory(root) as memory:
        memory.init()
        (root / "Crab.md").write_text(TEXT)
        (root / "crabmem.toml").write_text('soul = "propose"\n')
        memory.adopt()
    yield root
    assert_clean(root)


@pytest.fixture
def agent(root: Path) -> Iterator[Memory]:
    with Memory(root, agent="coder", session="s-1") as memory:
        yield memory


@pytest.fixture
def person(root: Path) -> Iterator[Memory]:
    with Memory(root, is_person=True) as memory:
        yield memory


def state(root: Path) -> dict[str, bytes]:
    """Every file of a workspace, and where its branch is."""
    files = {path.name: path.read_bytes() for path in root.rglob("*.*") if ".git" not in path.parts and path.is_file()}
    return {**files, "HEAD": git(root, "rev-parse", "HEAD").encode()}


def proposed(memory: Memory, text: str = LOUDER, reason: str = "") -> Proposal:
    return proposals.propose_identity(memory, text, reason).proposal


# Proposing


def test_an_identity_that_an_agent_writes_becomes_a_proposal_and_no_file_changes(root: Path, agent: Memory) -> None:
    before = state(root)
    done = agent.write_identity(LOUDER, reason="Ann cannot hear me.")
    assert state(root) == before
    assert isinstance(done, Proposed)
    assert (done.path, done.commit, done.created) == ("Crab.md", None, False)
    assert "-Loud.\n+Louder.\n" in done.diff
    [waiting] = proposals.proposals(agent)
    assert (waiting.author, waiting.agent, waiting.session) == ("coder", "coder", "s-1")
    assert (waiting.reason, waiting.text, waiting.diff) == ("Ann cannot hear me.", LOUDER, done.diff)


def test_without_the_setting_it_is_refused_as_ever(root: Path, agent: Memory) -> None:
    (root / "crabmem.toml").write_text("")
    with pytest.raises(Disabled, match='soul = "propose"'):
        agent.write_identity(LOUDER)
    assert proposals.proposals(agent) == []
    agent.adopt()


def test_git_shows_a_proposal_as_a_commit_on_the_files_that_it_changes_alone(root: Path, agent: Memory) -> None:
    made = proposed(agent, reason="Too soft.\n\nSays Ann.")
    ground = git(root, "rev-parse", f"{made.id}^").strip()
    assert git(root, "log", "-1", "--format=%P|%an", ground) == "|crabmem\n"
    assert git(root, "ls-tree", "-r", ground) == git(root, "ls-tree", "-r", "HEAD", "Crab.md")
    assert git(root, "for-each-ref", "--format=%(refname)", REFS).split() == [f"{REFS}/{made.id}"]
    assert git(root, "log", "-1", "--format=%P %an %s", made.id) == f"{ground} coder propose: Crab.md\n"
    trailers = git(root, "log", "-1", "--format=%(trailers)", made.id).splitlines()
    assert trailers[:3] == ["Tool: propose", "Agent: coder", "Session: s-1"]
    assert trailers[3] == f"Time: {made.time.isoformat()}"
    assert "+Louder." in git(root, "show", made.id)
    assert made.reason == "Too soft.\n\nSays Ann."


def test_the_tool_is_offered_and_says_that_a_person_decides(root: Path, agent: Memory) -> None:
    assert "soul" in [tool.name for tool in agent.tools]
    result = agent.call("soul", {"content": LOUDER, "reason": "Ann cannot hear me."})
    [waiting] = proposals.proposals(agent)
    assert not result.is_error
    assert "is as it was" in result.text and "the person decides" in result.text
    assert waiting.id[:8] in result.text and "+Louder." in result.text
    assert (result.data["proposal"], result.data["commit"]) == (waiting.id, None)
    [soul] = agent.tools_named(["soul"])
    jsonschema.validate(result.data, soul.output_schema)


def test_the_same_text_is_one_proposal_whoever_says_it(root: Path, agent: Memory) -> None:
    first = proposed(agent)
    with Memory(root, agent="painter") as other:
        assert proposed(other).id == first.id
    assert [each.author for each in proposals.proposals(agent)] == ["coder"]


def test_the_same_text_against_another_identity_takes_the_place_of_the_older_one(root: Path, agent: Memory) -> None:
    older, other = proposed(agent), proposed(agent, TEXT + "\nMore.\n")
    (root / "Crab.md").write_text(TEXT.replace("None.", "Few."))
    newer = proposed(agent)
    assert newer.id != older.id
    assert {each.id for each in proposals.proposals(agent)} == {other.id, newer.id}
    assert (newer.base or b"").decode() == TEXT.replace("None.", "Few.")


def test_what_the_person_has_just_written_is_recorded_before_it_is_what_a_proposal_stands_on(
    root: Path, agent: Memory
) -> None:
    (root / "Crab.md").write_text(TEXT + "\nMine.\n")
    made = proposed(agent, TEXT + "\nMine.\nYours.\n")
    assert agent.log(limit=1)[0].subject == "edit: Crab.md"
    assert made.diff.count("\n+") == 1 + made.diff.count("\n+++")


@pytest.mark.parametrize(
    ("content", "reason", "words"),
    [
        ("", "", "blank"),
        (" \n\t\n", "", "blank"),
        ("a\0b", "", "NUL"),
        (LOUDER, "a\0b", "NUL"),
        (LOUDER, "\ud800", "surrogate"),
        (LOUDER, "x" * 4_001, "the reason has"),
        (TEXT, "", "says that already"),
        (TEXT.removesuffix("\n"), "", "says that already"),
    ],
)
def test_what_cannot_be_proposed_is_refused_and_leaves_nothing(
    root: Path, agent: Memory, content: str, reason: str, words: str
) -> None:
    before = state(root), git(root, "count-objects", "-v")
    with pytest.raises(InvalidArguments, match=words):
        proposals.propose_identity(agent, content, reason)
    assert proposals.proposals(agent) == []
    assert (state(root), git(root, "count-objects", "-v")) == before


def test_what_cannot_be_proposed_makes_no_workspace(tmp_path: Path) -> None:
    with Memory(tmp_path / "new", agent="coder") as memory, pytest.raises(HoldsSecret):
        proposals.propose_identity(memory, f"My key is {KEY}.")
    assert not (tmp_path / "new").exists()


def test_the_first_write_of_a_workspace_may_be_a_proposal(tmp_path: Path) -> None:
    with Memory(tmp_path / "new", agent="coder") as memory:
        made = proposed(memory)
        assert [each.id for each in proposals.proposals(memory)] == [made.id]
        assert memory.log()[0].subject == "init: a new memory"
    assert_clean(tmp_path / "new")


def test_a_proposal_may_insist_on_the_version_it_was_made_against(root: Path, agent: Memory) -> None:
    version = agent.identity().version
    (root / "Crab.md").write_text(TEXT + "\nMine.\n")
    with pytest.raises(Stale):
        agent.write_identity(LOUDER, version)
    assert isinstance(agent.write_identity(LOUDER, agent.identity().version), Proposed)


@pytest.mark.parametrize(("content", "reason"), [(f"# I\n\nMy key: {KEY}\n", ""), (LOUDER, f"The key is {KEY}.")])
def test_a_credential_is_proposed_nowhere(root: Path, agent: Memory, content: str, reason: str) -> None:
    result = agent.call("soul", {"content": content, "reason": reason})
    assert result.is_error and "looks like a secret" in result.text
    assert traces(root, KEY) == []
    (root / "crabmem.toml").write_text('soul = "propose"\nsecrets = "warn"\n')
    assert (
        "warning: it holds what looks like a secret" in agent.call("soul", {"content": content, "reason": reason}).text
    )


def test_line_endings_of_the_file_are_those_of_what_is_proposed(root: Path, agent: Memory, person: Memory) -> None:
    (root / "Crab.md").write_bytes(TEXT.replace("\n", "\r\n").encode())
    with pytest.raises(InvalidArguments, match="already"):
        proposed(agent, TEXT)
    proposals.apply_proposal(person, proposed(agent).id)
    assert (root / "Crab.md").read_bytes() == LOUDER.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("most", [10, pytest.param(100, marks=pytest.mark.long)])
def test_a_flood_of_proposals_ends_at_a_clear_error(
    root: Path, agent: Memory, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("crabmem.write.proposals.MOST_ASIDE", most)
    (root / "crabmem.toml").write_text('soul = "propose"\ndurability = "fast"\n')
    answers = [agent.call("soul", {"content": f"{TEXT}\n{number % (most + 5)}\n"}) for number in range(2 * most)]
    assert len(proposals.proposals(agent)) == most
    refused = [answer.text for answer in answers if answer.is_error]
    assert len(refused) == 5
    assert set(refused) == {f"{most} proposals wait already; ask the person to go through `crabmem review` first"}
    with pytest.raises(Full):
        proposed(agent, TEXT + "\nOne more.\n")


# Deciding


def test_a_person_applies_it_in_a_commit_that_names_it(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent, reason="Ann cannot hear me.")
    done = proposals.apply_proposal(person, made.id[:8])
    assert (root / "Crab.md").read_text() == LOUDER
    assert done.diff == made.diff
    assert proposals.proposals(person) == []
    [newest] = person.log(limit=1)
    assert (newest.author, newest.subject, newest.is_person) == ("person", "apply: Crab.md as coder proposed", True)
    assert git(root, "log", "-1", "--format=%b") == (
        f"Ann cannot hear me.\n\nTool: apply\nProposal: {made.id}\nProposed-by: coder\nSession: s-1\n\n"
    )
    person.undo()
    assert (root / "Crab.md").read_text() == TEXT
    assert [each.id for each in proposals.proposals(person)] == [made.id]
    person.redo()
    assert (root / "Crab.md").read_text() == LOUDER
    assert proposals.proposals(person) == []


def test_applying_keeps_what_was_changed_since(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent)
    (root / "Crab.md").write_text(TEXT.replace("None.", "Few."))
    [waiting] = proposals.proposals(person)
    assert not waiting.clashes and "None." not in waiting.diff
    proposals.apply_proposal(person, made.id)
    assert (root / "Crab.md").read_text() == LOUDER.replace("None.", "Few.")


def test_where_the_same_was_changed_since_nothing_is_applied(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent)
    (root / "Crab.md").write_text(TEXT.replace("Loud.", "Soft."))
    [waiting] = proposals.proposals(person)
    assert waiting.clashes and "-Soft.\n+Louder.\n" in waiting.diff
    with pytest.raises(Conflicting, match="yourself, then reject the proposal"):
        proposals.apply_proposal(person, made.id)
    assert (root / "Crab.md").read_text() == TEXT.replace("Loud.", "Soft.")
    assert [each.id for each in proposals.proposals(person)] == [made.id]


def test_what_says_so_already_is_applied_without_a_commit(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent)
    (root / "Crab.md").write_text(LOUDER)
    assert proposals.proposals(person)[0].diff == ""
    assert proposals.apply_proposal(person, made.id).commit is None
    assert proposals.proposals(person) == []


def test_a_rejected_proposal_leaves_the_list_and_the_references(root: Path, agent: Memory, person: Memory) -> None:
    made, other = proposed(agent), proposed(agent, TEXT + "\nMore.\n")
    before = state(root)
    assert proposals.reject_proposal(person, made.id).id == made.id
    assert [each.id for each in proposals.proposals(person)] == [other.id]
    assert git(root, "for-each-ref", "--format=%(objectname)", REFS).split() == [other.id]
    assert state(root) == before
    with pytest.raises(NotFound, match=f"no proposal with the id {made.id}"):
        proposals.reject_proposal(person, made.id)


def test_an_id_that_tells_too_little_is_refused(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent)
    for name in ("", made.id[:3]):
        with pytest.raises(InvalidArguments, match="more of its id"):
            proposals.apply_proposal(person, name)
    with pytest.raises(NotFound):
        proposals.apply_proposal(person, "HEAD")


@pytest.mark.parametrize("who", ["coder", "painter", "person", " "])
def test_no_agent_decides_whatever_it_is_called(root: Path, agent: Memory, who: str) -> None:
    made, before = proposed(agent), state(root)
    with Memory(root, is_person=True, soul_editable=True).for_actor(who, None) as memory:
        for decide in (proposals.apply_proposal, proposals.reject_proposal):
            with pytest.raises(Disabled, match="a person decides"):
                decide(memory, made.id)
        with pytest.raises(Disabled):
            proposals.apply_proposal(Memory(root).for_actor(who, None), made.id)
    assert state(root) == before
    assert [each.id for each in proposals.proposals(agent)] == [made.id]


def test_an_agent_gets_there_by_no_way_back_either(root: Path, agent: Memory) -> None:
    made, before = proposed(agent), state(root)
    for way_round in (
        lambda: agent.rollback(to=made.id),
        lambda: agent.rollback(to=made.id, name="Crab.md"),
        lambda: agent.revert(made.id),
        agent.restore,
    ):
        with suppress(CrabmemError):
            way_round()
    assert state(root) == before


def test_no_face_but_those_of_the_person_knows_how_to_decide() -> None:
    """The command line, and the page that only a person can begin."""
    package = Path(crabmem.__file__).parent
    knowing = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if re.search(r"apply_proposal|reject_proposal|carry_out_decisions", file.read_text())
    }
    assert {file for file in knowing if not file.startswith("operations/")} == {
        "cli/verbs/_proposals.py",
        "cli/verbs/_resolve.py",
        "cli/verbs/review.py",
        "web/inbox.py",
    }
    operations = {"operations/conflicts.py", "operations/proposals.py", "operations/review.py"}
    assert operations == {file for file in knowing if file.startswith("operations/")}


def test_a_decision_goes_by_the_files_that_the_person_saw(person: Memory, agent: Memory) -> None:
    """With the write itself: what comes between a look and the decision is seen by it."""
    proposed = agent.write_identity(LOUDER)
    assert isinstance(proposed, Proposed)
    made, seen = proposed.proposal, person.identity().version or ""
    with pytest.raises(Stale):
        proposals.apply_proposal(person, made.id, if_versions={made.path: ""})
    (person.root / "Crab.md").write_text(f"{TEXT}\nMine.\n")
    for decide in (proposals.apply_proposal, proposals.reject_proposal):
        with pytest.raises(Stale):
            decide(person, made.id, if_versions={made.path: seen})
    assert [each.id for each in proposals.proposals(person)] == [made.id]
    proposals.reject_proposal(person, made.id, if_versions={made.path: person.identity().version or ""})
    proposals.restore_proposal(person, made.id)
    assert [each.id for each in proposals.proposals(person)] == [made.id]
    with pytest.raises(Disabled):
        proposals.restore_proposal(agent, made.id)
    with pytest.raises(NotFound):
        proposals.restore_proposal(person, "0" * 40)


# On the command line


def crab(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`crabmem …` as a process, with nobody's settings."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}
    command = [*forked.COMMAND, "--dir", str(root), *words]
    return subprocess.run(
        command, capture_output=True, text=True, env={**bare, **environment}, stdin=subprocess.DEVNULL
    )


def test_a_person_lists_shows_and_applies_on_the_command_line(root: Path, agent: Memory) -> None:
    assert crab(root, "review", "list").stderr.startswith("nothing to review")
    made = proposed(agent, reason="Ann cannot hear me.")
    assert re.fullmatch(
        rf"{made.id[:8]}  \d{{4}}-\d\d-\d\d \d\d:\d\d  coder \[s-1\]  Crab.md  Ann cannot hear me.\n",
        crab(root, "review", "list").stdout,
    )
    told = crab(root, "review", "show", made.id[:8]).stdout
    assert "\n\nAnn cannot hear me.\n\n" in told and "-Loud.\n+Louder.\n" in told
    assert crab(root, "review", "apply", made.id[:8]).stdout.startswith("Crab.md updated\n")
    assert (root / "Crab.md").read_text() == LOUDER


def test_an_agent_is_refused_on_the_command_line(root: Path, agent: Memory) -> None:
    made, before = proposed(agent), state(root)
    for verb in (["apply", made.id], ["reject", made.id, "--yes"]):
        for done in (
            crab(root, "--agent", "a", "review", *verb),
            crab(root, "review", *verb, CRABMEM_AGENT="a"),
        ):
            assert (done.returncode, done.stdout) == (1, "")
            assert "a person decides on proposals, and no agent" in done.stderr
    assert state(root) == before
    assert [each.id for each in proposals.proposals(agent)] == [made.id]


def test_nothing_is_rejected_without_a_yes(root: Path, agent: Memory) -> None:
    made = proposed(agent)
    done = crab(root, "review", "reject", made.id)
    assert (done.returncode, done.stderr) == (1, "crabmem: nothing was rejected: this needs a terminal, or --yes\n")
    assert crab(root, "review", "reject", made.id, "--yes").stdout.startswith(f"rejected: {made.id[:8]}")
    assert proposals.proposals(agent) == []


def test_setting_the_soul_says_that_it_waits(root: Path) -> None:
    done = crab(root, "--agent", "coder", "identity", "set", "-c", LOUDER)
    with Memory(root) as memory:
        [waiting] = proposals.proposals(memory)
    assert done.stdout.startswith(f"Crab.md not changed: `crabmem review apply {waiting.id[:8]}` would\n")


# What keeps, checks and erases history


def test_doctor_says_how_many_wait(root: Path, agent: Memory) -> None:
    assert not [each for each in agent.doctor() if each.check == "proposals"]
    proposed(agent)
    proposed(agent, TEXT + "\nMore.\n")
    [said] = [each for each in agent.doctor() if each.check == "proposals"]
    assert (said.level, said.path) == ("info", "Crab.md")
    assert said.message.startswith("2 proposals to change it")


@pytest.mark.parametrize("part", ["commit", "tree", "text"])
def test_doctor_sees_a_proposal_that_is_broken_and_the_others_are_still_read(
    root: Path, agent: Memory, part: str
) -> None:
    broken, whole = proposed(agent), proposed(agent, TEXT + "\nMore.\n")
    of = {"commit": broken.id, "tree": f"{broken.id}^{{tree}}", "text": f"{broken.id}:Crab.md"}[part]
    oid = git(root, "rev-parse", of).strip()
    file = root / ".git" / "objects" / oid[:2] / oid[2:]
    kept = file.read_bytes()
    (root / ".git" / "crabmem" / "redo").unlink()
    file.chmod(0o600)
    file.unlink()
    with Memory(root) as fresh:
        assert [each.level for each in fresh.doctor() if oid[:8] in each.message] == ["error"]
        assert [each.id for each in proposals.proposals(fresh)] == [whole.id]
    file.write_bytes(kept)


@pytest.mark.parametrize("packs", ["compact", "gc", "pack-refs", "all"])
def test_proposals_outlive_whoever_packs_and_go_when_they_are_decided_on(root: Path, agent: Memory, packs: str) -> None:
    made, other = proposed(agent), proposed(agent, TEXT + "\nMore.\n")
    if packs in ("compact", "all"):
        assert maintenance.compact(agent)
    if packs in ("gc", "all"):
        git(root, "gc", "--quiet", "--prune=now")
    if packs in ("pack-refs", "all"):
        git(root, "pack-refs", "--all", "--prune")
    with Memory(root, is_person=True) as person:
        assert {each.id: each.text for each in proposals.proposals(person)} == {
            made.id: LOUDER,
            other.id: TEXT + "\nMore.\n",
        }
        proposals.reject_proposal(person, other.id)
        proposals.apply_proposal(person, made.id)
        assert proposals.proposals(person) == []
    assert git(root, "for-each-ref", REFS) == ""
    assert git(root, "for-each-ref", "refs/heads", "refs/crabmem/keep").count("\n") == 2


def test_a_purge_finds_a_text_that_stands_in_a_proposal_alone(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent, f"{LOUDER}\nHUNTER2SECRET\n", reason="HUNTER2SECRET told me.")
    maintenance.compact(person)
    assert purge.purge(person, text="HUNTER2SECRET", dry_run=True).paths == ("Crab.md",)
    done = person.purge(text="HUNTER2SECRET")
    assert done.standing and done.standing.places == ()
    assert traces(root, "HUNTER2SECRET") == []
    assert len(traces(root, made.id)) == 1  # the record of purges, by which other machines know what became of it
    [left] = proposals.proposals(person)
    assert (left.text, left.reason) == (f"{LOUDER}\n(purged)\n", "(purged) told me.")
    assert git(root, "for-each-ref", "--format=%(refname)", REFS).split() == [f"{REFS}/{left.id}"]
    proposals.apply_proposal(person, left.id)
    assert (root / "Crab.md").read_text() == f"{LOUDER}\n(purged)\n"
    assert proposals.proposals(person) == []


def test_a_proposal_of_which_a_purge_leaves_nothing_waits_no_more(root: Path, agent: Memory, person: Memory) -> None:
    (root / "Crab.md").write_text(f"{TEXT}\n(purged)\n")
    proposed(agent, f"{TEXT}\nHUNTER2SECRET\n")
    person.purge(text="HUNTER2SECRET")
    assert proposals.proposals(person) == []
    assert not [each for each in person.doctor() if each.check == "proposals"]


def test_a_fact_that_is_purged_goes_from_what_proposals_stand_on(root: Path, agent: Memory, person: Memory) -> None:
    agent.remember("Hiding place", "where it is", "Beneath HUNTER2SECRET.")
    proposed(agent)
    agent.forget("Hiding place")
    person.purge("Hiding place")
    assert traces(root, "HUNTER2SECRET") == []
    assert [each.text for each in proposals.proposals(person)] == [LOUDER]


def test_what_was_rejected_goes_with_a_purge(root: Path, agent: Memory, person: Memory) -> None:
    made = proposed(agent, f"{TEXT}\nHUNTER2SECRET\n")
    proposals.reject_proposal(person, made.id)
    person.remember("Other", "d", "Says HUNTER2SECRET, too.")
    person.purge(text="HUNTER2SECRET")
    assert traces(root, "HUNTER2SECRET") == []


# Other workspaces


def test_an_agents_own_workspace_has_its_own_proposals(root: Path, agent: Memory) -> None:
    with Memory(root / "agents" / "painter", agent="painter") as own:
        own.remember("Brush", "which one", "The wide one.")
        (own.root / "crabmem.toml").write_text('soul = "propose"\n')
        made = own.write_identity(LOUDER)
        assert isinstance(made, Proposed)
        assert "-Loud.\n+Louder.\n" in made.diff  # against the parent's, which it has
        assert proposals.proposals(agent) == []
    with Memory(root / "agents" / "painter", is_person=True) as person:
        proposals.apply_proposal(person, made.proposal.id)
        assert person.identity().text == LOUDER
    assert (root / "Crab.md").read_text() == TEXT
    assert_clean(root / "agents" / "painter")


# Several at once, and crashes

PROPOSER = """
import sys
from crabmem import Memory
from crabmem.operations.proposals import propose_identity
with Memory(sys.argv[1], agent=sys.argv[2]) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[3])):
        for text in (f"All say {number}", f"{sys.argv[2]} says {number}"):
            print(propose_identity(memory, text).proposal.id, flush=True)
"""


def proposer(root: Path, name: str, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROPOSER, str(root), name, str(rounds)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_two_agents_that_propose_at_once_lose_nothing(root: Path, agent: Memory) -> None:
    before, rounds = state(root), 8
    running = [proposer(root, name, rounds) for name in ("coder", "painter")]
    assert [each.stdout and each.stdout.readline() for each in running] == ["ready\n", "ready\n"]
    said = [each.communicate("go\n")[0].split() for each in running]
    assert {each.id for each in proposals.proposals(agent)} == {id for each in said for id in each}
    assert {each.text for each in proposals.proposals(agent)} == {
        f"{who} say{'s' * (who != 'All')} {number}\n" for who in ("All", "coder", "painter") for number in range(rounds)
    }
    assert len(proposals.proposals(agent)) == 3 * rounds
    assert state(root) == before


def test_a_kill_at_any_moment_leaves_a_whole_history_and_what_was_acknowledged(root: Path) -> None:
    before, said, dice = state(root), set[str](), random.Random(8)
    for number in range(6):
        with proposer(root, f"agent-{number}", 40) as running:
            assert running.stdin and running.stdout and running.stdout.readline() == "ready\n"
            running.stdin.write("go\n")
            running.stdin.flush()
            said.add(running.stdout.readline().strip())
            time.sleep(dice.random() / 20)
            running.send_signal(signal.SIGKILL)
            said |= {line for line in running.stdout.read().split("\n")[:-1] if line}
        assert complaints(root) == []
        with Memory(root) as memory:
            assert said <= {each.id for each in proposals.proposals(memory)}
    assert state(root) == before


def dying_at_each_call(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                       work: Callable[[Memory], object]) -> Iterator[tuple[bool, Path]]:  # fmt: skip
    """Do `work` in copies, and die at each change of the disk in its turn; whether it died, and the copy."""
    at, died = 0, True
    while died:
        at += 1
        copy = Path(shutil.copytree(root, tmp_path / f"copy-{at}", symlinks=True))
        memory, died = opened_with(copy, Actor(is_person=True), local_time, environment=os.environ), False
        with monkeypatch.context() as patched:
            patched.setattr(fs, "before", Death(at))
            try:
                work(memory)
            except Died:
                died = True
        memory.engine.history.close()
        yield died, copy
        shutil.rmtree(copy)
    assert at > 5


def test_a_proposal_that_dies_at_any_call_is_there_or_not(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(root)
    for died, copy in dying_at_each_call(root, tmp_path, monkeypatch, proposed):
        with Memory(copy, agent="next") as memory:
            texts = [each.text for each in proposals.proposals(memory)]
            assert texts == [LOUDER] or (died and texts == [])
            assert proposed(memory).text == LOUDER
            assert len(proposals.proposals(memory)) == 1
        assert state(copy) == before
        assert_clean(copy)


def test_a_decision_that_dies_at_any_call_is_made_or_not(
    root: Path, agent: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = proposed(agent), proposed(agent, TEXT + "\nMore.\n")
    git(root, "pack-refs", "--all", "--prune")
    for died, copy in dying_at_each_call(root, tmp_path, monkeypatch, lambda it: proposals.apply_proposal(it, made.id)):
        with Memory(copy, is_person=True) as memory:
            memory.engine.recover()
            waiting = {each.id for each in proposals.proposals(memory)}
            text = memory.identity().text
            assert waiting == {other.id} or (died and waiting == {made.id, other.id})
            assert text == LOUDER or (made.id in waiting and text == TEXT)
            if made.id in waiting:
                proposals.apply_proposal(memory, made.id)
            assert memory.identity().text == LOUDER
            assert [each.id for each in proposals.proposals(memory)] == [other.id]
        assert_clean(copy)


# By section


def test_a_section_of_the_identity_is_proposed_by_its_heading(root: Path, agent: Memory, person: Memory) -> None:
    from crabmem.profiles.harness.tools import prompt_propose

    before = state(root)
    result = prompt_propose(agent, "Voice", "Ann cannot hear me.", "Louder.")
    [waiting] = proposals.proposals(agent)
    assert (waiting.text, waiting.reason) == (LOUDER, "Ann cannot hear me.")
    assert result.data["proposal"] == waiting.id and "the person decides" in result.text
    assert state(root) == before
    with pytest.raises(InvalidArguments, match="already"):
        prompt_propose(agent, "Voice", "Again.", "Loud.")


def test_an_agent_is_told_to_tell_the_person_when_it_changes_who_it_is(root: Path) -> None:
    from crabmem.text.templates import template

    assert "When I change it, or propose to, I tell\nthem what and why." in template("identity")
    with Memory(root, agent="coder", soul_editable=True) as memory:
        [soul] = [tool for tool in memory.tools if tool.name == "soul"]
        assert "Tell the person when you do." in soul.description and "`soul`" in memory.prompt()


PROFILE = """
about = "a family that proposes"
tools = ["harness.prompt_propose"]
layout = { identity = "self/IDENTITY.md", memory = "" , entries = ["facts"], notes = "", overview = "CONTEXT.md" }

[kinds.group]
hides = ["self/IDENTITY.md"]

[[part]]
file = "{identity}"
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """The file of a profile whose identity is called otherwise, and which has nothing but prompt_propose."""
    file = tmp_path / "family.toml"
    file.write_text(PROFILE)
    return file


def test_a_profile_that_names_the_tool_proposes_for_the_identity_of_its_layout(tmp_path: Path, family: Path) -> None:
    root = tmp_path / "theirs"
    (root / "self").mkdir(parents=True)
    (root / "self" / "IDENTITY.md").write_text(TEXT)
    with Memory(root, agent="ox", profile=str(family)) as memory:
        assert [tool.name for tool in memory.tools] == ["prompt_propose"]
        arguments = {"section": "Voice", "reason": "Ann cannot hear me.", "proposal": "Louder."}
        result = memory.call("prompt_propose", arguments)
        [waiting] = proposals.proposals(memory)
    assert result.text.startswith(f"self/IDENTITY.md is as it was: this is proposal {waiting.id[:8]} now")
    assert (waiting.path, waiting.text) == ("self/IDENTITY.md", LOUDER)
    assert (root / "self" / "IDENTITY.md").read_text() == TEXT
    with Memory(root, is_person=True, profile=str(family)) as person:
        proposals.apply_proposal(person, waiting.id)
    assert (root / "self" / "IDENTITY.md").read_text() == LOUDER
    assert_clean(root)


@pytest.mark.parametrize("section", ["", "a\nb"])
def test_a_tool_that_is_called_badly_proposes_nothing(tmp_path: Path, family: Path, section: str) -> None:
    with Memory(tmp_path / "theirs", agent="ox", profile=str(family)) as memory:
        for arguments in (
            {"section": section, "reason": "r", "proposal": "p"},
            {"section": "Voice", "reason": "r", "proposal": " \n"},
            {"section": "Voice", "proposal": "p"},
        ):
            assert memory.call("prompt_propose", arguments).text.startswith("invalid arguments: ")
    assert not (tmp_path / "theirs").exists()


def test_a_session_that_does_not_see_the_identity_proposes_nothing_and_sees_nothing_proposed(
    tmp_path: Path, family: Path
) -> None:
    with Memory(tmp_path / "theirs", agent="ox", profile=str(family), kind="group") as memory:
        with pytest.raises(Disabled, match="not for sessions of the kind group"):
            proposals.propose_identity(memory, LOUDER)
        assert proposals.proposals(memory) == []
