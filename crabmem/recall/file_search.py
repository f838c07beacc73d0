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
# A mark is that of the file, the sign of the way, and the digest of the section.
_DIGEST = slice(-20, None)
# So many files are kept taken apart.
_APART = 200


class Way(NamedTuple):
    """How files are searched: as a profile says, the endings of `language` removed from words."""

    search: Search
    language: str

    @property
    def sign(self) -> bytes:
        """What is another when a file has other sections, or these other words or lengths."""
        units = f"{self.search.unit} {self.search.size} {self.search.overlap}"
        return rules(self.language) + zlib.crc32(units.encode()).to_bytes(4, "little")

    def words(self, text: str) -> list[str]:
        """The words of a text."""
        return tokens(text, self.language)

    def freshness(self, today: date, key: str) -> float:
        """What a section of a daily note counts more."""
        day = _day(_path(key))
        return age_factor((today - day).days, self.search.recent) if day else 1.0


class Files(NamedTuple):
    """The files of a moment that are searched: what the index knows each by, its bytes and how many there are.

    `unusable` are the paths of what is there and no file of ours, as links. `trouble` says what else is not looked at.
    `lost` are those of `unusable` that are whole folders elsewhere.
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
        """These and others, none of which has the path of one of these."""

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
    """The files of another time, by their blobs; `read` tells the bytes of one."""
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
        """The digest of each, in the order of their keys: what stands in two places means the same."""
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
    """The sections that were asked for last, and of what: a scan, the marks of files elsewhere, and the way."""

    scan: Scan
    elsewhere: Mapping[str, bytes]
    way: Way
    sections: Sections

    def is_of(self, scan: Scan, others: Files, way: Way) -> bool:
        """Whether they are the sections of this scan and these other files, searched this way."""
        return self.scan is scan and self.elsewhere == others.marks and self.way == way


class Searcher(SyncedIndex):
    """Takes files apart and keeps what did not change, on disk also between processes."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, state.SECTIONS)
        #: How each file was marked whose sections are in the index; None while nobody searched.
        self._known: dict[str, bytes] | None = None
        self._apart: dict[tuple[bytes, bytes], list[Section]] = {}
        self._latest: _Latest | None = None

    def begin(self) -> None:
        """Load what is known: before a first look at the files, which then need not be read again."""
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
        """The documents that the index lacks, by key; the marks of the files that it has then; those that are no text.

        Marks are compared from their byte `start` on.
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
        """What the index is to know of a file. No section is longer for the day of a daily note, which is among its
        words, or for what a person said in a transcript, which counts more."""
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
    """The sections that answer `query`, of the files whose paths fit; `limit` of None is the profile's.

    What was said or noted on a day that the question means, as `last Tuesday`, has its date among its words.
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
    """The words for folders that are not searched; without their names, which may be a stranger's words."""
    which = f"{counted(len(folders), 'folder')} that {SETTINGS} lists {'is' if len(folders) == 1 else 'are'}"
    return f"{which} gone or cannot be read, which `crabmem doctor` names" if folders else ""


def _scale(words: "Sequence[Term]", index: Index, among: int) -> float:
    """What BM25's scores are multiplied by, so that they are what they would be `among` so many sections at least.

    Among few no word is rare, and all scores are next to nothing. One number for all hits: their order stays.
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
    """The day of a daily note; only a date that is the whole name makes a file one."""
    return day_of(path) if is_note(path.rpartition("/")[2]) else None


def _path(key: str) -> str:
    return key.partition(_MARK)[0]
