"""Claude's memory tool over a workspace: what the SDK's own tool says of a folder, ours says of memory."""

import asyncio
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.adapters.anthropic import AsyncMemoryTool, MemoryTool
from crabmem.operations import files as files_operations
from crabmem.text.slug import is_portable
from crabmem.write.tree import Tree
from tests.conftest import git
from tests.examples import examples
from tests.faults.attacks import PATHS as HOSTILE
from tests.faults.attacks import Ground, folded, folder, grounds
from tests.faults.repository import complaints
from tests.stub_api import Call, serving

Command = dict[str, Any]
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

FOLDERS = ["/memories", "/memories/", "/memories/a", "/memories/a/b", "/memories/entries", "/memories/a/../c"]
FILES = ["/memories/x.md", "/memories/a/x.md", "/memories/a/b/c/deep.md"]
MORE = ["/memories/entries/vet.md", "/memories/./y.md"]
ABROAD = ["/etc/passwd", "/memories/../secret.md", "/memories/../../etc/passwd", "memories/x.md"]
# Few words, so that a text is often found, and often more than once. None overlaps itself, and no line ends
# with "\r\n": of these ours does as our other tools.
LINES = st.lists(st.sampled_from(["one", "two", "three", "aa", "", "é", "last"]), max_size=9)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n", "\n\n"]))
PIECES = st.sampled_from(["one", "two\n", "three", "aa", "\n", "é", "last", "o", "", "nowhere"])
files = st.sampled_from(FILES)
places = files | files | st.sampled_from([*MORE, *FOLDERS, *ABROAD])
COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": files | st.sampled_from(MORE), "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": st.sampled_from(ABROAD), "file_text": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": places},
        optional={"view_range": st.lists(st.integers(-2, 8), min_size=2, max_size=2)},
    ),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": places, "old_str": PIECES, "new_str": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": places, "insert_line": st.integers(-1, 8), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": places}),
    st.fixed_dictionaries(
        {"command": st.just("rename"), "old_path": files, "new_path": st.sampled_from([*FILES, *MORE])}
    ),
    st.fixed_dictionaries(
        {"command": st.just("rename"), "old_path": st.sampled_from(FOLDERS), "new_path": st.sampled_from(FOLDERS)}
    ),
)


def answer(tool: Any, command: Command) -> str:
    """What Claude is told; an error by its text, and one that is no `ToolError` by its kind."""
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error}"
    except OSError as error:
        return f"broken: {type(error).__name__}"


def without_empty_folders(root: Path) -> None:
    """Git keeps none."""
    for path in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()


def loses_a_blank_line(theirs: BetaLocalFilesystemMemoryTool, command: Command) -> bool:
    """Whether a command inserts so that the SDK's own tool drops the blank line with which the file would end."""
    if command["command"] != "insert" or command["path"] in ABROAD:
        return False
    file = Path(theirs.memory_root, command["path"].removeprefix("/memories/"))
    if not file.is_file():
        return False
    return bool(re.search(r"(^|\n)\n\Z", file.read_text())) or not command["insert_text"].strip("\n")


def steady(reply: str) -> str:
    """`reply` without the sizes of folders, which say how the file system keeps them."""
    return re.sub(r"^\S+(\t/memories(?:/.*)?(?<!\.md))$", r"<size>\1", reply, flags=re.MULTILINE)


