"""What all kinds of memory that are imported have in common: files in, facts out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
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
    """Something that is not imported, and why: it is no fact, or not wanted, and nothing is wrong with it."""

    reason: str


#: What something in the files is: a fact, something that is passed over, or what is wrong with it.
What: TypeAlias = Fact | Skipped | CrabmemError


class Found(NamedTuple):
    """Something in the files, and `where` it is; `apart` tells it from others of its name, as a file's path does.

    `origin` is what it is known by when it is imported again: None for the place where it lies, "" for its name alone,
    else an id of its own, wherever it lies then.
    """

    where: str
    what: What
    apart: str = ""
    origin: str | None = None

    def with_fact(self, change: Callable[[Fact], Fact]) -> "Found":
        """The same with its fact changed; what is no fact stays as it is."""
        return self._replace(what=change(self.what)) if isinstance(self.what, Fact) else self


@dataclass(frozen=True)
class Tree:
    """The files below a folder, or one file alone.

    `parts` are the parts of the folder's own path. `files` has for each path, in order, the error that keeps the file
    from being read, or None. `hidden` are the paths of what has a leading dot, which are not among the files. `read`
    gives the bytes of a file, or raises a CrabmemError.
    """

    parts: tuple[str, ...]
    files: Mapping[str, CrabmemError | None]
    read: Callable[[str], bytes]
    hidden: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name of the folder."""
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
        if known := self.files[path]:
            return Found(path, known)
        try:
            data = self.read(path)
            return Found(path, read(path, data) if data.removeprefix(_BOM).strip() else Skipped("it is empty"))
        except CrabmemError as error:
            return Found(path, without_path(error, path))

    def take_all(self, read: Callable[[str, bytes], What], endings: tuple[str, ...]) -> Iterator[Found]:
        """What `read` makes of each file whose path has one of the endings, and each file that cannot be read."""
        for path, error in self.files.items():
            if error or path.lower().endswith(endings):
                yield self.take(path, read)


class Look(IntEnum):
    """What a source recognises its files by. The surest are asked first, of equally sure ones the first by name."""

    #: A folder or names that no other program uses.
    OWN = 0
    #: A mark that a program puts into any folder, also another program's.
    MARK = 1
    #: The names of files, which other programs may use too.
    NAMES = 2
    #: Only what is in the files.
    CONTENTS = 3
    #: Nothing: any files will do.
    ANYTHING = 4


@dataclass(frozen=True)
class Source:
    """A kind of memory: `is_it` recognises its files, by a `look`, and `facts` reads them.

    `about` is for the person who chooses, in the help. `endings` are those of the files that it reads: standard input
    is given to it as a file with one of them.
    """

    name: str
    about: str
    is_it: Callable[[Tree], bool]
    facts: Callable[[Tree], Iterator[Found]]
    look: Look = Look.CONTENTS
    endings: tuple[str, ...] = MARKDOWN

    def passed_over(self, tree: Tree, found: Iterable[Found]) -> Iterator[Found]:
        """The files of which `facts` has `found` nothing, and what has a leading dot, with the reason."""
        seen = {_file_of(item.where, tree) for item in found}
        for path in tree.files:
            if path not in seen:
                yield Found(path, Skipped(self._why_not(path)))
        for path in sorted(tree.hidden - seen):
            yield Found(path, Skipped("its name begins with a dot"))

    def _why_not(self, path: str) -> str:
        if path.lower().endswith(self.endings):
            return f"it is none of the files that {self.name} keeps memory in"
        kinds = {MARKDOWN: "it is not Markdown", TEXTS: "it is neither Markdown nor text", JSON: "it is not JSON"}
        return kinds.get(self.endings, f"it is not {' or '.join(self.endings)}")


def _file_of(where: str, tree: Tree) -> str:
    """The file that something is in, which is at its path, or behind that at a heading, a number or a line."""
    while where not in tree.files and (at := max(where.rfind(sign) for sign in "#[:")) > 0:
        where = where[:at]
    return where


def without_path(error: CrabmemError, path: str) -> CrabmemError:
    """`error` without the path that it is about, which stands beside it."""
    return Unreadable(str(error).replace(path, "it", 1))


def is_markdown(path: str) -> bool:
    """Whether a path has the ending of Markdown."""
    return path.lower().endswith(MARKDOWN)
