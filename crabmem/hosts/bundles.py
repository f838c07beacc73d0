"""What hosts install from: plugins, an extension, a bundle for Claude Desktop, and an entry of the MCP registry.

Each is a set of files by their paths, for a version of crabmem. Plugins and the extension call the `crabmem` on PATH.
The bundle holds crabmem itself, and uv fetches its requirements. With the registry's entry, uv fetches crabmem too.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ..disk import fs
from ..errors import InvalidArguments
from ..text.templates import template
from .desired import Desired, Server, put_all
from .host import ABOUT, NAME
from .options import InstallOptions
from .parsed_config import parse
from .table import host_named

_LICENSE = "MIT"
_PLUGINS = ".plugins"  # where a repository that is a marketplace keeps them
# The time of every file in a bundle, so that the same files give the same bytes. It is the earliest that zip knows.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# The names that the registry itself accepts; its schema allows more.
_REGISTRY_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]")
_MAX_REGISTRY_NAME = 200

# The tools in OpenClaw's memory slot: the name there, and ours in the profile `claw`.
_OPENCLAW_TOOLS = {name: name for name in ("memory_search", "memory_get", "remember", "forget")}
_OPENCLAW_CONFIG = (
    ("command", "string", "The crabmem to call: its path, where a service does not find it by name."),
    ("dir", "string", "The folder of the memory: $CRABMEM_DIR or ~/.crabmem without it."),
    ("profile", "string", "The profile of the memory, as claw for a workspace of OpenClaw."),
    ("context", "boolean", "Whether a session is told who the agent is, and the overview."),
    ("recall", "boolean", "Whether memory speaks before a turn about what bears on the message."),
)

_README = """\
# crabmem for {title}

{about}. Facts are Markdown files in `~/.crabmem` that any editor opens, and every write is a commit that
`git log -p` shows. With this, the agent gets tools to remember, recall and forget; who it is and what it knows is
said when a session starts, and what fits a message is recalled before the model sees it.