@settings(max_examples=examples(40))
@given(st.lists(TEXTS, min_size=3, max_size=3), st.lists(COMMANDS, min_size=4, max_size=12))
@example(
    ["", "", ""],
    [
        {"command": "create", "path": "/memories/./y.md", "file_text": "\n"},
        {"command": "insert", "path": "/memories/./y.md", "insert_line": 0, "insert_text": "one"},
    ],
)
@example(
    ["aaaa\naa", "", ""],
    [
        {"command": "str_replace", "path": "/memories/x.md", "old_str": "aa", "new_str": "b"},
        {"command": "str_replace", "path": "/memories/x.md", "old_str": "", "new_str": "b"},
        {"command": "insert", "path": "/memories/x.md", "insert_line": 3, "insert_text": "b"},
    ],
)
@example(
    ["", "", ""],
    [
        {"command": "insert", "path": "/memories/a/x.md", "insert_line": 0, "insert_text": "one\ntwo\nthree"},
        {"command": "str_replace", "path": "/memories/a/b/c/deep.md", "old_str": "", "new_str": "x" * 1_500},
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": "/memories/a/x.md", "view_range": [2, -1]},
        {"command": "str_replace", "path": "/memories/a/x.md", "old_str": "two", "new_str": "2"},
        {"command": "insert", "path": "/memories/a/x.md", "insert_line": 3, "insert_text": "four\n\n"},
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"},
        {"command": "view", "path": "/memories/c"},
        {"command": "delete", "path": "/memories/c/b"},
        {"command": "view", "path": "/memories/c"},
    ],
)
def test_replies_are_word_for_word_those_of_the_sdks_own_tool(texts: list[str], commands: list[Command]) -> None:
    first = [{"command": "create", "path": path, "file_text": text} for path, text in zip(FILES, texts, strict=True)]
    with tempfile.TemporaryDirectory() as root, Memory(Path(root, "ours")) as memory:
        theirs, ours = BetaLocalFilesystemMemoryTool(root), MemoryTool(memory)
        memory.root.mkdir()
        memory.file("crabmem.toml").write_text('durability = "fast"\n')
        for command in [*first, *commands]:
            if loses_a_blank_line(theirs, command):
                continue
            expected = answer(theirs, command)
            without_empty_folders(theirs.memory_root)
            said = answer(ours, command)
            if expected.startswith("broken: "):
                assert said.startswith("error: "), command
            else:
                assert steady(said) == steady(expected), command
        kept = {path.relative_to(memory.root / "memory") for path in (memory.root / "memory").rglob("*.md")}
        there = {path.relative_to(theirs.memory_root) for path in theirs.memory_root.rglob("*") if path.is_file()}
        assert kept == there
        assert all(
            (memory.root / "memory" / path).read_bytes() == (theirs.memory_root / path).read_bytes() for path in kept
        )


@pytest.fixture
def tool(memory: Memory) -> MemoryTool:
    return MemoryTool(memory)


MIXED = st.lists(st.sampled_from(["one", "a", "aa", "\n", "\r\n"]), min_size=1, max_size=9).map("".join)


@settings(max_examples=examples(15))
@given(MIXED, st.one_of(st.tuples(MIXED, MIXED), st.tuples(st.integers(0, 9), MIXED)))
@example("one\r\ntwo\r\n", ("one\ntwo", "1\n2"))
@example("aaa\n", ("aa", "b"))
@example("one\r\ntwo\r\n", (1, "one\nand a half"))
def test_an_edit_does_to_a_file_what_that_of_our_other_tools_does(text: str, edit: tuple[str | int, str]) -> None:
    what, new = edit
    with tempfile.TemporaryDirectory() as root, Memory(Path(root), profile="harness") as memory:
        files = [memory.file(f"memory/{name}.md") for name in ("ours", "theirs")]
        memory.file("memory").mkdir()
        memory.file("crabmem.toml").write_text('durability = "fast"\n')
        for file in files:
            file.write_bytes(text.encode())
        name = {"path": "/memories/theirs.md"}
        if isinstance(what, str):
            ours = memory.call("memory_replace", {"filename": "ours.md", "old_str": what, "new_str": new})
            theirs = answer(MemoryTool(memory), {"command": "str_replace", **name, "old_str": what, "new_str": new})
        else:
            new = new.rstrip("\r\n")
            ours = memory.call("memory_insert", {"filename": "ours.md", "line": what, "text": new})
            theirs = answer(MemoryTool(memory), {"command": "insert", **name, "insert_line": what, "insert_text": new})
        assert ours.is_error == theirs.startswith("error: "), theirs
        ours_after, theirs_after = (file.read_bytes().decode() for file in files)
        # The SDK's own tool ends the last line of a file into which it inserts.
        assert theirs_after in (ours_after, ours_after + "\n", ours_after + "\r\n")
        assert ours_after == theirs_after or isinstance(what, int)


def test_how_lines_end_is_kept_and_a_text_that_overlaps_itself_is_not_replaced(
    tool: MemoryTool, memory: Memory
) -> None:
    file = memory.file("memory/plan.md")
    create(tool, "/memories/plan.md")
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    path = {"path": "/memories/plan.md"}
    answer(tool, {"command": "str_replace", **path, "old_str": "one\ntwo", "new_str": "1\n2"})
    answer(tool, {"command": "insert", **path, "insert_line": 3, "insert_text": "aaa\nlast\n"})
    assert file.read_bytes() == b"1\r\n2\r\nthree\r\naaa\r\nlast\r\n"
    said = answer(tool, {"command": "str_replace", **path, "old_str": "aa", "new_str": "b"})
    assert said.startswith("error: No replacement was performed. Multiple occurrences of old_str `aa` in lines: 4, 4.")


