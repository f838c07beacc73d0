"""Installing into hosts: real configs in a home folder of their own, through the command line."""

import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontmatter
import pytest
import yaml
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import __version__
from crabmem.cli.verbs.bundle import KINDS
from crabmem.disk import fs
from crabmem.disk.lock import WriterLock
from crabmem.hosts import table
from crabmem.hosts.bundles import desktop_bundle
from crabmem.hosts.hooks.input import parse_input
from crabmem.hosts.host import Config, HookDialect, Host
from crabmem.hosts.table import NAMES, host_named
from tests.conftest import typed
from tests.examples import examples

Run = Callable[..., Result]

SETTINGS = '{\n    "model": "opus",   \n    "hooks": {}\n}'
CODEX = '# mine\nmodel = "o4"\n\n[mcp_servers.other]\ncommand = "x" # why\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it; we are in a project beside it."""
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "GOOSE_PATH_ROOT",
        "XDG_CONFIG_HOME",
        "CRABMEM_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    return home


@pytest.fixture
def run(home: Path) -> Run:
    """A person who says yes; `asking` leaves that out."""

    def crabmem(*words: str, asking: bool = False, stdin: str = "") -> Result:
        if {"install", "uninstall"} & set(words) and set(NAMES) & set(words) and not asking:
            words = (*words, "--yes")
        return typed(*words, stdin=stdin)

    return crabmem


def files(folder: Path) -> dict[str, str]:
    """Every file below `folder`, and every empty folder."""
    return {
        str(path.relative_to(folder)): path.read_text("utf-8") if path.is_file() else "/"
        for path in sorted(folder.rglob("*"))
        if path.is_file() or not any(path.iterdir())
    }


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


_TRUST = '\n[hooks.state."{}:{}"]\ntrusted_hash = "sha256:12"\n'
_CODEX_EVENTS = ("session_start", "user_prompt_submit", "subagent_start", "pre_compact", "stop", "session_end")


@pytest.mark.parametrize("before", ["", 'model = "m"\n', '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "x"\n'])
def test_the_trust_that_a_person_gave_our_hooks_goes_with_them(run: Run, home: Path, before: str) -> None:
    config = written(home / ".codex/config.toml", before)
    assert run("install", "codex").exit_code == 0
    ours = [f"{event}:{int(event == 'stop' and 'Stop' in before)}:0" for event in _CODEX_EVENTS]
    config.write_text(config.read_text() + "".join(_TRUST.format(config, place) for place in ours))
    assert run("uninstall", "codex").exit_code == 0
    assert files(home) == ({".codex/config.toml": before} if before else {".codex/config.toml": ""})


def test_the_trust_in_hooks_of_others_stays(run: Run, home: Path) -> None:
    before = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "x"\n'
    config = written(home / ".codex/config.toml", before)
    assert run("install", "codex").exit_code == 0
    theirs = _TRUST.format(config, "stop:0:0") + _TRUST.format("/project/.codex/config.toml", "stop:1:0")
    config.write_text(config.read_text() + theirs + _TRUST.format(config, "stop:1:0"))
    assert run("uninstall", "codex").exit_code == 0
    left = tomllib.loads(config.read_text())
    assert left == tomllib.loads(before + theirs)


def test_a_host_whose_config_only_mentions_us_or_cannot_be_read_is_not_said_to_have_us(run: Run, home: Path) -> None:
    written(home / ".claude.json", '{"projects": {"/work/crabmem": {}}}')
    written(home / ".codex/config.toml", "crabmem = [")
    assert json.loads(run("status", "--json").stdout)["hosts"] == []
    assert "none yet: `crabmem install`" in run("status").stdout


def test_dry_run_shows_the_diff_and_writes_nothing(run: Run, home: Path) -> None:
    written(home / ".codex/config.toml", CODEX)
    before = files(home)
    shown = run("install", "codex", "--dry-run").stdout
    assert "+[mcp_servers.crabmem]" in shown and "would install in Codex" in shown
    assert files(home) == before
    run("install", "codex")
    there = files(home)
    assert "-[mcp_servers.crabmem]" in run("uninstall", "codex", "--dry-run").stdout
    assert files(home) == there


def test_it_says_where_the_copy_is_and_what_is_left_to_do(run: Run, home: Path) -> None:
    written(home / ".codex/config.toml", CODEX)
    result = run("install", "codex")
    assert f"kept as it was: {home}/.codex/config.toml.before-crabmem" in result.stdout
    assert "start codex once and trust the hooks" in result.stderr


def test_json_says_what_happened(run: Run, home: Path) -> None:
    data = json.loads(run("install", "gemini", "--json").stdout)
    assert (data["host"], data["scope"], data["written"]) == ("gemini", "user", True)
    assert [(change["path"], change["action"]) for change in data["changes"]] == [
        (str(home / ".gemini/settings.json"), "create")
    ]
    assert json.loads(run("uninstall", "gemini", "--json").stdout)["changes"][0]["action"] == "remove"


def test_the_list_says_what_is_found_and_installed(run: Run, home: Path) -> None:
    run("install", "cursor", "--here")
    run("install", "cursor")
    rows = {row["host"]: row for row in json.loads(run("install", "--json").stdout)["hosts"]}
    assert set(rows) == set(NAMES)
    assert rows["cursor"] == {
        "host": "cursor",
        "found": "found",
        "installed": "installed (user, project)",
        "gone": [],
    }
    assert rows["vscode"]["installed"] == "not installed"


def test_a_list_is_possible_beside_a_broken_config(run: Run, home: Path) -> None:
    written(home / ".cursor/mcp.json", "{")
    result = run("install")
    assert result.exit_code == 0 and ".cursor/mcp.json: line 1: it ends too early" in result.stderr


def test_another_workspace_is_named_in_every_command(run: Run, home: Path, tmp_path: Path) -> None:
    run("--dir", "notes", "install", "claude-code")
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["crabmem"]
    assert server["args"] == ["--dir", f"{tmp_path}/project/notes", "--agent", "claude-code", "mcp"]
    settings = (home / ".claude/settings.json").read_text()
    assert settings.count(f"--dir {tmp_path}/project/notes hook ") == 6
    run("install", "claude-code")
    assert "--dir" not in (home / ".claude/settings.json").read_text() + (home / ".claude.json").read_text()


def test_auto_memory_keeps_claude_codes_own_memory_in_the_workspace(run: Run, home: Path) -> None:
    run("install", "claude-code", "--memory", "inside")
    settings = json.loads((home / ".claude/settings.json").read_text())
    assert settings["autoMemoryDirectory"] == str(home / ".crabmem/memory")
    [group] = settings["hooks"]["PostToolUse"]
    assert group["matcher"] == "Write|Edit|MultiEdit" and " hook wrote " in group["hooks"][0]["command"]
    run("uninstall", "claude-code")
    assert exactly(home) == {}


@pytest.mark.parametrize("words", [("codex", "--memory", "inside"), ("claude-code", "--memory", "inside", "--here")])
def test_memory_in_the_workspace_is_only_where_there_is_such_a_thing(
    run: Run, home: Path, words: tuple[str, ...]
) -> None:
    assert run("install", *words).exit_code == 2
    assert files(home) == {}


