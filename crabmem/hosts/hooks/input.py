"""What a host writes to a hook, as a value."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...errors import InvalidArguments
from ...text.agent_names import session_name
from ...text.own_words import own_words
from ..host import EVENTS, HookDialect
from ..table import HOSTS, host_named

# What a patch names: `*** Add File: notes.md`.
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)", re.MULTILINE)
_EMPTIED = ("compact", "clear")


class HookInput(NamedTuple):
    """One event at a host.

    `dialect` is how the host called `host` talks to its hooks. `event` is our name of the event, None for one that is
    nothing to us; `host_event` is the host's name. `message` is what the person said, `files` what a tool wrote,
    `transcript` where the host keeps its record. `is_emptied`: the context was cleared or compacted. `is_again`: this
    turn was asked for by a hook already, or did not end well, so that no hook asks for another one.
    """

    host: str
    dialect: HookDialect
    event: str | None
    host_event: str
    session: str | None = None
    message: str = ""
    files: tuple[str, ...] = ()
    transcript: str = ""
    is_emptied: bool = False
    is_again: bool = False


def parse_input(data: bytes, event: str | None = None, host: str | None = None) -> HookInput:
    """Parse what a host wrote to a hook. `event` and `host` say what is meant; without them the JSON does.

    Raises:
        InvalidArguments: it is no JSON object, there is no such event, or the host has no hooks.
        NotFound: there is no such host.
    """
    if event is not None and event not in EVENTS:
        raise InvalidArguments(f"no event named {event}: {', '.join(EVENTS)}")
    meant = None if host is None else _dialect_of(host)
    given = _object(data)
    name, dialect = _sender(given) if meant is None else meant
    if other := dialect.other_sender(given):
        name, dialect = _dialect_of(other)
    host_event = _text(given, "hook_event_name", "hookEventName")
    ours = dialect.events.get(host_event)
    if event is not None and ours != event:
        ours, host_event = event, dialect.name_of(event)
    return HookInput(
        name,
        dialect,
        ours,
        host_event,
        session=session_name(_text(given, "session_id", "sessionId", "conversation_id")),
        message=own_words(_text(given, "prompt")),
        files=tuple(dict.fromkeys(_files(given))),
        transcript=_text(given, "transcript_path", "transcriptPath"),
        is_emptied=_text(given, "source", "trigger") in _EMPTIED,
        is_again=_is_again(given),
    )


def _dialect_of(name: str) -> tuple[str, HookDialect]:
    host = host_named(name)
    if host.hooks is None:
        raise InvalidArguments(f"{host.title} has no hooks")
    return name, host.hooks


def _sender(given: Mapping[str, object]) -> tuple[str, HookDialect]:
    """The host that wrote `given`; Claude Code where none is recognised, as others write what it does."""
    found = next((host.name for host in HOSTS if host.hooks and host.hooks.is_sender(given)), "claude-code")
    return _dialect_of(found)


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
    """The files that a tool wrote, as far as the host names them."""
    nested = given.get("tool_input", given.get("toolArgs"))
    tool = nested if isinstance(nested, dict) else {"input": nested} if isinstance(nested, str) else given
    folder = _text(given, "cwd")
    names = [_text(tool, "file_path", "filePath", "path"), *_PATCHED.findall(_text(tool, "command", "input", "patch"))]
    for name in filter(None, names):
        yield name if name.startswith(("/", "\\")) or name[1:2] == ":" or not folder else f"{folder}/{name}"


def _is_again(given: Mapping[str, object]) -> bool:
    return bool(
        given.get("stop_hook_active") or given.get("loop_count") or given.get("status", "completed") != "completed"
    )
