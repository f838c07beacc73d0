"""The guides of `docs/extending` tell the truth: their examples are run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from crabmem.hosts import table
from crabmem.hosts.host import Host

GUIDES = Path(__file__).parent.parent / "docs" / "extending"


@pytest.mark.parametrize("name", ["profile", "importer", "embedder"])
def test_the_example_of_a_guide_prints_what_it_says(name: str, tmp_path: Path) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```", (GUIDES / f"{name}.md").read_text("utf-8"), re.DOTALL | re.M)
    environment = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert (done.stdout.splitlines(), done.stderr) == (re.findall("#> ?(.*)", example), "")


def test_the_example_of_a_host_makes_a_host() -> None:
    [example] = re.findall(r"^```python\n(.*?)^```", (GUIDES / "host.md").read_text("utf-8"), re.DOTALL | re.M)
    names = dict(vars(table))
    exec(example, names)
    assert isinstance(names["_EXAMPLE"], Host)


def test_the_example_of_an_adapter_uses_what_there_is() -> None:
    """The SDK is made up, so the module is only compiled, and its imports of ours are looked up."""
    [example] = re.findall(r"^```python\n(.*?)^```", (GUIDES / "adapter.md").read_text("utf-8"), re.DOTALL | re.M)
    compile(example, "adapter.md", "exec")
    for module, name in re.findall(r"^from \.([\w.]*) import (\w+)", example, re.M):
        package = f"crabmem{module}" if module.startswith(".") else "crabmem.adapters"
        assert hasattr(__import__(package, fromlist=[name]), name)
