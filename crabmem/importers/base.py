"""What all sources of an import have in common: files in, facts out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ..errors import CrabmemError, Unreadable
from ..text.edit import BOM
from ..text.entry import Fact

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
TEXTS = (*MARKDOWN, ".txt", ".text")
JSON = (".json", ".jsonl", ".ndjson")
_BOM = BOM.encode()


@dataclass(frozen=True)
class Skipped:
    """What is no fact, or not wanted, and why: nothing is wrong with it."""

    reason: str


#: What became of something: the fact it is, why it is passed over, or what is wrong with it.
What: TypeAlias = Fact | Skipped | CrabmemError


class Found(NamedTuple):
    """Something in the files and `where`; `apart` tells it from others of its name, as a file's path does.

    `origin` is what it is known by when it is imported again, wherever it then lies; None when that is where it lies.
    What is known by its name alone has the origin "".
    """

    where: str
    what: What
    apart: str = ""
    origin: str | None = None


@dataclass(frozen=True)
class Tree:
    """The files below a folder, or one alone.

    `parts` are the folder's own path; `files` what keeps each from being read, by path, in order; `hidden` the names
    with a leading dot, which are not among them. `read` gives the bytes of a file, or raises a CrabmemError.
    """

    parts: tuple[str, ...]
    files: Mapping[str, CrabmemError | None]
    read: Callable[[str], bytes]
    hidden: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.parts[-1] if self.parts else ""

    def has(self, path: str) -> bool:
        """Whether a file of that path can be read."""
        return path in self.files and self.files[path] is None

    def peek(self, path: str) -> bytes:
        """The bytes of a file; none where it cannot be read."""
        try:
            return b"" if self.files[path] else self.read(path)
        except CrabmemError:
            return b""

    def take(self, path: str, read: Callable[[str, bytes], What]) -> Found:
        """What `read` makes of a file, or why it cannot be read."""
        if reason := self.files[path]:
            return Found(path, reason)
        try:
            data = self.read(path)
            return Found(path, read(path, data) if data.removeprefix(_BOM).strip() else Skipped("it is empty"))
        except CrabmemError as error:
            return Found(path, unnamed(error, path))


@dataclass(frozen=True)
class Source:
    """A kind of memory: `is_it` knows its look, `facts` reads it. `about` is for the person who chooses."""

    name: str
    about: str
    is_it: Callable[[Tree], bool]
    facts: Callable[[Tree], Iterator[Found]]


def unnamed(error: CrabmemError, path: str) -> CrabmemError:
    """An error without the path that it is about, which stands beside it."""
    return Unreadable(str(error).replace(path, "it", 1))


def is_markdown(path: str) -> bool:
    """Whether a file is called like Markdown."""
    return path.lower().endswith(MARKDOWN)


def is_text(path: str) -> bool:
    """Whether a file is called like Markdown or plain text."""
    return path.lower().endswith(TEXTS)