def create(tool: MemoryTool, path: str, text: str = "Some text.\n") -> str:
    return answer(tool, {"command": "create", "path": path, "file_text": text})


def test_sizes_are_written_as_the_sdk_writes_them(memory: Memory, tool: MemoryTool, tmp_path: Path) -> None:
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    for number, size in enumerate((0, 1, 1_023, 1_024, 1_025, 1_536, 100_000)):
        command = {"command": "create", "path": f"/memories/{number}.md", "file_text": "x" * size}
        assert answer(tool, command) == answer(theirs, command)
    view = {"command": "view", "path": "/memories"}
    assert steady(answer(tool, view)) == steady(answer(theirs, view))


def test_of_very_many_files_the_first_thousand_are_listed(memory: Memory, tool: MemoryTool) -> None:
    files_operations.rewrite(memory, "many", lambda tree: {f"entries/{number:04}.md": "x\n" for number in range(1_003)})
    lines = answer(tool, {"command": "view", "path": "/memories/entries"}).splitlines()
    assert lines[-2:] == ["2B\t/memories/entries/0999.md", "(3 more are not listed)"] and len(lines) == 1_003


def test_every_change_is_a_commit_that_says_who_did_what_and_a_refusal_is_none(
    memory: Memory, tool: MemoryTool
) -> None:
    create(tool, "/memories/entries/vet.md", "Dr. Moreno.\n")
    create(tool, "/memories/entries/vet.md", "again")
    answer(
        tool, {"command": "str_replace", "path": "/memories/entries/vet.md", "old_str": "Moreno", "new_str": "Okafor"}
    )
    answer(tool, {"command": "insert", "path": "/memories/entries/vet.md", "insert_line": 0, "insert_text": "Luna:"})
    answer(tool, {"command": "rename", "old_path": "/memories/entries/vet.md", "new_path": "/memories/entries/luna.md"})
    answer(tool, {"command": "view", "path": "/memories"})
    answer(tool, {"command": "delete", "path": "/memories/entries/luna.md"})
    log = memory.log()
    assert [commit.subject for commit in log] == [
        "memory: delete entries/luna.md",
        "memory: rename entries/vet.md",
        "memory: edit entries/vet.md",
        "memory: edit entries/vet.md",
        "memory: create entries/vet.md",
        "init: a new memory",
    ]
    assert {(commit.tool, commit.agent, commit.session) for commit in log[:5]} == {("memory", "coder", "s-1")}
    assert log[1].paths == ("memory/entries/luna.md", "memory/entries/vet.md")


