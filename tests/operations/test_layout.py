"""Facts where a host keeps them: in a folder adopted in place, and in `memory/` beside `memory/entries/`."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import InvalidArguments, InvalidSettings, MassLoss, Memory, NotFound, Unreadable, Unwritable
from crabmem.disk import fs
from crabmem.operations import adoption, purge
from crabmem.operations.setup import declare
from crabmem.workspace.layout import FLAT
from tests.conftest import ANN, FIXTURES, assert_clean, git
from tests.conftest import typed as run
from tests.faults.crashes import in_child
from tests.faults.shim import KILLED

Sample = Callable[[str], Path]
FACTS = {
    "deploy-window",
    "feedback-real-database",
    "project-season-freeze",
    "reference-tickets",
    "tide-tables",
    "user-role",
}
LUNA = "---\nname: Luna\ndescription: the dog\n---\n\nA lagotto who eats umbrellas.\n"


def files(root: Path) -> dict[str, bytes]:
    """The bytes of every file but those of the repository."""
    found = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in found}


@pytest.fixture
def adopted(sample: Sample) -> Path:
    """A folder of Claude Code's that was adopted."""
    root = sample("claude-code")
    assert run("adopt", str(root)).exit_code == 0
    return root


# A folder adopted in place


def test_adopting_records_every_byte_in_one_commit_and_adds_nothing_but_the_settings(sample: Sample) -> None:
    root = sample("claude-code")
    before = files(root)
    done = run("adopt", str(root))
    assert done.exit_code == 0 and f"--dir {root}" in done.stderr and "6 facts" in done.stderr
    assert files(root) == before | {"crabmem.toml": b'layout = "flat"\n'}
    assert git(root, "rev-list", "--count", "HEAD").strip() == "1"
    assert {name: git(root, "show", f"HEAD:{name}").encode() for name in before} == before
    assert_clean(root)


def test_adopting_twice_is_harmless(adopted: Path) -> None:
    before, head = files(adopted), git(adopted, "rev-parse", "HEAD")
    again = run("adopt", str(adopted), "--json")
    assert json.loads(again.stdout) == {"path": str(adopted), "facts": 6, "commit": None}
    assert (files(adopted), git(adopted, "rev-parse", "HEAD")) == (before, head)


@pytest.mark.parametrize("options", [[], ["--profile", "claw"]])
def test_a_dry_run_says_what_adopting_keeps_and_changes_nothing(sample: Sample, options: list[str]) -> None:
    root = sample("claude-code")
    (root / "cut.md").write_bytes(b"b\0")
    before = files(root)
    told = run("adopt", str(root), *options, "--dry-run")
    planned = json.loads(run("adopt", str(root), *options, "--dry-run", "--json").stdout)
    assert (files(root), (root / ".git").exists()) == (before, False)
    adopted = run("adopt", str(root), *options, "--json")
    done = json.loads(adopted.stdout)
    kept = git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert planned["paths"] == told.stdout.splitlines() == kept
    assert (planned["facts"], planned["commit"]) == (done["facts"], None)
    for each in (told, adopted):
        assert f"{len(kept)} files, {done['facts']} facts among them" in each.stderr
        assert each.stderr.count("\nnot recalled: cut.md: cut.md contains NUL") == (not options)
    (root / "MEMORY.md").write_text("# Another\n")
    edits = json.loads(run("--dir", str(root), "adopt", "--dry-run", "--json").stdout)["edits"]
    assert edits == [{"path": "MEMORY.md", "state": "changed"}] and git(root, "status", "--porcelain") != ""


@pytest.mark.parametrize("half", ["", 'layout = "fl'])
def test_adopting_again_ends_what_a_full_disk_or_a_crash_cut_off(sample: Sample, half: str) -> None:
    root = sample("claude-code")
    before = files(root)
    (root / "crabmem.toml").write_text(half)
    assert run("adopt", str(root)).exit_code == 0
    assert files(root) == before | {"crabmem.toml": b'layout = "flat"\n'}
    assert_clean(root)


