"""Adapters without their frameworks: an error that says what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from crabmem.text import extras
from crabmem.text.extras import how_to_get, requirements


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("langgraph", "langgraph", "langgraph"),
        ("langchain", "langchain_core", "langchain"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("llama_index", "llama_index", "llama-index"),
        ("anthropic", "anthropic", "anthropic"),
        ("openai_agents", "agents", "openai-agents"),
        ("claude_agent", "claude_agent_sdk", "claude-agent-sdk"),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra_to_install(module: str, library: str, extra: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import crabmem.adapters.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    [required] = requirements(extra)
    assert f'-m pip install "{required}"' in done.stderr.splitlines()[-1]


def test_the_advice_names_libraries_with_their_versions_and_never_asks_an_index_for_crabmem() -> None:
    [required] = requirements("mcp-http")
    assert ">=" in required and "extra" not in required
    assert how_to_get("mcp-http").endswith(f' "{required}"')
    assert "crabmem[" not in how_to_get("mcp-http")


def test_the_advice_is_for_the_environment_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("crabmem", "uv"):
        (tmp_path / name).mkdir()
    (tmp_path / "crabmem" / "pipx_metadata.json").write_text("{}")
    (tmp_path / "uv" / "uv-receipt.toml").write_text("")
    monkeypatch.setattr(sys, "executable", "/opt/my venv/bin/python")
    assert how_to_get("mcp-http", tmp_path).startswith("'/opt/my venv/bin/python' -m pip install \"mcp")
    assert how_to_get("mcp-http", tmp_path / "crabmem").startswith('pipx inject crabmem "mcp')
    assert how_to_get("mcp-http", tmp_path / "uv").startswith("uv pip install --python '/opt/my venv/bin/python' \"mcp")


def test_where_crabmem_was_never_installed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "PROGRAM", "no-such-program")
    assert how_to_get("mcp-http").endswith('"mcp-http"') and extras.whole() == "no-such-program"


def test_the_command_line_and_definitions_for_functions_load_no_framework() -> None:
    code = "import sys, crabmem.cli, crabmem.tools.formats, crabmem.adapters; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"anthropic", "openai", "agents", "claude_agent_sdk", "mcp", "pydantic", "anyio"}