def test_what_claude_creates_among_the_entries_is_recalled(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/entries/vet.md", "Luna's vet is Dr. Moreno.\n")
    assert memory.recall("vet")[0].entry.content == "Luna's vet is Dr. Moreno.\n"
    memory.remember("Wifi", "the network for guests", "Named Pinguin.")
    assert "Named Pinguin." in answer(tool, {"command": "view", "path": "/memories/entries/wifi.md"})


def test_what_a_person_saved_meanwhile_is_recorded_first_and_edited_as_it_is(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/MEMORY.md", "# Overview\n")
    memory.file("memory/MEMORY.md").write_text("# Overview\nby hand\n")
    answer(tool, {"command": "insert", "path": "/memories/MEMORY.md", "insert_line": 2, "insert_text": "by Claude"})
    assert memory.overview().text == "# Overview\nby hand\nby Claude\n"
    assert [commit.author for commit in memory.log()][:2] == ["coder", "person"]


def test_a_credential_is_refused_and_nothing_is_written(memory: Memory, tool: MemoryTool) -> None:
    assert create(tool, "/memories/key.md", TOKEN).startswith("error: not saved: it contains what looks like a secret")
    assert not memory.root.exists()


def test_with_secrets_warn_claude_is_warned_after_the_reply(memory: Memory, tool: MemoryTool) -> None:
    memory.init()
    memory.file("crabmem.toml").write_text('secrets = "warn"\n')
    said = create(tool, "/memories/key.md", TOKEN)
    assert said.startswith(
        "File created successfully at: /memories/key.md\n\nwarning: it holds what looks like a secret"
    )


def test_a_file_that_held_a_credential_before_may_be_moved_and_edited(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/key.md", "x\n")
    memory.file("memory/key.md").write_text(f"{TOKEN}\nx\n")
    rename = {"command": "rename", "old_path": "/memories/key.md", "new_path": "/memories/old.md"}
    assert answer(tool, rename).startswith("Successfully renamed")
    edit = {"command": "str_replace", "path": "/memories/old.md", "old_str": "x\n", "new_str": "y\n"}
    assert answer(tool, edit).startswith("The memory file has been edited.")


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "Unknown command: None"),
        ({"command": "undo"}, "Unknown command: undo"),
        ({"command": ["view"]}, "Unknown command"),
        ("view", "Unknown command"),
        ({"command": "view"}, "`path`"),
        ({"command": "view", "path": 7}, "`path`"),
        ({"command": "view", "path": "/memories/a.md", "view_range": [1, "two"]}, "`view_range.1`"),
        ({"command": "create", "path": "/memories/b.md"}, "`file_text`"),
        ({"command": "create", "path": "/memories/b.md", "file_text": None}, "`file_text`"),
        ({"command": "str_replace", "path": "/memories/a.md", "old_str": "one"}, "`new_str`"),
        ({"command": "insert", "path": "/memories/a.md", "insert_line": 0.5, "insert_text": "x"}, "`insert_line`"),
        ({"command": "rename", "old_path": "/memories/a.md"}, "`new_path`"),
        ({"command": "delete", "path": None}, "`path`"),
    ],
)
def test_a_command_that_is_not_whole_is_an_error_that_names_what_is_wrong(
    memory: Memory, tool: MemoryTool, given: object, wrong: str
) -> None:
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\n"})
    before = memory.log()
    for call in (tool.call, lambda given: asyncio.run(AsyncMemoryTool(memory).call(given))):
        with pytest.raises(ToolError, match=re.escape(wrong)):
            call(given)
    assert memory.log() == before


def test_of_very_many_places_the_first_thousand_are_named(memory: Memory, tool: MemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "a\n" * 100_000})
    with pytest.raises(ToolError, match="Multiple occurrences") as error:
        tool.call({"command": "str_replace", "path": "/memories/a.md", "old_str": "", "new_str": "b"})
    assert ", 499, 500, 500, …." in str(error.value)


