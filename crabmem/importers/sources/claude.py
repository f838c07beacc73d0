"""Exports of Claude (Settings, Privacy): conversations, and what Claude remembers of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...text.entry import Fact
from ..base import JSON, Found, Look, Source, Tree
from ..chats import Turn, facts_of, has_conversations, message_text, rows, time_of
from ..texts import summary

_BESIDE = re.compile(r"(?:.*/)?(?:memories|projects)(?:/[^/]*)?\.json")


def _is_it(tree: Tree) -> bool:
    return has_conversations(tree, "chat_messages")


def _facts(tree: Tree) -> Iterator[Found]:
    yield from facts_of(tree, SOURCE.name, "Claude", lambda row: isinstance(row.get("chat_messages"), list), _read)
    yield from _memories(tree)


def _read(row: Mapping[str, Any]) -> tuple[str, object, list[Turn]]:
    turns = [_turn(message) for message in row["chat_messages"] if isinstance(message, dict)]
    return str(row.get("uuid") or ""), row.get("name"), turns


def _turn(message: dict[str, Any]) -> Turn:
    who = "user" if message.get("sender") == "human" else "assistant"
    text = message_text(message.get("content")) or message_text([message.get("text")])
    return Turn(who, time_of(message.get("created_at")), text)


def _memories(tree: Tree) -> Iterator[Found]:
    """Yield a fact for what Claude remembers of all conversations, and one for each project, named after it."""
    found = rows(tree, filter(_BESIDE.fullmatch, tree.files))
    beside = [(where, row) for where, row in found if isinstance(row, dict)]
    names = {str(row.get("uuid")): row.get("name") for _, row in beside}
    for where, row in beside:
        of_projects = row.get("project_memories")
        texts = {"": row.get("conversations_memory"), **(of_projects if isinstance(of_projects, dict) else {})}
        for id, text in texts.items():
            if isinstance(text, str) and text.strip():
                name = f"Claude's memory of project {names.get(id) or id}" if id else "Claude's memory"
                fact = Fact(name, summary(text) or name, text.strip(), tags=(SOURCE.name,), folder=SOURCE.name)
                yield Found(where, fact, id[:8], f"{SOURCE.name}:memory:{id}")


SOURCE = Source("claude", "an export of Claude: its zip, or conversations.json", _is_it, _facts, Look.OWN, JSON)
