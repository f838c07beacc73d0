"""The guides of `docs/extending` tell the truth: their examples are run."""

import __future__

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.hosts import table
from crabmem.hosts.host import Host
from crabmem.operations import facts, reading
from crabmem.tools import looking
from crabmem.tools.toolsets import toolset
from tests import samples
from tests.conftest import typed

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


def test_the_example_of_a_verb_and_its_tool_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, verb, tool = re.findall(
        r"^```python\n(.*?)^```", (GUIDES / "verb.md").read_text("utf-8"), re.DOTALL | re.M
    )
    assert samples.verbs()  # all are loaded, and stay so
    names = {**vars(reading), **vars(facts)}  # in which annotations are texts
    exec(compile(operation, "verb.md", "exec", __future__.annotations.compiler_flag), names)
    monkeypatch.setattr(facts, "stale", names["stale"], raising=False)
    monkeypatch.setattr(cli, "commands", dict(cli.commands))
    monkeypatch.setattr(cli, "places", dict(cli.places))
    exec(verb, {"__package__": "crabmem.cli.verbs", "__name__": "crabmem.cli.verbs.stale"})
    tools = dict(vars(looking))
    exec(tool, tools)
    monkeypatch.setattr(looking, "TOOLS", tools["TOOLS"])
    toolset.cache_clear()
    try:
        with Memory(tmp_path / "m") as memory:
            memory.remember("Luna", "our dog", "She is afraid of thunder.")
            assert memory.call("stale", {"days": 2}, ["stale"]).text == "no fact is that old"
            assert memory.call("stale", {"days": 0}, ["stale"]).is_error
        done = typed("--dir", tmp_path / "m", "stale", "--json")
        assert done.stdout == '{\n  "days": 90,\n  "facts": []\n}\n'
        ours = cli.parts(click.Context(cli))["Facts"]
        assert ours[ours.index("list") + 1] == "stale"
    finally:
        toolset.cache_clear()
