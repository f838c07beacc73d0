"""The console blocks of a page, typed in order in a home folder of the page's own."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .pages import ROOT, Block, blocks

#: What a page shows for the home folder, and for the program.
HOME, PROGRAM = "/home/ann", "/home/ann/.local/bin/crabmem"


@dataclass(frozen=True)
class Typed:
    """What a command printed, on both of its outputs, and its exit status."""

    printed: str
    status: int


@dataclass(frozen=True)
class Step:
    """A command of a block: what the page says it prints, and what it printed."""

    command: str
    expected: str
    printed: str
    status: int

    @property
    def is_as_told(self) -> bool:
        """Whether it printed what the page says, ids and times apart, and failed only if the page shows that."""
        return steady(self.printed) == steady(self.expected) and not self.fails_unsaid

    @property
    def fails_unsaid(self) -> bool:
        """Whether it fails and the page shows no error, nor that nothing matches."""
        signs = ("crabmem: ", "Error: ", "no match in ", "nothing to search for", "no fact matches", "never said that")
        return bool(self.status) and not any(sign in self.expected for sign in signs)


def run(page: Path) -> list[tuple[Block, list[Step]]]:
    """What became of each console block of a page."""
    with tempfile.TemporaryDirectory(prefix="crabmem-docs-") as folder:
        return [(block, [_tried(*step, Path(folder)) for step in _steps(block)]) for block in blocks(page, "console")]


def _steps(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints. A line that ends in a backslash goes on in the next."""
    found = []
    for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = step.splitlines(keepends=True)
        size = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\\n"))
        found.append(("".join(lines[:size]).removesuffix("\n"), "".join(lines[size:])))
    return found


def _tried(command: str, expected: str, home: Path) -> Step:
    done = typed(command, home)
    return Step(command, expected, done.printed, done.status)


def typed(command: str, home: Path) -> Typed:
    """What a command does in that home folder, and in the folder of the project."""
    programs = Path(sys.executable).parent
    environment = {
        "HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "COLUMNS": "100",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "EDITOR": "true",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        cwd=ROOT,
    )  # fmt: skip
    printed = done.stdout.replace(str(programs / "crabmem"), PROGRAM).replace(str(home), HOME)
    return Typed(re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE), done.returncode)


def steady(text: str) -> str:
    """`text` without what differs from run to run: ids and times."""
    text = re.sub(r"\b[0-9a-f]{7,40}\b", "<id>", text)
    return re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?|\b\d\d:\d\d\b", "<time>", text).rstrip()


def renewed(page: Path) -> str:
    """A page with what its commands print now; what differs by ids and times alone stays as it is.

    Raises:
        SystemExit: a command fails, and the page does not say that it does.
    """
    text = page.read_text("utf-8")
    for block, steps in reversed(run(page)):
        if failed := next((step for step in steps if step.fails_unsaid), None):
            raise SystemExit(f"{block.place}: $ {failed.command}\n{failed.printed}")
        told = "".join(
            f"$ {step.command}\n{step.expected if steady(step.printed) == steady(step.expected) else step.printed}"
            for step in steps
        )
        text = text[: block.start] + told + text[block.end :]
    return text
