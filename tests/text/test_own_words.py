"""A message is a question of what the person wrote in it, whatever a host, a tool or a memory has put there too."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.hosts.hooks.input import parse_input
from crabmem.operations import maintenance
from crabmem.text.own_words import own_words
from tests import forked
from tests.pace import costing_less_than

QUESTION = "where is the deploy key?"
RECALL = "<recall>\nFrom memory: data.\n\n## Luna's vet\nwho looks after Luna\n\nDr. Moreno.\n</recall>"

#: What hosts put into the prompt of their hooks, as their code and payloads have it, and what the person wrote.
WRAPPED = {
    "gemini, headless": (f"<hook_context># Who I am\n\n&lt;memory&gt; a fact</hook_context>\n\n{QUESTION}", QUESTION),
    "gemini, its first turn": (
        f"<session_context>\nThis is the Gemini CLI.\n- **Workspace:** /x\n</session_context>\n{QUESTION}",
        QUESTION,
    ),
    "gemini, a file named": (
        f"@notes.md {QUESTION}\n--- Content from referenced files ---\n\nContent from @notes.md:\nthe dog\n"
        "--- End of content ---",
        f"@notes.md {QUESTION}",
    ),
    "claude code, a reminder": (
        f"{QUESTION}\n<system-reminder>\nThe task tools were not used.\n</system-reminder>",
        QUESTION,
    ),
    "claude code, a command": (
        f"<command-message>ask is running…</command-message>\n<command-name>/ask</command-name>\n"
        f"<command-args>{QUESTION}</command-args>",
        QUESTION,
    ),
    "claude code, what a command said": (
        f"<local-command-caveat>Caveat: made by the user.</local-command-caveat>\n"
        f"<bash-input>ls</bash-input><bash-stdout>vet.md\nrelease.md</bash-stdout><bash-stderr></bash-stderr>\n"
        f"{QUESTION}",
        QUESTION,
    ),
    "claude code, an editor": (
        f"<ide_opened_file>The user opened /x/vet.md in the IDE.</ide_opened_file>\n"
        f'<ide_selection name="a">the dog Luna</ide_selection>\n{QUESTION}',
        QUESTION,
    ),
    "codex, an editor": (
        "# Context from my IDE setup:\n\n## Active file: vet.md\n\n## Open tabs:\n- release.md\n\n"
        f"## My request for Codex:\n{QUESTION}\n",
        QUESTION,
    ),
    "codex, its surroundings": (
        f"<environment_context>\n  <cwd>/x</cwd>\n  <shell>bash</shell>\n</environment_context>\n\n{QUESTION}",
        QUESTION,
    ),
    "cursor": (
        f"<open_and_recently_viewed_files>\nvet.md\n</open_and_recently_viewed_files>\n"
        f"<user_query>\n{QUESTION}\n</user_query>",
        QUESTION,
    ),
    "vs code": (
        f"<attachments>\n<attachment id='vet.md'>the dog</attachment>\n</attachments>\n<context>\nOctober\n</context>\n"
        f"<editor_context>\nvet.md\n</editor_context>\n<userRequest>\n{QUESTION}\n</userRequest>",
        QUESTION,
    ),
    "copilot": (
        f"<current_datetime>2026-11-22T20:00:00Z</current_datetime>\n\n{QUESTION}\n\n"
        "<system_reminder>\n<todo_status>none</todo_status>\n</system_reminder>",
        QUESTION,
    ),
    "opencode": (f"{QUESTION}\n<system-reminder>You are in plan mode.</system-reminder>", QUESTION),
    "our own block": (f"{RECALL}\n\n{QUESTION}", QUESTION),
    "our own block, quoted": ("\n".join(f"> {line}" for line in RECALL.split("\n")) + f"\n\n{QUESTION}", QUESTION),
    "a block of another memory": (
        f"<relevant-memories>\n1. the dog Luna\n</relevant-memories>\n{QUESTION}\n"
        "<supermemory-context>\nthe vet\n</supermemory-context>",
        QUESTION,
    ),
    "what a tool said": (
        f"{QUESTION}\n<tool_result id=1>\nthe dog Luna\n</tool_result>\n<persisted-output>the vet</persisted-output>",
        QUESTION,
    ),
    "one in another": (
        f"<hook_context>a <system-reminder>b <hook_context>c</hook_context> d</system-reminder> e</hook_context>"
        f"{QUESTION}",
        QUESTION,
    ),
}
#: What a person may write, which stays as it is.
WRITTEN = [
    QUESTION,
    "",
    "  two  spaces \n\n and lines \n",
    "a block that has no end: <hook_context> where is it?",
    "an end alone </system-reminder> where is it?",
    "why is <recall> empty? is </recall> escaped?",
    "what is the <memory>tag</memory> for?",
    "List<String> a = b < c && d > e; <div class='x'>the deploy key</div>",
    "<my-button>where is the key</my-button>",
    "<system-reminder/> where",
    "--- Content from referenced files --- what is that line?",
    "# Context from my IDE setup: what is that?",
    "a < b, << here, <<<<<<< ours",
    "```xml\n<note>where is the deploy key?</note>\n```",
]


@pytest.mark.parametrize("case", WRAPPED)
def test_what_a_host_puts_around_a_message_is_left_out(case: str) -> None:
    wrapped, written = WRAPPED[case]
    assert own_words(wrapped) == written
    assert own_words(wrapped.replace("\n", "\r\n")).replace("\r\n", "\n").strip() == written


@pytest.mark.parametrize("text", WRITTEN)
def test_what_a_person_wrote_stays(text: str) -> None:
    assert own_words(text) == text


@pytest.mark.parametrize("case", WRAPPED)
def test_a_message_of_nothing_else_is_empty(case: str) -> None:
    wrapped, _ = WRAPPED[case]
    assert own_words(wrapped.replace(f"@notes.md {QUESTION}", "").replace(QUESTION, "")) == ""


def test_closed_blocks_within_one_that_has_no_end_are_left_out() -> None:
    text = "<hook_context> one <system-reminder>two</system-reminder> three <system-reminder> four"
    assert own_words(text) == "<hook_context> one\nthree <system-reminder> four"


_words = st.text(st.characters(exclude_characters="<>\r", exclude_categories=["Cs"]), min_size=1).map(str.strip)
_blocks = st.builds(
    lambda name, inside: f"<{name}>{inside}</{name}>",
    st.sampled_from(["hook_context", "system-reminder", "command-name", "bash-stdout", "ide_selection"]),
    _words,
)


@given(st.lists(st.one_of(_words.map(lambda text: (text, True)), _blocks.map(lambda text: (text, False)))))
def test_every_word_outside_blocks_stays_and_none_of_them(pieces: list[tuple[str, bool]]) -> None:
    marked = "---" in "".join(text for text, _ in pieces) or any("IDE setup" in text for text, _ in pieces)
    message = "\n".join(text for text, _ in pieces)
    written = " ".join(text for text, is_written in pieces if is_written)
    assert marked or own_words(message).split() == written.split()


@given(st.text("<>/ab \n-_cmdhookxt>", max_size=200) | st.text())
def test_any_text_is_read_and_only_gets_shorter(text: str) -> None:
    assert len(own_words(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "<hook_context>",
        "</hook_context>",
        "<system-reminder>x</system-reminder>",
        "<recall>",
        "<recall>\n</recall>\n",
        "<a",
        "<" + "a" * 45,
        "<hook_context " + " " * 290,
        "--- Content from referenced files ---",
        "--- Content from referenced files ------ End of content ---",
        "# Context from my IDE setup:\n",
        "> ",
    ],
)
def test_a_long_message_takes_time_in_proportion(text: str) -> None:
    with costing_less_than(5):
        own_words(text * (3_000_000 // len(text)))


@pytest.mark.parametrize(
    "text",
    [
        "<context>\nWe use Postgres.\n\nHow do I back up?\n</context>",
        "Why do I see <system-reminder> in my log? Deploy to staging. And then </system-reminder> appears.",
        "Is <tool_result> broken?\nMy question is about the wifi.",
    ],
)
def test_what_a_person_writes_in_or_about_such_tags_stays(text: str) -> None:
    assert own_words(text) == text


# What is found, among many


TOPICS = ["vet", "boiler", "garden", "release", "budget", "printer", "holiday", "piano", "bicycle", "router"]
ASKS = {
    QUESTION: "ops/heron",
    "who is the vet of the dog Luna?": "Dr. Moreno",
    "which day do we release?": "On Fridays",
    "say hello": "",
}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with 73 facts."""
    root = tmp_path_factory.mktemp("many") / "notes"
    facts = [
        {
            "name": f"{topic.title()} {number}",
            "description": f"what is to be known of the {topic} in year {number}",
            "content": f"An entry of the {topic}: working style, corrections, memory and tools, number {number}.",
        }
        for topic in TOPICS
        for number in range(7)
    ]
    with Memory(root) as memory:
        for fact in facts:
            memory.remember(fact["name"], fact["description"], fact["content"])
        memory.remember("Deploy key", "where the deploy key lives", "In the vault under ops/heron.")
        memory.remember("Luna's vet", "who looks after the dog Luna", "Dr. Moreno.")
        memory.remember("Release day", "which day we release", "On Fridays.")
        assert len(memory.entries()) == 73
    return root


