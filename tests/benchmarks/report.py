"""What was measured: as a table, as JSON, and in the pages that quote it."""

import json
import os
import platform
import re
import sqlite3
import subprocess
import textwrap
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from tests.docs.marks import marked as marked
from tests.docs.marks import put

from .bench import ROOT
from .picture import Points, picture
from .row import ANY, Row
from .timing import rounded

SPEED = ROOT / "docs" / "speed.md"
RESULTS = Path(__file__).parent / "RESULTS.md"
_WIDTH = 128
_HEAD = ("what", "against", "target")
_GROWTH = "In milliseconds:"


@dataclass(frozen=True)
class Run:
    """Where and when it was measured, and with what: kinds, and nobody's names.

    `load` is at the start and at the end.
    """

    day: str
    processors: int
    processor: str
    system: str
    files: str
    versions: dict[str, str]
    load: tuple[float, float]
    repeats: int

    @classmethod
    def of(cls, folder: Path, repeats: int, load: float) -> "Run":
        """This run, which used `folder` and began under that load."""
        git = subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.split()
        versions = {"Python": platform.python_version(), "git": git[-1], "SQLite": sqlite3.sqlite_version}
        versions |= {name: found for name in ("crabmem", "dulwich", "tantivy") if (found := _version(name))}
        kernel = re.match(r"[\d.]+", platform.release())
        system = f"{platform.system()} {kernel[0] if kernel else ''} {platform.machine()}"
        return cls(
            time.strftime("%Y-%m-%d"), os.cpu_count() or 1, _processor(), system, _file_system(folder), versions,
            (load, os.getloadavg()[0]), repeats,
        )  # fmt: skip

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return (
            f"Measured on {self.day} in one run, {self.repeats} rounds of most, by turns: {self.processors} cores"
            f" ({self.processor}), {self.system}, {self.files}, load {self.load[0]:.1f} when it began and"
            f" {self.load[1]:.1f} when it ended; {versions}."
        )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """The kind of processor, where the system tells."""
    try:
        found = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.machine()


def _file_system(folder: Path) -> str:
    """The type of the file system that a folder is on, where the system tells."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "an unknown file system"
    there = str(folder.resolve()) + "/"
    return max((len(place), kind) for place, kind in mounts if there.startswith(place.rstrip("/") + "/"))[1]


# Tables


def table(rows: Sequence[Row]) -> str:
    """The rows for a terminal, what each figure is made of below it."""
    lines = []
    for row in rows:
        entries = "" if row.entries == ANY else f", {row.entries:,} entries"
        lines += [f"{row.cell:24}  {row.what}{entries}, against {row.against}; target {row.target.words}"]
        lines += [f"{'':26}{row.details}"] if row.details else []
    return "\n".join(lines)


def as_json(rows: Iterable[Row], run: Run) -> str:
    """Everything that was measured, and where."""
    rows = list(rows)
    data = {"run": asdict(run), "rows": [row.as_data() for row in rows], "seconds": points(rows)}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def points(rows: Iterable[Row]) -> Points:
    """The lines of the curve."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        for who, line in row.lines.items():
            if who in row.taken:
                found.setdefault(line, {})[row.entries] = row.taken[who].median
    return found


def _by_size(rows: Sequence[Row]) -> str:
    """A table of Markdown: a line for what is compared with whom, and a column for each number of entries."""
    sizes = sorted({row.entries for row in rows} - {ANY}) or [ANY]
    lines: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        lines.setdefault((row.what, row.against), {})[sizes[0] if row.entries == ANY else row.entries] = row
    cells = [
        (*key, next(iter(line.values())).target.words,
         *(line[size].cell if size in line else "" for size in sizes))
        for key, line in lines.items()
    ]  # fmt: skip
    return _markdown([(*_HEAD, *(f"{size:,}" if size else "" for size in sizes)), *cells], words=len(_HEAD))


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _markdown(lines: Sequence[Sequence[str]], words: int) -> str:
    """A table, the head first, whose first columns are words and whose others are numbers."""
    ruler = ["---"] * words + ["--:"] * (len(lines[0]) - words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], ruler, *lines[1:]))


def _curve(found: Points) -> str:
    sizes = sorted({size for line in found.values() for size in line})
    cells = [
        (name, *(rounded(line[size] * 1000) if size in line else "–" for size in sizes)) for name, line in found.items()
    ]
    return _markdown([("ms", *(f"{size:,}" for size in sizes)), *cells], words=1)


# Pages


def speed(rows: Sequence[Row], run: Run) -> str:
    """What the page on speed says: all rows, and how many targets are missed."""
    verdicts = [row.is_met for row in rows if row.is_met is not None]
    head = _wrapped(
        f"{run} Of {len(verdicts)} targets {verdicts.count(False)} are missed. First the ratio of medians, beside it"
        " what crabmem took or used; ≤ 2× is at most twice what it is compared with."
    )
    return f"{head}\n\n{_by_size(rows)}"


def page(rows: Sequence[Row], run: Run) -> str:
    """What RESULTS.md says beside that: the state of each row, and what figures are made of."""
    states: dict[str, list[str]] = {}
    for row in rows:
        if row.state and row.what not in (told := states.setdefault(row.state, [])):
            told.append(row.what)
    listed = [_wrapped(f"- {'; '.join(told)}: {state}.", "  ") for state, told in states.items()]
    figures = [
        (row.what, row.against, "" if row.entries == ANY else f"{row.entries:,}", row.cell, row.details) for row in rows
    ]
    return "\n\n".join(
        (
            "## In which state", "\n".join(listed),
            "## As memory grows", _GROWTH, _curve(points(rows)),
            "![What one write and one recall take, by the number of entries](curve.svg)",
            "## What each figure is made of",
            _markdown([("what", "against", "entries", "measured", "made of"), *figures], words=5),
        )
    )  # fmt: skip


def write(rows: Sequence[Row], run: Run) -> None:
    """Put a run into RESULTS.md, the curve beside it, and the page on speed."""
    put(RESULTS, "speed", speed(rows, run))
    put(RESULTS, "rest", page(rows, run))
    (RESULTS.parent / "curve.svg").write_text(picture(points(rows)), "utf-8")
    write_page()


def write_page() -> None:
    """Put what RESULTS.md has for the page on speed there: the rows, and the figures of the curve."""
    put(SPEED, "speed", marked(RESULTS, "speed"))
    put(SPEED, "curve", marked(RESULTS, "rest").partition(f"{_GROWTH}\n\n")[2].partition("\n\n")[0])
