"""Search over files: their sections are entries without a name, and found as those are.

What is known of a file is kept by its stamp and its blob, as the index of entries is; so a search looks at every file
and reads those that changed.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from operator import add
from typing import NamedTuple

from ..disk import state
from ..disk.scan import Scan
from ..disk.stat import BLOB, SIZE, unstamped
from ..errors import Unreadable
from ..results import FileHit, FileSearch
from ..search import Document, Index, rules, tokens
from ..search.dates import days_meant
from ..search.index import Term
from ..search.query import parse_query, terms_of
from ..text.daily_notes import is_note
from ..text.entry import Entry, decode
from ..text.hashes import blob_id
from ..text.passages import passage
from ..text.patterns import matches
from ..text.transcripts import is_transcript, persons_lines, time_of
from ..text.values import once, replace
from ..text.words import counted
from ..workspace.layout import SETTINGS, is_elsewhere
from ..workspace.workspace import Workspace
from .entries import PathFilter
from .labels import TIMES
from .passages import part_of, parts_of
from .ranking import Question, Ranking, recall_from, worth_of
from .recency import day_of
from .sections import Search, Section, age_factor, sections_of
from .synced import SyncedIndex, differing

# Between a path and the number of a section.
_MARK = "\0"
# The mark of a section in the index: mark of its file, `Way.sign`, digest of the section.
_DIGEST = slice(-20, None)
# Files whose sections are cached.
_APART = 200


class Way(NamedTuple):
    """How files are searched: the profile's `[search]`, and the language by which words are stemmed."""

    search: Search
    language: str

    @property
    def sign(self) -> bytes:
        """Bytes that differ if the same file would give other sections, words or lengths: then index it anew."""
        units = f"{self.search.unit} {self.search.size} {self.search.overlap}"
        return rules(self.language) + zlib.crc32(units.encode()).to_bytes(4, "little")

    def words(self, text: str) -> list[str]:
        """The words of a text."""
        return tokens(text, self.language)

    def freshness(self, today: date, key: str) -> float:
        """The factor for a section's score: the profile's `recent` for a daily note of those days, else 1."""
        day = _day(_path(key))
        return age_factor((today - day).days, self.search.recent) if day else 1.0


class Files(NamedTuple):
    """The searched files at one moment: by path the mark by which the index knows each, its bytes and its size.

    `unusable` are paths that exist but cannot be searched, such as links. `lost` are those among them that are whole
    folders outside of the workspace. `trouble` is a message about what else is not searched, "" for nothing.
    """

    marks: Mapping[str, bytes]
    data: Callable[[str], bytes | None]
    size: Callable[[str], int]
    is_past: bool
    unusable: tuple[str, ...] = ()
    trouble: str = ""
    lost: tuple[str, ...] = ()

    def only(self, fits: Callable[[str], bool]) -> "Files":
        """Those of the files whose paths fit."""
        marks = {path: mark for path, mark in self.marks.items() if fits(path)}
        return self._replace(marks=marks, unusable=tuple(filter(fits, self.unusable)))

    def with_others(self, others: "Files") -> "Files":
        """The union with other files; no path may be in both."""

        def of(path: str) -> "Files":
            return others if path in others.marks else self

        return Files(
            {**self.marks, **others.marks},
            lambda path: of(path).data(path),
            lambda path: of(path).size(path),
            self.is_past,
            self.unusable + others.unusable,
            "; ".join(filter(None, (self.trouble, others.trouble))),
            self.lost + others.lost,
        )


#: None at all.
NO_FILES = Files({}, lambda path: None, lambda path: 0, False)


def files_now(scan: Scan, search: Search) -> Files:
    """The files of a scan."""
    marks = {path: file.remembered for path, file in scan.files.items() if matches(path, search.files)}
    unusable = tuple(item.path for item in scan.unusable if matches(item.path, search.files))
    return Files(marks, scan.data, lambda path: scan.files[path].stamp.size, False, unusable)


def files_at(blobs: Mapping[str, str], read: Callable[[str], bytes], search: Search) -> Files:
    """The files of a commit, given by their blobs; `read` returns the bytes of a blob."""
    marks = {path: unstamped(blob) for path, blob in blobs.items() if matches(path, search.files)}
    return Files(marks, lambda path: read(blobs[path]), lambda path: len(read(blobs[path])), True)


