"""Texts of folders outside of the workspace, and transcripts of sessions: searched once a person allowed it, never
written, and with nothing on the way to them followed."""

import errno
import json
import os
import shutil
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crabmem import Busy, InvalidSettings, Memory, NotFound
from crabmem.disk import fs
from crabmem.operations import files, maintenance, purge
from crabmem.recall import elsewhere
from crabmem.recall.elsewhere import Elsewhere, Place
from crabmem.results import FileSearch
from tests.conftest import Run, allow, git

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SAID: list[dict[str, object]] = [
    {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-03-14T09:29:58.000Z", "cwd": "/home/me"},
    {"type": "message", "id": "a", "timestamp": "2026-03-14T09:30:00.000Z",
     "message": {"role": "user", "content": [{"type": "text", "text": "The kiln reaches\n1,240 degrees."}]}},
    {"type": "message", "id": "b", "timestamp": "2026-03-14T09:30:07.000Z",
     "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "glaze in thought"},
                                                  {"type": "text", "text": f"Noted; the token is {TOKEN}."},
                                                  {"type": "toolCall", "name": "exec", "arguments": {"x": "glaze"}}]}},
    {"type": "message", "message": {"role": "toolResult", "content": [{"type": "text", "text": "glaze of a tool"}]}},
]  # fmt: skip
SAID_BY_CLAUDE_CODE: list[dict[str, object]] = [
    {"type": "summary", "summary": "Pottery", "leafUuid": "u"},
    {"type": "user", "sessionId": "4f35e220", "timestamp": "2026-05-26T07:27:40.079Z", "isSidechain": False,
     "message": {"role": "user", "content": "Which clay shrinks least?"}},
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat about clay"}},
    {"type": "assistant", "isSidechain": True, "message": {"role": "assistant", "content": "clay of a sub-agent"}},
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "clay of a tool"}]}},
    {"type": "assistant", "timestamp": "2026-05-26T07:28:01Z",
     "message": {"role": "assistant", "content": [{"type": "text", "text": "Stoneware clay, by 12 percent."}]}},
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is allowed yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of the person's."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "kiln.md").write_text("# Kiln\n\nThe kiln is fired on Fridays.\n")
    (folder / "deep" / "wheel.TXT").write_text("The wheel squeaks.\n")
    (folder / "code.py").write_text("kiln = 1\n")
    (folder / ".hidden.md").write_text("a hidden kiln\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of the family that searches files."""
    with Memory(tmp_path / "ws", is_person=True, profile="claw") as memory:
        memory.write_overview("# Memory\n\nThe glaze is blue.\n")
    return tmp_path / "ws"


def names(root: Path, *extra_paths: Path | str, transcripts: tuple[Path | str, ...] = ()) -> None:
    """Write settings that name folders elsewhere."""
    said = {"extra_paths": list(map(str, extra_paths)), "transcripts": list(map(str, transcripts))}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
    (root / "crabmem.toml").write_text(f'profile = "claw"\n{lines}')


def names_and_allows(root: Path, *extra_paths: Path | str, transcripts: tuple[Path | str, ...] = ()) -> None:
    """The same, and allow them."""
    names(root, *extra_paths, transcripts=transcripts)
    allow(root)


def transcript(file: Path, said: list[dict[str, object]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in said))
    return file


def found(memory: Memory, query: str) -> list[str]:
    return [hit.path for hit in memory.search(query)]


def asked(root: Path, query: str, kind: str = "main") -> FileSearch:
    with Memory(root, agent="bot", kind=kind) as memory:
        return memory.search(query)


# What is searched


def test_texts_of_a_folder_that_a_person_lists_and_allows_are_searched_and_read(root: Path, notes: Path) -> None:
    names_and_allows(root, notes)
    with Memory(root, agent="bot") as memory:
        [hit] = memory.search("kiln")
        assert (hit.path, hit.source, hit.start) == (f"{notes}/kiln.md", "extra", 1) and "Fridays" in hit.snippet
        assert found(memory, "wheel") == [f"{notes}/deep/wheel.TXT"] and found(memory, "glaze") == ["MEMORY.md"]
        data = memory.call("memory_search", {"query": "kiln"}).data
        assert data["results"][0]["source"] == "extra" and data["searched"] == 3
        got = memory.call("memory_get", {"path": hit.path, "from": 3, "lines": 1})
        assert got.data and got.data["text"] == "The kiln is fired on Fridays.\n"


def test_the_tools_of_camel_name_and_read_them_too(root: Path, notes: Path) -> None:
    names_and_allows(root, notes)
    with Memory(root, profile="camel", agent="bot") as memory:
        assert f"[1] {notes}/kiln.md (score: " in memory.call("memory_search", {"query": "fridays kiln"}).text
        got = memory.call("memory_get", {"filePath": f"{notes}/kiln.md"})
        assert got.text.endswith("3: The kiln is fired on Fridays.")
        for path in ("/etc/passwd", f"{notes}/../ws/MEMORY.md", f"{notes}/code.py"):
            assert memory.call("memory_get", {"filePath": path}).text == "Error: Path traversal detected."


def test_what_changes_comes_or_goes_is_seen_at_the_next_search(root: Path, notes: Path) -> None:
    names_and_allows(root, notes)
    with Memory(root, agent="bot") as memory:
        assert found(memory, "kiln") == [f"{notes}/kiln.md"]
        (notes / "kiln.md").write_text("An oven.\n")
        (notes / "new.md").write_text("A second kiln.\n")
        assert found(memory, "kiln") == [f"{notes}/new.md"] and found(memory, "oven") == [f"{notes}/kiln.md"]
        (notes / "new.md").unlink()
        assert found(memory, "kiln") == []
        names(root)
        assert found(memory, "oven") == []


def test_what_a_person_said_in_a_transcript_counts_more_than_what_was_answered(root: Path, tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    for name, who in (("a", "assistant"), ("b", "user")):
        line: dict[str, object] = {"type": who, "message": {"role": who, "content": "Stoneware is fired twice."}}
        transcript(sessions / f"{name}.jsonl", [line])
    names_and_allows(root, transcripts=(sessions,))
    with Memory(root, agent="bot") as memory:
        first, second = memory.search("stoneware")
    assert first.path.endswith("b.jsonl") and first.score > second.score


def test_another_process_reads_again_only_what_changed(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (notes / f"{number}.md").write_text(f"clay number {number}\n")
    for file in notes.rglob("*"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    names_and_allows(root, notes)
    later = int(datetime(2099, 1, 1, tzinfo=UTC).timestamp() * 1_000_000_000)
    monkeypatch.setattr("crabmem.session.engine.Engine.now_ns", lambda engine: later)
    assert len(asked(root, "clay")) == 6
    read, real = list[str](), elsewhere._read

    def reading(path: str) -> tuple[bytes, os.stat_result]:
        read.append(path)
        return real(path)

    monkeypatch.setattr(elsewhere, "_read", reading)
    (notes / "7.md").write_text("another text\n")
    assert [hit.path for hit in asked(root, "another")] == [f"{notes}/7.md"] and set(read) == {f"{notes}/7.md"}


def test_a_profile_narrows_what_the_settings_list_and_names_no_other(root: Path, notes: Path, tmp_path: Path) -> None:
    names_and_allows(root, notes)
    profile = tmp_path / "own.toml"
    text = (
        'about = "x"\npart = [{{ say = "time" }}]\ntools = ["claw"]\n[search]\nfiles = ["*.md"]\nextra_paths = ["{}"]\n'
    )
    profile.write_text(text.format(notes / "deep"))
    with Memory(root, profile=str(profile)) as memory:
        assert found(memory, "wheel") == [f"{notes}/deep/wheel.TXT"] and found(memory, "kiln") == []
    profile.write_text(text.format(tmp_path))
    with Memory(root, profile=str(profile)) as memory, pytest.raises(InvalidSettings, match="not in extra_paths of"):
        memory.search("kiln")


def test_the_past_has_none_of_it_and_a_search_of_it_says_nothing_else(root: Path, notes: Path) -> None:
    names_and_allows(root, notes)
    with Memory(root, is_person=True) as memory:
        memory.adopt()
        assert [hit.path for hit in memory.search("kiln glaze", as_of="HEAD")] == ["MEMORY.md"]
        with pytest.raises(NotFound):
            files.excerpt(memory, f"{notes}/kiln.md", at="HEAD")


def test_it_is_in_no_history_export_or_purge_and_no_tool_writes_it(
    root: Path, notes: Path, tmp_path: Path, run: Run
) -> None:
    names_and_allows(root, notes)
    before = {file: file.read_bytes() for file in notes.rglob("*") if file.is_file()}
    with Memory(root, is_person=True) as memory:
        assert found(memory, "kiln")
        memory.adopt()
        done = purge.purge(memory, text="glaze is blue", dry_run=True)
        assert done.elsewhere == (str(notes),)
        for tool in memory.tools:
            if not tool.annotations.read_only:
                for key in ("path", "file", "name", "day"):
                    given = {"content": "x", "text": "x", "description": "x", key: f"{notes}/kiln.md"}
                    memory.call(tool.name, {k: v for k, v in given.items() if k in tool.input_schema["properties"]})
    assert "kiln" not in git(root, "log", "-p", "--all")
    assert run("--dir", str(root), "export", str(tmp_path / "out")).exit_code == 0
    assert not [file for file in (tmp_path / "out").rglob("*") if file.is_file() and b"kiln" in file.read_bytes()]
    assert {file: file.read_bytes() for file in notes.rglob("*") if file.is_file()} == before


def test_a_purge_says_that_it_does_not_look_there_and_forgets_the_words(root: Path, notes: Path, run: Run) -> None:
    names_and_allows(root, notes)
    assert len(asked(root, "kiln")) == 1
    said = run("--dir", str(root), "purge", "--text", "glaze is blue", "--yes")
    assert f"stays:   {notes} is searched too, and not looked into: what it holds is yours" in said.stdout


# Transcripts


@pytest.mark.parametrize(
    ("said", "query", "who", "time"),
    [(SAID, "kiln degrees", "user: The kiln reaches 1,240 degrees.", datetime(2026, 3, 14, 9, 30, tzinfo=UTC)),
     (SAID_BY_CLAUDE_CODE, "stoneware", "assistant: Stoneware clay, by 12 percent.",
      datetime(2026, 5, 26, 7, 27, 40, tzinfo=UTC))],
)  # fmt: skip
def test_what_was_said_in_sessions_is_found_with_session_and_time(
    root: Path, tmp_path: Path, said: list[dict[str, object]], query: str, who: str, time: datetime
) -> None:
    file = transcript(tmp_path / "sessions" / "4f35e220-c435.jsonl", said)
    names_and_allows(root, transcripts=(file.parent,))
    with Memory(root, agent="bot") as memory:
        [hit] = memory.search(query)
        assert (hit.source, hit.session, hit.time, hit.path) == ("sessions", "4f35e220-c435", time, str(file))
        assert who in hit.snippet
        data = memory.call("memory_search", {"query": query}).data
        [told] = data["results"]
        assert told["session"] == "4f35e220-c435" and told["time"] == time.isoformat()
        got = memory.call("memory_get", {"path": hit.path})
        assert who in str(got.data) and "tool" not in str(got.data) and "thought" not in str(got.data)
        assert "glaze of" not in got.text and "Caveat" not in got.text and "sub-agent" not in got.text


def test_credentials_of_transcripts_and_texts_are_masked_and_not_found(root: Path, notes: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path / "sessions" / "s-1.jsonl", SAID)
    (notes / "keys.md").write_text(f"The kiln's token: {TOKEN}\n")
    names_and_allows(root, notes, transcripts=(file.parent,))
    with Memory(root, agent="bot") as memory:
        for query in ("token noted", "token kiln"):
            assert "[GitHub token]" in memory.search(query)[0].snippet
        assert found(memory, TOKEN) == []
        for path in (file, notes / "keys.md"):
            assert TOKEN[:10] not in memory.call("memory_get", {"path": str(path)}).text
    kept = b"".join(each.read_bytes() for each in (root / ".git/crabmem").rglob("*") if each.is_file())
    assert TOKEN.lower().encode() not in kept.lower()


def test_a_file_of_memory_and_one_elsewhere_with_the_same_bytes_stay_apart(root: Path, notes: Path) -> None:
    text = f"The bisque token: {TOKEN}\n"
    for file in (root / "memory" / "a.md", notes / "a.md"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    names_and_allows(root, notes)
    with Memory(root, agent="bot") as memory:
        shown = {hit.source: hit.snippet for hit in memory.search("bisque")}
        assert shown == {"memory": text.strip(), "extra": "The bisque token: [GitHub token]"}


def test_without_the_profiles_word_or_the_persons_no_transcript_is_read(root: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path / "sessions" / "s-1.jsonl", SAID)
    assert len(asked(root, "kiln")) == 0
    names(root, transcripts=(file.parent,))
    assert len(asked(root, "kiln")) == 0
    allow(root)
    assert len(asked(root, "kiln")) == 1
    with Memory(root, profile="camel", agent="bot") as memory:
        assert found(memory, "kiln") == []
    names_and_allows(root, file.parent)
    assert len(asked(root, "kiln")) == 0  # a folder of texts has no transcripts


@pytest.mark.parametrize(
    "line",
    [b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"type": "message"}', b"1" * 5_000,
     b'{"type": "message", "message": {"role": "user", "content": {"text": "kiln"}}}',
     b'{"type": "message", "message": {"role": "user", "content": [null, {"type": "text", "text": 1}]}}',
     b'{"type": "user", "timestamp": 1e400, "message": {"role": "user", "content": "clay"}}',
     b'{"type": "user", "timestamp": [], "message": {"role": "user", "content": "clay \\ud800"}}'],
)  # fmt: skip
def test_a_line_that_is_none_of_a_transcript_takes_nothing_else_away(root: Path, tmp_path: Path, line: bytes) -> None:
    file = transcript(tmp_path / "sessions" / "s-1.jsonl", SAID)
    file.write_bytes(line + b"\n" + file.read_bytes() + line)
    names_and_allows(root, transcripts=(file.parent,))
    assert [hit.path for hit in asked(root, "kiln")] == [str(file)]


# Who allows it


def test_nothing_outside_is_read_before_a_person_allows_it(root: Path, notes: Path, run: Run) -> None:
    names(root, notes, transcripts=(notes,))
    with Memory(root, agent="bot") as memory:
        found = memory.search("kiln")
        assert not found.hits and found.note.count("config allow") == 1 and str(notes) not in found.note
        assert "2 folders outside of the workspace not searched" in found.note
        assert memory.call("memory_get", {"path": f"{notes}/kiln.md"}).is_error
    assert "not allowed on this machine yet" in run("--dir", str(root), "config").stdout
    assert run("--dir", str(root), "--agent", "bot", "config", "allow", "--yes").exit_code == 1
    told = run("--dir", str(root), "config", "allow", "--yes").stderr
    assert f"show agents the texts in {notes} and below it" in told
    assert f"what was said in sessions, by the transcripts in {notes}" in told
    assert len(asked(root, "kiln")) == 1 and "allowed on this machine" in run("--dir", str(root), "config").stdout
    run("--dir", str(root), "config", "disallow")
    assert len(asked(root, "kiln")) == 0


def test_a_person_is_told_that_a_service_is_sent_these_texts_too(root: Path, notes: Path, run: Run) -> None:
    names(root, notes)
    with (root / "crabmem.toml").open("a") as settings:
        settings.write('[vectors]\nurl = "https://api.openai.com/v1"\nmodel = "x"\n')
    told = run("--dir", str(root), "config", "allow", "--yes").stderr
    assert f"- show agents the texts in {notes} and below it that answer a question; they are sent to that" in told


def test_what_settings_name_besides_waits_and_the_rest_goes_on(root: Path, notes: Path, tmp_path: Path) -> None:
    names_and_allows(root, notes)
    (tmp_path / "ssh").mkdir()
    (tmp_path / "ssh" / "keys.txt").write_text("kiln of the key\n")
    names(root, notes, tmp_path / "ssh")
    found = asked(root, "kiln")
    assert [hit.path for hit in found] == [f"{notes}/kiln.md"] and "1 folder outside of the workspace" in found.note


def test_a_listed_link_that_leads_elsewhere_since_it_was_allowed_counts_no_more(
    root: Path, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_text("kiln of a secret\n")
    (tmp_path / "link").symlink_to(notes)
    names_and_allows(root, tmp_path / "link")
    assert [hit.path for hit in asked(root, "kiln")] == [f"{notes}/kiln.md"]
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    found = asked(root, "kiln")
    assert not found.hits and "config allow" in found.note


def test_a_strangers_workspace_reads_nothing_of_yours(root: Path, notes: Path, tmp_path: Path) -> None:
    """Neither by naming it, nor by a link in the workspace, nor in a copy of one that may."""
    names_and_allows(root, notes)
    copy = Path(shutil.copytree(root, tmp_path / "copy"))
    (copy / "docs").symlink_to(notes)
    for named in (notes, "docs", "../notes", "./docs/deep", f"{copy}/../notes"):
        names(copy, named)
        found = asked(copy, "kiln")
        assert not found.hits and "config allow" in found.note


def test_who_may_not_see_all_of_memory_sees_nothing_outside_of_it(root: Path, notes: Path, tmp_path: Path) -> None:
    file = transcript(tmp_path / "sessions" / "s-1.jsonl", SAID)
    names_and_allows(root, notes, transcripts=(file.parent,))
    for kind in ("group", "subagent"):
        assert not asked(root, "kiln", kind).hits
        with Memory(root, agent="bot", kind=kind) as memory, pytest.raises(NotFound):
            files.excerpt(memory, f"{notes}/kiln.md")
    with Memory(root, agent="bot") as memory:  # what one kind may not see is not forgotten for another
        assert len(memory.search("kiln")) == 2
        assert not memory.of_kind("group").search("kiln").hits
        assert len(memory.search("kiln")) == 2


# What lies there


def _link(place: Path, secret: Path) -> None:
    place.symlink_to(secret)


def _folder_link(place: Path, secret: Path) -> None:
    place.with_suffix("").symlink_to(secret.parent)


def _pipe(place: Path, secret: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path, secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        here = os.open(place.parent, os.O_RDONLY)
        opened.bind(f"/proc/self/fd/{here}/{place.name}")
        os.close(here)


def _device(place: Path, secret: Path) -> None:
    place.symlink_to("/dev/zero")


def _huge(place: Path, secret: Path) -> None:
    with place.open("wb") as opened:
        opened.truncate(20 << 30)


def _folder(place: Path, secret: Path) -> None:
    place.mkdir()


def _unreadable(place: Path, secret: Path) -> None:
    place.write_text("kiln\n")
    place.chmod(0)


@pytest.mark.parametrize("trap", [_link, _folder_link, _pipe, _socket, _device, _huge, _folder])
@pytest.mark.parametrize("kind", ["texts", "transcripts"])
def test_traps_in_a_folder_are_passed_over(
    root: Path, notes: Path, tmp_path: Path, trap: Callable[[Path, Path], None], kind: str
) -> None:
    secret = tmp_path / "elsewhere" / "secret.md"
    secret.parent.mkdir()
    secret.write_text("kiln of a secret\n")
    transcript(secret.with_suffix(".jsonl"), SAID)
    transcript(notes / "said.jsonl", SAID)
    trap(
        notes / ("trap.md" if kind == "texts" else "trap.jsonl"),
        secret if kind == "texts" else secret.with_suffix(".jsonl"),
    )
    names_and_allows(root, *([notes] if kind == "texts" else []), transcripts=(notes,) if kind == "transcripts" else ())
    expected = f"{notes}/kiln.md" if kind == "texts" else f"{notes}/said.jsonl"
    answer = asked(root, "kiln")
    assert [hit.path for hit in answer] == [expected] and answer.unreadable == (trap is _huge)


def test_what_cannot_be_read_or_is_too_much_is_counted_and_named_by_doctor(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "MOST_FILES", 3)
    for number in range(4):
        (notes / f"clay{number}.md").write_text(f"clay {number}\n")
        os.utime(notes / f"clay{number}.md", ns=(0, (2_000_000_000 + number) * 1_000_000_000))
    names_and_allows(root, notes, notes.parent / "missing")
    with Memory(root, is_person=True) as memory:
        answer = memory.search("clay")
        assert sorted(hit.path for hit in answer) == [f"{notes}/clay{number}.md" for number in (1, 2, 3)]
        assert answer.unreadable == 4 and "4 files unreadable (`crabmem doctor` names them)" in answer.note
        told = {finding.path for finding in memory.doctor() if finding.check == "places"}
        assert told == {str(notes.parent / "missing"), *(f"{notes}/{name}" for name in
                                                         ("clay0.md", "kiln.md", "deep/wheel.TXT"))}  # fmt: skip


def test_of_a_folder_with_endless_names_so_many_are_looked_at(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "MOST_NAMES", 50)
    for number in range(100):
        (notes / f"clay{number}.md").write_text("clay\n")
    names_and_allows(root, notes)
    answer = asked(root, "clay")
    assert answer.searched <= 51 and answer.unreadable == 1


@pytest.mark.parametrize("swapped", ["file", "folder", "place"])
def test_what_is_swapped_for_a_link_between_the_look_and_the_reading_is_not_followed(
    tmp_path: Path, notes: Path, swapped: str
) -> None:
    """Somebody else may own the folder above: he turns the way aside once it was looked at."""
    secret = tmp_path / "secret"
    shutil.copytree(notes, secret)
    for file in secret.rglob("*.md"):
        file.write_text("# Kiln\n\nThe kiln is a secret now..\n")
    path = str(notes / "kiln.md") if swapped != "folder" else str(notes / "deep" / "wheel.TXT")
    looked = Elsewhere(lambda: 0, str(tmp_path / "ws")).look([Place(str(notes))], {})
    assert looked.data(path)
    place = {"file": notes / "kiln.md", "folder": notes / "deep", "place": notes}[swapped]
    place.rename(tmp_path / "moved")
    place.symlink_to(secret if swapped == "place" else secret / place.name)
    with pytest.raises(Busy, match="changes at this moment"):
        looked.data(path)
    again = Elsewhere(lambda: 0, str(tmp_path / "ws")).look([Place(str(notes))], {})
    assert path not in again.marks


@pytest.mark.parametrize("trap", [_pipe, _socket, _device, _huge, _folder, _link])
def test_what_takes_the_place_of_a_file_after_the_look_is_not_read(
    tmp_path: Path, notes: Path, trap: Callable[[Path, Path], None]
) -> None:
    looked = Elsewhere(lambda: 0, str(tmp_path / "ws")).look([Place(str(notes))], {})
    (notes / "kiln.md").unlink()
    trap(notes / "kiln.md", notes / ".hidden.md")
    with pytest.raises(Busy):
        looked.data(str(notes / "kiln.md"))


def test_a_file_that_becomes_a_pipe_while_it_is_found_is_counted_and_nothing_waits(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fs.Folder.status

    def turned(folder: fs.Folder, name: str) -> os.stat_result:
        status = real(folder, name)
        if name == "kiln.md":
            (notes / name).unlink()
            os.mkfifo(notes / name)
        return status

    monkeypatch.setattr(fs.Folder, "status", turned)
    looked = Elsewhere(lambda: 0, str(tmp_path / "ws")).look([Place(str(notes))], {})
    assert set(looked.marks) == {f"{notes}/deep/wheel.TXT"} and looked.unusable == (f"{notes}/kiln.md",)


def test_names_that_no_line_can_hold_are_passed_over(root: Path, notes: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/odd\xff\n[2] SOUL.md"
    os.mkdir(odd)
    with open(odd + b"/kiln.md", "wb") as opened:
        opened.write(b"kiln\n")
    (tmp_path / "link").symlink_to(os.fsdecode(odd))
    for name in (b"kiln\xff.md", b"kiln\n[2].md", "kiln\u202e.md".encode()):
        with open(os.fsencode(notes) + b"/" + name, "wb") as opened:
            opened.write(b"kiln\n")
    names_and_allows(root, notes, tmp_path / "link")
    assert [hit.path for hit in asked(root, "kiln")] == [f"{notes}/kiln.md"]


def test_a_folder_is_opened_with_no_link_on_the_way_even_where_it_may_not_be_listed(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a").chmod(0o300)
    try:
        with fs.straight(str(tmp_path / "a" / "b" / "c")) as folder:
            assert fs.names(folder) == [] and folder.where == str(tmp_path / "a" / "b" / "c")
    finally:
        (tmp_path / "a").chmod(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for path in (tmp_path / "link" / "b", tmp_path / "link"):
        with pytest.raises(NotADirectoryError) as raised, fs.straight(str(path)):
            pass
        assert raised.value.errno == errno.ENOTDIR
    with fs.straight("/") as folder:
        assert fs.names(folder)


def test_a_file_that_changes_while_it_is_searched_is_looked_at_again(
    root: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names_and_allows(root, notes)
    times, real = [0], elsewhere._shown

    def changing(path: str, data: bytes) -> bytes:
        times[0] += 1
        if times[0] == 1:
            (notes / "kiln.md").write_text("The kiln is cold.\n")
            (notes / "deep" / "wheel.TXT").write_text("The wheel turns.\n")
        return real(path, data)

    monkeypatch.setattr(elsewhere, "_shown", changing)
    with Memory(root, agent="bot") as memory:
        assert "cold" in memory.search("kiln")[0].snippet and "turns" in memory.search("wheel")[0].snippet


def test_the_workspace_itself_and_what_lies_in_it_is_no_place_elsewhere(root: Path, notes: Path, run: Run) -> None:
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("kiln\n")
    for named in (".", "docs", ".git", root, f"{root}/memory"):
        names_and_allows(root, named)
        assert not [hit for hit in asked(root, "kiln glaze") if hit.source == "extra"]
        assert "names nothing outside of the workspace" in run("--dir", str(root), "config", "allow").stdout
    names_and_allows(root, root.parent)
    assert {hit.path for hit in asked(root, "kiln glaze")} == {f"{notes}/kiln.md", "MEMORY.md"}


def test_what_is_read_of_a_file_elsewhere_has_a_bound(root: Path, notes: Path) -> None:
    (notes / "long.md").write_text("a line of the log\n" * 5_000)
    (notes / "line.md").write_text("x" * 500_000)
    names_and_allows(root, notes)
    with Memory(root, agent="bot") as memory:
        part = files.excerpt(memory, f"{notes}/long.md", 11)
        assert part.total == 5_000 and 19_900 < len("".join(part.lines)) <= 20_000
        assert len("".join(files.excerpt(memory, f"{notes}/line.md").lines)) == 20_000


def test_a_profile_that_searches_no_files_of_memory_searches_these(root: Path, notes: Path) -> None:
    names(root, notes)
    (root / "crabmem.toml").write_text(f'profile = "harness"\nextra_paths = ["{notes}"]\n')
    with Memory(root, is_person=True) as memory:
        [finding] = [each for each in memory.doctor() if each.check == "places"]
        assert "nobody here has allowed" in finding.message
        allow(root)
        assert found(memory, "kiln") == [f"{notes}/kiln.md"]


def test_reading_all_anew_reads_them_too(root: Path, notes: Path) -> None:
    names_and_allows(root, notes)
    with Memory(root, is_person=True) as memory:
        assert maintenance.reindex(memory).sections == 3 and found(memory, "kiln")
