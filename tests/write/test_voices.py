"""Who says on the command line that it is an agent is recorded as that agent, and bound by what agents may do."""

import json
import os
import shutil
from pathlib import Path

import pytest

from crabmem import Disabled, Memory, Proposed
from crabmem.operations import proposals
from crabmem.prompt.shipped import families_with
from crabmem.session.opening import local_time
from crabmem.tools.toolbox import Toolbox
from crabmem.write.actor import Actor
from tests import samples
from tests.conftest import Run, assert_clean, git
from tests.opening import opened_with

_OF_TYPE = {"string": "Wifi", "integer": 1, "number": 1, "boolean": True, "array": ["Wifi"], "object": {}}
VERBS = [name for name in samples.verbs() if samples.verb(name).ends and name != "try"]


@pytest.fixture(autouse=True)
def plain_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and an editor that adds a line."""
    for name in [name for name in os.environ if name.startswith("CRABMEM_")] + ["NO_COLOR", "VISUAL"]:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "More of it." >> "$1"\n')
    editor.chmod(0o700)
    for name, value in {"HOME": tmp_path / "home", "TMPDIR": tmp_path / "tmp", "EDITOR": editor}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of a person with two facts, an overview and an identity, in which nothing waits to be recorded."""
    root = tmp_path / "notes"
    with Memory(root, is_person=True) as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.")
        memory.write_overview("# What there is\n")
        memory.remember("Wifi", "the password for guests", "On the router.", aliases=["wlan"])
        memory.remember("Wifi", "the password for guests", "On the fridge.")
    return root


def rules(root: Path, text: str) -> None:
    """Settings of the person, recorded."""
    (root / "crabmem.toml").write_text(text)
    with Memory(root, is_person=True) as memory:
        memory.adopt()


