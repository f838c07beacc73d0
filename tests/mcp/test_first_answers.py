"""The first answers of a server: kept for the next one with the same command, on the same settings."""

import sys
from pathlib import Path
from typing import Any

import pytest

from crabmem import Memory
from crabmem.mcp.first_answers import load
from tests import samples
from tests.conftest import typed
from tests.serving import HELLO, TOKEN, Wire, command, environment, piped

PROGRAM = [sys.executable, "-m", "crabmem"]  # a fork of a process that runs already does not begin like one


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.")
    return tmp_path / "notes"


def first(root: Path, *arguments: str) -> tuple[str, list[str]]:
    """The instructions and the names of the tools that a fresh server answers, and keeps before it ends."""
    with piped(command(root, *arguments, program=PROGRAM)) as wire:
        hello = asked(wire, "initialize", HELLO)
        tools = [tool["name"] for tool in asked(wire, "tools/list", {})["tools"]]
        assert wire.end() == (0, b"")
        return hello["instructions"], tools


def asked(wire: Wire, method: str, params: dict[str, Any]) -> Any:
    return wire.ask_older(method, 1, params)["result"]


def is_kept(root: Path, *arguments: str) -> bool:
    return load(command(root, *arguments, program=[]), environment()) is not None


def test_what_a_server_answered_first_is_kept_until_the_settings_change(root: Path) -> None:
    assert not is_kept(root)
    said = first(root)
    assert is_kept(root) and not is_kept(root, "--data") and said[1] == samples.USUAL
    assert first(root) == said
    (root / "crabmem.toml").write_text("soul_editable = true\n")
    assert not is_kept(root)
    assert first(root)[1] == [*said[1], "soul"] and is_kept(root)


def test_a_pause_and_another_profile_are_told_at_once(root: Path) -> None:
    (root / "crabmem.toml").write_text('pause = "all"\n')
    usual = first(root)[1]
    typed("--dir", str(root), "pause")
    assert (usual != [], first(root)[1]) == (True, [])
    typed("--dir", str(root), "resume")
    assert first(root)[1] == usual
    (root / "crabmem.toml").write_text('profile = "camel"\n')
    assert first(root)[1] != usual


def test_a_command_is_kept_for_every_folder_it_means_the_same_in_and_without_what_is_secret(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, here, there = command(root, options=["--agent", "codex"], program=[]), root.parent, root
    first(root)
    for folder in (here, there):
        monkeypatch.chdir(folder)
        with piped([*PROGRAM, *told]) as wire:
            asked(wire, "initialize", HELLO)
            assert wire.end() == (0, b"")
        monkeypatch.chdir(root.parent)
        assert load(told, environment()) is not None
        assert (load(["--dir", "notes", "mcp"], environment()) is None) is (folder == here)
        with piped([*PROGRAM, "--dir", "notes", "mcp"]) as wire:
            asked(wire, "initialize", HELLO)
            assert wire.end() == (0, b"")
    monkeypatch.chdir(root)
    assert load(["--dir", "notes", "mcp"], environment()) is None
    texts = [file.read_text() for file in (root.parent / "state" / "crabmem" / "first-answers").iterdir()]
    assert texts and TOKEN not in "".join(texts)


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"command": 7}', b"\xff"])
def test_a_damaged_file_is_as_good_as_none(root: Path, damage: bytes) -> None:
    said = first(root)
    [file] = (root.parent / "state" / "crabmem" / "first-answers").iterdir()
    file.write_bytes(damage)
    assert not is_kept(root) and first(root) == said and is_kept(root)


def test_a_server_answers_first_questions_before_its_memory_can_be_opened(root: Path) -> None:
    said = first(root)
    slow = (
        "import sys, time, crabmem.session.opening as opening; from crabmem.__main__ import main\n"
        "open = opening.session_at\n"
        "def later(*given, **named): time.sleep(1); return open(*given, **named)\n"
        f"opening.session_at = later; sys.argv = ['crabmem', '--dir', {str(root)!r}, 'mcp']; main()"
    )
    with piped([sys.executable, "-c", slow]) as wire:
        assert asked(wire, "initialize", HELLO)["instructions"] == said[0]
        assert asked(wire, "ping", {}) == {}
        assert [tool["name"] for tool in asked(wire, "tools/list", {})["tools"]] == said[1]
        call = {"name": "recall", "arguments": {"query": "deploy"}}
        assert "In the vault." in asked(wire, "tools/call", call)["content"][0]["text"]
        assert wire.end() == (0, b"")


def test_whether_agents_may_ask_every_memory_is_told_at_once_and_no_address_is_kept(root: Path) -> None:
    named = {"CRABMEM_FLEET": "postgresql://ann:hushhush@127.0.0.1:1/crabmem", "CRABMEM_FLEET_TOOL": "1"}
    first(root)
    assert is_kept(root)
    for _ in range(2):
        with piped(
            ["env", *(f"{name}={said}" for name, said in named.items()), *command(root, program=PROGRAM)]
        ) as wire:
            asked(wire, "initialize", HELLO)
            [recall] = [tool for tool in asked(wire, "tools/list", {})["tools"] if tool["name"] == "recall"]
            assert "of" in recall["inputSchema"]["properties"] and wire.end() == (0, b"")
    assert load(command(root, program=[]), {**environment(), **named}) is not None
    files = [file for file in (root.parent / "state").rglob("*") if file.is_file()]
    assert files and not [file for file in files if b"hushhush" in file.read_bytes()]
