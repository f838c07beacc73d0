"""Who wrote what, when a fact was known, what some time brought: told of the story, and of a memory of one's own."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem import Commit, InvalidArguments, Memory, NotFound
from crabmem.git.changes import Changes
from crabmem.git.history import History
from crabmem.operations import history as history_operations
from crabmem.operations.last_changed import last_changed
from crabmem.workspace.workspace import Workspace
from tests import story
from tests.conftest import ANN, git

MESSAGES = ["--format=%H"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story; nobody writes in it here."""
    root = tmp_path_factory.mktemp("story") / "notes"
    story.tell(root)
    return root


@pytest.fixture
def past(told: Path) -> Iterator[Memory]:
    with Memory(told) as memory:
        yield memory


def subjects(commits: list[Commit]) -> list[str]:
    return [commit.subject for commit in commits]


# Blame


def test_blame_names_commit_author_session_and_kind_of_each_line(past: Memory) -> None:
    first, last = past.blame("deploy key")[0], past.blame("deploy key")[-1]
    assert (first.number, first.text, first.author, first.tool, first.session) == (1, "---", "coder", "remember", "s-1")
    assert (last.number, last.text) == (6, "In the vault, under ops/deploy; ask Ann.")
    assert (last.author, last.agent, last.session, last.is_person, first.is_person) == ("Ann", None, None, True, False)
    assert last.commit == past.log(1, "Deploy key")[0].commit and last.time == past.log(1, "Deploy key")[0].time


def test_blame_agrees_with_git_on_every_file_of_the_story(past: Memory) -> None:
    for path in git(past.root, "ls-files", "memory/*.md", "Crab.md").splitlines():
        shown = [
            line.split(" ")[0].lstrip("^") for line in git(past.root, "blame", "-ls", "--root", "--", path).splitlines()
        ]
        name = path.rpartition("/")[2]
        assert [line.commit for line in past.blame(name if name[0].isupper() else name[:-3])] == shown


