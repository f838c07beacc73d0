"""The rooms of the package, and what each imports: `python -m tests.rooms` prints the table of ARCHITECTURE.md.

With `--write` it puts the table there.

A room is a folder of the package, or a module beside the folders. The entrances (`__init__`, `__main__`) are none.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path

from tests.docs.marks import put

PACKAGE = Path(__file__).parent.parent / "crabmem"
NAME = PACKAGE.name

#: From the bottom up: a room may import from the rows below its own, and nothing beside it.
ROWS: list[list[str]] = [
    ["errors", "ask"],
    ["text"],
    ["results"],
    ["workspace"],
    ["disk"],
    # Engines, each of which knows one thing, and nothing of memory.
    ["git", "search", "embeddings"],
    ["recall", "write", "remotes"],
    ["prompt"],
    ["session"],
    ["sync", "fleet"],
    ["operations"],
    ["tools"],
    ["memory"],
    # Faces and annexes.
    ["watch", "loopback", "standby"],
    ["mcp", "web", "importers", "profiles"],
    ["hosts"],
    ["adapters"],
    ["cli"],
]
ROW_OF = {name: number for number, row in enumerate(ROWS) for name in row}
ENTRANCES = {"__init__", "__main__"}
#: Where a family of agents or an importer is a file that nothing names: the table does not count them, else it would.
UNCOUNTED = {"profiles", "importers"}


class When(IntEnum):
    """When an import is run: as the module loads, as a function is called, or never (for the type checker)."""

    LOAD = 0
    LATE = 1
    TYPES = 2


@dataclass(frozen=True)
class Import:
    """An import statement: `target` is a module or a package, ours or another's, by its full name."""

    target: str
    when: When
    line: int


@cache
def modules() -> dict[str, Path]:
    """The files of the package by the full names of their modules, entrances too."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def room(module: str) -> str:
    """The room that a module of ours lies in; empty for the package itself."""
    return module.split(".")[1] if "." in module else ""


@cache
def rooms() -> dict[str, list[str]]:
    """The modules of each room."""
    found: dict[str, list[str]] = {}
    for module in modules():
        if room(module) and room(module) not in ENTRANCES:
            found.setdefault(room(module), []).append(module)
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    """All imports of a module of ours, and the names of our modules that it spells for `import_module`."""
    file = modules()[module]
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(_imports(ast.parse(file.read_text("utf-8")).body, package, When.LOAD))


def _imports(nodes: list[ast.stmt], package: str, when: When) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (Import(target, when, node.lineno) for target in _targets(node, package))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(node.body, package, max(when, When.LATE))
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from _imports(node.body, package, When.TYPES)
            yield from _imports(node.orelse, package, when)
        else:
            yield from _spelled(node, when)
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                for inner in getattr(node, name, []):
                    yield from _imports([inner] if isinstance(inner, ast.stmt) else inner.body, package, when)


def _targets(node: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [item.name for item in node.names]
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    return [full if (full := f"{base}.{item.name}") in modules() else base for item in node.names]


def _spelled(node: ast.stmt, when: When) -> Iterator[Import]:
    """Our modules that a simple statement names in a string: what is loaded by such a name is loaded late."""
    for each in ast.walk(node) if not hasattr(node, "body") else ():
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value in modules().keys() - {NAME}:
            yield Import(each.value, max(when, When.LATE), each.lineno)


def is_ours(target: str) -> bool:
    """Whether an import is of this package."""
    return target.partition(".")[0] == NAME


def edges(name: str) -> dict[str, When]:
    """The other rooms that a room imports from, each with the earliest time at which it does."""
    found: dict[str, When] = {}
    for each in (each for module in rooms()[name] for each in imports(module) if is_ours(each.target)):
        other = room(each.target)
        if other and other != name:
            found[other] = min(each.when, found.get(other, each.when))
    return found


def loaded_with(module: str) -> set[str]:
    """Our modules that Python loads when it loads this one, as the imports say: with it and the packages around it."""
    found: set[str] = set()
    ahead = [module]
    while ahead:
        if (name := ahead.pop()) not in found:
            found.add(name)
            ahead += [name.rpartition(".")[0]] if "." in name else []
            if name in modules():  # a folder without `__init__` has nothing to load
                ahead += [each.target for each in imports(name) if each.when is When.LOAD and is_ours(each.target)]
    return found


def table() -> str:
    """The rooms from the top down, as a table of Markdown; a room in brackets is loaded only when it is needed."""
    lines = ["| room | modules | lines | imports from |", "|---|--:|--:|---|"]
    for name in (name for row in reversed(ROWS) for name in row):
        files = [modules()[module] for module in rooms()[name]]
        count = sum(len(file.read_text("utf-8").splitlines()) for file in files)
        below = sorted(edges(name).items(), key=lambda edge: (-ROW_OF[edge[0]], edge[0]))
        named = ", ".join(other if when is When.LOAD else f"({other})" for other, when in below)
        about = max(100, round(count, -2))  # else every commit would change the table
        size = "– | –" if name in UNCOUNTED else f"{len(files)} | {about:,}"
        lines.append(f"| `{name}` | {size} | {named} |")
    return "\n".join(lines)


if __name__ == "__main__":
    put(PACKAGE / "ARCHITECTURE.md", "rooms", table()) if "--write" in sys.argv else print(table())
