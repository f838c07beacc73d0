"""The hosts that crabmem installs itself into. All that differs between them is here."""

import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import NotFound
from .host import IN_CMD, IN_POWERSHELL, NAME, Config, Host, Order, Surroundings
from .plugin import MARK, opencode_plugin
from .wishes import Default, Hook, Server, Setting, Wish

# A hook answers within 1.4 seconds, or within five where it would be missed for a whole session. What does not is no
# hook of ours any more, and the host waits for nothing.
_SECONDS = 5
_LONGER = {"session-start": 8, "subagent-start": 8, "wrote": 8}
# Codex lets the end of a session wait for three seconds at most, and warns of more.
_CODEX_LONGER = {**_LONGER, "session-end": 3}
_WRITES = "Write|Edit|MultiEdit"

_CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "SubagentStart": "subagent-start",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
# Its PreCompress comes before every turn, and cannot say anything to the model.
_GEMINI_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "SessionEnd": "session-end",
}
_CURSOR_EVENTS = {
    "sessionStart": "session-start",
    "beforeSubmitPrompt": "prompt",
    "preCompact": "pre-compact",
    "stop": "stop",
    "sessionEnd": "session-end",
}


def _servers(host: str, key: str = "mcpServers", **more: object) -> Callable[[Order], Sequence[Wish]]:
    """The entry of the server, as nearly every host writes it."""

    def wishes(order: Order) -> Sequence[Wish]:
        if not order.with_server:
            return []
        command, *arguments = order.server(host)
        return [Server((key, NAME), {**more, "command": command, "args": arguments})]

    return wishes


def _hooks(
    host: str,
    events: Mapping[str, str],
    around: Callable[[str, int], dict[str, Any]],
    is_grouped: bool = True,
    longer: Mapping[str, int] = _LONGER,
    on_windows: str = IN_POWERSHELL,
) -> Callable[[Order], Sequence[Wish]]:
    """A command for each event, as `around` puts it and the seconds that the host is to wait for it.

    It is in a group of its own where the host has groups; `longer` are events that it is to wait longer for.
    """

    def wishes(order: Order) -> Sequence[Wish]:
        return [
            Hook(
                ("hooks", event),
                around(order.hook(host, ours, on_windows), longer.get(ours, _SECONDS)),
                {} if is_grouped else None,
            )
            for event, ours in events.items()
            if order.hooks
        ]

    return wishes


