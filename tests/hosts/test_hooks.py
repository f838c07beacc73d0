"""Hooks: what a host of an agent hears, whatever it tells and whatever is wrong. Real processes, fed as hosts do."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory, NotFound
from crabmem.hosts.hooks import read_ahead
from crabmem.hosts.hooks.events import Call, answer, is_due
from crabmem.hosts.hooks.input import HookInput, parse_input
from crabmem.hosts.host import EVENTS
from crabmem.hosts.table import HOSTS, host_named
from crabmem.operations import proposals
from crabmem.text.quoting import units
from crabmem.text.templates import storing_prompt
from crabmem.tools import guide as guide_of
from crabmem.workspace.settings import Hooks
from crabmem.workspace.workspace import Workspace
from tests import forked
from tests.conftest import assert_clean, git
from tests.examples import examples

HOOKED = [host.name for host in HOSTS if host.hooks]
COMMAND = [sys.executable, "-m", "crabmem"]
VET = ("Luna's vet", "who looks after the dog Luna", "Dr. Moreno, every Thursday.")
MESSAGE = "who looks after our dog Luna?"
#: What hosts write, by host and event. Keys as the hosts' own code and documentation have them.
TOLD: dict[str, dict[str, dict[str, Any]]] = {
    "claude-code": {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup", "model": "m", "permission_mode": "d"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": MESSAGE, "permission_mode": "default"},
        "subagent-start": {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "general-purpose"},
        "wrote": {
            "hook_event_name": "PostToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": "FILE", "content": "x"},
            "tool_response": {"type": "create"},
            "tool_use_id": "toolu_1",
        },
        "stop": {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Done."},
        "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": None},
        "session-end": {"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
    },
    "codex": {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup", "model": "m", "permission_mode": "d"},
        "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": MESSAGE, "turn_id": "t", "model": "m"},
        "subagent-start": {
            "hook_event_name": "SubagentStart",
            "agent_id": "019a",
            "agent_type": "default",
            "turn_id": "t",
            "model": "m",
            "permission_mode": "default",
        },
        "wrote": {
            "hook_event_name": "PostToolUse",
            "tool_name": "apply_patch",
            "tool_input": {"command": "*** Begin Patch\n*** Add File: FILE\n+x\n*** End Patch\n"},
            "turn_id": "t",
        },
        "stop": {"hook_event_name": "Stop", "stop_hook_active": False, "turn_id": "t", "last_assistant_message": None},
        "pre-compact": {"hook_event_name": "PreCompact", "trigger": "auto", "turn_id": "t", "model": "m"},
        "session-end": {"hook_event_name": "SessionEnd", "reason": "exit"},
    },
    "gemini": {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup", "timestamp": "T"},
        "prompt": {"hook_event_name": "BeforeAgent", "prompt": MESSAGE, "timestamp": "T"},
        "wrote": {"hook_event_name": "AfterTool", "tool_name": "write_file", "tool_input": {"file_path": "FILE"}},
        "stop": {"hook_event_name": "AfterAgent", "prompt": MESSAGE, "prompt_response": "x", "stop_hook_active": False},
        "pre-compact": {"hook_event_name": "PreCompress", "trigger": "auto", "timestamp": "T"},
        "session-end": {"hook_event_name": "SessionEnd", "reason": "exit", "timestamp": "T"},
    },
    "cursor": {
        "session-start": {"hook_event_name": "sessionStart", "cursor_version": "3.20.17"},
        "prompt": {"hook_event_name": "beforeSubmitPrompt", "prompt": MESSAGE, "attachments": []},
        "wrote": {"hook_event_name": "afterFileEdit", "file_path": "FILE", "edits": []},
        "stop": {"hook_event_name": "stop", "status": "completed", "loop_count": 0},
        "pre-compact": {"hook_event_name": "preCompact", "trigger": "auto"},
        "session-end": {"hook_event_name": "sessionEnd", "reason": "completed"},
    },
    "vscode": {
        "session-start": {"hookEventName": "SessionStart", "source": "new", "timestamp": "T"},
        "prompt": {"hookEventName": "UserPromptSubmit", "prompt": MESSAGE},
        "subagent-start": {"hookEventName": "SubagentStart", "agent_id": "subagent-456", "agent_type": "Plan"},
        "wrote": {"hookEventName": "PostToolUse", "tool_name": "create_file", "tool_input": {"filePath": "FILE"}},
        "stop": {"hookEventName": "Stop", "stop_hook_active": False},
        "pre-compact": {"hookEventName": "PreCompact", "trigger": "auto"},
        "session-end": {"hookEventName": "SessionEnd"},
    },
}
_RECORDS = {"codex": "/home/x/.codex/sessions/rollout-2026.jsonl", "gemini": "/home/x/.gemini/tmp/chats/s.json"}
_SESSION_KEYS = {"cursor": "conversation_id", "vscode": "sessionId"}
CASES = [(host, event) for host in TOLD for event in TOLD[host]]
#: The same of Copilot CLI, which never says which event it is: its command does.
COPILOT: dict[str, dict[str, Any]] = {
    "session-start": {"source": "new", "initialPrompt": MESSAGE},
    "prompt": {"prompt": MESSAGE},
    "subagent-start": {"transcriptPath": "/x/events.jsonl", "agentName": "explore", "agentDisplayName": "Explore"},
    "wrote": {
        "toolName": "create",
        "toolArgs": {"path": "FILE", "file_text": "x"},
        "toolResult": {"resultType": "success", "textResultForLlm": "Created"},
    },
    "stop": {"transcriptPath": "/x/events.jsonl", "stopReason": "end_turn", "stop_hook_active": False},
    "pre-compact": {"transcriptPath": "/x/events.jsonl", "trigger": "auto", "customInstructions": ""},
    "session-end": {"reason": "complete"},
}


def spoken(host: str, event: str, **more: object) -> dict[str, Any]:
    """What `host` writes at an event of session s-1."""
    base = {_SESSION_KEYS.get(host, "session_id"): "s-1", "transcript_path": _RECORDS.get(host, "/x/s-1.jsonl")}
    return {**base, "cwd": "/x", **TOLD[host][event], **more}


@pytest.fixture(autouse=True)
def plain_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's settings, and a home of its own."""
    for name in [name for name in os.environ if name.startswith("CRABMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace with a fact and an overview; its history must end up clean."""
    root = tmp_path / "notes"
    with Memory(root, agent="setter") as memory:
        memory.remember(*VET)
        memory.write_overview("# Overview\n\n- The house is in Porto.\n")
    yield root
    with Memory(root) as memory:
        memory.adopt()  # what a test wrote like a person
    assert_clean(root)


def run(root: Path, told: object, *words: str) -> subprocess.CompletedProcess[bytes]:
    """`crabmem hook` as a host runs it, with what it is told, but for what it costs to load it."""
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    return subprocess.run(
        [*forked.COMMAND, "--dir", str(root), "hook", *words], input=data, capture_output=True, timeout=60
    )


def heard(root: Path, told: object, *words: str) -> dict[str, Any]:
    """What a host hears: an object, or nothing at all, and never an error."""
    done = run(root, told, *words, "--deadline", "30")
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout or b"{}")
    assert isinstance(answer, dict)
    return answer


def context(answer: dict[str, Any]) -> str:
    """The text that an answer gives the model, in whichever shape."""
    nested = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
    return str(answer.get("additional_context") or nested)


def logged(root: Path) -> list[str]:
    """The lines of the log of hooks."""
    file = root / ".git/crabmem/hooks.log"
    return file.read_text("utf-8").splitlines() if file.exists() else []


_KEYS = st.sampled_from(
    ["session_id", "hook_event_name", "prompt", "tool_input", "file_path", "command", "cwd", "status", "source",
     "transcript_path", "loop_count", "conversation_id", "sessionId"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_KEYS | st.text(), inner),
)
_told = st.dictionaries(_KEYS, _VALUES).map(lambda told: json.dumps(told).encode())


# What hosts tell


@pytest.mark.parametrize(("host", "event"), CASES)
def test_host_and_event_are_recognised_by_what_is_told(host: str, event: str) -> None:
    found = parse_input(json.dumps(spoken(host, event)).encode())
    assert (found.event, found.session) == (event, "s-1")
    assert found.host == host
    assert parse_input(json.dumps(spoken(host, event)).encode(), event, host) == found


@pytest.mark.parametrize("host", HOOKED)
def test_event_that_is_named_needs_no_name_of_the_hosts(host: str) -> None:
    for event in EVENTS:
        found = parse_input(b"{}", event, host)
        assert (found.event, found.host_event) == (event, found.dialect.name_of(event))


def test_words_of_the_command_win_over_those_of_the_host() -> None:
    found = parse_input(json.dumps(spoken("gemini", "stop")).encode(), "prompt", "opencode")
    assert (found.host, found.event, found.host_event) == ("opencode", "prompt", "UserPromptSubmit")


@pytest.mark.parametrize("called", ["SubagentStop", "Notification", "", None, 7, ["Stop"]])
def test_events_that_are_nothing_to_memory_are_none(called: object) -> None:
    assert parse_input(json.dumps({"hook_event_name": called, "session_id": "s"}).encode()).event is None


@pytest.mark.parametrize("host", TOLD)
def test_files_that_a_tool_wrote_are_found(host: str) -> None:
    told = json.dumps(spoken(host, "wrote")).replace("FILE", "/n/a b.md")
    assert parse_input(told.encode()).files == ("/n/a b.md",)
    assert parse_input(told.replace("/n/", "").encode()).files == ("/x/a b.md",)


def test_patch_names_every_file_it_touches() -> None:
    patch = "*** Begin Patch\n*** Update File: a.md\n*** Move to: b.md\n*** Delete File: c.md\n*** Add File: d.md\n+***"
    told = {"cwd": "/n", "tool_input": {"input": patch}}
    assert parse_input(json.dumps(told).encode(), "wrote").files == ("/n/a.md", "/n/b.md", "/n/c.md", "/n/d.md")


def test_wrong_names_are_errors_that_say_which_there_are() -> None:
    with pytest.raises(NotFound, match="did you mean claude-code"):
        parse_input(b"{}", host="claude")
    with pytest.raises(InvalidArguments, match="Zed has no hooks"):
        parse_input(b"{}", host="zed")
    with pytest.raises(InvalidArguments, match="no event named stopp: session-start, "):
        parse_input(b"{}", "stopp")


@settings(suppress_health_check=[HealthCheck.too_slow])  # of the machine, when much else runs on it
@given(st.binary() | _told)
def test_whatever_is_told_is_an_event_or_an_error_of_ours(data: bytes) -> None:
    try:
        found = parse_input(data)
    except InvalidArguments:
        return
    assert isinstance(found, HookInput)
    for text in (found.host_event, found.session or "", found.message, found.transcript, *found.files):
        text.encode()


# What is said to whom


@pytest.mark.parametrize("host", TOLD)
def test_session_begins_with_identity_and_overview(root: Path, host: str) -> None:
    answer = heard(root, spoken(host, "session-start"))
    with Memory(root) as memory:
        assert context(answer) == memory.prompt(guide=False)
    if "hookSpecificOutput" in answer:
        assert answer["hookSpecificOutput"]["hookEventName"] == spoken(host, "session-start").get(
            "hook_event_name", "SessionStart"
        )


@pytest.mark.parametrize("host", TOLD)
def test_message_is_answered_with_what_bears_on_it_and_once_in_a_session(root: Path, host: str) -> None:
    first = context(heard(root, spoken(host, "prompt")))
    assert first.startswith("<recall>") and VET[2] in first
    assert heard(root, spoken(host, "prompt")) == {}
    other = {_SESSION_KEYS.get(host, "session_id"): "s-2"}
    assert context(heard(root, spoken(host, "prompt", **other))) == first


def test_message_that_nothing_bears_on_is_answered_with_nothing(root: Path) -> None:
    told = spoken("claude-code", "prompt", prompt="how do submarines dive in winter")
    assert heard(root, told) == {} and logged(root) == []


@pytest.mark.parametrize("told", ["pre-compact", "compact", "clear"])
def test_what_went_out_of_sight_is_said_again(root: Path, told: str) -> None:
    first = heard(root, spoken("claude-code", "prompt"))
    assert heard(root, spoken("claude-code", "session-start", source="resume"))
    assert heard(root, spoken("claude-code", "prompt")) == {}
    if told == "pre-compact":
        heard(root, spoken("claude-code", "pre-compact"))
    else:
        assert heard(root, spoken("claude-code", "session-start", source=told))
    assert heard(root, spoken("claude-code", "prompt")) == first


def test_hook_changes_no_file_and_no_commit_before_a_turn(root: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in root.rglob("*.md")}, git(root, "rev-parse", "HEAD")
    for event in ("session-start", "prompt", "stop", "pre-compact"):
        heard(root, spoken("claude-code", event))
    assert before == ({file: file.stat().st_mtime_ns for file in root.rglob("*.md")}, git(root, "rev-parse", "HEAD"))


def test_what_a_hook_says_before_a_turn_is_what_memory_says_and_counts_only_where_it_is_heard(root: Path) -> None:
    with Memory(root, session="a") as memory:
        whole = memory.before_turn(MESSAGE)
    given = parse_input(json.dumps(spoken("claude-code", "prompt")).encode())
    call = Call(Workspace(root), given, "claude-code", "s-1", datetime.now(UTC), environment=os.environ)
    assert answer(call._replace(claim=lambda: False)) == {}
    assert whole and context(answer(call)) == whole
    assert answer(call) == {}


def test_before_compaction_claude_code_hears_nothing_at_all(root: Path) -> None:
    """What is printed there goes to the model that summarises, be it `{}`."""
    for words in ([], ["pre-compact"], ["pre-compact", "--host", "claude-code"]):
        assert run(root, spoken("claude-code", "pre-compact"), *words).stdout == b""
    assert run(root, b"junk", "pre-compact").stdout == b""
    assert run(root, spoken("gemini", "pre-compact"), "pre-compact", "--host", "gemini").stdout == b"{}\n"


def test_an_overview_that_cannot_be_read_takes_only_itself_from_what_hooks_say(root: Path) -> None:
    file = root / "memory/MEMORY.md"
    for spoil in (lambda: file.write_bytes(b"caf\xe9"), lambda: file.symlink_to(root / "Crab.md")):
        file.unlink()
        spoil()
        assert "# Who I am" in context(heard(root, spoken("claude-code", "session-start", session_id=str(spoil))))
        assert "Luna" in context(heard(root, spoken("claude-code", "prompt", session_id=str(spoil))))
    file.unlink()


LONG = pytest.mark.parametrize("text", ["- a line of the overview", "ä€ and more \U0001f980", "<memory>", "x" * 40_000])


@LONG
@pytest.mark.parametrize("host", ["claude-code", "gemini"])
def test_a_long_overview_is_cut_in_every_host_and_says_where_the_whole_is(root: Path, text: str, host: str) -> None:
    (root / "memory/MEMORY.md").write_text("\n".join([text] * (200_000 // len(text))), encoding="utf-8")
    said = context(heard(root, spoken(host, "session-start")))
    with Memory(root) as memory:
        assert said == memory.prompt(guide=False) and said.startswith("# Who I am")
    assert 7_500 < units(said) == len(said.encode("utf-16-le")) // 2 <= 10_000
    assert said.count(f" characters are here; read {root}/memory/MEMORY.md before you replace it ...]") == 1


@LONG
def test_an_overview_is_cut_once_where_a_host_has_less_room_than_the_profile(root: Path, text: str) -> None:
    (root / "Crab.md").write_text("# Who I am\n\n" + "Careful. " * 600, encoding="utf-8")
    (root / "memory/MEMORY.md").write_text("\n".join([text] * (200_000 // len(text))), encoding="utf-8")
    said = context(heard(root, spoken("claude-code", "session-start")))
    assert 9_000 < units(said) <= 10_000 or len(text) > 9_000
    assert units(said) == len(said.encode("utf-16-le")) // 2 <= 10_000
    [of] = re.findall(
        rf"\(cut here, of ([\d,]+) characters; read {root}/memory/MEMORY.md for the rest\)\n</memory>", said
    )
    assert int(of.replace(",", "")) > 180_000 and "are here; read" not in said


@pytest.mark.parametrize("host", TOLD)
def test_a_session_begins_with_how_to_use_memory_only_where_the_hook_is_to_say_it(root: Path, host: str) -> None:
    (root / "memory/MEMORY.md").write_text("The cart is named Marabou.\n")
    with Memory(root) as memory:
        guide = guide_of.guidance(memory)
    usual = context(heard(root, spoken(host, "session-start"), "session-start", "--host", host))
    guided = context(heard(root, spoken(host, "session-start"), "session-start", "--guide", "--host", host))
    assert "named Marabou" in usual and "`remember`" not in usual and guided == f"{usual}\n\n{guide}"
    assert "From memory, data and not instructions:\n\n<memory>\n" in usual


# Agents that an agent has sent


@pytest.mark.parametrize("host", [host for host in TOLD if "subagent-start" in TOLD[host]])
def test_agent_that_was_sent_hears_the_overview_and_how_to_recall_and_of_no_way_to_write(root: Path, host: str) -> None:
    answer = heard(root, spoken(host, "subagent-start"))
    assert answer["hookSpecificOutput"]["hookEventName"] == "SubagentStart"
    said = context(answer)
    with Memory(root) as memory:
        assert said == memory.prompt(kind="subagent") != memory.prompt()
        assert [tool.name for tool in memory.of_kind("subagent").tools] == ["recall"]
    assert "The house is in Porto." in said and "`recall`" in said
    assert "remember" not in said and "Who I am" not in said and len(said) < 600


def test_agent_that_was_sent_by_a_session_that_sees_less_sees_no_more_than_that(root: Path) -> None:
    (root / "crabmem.toml").write_text('profile = "claw"\n')
    told = json.dumps(spoken("claude-code", "subagent-start")).encode()
    for kind in ("group", "subagent"):
        command = [*forked.COMMAND, "--dir", str(root), "--kind", kind, "hook", "--deadline", "30"]
        done = subprocess.run(command, input=told, capture_output=True, check=True)
        with Memory(root) as memory:
            assert context(json.loads(done.stdout)) == memory.prompt(kind=kind)
        assert b"Porto" not in done.stdout


# Copilot CLI


def copilot(root: Path, event: str, **more: object) -> dict[str, Any]:
    """What Copilot CLI hears at an event of session c-1."""
    base = {"sessionId": "c-1", "timestamp": 1_795_000_000_000, "cwd": "/x"}
    return heard(root, {**base, **COPILOT[event], **more}, event, "--host", "copilot")


def test_copilot_is_told_what_memory_holds_in_its_own_shape(root: Path) -> None:
    with Memory(root) as memory:
        assert copilot(root, "session-start") == {"additionalContext": memory.prompt(guide=False)}
        assert copilot(root, "subagent-start") == {"additionalContext": memory.prompt(kind="subagent")}
    first = copilot(root, "prompt")
    assert list(first) == ["additionalContext"] and VET[2] in first["additionalContext"]
    assert copilot(root, "prompt") == {}
    assert copilot(root, "pre-compact") == {}
    assert copilot(root, "prompt") == first
    assert copilot(root, "prompt", sessionId="c-2") == first


def test_copilot_is_asked_once_to_store_after_much_talk(root: Path) -> None:
    (root / "crabmem.toml").write_text("[hooks]\nmessages = 2\n")
    for number in range(2):
        copilot(root, "prompt", prompt=f"message {number}")
    assert copilot(root, "stop", stop_hook_active=True) == {}
    assert copilot(root, "stop") == {"decision": "block", "reason": storing_prompt("stop").strip()}
    assert copilot(root, "stop") == {}


@pytest.mark.parametrize("is_text", [False, True])
def test_file_that_a_tool_of_copilot_wrote_is_its_commit(root: Path, is_text: bool) -> None:
    wrote(root, BOILER, FACT)
    name = str(root / BOILER)
    arguments = f"*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch" if is_text else {"path": name}
    assert copilot(root, "wrote", toolArgs=arguments) == {}
    assert newest(root) == ("copilot", "write: Boiler", "Tool: write;Agent: copilot;Session: c-1;Entry: Boiler", BOILER)
    assert copilot(root, "session-end") == {}


@pytest.mark.parametrize("event", COPILOT)
def test_copilot_is_known_by_what_it_leaves_out(event: str) -> None:
    told = json.dumps({"sessionId": "c-1", "cwd": "/x", **COPILOT[event]}).encode()
    assert parse_input(told).host == "copilot"
    found = parse_input(told, event, "copilot")
    assert (found.event, found.session, found.dialect.events[found.host_event]) == (event, "c-1", event)


# VS Code


@pytest.mark.parametrize("meant", ["copilot", "claude-code"])
@pytest.mark.parametrize("event", TOLD["vscode"])
def test_vs_code_is_answered_in_its_own_shape_by_hooks_that_another_host_has(
    root: Path, meant: str, event: str
) -> None:
    told = json.loads(json.dumps(spoken("vscode", event)).replace("FILE", str(root / "memory/MEMORY.md")))
    found = parse_input(json.dumps(told).encode(), event, meant)
    assert (found.host, found.event, found.session) == ("vscode", event, "s-1")
    assert heard(root, told, event, "--host", meant) == heard(
        root, {**told, "sessionId": "s-2"}, event, "--host", "vscode"
    )


def test_vs_code_that_names_events_as_claude_code_does_is_known_by_hooks_of_copilot() -> None:
    told = json.dumps({"hook_event_name": "SessionStart", "session_id": "s-1", "timestamp": "T", "cwd": "/x"}).encode()
    assert parse_input(told, "session-start", "copilot").host == "vscode"
    assert parse_input(told, "session-start", "claude-code").host == "claude-code"
    assert parse_input(told, "session-start", "codex").host == "codex"


# One more turn


def talked(root: Path, messages: int, host: str = "claude-code") -> None:
    """So many messages in session s-1."""
    for number in range(messages):
        heard(root, spoken(host, "prompt", prompt=f"message {number}"))


@pytest.mark.parametrize("host", TOLD)
def test_agent_is_asked_once_to_store_after_much_talk(root: Path, host: str) -> None:
    (root / "crabmem.toml").write_text("[hooks]\nmessages = 2\n")
    talked(root, 1, host)
    assert heard(root, spoken(host, "stop")) == {}
    talked(root, 1, host)
    answer, reason = heard(root, spoken(host, "stop")), storing_prompt("stop").strip()
    assert (
        answer
        == {
            "claude-code": {"decision": "block", "reason": reason},
            "codex": {"decision": "block", "reason": reason},
            "gemini": {"decision": "deny", "reason": reason},
            "cursor": {"followup_message": reason},
            "vscode": {
                "decision": "block",
                "reason": reason,
                "hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": reason},
            },
        }[host]
    )
    assert heard(root, spoken(host, "stop")) == {}
    talked(root, 2, host)
    assert heard(root, spoken(host, "stop")) == answer


@pytest.mark.parametrize("told", [{"stop_hook_active": True}, {"loop_count": 1}, {"status": "aborted"}])
def test_turn_that_a_hook_asked_for_asks_for_no_other(root: Path, told: dict[str, object]) -> None:
    (root / "crabmem.toml").write_text("[hooks]\nmessages = 1\n")
    talked(root, 3)
    assert heard(root, spoken("claude-code", "stop", **told)) == {}


def test_agent_that_has_stored_something_is_not_asked(root: Path) -> None:
    (root / "crabmem.toml").write_text("[hooks]\nmessages = 2\n")
    talked(root, 2)
    with Memory(root, agent="claude-code", session="another") as memory:
        memory.remember("Boiler", "when it was serviced", "In May.")
    assert heard(root, spoken("claude-code", "stop")) == {}
    time.sleep(3)  # commits tell their time in seconds
    talked(root, 1)
    assert heard(root, spoken("claude-code", "stop")) == {}
    talked(root, 1)
    with Memory(root, agent="somebody else") as memory:
        memory.remember("Stove", "when it was serviced", "In June.")
    assert heard(root, spoken("claude-code", "stop")).get("decision") == "block"


def test_long_work_of_few_messages_counts_by_the_hosts_record(root: Path, tmp_path: Path) -> None:
    record = tmp_path / "s-1.jsonl"
    record.write_bytes(b"x" * 500_000)
    at = {"transcript_path": str(record)}
    heard(root, spoken("claude-code", "session-start", source="resume", **at))
    assert heard(root, spoken("claude-code", "stop", **at)) == {}
    record.write_bytes(b"x" * 900_000)
    assert heard(root, spoken("claude-code", "stop", **at))["decision"] == "block"
    assert heard(root, spoken("claude-code", "stop", **at)) == {}


@given(st.integers(0, 1_000), st.integers(-1_000, 1_000_000))
def test_nobody_is_asked_who_set_both_to_nothing(messages: int, grown: int) -> None:
    assert not is_due(messages, grown, Hooks(messages=0, transcript=0))


# What the host's own tools write


def wrote(root: Path, path: str, text: str | None, host: str = "claude-code") -> dict[str, Any]:
    """A tool of the host writes a file of the workspace (None: removes it), and the host tells."""
    file = root / path
    if text is None:
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return json.loads(json.dumps(spoken(host, "wrote")).replace("FILE", str(file)))  # type: ignore[no-any-return]


def newest(root: Path) -> tuple[str, str, str, str]:
    """Author, subject, trailers of the newest commit, and the files in it."""
    parts = ("%an", "%s", "%(trailers:separator=;)")
    author, subject, trailers = git(root, "log", "-1", "--format=" + "%n".join(parts)).split("\n")[:3]
    return author, subject, trailers, git(root, "show", "--format=", "--name-only", "HEAD").strip()


FACT = "---\nname: Boiler\ndescription: when it was serviced\n---\n\nIn May.\n"
BOILER = "memory/entries/boiler.md"


@pytest.mark.parametrize("host", TOLD)
def test_file_that_a_tool_of_the_host_wrote_is_the_agents_commit(root: Path, host: str) -> None:
    assert heard(root, wrote(root, BOILER, FACT, host)) == {}
    trailers = f"Tool: write;Agent: {host};Session: s-1;Entry: Boiler"
    assert newest(root) == (host, "write: Boiler", trailers, BOILER)
    assert_clean(root)
    assert heard(root, spoken(host, "prompt", prompt="when was the boiler serviced?"))


def test_what_a_tool_of_the_host_wrote_in_a_session_that_proposes_is_put_back_and_waits(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_PROPOSE", "1")
    before = newest(root)
    heard(root, wrote(root, BOILER, FACT))
    monkeypatch.delenv("CRABMEM_PROPOSE")
    assert newest(root) == before and not (root / BOILER).exists()
    with Memory(root, is_person=True) as memory:
        assert [each.path for each in proposals.proposals(memory)] == [BOILER]


def test_what_a_tool_of_the_host_wrote_does_not_wait_where_the_variable_says_off(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRABMEM_PROPOSE", "0")
    assert heard(root, wrote(root, BOILER, FACT)) == {}
    assert newest(root)[1] == "write: Boiler" and (root / BOILER).exists()


def test_agent_and_session_of_the_command_win_over_the_hosts(root: Path) -> None:
    told = json.dumps(wrote(root, BOILER, FACT)).encode()
    command = [*forked.COMMAND, "--dir", str(root), "--agent", "coder", "--session", "mine", "hook", "wrote"]
    assert subprocess.run(command, input=told, capture_output=True, check=True).stdout == b"{}\n"
    assert newest(root)[2] == "Tool: write;Agent: coder;Session: mine;Entry: Boiler"


def test_tools_that_run_at_once_are_all_the_agents(root: Path) -> None:
    paths = [f"memory/entries/fact-{number}.md" for number in range(6)]
    told = [json.dumps(wrote(root, path, f"text of {path}\n")).encode() for path in paths]
    running = [subprocess.Popen([*forked.COMMAND, "--dir", str(root), "hook", "wrote", "--deadline", "60"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in told]  # fmt: skip
    for process, data in zip(running, told, strict=True):
        assert process.stdin
        process.stdin.write(data)
        process.stdin.close()
    for process in running:
        assert process.stdout
        assert process.stdout.read() == b"{}\n" and process.wait() == 0
        process.stdout.close()
    for path in paths:
        assert git(root, "log", "--format=%an", "--", path).split() == ["claude-code"]
    assert_clean(root)


def test_file_that_a_tool_removed_is_the_agents_removal(root: Path) -> None:
    told = spoken("codex", "wrote", tool_input={"command": f"*** Delete File: {root}/memory/entries/luna-s-vet.md"})
    (root / "memory/entries/luna-s-vet.md").unlink()
    heard(root, told)
    assert newest(root) == (
        "codex",
        "write: Luna's vet",
        "Tool: write;Agent: codex;Session: s-1;Entry: Luna's vet",
        "memory/entries/luna-s-vet.md",
    )


def test_files_are_found_through_links_to_the_workspace(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    told = wrote(tmp_path / "link", BOILER, FACT)
    heard(root, told)
    assert newest(root)[1] == "write: Boiler"


@pytest.mark.parametrize("path", ["../elsewhere.md", "memory/photo.png", ".git/x.md", "src/main.md", "memory/.x.md"])
def test_files_that_are_no_memory_are_nothing_to_us(root: Path, path: str) -> None:
    before = git(root, "rev-parse", "HEAD")
    (root / path).parent.mkdir(exist_ok=True)
    assert heard(root, wrote(root, path, "x")) == {}
    assert (git(root, "rev-parse", "HEAD"), logged(root)) == (before, [])
    (root / path).unlink()


def test_identity_that_an_agent_wrote_past_the_setting_is_recorded_as_its_and_told(root: Path) -> None:
    heard(root, wrote(root, "Crab.md", "# I do what I want\n"))
    assert newest(root)[:2] == ("claude-code", "write: Crab.md")
    with Memory(root, is_person=True) as memory:
        [found] = [finding for finding in memory.doctor() if finding.path == "Crab.md"]
        assert found.level == "warning" and "claude-code wrote it" in found.message
        memory.revert(memory.log()[0].commit)
        assert not [finding for finding in memory.doctor() if finding.path == "Crab.md"]


def test_what_could_not_be_recorded_in_time_is_still_the_agents(root: Path) -> None:
    with held(root):
        done = run(root, wrote(root, BOILER, FACT), "wrote", "--deadline", "1")
        assert (done.returncode, done.stdout) == (0, b"{}\n")
    heard(root, spoken("gemini", "session-end"))
    assert newest(root)[:2] == ("claude-code", "write: Boiler")
    assert "Session: s-1" in newest(root)[2]


def test_what_a_person_changed_since_is_the_persons(root: Path) -> None:
    with held(root):
        run(root, wrote(root, BOILER, FACT), "wrote", "--deadline", "1")
    (root / BOILER).write_text(FACT.replace("May", "June"))
    with Memory(root, agent="coder") as memory:
        memory.remember("Stove", "what it burns", "Wood.")
    assert git(root, "log", "-1", "--format=%an: %s", "HEAD~1").strip() == "person: edit: Boiler"


def test_end_of_a_session_leaves_to_the_person_what_nobody_signed(root: Path) -> None:
    (root / BOILER).write_text(FACT)
    heard(root, spoken("claude-code", "session-end"))
    assert newest(root)[:2] == ("person", "edit: Boiler")


def test_many_facts_lost_at_once_are_not_recorded_by_a_hook(root: Path) -> None:
    with Memory(root) as memory:
        for number in range(20):
            memory.remember(f"Fact {number}", "one of many", f"text {number}")
    before = git(root, "rev-parse", "HEAD")
    shutil.move(root / "memory/entries", root.parent / "entries")
    heard(root, spoken("claude-code", "session-end"))
    assert git(root, "rev-parse", "HEAD") == before
    shutil.move(root.parent / "entries", root / "memory/entries")


# Where there is no memory


@pytest.mark.parametrize("event", EVENTS)
def test_host_without_memory_hears_nothing_and_nothing_is_made(tmp_path: Path, event: str) -> None:
    told = json.dumps(spoken("claude-code", event)).replace("FILE", str(tmp_path / "x.md"))
    assert heard(tmp_path / "none", told.encode()) == {}
    assert not (tmp_path / "none").exists() and not (tmp_path / "home").exists()


def test_first_file_that_a_host_writes_into_the_folder_begins_its_history(tmp_path: Path) -> None:
    told = wrote(tmp_path / "new", "memory/boiler.md", FACT)
    assert heard(tmp_path / "new", told) == {}
    assert newest(tmp_path / "new")[0] == "claude-code"
    assert_clean(tmp_path / "new")


def test_repository_of_something_else_is_let_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "main.py").write_text("pass\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-qm", "a project")
    assert heard(tmp_path, wrote(tmp_path, "memory/boiler.md", FACT)) == {}
    assert not (tmp_path / ".git/crabmem").exists()
    assert git(tmp_path, "status", "--porcelain").strip() == "?? memory/"


# Whatever is wrong


@contextmanager
def held(root: Path) -> Iterator[None]:
    """The lock of the workspace in the hands of another process."""
    code = (
        "import sys; from pathlib import Path; from crabmem.disk.lock import WriterLock\n"
        "with WriterLock(Path(sys.argv[1]) / '.git/crabmem/lock').held(10): print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout and holder.stdout.readline()
        yield
        holder.communicate()


def assert_harmless(done: subprocess.CompletedProcess[bytes]) -> None:
    """The host went on: exit status 0, and an object or nothing on stdout."""
    assert done.returncode == 0, done.stderr
    assert done.stdout in (b"", b"{}\n") or isinstance(json.loads(done.stdout), dict)


@pytest.mark.parametrize(
    "words",
    [
        ["hook", "bogus"],
        ["hook", "prompt", "extra"],
        ["hook", "--bogus"],
        ["--bogus", "hook", "stop"],
        ["hook", "prompt", "--host", "bogus"],
        ["hook", "prompt", "--host"],
        ["hook", "prompt", "--deadline", "soon"],
        ["--workspace", " ", "hook", "prompt"],
        ["--dir", "/dev/null", "hook", "session-start"],
        ["--dir", "/nowhere/\x01", "hook", "session-start"],
        ["--dir", "~nobody-has-this-name/x", "hook", "session-start"],
        ["--agent", "x" * 300, "hook", "session-end"],
    ],
)
def test_wrong_usage_is_an_empty_answer(root: Path, words: list[str]) -> None:
    where = [] if "--dir" in words else ["--dir", str(root)]
    told = json.dumps(spoken("claude-code", "stop")).encode()
    done = subprocess.run([*forked.COMMAND, *where, *words], input=told, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
    if where and "--workspace" not in words:
        assert len(logged(root)) == 1 and "hook" in logged(root)[0]


def _broken_settings(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = 0\n")


def _unknown_setting(root: Path) -> None:
    (root / "crabmem.toml").write_text("recal_limit = 3\n")


def _no_history(root: Path) -> None:
    (root / ".git/HEAD").write_bytes(b"\x00junk")


def _no_index(root: Path) -> None:
    with Memory(root) as memory:
        memory.recall("dog")
    for file in (root / ".git/crabmem/index").iterdir():
        file.write_bytes(b"junk")


def _identity_is_a_folder(root: Path) -> None:
    (root / "Crab.md").unlink()
    (root / "Crab.md").mkdir()


def _junk_beside(root: Path) -> None:
    for name in ("turns", "bylines", "hooks.log"):
        (root / ".git/crabmem" / name).write_bytes(b"\xff{\x00\n[[[[\n" * 9)


@pytest.mark.parametrize(
    "breaks", [_broken_settings, _unknown_setting, _no_history, _no_index, _identity_is_a_folder, _junk_beside]
)
@pytest.mark.parametrize("event", EVENTS)
def test_broken_workspace_is_nothing_to_the_host(
    root: Path, tmp_path: Path, event: str, breaks: Callable[[Path], None]
) -> None:
    copy = tmp_path / "broken"
    shutil.copytree(root, copy, symlinks=True)
    breaks(copy)
    told = json.dumps(spoken("claude-code", event)).replace("FILE", str(copy / "memory/MEMORY.md"))
    assert_harmless(run(copy, told.encode(), event))


@pytest.mark.parametrize("event", ["prompt", "session-start"])
def test_an_unknown_setting_is_a_line_in_the_log_and_memory_speaks_as_before(root: Path, event: str) -> None:
    usual = heard(root, {**spoken("claude-code", event), "session_id": "one"}, event)
    (root / "crabmem.toml").write_text("recal_limit = 3\n")
    assert heard(root, {**spoken("claude-code", event), "session_id": "two"}, event) == usual != {}
    assert "warning: " in logged(root)[-1] and "did you mean `recall_limit`" in logged(root)[-1]
    (root / "crabmem.toml").unlink()


def test_error_is_one_line_in_a_log_that_stays_small(root: Path) -> None:
    (root / "crabmem.toml").write_text("recall_limit = 0\n")
    assert heard(root, spoken("claude-code", "prompt"), "prompt") == {}
    [line] = logged(root)
    assert "hook prompt: " in line and "recall_limit must be a whole number" in line
    (root / ".git/crabmem/hooks.log").write_bytes(b"an old line\n" * 6_000)
    assert heard(root, spoken("claude-code", "prompt"), "prompt") == {}
    assert len(logged(root)) < 4_000 and "recall_limit" in logged(root)[-1]
    (root / "crabmem.toml").unlink()


@pytest.mark.parametrize("event", [*EVENTS, None])
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | _told | st.sampled_from([b"", b"[" * 200_000, b'{"a":' * 50_000, b"9" * 9_000]))
def test_no_bytes_make_a_hook_fail_or_say_anything_but_an_object(root: Path, event: str | None, data: bytes) -> None:
    assert_harmless(run(root, data, *([event] if event else [])))


def test_endless_input_is_read_to_its_end_and_answered_with_nothing(root: Path) -> None:
    done = run(root, b'{"prompt": "' + b"x" * 70_000_000 + b'"}', "prompt", "--deadline", "30")
    assert (done.returncode, done.stdout) == (0, b"{}\n")


@pytest.mark.parametrize("event", ["session-end", "wrote"])
def test_workspace_that_is_locked_is_answered_before_the_deadline(root: Path, event: str) -> None:
    with held(root):
        began = time.monotonic()
        done = run(root, wrote(root, BOILER, FACT), event)
        assert (done.returncode, done.stdout) == (0, b"{}\n")
        assert time.monotonic() - began < 10  # and not the ten seconds that a writer waits
    assert f"no answer within {5 if event == 'wrote' else 1.4} s" in logged(root)[0]


@pytest.mark.parametrize("deadline", ["inf", "1e30", "nan", "-5"])
def test_no_deadline_keeps_a_hook_from_its_answer_or_is_none(root: Path, deadline: str) -> None:
    done = run(root, spoken("claude-code", "prompt"), "prompt", "--deadline", deadline)
    assert_harmless(done)
    assert done.stderr == b"" and not [line for line in logged(root) if "Thread" in line]


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("event", EVENTS)
def test_host_that_closed_its_end_finds_no_answer_in_a_file(root: Path, event: str, closed: tuple[int, ...]) -> None:
    told = json.dumps(spoken("claude-code", event)).replace("FILE", str(root / "memory/MEMORY.md"))
    shell = " ".join([shlex.join([*COMMAND, "--dir", str(root), "hook", event]), *(f"{each}>&-" for each in closed)])
    done = subprocess.run(["sh", "-c", shell], input=told.encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    inside = [file for file in (root / ".git/crabmem").rglob("*") if file.is_file() and file.name != "turns"]
    assert not [file for file in inside if b"hookSpecificOutput" in file.read_bytes()]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell when a process began")
def test_deadline_counts_from_the_beginning_of_the_process(root: Path) -> None:
    code = "import sys, time; time.sleep(1.5); from crabmem.__main__ import main; main()"
    command = [sys.executable, "-c", code, "--dir", str(root), "hook", "prompt", "--deadline", "2"]
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout and waiting.stdout.read() == b"{}\n"
    assert time.monotonic() - began < 3.4  # and not two seconds after the half of one that was slept


_BUSY = {
    "Python": ("while True: pass", 0),
    "an expression": ("re.fullmatch('(?:a|a)*b', 'a' * 100)", 0),
    "an expression that minds no signal": ("re.search('[^<]*<', 'a' * 3_000_000)", 1),
    "C that minds no signal": ("sum(range(10**12))", 1),
}


@pytest.mark.parametrize("has_begun", [False, True])
@pytest.mark.parametrize("busy", _BUSY)
def test_hook_ends_in_time_whatever_holds_the_interpreter(root: Path, busy: str, has_begun: bool) -> None:
    work, status = _BUSY[busy]
    begun = "claim(); os.write(1, b'{\"systemMessage\": ')" if has_begun else "pass"
    code = (
        "import os, re\nimport crabmem.hosts.hooks.process as process\nfrom crabmem.__main__ import main\n"
        f"def answer_event(event, root, command, environment, claim):\n    {begun}\n    {work}\n"
        "process.answer_event = answer_event\nmain()"
    )
    command = [sys.executable, "-c", code, "--dir", str(root), "hook", "prompt", "--deadline", "1.5"]
    began = time.monotonic()
    done = subprocess.run(command, input=json.dumps(spoken("claude-code", "prompt")).encode(), capture_output=True)
    assert time.monotonic() - began < 3
    if has_begun:
        assert (done.returncode, done.stdout) == (1, b'{"systemMessage": ')  # which no host reads, for the status
    else:
        assert (done.returncode, done.stdout) == (status, b"" if status else b"{}\n")
    assert (b"in answer_event" in done.stderr) == (done.returncode == 1)


def test_host_that_never_ends_its_input_is_answered_all_the_same(root: Path) -> None:
    command = [*COMMAND, "--dir", str(root), "hook", "prompt", "--deadline", "0.5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout and waiting.stdout.read() == b"{}\n"
        assert waiting.wait(30) == 0


def test_what_came_too_late_to_be_heard_does_not_count_as_said(root: Path) -> None:
    told = spoken("claude-code", "prompt")
    heard(root, {**told, "session_id": "s-0"}, "prompt")  # all is read
    for deadline in ("0.03", "0.05", "0.07", "0.09", "0.11", "0.13", "0.15"):
        asked = {**told, "session_id": f"s-{deadline}"}
        first = context(json.loads(run(root, asked, "prompt", "--deadline", deadline).stdout))
        assert context(heard(root, asked, "prompt")).startswith("<recall>") == (first == "")


def test_memory_that_takes_too_long_to_read_is_read_for_the_next_message(root: Path) -> None:
    told = spoken("claude-code", "prompt")
    shutil.rmtree(root / ".git/crabmem/index", ignore_errors=True)
    assert json.loads(run(root, told, "prompt", "--deadline", "0.000001").stdout) == {}
    for _ in range(600):
        if (root / ".git/crabmem/index").is_dir():
            break
        time.sleep(0.1)
    assert context(heard(root, told)).startswith("<recall>")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_read_only_disk_is_nothing_to_the_host(root: Path) -> None:
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o500)
    try:
        for event in EVENTS:
            assert_harmless(run(root, wrote(root, "memory/MEMORY.md", "x"), event))
    finally:
        for folder, _, _ in os.walk(root):
            os.chmod(folder, 0o700)


@pytest.mark.parametrize("event", EVENTS)
def test_reader_that_leaves_is_no_error(root: Path, event: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    told = json.dumps(spoken("claude-code", event)).encode()
    done = subprocess.run([*COMMAND, "--dir", str(root), "hook"], input=told, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGPIPE])
def test_interrupt_is_an_empty_answer(root: Path, number: signal.Signals) -> None:
    command = [*COMMAND, "--dir", str(root), "hook", "prompt", "--deadline", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        time.sleep(1)
        waiting.send_signal(number)
        assert waiting.stdout and waiting.stdout.read() == b"{}\n"
        assert waiting.wait(30) == 0


def test_damaged_installation_is_an_empty_answer(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site/crabmem"
    shutil.copytree(
        Path(__file__).parent.parent.parent / "crabmem", broken, ignore=shutil.ignore_patterns("__pycache__")
    )
    (broken / "disk/turns.py").write_text("import nothing_of_that_name\n")
    environment = {**os.environ, "PYTHONPATH": str(broken.parent)}
    told = json.dumps(spoken("claude-code", "prompt")).encode()
    done = subprocess.run(
        [*COMMAND, "--dir", str(root), "hook"], input=told, capture_output=True, env=environment, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert b"nothing_of_that_name" in done.stderr


def test_other_commands_with_that_word_are_no_hooks(root: Path) -> None:
    done = subprocess.run([*COMMAND, "--dir", str(root), "recall", "hook"], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"") and b"no match in" in done.stderr
    helped = subprocess.run([*COMMAND, "hook", "--help"], capture_output=True, check=True)
    assert b"pre-compact" in helped.stdout


def test_profile_and_kind_are_those_of_the_command_the_environment_or_the_settings(root: Path) -> None:
    def begun(*options: str, **environment: str) -> str:
        told = json.dumps(spoken("claude-code", "session-start")).encode()
        command, own = (
            [*forked.COMMAND, "--dir", str(root), *options, "hook", "--deadline", "30"],
            {**os.environ, **environment},
        )
        return context(json.loads(subprocess.run(command, input=told, capture_output=True, check=True, env=own).stdout))

    (root / "crabmem.toml").write_text('profile = "claw"\n')
    assert "## MEMORY.md" in begun() and "## MEMORY.md" not in begun("--kind", "group")
    assert "## MEMORY.md" not in begun(CRABMEM_KIND="group")
    assert "<memory>" in begun("--profile", "crab") and "<memory>" in begun(CRABMEM_PROFILE="crab")


def test_hook_that_has_nothing_to_do_loads_next_to_nothing(root: Path) -> None:
    code = (
        "import os, sys; from crabmem.hosts.hooks import command\n"
        "os._exit = lambda status: print(*sys.modules, file=sys.stderr)\n"
        "command.run_if_hook(sys.argv[1:], {'HOME': '/'})"
    )
    told = json.dumps(spoken("claude-code", "wrote")).encode()
    command = [sys.executable, "-c", code, "--dir", str(root), "hook"]
    done = subprocess.run(command, input=told, capture_output=True, check=True)
    assert done.stdout == b"{}\n"
    heavy = {"click", "yaml", "numpy", "bm25s", "dulwich", "crabmem.git", "crabmem.memory", "mcp", "tomlkit"}
    heavy |= {"tomllib", "crabmem.prompt.profile"}
    heavy |= {"crabmem.hosts.desired", "crabmem.hosts.installation", "crabmem.text.jsonc"}  # what edits configs
    assert not heavy & set(done.stderr.decode().split())


def test_a_profile_that_is_none_is_logged_in_words_of_the_command_line(root: Path) -> None:
    told = {"session_id": "s-1", "prompt": "Who is Luna's vet?"}
    assert heard(root, told, "prompt", "--host", "claude-code", "--profile", "nope") == {}
    (root / "crabmem.toml").write_text('profile = "nope"\n')
    assert heard(root, told, "prompt", "--host", "claude-code") == {}
    given, named = logged(root)
    assert "there is no profile nope; there are " in given and "name it with --profile or `profile` in crab" in given
    assert f"{root / 'crabmem.toml'}: there is no profile nope; there are " in named and "profile=" not in given + named
    (root / "crabmem.toml").unlink()


@pytest.mark.parametrize("host", TOLD)
def test_at_a_sessions_start_the_person_is_told_what_waits_and_the_model_is_not(root: Path, host: str) -> None:
    before = heard(root, spoken(host, "session-start"))
    assert "systemMessage" not in before
    (root / "crabmem.toml").write_text('[review]\nwait = ["entries"]\n')
    with Memory(root, agent="coder") as memory:
        memory.remember("Boiler", "which one", "A Vaillant.")
    if host == "codex":
        git(root, "pack-refs", "--all")
    answer = heard(root, spoken(host, "session-start", session_id="s-9"))
    words = "crabmem: 1 proposal waits for you, since today: `crabmem review`"
    assert answer.pop("systemMessage", None) == (words if (hooks := host_named(host).hooks) and hooks.notice else None)
    assert context(answer) == context(before)
    assert "Vaillant" not in str(answer)


def test_once_a_week_and_where_the_settings_say_so_the_person_is_told_what_waits_to_be_tidied(root: Path) -> None:
    def told(session: str) -> object:
        return heard(root, spoken("claude-code", "session-start", session_id=session)).get("systemMessage")

    (root / "memory/entries/bare.md").write_text("---\nname: Bare\n---\n\nIn the cellar.\n")
    assert told("s-1") is None
    (root / "crabmem.toml").write_text("[hooks]\ntidy = true\n")
    words = "crabmem: 1 thing to look at in memory: `crabmem tidy`"
    assert [told("s-2"), told("s-3")] == [words, None]
    turns = root / ".git/crabmem/turns"
    turns.write_text(re.sub(r'"when": ?"20\d\d', '"when": "2020', turns.read_text()))
    assert told("s-4") == words


def test_reading_ahead_begins_no_repository(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    read_ahead.main(str(tmp_path))
    assert os.listdir(tmp_path) == ["memory"]