@pytest.mark.parametrize("changes", [0, 1, 2, 7, 19, 30, 41, 52, 63])
def test_adopting_may_die_at_any_change_of_the_disk_and_is_done_again(sample: Sample, changes: int) -> None:
    root, left = sample("claude-code"), iter(range(changes))
    before = files(root)

    def die(operation: str, path: str) -> None:
        if next(left, None) is None:
            os._exit(KILLED)

    def adopted() -> int:
        fs.before = die
        return run("adopt", str(root)).exit_code

    assert in_child(adopted) == KILLED
    assert run("adopt", str(root)).exit_code == 0
    assert files(root) == before | {"crabmem.toml": b'layout = "flat"\n'}
    assert {name: git(root, "show", f"HEAD:{name}").encode() for name in before} == before
    assert_clean(root)


def test_what_adopting_did_is_data(sample: Sample) -> None:
    done = json.loads(run("adopt", str(sample("claude-code")), "--json").stdout)
    assert done["facts"] == 6 and "tide-tables.md" in done["commit"]["paths"]


def test_an_empty_folder_is_adopted_too(tmp_path: Path) -> None:
    assert run("adopt", str(tmp_path)).exit_code == 0
    with Memory(tmp_path) as memory:
        assert memory.remember("Luna", "the dog", "Eats umbrellas.").path == "luna.md"
    assert set(files(tmp_path)) == {"crabmem.toml", "luna.md"}


def test_facts_overview_and_identity_are_where_the_host_has_them(adopted: Path) -> None:
    with Memory(adopted) as memory:
        assert {entry.slug for entry in memory.entries()} == FACTS
        assert memory.recall("mocks in the tests of the database")[0].entry.path == "feedback-real-database.md"
        assert "[Tide tables](tide-tables.md)" in memory.prompt()
        assert memory.overview().path == "MEMORY.md" and memory.identity().version is None
        assert {hit.entry.slug for hit in memory.recall("planner harbour berth", tags=["user"])} == {"user-role"}
        assert {finding.level for finding in memory.doctor()} == {"info"}


def test_remembering_over_a_fact_of_the_host_changes_no_byte_of_what_it_keeps(adopted: Path) -> None:
    before = files(adopted)
    with Memory(adopted, agent="coder") as memory:
        saved = memory.remember("project-season-freeze", "No deploys until 2026-10-01", "Longer this year.")
        assert (saved.path, saved.created) == ("project-season-freeze.md", False)
        assert memory.get("project-season-freeze").kind == "project"
    changed = before.pop("project-season-freeze.md").decode()
    header, _, _ = changed.partition("---\n\n")
    header = header.replace(
        '"No deploys between 2026-05-01 and 2026-09-15, the mooring season"', "No deploys until 2026-10-01"
    )
    assert (adopted / saved.path).read_text() == f"{header}---\n\nLonger this year.\n"
    assert files(adopted).items() >= before.items()
    assert_clean(adopted)


def test_new_facts_and_what_the_host_writes_lie_side_by_side(adopted: Path) -> None:
    (adopted / "quay.md").write_text(
        "---\nname: quay\ndescription: the quay wall\nmetadata:\n  type: project\n---\n\nOld.\n"
    )
    with Memory(adopted, agent="coder") as memory:
        assert memory.recall("quay wall")[0].entry.path == "quay.md"
        assert memory.remember("Berth B7", "the narrow one", "Six metres.").path == "berth-b7.md"
        assert [commit.subject for commit in memory.log(limit=2)] == ["remember: Berth B7", "edit: quay"]
        memory.write_overview("- [Berth B7](berth-b7.md)\n")
        memory.forget("quay")
    assert (adopted / "MEMORY.md").read_text() == "- [Berth B7](berth-b7.md)\n" and not (adopted / "quay.md").exists()


def test_every_version_of_the_history_knows_its_layout(adopted: Path, tmp_path: Path) -> None:
    with Memory(adopted, agent="coder") as memory:
        memory.remember("Berth B7", "the narrow one", "Six metres.")
    git(adopted, "clone", "-q", str(adopted), str(tmp_path / "clone"))
    git(tmp_path / "clone", "checkout", "-q", "HEAD~1")
    with Memory(tmp_path / "clone") as memory:
        assert {entry.slug for entry in memory.entries()} == FACTS
    with Memory(adopted) as memory:
        assert {entry.slug for entry in memory.entries(at="HEAD~1")} == FACTS
        assert not memory.recall("narrow", as_of="HEAD~1") and memory.recall("narrow", as_of="HEAD")


