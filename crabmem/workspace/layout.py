"""Layouts: which files of a workspace are what, by their paths. Touches no disk.

A `path` is text relative to the workspace with `/` between its parts, as Git writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ..text.daily_notes import is_note
from ..text.limits import DEEPEST
from ..text.slug import is_portable
from ..text.values import once, replace, value

SETTINGS = "crabmem.toml"
#: The profile of a workspace that names none.
DEFAULT = "crab"
AGENTS = "agents"
_ENDINGS = """
adoc bash c cfg conf cpp cs css csv diff go h hpp htm html ini java js json json5 jsonl jsx kt log lua markdown md mdx
org patch php pl properties py r rb rs rst sh sql srt swift tex text toml ts tsv tsx txt vue xml yaml yml
"""
#: What names of texts end in, in lower case; a name without an ending is that of a text, too.
TEXTS = frozenset(_ENDINGS.split())


@value
class Layout:
    """The role of each file, by its path. `name` is the value of the setting `layout`.

    `entries` are the folders whose Markdown files are facts, the first of them for new ones; "" is the workspace
    itself. With `has_folders` the files in folders below the first are facts, too: a person's order, which stays. In
    `notes` files may be daily notes, `YYYY-MM-DD.md`, which are no facts. History keeps the Markdown
    files at the top, and all below the folder `memory` ("": everywhere) and those `beside` it; with `has_texts`, other
    texts below the folder `memory`, too, which are no facts: in a folder of another program those are its own. With
    `is_guest` the folder is a project's, and at its top only identity, overview and settings are ours. In
    `learnings` ("": a folder of that name where memory is) lies what an agent learned of its mistakes. `is_seeded`:
    whether a new workspace gets an identity. `recall_notes`: whether recall finds daily notes, too.
    """

    name: str
    identity: str
    overview: str
    entries: tuple[str, ...]
    notes: str
    memory: str
    is_seeded: bool = True
    beside: tuple[str, ...] = ()
    learnings: str = ""
    recall_notes: bool = False
    has_folders: bool = False
    has_texts: bool = False
    is_guest: bool = False

    def named(self, file: str) -> str:
        """The path of a file of a profile, in which {identity} and {overview} stand for those here."""
        return file.replace("{identity}", self.identity).replace("{overview}", self.overview)

    def entry_path(self, slug: str, folder: str | None = None) -> str:
        """The path of a new entry with that slug, in the first folder of entries unless `folder` names another."""
        return _within(self.entries[0] if folder is None else folder, f"{slug}.md")

    def note_path(self, day: date) -> str:
        """The path of the note of a day."""
        return _within(self.notes, f"{day.isoformat()}.md")

    def learning_path(self, kind: str) -> str:
        """The path of the learnings of a kind."""
        return _within(self.learnings or self.memory_path("learnings"), f"{kind}.md")

    def memory_path(self, below: str) -> str:
        """The path of what lies at `below` where memory is."""
        return _within(self.memory, below)

    def places(self, slug: str) -> list[str]:
        """The paths directly in the folders of entries that an entry with that slug may have."""
        return [_within(folder, f"{slug}.md") for folder in self.entries]

    def label(self, path: str) -> str:
        """The short path of an entry for a person: without `.md` and without the folder that all entries are in."""
        folder, _, name = path.removesuffix(".md").rpartition("/")
        return name if folder in self.entries else f"{folder}/{name}".removeprefix(self._nest_prefix)

    def is_entry(self, path: str) -> bool:
        """Whether a Markdown file at `path` is an entry. Asked of every file of a workspace, so it is quick."""
        folder, _, name = path.rpartition("/")
        if name[-3:] != ".md" or name[0] == ".":
            return False
        if folder not in self.entries:
            return self.has_folders and self._is_nested(path)
        return folder not in self.mixed or not (
            path.casefold() in self._whole or (folder == self.notes and is_note(name))
        )

    def is_note(self, path: str) -> bool:
        """Whether a file at `path` is a daily note."""
        folder, _, name = path.rpartition("/")
        return folder == self.notes and is_note(name)

    def is_recalled(self, path: str) -> bool:
        """Whether recall looks into a Markdown file at `path`: an entry, or a daily note where those are recalled."""
        return self.is_entry(path) or (self.recall_notes and self.is_note(path))

    def is_entry_folder(self, path: str) -> bool:
        """Whether entries lie in the folder at `path`, or below it."""
        holds = any(folder == path or folder.startswith(f"{path}/") for folder in self.entries)
        return holds or self.is_entry(f"{path}/x.md")

    def is_within(self, path: str) -> bool:
        """Whether `path` is a file of text where memory is, whatever its name begins with."""
        top, below, _ = path.partition("/")
        if not path.endswith(".md"):
            return self._is_text_of_memory(path)
        if not below:
            return not self.is_guest or path in self.whole
        return (not self.memory or top == self.memory or top in self.beside) and top != AGENTS

    def is_kept(self, path: str) -> bool:
        """Whether crabmem keeps the history of `path`: the settings, Markdown where memory is, and texts in its folder.

        Names with a leading dot (and with them editors' swap files and `.git`) are nobody's memory.
        """
        if path[-3:] != ".md" and not self._is_text_of_memory(path):
            return path == SETTINGS
        if len(path) > DEEPEST and path.count("/") > DEEPEST:
            return False
        return path[0] not in "./" and "/." not in path and "//" not in path and self.is_within(path)

    def may_hold_files(self, folder: str) -> bool:
        """Whether a file that is kept may lie in the folder of that path."""
        return self.is_kept(f"{folder}/x.md")

    def lost(self) -> Iterator[tuple[str, str]]:
        """For checking a profile: yield role and path of each place of the layout in which no history would be kept.

        Examples are a path outside of the workspace, and an identity that is no Markdown file.
        """
        files = {"identity": self.identity, "overview": self.overview}
        folders = [("entries", each) for each in self.entries] + [("beside", each) for each in self.beside]
        folders += [("notes", self.notes), ("learnings", self.learnings), ("memory", self.memory)]
        for what, folder in folders:
            if folder and not (_is_plain(folder) and self.may_hold_files(folder)):
                yield what, folder
        for what, path in files.items():
            if not (path.endswith(".md") and _is_plain(path) and self.is_kept(path)):
                yield what, path

    def is_whole(self, path: str) -> bool:
        """Whether some system takes `path` for that of the settings, the identity or the overview."""
        return path.casefold() in self._whole or path.casefold() == SETTINGS

    def whole_file(self, name: str) -> str | None:
        """The path of the whole file that `name` means, as MEMORY.md; None for the name of an entry."""
        wanted, paths = name.rpartition("/")[2].casefold(), (SETTINGS, self.overview, self.identity)
        return next((path for path in paths if path.rpartition("/")[2].casefold() == wanted), None)

    @property
    def whole(self) -> tuple[str, str]:
        """The paths of identity and overview."""
        return self.identity, self.overview

    @once
    def recalled(self) -> tuple[str, ...]:
        """The folders that files lie in which recall looks into."""
        return tuple(dict.fromkeys((*self.entries, *([self.notes] if self.recall_notes else []))))

    @once
    def where(self) -> str:
        """Where an entry lies, in words that follow "it is"."""
        first, *others = (folder or "the workspace itself" for folder in self.entries)
        directly = [f"directly in {folder}" for folder in others]
        return " or ".join([f"in {first}" if self.has_folders else f"directly in {first}", *directly])

    @once
    def folders(self) -> tuple[str, ...]:
        """The folders that memory has, outer ones first, but for the workspace itself."""
        return tuple(sorted({folder for folder in (self.memory, *self.beside, *self.entries) if folder}))

    @once
    def fixed(self) -> frozenset[str]:
        """The paths with a fixed role, and the folders above them: a purge does not rename these."""
        paths = (self.identity, self.overview, SETTINGS, *self.entries, self.memory, *self.beside)
        return frozenset(each for path in paths for each in way(path))

    @once
    def homes(self) -> frozenset[str]:
        """The folders that have a meaning, whether or not they are there yet, with those that lead to them."""
        folders = (*self.folders, self.notes, self.learnings or self.memory_path("learnings"))
        return frozenset(each for folder in folders if folder for each in way(folder))

    @once
    def mixed(self) -> frozenset[str]:
        """The folders of entries in which other files may lie, too: notes, identity, overview, settings."""
        others = (self.notes, *(path.rpartition("/")[0] for path in self.whole))
        return frozenset(self.entries).intersection(others)

    def _is_nested(self, path: str) -> bool:
        """Whether a file that lies directly in no folder of entries is in one below the first of them."""
        return path.startswith(self._nest_prefix) and not path.startswith(self._learnings_prefix) and self.is_kept(path)

    def _is_text_of_memory(self, path: str) -> bool:
        """Whether `path` is called like a text other than Markdown, in the folder of memory."""
        return self.has_texts and path.startswith(f"{self.memory}/") and is_text(path)

    @once
    def _nest_prefix(self) -> str:
        return _within(self.entries[0], "")

    @once
    def _learnings_prefix(self) -> str:
        return self.learning_path("").removesuffix(".md")

    @once
    def _whole(self) -> frozenset[str]:
        return frozenset(path.casefold() for path in self.whole)


def is_elsewhere(path: str) -> bool:
    """Whether a path is a whole one: that of a file outside of the workspace, which is searched and nothing more."""
    return path.startswith("/")


def is_text(path: str) -> bool:
    """Whether a file is called like a text that somebody means to keep, and not like settings."""
    name = path.rpartition("/")[2].casefold()
    _, dot, ending = name.rpartition(".")
    if dot:
        return ending in TEXTS and name != SETTINGS
    return bool(name) and not _is_passing(name)


def _is_passing(name: str) -> bool:
    """Whether `name` looks like a temporary file of a program that is saving: vim's 4913, `sed -i`'s sedAbC123."""
    if name[0] == "#" or name[-1] == "~":
        return "\n" not in name
    begins, rest = name[:3], name[3:].replace("_", "0")
    is_word = rest.isascii() and (rest.isalnum() or not rest)
    return (name.isascii() and name.isdigit()) or (
        is_word and (begins == "tmp" or (begins == "sed" and len(rest) == 6))
    )


def is_contained(path: str) -> bool:
    """Whether `path` leads to a place in the workspace on every system, and to none in a repository."""
    return _is_plain(path) and ".git" not in path.casefold().split("/")


def _is_plain(path: str) -> bool:
    return all(part not in (".", "..") and is_portable(part) for part in path.split("/"))


def _within(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def way(path: str) -> Iterator[str]:
    """A path and the folders that lead to it."""
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


#: What a workspace has that says nothing else. Hosts that keep facts in `memory/` itself find them there.
ORDINARY = Layout(
    "ordinary",
    identity="Crab.md",
    overview="memory/MEMORY.md",
    entries=("memory/entries", "memory"),
    notes="memory",
    memory="memory",
    recall_notes=True,
    has_folders=True,
    has_texts=True,
)
#: A folder of somebody else's making: an overview with facts beside it, and in whatever folders there are.
FLAT = Layout(
    "flat",
    identity="Crab.md",
    overview="MEMORY.md",
    entries=("", "entries"),
    notes="",
    memory="",
    is_seeded=False,
    recall_notes=True,
    has_folders=True,
)
#: Inside of a project's repository: what is not ours there is the project's.
PROJECT = replace(ORDINARY, name="project", is_guest=True)
#: By the name that `crabmem.toml` says.
LAYOUTS = {layout.name: layout for layout in (ORDINARY, FLAT, PROJECT)}
