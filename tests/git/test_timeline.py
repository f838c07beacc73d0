"""What an agent may read of `.git`: memory's own past, and of a file only that file's versions."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory, NotFound, Stale
from crabmem.operations import proposals
from crabmem.tools.tool import Tool
from crabmem.tools.toolbox import Toolbox
from tests import samples
from tests.conftest import git, typed
from tests.examples import examples
from tests.faults.repository import ANN
from tests.serving import connected

CANARY = "CANARY-4711"
OURS = ("refs/heads/main", "refs/crabmem/keep")
NOBODYS = "0123456789abcdef0123456789abcdef01234567"
GROUPS = """about = "crab, with groups that may write"
tools = ["entries", "files", "looking", "notes"]

[[part]]
file = "{overview}"

[kinds.group]
hides = ["memory/MEMORY.md"]
"""
PROFILES = ("crab", "camel", "claw", "legion", "harness", "groups")


@dataclass(frozen=True)
class Ground:
    """A workspace whose repository holds canaries, and every name by which one of them may be asked for."""

    root: Path
    profile: str
    names: tuple[str, ...]

    def opened(self) -> Memory:
        """The memory as an agent has it; where groups see less than others, in a group."""
        return Memory(
            self.root, agent="mole", profile=self.profile, kind="group" if "groups" in self.profile else "main"
        )


def stored(root: Path, text: str, *words: str) -> str:
    """The id under which Git now stores a text as a blob."""
    command = ["git", "-C", str(root), "hash-object", "-w", "--stdin", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.strip()


def planted(folder: Path, profile: str) -> Ground:
    """Canaries in whatever `.git` holds that is no memory, and in what groups may not see."""
    root, other = folder / "memory", folder / "other"
    given = profile
    if profile == "groups":
        given = str(folder / "groups.toml")
        folder.mkdir(parents=True)
        Path(given).write_text(GROUPS)
    with Memory(root, agent="mole", profile=given) as memory:
        memory.remember("Dog", "whose dog", "Luna")
        memory.remember("Dog", "whose dog", "Luna, ours")
    (root / "private").mkdir()
    (root / "private/taxes.txt").write_text(f"{CANARY} tax number\n")
    git(root, "add", "private")
    git(root, *ANN, "commit", "-qm", "taxes")
    git(root, "checkout", "-q", "--orphan", "secret")
    (root / "memory/secret.md").write_text(f"# Secret\n\n{CANARY} on a branch of the person's own\n")
    (root / "memory/MEMORY.md").write_text(f"{CANARY} as an overview\n")
    git(root, "add", ".")
    git(root, *ANN, "commit", "-qm", "secret")
    git(root, *ANN, "tag", "-m", "a tag", "signed", "secret")
    git(root, "checkout", "-q", "main")
    (root / "memory/entries/dog.md").write_text(f"{CANARY} stashed\n")
    git(root, *ANN, "stash")
    blob = stored(root, f"{CANARY} dangling\n")
    git(root, "tag", "blob", blob)
    subprocess.run(["git", "init", "-q", other], check=True)
    borrowed = stored(other, f"{CANARY} of another repository\n")
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    ids = [blob, borrowed, *git(root, "rev-list", "--objects", "--no-object-names", "secret", "stash", "^main").split()]
    ids += git(root, "rev-parse", "HEAD:private/taxes.txt", "HEAD:private", "signed").split()
    if profile == "groups":
        with Memory(root, is_person=True, profile=given) as memory:
            memory.write_overview(f"- The safe code is {CANARY}.")
        ids += git(root, "rev-parse", "HEAD:memory/MEMORY.md").split()
    else:
        with Memory(root, agent="painter", profile=given) as painter:
            proposal = proposals.propose_identity(
                painter, f"# Me\n\n{CANARY} as painter has it\n", f"{CANARY} is why"
            ).proposal
        ids += [proposal.id, *git(root, "rev-parse", f"{proposal.id}^{{tree}}").split()]
    prefixes = [oid[:digits] for oid in ids for digits in (4, 8, 12, 40)]
    refs = [ref for ref in git(root, "for-each-ref", "--format=%(refname)").split() if ref not in OURS]
    short = [ref.split("/", 2)[-1] for ref in refs]
    paths = ["secret:memory/secret.md", "HEAD:private/taxes.txt", "private/taxes.txt", "../private/taxes.txt"]
    odd = [
        "stash@{0}",
        "secret~0",
        "refs/stash^",
        "refs/../refs/heads/secret",
        "secret^{tree}",
        "../../other/.git/HEAD",
    ]
    return Ground(root, given if profile == "groups" else profile, (*prefixes, *refs, *short, *paths, *odd))


@pytest.fixture(scope="module", params=PROFILES)
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return planted(tmp_path_factory.mktemp("ground") / request.param, request.param)


@pytest.fixture(scope="module")
def crab(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return planted(tmp_path_factory.mktemp("crab") / "crab", "crab")


def usual(tool: Tool) -> dict[str, Any]:
    """Arguments with which a tool does something."""
    known = {"name": "Dog", "query": "dog", "section": "Voice"}
    types = {"integer": 1, "array": [], "boolean": False}
    properties = tool.input_schema["properties"]
    return {
        name: known.get(name, types.get(properties[name].get("type"), "memory/entries/dog.md"))
        for name in tool.input_schema.get("required", ())
    }


def texts_of(tool: Tool) -> list[str]:
    """The arguments of a tool that may be texts."""
    return [name for name, schema in tool.input_schema["properties"].items() if "string" in json.dumps(schema)]


def tools_of(memory: Memory) -> list[Tool]:
    """Every tool that the profile has, also those that only look."""
    more = () if "group" in memory.kind else samples.shared_tools()
    return memory.tools_named([*dict.fromkeys([*Toolbox(memory).usual, *more])])


def refuse_canary(memory: Memory, tool: str, arguments: dict[str, Any]) -> None:
    result = memory.call(tool, arguments, [tool])
    said = result.text + json.dumps(result.data)
    for word in map(str, arguments.values()):  # what it was told itself
        said = said.replace(word, "")
    assert CANARY not in said, f"{tool} {arguments}: {said}"


def test_no_tool_shows_an_agent_a_text_that_is_no_memory_whatever_revision_it_names(ground: Ground) -> None:
    asked = {"if_version", "as_of", "at", "since", "after", "path", "filePath", "filename"}
    tried = 0
    with ground.opened() as memory:
        for tool in tools_of(memory):
            for argument in asked.intersection(texts_of(tool)):
                for name in ground.names:
                    if argument == "if_version" or tool.annotations.read_only:
                        refuse_canary(memory, tool.name, {**usual(tool), argument: name})
                        tried += 1
    assert tried >= len(ground.names)


def test_no_tool_shows_it_wherever_such_a_name_is_put(ground: Ground) -> None:
    with ground.opened() as memory:
        tools = {tool.name: tool for tool in tools_of(memory) if texts_of(tool)}

        @settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
        @given(st.data())
        def check(data: st.DataObject) -> None:
            tool = tools[data.draw(st.sampled_from(sorted(tools)))]
            chosen = data.draw(st.sets(st.sampled_from(texts_of(tool)), min_size=1))
            names = {argument: data.draw(st.sampled_from(ground.names)) for argument in sorted(chosen)}
            lists = {name: [names[name]] for name in names if name in ("aliases", "tags")}
            refuse_canary(memory, tool.name, {**usual(tool), **names, **lists})

        check()


def test_the_answer_does_not_tell_whether_another_object_has_that_id(crab: Ground) -> None:
    with crab.opened() as memory:
        for tool, argument in (
            ("remember", "if_version"),
            ("memory", "if_version"),
            ("recall", "as_of"),
            ("get", "at"),
        ):
            [described] = memory.tools_named([tool])
            plain = {**usual(described), **({"content": "x"} if tool in ("remember", "memory") else {})}
            answers = {
                memory.call(tool, {**plain, argument: name}, [tool]).text.replace(name, "?")
                for name in (*crab.names, NOBODYS, NOBODYS[:4], "nobodys-branch")
            }
            assert len(answers) == 1, (tool, answers)


def test_the_commands_of_an_agent_read_no_other_branch_stash_or_proposal(crab: Ground) -> None:
    commands = (["recall", "canary", "--as-of"], ["show", "dog", "--as-of"], ["diff"], ["log", "-p", "--since"],
                ["list", "--as-of"], ["rollback", "--dry-run", "--to"], ["revert", "--dry-run"], ["digest", "--since"],
                ["prompt", "--as-of"], ["overview", "show", "--as-of"], ["blame"])  # fmt: skip
    revisions = ["secret", "refs/heads/secret", "signed", "stash", "blob", *(n for n in crab.names if len(n) == 8)]
    for command in commands:
        for name in revisions:
            done = typed("--dir", crab.root, "--agent", "mole", *command, name)
            assert CANARY not in done.output, (command, name, done.output)


def test_a_person_may_name_any_commit(crab: Ground) -> None:
    with Memory(crab.root, is_person=True) as person, crab.opened() as agent:
        assert CANARY in person.overview("secret").text
        assert CANARY in person.overview(git(crab.root, "rev-parse", "secret")[:12]).text
        with pytest.raises(NotFound):
            agent.overview("secret")
        with pytest.raises(NotFound):
            person.for_actor("mole", None).overview("secret")


def others(crab: Ground) -> list[str]:
    """What is no memory, by its branch or its id."""
    return ["secret", "signed", "stash", *(name for name in crab.names if len(name) == 40)]


def test_the_server_shows_no_other_branch_either(crab: Ground) -> None:
    async def served() -> str:
        async with connected(crab.root, "stdio", "auto", "--tools", "recall,get,log,remember") as client:
            said = []
            for name in others(crab):
                for tool, given in (
                    ("recall", {"query": "canary", "as_of": name}),
                    ("get", {"name": "dog", "at": name}),
                    ("remember", {"name": "Dog", "description": "d", "content": "c", "if_version": name}),
                ):
                    said.append(str(await client.call_tool(tool, given)))
            return "".join(said)

    assert CANARY not in anyio.run(served)


def test_commits_that_a_person_took_off_the_branch_stay_memory(memory: Memory) -> None:
    memory.remember("Dog", "d", "one")
    gone = memory.remember("Dog", "d", "two").commit or ""
    git(memory.root, "reset", "-q", "--hard", "HEAD~1")
    memory.remember("Cat", "c", "three")
    assert memory.get("Dog", gone[:8]).content == "two"
    assert memory.get("Dog", "HEAD").content == "one"


# Versions


@pytest.fixture
def dog(memory: Memory) -> Memory:
    memory.remember("Dog", "whose dog", "Luna")
    return memory


def test_a_stale_version_quotes_what_changed_since_that_version_of_the_same_file(dog: Memory) -> None:
    version = dog.get("Dog").version
    dog.remember("Dog", "whose dog", "Luna, ours")
    with pytest.raises(Stale) as told:
        dog.remember("Dog", "whose dog", "mine", if_version=version)
    assert "-Luna\n+Luna, ours\n" in told.value.diff


def test_a_version_from_before_a_file_was_moved_is_known(dog: Memory) -> None:
    version = dog.get("Dog").version
    dog.rename("Dog", "Hound")
    dog.remember("Hound", "whose dog", "Luna, ours")
    with pytest.raises(Stale) as told:
        dog.remember("Hound", "whose dog", "mine", if_version=version)
    assert "+Luna, ours" in told.value.diff


def test_a_version_of_another_entry_is_no_version_of_this_one(dog: Memory) -> None:
    dog.remember("Cat", "whose cat", "Mimi, a secret")
    version = dog.get("Cat").version
    dog.forget("Cat")
    with pytest.raises(Stale) as told:
        dog.remember("Dog", "whose dog", "mine", if_version=version)
    assert (told.value.diff, "Mimi" in str(told.value)) == ("", False)


def test_a_version_of_a_file_from_outside_memory_is_not_quoted_after_it_was_moved_in(dog: Memory) -> None:
    outside = dog.root / "private.txt"
    outside.write_text("line one\nline two\nline three\ntax number 4711\n")
    git(dog.root, "add", "private.txt")
    git(dog.root, *ANN, "commit", "-qm", "private")
    version = git(dog.root, "rev-parse", "HEAD:private.txt").strip()
    git(dog.root, "mv", "private.txt", "memory/entries/taxes.md")
    (dog.root / "memory/entries/taxes.md").write_text("line one\nline two\nline three\n")
    git(dog.root, *ANN, "commit", "-qam", "moved in, without the number")
    with pytest.raises(Stale) as told:
        dog.remember("taxes", "d", "mine", if_version=version)
    assert "tax number" not in told.value.diff
