"""Exports of ChatGPT (Settings, Data controls). A conversation is a tree of messages; only the shown branch is read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..base import JSON, Found, Look, Source, Tree
from ..chats import Turn, facts_of, has_conversations, message_text, time_of

_KEYS, _SHOWN = ("author", "content", "metadata"), ("text", "multimodal_text")
# A citation in the text: private-use characters around the mark of a source.
_CITED = re.compile("\ue200[^\ue200\ue201]*\ue201")


def _is_it(tree: Tree) -> bool:
    return has_conversations(tree, "mapping")


def _facts(tree: Tree) -> Iterator[Found]:
    return facts_of(tree, SOURCE.name, "ChatGPT", lambda row: isinstance(row.get("mapping"), dict), _read)


def _read(row: Mapping[str, Any]) -> tuple[str, object, list[Turn]]:
    branch = reversed([*_branch(row["mapping"], row.get("current_node"))])
    id = str(row.get("conversation_id") or row.get("id") or "")
    return id, row.get("title"), [*filter(None, map(_turn, branch))]


def _branch(mapping: Mapping[str, Any], node: object) -> Iterator[Mapping[str, Any]]:
    """Yield the messages from `node`, the last one that ChatGPT shows, back to the first, by their parents.

    So messages that were edited, and answers that were asked for anew, are left out. If `node` is none of the tree, the
    last message without an answer takes its place.
    """
    nodes = {id: each for id, each in mapping.items() if isinstance(each, dict)}
    if not isinstance(node, str) or node not in nodes:
        node = next((id for id in reversed(nodes) if not nodes[id].get("children")), None)
    while isinstance(node, str) and (found := nodes.pop(node, None)):  # each once: parents may lead in a circle
        if isinstance(message := found.get("message"), dict):
            yield message
        node = found.get("parent")


def _turn(message: Mapping[str, Any]) -> Turn | None:
    """Return the turn of a message by the person or the model; None if it is to a tool or is not shown."""
    author, content, about = (each if isinstance(each := message.get(key), dict) else {} for key in _KEYS)
    if author.get("role") not in ("user", "assistant") or message.get("recipient") not in (None, "all"):
        return None
    if content.get("content_type") not in _SHOWN or about.get("is_visually_hidden_from_conversation"):
        return None
    return Turn(author["role"], time_of(message.get("create_time")), _CITED.sub("", message_text(content.get("parts"))))


SOURCE = Source("chatgpt", "an export of ChatGPT: its zip, or conversations.json", _is_it, _facts, Look.OWN, JSON)
