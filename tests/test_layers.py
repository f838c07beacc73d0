"""Imports run down only, parts are strangers to each other, and nothing is loaded that nobody asked for.

The rooms and their rows are in `tests/rooms.py`; a new module in a room touches no list.
"""

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from tests.rooms import (
    ENTRANCES,
    PACKAGE,
    ROW_OF,
    UNCOUNTED,
    When,
    imports,
    is_ours,
    loaded_with,
    modules,
    rooms,
    table,
)
from tests.rooms import room as room_of


def room(file: Path) -> str:
    """The room that a file is in, or the module that it is."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(file for file in PACKAGE.rglob("*.py") if room(file) not in ENTRANCES)


def test_every_room_has_its_place_in_the_house() -> None:
    assert rooms().keys() == ROW_OF.keys()


def test_imports_run_downwards() -> None:
    """Late ones too, and those of types only: what a function hides is an edge all the same."""
    upwards = [
        f"{modules()[module].relative_to(PACKAGE)}:{each.line} imports {each.target}"
        for own, names in rooms().items()
        for module in names
        for each in imports(module)
        if is_ours(each.target) and (other := room_of(each.target)) and other != own and ROW_OF[other] >= ROW_OF[own]
    ]
    assert upwards == []


def test_no_module_needs_itself_to_be_loaded() -> None:
    loads = {name: {each.target for each in imports(name) if each.when is When.LOAD} for name in modules()}
    TopologicalSorter(loads).prepare()  # raises CycleError, which names the circle


def test_the_table_of_the_house_names_every_room() -> None:
    rows = [line.split("|") for line in table().splitlines()[2:]]
    assert {row[1].strip(" `") for row in rows} == ROW_OF.keys()
    counted = {row[1].strip(" `"): int(row[2]) for row in rows if row[1].strip(" `") not in UNCOUNTED}
    assert counted == {name: len(found) for name, found in rooms().items() if name not in UNCOUNTED}


#: Rooms of which each module loads a library that somebody else wrote for it: these are the point of an adapter.
GUESTS = {"adapters"}
_READERS = {"text", "results", "prompt", "wire", "recall", "write", "git", "importers", "hosts"}
_WHOLE = {"session", "sync", "operations", "memory", "tools", "watch", "mcp", "web", "profiles", "cli"}
#: Libraries that cost a process its first 5 to 300 ms, and the rooms that may load them before they are used.
MAY_LOAD = {
    "asyncio": {"fleet", "operations", "mcp", "loopback", "web"},
    "bm25s": set(),
    "click": {"cli", "mcp", "loopback", "web"},
    "dulwich": _WHOLE | {"git", "recall", "remotes", "text"},
    "frontmatter": _WHOLE | _READERS,
    "http.client": {"embeddings", "mcp", "sync", "remotes", "loopback", "web"},
    "importlib.metadata": {"fleet", "text", "embeddings", "cli", "mcp", "sync", "remotes", "loopback", "web"},
    "mcp": {"mcp"},
    "model2vec": set(),
    "numpy": {"search", "embeddings"},
    "psycopg": {"fleet"},
    "pydantic": {"mcp"},
    "tomlkit": set(),
    "tomllib": {"text", "prompt", "operations", "hosts", "cli", "web"},
    "urllib.request": {"embeddings", "mcp", "sync", "remotes", "loopback", "web"},
    "watchfiles": {"watch", "mcp", "loopback", "web"},
    "yaml": _WHOLE | _READERS,
}

_LOAD = """
import importlib, json, os, sys
rooms, libraries = json.load(sys.stdin)
for name, modules in rooms.items():
    if not (child := os.fork()):
        for module in modules:
            importlib.import_module(module)
        ours = [module for module in sys.modules if module.partition(".")[0] == "crabmem"]
        print(json.dumps([name, ours, [name for name in libraries if name in sys.modules]]), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""


def test_a_room_loads_no_more_than_its_imports_say() -> None:
    """Each room in a fork of one bare process: neither rooms that it does not name, nor libraries that take long."""
    asked = {name: found for name, found in rooms().items() if name not in GUESTS}
    told = json.dumps([asked, list(MAY_LOAD)])
    child = subprocess.run([sys.executable, "-c", _LOAD], input=told, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    loaded = [json.loads(line) for line in child.stdout.splitlines()]
    assert [name for name, _, _ in loaded] == list(asked)
    for name, ours, libraries in loaded:
        assert set(ours) <= set().union(*(loaded_with(module) for module in asked[name])), name
        assert [library for library in libraries if name not in MAY_LOAD[library]] == [], name


def test_only_faces_read_the_clock_and_the_environment() -> None:
    """And what the kernel can do is asked for in one place, which may be told to say that it can do nothing."""
    faces, edges = {"cli", "hosts", "web"}, {"opening.py", "system.py"}
    for file in FILES:
        text = file.read_text("utf-8")
        asked = [call for call in ("datetime.now(", "time.time(", "os.environ", "Path.home(") if call in text]
        assert not asked or room(file) in faces or file.name in edges, f"{file.name} reads {asked}"


def test_systems_are_told_apart_in_one_place() -> None:
    """So that every module takes the portable way when `CRABMEM_PORTABLE` says so. A Mac's hosts have other folders."""
    for file in FILES:
        text = file.read_text("utf-8")
        told = [word for word in ("sys.platform", "os.name", "ctypes.CDLL") if word in text]
        assert not told or file.name in ("system.py", "surroundings.py"), f"{file.name} asks {told}"


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
    "fleet/postgres": "the tables, which ship with the package",
    "prompt/profile": "profiles that a person names",
    "prompt/shipped": "profiles that ship with the package",
    "cli": "files that a person names on the command line",
    "disk/lock": "locks, which are opened and not read",
    "git/packing": "a lock, which is opened and not read",
    "text/extras": "how crabmem was installed, which the environment of this Python records",
    "hosts/hooks/command": "standard streams",
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