It calls the `crabmem` command: `uv tool install crabmem` or `pipx install crabmem`. Until crabmem is released, that is
`uv tool install .` or `pipx install .` in a clone of it.
"""


def claude_plugin(version: str) -> dict[str, bytes]:
    """A plugin of Claude Code, which is also a marketplace of one."""
    return {
        ".claude-plugin/plugin.json": _json({**_about(version), "keywords": ["memory", "git", "markdown"]}),
        ".claude-plugin/marketplace.json": _market(version, "./"),
        ".mcp.json": _server("claude-code"),
        "hooks/hooks.json": _hooks("claude-code"),
        "skills/tidy/SKILL.md": _tidy_skill(),
        "README.md": _README.format(title="Claude Code", about=ABOUT).encode(),
    }


def gemini_extension(version: str) -> dict[str, bytes]:
    """An extension of Gemini CLI."""
    servers = json.loads(_server("gemini"))
    return {
        "gemini-extension.json": _json({"name": NAME, "version": version, "description": ABOUT, **servers}),
        "hooks/hooks.json": _hooks("gemini"),
        "README.md": _README.format(title="Gemini CLI", about=ABOUT).encode(),
    }


def codex_plugin(version: str) -> dict[str, bytes]:
    """A plugin of Codex, which is also a marketplace of one."""
    servers = json.loads(_server("codex"))
    manifest = {
        **_about(version), "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json", "skills": "./skills/"
    }  # fmt: skip
    return {
        ".codex-plugin/plugin.json": _json(manifest),
        ".agents/plugins/marketplace.json": _codex_market("./"),
        ".mcp.json": _json({"mcpServers": servers["mcp_servers"]}),
        "hooks/hooks.json": _hooks("codex"),
        **{f"skills/{NAME}/{path}": data for path, data in skill(version).items()},
        "skills/tidy/SKILL.md": _tidy_skill(),
        "README.md": _README.format(title="Codex", about=ABOUT).encode(),
    }


def copilot_plugin(version: str) -> dict[str, bytes]:
    """A plugin of GitHub Copilot CLI."""
    return {
        "plugin.json": _json(
            {**_about(version), "mcpServers": ".mcp.json", "hooks": "hooks.json", "skills": "skills/"}
        ),
        ".mcp.json": _server("copilot"),
        "hooks.json": _hooks("copilot"),
        **{f"skills/{NAME}/{path}": data for path, data in skill(version).items()},
        "skills/tidy/SKILL.md": _tidy_skill(),
        "README.md": _README.format(title="GitHub Copilot CLI", about=ABOUT).encode(),
    }


def marketplace(version: str) -> dict[str, bytes]:
    """A marketplace of Claude Code, Codex and Copilot CLI for the root of a repository, with Gemini's extension beside.

    All of it lies in folders whose names begin with a dot.
    """
    plugins = {
        "claude-code": claude_plugin,
        "codex": codex_plugin,
        "copilot": copilot_plugin,
        "gemini": gemini_extension,
    }
    files = {
        f"{_PLUGINS}/{host}/{path}": data
        for host, plugin in plugins.items()
        for path, data in plugin(version).items()
        if not path.endswith("/marketplace.json")
    }
    return files | {
        ".claude-plugin/marketplace.json": _market(version, f"./{_PLUGINS}/claude-code"),
        ".agents/plugins/marketplace.json": _codex_market(f"./{_PLUGINS}/codex"),
        ".github/plugin/marketplace.json": _market(version, f"./{_PLUGINS}/copilot"),
    }


def _market(version: str, source: str) -> bytes:
    """The marketplace file of Claude Code and Copilot CLI, of one plugin at `source`."""
    listing = {"name": NAME, "source": source, "description": ABOUT, "version": version}
    return _json({"name": NAME, "owner": {"name": NAME}, "metadata": {"description": ABOUT}, "plugins": [listing]})


def _codex_market(path: str) -> bytes:
    listing = {
        "name": NAME,
        "source": {"source": "local", "path": path},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }
    return _json({"name": NAME, "plugins": [listing]})


def skill(version: str) -> dict[str, bytes]:
    """An Agent Skill: when to remember, and how."""
    return {"SKILL.md": f"{template('skill').strip()}\n".encode()}


def openclaw_plugin(version: str) -> dict[str, bytes]:
    """A plugin for the memory slot of OpenClaw, which fixes the names of two tools.

    `tools.json` has an offer for each kind of memory: the profile `claw` has tools of these names; for all others
    `recall` and `get` are offered under them.
    """
    offers = {"crab": _offer("crab", {**_OPENCLAW_TOOLS, "memory_search": "recall", "memory_get": "get"})}
    offers["claw"] = _offer("claw", _OPENCLAW_TOOLS)
    keys: dict[str, object] = {key: {"type": kind, "description": what} for key, kind, what in _OPENCLAW_CONFIG}
    # Off, or OpenClaw's own memory would run beside this one, write into `MEMORY.md`, and keep the names of the tools.
    keys["dreaming"] = {"type": "object", "default": {"enabled": False}}
    manifest = {
        **_about(version),
        "id": NAME,
        "kind": "memory",
        "activation": {"onStartup": False, "onCapabilities": ["hook", "tool"]},
        "contracts": {"tools": [*_OPENCLAW_TOOLS]},
        # Without these, sessions that OpenClaw limits to one of its profiles are offered only its own memory's tools.
        "toolMetadata": {name: {"profiles": ["coding", "messaging"]} for name in _OPENCLAW_TOOLS},
        "configSchema": {"type": "object", "additionalProperties": False, "properties": keys},
    }
    extension = {"extensions": ["./index.js"], "compat": {"pluginApi": ">=2026.8.1"}}
    return {
        "package.json": _json({**_about(version), "type": "module", "openclaw": extension}),
        "openclaw.plugin.json": _json(manifest),
        "index.js": fs.read(Path(__file__).with_name("openclaw.js"))[0],
        "tools.json": _json({"version": version, "offers": offers}),
        "README.md": _README.format(title="OpenClaw", about=ABOUT).encode(),
    }


def _offer(profile: str, names: Mapping[str, str]) -> dict[str, object]:
    """Return what a session with a memory of this profile is offered: tools under OpenClaw's `names` for ours, and the
    guide to them. They are described over an empty workspace, which is removed again.
    """
    from ..operations.context import guidance
    from ..session.engine import Options
    from ..session.opening import session_at
    from ..tools.toolbox import Toolbox

    with TemporaryDirectory() as empty, session_at(empty, options=Options(profile=profile)) as memory:
        there = {tool.name: tool for tool in Toolbox(memory).chosen(names.values())}
        guide = guidance(memory, [*names])
    tools = [
        {
            "name": name,
            "label": there[ours].title,
            "description": there[ours].description.replace("`recall`", "`memory_search`"),
            "parameters": there[ours].input_schema,
            "calls": ours,
        }
        for name, ours in names.items()
    ]
    return {"guide": guide.splitlines(), "tools": tools}


def _tidy_skill() -> bytes:
    """An Agent Skill that a person asks for by name, `/crabmem:tidy`: the prompt `tidy`."""
    from ..operations.tidy import words

    about = "Tidy memory: merge, reword or forget facts, once I agree. Only when I ask for it."
    head = f"---\nname: tidy\ndescription: {about}\ndisable-model-invocation: true\n---\n\n"
    return f"{head}{words('', 'Ask `recall`, or `crabmem tidy` and `crabmem list` in a shell.').strip()}\n".encode()


#: The function that makes the files of each kind that is a folder, by the name that a person gives it.
FOLDERS: dict[str, Callable[[str], dict[str, bytes]]] = {
    "claude-plugin": claude_plugin,
    "codex-plugin": codex_plugin,
    "copilot-plugin": copilot_plugin,
    "gemini-extension": gemini_extension,
    "marketplace": marketplace,
    "openclaw-plugin": openclaw_plugin,
    "skill": skill,
}


def registry_entry(name: str, version: str) -> bytes:
    """Return the `server.json` for the MCP registry, in which crabmem is called `name`.

    Clients run `uvx`, then `crabmem==VERSION`, then the package's arguments. There is no `--agent` among these, as
    clients tell the server their names.

    Raises:
        InvalidArguments: the registry does not accept this name.
    """
    if not _REGISTRY_NAME.fullmatch(name) or len(name) > _MAX_REGISTRY_NAME:
        raise InvalidArguments(
            f"the MCP registry takes no server called {name!r}: it wants a namespace of yours and a name in letters, "
            f"digits, dots and dashes, as io.github.OWNER/{NAME}"
        )
    folder = {
        "name": "CRABMEM_DIR",
        "description": "The folder of the memory. It is made if it is not there.",
        "format": "filepath",
        "default": "~/.crabmem",
    }
    package = {
        "registryType": "pypi",
        "registryBaseUrl": "https://pypi.org",
        "identifier": NAME,
        "version": version,
        "runtimeHint": "uvx",
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "environmentVariables": [folder],
        "transport": {"type": "stdio"},
    }
    about = {"name": name, "title": NAME, "description": ABOUT, "version": version}
    return _json({"$schema": _REGISTRY_SCHEMA, **about, "packages": [package]})


def _about(version: str) -> dict[str, object]:
    return {"name": NAME, "version": version, "description": ABOUT, "author": {"name": NAME}, "license": _LICENSE}


def desktop_bundle(package: Mapping[str, bytes], requirements: Iterable[str], python: str, version: str) -> bytes:
    """Return an `.mcpb` file for Claude Desktop: the files of our `package`, a project with its `requirements` without
    those of extras, and a manifest. The person chooses the workspace on installing it.
    """
    from ..text.extras import own  # late: it loads what reads the metadata of packages

    project = {"name": f"{NAME}-desktop", "version": version, "requires-python": python}
    lines = [f"{key} = {json.dumps(value)}" for key, value in project.items()]
    needed = "".join(f"    {json.dumps(line)},\n" for line in own(requirements))
    files = {
        "manifest.json": _json(_manifest(version)),
        "pyproject.toml": ("\n".join(["[project]", *lines, "dependencies = [", needed]) + "]\n").encode(),
        "server.py": b"from crabmem.__main__ import main\n\nmain()\n",
        **package,
    }
    return _zipped(files)


def _manifest(version: str) -> dict[str, object]:
    arguments = ["run", "--directory", "${__dirname}", "server.py", "--dir", "${user_config.folder}"]
    arguments += ["--agent", "claude-desktop", "mcp"]
    folder = {
        "type": "directory",
        "title": "Workspace",
        "description": "The folder of the memory. It is made if it is not there.",
        "default": "${HOME}/.crabmem",
        "required": True,
    }
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": NAME,
        "version": version,
        "description": ABOUT,
        "author": {"name": NAME},
        "license": _LICENSE,
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {"command": "uv", "args": arguments},
        },
        "tools_generated": True,
        "prompts_generated": True,
        "user_config": {"folder": folder},
    }


def _server(host: str) -> bytes:
    """Return the config by which a host registers our server, without the hooks."""
    return _config(each for each in _content(host) if isinstance(each, Server))


def _hooks(host: str) -> bytes:
    """Return the config by which a host registers our hooks, in the form that they have beside the server."""
    return _config(each for each in _content(host) if not isinstance(each, Server))


def _content(host: str) -> Iterable[Desired]:
    """Yield all that an installation for the user puts into the host's configs, with `crabmem` found on PATH."""
    options = InstallOptions(host_named(host), (NAME,), Path())
    return (each for config in options.host.user for each in config.content(options))


def _config(content: Iterable[Desired]) -> bytes:
    return put_all(parse("json", ""), content).text.encode()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, _NO_TIME), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()
