"""The hosts: what each calls our events, and the shape in which it takes an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ...errors import InvalidArguments

Json: TypeAlias = dict[str, object]
#: Makes an answer of what the host calls an event, and of a text.
Shape: TypeAlias = Callable[[str, str], Json]

SESSION_START = "session-start"
SUBAGENT_START = "subagent-start"
PROMPT = "prompt"
STOP = "stop"
PRE_COMPACT = "pre-compact"
SESSION_END = "session-end"
WROTE = "wrote"
#: Our names of what happens in a session, in the order in which it does.
EVENTS = (SESSION_START, PROMPT, SUBAGENT_START, WROTE, STOP, PRE_COMPACT, SESSION_END)


def _nested(called: str, text: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": called, "additionalContext": text}}


def _flat(called: str, text: str) -> Json:
    return {"additional_context": text}


def _named(called: str, text: str) -> Json:
    return {"additionalContext": text}


def _blocked(called: str, text: str) -> Json:
    return {"decision": "block", "reason": text}


def _blocked_twice(called: str, text: str) -> Json:
    # The inner one is documented for VS Code; its agents from elsewhere read the outer one.
    return {"hookSpecificOutput": {"hookEventName": called, **_blocked(called, text)}, **_blocked(called, text)}


def _denied(called: str, text: str) -> Json:
    return {"decision": "deny", "reason": text}


def _followed(called: str, text: str) -> Json:
    return {"followup_message": text}


@dataclass(frozen=True)
class Host:
    """One host. `calls` are its names of our events; the first for one of them is what is answered with.

    `context` gives the model a text, `turn` one more turn with a text as the next message. `limit` is how many
    characters of a text arrive whole, counted in UTF-16. What is printed at the events in `mute` becomes words that
    a model reads, so that nothing is printed there. `shows_instructions`: a model there reads what our server says of
    how to use memory, so that no hook says it again.
    """

    name: str
    calls: Mapping[str, str]
    context: Shape = _nested
    turn: Shape = _blocked
    limit: int | None = None
    mute: frozenset[str] = field(default=frozenset())
    shows_instructions: bool = True

    def called(self, event: str) -> str:
        """What the host calls an event of ours; our name of it where the host has none."""
        return next((name for name, ours in self.calls.items() if ours == event), event)


_USUAL = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "SubagentStart": SUBAGENT_START,
    "PostToolUse": WROTE,
    "Stop": STOP,
    "PreCompact": PRE_COMPACT,
    "SessionEnd": SESSION_END,
}
_GEMINIS = {
    "SessionStart": SESSION_START,
    "BeforeAgent": PROMPT,
    "AfterTool": WROTE,
    "AfterAgent": STOP,
    "PreCompress": PRE_COMPACT,
    "SessionEnd": SESSION_END,
}
_CURSORS = {
    "sessionStart": SESSION_START,
    "beforeSubmitPrompt": PROMPT,
    "afterFileEdit": WROTE,
    "postToolUse": WROTE,
    "stop": STOP,
    "preCompact": PRE_COMPACT,
    "sessionEnd": SESSION_END,
}
_COPILOTS = {
    "sessionStart": SESSION_START,
    "userPromptSubmitted": PROMPT,
    "subagentStart": SUBAGENT_START,
    "postToolUse": WROTE,
    "agentStop": STOP,
    "preCompact": PRE_COMPACT,
    "sessionEnd": SESSION_END,
}
CLAUDE_CODE = Host("claude-code", _USUAL, limit=10_000, mute=frozenset({PRE_COMPACT}))
CODEX = Host("codex", _USUAL, limit=10_000)
GEMINI = Host("gemini", _GEMINIS, turn=_denied)
# Nobody could try whether Cursor shows instructions, and a model that does not know of its memory is worse.
CURSOR = Host("cursor", _CURSORS, context=_flat, turn=_followed, limit=10_000, shows_instructions=False)
VSCODE = Host("vscode", _USUAL, turn=_blocked_twice, limit=10_000)
# Its events have no name in what it tells: the command says which it is.
COPILOT = Host("copilot", _COPILOTS, context=_named, shows_instructions=False)
# Its plugin asks in the words of Claude Code, and puts the text where it belongs.
OPENCODE = Host("opencode", _USUAL)
HOSTS = {host.name: host for host in (CLAUDE_CODE, CODEX, GEMINI, CURSOR, VSCODE, COPILOT, OPENCODE)}


def named(name: str) -> Host:
    """The host of that name.

    Raises:
        InvalidArguments: there is none.
    """
    if name not in HOSTS:
        import difflib  # every hook loads this module, and few have a host that there is not

        near = difflib.get_close_matches(name, HOSTS, n=1)
        raise InvalidArguments(f"no host named {name}: " + (f"did you mean {near[0]}?" if near else ", ".join(HOSTS)))
    return HOSTS[name]


def speaking(meant: Host, given: Mapping[str, object]) -> Host:
    """The host that tells it so to a hook of the host that is `meant`: VS Code runs those of two others as its own.

    It reads their configs, and calls the event what Claude Code does, under a key of its own in its first versions;
    Copilot CLI does not name it at all.
    """
    is_vscode = "hookEventName" in given or (meant is COPILOT and "hook_event_name" in given)
    return VSCODE if is_vscode and meant in (CLAUDE_CODE, COPILOT) else meant


def recognised(given: Mapping[str, object]) -> Host:
    """The host that tells it so. Two that tell and take the same are told apart by what only one adds."""
    called = str(given.get("hook_event_name", given.get("hookEventName")))
    if called in _GEMINIS and called not in _USUAL:
        return GEMINI
    if "conversation_id" in given or "cursor_version" in given or (called in _CURSORS and called not in _USUAL):
        return CURSOR
    if "sessionId" in given and not {"hookEventName", "hook_event_name"} & set(given):
        return COPILOT
    if "sessionId" in given or "hookEventName" in given:
        return VSCODE
    record = str(given.get("transcript_path") or "").replace("\\", "/")
    if "turn_id" in given or record.rpartition("/")[2].startswith("rollout-"):
        return CODEX
    return GEMINI if "timestamp" in given and "/.gemini/" in record else CLAUDE_CODE