def test_a_project_is_not_the_home_folder(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert "this is your home folder" in run("install", "codex", "--here").stderr
    assert files(home) == {}


BAD = {
    "not json": ('{"model": "opus",\n  oops}', "line 2: "),
    "a comment where the host reads none": ('{\n  // mine\n  "a": 1\n}', "line 2: a comment"),
    "a key twice": ('{"hooks": {},\n"hooks": {}}', "line 2: the key 'hooks' is there twice"),
    "a byte order mark": ("\ufeff{}", "line 1: it begins with a byte order mark"),
    "not an object": ("[]", "line 1: it is not an object"),
    "something else in the way": ('{\n  "hooks": 5}', "line 2: 'SessionStart' can only stand in an object"),
    "something else than a list": ('{"hooks": {\n"Stop": {}}}', "line 2: 0 can only stand in an array"),
}


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_what_cannot_be_read_is_never_rewritten(run: Run, home: Path, text: str, words: str) -> None:
    written(home / ".claude/settings.json", text)
    before = files(home)
    for verb in ("install", "uninstall"):
        result = run(verb, "claude-code")
        if verb == "install" or result.exit_code:
            assert result.exit_code == 1 and f"{home}/.claude/settings.json: {words}" in result.stderr
            assert result.stderr.count("\n") == 1 and "nothing was written" in result.stderr
        assert files(home) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('model = "o4"\n[a\n', "line 2: "),
        ("a = 1\na = 2\n", "line 2: "),
        ("mcp_servers = { other = { command = 'x' } }\n", "by hand"),
        ("mcp_servers = 5\n", "by hand"),
        ("a = " + "[" * 3_000 + "]" * 3_000, "nested too deeply"),
        ("a" + ".a" * 3_000 + " = 1", ""),
    ],
)
def test_what_is_no_toml_or_cannot_be_added_to_is_never_rewritten(run: Run, home: Path, text: str, words: str) -> None:
    written(home / ".codex/config.toml", text)
    result = run("install", "codex")
    assert result.exit_code == 1 and words in result.stderr and f"{home}/.codex/config.toml: " in result.stderr
    assert files(home) == {".codex/config.toml": text}


