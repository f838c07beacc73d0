"""The memory provider of Hermes Agent, in the hands of Hermes' own manager: `pip install --no-deps hermes-agent`.

Hermes pins what it needs to single versions, so that nothing else fits beside it.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crabmem import Memory

memory_manager = pytest.importorskip("agent.memory_manager")

from agent.memory_provider import MemoryProvider  # noqa: E402

from crabmem.adapters.hermes import HermesMemory, register  # noqa: E402


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "notes", agent="hermes") as memory:
        memory.remember("Luna's vet", "who looks after the dog Luna", "Dr. Moreno, every Thursday.")
        memory.write_overview("# Overview\n\nThe cart is named Marabou.\n")
        yield memory


@pytest.fixture
def manager(memory: Memory) -> Iterator[Any]:
    """Hermes' manager with our provider, in a session that has begun."""
    manager = memory_manager.MemoryManager()
    manager.add_provider(HermesMemory(memory))
    manager.initialize_all(session_id="s-1", platform="cli", hermes_home="/nowhere", agent_context="primary")
    yield manager
    manager.shutdown_all()


def test_it_is_a_provider_that_overrides_only_what_hermes_calls(memory: Memory) -> None:
    own = {name for name in vars(HermesMemory) if not name.startswith("_")}
    assert own <= {name for name in dir(MemoryProvider) if not name.startswith("_")}
    assert HermesMemory(memory).is_available()


def test_hermes_takes_the_provider_that_registers(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        def register_memory_provider(self, provider: MemoryProvider) -> None:
            self.provider = provider

    monkeypatch.setenv("CRABMEM_DIR", str(memory.root))
    register(context := Context())
    assert isinstance(context.provider, MemoryProvider) and context.provider.name == "crabmem"
    assert context.provider.backup_paths() == [str(memory.root)]
    context.provider.shutdown()


def test_the_model_is_told_who_it_is_what_there_is_and_of_each_tool_that_it_has(manager: Any) -> None:
    prompt, schemas = manager.build_system_prompt(), manager.get_all_tool_schemas()
    names = [schema["name"] for schema in schemas]
    assert names == ["remember", "forget", "recall"]  # `memory` is a tool of Hermes' own
    assert "Marabou" in prompt and "`remember`, `forget`, `recall`." in prompt
    assert all(schema["parameters"]["type"] == "object" and schema["description"] for schema in schemas)


def test_what_bears_on_a_message_is_said_once_in_a_session(manager: Any) -> None:
    asked = "who looks after our dog Luna?"
    assert "Dr. Moreno" in manager.prefetch_all(asked, session_id="s-1")
    assert manager.prefetch_all(asked, session_id="s-1") == ""
    assert "Dr. Moreno" in manager.prefetch_all(asked, session_id="s-2")


def test_a_tool_answers_json_and_writes_in_the_session_that_hermes_names(manager: Any, memory: Memory) -> None:
    fact = {"name": "Release day", "description": "when we release", "content": "On Fridays."}
    assert json.loads(manager.handle_tool_call("remember", fact)) == {"result": "remembered: Release day"}
    assert [memory.log()[0].agent, memory.log()[0].session] == ["hermes", "s-1"]
    assert "On Fridays." in json.loads(manager.handle_tool_call("recall", {"query": "release"}))["result"]
    assert "no fact called" in json.loads(manager.handle_tool_call("forget", {"name": "Nothing"}))["error"]
    manager.on_session_switch("s-2", parent_session_id="s-1", reset=True)
    assert json.loads(manager.handle_tool_call("forget", {"name": "Release day"})) == {"result": "forgot: Release day"}
    assert memory.log()[0].session == "s-2"


def test_edits_are_recorded_as_the_persons_when_a_session_ends(manager: Any, memory: Memory) -> None:
    file = memory.root / memory.get("Luna's vet").path
    file.write_text(file.read_text().replace("Thursday", "Friday"))
    manager.on_session_end([])
    deadline = time.monotonic() + 20
    while memory.log()[0].subject.startswith("memory:") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert memory.log()[0].subject == "edit: Luna's vet" and memory.log()[0].agent is None


@pytest.mark.parametrize(
    ("about", "kind"),
    [({"agent_context": "cron"}, "scheduled"), ({"chat_type": "group"}, "group"), ({"chat_type": "dm"}, "main")],
)
def test_a_session_is_of_the_kind_that_hermes_says(memory: Memory, about: dict[str, str], kind: str) -> None:
    provider = HermesMemory(memory)
    provider.initialize("s-1", hermes_home="/nowhere", platform="telegram", **about)
    assert provider._memory.kind == kind
