"""Taking back what somebody did: later work stays, nothing is guessed, and everything can be brought back."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crabmem import Conflicting, Disabled, InvalidArguments, Memory, NotFound
from crabmem.errors import CrabmemError
from crabmem.git.history import History
from crabmem.results import json_of
from crabmem.workspace.workspace import Workspace
from tests.conftest import ANN, assert_clean, git
from tests.examples import examples

NOTE = "memory/entries/luna.md"
VOICES = (("coder", "s-1"), ("coder", "s-2"), ("planner", "s-3"), (None, None))
STEPS = st.tuples(
    st.sampled_from(VOICES),
    st.sampled_from(["remember", "remember", "remember", "forget", "overview"]),
    st.sampled_from(["Luna", "Mars", "Vet"]),
    st.lists(st.sampled_from(["one", "two", "three", "four", "five"]), min_size=1, max_size=4, unique=True),
)
HISTORIES = st.lists(STEPS, min_size=1, max_size=7)
FEW = settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
Step = tuple[tuple[str | None, str | None], str, str, list[str]]


@contextmanager
def lived(history: list[Step]) -> Iterator[Memory]:
    """The memory of a person after all of that happened."""
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "notes", is_person=True) as memory:
        memory.init()
        for voice, act, name, words in history:
            happen(memory, voice, act, name, "\n".join(words))
        yield memory


def happen(memory: Memory, voice: tuple[str | None, str | None], act: str, name: str, text: str) -> None:
    """One step: of an agent, or of the person in an editor."""
    if voice == (None, None):
        path = "memory/MEMORY.md" if act == "overview" else f"memory/entries/{name.lower()}.md"
        file = memory.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if act == "forget":
            file.unlink(missing_ok=True)
        else:
            file.write_text(f"---\nname: {name}\nby: hand\n---\n\n{text}\n")
        memory.adopt()
        return
    with Memory(memory.root, agent=voice[0], session=voice[1]) as agent:
        if act == "overview":
            agent.write_overview(text)
        elif act == "remember":
            agent.remember(name, f"about {name}", text, tags=text.split())
        elif any(entry.name == name for entry in agent.entries()):
            agent.forget(name)


def tree(memory: Memory, revision: str = "HEAD") -> str:
    return git(memory.root, "rev-parse", f"{revision}^{{tree}}").strip()


@FEW
@given(HISTORIES, st.data())
def test_rollback_to_any_commit_gives_exactly_its_tree(history: list[Step], data: st.DataObject) -> None:
    with lived(history) as memory:
        commit = data.draw(st.sampled_from(memory.log())).commit
        memory.rollback(commit, even_if_many=True)
        assert tree(memory) == tree(memory, commit)
        assert_clean(memory.root)


@FEW
@given(HISTORIES, st.sampled_from(["s-1", "s-2", "s-3"]), st.sampled_from([None, "ours", "theirs"]))
def test_reverting_a_session_and_then_the_revert_gives_the_tree_there_was(
    history: list[Step], session: str, take: str | None
) -> None:
    with lived(history) as memory:
        before, head = tree(memory), memory.log(1)[0].commit
        try:
            done = memory.revert(session=session, take=take, even_if_many=True)  # type: ignore[arg-type]
        except (NotFound, Conflicting) as error:
            assert (tree(memory), memory.log(1)[0].commit) == (before, head)
            assert isinstance(error, NotFound) or (error.conflicts and take is None)
            return
        if done.commit:
            assert memory.revert(done.commit, even_if_many=True).commit
            assert memory.log(1)[0].reverts == (done.commit,)
        assert tree(memory) == before
        assert_clean(memory.root)


@FEW
@given(HISTORIES)
def test_reverting_everything_gives_the_first_tree_at_once_or_newest_first(history: list[Step]) -> None:
    with lived(history) as memory:
        commits = [commit.commit for commit in memory.log()]
        assume(len(commits) > 1)
        head = tree(memory)
        memory.revert(commits[:-1][::-1], even_if_many=True)
        assert tree(memory) == tree(memory, commits[-1])
        memory.rollback(commits[0], even_if_many=True)
        for commit in commits[:-1]:
            memory.revert(commit, even_if_many=True)
        assert tree(memory) == tree(memory, commits[-1])
        assert tree(memory, commits[0]) == head


@FEW
@given(HISTORIES, STEPS)
def test_one_voice_reverted_leaves_files_that_only_others_touched(history: list[Step], last: Step) -> None:
    with lived([*history, last]) as memory:
        theirs = {path for commit in memory.log() if commit.agent == "coder" for path in commit.paths}
        assume(theirs)
        before = {entry.path: entry for entry in memory.entries()}
        memory.revert(agent="coder", take="theirs", even_if_many=True)
        after = {entry.path: entry for entry in memory.entries()}
        assert {path: entry for path, entry in before.items() if path not in theirs} == {
            path: entry for path, entry in after.items() if path not in theirs
        }


@pytest.fixture
def spoken(memory: Memory) -> Memory:
    """A fact that one session wrote, another one changed, and the person added to."""
    memory.remember("Luna", "the dog", "Vet: Dr. Moreno\nFood: dry\nBorn: 2019", tags=["pets"])
    with Memory(memory.root, agent="planner", session="s-2") as planner:
        planner.remember("Luna", "the dog", "Vet: Dr. No\nFood: dry\nBorn: 2019", tags=["pets", "spam"])
        planner.remember("Lottery", "how to win", "Send money.")
    file = memory.root / NOTE
    file.write_text(file.read_text().replace("Born: 2019", "Born: 2018\nLikes: tennis balls"))
    memory.adopt()
    return memory


def test_what_was_done_later_to_other_lines_stays(spoken: Memory) -> None:
    done = spoken.revert(session="s-2")
    assert spoken.get("Luna").content == "Vet: Dr. Moreno\nFood: dry\nBorn: 2018\nLikes: tennis balls"
    assert spoken.get("Luna").tags == ("pets",)
    assert done.paths == ("memory/entries/lottery.md", NOTE)
    commit = spoken.log(1)[0]
    assert commit.commit == done.commit
    assert commit.subject == "revert: session s-2 (2 commits)"
    assert commit.reverts == tuple(each.commit for each in done.commits)
    assert (commit.tool, commit.agent) == ("revert", "coder")


def test_where_the_same_lines_were_changed_nothing_is_written_until_somebody_decides(spoken: Memory) -> None:
    spoken.remember("Luna", "the dog", "Vet: Dr. Who\nFood: dry\nBorn: 2018")
    before, head = (spoken.root / NOTE).read_bytes(), spoken.log(1)[0].commit
    with pytest.raises(
        Conflicting, match=r"1 place was changed since, in memory/entries/luna\.md, .*take=.ours."
    ) as caught:
        spoken.revert(session="s-2")
    assert caught.value.text({'take="ours"': "--ours"}).endswith("; --ours keeps what is there now")
    assert caught.value.text().endswith("so nothing was taken back")
    [conflict] = caught.value.conflicts
    assert (conflict.path, conflict.ours, conflict.theirs) == (NOTE, "Vet: Dr. Who", "Vet: Dr. Moreno")
    assert ((spoken.root / NOTE).read_bytes(), spoken.log(1)[0].commit) == (before, head)
    spoken.revert(session="s-2", take="ours")
    assert spoken.get("Luna").content == "Vet: Dr. Who\nFood: dry\nBorn: 2018"
    assert spoken.get("Luna").tags == ("pets",)
    spoken.undo()
    spoken.revert(session="s-2", take="theirs")
    assert spoken.get("Luna").content == "Vet: Dr. Moreno\nFood: dry\nBorn: 2018"


def test_what_ours_kept_can_still_be_taken_back_with_theirs(spoken: Memory) -> None:
    spoken.remember("Luna", "the dog", "Vet: Dr. Who\nFood: dry\nBorn: 2018")
    change, lottery = (commit.commit for commit in spoken.log() if commit.agent == "planner")
    change, lottery = (lottery, change) if spoken.log(1, "Lottery")[0].commit == change else (change, lottery)
    done = spoken.revert(session="s-2", take="ours")
    assert [commit.commit for commit in done.in_part] == [change]
    assert spoken.log(1)[0].reverts == (lottery,)  # of the other, something is still there
    with pytest.raises(Conflicting):
        spoken.revert(session="s-2")
    again = spoken.revert(session="s-2", take="ours")
    assert (again.commit, again.paths) == (None, ())
    done = spoken.revert(session="s-2", take="theirs")
    assert ([commit.commit for commit in done.commits], done.in_part) == ([change], ())
    assert spoken.get("Luna").content == "Vet: Dr. Moreno\nFood: dry\nBorn: 2018"
    assert spoken.revert(session="s-2", take="theirs").commits == ()


def test_a_dry_run_tells_the_diff_and_writes_nothing(spoken: Memory) -> None:
    head = spoken.log(1)[0].commit
    told = spoken.revert(session="s-2", dry_run=True)
    assert (told.commit, spoken.log(1)[0].commit) == (None, head)
    done = spoken.revert(session="s-2")
    assert (done.paths, done.diff) == (told.paths, told.diff) and "-Vet: Dr. No\n" in done.diff


def test_a_session_is_not_taken_back_twice_unless_the_revert_was(spoken: Memory) -> None:
    done = spoken.revert(session="s-2")
    spoken.remember("Lottery", "what it is", "Never mind it.")
    again = spoken.revert(session="s-2")
    assert (again.commit, again.commits) == (None, ())
    spoken.forget("Lottery")
    spoken.revert(done.commit or "")
    assert len(spoken.revert(session="s-2").commits) == 2


@pytest.mark.parametrize("back", ["undo", "rollback"])
def test_what_a_revert_took_back_and_somebody_brought_back_can_be_taken_back_again(spoken: Memory, back: str) -> None:
    head = spoken.log(1)[0].commit
    spoken.revert(session="s-2")
    spoken.undo() if back == "undo" else spoken.rollback(head)
    assert len(spoken.revert(session="s-2").commits) == 2
    assert "Lottery" not in [entry.name for entry in spoken.entries()]


def test_what_a_rollback_went_back_behind_is_not_taken_back_again(spoken: Memory) -> None:
    spoken.rollback(spoken.log()[-2].commit)
    spoken.remember("Lottery", "what it is", "Never mind it.")
    assert spoken.revert(session="s-2").commits == ()
    spoken.rollback("HEAD~2")
    assert len(spoken.revert(session="s-2").commits) == 2


def test_an_agent_that_reverts_itself_twice_does_not_bring_its_work_back(memory: Memory) -> None:
    memory.remember("Luna", "the dog", "x")
    memory.revert(agent="coder")
    assert memory.revert(agent="coder").paths == ()
    assert memory.entries() == []


def test_since_a_moment_only_what_came_after_is_taken_back(spoken: Memory) -> None:
    first = next(commit for commit in spoken.log()[::-1] if commit.agent == "planner")
    done = spoken.revert(agent="planner", since=first.commit)
    assert [commit.subject for commit in done.commits] == ["remember: Lottery"]
    assert spoken.get("Luna").content.startswith("Vet: Dr. No")
    assert len(spoken.revert(agent="planner", since="2020-01-01").commits) == 1


def test_a_deleted_fact_comes_back_unless_another_took_its_place(memory: Memory) -> None:
    memory.remember("Luna", "the dog", "x")
    gone = memory.forget("Luna").commit or ""
    memory.revert(gone)
    assert memory.get("Luna").content == "x"
    assert memory.log(1)[0].subject == "revert: forget: Luna"
    memory.remember("Luna", "the moon", "y")
    with pytest.raises(Conflicting):
        memory.revert(gone)
    memory.revert(gone, take="theirs")
    assert memory.get("Luna").content == "x"


def test_of_a_merge_what_it_brought_in_is_taken_back(memory: Memory) -> None:
    memory.remember("Luna", "the dog", "x")
    git(memory.root, "checkout", "-qb", "laptop")
    memory.remember("Mars", "a planet", "red")
    git(memory.root, "checkout", "-q", "main")
    memory.remember("Vet", "who", "Dr. Moreno")
    git(memory.root, *ANN, "merge", "-q", "--no-edit", "laptop")
    memory.revert("HEAD")
    assert [entry.name for entry in memory.entries()] == ["Luna", "Vet"]


def test_an_agent_may_not_revert_the_identity_or_the_settings(memory: Memory) -> None:
    memory.init()
    (memory.root / "Crab.md").write_text("# Mine\n")
    edit = memory.adopt()
    assert edit
    for agent in ("coder", None):  # who does not say that it is a person is an agent
        with Memory(memory.root, agent=agent) as other, pytest.raises(Disabled, match=r"Crab\.md, which an agent may"):
            other.revert(edit.commit)
    with Memory(memory.root, is_person=True) as person:
        person.revert(edit.commit)
        assert person.log(1)[0].author == "person"


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, InvalidArguments, "name either the commits"),
        ({"commits": "HEAD", "agent": "coder"}, InvalidArguments, "name either the commits"),
        ({"commits": "HEAD", "since": "HEAD~1"}, InvalidArguments, "`since` goes with"),
        ({"session": "s-9"}, NotFound, "no commit of session s-9; `crabmem log`"),
        ({"agent": "coder", "since": "HEAD"}, NotFound, "no commit of agent coder since HEAD"),
        ({"commits": "HEAD~99"}, NotFound, "no revision named HEAD~99"),
        ({"commits": "HEAD", "take": "mine"}, InvalidArguments, "'ours' or 'theirs', not 'mine'"),
    ],
)
def test_what_cannot_be_reverted_is_refused(
    spoken: Memory, given: dict[str, str], error: type[CrabmemError], words: str
) -> None:
    with pytest.raises(error, match=words):
        spoken.revert(**given)  # type: ignore[arg-type]


def test_a_commit_of_another_branch_is_not_taken_back(spoken: Memory) -> None:
    there = spoken.log(1)[0].commit
    git(spoken.root, "branch", "side")
    git(spoken.root, "reset", "-q", "--hard", "HEAD~1")
    with pytest.raises(NotFound, match="is not in the history of this memory"):
        spoken.revert([there, "HEAD"])


def test_a_persons_later_line_breaks_and_own_keys_stay(spoken: Memory) -> None:
    file = spoken.root / NOTE
    text = file.read_text().replace("name: Luna\n", "name: Luna\n# mine\nmood: good\n")
    file.write_bytes(text.replace("\n", "\r\n").encode())
    spoken.revert(session="s-2")
    now = file.read_bytes()
    assert b"\r\n# mine\r\nmood: good\r\n" in now and now.count(b"\n") == now.count(b"\r\n")
    assert spoken.get("Luna").content == "Vet: Dr. Moreno\nFood: dry\nBorn: 2018\nLikes: tennis balls"


def test_one_entry_rolls_back_alone(spoken: Memory) -> None:
    then = spoken.log()[-2].commit
    spoken.remember("Mars", "a planet", "red")
    done = spoken.rollback(then, "Luna")
    assert done.paths == (NOTE,)
    assert spoken.get("Luna").content.startswith("Vet: Dr. Moreno")
    assert spoken.get("Mars") and spoken.get("Lottery")
    assert spoken.log(1)[0].subject == f"rollback: Luna to {then[:8]}"
    spoken.forget("Luna")
    assert spoken.rollback(then, "luna", dry_run=True).paths == (NOTE,)
    assert NOTE not in [entry.path for entry in spoken.entries()]
    with pytest.raises(NotFound, match=r"no memory/entries/mars.md at"):
        spoken.rollback(then, "Mars")


def test_the_changes_of_a_commit_are_those_git_tells(spoken: Memory) -> None:
    (spoken.root / "memory/entries/deep").mkdir()
    for path in ("memory/entries/deep/er.md", "memory/entries.md", "top.md"):
        (spoken.root / path).write_text("x")
    spoken.adopt()
    spoken.forget("Lottery")
    history = History(Workspace(spoken.root))
    for commit in spoken.log():
        raw = git(spoken.root, "diff-tree", "-r", "--root", "--no-commit-id", commit.commit).splitlines()
        rows = [(line.split("\t")[1], line.split()[2:4]) for line in raw]
        expected = {path: tuple(None if set(oid) == {"0"} else oid for oid in oids) for path, oids in rows}
        assert {path: (before, after) for path, before, after in history.changes.of(commit.commit)} == expected
    history.close()


def test_of_facts_that_went_in_one_commit_each_has_its_own_history_and_comes_back_itself(memory: Memory) -> None:
    names = ["Alpha", "Beta", "Gamma"]
    for name in names:
        memory.remember(name, f"what {name} is", f"{name} text.")
    for name in names[:2]:
        (memory.root / f"memory/entries/{name.lower()}.md").unlink()
    memory.adopt()
    assert [each.subject for each in memory.log(name="Beta")] == ["edit: Alpha, Beta", "remember: Beta"]
    assert memory.rollback("HEAD~1", "Beta").paths == ("memory/entries/beta.md",)


def test_what_an_agent_takes_back_and_has_to_wait_is_in_the_answer(spoken: Memory) -> None:
    (spoken.root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    spoken.adopt()
    with Memory(spoken.root, agent="planner", session="s-3") as planner:
        done = (planner.revert(session="s-2"), planner.rollback(spoken.log()[-2].commit, "Luna"))
    for each in done:
        assert each.commit is None and each.proposal is not None
        assert json_of(each)["proposal"] == each.proposal.id
    assert spoken.get("Lottery") and "tennis balls" in spoken.get("Luna").content
