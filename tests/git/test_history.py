"""The repository: ordinary to Git, deaf to a person's settings, and readable again after damage."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from crabmem import DamagedHistory, InvalidArguments, Memory, NotFound
from crabmem.git.commits import Note, identity, one_line
from crabmem.git.history import History
from tests.conftest import assert_clean, git
from tests.pace import costing_less_than

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))


def record(history: History, path: str, text: str, when: datetime = NOON) -> str:
    commit = history.recording.record(
        {path: history.recording.put(text.encode())}, Note("edit: it", identity("Ann")), when
    )
    assert commit
    return commit


def test_commit_is_what_git_would_have_made(history: History, tmp_path: Path) -> None:
    note = Note("remember: Luna's vet", identity("coder"), trailers=(("Tool", "remember"), ("Agent", "coder")))
    history.recording.record(
        {"memory/entries/a.md": history.recording.put(b"one\n"), "Crab.md": history.recording.put(b"two\n")}, note, NOON
    )
    shown = git(tmp_path, "log", "-1", "--format=%an <%ae>|%cn|%s|%aI|%(trailers:key=Agent,valueonly,separator=%x2C)")
    assert shown.strip() == "coder <coder@crabmem.invalid>|crabmem|remember: Luna's vet|2026-03-01T12:00:00+02:00|coder"
    assert git(tmp_path, "show", "HEAD:memory/entries/a.md") == "one\n"
    assert git(tmp_path, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert git(tmp_path, "fsck", "--strict") == ""


def test_commit_that_changes_nothing_is_not_made(history: History) -> None:
    first = record(history, "a.md", "one")
    same = history.recording.record(
        {"a.md": history.recording.put(b"one"), "gone.md": None}, Note("again", identity("x")), NOON
    )
    assert (same, history.head()) == (None, first)


def test_emptied_folder_leaves_the_tree(history: History) -> None:
    record(history, "memory/entries/a.md", "one")
    history.recording.record({"memory/entries/a.md": None}, Note("forget: a", identity("x")), NOON)
    assert history.files(history.head()) == {}


def test_a_commit_tells_when_it_was_made_and_is_put_in_order_by_a_time_that_never_falls(
    history: History, tmp_path: Path
) -> None:
    record(history, "a.md", "one")
    record(history, "a.md", "two", NOON - timedelta(days=400))
    newer, older = history.commits()
    assert (newer.time, older.time) == (NOON - timedelta(days=400), NOON)
    assert len(set(git(tmp_path, "log", "--format=%ct").split())) == 1


@pytest.mark.parametrize(
    ("revision", "number"),
    [
        ("HEAD", 3),
        ("@", 3),
        ("main", 3),
        ("HEAD~1", 2),
        ("HEAD^^", 1),
        ("HEAD~2", 1),
        ("refs/heads/main~3", 0),
        ("v1", 1),
    ],
)
def test_revisions_are_named_as_in_git(history: History, tmp_path: Path, revision: str, number: int) -> None:
    commits = [record(history, "a.md", str(version)) for version in range(4)]
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x", "tag", "-a", "-m", "one", "v1", commits[1])
    assert history.resolve(revision) == commits[number] == history.resolve(commits[number][:10])


@pytest.mark.parametrize("revision", ["HEAD~9", "nowhere", "ffff", "../../etc/passwd", "", "~", "refs/../HEAD"])
def test_unknown_revision_is_not_found(history: History, revision: str) -> None:
    record(history, "a.md", "one")
    with pytest.raises(NotFound, match="no revision named"):
        history.resolve(revision)


def test_short_id_of_several_commits_is_refused(history: History) -> None:
    digits = [record(history, "a.md", str(version))[:4] for version in range(700)]
    twice = next((four for four in digits if digits.count(four) > 1), None)
    if twice is None:  # which ids come out does not depend on chance
        pytest.fail("no two commits begin alike: record more")
    with pytest.raises(InvalidArguments, match="give more digits"):
        history.resolve(twice)


def test_moment_names_the_commit_that_was_current(history: History) -> None:
    commits = [record(history, "a.md", str(day), NOON + timedelta(days=day)) for day in range(3)]
    assert history.at(NOON + timedelta(days=1, hours=5)) == commits[1]
    assert history.at(NOON - timedelta(days=1)) is None


def test_log_of_a_path_leaves_out_other_commits(history: History) -> None:
    first, _, third = (record(history, path, text) for path, text in [("a.md", "1"), ("b.md", "2"), ("a.md", "3")])
    assert [commit.commit for commit in history.commits(path="a.md")] == [third, first]


@pytest.mark.parametrize(
    "name", ["", "  ", "<>", "a\nb", "Ann <ann@example.org>", "x\0y", "日本", "Ann <a<b>>", "...", "--"]
)
def test_any_name_makes_an_author_git_accepts(history: History, tmp_path: Path, name: str) -> None:
    history.recording.record({"a.md": history.recording.put(b"x")}, Note(f"edit: {name}", identity(name)), NOON)
    assert git(tmp_path, "fsck", "--strict") == ""


def test_line_breaks_cannot_forge_trailers(history: History) -> None:
    note = Note(
        "remember: a\n\nAgent: root", identity("x"), trailers=(("Tool", "remember"), ("Entry", "a\nAgent: root"))
    )
    history.recording.record({"a.md": history.recording.put(b"x")}, note, NOON)
    assert next(history.commits()).agent is None
    assert one_line("a\n\rb\u2028c") == "a b c"


def test_nothing_of_the_persons_git_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signing, hooks, filters, excludes and line endings of a hostile global configuration."""
    home, marker = tmp_path / "home", tmp_path / "a hook ran"
    (home / "hooks").mkdir(parents=True)
    for hook in ("pre-commit", "post-commit", "commit-msg", "reference-transaction"):
        script = home / "hooks" / hook
        script.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
        script.chmod(0o755)
    (home / "ignore").write_text("*.md\n")
    (home / ".gitconfig").write_text(
        f"[commit]\ngpgsign = true\n[core]\nhooksPath = {home}/hooks\nautocrlf = true\nexcludesFile = {home}/ignore\n"
        "[gpg]\nprogram = /bin/false\n[user]\nname = Mallory\n[init]\ndefaultBranch = trunk\n"
    )
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    for key, value in {"HOME": str(home), "GIT_DIR": str(tmp_path / "elsewhere"), "GIT_AUTHOR_NAME": "Eve"}.items():
        monkeypatch.setenv(key, value)
    root = tmp_path / "memory"
    with Memory(root, agent="coder") as memory:
        memory.remember("Windows lines", "kept as they are", "one\r\ntwo\r\n")
        head = memory.log(1)[0]
    assert (head.author, git(root, "rev-parse", "--abbrev-ref", "HEAD").strip()) == ("coder", "main")
    assert not marker.exists() and not (tmp_path / "elsewhere").exists()
    assert b"one\r\ntwo\r\n" in git_bytes(root, "show", "HEAD:memory/entries/windows-lines.md")
    assert_clean(root)