def test_the_doctor_names_notes_that_lie_where_agents_have_their_workspaces(adopted: Path) -> None:
    for path in ("agents/smith.md", "agents/people/jones.md", "agents/bob/memory/luna.md"):
        (adopted / path).parent.mkdir(parents=True, exist_ok=True)
        (adopted / path).write_text(LUNA)
    with Memory(adopted / "agents/bob") as own:
        own.init()
    with Memory(adopted) as memory:
        assert memory.adopt() is None and not memory.recall("umbrellas")
        told = [found.path for found in memory.doctor() if found.level == "warning"]
    assert told == ["agents/people/jones.md", "agents/smith.md"]


def test_adopting_names_what_it_leaves_out_and_why(tmp_path: Path) -> None:
    texts = ["note.md", "topics/more.md", *(f"agents/{number}.md" for number in range(7)), "photo.png", "topics/a.txt"]
    for path in texts:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("Words.\n")
    told = run("adopt", str(tmp_path)).stderr.splitlines()
    left = [line for line in told if line.startswith("left out: ")]
    why = "it is no part of an agent's workspace, so it is neither recorded nor recalled; move it"
    assert left == [
        *(f"left out: agents/{number}.md: {why}" for number in range(5)),
        *(
            f"left out: {path}: it is not named *.md, so it is neither recorded nor recalled"
            for path in ("photo.png", "topics/a.txt")
        ),
        f"left out: 2 more: {why}",
    ]
    assert "2 facts among them" in "".join(told)


def test_a_first_adopt_says_what_it_recorded(tmp_path: Path) -> None:
    """A folder without a history gets one, and its files were recorded on the way."""
    (tmp_path / "memory" / "entries").mkdir(parents=True)
    (tmp_path / "memory" / "entries" / "h.md").write_text("Words.\n")
    assert "recorded: edit: h" in run("--dir", str(tmp_path), "adopt").stderr
    assert "nothing changed" in run("--dir", str(tmp_path), "adopt").stderr
    assert "recorded: init: a new memory" in run("--dir", str(tmp_path / "other"), "adopt").stderr


def test_an_agent_of_its_own_inherits_the_overview_of_a_flat_folder(adopted: Path) -> None:
    with Memory(adopted / "agents" / "bob") as bob:
        assert "Tide tables" in bob.overview().text
        assert bob.remember("Luna", "the dog", "Eats umbrellas.").path == "memory/entries/luna.md"
    with Memory(adopted) as memory:
        assert not memory.diff() and {entry.slug for entry in memory.entries()} == FACTS


def _in_repository(root: Path) -> None:
    git(root.parent, "init", "-q")


def _is_repository(root: Path) -> None:
    git(root, "init", "-q")


def _in_workspace(root: Path) -> None:
    Memory(root.parent).init()


def _is_workspace(root: Path) -> None:
    Memory(root).init()


