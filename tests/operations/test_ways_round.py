"""No agent gets around a rule of `[review]`: each word of the vocabulary by each way to write, or why that is none.

A way is tried in a memory without a rule first: what it does there is what the table says that it can. Then in one with
the rule, where nothing of that may happen to what the rule guards.
"""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

from crabmem import CrabmemError, Memory
from crabmem.operations import adoption, files, history, keyvalue, proposals
from crabmem.operations.facts import rewrite_entry
from crabmem.sync.sync import name_remote, sync
from crabmem.text.entry import Fact
from crabmem.text.keys import DEFAULT_NAMESPACE, Key
from crabmem.tools.toolsets import toolset, toolsets
from crabmem.workspace import settings
from crabmem.workspace.settings import TAGGED, WAITS
from crabmem.write.bylines import Bylines, bylines_for
from tests import adapters, samples
from tests.conftest import assert_clean, git, typed

SOUL, OVERVIEW, SETTINGS = "Crab.md", "memory/MEMORY.md", "crabmem.toml"
VET, WIFI = "memory/entries/luna-s-vet.md", "memory/entries/wifi.md"
FILES = (SOUL, OVERVIEW, SETTINGS, VET, WIFI)
#: Facts beside these that have the tag `person`; notes of days; all facts beside these.
TAGGED_ANEW, NOTES, ANEW = "new facts with the tag", "notes", "new facts"
PARTS = (*FILES, TAGGED_ANEW, ANEW, NOTES)
FACTS = {VET: ("Luna's vet", ("person",)), WIFI: ("Wifi", ("home",))}
OTHER = "---\nname: Luna's vet\ndescription: other\n---\n\nOther.\n"

#: What each word of the vocabulary keeps agents from. The settings are a person's by each.
WORDS: Mapping[str, tuple[str, ...]] = {
    "soul": (SOUL,),
    "overview": (OVERVIEW,),
    "entries": (VET, WIFI, ANEW),
    f"{TAGGED}person": (VET, TAGGED_ANEW),
    "everything": (SOUL, OVERVIEW, VET, WIFI, ANEW, NOTES),
    "human-lines": (SOUL, OVERVIEW, VET, WIFI),
    "all-lines": (SOUL, OVERVIEW, VET, WIFI),
}


_LETS = "soul_editable = true\n[sync]\ntool = true\n"


def rule_of(word: str) -> str:
    """The settings that say the word; "" for those that say none."""
    said = f'wait = ["{word}"]' if word not in _protecting() else f'protect = "{word}"'
    return f"{_LETS}[review]\n{said if word else ''}\n"


def _protecting() -> tuple[str, ...]:
    return tuple(each for each in get_args(_hint("protect")) if each != "off")


def _hint(name: str) -> Any:
    names = {**vars(settings), "Literal": Literal}
    return eval(settings.Review.__annotations__[name].partition("Annotated[")[2].partition("],")[0] + "]", names)


# Ways


@dataclass(frozen=True)
class Way:
    """A way to write: what an agent does with a memory, and why it `cannot` reach what it does not.

    `is_elsewhere`: on another machine, before it has the rule. `only_adds`: no line goes by it.
    """

    do: Callable[[Memory], object]
    cannot: Mapping[str, str] = field(default_factory=dict)
    is_elsewhere: bool = False
    only_adds: bool = False


def _but(why: str, *reached: str) -> dict[str, str]:
    return {part: why for part in PARTS if part not in reached}


def each(do: Callable[[str, tuple[str, ...]], object]) -> None:
    """Do something with each of the facts, whatever becomes of the others."""
    for name, tags in FACTS.values():
        with suppress(CrabmemError):
            do(name, tags)


def remember(memory: Memory) -> None:
    each(lambda name, tags: memory.remember(name, "other", "Other.", tags=()))


def remember_anew(memory: Memory) -> None:
    memory.remember("Ann", "who", "A friend.", tags=["Person"])


