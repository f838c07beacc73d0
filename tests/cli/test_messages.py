"""The messages that people see most, as they should read."""

import re
import shlex
from pathlib import Path

import click
import pytest

from crabmem import Memory
from tests import samples
from tests.conftest import Run

#: Commands in a memory with the facts Deploy key and Wifi, and the words of the answer, on either output.
SAID = {
    "remember Vet -d 'who looks after the dog' -c 'Dr. Moreno.'": "remembered: Vet\n",
    "remember Tea -c Oolong.": "there is no fact called Tea yet: give -d DESC, a line that says what it is about\n",
    "remember '' -d x -c y": "crabmem: the name is empty\n",
    "remember ..: -d x -c y": "crabmem: the name ..: is signs alone; give the fact a name with a letter or a digit\n",
    "remember Wifi": "what should Wifi say? -c TEXT, --file FILE, or - to read it\n",
    "remember Wifi -c ''": "the content is empty. To remove a fact: `crabmem forget NAME`\n",
    "remember 'Guest wifi' -d 'the password for guests' -c 'On the router.'":
        "nearly the same as Wifi. To keep one: `crabmem forget 'Guest wifi'`\n",
    "recall ' '": "crabmem: the question is empty\n",
    "show Wfi": 'crabmem: no fact called Wfi. Did you mean "Wifi"?\n',
    "forget Wifi": "forgot: Wifi\n",
    "undo --redo": "crabmem: nothing to redo: the last change was not an undo\n",
    "log --since 'the other day'":
        "no revision named the other day; give a commit of `crabmem log`, a day as 2026-03-14, a time as "
        "'2026-03-14 09:00', today, 'last Tuesday', or '2 days ago'\n",
    "review": "nothing to review. To have agents' writes wait: [review] in crabmem.toml\n",
    "review list": "nothing to review. To have agents' writes wait: [review] in crabmem.toml\n",
    "purge Wifi": "nothing was purged: this needs a terminal, or --yes\n",
    "remember Pw -d d -c 'the password is Sommer2024!'":
        "crabmem: not saved: it contains what looks like a secret: value of password (…). Say where that is kept "
        'instead. (A person who means it edits the file, or sets secrets = "warn" in crabmem.toml)\n',
    "install claude": "did you mean claude-code or claude-desktop?",
}  # fmt: skip


@pytest.mark.parametrize("typed", SAID)
def test_a_message_reads_as_it_should(run: Run, typed: str) -> None:
    done = run(*shlex.split(typed))
    assert SAID[typed] in done.stdout + done.stderr


def test_what_is_missing_or_not_recorded_is_told_with_the_way_out(run: Run, root: Path) -> None:
    file = root / "memory/entries/wifi.md"
    file.write_text(file.read_text("utf-8") + "On the door.\n", "utf-8")
    told = "1 edited file not in the history yet: the next write records that, or `crabmem record`"
    assert told in run("status").stdout
    file.write_text("---\nname: Wifi\n---\nSee [[Nowhere]].\n", "utf-8")
    assert "link to a fact that does not exist: [[Nowhere]]" in run("doctor").stdout
    for each in root.glob("memory/entries/*.md"):
        each.unlink()
    way = "Bring them back: `crabmem restore`. They are meant to go: `crabmem record --yes-really`"
    missing = "2 of 2 facts are missing from the disk, or empty, and nobody forgot them"
    assert f"{missing}. {way}" in run("list").stderr


def test_a_memory_with_nothing_in_it_says_so_once(run: Run, tmp_path: Path) -> None:
    with Memory(tmp_path / "bare") as memory:
        memory.init()
    nothing = "this memory is empty\n"
    assert [run("--dir", str(tmp_path / "bare"), *words).stderr for words in (["recall", "x"], ["list"])] == [
        nothing
    ] * 2
    none = f"crabmem: there is no memory in {tmp_path / 'none'} yet\n"
    for words in (["log", "--since", "lastweek"], ["show", "x"]):
        assert run("--dir", str(tmp_path / "none"), *words).stderr == none


def test_an_unknown_setting_is_told_once(run: Run, root: Path) -> None:
    (root / "crabmem.toml").write_text("nope = 1\n")
    write = ("remember", "A", "-d", "a", "-c", "a")
    told = [run(*words).stderr for words in (("--agent", "bot", *write), ("--agent", "bot", "list"), write)]
    assert [each.count("unknown setting `nope`") for each in told] == [1, 1, 1]
    assert told[0].startswith("crabmem: ") and "warning" not in told[0]


def test_a_memory_with_a_file_where_its_folder_belongs_is_not_told_to_be_empty(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd/memory").mkdir(parents=True)
    (tmp_path / "odd/memory/entries").write_text("precious\n")
    for words in (["list"], ["recall", "x"]):
        told = run("--dir", str(tmp_path / "odd"), *words).stderr
        assert told == "1 file unreadable (`crabmem doctor` names them)\n"
    assert "0, 1 file unreadable" in run("--dir", str(tmp_path / "odd"), "status").stdout
    found = run("--dir", str(tmp_path / "odd"), "doctor").stdout
    assert found.count("memory/entries: it is not a folder") == 1


def test_the_reader_meets_one_word_for_a_fact() -> None:
    for name, command in samples.verbs().items():
        told = click.unstyle(command.get_help(click.Context(command, info_name=name)))
        assert not re.search(r"\bentr(y|ies)\b(?! of the MCP)", told), name
