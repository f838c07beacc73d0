"""The hosts that crabmem installs itself into. All that differs between them is here."""

import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import NotFound
from .desired import Default, Element, Hook, Server, Setting, Switch, Trait, Wish
from .host import ABOUT, IN_CMD, IN_POWERSHELL, NAME, Config, Host, Order, OwnMemory, Surroundings, nothing
from .opencode import MARK, opencode_plugin

# A hook answers within 1.4 seconds, or within five where it would be missed for a whole session. What does not is no
# hook of ours any more, and the host waits for nothing.
_SECONDS = 5
_LONGER = {"session-start": 8, "subagent-start": 8, "wrote": 8}
# Codex lets the end of a session wait for three seconds at most, and warns of more.
_CODEX_LONGER = {**_LONGER, "session-end": 3}
_WRITES = "Write|Edit|MultiEdit"
#: Stands for the names of the tools where a permission lists them.
TOOLS = object()
# What Claude Code writes as a dash in the name of a project's folder.
_SIGNS = re.compile(r"[^A-Za-z0-9]")

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
_COPILOT_EVENTS = {
    "sessionStart": "session-start",
    "userPromptSubmitted": "prompt",
    "subagentStart": "subagent-start",
    "preCompact": "pre-compact",
    "agentStop": "stop",
    "sessionEnd": "session-end",
}
_CURSOR_EVENTS = {
    "sessionStart": "session-start",
    "beforeSubmitPrompt": "prompt",
    "preCompact": "pre-compact",
    "stop": "stop",
    "sessionEnd": "session-end",
}


def _entry(host: str, key: str, **more: object) -> Callable[[Order], Server]:
    """The entry of the server, as nearly every host writes it."""

    def entry(order: Order) -> Server:
        command, *arguments = order.server(host)
        return Server((key, NAME), {**more, "command": command, "args": arguments})

    return entry


def _servers(host: str, key: str = "mcpServers", **more: object) -> Callable[[Order], Sequence[Wish]]:
    entry = _entry(host, key, **more)
    return lambda order: [entry(order)] if order.with_server else []


def _permitted(
    host: str, trait: str, value: object = True, key: str = "mcpServers"
) -> Callable[[Order], Sequence[Wish]]:
    """The permission as a value in the entry of the server; `TOOLS` stands for the names of the tools."""
    entry = _entry(host, key)

    def choices(order: Order) -> Sequence[Wish]:
        granted = list(order.tools) if value is TOOLS else value
        path = (key, NAME, trait)
        return [Trait(path, granted, entry(order))] if order.allow and order.with_server else []

    return choices


def _copilot_permission(order: Order) -> Sequence[Wish]:
    """An answer to Copilot CLI's own question before each of our tools: its other permissions are for one folder."""
    if not (order.allow and order.with_server):
        return []
    answer = {"matcher": f"^{NAME}-[a-z_]+$", "command": """echo '{"permissionDecision": "allow"}'""", "timeoutSec": 5}
    return [Default(("version",), 1), Element(("hooks", "preToolUse"), {"type": "command", **answer})]


def _listed(*path: str) -> Callable[[Order], Sequence[Wish]]:
    """The permission as an element of a list of rules; the last of `path` is the rule."""
    return lambda order: [Element(path[:-1], path[-1])] if order.allow and order.with_server else []


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
                around(
                    order.hook(host, ours, *_left_out(order, ours), on_windows=on_windows), longer.get(ours, _SECONDS)
                ),
                {} if is_grouped else None,
            )
            for event, ours in events.items()
            if order.hooks
        ]

    return wishes


def _left_out(order: Order, event: str) -> Sequence[str]:
    """What a hook need not say: a host whose own memory is the workspace reads the overview there by itself."""
    return ("--without", "overview") if order.memory == "both" and event == "session-start" else ()