def prepared(verb: str, root: Path) -> list[str]:
    """What one types to have a verb change something."""
    words = samples.typed(verb)
    if verb == "move":
        samples.see_a_team(root)
    if verb == "restore":
        (root / "memory" / "entries" / "wifi.md").unlink()
    if words[0] == "review":
        with Memory(root, agent="other") as memory:
            made = proposals.propose_identity(memory, "# A lobster\n", "I grew.").proposal
        words = [made.id if word == samples.PROPOSAL else word for word in words]
    return words


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_records_who_says_it_is_an_agent_as_that_agent(
    run: Run, root: Path, tmp_path: Path, verb: str
) -> None:
    rules(root, "soul_editable = true\n")
    run("note", "Something to take back.")
    words = prepared(verb, root)
    head = git(root, "rev-parse", "HEAD").strip()
    result = run("--agent", "scribe", *words, stdin=samples.verb(verb).stdin)
    assert (result.exit_code == 1) == samples.verb(verb).is_for_people, result.stderr
    span = "HEAD..HEAD" if verb == "purge" else f"{head}..HEAD"  # a purge gives every commit another id
    authors = set(git(root, "log", "--format=%an|%(trailers:key=Agent,valueonly)", span).split())
    # That the file is gone, the person did.
    assert authors <= {"scribe|scribe", "crabmem|", *(["person|"] if verb == "restore" else [])}
    assert ("scribe|scribe" in authors) == (samples.verb(verb).does == "writes"), result.output
    assert_clean(root)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_lets_an_agent_change_an_identity_that_is_the_persons(
    run: Run, root: Path, tmp_path: Path, verb: str
) -> None:
    rules(root, "soul_editable = false\n")
    words = prepared(verb, root)
    (root / "Crab.md").write_text("# A crab of mine\n")
    run("record")  # what `undo` and `restore` would take back
    result = run("--agent", "scribe", *words, stdin=samples.verb(verb).stdin)
    assert (root / "Crab.md").read_text() == "# A crab of mine\n"
    assert git(root, "show", "HEAD:Crab.md") == "# A crab of mine\n"
    if verb in ("identity set", "identity edit", "undo", "restore"):
        assert result.exit_code == 1 and "a person may" in result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_of_a_session_that_proposes_reaches_a_file(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    rules(root, "soul_editable = true\n")
    run("note", "Something to take back.")
    words = prepared(verb, root)
    with Memory(root) as memory:
        memory.adopt()
    before, waiting = files_and_branch(root), len(json.loads(run("review", "list", "--json").stdout)["proposals"])
    monkeypatch.setenv("CRABMEM_PROPOSE", "1")  # as hooks and servers inherit it
    writes = samples.verb(verb).does == "writes" and verb != "move"  # which is refused whole
    for who in ([], ["--agent", "scribe"]):
        result = run(*who, *words, stdin=samples.verb(verb).stdin)
        assert result.exit_code in (0, 1), result.stderr
        assert not (samples.verb(verb).is_for_people or verb == "purge") or result.exit_code == 1
        assert files_and_branch(root) == before
    monkeypatch.delenv("CRABMEM_PROPOSE")
    waits = json.loads(run("review", "list", "--json").stdout)["proposals"]
    assert (len(waits) > waiting) == writes and all(
        each["reason"] == "waits: its session proposes all that it writes" for each in waits[waiting:]
    )


@pytest.mark.parametrize("word", ["0", "false", "No", "off"])
def test_a_variable_that_says_off_is_off_for_the_library_as_for_the_command_line(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    for name in ("CRABMEM_PROPOSE", "CRABMEM_ONLY_THIS"):
        monkeypatch.setenv(name, word)
    assert run("forget", "Wifi").stdout == "forgot: Wifi\n"
    with Memory(root) as memory:
        assert memory.forget("Deploy key").commit and not memory.engine.options.is_alone


def test_no_tool_of_a_session_that_proposes_writes_a_file(root: Path) -> None:
    rules(root, "soul_editable = true\n")
    before = files_and_branch(root)
    for profile in families_with("profile.toml"):
        with opened_with(root, Actor("scribe", "s", proposes=True), local_time, profile=profile) as memory:
            for tool in memory.tools_named({*Toolbox(memory).usual, *samples.shared_tools()}):
                made_up = {name: _OF_TYPE[each["type"]] for name, each in tool.input_schema["properties"].items()}
                given = samples.TOOLS[tool.name].arguments if tool.name in samples.TOOLS else made_up
                memory.for_actor("other", "t").call(tool.name, given, [tool.name])
                assert files_and_branch(root) == before, (profile, tool.name)
    with Memory(root, is_person=True) as memory:
        assert len(proposals.proposals(memory)) > len(samples.TOOLS) / 2


def files_and_branch(root: Path) -> dict[str, str]:
    """What is in memory, on the disk and in the history."""
    files = (file for file in root.rglob("*") if file.is_file() and ".git" not in file.parts)
    return {"main": git(root, "rev-parse", "main"), **{str(each): each.read_text() for each in files}}


def test_the_editor_does_not_even_open_for_an_agent_that_may_not_write_the_identity(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\ntouch {tmp_path}/opened\n")
    result = run("--agent", "scribe", "identity", "edit")
    assert result.exit_code == 1 and "disabled" in result.stderr
    assert not (tmp_path / "opened").exists()


def test_an_agent_that_edits_the_identity_in_an_editor_proposes_it(run: Run, root: Path) -> None:
    rules(root, 'soul = "propose"\n')
    before = (root / "Crab.md").read_bytes(), git(root, "rev-parse", "HEAD")
    assert "review apply" in run("--agent", "scribe", "identity", "edit").stdout
    assert ((root / "Crab.md").read_bytes(), git(root, "rev-parse", "HEAD")) == before
    with Memory(root, is_person=True) as memory:
        [waiting] = proposals.proposals(memory)
        assert waiting.author == "scribe" and "More of it." in (waiting.text or "")


def test_an_edit_of_an_agent_is_its_own_while_somebody_else_records_edits(run: Run, root: Path, tmp_path: Path) -> None:
    """The file itself changes only when the editor is closed: a watcher would take a save for the person's."""
    (tmp_path / "editor").write_text(
        f'#!/bin/sh\necho "More of it." >> "$1"\n{shutil.which("python3")} -c "" && cp {root}/memory/entries/wifi.md '
        f"{tmp_path}/meanwhile\n"
    )
    assert run("--agent", "scribe", "edit", "wlan").stderr == "recorded: edit: Wifi\n"
    assert "More of it." not in (tmp_path / "meanwhile").read_text()
    newest = json.loads(run("log", "-n", "1", "--json").stdout)["commits"][0]
    assert (newest["author"], newest["agent"], newest["tool"], newest["subject"]) == (
        "scribe", "scribe", "edit", "edit: Wifi",
    )  # fmt: skip
    assert "More of it." in run("show", "wifi").stdout
    assert os.listdir(tmp_path / "tmp") == []


def test_what_an_agent_wrote_in_an_editor_is_kept_where_it_cannot_be_saved(
    run: Run, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "editor").write_text(
        f'#!/bin/sh\necho "More of it." >> "$1"\necho "Mine." >> {root}/memory/entries/wifi.md\n'
    )
    result = run("--agent", "scribe", "edit", "wifi")
    assert result.exit_code == 1 and "was changed since version" in result.stderr
    [kept] = (tmp_path / "tmp").rglob("wifi.md")
    assert f"what you wrote is in {kept}" in result.stderr and "More of it." in kept.read_text()


# A person may always write their own file


def test_a_person_may_set_the_identity_that_agents_may_not(run: Run, root: Path) -> None:
    result = run("identity", "set", "-c", "# A lobster")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "Crab.md updated")
    assert (root / "Crab.md").read_text() == "# A lobster\n"
    assert json.loads(run("log", "-n", "1", "--json").stdout)["commits"][0]["author"] == "person"


def test_a_person_does_not_propose_to_themselves(run: Run, root: Path) -> None:
    rules(root, 'soul = "propose"\n')
    assert run("identity", "set", "-c", "# A lobster").stdout.startswith("Crab.md updated\n")
    assert run("review", "list").stdout == ""
    assert "review apply" in run("--agent", "scribe", "identity", "set", "-c", "# A whale").stdout


def test_only_who_says_it_is_the_person_is_not_gated(tmp_path: Path) -> None:
    for voice in ({}, {"agent": "coder"}, {"agent": "coder", "is_person": True}):
        with Memory(tmp_path / "m", **voice) as memory, pytest.raises(Disabled):
            memory.write_identity("# A lobster\n")
    with Memory(tmp_path / "m", is_person=True) as memory:
        assert not isinstance(memory.write_identity("# A lobster\n"), Proposed)
        with pytest.raises(Disabled):
            memory.for_actor("coder", None).write_identity("# A whale\n")


def test_log_tells_a_person_from_an_agent(run: Run, root: Path) -> None:
    run("--agent", "ann", "note", "An agent may have the name of some other person.")
    (root / "crabmem.toml").write_text('person = "Ann B"\n')
    run("note", "Tea.")
    newest, mine, agents = run("log", "-n", "3").stdout.splitlines()
    assert ("  Ann B*  note: " in newest and "  person*  edit: " in mine) or "  Ann B*  edit: " in mine
    assert "  ann  note: " in agents
    for verb in ("log", "blame", "when", "digest"):
        assert "star marks a person" in " ".join(run(verb, "--help").stdout.split())
    assert "Ann B*" in run("undo", "HEAD", "--dry-run").stdout
    for name in ("Ann B", "ann b", "person"):
        refused = run("--agent", name, "note", "Mine.")
        assert refused.exit_code == 1 and "give it another name" in refused.stderr


def test_people_who_share_a_memory_have_their_own_names_in_it(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "crabmem.toml").write_text('person = "All of us"\n')
    run("note", "Tea.")
    monkeypatch.setenv("CRABMEM_PERSON", "Marit <marit@example.org>")
    with (root / "memory/MEMORY.md").open("a") as file:
        file.write("A line of hers.\n")
    run("note", "Coffee.")
    assert git(root, "log", "-2", "--format=%an <%ae>").splitlines() == ["Marit <marit@example.org>"] * 2
    assert "  All of us*  " in run("log", "-n", "3").stdout.splitlines()[2]
    assert run("--agent", "marit", "note", "Hers.").exit_code == 1


def test_a_digest_counts_no_settings_and_no_overview_as_learned(run: Run, root: Path) -> None:
    rules(root, "soul_editable = true\n")
    found = run("digest").stdout
    assert "## Learned (2)" in found and "crabmem.toml" not in found
    assert "MEMORY.md" in found.partition("## Changed (1)")[2]
