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
    ],
)
def test_an_adapter_without_its_framework_names_the_extra_to_install(module: str, library: str, extra: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import crabmem.adapters.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"pip install 'crabmem[{extra}]'" in done.stderr.splitlines()[-1]
