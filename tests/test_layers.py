"""Imports run down only, and parts are strangers to each other."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "crabmem"

#: From the bottom up: what stands in a row may import from the rows below it, and nothing beside it.
ROOMS: list[list[str]] = [
    ["errors"],
    ["text"],
    ["results"],
    ["workspace"],
    ["disk"],
    # Engines, each of which knows one thing, and nothing of memory.
    ["git", "search", "embeddings"],
    ["recall", "write"],
    ["prompt"],
    ["locate"],
    ["session"],
    ["operations"],
    ["memory"],
    ["agents"],
    ["tools", "watch", "conversations"],
    ["api"],
    # Faces and annexes.
    ["quick", "mcp", "hooks", "importers"],
    ["hosts"],
    ["hooking"],
    ["adapters"],
    ["cli"],
]
ROW_OF = {name: number for number, row in enumerate(ROOMS) for name in row}
ENTRANCES = {"__init__", "__main__"}


def room(file: Path) -> str:
    """The room that a file is in, or the module that it is."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> set[str]:
    """The rooms that a file imports from, late imports too."""
    depth = len(file.relative_to(PACKAGE).parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            found.update([node.module.split(".")[0]] if node.module else [item.name for item in node.names])
    return found & ROW_OF.keys()


FILES = sorted(file for file in PACKAGE.rglob("*.py") if room(file) not in ENTRANCES)


def test_every_room_has_its_place_in_the_house() -> None:
    assert {room(file) for file in FILES} == ROW_OF.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_imports_run_downwards(file: Path) -> None:
    own = room(file)
    for name in imports(file) - {own}:
        assert ROW_OF[name] < ROW_OF[own], f"{own} may not import {name}"


def test_only_faces_read_the_clock_and_the_environment() -> None:
    faces = {"api", "cli", "hooking"}
    for file in FILES:
        text = file.read_text("utf-8")
        asked = [call for call in ("datetime.now(", "time.time(", "os.environ", "Path.home(") if call in text]
        assert not asked or room(file) in faces, f"{file.name} reads {asked}"


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
        if room(file) == "cli" or file.name == "fs.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in calls:
                owner = ast.unparse(node.func.value)
                harmless = node.func.attr == "replace" and owner not in ("os",)
                assert owner == "fs" or harmless, f"{file.name}: {ast.unparse(node)}"


#: Who reads files that are no workspace's, and why nobody else could have put them there.
READS_ELSEWHERE = {
    "disk/fs": "the one reader",
    "disk/regular": "the one reader",
    "text/templates": "texts that ship with the package",
    "prompt/profile": "profiles that ship with the package, or that a person names",
    "cli": "files that a person names on the command line",
    "disk/lock": "locks, which are opened and not read",
    "git/packing": "a lock, which is opened and not read",
    "text/extras": "how crabmem was installed, which the environment of this Python records",
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
        if place in READS_ELSEWHERE or room(file) in READS_ELSEWHERE:
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
