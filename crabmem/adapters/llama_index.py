"""A memory block for LlamaIndex: every request gets what it knows, and messages that leave the chat become notes.

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
# Keys that LlamaIndex itself adds to a message when it takes it out of the chat.
_ADDED = {"session_id"}


class MemoryBlock(BaseMemoryBlock[str]):
    """A block with the identity, the overview and what bears on the last message of the user.

    Messages that no longer fit into the chat are added to the note of the day, word for word, in one commit for each
    flush. They do not become facts: no model is at hand to choose, and they would crowd out facts that somebody chose.
    A message with more than text is written as JSON. Instead of one that holds what looks like a credential, the note
    says that it was left out, unless the settings allow credentials.
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
        """Return `content` without the recalled facts if that saves enough; else None, which drops the block."""
        kept, _, recalled = content.rpartition(_RECALL)
        return kept if kept and len(recalled) >= tokens_to_truncate * _CHARACTERS_OF_A_TOKEN else None

    def _about(self, messages: Sequence[ChatMessage]) -> str:
        """Return the text of the block for a request with these messages."""
        questions = [message.content or "" for message in messages if message.role == MessageRole.USER]
        # `again`: LlamaIndex keeps no text of earlier requests in view, so facts said before are said again.
        recalled = self.memory.before_turn(questions[-1], again=True) if questions else ""
        return joined((self.memory.prompt(guide=False), recalled))

    def _note(self, messages: Sequence[ChatMessage]) -> None:
        """Write messages to the note of the day; all as JSON if some text cannot be in a note as it is."""
        try:
            self._write(messages, _text)
        except InvalidArguments:  # NUL, a lone surrogate, or the marks of a merge, which JSON escapes
            self._write(messages, _json)

    def _write(self, messages: Sequence[ChatMessage], text: Callable[[ChatMessage], str]) -> None:
        """Write messages in the form that `text` gives them; if that is refused, without those with a credential."""
        try:
            self.memory.write_note("\n\n".join(map(text, messages)))
        except HoldsSecret:
            self.memory.write_note("\n\n".join(_without_secrets(text(message)) for message in messages))


def _text(message: ChatMessage) -> str:
    """Return a message for a note: role and text if it is nothing but one text, else all of it as JSON."""
    texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
    is_plain = len(texts) == len(message.blocks) == 1 and not message.additional_kwargs.keys() - _ADDED
    return f"**{message.role.value}**: {texts[0]}" if is_plain else _json(message)


def _json(message: ChatMessage) -> str:
    data = message.model_dump(mode="python", exclude_none=True)
    return f"```json\n{json.dumps(data, default=_plain, indent=2)}\n```"


def _plain(value: object) -> str:
    """Return a text for a value that JSON cannot represent. LlamaIndex's bytes are base64, which is ASCII."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _without_secrets(text: str) -> str:
    """Return the text of a message; if it holds what looks like a credential, a remark that it was left out."""
    found = ", ".join(item.masked for item in credentials_in(text))
    return f"(a message was left out, which holds what looks like a secret: {found})" if found else text
