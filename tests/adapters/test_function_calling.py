"""The tools as definitions for function calling: the SDKs take them, and whole conversations go through them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from agents.strict_schema import ensure_strict_json_schema
from anthropic.types import ToolParam, ToolResultBlockParam
from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from openai.types.responses import FunctionToolParam, ResponseInputItemParam
from pydantic import TypeAdapter

from crabmem import Memory
from crabmem.tools import formats as functions
from tests.stub_api import Call, serving

VET = {"name": "Luna's vet", "description": "who looks after the dog", "content": "Dr. Moreno."}
TYPES: dict[str, Any] = {
    "openai": ChatCompletionFunctionToolParam,
    "openai-responses": FunctionToolParam,
    "anthropic": ToolParam,
}


@pytest.fixture
def free(tmp_path: Path) -> Memory:
    """A memory that offers every tool."""
    return Memory(tmp_path / "free", agent="coder", session="s-1", soul_editable=True)


@pytest.mark.parametrize("name", TYPES)
def test_the_types_of_the_sdks_take_every_definition_as_it_is(free: Memory, name: str) -> None:
    for given in functions.FORMATS[name](free.tools):
        assert TypeAdapter(TYPES[name]).validate_python(given) == given


@pytest.mark.parametrize("given", [functions.openai_chat, functions.openai_responses])
def test_strict_definitions_are_what_the_sdk_itself_calls_strict(free: Memory, given: Callable[..., Any]) -> None:
    for item in given(free.tools, strict=True):
        function = item.get("function", item)
        schema = function["parameters"]
        assert function["strict"] is True and "default" not in json.dumps(schema)
        plain = {tool.name: tool.input_schema for tool in free.tools}[function["name"]]
        for name, rules in schema["properties"].items():
            assert Draft202012Validator(rules).is_valid(None) == (name not in plain["required"])
        assert ensure_strict_json_schema(json.loads(json.dumps(schema))) == schema
        assert schema["required"] == list(schema["properties"])


def test_a_loop_over_openai_chat_remembers_and_answers(free: Memory) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Our vet is Dr. Moreno."}]
    with (
        serving(Call("remember", VET), "Noted.") as api,
        openai.OpenAI(base_url=api.environment["OPENAI_BASE_URL"], api_key="none") as client,
    ):
        tools: Any = functions.openai_chat(free.tools)
        while True:
            message = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
            messages.append(message.model_dump(exclude_none=True))  # type: ignore[arg-type]
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                assert call.type == "function"
                result = free.call(call.function.name, call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
    assert message.content == "Noted."
    assert api.requests[1]["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "call_1",
        "content": "remembered: Luna's vet",
    }
    assert api.requests[0]["tools"] == functions.openai_chat(free.tools)


def test_a_loop_over_openai_responses_goes_on_after_an_error_of_the_model(free: Memory) -> None:
    items: list[ResponseInputItemParam] = [{"role": "user", "content": "Our vet is Dr. Moreno."}]
    with (
        serving(Call("remember", '{"name": "Luna'), Call("remember", VET), "Noted.") as api,
        openai.OpenAI(base_url=api.environment["OPENAI_BASE_URL"], api_key="none") as client,
    ):
        tools: Any = functions.openai_responses(free.tools, strict=True)
        while True:
            response = client.responses.create(model="m", input=items, tools=tools)
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            for call in calls:
                items.append(call.model_dump(exclude_none=True))  # type: ignore[arg-type]
                text = free.call(call.name, call.arguments).text
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
    assert response.output_text == "Noted."
    outputs = [item["output"] for item in api.requests[-1]["input"] if item.get("type") == "function_call_output"]
    assert outputs[0].startswith("invalid arguments: not JSON") and outputs[1] == "remembered: Luna's vet"
    assert free.get("Luna's vet").content == "Dr. Moreno."


def test_a_loop_over_anthropic_messages_remembers_and_answers(free: Memory) -> None:
    messages: list[anthropic.types.MessageParam] = [{"role": "user", "content": "Our vet is Dr. Moreno."}]
    with (
        serving(Call("remember", VET), "Noted.") as api,
        anthropic.Anthropic(base_url=api.url, api_key="none") as client,
    ):
        tools: Any = functions.anthropic(free.tools)
        while True:
            reply = client.messages.create(model="m", max_tokens=100, messages=messages, tools=tools)
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                break
            results: list[ToolResultBlockParam] = []
            for call in reply.content:
                if call.type == "tool_use":
                    done = free.call(call.name, call.input)
                    block: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": call.id, "content": done.text}
                    results.append({**block, "is_error": done.is_error})
            messages.append({"role": "user", "content": results})
    assert reply.content[0].type == "text" and reply.content[0].text == "Noted."
    assert api.requests[1]["messages"][-1]["content"][0]["content"] == "remembered: Luna's vet"
