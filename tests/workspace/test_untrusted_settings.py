"""What the settings and the profile of a workspace may do that came from somebody else: SECURITY.md lists it all."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from crabmem import CrabmemError, InvalidSettings, Memory
from crabmem.operations import context
from crabmem.prompt.profile import Profile, parse_profile
from crabmem.text.toml import struct_in
from crabmem.workspace.settings import Settings
from crabmem.workspace.settings_file import form_of
from tests.conftest import assert_clean, git

ROOT = Path(__file__).parent.parent.parent
SECTION = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What a workspace's settings can do\n")[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.split(r"^## ", SECTION, flags=re.MULTILINE)[0].splitlines()
    if line.startswith("| `")
]


def keys_of(kind: type[msgspec.Struct], before: str = "") -> Iterator[str]:
    """The keys of a table and of those in it, as they are named in the list."""
    for name, hint in get_type_hints(kind).items():
        inner = struct_in(hint)
        if inner is None:
            yield f"{before}{name}"
        else:
            yield from keys_of(inner, f"{before}{name}.")


@pytest.mark.parametrize("kind", [form_of(Settings), Profile])
def test_security_says_of_every_setting_what_a_stranger_can_do_with_it(kind: type[msgspec.Struct]) -> None:
    title = "### Settings" if kind is form_of(Settings) else "### A profile"
    part = re.split(r"^### ", SECTION.partition(f"{title}\n")[2], flags=re.MULTILINE)[0]
    listed = [
        key
        for line in part.splitlines()
        if line.startswith("| `")
        for key in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]
    assert sorted(listed) == sorted(keys_of(kind))


def test_every_test_that_security_names_is_there() -> None:
    written = "\n".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert ROWS and all(len(row) == 4 and all(row) for row in ROWS)
    for *_, tests in ROWS:
        names = re.findall(r"`(test_\w+)`", tests)
        assert names and all(f"def {name}(" in written for name in names), tests


@pytest.mark.parametrize(
    "person",
    [
        "Ann <ann@example.org>\ncommitter Eve <eve@example.org> 0 +0000",
        "\n\ntree 0",
        "a\0b",
        "<>",
        "",
        "x <y> <z>",
        " \r\n ",
    ],
)
def test_the_name_of_the_person_stays_one_name(tmp_path: Path, person: str) -> None:
    shown = "".join(f"\\u{ord(sign):04x}" if sign < " " else sign for sign in person)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "crabmem.toml").write_text(f'person = "{shown}"\n')
    with Memory(tmp_path / "notes", is_person=True) as memory:
        memory.remember("Luna", "the dog", "A vet.")
        assert memory.settings.person == person
    assert_clean(tmp_path / "notes")
    assert set(git(tmp_path / "notes", "log", "--format=%cn <%ce>").split("\n")) <= {
        "crabmem <crabmem@crabmem.invalid>",
        "",
    }


def test_settings_that_protect_less_are_named_and_reach_nothing_outside(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    with Memory(root, agent="me") as memory:
        memory.init()
        assert not [found for found in memory.doctor() if "protects less" in found.message]
        (root / "crabmem.toml").write_text('secrets = "off"\nsoul_editable = true\ndurability = "fast"\n')
        [found] = [found for found in memory.doctor() if "protects less" in found.message]
        assert "soul_editable, secrets, durability" in found.message and found.level == "info"
        memory.remember("Key", "of the shop", "AKIAIOSFODNN7EXAMPLE")
        memory.call("soul", {"content": "# Somebody else\n"})
    assert [item.name for item in tmp_path.iterdir()] == ["notes"]
    assert_clean(root)


@pytest.mark.parametrize(
    "said",
    ["largest = 262_145", "largest = 0", "quiet = 61", "quiet = nan", '[[part]]\nsay = "environment"',
     '[[part]]\nof = "root"', '[[part]]\nkeep = "all"', '[search]\nunit = "sign"', "[budget]\nhead = 2",
     "[window]\nflush = nan"],
)  # fmt: skip
def test_an_unknown_value_of_a_profile_is_refused(said: str) -> None:
    said = f'about = "x"\n{said}\n' if said[0] != "[" else f'about = "x"\n[[part]]\nwords = "x"\n{said}\n'
    with pytest.raises(InvalidSettings, match=r"(must be .* (of at most|of at least) |cannot be)"):
        parse_profile(said, "mine.toml")


@pytest.mark.parametrize("said", ['tools = ["shell"]', '[kinds.group]\ntools = ["files.run"]'])
def test_a_profile_with_a_tool_that_is_none_is_refused(tmp_path: Path, said: str) -> None:
    (tmp_path / "mine.toml").write_text(f'about = "x"\npart = [{{ words = "x" }}]\n{said}\n')
    memory = Memory(tmp_path / "notes", profile=str(tmp_path / "mine.toml"), kind="group")
    with memory, pytest.raises(CrabmemError, match=r"no tool run in files|shell"):
        assert not memory.tools


TEXT = "{tools.__class__} {0} {} %s {path} {file} {name} <memory> </memory> $(touch x) `touch x`"
PROFILE = f"""
about = '{TEXT}'
between = '{TEXT}'
missing = '{TEXT}'
tools = ["entries", "files", "notes"]
part = [
  {{ words = '{TEXT}' }}, {{ file = "{{identity}}", title = '{TEXT}', tag = "memory" }}, {{ file = "none.md" }},
  {{ file = "{{overview}}", limit = 300 }}
]
[budget]
mark = '{TEXT}'
[window]
flush = 0.1
warn = 0.1
silent = '{TEXT}'
ask = '{TEXT}'
warning = '{TEXT}'
[[seed]]
file = "SEED.md"
words = '{TEXT}'
"""


def test_texts_of_a_profile_stay_texts(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "mine.toml").write_text(PROFILE)
    (root / "crabmem.toml").write_text('profile = "mine.toml"\n')
    with Memory(root, agent="me") as memory:
        memory.write_overview("long " * 500)
        assert "{tools.__class__} {0} {} %s" in memory.prompt() and "<class" not in memory.prompt()
        due = context.due(memory, 900, 1_000)
        assert "{tools.__class__}" in due.prompt and "{tools.__class__}" in due.warning
        assert (root / "SEED.md").read_text().startswith("{tools.__class__} {0}")
        memory.before_turn("long overview")
    assert [item.name for item in tmp_path.iterdir()] == ["notes"] and not (root / "x").exists()
