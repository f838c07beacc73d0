"""Past sessions as a source of recall: asked for by name, allowed by a person, dated, and never of memory itself."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from crabmem import InvalidArguments, Memory
from crabmem.operations import maintenance
from crabmem.recall.ranking import passage_text
from crabmem.results import Recall, json_of
from crabmem.search.dates import days_meant
from crabmem.text.transcripts import lines_of
from tests.conftest import Run, allow, git

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def turn(role: str, text: str, when: datetime) -> dict[str, object]:
    """A line of Claude Code's."""
    return {"type": role, "timestamp": when.isoformat(), "message": {"role": role, "content": text}}


def codex(role: str, *texts: str, when: str = "2026-03-14T09:30:00Z") -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return {
        "timestamp": when,
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


ROLLOUT: list[dict[str, object]] = [
    {"timestamp": "2026-03-14T09:29:59Z", "type": "session_meta", "payload": {"id": "019a", "source": "cli"}},
    codex("developer", "Permissions of a developer."),
    codex("user", "# AGENTS.md instructions for /x\n\nUse tabs.", "<environment_context>x</environment_context>"),
    codex("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>", "Why do we use Postgres?"),
    {"timestamp": "2026-03-14T09:30:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Why"}},
    {"timestamp": "2026-03-14T09:30:01Z", "type": "response_item",
     "payload": {"type": "function_call_output", "call_id": "1", "output": "of a tool"}},
    codex("assistant", "Checkout needs one transaction."),
]  # fmt: skip


