"""How each host installs its plugin from the repository, whose address stands in pyproject.toml alone."""

import tomllib

from .pages import ROOT

_HOOK = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]["hooks"]["custom"]
REPOSITORY: str = _HOOK["repository"]


def registry_name() -> str:
    """The name of the server in the MCP registry."""
    return f"io.github.{'/'.join(REPOSITORY.split('/')[-2:])}"


def lines(place: str, folder: str) -> dict[str, tuple[str, ...]]:
    """The commands that a person types, by host; `place` is the repository or a clone, `folder` the extension's."""
    return {
        "Claude Code": (f"claude plugin marketplace add {place}", "claude plugin install crabmem@crabmem"),
        "Codex": (f"codex plugin marketplace add {place}", "codex plugin add crabmem@crabmem"),
        "GitHub Copilot CLI": (f"copilot plugin marketplace add {place}", "copilot plugin install crabmem@crabmem"),
        "Gemini CLI": (f"gemini extensions install {folder}",),
    }


def table() -> str:
    """The table of `docs/hosts/README.md`."""
    typed = lines("/".join(REPOSITORY.split("/")[-2:]), REPOSITORY)
    rows = [f"| {host} | {'<br>'.join(f'`{line}`' for line in each)} |" for host, each in typed.items()]
    return "\n".join(["| host | |", "|---|---|", *rows])
