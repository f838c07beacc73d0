"""`crabmem tidy` lists what needs a look; what a host's model makes of it waits as one batch, and goes back as one."""

import json
import os
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crabmem import Fact, Memory
from crabmem.disk.turns import Turn
from crabmem.operations import proposals, tidy
from crabmem.write.actor import Actor
from tests.conftest import Run
from tests.opening import opened_with

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
#: A host that starts the server it is told of, as all do, and calls the tools of a plan, `CALLS`.
STUB = f"""#!{sys.executable}
import json, os, subprocess, sys
words = sys.argv[1:]
config = json.loads(words[words.index("--mcp-config") + 1])["mcpServers"]["crabmem"]
open(os.environ["HEARD"], "w").write(json.dumps([words, os.getcwd(), os.listdir()]))
pipe = subprocess.PIPE
server = subprocess.Popen([config["command"], *config["args"]], stdin=pipe, stdout=pipe, text=True)
def ask(number, method, params):
    said = dict(jsonrpc="2.0", id=number, method=method, params=params)
    print(json.dumps(said), file=server.stdin, flush=True)
    while (answer := json.loads(server.stdout.readline())).get("id") != number:
        pass
    return answer
who = {{"name": "claude-code", "version": "1"}}
ask(0, "initialize", {{"protocolVersion": "2025-06-18", "capabilities": {{}}, "clientInfo": who}})
print(json.dumps({{"jsonrpc": "2.0", "method": "notifications/initialized"}}), file=server.stdin, flush=True)
for number, (name, given) in enumerate(json.loads(os.environ["CALLS"]), 1):
    print(ask(number, "tools/call", {{"name": name, "arguments": given}})["result"]["content"][0]["text"])
server.stdin.close()
server.wait()
sys.exit(int(os.environ.get("STATUS", 0)))
"""