def hook(root: Path, told: object, host: str, *event: str) -> str:
    """What the model hears of a hook, as a host runs it."""
    words = ["--dir", str(root), "hook", *(event or ["prompt"]), "--host", host, "--deadline", "30"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CRABMEM_")}
    done = subprocess.run(
        [*forked.COMMAND, *words], input=json.dumps(told).encode(), capture_output=True, env=environment
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout or b"{}")
    return str(answer.get("hookSpecificOutput", answer).get("additionalContext", ""))


@pytest.mark.parametrize("question", ASKS)
def test_gemini_without_a_person_at_it_is_told_what_bears_on_the_question(many: Path, question: str) -> None:
    begins = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "g-0", "timestamp": "T"}
    begun = hook(many, begins, "gemini", "session-start", "--guide").replace("<", "&lt;")
    assert "corrections" in begun and "memory" in begun
    told = {"hook_event_name": "BeforeAgent", "session_id": f"g-{question}", "timestamp": "T"}
    told["prompt"] = f"<hook_context>{begun}</hook_context>\n\n{question}"
    said = hook(many, told, "gemini")
    assert said == hook(many, {**told, "session_id": f"i-{question}", "prompt": question}, "gemini")
    assert ASKS[question] in said and bool(said) == bool(ASKS[question])


@pytest.mark.parametrize("case", WRAPPED)
def test_every_host_is_told_what_its_person_asked(many: Path, case: str) -> None:
    host = {"claude": "claude-code", "vs": "vscode"}.get(case.split(",")[0].split()[0], case.split(",")[0])
    wrapped, _ = WRAPPED[case]
    told = {"session_id": case, "hook_event_name": "UserPromptSubmit", "prompt": wrapped}
    assert parse_input(json.dumps(told).encode(), "prompt").message
    with Memory(many) as memory:
        said = memory.before_turn(wrapped)
        assert said == Memory(many).before_turn(QUESTION) and "ops/heron" in said
    heard = hook(many, told, host if host in ("claude-code", "codex", "gemini", "opencode") else "claude-code")
    assert heard == said


def test_a_message_that_nobody_wrote_a_word_of_asks_nothing_and_counts_as_none(many: Path) -> None:
    with Memory(many) as memory:
        before = maintenance.stats(memory).turns
    told = {"session_id": "s", "prompt": f"<task-notification>{QUESTION} is done</task-notification>"}
    assert hook(many, told, "claude-code") == ""
    with Memory(many) as memory:
        assert maintenance.stats(memory).turns == before
        assert memory.before_turn(told["prompt"]) == ""
