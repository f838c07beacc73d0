"""README and the public names agree with the code. What the documents show is run by `tests/docs`."""

import inspect
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

import pytest

import crabmem
from crabmem import Memory, results
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
    assert "version" in about["project"]["dynamic"] and "version" not in about["project"]
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