@dataclass(frozen=True)
class Sections:
    """The sections of files as an `EntrySource`, each under a key. Nothing is found by a name here."""

    files: Files
    index: Index
    unreadable: tuple[str, ...]
    section: Callable[[str], Section] = field(repr=False)

    @property
    def is_past(self) -> bool:
        """Whether they are of another time."""
        return self.files.is_past

    @once
    def versions(self) -> dict[str, bytes]:
        """The digest of each section's text, in the order of keys. Equal texts share a digest, and so a vector."""
        return {key: mark[_DIGEST] for key, mark in sorted(self.index.marks().items())}

    def at(self, key: str) -> Entry:
        """The section under a key that the index knows."""
        return Entry(key, "", "", "", self.section(key).text)

    @property
    def notes(self) -> frozenset[str]:
        """None: a section of a daily note is one like any other."""
        return frozenset()

    def having(self, label: str) -> list[Entry]:
        """None: they are called nothing."""
        return []


class _Latest(NamedTuple):
    """The last answer of `Searcher.now`, with what it was made of: scan, marks of files elsewhere, and way."""

    scan: Scan
    elsewhere: Mapping[str, bytes]
    way: Way
    sections: Sections

    def is_of(self, scan: Scan, others: Files, way: Way) -> bool:
        """Whether they are the sections of this scan and these other files, searched this way."""
        return self.scan is scan and self.elsewhere == others.marks and self.way == way