def git_bytes(root: Path, *words: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, env=environment, check=True).stdout


def test_git_status_is_clean_beside_editors_leftovers(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    for name in (".luna.md.swp", "luna.md~", ".#luna.md", "#luna.md#", "luna.tmp", ".DS_Store"):
        (memory.root / "memory/entries" / name).write_text("left over")
    memory.remember("Wifi", "guests", "on the router")
    assert git(memory.root, "status", "--porcelain") == ""
    assert len(memory.entries()) == 2


def test_writes_during_a_rebase_are_kept_and_join_the_branch_after_it(memory: Memory) -> None:
    memory.remember("Before", "a", "a")
    branch = git(memory.root, "rev-parse", "main")
    (memory.root / ".git/rebase-merge").mkdir()
    memory.remember("During", "b", "written while a person rebases")
    memory.remember("Still", "c", "and another")
    assert git(memory.root, "rev-parse", "main") == branch
    assert "written while" in git(memory.root, "show", "refs/crabmem/keep:memory/entries/during.md")
    assert [commit.author for commit in memory.log(2)] == ["coder", "coder"]
    (memory.root / ".git/rebase-merge").rmdir()
    memory.remember("After", "d", "d")
    assert {"during.md", "still.md"} <= set(git(memory.root, "ls-tree", "--name-only", "main:memory/entries").split())
    assert "person" not in git(memory.root, "log", "main", "--format=%an")


def test_history_is_readable_after_a_full_repack(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    git(memory.root, "gc", "-q", "--aggressive", "--prune=now")
    memory.remember("Luna", "dog", "Friday")
    assert memory.get("luna", at="HEAD~1").content == "Thursday"


def _holding(name: str, data: bytes) -> Callable[[Path], object]:
    """Return a function that puts other bytes into a file of a repository."""
    return lambda git_folder: (git_folder / name).write_bytes(data)


def _without(name: str) -> Callable[[Path], object]:
    """Return a function that removes a file of a repository."""
    return lambda git_folder: (git_folder / name).unlink()


def _cut_index(git_folder: Path) -> None:
    index = git_folder / "index"
    index.write_bytes(index.read_bytes()[:50])


def _altered_index(git_folder: Path) -> None:
    index = git_folder / "index"
    index.write_bytes(index.read_bytes()[:-20] + b"x" * 20)


def _no_logs(git_folder: Path) -> None:
    (git_folder / "refs/heads/main").write_bytes(b"")
    for log in (git_folder / "logs/HEAD", git_folder / "logs/refs/heads/main"):
        log.unlink()


_DAMAGES = {
    "empty ref": _holding("refs/heads/main", b""),
    "nul ref": _holding("refs/heads/main", b"\0" * 41),
    "ref to nothing": _holding("refs/heads/main", b"0123456789" * 4 + b"\n"),
    "empty head": _holding("HEAD", b""),
    "no head": _without("HEAD"),
    "garbage head": _holding("HEAD", b"ref: ../../outside\n"),
    "empty index": _holding("index", b""),
    "cut index": _cut_index,
    "altered index": _altered_index,
    "no index": _without("index"),
    "garbage keep": _holding("refs/crabmem/keep", b"garbage"),
    "no logs": _no_logs,
}


@pytest.mark.parametrize("damage", _DAMAGES.values(), ids=_DAMAGES.keys())
def test_damage_that_a_power_cut_leaves_is_mended_by_the_next_write(
    memory: Memory, damage: Callable[[Path], object]
) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Luna", "dog", "Friday")
    damage(memory.root / ".git")
    assert memory.recall("dog")[0].entry.content == "Friday"
    memory.remember("Wifi", "guests", "on the router")
    assert "remember: Luna" in [commit.subject for commit in memory.log()]
    assert git(memory.root, "show", "HEAD:memory/entries/luna.md").endswith("Friday\n")


def test_commit_left_empty_by_a_power_cut_is_made_again(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "Thursday")
        newest = memory.remember("Luna", "dog", "Friday").commit or ""
        file = tmp_path / ".git/objects" / newest[:2] / newest[2:]
        file.chmod(0o600)
        file.write_bytes(b"")
        memory.remember("Wifi", "guests", "on the router")
        subjects = [commit.subject for commit in memory.log()]
        assert subjects == ["remember: Wifi", "remember: Luna", "remember: Luna", "init: a new memory"]
        assert file.read_bytes()


def test_commit_left_empty_of_which_nothing_is_known_is_gone_and_the_one_before_goes_on(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "Thursday")
        newest = memory.remember("Luna", "dog", "Friday").commit or ""
        (tmp_path / ".git/crabmem/redo").unlink()
        file = tmp_path / ".git/objects" / newest[:2] / newest[2:]
        file.chmod(0o600)
        file.write_bytes(b"")
        memory.remember("Wifi", "guests", "on the router")
        subjects = [commit.subject for commit in memory.log()]
        assert subjects == ["remember: Wifi", "edit: Luna", "remember: Luna", "init: a new memory"]
        assert memory.get("luna").content == "Friday"
        assert "could not be read" in "".join(finding.message for finding in memory.doctor())


def test_repository_without_any_readable_commit_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "Thursday")
        for file in (tmp_path / ".git/objects").rglob("*"):
            if file.is_file():
                file.chmod(0o600)
                file.write_bytes(b"garbage")
        (tmp_path / ".git/crabmem/redo").unlink()
        before = sorted((tmp_path / ".git/objects").rglob("*"))
        with pytest.raises(DamagedHistory, match=r"no commit of .* can be read"):
            memory.remember("Wifi", "guests", "on the router")
        assert memory.recall("dog")[0].entry.content == "Thursday"
        assert sorted((tmp_path / ".git/objects").rglob("*")) == before
        assert not (tmp_path / "memory/entries/wifi.md").exists()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_git_that_is_no_folder_of_its_own_is_refused(tmp_path: Path, kind: str) -> None:
    root, elsewhere = tmp_path / "memory", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    if kind == "file":
        (root / ".git").write_text(f"gitdir: {elsewhere}\n")
    else:
        (root / ".git").symlink_to(elsewhere)
    with Memory(root) as memory, pytest.raises(DamagedHistory, match="is not a folder"):
        memory.remember("Luna", "dog", "Thursday")
    assert list(elsewhere.iterdir()) == []


def test_lock_of_a_persons_git_is_respected(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    lock = memory.root / ".git/index.lock"
    lock.write_text("")
    memory.remember("Luna", "dog", "Friday")
    assert lock.exists()
    lock.unlink()
    memory.remember("Wifi", "guests", "on the router")
    assert git(memory.root, "status", "--porcelain") == ""


def test_times_are_read_back_in_the_zone_they_were_written_in(history: History) -> None:
    record(history, "a.md", "one", datetime(2026, 1, 1, 0, 30, tzinfo=UTC))
    record(history, "a.md", "two", datetime(2026, 1, 2, 0, 30, tzinfo=timezone(-timedelta(hours=3, minutes=30))))
    assert [commit.time.isoformat() for commit in history.commits()] == [
        "2026-01-02T00:30:00-03:30",
        "2026-01-01T00:30:00+00:00",
    ]


def test_the_list_of_where_a_shallow_clone_ends_is_read_once_and_again_when_it_changes(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="me") as memory:
        for number in range(40):
            memory.remember("Tea", "d", f"{number} cups.")
    shallow = tmp_path / ".git" / "shallow"
    shallow.write_bytes(b"".join(b"%040x\n" % number for number in range(100_000)))
    with Memory(tmp_path, agent="me") as memory:
        with costing_less_than(2):
            assert len(memory.log(limit=100)) >= 40
        end = memory.log(limit=3)[2].commit
        shallow.write_text(f"{end}\n")
        assert memory.log(limit=100)[-1].commit == end
        shallow.unlink()
        assert len(memory.log(limit=100)) >= 40
