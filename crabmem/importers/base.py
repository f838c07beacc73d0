"""The parts that all importers share: files in (`Tree`), facts out (`Found`), by a kind of memory (`Source`)."""

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
    """Something that is not imported although nothing is wrong with it, and the reason, for the person."""

    reason: str


#: The outcome for something in the files: a fact, something that is skipped, or the error that keeps it out.
What: TypeAlias = Fact | Skipped | CrabmemError


class Found(NamedTuple):
    """Something in the files, and `where`: a path, or a path with `#heading`, `[number]` or `:line`.

    `apart` is put behind the name of a fact if another one has the same; "" for the path of its file. `origin` is the
    key by which a later import finds this fact again: None for its place, "" for its name alone, else an id of its own,
    which stays the same wherever the fact lies then.
    """

    where: str
    what: What
    apart: str = ""
    origin: str | None = None

    def with_fact(self, change: Callable[[Fact], Fact]) -> "Found":
        """Return the find with its fact changed; the find itself if it is no fact."""
        return self._replace(what=change(self.what)) if isinstance(self.what, Fact) else self


@dataclass(frozen=True)
class Tree:
    """The files below a folder or in an archive, or one file alone, to be imported.

    `parts` are the parts of the folder's own path. `files` maps each path, in order, to the error that keeps the file
    from being read; to None if it can be read. `hidden` are the paths of files and folders with a leading dot, which
    are not among `files`. `read` returns the bytes of a file, or raises a CrabmemError.
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
        """Return the bytes of a file, to recognise its format; b"" if it cannot be read."""
        try:
            return b"" if self.files[path] else self.read(path)
        except CrabmemError:
            return b""

    def take(self, path: str, read: Callable[[str, bytes], What]) -> Found:
        """Return what `read` makes of a file, a skip if the file is empty, or the error for which it cannot be read."""
        if known := self.files[path]:
            return Found(path, known)
        try:
            data = self.read(path)
            return Found(path, read(path, data) if data.removeprefix(_BOM).strip() else Skipped("it is empty"))
        except CrabmemError as error:
            return Found(path, without_path(error, path))

    def take_all(self, read: Callable[[str, bytes], What], endings: tuple[str, ...]) -> Iterator[Found]:
        """Take each file whose path has one of `endings`; and each that cannot be read, so that its error is told."""
        for path, error in self.files.items():
            if error or path.lower().endswith(endings):
                yield self.take(path, read)


class Look(IntEnum):
    """How a source recognises its files. Sources are asked in this order, the surest first, and then by their names."""

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
    """A kind of memory that can be imported: `is_it` recognises its files, `look` says how, and `facts` reads them.

    `about` describes it to the person, in the help. `endings` are the endings of the files that it reads; text from
    standard input becomes a file with one of these.
    """

    name: str
    about: str
    is_it: Callable[[Tree], bool]
    facts: Callable[[Tree], Iterator[Found]]
    look: Look = Look.CONTENTS
    endings: tuple[str, ...] = MARKDOWN

    def passed_over(self, tree: Tree, found: Iterable[Found]) -> Iterator[Found]:
        """Yield, as skipped, the files in which `facts` has `found` nothing, and those with a leading dot."""
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
    """Return the path of the file that a find's `where` is in: all of it, or what precedes `#`, `[` or `:`.

    A path may itself contain these signs, so parts are cut off from the end until a file has that path.
    """
    while where not in tree.files and (at := max(where.rfind(sign) for sign in "#[:")) > 0:
        where = where[:at]
    return where


def without_path(error: CrabmemError, path: str) -> CrabmemError:
    """Return `error` without the path in its text: the path is told beside it anyway."""
    return Unreadable(str(error).replace(path, "it", 1))


def is_markdown(path: str) -> bool:
    """Whether a path has the ending of Markdown."""
    return path.lower().endswith(MARKDOWN)
