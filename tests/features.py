"""What the systems that crabmem grew from can do, and which tests show that it can: `python -m tests.features`.

The rows are in `features.toml`. A test names those it covers on the line above it: `# feature: 17, 18`.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
_MARKER = re.compile(r"^# feature: (?P<rows>\d+(?:, \d+)*)$")
_LIKE_ONE = re.compile(r"^\s*#\s*features?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Feature:
    """A row of the table. `reason` says why no test covers it."""

    number: int
    text: str
    systems: str
    reason: str = ""


@dataclass(frozen=True)
class Marker:
    """A line of a file that names rows; `test` is None where no test stands below it."""

    place: str
    rows: tuple[int, ...]
    test: str | None


def features() -> list[Feature]:
    """All rows, in order."""
    return [Feature(**row) for row in tomllib.loads((TESTS / "features.toml").read_text("utf-8"))["feature"]]


def markers_in(text: str, place: str) -> Iterator[Marker]:
    """The markers of a file. A line that only looks like one names no rows."""
    tests = _tests_by_line(text)
    for number, line in enumerate(text.splitlines(), 1):
        if _LIKE_ONE.match(line):
            found = _MARKER.match(line)
            rows = tuple(int(row) for row in found["rows"].split(", ")) if found else ()
            yield Marker(f"{place}:{number}", rows, tests.get(number + 1))


def markers() -> list[Marker]:
    """The markers of all tests."""
    files = sorted(TESTS.rglob("*.py"))
    return [each for file in files for each in markers_in(file.read_text("utf-8"), file.relative_to(TESTS).as_posix())]


def faults(rows: Iterable[Feature], marked: Iterable[Marker]) -> list[str]:
    """What is wrong with the table, a line each."""
    marked, rows = list(marked), list(rows)
    covered, known = covering(marked), {row.number for row in rows}
    odd = [f"{each.place} is not `# feature: N, M` above a test" for each in marked if not each.rows or not each.test]
    unknown = [f"{each.place} names row {row}" for each in marked for row in each.rows if row not in known]
    bare = [
        f"row {row.number} has no test and no reason" for row in rows if not (covered.get(row.number) or row.reason)
    ]
    stale = [f"row {row.number} has a test and a reason" for row in rows if covered.get(row.number) and row.reason]
    return [*odd, *unknown, *bare, *stale]


def covering(marked: Iterable[Marker]) -> dict[int, list[str]]:
    """The tests that cover each row, as `file::test`."""
    found: dict[int, list[str]] = {}
    for each in marked:
        for row in each.rows if each.test else ():
            found.setdefault(row, []).append(f"{each.place.partition(':')[0]}::{each.test}")
    return found


def table(rows: Iterable[Feature], covered: Mapping[int, list[str]]) -> str:
    """The rows with their tests or reasons, as Markdown."""
    lines = (
        f"| {row.number} | {row.text} | {row.systems} | {row.reason or '<br>'.join(covered.get(row.number, []))} |"
        for row in rows
    )
    return "\n".join(["| # | feature | systems | tests, or why there is none |", "|---|---|---|---|", *lines])


def _tests_by_line(text: str) -> dict[int, str]:
    """The tests of a file by the line that each begins on, its decorators included."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {
        min([node.lineno, *(each.lineno for each in node.decorator_list)]): node.name
        for node in functions
        if node.name.startswith("test_")
    }


if __name__ == "__main__":
    print(table(features(), covering(markers())))