def _command(line: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeout": seconds}


def _gemini_command(line: str, seconds: int) -> dict[str, Any]:
    return {"name": NAME, "type": "command", "command": line, "timeout": seconds * 1000}


def _copilot_command(line: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeoutSec": seconds}


def _cursor_command(line: str, seconds: int) -> dict[str, Any]:
    return {"command": line, "timeout": seconds}


def _all(*parts: Callable[[Order], Sequence[Wish]]) -> Callable[[Order], Sequence[Wish]]:
    return lambda order: [wish for part in parts for wish in part(order)]


def _claude_memory(order: Order) -> Sequence[Wish]:
    """Claude Code's own memory: off, or kept in the workspace, where what it writes is recorded as it is written."""
    if order.memory == "both":
        line = _command(order.hook("claude-code", "wrote"), _LONGER["wrote"])
        wrote = Hook(("hooks", "PostToolUse"), line, {"matcher": _WRITES})
        folder = Setting(("autoMemoryDirectory",), str(order.folder), hook=wrote, is_by=_is_memory_of)
        return [folder, wrote, Switch(("autoMemoryEnabled",), True, over=False)]
    return _switched_off("autoMemoryEnabled")(order)


def _switched_off(*path: str) -> Callable[[Order], Sequence[Wish]]:
    """A memory of the host's that is on unless a setting says otherwise."""
    return lambda order: [Setting(path, False)] if order.memory == "ours" else []


def _kept_off(*path: str) -> Callable[[Order], Sequence[Wish]]:
    """A memory of the host's that is off unless the person switched it on."""
    return lambda order: [Switch(path, False, over=True)] if order.memory == "ours" else []


def _is_memory_of(folder: str, command: str) -> bool:
    """Whether `folder` is the memory of the workspace that `command` names, whichever that was."""
    places = [folder, str(Path(folder).parent)]
    named = [f" --dir {quoted([place])} " for place in places for quoted in (shlex.join, subprocess.list2cmdline)]
    return any(words in command for words in named) if " --dir " in command else ".crabmem" in Path(folder).parts[-2:]


def _goose_server(order: Order) -> Sequence[Wish]:
    if not order.with_server:
        return []
    command, *arguments = order.server("goose")
    about = {"name": NAME, "description": ABOUT, "enabled": True, "type": "stdio"}
    return [Server(("extensions", NAME), {**about, "cmd": command, "args": arguments, "timeout": 300})]


def _opencode_server(order: Order) -> Sequence[Wish]:
    if not order.with_server:
        return []
    schema = Default(("$schema",), "https://opencode.ai/config.json")  # which it adds by itself where it is missing
    return [
        schema,
        Server(("mcp", NAME), {"type": "local", "command": list(order.server("opencode")), "enabled": True}),
    ]


def _zed_permission(order: Order) -> Sequence[Wish]:
    """A rule for each tool: the only others that Zed has are for all tools of all servers."""
    if not (order.allow and order.with_server):
        return []
    path = ("agent", "tool_permissions", "tools")
    return [Setting((*path, f"mcp:{NAME}:{tool}", "default"), "allow") for tool in order.tools]


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


def _copilot(here: Surroundings) -> Path:
    return here.folder("COPILOT_HOME", ".copilot")


def _code(here: Surroundings) -> Path:
    return here.applications / "Code/User"


def _claude_desktop(here: Surroundings) -> Path:
    return here.applications / "Claude"


def _zed(here: Surroundings) -> Path:
    return here.applications / "Zed" if here.system in ("darwin", "win32") else here.applications / "zed"


def _goose(here: Surroundings) -> Path:
    if root := here.environment.get("GOOSE_PATH_ROOT"):
        return Path(root) / "config"
    if here.system == "win32":
        return here.applications / "Block/goose/config"
    return here.folder("XDG_CONFIG_HOME", ".config") / "goose"


def _claude_memories(here: Surroundings, in_project: bool) -> Sequence[Path]:
    """Claude Code's memory of each project; its folder is the project's path with other signs as dashes."""
    projects = _claude(here) / "projects"
    this = _SIGNS.sub("-", str(here.project))
    return sorted(projects.glob(f"{this if in_project else '*'}/memory"))


def _codex_memories(here: Surroundings, in_project: bool) -> Sequence[Path]:
    file = _codex(here) / "memories" / "MEMORY.md"
    return [file] if file.is_file() and not in_project else []


def _gemini_memories(here: Surroundings, in_project: bool) -> Sequence[Path]:
    """Gemini CLI's private notes on each project."""
    return [] if in_project else sorted((_gemini(here) / "tmp").glob("*/memory"))


def _goose_memories(here: Surroundings, in_project: bool) -> Sequence[Path]:
    """What Goose's extension keeps for all projects: a text for each category."""
    folder = _goose(here) / "memory"
    return [folder] if folder.is_dir() and not in_project else []


CLAUDE_SERVER = _servers("claude-code", type="stdio", alwaysLoad=True)
CLAUDE_HOOKS = _hooks("claude-code", _CLAUDE_EVENTS, _command)
_CLAUDE_RULE = _listed("permissions", "allow", f"mcp__{NAME}")
_CODEX_PERMISSION = _permitted("codex", "default_tools_approval_mode", "approve", "mcp_servers")
CODEX_SERVER = _servers("codex", "mcp_servers")
CODEX_HOOKS = _hooks("codex", _CLAUDE_EVENTS, _command, longer=_CODEX_LONGER, on_windows=IN_CMD)
_CODEX = _all(CODEX_SERVER, CODEX_HOOKS)
_CODEX_CHOICES = _all(_CODEX_PERMISSION, _kept_off("features", "memories"))
GEMINI_SERVER = _servers("gemini")
GEMINI_HOOKS = _hooks("gemini", _GEMINI_EVENTS, _gemini_command)
_GEMINI = _all(GEMINI_SERVER, GEMINI_HOOKS)
_GEMINI_CHOICES = _all(_permitted("gemini", "trust"), _kept_off("experimental", "autoMemory"))
COPILOT_SERVER = _servers("copilot", type="local", tools=["*"])
COPILOT_HOOKS = _all(
    lambda order: [Default(("version",), 1)] if order.hooks else [],
    _hooks("copilot", _COPILOT_EVENTS, _copilot_command, is_grouped=False),
)
_CURSOR_HOOKS = _all(
    lambda order: [Default(("version",), 1)] if order.hooks else [],
    _hooks("cursor", _CURSOR_EVENTS, _cursor_command, is_grouped=False),
)
_OPENCODE_FILES = ("opencode.json", "opencode.jsonc")
_IN_ITS_SETTINGS = "its own memories stay beside crabmem's until you switch them off in its settings"


def _server_alone(
    name: str,
    title: str,
    program: str,
    home: Callable[[Surroundings], Path],
    files: Sequence[tuple[Callable[[Surroundings], Path], str]],
    to_do: str,
    *,
    allows: str = "",
    granted: object = True,
    asks: str = "",
    own: OwnMemory | None = None,
) -> Host:
    """A host that takes the server and no hooks, in the configs of the person and then of a project.

    `allows` is the key in the entry that grants permission, and `granted` its value.
    """
    choices = _permitted(name, allows, granted) if allows else nothing
    configs = [Config(folder, (file,), "jsonc", _servers(name), choices) for folder, file in files]
    return Host(name, title, program, home, tuple(configs[:1]), tuple(configs[1:]), to_do, asks=asks, own=own)


HOSTS = (
    Host(
        "claude-code",
        "Claude Code",
        "claude",
        _claude,
        (
            Config(_claude_state, (".claude.json",), "json", CLAUDE_SERVER),
            Config(_claude, ("settings.json",), "json", CLAUDE_HOOKS, _all(_CLAUDE_RULE, _claude_memory)),
        ),
        (
            Config(_in_project(), (".mcp.json",), "json", CLAUDE_SERVER),
            Config(_in_project(".claude"), ("settings.json",), "json", CLAUDE_HOOKS),
            # What one person allows is nobody else's: Claude Code keeps this file out of the project's repository.
            Config(
                _in_project(".claude"),
                ("settings.local.json",),
                "json",
                nothing,
                _all(_CLAUDE_RULE, _switched_off("autoMemoryEnabled")),
            ),
        ),
        "start Claude Code anew; /mcp lists the server, /hooks the hooks",
        "start Claude Code here and approve the server and the folder when it asks",
        own=OwnMemory("its auto memory", _claude_memories, unites=True, source="claude-code"),
    ),
    Host(
        "codex",
        "Codex",
        "codex",
        _codex,
        (Config(_codex, ("config.toml",), "toml", _CODEX, _CODEX_CHOICES),),
        (Config(_in_project(".codex"), ("config.toml",), "toml", _CODEX, _CODEX_CHOICES),),
        "start codex and review the hooks with /hooks: until you trust them Codex skips them, and says nothing",
        "trust this project when codex asks, then review the hooks with /hooks: until then Codex skips both in silence",
        own=OwnMemory("its memories", _codex_memories),
    ),
    Host(
        "copilot",
        "GitHub Copilot CLI",
        "copilot",
        _copilot,
        (
            Config(_copilot, ("mcp-config.json",), "json", COPILOT_SERVER),
            Config(
                lambda here: _copilot(here) / "hooks", ("crabmem.json",), "json", COPILOT_HOOKS, _copilot_permission
            ),
            Config(_copilot, ("settings.json",), "jsonc", nothing, _switched_off("memory")),
        ),
        (
            Config(_in_project(".github"), ("mcp.json",), "json", COPILOT_SERVER),
            Config(_in_project(".github/hooks"), ("crabmem.json",), "json", COPILOT_HOOKS),
        ),
        "start copilot anew; /mcp lists the server. The Copilot agent in VS Code reads the same files",
        "start copilot here and trust the folder when it asks",
        asks="it asks once in each folder, where you can allow it for good; or start it with --allow-tool=crabmem",
        own=OwnMemory("its memory, which GitHub keeps"),
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
        # A file with this one rule would silence the rules that a person has in Cursor itself.
        asks="add crabmem:* to the MCP allowlist under Settings, Agents, Auto-Run",
        own=OwnMemory("its memories", note=_IN_ITS_SETTINGS),
    ),
    Host(
        "gemini",
        "Gemini CLI",
        "gemini",
        _gemini,
        (Config(_gemini, ("settings.json",), "jsonc", _GEMINI, _GEMINI_CHOICES),),
        (Config(_in_project(".gemini"), ("settings.json",), "jsonc", _GEMINI, _GEMINI_CHOICES),),
        "start gemini anew; /mcp lists the server, /hooks the hooks",
        "start gemini here and trust the folder; it warns of the hooks once, as of all that come with a project",
        own=OwnMemory(
            "its private notes on projects",
            _gemini_memories,
            note="nothing switches its private notes on projects off, so it may still write some itself",
        ),
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
        asks='it asks for no tool unless your "permission" says so; there "crabmem_*": "allow" is the exception',
    ),
    Host(
        "vscode",
        "VS Code",
        "code",
        _code,
        (Config(_code, ("mcp.json",), "jsonc", _servers("vscode", "servers", type="stdio")),),
        (Config(_in_project(".vscode"), ("mcp.json",), "jsonc", _servers("vscode", "servers", type="stdio")),),
        "run `MCP: List Servers` in VS Code, start crabmem there, and say that you trust it; "
        "`crabmem install copilot` gives its Copilot agent the hooks, too",
        asks="when it asks for a tool, choose to always allow the tools of crabmem",
        own=OwnMemory("its memory tool", note="nothing switches its own memory tool off, so it may still use that"),
    ),
    Host(
        "claude-desktop",
        "Claude Desktop",
        "claude-desktop",
        _claude_desktop,
        (Config(_claude_desktop, ("claude_desktop_config.json",), "json", _servers("claude-desktop")),),
        (),
        "quit Claude Desktop wholly and start it again",
        asks="when it asks for a tool, choose to always allow it",
    ),
    _server_alone(
        "qwen",
        "Qwen Code",
        "qwen",
        _in_home(".qwen"),
        [(_in_home(".qwen"), "settings.json"), (_in_project(".qwen"), "settings.json")],
        "start qwen anew; /mcp lists the server",
        allows="trust",
    ),
    Host(
        "zed",
        "Zed",
        "zed",
        _zed,
        (Config(_zed, ("settings.json",), "jsonc", _servers("zed", "context_servers"), _zed_permission),),
        (Config(_in_project(".zed"), ("settings.json",), "jsonc", _servers("zed", "context_servers")),),
        "open the settings of the Agent Panel in Zed: crabmem has a green dot there",
        asks="when it asks for a tool, choose to always allow it",
    ),
    _server_alone(
        "windsurf",
        "Windsurf",
        "windsurf",
        _in_home(".codeium/windsurf"),
        [(_in_home(".codeium/windsurf"), "mcp_config.json")],
        "press refresh beside the MCP servers in Windsurf's Cascade",
        asks="when it asks for a tool, choose to always allow it",
        own=OwnMemory("its memories", note=_IN_ITS_SETTINGS),
    ),
    _server_alone(
        "kiro",
        "Kiro",
        "kiro",
        _in_home(".kiro"),
        [(_in_home(".kiro/settings"), "mcp.json"), (_in_project(".kiro/settings"), "mcp.json")],
        "Kiro connects when the file changes; its MCP panel lists the server",
        allows="autoApprove",
        granted=TOOLS,
    ),
    _server_alone(
        "cline",
        "Cline",
        "cline",
        lambda here: _code(here) / "globalStorage/saoudrizwan.claude-dev",
        [(lambda here: _code(here) / "globalStorage/saoudrizwan.claude-dev/settings", "cline_mcp_settings.json")],
        "Cline connects when the file changes; its MCP Servers list shows it",
        allows="autoApprove",
        granted=TOOLS,
    ),
    Host(
        "goose",
        "Goose",
        "goose",
        _goose,
        (Config(_goose, ("config.yaml",), "yaml", _goose_server, _kept_off("extensions", "memory", "enabled")),),
        (),
        "start goose anew; `goose info -v` shows the extension",
        asks="in its mode auto, which is the usual one, it asks for no tool; in the others choose to always allow them",
        own=OwnMemory("its extension memory", _goose_memories),
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
