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

# The files that a patch of Codex names, as `*** Add File: notes.md`.
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*\S)", re.MULTILINE)
_EMPTIED = ("compact", "clear")


class HookInput(NamedTuple):
    """One event at a host.

    `dialect` is how the host called `host` talks to its hooks. `event` is our name of the event; None for one that we
    ignore. `host_event` is the host's name. `session` is the host's session; None if it has no name. `message` is what
    the person said, `files` are the paths that a tool wrote, `transcript` is the path of the host's record.
    `is_emptied`: the context was cleared or compacted. `is_again`: a hook has asked for this turn already, or the turn
    did not end well, so that no hook may ask for another one.
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
    """Parse what a host wrote to a hook. `event` and `host` are those of the command line; without them the JSON
    decides.

    Some hosts run the hooks of another one as their own: then the JSON overrules `host`.

    Raises:
        InvalidArguments: `data` is no JSON object, there is no such event, or the host has no hooks.
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
    """Return the host's name and its dialect.

    Raises:
        InvalidArguments: the host has no hooks.
        NotFound: there is no such host.
    """
    host = host_named(name)
    if host.hooks is None:
        raise InvalidArguments(f"{host.title} has no hooks")
    return name, host.hooks


def _sender(given: Mapping[str, object]) -> tuple[str, HookDialect]:
    """Return the host that wrote `given`, with its dialect. Claude Code if none is recognised: others write like it."""
    found = next((host.name for host in HOSTS if host.hooks and host.hooks.is_sender(given)), "claude-code")
    return _dialect_of(found)


def _object(data: bytes) -> Mapping[str, object]:
    """Return the JSON object that a host wrote; a byte order mark and bytes that are not UTF-8 do no harm.

    Raises:
        InvalidArguments: it is no JSON object.
    """
    try:
        given = json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(f"what the host wrote is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidArguments("what the host wrote is not a JSON object")
    return given


def _text(given: Mapping[str, object], *keys: str) -> str:
    """Return the first value under `keys` that is a text, with ? for lone surrogates; "" for none."""
    found = next((value for key in keys if isinstance(value := given.get(key), str)), "")
    return found.encode("utf-8", "replace").decode("utf-8")


def _files(given: Mapping[str, object]) -> Iterator[str]:
    """Yield the paths of the files that a tool wrote, as far as the host names them; those relative to the session's
    folder are joined to that. Hosts put them in the tool's input, which may be an object or a patch as a text.
    """
    nested = given.get("tool_input", given.get("toolArgs"))
    tool = nested if isinstance(nested, dict) else {"input": nested} if isinstance(nested, str) else given
    folder = _text(given, "cwd")
    names = [_text(tool, "file_path", "filePath", "path"), *_PATCHED.findall(_text(tool, "command", "input", "patch"))]
    for name in filter(None, names):
        yield name if name.startswith(("/", "\\")) or name[1:2] == ":" or not folder else f"{folder}/{name}"


def _is_again(given: Mapping[str, object]) -> bool:
    """Whether a hook has asked for this turn already (Claude Code, then Cursor), or the turn was aborted or failed."""
    return bool(
        given.get("stop_hook_active") or given.get("loop_count") or given.get("status", "completed") != "completed"
    )
