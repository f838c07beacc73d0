"""Memory as it was: recalling as of a moment is recalling in a workspace that holds the files of that moment."""

import os
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory, NotFound, Recall
from crabmem.git.history import History
from crabmem.recall import past_entries
from tests.conftest import allow, git, typed
from tests.embedding import Own, saved_model
from tests.examples import examples

KEPT = ".git/crabmem/index/past"
WORDS = ("luna", "vet", "walks", "walked", "harbour", "deploy key", "2026-03-01", "Thursday", "wifi_password")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
NAMES = st.sampled_from(("Luna", "Deploy key", "2026-02-20 standup", "Harbour", "Vet"))
SETTINGS = st.sampled_from(("", 'language = "none"\n', "recency = 0.5\nrecall_limit = 2\n"))
BROKEN = st.sampled_from((b"\xff\xfe", b"", b"---\nname: Whole\n---\n\nvet luna\n", b"no header, walks"))
STEPS = st.one_of(
    st.tuples(st.just("remember"), NAMES, TEXTS),
    st.tuples(st.just("forget"), NAMES, st.just("")),
    st.tuples(st.just("settings"), SETTINGS, st.just("")),
    st.tuples(st.just("file"), BROKEN, st.just("")),
    st.tuples(st.just("overview"), TEXTS, st.just("")),
)


def take(memory: Memory, step: tuple[str, Any, str]) -> None:
    """One step of a random history."""
    what, given, text = step
    if what == "remember":
        memory.remember(given, text[:20], text, tags=text.split()[:1])
    elif what == "forget" and given in [entry.name for entry in memory.entries()]:
        memory.forget(given)
    elif what == "overview":
        memory.write_overview(given)
    elif what == "settings":
        memory.file("crabmem.toml").write_text(given)
        memory.adopt()
    elif what == "file":
        memory.file("memory/entries").mkdir(parents=True, exist_ok=True)
        memory.file("memory/entries/odd.md").write_bytes(given)
        memory.adopt()


def checked_out(root: Path, commit: str, folder: Path) -> Path:
    """The files of a commit in a folder of their own."""
    folder.mkdir()
    files = subprocess.run(["git", "-C", root, "archive", commit], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=files, check=True)
    return folder


def shown(found: Recall) -> tuple[Any, ...]:
    """All that recall says, but not of which moment."""
    hits = [(hit.entry, hit.score, hit.passage, hit.matches) for hit in found]
    return hits, found.searched, found.unreadable, found.left_out, found.unsaid, found.has_words


