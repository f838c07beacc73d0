"""Transcripts of sessions, as OpenClaw, Claude Code and Codex keep them: a line of JSON for each message, among others.

OpenClaw's lines are {"type": "message", "timestamp", "message": {"role", "content"}}; those of Claude Code have the
type "user" or "assistant". Codex's are {"type": "response_item", "timestamp", "payload": {"role", "content"}}, older
ones the payload alone; its events repeat the same messages and are passed over. `content` is a text or a list of
blocks. Only what people and models said counts: no calls of tools, and none of their answers, which hold what nobody
chose to say; nor what a host put around a person's words.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from .credentials import redacted
from .own_words import own_words

_TYPES = ("message", "user", "assistant", "response_item")
_TEXTS = ("text", "input_text", "output_text")
_ROLES = ("user", "assistant")
# Said by no one in the conversation: what a host put in, and what an agent asks of those that it sent out.
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary")
# Codex gives its model these as a person's words.
_GIVEN = ("# AGENTS.md instructions", "<permissions instructions>", "<recommended_plugins>")
# Characters of a line; a longer message has several, so that each part of a transcript says who spoke when.
_LINE = 500


def is_transcript(path: str) -> bool:
    """Whether a file is called like a transcript."""
    return path.lower().endswith(".jsonl")


def lines_of(data: bytes) -> Iterator[str]:
    """What was said in a transcript, as lines such as "2026-03-14T09:30:00Z user: the text"; credentials are masked."""
    for line in data.split(b"\n"):
        try:
            record = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue  # cut short, or none of ours
        if not isinstance(record, dict):
            continue
        if record.get("type") == "session_meta" and _is_sent_out(record.get("payload")):
            return
        if record.get("type") not in _TYPES or any(map(record.get, _ASIDE)):
            continue
        message = record.get("payload" if record["type"] == "response_item" else "message", record)
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            continue
        if said := _text(message.get("content")):  # most hold the answer of a tool alone
            when = _time(record.get("timestamp") or message.get("timestamp"))
            text = " ".join(redacted(own_words(said) if message["role"] == _ROLES[0] else said).split())
            for piece in _pieces(text):
                yield f"{when}{message['role']}: {piece}"


def persons_lines(text: str) -> str:
    """Those lines of `lines_of` in `text` that a person said."""
    return "\n".join(line for line in text.splitlines() if line.partition(": ")[0].split()[-1:] == [_ROLES[0]])


def time_of(line: str) -> datetime | None:
    """When a line of `lines_of` was said; None where the transcript does not say it."""
    try:
        return datetime.fromisoformat(line.partition(" ")[0])
    except ValueError:
        return None


def _is_sent_out(about: Any) -> bool:
    """Whether a session of Codex is one that an agent began."""
    said = about if isinstance(about, dict) else {}
    source = said.get("source")
    return said.get("thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    texts = (each.get("text") for each in blocks if each.get("type") in _TEXTS)
    return "\n".join(text for text in texts if isinstance(text, str) and not text.startswith(_GIVEN))


def _time(said: Any) -> str:
    """A time as lines begin with it, "" for none: it is said in ISO 8601, or in milliseconds since 1970."""
    try:
        if isinstance(said, str):
            moment = datetime.fromisoformat(said).astimezone(UTC)
        else:
            moment = datetime.fromtimestamp(said / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ} "


def _pieces(text: str) -> Iterator[str]:
    """A text of one line in pieces, cut at white space where there is any."""
    start = 0
    while len(text) - start > _LINE:
        space = text.rfind(" ", start + 1, start + _LINE)
        cut = space if space > start else start + _LINE
        yield text[start:cut].strip()
        start = cut
    if rest := text[start:].strip():
        yield rest
