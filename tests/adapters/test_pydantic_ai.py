"""Pydantic AI's toolset over a memory: a real agent, its model behind a loopback API or written down here."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from crabmem import Memory
from crabmem.adapters.pydantic_ai import MemoryToolset
from tests.stub_api import Call, serving

VET = {"name": "Vet", "description": "who looks after the dog", "content": "Dr. Moreno, every Thursday afternoon."}


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """`run_sync` makes a loop that nobody closes, and a later test would hear of it; so there is one, which is."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


class Script:
    """A model that says what is written, and keeps what it was told."""

    def __init__(self, *replies: TextPart | ToolCallPart) -> None:
        self.replies = list(replies)
        self.seen: list[tuple[list[ModelMessage], AgentInfo]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.seen.append((messages, info))
        return ModelResponse([self.replies.pop(0)])

    @property
    def instructions(self) -> list[str]:
        """What each request was told before its messages."""
        return [info.instructions or "" for _, info in self.seen]


def test_an_agent_calls_the_tools_over_openais_api_and_is_told_how(memory: Memory) -> None:
    async def run(url: str) -> str:
        async with AsyncOpenAI(base_url=url, api_key="none") as client:
            model = OpenAIChatModel("any", provider=OpenAIProvider(openai_client=client))
            return (await Agent(model, toolsets=[MemoryToolset(memory)]).run("Who is the vet?")).output

    with serving(Call("remember", VET), Call("recall", {"query": "dog"}), "Dr. Moreno.") as api:
        assert asyncio.run(run(f"{api.url}/v1")) == "Dr. Moreno."
    first, _, last = api.requests
    offered = [tool["function"] for tool in first["tools"]]
    assert [tool["name"] for tool in offered] == [tool.name for tool in memory.tools]
    assert [tool["parameters"] for tool in offered] == [tool.input_schema for tool in memory.tools]
    assert memory.prompt() in first["messages"][0]["content"]
    assert "remembered: Vet" in str(last["messages"]) and VET["content"] in last["messages"][-1]["content"]
    assert (memory.log()[0].agent, memory.log()[0].session) == ("coder", "s-1")


def test_what_bears_on_the_prompt_is_told_in_every_request_of_every_run(memory: Memory) -> None:
    memory.remember(**VET)
    call = ToolCallPart("recall", {"query": "nothing"})
    script = Script(call, TextPart("one"), TextPart("two"), TextPart("three"))
    agent = Agent(FunctionModel(script), toolsets=[MemoryToolset(memory)])
    first = agent.run_sync("Who looks after the dog?")
    agent.run_sync(["Who looks after the dog?"], message_history=first.all_messages())
    agent.run_sync("Which colour is the sky?")
    assert [VET["content"] in told for told in script.instructions] == [True, True, True, False]


def test_recall_before_a_run_can_be_left_out(memory: Memory) -> None:
    memory.remember(**VET)
    script = Script(TextPart("one"))
    Agent(FunctionModel(script), toolsets=[MemoryToolset(memory, recalls=False)]).run_sync("Who looks after the dog?")
    assert script.instructions == [memory.prompt()]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [("forget", {"name": "Cat"}, "no fact called Cat"), ("recall", {"limit": 1}, "`query` is missing")],
)
def test_what_a_model_does_wrong_is_an_answer_it_can_read_as_often_as_it_does_it(
    memory: Memory, name: str, arguments: dict[str, Any], words: str
) -> None:
    script = Script(*(ToolCallPart(name, arguments) for _ in range(4)), TextPart("Sorry."))
    result = Agent(FunctionModel(script), toolsets=[MemoryToolset(memory)]).run_sync("Do it.")
    parts = [part for message in result.all_messages() if isinstance(message, ModelRequest) for part in message.parts]
    answers = [part for part in parts if isinstance(part, ToolReturnPart)]
    assert [part.outcome for part in answers] == ["failed"] * 4
    assert all(words in str(part.content) for part in answers) and result.output == "Sorry."


def test_data_of_a_call_are_its_metadata_and_calls_are_off_the_event_loop(memory: Memory) -> None:
    threads, real_call = set[int](), memory.call

    def call(name: str, arguments: Any) -> Any:
        threads.add(threading.get_ident())
        return real_call(name, arguments)

    memory.call = call  # type: ignore[method-assign, assignment]
    script = Script(ToolCallPart("remember", VET), TextPart("Done."))
    result = Agent(FunctionModel(script), toolsets=[MemoryToolset(memory)]).run_sync("Remember the vet.")
    [answer] = [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    assert answer.metadata["commit"] == memory.log()[0].commit
    assert threads and threading.get_ident() not in threads


def test_two_memories_serve_one_agent_under_names_of_their_own(memory: Memory) -> None:
    with Memory(memory.root / "agents" / "helper", agent="helper") as own:
        script = Script(ToolCallPart("team_remember", VET), ToolCallPart("own_remember", VET), TextPart("Done."))
        sets = [MemoryToolset(memory, name="team").prefixed("team"), MemoryToolset(own, name="own").prefixed("own")]
        Agent(FunctionModel(script), toolsets=sets).run_sync("Remember the vet.")
        assert [each.log()[0].agent for each in (memory, own)] == ["coder", "helper"]
