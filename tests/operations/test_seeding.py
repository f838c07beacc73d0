"""What a workspace begins with, and that nothing of it is made twice or over what is there."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.disk import fs
from crabmem.operations import setup
from crabmem.prompt.seeding import with_setting
from crabmem.text.values import fields_of
from crabmem.workspace.settings import parse_settings
from tests.conftest import assert_clean, git
from tests.conftest import typed as run
from tests.faults.crashes import in_child
from tests.faults.shim import KILLED
from tests.operations.test_layout import files
from tests.profiles.test_sixth import SIXTH


@pytest.fixture
def family(tmp_path: Path) -> str:
    """The file of a family that has seeds."""
    (tmp_path / "bees.toml").write_text(SIXTH)
    return str(tmp_path / "bees.toml")


def count(root: Path) -> int:
    return int(git(root, "rev-list", "--count", "HEAD"))


def test_the_first_write_makes_what_is_not_there_and_overwrites_nothing(tmp_path: Path, family: str) -> None:
    root = tmp_path / "bees"
    root.mkdir()
    (root / "USER.md").write_bytes(b"They are Ann's.\r\n")
    with Memory(root, profile=family) as memory:
        memory.remember("Queen", "how old she is", "Two years.")
        assert [commit.subject for commit in memory.log()] == [
            "remember: Queen", "init: a new memory", "edit: USER.md",
        ]  # fmt: skip
    made = {name: data for name, data in files(root).items() if "/" not in name}
    assert made == {"USER.md": b"They are Ann's.\r\n", "KEEPER.md": b"You are careful."}
    assert_clean(root)


def test_what_the_first_session_deletes_does_not_come_back(tmp_path: Path, family: str) -> None:
    root = tmp_path / "bees"
    run("--dir", str(root), "init", "--profile", family)
    assert (root / "FIRST.md").is_file() and count(root) == 1
    (root / "FIRST.md").unlink()
    for _ in range(2):  # the second time the deletion is recorded
        assert run("--dir", str(root), "init", "--profile", family).exit_code == 0
        with Memory(root) as memory:
            memory.remember("Queen", "how old she is", "Two years.")
        assert not (root / "FIRST.md").exists()
    assert_clean(root)


def test_a_workspace_whose_files_vanished_is_not_begun_anew(tmp_path: Path, family: str) -> None:
    root = tmp_path / "bees"
    with Memory(root, profile=family) as memory:
        setup.use_profile(memory)
        for number in range(12):
            memory.remember(f"Hive {number}", "a hive", "Full.")
        before = files(root)
    for name in before:
        (root / name).unlink()
    done = run("--dir", str(root), "init", "--profile", family)
    assert done.exit_code == 0 and set(files(root)) == {"crabmem.toml"}
    assert "restore" in run("--dir", str(root), "adopt").stderr
    assert run("--dir", str(root), "restore").exit_code == 0
    assert files(root) == before
    assert_clean(root)


def test_a_family_is_taken_up_where_there_is_a_memory_in_one_commit(tmp_path: Path, family: str) -> None:
    root = tmp_path / "notes"
    with Memory(root) as memory:
        memory.remember("Queen", "how old she is", "Two years.")
    (root / "crabmem.toml").write_text("# mine\nrecall_limit = 3  # few\n")
    run("--dir", str(root), "adopt")
    dry, before, commits = ["--dir", str(root), "init", "--profile", family, "--json"], files(root), count(root)
    would = json.loads(run(*dry, "--dry-run").stdout)
    assert (files(root), count(root), would["commit"]) == (before, commits, None)
    made = json.loads(run(*dry).stdout)
    assert made["paths"] == would["paths"] == ["crabmem.toml", "KEEPER.md", "USER.md"] and not made["made"]
    assert (root / "crabmem.toml").read_text() == f'profile = "{family}"\n# mine\nrecall_limit = 3  # few\n'
    assert count(root) == commits + 1 and git(root, "log", "-1", "--format=%s").startswith("init: the profile ")
    again = json.loads(run(*dry).stdout)
    assert (again["commit"], again["paths"], again["left"]) == (None, [], ["KEEPER.md", "USER.md"])
    assert count(root) == commits + 1
    assert_clean(root)


def test_a_profile_that_lies_in_the_workspace_is_named_by_its_way_from_there(tmp_path: Path, family: str) -> None:
    root = tmp_path / "bees"
    root.mkdir()
    Path(family).rename(root / "bees.toml")
    assert run("--dir", str(root), "init", "--profile", str(root / "bees.toml")).exit_code == 0
    assert (root / "crabmem.toml").read_text() == 'profile = "bees.toml"\n'
    root.rename(tmp_path / "moved")
    with Memory(tmp_path / "moved") as memory:
        assert memory.profile.about.startswith("beekeepers")


def test_a_profile_that_is_none_makes_nothing(tmp_path: Path) -> None:
    done = run("--dir", str(tmp_path / "notes"), "init", "--profile", "nobody")
    assert done.exit_code == 2 and "no profile nobody; there are " in done.stderr
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize("name", ["--profile", "CRABMEM_PROFILE"])
def test_a_profile_may_be_named_before_the_verb_too(
    tmp_path: Path, family: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ["--profile", family] if name[0] == "-" else []
    if not before:
        monkeypatch.setenv(name, family)
    done = run("--dir", tmp_path / "bees", *before, "init")
    assert done.exit_code == 0 and (tmp_path / "bees/KEEPER.md").is_file()


# A folder of the family that exists


@pytest.fixture
def hives(tmp_path: Path) -> Path:
    """What an agent of the family left behind, without a history."""
    root = tmp_path / "hives"
    (root / "memory/days").mkdir(parents=True)
    (root / "KEEPER.md").write_bytes(b"I keep bees.\r\n")
    (root / "memory/days/2026-03-01.md").write_text("Hive two swarmed.\n")
    (root / "scales.json").write_text("{}")
    return root


def test_a_folder_of_the_family_is_adopted_without_changing_a_byte_or_making_a_file(hives: Path, family: str) -> None:
    before = files(hives)
    done = run("adopt", str(hives), "--profile", family)
    assert done.exit_code == 0 and "autoMemoryDirectory" not in done.stderr
    assert files(hives) == before | {"crabmem.toml": f'profile = "{family}"\n'.encode()}
    assert count(hives) == 1 and "memory/days/2026-03-01.md" in git(hives, "ls-tree", "-r", "--name-only", "HEAD")
    with Memory(hives) as memory:
        assert "I keep bees." in memory.prompt()
        memory.remember("Queen", "how old she is", "Two years.")
    assert set(files(hives)) == {*before, "crabmem.toml", "memory/hives/queen.md"}


def test_adopting_for_a_family_twice_is_harmless_and_for_another_it_is_refused(hives: Path, family: str) -> None:
    run("adopt", str(hives), "--profile", family)
    before, commits = files(hives), count(hives)
    assert run("adopt", str(hives), "--profile", family).exit_code == 0
    refused = run("adopt", str(hives), "--profile", "crab")
    assert refused.exit_code == 1 and "init --profile crab` makes it one of crab" in refused.stderr
    assert (files(hives), count(hives)) == (before, commits)


def test_a_folder_is_not_adopted_for_a_profile_that_is_none(hives: Path) -> None:
    before = files(hives)
    assert run("adopt", str(hives), "--profile", "nobody").exit_code == 2
    assert files(hives) == before and not (hives / ".git").exists()


# Naming a profile in settings that a person wrote

SETTINGS = st.lists(
    st.sampled_from(
        ["# a remark", "recall_limit = 3  # few", 'person = "Ann"', "", "profile = 'claw' # old", "lock_timeout = 2.5"]
    ),
    unique=True,
)
TABLES = st.sampled_from(["", "# about hooks\n[hooks]\nmessages = 4\n", "[vectors] # mine\nurl = 'http://x'\n"])


@given(
    SETTINGS,
    TABLES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.text("a\"\\/'é .", max_size=9),
)
def test_naming_a_profile_keeps_all_else_that_settings_say(
    lines: list[str], table: str, end: str, mark: str, profile: str
) -> None:
    text = mark + "".join(f"{line}\n" for line in [*lines, *table.splitlines()]).replace("\n", end)
    named = with_setting(text, "profile", profile)
    before, after = parse_settings(text.encode(), "x"), parse_settings(named.encode(), "x")
    assert after.profile == profile and with_setting(named, "profile", profile) == named
    assert {key: getattr(after, key) for key in fields_of(type(after)) if key != "profile"} == {
        key: getattr(before, key) for key in fields_of(type(before)) if key != "profile"
    }
    assert named.startswith(mark) and [
        line for line in text.removeprefix(mark).splitlines() if "profile" not in line
    ] == [line for line in named.removeprefix(mark).splitlines() if "profile" not in line]


def test_settings_that_are_no_toml_are_told_and_stay(
    tmp_path: Path, family: str, sample: Callable[[str], Path]
) -> None:
    root = sample("household")
    (root / "crabmem.toml").write_text("recall_limit = \n")
    done = run("--dir", str(root), "init", "--profile", family)
    assert done.exit_code == 1 and "crabmem.toml is not TOML" in done.stderr and done.stderr.count("\n") == 1
    assert (root / "crabmem.toml").read_text() == "recall_limit = \n" and not (root / "KEEPER.md").exists()


def test_a_person_who_put_a_link_where_a_seed_belongs_keeps_it(tmp_path: Path, family: str) -> None:
    root = tmp_path / "bees"
    root.mkdir()
    (tmp_path / "user.md").write_text("Ann.")
    (root / "USER.md").symlink_to(tmp_path / "user.md")
    done = json.loads(run("--dir", str(root), "init", "--profile", family, "--json").stdout)
    assert (
        done["left"] == ["USER.md"] and (root / "USER.md").is_symlink() and (tmp_path / "user.md").read_text() == "Ann."
    )


def test_half_a_template_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="cannot be read"):
        Memory(tmp_path / "notes", profile=str(tmp_path / "gone.toml"))


@pytest.mark.parametrize("changes", [0, 1, 3, 8, 15, 23, 31, 40, 52])
def test_taking_up_a_family_may_die_at_any_change_of_the_disk_and_is_done_again(
    tmp_path: Path, family: str, changes: int
) -> None:
    root, left = tmp_path / "bees", iter(range(changes))
    before = fs.before

    def die(operation: str, path: str) -> None:
        if next(left, None) is None:
            os._exit(KILLED)

    def begun() -> int:
        fs.before = die
        return run("--dir", str(root), "init", "--profile", family).exit_code

    assert in_child(begun) in (KILLED, 0) and fs.before is before
    assert run("--dir", str(root), "init", "--profile", family).exit_code == 0
    assert {name for name in files(root) if "/" not in name} == {"FIRST.md", "KEEPER.md", "USER.md", "crabmem.toml"}
    assert_clean(root)


def test_what_another_profile_does_not_read_any_more_is_told(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    with Memory(root, is_person=True) as memory:
        memory.init()
        memory.write_overview("# Overview\n")
    tried = run("--dir", str(root), "init", "--profile", "claw", "--dry-run")
    done = run("--dir", str(root), "init", "--profile", "claw")
    for told in (tried.stderr, done.stderr):
        assert "Crab.md is no longer read before a conversation: with the profile claw that is SOUL.md" in told
        assert (
            "memory/MEMORY.md is no longer read before a conversation: with the profile claw that is MEMORY.md" in told
        )
    again = run("--dir", str(root), "init", "--profile", "claw", "--json")
    assert "no longer read" not in again.stderr and "unread" not in json.loads(again.stdout)


def test_a_file_that_is_no_fact_is_not_said_to_go_by_forget(tmp_path: Path) -> None:
    root = str(tmp_path / "notes")
    run("--dir", root, "remember", "Tea", "-d", "what to drink", "-c", "Oolong.")
    run("--dir", root, "overview", "set", "-c", "# Overview")
    run("--dir", root, "remember", "Wifi", "-d", "the password", "-c", "On the router.")
    overview = run("--dir", root, "restore", "MEMORY.md", "--to", "HEAD~2")
    fact = run("--dir", root, "restore", "wifi", "--to", "HEAD~2")
    assert (overview.exit_code, fact.exit_code) == (1, 1)
    assert "delete memory/MEMORY.md" in overview.stderr and "forget" not in overview.stderr
    assert "`crabmem forget` removes what is there now" in fact.stderr
