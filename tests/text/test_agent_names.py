"""Nobody who reads the history takes an agent for the person, or for crabmem."""

import os
import subprocess
from pathlib import Path

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.operations import adoption
from crabmem.text.agent_names import agent_name, refuse_taken
from crabmem.write.actor import Actor
from tests import forked
from tests.conftest import git
from tests.serving import connected

ANN = "Ann Lee <ann@example.org>"
TAKEN = [
    "person", "Person", " PERSON ", "pers\u200bon", "\u202eperson", "реrson", "pеrsοn", "ｐｅｒｓｏｎ", "pérson",
    "pers0n", "person.", "crabmem", "CrabMem", "сrаbmеm", "person <x@example.org>", "x <crabmem>",
    "ꓑerson", "persօn", "ⲣerson", "ꓑꓰꓣꓢꓳꓠ", "perꜱon", "ᴘᴇʀꜱᴏɴ", "persøn", "crabrnem", "cr\u0251bmem",
    "per\u10e1on", "ꮲꭼꭱꮪꮎꮑ", "ᏢᎬᎡᏚᎾᏁ", "person*", "*person", "p.e.r.s.o.n", "регѕоп", "p℮rson", "pers๐n", "pers೦n",
]  # fmt: skip
ANNS = ["Ann Lee", "ann lee", "AnnLee", "Аnn Lee", "Ann\u00a0Lee", ANN, "x <ann@example.org>", "ann@example.org",
        "ANN@Example.org", "Ann Lee <other@example.org>", "<ann@example.org>", "ꓮnn Lee", "Ꭺnn Lee", "ꓮꓠꓠ ꓡꓰꓰ",
        "Ann ꓡee", "ɴɴ Аnn", "Ann-Lee", "Ann_Lee", "Ann Lee*"]  # fmt: skip
UNSEEN = ["..", ".", "\u200b", " ", "\u2800", "\u3164", "\u00ad\ufeff", "<x@y>", "\t", "\ufe0f", ":;"]
OTHERS = [
    "coder",
    "claude-code",
    "Ann's helper",
    "personal assistant",
    "crab",
    "Петя",
    "Анна",
    "安娜",
    "Άννα",
    "Claude助手",
    "агент-claude",
    "Петя helper",
    "Jürgen",
    "a.b",
    "🦀",
    "Ann",
    "x <x@y.org>",
]


def test_a_name_by_which_an_agent_could_be_taken_for_the_person_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crabmem.toml").write_text(f'person = "{ANN}"\n')
    for name in (*TAKEN, *ANNS, *UNSEEN):
        with pytest.raises(InvalidArguments, match="an agent cannot be called"):
            Memory(tmp_path, agent=name)
    assert not (tmp_path / ".git").exists()


@pytest.mark.parametrize("name", ["bot*", "bot＊", "*bot∗"])
def test_no_agent_has_the_mark_of_the_person_at_its_name(tmp_path: Path, name: str) -> None:
    with Memory(tmp_path, agent=name) as memory:
        memory.remember("Luna", "the cat", "A cat.")
        assert [commit.author for commit in memory.log()][:1] == ["bot"]


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_not(tmp_path: Path, name: str) -> None:
    (tmp_path / "crabmem.toml").write_text(f'person = "{ANN}"\n')
    with Memory(tmp_path, agent=name) as memory:
        memory.remember("Tea", "d", "Green.")
        assert memory.log(limit=1)[0].author == name.partition(" <")[0]
    assert git(tmp_path, "log", "-1", "--format=%ae").strip().endswith("@agents.crabmem.invalid")


def test_one_that_nobody_typed_is_marked() -> None:
    for name in (*TAKEN, *ANNS, *UNSEEN):
        called = agent_name(name, ANN)
        assert called == "agent" or called.endswith(" (agent)"), name


@pytest.mark.parametrize("name", ["person", "crabmem", ANN, "ann@example.org", "\u200b"])
def test_one_that_nobody_typed_is_told_apart_in_the_history(tmp_path: Path, name: str) -> None:
    root = tmp_path / "memory"
    with Memory(root, is_person=True) as person:
        person.init()
        (root / "crabmem.toml").write_text(f'person = "{ANN}"\n')
        person.remember("Tea", "d", "the person's")
        person.for_actor(name, None).remember("Tea", "d", "the agent's")
        theirs, hers = person.log(limit=2)
    assert theirs.author == "agent" or theirs.author.endswith(" (agent)")
    assert (theirs.is_person, hers.is_person, hers.author) == (False, True, "Ann Lee")
    assert theirs.author != hers.author and theirs.agent == theirs.author
    mail, other = git(root, "log", "-2", "--format=%ae").split()
    assert mail.endswith("@agents.crabmem.invalid") and other == "ann@example.org"
    assert git(root, "log", "--author=ann@example.org", "--format=%s").count("remember") == 1


def test_a_client_that_calls_itself_person_is_served_and_marked(tmp_path: Path) -> None:
    async def written() -> None:
        async with connected(tmp_path / "memory", "stdio", "auto", name="person") as client:
            done = await client.call_tool("remember", {"name": "Tea", "description": "d", "content": "Green."})
            assert not done.is_error

    anyio.run(written)
    with Memory(tmp_path / "memory") as memory:
        assert (memory.log(limit=1)[0].author, memory.log(limit=1)[0].agent) == ("person (agent)", "person (agent)")


def test_the_command_line_says_why_it_refuses_a_name(tmp_path: Path) -> None:
    command = [*forked.COMMAND, "--dir", str(tmp_path), "--agent", "person", "list"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CRABMEM_AGENT": ""})
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "an agent cannot be called 'person'" in done.stderr


def test_what_a_host_wrote_for_such_an_agent_is_marked_too(memory: Memory) -> None:
    memory.remember("Tea", "d", "Green.")
    file = memory.file("memory/entries/tea.md")
    file.write_text(file.read_text().replace("Green", "Black"))
    adoption.adopt_written(memory.for_actor("person", None), [str(file)])
    newest = memory.log(limit=1)[0]
    assert (newest.tool, newest.author) == ("write", "person (agent)")


@pytest.mark.parametrize(
    "sign", ["\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\U000e0041", "\ue000", "\x85", "\u0378"]
)
def test_no_sign_that_nobody_sees_gets_into_the_line_of_an_author(tmp_path: Path, sign: str) -> None:
    (tmp_path / "crabmem.toml").write_text(f'person = "{sign}An{sign}n <ann{sign}@example.org>"\n', "utf-8")
    with Memory(tmp_path, is_person=True) as memory:
        memory.remember("Tea", "d", "Green.")
        memory.for_actor(f"{sign}nosrep{sign}", None).remember("Tea", "d", "Black.")
    authors = git(tmp_path, "log", "-2", "--format=%an <%ae>").splitlines()
    assert authors == ["nosrep <nosrep@agents.crabmem.invalid>", "Ann <ann@example.org>"]


@given(st.text(max_size=30), st.sampled_from(["person", ANN, "Петя <p@example.org>"]))
@example("@Aµ", "person")
def test_what_an_agent_is_called_is_never_taken(given: str, person: str) -> None:
    called = agent_name(given, person)
    refuse_taken(called, person)
    assert agent_name(called, person) == called
    note = Actor(given or "x").note("remember", "Tea", person)
    assert note.author.endswith("@agents.crabmem.invalid>")
    assert note.author.partition(" <")[0] not in ("person", "crabmem", person.partition(" <")[0])
