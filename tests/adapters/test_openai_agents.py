"""Memory in OpenAI's Agents SDK, through its own runner against a stub of the API."""

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, set_default_openai_client, set_tracing_disabled
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from openai import AsyncOpenAI

from crabmem import Memory
from crabmem.adapters.openai_agents import AgentMemory
from tests.stub_api import Api, Call, serving

VET = {"name": "Luna's vet", "description": "who looks after the dog Luna", "content": "Dr. Moreno."}


@pytest.fixture
def helper(memory: Memory) -> AgentMemory:
    set_tracing_disabled(True)
    return AgentMemory(memory)


def run(helper: AgentMemory, api: Api, message: Any, is_chat: bool = False) -> Any:
    """The result of a run whose model is the stub."""

    async def running() -> Any:
        async with AsyncOpenAI(base_url=api.environment["OPENAI_BASE_URL"], api_key="none") as client:
            set_default_openai_client(client, use_for_tracing=False)
            model: Any = OpenAIChatCompletionsModel("m", client) if is_chat else "m"
            agent = Agent(name="helper", model=model, instructions=helper.instructions("Be brief."), tools=helper.tools)
            return await Runner.run(agent, message, run_config=RunConfig(call_model_input_filter=helper.before_call))

    return asyncio.run(running())


@pytest.mark.parametrize("is_chat", [False, True])
def test_the_runner_calls_tools_and_the_model_reads_their_answers(
    memory: Memory, helper: AgentMemory, is_chat: bool
) -> None:
    with serving(Call("remember", VET), Call("forget", {"name": "nobody"}), "Noted.") as api:
        assert run(helper, api, "Our vet is Dr. Moreno.", is_chat).final_output == "Noted."
    said = json.dumps(api.requests[-1])
    assert "remembered: Luna's vet" in said and "no fact called nobody" in said
    commit = memory.log(1)[0]
    assert (commit.tool, commit.agent, commit.session) == ("remember", "coder", "s-1")


def test_tools_are_sent_with_the_schemas_that_memory_has(memory: Memory, helper: AgentMemory) -> None:
    with serving("Hello.") as api:
        run(helper, api, "Hello")
    sent = {tool["name"]: tool for tool in api.requests[0]["tools"]}
    assert {name: tool["parameters"] for name, tool in sent.items()} == {
        tool.name: tool.input_schema for tool in memory.tools
    }
    assert not any(tool["strict"] for tool in sent.values())


def test_instructions_are_the_agents_own_and_memory_as_it_is_at_that_moment(
    memory: Memory, helper: AgentMemory
) -> None:
    with serving(Call("memory", {"content": "# Luna is a dog"}), "Noted.", "Hello.") as api:
        run(helper, api, "Luna is a dog")
        run(helper, api, "Hello")
    first, *_, last = (request["instructions"] for request in api.requests)
    assert first.startswith("Be brief.\n\n# Who I am") and "Luna is a dog" not in first
    assert "<memory>\n# Luna is a dog\n</memory>" in last and last.endswith(memory.prompt()[-100:])


def test_what_bears_on_a_message_stands_before_it_in_every_call_of_its_turn(
    memory: Memory, helper: AgentMemory
) -> None:
    memory.call("remember", VET)
    with serving(Call("recall", {"query": "wifi"}), "Dr. Moreno.", "You are welcome.") as api:
        done = run(helper, api, "Who looks after the dog Luna?")
        run(
            helper,
            api,
            [*done.to_input_list(), {"role": "user", "content": [{"type": "input_text", "text": "Thanks"}]}],
        )
    for request in api.requests:
        block, message = request["input"][:2]
        assert block["role"] == "user" and block["content"].startswith("<recall>") and "Dr. Moreno." in block["content"]
        assert message == {"role": "user", "content": "Who looks after the dog Luna?"}
    assert json.dumps(api.requests[-1]).count("<recall>") == 1
    assert "<recall>" not in json.dumps(done.to_input_list())


def test_arguments_that_are_no_json_are_told_the_model_and_end_no_run(memory: Memory, helper: AgentMemory) -> None:
    with serving(Call("remember", '{"name": '), "Sorry.") as api:
        assert run(helper, api, "Our vet is Dr. Moreno.").final_output == "Sorry."
    assert "invalid arguments: not JSON" in json.dumps(api.requests[1])
    assert not memory.root.exists()