def _has_settings(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = 3\n")


def _is_file(root: Path) -> None:
    shutil.rmtree(root)
    root.write_text("")


@pytest.mark.parametrize(
    ("make", "reason", "is_final"),
    [
        (_in_repository, "lies in a project's repository", False),
        (_is_repository, "is a project's repository", False),
        (_in_workspace, "is part of the workspace", True),
        (_is_workspace, "is a workspace already", True),
        (_has_settings, 'add `layout = "flat"`', True),
        (_is_file, "there is no folder", True),
    ],
)
def test_a_folder_that_is_something_else_is_adopted_only_when_that_is_meant(
    sample: Sample, make: Callable[[Path], None], reason: str, is_final: bool
) -> None:
    root = sample("claude-code")
    make(root)
    before = files(root.parent)
    tried, refused = run("adopt", str(root), "--dry-run"), run("adopt", str(root))
    assert (tried.exit_code, tried.stderr) == (refused.exit_code, refused.stderr)
    status = 2 if make is _is_file else 1
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (status, 1) and reason in refused.stderr
    assert files(root.parent) == before
    assert run("adopt", str(root), "--yes-really").exit_code == (status if is_final else 0)


def test_in_a_repository_of_the_person_only_memory_is_recorded(sample: Sample) -> None:
    root = sample("claude-code")
    _is_repository(root)
    (root / "code.py").write_text("pass\n")
    git(root, "add", "code.py")
    git(root, *ANN, "commit", "-qm", "theirs")
    (root / "code.py").write_text("changed\n")
    (root / "new.py").write_text("staged\n")
    git(root, "add", "new.py")
    done = json.loads(run("adopt", str(root), "--yes-really", "--json").stdout)
    assert set(done["commit"]["paths"]) == {path for path in files(root) if not path.endswith(".py")}
    with Memory(root, agent="coder") as memory:
        memory.rename("Tide tables", "Tides")
        memory.undo()
    assert git(root, "status", "--porcelain") == " M code.py\nA  new.py\n"
    assert git(root, "log", "--format=%an", "--", "*.py") == "Ann\n"


def test_the_folder_to_adopt_is_named_once(adopted: Path) -> None:
    assert run("--dir", str(adopted), "adopt", str(adopted)).exit_code == 2


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crabmem.toml").mkdir()
    with pytest.raises(Unreadable, match="cannot be read"):
        declare(tmp_path, "layout", FLAT.name)


@pytest.mark.parametrize("broken", ['layout = "flat"\nrecal_limit = 3\n', 'layout = "flat"\n[vectors\n'])
def test_facts_are_found_where_they_are_beside_settings_that_cannot_be_read(adopted: Path, broken: str) -> None:
    (adopted / "crabmem.toml").write_text(broken)
    with Memory(adopted) as memory:
        assert {entry.slug for entry in memory.entries()} == FACTS
        with pytest.raises(InvalidSettings):
            memory.remember("Luna", "the dog", "x")
        if "recal_limit" in broken:
            assert memory.recall("tide").hits
        else:
            with pytest.raises(InvalidSettings):
                memory.recall("tide")


def test_a_layout_that_changes_under_a_running_process_is_an_error_that_says_so(sample: Sample) -> None:
    root = sample("claude-code")
    with Memory(root) as memory:
        assert not memory.entries()
        declare(root, "layout", FLAT.name)
        for call in (lambda: memory.recall("tide"), lambda: memory.remember("Luna", "the dog", "x")):
            with pytest.raises(InvalidSettings, match="start it again"):
                call()
    with Memory(root) as memory:
        assert memory.recall("tide") and set(files(root)) == set(files(FIXTURES / "claude-code")) | {"crabmem.toml"}


# Facts in memory/, beside memory/entries/


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A workspace whose `memory/` Claude Code writes to, with a fact of ours."""
    root = tmp_path / "notes"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Wifi", "the network for guests", "Named Pinguin.")
    shutil.copytree(FIXTURES / "claude-code", root / "memory", dirs_exist_ok=True)
    return root


def test_facts_of_the_host_are_recalled_and_recorded_as_such(shared: Path) -> None:
    (shared / "memory/2026-11-20.md").write_text("A daily note about the tide.\n")
    with Memory(shared, agent="coder") as memory:
        assert {entry.slug for entry in memory.entries()} == (FACTS - {"deploy-window"}) | {"wifi"}
        assert memory.recall("tide tables")[0].entry.path == "memory/tide-tables.md"
        assert "[Tide tables](tide-tables.md)" in memory.overview().text
        commit = memory.adopt()
        assert commit and "Tide tables" in commit.entries and "2026-11-20.md" in commit.entries
        assert memory.remember("Luna", "the dog", "Eats umbrellas.").path == "memory/entries/luna.md"
        assert memory.remember("Tide tables", "which", "Ours.").path == "memory/tide-tables.md"
    assert_clean(shared)


def test_two_files_of_one_name_in_both_folders_are_told_apart_by_their_paths(shared: Path) -> None:
    (shared / "memory/luna.md").write_text(LUNA)
    (shared / "memory/entries/luna.md").write_text(LUNA.replace("lagotto", "poodle"))
    with Memory(shared) as memory:
        with pytest.raises(InvalidArguments, match=r"say which file: memory/entries/luna\.md, memory/luna\.md"):
            memory.get("luna")
        assert "lagotto" in memory.get("memory/luna.md").content
        assert memory.forget("memory/entries/luna.md").path == "memory/entries/luna.md"
        assert memory.get("luna").path == "memory/luna.md"


def test_a_slug_that_is_taken_in_either_folder_is_taken(shared: Path) -> None:
    (shared / "memory/luna.md").write_text(LUNA.replace("name: Luna", "name: The dog"))
    with Memory(shared) as memory:
        path = memory.remember("Luna", "the moon", "Round.").path
        assert path.startswith("memory/entries/luna-") and memory.get("The dog").path == "memory/luna.md"


def test_a_file_of_the_host_that_cannot_be_read_is_not_shadowed_by_a_new_one(shared: Path) -> None:
    (shared / "memory/luna.md").write_bytes(b"\xff")
    with Memory(shared) as memory:
        with pytest.raises(Unwritable, match=r"memory/luna\.md is not UTF-8"):
            memory.remember("Luna", "the dog", "x")
        with pytest.raises(Unreadable, match=r"memory/luna\.md is not UTF-8"):
            memory.get("luna")
        assert memory.recall("tide").unreadable == 1


def test_a_fact_that_the_host_is_writing_is_left_out_until_it_is_whole(shared: Path) -> None:
    with Memory(shared) as memory, open(shared / "memory/luna.md", "w") as file:
        file.write("---\nname: Luna\n")
        file.flush()
        assert not memory.recall("umbrellas") and memory.recall("tide")
        file.write(LUNA.partition("name: Luna\n")[2])
        file.close()
        assert memory.recall("umbrellas")[0].entry.name == "Luna"


@pytest.mark.parametrize("folder", ["memory", "memory/entries"])
def test_the_past_of_a_fact_is_told_in_either_folder(tmp_path: Path, folder: str) -> None:
    root = tmp_path / "notes"
    with Memory(root, agent="coder") as memory:
        memory.init()
        (root / folder).mkdir(parents=True, exist_ok=True)
        file = root / folder / "luna.md"
        file.write_text(LUNA)
        memory.adopt()
        saved = memory.remember("Luna", "the dog", "A poodle now.")
        assert saved.path == f"{folder}/luna.md" and not saved.created
        assert [commit.subject for commit in memory.log(name="luna")] == ["remember: Luna", "edit: Luna"]
        assert {line.tool for line in memory.blame("luna")} == {None, "remember"}
        assert memory.get("luna", at="HEAD~1").content == "A lagotto who eats umbrellas."
        assert memory.recall("lagotto", as_of="HEAD~1")[0].entry.path == saved.path
        assert [sighting.what for sighting in memory.when("lagotto").steps] == ["appeared", "vanished"]
        assert [news.name for news in memory.digest(since="HEAD~1").changed] == ["Luna"]
        memory.forget("luna")
        assert memory.log(name="luna")[0].subject == "forget: Luna"
        memory.rollback("HEAD~1", "Luna")
        memory.revert("HEAD~2")
        assert file.read_text() == LUNA
        assert memory.purge("Luna").is_done and purge.standing(memory, "Luna").places == ()
        with pytest.raises(NotFound):
            memory.get("luna")
    assert_clean(root)


def test_a_moment_is_known_again_until_a_fact_changes_wherever_it_lies(shared: Path) -> None:
    with Memory(shared, agent="coder") as memory:
        memory.adopt()

        def known_as() -> str:
            return memory.timeline.entries_id(memory.log(limit=1)[0].commit)

        before = known_as()
        memory.write_overview("# New\n")
        assert known_as() == before
        memory.remember("Tide tables", "which", "Ours.")
        beside = known_as()
        memory.remember("Wifi", "the network", "Gone.")
        assert len({before, beside, known_as()}) == 3


@pytest.mark.parametrize("folder", ["memory", "memory/entries"])
def test_many_facts_are_not_lost_by_a_slip_in_either_folder(tmp_path: Path, folder: str) -> None:
    with Memory(tmp_path / "notes", agent="coder") as memory:
        memory.init()
        (memory.root / folder).mkdir(parents=True, exist_ok=True)
        for number in range(12):
            (memory.root / folder / f"fact-{number}.md").write_text(f"Text {number}.\n")
        memory.adopt()
        before = files(memory.root)
        for number in range(12):
            (memory.root / folder / f"fact-{number}.md").unlink()
        assert memory.adopt() is None and (held := adoption.unrecorded(memory)) and (held.count, held.total) == (12, 12)
        memory.restore()
        assert files(memory.root) == before
        with pytest.raises(MassLoss):
            memory.rollback("HEAD~1")


def test_the_doctor_names_what_is_beside_the_facts_and_is_none(shared: Path) -> None:
    (shared / "memory/notes.txt").write_text("x")
    (shared / "memory/odd.md").mkdir()
    with Memory(shared) as memory:
        memory.adopt()
        told = {finding.path: finding.message for finding in memory.doctor()}
    assert "recorded but not recalled" in told["memory/team/deploy-window.md"]
    assert "not named *.md" in told["memory/notes.txt"] and "it is a folder" in told["memory/odd.md"]


@pytest.mark.parametrize("name", ["MEMORY", "Memory", "Crab", "2026-11-20"])
def test_a_fact_called_like_a_file_that_is_no_fact_gets_another_file(adopted: Path, name: str) -> None:
    before = files(adopted)
    with Memory(adopted) as memory:
        path = memory.remember(name, "called like it", "zebra").path
        assert FLAT.is_entry(path) and memory.recall("zebra")[0].entry.name == name
    assert files(adopted).items() >= before.items()


def test_adopting_a_vault_makes_facts_of_the_notes_in_its_folders_and_says_how_many(tmp_path: Path) -> None:
    for path in ("People/Marta Alves.md", "Projects/Kitchen/Tiles.md", "Inbox.md", ".obsidian/x.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"About the kitchen, in {path}.\n")
    before = files(tmp_path)
    done = run("adopt", str(tmp_path))
    assert "3 facts among them" in done.stderr and "autoMemoryDirectory" not in done.stderr
    with Memory(tmp_path) as memory:
        found = {hit.entry.path for hit in memory.recall("kitchen")}
        assert found == {"People/Marta Alves.md", "Projects/Kitchen/Tiles.md", "Inbox.md"}
        assert memory.get("Kitchen/Tiles").name == "Tiles"
        assert memory.remember("Marta Alves", "the contractor", "Late.").path == "People/Marta Alves.md"
        assert memory.remember("Otto", "the cat", "Sleeps.").path == "otto.md"
    assert files(tmp_path).keys() == before.keys() | {"crabmem.toml", "otto.md"}


def test_adopting_says_that_it_made_a_repository_and_how_that_is_undone(sample: Sample) -> None:
    root = sample("claude-code")
    before, said = files(root), run("adopt", str(root)).stderr
    assert f"its history is in {root}/.git, which is new" in said
    assert f"`rm -r {root}/.git {root}/crabmem.toml` undoes all of this" in said
    assert "which is new" not in run("adopt", str(root)).stderr
    shutil.rmtree(root / ".git")
    (root / "crabmem.toml").unlink()
    assert files(root) == before


def test_adopting_speaks_of_claude_code_only_where_the_folder_is_its_own(sample: Sample, tmp_path: Path) -> None:
    assert "autoMemoryDirectory" in run("adopt", str(sample("claude-code"))).stderr
    own, other = tmp_path / ".claude/projects/-home-ann/memory", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir(parents=True)
    assert "autoMemoryDirectory" in run("adopt", str(own)).stderr
    assert "autoMemoryDirectory" not in run("adopt", str(other)).stderr


def test_adopting_says_why_nothing_can_be_recalled(tmp_path: Path) -> None:
    empty, half = tmp_path / "empty", tmp_path / "half"
    for folder in (empty, half):
        folder.mkdir()
    (empty / "notes.txt").write_text("Not Markdown.\n")
    said = run("adopt", str(empty)).stderr
    assert "nothing in it can be recalled yet: facts are Markdown files, and no Markdown file lies in the works" in said
    (half / "x.md").write_bytes(b"\xff\xfe")
    assert (
        "nothing in it can be recalled: 1 file cannot be read; `crabmem doctor` says" in run("adopt", str(half)).stderr
    )
