"""Memory at one moment, as far as a session may see it: the files as they are now, or as a commit has them."""

from __future__ import annotations

from ..disk import fs
from ..errors import NotFound
from ..recall.catalog import Listing
from ..recall.names import entry_called
from ..recall.recency import day_of, recency
from ..text.addresses import name_parted, parted
from ..text.commands import command, program_at
from ..text.entry import MAX_NAME, Entry, decode, parse_entry
from ..text.slug import slug_of
from ..text.values import once, replace
from ..workspace.workspace import Workspace
from .view import EVERYTHING, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import TypeAlias

    from ..disk.scan import Scan
    from ..recall.entries import Entries, EntrySource, PathFilter
    from ..recall.file_search import Sections, Way
    from ..recall.sections import Search
    from ..results import Recall
    from ..workspace.layout import Layout
    from ..workspace.settings import Settings
    from ..write.tree import Tree
    from .engine import Engine, Ranker

    #: Snapshots of the other memories by name, and messages about memories that cannot be read.
    Beside: TypeAlias = tuple[Mapping[str, "Snapshot"], tuple[str, ...]]


class Snapshot:
    """The files, the entries and the settings of a moment.

    Files that `view` hides appear in none of these, and count in no score or number. Files are read on demand. If a
    file on disk changes meanwhile, reading raises `Busy`, and `Session.look` begins again with a new snapshot.
    """

    def __init__(
        self,
        engine: Engine,
        view: View,
        scan: Scan | None = None,
        commit: str | None = None,
        keep: bool = True,
        beside: Callable[[], Beside] = lambda: ({}, ()),
    ) -> None:
        """Take the files from `scan`, or without one from `commit`.

        With `keep`, save the index of a commit for the next process. `beside` is called when other memories are needed.
        """
        self._engine = engine
        self._scan = scan
        self._keep = keep
        self._beside = beside
        self.view = view
        #: The commit whose files these are; None for those on disk.
        self.commit = commit

    @property
    def whole(self) -> Snapshot:
        """The same moment including hidden files: only to decide where a write goes; never show any of it."""
        return self if self.view.is_whole else Snapshot(self._engine, EVERYTHING, self._scan, self.commit, self._keep)

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self._engine.workspace.root

    @property
    def layout(self) -> Layout:
        """Which files are what."""
        return self._engine.workspace.layout

    @property
    def scan(self) -> Scan:
        """The scan behind this snapshot, hidden files included: writes compare with it. Not for commits."""
        assert self._scan is not None, "a commit is no look at the files"
        return self._scan

    @once
    def settings(self) -> Settings:
        """The settings at this moment; the defaults if those of a commit cannot be read."""
        if self._scan is None:
            return self._engine.settings_at(self.commit or "")
        return self._engine.settings_of(self._scan)[0]

    # Files

    @once
    def files(self) -> Mapping[str, str]:
        """The blob of every file, by path."""
        state = self._engine.past.state_of(self.commit) if self._scan is None else dict(self._scan.files.blobs())
        return {path: blob for path, blob in state.items() if self.view.allows(path)}

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none."""
        if not self.view.allows(path):
            return None
        if self._scan is not None:
            return self._scan.data(path)
        blob = self.files.get(path)
        return None if blob is None else self._engine.history.blob(blob)

    def text(self, path: str) -> str | None:
        """The text of a file; None where there is none.

        Raises:
            Unreadable: it is not UTF-8.
        """
        data = self.read(path)
        return None if data is None else decode(path, data)

    def shown(self, path: str) -> str:
        """The text of a file with U+FFFD where it is not UTF-8; "" if there is no such file."""
        return (self.read(path) or b"").decode("utf-8", "replace")

    def tree(self) -> Tree:
        """The files below `memory/`, for tools that read and write memory file by file."""
        from ..write.tree import Tree

        return Tree(self.scan, self.layout, self.view.allows)

    def put_into(self, folder: Path) -> None:
        """Write all files into an empty folder."""
        files = {Workspace(folder).file(path): path for path in self.files}
        for parent in {file.parent for file in files}:
            fs.make_folder(parent)
        with fs.durability(waits=False):
            for file, path in files.items():
                fs.create(file, self.read(path) or b"")

    # Entries

    @once
    def entries(self) -> Entries:
        """The entries, and the daily notes that recall finds, with the index of their words."""
        engine, allows = self._engine, self.view.allows
        if self._scan is None:
            entries = engine.past_entries.at(self.commit or "", self.settings.language, self._keep)
        else:
            entries = engine.catalog.listing(self._scan)
        if self.view.is_whole:
            return entries
        return replace(
            entries,
            index=engine.index_for(self.view, entries.index),
            unreadable=tuple(item for item in entries.unreadable if allows(item.path)),
            being_written=tuple(item for item in entries.being_written if allows(item.path)),
        )

    @once
    def others(self) -> Mapping[str, Snapshot]:
        """The other memories that are seen, at the same moment, by name."""
        return self._looked_beside[0]

    @once
    def _looked_beside(self) -> Beside:
        return self._beside()

    @once
    def source(self) -> EntrySource:
        """Where recall reads from: the entries of this memory, together with those of the others that are seen."""
        if not self.others:
            return self.entries
        scopes = self._engine.scopes
        return scopes.together({scopes.own: self.entries, **{name: each.entries for name, each in self.others.items()}})

    @property
    def listing(self) -> Listing:
        """`entries` of the files on disk, as writes need them. Not for commits."""
        assert isinstance(self.entries, Listing), "a commit is no look at the files"
        return self.entries

    @property
    def is_past(self) -> bool:
        """Whether this is of a commit."""
        return self._scan is None

    def get(self, name: str) -> Entry:
        """The entry called `name`: by its path, name, file name or alias, also behind the name of this memory and `:`.

        Raises:
            NotFound: there is none; the message has the nearest names, or the command for an entry of another memory.
            InvalidArguments: there are several.
            Unreadable: there is none, but a file where it would be, which cannot be read.
        """
        try:
            return entry_called(self.entries, name)
        except NotFound:
            whose, rest = name_parted(name)
            if rest and whose == self._engine.scopes.own:
                return self.get(rest)
            if whose in self.others:
                program = program_at(str(self.others[whose].root), self._engine.environment)
                there = command("show", rest, program=program)
                raise NotFound(f"{name} is in another memory: `{there}` shows it there") from None
            for path in [] if self.is_past else self._places_of(name):
                if self.view.allows(path) and (data := self._engine.store.read(path)):
                    parse_entry(path, data)  # raises Unreadable, which says more than that there is none
            raise

    def _places_of(self, name: str) -> list[str]:
        """The paths at which an entry called so may lie although no index has it, because it is unreadable."""
        slug, broken = slug_of(name[:MAX_NAME]), (item.path for item in self.listing.unreadable)
        meant = (path for path in broken if path == name or path.endswith(f"/{slug}.md"))
        return [*self.layout.places(slug), *filter(self.layout.is_entry, meant)]

    def recall(
        self,
        query: str,
        limit: int | None = None,
        tags: tuple[str, ...] = (),
        budget: int | None = None,
        explain: bool = False,
        fits: PathFilter | None = None,
        ranker: Ranker | None = None,
        everywhere: bool = False,
    ) -> Recall:
        """The entries that answer `query` best among those that `fits` accepts; `limit=None` takes the setting.

        `ranker` replaces `self.ranker`. With `everywhere` the other memories are searched, too, by words alone unless
        a `ranker` is given; `fits` then gets addresses instead of paths, and each hit names its memory in `scope`.

        Raises:
            InvalidArguments: the question is empty or too long, or a number is out of range.
        """
        from ..recall.ranking import Question, check_question, recall_from

        check_question(query, limit, tags, budget)
        source = self.source if everywhere else self.entries
        rules, ranker = self.settings, ranker or (self.ranker if source is self.entries else None)
        factor = self._freshness if rules.recency else None
        question = Question(
            query,
            limit or rules.recall_limit,
            tags,
            rules.language,
            budget,
            explain,
            factor,
            None if self.is_past else self._engine.today,
            None if self.is_past else self._engine.sources_of,
        )
        found = recall_from(source, question, fits, ranker and ranker(query))
        return self._with_scopes(found) if everywhere else found

    def _with_scopes(self, found: Recall) -> Recall:
        """Add messages about memories that could not be searched; split each hit's address into `scope` and path."""
        others, troubles = self._looked_beside
        if not others:
            return with_troubles(found, *troubles)
        hits = []
        for hit in found.hits:
            name, path = parted(hit.entry.path)
            hits.append(replace(hit, entry=replace(hit.entry, path=path), scope=name))
        by_words = "by words alone, as several memories are searched" if self.ranker else ""
        return with_troubles(replace(found, hits=tuple(hits)), *troubles, by_words)

    @property
    def ranker(self) -> Ranker | None:
        """The ranker by meaning as well as words, by the settings of this moment; None to rank by words alone."""
        make = self._engine.ranker if self._scan is not None else self._engine.ranker_of_old
        return make(self.entries, self.settings)

    @property
    def likest(self) -> Callable[[str], list[str]] | None:
        """Finds the paths of entries close to a message in meaning.

        None for a commit, if several memories are seen, and if a service would have to be asked: messages are sent
        nowhere when nobody asked a question.
        """
        rules = self.settings
        if self._scan is None or self.others or not self._engine.is_meaning_at_hand(rules):
            return None
        return lambda text: self._engine.meaning.likest(self.entries, rules.vectors, text)

    def _freshness(self, path: str) -> float:
        day = day_of(path)
        return recency((self._engine.today() - day).days, self.settings.recency) if day else 1.0

    # Sections of files

    def read_elsewhere(self, path: str, search: Search) -> bytes | None:
        """The searched text of a file outside of the workspace; None if there is no such file.

        Always None at a commit, since those files have no history.
        """
        if self.is_past or not self.view.allows(path):
            return None
        files = self._engine.files_elsewhere(self.settings, search)
        return files.data(path) if path in files.marks else None

    def sections(self, way: Way) -> Sections:
        """The sections of the searched files, split and tokenized as `way` says."""
        searcher = self._engine.searcher
        if self._scan is not None:
            found = searcher.now(self._scan, way, self._engine.files_elsewhere(self.settings, way.search))
        else:
            from ..recall.file_search import files_at

            found = searcher.past(files_at(self.files, self._engine.history.blob, way.search), way)
        if self.view.is_whole:
            return found
        return replace(
            found,
            files=found.files.only(self.view.allows),
            index=self._engine.index_for(self.view, found.index),
            unreadable=tuple(filter(self.view.allows, found.unreadable)),
        )


def with_troubles(found: Recall, *troubles: str) -> Recall:
    """`found`, with messages about what was not searched added to its `trouble`; empty ones are left out."""
    return replace(found, trouble="; ".join(filter(None, (found.trouble, *troubles)))) if any(troubles) else found
