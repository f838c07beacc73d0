"""No answer tells a model where on this machine the workspace lies."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from crabmem import Memory
from crabmem.tools.toolbox import Toolbox
from crabmem.tools.toolsets import toolset, toolsets
from tests import samples

LUNA = {"name": "Luna", "description": "the dog", "content": "A lurcher."}
NAMES = [
    "memory/entries/link.md", "link.md", "entries/link.md", "MEMORY.md", "memory/MEMORY.md", "folder", "memory/folder",
    "../../etc/passwd", "/etc/passwd", "a\0b", "x" * 300, "", "CON", ".git/config", "entries/luna.md/below.md",
    "memory/linked/x.md", "linked/x.md",
]  # fmt: skip


def arguments_of(tool: str, schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Arguments for a tool in which every text is that name."""
    given: dict[str, Any] = {}
    for key in schema["properties"]:
        kinds = schema["properties"][key]
        kind = next((each["type"] for each in kinds.get("anyOf", [kinds]) if each["type"] != "null"), "string")
        if key in schema.get("required", []) or kind == "string":
            given[key] = {"integer": 1, "array": [name], "string": name}[kind]
    return given


def _linked(root: Path) -> None:
    (root / "memory/entries/link.md").symlink_to("/etc/hostname")
    (root / "memory/link.md").symlink_to("/etc/hostname")
    (root / "memory/linked").symlink_to("/etc")
    (root / "memory/folder").mkdir()


def _overview_is_a_folder(root: Path) -> None:
    for file in (root / "memory/MEMORY.md", root / "MEMORY.md"):
        file.unlink(missing_ok=True)
        file.mkdir()


def _entries_are_a_file(root: Path) -> None:
    shutil.rmtree(root / "memory/entries")
    (root / "memory/entries").write_text("x")


def _entries_are_a_link(root: Path) -> None:
    shutil.rmtree(root / "memory/entries")
    (root / "memory/entries").symlink_to("/etc")


def _settings_are_broken(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = [\n")


def _settings_are_unknown(root: Path) -> None:
    (root / "crabmem.toml").write_text("recal_limit = 3\n")


def _history_is_damaged(root: Path) -> None:
    (root / ".git/HEAD").write_text("nonsense\n")
    (root / ".git/refs/heads/main").write_text("nonsense\n")


def _history_is_gone(root: Path) -> None:
    (root / ".git").rename(root.parent / "away")


def _workspace_is_gone(root: Path) -> None:
    root.rename(root.parent / "moved")


def _nested(root: Path) -> None:
    (root / "memory/.git").mkdir()
    (root / "memory/.git/HEAD").write_text("ref: refs/heads/main\n")


def _is_read_only(root: Path) -> None:
    for folder in (root / "memory/entries", root / "memory", root):
        folder.chmod(0o500)


def _nothing(root: Path) -> None:
    pass


TROUBLES = [
    _nothing, _linked, _overview_is_a_folder, _entries_are_a_file, _entries_are_a_link, _settings_are_broken,
    _settings_are_unknown, _history_is_damaged, _history_is_gone, _workspace_is_gone, _nested, _is_read_only,
]  # fmt: skip


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[Path]:
    """A folder that is reached over a link, and can be removed whatever a test did to it."""
    (tmp_path / "real-home").mkdir()
    (tmp_path / "home").symlink_to("real-home")
    yield tmp_path / "home"
    for folder, _, _ in os.walk(tmp_path / "real-home"):
        os.chmod(folder, 0o700)


@pytest.mark.parametrize(
    ("profile", "trouble"),
    [
        # Each profile has its own tools, each trouble its own messages: the short form has not all with all.
        pytest.param(profile, trouble, marks=[] if number in (0, 1 + other % 4) else [pytest.mark.long])
        for number, profile in enumerate(["crab", "camel", "claw", "legion", "harness"])
        for other, trouble in enumerate(TROUBLES)
    ],
)
def test_no_tool_says_where_the_workspace_lies(writable: Path, profile: str, trouble: Callable[[Path], None]) -> None:
    root = writable / "notes"
    with Memory(root, agent="coder", profile=profile) as memory:
        memory.remember(**LUNA)
        memory.remember("Wifi", "the network", "Pinguin.")
        memory.recall("lurcher")
        trouble(root)
        wrong, said = 0, dict[str, str]()
        names = [item.name for name in toolsets() for item in toolset(name)]
        # Those of the profile, and those that a host may ask for in any.
        there = [] if trouble is _settings_are_broken else [*Toolbox(memory).usual, *samples.shared_tools()]
        schemas = {tool.name: tool.input_schema for tool in memory.tools_named(there)} if there else {}
        for name in names:
            for text in NAMES:
                schema = schemas.get(name, {"properties": {"content": {"type": "string"}}, "required": ["content"]})
                result = memory.call(name, arguments_of(name, schema, text), [name])
                wrong += result.is_error
                said[f"{name} {text}"] = result.text
        for call, text in said.items():
            assert "real-home" not in text and str(writable) not in text, f"{call}: {text}"
        assert wrong


def test_an_error_over_the_protocol_does_not_say_where_the_workspace_lies(writable: Path) -> None:
    from mcp import Client, MCPError

    from crabmem.mcp.served import Served
    from crabmem.mcp.server import MemoryServer

    root = writable / "notes"
    with Memory(root, agent="coder") as memory:
        memory.remember(**LUNA)
        memory.remember("Wifi", "the network", "Pinguin.")
        _linked(root)
        _overview_is_a_folder(root)

        async def asked() -> list[str]:
            said = list[str]()
            async with Client(MemoryServer(Served(memory, "reader", "s-1"))) as client:
                for uri in ("crabmem://memory", "crabmem://entries/link", "crabmem://entries/nothing"):
                    try:
                        said += [getattr(each, "text", "") for each in (await client.read_resource(uri)).contents]
                    except MCPError as error:
                        said.append(str(error))
                try:
                    said.append(str(await client.get_prompt("review", {"since": "nonsense"})))
                except MCPError as error:
                    said.append(str(error))
            return said

        said = anyio.run(asked)
    assert len(said) == 4 and all(said)
    assert not [text for text in said if "real-home" in text or str(writable) in text]
