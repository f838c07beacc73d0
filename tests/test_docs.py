"""README tells the truth: its sessions are run, its tables are compared with the code."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
import typing
from collections import abc
from collections.abc import Iterator
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import get_type_hints

import click
import pytest

import crabmem
from crabmem import Memory, results
from crabmem.cli.app import cli
from crabmem.disk import scan
from crabmem.embeddings import embedder
from crabmem.operations import facts
from crabmem.prompt import compaction, context, profile
from crabmem.recall import catalog
from crabmem.session import engine, session, snapshot
from crabmem.text import entry
from crabmem.workspace import layout, settings
from crabmem.workspace.settings_file import as_toml
from crabmem.write import actor

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of that language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def steady(text: str) -> str:
    """`text` without what differs from run to run: ids and times."""
    text = re.sub(r"\b[0-9a-f]{7,12}\b", "<id>", text)
    return re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "<time>", text).rstrip()


def test_sessions_print_what_readme_says(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for block in blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, cwd=ROOT)
            assert (steady(done.stdout + done.stderr), done.returncode) == (steady(expected), 0), command


def test_python_example_prints_what_readme_says(tmp_path: Path) -> None:
    example = blocks("python")[0]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout.splitlines(), done.stderr) == (re.findall("#> (.*)", example), "")


def test_every_verb_is_in_readme() -> None:
    listed = set(re.findall(r"`([a-z]+)", README.partition("## Commands")[2]))
    assert set(cli.list_commands(click.Context(cli))) <= listed


def test_every_tool_is_in_readme(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", soul_editable=True) as memory:
        assert all(f"`{tool.name}`" in README for tool in memory.tools)


def test_the_families_that_readme_lists_exist() -> None:
    """Those of four other systems have their lines there; of one that is added it may say nothing."""
    section = README.partition("## If you come from another system")[2].partition("\n## ")[0]
    listed = re.findall(r"^- \*\*[^\n*]+\*\* \(`([a-z-]+)`\)\. ", section, re.M)

    assert set(listed) >= {"camel", "claw", "legion", "harness"}
    assert set(listed) <= set(profile.profile_names())


def test_every_setting_is_printed_with_its_meaning() -> None:
    lines = [line for line in as_toml(settings.Settings()).splitlines() if line]

    assert all("  # " in line for line in lines)


def test_every_set_up_command_is_one_that_ci_runs() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    tried, run = [line.startswith("python3 -m venv ") for line in commands], (ROOT / ".ci" / "run").read_text()

    assert tried == [True, False, False, True]
    assert all(command in run for command in commands[1:3])


def test_the_pythons_that_readme_names_are_those_of_the_package() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    told = re.search(r"All tests were run on Python (\S+), .* also on ([\d. and]+)\.", README)
    assert told and [
        f"Programming Language :: Python :: {version}" for version in (told[1], *told[2].split(" and "))
    ] == [line for line in classifiers if "Python :: 3." in line]


def test_the_version_stands_in_one_place_and_everything_else_says_the_same() -> None:
    """In an environment that has crabmem of an older version, `pip install -e .` again."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert about["project"]["dynamic"] == ["version"] and "version" not in about["project"]
    assert about["tool"]["hatch"]["version"] == {"path": "crabmem/__init__.py"}
    newest = re.search(
        r"^## (\S+?)(, unreleased| \(\d{4}-\d\d-\d\d\))$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    printed = subprocess.run([sys.executable, "-m", "crabmem", "--version"], capture_output=True, text=True).stdout
    assert newest and newest[1] == metadata.version("crabmem") == crabmem.__version__
    assert printed == f"crabmem {crabmem.__version__}\n"


@pytest.mark.parametrize("name", crabmem.__all__)
def test_public_names_exist_and_say_what_they_are(name: str) -> None:
    assert (getattr(crabmem, name).__doc__ or "").strip()


def test_public_names_are_these() -> None:
    assert crabmem.__all__ == sorted(crabmem.__all__)


def returned() -> set[type]:
    """Our own types that public methods and properties of a memory give back."""
    inside = {"view", "timeline", "speaker", "look", "write"}  # what operations are made of
    members = (getattr(Memory, name) for name in dir(Memory) if not name.startswith("_") and name not in inside)
    functions = (getattr(member, "fget", None) or getattr(member, "func", member) for member in members)
    late = {
        **vars(typing),
        **vars(context),
        **vars(profile),
        **vars(compaction),
        **vars(embedder),
        **vars(session),
        **vars(engine),
        **vars(facts),
        **vars(results),
        **vars(entry),
        **vars(scan),
        **{name: getattr(abc, name) for name in abc.__all__},
        "Path": Path,
        "datetime": datetime,
        "Snapshot": snapshot.Snapshot,
        "Layout": layout.Layout,
        "Actor": actor.Actor,
        "Progress": catalog.Progress,
    }  # what a memory loads when it is asked for
    hints = (get_type_hints(each, localns=late).get("return") for each in functions if inspect.isroutine(each))
    return {kind for hint in hints for kind in kinds_in(hint) if kind.__module__.startswith("crabmem.")}


def kinds_in(hint: object) -> Iterator[type]:
    """The classes that a type names."""
    if isinstance(hint, type) and not typing.get_args(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from kinds_in(part)


def test_what_memory_gives_back_is_public() -> None:
    assert {kind.__name__ for kind in returned()} <= set(crabmem.__all__)