def forget(memory: Memory) -> None:
    each(lambda name, tags: memory.forget(name))


def rename(memory: Memory) -> None:
    each(lambda name, tags: memory.rename(name, f"{name} of old"))


def whole_files(memory: Memory) -> None:
    for write in (memory.write_overview, memory.write_identity):
        with suppress(CrabmemError):
            write("# Other\n")


def entry_files(memory: Memory) -> None:
    each(lambda name, tags: rewrite_entry(memory, name, OTHER.replace("Luna's vet", name)))


def below(path: str) -> str:
    return path.removeprefix("memory/")


def _said(changes: Mapping[str, str | None], tree: object) -> Mapping[str, str | None]:
    return changes


def tree_writes(memory: Memory) -> None:
    for path in (OVERVIEW, VET, WIFI):
        files.rewrite(memory, "all", partial(_said, {below(path): "Other.\n"}))


def tree_removes(memory: Memory) -> None:
    for path in (VET, WIFI):
        files.rewrite(memory, "away", partial(_said, {below(path): None}), even_if_many=True)


def tree_moves(memory: Memory) -> None:
    for path in (VET, WIFI):
        files.rewrite(memory, "move", partial(_said, {below(path): None, f"x/{below(path)}": "Other.\n"}))


def tree_moves_out(memory: Memory) -> None:
    for path in (VET, WIFI):
        text = memory.file(path).read_text()
        files.rewrite(memory, "move", partial(_said, {below(path): None, f"x/{Path(path).name}": text}))


def import_facts(memory: Memory) -> None:
    memory.remember_all([Fact(name, "other", "Other.", tags=()) for name, _ in FACTS.values()], "elsewhere")


def keep(memory: Memory) -> None:
    each(lambda name, tags: keyvalue.keep(memory, {Key(DEFAULT_NAMESPACE, name): Fact(name, "o", "Other.")}))


def remove_keys(memory: Memory) -> None:
    each(lambda name, tags: keyvalue.keep(memory, {Key(DEFAULT_NAMESPACE, name): None}))


def roll_back(memory: Memory) -> None:
    memory.rollback(to="HEAD~3")


def roll_back_rule(memory: Memory) -> None:
    memory.rollback(to=memory.log(limit=7)[-1].commit)


def roll_back_one(memory: Memory) -> None:
    each(lambda name, tags: memory.rollback(to=[*history.commits(memory, name)][-1].commit, name=name))


def revert(memory: Memory) -> None:
    for commit in memory.log(limit=8):
        with suppress(CrabmemError):
            memory.revert(commit.commit, take="theirs", even_if_many=True)


def undo(memory: Memory) -> None:
    for _ in range(6):
        with suppress(CrabmemError):
            memory.undo(even_if_many=True)


def note(memory: Memory) -> None:
    memory.write_note("Other.")


def host_writes(memory: Memory) -> None:
    for path in FILES:
        memory.file(path).write_text("" if path == SETTINGS else "Other.\n")
    adoption.adopt_written(memory, [str(memory.file(path)) for path in FILES])


def host_writes_and_says_so_later(memory: Memory) -> None:
    for path in FILES:
        memory.file(path).write_text("" if path == SETTINGS else "Other.\n")
    Bylines(memory.root / ".git/crabmem/bylines").add(bylines_for(memory.root, FILES, "coder", "s-1"))
    with Memory(memory.root, is_person=True) as person:
        person.adopt()


def host_writes_as_its_hook_tells(memory: Memory) -> None:
    for path in FILES:
        memory.file(path).write_text("" if path == SETTINGS else "Other.\n")
        said = {"hook_event_name": "PostToolUse", "session_id": "s-1", "tool_name": "Write", "cwd": str(memory.root)}
        told = json.dumps({**said, "tool_input": {"file_path": str(memory.file(path))}})
        said_to(memory, "hook", "wrote", "--host", "claude-code", told=told)


