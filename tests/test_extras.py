"""Adapters without their frameworks: an error that says what to install."""

import subprocess
import sys

import pytest


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
    assert f"pip install 'crabmem[{extra}]'" in done.stderr.splitlines()[-1]


def test_the_command_line_and_definitions_for_functions_load_no_framework() -> None:
    code = "import sys, crabmem.cli, crabmem.functions, crabmem.adapters; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"anthropic", "openai", "agents", "claude_agent_sdk", "mcp", "pydantic", "anyio"}