def test_nothing_is_put_below_a_file(memory: Memory, tool: MemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one"})
    tool.call({"command": "create", "path": "/memories/b.md", "file_text": "two"})
    for command in (
        {"command": "create", "path": "/memories/a.md/c.md", "file_text": "x"},
        {"command": "rename", "old_path": "/memories/b.md", "new_path": "/memories/a.md/c/b.md"},
    ):
        with pytest.raises(ToolError, match="is a file, so nothing can be put below it"):
            tool.call(command)


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("/memories/photo.png", "x", "use a name that ends in .md, .txt or .json"),
        ("/memories/notes.txt~", "x", "cannot be a name"),
        ("/memories/sedAbC123", "x", "use a name that ends in .md, .txt or .json"),
        ("/memories/crabmem.toml", "x", "use a name that ends in .md, .txt or .json"),
        ("/memories/CrabMem.TOML", "x", "use a name that ends in .md, .txt or .json"),
        ("/memories/entries", "x", "would stand where something with a meaning belongs"),
        ("/memories/Entries/x.md", "x", "would stand where something with a meaning belongs"),
        ("/memories/learnings", "x", "would stand where something with a meaning belongs"),
        ("/memories/folder", "x", "already exists"),
        ("/memories/FOLDER", "x", "other systems take that for folder"),
        ("/memories/.hidden.md", "x", "cannot be a name"),
        ("/memories/.git/x.md", "x", "cannot be a name"),
        ("/memories/con.md", "x", "cannot be a name"),
        ("/memories/a\nb.md", "x", "cannot be a name"),
        ("/memories/" + "a" * 300 + ".md", "x", "cannot be a name"),
        ("/memories/../Crab.md", "x", "would escape /memories directory"),
        ("/memoriesx/a.md", "x", "Path must start with /memories"),
        ("/memories/x.md", "x" * 300_000, "the content has 300000 characters; at most 262144 fit"),
        ("/memories/x.txt", "é" * 2_500_001, "x.txt would have 5,000,002 bytes; at most 5,000,000 fit"),
        ("/memories/x.md", "a\0b", "NUL"),
        ("/memories/x.md", "\ud800", "half of a surrogate pair"),
        ("/memories/KNOWN.md", "x", "other systems take that for known.md"),
        ("/memories/Folder/new.md", "x", "other systems take that for folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_an_error_that_says_so_and_changes_nothing(
    memory: Memory, tool: MemoryTool, path: str, text: str, why: str
) -> None:
    create(tool, "/memories/known.md")
    create(tool, "/memories/folder/known.md")
    head = git(memory.root, "rev-parse", "HEAD")
    said = create(tool, path, text)
    assert said.startswith("error: ") and why in said
    assert git(memory.root, "rev-parse", "HEAD") == head


def test_a_folder_of_many_facts_is_not_deleted_by_the_way(memory: Memory, tool: MemoryTool) -> None:
    for number in range(12):
        memory.remember(f"Fact {number}", "a fact", "Something.")
    said = answer(tool, {"command": "delete", "path": "/memories/entries"})
    assert said.startswith("error: that would delete or empty 12 of 12 facts") and len(memory.entries()) == 12
    assert tool.clear_all_memory() == "All memory cleared" and memory.entries() == []
    memory.undo(even_if_many=True)
    assert len(memory.entries()) == 12


def test_nothing_below_memory_that_history_does_not_keep_is_shown_or_touched(memory: Memory, tool: MemoryTool) -> None:
    create(tool, "/memories/a/x.md")
    memory.file("memory/a/photo.png").write_bytes(b"\x89PNG")
    assert "photo.png" not in answer(tool, {"command": "view", "path": "/memories"})
    assert "does not exist" in answer(tool, {"command": "view", "path": "/memories/a/photo.png"})
    assert answer(tool, {"command": "delete", "path": "/memories/a"}) == "Successfully deleted /memories/a"
    assert memory.file("memory/a/photo.png").read_bytes() == b"\x89PNG"
    memory.file("memory/a/photo.png").unlink()


def test_no_path_reaches_outside_the_folder_or_makes_a_file_that_some_system_cannot_have() -> None:
    for ground, payloads in grounds(HOSTILE[::2]):
        with Memory(ground.root, agent="claude") as memory:
            tool = MemoryTool(memory)
            for payload in payloads:
                for path in (f"/memories/{payload}", f"/memories/entries/{payload}.md"):
                    said = create(tool, path, "harmless") + answer(tool, {"command": "view", "path": path})
                    rename = {"command": "rename", "old_path": "/memories/entries/known.md", "new_path": path}
                    ground.assert_untouched(path, said + answer(tool, rename))
        names = [path for path in git(ground.root, "ls-tree", "-rz", "--name-only", "HEAD").split("\0") if path]
        assert all(name in ("Crab.md", "crabmem.toml") or name.startswith("memory/") for name in names)
        assert len({folded(name) for name in names}) == len(names)
        assert complaints(ground.root) == [] and git(ground.root, "status", "--porcelain") == ""


def test_a_link_in_the_way_is_not_followed() -> None:
    with folder() as around:
        ground = Ground(around)
        (ground.root / "memory" / "link").symlink_to(around)
        (ground.root / "memory" / "file.md").symlink_to(around / "secret.md")
        with Memory(ground.root) as memory:
            tool = MemoryTool(memory)
            said = create(tool, "/memories/link/new.md") + create(tool, "/memories/file.md")
            said += answer(tool, {"command": "view", "path": "/memories/link"})
            said += answer(tool, {"command": "view", "path": "/memories/file.md"})
        ground.assert_untouched("link", said)
        assert said.count("error: ") == 4


def reach(path: str, tree: Tree) -> dict[str, str | None]:
    """What puts a file at `path`."""
    return {path: "x"}


def test_a_program_may_rewrite_files_too_and_what_it_raises_writes_nothing(memory: Memory) -> None:
    done = files_operations.rewrite(
        memory, "sort", lambda tree: {"people/luna.md": "The dog.\n", "MEMORY.md": "# Overview\n"}
    )
    assert done.paths == ("memory/people/luna.md", "memory/MEMORY.md") and done.commit == memory.log(1)[0].commit
    assert files_operations.browse(memory, lambda tree: tree.paths("people")) == ["people/luna.md"]
    for path in ("../Crab.md", "../crabmem.toml", "/etc/x.md", "", "a//b.md"):
        with pytest.raises(InvalidArguments):
            files_operations.rewrite(memory, "reach", partial(reach, path))
    assert len(memory.log()) == 2


@pytest.mark.parametrize("layout", ["ordinary", "flat"])
def test_no_folder_takes_the_place_of_a_file_that_has_a_meaning(tmp_path: Path, layout: str) -> None:
    (tmp_path / "crabmem.toml").write_text(f'layout = "{layout}"\n')
    paths = ["MEMORY.md/x.md", "memory.MD/x.md", "Memory.md"]
    paths += ["Crab.md/x.md", "CRAB.MD/y/x.md"] if layout == "flat" else []
    with Memory(tmp_path, agent="coder") as memory:
        for path in paths:
            with pytest.raises(InvalidArguments, match="use another name"):
                files_operations.rewrite(memory, "take", partial(reach, path))
        assert memory.write_overview("# Overview\n").created and "# Overview" in memory.prompt()


def test_the_asynchronous_tool_says_the_same(memory: Memory) -> None:
    async def conversation() -> list[str]:
        tool = AsyncMemoryTool(memory)
        said = [str(await tool.call({"command": "create", "path": "/memories/x.md", "file_text": "a\n"}))]
        said.append(str(await tool.call({"command": "view", "path": "/memories/x.md"})))
        with pytest.raises(ToolError, match=r"use a name that ends in \.md"):
            await tool.call({"command": "create", "path": "/memories/x.png", "file_text": "a\n"})
        return [*said, await tool.clear_all_memory()]

    assert asyncio.run(conversation()) == [
        "File created successfully at: /memories/x.md",
        "Here's the content of /memories/x.md with line numbers:\n     1\ta\n     2\t",
        "All memory cleared",
    ]


@pytest.fixture
def script() -> list[Call | str]:
    return [
        Call("memory", {"command": "create", "path": "/memories/entries/vet.md", "file_text": "Dr. Moreno.\n"}),
        Call("memory", {"command": "create", "path": "/memories/vet.png", "file_text": "Dr. Moreno.\n"}),
        "Noted.",
    ]


def test_the_sdks_tool_runner_drives_it(memory: Memory, script: list[Call | str]) -> None:
    with serving(*script) as api, anthropic.Anthropic(base_url=api.url, api_key="none") as client:
        last = client.beta.messages.tool_runner(
            model="m",
            max_tokens=100,
            messages=[{"role": "user", "content": "Our vet is Dr. Moreno."}],
            tools=[MemoryTool(memory)],
        ).until_done()
    assert last.content[0].type == "text" and last.content[0].text == "Noted."
    assert api.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in api.requests[1:]]
    assert results[0]["content"] == "File created successfully at: /memories/entries/vet.md"
    assert results[1]["is_error"] and "use a name that ends in .md" in results[1]["content"]
    assert memory.get("vet").content == "Dr. Moreno.\n"


def test_the_asynchronous_tool_runner_drives_it(memory: Memory, script: list[Call | str]) -> None:
    async def conversation(url: str) -> Any:
        async with anthropic.AsyncAnthropic(base_url=url, api_key="none") as client:
            runner = client.beta.messages.tool_runner(
                model="m",
                max_tokens=100,
                messages=[{"role": "user", "content": "Our vet is Dr. Moreno."}],
                tools=[AsyncMemoryTool(memory)],
            )
            return await runner.until_done()

    with serving(*script) as api:
        assert asyncio.run(conversation(api.url)).content[0].text == "Noted."
    assert memory.get("vet").content == "Dr. Moreno.\n"


def test_names_that_some_system_cannot_have_are_not_portable() -> None:
    assert all(is_portable(name) for name in ("a.md", "User preferences (old).md", "日本.md", "2026-03-01.md"))
    bad = (
        "",
        ".",
        "..",
        ".git",
        "git~1",
        "\u200c.git",
        "a/b",
        "a\\b",
        "a:b",
        "COM1.md",
        "aux",
        "a.",
        "a ",
        "a\u0301",
        "\udcff",
    )
    assert not any(is_portable(name) for name in bad)