def host_makes_new_files(memory: Memory) -> None:
    new = memory.file("memory/entries/ann.md")
    new.write_text("---\nname: Ann\ndescription: who\ntags: [person]\n---\n\nA friend.\n")
    day = memory.file("memory/1999-01-01.md")
    day.write_text("# A day\n")
    adoption.adopt_written(memory, [str(new), str(day)])


def host_removes(memory: Memory) -> None:
    memory.file(VET).unlink()
    adoption.adopt_written(memory, [str(memory.file(VET))])


def said_to(memory: Memory, *words: str, told: str = "") -> str:
    """What a verb of the command line says to the agent."""
    done = typed("--dir", memory.root, "--agent", "coder", "--session", "s-1", *words, stdin=told)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert done.exit_code != 2, done.output
    return done.output


def types(*words: str) -> Callable[[Memory], object]:
    """A way: a verb with words, in which FACT stands for the name of each fact."""

    def do(memory: Memory) -> None:
        for name in [name for name, _ in FACTS.values()] if any("FACT" in word for word in words) else [""]:
            said_to(memory, *words[0].split(), *(word.replace("FACT", name) for word in words[1:]))

    return do


def imports_a_folder(memory: Memory) -> None:
    folder = memory.root.parent / "imported"
    (folder / "person").mkdir(parents=True)
    for name, _ in FACTS.values():
        (folder / f"{name}.md").write_text(OTHER.replace("Luna's vet", name))
    said_to(memory, "import", str(folder), "--replace")


def decides(*words: str) -> Callable[[Memory], object]:
    """A way: to write what waits, and to decide on it oneself."""

    def do(memory: Memory) -> None:
        remember(memory)
        whole_files(memory)
        remember_anew(memory)
        for waits in proposals.proposals(memory):
            with suppress(CrabmemError):
                proposals.apply_proposal(memory, waits.id)
            said_to(memory, *(word.replace("PROPOSAL", waits.id) for word in words))

    return do


def calls(tool: str, *arguments: Mapping[str, object]) -> Callable[[Memory], object]:
    """A way: a tool, whatever profile offers it."""

    def do(memory: Memory) -> None:
        home = next(home for home in toolsets() if tool in [item.name for item in toolset(home)])
        profile = home if home in ("camel", "claw", "harness", "legion") else "crab"
        with Memory(memory.root, agent="coder", session="s-1", profile=profile) as family:
            for given in arguments:
                family.call(tool, given, [tool])

    return do


FACT_CALLS = [{"name": name, "description": "other", "content": "Other."} for name, _ in FACTS.values()]
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("remember", given) for given in FACT_CALLS),
    ("forget", {"name": "Luna's vet"}),
    ("memory", {"content": "# Other"}),
    ("soul", {"content": "# Other"}),
]


def through_mcp(memory: Memory) -> None:
    from tests.serving import command, piped

    with piped(command(memory.root, options=["--agent", "coder"])) as wire:
        for name, given in CALLS:
            seen = {"if_version": memory.call("memory", {}).data["version"]} if name == "memory" else {}
            wire.call(name, **given, **seen)
        wire.end()


def through_claudes_sdk(memory: Memory) -> None:
    from claude_agent_sdk import SdkMcpTool

    from crabmem.adapters.claude_agent import ClaudeMemory

    helper = ClaudeMemory(memory)
    for name, given in CALLS:
        [tool] = memory.tools_named([name])
        offered: SdkMcpTool[Any] = helper._offered(tool)
        answer: Any = offered.handler(given)
        asyncio.run(answer)
    for path in FILES:
        memory.file(path).write_text("" if path == SETTINGS else "Other.\n")
        told: Any = {"hook_event_name": "PostToolUse", "session_id": "s-1", "cwd": "/", "tool_name": "Write"}
        hook: Any = helper.hooks["PostToolUse"][0].hooks[0]
        asyncio.run(hook({**told, "tool_input": {"file_path": str(memory.file(path))}}, None, {"signal": None}))


