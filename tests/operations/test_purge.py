"""What is purged is nowhere any more, and nothing else is missing."""

import gzip
import re
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crabmem import Fact, InvalidArguments, Memory, NotFound, Unreadable, Unwritable
from crabmem.disk import fs
from crabmem.operations import agents, maintenance, purge
from crabmem.text.values import replace
from tests import forked, long_history, story
from tests.conftest import ANN, assert_clean, git
from tests.faults.repository import texts_of, traces

SECRET = "HUNTER2 Señor's key"


def blobs(root: Path) -> set[str]:
    """Every version of every file that references reach, by Git."""
    listed = git(root, "rev-list", "--all", "--objects", "--filter=object:type=blob", "--filter-provided-objects")
    return {line.split()[0] for line in listed.splitlines()}


def people_and_times(root: Path) -> list[str]:
    """Who made each commit of the history, to which the record of purges does not belong, and when."""
    what = ("--exclude=refs/crabmem/purged", "--all", "--topo-order")
    return git(root, "log", *what, "--format=%an <%ae> %ad %cn <%ce> %cd", "--date=raw").splitlines()


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A memory that knows a secret, forgot it, and says other things too."""
    memory.remember("Wifi", "how to get online", "Ask at the desk.", tags=["office"])
    memory.remember(f"About {SECRET}", "what it is", f"It is {SECRET}, to be kept.", aliases=[SECRET])
    memory.write_overview(f"# Overview\n\nThe key is {SECRET}.\n")
    memory.remember("Vault", "where keys are", f"In the vault: {SECRET}\nAnd nowhere else.")
    memory.remember("Vault", "where keys are", "In the vault.\nAnd nowhere else.")
    memory.forget(f"About {SECRET}")
    memory.recall("key")
    return memory


def test_a_text_is_nowhere_any_more(told: Memory) -> None:
    before, authors = blobs(told.root), people_and_times(told.root)
    held = {blob for blob, text in texts_of(told.root, before) if b"HUNTER2" in text}
    done = told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2", "hunter2-señor") == []
    assert done.standing and done.standing.places == () and done.standing.objects > 10
    assert blobs(told.root) >= before - held
    assert len(people_and_times(told.root)) == len(authors)
    assert people_and_times(told.root) == authors
    assert told.get("Wifi").content == "Ask at the desk."
    assert "The key is (purged)." in told.overview().text
    assert_clean(told.root)


def test_the_entry_that_held_it_is_still_one(told: Memory) -> None:
    told.remember(f"'{SECRET}': a \"name\"", SECRET, "x", aliases=[f"- {SECRET}", "b"])
    told.purge(text=SECRET)
    [entry] = [entry for entry in told.entries() if "(purged)" in entry.name]
    assert entry.problem is None
    assert entry.description == "(purged)"
    assert entry.aliases == ("- (purged)", "b")
    assert entry.path == "memory/entries/purged-a-name.md"


def test_a_pattern_takes_what_it_finds_line_by_line(memory: Memory) -> None:
    memory.remember("Tokens", "all of them", "token: abc123\nkeep this\ntoken: def456")
    memory.purge(pattern=r"^token: \w+$")
    assert memory.get("Tokens").content == "(purged)\nkeep this\n(purged)"
    assert traces(memory.root, "abc123", "def456") == []


def test_an_entry_goes_with_all_its_versions_names_and_messages(told: Memory) -> None:
    told.remember("Luna's vet", "who looks after the dog", "Dr. Moreno in the Green Lane, first floor.")
    told.remember("Luna's vet", "who looks after the dog", "Dr. Adeyemi in the Green Lane, second floor.")
    told.remember("Luna's vet bills", "what they cost", "Too much.")
    told.file("memory/entries/luna-s-vet.md.bak").write_text("Dr. Moreno in the Green Lane, first floor.")
    done = told.purge("Luna's vet")
    assert done.entries == ("Luna's vet",)
    assert done.standing and done.standing.places == ()
    assert traces(told.root, "Moreno", "Adeyemi", "luna-s-vet.md") == []
    assert told.log(1)[0].subject == "remember: Luna's vet bills"
    assert [commit.subject for commit in told.log()].count("remember: (purged)") == 2
    assert told.get("Luna's vet bills").content == "Too much."
    with pytest.raises(NotFound):
        told.get("Luna's vet")


def test_what_quotes_a_purged_entry_stays_and_is_told(told: Memory) -> None:
    told.remember("Vet", "who looks after the dog", "Dr. Moreno in the Green Lane.")
    told.write_overview("# Overview\n\n- Dr. Moreno in the Green Lane.\n")
    assert told.purge("Vet").copies == {"memory/MEMORY.md": 1}


def test_the_plan_says_what_is_done_and_changes_nothing(told: Memory) -> None:
    head, size = git(told.root, "rev-parse", "HEAD"), len(list(told.root.rglob("*")))
    plan = purge.purge(told, text=SECRET, dry_run=True)
    assert git(told.root, "rev-parse", "HEAD") == head and len(list(told.root.rglob("*"))) == size
    done = told.purge(text=SECRET)
    assert replace(plan, is_done=True, standing=done.standing) == done
    assert "HUNTER2" not in str(plan) and "hunter2" not in str(plan)


def test_what_is_not_recorded_yet_is_purged_too(told: Memory) -> None:
    told.file("memory/entries/draft.md").write_text(f"---\nname: Draft\n---\n\n{SECRET} as a draft\n")
    assert purge.purge(told, "Draft", dry_run=True).paths == ("memory/entries/draft.md",)
    assert "memory/entries/draft.md" in purge.purge(told, text=SECRET, dry_run=True).paths
    told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2") == []
    assert told.purge("Draft").entries == ("Draft",)
    assert traces(told.root, "as a draft") == []


def test_a_detached_head_and_a_file_that_is_only_staged_are_rewritten(told: Memory) -> None:
    (told.root / "notes.txt").write_text(f"{SECRET} staged")
    git(told.root, "add", "notes.txt")
    git(told.root, "checkout", "-q", "--detach")
    told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2") == []
    assert git(told.root, "status", "--porcelain") == "A  notes.txt\n"
    git(told.root, "checkout", "-q", "main")
    git(told.root, "rm", "-q", "-f", "notes.txt")


def test_commits_before_the_first_that_holds_it_keep_their_ids(told: Memory) -> None:
    first = git(told.root, "log", "--reverse", "--format=%H").split()[:2]
    told.purge(text=SECRET)
    assert git(told.root, "log", "--reverse", "--format=%H").split()[:2] == first


def test_a_message_names_commits_by_their_new_ids(told: Memory) -> None:
    told.remember("Vault", "where keys are", "Elsewhere.")
    to = told.log(2)[1].commit
    told.rollback(to)
    told.purge(text=SECRET)
    subject = told.log(1)[0].subject
    named = re.findall("[0-9a-f]{7,40}", subject)
    assert named and all(git(told.root, "cat-file", "-t", each) == "commit\n" for each in named)


def test_tags_stash_and_logs_are_rewritten(told: Memory) -> None:
    git(told.root, *ANN, "tag", "-a", "v1", "-m", f"tag with {SECRET}")
    git(told.root, "branch", "about-hunter2-señor-s-key", "HEAD~1")
    for number in range(2):
        told.file("memory/MEMORY.md").write_text(f"stashed {number} {SECRET}\n")
        git(told.root, *ANN, "stash")
    told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2", "hunter2-señor") == []
    assert git(told.root, "tag", "-l", "-n1").split() == ["v1", "tag", "with", "(purged)"]
    assert "stashed 0 (purged)" in git(told.root, "stash", "show", "-p", "stash@{1}")
    assert "about-purged" in git(told.root, "branch")
    assert_clean(told.root)


def test_an_annotated_tag_is_rewritten_beside_a_commit_that_says_the_same(told: Memory) -> None:
    """Both are chained in the pack, and none is a delta to the other, which is of another kind."""
    git(told.root, *ANN, "commit", "-q", "--allow-empty", "-m", f"release with {SECRET} and a text of what is in it")
    git(told.root, *ANN, "tag", "-a", "v1", "-m", f"release with {SECRET} and a text of what is in it")
    told.purge(text=SECRET)
    assert git(told.root, "tag", "-l", "-n1").split(maxsplit=1)[1].startswith("release with (purged) and")
    assert traces(told.root, "HUNTER2") == []
    assert_clean(told.root)


def test_what_nothing_reaches_goes_too(told: Memory) -> None:
    subprocess.run(["git", "-C", str(told.root), "hash-object", "-w", "--stdin"], input=b"HUNTER2 lost", check=True)
    plan = purge.purge(told, text=SECRET, dry_run=True)
    assert plan.unreachable >= 1
    told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2") == []


def test_editors_leftovers_and_crabmems_own_go(told: Memory) -> None:
    entries = told.file("memory/entries")
    for name in ("wifi.md~", ".vault.md.swp", "#wifi.md#"):
        (entries / name).write_text(f"old {SECRET}")
    recovered = told.root / ".git/crabmem/recovered"
    recovered.mkdir()
    (recovered / "write-1").write_text(SECRET)
    (recovered / "write-2").write_text("something else")
    (told.root / ".git/COMMIT_EDITMSG").write_text(SECRET)
    (told.root / ".git/crabmem/repairs.log").write_text(f"2026-03-01 saved {SECRET}\n")
    assert told.purge(text=SECRET).leftovers == 4
    assert traces(told.root, "HUNTER2") == []
    assert [file.name for file in recovered.iterdir()] == ["write-2"]


def test_where_it_still_stands_is_told(told: Memory) -> None:
    config = told.root / ".git/config"
    config.write_text(config.read_text() + f"# {SECRET}\n")
    (told.root / "shopping.txt").write_text(SECRET)
    done = told.purge(text=SECRET)
    assert done.standing and done.standing.places == (".git/config", "shopping.txt")
    (told.root / "shopping.txt").unlink()
    assert purge.standing(told, text=SECRET).places == (".git/config",)


def test_another_memory_brings_nothing_back(told: Memory) -> None:
    with Memory(told.root, agent="other") as other:
        other.recall("vault")
        other.entries()
        told.purge(text=SECRET)
        other.remember("Later", "written after the purge", "It works.")
        assert other.recall("vault").hits[0].entry.name == "Vault"
    assert traces(told.root, "HUNTER2", "hunter2") == []
    assert_clean(told.root)
    told.remember("Later still", "x", "y")
    maintenance.compact(told)
    assert_clean(told.root)


def test_what_was_pushed_is_refused_until_forced(told: Memory, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(told.root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(told.root, "push", "-q", "origin", "main")
    with pytest.raises(Unwritable, match=r"origin.*force=True"):
        told.purge(text=SECRET)
    assert traces(told.root, "HUNTER2") != []
    assert told.purge(text=SECRET, force=True).remotes == {"origin": str(tmp_path / "remote.git")}
    assert traces(told.root, "HUNTER2") == []


def _shallow(root: Path) -> None:
    (root / ".git/shallow").write_text(git(root, "rev-parse", "HEAD"))


def _alternates(root: Path) -> None:
    (root / ".git/objects/info/alternates").write_text("/nowhere\n")


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (_shallow, "shallow"),
        (_alternates, "borrows"),
        (lambda root: git(root, "worktree", "add", "-q", f"{root}-2", "-b", "two"), "worktrees"),
        (lambda root: git(root, "config", "remote.o.promisor", "true"), "partial"),
        (lambda root: (root / ".git/MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD")), "merge"),
        (lambda root: git(root, "replace", "HEAD", "HEAD~1"), "replace"),
        (lambda root: git(root, *ANN, "notes", "add", "-m", f"about {SECRET}"), "notes.*update-ref -d"),
    ],
)  # fmt: skip
def test_what_cannot_be_rewritten_alone_is_refused(told: Memory, odd: Callable[[Path], object], reason: str) -> None:
    odd(told.root)
    head = git(told.root, "--no-replace-objects", "rev-parse", "HEAD")
    with pytest.raises(Unwritable, match=reason):
        told.purge(text=SECRET)
    assert git(told.root, "--no-replace-objects", "rev-parse", "HEAD") == head
    for name in ("shallow", "objects/info/alternates", "MERGE_HEAD"):
        (told.root / ".git" / name).unlink(missing_ok=True)
    git(told.root, "replace", "-d", *git(told.root, "replace", "-l").split()) if reason == "replace" else None


@pytest.mark.parametrize(
    "wrong", [{"text": "ab"}, {"pattern": "("}, {"pattern": "a*"}, {}, {"text": "abcd", "name": "a"}]
)
def test_what_would_tear_up_everything_is_refused(told: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        told.purge(**wrong)


def test_what_stands_nowhere_is_not_found(told: Memory) -> None:
    with pytest.raises(NotFound):
        told.purge(text="never said")
    with pytest.raises(NotFound):
        told.purge("Nobody")


def test_a_purged_history_is_what_a_story_without_it_would_be(tmp_path: Path) -> None:
    story.tell(tmp_path / "story")
    with Memory(tmp_path / "story") as memory:
        before = people_and_times(memory.root)
        memory.purge("Deploy key")
        assert people_and_times(memory.root) == before
        assert not [path for commit in memory.log() for path in commit.paths if "deploy-key" in path]
    assert_clean(tmp_path / "story")


def _is_erased(folder: Path, commits: int, entries: int) -> float:
    """Purge a long history, and have Git look at it; the seconds that took."""
    secret, root = "HUNTER2SECRET", folder / "long"
    long_history.built(root, commits, entries, secret)
    before, times = blobs(root), people_and_times(root)
    held = {blob for blob, text in texts_of(root, before) if secret.encode() in text} if commits < 1_000 else set()
    assert traces(root, secret) != []
    with Memory(root) as memory:
        began = time.monotonic()
        done = memory.purge(text=secret)
        took = time.monotonic() - began
        assert len(memory.log()) == commits + 1
    assert traces(root, secret, secret.lower()) == []
    assert done.standing is not None
    assert done.standing.places == ()
    assert len(before - blobs(root)) == done.versions
    assert not held or before - blobs(root) == held
    assert people_and_times(root) == times
    assert_clean(root)
    return took


def test_a_history_with_the_secret_everywhere_is_rid_of_it(tmp_path: Path) -> None:
    _is_erased(tmp_path, 620, 60)


@pytest.mark.long
def test_two_thousand_commits_of_a_thousand_entries_are_rid_of_it_in_a_minute(tmp_path: Path) -> None:
    assert _is_erased(tmp_path, 2_000, 1_000) < 60


def test_no_past_moment_another_memory_looked_at_brings_it_back(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.search.index.FEW", 0)  # segments at once, which keep the words of what left them
    monkeypatch.setattr("crabmem.search.segment.FEW", 0)
    told.remember_all([Fact(f"Room {number}", "a room", f"number {number}") for number in range(60)], "rooms")
    told.remember("Vault", "where keys are", f"In the vault: {SECRET}")
    with Memory(told.root, agent="other") as other, Memory(told.root, agent="third") as third:
        for memory in (other, third):
            assert memory.recall("vault").hits and memory.recall("vault", as_of="HEAD").hits
            assert memory.blame("Vault") and memory.when("vault").steps
        told.purge(text=SECRET)
        assert other.recall("vault", as_of="HEAD").hits and other.recall("vault").hits
        other.remember("Later", "written after the purge", "It works.")
        third.remember("Later too", "written after the purge", "It works.")
    assert traces(told.root, "HUNTER2", "hunter2") == []
    assert_clean(told.root)
    with Memory(told.root) as fresh:
        assert fresh.recall("vault", as_of="HEAD~2", blame=True).hits
    assert traces(told.root, "HUNTER2", "hunter2") == []


# Workspaces of agents, and what else lies about

PIN = "PINSECRET99"


@pytest.fixture
def team(memory: Memory) -> Memory:
    """A memory that holds a secret, of which two agents have a copy, one of them only in its history."""
    memory.remember("Code", "opens the door", f"The code of the door is {PIN}, since March.")
    for name in ("bob", "eve"):
        agents.clone_agent(memory, ".", name)
    with Memory(memory.root / "agents/bob", agent="bob") as bob:
        bob.forget("Code")
    with Memory(memory.root / "agents/eve", agent="eve") as eve:
        eve.remember("Tea", "what eve drinks", "Green.")
    return memory


@pytest.mark.parametrize("asked", [{"text": PIN}, {"name": "Code"}])
def test_a_purge_names_the_agents_whose_workspaces_still_hold_it(team: Memory, asked: dict[str, Any]) -> None:
    assert purge.purge(team, **asked, dry_run=True).nested == ("agents/bob (history)", "agents/eve (history and files)")
    done = team.purge(**asked)
    assert done.standing and done.standing.places == ("agents/bob (history)", "agents/eve (history and files)")
    assert purge.standing(team, text=PIN).places == done.standing.places


def test_another_entry_of_the_same_name_in_the_workspace_of_an_agent_is_no_trace(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"The code of the door is {PIN}, since March.")
    agents.new_agent(memory, "bob")
    with Memory(memory.root / "agents/bob", agent="bob") as bob:
        bob.remember("Code", "how bob writes it", "In Python, tests first.")
    assert purge.purge(memory, "Code", dry_run=True).nested == ()
    done = memory.purge("Code")
    assert done.standing and done.standing.places == ()


def run(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [*forked.COMMAND, "--dir", str(root), "purge", *words]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_the_verb_says_that_agents_still_have_it_and_fails(team: Memory) -> None:
    done = run(team.root, "--text", PIN, "--yes")
    assert done.returncode == 1
    assert "purged, but not everywhere" in done.stdout and "agents/eve (history and files)" in done.stdout
    assert "with --all, the same purge erases it in the workspaces of agents and projects too" in done.stdout
    again = run(team.root, "--text", PIN, "--yes")
    assert again.returncode == 1 and "agents/bob (history)" in again.stderr
    assert run(team.root, "--text", PIN, "--verify").returncode == 1


@pytest.mark.parametrize("asked", [("--text", PIN), ("Code",)])
def test_with_agents_it_is_purged_in_their_workspaces_too(team: Memory, asked: tuple[str, ...]) -> None:
    dry = run(team.root, *asked, "--all", "--dry-run")
    assert dry.returncode == 0 and "agents/bob:\n" in dry.stdout and "agents/eve:\n" in dry.stdout
    assert len(traces(team.root, PIN)) > 1
    assert "or --yes" in run(team.root, *asked, "--all").stderr
    done = run(team.root, *asked, "--all", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    for root in (team.root, team.root / "agents/bob", team.root / "agents/eve"):
        assert traces(root, PIN) == []
        assert_clean(root)
    with Memory(team.root / "agents/eve", agent="eve") as eve:
        assert eve.get("Tea").content == "Green."
    assert "nothing to purge" in run(team.root, "--text", PIN, "--all", "--yes").stderr


def test_agents_are_purged_where_only_they_have_it(memory: Memory) -> None:
    memory.remember("Tea", "what is drunk", "Green.")
    agents.new_agent(memory, "bob")
    with Memory(memory.root / "agents/bob", agent="bob") as bob:
        bob.remember("Code", "opens the door", f"It is {PIN}.")
    with pytest.raises(NotFound, match="it stands in agents/bob"):
        memory.purge(text=PIN)
    assert list(agents.purge_everywhere(memory, text=PIN)) == ["agents/bob"]
    assert traces(memory.root, PIN) == []


def test_another_repository_inside_the_workspace_is_looked_into(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    project = memory.root / "project"
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / "door.txt").write_text(f"{PIN}\n")
    git(project, "add", ".")
    git(project, *ANN, "commit", "-qm", "door")
    (memory.root / ".git/info/exclude").write_text("project\n")
    done = memory.purge(text=PIN)
    assert done.standing and done.standing.places == ("project (history and files)",)


def test_remotes_of_which_nobody_knows_what_they_have_are_named(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    git(memory.root, "remote", "add", "origin", "https://example.org/notes.git")
    assert purge.purge(memory, text=PIN, dry_run=True).unknown == {"origin": "https://example.org/notes.git"}
    told = run(memory.root, "--text", PIN, "--yes")
    assert "origin https://example.org/notes.git may have it" in told.stdout


def test_of_what_an_aborted_write_left_nothing_is_there_after_a_purge(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Tea", "what is drunk", "Green.")

    def full(operation: str, path: str) -> None:
        if operation == "exchange" or (operation == "link" and "entries" in path):
            raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(fs, "before", full)
    with pytest.raises(Unwritable):
        memory.remember("Tea", "what is drunk", f"It is {PIN}.")
    monkeypatch.undo()
    assert traces(memory.root, PIN)
    with pytest.raises(NotFound, match="nothing to purge"):
        memory.purge(text=PIN)  # which takes back first what was begun
    assert traces(memory.root, PIN) == []


def test_a_text_that_no_reference_reaches_is_purged_too(memory: Memory) -> None:
    memory.remember("Tea", "what is drunk", "Green.")
    store = ["git", "-C", str(memory.root), "hash-object", "-w", "--stdin"]
    subprocess.run(store, input=PIN.encode(), capture_output=True, check=True)
    memory.purge(text=PIN)
    assert traces(memory.root, PIN) == []


def test_a_purge_that_a_name_stops_leaves_nothing_behind(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    git(memory.root, "branch", "no\u200bwidth")
    before = git(memory.root, "show-ref")
    with pytest.raises(Unwritable, match="is no name that a purge can deal with: rename it"):
        memory.purge(text=PIN)
    assert git(memory.root, "show-ref") == before
    assert not (memory.root / ".git/crabmem/purging").exists()
    git(memory.root, "branch", "-m", "no\u200bwidth", "width")
    memory.purge(text=PIN)
    assert traces(memory.root, PIN) == []


# What is written another way than it is read


@pytest.mark.parametrize(("line", "text"), [
    (r'description: "Caf\xE9 GEHEIM\x37\x37 at four"', "Café GEHEIM77"),
    ("description: >-\n  it is behind the\n  blue curtain", "behind the blue curtain"),
    ("description: |\n  it is behind the\n  blue curtain", "behind the blue curtain"),
    ("description: it is behind the\n  blue curtain", "behind the blue curtain"),
    ('description: "behind the\nblue curtain"', "behind the blue curtain"),
    ('description: d\ntags: [a, "GEH\\x45IM77"]', "GEHEIM77"),
    ('description: d\nmetadata:\n  seen: "GEH\\x45IM77"', "GEHEIM77"),
    ('description: d\n"GEH\\x45IM77": seen', "GEHEIM77"),
    ('description: "GEH\\x45IM77"\ndescription: d', "GEHEIM77"),
])  # fmt: skip
def test_a_value_of_frontmatter_that_is_written_with_escapes_or_folded_is_found_and_purged(
    memory: Memory, line: str, text: str
) -> None:
    file = memory.file("memory/entries/tea.md")
    for rest in ("author: Ann # a person", "author: Ben # another"):
        memory.remember("Wifi", "how to get online", rest)
        file.write_text(f"---\nname: Tea\n{rest}\n{line}\n---\n\nGreen.\n")
        memory.adopt()
    assert len(purge.standing(memory, text=text).places) == 3
    assert purge.purge(memory, text=text, dry_run=True).entries == ("Tea",)
    done = memory.purge(text=text)
    assert done.standing and done.standing.places == () and done.versions == 2
    entry = memory.get("Tea")
    assert (entry.problem, entry.content, entry.keys["author"]) == (None, "Green.", "Ben")
    assert text not in " ".join(str(entry).split())
    assert purge.standing(memory, text=text).places == ()


def test_a_pattern_for_whole_lines_takes_no_value_that_is_part_of_one(memory: Memory) -> None:
    memory.remember('Wifi: "home"', "how to get online", "Wifi\nAsk.")
    memory.purge(pattern="^(Wifi|how to get online)$")
    assert memory.get('Wifi: "home"').content == "(purged)\nAsk."
    assert memory.get('Wifi: "home"').description == "how to get online"


# What is not looked into like all else


@pytest.mark.parametrize("place", ["backup.git", "sub/dotgit", ".git/backup"])
def test_a_repository_that_is_called_otherwise_is_looked_into(memory: Memory, place: str) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    git(memory.root, "clone", "-q", "--bare", "--no-local", ".", place)
    git(memory.root / place, "repack", "-adq")
    (memory.root / ".git/info/exclude").write_text(f"/{place}\n")
    done = memory.purge(text=PIN)
    assert done.standing and done.standing.places == (f"{place} (history)",)
    assert run(memory.root, "--text", PIN, "--verify").returncode == 1


def test_a_repository_that_borrows_objects_is_named(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    git(memory.root, "clone", "-q", "--bare", ".", str(tmp_path / "mother"))
    git(memory.root, "clone", "-q", "--shared", str(tmp_path / "mother"), "project")
    shutil.rmtree(tmp_path / "mother")
    (memory.root / ".git/info/exclude").write_text("/project\n")
    (memory.root / "project/memory/entries/code.md").unlink()
    done = memory.purge(text=PIN)
    assert done.standing and done.standing.places == (
        "project (it borrows objects from elsewhere, which were not looked into)",
    )


def test_what_was_not_looked_into_is_named_instead_of_nowhere(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    (memory.root / ".git/info/exclude").write_text("/*.log\n/*.bundle\n/*.gz\n/photos\n")
    with (memory.root / "big.log").open("wb") as big:
        big.truncate(50_000_001)
    git(memory.root, "bundle", "create", "-q", "all.bundle", "HEAD")
    (memory.root / "old.tar.gz").write_bytes(gzip.compress(PIN.encode()))
    (memory.root / "photos").write_bytes(gzip.compress(PIN.encode()))
    done = run(memory.root, "--text", PIN, "--yes")
    assert done.returncode == 0 and "nowhere" not in done.stdout
    assert "it stands in none of them, but not all was looked into" in done.stdout
    unread = (
        "all.bundle (compressed)",
        "big.log (larger than 50 MB)",
        "old.tar.gz (compressed)",
        "photos (compressed)",
    )
    assert all(f"not looked into: {each}\n" in done.stdout for each in unread)
    looked = purge.standing(memory, text=PIN)
    assert (looked.places, looked.unread) == ((), unread)
    again = run(memory.root, "--text", PIN, "--yes")
    assert again.returncode == 1 and "nowhere" not in again.stderr and "not looked into: all.bundle" in again.stderr


def test_a_file_of_memory_that_is_too_large_to_be_looked_into_is_named_before_anything_is_purged(
    memory: Memory,
) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    head, file = git(memory.root, "rev-parse", "HEAD"), memory.file("memory/entries/code.md")
    with file.open("ab") as large:
        large.truncate(50_000_001)
    with pytest.raises(Unreadable, match=r"memory/entries/code\.md is larger than 50 MB: move it away; nothing was"):
        memory.purge("Code")
    assert git(memory.root, "rev-parse", "HEAD") == head
    file.unlink()
    done = memory.purge("Code")
    assert done.standing and done.standing.places == ()


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_is_found_and_purged(memory: Memory, form: str) -> None:
    memory.remember("Wifi", "how to get online", "Ask.")
    (memory.root / "door.txt").write_bytes(f"Café: {PIN}\r\n".encode(form))
    git(memory.root, "add", "door.txt")
    git(memory.root, *ANN, "commit", "-qm", "door")
    (memory.root / ".git/info/exclude").write_text("/lost\n")
    (memory.root / "lost").write_bytes(b"\1" + f"Café: {PIN}".encode(form))
    done = memory.purge(text=f"Café: {PIN}")
    assert done.standing and done.standing.places == ("lost",)
    assert (memory.root / "door.txt").read_bytes().decode(form) == "(purged)\r\n"


def test_links_empty_folders_and_names_of_repositories_that_hold_it_are_named(memory: Memory) -> None:
    memory.remember("Code", "opens the door", f"It is {PIN}.")
    (memory.root / ".git/info/exclude").write_text("/door*\n/empty\n/repo*\n")
    (memory.root / "door").symlink_to(f"/{PIN}")
    (memory.root / f"door-{PIN}").symlink_to("/nowhere")
    (memory.root / "empty" / PIN).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", memory.root / f"repo-{PIN}"], check=True)
    done = memory.purge(text=PIN)
    assert done.standing and done.standing.places == ("door", f"door-{PIN}", f"empty/{PIN}", f"repo-{PIN} (name)")


def test_the_help_says_that_capitals_count_and_how_they_do_not(memory: Memory) -> None:
    memory.remember("Ann", "who Ann is", "Ann SCHMIDT, called Schmidty, of Schmidt & Sons.")
    told = " ".join(run(memory.root, "--help").stdout.split())
    assert "Capitals count" in told and "'(?i)hunter2'" in told
    memory.purge(text="Schmidt")
    assert memory.get("Ann").content == "Ann SCHMIDT, called (purged)y, of (purged) & Sons."
    memory.purge(pattern="(?i)schmidt")
    assert memory.get("Ann").content == "Ann (purged), called (purged)y, of (purged) & Sons."


@pytest.mark.parametrize("is_left", [False, True])
def test_a_folder_of_facts_that_is_called_so_is_gone_with_one_purge(memory: Memory, is_left: bool) -> None:
    memory.remember("Tea", "which tea", "Assam.")
    folder = memory.root / f"memory/entries/{PIN}/2026"
    folder.mkdir(parents=True)
    if not is_left:  # else it is empty, as a purge that was killed may leave it
        (folder / "a.md").write_text("hello\n")
        memory.adopt()
    done = memory.purge(text=PIN)
    assert done.standing and done.standing.places == () and traces(memory.root, PIN) == []
    assert not folder.parent.exists()
    if not is_left:
        assert (memory.root / "memory/entries/purged/2026/a.md").read_text() == "hello\n"
    memory.remember("Coffee", "which coffee", "None.")
    assert_clean(memory.root)


@pytest.mark.parametrize("name", [
    "config.lock", "hooks/pre-push.sample", "crabmem/packing", "crabmem/lock.pid", "objects/info/note",
    "objects/pack/pack-1.keep", "objects/ab/tmp_obj_1", f"crabmem/recent/{'a' * 40}",
])  # fmt: skip
def test_every_file_of_the_repository_is_looked_into(memory: Memory, name: str) -> None:
    memory.remember("Wifi", "how to get online", "Ask.")
    file = memory.root / ".git" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else None
    said = f"blob 11\0{PIN}".encode()
    file.write_bytes(zlib.compress(said) if "tmp_obj" in name or "recent" in name else said)
    assert purge.standing(memory, text=PIN).places == (f".git/{name}",)
    file.unlink() if before is None else file.write_bytes(before)


@pytest.mark.parametrize("after", ["One line.\nAnother one.\n", "All of it is new.\n"])
def test_a_fact_that_was_moved_and_changed_by_hand_is_purged_where_it_was(memory: Memory, after: str) -> None:
    head = "---\nname: Deploy key\ndescription: a key\n---\n\n"
    old, new = (memory.root / "memory/entries" / name for name in ("work/key.md", "KEY.md"))
    old.parent.mkdir(parents=True)
    old.write_text(f"{head}{SECRET} is it.\n")
    memory.adopt()
    old.rename(new)
    new.write_text(f"{head}{after}")
    memory.adopt()
    memory.purge("memory/entries/KEY.md")
    assert not traces(memory.root, SECRET)
