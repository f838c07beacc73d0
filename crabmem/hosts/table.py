"""The hosts, one after the other: all that differs between them is here.

To add a host, make a `Host` and put it into `HOSTS`. Every hook loads this module, so it imports nothing that edits
configs: the content of a config is a function of the options of an installation, `want`, and is made by their methods.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import NotFound
from ..text.comparison import nearest
from .host import (
    ABOUT,
    NAME,
    PRE_COMPACT,
    PROMPT,
    SESSION_END,
    SESSION_START,
    STOP,
    SUBAGENT_START,
    WROTE,
    Config,
    Content,
    Folder,
    Headless,
    HookDialect,
    Host,
    Json,
    OwnMemory,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .desired import Desired
    from .options import InstallOptions
    from .surroundings import Surroundings

_SWITCH_OFF_YOURSELF = "its own memories stay beside crabmem's until you switch them off in its settings"
# Milliseconds that a host waits for our server to begin, and for each answer, if it would wait for minutes by itself.
_PATIENCE_MS = 10_000
_ALWAYS_ALLOW = "when it asks for a tool, choose to always allow it"


def _home(folder: str) -> Folder:
    return lambda here: here.home / folder


def _project(folder: str = "") -> Folder:
    return lambda here: here.project / folder


def _folder_by(variable: str, default: str) -> Folder:
    return lambda here: here.folder(variable, default)


def _command(line: str, seconds: int) -> dict[str, Any]:
    """A hook's command, as most hosts write it."""
    return {"type": "command", "command": line, "timeout": seconds}


def _server_with(key: str = "mcpServers", **more: object) -> Content:
    """Return the content of a config: the entry of our server below `key`, with `more` keys that the host wants."""
    return lambda want: want.server(key, **more)


_server = _server_with()


def _trusted(want: "InstallOptions") -> "Sequence[Desired]":
    """The permission to use our tools without asking, in the entry of our server (Gemini CLI, Qwen Code)."""
    return want.if_allowed(want.trait("trust", True))


def _versioned_hooks(command: Callable[[str, int], dict[str, Any]]) -> Content:
    """Return the content of a file of hooks that has no groups, and names the version of its format."""
    return lambda want: [*want.if_hooks(want.default(("version",), 1)), *want.hooks(command, is_grouped=False)]


def _json(value: object) -> str:
    import json  # late: no hook needs it here

    return json.dumps(value)


def _servers(server: Sequence[str], **more: object) -> str:
    """A config in JSON that names our server alone, as most hosts write it."""
    return _json({"mcpServers": {NAME: {"command": server[0], "args": [*server[1:]], **more}}})


def _event(given: Mapping[str, object]) -> str:
    """The host's name of the event in what it wrote to a hook."""
    return str(given.get("hook_event_name", given.get("hookEventName")))


def _transcript(given: Mapping[str, object]) -> str:
    return str(given.get("transcript_path") or "").replace("\\", "/")


# Claude Code

_CLAUDE_EVENTS = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "SubagentStart": SUBAGENT_START,
    "PostToolUse": WROTE,
    "PreCompact": PRE_COMPACT,
    "Stop": STOP,
    "SessionEnd": SESSION_END,
}
# The key of an answer whose text Claude Code, and hosts with its events, show the person. An answer has no keys beyond
# those of its dialect: Codex refuses one with a key that it does not know.
_NOTICE = "systemMessage"
# The characters for which Claude Code writes a dash when it names a folder after the path of a project.
_SIGNS = re.compile(r"[^A-Za-z0-9]")


