"""LangChain's tools and retriever over a memory."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import ValidationError

from crabmem import InvalidArguments, Memory
from crabmem.adapters.langchain import Retriever, tools

VET = {"name": "Vet", "description": "who looks after the dog", "content": "Dr. Moreno.", "tags": ["pets"]}


def called(memory: Memory, name: str, arguments: dict[str, Any]) -> ToolMessage:
    """What a tool answers to a model."""
    [tool] = [tool for tool in tools(memory) if tool.name == name]
    answer = tool.invoke(ToolCall(name=name, args=arguments, id="1", type="tool_call"))
    assert isinstance(answer, ToolMessage)
    return answer


def test_the_tools_are_those_of_the_memory_with_the_same_schemas(memory: Memory) -> None:
    made = [convert_to_openai_tool(tool)["function"] for tool in tools(memory)]
    assert [(each["name"], each["description"]) for each in made] == [(t.name, t.description) for t in memory.tools]
    for each, tool in zip(made, memory.tools, strict=True):
        assert each["parameters"] == tool.input_schema


def test_a_call_answers_in_text_and_its_data_are_the_artifact(memory: Memory) -> None:
    answer = called(memory, "remember", VET)
    assert (answer.content, answer.status, answer.artifact["created"]) == ("remembered: Vet", "success", True)
    assert (memory.log()[0].agent, memory.log()[0].session) == ("coder", "s-1")
    assert "Dr. Moreno." in str(called(memory, "recall", {"query": "dog"}).content)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("forget", {"name": "Cat"}, "no fact called Cat"),
        ("remember", {"name": "Vet"}, "invalid arguments"),
        ("recall", {"query": "dog", "limit": 0}, "limit must be at least 1"),
        ("recall", {"query": "dog", "colour": "red"}, "there is no argument"),
    ],
)
def test_what_a_model_does_wrong_is_an_answer_it_can_read(
    memory: Memory, name: str, arguments: dict[str, Any], words: str
) -> None:
    answer = called(memory, name, arguments)
    assert answer.status == "error" and words in str(answer.content) and memory.entries() == []


def test_a_model_in_a_graph_remembers_and_recalls_off_the_event_loop(memory: Memory) -> None:
    replies = [
        AIMessage("", tool_calls=[ToolCall(name="remember", args=VET, id="1", type="tool_call")]),
        AIMessage("", tool_calls=[ToolCall(name="recall", args={"query": "dog"}, id="2", type="tool_call")]),
        AIMessage("Dr. Moreno."),
    ]
    model, threads = FakeMessagesListChatModel(responses=list(replies)), set[int]()
    made = tools(memory)
    real_call = memory.call

    def call(name: str, arguments: Any) -> Any:
        threads.add(threading.get_ident())
        return real_call(name, arguments)

    memory.call = call  # type: ignore[method-assign, assignment]
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(made))
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "model").add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    compiled = graph.add_edge("tools", "model").compile()
    said = asyncio.run(compiled.ainvoke({"messages": [HumanMessage("Who is the vet?")]}))["messages"]
    assert [type(message).__name__ for message in said].count("ToolMessage") == 2
    assert "Dr. Moreno." in said[4].content and said[-1].content == "Dr. Moreno."
    assert threading.get_ident() not in threads and threads


def test_a_retriever_gives_the_facts_that_recall_finds_as_documents(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno.", tags=["pets"])
    memory.remember("Walks", "when the dog goes out", "At seven.")
    found = Retriever(memory=memory).invoke("dog")
    assert [(each.id, each.metadata["score"]) for each in found] == [
        (h.entry.path, h.score) for h in memory.recall("dog")
    ]
    [vet] = asyncio.run(Retriever(memory=memory, k=1, having=["pets"]).ainvoke("dog"))
    assert (vet.page_content, vet.metadata["name"], vet.metadata["tags"]) == ("Dr. Moreno.", "Vet", ["pets"])
    with pytest.raises(InvalidArguments, match="empty"):
        Retriever(memory=memory).invoke(" ")


def test_how_many_documents_is_given_to_the_retriever_or_to_one_question(memory: Memory) -> None:
    for number in range(4):
        memory.remember(f"Walk {number}", "when the dog goes out", f"At {number}.", tags=["even"] * (number % 2 == 0))
    retriever = Retriever(memory=memory, k=3)
    assert [len(retriever.invoke("dog")), len(retriever.invoke("dog", k=1))] == [3, 1]
    assert [len(retriever.invoke("dog", limit=2)), len(asyncio.run(retriever.ainvoke("dog", k=4)))] == [2, 4]
    assert {each.metadata["name"] for each in retriever.invoke("dog", having=["even"])} == {"Walk 0", "Walk 2"}
    with pytest.raises(InvalidArguments, match="at least 1"):
        retriever.invoke("dog", k=0)
    with pytest.raises(TypeError, match="top"):
        retriever.invoke("dog", top=1)
    with pytest.raises(ValidationError, match="top"):
        Retriever(memory=memory, top=1)  # type: ignore[call-arg]


def test_of_a_daily_note_a_retriever_gives_what_answers_and_says_what_it_is(memory: Memory) -> None:
    memory.write_note("Bought a boat.")
    memory.write_note("Called the vet, Luna is fine.")
    [note] = Retriever(memory=memory).invoke("vet")
    assert "Luna is fine" in note.page_content and "boat" not in note.page_content and note.metadata["kind"] == "note"
