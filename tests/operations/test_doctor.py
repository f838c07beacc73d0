"""The doctor: names what is wrong, and nothing that is not."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Finding, Memory
from crabmem.disk import state
from crabmem.disk.lock import WriterLock
from crabmem.git.refs import Refs
from crabmem.operations import maintenance
from crabmem.operations.doctor.examine import CHECKS
from crabmem.operations.status import status
from tests.conftest import git, typed

Sample = Callable[[str], Path]
ENTRIES = "memory/entries"


def levels(memory: Memory) -> dict[str, str]:
    """The level of the worst finding by path."""
    return {finding.path: finding.level for finding in reversed(memory.doctor())}


def about(memory: Memory, path: str) -> Finding:
    """The one finding about `path`."""
    [finding] = [finding for finding in memory.doctor() if finding.path == path]
    return finding


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("latin-1", "error", "not UTF-8"),
        ("unclosed-frontmatter", "error", "never closed"),
        ("invalid-yaml", "warning", "line 2"),
        ("frontmatter-is-a-list", "warning", "not a list of `key: value` lines"),
        ("conflict-markers", "error", "unresolved merge"),
        ("deep-nesting", "warning", "nested too deeply"),
        ("alias-bomb", "warning", "anchors or aliases"),
        ("duplicate-key", "warning", "description"),
        ("same-name", "warning", "same-name-2.md"),
        ("no-frontmatter", "info", "no frontmatter"),
        ("empty", "error", "is empty"),
        ("no-name", "info", "name"),
    ],
)
def test_a_mangled_file_is_named_with_what_is_wrong_with_it(sample: Sample, name: str, level: str, words: str) -> None:
    found = about(Memory(sample("broken")), f"{ENTRIES}/{name}.md")
    assert found.level == level
    assert words in found.message


@pytest.mark.parametrize(
    "name",
    ["luna", "garden-gate", "marmalade", "crlf", "bom", "unknown-keys", "name-is-no", "name-is-1-10", "name-is-a-date"],
)
def test_an_entry_that_is_read_as_it_was_meant_is_not_named(sample: Sample, name: str) -> None:
    assert f"{ENTRIES}/{name}.md" not in levels(Memory(sample("broken")))


def test_leftovers_of_editors_are_not_named(sample: Sample) -> None:
    paths = levels(Memory(sample("broken")))
    assert not [path for path in paths if path.endswith((".tmp", ".swp"))]


def test_errors_come_first_and_infos_last(sample: Sample) -> None:
    found = [finding.level for finding in Memory(sample("broken")).doctor()]
    assert found == sorted(found, key=["error", "warning", "info"].index)
    assert set(found) == {"error", "warning", "info"}


def test_no_message_repeats_the_path_beside_it(sample: Sample) -> None:
    root = sample("broken")
    (root / "crabmem.toml").write_text("recal_limit = 3\n")
    (root / ENTRIES / "link.md").symlink_to(root / ENTRIES / "luna.md")
    repeated = [item for item in Memory(root).doctor() if item.path and item.path in item.message]
    assert repeated == []


def test_a_profile_that_is_none_is_a_finding(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    Memory(root).remember("A", "d", "c")
    (root / "crabmem.toml").write_text('profile = "nope"\n')
    done = typed("--dir", root, "doctor")
    assert done.exit_code == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert any(line.startswith("error: crabmem.toml: there is no profile nope; there are ") for line in lines)
    assert not [line for line in lines if line.startswith("ok: ") and line != "ok: hosts"]
    done = typed("--dir", root, "doctor", "--json", "--fix")
    levels = [
        (item["level"], item["check"]) for item in json.loads(done.stdout)["findings"] if item["check"] != "hosts"
    ]
    assert (done.exit_code, levels) == (1, [("error", "settings"), ("info", "settings")])
    done = typed("--dir", root, "--profile", "nope", "doctor")
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.startswith("crabmem: there is no profile nope; ")


def test_the_workspace_whose_settings_name_a_profile_that_is_none_is_named(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    Memory(root).remember("A", "d", "c")
    (root / "crabmem.toml").write_text('profile = "nope"\n')
    for own in (root, root / "agents/scout"):
        done = typed("--dir", own, "list")
        assert done.stderr.startswith(f"crabmem: {root / 'crabmem.toml'}: there is no profile nope; there are ")
    done = typed("--dir", root / "agents/scout", "doctor")
    assert f"error: {root / 'crabmem.toml'}: there is no profile nope; " in done.stdout


def test_the_doctor_has_nothing_to_say_about_what_crabmem_wrote(memory: Memory) -> None:
    memory.remember("Wifi", "the password for guests", "On the router.", aliases=["wlan"], tags=["house"])
    memory.write_overview("# Overview")
    assert memory.doctor() == []


def test_looking_changes_nothing(sample: Sample) -> None:
    root = sample("broken")
    before = {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]}
    Memory(root).doctor()
    assert {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]} == before


def test_a_memory_without_history_is_told_when_that_begins(tmp_path: Path) -> None:
    found = {finding.path: finding for finding in Memory(tmp_path).doctor()}
    assert (found[".git"].level, found["Crab.md"].level) == ("info", "info")
    assert "first write" in found[".git"].message


@pytest.mark.parametrize(
    ("text", "words"),
    [("recal_limit = 3\n", "did you mean `recall_limit`?"), ("recall_limit =", "not TOML"), ("\0", "not TOML")],
)
def test_broken_settings_are_an_error(memory: Memory, text: str, words: str) -> None:
    memory.init()
    (memory.root / "crabmem.toml").write_text(text)
    found = [finding for finding in memory.doctor() if finding.path == "crabmem.toml" and finding.level == "error"]
    assert len(found) == 1 and words in found[0].message
    (memory.root / "crabmem.toml").unlink()


def test_a_workspace_inside_another_repository_is_warned_about(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    memory = Memory(tmp_path / "deep" / "notes")
    memory.init()
    found = about(memory, "")
    assert found.level == "warning" and str(tmp_path) in found.message and ".gitignore" in found.message


def test_an_agents_own_workspace_is_not_a_nested_repository(memory: Memory) -> None:
    memory.init()
    own = Memory(memory.root / "agents" / "coder")
    own.remember("Wifi", "the password", "On the router.")
    assert "" not in levels(own)


def test_a_merge_left_open_is_warned_about_in_any_file(memory: Memory) -> None:
    (memory.root / "memory").mkdir(parents=True)
    (memory.root / "memory/MEMORY.md").write_text("# Overview\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> laptop\n")
    assert about(memory, "memory/MEMORY.md").level == "warning"


def test_a_line_of_equal_signs_is_no_open_merge(memory: Memory) -> None:
    memory.write_overview("Overview\n=======\n\n>>> quoted\n")
    assert memory.doctor() == []


def test_each_further_entry_of_a_name_is_named_once(memory: Memory) -> None:
    saved = memory.remember("Wifi", "the password", "On the router.")
    for name in ("copy.md", "third.md"):
        (memory.root / ENTRIES / name).write_bytes((memory.root / saved.path).read_bytes().replace(b"Wifi", b"WIFI"))
    memory.adopt()
    found = memory.doctor()
    assert [(item.level, item.path) for item in found] == [
        ("warning", f"{ENTRIES}/third.md"),
        ("warning", f"{ENTRIES}/wifi.md"),
    ]
    assert all(f"{ENTRIES}/copy.md" in item.message for item in found)


def test_an_entry_without_a_description_is_mentioned(memory: Memory) -> None:
    path = memory.remember("Wifi", " ", "On the router.").path
    assert about(memory, path).level == "info"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda file: file.write_text("---\nname: Wifi\ndescription: d\n---\n\nNew.\n"), "changed"),
        (lambda file: file.unlink(), "removed"),
    ],
)
def test_what_is_not_recorded_yet_is_mentioned(memory: Memory, change: Callable[[Path], None], word: str) -> None:
    path = memory.remember("Wifi", "the password", "On the router.").path
    change(memory.root / path)
    assert about(memory, path).message.startswith(f"{word} outside")
    memory.adopt()
    assert memory.doctor() == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda file: file.symlink_to("luna.md"), "regular file"),
        (lambda file: file.write_bytes(b"x" * 5_000_001), "larger than 5000000 bytes"),
        (os.mkfifo, "regular file"),
    ],
)
def test_what_cannot_be_read_as_an_entry_is_an_error(sample: Sample, make: Callable[[Path], None], words: str) -> None:
    root = sample("household")
    make(root / ENTRIES / "odd.md")
    found = about(Memory(root), f"{ENTRIES}/odd.md")
    assert found.level == "error" and words in found.message


@pytest.mark.parametrize("path", ["memory", ENTRIES])
def test_a_file_where_a_folder_belongs_is_an_error(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("in the way")
    assert levels(Memory(tmp_path))[path] == "error"


@pytest.mark.parametrize("path", ["memory", ENTRIES])
def test_a_linked_folder_that_memory_does_not_follow_is_an_error(sample: Sample, tmp_path: Path, path: str) -> None:
    root = sample("household")
    (root / path).rename(tmp_path / "elsewhere")
    (root / path).symlink_to(tmp_path / "elsewhere")
    assert Memory(root).entries() == []
    assert levels(Memory(root))[path] == "error"


def test_a_folder_where_the_overview_belongs_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "memory" / "MEMORY.md").mkdir(parents=True)
    assert levels(Memory(tmp_path))["memory/MEMORY.md"] == "error"


@pytest.mark.parametrize(
    ("file", "text"),
    [("HEAD", "garbage\n"), ("refs/heads/main", "garbage\n"), ("refs/heads/main", "1" * 40 + "\n")],
)
def test_a_damaged_repository_is_an_error(tmp_path: Path, file: str, text: str) -> None:
    memory = Memory(tmp_path)
    memory.remember("Wifi", "the password", "On the router.")
    (tmp_path / ".git" / file).write_text(text)
    found = [finding for finding in memory.doctor() if finding.path == ".git"]
    assert {finding.level for finding in found} == {"error"}
    assert not any("Error(" in finding.message for finding in found)


def test_a_file_in_place_of_the_repository_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    found = about(Memory(tmp_path), ".git")
    assert found.level == "error" and "repository of its own" in found.message


def test_a_head_that_a_crash_tore_is_mended_by_the_next_write_and_told(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.remember("Wifi", "the password", "On the router.")
    (tmp_path / ".git" / "refs" / "heads" / "main").write_bytes(b"\0" * 41)
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    assert [commit.subject for commit in memory.log()][:2] == ["remember: Vet", "remember: Wifi"]
    assert about(memory, ".git/crabmem/repairs.log").level == "info"


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock"])
def test_a_lock_of_another_git_process_is_warned_about(tmp_path: Path, name: str) -> None:
    memory = Memory(tmp_path)
    memory.init()
    lock = tmp_path / ".git" / name
    lock.write_text("")
    assert about(memory, f".git/{name}").level == "info"
    os.utime(lock, (0, 0))
    found = about(memory, f".git/{name}")
    assert found.level == "warning" and f"`rm {lock}`" in found.message
    maintenance.mend(memory)
    assert lock.exists()


@pytest.mark.parametrize("by", ["doctor", "the next write"])
def test_locks_that_a_killed_write_of_ours_left_are_told_and_removed(tmp_path: Path, by: str) -> None:
    memory = Memory(tmp_path)
    memory.init()
    private = tmp_path / state.FOLDER
    refs = Refs(tmp_path / ".git", private / state.TEMPORARY)
    if not (child := os.fork()):
        with WriterLock(private / state.LOCK).held(1), refs.holding("HEAD.lock", 1), refs.holding("index.lock", 1):
            os._exit(0)
    os.waitpid(child, 0)
    found = about(memory, ".git/HEAD.lock")
    assert found.level == "warning" and "Git waits for it" in found.message and "doctor --fix" in found.message
    assert any(".git, left by a write that was interrupted" in line for line in status(memory).odd)
    maintenance.mend(memory) if by == "doctor" else memory.remember("Luna", "the cat", "A cat.")
    assert not [*(tmp_path / ".git").glob("*.lock")] and not status(memory).odd
    with refs.holding("HEAD.lock", 1), WriterLock(private / state.LOCK).held(1):  # at work, and not left
        assert about(memory, ".git/HEAD.lock").level == "info" and not status(memory).odd


def test_text_that_a_crash_left_over_is_warned_about(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.init()
    (tmp_path / ".git" / "crabmem" / "tmp" / "write-0123456789abcdef").write_text("half a thought")
    memory.remember("Wifi", "the password", "On the router.")
    [found] = [item for item in memory.doctor() if item.level == "warning"]
    assert Path(tmp_path, found.path).read_text() == "half a thought"


def test_text_that_is_missing_from_history_is_named(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    blob = git(memory.root, "rev-parse", "HEAD:memory/entries/luna.md").strip()
    (memory.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (memory.root / ".git/crabmem/redo").unlink()
    assert any(item.level == "error" and item.path == "memory/entries/luna.md" for item in memory.doctor())
    memory.remember("Luna", "dog", "Thursday, at noon")
    memory.remember("Luna", "dog", "Thursday")  # the same text is stored anew
    assert not any(item.level == "error" for item in memory.doctor())


def test_files_that_look_like_memory_and_are_not_are_named(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    for path in ("memory/deep/x.md", "memory/notes.txt", "memory/entries/UP.MD", "memory/entries/.x.md.swp"):
        (memory.root / path).parent.mkdir(exist_ok=True)
        (memory.root / path).write_text("x")
    named = {item.path for item in memory.doctor() if "recalled" in item.message}
    assert named == {"memory/deep/x.md", "memory/notes.txt", "memory/entries/UP.MD"}
    for path in ("memory/notes.txt", "memory/entries/UP.MD"):
        (memory.root / path).unlink()
    memory.adopt()


def test_text_that_a_prune_took_is_put_back_from_the_disk_and_reported(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    for number in range(12):
        memory.remember(f"Fact {number}", "later", "x")
    objects = memory.root / ".git/objects"
    for path in ("memory/entries/luna.md", "memory/entries/fact-11.md"):
        blob = git(memory.root, "rev-parse", f"HEAD:{path}").strip()
        (objects / blob[:2] / blob[2:]).unlink()
    (memory.root / ".git/crabmem/redo").unlink()
    memory.remember("Other", "a write puts back what was changed last", "x")
    [lost] = [item for item in memory.doctor() if item.level == "error"]
    assert lost.path == "memory/entries/luna.md" and "--fix" in lost.message
    assert [words.partition(" ")[2][6:] for words in maintenance.mend(memory)] == [
        "the text of memory/entries/luna.md was missing from the history and was put back"
    ]
    assert not [item for item in memory.doctor() if item.level == "error"]
    assert "fact-11.md was missing" in "".join(item.message for item in memory.doctor())


def test_object_that_is_not_what_its_name_says_is_an_error(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Luna", "dog", "Friday")
    old = git(memory.root, "rev-parse", "HEAD~1:memory/entries/luna.md").strip()
    new = git(memory.root, "rev-parse", "HEAD:memory/entries/luna.md").strip()
    objects = memory.root / ".git/objects"
    kept = (objects / old[:2] / old[2:]).read_bytes()
    (objects / old[:2] / old[2:]).unlink()
    (objects / old[:2] / old[2:]).write_bytes((objects / new[:2] / new[2:]).read_bytes())
    [found] = [item for item in memory.doctor() if item.level == "error"]
    assert (found.path, found.check) == ("memory/entries/luna.md", "history") and old[:8] in found.message
    (objects / old[:2] / old[2:]).write_bytes(kept)


def test_secret_in_a_file_and_one_that_only_history_holds_are_warned_about(memory: Memory) -> None:
    secret, other = "gh" + "p_" + "a1B2c3D4e5F6" * 3, "np" + "m_" + "z9Y8x7W6v5U4" * 3
    memory.remember("Luna", "dog", "Thursday")
    for text in (other, secret):
        (memory.root / "memory/entries/luna.md").write_text(f"{text}\n")
        memory.adopt()
    told = {item.check: item.message for item in memory.doctor() if item.level == "warning"}
    assert "GitHub token (ghp_…)" in told["secrets"] and "npm token (npm_…)" in told["history"]
    (memory.root / "crabmem.toml").write_text('secrets = "off"\n')
    assert not [item for item in memory.doctor() if item.level == "warning"]
    memory.adopt()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_workspace_that_others_can_read_is_made_private_by_a_fix(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        memory.remember("Luna", "dog", "Thursday")
        above = [folder for folder in memory.root.parents if folder.stat().st_mode & 0o077 == 0]
        memory.root.chmod(0o755)
        assert ("permissions" in {item.check for item in memory.doctor()}) == (not above)
        maintenance.mend(memory)
        assert above or memory.root.stat().st_mode & 0o077 == 0


def test_checks_that_are_fine_are_said_to_be(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    done = typed("--dir", memory.root, "doctor", "--fix")
    assert (done.exit_code, done.output.splitlines()) == (0, [f"ok: {check}" for check in (*CHECKS, "hosts")])
    (memory.root / "memory/entries/luna.md").write_bytes(b"\xff")
    done = typed("--dir", memory.root, "doctor")
    assert done.exit_code == 1 and "ok: files" not in done.output and "error: memory/entries/luna.md" in done.output
    memory.adopt()


def test_files_that_only_case_tells_apart_are_warned_about(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    for name in ("LUNA.md", "caf\u00e9.md", "cafe\u0301.md"):
        (memory.root / "memory/entries" / name).write_text(f"---\nname: {name} x\ndescription: y\n---\nz\n")
    told = {item.path: item.message for item in memory.doctor() if "one file" in item.message}
    assert sorted(told) == ["memory/entries/caf\u00e9.md", "memory/entries/luna.md"]
    memory.adopt()


def test_links_that_lead_nowhere_are_named_once_a_file(memory: Memory) -> None:
    memory.remember("Wifi", "d", "[[wifi]] [[a]] [[b]] [[a#x]] [[c]] [[d]] `[[code]]`")
    finding = about(memory, f"{ENTRIES}/wifi.md")
    assert (finding.level, finding.check) == ("info", "links")
    assert finding.message == "link to facts that do not exist: [[a]], [[b]], [[c]] and 1 more"