def test_line_that_is_not_recorded_yet_is_marked_so(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    file = memory.file("memory/entries/vet.md")
    file.write_text(file.read_text("utf-8") + "Only in the mornings.\n", "utf-8")
    *others, last = memory.blame("vet")
    memory.adopt()
    assert (last.text, last.commit, last.author, last.time, last.is_person) == (
        "Only in the mornings.", None, None, None, True,
    )  # fmt: skip
    assert {line.author for line in others} == {"coder"}


def test_blame_needs_no_history(tmp_path: Path) -> None:
    file = tmp_path / "memory/entries/vet.md"
    file.parent.mkdir(parents=True)
    file.write_text("one\r\ntwo", "utf-8")
    assert [(line.text, line.commit) for line in Memory(tmp_path).blame("vet")] == [("one", None), ("two", None)]
    with pytest.raises(NotFound, match=r"no memory/MEMORY\.md"):
        Memory(tmp_path).blame("MEMORY.md")


@pytest.mark.parametrize("name", ["\ud800", "a/b", "..", "\0", "x" * 5_000, "café "])
def test_no_name_is_too_odd_to_ask_for(past: Memory, name: str) -> None:
    for ask in (past.blame, past.log):
        with pytest.raises(NotFound, match="no fact called"):
            ask(name=name)
    assert not past.when(f"giraffe {name}").steps


@pytest.mark.parametrize("name", ["Office plants", "office-plants"])
def test_blame_of_a_forgotten_fact_names_the_commit_that_removed_it(past: Memory, name: str) -> None:
    gone = next(commit for commit in past.log() if commit.subject == "edit: Office plants")
    with pytest.raises(NotFound, match=f"removed in {gone.commit[:8]} .2026-03-01 12:00, Ann"):
        past.blame(name)


# Provenance


def test_hits_say_who_learned_and_changed_them_and_whether_a_person_ever_did(past: Memory) -> None:
    known = {hit.entry.name: hit.provenance for hit in past.recall("deploy key, carrier limits", limit=9, blame=True)}
    key, carrier = known["Deploy key"], known["Carrier limits"]
    assert key and key.learned and key.changed and carrier and carrier.learned
    assert (key.learned.author, key.changed.author, key.authors) == ("coder", "Ann", ("Ann", "planner", "coder"))
    assert (key.is_confirmed, key.is_recorded, carrier.is_confirmed) == (True, True, False)
    assert (carrier.learned, carrier.changed) == tuple(past.log(name="Carrier limits")[::-1])


def test_hits_say_nothing_of_it_when_nobody_asks(past: Memory) -> None:
    assert [hit.provenance for hit in past.recall("deploy key", limit=1)] == [None]


def test_what_was_forgotten_and_learned_again_begins_anew(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    memory.forget("Vet")
    saved = memory.remember("Vet", "who looks after the dog", "Dr. Fellini.")
    [hit] = memory.recall("vet", blame=True)
    assert hit.provenance and hit.provenance.learned and hit.provenance.learned.commit == saved.commit


def test_fact_in_a_file_that_was_renamed_keeps_where_it_comes_from(memory: Memory) -> None:
    saved = memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    memory.file("memory/entries/vet.md").rename(memory.file("memory/entries/doctor.md"))
    [hit] = memory.recall("vet", blame=True)
    assert hit.provenance and not hit.provenance.is_recorded and not hit.provenance.learned
    memory.adopt()
    [hit] = memory.recall("vet", blame=True)
    assert hit.provenance and hit.provenance.learned and hit.provenance.learned.commit == saved.commit
    assert {line.commit for line in memory.blame("vet")} == {saved.commit}


def test_a_fact_last_changed_when_git_and_its_provenance_say(past: Memory) -> None:
    changed = last_changed(past)
    hits = past.recall("the a of is key carrier deploy vet who what where when", limit=100, blame=True)
    assert {
        hit.entry.path: hit.provenance.changed.time for hit in hits if hit.provenance and hit.provenance.changed
    } == {hit.entry.path: changed[hit.entry.path] for hit in hits}
    written = {path: int(git(past.root, "log", "-1", "--format=%at", "--", path)) for path in changed}
    assert {path: int(time.timestamp()) for path, time in changed.items()} == written
    assert list(changed) == sorted(changed, key=lambda path: changed[path], reverse=True)


def test_a_checkout_and_a_branch_that_lost_change_no_fact(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    before = last_changed(memory)
    git(memory.root, "checkout", "-qb", "side")
    memory.file("memory/entries/vet.md").write_text("---\nname: Vet\n---\n\nDr. Fellini.\n")
    git(memory.root, *ANN, "commit", "-qam", "side", "--date=2041-01-01T00:00:00Z")
    assert last_changed(memory) != before
    git(memory.root, "checkout", "-q", "-")
    git(memory.root, *ANN, "merge", "-qs", "ours", "side", "-m", "ours")
    assert last_changed(memory) == before


@pytest.mark.parametrize(("is_person", "agent"), [(True, None), (False, None), (False, "coder"), (True, "coder")])
def test_a_person_is_who_writes_without_an_agent(tmp_path: Path, is_person: bool, agent: str | None) -> None:
    with Memory(tmp_path / "notes", agent=agent, is_person=is_person) as memory:
        memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
        newest, first = memory.log()
        assert (newest.is_person, first.is_person) == (is_person and not agent, False)


# When


def test_when_tells_how_a_text_came_changed_and_went(past: Memory) -> None:
    found = past.when("Needs docker")
    assert found.is_exact and found.now == ("Test database",)
    assert [(step.what, step.name, step.after) for step in found.steps] == [
        ("appeared", "Test database", ("Needs Docker.",))
    ]
    found = past.when("in the vault, under ops/deploy")
    assert [(step.what, step.commit.author) for step in found.steps] == [
        ("appeared", "coder"), ("vanished", "planner"), ("appeared", "Ann"),
    ]  # fmt: skip
    assert [(step.what, step.before, step.after) for step in past.when("percent").steps] == [
        ("appeared", (), ("Anybody, up to 50 percent.",)),
        ("changed", ("Anybody, up to 50 percent.",), ("Anybody, up to 70 percent.",)),
    ]


def test_when_goes_by_all_words_where_nothing_says_the_text(past: Memory) -> None:
    found = past.when("server port staging")
    assert not found.is_exact and {step.name for step in found.steps} == {"Staging host"}
    assert [step.what for step in found.steps] == ["appeared", "changed", "changed"]


def test_when_knows_what_a_person_wrote_that_is_not_recorded_yet(memory: Memory) -> None:
    memory.remember("Luna", "the dog", "one and two")
    memory.remember("Otto", "the cat", "one and three")
    file = memory.file("memory/entries/luna.md")
    file.write_text(file.read_text().replace("one", "otter"))
    memory.file("memory/2026-03-03.md").write_text("An otter at the dentist.\n")
    memory.file("memory/entries/otto.md").unlink()
    found = memory.when("otter")
    assert (found.steps, found.is_exact) == ((), True)
    assert set(found.now) == set(found.unrecorded) == {"Luna", "note of 2026-03-03"}
    assert memory.when("dentist otter").unrecorded == ("note of 2026-03-03",)
    gone = memory.when("one and")
    assert [step.what for step in gone.steps] == ["appeared", "appeared"] and gone.now == ()
    memory.adopt()


def test_when_knows_what_was_never_said(past: Memory) -> None:
    found = past.when("giraffe")
    assert (found.steps, found.now, found.is_exact) == ((), (), False)
    with pytest.raises(InvalidArguments, match="the text is empty"):
        past.when("  ")


def test_when_says_that_what_moved_is_still_known(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    memory.file("memory/entries/vet.md").rename(memory.file("memory/entries/doctor.md"))
    memory.adopt()
    found = memory.when("moreno")
    assert ([step.what for step in found.steps], found.now) == (["appeared"], ("Vet",))


def test_when_finds_the_commits_that_git_finds(past: Memory) -> None:
    for text in ("9443", "Fridays", "half up", "Docker"):
        by_git = git(past.root, "log", "-S", text, "--reverse", *MESSAGES, "--", "memory").split()
        found = past.when(text)
        assert [step.commit.commit for step in found.steps if step.what != "changed"] == by_git


# Log


def test_log_is_filtered_by_who_and_with_what(past: Memory) -> None:
    assert subjects(past.log(tool="forget", session="s-3")) == ["forget: Old importer"]
    assert {commit.agent for commit in past.log(agent="PLANNER")} == {"planner"}
    assert {commit.author for commit in past.log(author="ann")} == {"Ann"}
    assert past.log(tool="edit", author="ann") == past.log(author="Ann")
    assert past.log(agent="nobody") == []


def test_log_goes_from_a_moment_to_another(past: Memory) -> None:
    every = past.log()
    assert past.log(since=every[9].commit, until=every[4].commit) == every[4:9]
    assert past.log(since="2026-03-01", until="2026-03-05") == [
        commit for commit in every if "2026-03-01" <= commit.time.isoformat() < "2026-03-05"
    ]
    assert past.log(since="2020-01-01") == every
    assert past.log(3, "MEMORY.md", since="2026-02-01") == past.log(2, "memory/MEMORY.md")


def test_log_of_less_than_one_commit_is_refused(past: Memory) -> None:
    with pytest.raises(InvalidArguments, match="at least 1, not -1"):
        past.log(-1)


def test_commits_come_one_by_one(past: Memory) -> None:
    commits = history_operations.commits(past, author="ann", until="2026-03-05")
    assert next(commits).subject == "edit: Office plants"
    assert [*itertools.islice(commits, 1)] == past.log(3, author="ann")[2:]


def test_log_without_a_commit_leaves_out_what_that_stands_on(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("a", "b"):
        git(tmp_path, *ANN, "commit", "-q", "--allow-empty", "-m", name)
    git(tmp_path, "checkout", "-q", "-b", "side", "HEAD~1")
    git(tmp_path, *ANN, "commit", "-q", "--allow-empty", "-m", "c")
    git(tmp_path, *ANN, "merge", "-q", "-m", "d", "main")
    history = History(Workspace(tmp_path))
    main = git(tmp_path, "rev-parse", "main").strip()
    assert {commit.subject for commit in history.commits(without=main)} == {"c", "d"}
    assert len(list(history.commits())) == 4


# Digest


def test_digest_sorts_what_a_time_brought(past: Memory) -> None:
    found = past.digest("2026-02-10", "2026-02-26")
    names = [[news.name for news in part] for part in (found.learned, found.changed, found.dropped, found.passing)]
    assert names == [
        [
            "Cart rewrite",
            "Feature flags",
            "Holiday plan",
            "Log retention",
            "Return label",
            "Sales region",
            "Supplier terms",
        ],
        ["Discount rule", "MEMORY.md", "Partner list", "Quarter goals", "Queue worker", "Test database"],
        [],
        ["Meeting notes"],
    ]
    assert found.learned[2].authors == ("Ann",) and found.learned[2].description == "when Ann is away"
    assert list(found.commits) == past.log(since="2026-02-10", until="2026-02-26")
    assert {news.name for news in past.digest("2026-03-01").dropped} == {"Office plants", "Old importer"}


def test_digest_has_no_word_on_what_changed_back(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    begin = memory.log(1)[0].commit
    memory.remember("Vet", "who looks after the dog", "Dr. Fellini.")
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    found = memory.digest(begin)
    assert len(found.commits) == 2
    assert not (found.learned or found.changed or found.dropped or found.passing)


def test_digest_takes_a_fact_in_another_file_for_the_same(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    begin = memory.log(1)[0].commit
    file = memory.file("memory/entries/doctor.md")
    memory.file("memory/entries/vet.md").rename(file)
    file.write_text(file.read_text("utf-8") + "Only in the mornings.\n", "utf-8")
    memory.adopt()
    found = memory.digest(begin)
    assert ([news.name for news in found.changed], found.learned, found.dropped) == (["Vet"], (), ())


def test_digest_of_no_history_is_empty(tmp_path: Path) -> None:
    found = Memory(tmp_path / "notes").digest()
    assert (found.commits, found.learned, found.since, found.until) == ((), (), None, None)


# What is kept of it


def test_answers_are_the_same_from_what_was_kept(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> tuple[object, ...]:
        with Memory(told) as memory:
            hits = [hit.provenance for hit in memory.recall("deploy release carrier", blame=True)]
            return memory.blame("test database"), hits, memory.log(name="Deploy key"), memory.when("port")

    kept = told / ".git/crabmem/index/commits"
    kept.unlink(missing_ok=True)
    monkeypatch.setattr("crabmem.git.walk._WORTH_SAVING", 1)
    fresh = asked()
    assert kept.exists()
    monkeypatch.setattr(Changes, "between", _only_what_has_to_be(told))
    assert asked() == fresh


def _only_what_has_to_be(root: Path) -> object:
    """Reads trees only of commits of the entries that are asked for: all others are known."""
    between = Changes.between

    def few(self: Changes, before: str | None, after: str) -> object:
        found = between(self, before, after)
        assert not any("office-plants" in change.path for change in found)
        return found

    return few


@pytest.mark.parametrize("damage", [b"", b"crabmem commits 1\n", b"x" * 5_000])
def test_what_was_kept_and_is_not_whole_counts_for_nothing(told: Path, damage: bytes) -> None:
    with Memory(told) as memory:
        lines = memory.blame("Deploy key")
    kept = told / ".git/crabmem/index/commits"
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(damage)
    with Memory(told) as memory:
        assert memory.blame("Deploy key") == lines
    kept.unlink()


def test_what_is_kept_holds_no_name_and_no_text(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.git.walk._WORTH_SAVING", 1)
    with Memory(told) as memory:
        memory.when("vault")
    data = (told / ".git/crabmem/index/commits").read_bytes()
    assert len(data) > 1_000
    assert not any(word in data for word in (b"vault", b"deploy", b"memory", b"Ann"))


def test_hits_of_the_past_come_from_what_was_before(past: Memory) -> None:
    [hit] = past.recall("deploy key vault", limit=1, as_of="2026-01-10", blame=True)
    assert hit.provenance and hit.provenance.authors == ("coder",) and hit.provenance.is_recorded