def fact(name: str, about: str, content: str, **more: Any) -> Fact:
    return Fact(name, about, content, **more)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Fifty facts of which ten are the same as others, in other words or under another's name, or lack something."""
    root = tmp_path / "notes"
    places = [f"{street} {number}" for street in ("Harbour", "Mill", "Garden", "Castle") for number in range(1, 11)]
    facts = [
        fact(f"Flat {at}", f"who lives in {at}", f"Family {'ABCDEFGHIJ'[n % 10] * 3}{n}.")
        for n, at in enumerate(places)
    ]
    facts += [fact("Deploy key", "where the deploy key lives", "In the vault under ops/deploy.")]
    facts += [fact("The deploy key", "where the deploy key lives", "In the vault under ops/deploy, says Ann.")]
    facts += [fact("Parking", "where the car stands", "Zone 4.", keys={"stale_after": "2026-11-01"})]
    facts += [fact("Lease", "until when it runs", "Two years.", keys={"stale_after": "2099-11-01"})]
    facts += [fact("Ann", "who Ann is", "From Graz.", aliases=("Anna",)), fact("Anna", "a colleague", "Likes tea.")]
    facts += [fact(f"Odd {n}", f"the {word}", f"About {word}.") for n, word in enumerate(("owl", "elk", "yak"))]
    with opened_with(root, Actor(is_person=True), lambda: NOW) as memory:
        memory.remember_all(facts, "notes")
        (root / "memory/entries/bare.md").write_text("---\nname: Bare\n---\n\nIn the cellar.\n")
        memory.write_note("Moved the boxes.")
        (root / "memory/2026-01-02.md").write_text("Long ago.\n")
        memory.adopt()
        assert len(memory.entries()) == 50
    return root


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stub of Claude Code on PATH; the file that has what it heard."""
    stub = tmp_path / "bin/claude"
    stub.parent.mkdir()
    stub.write_text(STUB)
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HEARD", str(tmp_path / "heard.json"))
    return tmp_path / "heard.json"


def files(root: Path) -> dict[str, str]:
    return {str(each): each.read_text() for each in (root / "memory").rglob("*.md")}


def test_what_needs_a_look_is_listed_with_the_command_that_mends_it(run: Run, root: Path) -> None:
    before = files(root)
    data = json.loads(run("tidy", "--json").stdout)
    assert data["count"] == len(data["found"])
    found = {(each["kind"], *each["names"], each["command"]) for each in data["found"] if each["kind"] != "note"}
    assert found == {
        ("stale", "Parking", "crabmem confirm Parking"),
        ("alike", "Deploy key", "The deploy key", "crabmem forget 'Deploy key'"),
        ("clash", "Ann", "Anna", "crabmem edit memory/entries/anna.md"),
        ("undescribed", "Bare", "crabmem remember Bare -d WHAT"),
    }
    said = run("tidy").stdout
    assert "stale: 1\n  Parking (since 2026-11-01)  `crabmem confirm Parking`\n" in said
    assert files(root) == before and not json.loads(run("review", "list", "--json").stdout)["proposals"]


def test_of_facts_of_one_name_the_command_and_the_prompt_name_the_file(run: Run, root: Path) -> None:
    for number in (1, 2):
        text = f"---\nname: Bob\ndescription: who Bob is\n---\n\nBob paints {number} barns in the north.\n"
        (root / f"memory/entries/bob-{number}.md").write_text(text)
    commands = [each["command"] for each in json.loads(run("tidy", "--json").stdout)["found"] if "Bob" in each["names"]]
    assert commands and all("memory/entries/bob-" in command for command in commands)
    with Memory(root) as memory:
        assert "Bob (memory/entries/bob-1.md)" in tidy.prompt(memory, tidy.tidy(memory))


def test_a_command_that_is_advised_for_a_name_that_begins_with_a_dash_works_as_it_is_typed(run: Run) -> None:
    def advised(text: str) -> list[str]:
        return shlex.split(text.partition("`crabmem ")[2].partition("`")[0].replace("WHEN", "HEAD"))

    day = "--stale-after", "2020-01-01"
    run("remember", "-d", "may hooks be skipped?", "-c", "No, never on main.", *day, "--", "--no-verify")
    said = run("remember", "-d", "may hooks be skipped?", "-c", "No, never on the main branch.", "--", "-n").stderr
    assert advised(said) == ["forget", "--", "-n"] and run(*advised(said)).exit_code == 0
    found = json.loads(run("tidy", "--json").stdout)["found"]
    (stale,) = (each for each in found if each["names"] == ["--no-verify"])
    assert stale["command"] == "crabmem confirm -- --no-verify"
    assert run(*shlex.split(stale["command"])[1:]).exit_code == 0
    said = run("restore", "--", "--no-verify").stderr
    assert advised(said)[-3:] == ["log", "--", "--no-verify"] and run(*advised(said)).exit_code == 0
    run("forget", "--", "--no-verify")
    said = run("blame", "--", "--no-verify").stderr
    assert advised(said) == ["log", "-p", "--", "--no-verify"] and run(*advised(said)).exit_code == 0
    said = run("remember", "--", "-x is a flag that our tool has had for years").stderr
    assert advised(said)[:3] == ["remember", "-n", "NAME"] and run(*advised(said)).exit_code == 0


def test_what_was_told_or_asked_for_is_not_unused_and_nothing_is_where_nobody_knows(root: Path) -> None:
    later = NOW + timedelta(days=200)
    with opened_with(root, Actor(is_person=True), lambda: later) as memory:

        def unused() -> set[str]:
            return {each.names[0] for each in tidy.tidy(memory) if each.kind == "unused"}

        assert unused() == set()
        memory.engine.turns.add(Turn(NOW, "s", (), 0))
        assert len(unused()) == 50
        memory.engine.turns.add(Turn(later, "s", (memory.get("Lease").version,), 9))
        memory.engine.uses.add([memory.get("Ann").path], later)
        assert len(unused()) == 48 and not unused() & {"Lease", "Ann"}


def test_daily_notes_count_until_what_was_made_of_them_is_applied(root: Path) -> None:
    with opened_with(root, Actor(is_person=True), lambda: NOW) as person:
        assert [each.names for each in tidy.tidy(person) if each.kind == "note"] == [("2026-11-27",)]
    with opened_with(root, Actor("coder", "tidy-1", proposes=True), lambda: NOW + timedelta(days=1)) as model:
        made = model.remember("Boxes", "where the boxes are", "They were moved.").proposal
    with opened_with(root, Actor(is_person=True), lambda: NOW + timedelta(days=1)) as person:
        assert made and proposals.apply_proposal(person, made.id).commit
        assert [each for each in tidy.tidy(person) if each.kind == "note"] == []


def test_all_that_a_hosts_model_writes_waits_and_goes_back_as_one(
    run: Run, root: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = {"name": "Deploy key", "description": "where the deploy key lives", "content": "In the vault, says Ann."}
    calls = [
        ("remember", {**merged, "content": f"{merged['content']}\n\nReplaces: The deploy key"}),
        ("forget", {"name": "The deploy key"}),
        ("confirm", {"name": "Parking"}),
        *(("forget", {"name": f"Odd {number}"}) for number in range(3)),
    ]
    monkeypatch.setenv("CALLS", json.dumps(calls))
    before = files(root)
    (root / "crabmem.toml").write_text("recall_limit = 5\n")  # no rule has anything wait

    said = json.loads(run("tidy", "--with", "claude", "--json").stdout)

    session = said["session"]
    words, folder, there = json.loads(host.read_text())
    assert "<memory>\n- Ann [called the same Anna]: who Ann is" in words[words.index("-p") + 1] and there == []
    assert not Path(folder).exists()
    assert (said["status"], len(said["proposals"])) == (0, 6) and files(root) == before
    assert {each["session"] for each in said["proposals"]} == {session}
    shown = run("review", "show", next(each["id"] for each in said["proposals"] if each["change"] == "forget: Odd 0"))
    assert "-About owl." in shown.stdout

    refused = [each["id"] for each in said["proposals"] if "Odd" in each["change"]]
    assert run("review", "reject", "--yes", *refused).exit_code == 0
    assert run("review", "apply", "--in", session, "--yes").exit_code == 0
    with Memory(root) as memory:
        assert memory.get("Deploy key").content == "In the vault, says Ann.\n\nReplaces: The deploy key"
        assert memory.get("Parking").stale_after > "2026-11-27" and memory.get("Odd 0")
        assert "The deploy key" not in [each.name for each in memory.entries()]
    assert len(files(root)) == len(before) - 1
    assert run("undo", "--in", session).exit_code == 0
    assert files(root) == before


def test_a_host_that_fails_or_is_not_there_is_told_with_what_to_do(
    run: Run, root: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLS", json.dumps([("forget", {"name": "Bare"})]))
    monkeypatch.setenv("STATUS", "3")
    failed = run("tidy", "--with", "claude")
    assert failed.exit_code == 1 and "claude ended with status 3" in failed.stderr
    assert "1 proposal waits for you: `crabmem review --in tidy-" in failed.stdout
    monkeypatch.setenv("PATH", "/nowhere")
    gone = run("tidy", "--with", "codex")
    assert gone.exit_code == 1 and "codex is not on PATH: install Codex, or " in gone.stderr
    assert run("tidy", "--with", "nobody").exit_code == 2