class Searcher(SyncedIndex):
    """Indexes the sections of files, again only for changed files; the index is kept on disk between processes."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, state.SECTIONS)
        #: The mark of each file whose sections are in the index; None before the first search.
        self._known: dict[str, bytes] | None = None
        #: Cache of sections, by blob id and `Way.sign`.
        self._apart: dict[tuple[bytes, bytes], list[Section]] = {}
        self._latest: _Latest | None = None

    def begin(self) -> None:
        """Load the saved index. Call it before the first scan, so that the store need not read unchanged files."""
        with self.guard:
            self.forget_purged()
            if self._known is None:
                marks = self.index.marks().items()
                self._known = {_path(key): mark[: _DIGEST.start] for key, mark in marks}

    def marks(self) -> Mapping[str, bytes]:
        """How the files looked whose words are known; none before somebody searches."""
        return self._known or {}

    def now(self, scan: Scan, way: Way, others: Files = NO_FILES) -> Sections:
        """The sections of the files on disk, and of `others`, which lie elsewhere."""
        self.begin()
        with self.guard:
            latest = self._latest
            if latest is None or not latest.is_of(scan, others, way):
                files = files_now(scan, way.search).with_others(others)
                changes, known, broken = self._changes(files, way)
                self.change(changes)
                self._known = known
                latest = _Latest(scan, others.marks, way, self._source(files, self.index, broken, way))
                self._latest = latest
            return latest.sections

    def past(self, files: Files, way: Way) -> Sections:
        """The sections of files of another time; those that are the same now are not read."""
        self.begin()
        with self.guard:
            changes, _, broken = self._changes(files, way, SIZE)
            return self._source(files, self.index.updated(changes), broken, way)

    def _forget(self) -> None:
        self._known, self._latest = None, None
        self._apart.clear()

    def _changes(
        self, files: Files, way: Way, start: int = 0
    ) -> tuple[dict[str, Document | None], dict[str, bytes], tuple[str, ...]]:
        """Compare `files` with the index.

        Return the changed documents by key (None: remove), the marks of the files that are indexed then, and the paths
        that are no text. Marks are compared from byte `start` on: `SIZE` skips the stamp, which files of a commit lack.
        """
        known, marks = dict(self.marks()), {path: mark + way.sign for path, mark in files.marks.items()}
        new, gone = differing(known, marks, start)
        changes, broken = dict[str, Document | None](), list[str]()
        for path in sorted([*new, *gone]):
            if known.pop(path, None):
                changes |= dict.fromkeys(self.index.labelled(path))  # its sections as they were
            if path in marks:
                try:
                    documents = self._documents(path, marks[path], files, way)
                except Unreadable:
                    broken.append(path)
                    continue
                if documents:
                    changes |= documents
                    known[path] = marks[path]
        return changes, known, tuple(broken)

    def _documents(self, path: str, mark: bytes, files: Files, way: Way) -> dict[str, Document]:
        """The documents of a file, by key: one for each section.

        The words also include the day of a daily note, and a person's lines in a transcript several times. Neither is
        counted in the length, for BM25 would rank the section lower.
        """
        dates, found = way.words(str(_day(path) or "")), dict[str, Document]()
        for number, section in enumerate(self._sections(files, path, way)):
            key, digest = f"{path}{_MARK}{number:06}", bytes.fromhex(blob_id(section.text.encode()))
            parts = [None] if way.search.unit == "chunk" else parts_of(section.text)  # a chunk is a passage as it is
            texts = [part_of(section.text, part) for part in parts]
            said = list(map(way.words, texts))
            more = [way.words(persons_lines(text)) * (TIMES - 1) if is_transcript(path) else dates for text in texts]
            first, *further = map(add, said, more)
            found[key] = Document(key, mark + digest, first, [path], further, list(map(len, said)))
        return found

    def _sections(self, files: Files, path: str, way: Way) -> list[Section]:
        """A file taken apart.

        Raises:
            Unreadable: it is no text.
        """
        key = files.marks[path][BLOB], way.sign
        found = self._apart.get(key)
        if found is None:
            found = sections_of(decode(path, files.data(path) or b""), way.search)
            if len(self._apart) >= _APART:
                self._apart.clear()
            self._apart[key] = found
        return found

    def _source(self, files: Files, index: Index, broken: tuple[str, ...], way: Way) -> Sections:
        def section(key: str) -> Section:
            return self._sections(files, _path(key), way)[int(key.rpartition(_MARK)[2])]

        return Sections(files, index, (*broken, *files.unusable), section)


def search_sections(
    sections: Sections,
    query: str,
    limit: int | None,
    way: Way,
    today: date,
    ranking: Ranking | None = None,
    fits: PathFilter | None = None,
) -> FileSearch:
    """The sections that answer `query`, of the files whose paths fit; `limit=None` takes the profile's.

    Days that the question means (`last Tuesday`) are added to it as dates, which notes and transcripts have as words.
    """
    factor = partial(way.freshness, today) if way.search.recent else None
    dated = " ".join([query, *map(str, days_meant(query, today))])
    question = Question(dated, limit or way.search.results, (), way.language, factor=factor)
    found = recall_from(sections, question, fits and (lambda key: fits(_path(key))), ranking)
    words = terms_of(parse_query(dated), sections.index, way.language)
    worth, scale = worth_of(words, sections.index), 1.0 if ranking else _scale(words, sections.index, way.search.among)
    hits = tuple(_hit(sections, hit.entry.path, hit.score * scale, worth, way) for hit in found)
    return FileSearch(
        query=query,
        hits=hits,
        searched=len(sections.files.marks.keys() - set(sections.unreadable)),
        size=sum(map(sections.files.size, sections.files.marks)),
        unreadable=len(set(sections.unreadable)),
        has_words=found.has_words,
        unsaid=found.unsaid,
        trouble="; ".join(filter(None, (found.trouble, sections.files.trouble, _lost(sections.files.lost)))),
    )


def _lost(folders: Sequence[str]) -> str:
    """The message about folders that are not searched, "" for none.

    It does not name them: a name in the settings may be a stranger's text, and a model may read this.
    """
    which = f"{counted(len(folders), 'folder')} that {SETTINGS} lists {'is' if len(folders) == 1 else 'are'}"
    return f"{which} gone or cannot be read, which `crabmem doctor` names" if folders else ""


def _scale(words: "Sequence[Term]", index: Index, among: int) -> float:
    """The factor that makes BM25 scores of few sections comparable to those among at least `among` sections.

    Among few sections no word is rare, so all scores are near 0. One factor for all hits leaves their order.
    """
    held = [word for word in index.terms_for(words) if index.document_frequency(word)]
    here, there = (sum(index.idf(word, least) for word in held) for least in (0, among))
    return there / here if here else 1.0


def _hit(sections: Sections, key: str, score: float, worth: Mapping[str, float], way: Way) -> FileHit:
    section = sections.section(key)
    shown, path = passage(section.text.strip(), worth, way.words, way.search.snippet), _path(key)
    found = FileHit(path, section.start, section.end, score, shown)
    if not is_elsewhere(path):
        return found
    if not is_transcript(path):
        return replace(found, source="extra")
    session = path.rpartition("/")[2].rpartition(".")[0]
    return replace(found, source="sessions", session=session, time=time_of(section.text))


def _day(path: str) -> date | None:
    """The day of a daily note, a file whose whole name is a date; None for any other file."""
    return day_of(path) if is_note(path.rpartition("/")[2]) else None


def _path(key: str) -> str:
    return key.partition(_MARK)[0]