def test_bytes_that_are_no_text_are_never_rewritten(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", "a = 1\n")
    file.write_bytes(b'a = 1\nb = "\xff"\n')
    assert "line 2: it is not UTF-8 text" in run("install", "codex").stderr
    assert file.read_bytes() == b'a = 1\nb = "\xff"\n'


def test_a_read_only_config_is_left_alone(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    file.chmod(0o444)
    assert "it is read-only" in run("install", "codex").stderr
    assert files(home) == {".codex/config.toml": CODEX}


def test_a_link_stays_a_link_to_the_file_that_is_changed(run: Run, home: Path) -> None:
    real = written(home / "dotfiles/codex.toml", CODEX)
    real.chmod(0o640)
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to(real)
    run("install", "codex")
    assert (home / ".codex/config.toml").is_symlink() and "crabmem" in real.read_text()
    assert (home / "dotfiles/codex.toml.before-crabmem").read_text() == CODEX
    assert real.stat().st_mode & 0o777 == 0o640
    run("uninstall", "codex")
    assert real.read_text() == CODEX and os.listdir(real.parent) == ["codex.toml"]


def test_a_link_to_nothing_is_an_error(run: Run, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to(home / "gone")
    assert "is a link that leads nowhere" in run("install", "codex").stderr


def test_what_was_changed_since_stays_and_so_does_the_copy(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    run("install", "codex")
    file.write_text(file.read_text() + '\n[projects."/home/me"]\ntrust_level = "trusted"\n')
    result = run("uninstall", "codex")
    assert file.read_text() == CODEX + '\n[projects."/home/me"]\ntrust_level = "trusted"\n'
    assert f"still kept: {file}.before-crabmem" in result.stdout


def test_a_copy_that_is_there_is_neither_overwritten_nor_removed_by_the_next_installation(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    for name in ("config.toml.before-crabmem", "config.toml.before-crabmem-2"):
        assert f"kept as it was: {file.with_name(name)}" in run("install", "codex").stdout
        file.write_text("since = 1\n" + file.read_text().replace("since", "before"))
        assert f"still kept: {file.with_name(name)}" in run("uninstall", "codex").stdout
    since = file.read_text()
    run("install", "codex")
    run("uninstall", "codex")
    assert exactly(home) == {
        ".codex/config.toml": since.encode(),
        ".codex/config.toml.before-crabmem": CODEX.encode(),
        ".codex/config.toml.before-crabmem-2": f"since = 1\n{CODEX}".encode(),
    }


def test_a_copy_of_the_persons_own_is_no_copy_of_ours(run: Run, home: Path) -> None:
    mine = '{"permissions": {"allow": ["mcp__crabmem"]}}'
    file = written(home / ".claude/settings.json", mine)
    run("install", "claude-code")
    copied = file.with_name("settings.json.before-crabmem-20261129")
    copied.write_text(now := file.read_text())
    run("uninstall", "claude-code")
    assert files(home) == {".claude/settings.json": mine, f".claude/{copied.name}": now}


def test_a_config_that_was_put_back_by_hand_is_not_kept_twice(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    run("install", "codex")
    file.write_text(CODEX)
    run("install", "codex")
    run("uninstall", "codex")
    assert files(home) == {".codex/config.toml": CODEX}


def test_the_copy_is_of_the_time_before_crabmem(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    run("install", "codex")
    run("--dir", "notes", "install", "codex")
    assert file.with_name("config.toml.before-crabmem").read_text() == CODEX
    run("uninstall", "codex")
    assert files(home) == {".codex/config.toml": CODEX}


def test_own_memory_is_the_hosts_again_whatever_the_workspace_is_now(run: Run, home: Path) -> None:
    mine = written(home / ".claude/settings.json", '{"autoMemoryDirectory": "/mine"}')
    for where in (["--dir", "it's notes"], []):
        run(*where, "install", "claude-code", "--memory", "inside")
        run("--dir", "other", "uninstall", "claude-code")
        assert files(home) == {".claude/settings.json": '{"autoMemoryDirectory": "/mine"}'}
    run("--dir", "it's notes", "install", "claude-code", "--memory", "inside")
    data = json.loads(mine.read_text())
    mine.write_text(json.dumps({**data, "autoMemoryDirectory": "/chosen/since"}))
    run("uninstall", "claude-code")
    assert json.loads(mine.read_text()) == {"autoMemoryDirectory": "/chosen/since"}


HANDMADE = {
    ("claude-code", ".claude.json"): '{"mcpServers": {"crabmem": {"command": "crabmem", "args": ["mcp"], "env": {}}}}',
    (
        "codex",
        ".codex/config.toml",
    ): '[mcp_servers.crabmem] # mine\ncommand = "uvx"\nargs = ["crabmem", "mcp"]\nd = 2026-01-02',
    (
        "goose",
        ".config/goose/config.yaml",
    ): "extensions:\n  crabmem: # mine\n    cmd: uvx\n    args:\n    - mcp\n    d: 2026-01-02",
    ("opencode", ".config/opencode/opencode.json"): '{"mcp": {"crabmem": {"command": ["crabmem", "mcp"]}}}',
}


@pytest.mark.parametrize(("host", "path"), HANDMADE)
def test_a_server_of_that_name_that_a_person_wrote_comes_back(run: Run, home: Path, host: str, path: str) -> None:
    text = HANDMADE[host, path]
    written(home / path, text)
    assert run("uninstall", host).stdout.startswith("not installed")
    assert exactly(home) == {path: text.encode()}
    assert run("install", host).exit_code == 0
    assert "--agent" in (home / path).read_text()
    run("uninstall", host)
    assert exactly(home) == {path: text.encode()}


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    """The changes of the disk that were tried; the one of that number fails."""
    tried: list[str] = []

    def before(operation: str, path: str) -> None:
        tried.append(f"{operation} {path}")
        if len(tried) == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(fs, "before", before)
    return tried


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_whatever_the_disk_refuses_all_configs_are_changed_or_none(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    written(home / ".claude/settings.json", SETTINGS)
    written(home / ".claude.json", '{"mcpServers": {}}')
    if verb == "uninstall":
        run("install", "claude-code")
    before = files(home)
    for number in range(1, 100):
        with monkeypatch.context() as patch:
            tried = failing(patch, number)
            result = run(verb, "claude-code")
        if result.exit_code == 0:
            break
        assert "no space left on device; nothing was written" in result.stderr
        assert files(home) == before, (number, tried)
    assert number > 10


def test_an_installation_that_fails_leaves_no_folder_that_it_made(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".kiro").mkdir()
    for number in range(1, 100):
        with monkeypatch.context() as patch:
            tried = failing(patch, number)
            result = run("install", "kiro")
        if result.exit_code == 0:
            break
        assert files(home) == {".kiro": "/"}, (number, tried)
    assert number > 4


def test_what_cannot_be_put_back_is_told_with_the_place_of_the_copy(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(home / ".claude/settings.json", SETTINGS)
    first = written(home / ".claude.json", "{}")
    there = 0

    def full(operation: str, path: str) -> None:
        nonlocal there
        there += operation == "exchange"
        if there > 1 or (there and "settings.json" in path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    with monkeypatch.context() as patch:
        patch.setattr(fs, "before", full)
        result = run("install", "claude-code")
    assert result.exit_code == 1 and "nothing was written" not in result.stderr
    assert f"cannot be put back: {first} (before: {first}.before-crabmem)" in result.stderr
    assert Path(f"{first}.before-crabmem").read_text() == "{}"


def test_what_a_host_saves_at_that_moment_is_not_lost(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(home / ".claude.json", '{"numStartups": 3}')
    written(home / ".claude/settings.json", SETTINGS)

    def saved(operation: str, path: str) -> None:
        if operation == "exchange" and path == str(file) and "mcpServers" not in file.read_text():
            file.write_text('{"numStartups": 4}')

    monkeypatch.setattr(fs, "before", saved)
    result = run("install", "claude-code")
    assert "somebody changed it meanwhile; try again; nothing was written" in result.stderr
    assert files(home) == {".claude.json": '{"numStartups": 4}', ".claude/settings.json": SETTINGS}


@pytest.mark.parametrize("count", [400, pytest.param(2_000, marks=pytest.mark.long)])
def test_a_large_config_is_changed_too_and_comes_back(run: Run, home: Path, count: int) -> None:
    projects = {f"/home/me/project {number}": {"history": ["what was said " * 20] * 10} for number in range(count)}
    file = written(home / ".claude.json", json.dumps({"projects": projects}, indent=2))
    before = file.read_bytes()
    assert len(before) > 2_500 * count
    assert run("install", "claude-code", "--no-hooks").exit_code == 0
    assert json.loads(file.read_text())["mcpServers"]["crabmem"]
    run("uninstall", "claude-code")
    assert file.read_bytes() == before


def test_what_stands_where_the_copy_goes_is_named_and_nothing_is_written(run: Run, home: Path) -> None:
    written(home / ".codex/config.toml", CODEX)
    (home / ".codex/config.toml.before-crabmem").mkdir()
    result = run("install", "codex")
    assert f"{home}/.codex/config.toml.before-crabmem: it cannot be read: it is not a regular file" in result.stderr
    assert files(home) == {".codex/config.toml": CODEX, ".codex/config.toml.before-crabmem": "/"}


def test_an_empty_config_is_filled_and_emptied(run: Run, home: Path) -> None:
    written(home / ".claude/settings.json", "")
    run("install", "claude-code")
    assert json.loads((home / ".claude/settings.json").read_text())["hooks"]
    run("uninstall", "claude-code")
    assert files(home) == {".claude/settings.json": ""}


def test_the_name_that_exists_is_taken(run: Run, home: Path) -> None:
    written(home / ".config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
    run("install", "opencode")
    assert '"crabmem"' in (home / ".config/opencode/opencode.jsonc").read_text()
    assert not (home / ".config/opencode/opencode.json").exists()


def test_hosts_say_where_their_configs_are(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home / name))
    for host in NAMES:
        run("install", host, "--memory", "only")
    own = (".codeium/", ".cursor/", ".kiro/", ".qwen/")
    assert [path for path in files(home) if not path.startswith(own)] == [
        "CLAUDE_CONFIG_DIR/.claude.json",
        "CLAUDE_CONFIG_DIR/settings.json",
        "CODEX_HOME/config.toml",
        "COPILOT_HOME/hooks/crabmem.json",
        "COPILOT_HOME/mcp-config.json",
        "COPILOT_HOME/settings.json",
        "GEMINI_CLI_HOME/.gemini/settings.json",
        "XDG_CONFIG_HOME/Claude/claude_desktop_config.json",
        "XDG_CONFIG_HOME/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "XDG_CONFIG_HOME/Code/User/mcp.json",
        "XDG_CONFIG_HOME/goose/config.yaml",
        "XDG_CONFIG_HOME/opencode/opencode.json",
        "XDG_CONFIG_HOME/opencode/plugins/crabmem.js",
        "XDG_CONFIG_HOME/zed/settings.json",
    ]


def test_goose_has_its_config_where_it_is_told_to(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(home / "root/config/config.yaml", "GOOSE_MODE: auto   # mine\n")
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(home / "root"))
    shown = run("install", "goose").stdout
    assert "+extensions:\n+  crabmem:\n" in shown and "in its mode auto" in shown
    found = yaml.safe_load((home / "root/config/config.yaml").read_text())
    assert found["extensions"]["crabmem"]["args"][-3:] == ["--agent", "goose", "mcp"]
    run("uninstall", "goose")
    assert files(home / "root") == {"config/config.yaml": "GOOSE_MODE: auto   # mine\n"}


def test_what_gooses_own_extension_remembers_is_taken_in_and_it_is_switched_off(run: Run, home: Path) -> None:
    config = "extensions:\n  memory: # its own\n    enabled: true  # so far\n    type: builtin\n"
    written(home / ".config/goose/config.yaml", config)
    written(home / ".config/goose/memory/house.txt", "# wifi network\ntulip-42 is the password for guests\n\n")
    written(home / ".config/goose/memory/dog.txt", "Luna's vet is Dr. Moreno\n\n")
    run("install", "goose", "--memory", "only")
    assert "tulip-42" in run("recall", "password for guests").stdout and "Moreno" in run("recall", "Luna vet").stdout
    now = (home / ".config/goose/config.yaml").read_text()
    assert "    enabled: false  # so far\n" in now
    run("uninstall", "goose")
    assert (home / ".config/goose/config.yaml").read_text() == config


@pytest.mark.parametrize(
    ("host", "folder"), [("kiro", ".kiro/settings"), ("zed", ".config/zed"), ("claude-code", ".claude")]
)
def test_a_folder_that_was_there_stays_though_it_is_empty(run: Run, home: Path, host: str, folder: str) -> None:
    (home / folder).mkdir(parents=True)
    run("install", host)
    run("uninstall", host)
    assert files(home) == {folder: "/"}


PLACES = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "codex": (".codex/config.toml",),
    "gemini": (".gemini/settings.json",),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "goose": (".config/goose/config.yaml",),
    "opencode": (".config/opencode/opencode.jsonc",),
}
_json_texts = st.sampled_from(
    [
        None,
        "",
        "{}",
        "\r\n{\r\n\t\r\n}\r\n",
        '{"hooks": {}, "mcpServers": {}, "mcp": {}}',
        '{"hooks":{"Stop":[],"stop":[{"command":"say done"}],"SessionStart":[]},\r\n"é\\u0000\\ud83d\\ude00":[[[]]]}',
        '{\n\t"mcpServers": {\n\t\t"crabmem": {\n\t\t\t"command": "mine"\n\t\t}\n\t},\n\t"version" : 1}',
        '{"autoMemoryDirectory": "/mine", "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": []}]}, "version": 2}',
    ]
)
_toml_texts = st.sampled_from(
    [
        None,
        "",
        CODEX,
        CODEX.replace("\n", "\r\n"),
        'hooks.Stop = [{hooks = [{type = "command", command = "x"}]}]\n[mcp_servers]\n"a.b".command = "x"\n# the end',
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n\n\n[[hooks.Stop]]\nhooks = []\n\n',
        '[hooks]\n[hooks.state.\'/home/me/x\'] # trusted\na = """\n[mcp_servers.crabmem]\n"""\n',
        '[mcp_servers.crabmem]\ncommand = "mine"\n[mcp_servers.crabmem.env]\nA = "b"\n[[hooks.Stop]]\nhooks = []',
    ]
)
_yaml_texts = st.sampled_from(
    [
        None,
        "",
        "# nothing yet",
        "{}",
        "extensions: {}\nGOOSE_MODE: auto # why",
        "extensions:   # mine\r\n\r\n  # files\r\n  developer: {enabled: true}\r\n\r\n# the end",
        "extensions:\n    crabmem:\n        cmd: mine\n        args: [a]\n    memory:\n        enabled: true",
        "extensions: {memory: {enabled: true}, crabmem: {cmd: mine, args: []}}\n",
    ]
)
_texts = {".toml": _toml_texts, ".yaml": _yaml_texts}
_steps = st.tuples(
    st.sampled_from(["install", "install", "uninstall"]),
    st.sampled_from(sorted(PLACES)),
    st.sampled_from([[], ["--dir", "notes"]]),
    st.sampled_from(
        [[], ["--no-hooks"], ["--memory", "inside"], ["--no-allow"], ["--allow", "--memory", "beside"], ["--no-server"]]
    ),
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), steps=st.lists(_steps, max_size=8))
def test_in_whatever_order_all_is_as_before_when_the_last_is_uninstalled(
    run: Run, home: Path, data: st.DataObject, steps: list[tuple[str, str, list[str], list[str]]]
) -> None:
    shutil.rmtree(home)
    home.mkdir()
    for place in (place for places in PLACES.values() for place in places):
        text = data.draw(_texts.get(Path(place).suffix, _json_texts), place)
        if text is not None:
            file = written(home / place, "")
            file.write_bytes(text.encode())
    before = exactly(home)
    for verb, host, where, how in steps:
        words = how if verb == "install" and (host == "claude-code" or "inside" not in how) else []
        words = [] if host == "goose" and "--no-server" in words else words
        result = run(*where, verb, host, *words)
        assert result.exit_code == 0 or "by hand" in result.stderr, result.stderr
    for host in PLACES:
        run("uninstall", host)
    assert exactly(home) == before


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "copilot", "opencode"])
def test_one_half_alone_takes_the_other_out(run: Run, home: Path, host: str) -> None:
    other = written(home / ".gemini/settings.json", '{"hooks": {"AfterAgent": [{"hooks": [{"command": "x"}]}]}}')
    before, server = exactly(home), '"opencode",' if host == "opencode" else "--agent"
    hook = "crabmem for OpenCode" if host == "opencode" else " hook "
    for words, there in (
        ((), (1, 1)),
        (("--no-hooks",), (1, 0)),
        (("--no-server",), (0, 1)),
        (("--no-hooks",), (1, 0)),
    ):
        assert run("install", host, *words).exit_code == 0
        said = "".join(files(home).values())
        assert (server in said, hook in said) == there and '"command": "x"' in other.read_text()
        assert run("install", host, *words).stdout.startswith("already installed")
    run("uninstall", host)
    assert exactly(home) == before


def exactly(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below `folder`."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


ACME = Host(
    "acme",
    "Acme",
    "acme",
    lambda here: here.home / ".acme",
    user=(
        Config(
            lambda here: here.home / ".acme",
            ("acme.json",),
            "jsonc",
            lambda want: [*want.server(), *want.hooks(lambda line, seconds: {"command": line, "after": seconds})],
            lambda want: want.if_allowed(want.trait("trust", True)),
        ),
    ),
    next_step="start acme anew",
    hooks=HookDialect(
        {"Begin": "session-start", "Ask": "prompt"},
        lambda event, text: {"event": event, "add": text},
        lambda event, text: {"again": text},
        is_sender=lambda given: "acme" in given,
    ),
)


def test_an_entry_in_the_table_is_all_that_a_new_host_needs(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "HOSTS", (*table.HOSTS, ACME))
    monkeypatch.setattr(table, "NAMES", (*NAMES, "acme"))
    text = written(home / ".acme/acme.json", '{"mine": 1} // of me\n').read_text()
    done = run("install", "acme", "--yes")
    assert done.exit_code == 0 and "start acme anew" in done.stderr and "Acme" in run("install", "--help").stdout
    config = (home / ".acme/acme.json").read_text()
    assert config.endswith("// of me\n") and '"trust": true' in config and " hook prompt --host acme" in config
    found = parse_input(b'{"hook_event_name": "Ask", "prompt": "hello"}', host="acme")
    assert (found.event, found.dialect.context("Ask", "x")) == ("prompt", {"event": "Ask", "add": "x"})
    assert run("uninstall", "acme", "--yes").exit_code == 0
    assert files(home) == {".acme/acme.json": text}


def test_an_unknown_host_is_wrong_usage(run: Run) -> None:
    result = run("install", "emacs")
    assert result.exit_code == 2 and "claude-desktop" in result.stderr


def test_the_help_names_every_host_and_every_kind_of_bundle(run: Run) -> None:
    shown = run("install", "--help").stdout
    assert set(NAMES) <= set(shown.partition("Hosts:\n")[2].split())
    shown = run("bundle", "--help").stdout
    assert all(f"crabmem bundle {kind} " in shown for kind in KINDS)


@pytest.mark.parametrize("kind", ["claude-plugin", "gemini-extension"])
def test_a_bundle_of_files_calls_the_program_on_path(kind: str, run: Run, home: Path) -> None:
    assert run("bundle", kind, "there").exit_code == 0
    made = files(Path("there"))
    hooks = json.loads(made["hooks/hooks.json"])["hooks"]
    calls = {group["hooks"][0]["command"].partition("; ")[0].removeprefix(": ") for [group] in hooks.values()}
    assert calls >= {
        "crabmem hook session-start",
        "crabmem hook prompt",
        "crabmem hook stop",
    }
    manifest = {"claude-plugin": ".claude-plugin/plugin.json", "gemini-extension": "gemini-extension.json"}[kind]
    assert json.loads(made[manifest])["version"] == __version__


def test_the_bundle_for_claude_desktop_carries_crabmem_and_is_the_same_each_time(run: Run, home: Path) -> None:
    run("bundle", "mcpb", "one.mcpb")
    run("bundle", "mcpb", "other.mcpb")
    assert Path("one.mcpb").read_bytes() == Path("other.mcpb").read_bytes()
    with zipfile.ZipFile("one.mcpb") as archive:
        archive.extractall("inside")
    words = [sys.executable, "server.py", "--version"]
    environment = {"HOME": str(home)}
    done = subprocess.run(words, cwd="inside", capture_output=True, text=True, env=environment)
    assert done.stdout == f"crabmem {__version__}\n", done.stderr
    asked = [sys.executable, "server.py", "--dir", str(home / "m"), "prompt"]
    assert "remember" in subprocess.run(asked, cwd="inside", capture_output=True, text=True, env=environment).stdout
    manifest = json.loads(Path("inside/manifest.json").read_text())
    assert (manifest["manifest_version"], manifest["version"]) == ("0.4", __version__)


def test_a_bundle_needs_what_the_server_needs_and_no_more() -> None:
    needs = [
        "click>=8",
        "mcp<3,>=2.3; extra == 'mcp'",
        'x>1; python_version < "3.12" and extra == "fuzz"',
        "y; extra=='z'",
    ]
    with zipfile.ZipFile(io.BytesIO(desktop_bundle({}, needs, ">=3.11", "1.0"))) as archive:
        project = tomllib.loads(archive.read("pyproject.toml").decode())["project"]
    assert project["dependencies"] == ["click>=8"]


def test_a_bundle_overwrites_nothing(run: Run, home: Path) -> None:
    written(Path("there/README.md"), "mine")
    assert "there/README.md is there already" in run("bundle", "claude-plugin", "there").stderr
    assert files(Path("there")) == {"README.md": "mine"}


def test_the_entry_of_the_mcp_registry_starts_the_server_as_clients_put_it_together(run: Run, home: Path) -> None:
    done = run("bundle", "server-json", "server.json", "--name", "io.github.me/crab.mem")
    assert done.exit_code == 0 and done.stdout == "server.json\n"
    assert "`mcp-name: io.github.me/crab.mem`" in done.stderr and f"crabmem {__version__} is on PyPI" in done.stderr
    entry = json.loads(Path("server.json").read_text())
    [package] = entry["packages"]
    assert (entry["name"], entry["version"], package["version"]) == ("io.github.me/crab.mem", __version__, __version__)
    assert re.fullmatch(
        r"https://static\.modelcontextprotocol\.io/schemas/[\d-]+/server\.schema\.json", entry["$schema"]
    )
    assert 0 < len(entry["description"]) <= 100
    assert (package["registryType"], package["transport"]) == ("pypi", {"type": "stdio"})
    words = [package["runtimeHint"], f"{package['identifier']}=={package['version']}"]
    assert [*words, *as_words(package["packageArguments"])] == ["uvx", f"crabmem=={__version__}", "mcp"]
    [folder] = package["environmentVariables"]
    assert (folder["name"], folder["default"]) == ("CRABMEM_DIR", "~/.crabmem") and not folder.get("isRequired")


def as_words(arguments: list[dict[str, str]]) -> list[str]:
    """The arguments of a package in the registry as a client gives them to its program."""
    return [word for each in arguments for word in (each.get("name"), each["value"]) if word]


@pytest.mark.parametrize(
    "name", ["", "crabmem", "io.github.me/", "/crabmem", "io.github.me/a/b", "io.github.mé/crabmem", ".me/crabmem",
             "io.github.me/crabmem\n", f"io.github.{'m' * 200}/crabmem"],
)  # fmt: skip
def test_a_name_that_the_mcp_registry_does_not_take_writes_nothing(name: str, run: Run, home: Path) -> None:
    done = run("bundle", "server-json", "server.json", "--name", name)
    assert done.exit_code == 2 and "as io.github.OWNER/crabmem" in done.stderr
    assert not Path("server.json").exists()


def test_the_name_in_the_mcp_registry_is_asked_for_there_and_nowhere_else(run: Run, home: Path) -> None:
    missing, needless = run("bundle", "server-json", "server.json"), run("bundle", "skill", "s", "--name", "a.b/cd")
    assert (missing.exit_code, needless.exit_code) == (2, 2)
    assert "--name io.github.OWNER/crabmem" in missing.stderr and "server-json alone" in needless.stderr
    assert not list(Path().iterdir())
    written(Path("server.json"), "mine")
    assert "is there already" in run("bundle", "server-json", "server.json", "--name", "io.github.me/crabmem").stderr


def test_a_host_that_is_not_here_is_told_so_and_its_config_waits_for_it(run: Run, home: Path) -> None:
    first, again = run("install", "cursor", "--yes"), run("install", "cursor")

    assert "Cursor was not found here" in first.stderr and (home / ".cursor" / "mcp.json").is_file()
    assert "not found" not in again.stderr  # its folder is there now


@pytest.mark.parametrize("answer", ["", "n\n", "y\n"])
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_without_a_terminal_nothing_is_written_before_somebody_gives_yes(
    run: Run, home: Path, verb: str, answer: str
) -> None:
    if verb == "uninstall":
        run("install", "claude-code")
    before = files(home)
    done = run(verb, "claude-code", asking=True, stdin=answer)
    assert (done.exit_code, files(home)) == (1, before)
    assert done.stderr.endswith(f"crabmem: nothing was {verb}ed: this needs a terminal, or --yes\n")


def test_what_is_installed_already_needs_no_yes(run: Run, home: Path) -> None:
    run("install", "gemini")
    assert run("install", "gemini", asking=True).stdout.startswith("already installed in ")


@pytest.mark.parametrize("name", [name for name in NAMES if host_named(name).hooks])
def test_hooks_say_how_to_use_memory_where_there_is_a_server_whose_words_nobody_is_shown(
    run: Run, home: Path, name: str
) -> None:
    hooks = host_named(name).hooks
    assert hooks
    for words in ([], ["--no-server"], []):
        if run("install", name, *words).exit_code:
            assert words  # no hooks there
            continue
        said = "".join(files(home).values())
        assert said.count("--guide") == (not words and not hooks.shows_instructions)
        assert "hook session-start --guide" in said or "--guide" not in said
    assert run("uninstall", name).exit_code == 0 and exactly(home) == {}


def test_the_hooks_alone_are_installed_when_no_server_is_wanted(run: Run, home: Path) -> None:
    assert run("install", "claude-code", "--no-server").exit_code == 0
    assert not (home / ".claude.json").exists() and " hook " in (home / ".claude/settings.json").read_text()
    assert run("uninstall", "claude-code").exit_code == 0 and exactly(home) == {}
    assert "leave out --no-server" in run("install", "claude-desktop", "--no-server").stderr
    assert run("install", "codex", "--no-server", "--no-hooks").exit_code == 2


EVERY_CHOICE = [
    ["--allow", "--memory", "only"],
    ["--no-allow", "--memory", "only"],
    ["--allow", "--memory", "beside"],
    ["--no-allow", "--memory", "beside"],
    ["--allow", "--memory", "inside"],
]
# What a person had before: of each choice, too, and written otherwise than we would.
BEFORE = {
    ".claude/settings.json": '{"permissions": {"allow": ["Bash(ls)" , "mcp__crabmem"]},\n "autoMemoryEnabled" :false}',
    ".claude.json": '{"mcpServers": {"other": {"command": "x"}}}',
    ".codex/config.toml": CODEX + "\n[features]\nmemories = true # so far\n",
    ".copilot/settings.json": '{\n  // mine\n  "memory": true, "banner": "never"}\n',
    ".copilot/mcp-config.json": '{"mcpServers": {}}\n',
    ".gemini/settings.json": '{"experimental": {"autoMemory": true /* so far */}, "mcpServers": {}}',
    ".config/opencode/opencode.json": '{"permission": {"*": "ask"}}',
    ".config/zed/settings.json": '{\n  "agent": {"tool_permissions": {"default": "confirm"}},\n}\n',
    ".kiro/settings/mcp.json": '{"mcpServers": {"a": {"command": "a", "autoApprove": ["b"]}}}',
    ".qwen/settings.json": "{}\n",
}


def each_choice(name: str, first: list[str], project: bool) -> bool:
    """Whether a host offers that choice in a scope."""
    host = host_named(name)
    return "inside" not in first or (bool(host.own_memory and host.own_memory.can_unite) and not project)


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_was_chosen_and_chosen_otherwise_every_byte_comes_back(
    name: str, scope: str, run: Run, home: Path
) -> None:
    words = ["--here"] if scope == "project" else []
    if not host_named(name).project and words:
        assert "leave out --here" in run("install", name, *words).stderr
        return
    top = home if scope == "user" else home.parent / "project"
    for texts in ({}, BEFORE):
        for path, text in texts.items():
            written(top / path, text)
        before = exactly(top)
        choices = [choice for choice in EVERY_CHOICE if each_choice(name, choice, bool(words))]
        for first, second in [*zip(choices, [*choices[1:], choices[0]], strict=True), (choices[0], [])]:
            assert run("install", name, *words, *first).exit_code == 0
            assert run("install", name, *words, *second).exit_code == 0
            there = exactly(top)
            assert run("install", name, *words).stdout.startswith("already installed in "), (first, second)
            assert exactly(top) == there
            assert {"host": name, "scope": scope} in json.loads(run("status", "--json").stdout)["hosts"]
            assert run("uninstall", name, *words).exit_code == 0
            assert exactly(top) == before, (first, second)
        assert run("uninstall", name, *words).stdout.startswith("not installed in ")
        assert json.loads(run("status", "--json").stdout)["hosts"] == []


def settings_of(home: Path, path: str = ".claude/settings.json") -> dict[str, Any]:
    return dict(json.loads((home / path).read_text()))


@pytest.mark.parametrize("hooks", [[], ["--no-hooks"]])
def test_a_permission_that_a_person_gave_stays_theirs(run: Run, home: Path, hooks: list[str]) -> None:
    text = '{"permissions": {"allow": ["mcp__crabmem"]}, "autoMemoryEnabled": false}'
    written(home / ".claude/settings.json", text)
    run("uninstall", "claude-code")
    assert files(home) == {".claude/settings.json": text}
    run("install", "claude-code", *hooks)
    run("install", "claude-code", "--no-allow", "--memory", "beside", *hooks)
    assert settings_of(home)["permissions"] == {"allow": ["mcp__crabmem"]}
    run("uninstall", "claude-code")
    assert files(home) == {".claude/settings.json": text}


def test_what_was_allowed_is_written_said_and_stays_when_it_is_installed_again(run: Run, home: Path) -> None:
    first = run("install", "claude-code", "--allow", "--memory", "only")
    assert "allowed: it reads and writes memory without asking each time" in first.stdout
    assert "memory: this one alone, not its auto memory" in first.stdout
    found = settings_of(home)
    assert (found["permissions"], found["autoMemoryEnabled"]) == ({"allow": ["mcp__crabmem"]}, False)
    assert settings_of(home, ".claude.json")["mcpServers"]["crabmem"]["alwaysLoad"] is True

    run("install", "claude-code", "--no-allow", "--memory", "beside")
    assert {"permissions", "autoMemoryEnabled"}.isdisjoint(settings_of(home))
    again = json.loads(run("--dir", "notes", "install", "claude-code", "--json").stdout)
    assert (again["allow"], again["memory"], again["imported"]) == (False, "beside", None)
    assert {"permissions", "autoMemoryEnabled"}.isdisjoint(settings_of(home))


GRANTED: dict[str, tuple[str, Callable[[Any], Any], Any]] = {
    "gemini": (".gemini/settings.json", lambda data: data["mcpServers"]["crabmem"]["trust"], True),
    "qwen": (".qwen/settings.json", lambda data: data["mcpServers"]["crabmem"]["trust"], True),
    "kiro": (
        ".kiro/settings/mcp.json",
        lambda data: set(data["mcpServers"]["crabmem"]["autoApprove"]) >= {"remember", "recall"},
        True,
    ),
    "zed": (
        ".config/zed/settings.json",
        lambda data: data["agent"]["tool_permissions"]["tools"]["mcp:crabmem:remember"],
        {"default": "allow"},
    ),
}


@pytest.mark.parametrize("name", GRANTED)
def test_a_host_gets_the_permission_in_its_own_words(run: Run, home: Path, name: str) -> None:
    path, look, granted = GRANTED[name]
    assert json.loads(run("install", name, "--json").stdout)["allow"] is True
    assert look(settings_of(home, path)) == granted
    run("install", name, "--no-allow")
    with pytest.raises(KeyError):
        look(settings_of(home, path))


def test_codex_gets_the_permission_and_its_own_memories_are_off_only_where_they_were_on(run: Run, home: Path) -> None:
    file = written(home / ".codex/config.toml", CODEX)
    run("install", "codex", "--memory", "only")
    data = tomllib.loads(file.read_text())
    assert data["mcp_servers"]["crabmem"]["default_tools_approval_mode"] == "approve" and "features" not in data
    run("uninstall", "codex")
    file.write_text(CODEX + "[features]\nmemories = true\n")
    run("install", "codex")
    assert tomllib.loads(file.read_text())["features"] == {"memories": True}
    run("install", "codex", "--memory", "only")
    assert tomllib.loads(file.read_text())["features"] == {"memories": False}
    run("uninstall", "codex")
    assert file.read_text() == CODEX + "[features]\nmemories = true\n"


def test_a_host_whose_configs_take_no_permission_says_where_a_person_gives_it(run: Run, home: Path) -> None:
    said = run("install", "claude-desktop", "--allow")
    assert "permission: when it asks for a tool, choose to always allow it" in said.stdout
    assert json.loads(run("install", "claude-desktop", "--json").stdout)["allow"] is None
    assert "nothing switches its own memory tool off" in run("install", "vscode").stdout


def test_a_person_at_a_terminal_is_asked_once(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.cli.hosting.can_ask", lambda: True)
    monkeypatch.setattr("crabmem.cli.output.can_ask", lambda: True)
    asked = run("install", "claude-code", asking=True, stdin="n\n\ny\n")
    assert asked.exit_code == 0, asked.stderr
    assert "May Claude Code read and write this memory without asking you each time?" in asked.stderr
    assert "inside  its own is kept in this memory's folder" in asked.stderr
    assert {"permissions", "autoMemoryEnabled"}.isdisjoint(settings_of(home))
    again = run("--dir", "notes", "install", "claude-code", asking=True, stdin="y\n")
    assert again.exit_code == 0 and "May Claude Code" not in again.stderr
    run("uninstall", "claude-code")
    run("install", "claude-code", asking=True, stdin="\nonly\ny\n")
    found = settings_of(home)
    assert (found["permissions"], found["autoMemoryEnabled"]) == ({"allow": ["mcp__crabmem"]}, False)


MINE = ".claude/projects/-home-me-shop/memory"


def remembered(home: Path) -> None:
    """What Claude Code knew of two projects, in each a fact of the same name."""
    fact = "---\nname: {0}\ndescription: {1}\ntype: project\n---\n\n{2}\n"
    for project, place in (("shop", "oven"), ("farm", "barn")):
        folder = f".claude/projects/-home-me-{project}/memory"
        written(home / f"{folder}/MEMORY.md", "- [Build](build.md)\n")
        written(home / f"{folder}/build.md", fact.format("Build", "how to build", f"Run make {place}."))
    written(home / f"{MINE}/tills.md", fact.format("Tills", "the tills", "There are nine."))


def test_what_the_host_remembered_is_taken_in_once_and_stays_where_it_was(run: Run, home: Path) -> None:
    remembered(home)
    before = files(home)
    would = run("install", "claude-code", "--memory", "only", "--dry-run")
    assert "would make     -home-me-shop/memory/tills.md: Tills" in would.stderr and files(home) == before

    done = run("install", "claude-code", "--memory", "only")
    assert "taken in from its auto memory: 3 made, 2 skipped; `crabmem undo` takes it back" in done.stdout
    assert all((home / path).read_text() == text for path, text in before.items())
    kept = "".join(json.loads(run("recall", word, "--json").stdout)["hits"][0]["content"] for word in ("oven", "barn"))
    assert "Run make oven." in kept and "Run make barn." in kept
    [commit] = json.loads(run("log", "-n", "1", "--json").stdout)["commits"]
    assert commit["subject"] == "import: 3 facts from projects"

    assert run("forget", "Tills").exit_code == 0
    assert "taken in" not in run("--dir", str(home / ".crabmem"), "install", "claude-code").stdout
    assert "no fact called" in run("show", "Tills").stderr
    again = run("import", str(home / MINE))
    assert "1 made" in again.stderr and "1 unchanged" in again.stderr


def test_an_agent_without_tools_of_ours_keeps_the_memory_of_its_host(run: Run, home: Path) -> None:
    remembered(home)
    assert json.loads(run("install", "claude-code", "--no-server", "--json").stdout)["memory"] == "beside"
    assert "autoMemoryEnabled" not in (home / ".claude/settings.json").read_text()


@pytest.mark.parametrize("odd", ['{"permissions": {"allow": true}}', '{"permissions": {"allow": "Bash"}}'])
def test_a_permission_that_is_no_list_is_left_to_the_person(run: Run, home: Path, odd: str) -> None:
    written(home / ".claude/settings.json", odd)
    result = run("install", "claude-code")
    assert result.exit_code == 1 and "can only stand in an array; nothing was written" in result.stderr
    assert (home / ".claude/settings.json").read_text() == odd


@pytest.mark.parametrize("scope", [[], ["--here"]])
def test_what_a_host_is_told_against_memory_is_named(run: Run, home: Path, scope: list[str]) -> None:
    told = {"permissions": {"deny": ["mcp__crabmem"], "ask": ["mcp__crabmem__remember"]}, "disableAllHooks": True}
    folder = home.parent / "project" if scope else home
    file = written(folder / ".claude/settings.json", json.dumps(told))
    said = run("install", "claude-code", *scope, "--allow")
    against = f"crabmem: warning: Claude Code will not use all of it: {file} says "
    assert [line.removeprefix(against) for line in said.stderr.splitlines() if line.startswith(against)] == [
        'permissions.deny: "mcp__crabmem"',
        'permissions.ask: "mcp__crabmem__remember"',
        "disableAllHooks: true",
    ]
    assert "permissions.ask" not in run("install", "claude-code", *scope, "--no-allow").stderr
    assert "disableAllHooks" not in run("install", "claude-code", *scope, "--no-hooks").stderr
    assert "permissions.deny" not in run("install", "claude-code", *scope, "--no-server").stderr


def test_what_the_host_remembered_is_read_as_its_memory_whatever_it_looks_like(run: Run, home: Path) -> None:
    written(home / f"{MINE}/MEMORY.md", "- [Coffee](coffee.md): how we take it\n")
    written(home / f"{MINE}/coffee.md", "---\nname: Coffee\ndescription: how we take it\n---\n\nBlack.\n")
    assert "1 made, 1 skipped" in run("install", "claude-code", "--memory", "only").stdout
    assert [fact["name"] for fact in json.loads(run("list", "--json").stdout)["facts"]] == ["Coffee"]


def test_no_yes_switches_the_memory_of_a_host_off_and_what_it_knows_is_told_once(run: Run, home: Path) -> None:
    remembered(home)
    first = run("install", "claude-code")
    assert "memory: this one, and its auto memory beside it (--memory only: this one alone)" in first.stdout
    assert "`crabmem install claude-code --memory only` takes it in" in first.stderr and "tills.md" in first.stderr
    assert "autoMemoryEnabled" not in settings_of(home) and not (home / ".crabmem").exists()
    assert "tills.md" not in run("install", "claude-code", "--no-allow").stderr


@pytest.mark.parametrize("words", [("--memory", "beside"), ("--memory", "inside"), ()])
def test_what_stays_the_hosts_is_not_taken_in(run: Run, home: Path, words: tuple[str, ...]) -> None:
    remembered(home)
    assert json.loads(run("install", "claude-code", "--json", *words).stdout)["imported"] is None
    assert not (home / ".crabmem").exists()


def test_the_memory_of_a_host_is_switched_off_only_after_it_was_taken_in(run: Run, home: Path) -> None:
    remembered(home)
    run("remember", "Till", "-d", "d", "-c", "c")
    written(home / ".crabmem/crabmem.toml", "lock_timeout = 0.1\n")
    with WriterLock(home / ".crabmem/.git/crabmem/lock").held(5):
        assert run("install", "claude-code", "--memory", "only").exit_code == 1
    assert not (home / ".claude/settings.json").exists()
    assert "taken in" in run("install", "claude-code", "--memory", "only").stdout
    assert "Tills" in run("list").stdout and settings_of(home)["autoMemoryEnabled"] is False


def test_a_project_takes_in_what_the_host_knows_of_it_alone(run: Run, home: Path) -> None:
    remembered(home)
    here = re.sub(r"[^A-Za-z0-9]", "-", str(Path.cwd()))
    written(home / f".claude/projects/{here}/memory/ours.md", "---\nname: Ours\ndescription: d\n---\n\nText.\n")
    data = json.loads(run("install", "claude-code", "--here", "--memory", "only", "--json").stdout)
    assert [item["name"] for item in data["imported"]["files"]] == ["Ours"]
    local = json.loads(Path(".claude/settings.local.json").read_text())
    assert local == {"permissions": {"allow": ["mcp__crabmem"]}, "autoMemoryEnabled": False}
    assert "permissions" not in json.loads(Path(".claude/settings.json").read_text())


def test_the_overview_is_said_once_where_the_host_reads_it_in_the_workspace(run: Run, home: Path) -> None:
    run("install", "claude-code", "--memory", "inside")
    assert "hook session-start --without overview --host claude-code" in (home / ".claude/settings.json").read_text()
    run("install", "claude-code", "--memory", "only")
    assert "--without" not in (home / ".claude/settings.json").read_text()


def test_a_session_hears_the_overview_from_the_hook_only_where_its_host_does_not_read_it(run: Run, home: Path) -> None:
    run("overview", "set", "-c", "# Overview\n\nThe cart is named Marabou.\n")
    asked = json.dumps({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s-1"})
    words = ("hook", "session-start", "--host", "claude-code")
    whole, less = run(*words, stdin=asked).stdout, run(*words, "--without", "overview", stdin=asked).stdout
    assert "Marabou" in whole and "Marabou" not in less
    assert "remember" in less and len(less) < len(whole)


def away(monkeypatch: pytest.MonkeyPatch, run: Run, tmp_path: Path, *words: str) -> Path:
    """A crabmem that installed something, and is gone since."""
    program = written(tmp_path / "my tools/crabmem", "#!/bin/sh\n")
    program.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", [str(program)])
        assert run("install", *words).exit_code == 0
    program.unlink()
    return program


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("name", NAMES)
def test_a_host_that_calls_a_program_that_is_gone_is_named_with_the_way_out(
    name: str, scope: str, run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [name, "--here"] if scope == "project" else [name]
    if not host_named(name).project and scope == "project":
        pytest.skip("it has no configs of projects")
    program = away(monkeypatch, run, tmp_path, *words)
    told = f"{host_named(name).title} calls {program}, which is gone: `crabmem install {' '.join(words)}` renews that"
    assert told in run("install").stderr
    rows = json.loads(run("install", "--json").stdout)["hosts"]
    assert {row["host"]: row["gone"] for row in rows}[name] == [str(program)]
    found = json.loads(run("doctor", "--json").stdout)["findings"]
    assert [(item["level"], item["message"]) for item in found if item["check"] == "hosts"] == [("warning", told)]
    assert run("doctor").exit_code == 0
    run("install", *words)
    assert "is gone" not in run("install").stderr and "ok: hosts" in run("doctor").stdout


def test_doctor_says_nothing_of_a_hosts_config_that_cannot_be_read(run: Run, home: Path) -> None:
    written(home / ".codex/config.toml", "crabmem = [\n")
    written(home / ".claude.json", '{"mcpServers": {"crabmem": 5}, "crabmem": }')
    written(home / ".claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"command": "crabmem \' hook stop"}]}]}}')
    done = run("doctor")
    assert done.exit_code == 0 and "ok: hosts" in done.stdout


def test_a_plugin_of_codex_and_of_copilot_cli_call_the_program_on_path_and_bring_the_skill(
    run: Run, home: Path
) -> None:
    places = {"codex-plugin": (".codex-plugin/plugin.json", "codex"), "copilot-plugin": ("plugin.json", "copilot")}
    assert run("bundle", "skill", "skill").exit_code == 0
    for kind, (path, host) in places.items():
        assert run("bundle", kind, kind).exit_code == 0
        manifest = json.loads(Path(kind, path).read_text())
        assert (manifest["name"], manifest["version"]) == ("crabmem", __version__)
        server = json.loads(Path(kind, manifest["mcpServers"]).read_text())["mcpServers"]["crabmem"]
        assert (server["command"], server["args"]) == ("crabmem", ["--agent", host, "mcp"])
        hooks = json.loads(Path(kind, manifest["hooks"]).read_text())["hooks"]
        assert all(f"--host {host}" in json.dumps(hook) for hook in hooks.values()) and len(hooks) >= 4
        skill = Path(kind, manifest["skills"], "crabmem/SKILL.md").read_text()
        assert skill == Path("skill/SKILL.md").read_text()


def test_the_skill_says_when_to_remember_and_names_tools_that_there_are(run: Run, home: Path) -> None:
    run("bundle", "skill", "skill")
    parts = frontmatter.loads(Path("skill/SKILL.md").read_text())
    about = str(parts["description"])
    assert parts["name"] == "crabmem" and len(about) <= 1024
    assert "remember" in about and "before" in about
    offered = {tool["name"] for tool in json.loads(run("tools", "--json").stdout)["tools"]}
    assert {"recall", "remember", "forget"} <= offered
    assert all(f"`{name}`" in parts.content for name in ("recall", "remember", "forget"))
