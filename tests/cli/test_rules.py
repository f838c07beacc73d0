"""The rules that all verbs keep: the same options for the same thing, help that teaches, the same exit status."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from crabmem import Memory
from crabmem.cli.app import cli
from tests import forked, samples
from tests.conftest import Run, git

VERBS = samples.verbs()
pytestmark = pytest.mark.usefixtures("surroundings")

#: What a verb calls a moment of the past, or the first or last of a time.
_MOMENTS = {"--as-of", "--since", "--until", "--to", "--compare"}
#: Verbs that change many files at once, or that nothing of ours takes back.
_FAR_REACHING = {
    "adopt",
    "record",
    "undo",
    "export",
    "import",
    "init",
    "install",
    "leave",
    "purge",
    "rename",
    "restore",
    "sync",
    "uninstall",
}
#: Verbs that ask before they do something.
_ASKING = {
    "config allow",
    "fleet purge",
    "fleet rebuild",
    "init",
    "install",
    "leave",
    "purge",
    "review",
    "review apply",
    "review reject",
    "sync",
    "undo",
    "uninstall",
}


def options(name: str) -> Iterator[click.Option]:
    """The options that the help of a verb shows."""
    for param in VERBS[name].params:
        if isinstance(param, click.Option) and not param.hidden:
            yield param


def spelled(name: str) -> set[str]:
    """How the options of a verb are spelled."""
    return {
        spelling
        for option in options(name)
        for spelling in option.opts
        if spelling not in getattr(option, "former", ())
    }


def test_the_help_of_each_verb_shows_how_it_is_typed() -> None:
    globally = "|".join(option for param in cli.params for option in param.opts)
    for name, command in VERBS.items():
        told = re.sub(r"\s+", " ", click.unstyle(command.get_help(click.Context(command, info_name=name))))
        assert re.search(rf"crabmem (?:(?:{globally}) \S+ )*{name}\b", told), f"{name}: an example, after \\b"


def test_each_option_is_described_in_a_sentence() -> None:
    for name in ("", *VERBS):
        for option in options(name) if name else (each for each in cli.params if isinstance(each, click.Option)):
            assert option.help, f"{name} {option.opts}"
            plain = re.sub(r"  \[(?:env|default): [^\]]*\]", "", option.help)
            assert re.match(r"[A-Za-z].*[.?)]$", plain, re.DOTALL), f"{name} {option.opts}: {option.help}"


def test_an_option_is_called_the_same_in_every_verb() -> None:
    given = {spelling for name in VERBS for spelling in spelled(name)}
    assert not given & {"--at", "--rev", "--on"}, "a moment is --as-of"
    assert not given & {"--no-input", "--assume-yes", "--force"}, "who does not want to be asked says --yes"
    for option in (each for name in VERBS for each in options(name)):
        # Of `sync --to`, `move --to` and `confirm --until`.
        if _MOMENTS & {*option.opts} and option.metavar not in ("URL", "MEMORY", "DAY"):
            assert option.metavar == "WHEN", f"{option.opts}: a commit, a date or '2 days ago' is WHEN"
        if "--yes" in option.opts:
            assert "-y" in option.opts
        if {"--by", "--in"} & {*option.opts} and option.name != "within":  # which stands for memories
            assert option.metavar in ("A", "S"), "an agent or a person, a session"
        if "--limit" in option.opts:
            assert "-n" in option.opts and option.metavar == "N", f"{option.opts}: as `log -n`"
        if {"--tag", "-t"} & {*option.opts}:
            assert {"--tag", "-t"} <= {*option.opts} and option.multiple
        if "--json" in option.opts:
            assert option.is_flag and option.name == "json_wanted"


#: Parameters whose values come from a set that is known: facts, tags, commits, agents, tools, files.
_OF_A_SET = {
    "name", "old", "tags", "as_of", "since", "until", "to", "compare", "commits", "agent", "session", "author", "tool",
    "tools", "profile", "file", "folder", "place", "id", "shell", "event", "host", "kind", "gates", "order", "wanted",
}  # fmt: skip
#: Those of the same name that are new or anybody's words.
_FREE = {("agents new", "name"), ("bundle", "name"), ("fleet add", "name"), ("learn error", "tool")}


def test_a_shell_is_offered_the_values_that_there_are() -> None:
    for name, param in ((verb, param) for verb in VERBS for param in VERBS[verb].params):
        if param.name in _OF_A_SET and (name, param.name) not in _FREE:
            is_known = isinstance(param.type, click.Choice | click.Path) or param._custom_shell_complete
            assert is_known, f"{name}: {param.name} needs shell_complete, see cli/completing.py"


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")
def test_bash_completes_verbs_and_values(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "crabmem"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m crabmem "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"

    def offered(*words: str) -> set[str]:
        typed = f"COMP_WORDS=({shlex.join(['crabmem', *words])}); COMP_CWORD={len(words)}; _crabmem_completion crabmem"
        script = f'eval "$(crabmem completion bash)"; {typed}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
        return {*done.stdout.splitlines()}

    assert offered("re") == {"recall", "record", "remember", "rename", "restore", "resume", "review"}
    assert offered("--dir", str(root), "show", "wi") == {"wifi"}
    with Memory(root) as memory:
        memory.remember("Luna's vet: Moreno", "who cares for Luna", "Dr. Moreno.")
    for typed, found in (("DEP", r"Deploy\ key"), (r"Deploy\ k", r"Deploy\ key"), ("'Dep", "Deploy key")):
        assert offered("--dir", str(root), "show", typed) == {found}
    assert offered("--dir", str(root), "show", "lu") == {"luna-s-vet-moreno"}
    assert offered("list", "--sort", "") == {"file", "name", "changed"}
    assert offered("--dir", str(root), "list", "--tag", "o") == {"ops"}
    assert offered("call", "rem") == {"remember"} and offered("mcp", "--tools", "get,lo") == {"get,log"}


def test_a_verb_that_does_much_at_once_can_be_tried_and_one_that_asks_can_be_told_not_to() -> None:
    assert {name for name in VERBS if "--dry-run" in spelled(name)} == _FAR_REACHING
    assert {name for name in VERBS if "--yes" in spelled(name)} == _ASKING


#: Verbs that open no memory, and so look at none of the options that say how to open it.
_OPEN_NONE = {"bundle", "completion", "profile", "profile check", "profile list", "profile show"}
_SETTINGS_ONLY = {"config", "config allow", "config disallow", "config show"}
_HOSTS_ONLY = {"install", "uninstall"}


@pytest.mark.parametrize(
    ("words", "told", "unasked"),
    [
        (["--profile", "nobody"], "no profile nobody", _SETTINGS_ONLY),
        (["--kind", "party"], "no kind of session party", _SETTINGS_ONLY | _HOSTS_ONLY),
        (["--workspace", " "], "the agent's name is empty", set()),
        (["--agent", "x" * 500], "has 500 characters", _SETTINGS_ONLY | _HOSTS_ONLY),
    ],
)
def test_what_cannot_be_used_ends_with_2_whatever_the_verb(
    run: Run, words: list[str], told: str, unasked: set[str]
) -> None:
    for name in VERBS.keys() - _OPEN_NONE - unasked - {"try"}:
        if samples.verb(name).ends:
            done = run(*words, *samples.typed(name), stdin=samples.verb(name).stdin)
            assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), (name, done.stderr)
            assert told in done.stderr, name


@pytest.mark.parametrize(
    "name", [name for name in VERBS if samples.verb(name).does == "writes" or name in ("purge", "agents new", "record")]
)
@pytest.mark.parametrize("who", [[], ["--agent", "scribe"]])
def test_a_session_whose_tools_only_look_writes_nothing_by_a_verb_either(
    run: Run, root: Path, name: str, who: list[str], scripted_editor: Callable[[str], Path], tmp_path: Path
) -> None:
    (root / "crabmem.toml").write_text("soul_editable = true\n")
    run("record")
    (root / "memory/entries/deploy-key.md").unlink()  # for `restore` and `record`
    scripted_editor(f"touch {tmp_path}/opened")
    before = git(root, "log", "--format=%H"), git(root, "status", "--porcelain")
    done = run("--kind", "subagent", *who, *samples.typed(name), stdin=samples.verb(name).stdin)
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        "sessions of the kind subagent only read" in done.stderr and "leave it to one of the kind main" in done.stderr
    )
    assert (git(root, "log", "--format=%H"), git(root, "status", "--porcelain")) == before
    assert not (tmp_path / "opened").exists() and not (root / "agents").exists()


def test_a_session_writes_by_verbs_where_its_tools_do(run: Run) -> None:
    assert run("--kind", "scheduled", "remember", "Tea", "-d", "what to drink", "-c", "Oolong.").exit_code == 0
    assert run("--kind", "subagent", "recall", "tea").exit_code == 0
    refused = run("--profile", "legion", "--kind", "group", "note", "hello")
    assert refused.exit_code == 1 and "that the profile legion gives them" in refused.stderr


@pytest.mark.parametrize(
    ("surroundings", "is_coloured"),
    [
        ({}, False), ({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "0"}, False), ({"CLICOLOR_FORCE": ""}, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False), ({"CLICOLOR_FORCE": "1", "NO_COLOR": ""}, True),
    ],
)  # fmt: skip
def test_colours_are_forced_or_forbidden_by_the_surroundings(
    root: Path, surroundings: dict[str, str], is_coloured: bool
) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("NO_COLOR", "CLICOLOR"))}
    command = [*forked.COMMAND, "--dir", str(root), "status"]
    done = subprocess.run(command, capture_output=True, text=True, env={**own, **surroundings})
    assert ("\x1b[" in done.stdout) == is_coloured, done


@pytest.mark.parametrize(
    "words",
    [["recall", "alert"], ["prompt"], ["show", "alert"], ["list"], ["log"], ["status"], ["diff", "HEAD~1"],
     ["digest"], ["blame", "alert"], ["when", "alert"], ["overview"], ["list", "--tags"]],
    ids=" ".join,
)  # fmt: skip
def test_what_memory_holds_steers_no_terminal_where_colours_are_forced(
    run: Run, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run("remember", "Alert", "-d", "a bell \a", "-c", "red \x1b[41m alert")
    run("overview", "set", "-c", "red \x1b[41m alert")
    assert made.exit_code == 0, made.stderr
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = run(*words).stdout
    assert "\x1b[41m" not in shown and "\a" not in shown


@pytest.mark.parametrize("answer", ["", "n\n", "\n"])
def test_nothing_is_purged_without_a_yes(run: Run, root: Path, answer: str) -> None:
    before = git(root, "log", "--format=%H")
    done = run("purge", "Deploy key", stdin=answer)
    assert done.exit_code == 1 and git(root, "log", "--format=%H") == before
    assert (root / "memory/entries/deploy-key.md").exists()