def write(file: Path, *said: dict[str, object]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in said))
    return file


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is allowed yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory in the usual profile, whose settings list the sessions of two hosts and a folder of notes."""
    today = datetime.now(UTC).replace(hour=12)
    tuesday = today - timedelta(days=(today.weekday() - 2) % 7 + 1)
    for name, when, said in (
        ("aa-1", tuesday, "For the parser we take recursive descent."),
        ("bb-2", tuesday - timedelta(days=7), "For the parser we take a generator."),
        ("cc-3", tuesday, "Lunch is at noon."),
    ):
        write(tmp_path / "claude" / f"{name}.jsonl", turn("user", said, when), turn("assistant", "Noted.", when))
    write(tmp_path / "codex" / "2026" / "03" / "14" / "rollout-2026-03-14T09-30-00-019a.jsonl", *ROLLOUT)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "kiln.md").write_text("The kiln is fired on Fridays.\n")
    with Memory(tmp_path / "ws", is_person=True) as memory:
        memory.remember("Parser", "which parser", "In parse.py.")
    listed = f'transcripts = ["{tmp_path}/claude", "{tmp_path}/codex"]\nextra_paths = ["{tmp_path}/notes"]\n'
    (tmp_path / "ws" / "crabmem.toml").write_text(listed)
    return tmp_path / "ws"


def asked(root: Path, query: str, session: str | None = None, kind: str = "main", budget: int | None = None) -> Recall:
    with Memory(root, agent="bot", session=session, kind=kind) as memory:
        return memory.recall(query, sessions=True, budget=budget)


def test_codex_rollouts_say_what_people_and_models_said_alone() -> None:
    data = "\n".join(map(json.dumps, ROLLOUT)).encode()
    said = ["user: Why do we use Postgres?", "assistant: Checkout needs one transaction."]
    assert list(lines_of(data)) == [f"2026-03-14T09:30:00Z {line}" for line in said]
    older = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}
    assert list(lines_of(json.dumps(older).encode())) == ["user: Hello"]
    sent_out = {"type": "session_meta", "payload": {"id": "1", "source": {"subagent": {}}}}
    assert not list(lines_of("\n".join(map(json.dumps, [sent_out, *ROLLOUT])).encode()))


@pytest.mark.parametrize(
    ("said", "days"),
    [("what did we decide last Tuesday?", [24]), ("on Friday", [20]), ("yesterday, or today", [26, 27]),
     ("3 days ago", [24]), ("2 weeks ago", [13]), ("Last week", [*range(16, 23)]), ("last Tuesdays 5000 days ago", [])],
)  # fmt: skip
def test_days_in_a_question_are_dates(said: str, days: list[int]) -> None:
    assert list(days_meant(said, date(2026, 11, 27))) == [date(2026, 11, day) for day in days]


def test_what_was_decided_last_tuesday_is_found_in_the_session_of_that_day(root: Path) -> None:
    allow(root)
    found = asked(root, "what did we decide last Tuesday about the parser")
    assert [hit.entry.name for hit in found] == ["Parser"]
    assert found.sessions[0].session == "aa-1" and "recursive descent" in found.sessions[0].snippet
    [hit] = [hit for hit in asked(root, "why Postgres").sessions if hit.session.startswith("rollout")]
    assert hit.time == datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
    assert [hit.source for hit in asked(root, "kiln").sessions] == ["extra"]
    assert not asked(root, "nosuchword").sessions and "no match in past sessions" in asked(root, "nosuchword").note


def test_recall_reads_sessions_only_where_it_is_asked_for_and_allowed(root: Path) -> None:
    found = asked(root, "parser")
    assert not found.sessions and "nobody here has allowed; `crabmem" in found.note
    allow(root)
    assert len(asked(root, "parser").sessions) == 2
    with Memory(root) as memory:
        assert not memory.recall("parser").sessions and "sessions" not in json_of(memory.recall("parser"))
    (root / "crabmem.toml").unlink()
    note = asked(root, "parser").note
    assert f"in {root}/crabmem.toml, then `crabmem --dir {root} config allow`" in note


def test_a_folder_that_is_gone_or_cannot_be_entered_is_told_and_the_others_are_searched(root: Path) -> None:
    allow(root)
    claude = root.parent / "claude"
    claude.rename(root.parent / "moved")
    found = asked(root, "parser")
    assert "no match in past sessions; 1 folder that crabmem.toml lists is gone or cannot be read" in found.note
    assert str(claude) not in found.note
    assert [hit.source for hit in asked(root, "kiln").sessions] == ["extra"] and "1 folder" in asked(root, "kiln").note
    with Memory(root) as memory:
        told = [(each.path, each.message) for each in maintenance.doctor(memory) if each.level == "warning"]
    assert [path for path, _ in told] == [str(claude)] and "gone" in told[0][1]


def test_a_persons_words_rank_before_a_models(root: Path, tmp_path: Path) -> None:
    allow(root)
    when = datetime(2026, 1, 5, tzinfo=UTC)
    for name, roles in (("dd-4", ("assistant", "user")), ("ee-5", ("user", "assistant"))):
        said = zip(roles, ("The lathe turns left.", "Well then."), strict=True)
        write(tmp_path / "claude" / f"{name}.jsonl", *(turn(role, text, when) for role, text in said))
    assert [hit.session for hit in asked(root, "lathe").sessions] == ["ee-5", "dd-4"]


def test_the_session_that_asks_is_not_searched(root: Path) -> None:
    allow(root)
    assert [hit.session for hit in asked(root, "parser", session="aa-1").sessions] == ["bb-2"]
    assert not asked(root, "Postgres", session="019a").sessions


def test_who_may_not_see_all_of_memory_sees_no_session(root: Path) -> None:
    (root / "crabmem.toml").write_text('profile = "claw"\n' + (root / "crabmem.toml").read_text())
    allow(root)
    assert asked(root, "lunch").sessions
    for kind in ("group", "subagent"):
        found = asked(root, "lunch parser", kind=kind)
        assert not found.sessions and f"sessions of the kind {kind} see no others" in found.note


def test_credentials_are_masked_and_nothing_of_sessions_enters_history_or_export(
    root: Path, tmp_path: Path, run: Run
) -> None:
    allow(root)
    write(tmp_path / "claude" / "ff-6.jsonl", turn("user", f"The anvil token is {TOKEN}.", datetime(2026, 1, 1)))
    assert "[GitHub token]" in asked(root, "anvil").sessions[0].snippet
    assert run("--dir", str(root), "export", str(tmp_path / "out")).exit_code == 0
    assert "anvil" not in git(root, "log", "-p", "--all")
    assert not [file for file in (tmp_path / "out").rglob("*") if file.is_file() and b"anvil" in file.read_bytes()]


def test_passages_of_sessions_take_half_of_a_budget_at_most(root: Path) -> None:
    allow(root)
    whole = asked(root, "parser")
    room = max(len(passage_text(hit)) for hit in whole.sessions) + 20
    for budget, fitting in ((2 * room, 1), (room, 0), (4 * room, 2)):
        found = asked(root, "parser", budget=budget)
        assert (len(found.hits), found.sessions) == (1, whole.sessions[:fitting])
        assert ("passages of sessions left out" in found.note) is (fitting < len(whole.sessions))


@pytest.mark.parametrize("more", [{"as_of": "today"}, {"since": "today"}, {"until": "today"}, {"tags": ("a",)}])
def test_what_sessions_do_not_have_is_refused(root: Path, more: dict[str, object]) -> None:
    with Memory(root) as memory, pytest.raises(InvalidArguments, match="neither tags nor a history"):
        memory.recall("parser", sessions=True, **more)  # type: ignore[arg-type]


def test_the_command_line_shows_them_as_data_with_their_session(root: Path, run: Run) -> None:
    allow(root)
    done = run("--dir", str(root), "recall", "--with-sessions", "Postgres")
    assert done.exit_code == 0 and "1 hit from memory: data written earlier" in done.stdout
    assert "## Session rollout-2026-03-14T09-30-00-019a, 2026-03-14 09:30 UTC" in done.stdout
    told = json.loads(run("--dir", str(root), "recall", "--with-sessions", "Postgres", "--json").stdout)
    assert told["hits"] == [] and told["sessions"][0]["source"] == "sessions"
    assert run("--dir", str(root), "recall", "--with-sessions", "nosuchword").exit_code == 1


def test_agents_are_offered_sessions_only_where_folders_are_listed_and_all_of_memory_is_seen(root: Path) -> None:
    def offered(kind: str = "main") -> bool:
        with Memory(root, agent="bot", kind=kind) as memory:
            return any("include" in each.input_schema["properties"] for each in memory.tools if each.name == "recall")

    allow(root)
    assert offered() and offered("subagent")
    with Memory(root, agent="bot") as memory:
        told = memory.call("recall", {"query": "Postgres", "include": "sessions"})
        assert "1 hit from memory" in told.text and "Checkout needs" in told.text + str(told.data["sessions"])
        assert "one of sessions" in memory.call("recall", {"query": "x", "include": "all"}).text
        assert not memory.call("recall", {"query": "parser"}).data.get("sessions")
    (root / "crabmem.toml").unlink()
    assert not offered()
