"""Exports of ChatGPT and Claude: a note for each conversation, and what is hostile is refused in words."""

import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import CrabmemError, InvalidArguments
from crabmem.importers import archive, chats
from crabmem.importers.base import Found, Skipped, Tree
from crabmem.importers.recognition import source_called, source_of
from crabmem.importers.tree import tree_at
from crabmem.text.entry import Fact
from tests.conftest import Run
from tests.importers.conftest import Import

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def node(id: str, parent: str | None, role: str, *parts: object, **more: object) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [*parts]}
    message = {"id": id, "author": {"role": role}, "create_time": 1773480600.5, "content": content, **more}
    return {"id": id, "message": message, "parent": parent, "children": []}


def chatgpt(title: str, id: str, *nodes: dict[str, Any], current: str | None = None) -> dict[str, Any]:
    mapping = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        **{n["id"]: n for n in nodes},
    }
    return {"title": title, "conversation_id": id, "mapping": mapping, "current_node": current or nodes[-1]["id"]}


TRIP = chatgpt(
    "Trip to Oslo", "c-1",
    node("s", "root", "system", "You are helpful."),
    node("h", "s", "user", "About me", metadata={"is_visually_hidden_from_conversation": True}),
    node("a", "h", "user", "Which ferry goes to Oslo?", {"content_type": "image_asset_pointer"}),
    node("old", "a", "assistant", "The first answer."),
    node("tool", "a", "assistant", "search('ferry')", recipient="web"),
    node("b", "tool", "assistant", "The one at nine \ue200cite\ue202turn0\ue201 o'clock \ud83d."),
)  # fmt: skip
PARSER = chatgpt("Parser", "c-2", node("a", "root", "user", "Which parser?"), node("b", "a", "assistant", "LL(1)."))
CLAUDE = [
    {"uuid": "u-1", "name": "", "chat_messages": [
        {"sender": "human", "text": "What is a lathe?", "created_at": "2026-03-14T09:30:00Z"},
        {"sender": "assistant", "text": "flat", "created_at": "2026-03-14T09:30:09Z", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "It turns."},
            {"type": "tool_use", "name": "x", "input": {}}]}]},
    {"uuid": "u-2", "name": "Empty", "chat_messages": []},
]  # fmt: skip