def through_langchain(memory: Memory) -> None:
    from crabmem.adapters.langchain import tools

    made = {tool.name: tool for tool in tools(memory)}
    for name, given in CALLS:
        made[name].invoke({"name": name, "args": given, "id": "1", "type": "tool_call"})


def through_langgraph(memory: Memory) -> None:
    from crabmem.adapters.langgraph import Store

    for name, _ in FACTS.values():
        Store(memory).put(DEFAULT_NAMESPACE, name, {"content": "Other."})
    Store(memory).delete(DEFAULT_NAMESPACE, "Luna's vet")


def through_openais_sdk(memory: Memory) -> None:
    from crabmem.adapters.openai_agents import AgentMemory

    made: Any = {tool.name: tool for tool in AgentMemory(memory).tools}
    for name, given in CALLS:
        asyncio.run(made[name].on_invoke_tool(None, json.dumps(given)))


def through_pydantic_ai(memory: Memory) -> None:
    from crabmem.adapters.pydantic_ai import MemoryToolset

    nothing: Any = None
    for name, given in CALLS:
        asyncio.run(MemoryToolset(memory).call_tool(name, given, nothing, nothing))


def through_hermes(memory: Memory) -> None:
    from crabmem.adapters.hermes import HermesMemory

    for name, given in CALLS:
        HermesMemory(memory).handle_tool_call(name, given)


def through_llama_index(memory: Memory) -> None:
    from llama_index.core.base.llms.types import ChatMessage

    from crabmem.adapters.llama_index import MemoryBlock

    asyncio.run(MemoryBlock(memory=memory).aput([ChatMessage(role="user", content="Other.")]))


def through_claudes_memory_tool(memory: Memory) -> None:
    from crabmem.adapters.anthropic import MemoryTool

    tool = MemoryTool(memory)
    for path in (OVERVIEW, VET, WIFI):
        tool.call(
            {"command": "str_replace", "path": f"/memories/{below(path)}", "old_str": "Second.", "new_str": "Other."}
        )
    tool.call({"command": "rename", "old_path": f"/memories/{below(VET)}", "new_path": "/memories/entries/x.md"})
    tool.call({"command": "delete", "path": f"/memories/{below(WIFI)}"})


def elsewhere(
    write: Callable[[Memory], object], who: str | None = "coder", is_joined_there: bool = False, by_tool: bool = False
) -> Callable[[Memory], object]:
    """A way: to write on another machine that does not have the rule yet, and to sync in what it wrote.

    The machine that has the rule joins both, or with `is_joined_there` the other one. With `by_tool` an agent syncs.
    """

    def do(memory: Memory) -> None:
        root, hub = memory.root, str(memory.root.parent / "hub.git")
        other = Path(shutil.copytree(root, root.parent / "elsewhere", symlinks=True))
        git(other, "reset", "--hard", "--quiet", "HEAD~1")
        with Memory(root, is_person=True) as here, Memory(other, is_person=True) as there:
            for person in (here, there):
                name_remote(person, hub, "/")
            if is_joined_there:
                sync(here)
            with Memory(other, agent=who, session="s-2" if who else None) as agent:
                write(agent)
            for person in (there,) if by_tool else (there, here):
                sync(person, is_expected=True, even_if_many=True)
        if by_tool:
            answer = memory.call("sync", {})
            assert not answer.is_error, answer.text
        assert_clean(other)

    return do


# Why a way is none to some part of memory

_FACTS = _but("it is about facts", VET, WIFI)
_MOVED = _but("it is about facts and what leads to them", VET, WIFI, OVERVIEW, ANEW, TAGGED_ANEW)
_BACK = _but("no agent takes back the identity or the settings; the rest was not there twice", OVERVIEW, VET, WIFI)
_BELOW = _but("its tools see what is below memory/; notes and new facts are by other ways", OVERVIEW, VET, WIFI)
_NEW = _but("it is a new fact", ANEW, TAGGED_ANEW)
_WHOLE = _but("it is these two files", SOUL, OVERVIEW)
_NOTE = _but("it adds to the note of the day", NOTES)
_CALLED = _but("no tool writes the settings; notes and new facts are by other ways", SOUL, OVERVIEW, VET, WIFI)
_HOSTS = _but("its files are those that are there; for new ones see another way", *FILES)
_DECIDED = _but("what it decides on are these; notes are by another way", *PARTS[:-1])
_DECIDED |= {SETTINGS: "nothing of it waits where there is no rule", NOTES: "it writes none"}

