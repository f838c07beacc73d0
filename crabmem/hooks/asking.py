"""What a host tells a hook, as a value."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import InvalidArguments
from ..text.agent_names import session_name
from ..text.own_words import own_words
from .hosts import EVENTS, Host, named, recognised, speaking

# What a patch names: `*** Add File: notes.md`.
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)", re.MULTILINE)
_EMPTIED = ("compact", "clear")


@dataclass(frozen=True)
class Asked:
    """One event. `event` is our name for it, None for one that is nothing to us; `called` is the host's.

    `message` is what the person said, `files` what a tool wrote, `transcript` where the host keeps its record.
    `is_emptied`: the context was cleared or compacted. `is_again`: this turn was asked for by a hook already, or did
    not end well, so that no hook asks for another one.
    """

    host: Host
    event: str | None
    called: str
    session: str | None = None
    message: str = ""
    files: tuple[str, ...] = ()
    transcript: str = ""
    is_emptied: bool = False
    is_again: bool = False


def asked(data: bytes, event: str | None = None, host: str | None = None) -> Asked:
    """What a host wrote to a hook. `event` and `host` say what is meant; without them the JSON does.

    Raises:
        InvalidArguments: it is no JSON object, or there is no such event or host.
    """
    if event is not None and event not in EVENTS:
        raise InvalidArguments(f"no event named {event}: {', '.join(EVENTS)}")
    known = None if host is None else named(host)
    given = _object(data)
    whose = speaking(known, given) if known else recognised(given)
    called = _text(given, "hook_event_name", "hookEventName")
    ours = whose.calls.get(called)
    if event is not None and ours != event:
        ours, called = event, whose.called(event)
    return Asked(
        whose,
        ours,
        called,
        session=session_name(_text(given, "session_id", "sessionId", "conversation_id")),
        message=own_words(_text(given, "prompt")),
        files=tuple(dict.fromkeys(_files(given))),
        transcript=_text(given, "transcript_path", "transcriptPath"),
        is_emptied=_text(given, "source", "trigger") in _EMPTIED,
        is_again=_is_again(given),
    )


def _object(data: bytes) -> Mapping[str, object]:
    try:
        given = json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"what the host wrote is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidArguments("what the host wrote is not a JSON object")
    return given


def _text(given: Mapping[str, object], *keys: str) -> str:
    """The first of these that is a text, without halves of surrogate pairs; "" for none."""
    found = next((value for key in keys if isinstance(value := given.get(key), str)), "")
    return found.encode("utf-8", "replace").decode("utf-8")


def _files(given: Mapping[str, object]) -> Iterator[str]:
    """The files that a tool wrote, as far as it says."""
    nested = given.get("tool_input", given.get("toolArgs"))
    told = nested if isinstance(nested, dict) else {"input": nested} if isinstance(nested, str) else given
    folder = _text(given, "cwd")
    names = [_text(told, "file_path", "filePath", "path"), *_PATCHED.findall(_text(told, "command", "input", "patch"))]
    for name in filter(None, names):
        yield name if name.startswith(("/", "\\")) or name[1:2] == ":" or not folder else f"{folder}/{name}"


def _is_again(given: Mapping[str, object]) -> bool:
    return bool(
        given.get("stop_hook_active") or given.get("loop_count") or given.get("status", "completed") != "completed"
    )