QUESTIONS: list[dict[str, Any]] = [
    {"query": "luna walk"},
    {"query": "harb* thursday", "limit": 1},
    {"query": '"luna vet" harbour', "explain": True},
    {"query": "password deploy", "budget": 60},
    {"query": "vet", "tags": ["luna"]},
]


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=3, max_size=10), st.data())
def test_recall_as_of_a_commit_is_recall_in_a_workspace_of_its_files(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any, str]], data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("story")
    with Memory(root / "notes", agent="coder") as memory:
        memory.init()
        for step in steps:
            take(memory, step)
        memory.file("crabmem.toml").write_text("")
        commits = [commit.commit for commit in memory.log()]
        for number, commit in enumerate(data.draw(st.permutations(commits))[:3]):
            folder = checked_out(memory.root, commit, root / str(number))
            with Memory(memory.root) as later, Memory(folder) as own:
                for question in QUESTIONS:
                    expected = shown(own.recall(**question))
                    assert shown(memory.recall(**question, as_of=commit)) == expected
                    assert shown(later.recall(**question, as_of=commit)) == expected
                assert later.entries(commit) == own.entries()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The blobs that were read from the history."""
    heard, blob = list[str](), History.blob

    def counting(self: History, oid: str) -> bytes:
        heard.append(oid)
        return blob(self, oid)

    monkeypatch.setattr(History, "blob", counting)
    return heard


def kept(root: Path) -> list[str]:
    folder = root / KEPT
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_the_answer_is_the_one_of_then_and_says_so(story: Path) -> None:
    with Memory(story) as memory:
        then = memory.recall("where is the deploy key", as_of="2026-02-05")
        assert then[0].entry.content == "Posted in the team chat."
        assert memory.recall("where is the deploy key")[0].entry.content.startswith("In the vault")
        assert then.as_of and then.note == f"as memory was at {then.as_of[:8]}"
        assert memory.recall("deploy").as_of is None


def test_before_the_history_there_is_no_answer(story: Path) -> None:
    with Memory(story) as memory:
        with pytest.raises(NotFound, match="the history begins after 1999-01-01 23:59"):
            memory.recall("deploy key", as_of="1999-01-01")
        with pytest.raises(NotFound, match="no revision named nowhere"):
            memory.recall("deploy key", as_of="nowhere")
        for ask in (
            partial(memory.recall, "deploy", as_of=" "),
            partial(memory.prompt, ""),
            partial(memory.bisect, bool, ""),
        ):
            with pytest.raises(NotFound, match="no revision named"):
                ask()
        first = memory.log()[-1].commit
        assert memory.recall("deploy key", as_of=first).note.startswith("this memory is empty")


def test_where_the_settings_of_then_cannot_be_read_the_usual_ones_hold(story: Path) -> None:
    with Memory(story) as memory:
        settings = memory.file("crabmem.toml").read_text()
        memory.file("crabmem.toml").write_text("recall_limit = what")
        git(story, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qam", "wrong")
        memory.file("crabmem.toml").write_text(settings)
        assert (
            len(memory.recall("deploy key staging host release day code invoices goals suppliers", as_of="HEAD")) == 5
        )


def test_a_file_that_is_too_large_to_be_read_today_was_so_then(tmp_path: Path) -> None:
    mine = ("-c", "user.name=x", "-c", "user.email=x")
    with Memory(tmp_path, agent="coder") as memory:
        memory.remember("Luna", "dog", "A puppy.")
        (tmp_path / "memory/entries/large.md").write_text("luna " * 1_100_000)
        git(tmp_path, "add", "-A")
        git(tmp_path, *mine, "commit", "-qm", "large")
        assert shown(memory.recall("luna", as_of="HEAD")) == shown(memory.recall("luna"))
        assert memory.recall("luna", as_of="HEAD").unreadable == 1


def test_threads_may_ask_about_all_moments_at_once(story: Path) -> None:
    with Memory(story, agent="coder") as memory:
        moments = [f"HEAD~{steps}" for steps in (0, 7, 20, 33, 46, 7, 20, 0)] * 3
        expected = {when: shown(memory.recall("deploy key", as_of=when)) for when in moments[:5]}
    with Memory(story, agent="coder") as memory, ThreadPoolExecutor(8) as threads:
        writing = threads.submit(lambda: [memory.recall(f"host {number}") for number in range(20)])
        answers = threads.map(lambda when: (when, shown(memory.recall("deploy key", as_of=when))), moments)
        assert all(answer == expected[when] for when, answer in answers)
        assert writing.result()[-1].searched == 25


def test_since_and_until_count_up_to_then(story: Path) -> None:
    with Memory(story) as memory:

        def names(**given: Any) -> list[str]:
            return sorted(hit.entry.name for hit in memory.recall("release newsletter code", **given))

        assert names(as_of="2026-02-08") == ["Code style", "Marketing mail", "Release day"]
        assert names(as_of="2026-02-08", since="2026-01-24") == ["Marketing mail", "Release day"]
        assert names(as_of="2026-02-08", until="2026-01-20") == ["Code style"]
        # What came after that moment was not known then.
        assert names(as_of="2026-02-08", since="HEAD") == []
        assert names(as_of="2026-02-08", until="HEAD") == names(as_of="2026-02-08")


def test_the_second_question_about_a_moment_reads_no_more_than_its_answer(story: Path, read: list[str]) -> None:
    with Memory(story) as memory:
        memory.recall("deploy key", as_of="HEAD~30")
        read.clear()
        memory.recall("staging host", limit=1, as_of="HEAD~30")
        assert len(read) <= 2  # the settings, and the answer
    with Memory(story) as memory:
        read.clear()
        memory.recall("deploy key", limit=1, as_of="HEAD~30")
        assert len(read) <= 2


def test_only_what_differs_from_what_is_known_is_read(story: Path, read: list[str]) -> None:
    with Memory(story) as memory:
        memory.recall("deploy key")
        memory.recall("zebra", as_of="HEAD~3")
        assert len(read) <= 5


def test_commits_that_changed_no_entry_are_one_moment(story: Path) -> None:
    with Memory(story, agent="coder") as memory:
        before = memory.log(1)[0].commit
        memory.write_overview("# Other")
        memory.recall("deploy key", as_of="HEAD")
        memory.recall("deploy key", as_of=before)
        assert len(kept(story)) == 1


def test_so_many_moments_are_kept_and_those_asked_for_of_late(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_entries, "MOST", 3)
    with Memory(story) as memory:
        commits = [commit.commit for commit in memory.log() if commit.tool == "remember"][:6]
    ask(story, commits[:3])
    for name in kept(story):  # in one tick of a slow clock, which was put back afterwards
        os.utime(story / KEPT / name, ns=(1 << 61, 1 << 61))
    ask(story, (commits[0], *commits[3:5]))
    folders = [git(story, "rev-parse", f"{commit}:memory/entries").strip() for commit in commits]
    assert {name.partition("-")[0] for name in kept(story)} == {folders[at] for at in (0, 3, 4)}


def ask(root: Path, commits: Iterable[str]) -> None:
    """Each moment is asked for by a memory of its own."""
    for commit in commits:
        with Memory(root) as memory:
            memory.recall("deploy key", as_of=commit)


def test_they_take_no_more_room_than_they_may(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_entries, "MOST_BYTES", 1)
    with Memory(story) as memory:
        for commit in memory.log(5):
            memory.recall("deploy key", as_of=commit.commit)
    assert len(kept(story)) == 1


@pytest.mark.parametrize("name", ["base", "later"])
def test_what_was_damaged_on_disk_is_made_anew(story: Path, name: str) -> None:
    with Memory(story) as memory:
        expected = shown(memory.recall("deploy key", as_of="HEAD~20"))
    file = story / ".git/crabmem/index/past" / kept(story)[0] / name
    for damage in (b"", file.read_bytes()[:-1], b"x" + file.read_bytes()[1:]):
        file.write_bytes(damage)
        with Memory(story) as memory:
            assert shown(memory.recall("deploy key", as_of="HEAD~20")) == expected
            assert file.read_bytes() != damage


def test_the_index_of_another_moment_in_its_place_is_not_believed(story: Path) -> None:
    with Memory(story) as memory:
        expected = [shown(memory.recall("deploy key", as_of=when)) for when in ("HEAD~20", "HEAD~40")]
    past = story / ".git/crabmem/index/past"
    one, other = (past / name for name in kept(story))
    one.rename(past / "aside")
    other.rename(one)
    (past / "aside").rename(other)
    with Memory(story) as memory:
        assert [shown(memory.recall("deploy key", as_of=when)) for when in ("HEAD~20", "HEAD~40")] == expected


def test_what_a_link_leads_to_is_left_alone(story: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (story / ".git/crabmem/index").mkdir(exist_ok=True)
    (story / ".git/crabmem/index/past").symlink_to(tmp_path / "elsewhere")
    with Memory(story) as memory:
        assert memory.recall("deploy key", as_of="HEAD~20")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_asking_about_the_past_leaves_files_and_head_as_they_were(story: Path) -> None:
    def look() -> list[str]:
        return [git(story, *words) for words in (("status", "--porcelain"), ("rev-parse", "HEAD"), ("show-ref",))]

    before, times = look(), {file: file.stat().st_mtime_ns for file in story.rglob("*.md")}
    with Memory(story) as memory:
        memory.recall("deploy key", as_of="HEAD~20")
        memory.prompt("HEAD~20")
    assert look() == before
    assert {file: file.stat().st_mtime_ns for file in story.rglob("*.md")} == times


def test_recall_of_today_goes_on_after_a_look_at_the_past(story: Path) -> None:
    with Memory(story, agent="coder") as memory, Memory(story) as other:
        before = shown(memory.recall("deploy key"))
        memory.recall("deploy key", as_of="HEAD~20")
        assert shown(memory.recall("deploy key")) == before
        memory.remember("Deploy key two", "another deploy key", "Under the mat.")
        memory.recall("deploy key", as_of="HEAD~1")
        assert shown(memory.recall("deploy key")) == shown(other.recall("deploy key")) != before


# The prompt


def test_the_prompt_has_identity_and_overview_of_then_and_the_tools_of_today(story: Path) -> None:
    with Memory(story, agent="coder") as memory:
        then, now = memory.prompt("2026-02-14"), memory.prompt()
        assert "Releases: Fridays." in then and "Releases: Fridays." not in now
        memory.write_overview("# Overview\n\nNothing else.")
        assert memory.prompt("HEAD~1") == now != memory.prompt() == memory.prompt("HEAD")
        assert then.endswith(now[now.index("`remember`") :])
        assert memory.identity("HEAD~5").version == memory.identity().version


def test_an_agents_own_workspace_shows_what_its_parent_said_then(tmp_path: Path) -> None:
    day = "2026-01-0{}T12:00:00Z"
    own = tmp_path / "agents" / "helper"
    with Memory(tmp_path) as parent, Memory(own, is_person=True) as helper:
        for number in (1, 3, 5):
            parent.init()
            parent.file("memory").mkdir(exist_ok=True)
            parent.file("memory/MEMORY.md").write_text(f"# Day {number}\n")
            git(tmp_path, "add", "-A", ":!agents")
            git(tmp_path, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x", when=day.format(number))
        helper.remember("One", "d", "c")
        tree = git(own, "rev-parse", "HEAD^{tree}").strip()
        mail = ("-c", "user.name=x", "-c", "user.email=x")
        for number in (2, 4):
            git(own, *mail, "commit-tree", tree, "-m", "x", when=day.format(number))
        old = git(own, *mail, "commit-tree", tree, "-m", "old", when=day.format(4)).strip()
        assert helper.overview(old).text == "# Day 3\n"
        assert helper.overview(old).version is None
        assert helper.overview().text == "# Day 5\n"


# Meaning


def test_meaning_counts_in_the_past_too_and_vectors_of_today_stay(tmp_path: Path) -> None:
    with Memory(tmp_path, is_person=True, embedder=Own()) as memory:
        memory.remember("Luna", "the animal", "A puppy.")
        memory.remember("Cellar", "noise", "The boiler.")
        memory.forget("Luna")
        memory.recall("heating")
    later = Own()
    with Memory(tmp_path, embedder=later) as memory:
        assert [hit.entry.name for hit in memory.recall("dog", as_of="HEAD~1")] == ["Luna"]
        assert [text for text in later.asked if "Cellar" in text] == []
    last = Own()
    with Memory(tmp_path, embedder=last) as memory:
        assert [hit.entry.name for hit in memory.recall("heating")] == ["Cellar"]
        assert [hit.entry.name for hit in memory.recall("dog", as_of="HEAD~1")] == ["Luna"]
        assert [text for text in last.asked if "Cellar" in text or "Luna" in text] == []


def test_whom_the_settings_do_not_name_any_more_is_not_asked_about_the_past(tmp_path: Path) -> None:
    model = saved_model(tmp_path / "model")
    with Memory(tmp_path / "notes", is_person=True) as memory:
        memory.init()
        memory.file("crabmem.toml").write_text(f'[vectors]\nmodel = "{model}"\n')
        allow(memory.root)
        memory.remember("Luna", "the animal", "A puppy.")
        assert [hit.entry.name for hit in memory.recall("dog", as_of="HEAD")] == ["Luna"]
        memory.file("crabmem.toml").write_text("")
        found = memory.recall("dog", as_of="HEAD")
        assert not found.hits and "by words alone: the settings name another model than then" in found.note


# The faces


@pytest.fixture
def run(story: Path) -> Callable[..., str]:
    def ran(*words: str) -> str:
        done = typed("--dir", story, *words)
        assert done.exit_code == 0, done.output
        return done.stdout

    return ran


def test_the_command_line_looks_back(run: Callable[..., str]) -> None:
    assert "team chat" in run("recall", "deploy", "key", "--as-of", "2026-02-05")
    assert '"as_of": "' in run("recall", "deploy", "key", "--as-of", "2026-02-05", "--json")
    assert "as_of" not in run("recall", "deploy", "key", "--json")
    assert "Fridays" in run("prompt", "--as-of", "2026-02-14")
    assert "team chat" in run("show", "Deploy key", "--as-of", "2026-02-05")


def test_an_agent_may_ask_about_the_past(story: Path) -> None:
    with Memory(story, agent="coder") as memory:
        told = memory.call("recall", {"query": "deploy key", "as_of": "2026-02-05"})
        assert "Posted in the team chat." in told.text
        assert f" (as memory was at {told.data['as_of'][:8]})\n\n## Deploy key\n" in told.text
        wrong = memory.call("recall", {"query": "deploy key", "as_of": "the other day"})
        assert wrong.is_error and "no revision named the other day" in wrong.text
