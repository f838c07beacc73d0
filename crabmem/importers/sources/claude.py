"""What Claude exports (Settings, Privacy): conversations, and what Claude remembers of them."""

import re
from collections.abc import Iterator
from typing import Any

from ...errors import CrabmemError, InvalidArguments
from ...text.entry import Fact
from ..base import JSON, Found, Look, Source, Tree
from ..chats import Turn, conversations, has_conversations, joined, notes, rows, time_of
from ..texts import summary

_BESIDE = re.compile(r"(?:.*/)?(?:memories|projects)(?:/[^/]*)?\.json")


def _is_it(tree: Tree) -> bool:
    return has_conversations(tree, "chat_messages")


def _facts(tree: Tree) -> Iterator[Found]:
    for where, row in conversations(tree):
        if isinstance(row, CrabmemError):
            yield Found(where, row)
        elif not isinstance(row, dict) or not isinstance(row.get("chat_messages"), list):
            yield Found(where, InvalidArguments("it is no conversation of Claude"))
        else:
            turns = [_turn(message) for message in row["chat_messages"] if isinstance(message, dict)]
            yield from notes(where, SOURCE.name, str(row.get("uuid") or ""), row.get("name"), turns)
    yield from _memories(tree)


def _turn(message: dict[str, Any]) -> Turn:
    who = "user" if message.get("sender") == "human" else "assistant"
    text = joined(message.get("content")) or joined([message.get("text")])
    return Turn(who, time_of(message.get("created_at")), text)


def _memories(tree: Tree) -> Iterator[Found]:
    """A fact for what Claude remembers of all conversations, and one for each project."""
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