def _claude_context(event: str, text: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _claude_turn(event: str, text: str) -> Json:
    return {"decision": "block", "reason": text}


_claude = _folder_by("CLAUDE_CONFIG_DIR", ".claude")
_claude_server = _server_with(type="stdio", alwaysLoad=True)


def _claude_memories(here: "Surroundings", in_project: bool) -> Sequence[Path]:
    """Return the folders of Claude Code's own memory: of this project, whose path names the folder, or of all."""
    this = _SIGNS.sub("-", str(here.project))
    return sorted((_claude(here) / "projects").glob(f"{this if in_project else '*'}/memory"))


def _claude_hooks(want: "InstallOptions") -> "Sequence[Desired]":
    return want.hooks(_command)


def _claude_permission(want: "InstallOptions") -> "Sequence[Desired]":
    return want.if_allowed(want.element(("permissions", "allow"), f"mcp__{NAME}"))


def _claude_against(want: "InstallOptions") -> "Sequence[Desired]":
    rules = [f"mcp__{NAME}", *(f"mcp__{NAME}__{tool}" for tool in ("*", *want.tools))]
    denies, asks = ([want.element(("permissions", kind), rule) for rule in rules] for kind in ("deny", "ask"))
    no_hooks = want.setting(("disableAllHooks",), True)
    return [*want.if_server(*denies), *want.if_allowed(*asks), *want.if_hooks(no_hooks)]


def _claude_memory_off(want: "InstallOptions") -> "Sequence[Desired]":
    return want.if_ours(want.setting(("autoMemoryEnabled",), False))


def _claude_memory(want: "InstallOptions") -> "Sequence[Desired]":
    """Claude Code's own memory: switched off, or ("inside") kept in the workspace.

    In the workspace a hook after its tools records what they write at once, as the agent's.
    """
    if want.memory != "inside":
        return _claude_memory_off(want)
    line = _command(want.hook_line(WROTE), want.seconds(WROTE))
    wrote = want.hook(("hooks", "PostToolUse"), line, {"matcher": "Write|Edit|MultiEdit"})
    folder = want.setting(("autoMemoryDirectory",), str(want.folder), hook=wrote, is_of=_is_memory_of)
    return [folder, wrote, want.switch(("autoMemoryEnabled",), True, over=False)]


def _is_memory_of(folder: str, command: str) -> bool:
    """Whether `folder` is the memory of the workspace that the `command` of a hook names, with `--dir` or by default.

    The memory is the workspace itself or a folder directly in it; by default the workspace is called `.crabmem`.
    """
    import shlex

    if " --dir " not in command:
        return ".crabmem" in Path(folder).parts[-2:]
    return any(f" --dir {shlex.quote(place)} " in command for place in (folder, str(Path(folder).parent)))


def _claude_headless(server: Sequence[str], prompt: str) -> Headless:
    alone = ("--strict-mcp-config", "--tools", "", "--allowedTools", f"mcp__{NAME}")
    return Headless(("claude", "-p", prompt, "--mcp-config", _servers(server), *alone))


_CLAUDE_CODE = Host(
    "claude-code",
    "Claude Code",
    "claude",
    _claude,
    user=(
        Config(_folder_by("CLAUDE_CONFIG_DIR", ""), (".claude.json",), "json", _claude_server),
        Config(
            _claude,
            ("settings.json",),
            "json",
            _claude_hooks,
            lambda want: [*_claude_permission(want), *_claude_memory(want)],
            _claude_against,
        ),
    ),
    project=(
        Config(_project(), (".mcp.json",), "json", _claude_server),
        Config(_project(".claude"), ("settings.json",), "json", _claude_hooks, against=_claude_against),
        # What one person allows is nobody else's: Claude Code keeps this file out of the project's repository.
        Config(
            _project(".claude"),
            ("settings.local.json",),
            "json",
            choices=lambda want: [*_claude_permission(want), *_claude_memory_off(want)],
            against=_claude_against,
        ),
    ),
    next_step="start Claude Code anew; /mcp lists the server, /hooks the hooks",
    next_step_in_project="start Claude Code here and approve the server and the folder when it asks",
    own_memory=OwnMemory("its auto memory", _claude_memories, can_unite=True, source="claude-code"),
    hooks=HookDialect(
        _CLAUDE_EVENTS,
        _claude_context,
        _claude_turn,
        limit=10_000,
        mute=frozenset({PRE_COMPACT}),
        notice=_NOTICE,
        # VS Code runs the hooks of Claude Code's configs. Its first versions have the event under another key, by which
        # they are recognised.
        other_sender=lambda given: "vscode" if "hookEventName" in given else None,
        project="CLAUDE_PROJECT_DIR",
    ),
    headless=_claude_headless,
)

# Codex

_codex = _folder_by("CODEX_HOME", ".codex")


def _codex_memories(here: "Surroundings", in_project: bool) -> Sequence[Path]:
    file = _codex(here) / "memories/MEMORY.md"
    return [file] if file.is_file() and not in_project else []


def _codex_content(want: "InstallOptions") -> "Sequence[Desired]":
    return [*want.server("mcp_servers"), *want.hooks(_command)]


def _codex_user_content(want: "InstallOptions") -> "Sequence[Desired]":
    content = _codex_content(want)
    # The trust notes go into this file, the person's, also for the hooks of a project.
    return want.with_trust(content, _codex(want.here) / "config.toml", ("hooks", "state")) if want.here else content


def _codex_choices(want: "InstallOptions") -> "Sequence[Desired]":
    permission = want.if_allowed(want.trait("default_tools_approval_mode", "approve", "mcp_servers"))
    return [*permission, *want.if_ours(want.switch(("features", "memories"), False, over=True))]


def _is_codex(given: Mapping[str, object]) -> bool:
    return "turn_id" in given or _transcript(given).rpartition("/")[2].startswith("rollout-")


def _codex_headless(server: Sequence[str], prompt: str) -> Headless:
    # Without `required` Codex asks the model before our server has begun, and so without our tools.
    entry = {"command": server[0], "args": [*server[1:]], "required": True, "default_tools_approval_mode": "approve"}
    said = (word for key, value in entry.items() for word in ("-c", f"mcp_servers.{NAME}.{key}={_json(value)}"))
    return Headless(("codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", *said, prompt))


_CODEX = Host(
    "codex",
    "Codex",
    "codex",
    _codex,
    user=(Config(_codex, ("config.toml",), "toml", _codex_user_content, _codex_choices),),
    project=(Config(_project(".codex"), ("config.toml",), "toml", _codex_content, _codex_choices),),
    next_step="start codex once and trust the hooks, for which it asks: until then `codex exec` skips them in silence",
    next_step_in_project="start codex here and trust the project and then the hooks, for which it asks: "
    "until then `codex exec` skips both in silence",
    own_memory=OwnMemory("its memories", _codex_memories),
    hooks=HookDialect(_CLAUDE_EVENTS, _claude_context, _claude_turn, limit=10_000, notice=_NOTICE, is_sender=_is_codex),
    headless=_codex_headless,
)

# GitHub Copilot CLI

_COPILOT_EVENTS = {
    "sessionStart": SESSION_START,
    "userPromptSubmitted": PROMPT,
    "subagentStart": SUBAGENT_START,
    "postToolUse": WROTE,
    "preCompact": PRE_COMPACT,
    "agentStop": STOP,
    "sessionEnd": SESSION_END,
}
_copilot = _folder_by("COPILOT_HOME", ".copilot")
_copilot_server = _server_with(type="local", tools=["*"])


def _copilot_command(line: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeoutSec": seconds}


def _copilot_permission(want: "InstallOptions") -> "Sequence[Desired]":
    """A hook of Copilot's own that allows each of our tools: its permissions in settings hold for one folder only."""
    answer = {"matcher": f"^{NAME}-[a-z_]+$", "command": """echo '{"permissionDecision": "allow"}'""", "timeoutSec": 5}
    rule = want.element(("hooks", "preToolUse"), {"type": "command", **answer})
    return want.if_allowed(want.default(("version",), 1), rule)


def _copilot_headless(server: Sequence[str], prompt: str) -> Headless:
    config = _servers(server, type="local", tools=["*"])
    denied = ("--deny-tool", "shell", "--deny-tool", "write")
    return Headless(("copilot", "-p", prompt, "--additional-mcp-config", config, "--allow-tool", NAME, *denied))


_COPILOT = Host(
    "copilot",
    "GitHub Copilot CLI",
    "copilot",
    _copilot,
    user=(
        Config(_copilot, ("mcp-config.json",), "json", _copilot_server),
        Config(
            lambda here: _copilot(here) / "hooks",
            ("crabmem.json",),
            "json",
            _versioned_hooks(_copilot_command),
            _copilot_permission,
        ),
        Config(
            _copilot, ("settings.json",), "jsonc", choices=lambda want: want.if_ours(want.setting(("memory",), False))
        ),
    ),
    project=(
        Config(_project(".github"), ("mcp.json",), "json", _copilot_server),
        Config(_project(".github/hooks"), ("crabmem.json",), "json", _versioned_hooks(_copilot_command)),
    ),
    next_step="start copilot anew; /mcp lists the server. The Copilot agent in VS Code reads the same files",
    next_step_in_project="start copilot here and trust the folder when it asks",
    permission="it asks once in each folder, where you can allow it for good; or start it with --allow-tool=crabmem",
    own_memory=OwnMemory("its memory, which GitHub keeps"),
    hooks=HookDialect(
        _COPILOT_EVENTS,
        lambda event, text: {"additionalContext": text},
        _claude_turn,
        shows_instructions=False,
        # Copilot does not name the event in what it writes, so our command line does. VS Code, which runs Copilot's
        # hooks as well, does name it.
        is_sender=lambda given: "sessionId" in given and not {"hookEventName", "hook_event_name"} & set(given),
        other_sender=lambda given: "vscode" if {"hookEventName", "hook_event_name"} & set(given) else None,
    ),
    headless=_copilot_headless,
)

# Cursor

_CURSOR_EVENTS = {
    "sessionStart": SESSION_START,
    "beforeSubmitPrompt": PROMPT,
    "afterFileEdit": WROTE,
    "postToolUse": WROTE,
    "preCompact": PRE_COMPACT,
    "stop": STOP,
    "sessionEnd": SESSION_END,
}


def _cursor_command(line: str, seconds: int) -> dict[str, Any]:
    return {"command": line, "timeout": seconds}


def _is_cursor(given: Mapping[str, object]) -> bool:
    return bool({"conversation_id", "cursor_version"} & set(given)) or _event(given) in _CURSOR_EVENTS


_CURSOR = Host(
    "cursor",
    "Cursor",
    "cursor",
    _home(".cursor"),
    user=(
        Config(_home(".cursor"), ("mcp.json",), "jsonc", _server),
        Config(_home(".cursor"), ("hooks.json",), "jsonc", _versioned_hooks(_cursor_command)),
    ),
    project=(
        Config(_project(".cursor"), ("mcp.json",), "jsonc", _server),
        Config(_project(".cursor"), ("hooks.json",), "jsonc", _versioned_hooks(_cursor_command)),
    ),
    next_step="restart Cursor and switch the server on under Settings, MCP",
    next_step_in_project="open this folder in Cursor, trust it, and switch the server on under Settings, MCP",
    # A file with this one rule would silence the rules that a person has in Cursor itself.
    permission="add crabmem:* to the MCP allowlist under Settings, Agents, Auto-Run",
    own_memory=OwnMemory("its memories", note=_SWITCH_OFF_YOURSELF),
    hooks=HookDialect(
        _CURSOR_EVENTS,
        lambda event, text: {"additional_context": text},
        lambda event, text: {"followup_message": text},
        limit=10_000,
        # Untested whether Cursor shows instructions. Giving them twice is better than a model that has none.
        shows_instructions=False,
        is_sender=_is_cursor,
        project="CURSOR_PROJECT_DIR",
    ),
)

# Gemini CLI

_GEMINI_EVENTS = {
    "SessionStart": SESSION_START,
    "BeforeAgent": PROMPT,
    "AfterTool": WROTE,
    "PreCompress": PRE_COMPACT,
    "AfterAgent": STOP,
    "SessionEnd": SESSION_END,
}


def _gemini(here: "Surroundings") -> Path:
    return here.folder("GEMINI_CLI_HOME", "") / ".gemini"


def _gemini_memories(here: "Surroundings", in_project: bool) -> Sequence[Path]:
    """Its private notes on each project."""
    return [] if in_project else sorted((_gemini(here) / "tmp").glob("*/memory"))


def _gemini_command(line: str, seconds: int) -> dict[str, Any]:
    return {"name": NAME, "type": "command", "command": line, "timeout": seconds * 1000}


def _gemini_content(want: "InstallOptions") -> "Sequence[Desired]":
    # Gemini CLI runs PreCompress before every turn, and gives its model nothing from it.
    return [*want.server(timeout=_PATIENCE_MS), *want.hooks(_gemini_command, leave_out=(PRE_COMPACT,))]


def _gemini_choices(want: "InstallOptions") -> "Sequence[Desired]":
    return [*_trusted(want), *want.if_ours(want.switch(("experimental", "autoMemory"), False, over=True))]


def _is_gemini(given: Mapping[str, object]) -> bool:
    has_its_name = _event(given) in _GEMINI_EVENTS.keys() - _CLAUDE_EVENTS.keys()
    return has_its_name or ("timestamp" in given and "/.gemini/" in _transcript(given))


def _gemini_headless(server: Sequence[str], prompt: str) -> Headless:
    # No option of Gemini CLI names a server. Settings in the current folder do, and precede the person's.
    files = {".gemini/settings.json": _servers(server, trust=True)}
    return Headless(
        ("gemini", "-p", prompt, "--skip-trust", "--approval-mode", "default", "--allowed-mcp-server-names", NAME),
        files=files,
    )


_GEMINI = Host(
    "gemini",
    "Gemini CLI",
    "gemini",
    _gemini,
    user=(Config(_gemini, ("settings.json",), "jsonc", _gemini_content, _gemini_choices),),
    project=(Config(_project(".gemini"), ("settings.json",), "jsonc", _gemini_content, _gemini_choices),),
    next_step="start gemini anew; /mcp lists the server, /hooks the hooks",
    next_step_in_project="start gemini here and trust the folder; it warns of the hooks once, "
    "as of all that come with a project",
    own_memory=OwnMemory(
        "its private notes on projects",
        _gemini_memories,
        note="nothing switches its private notes on projects off, so it may still write some itself",
    ),
    hooks=HookDialect(
        _GEMINI_EVENTS,
        _claude_context,
        lambda event, text: {"decision": "deny", "reason": text},
        notice=_NOTICE,
        is_sender=_is_gemini,
        project="GEMINI_PROJECT_DIR",
    ),
    headless=_gemini_headless,
)

# OpenCode


def _opencode(here: "Surroundings") -> Path:
    return here.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _opencode_server(want: "InstallOptions") -> "Sequence[Desired]":
    # OpenCode itself adds `$schema` to a config without it.
    schema = want.if_server(want.default(("$schema",), "https://opencode.ai/config.json"))
    server = want.server_as(
        ("mcp",), lambda command: {"type": "local", "command": [*command], "enabled": True, "timeout": _PATIENCE_MS}
    )
    return [*schema, *server]


def _opencode_plugin(want: "InstallOptions") -> "Sequence[Desired]":
    from .opencode import MARK, plugin

    return want.if_hooks(want.setting(("text",), plugin(want.program), MARK))


def _opencode_headless(server: Sequence[str], prompt: str) -> Headless:
    entry = {"type": "local", "command": [*server], "enabled": True}
    asks = {"edit": "deny", "bash": "deny", f"{NAME}_*": "allow"}
    content = _json({"mcp": {NAME: entry}, "permission": asks})
    return Headless(("opencode", "run", prompt), {"OPENCODE_CONFIG_CONTENT": content})


_OPENCODE_FILES = ("opencode.json", "opencode.jsonc")
_OPENCODE = Host(
    "opencode",
    "OpenCode",
    "opencode",
    _opencode,
    user=(
        Config(_opencode, _OPENCODE_FILES, "jsonc", _opencode_server),
        Config(lambda here: _opencode(here) / "plugins", ("crabmem.js",), "text", _opencode_plugin),
    ),
    project=(
        Config(_project(), _OPENCODE_FILES, "jsonc", _opencode_server),
        Config(_project(".opencode/plugins"), ("crabmem.js",), "text", _opencode_plugin),
    ),
    next_step="start opencode anew; `opencode mcp list` shows the server",
    permission='it asks for no tool unless your "permission" says so; there "crabmem_*": "allow" is the exception',
    # Our plugin speaks Claude Code's dialect to our hooks, and puts the text of an answer where OpenCode wants it.
    hooks=HookDialect(_CLAUDE_EVENTS, _claude_context, _claude_turn),
    headless=_opencode_headless,
)

# VS Code


_vscode_server = _server_with("servers", type="stdio")


def _code(here: "Surroundings") -> Path:
    return here.applications / "Code/User"


def _vscode_turn(event: str, text: str) -> Json:
    # VS Code documents the inner `decision`; agents of other makers in it read the outer one.
    turn = _claude_turn(event, text)
    return {"hookSpecificOutput": {"hookEventName": event, **turn}, **turn}


_VSCODE = Host(
    "vscode",
    "VS Code",
    "code",
    _code,
    user=(Config(_code, ("mcp.json",), "jsonc", _vscode_server),),
    project=(Config(_project(".vscode"), ("mcp.json",), "jsonc", _vscode_server),),
    next_step="run `MCP: List Servers` in VS Code, start crabmem there, and say that you trust it; "
    "`crabmem install copilot` gives its Copilot agent the hooks, too",
    permission="when it asks for a tool, choose to always allow the tools of crabmem",
    own_memory=OwnMemory("its memory tool", note="nothing switches its own memory tool off, so it may still use that"),
    # VS Code's own configs get no hooks: it runs those of Claude Code and Copilot.
    hooks=HookDialect(
        _CLAUDE_EVENTS,
        _claude_context,
        _vscode_turn,
        limit=10_000,
        notice=_NOTICE,
        is_sender=lambda given: "hookEventName" in given or {"sessionId", "hook_event_name"} <= set(given),
    ),
)

# Hosts that are given the server alone.

_CLAUDE_DESKTOP = Host(
    "claude-desktop",
    "Claude Desktop",
    "claude-desktop",
    lambda here: here.applications / "Claude",
    user=(Config(lambda here: here.applications / "Claude", ("claude_desktop_config.json",), "json", _server),),
    next_step="quit Claude Desktop wholly and start it again",
    permission=_ALWAYS_ALLOW,
)


_QWEN = Host(
    "qwen",
    "Qwen Code",
    "qwen",
    _home(".qwen"),
    user=(Config(_home(".qwen"), ("settings.json",), "jsonc", _server, _trusted),),
    project=(Config(_project(".qwen"), ("settings.json",), "jsonc", _server, _trusted),),
    next_step="start qwen anew; /mcp lists the server",
)


_zed_server = _server_with("context_servers")


def _zed(here: "Surroundings") -> Path:
    # On a Mac Zed ignores XDG_CONFIG_HOME: https://zed.dev/docs/configuring-zed
    return here.home / ".config/zed" if here.system == "darwin" else here.applications / "zed"


def _zed_permission(want: "InstallOptions") -> "Sequence[Desired]":
    """A rule for each tool: Zed's only other rules are for all tools of all servers."""
    path = ("agent", "tool_permissions", "tools")
    return want.if_allowed(*(want.setting((*path, f"mcp:{NAME}:{tool}", "default"), "allow") for tool in want.tools))


_ZED = Host(
    "zed",
    "Zed",
    "zed",
    _zed,
    user=(Config(_zed, ("settings.json",), "jsonc", _zed_server, _zed_permission),),
    project=(Config(_project(".zed"), ("settings.json",), "jsonc", _zed_server),),
    next_step="open the settings of the Agent Panel in Zed: crabmem has a green dot there",
    permission=_ALWAYS_ALLOW,
)
_WINDSURF = Host(
    "windsurf",
    "Windsurf",
    "windsurf",
    _home(".codeium/windsurf"),
    user=(Config(_home(".codeium/windsurf"), ("mcp_config.json",), "jsonc", _server),),
    next_step="press refresh beside the MCP servers in Windsurf's Cascade",
    permission=_ALWAYS_ALLOW,
    own_memory=OwnMemory("its memories", note=_SWITCH_OFF_YOURSELF),
)


def _each_tool_approved(want: "InstallOptions") -> "Sequence[Desired]":
    return want.if_allowed(want.trait("autoApprove", list(want.tools)))


_KIRO = Host(
    "kiro",
    "Kiro",
    "kiro",
    _home(".kiro"),
    user=(Config(_home(".kiro/settings"), ("mcp.json",), "jsonc", _server, _each_tool_approved),),
    project=(Config(_project(".kiro/settings"), ("mcp.json",), "jsonc", _server, _each_tool_approved),),
    next_step="Kiro connects when the file changes; its MCP panel lists the server",
)


def _cline(here: "Surroundings") -> Path:
    return _code(here) / "globalStorage/saoudrizwan.claude-dev"


_CLINE = Host(
    "cline",
    "Cline",
    "cline",
    _cline,
    user=(
        Config(
            lambda here: _cline(here) / "settings", ("cline_mcp_settings.json",), "jsonc", _server, _each_tool_approved
        ),
    ),
    next_step="Cline connects when the file changes; its MCP Servers list shows it",
)


def _goose(here: "Surroundings") -> Path:
    if root := here.environment.get("GOOSE_PATH_ROOT"):
        return Path(root) / "config"
    return here.folder("XDG_CONFIG_HOME", ".config") / "goose"


def _goose_memories(here: "Surroundings", in_project: bool) -> Sequence[Path]:
    """Return the folder in which goose's extension keeps memory for all projects, a text file for each category."""
    folder = _goose(here) / "memory"
    return [folder] if folder.is_dir() and not in_project else []


def _goose_server(want: "InstallOptions") -> "Sequence[Desired]":
    about = {"name": NAME, "description": ABOUT, "enabled": True, "type": "stdio"}
    return want.server_as(
        ("extensions",), lambda command: {**about, "cmd": command[0], "args": [*command[1:]], "timeout": 300}
    )


_GOOSE = Host(
    "goose",
    "Goose",
    "goose",
    _goose,
    user=(
        Config(
            _goose,
            ("config.yaml",),
            "yaml",
            _goose_server,
            lambda want: want.if_ours(want.switch(("extensions", "memory", "enabled"), False, over=True)),
        ),
    ),
    next_step="start goose anew; `goose info -v` shows the extension",
    permission="in its mode auto, which is the usual one, it asks for no tool; "
    "in the others choose to always allow them",
    own_memory=OwnMemory("its extension memory", _goose_memories),
)

#: All hosts, in the order in which people see them; and in which `hooks.input` asks whose input a hook got.
HOSTS: tuple[Host, ...] = (
    _CLAUDE_CODE, _CODEX, _COPILOT, _CURSOR, _GEMINI, _OPENCODE, _VSCODE, _CLAUDE_DESKTOP, _QWEN, _ZED, _WINDSURF,
    _KIRO, _CLINE, _GOOSE,
)  # fmt: skip
NAMES = tuple(host.name for host in HOSTS)


def host_named(name: str) -> Host:
    """Return the host called `name`.

    Raises:
        NotFound: no host has that name; the message suggests near ones.
    """
    found = next((host for host in HOSTS if host.name == name), None)
    if found is None:
        begun = [each for each in NAMES if name and each.startswith(name)]
        near = begun or nearest(name, NAMES)
        hint = f"did you mean {' or '.join(near)}? There are: " if near else ""
        raise NotFound(f"no host named {name}: {hint}{', '.join(NAMES)}")
    return found