_VET = {"name": "Luna's vet"}
#: Each tool that writes, with what it is called with.
TOOLS: Mapping[str, tuple[list[dict[str, Any]], Mapping[str, str]]] = {
    "remember": (FACT_CALLS, _FACTS),
    "forget": ([_VET], _but("it is this fact", VET)),
    "confirm": ([{**_VET, "until": "2099-12-31"}], _but("it is this fact", VET)),
    "memory": ([{"content": "# Other"}], _but("it is the overview", OVERVIEW)),
    "soul": ([{"content": "# Other"}], _but("it is the identity", SOUL)),
    "note": ([{"text": "Other."}], _NOTE),
    "memory_write": ([{"filename": below(path), "content": "Other.\n"} for path in (OVERVIEW, VET, WIFI)], _BELOW),
    "memory_replace": (
        [{"filename": below(path), "old_str": "Second.", "new_str": "Other."} for path in (OVERVIEW, VET, WIFI)],
        _BELOW,
    ),
    "memory_insert": (
        [{"filename": below(path), "line": 3, "text": "Other."} for path in (OVERVIEW, VET, WIFI)],
        _BELOW,
    ),
    "memory_save": (
        [{"content": "Ann is a friend.", "category": "person"}],
        _but("it is a new fact, and what the note of the day says", ANEW, TAGGED_ANEW, NOTES),
    ),
}
#: Each tool that writes nothing of memory, and why.
NO_WAYS_OF_TOOLS = {
    "prompt_propose": "what it proposes waits by every setting",
    "sync": "it brings what others wrote: see the ways from elsewhere",
}
#: Each verb that writes, with what is typed.
VERBS: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("remember", "FACT", "-d", "other", "-c", "Other."): _FACTS,
    ("forget", "FACT"): _FACTS,
    ("rename", "FACT", "FACT of old"): _MOVED,
    ("confirm", "FACT"): _FACTS,
    ("edit", "FACT"): _FACTS,
    ("overview set", "-c", "# Other"): _but("it is the overview", OVERVIEW),
    ("overview edit",): _but("it is the overview", OVERVIEW),
    ("identity set", "-c", "# Other"): _but("it is the identity", SOUL),
    ("identity edit",): _but("it is the identity", SOUL),
    ("note", "Other."): _NOTE,
    ("learn error", "exec", "exit 1"): _NOTE,
    ("learn correction", "No, in May."): _NOTE,
    ("learn win", "Asking first."): _NOTE,
    ("restore", "--to", "HEAD~3"): _BACK,
    ("undo", "HEAD~1"): _but("it is this fact", VET),
    ("call", "remember", json.dumps(FACT_CALLS[0])): _but("it is this fact", VET),
}
#: Each verb that does something beside looking and is no way, and why.
NO_WAYS_OF_VERBS = {
    "import": "a way of its own: import of a folder",
    "move": "it is refused where anything may have to wait, on either side: see `test_scopes.py`",
}

