"""README and `docs` tell the truth: what they show of sessions and programs is run as it stands."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.prompt.profile import load_profile
from crabmem.text.times import parse_time
from crabmem.workspace.settings import parse_settings
from tests.adapters import test_readme_adapters as adapters

from .pages import DOCS, ROOT, Block, blocks, pages, prose
from .sessions import run


def shown(language: str) -> list[Block]:
    """The blocks of a language in all pages."""
    return [block for page in pages() for block in blocks(page, language)]


SESSIONS = [page for page in pages() if blocks(page, "console")]
#: Programs of other folders have tests of their own: in `tests/adapters`, and in `tests/test_extending.py`.
PROGRAMS = [block for block in shown("python") if block.page.parent not in (DOCS / "frameworks", DOCS / "extending")]
#: What a page names of the command line: in blocks, and between backquotes.
TYPED = re.compile(r"(?:^|[^\w/.~-])(?:\S*/)?crabmem((?: +(?:'[^']*'|\"[^\"]*\"|[^\s|;&`#)]+))+)")


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: str(page.relative_to(ROOT)))
def test_sessions_print_what_the_page_says(page: Path) -> None:
    if DOCS / "hosts" in page.parents:
        pytest.importorskip("mcp")  # without which no server is installed anywhere
    for block, steps in run(page):
        for step in steps:
            assert step.is_as_told, f"{block.place}: $ {step.command}\n{step.printed}\npython -m tests.docs --write"


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda block: block.place)
def test_programs_print_what_the_page_says(block: Block, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", block.text], capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout.splitlines(), done.stderr) == (re.findall("#> ?(.*)", block.text), "")


@pytest.mark.parametrize("block", shown("toml"), ids=lambda each: each.place)
def test_settings_and_profiles_are_valid(block: Block, tmp_path: Path) -> None:
    if {"part", "kinds", "about"} & tomllib.loads(block.text).keys():
        (file := tmp_path / "profile.toml").write_text(block.text, "utf-8")
        load_profile(str(file))
    else:
        parse_settings(block.text.encode(), block.place)


@pytest.mark.parametrize("block", shown("json"), ids=lambda each: each.place)
def test_data_is_json(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", shown("markdown"), ids=lambda each: each.place)
def test_a_file_that_a_page_shows_is_a_fact_without_a_fault(block: Block, tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.init()
        (tmp_path / "memory" / "entries").mkdir(parents=True)
        memory.file("memory/entries/luna-s-vet.md").write_text(block.text, "utf-8")
        memory.adopt()
        [fact] = memory.entries()
        assert fact.name in block.text and fact.description in block.text
        assert [each.message for each in memory.doctor() if each.path.endswith("luna-s-vet.md")] == []


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if page.name != "verb.md"],  # which adds one that is not there
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_verb_and_option_that_a_page_names_exists(page: Path) -> None:
    """Also where nothing is run: a host's own set-up, and what stands between backquotes."""
    lines = [
        line for language in ("sh", "console") for block in blocks(page, language) for line in block.text.splitlines()
    ]
    spans = re.findall(r"`([^`\n]+)`", prose(page))
    for text in [*lines, *(span for span in spans if span.startswith("crabmem "))]:
        for words in TYPED.findall(text):
            assert not (wrong := _unknown(words)), f"{page.name}: crabmem{words}: {wrong}"


def _unknown(words: str) -> str:
    """What of a command line does not exist."""
    try:
        typed = shlex.split(words, comments=True)
    except ValueError:
        typed = words.split()
    command: click.Command = cli
    context = click.Context(cli, info_name="crabmem")
    options = {flag for param in cli.params for flag in param.opts}
    own = {flag: param for param in cli.params for flag in param.opts}
    place = 0
    while place < len(typed):
        word = typed[place]
        place += 1
        if word.startswith("--") and len(word) > 2:
            name = word.partition("=")[0]
            known = options | {flag for param in command.params for flag in [*param.opts, *param.secondary_opts]}
            if name not in known | {"--help"}:
                return f"no option {name}"
            is_flag = name not in own or getattr(own[name], "is_flag", False)
            place += 0 if is_flag or command is not cli or "=" in word else 1
        elif isinstance(command, click.Group):
            below = command.get_command(context, word)
            if below is None:
                is_word = re.fullmatch(r"[a-z]+", word) and command is cli and word not in ("help", "version")
                return f"no verb {word}" if is_word else ""
            command, context = below, click.Context(below, info_name=word, parent=context)
    return ""


def test_every_form_of_a_moment_that_the_page_shows_is_taken_and_those_that_it_excludes_are_not() -> None:
    section = prose(DOCS / "time-machine.md").partition("## How to name a moment")[2].partition("\n## ")[0]
    table, _, said = section.partition("\n\nSo ")
    shown = [row.split("|")[2] for row in re.findall(r"^\| (?:a day|a time|so long|the last).*", table, re.M)]
    examples = [example.strip("'") for cell in shown for example in re.findall("`([^`]+)`", cell)]
    assert len(examples) > 7 and [each for each in examples if parse_time(each, datetime.now(UTC)) is None] == []
    refused = re.search(r"A month alone \(`(.+?)`\), `(.+?)` and `(.+?)` are refused", said)
    assert refused and [each for each in refused.groups() if parse_time(each, datetime.now(UTC))] == []


def test_the_programs_of_frameworks_are_run_by_the_tests_of_adapters() -> None:
    shown = [block for page in (DOCS / "frameworks").glob("*.md") for block in blocks(page, "python")]
    assert len(shown) == len(adapters.EXAMPLES)
