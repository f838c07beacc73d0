"""Messages of a conversation as hosts have them: plain dicts with `role` and `content`, in the shapes of OpenAI's chat
completions and responses and of Anthropic's messages. Nothing is changed in any of them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Literal, TypeAlias

Message: TypeAlias = Mapping[str, Any]
Group: TypeAlias = list[Message]

_SYSTEM = ("system", "developer")
# Brackets in what a model wrote that are tried as the beginning of an array.
_PLACES = 100


def split_messages(
    messages: Sequence[Message], keep: int, unit: Literal["group", "turn"]
) -> tuple[list[Message], list[Message], list[Message]]:
    """Three parts of a conversation: its first system messages, the old ones, the last `keep` groups or turns."""
    first = list(takewhile(lambda message: message.get("role") in _SYSTEM, messages))
    units = (groups if unit == "group" else turns)(messages[len(first) :])
    old, kept = units[:-keep], units[-keep:]
    return first, [message for each in old for message in each], [message for each in kept for message in each]


def groups(messages: Iterable[Message]) -> list[Group]:
    """The messages in groups that cannot be parted: a call of a tool and its result are in one."""
    found: list[Group] = []
    callers: list[set[str]] = []
    for message in messages:
        answers = set(_ids_of_results(message))
        at = next((number for number, calls in enumerate(callers) if calls & answers), len(found) - 1)
        if not answers or not found:
            found.append([])
            callers.append(set())
        else:
            found[at:] = [[each for group in found[at:] for each in group]]
            callers[at:] = [set().union(*callers[at:])]
        found[-1].append(message)
        callers[-1].update(_ids_of_calls(message))
    return found


def turns(messages: Iterable[Message]) -> list[Group]:
    """The messages in turns: each from a message of the user to the next one."""
    found: list[Group] = []
    for group in groups(messages):
        if not found or group[0].get("role") == "user":
            found.append([])
        found[-1].extend(group)
    return found


def transcript(messages: Iterable[Message]) -> str:
    """The messages as text: who said what. Pictures and the like are only named."""
    return "\n\n".join(
        f"{message.get('role') or message.get('type') or 'message'}: {text}"
        for message in messages
        if (text := _text(message).strip())
    )


def portions(text: str, size: int) -> Iterator[str]:
    """All of `text` in pieces of at most `size` characters, that end where a line does if they can."""
    while len(text) > size:
        end = text.rfind("\n", size // 2, size) + 1 or size
        yield text[:end]
        text = text[end:]
    if text:
        yield text


def facts_in(reply: str) -> list[Mapping[str, Any]] | None:
    """The array of JSON objects in what a model wrote, whatever it wrote around it; None when there is none."""
    is_empty, decoder = False, json.JSONDecoder()
    for found in list(re.finditer(r"\[", reply))[:_PLACES]:
        try:
            value, _ = decoder.raw_decode(reply, found.start())
        except (ValueError, RecursionError):
            continue
        if value and all(isinstance(item, dict) for item in value):
            return list(value)
        is_empty = is_empty or not value
    return [] if is_empty else None


def _text(message: Message) -> str:
    calls = message.get("tool_calls") or ()
    own = [_block_text(message)] if "content" not in message else [_content(message["content"])]
    return "\n".join(filter(None, [*own, *map(_block_text, filter(_is_mapping, calls))]))


def _content(content: object) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    blocks = content if isinstance(content, Sequence) else [content]
    return "\n".join(filter(None, (_block_text(block) if _is_mapping(block) else str(block) for block in blocks)))


def _block_text(block: Any) -> str:
    if isinstance(text := block.get("text"), str):
        return text
    call = block.get("function") if _is_mapping(block.get("function")) else block
    if "name" in call:
        given = call.get("arguments", call.get("input", ""))
        return f"({call['name']}: {given if isinstance(given, str) else json.dumps(given, default=str)})"
    for key in ("content", "output"):
        if key in block:
            return _content(block[key])
    return f"({block.get('type', 'something')})"


def _blocks(message: Message) -> Iterator[Mapping[str, Any]]:
    """A message and its parts: each shape has calls and results in one of them."""
    yield message
    for key in ("content", "tool_calls"):
        parts = message.get(key)
        if isinstance(parts, Sequence) and not isinstance(parts, str):
            yield from filter(_is_mapping, parts)


def _ids_of_calls(message: Message) -> Iterator[str]:
    for block in _blocks(message):
        if block.get("type") == "function_call":
            yield str(block.get("call_id"))
        elif block.get("type") in ("tool_use", "function") and block is not message:
            yield str(block.get("id"))


def _ids_of_results(message: Message) -> Iterator[str]:
    for block in _blocks(message):
        if message.get("role") == "tool" and block is message:
            yield str(block.get("tool_call_id"))
        elif block.get("type") == "tool_result":
            yield str(block.get("tool_use_id"))
        elif block.get("type") == "function_call_output":
            yield str(block.get("call_id"))


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)
