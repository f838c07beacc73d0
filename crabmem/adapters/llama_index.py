"""A block of memory for LlamaIndex: what it knows goes into every request, what falls out of the chat into its notes.

Memory.from_defaults(memory_blocks=[MemoryBlock(memory=memory)], token_limit=30_000)
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import HoldsSecret, InvalidArguments
from ..memory import Memory
from ..text.credentials import credentials_in
from ..text.quoting import joined
from . import missing

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise missing("llama_index", "LlamaIndex", "llama-index") from error

_RECALL = "\n\n<recall>"
_CHARACTERS_OF_A_TOKEN = 4
# What LlamaIndex itself adds to a message that it takes out of the chat.
_ADDED = {"session_id"}


class MemoryBlock(BaseMemoryBlock[str]):
    """Identity, overview and what bears on the last message of the user.

    Messages that no longer fit are added to the note of the day, word for word and one commit a flush: no model
    is there to say which of them are facts, and as facts they would crowd out those that somebody chose. A message
    with more than text is JSON; of one with what looks like a credential the note says only that, unless the settings
    allow it.
    """

    name: str = "crabmem"
    description: str | None = "Long-term memory"
    memory: Memory = Field(exclude=True)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        return await asyncio.to_thread(self._about, messages or [])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        if messages:
            await asyncio.to_thread(self._note, messages)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """`content` without what was recalled, when that is enough; else nothing."""
        kept, _, recalled = content.rpartition(_RECALL)
        return kept if kept and len(recalled) >= tokens_to_truncate * _CHARACTERS_OF_A_TOKEN else None

    def _about(self, messages: Sequence[ChatMessage]) -> str:
        questions = [message.content or "" for message in messages if message.role == MessageRole.USER]
        # LlamaIndex keeps nothing of what a block said before.
        recalled = self.memory.before_turn(questions[-1], again=True) if questions else ""
        return joined((self.memory.prompt(guide=False), recalled))

    def _note(self, messages: Sequence[ChatMessage]) -> None:
        try:
            self._write(messages, _text)
        except InvalidArguments:  # NUL, half of a surrogate pair, the marks of a merge
            self._write(messages, _json)

    def _write(self, messages: Sequence[ChatMessage], text: Callable[[ChatMessage], str]) -> None:
        try:
            self.memory.write_note("\n\n".join(map(text, messages)))
        except HoldsSecret:
            self.memory.write_note("\n\n".join(_without_secrets(text(message)) for message in messages))


def _text(message: ChatMessage) -> str:
    """A message as a note has it: its text, or all of it as JSON."""
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    is_plain = len(texts) == len(message.blocks) == 1 and not message.additional_kwargs.keys() - _ADDED
    return f"**{message.role.value}**: {texts[0]}" if is_plain else _json(message)


def _json(message: ChatMessage) -> str:
    data = message.model_dump(mode="python", exclude_none=True)
    return f"```json\n{json.dumps(data, default=_plain, indent=2)}\n```"


def _plain(value: object) -> str:
    """What JSON cannot say: bytes, which LlamaIndex has as base64, one letter each."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _without_secrets(text: str) -> str:
    found = ", ".join(item.masked for item in credentials_in(text))
    return f"(a message was left out, which holds what looks like a secret: {found})" if found else text
