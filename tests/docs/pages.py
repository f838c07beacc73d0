"""The pages a reader opens: README and `docs/`, their blocks of code and their links.

What becomes of a block says its language:

    console   typed in a home folder of the page's own, in order; what is printed has to be what the page says
    python    run as a program in an empty folder; `#>` is what it prints, or the `text` block behind it
    sh        commands for the reader's own machine: not run, but their verbs and options have to exist
    toml      settings, or a profile: they have to be valid
    others    (text, json, markdown, mermaid) are shown only
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
#: The first line of a page that `python -m tests.docs --write` makes as a whole.
GENERATED = "<!-- Made by `python -m tests.docs --write`; what is changed here is lost. -->"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A block of code: its language, its text, and where the text stands in the page."""

    page: Path
    language: str
    text: str
    start: int
    end: int

    @property
    def place(self) -> str:
        """The page and the line, for the names of tests."""
        line = self.page.read_text("utf-8").count("\n", 0, self.start)
        return f"{self.page.relative_to(ROOT)}:{line}"


def pages() -> list[Path]:
    """README, and every page of `docs`."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path, language: str) -> list[Block]:
    """The blocks of a language in a page, in order."""
    return [
        Block(page, found[1], found[2], found.start(2), found.end(2))
        for found in _BLOCK.finditer(page.read_text("utf-8"))
        if found[1] == language
    ]


def prose(page: Path) -> str:
    """The text of a page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may name, as forges make it."""
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")
        for heading in _HEADING.findall(prose(page))
    }


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The file and the heading, or "", that each link of a page to another page leads to."""
    for target in _LINK.findall(prose(page)):
        if not re.match(r"[a-z]+:", target):
            name, _, heading = target.partition("#")
            yield (page.parent / name).resolve() if name else page, heading