def _command(line: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeout": seconds}


def _gemini_command(line: str, seconds: int) -> dict[str, Any]:
    return {"name": NAME, "type": "command", "command": line, "timeout": seconds * 1000}


def _cursor_command(line: str, seconds: int) -> dict[str, Any]:
    return {"command": line, "timeout": seconds}


def _all(*parts: Callable[[Order], Sequence[Wish]]) -> Callable[[Order], Sequence[Wish]]:
    return lambda order: [wish for part in parts for wish in part(order)]


def _auto_memory(order: Order) -> Iterable[Wish]:
    """Claude Code's own memory, kept in the workspace; what it writes there is recorded as it is written."""
    if order.auto_memory:
        wrote = Hook(
            ("hooks", "PostToolUse"),
            _command(order.hook("claude-code", "wrote"), _LONGER["wrote"]),
            {"matcher": _WRITES},
        )
        yield Setting(("autoMemoryDirectory",), str(order.memory), hook=wrote, is_by=_is_memory_of)
        yield wrote


def _is_memory_of(folder: str, command: str) -> bool:
    """Whether `folder` is the memory of the workspace that `command` names, whichever that was."""
    places = [folder, str(Path(folder).parent)]
    named = [f" --dir {quoted([place])} " for place in places for quoted in (shlex.join, subprocess.list2cmdline)]
    return any(words in command for words in named) if " --dir " in command else ".crabmem" in Path(folder).parts[-2:]


def _opencode_server(order: Order) -> Sequence[Wish]:
    if not order.with_server:
        return []
    schema = Default(("$schema",), "https://opencode.ai/config.json")  # which it adds by itself where it is missing
    return [
        schema,
        Server(("mcp", NAME), {"type": "local", "command": list(order.server("opencode")), "enabled": True}),
    ]


def _opencode_hooks(order: Order) -> Sequence[Wish]:
    return [Setting(("text",), opencode_plugin(order.program), MARK)] if order.hooks else []


def _in_home(folder: str) -> Callable[[Surroundings], Path]:
    return lambda here: here.home / folder


def _in_project(folder: str = "") -> Callable[[Surroundings], Path]:
    return lambda here: here.project / folder


def _claude(here: Surroundings) -> Path:
    return here.folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude_state(here: Surroundings) -> Path:
    return here.folder("CLAUDE_CONFIG_DIR", "")


def _codex(here: Surroundings) -> Path:
    return here.folder("CODEX_HOME", ".codex")


def _gemini(here: Surroundings) -> Path:
    return here.folder("GEMINI_CLI_HOME", "") / ".gemini"


def _opencode(here: Surroundings) -> Path:
    return here.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _code(here: Surroundings) -> Path:
    return here.applications / "Code/User"


def _claude_desktop(here: Surroundings) -> Path:
    return here.applications / "Claude"


CLAUDE_SERVER = _servers("claude-code", type="stdio")
CLAUDE_HOOKS = _hooks("claude-code", _CLAUDE_EVENTS, _command)
_CODEX = _all(
    _servers("codex", "mcp_servers"),
    _hooks("codex", _CLAUDE_EVENTS, _command, longer=_CODEX_LONGER, on_windows=IN_CMD),
)
GEMINI_SERVER = _servers("gemini")
GEMINI_HOOKS = _hooks("gemini", _GEMINI_EVENTS, _gemini_command)
_GEMINI = _all(GEMINI_SERVER, GEMINI_HOOKS)
_CURSOR_HOOKS = _all(
    lambda order: [Default(("version",), 1)] if order.hooks else [],
    _hooks("cursor", _CURSOR_EVENTS, _cursor_command, is_grouped=False),
)
_OPENCODE_FILES = ("opencode.json", "opencode.jsonc")

HOSTS = (
    Host(
        "claude-code",
        "Claude Code",
        "claude",
        _claude,
        (
            Config(_claude_state, (".claude.json",), "json", CLAUDE_SERVER),
            Config(_claude, ("settings.json",), "json", _all(CLAUDE_HOOKS, lambda order: list(_auto_memory(order)))),
        ),
        (
            Config(_in_project(), (".mcp.json",), "json", CLAUDE_SERVER),
            Config(_in_project(".claude"), ("settings.json",), "json", CLAUDE_HOOKS),
        ),
        "start Claude Code anew; /mcp lists the server, /hooks the hooks",
        "start Claude Code here and approve the server and the folder when it asks",
        has_auto_memory=True,
    ),
    Host(
        "codex",
        "Codex",
        "codex",
        _codex,
        (Config(_codex, ("config.toml",), "toml", _CODEX),),
        (Config(_in_project(".codex"), ("config.toml",), "toml", _CODEX),),
        "start codex and review the hooks with /hooks: until you trust them Codex skips them, and says nothing",
        "trust this project when codex asks, then review the hooks with /hooks: until then Codex skips both in silence",
    ),
    Host(
        "cursor",
        "Cursor",
        "cursor",
        _in_home(".cursor"),
        (
            Config(_in_home(".cursor"), ("mcp.json",), "jsonc", _servers("cursor")),
            Config(_in_home(".cursor"), ("hooks.json",), "jsonc", _CURSOR_HOOKS),
        ),
        (
            Config(_in_project(".cursor"), ("mcp.json",), "jsonc", _servers("cursor")),
            Config(_in_project(".cursor"), ("hooks.json",), "jsonc", _CURSOR_HOOKS),
        ),
        "restart Cursor and switch the server on under Settings, MCP",
        "open this folder in Cursor, trust it, and switch the server on under Settings, MCP",
    ),
    Host(
        "gemini",
        "Gemini CLI",
        "gemini",
        _gemini,
        (Config(_gemini, ("settings.json",), "jsonc", _GEMINI),),
        (Config(_in_project(".gemini"), ("settings.json",), "jsonc", _GEMINI),),
        "start gemini anew; /mcp lists the server, /hooks the hooks",
        "start gemini here and trust the folder; it warns of the hooks once, as of all that come with a project",
    ),
    Host(
        "opencode",
        "OpenCode",
        "opencode",
        _opencode,
        (
            Config(_opencode, _OPENCODE_FILES, "jsonc", _opencode_server),
            Config(lambda here: _opencode(here) / "plugins", ("crabmem.js",), "text", _opencode_hooks),
        ),
        (
            Config(_in_project(), _OPENCODE_FILES, "jsonc", _opencode_server),
            Config(_in_project(".opencode/plugins"), ("crabmem.js",), "text", _opencode_hooks),
        ),
        "start opencode anew; `opencode mcp list` shows the server",
    ),
    Host(
        "vscode",
        "VS Code",
        "code",
        _code,
        (Config(_code, ("mcp.json",), "jsonc", _servers("vscode", "servers", type="stdio")),),
        (Config(_in_project(".vscode"), ("mcp.json",), "jsonc", _servers("vscode", "servers", type="stdio")),),
        "run `MCP: List Servers` in VS Code, start crabmem there, and say that you trust it",
    ),
    Host(
        "claude-desktop",
        "Claude Desktop",
        "claude-desktop",
        _claude_desktop,
        (Config(_claude_desktop, ("claude_desktop_config.json",), "json", _servers("claude-desktop")),),
        (),
        "quit Claude Desktop wholly and start it again",
    ),
)
NAMES = tuple(host.name for host in HOSTS)


def host_of(name: str) -> Host:
    """The host called `name`.

    Raises:
        NotFound: there is none of that name.
    """
    found = next((host for host in HOSTS if host.name == name), None)
    if found is None:
        raise NotFound(f"no host named {name}; there are {', '.join(NAMES)}")
    return found
