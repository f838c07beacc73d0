"""The surroundings in which a verb is tried, and a memory to try it on."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings, an empty home, and an editor that leaves files as they are."""
    own = [name for name in os.environ if name.startswith("CRABMEM_")]
    for name in [*own, "NO_COLOR", "VISUAL", "PAGER", "LESS"]:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": tmp_path / "home", "EDITOR": "true", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, str(value))


@pytest.fixture(scope="session")
def two_facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two facts in three commits; to be copied."""
    root = tmp_path_factory.mktemp("made") / "notes"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.", tags=["ops"])
        memory.remember("Wifi", "the password for guests", "On the router.", aliases=["wlan"])
    return root


@pytest.fixture
def root(two_facts: Path, tmp_path: Path) -> Path:
    """A workspace with two facts in three commits."""
    return Path(shutil.copytree(two_facts, tmp_path / "notes"))


@pytest.fixture
def scripted_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Make lines of the shell the editor, which gets the file as `$1`; return their script."""

    def make(lines: str) -> Path:
        script = tmp_path / "editor.sh"
        script.write_text(f"#!/bin/sh\n{lines}\n")
        script.chmod(0o755)
        for name in ("EDITOR", "VISUAL"):
            monkeypatch.setenv(name, str(script))
        return script

    return make
