"""The examples of `docs/frameworks` are run as they stand, against a stub of the model's API."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from crabmem import Memory
from tests import adapters
from tests.conftest import git
from tests.stub_api import Call, Reply, serving

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted((ROOT / "docs" / "frameworks").glob("*.md"))
VET = {"name": "Luna's vet", "description": "who looks after the dog Luna", "content": "Dr. Moreno."}
FILE = {"command": "create", "path": "/memories/entries/luna-s-vet.md", "file_text": "Dr. Moreno.\n"}
LONGEST = 20
pytestmark = pytest.mark.skipif(bool(adapters.lacking()), reason=adapters.INSTALL)

#: What the model says to each example that asks one, by what the example imports.
SCRIPTS: dict[str, tuple[Reply, ...]] = {
    "crabmem.adapters.anthropic": (Call("memory", FILE), "Noted."),
    "crabmem.adapters.claude_agent": (Call("mcp__crabmem__remember", VET), "Noted."),
    "crabmem.adapters.openai_agents": (Call("remember", VET), "Noted."),
    "formats.openai_chat": (Call("remember", VET), "Noted."),
}


def examples(text: str) -> list[tuple[str, str]]:
    """The Python programs of a page, and what they are said to print.

    That is in a block of text after the program, or behind `#>` on the lines that print.
    """
    found = re.findall(r"^```python\n(.*?)^```\n(?:\s*```text\n(.*?)^```)?", text, re.DOTALL | re.MULTILINE)
    return [(code, printed or "".join(f"{line}\n" for line in re.findall(r"#> (.*)", code))) for code, printed in found]


EXAMPLES = [example for page in PAGES for example in examples(page.read_text("utf-8"))]


def script_for(example: str) -> tuple[Reply, ...]:
    """The replies of the first line of `SCRIPTS` that the example has; none for one that asks no model."""
    return next((script for name, script in SCRIPTS.items() if name in example), ())


def output(example: str, folder: Path) -> str:
    """What an example prints in an empty folder; its requests are answered by a stub."""
    with serving(*script_for(example)) as api:
        environment = {
            **api.environment,
            "HOME": str(folder),
            "IS_SANDBOX": "1",
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", example], capture_output=True, text=True, cwd=folder, env=environment, timeout=110
        )
    assert (done.returncode, done.stderr) == (0, ""), example
    assert not api.script, "it did not talk the script through"
    return done.stdout


def test_every_adapter_has_an_example() -> None:
    names = {file.stem for file in (ROOT / "crabmem" / "adapters").glob("[!_]*.py")} - {"hermes"}  # which loads its own
    text = "\n".join(code for code, printed in EXAMPLES)
    assert sorted(name for name in names if f"from crabmem.adapters.{name} import " in text) == sorted(names)
    assert "formats.openai_chat(" in text


@pytest.mark.parametrize(("example", "printed"), EXAMPLES)
def test_examples_are_short_and_print_what_they_say(example: str, printed: str, tmp_path: Path) -> None:
    assert len(example.splitlines()) <= LONGEST
    assert printed and output(example, tmp_path) == printed
    with Memory(tmp_path / "notes") as memory:
        assert memory.log(1)[0].paths
    assert git(tmp_path / "notes", "status", "--porcelain") == ""