def zipped(file: Path, files: Mapping[str, object]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, said in files.items():
            made.writestr(name, said if isinstance(said, str | bytes) else json.dumps(said))
    return file


def read(place: Path) -> list[Found]:
    tree = tree_at(place, Path("/nowhere"))
    return list(source_of(tree).facts(tree))


def in_text(text: str, kind: str = "chatgpt") -> list[Found]:
    return list(source_called(kind).facts(Tree(("x",), {"conversations.json": None}, lambda path: text.encode())))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "ws"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A download of ChatGPT, in two parts, with what else is in one."""
    others = {"chat.html": "<html>", "user.json": {"email": "x"}, "__MACOSX/._conversations-000.json": b"\x00"}
    return zipped(
        tmp_path / "export.zip", {"x/conversations-000.json": [TRIP], "x/conversations-001.json": [PARSER], **others}
    )


def test_a_conversation_of_chatgpt_is_a_note_of_the_branch_that_is_shown(export: Path) -> None:
    trip, parser = read(export)
    assert isinstance(trip.what, Fact) and isinstance(parser.what, Fact)
    assert (trip.what.name, trip.what.description) == ("Trip to Oslo", "Which ferry goes to Oslo?")
    assert trip.what.content == (
        "**user**, 2026-03-14 09:30:\n\nWhich ferry goes to Oslo?\n\n"
        "**assistant**, 2026-03-14 09:30:\n\nThe one at nine  o'clock ?."
    )
    assert (trip.where, trip.origin, parser.what.name) == ("x/conversations-000.json[0]", "chatgpt:c-1", "Parser")


def test_a_conversation_without_a_current_node_or_with_a_circle_has_its_last_branch() -> None:
    row = {
        **chatgpt("Circle", "c", node("a", "b", "user", "One"), node("b", "a", "assistant", "Two")),
        "current_node": None,
    }
    [found] = in_text(json.dumps([row]))
    assert isinstance(found.what, Fact) and "One" in found.what.content and found.what.content.endswith("Two")


def test_conversations_and_memories_of_claude_are_notes(tmp_path: Path) -> None:
    memories = [{"conversations_memory": "Prefers tea.", "project_memories": {"p-1": "Uses Rust."}}]
    projects = [{"uuid": "p-1", "name": "Lathe"}]
    files = {
        "conversations.json": CLAUDE,
        "memories.json": memories,
        "projects/p-1.json": projects[0],
        "users.json": [],
    }
    lathe, empty, memory, project = read(zipped(tmp_path / "claude.zip", files))
    assert isinstance(lathe.what, Fact) and lathe.what.name == "What is a lathe"
    assert (
        lathe.what.content.endswith("**assistant**, 2026-03-14 09:30:\n\nIt turns.") and "hm" not in lathe.what.content
    )
    assert empty.what == Skipped("nothing was said in it")
    assert isinstance(memory.what, Fact) and (memory.what.name, memory.what.content) == (
        "Claude's memory",
        "Prefers tea.",
    )
    assert isinstance(project.what, Fact) and project.what.name == "Claude's memory of project Lathe"


def test_a_very_long_conversation_has_several_notes_and_loses_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "PART", 200)
    words = [f"word{at}" for at in range(100)]
    turns = [
        node(str(at), str(at - 1) if at else "root", "user", " ".join(words[at * 10 : at * 10 + 10]))
        for at in range(10)
    ]
    found = in_text(json.dumps([chatgpt("Long", "c", *turns, node("x", "9", "user", "y" * 500))]))
    texts = [each.what.content for each in found if isinstance(each.what, Fact)]
    assert len(found) > 5 and all(len(text) <= 200 for text in texts) and all(word in " ".join(texts) for word in words)
    assert sum(text.count("y") for text in texts) == 500 and found[1].origin == "chatgpt:c#2"


def test_no_note_of_a_long_conversation_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "PART", 200)
    for length in range(150, 205):
        found = in_text(json.dumps([chatgpt("Long", "c", node("x", "root", "user", "y" * length))]))
        assert all(isinstance(each.what, Fact) and each.what.content for each in found), length


@pytest.mark.parametrize(
    ("text", "why", "taken"),
    [("[1, {}]", "it is no conversation of ChatGPT", 0), (json.dumps([TRIP]) + "x", "", 1),
     (json.dumps([PARSER, TRIP])[:-9], "cut short", 1),
     (json.dumps([TRIP])[:-1] + "," + '{"a":' * 100_000, "nested too deeply", 1),
     ('[{"mapping": {"a": 1, "b": {}}}]', "nothing was", 0), (json.dumps(TRIP), "", 1), ("", "", 0)],
)  # fmt: skip
def test_what_is_broken_is_named_and_what_stands_before_it_is_taken(text: str, why: str, taken: int) -> None:
    found = in_text(text)
    assert why in str(found[-1:]) and sum(isinstance(each.what, Fact) for each in found) == taken


KEYS = ("mapping", "chat_messages", "message", "author", "role", "content", "parts", "text", "parent", "current_node",
        "title", "name", "uuid", "create_time", "created_at", "metadata", "content_type", "recipient", "sender", "a",
        "user", "conversations_memory", "project_memories")  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.integers() | st.floats() | st.sampled_from(KEYS) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), ANYTHING, min_size=1, max_size=6), max_size=3))
def test_no_json_stops_an_import(rows: list[object]) -> None:
    files = dict.fromkeys(("conversations.json", "memories.json", "projects.json"))
    for kind in ("chatgpt", "claude"):
        list(source_called(kind).facts(Tree(("x",), files, lambda path: json.dumps(rows).encode())))


def test_too_many_conversations_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "MAX_CONVERSATIONS", 2)
    found = in_text(json.dumps([PARSER] * 4))
    assert len(found) == 3 and "only 2 conversations" in str(found[-1].what)


def test_an_archive_of_hostile_sizes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TEXT", 10_000)
    monkeypatch.setattr(archive, "MAX_TEXTS", 30_000)
    bomb = zipped(tmp_path / "bomb.zip", {"conversations.json": b" " * 20_000})
    [reason] = tree_at(bomb, tmp_path / "ws").files.values()
    assert "larger than 10,000 bytes" in str(reason)
    with pytest.raises(InvalidArguments, match="30,000 bytes of texts; unpack it"):
        tree_at(zipped(tmp_path / "many.zip", {f"{at}.json": b" " * 9_000 for at in range(4)}), tmp_path / "ws")
    monkeypatch.setattr(archive, "MAX_NAMES", 3)
    with pytest.raises(InvalidArguments, match="more than 3 files"):
        tree_at(tmp_path / "many.zip", tmp_path / "ws")
    monkeypatch.setattr(archive, "MAX_ARCHIVE", 10)
    with pytest.raises(InvalidArguments, match="unpack and"):
        tree_at(bomb, tmp_path / "ws")


def test_an_archive_that_lies_about_a_size_gives_no_more_than_it_says(tmp_path: Path) -> None:
    file = zipped(tmp_path / "lie.zip", {"conversations.json": b" " * 2_000_000})
    data = bytearray(file.read_bytes())
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        data[data.index(mark) + at : data.index(mark) + at + 4] = struct.pack("<I", 100)
    file.write_bytes(data)
    with pytest.raises(CrabmemError, match="cannot be unpacked"):
        tree_at(file, tmp_path / "ws").read("conversations.json")


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"x" * 100])
def test_what_is_no_archive_or_leads_elsewhere_is_named(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.zip"
    file.write_bytes(data)
    with pytest.raises(InvalidArguments, match="no whole zip archive"):
        tree_at(file, tmp_path / "ws")
    tree = tree_at(zipped(file, {"../up.json": "{}", "/abs.json": "{}", ".dot.json": "{}"}), tmp_path / "ws")
    assert {path for path, reason in tree.files.items() if reason} == {"/abs.json"} and len(tree.hidden) == 2


def test_a_person_sees_what_there_is_and_picks_by_name_pattern_or_number(
    export: Path, tmp_path: Path, run: Run
) -> None:
    at = ("--dir", str(tmp_path / "ws"), "import", str(export))
    listed = run(*at, "--dry-run").stdout
    assert "x/conversations-000.json[0]: Trip to Oslo" in listed and "x/conversations-001.json[0]: Parser" in listed
    for wanted in ("oslo", "trip*"):
        told = json.loads(run(*at, "--only", wanted, "--dry-run", "--json").stdout)
        assert [each["name"] for each in told["files"] if each["state"] == "made"] == ["Trip to Oslo"]
    assert "would make 2" in run(*at, "--only", "0", "--dry-run").output
    assert "1 made" in run(*at, "--only", "parser").output
    with Memory(tmp_path / "ws") as memory:
        [entry] = memory.entries()
        assert (entry.path, entry.tags) == ("memory/entries/chatgpt/parser.md", ("chatgpt",))
        assert "LL(1)" in memory.recall("which parser")[0].entry.content


def test_a_later_export_finds_each_conversation_again_whatever_the_file_is_called(tmp_path: Path, run: Run) -> None:
    at = ("--dir", str(tmp_path / "ws"), "import")
    assert "1 made" in run(*at, str(zipped(tmp_path / "one.zip", {"conversations.json": [PARSER]}))).output
    longer = chatgpt("New title", "c-2", *list(PARSER["mapping"].values())[1:], node("c", "b", "user", "Thanks."))
    later = zipped(tmp_path / "two.zip", {"conversations-000.json": [longer, TRIP]})
    assert "1 made" in run(*at, str(later), "--only", "trip*").output
    assert "--replace takes these" in run(*at, str(later)).output
    assert "1 replaced" in run(*at, str(later), "--replace").output
    with Memory(tmp_path / "ws") as memory:
        assert len(memory.entries()) == 2


def test_a_part_that_a_replaced_conversation_has_no_more_is_named(
    tmp_path: Path, imported: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats, "PART", 200)
    file = tmp_path / "conversations.json"
    for length in (600, 300):
        row = chatgpt("Long", "c-1", node("a", "root", "user", "y" * length))
        file.write_text(json.dumps([row, PARSER]))
        done = imported(file, "--replace")
    was = "it was imported as a part of its own earlier, and is none now"
    assert done.stderr.splitlines() == [
        f"crabmem: warning: memory/entries/chatgpt/long-part-3.md: {was}; `crabmem forget 'Long (part 3)'` removes it",
        f"crabmem: warning: memory/entries/chatgpt/long-part-4.md: {was}; `crabmem forget 'Long (part 4)'` removes it",
        "read as chatgpt: 1 replaced, 2 unchanged",
    ]


def test_a_credential_in_a_conversation_is_refused_as_in_any_import(tmp_path: Path, run: Run) -> None:
    row = chatgpt("Keys", "c-3", node("a", "root", "user", f"The token is {TOKEN}."))
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([row, PARSER]))
    done = run("--dir", str(tmp_path / "ws"), "import", str(file))
    assert "1 made" in done.output and "GitHub token" in done.output and TOKEN not in done.output
    assert not [each for each in (tmp_path / "ws").rglob("*.md") if TOKEN in each.read_text()]