WAYS: Mapping[str, Way] = {
    "remember": Way(remember, _FACTS),
    "remember anew": Way(remember_anew, _NEW),
    "forget": Way(forget, _FACTS),
    "rename": Way(rename, _MOVED),
    "whole files": Way(whole_files, _WHOLE),
    "entry files": Way(entry_files, _FACTS),
    "tree writes": Way(tree_writes, _BELOW),
    "tree removes": Way(tree_removes, _FACTS),
    "tree moves": Way(tree_moves, _but("it is about facts, which have no tag then", VET, WIFI, ANEW)),
    "tree moves out": Way(tree_moves_out, _but("it is about facts, which are none then", VET, WIFI, NOTES)),
    "import": Way(import_facts, _FACTS),
    "keep": Way(keep, _FACTS),
    "remove keys": Way(remove_keys, _FACTS),
    "rollback": Way(roll_back, _BACK),
    "rollback to before the rule": Way(roll_back_rule, _but("it is refused whole, for it takes back the settings")),
    "rollback of a fact": Way(roll_back_one, _FACTS),
    "revert": Way(revert, _BACK),
    "undo": Way(undo, _BACK),
    "note": Way(note, _NOTE),
    "host writes": Way(host_writes, _HOSTS),
    "host writes, and says so later": Way(host_writes_and_says_so_later, _HOSTS),
    "host writes, and its hook tells": Way(host_writes_as_its_hook_tells, _HOSTS),
    "host makes new files": Way(host_makes_new_files, _but("they are new", ANEW, TAGGED_ANEW, NOTES)),
    "host removes": Way(host_removes, _but("it is this fact", VET)),
    "import of a folder": Way(imports_a_folder, _FACTS),
    "an agent decides: apply": Way(decides("review", "apply", "PROPOSAL"), _DECIDED),
    "an agent decides: apply --all": Way(decides("review", "apply", "--all", "--yes"), _DECIDED),
    "an agent decides: review": Way(decides("review", "--yes"), _DECIDED),
    "an agent decides: resolve": Way(decides("review", "resolve", "PROPOSAL", "--theirs"), _DECIDED),
    "MCP": Way(through_mcp, _CALLED),
    "claude_agent": Way(through_claudes_sdk, _HOSTS),
    "langchain": Way(through_langchain, _CALLED),
    "langgraph": Way(through_langgraph, _FACTS),
    "openai_agents": Way(through_openais_sdk, _CALLED),
    "pydantic_ai": Way(through_pydantic_ai, _CALLED),
    "llama_index": Way(through_llama_index, _NOTE),
    "hermes": Way(through_hermes, _but("`memory` is Hermes' own; no tool writes settings", SOUL, VET, WIFI)),
    "anthropic": Way(through_claudes_memory_tool, _MOVED),
    "elsewhere: remember": Way(elsewhere(remember), _FACTS, is_elsewhere=True),
    "elsewhere: remember anew": Way(elsewhere(remember_anew), _NEW, is_elsewhere=True),
    "elsewhere: whole files": Way(elsewhere(whole_files), _WHOLE, is_elsewhere=True),
    "elsewhere: forget": Way(elsewhere(forget), _FACTS, is_elsewhere=True),
    "elsewhere: rename": Way(elsewhere(rename), _MOVED, is_elsewhere=True),
    "elsewhere: note": Way(elsewhere(note), _NOTE, is_elsewhere=True),
    "elsewhere: host writes": Way(elsewhere(host_writes), _BELOW, is_elsewhere=True),
    "elsewhere: a program without a name": Way(elsewhere(roll_back, None), _BACK, is_elsewhere=True),
    "joined elsewhere: remember": Way(elsewhere(remember, is_joined_there=True), _FACTS, is_elsewhere=True),
    "joined elsewhere: rename": Way(elsewhere(rename, is_joined_there=True), _MOVED, is_elsewhere=True),
    "synced by an agent": Way(elsewhere(remember, is_joined_there=True, by_tool=True), _FACTS, is_elsewhere=True),
    **{
        f"tool {name}": Way(calls(name, *given), cannot, only_adds=name in ("memory_insert", "confirm"))
        for name, (given, cannot) in TOOLS.items()
    },
    **{
        f"crabmem {words[0]}": Way(types(*words), cannot, only_adds=words[0] == "confirm")
        for words, cannot in VERBS.items()
    },
}


