"""Imports run down only, and parts are strangers to each other."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "crabmem"

#: From the bottom up. A module may import from lower rows; within a row only values, and only upwards in the list.
ROWS: list[list[str]] = [
    [
        "errors",
        "jsonc",
        "version",
        "stamp",
        "bounds",
        "slug",
        "names",
        "notes",
        "edit",
        "lines",
        "headings",
        "credentials",
        "plain",
        "header",
        "links",
        "entry",
        "slots",
        "tables",
        "settings",
        "workspace",
        "merging",
        "losses",
        "lives",
        "erasing",
        "prompt",
        "passages",
        "moments",
        "measures",
        "questions",
        "results",
        "salience",
        "learnings",
        "facts",
        "claims",
        "traces",
        "own_words",
        "hooks",
        "globs",
        "budget",
        "messages",
        "windows",
        "sections",
        "profile",
        "context",
        "extras",
    ],
    ["regular"],
    ["caches"],
    ["fs", "guard", "user_state", "beside"],
    ["jottings", "allowed", "seal", "unconfirmed"],
    ["store", "history", "search", "vectors", "lock", "journal", "displaced", "turns", "bylines", "purged", "hosts"],
    ["meaning", "cached", "uses", "marking"],
    ["voice", "timeline", "catalog", "locating"],
    ["outside"],
    [
        "writer",
        "plan",
        "tree",
        "linking",
        "importing",
        "recalling",
        "pasts",
        "reverting",
        "proposals",
        "provenance",
        "sightings",
        "digest",
    ],
    ["speaking", "searching"],
    ["doctor", "upkeep", "source", "purging", "adopting", "seeding"],
    ["evaluating"],
    ["bisecting"],
    ["handle"],
    ["reading"],
    ["briefing"],
    ["lookup"],
    ["hindsight"],
    ["keyed"],
    ["using"],
    ["writing"],
    ["noting"],
    ["proposing"],
    ["restoring"],
    ["memory"],
    ["agents"],
    ["wire"],
    ["tools", "watcher", "conversations"],
    ["functions", "api"],
    ["quick", "mcp"],
    ["hooking"],
    ["adapters"],
    ["cli"],
]
ROW_OF = {name: number for number, row in enumerate(ROWS) for name in row}
ENTRANCES = {"__init__", "__main__"}


def top(file: Path) -> str:
    """The part of the house a file belongs to: its module, or the folder it is in."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    """The parts of the house that a file imports from."""
    depth = len(file.relative_to(PACKAGE).parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found.update([node.module.split(".")[0]] if node.module else [item.name for item in node.names])
    return found & ROW_OF.keys()


FILES = sorted(file for file in PACKAGE.rglob("*.py") if top(file) not in ENTRANCES)


def test_every_module_has_its_place_in_the_house() -> None:
    assert {top(file) for file in FILES} == ROW_OF.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_imports_run_downwards(file: Path) -> None:
    own = top(file)
    values = ROWS[0]
    for name in imports(file) - {own}:
        below = ROW_OF[name] < ROW_OF[own]
        earlier_value = name in values and own in values and values.index(name) < values.index(own)
        assert below or earlier_value, f"{own} may not import {name}"


def test_only_faces_read_the_clock_and_the_environment() -> None:
    faces = {"api", "cli", "hooking"}
    for file in FILES:
        text = file.read_text("utf-8")
        asked = [call for call in ("datetime.now(", "time.time(", "os.environ", "Path.home(") if call in text]
        assert not asked or top(file) in faces, f"{file.name} reads {asked}"


def test_every_change_of_the_disk_goes_through_fs() -> None:
    calls = {
        "write_text",
        "write_bytes",
        "unlink",
        "replace",
        "rename",
        "mkdir",
        "rmdir",
        "symlink_to",
        "touch",
        "link",
    }
    for file in FILES:
        if top(file) in {"fs", "cli"}:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls:
                owner = ast.unparse(node.func.value)
                harmless = node.func.attr == "replace" and owner not in ("os",)
                assert owner == "fs" or harmless, f"{file.name}: {ast.unparse(node)}"


#: Who reads files that are no workspace's, and why nobody else could have put them there.
READS_ELSEWHERE = {
    "fs": "the one reader",
    "regular": "the one reader",
    "prompt": "texts that ship with the package",
    "profile": "profiles that ship with the package, or that a person names",
    "cli": "files that a person names on the command line",
    "lock": "locks, which are opened and not read",
    "history/packing": "a lock, which is opened and not read",
    "extras": "how crabmem was installed, which the environment of this Python records",
    "hooking": "standard streams",
    "quick": "folders, which are opened to be listed",
    "mcp": "standard streams",
}


def test_every_file_of_a_workspace_is_read_through_fs() -> None:
    """A workspace may come from a stranger: only `fs` and `regular` look what a file is before they read it."""
    reading = {"read_bytes", "read_text", "open", "fdopen", "mmap"}
    allowed = {"regular.opened"}
    for file in FILES:
        place = file.relative_to(PACKAGE).with_suffix("").as_posix()
        if place in READS_ELSEWHERE or top(file) in READS_ELSEWHERE:
            continue
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            if name in reading:
                said = ast.get_source_segment(text, node) or ""
                block = "\n".join(text.splitlines()[max(0, node.lineno - 4) : node.end_lineno])
                is_checked = any(each in block for each in allowed)
                assert is_checked or ast.unparse(node.func).startswith(("fs.", "self._opener.")), f"{place}: {said}"
