"""LlamaIndex's memory block: what goes into requests, and what becomes of messages that fall out of the chat."""

import asyncio
import base64
import json
import re
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from crabmem import Memory
from crabmem.adapters.llama_index import MemoryBlock
from tests.conftest import git

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


def chat(memory: Memory, limit: int = 60) -> ChatMemory:
    """LlamaIndex's own memory with a block of ours; a word is a token, and a flush comes at 70 % of them."""
    # Without a pool no connection outlives its use.
    engine = create_async_engine(f"sqlite+aiosqlite:///{memory.root.parent}/chat.db", poolclass=NullPool)
    return ChatMemory.from_defaults(
        session_id="chat",
        async_engine=engine,
        memory_blocks=[MemoryBlock(memory=memory)],
        token_limit=limit,
        token_flush_size=10,
        tokenizer_fn=str.split,
    )


def said(number: int, role: MessageRole = MessageRole.USER) -> ChatMessage:
    return ChatMessage(role=role, content=f"word number {number} and\n\n  some # more of them\t")


def note(memory: Memory) -> str:
    [file] = [file for file in (memory.root / "memory").glob("*.md") if file.name != "MEMORY.md"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}\.md", file.name)
    return file.read_text()


def put(history: ChatMemory, *messages: ChatMessage) -> None:
    asyncio.run(history.aput_messages(list(messages)))


def request(history: ChatMemory) -> str:
    """What the next request says before the conversation."""
    messages = asyncio.run(history.aget())
    return "\n".join(message.content or "" for message in messages if message.role == MessageRole.SYSTEM)


def test_identity_overview_and_what_bears_on_the_last_message_go_into_every_request(memory: Memory) -> None:
    memory.write_overview("# Overview\n\nAda pays.")
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno, every Thursday afternoon.")
    history = chat(memory, 2_000)
    put(history, ChatMessage(role="user", content="Who looks after the dog?"))
    first, again = request(history), request(history)
    assert first == again and "Dr. Moreno, every Thursday afternoon." in first and "Ada pays." in first
    assert memory.identity().text.strip() in first and "`remember`" not in first
    put(history, ChatMessage(role="assistant", content="Dr. Moreno."))
    put(history, ChatMessage(role="user", content="Which colour is the sky?"))
    assert "Moreno" not in request(history) and "Ada pays." in request(history)


def test_a_chat_that_has_no_message_yet_gets_identity_and_overview(memory: Memory) -> None:
    assert asyncio.run(MemoryBlock(memory=memory).aget()) == memory.prompt(guide=False)


def test_messages_that_fall_out_are_in_the_note_of_the_day_word_for_word_a_commit_each_flush(memory: Memory) -> None:
    history = chat(memory)
    roles = [MessageRole.USER, MessageRole.ASSISTANT] * 6
    for number, role in enumerate(roles):
        put(history, said(number, role))
    kept = {message.content for message in asyncio.run(history.aget_all(status=MessageStatus.ACTIVE))}
    out = [message for number, role in enumerate(roles) if (message := said(number, role)).content not in kept]
    assert len(out) >= 4 and all(f"**{each.role.value}**: {each.content}" in note(memory) for each in out)
    flushes = [commit for commit in memory.log() if commit.tool == "note"]
    assert len(flushes) == note(memory).count("\n## ") and {each.session for each in flushes} == {"s-1"}
    assert git(memory.root, "status", "--short") == ""


def test_notes_do_not_crowd_recall(memory: Memory) -> None:
    memory.remember("Numbers", "the word for each number", "One, two.")
    for number in range(1, 8):
        asyncio.run(MemoryBlock(memory=memory).aput([said(number)], from_short_term_memory=True, session_id="chat"))
    found = memory.recall("word number")
    assert [hit.entry.is_note for hit in found] == [False, True] and len(found[1].shown) <= 700  # a day is one hit
    assert [entry.name for entry in memory.entries()] == ["Numbers"]
    assert "word number 1" in note(memory)


def test_a_person_and_a_chat_write_in_the_same_note(memory: Memory) -> None:
    block = MemoryBlock(memory=memory)
    asyncio.run(block.aput([said(1)]))
    [file] = (memory.root / "memory").glob("2*.md")
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n") + b"my own line")
    asyncio.run(block.aput([said(2)]))
    lines = file.read_bytes().decode().split("\r\n")
    assert "my own line" in lines and "**user**: word number 2 and" in lines
    assert [commit.subject.split(":")[0] for commit in memory.log()] == ["note", "edit", "note", "init"]


@pytest.mark.parametrize("text", ["a\0b", "half \ud800", "so:\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b"])
def test_what_no_file_of_memory_may_hold_is_kept_as_json(memory: Memory, text: str) -> None:
    asyncio.run(MemoryBlock(memory=memory).aput([said(1), ChatMessage(role="user", content=text)]))
    blocks = re.findall(r"```json\n(.*?)\n```", note(memory), re.DOTALL)
    kept = [ChatMessage.model_validate_json(block, strict=False) for block in blocks if "ud800" not in block]
    assert len(blocks) == 2 and kept[0] == said(1)
    assert "ud800" in blocks[1] or kept[1].content == text


def test_a_message_with_more_than_text_is_kept_as_all_of_it(memory: Memory) -> None:
    blocks = [TextBlock(text="look"), ImageBlock(image=b"\x89PNG\x00\xff", image_mimetype="image/png")]
    message = ChatMessage(role="user", blocks=blocks, additional_kwargs={"source": "phone"})
    asyncio.run(MemoryBlock(memory=memory).aput([message]))
    [block] = re.findall(r"```json\n(.*?)\n```", note(memory), re.DOTALL)
    kept = json.loads(block)
    assert (kept["blocks"][0]["text"], kept["additional_kwargs"]) == ("look", {"source": "phone"})
    assert base64.b64decode(kept["blocks"][1]["image"]) == b"\x89PNG\x00\xff"


def test_of_a_message_with_a_credential_only_that_is_said(memory: Memory) -> None:
    asyncio.run(MemoryBlock(memory=memory).aput([said(1), ChatMessage(role="user", content=f"use {TOKEN} now")]))
    assert TOKEN not in note(memory) and "GitHub token (ghp_…)" in note(memory) and "word number 1" in note(memory)
    assert TOKEN not in git(memory.root, "log", "-p")


def test_a_credential_is_kept_where_the_settings_allow_it(memory: Memory) -> None:
    memory.init()
    memory.file("crabmem.toml").write_text('secrets = "warn"\n')
    asyncio.run(MemoryBlock(memory=memory).aput([ChatMessage(role="user", content=f"use {TOKEN} now")]))
    assert TOKEN in note(memory)


def test_a_block_that_is_too_long_loses_first_what_was_recalled(memory: Memory) -> None:
    memory.remember("Vet", "who looks after the dog", "Dr. Moreno, every Thursday afternoon.")
    block = MemoryBlock(memory=memory, priority=1)
    content = asyncio.run(block.aget([ChatMessage(role="user", content="Who looks after the dog?")]))
    assert "Moreno" in content
    assert asyncio.run(block.atruncate(content, 10)) == memory.prompt(guide=False)
    assert asyncio.run(block.atruncate(content, 10_000)) is None
    assert asyncio.run(block.atruncate(memory.prompt(guide=False), 1)) is None


def test_nothing_to_put_makes_no_workspace(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        asyncio.run(MemoryBlock(memory=memory).aput([]))
        assert not memory.root.exists()