#: Ways of which not all is a proposal then: an undo takes back the newest commit, again, while that waits; what goes
#: elsewhere stays here, and nobody is asked.
IN_PART = {"undo", "elsewhere: forget", "elsewhere: rename", "joined elsewhere: rename"}
#: Ways that change each file by itself, so that what nothing guards goes on.
ONE_BY_ONE = {
    "remember", "whole files", "entry files", "tree writes", "import", "keep", "host writes", "MCP", "claude_agent",
    "hermes", "langchain", "langgraph", "openai_agents", "pydantic_ai", "elsewhere: remember", "elsewhere: whole files",
    "crabmem remember", "crabmem edit", "import of a folder",
}  # fmt: skip

# Memory as it is before, and what of it is another after


@pytest.fixture(autouse=True)
def editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What verbs open changes a word of each file."""
    monkeypatch.setenv("EDITOR", "sed -i s/Second/Other/")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Path]:
    """Makes a memory in which a person wrote each file twice; the rule came before the second time, or as the last."""

    @cache
    def made(word: str, is_last: bool) -> Path:
        root = tmp_path_factory.mktemp("written") / "memory"
        with Memory(root, is_person=True) as memory:
            memory.init()
            memory.file(SETTINGS).write_text(_LETS)
            for number, text in enumerate(("First.", "Second.")):
                if number and not is_last:
                    memory.file(SETTINGS).write_text(rule_of(word))
                memory.file(SOUL).write_text(f"# I\n\nA crab.\n{text}\n")
                memory.write_overview(f"# Overview\n\n[[Luna's vet]]\n{text}\n")
                for name, tags in FACTS.values():
                    memory.remember(name, f"about {name}", f"It is so.\n{text}", tags=tags)
            memory.file(SETTINGS).write_text(rule_of(word))
            memory.adopt()
        return root

    return made


@pytest.fixture
def ruled(written: Callable[[str, bool], Path], tmp_path: Path) -> Iterator[Callable[[str, bool], Path]]:
    """Makes a copy of it; its history must end up clean."""
    made: list[Path] = []

    def copied(word: str, is_last: bool = False) -> Path:
        root = tmp_path / f"memory-{len(made)}" / "memory"
        made.append(Path(shutil.copytree(written(word, is_last), root, symlinks=True)))
        return made[-1]

    yield copied
    for root in made:
        assert_clean(root)


def state(root: Path) -> dict[str, bytes | None]:
    """What each part of memory says."""
    own = {path: (root / path).read_bytes() if (root / path).exists() else None for path in FILES}
    others = [path for path in sorted(root.rglob("*.md")) if path.relative_to(root).as_posix() not in own]
    facts = [path.read_bytes() for path in others if path.parent.name == "entries"]
    return {
        **own,
        ANEW: b"".join(facts),
        TAGGED_ANEW: b"".join(text for text in facts if b"person" in text.lower()),
        NOTES: b"".join(path.read_bytes() for path in others if path.parent.name != "entries"),
    }


def touched(root: Path, way: Way) -> set[str]:
    """Which parts of memory a way of writing changes."""
    before = state(root)
    with Memory(root, agent="coder", session="s-1") as memory, suppress(CrabmemError):
        way.do(memory)
    after = state(root)
    return {part for part in PARTS if after[part] != before[part]}


def lost(word: str, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> object:
    """What of that which the word guards is not as it was; where lines are protected, which are in no file any more,
    those of facts in no fact."""
    if word not in _protecting():
        return [part for part in guarded(word) if after[part] != before[part]]
    kept = (SOUL, OVERVIEW), (VET, WIFI, ANEW)
    lines = [
        Counter(b"\n".join(said[part] or b"" for part in parts).splitlines())
        for said in (before, after)
        for parts in kept
    ]
    return [
        *(lines[0] - lines[2]),
        *(lines[1] - lines[3]),
        *([SETTINGS] if after[SETTINGS] != before[SETTINGS] else []),
    ]


def guarded(word: str) -> tuple[str, ...]:
    return (*WORDS[word], SETTINGS)


def why_not(word: str, way: Way) -> str:
    """Why a way reaches nothing that a word guards; "" where it does."""
    if all(part in way.cannot for part in guarded(word)):
        return way.cannot[guarded(word)[0]]
    return "it only adds lines" if way.only_adds and word in _protecting() else ""


def _needs_sdk(name: str) -> None:
    if name == "hermes":
        pytest.importorskip("agent.memory_manager", reason="needs `pip install --no-deps hermes-agent`")
    elif name in ADAPTERS and adapters.lacking():
        pytest.skip(f"needs SDKs: {adapters.INSTALL}")


ADAPTERS = {path.stem for path in (Path(settings.__file__).parents[1] / "adapters").iterdir()} - {
    "__init__",
    "__pycache__",
}
PAIRS = [(word, name) for word in WORDS for name, way in WAYS.items() if not why_not(word, way)]


@pytest.mark.parametrize("name", WAYS)
def test_a_way_reaches_without_a_rule_what_it_is_said_to_reach(ruled: Callable[[str, bool], Path], name: str) -> None:
    _needs_sdk(name)
    way = WAYS[name]
    done = touched(ruled("", way.is_elsewhere), way)
    assert done == {*PARTS} - {*way.cannot}


@pytest.mark.parametrize(("word", "name"), PAIRS)
def test_no_agent_gets_around_a_rule(ruled: Callable[[str, bool], Path], word: str, name: str) -> None:
    _needs_sdk(name)
    way = WAYS[name]
    root = ruled(word, way.is_elsewhere)
    before = state(root)
    done = touched(root, way)
    after = state(root)
    assert lost(word, before, after) == []
    for path in FILES:
        said = git(root, "show", f"HEAD:{path}").encode() if after[path] is not None else None
        assert said == after[path]
    wanted = {*PARTS} - {*way.cannot}
    if name not in IN_PART:
        with Memory(root, is_person=True) as person:
            waiting = {file.path for each in proposals.proposals(person) for file in each.files}
        assert wanted & {*guarded(word)} & {*FILES} <= waiting
    if name in ONE_BY_ONE:
        assert done - {*guarded(word)} == wanted - {*guarded(word)}


@pytest.mark.parametrize("word", WORDS)
def test_a_program_that_does_not_say_who_it_is_is_an_agent_by_every_rule(
    ruled: Callable[[str, bool], Path], word: str
) -> None:
    root = ruled(word, False)
    before = state(root)
    with Memory(root) as memory:
        for way in (remember, remember_anew, whole_files, roll_back):
            with suppress(CrabmemError):
                way(memory)
    assert lost(word, before, state(root)) == []


@pytest.mark.parametrize("word", WORDS)
def test_a_person_writes_whatever_the_rule(ruled: Callable[[str, bool], Path], word: str) -> None:
    root = ruled(word, False)
    with Memory(root, is_person=True) as person:
        whole_files(person)
        remember(person)
        assert proposals.proposals(person) == []
    assert "Other." in (root / VET).read_text() and "Other" in (root / SOUL).read_text()


def test_each_word_of_the_vocabulary_is_in_the_table() -> None:
    assert {*WORDS} == {*WAITS, f"{TAGGED}person", *_protecting()}


def test_each_way_is_tried_by_each_word_or_says_why_it_is_none() -> None:
    for word in WORDS:
        for name, way in WAYS.items():
            assert ((word, name) in PAIRS) != bool(why_not(word, way)), (word, name)


def test_each_tool_each_verb_and_each_adapter_that_writes_is_a_way() -> None:
    tools = {item.name for home in toolsets() for item in toolset(home) if not item.hints.read_only}
    assert tools == {*TOOLS, *NO_WAYS_OF_TOOLS}
    verbs = {verb for verb in samples.verbs() if samples.verb(verb).does == "writes"}
    assert verbs == {words[0] for words in VERBS} - {"call"} | {*NO_WAYS_OF_VERBS}
    assert {*WAYS} >= ADAPTERS
