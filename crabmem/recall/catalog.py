"""The entries of a workspace as they are on disk: reading them, finding one by name, recalling."""

import difflib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import ClassVar, Protocol

from ..disk.fork_lock import Guard, loading
from ..disk.store import File, Scan, Unusable
from ..errors import InvalidArguments, NotFound, Unreadable, Unwritable
from ..search import Document, Index, rules, tokens
from ..text.daily_notes import day_in
from ..text.entry import MAX_NAME, Entry, parse_entry, parse_note
from ..text.keys import DEFAULT_NAMESPACE, Key, key_in, key_with_label, label_prefix, ttl_of
from ..text.slug import free_slug, name_key, slug_of, spelled
from ..text.words import shortened
from ..workspace.layout import Layout
from ..workspace.workspace import Workspace
from .cached import WORTH_SAVING, CachedIndex

_NEAREST = 3
# So many words of a description say in short what an entry is about; from 10 to 20 make no difference.
_BEGINNING = 12
_SHOWN = 80
# Entries that were asked for of late and are kept parsed: so many, and so many characters of content.
_PARSED, _PARSED_CHARACTERS = 4_096, 8_000_000
_TOLD_EVERY = 500
# More changes than that at once are joined at once: there is no index to answer from meanwhile.
_MANY = 500
#: What an entry is found by, each before its `name_key`.
NAME, FILE, ALIAS = "name ", "file ", "alias "
#: What an entry is found by that a store of keys keeps, before the label of its slot.
SLOT = "slot "
#: What an item of such a store is found by that does not stay, before how many seconds it lives.
LIFE = "life "
#: What a daily note is found by, before its day. It has no other label, so that nothing takes it for an entry.
NOTE = "note "
#: What an entry is found by that was imported, before what it was imported from.
ORIGIN = "origin "

#: Told how many entries of how many were read.
Progress = Callable[[int, int], None]


class Shelf(Protocol):
    """Entries that can be found by their labels."""

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label, in the order of their paths."""

    def labels(self) -> Iterator[str]:
        """Every label."""


@dataclass(frozen=True)
class Listing:
    """The entries of a scan, in the order of their paths, and the files that could not be read as one.

    Daily notes are in the index too where they are recalled; they are no entries.
    `being_written` are among the unreadable: entries whose text may be half of one.
    """

    scan: Scan
    index: Index
    unreadable: tuple[Unusable, ...]
    being_written: tuple[Entry, ...]
    entry: Callable[[Scan, str], Entry] = field(repr=False)
    layout: Layout
    is_past: ClassVar[bool] = False

    @cached_property
    def versions(self) -> dict[str, bytes]:
        """The id of the blob of each entry and note, in the order of their paths."""
        return {path: bytes.fromhex(self.scan.files[path].blob) for path in sorted(self.index.marks())}

    @cached_property
    def notes(self) -> frozenset[str]:
        """The paths of the daily notes that are recalled."""
        return notes_in(self.index)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Those of the entries, in order."""
        return tuple(sorted(self.index.marks().keys() - self.notes))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All of them, read if need be."""
        return tuple(map(self.at, self.paths))

    def at(self, path: str) -> Entry:
        """The entry, or the daily note, at a path that the index knows."""
        return self.entry(self.scan, path)

    def blob(self, path: str) -> str | None:
        """The blob of the file at a path; None when there is none."""
        return self.scan.blob(path)

    def having(self, label: str) -> list[Entry]:
        """The entries that have a label, in the order of their paths."""
        return [self.at(path) for path in self.index.labelled(label)]

    def labels(self) -> Iterator[str]:
        """Every label."""
        return self.index.labels()


class Catalog:
    """Reads entries from scans; keeps what did not change between two of them, on disk also between processes."""

    def __init__(self, workspace: Workspace, language: Callable[[Scan], str], progress: Progress | None = None) -> None:
        """`language` tells whose endings are removed from words, as a scan says."""
        self._layout = workspace.layout
        self._cached = CachedIndex(workspace, workspace.index)
        self._language = language
        self._spoken = ""
        self._progress = progress or (lambda done, total: None)
        self._guard = Guard()
        self._joining: threading.Thread | None = None
        #: What changed since the thread began; None while there is none.
        self._since_joining: dict[str, Document | None] | None = None
        self._scan: Scan | None = None
        self._broken: dict[str, Unusable] = {}
        self._halves: dict[str, Entry] = {}
        self._parsed: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self._parsed_characters = 0
        self._parsing = Guard()

    @property
    def _index(self) -> Index:
        return self._cached.index

    def marks(self) -> Mapping[str, bytes]:
        """How the files looked whose words are known."""
        return self._index.marks()

    def listing(self, scan: Scan) -> Listing:
        """The entries among the files of `scan`."""
        with self._guard:
            if scan is not self._scan or self._language(scan) != self._spoken:
                self._follow(scan)
            return self._listing

    def save(self, least: int = WORTH_SAVING) -> None:
        """Keep for the next process what was read, when it is so much."""
        if self._cached.unsaved >= least:
            with self._guard:
                if not self._forgot_purged():
                    self._cached.save()

    def begin_anew(self) -> None:
        """Forget what was read: the next listing reads every entry."""
        if self._joining:
            self._joining.join()
        with self._guard:
            self._cached.begin_anew()
            self._scan = None

    def close(self) -> None:
        """Wait for work that was begun, and keep what is worth it."""
        if self._joining:
            self._joining.join()
        self.save(least=1)

    def entry(self, scan: Scan, path: str) -> Entry:
        """The entry in a file of `scan`, which is known to be one."""
        return self.read(path, scan.files[path].blob, lambda: scan.data(path) or b"")

    def read(self, path: str, blob: str, data: Callable[[], bytes]) -> Entry:
        """The entry that `data` would be, unless it was asked for of late.

        Raises:
            Unreadable: it is no whole text.
        """
        found = self._parsed.get((path, blob))
        if found is None:
            found = parse_note(path, data()) if self._layout.is_note(path) else parse_entry(path, data())
            self._keep_parsed(path, blob, found)
        return found

    def _keep_parsed(self, path: str, blob: str, entry: Entry) -> None:
        with self._parsing:
            if (path, blob) not in self._parsed:
                self._parsed[path, blob] = entry
                self._parsed_characters += len(entry.content)
            while len(self._parsed) > _PARSED or self._parsed_characters > _PARSED_CHARACTERS:
                _, oldest = self._parsed.popitem(last=False)
                self._parsed_characters -= len(oldest.content)

    def known(self) -> Index:
        """What is known of the words of the files, in step with them or not."""
        with self._guard:
            self._forgot_purged()
            return self._index

    def _forgot_purged(self) -> bool:
        """Whether there was a purge, so that what is known has words of what was purged; it is forgotten."""
        if came := self._cached.forgot_purged():
            self._scan = None
        return came

    def _follow(self, scan: Scan) -> None:
        """Bring the index in step with `scan`."""
        language = self._language(scan)
        if language != self._spoken:
            self._spoken, self._scan = language, None
        paths = self._differing(scan)
        changes = dict(self._read(scan, paths))
        if changes:
            self._change(changes)
        self._scan = scan
        halves = tuple(self._halves[path] for path in sorted(self._halves))
        broken = [
            *(item for item in scan.unusable if not item.is_beside and self._may_hold_entries(item.path)),
            *self._broken.values(),
        ]
        broken += [Unusable(half.path, f"{half.path} is being written at this moment") for half in halves]
        self._listing = Listing(scan, self._index, tuple(broken), halves, self.entry, self._layout)

    def _change(self, changes: Mapping[str, Document | None]) -> None:
        """Bring changes into the index. Joining them takes long: a thread does that, and recall goes on meanwhile."""
        index = self._index.updated(changes, may_join=len(changes) > _MANY)
        self._cached.put(index, len(changes))
        if self._since_joining is not None:
            self._since_joining.update(changes)
        elif index.is_grown():
            self._since_joining = {}
            self._joining = threading.Thread(target=self._join, args=(index,), name="crabmem index", daemon=True)
            try:
                self._joining.start()
            except RuntimeError:  # the machine allows no thread now: the next change asks again
                self._joining = self._since_joining = None

    def _join(self, index: Index) -> None:
        with loading():
            import numpy  # noqa: F401 (loaded before anybody forks)
        joined = index.joined()
        with self._guard:
            self._cached.put(joined.updated(self._since_joining or {}, may_join=False))
            self._since_joining = None
            self._listing = replace(self._listing, index=self._index)

    def _differing(self, scan: Scan) -> list[str]:
        """The paths whose entries may not be as they were when the index was in step."""
        since = scan.since(self._scan) if self._scan else None
        if since is None:
            marks = self._index.marks()
            files = {path: file for path, file in scan.files.items() if self._layout.is_recalled(path)}
            since = {path for path, file in files.items() if marks.get(path) != self._mark(file)}
            since |= marks.keys() - files.keys() | self._broken.keys() | self._halves.keys()
            return sorted(since)
        return sorted(filter(self._layout.is_recalled, since))

    def _mark(self, file: File) -> bytes:
        """What the index remembers a file by."""
        return file.remembered + rules(self._spoken)

    def _read(self, scan: Scan, paths: Sequence[str]) -> Iterator[tuple[str, Document | None]]:
        for done, path in enumerate(paths):
            self._broken.pop(path, None)
            self._halves.pop(path, None)
            yield path, self._document(scan, path)
            if done % _TOLD_EVERY == 0 or done == len(paths) - 1:
                self._progress(done + 1, len(paths))

    def _may_hold_entries(self, path: str) -> bool:
        """Whether `path` is an entry's or a note's, or a folder's that entries are in."""
        return self._layout.is_recalled(path) or self._layout.is_entry_folder(path)

    def _document(self, scan: Scan, path: str) -> Document | None:
        """What the index is to know of a file; None for what is neither an entry nor a note that is recalled."""
        file = scan.files.get(path)
        if file is None or not self._layout.is_recalled(path):
            return None
        try:
            entry = self.entry(scan, path)
        except Unreadable as error:
            self._broken[path] = Unusable(path, str(error))
            return None
        if file.is_partial:
            self._halves[path] = entry
            return None
        return document(entry, self._mark(file), self._spoken)


def readable(files: Iterable[tuple[str, bytes]]) -> list[Entry]:
    """The entries in files, pairs of path and bytes; those that are not text are left out."""
    entries = []
    for path, data in files:
        try:
            entries.append(parse_entry(path, data))
        except Unreadable:
            continue
    return entries


def found(shelf: Shelf, name: str, sees: Callable[[str], bool] = lambda path: True) -> Entry:
    """The entry that `name` means: the one whose whole path it is, else by name, else by slug, else by alias, else by
    the end of its path, with a folder (`People/marta`); of those that who asks `sees`, as if there were no others.

    Saving a fact follows the same order, see `updated`.

    Raises:
        NotFound: none is; the message has the nearest names.
        InvalidArguments: several are, and nothing tells which is meant.
    """
    if whole := at_path(_seen(shelf, FILE + _stem_key(name), sees), name):
        return whole[0]
    if len(name) > MAX_NAME:
        raise NotFound(f"no entry named: {shortened(name, _SHOWN)}")
    key = name_key(name)
    for matches in (
        called(_seen(shelf, NAME + key, sees), name),
        _seen(shelf, FILE + key, sees),
        _seen(shelf, ALIAS + key, sees),
        below_folder(_seen(shelf, FILE + _stem_key(name), sees), name),
    ):
        if len(matches) > 1:
            raise InvalidArguments(f"several entries are called {name}; say which file: {_told_apart(matches)}")
        if matches:
            return matches[0]
    raise NotFound(f"no entry named: {name}{_nearest(shelf, key, sees)}")


def at_path(entries: Iterable[Entry], name: str) -> Sequence[Entry]:
    """Those of `entries` whose whole path is `name`: one, if any; spelled exactly so where two are alike."""
    alike = [entry for entry in entries if spelled(entry.path) == spelled(name)]
    return [entry for entry in alike if entry.path == name] or alike[:1]


def below_folder(entries: Iterable[Entry], name: str) -> Sequence[Entry]:
    """Those of `entries` at the end of whose path `name` stands, with a folder before the file's name."""
    return [entry for entry in entries if _ends_so(entry.path, name)]


def is_place_of(entry: Entry, name: str) -> bool:
    """Whether `name` means `entry` by where it lies, and not by what it is called."""
    called_so = {name_key(each) for each in (entry.name, *entry.aliases)}
    return bool(at_path([entry], name)) or (name_key(name) not in called_so and _ends_so(entry.path, name))


def _ends_so(path: str, name: str) -> bool:
    end = "/" + name_key(name.removesuffix(".md"))
    return "/" in name and name_key(f"/{path.removesuffix('.md')}").endswith(end)


def called(entries: Sequence[Entry], name: str) -> Sequence[Entry]:
    """Of entries that share a `name_key`, those that have exactly this name; all of them where none has."""
    wanted = spelled(name)
    return [entry for entry in entries if spelled(entry.name) == wanted] or entries


def _seen(shelf: Shelf, label: str, sees: Callable[[str], bool]) -> list[Entry]:
    return [entry for entry in shelf.having(label) if sees(entry.path)]


def _told_apart(entries: Sequence[Entry]) -> str:
    """What tells entries apart: their slugs, or their paths where two folders have files of one name."""
    slugs = [entry.slug for entry in entries]
    return ", ".join(slugs if len(set(map(name_key, slugs))) == len(slugs) else (entry.path for entry in entries))


def _stem_key(path: str) -> str:
    """The `name_key` of a file's name without its ending."""
    return name_key(path.rpartition("/")[2].removesuffix(".md"))


def kept_at(listing: Listing, slot: Key) -> Entry | None:
    """The entry that a store keeps at `slot`; the first, where a person copied its file."""
    kept = [
        *listing.having(SLOT + slot.label),
        *(half for half in listing.being_written if key_in(half.keys) == slot),
    ]
    if not kept and slot.namespace == DEFAULT_NAMESPACE:
        called = listing.having(NAME + name_key(slot.key))
        kept = [entry for entry in called if entry.name == slot.key and key_in(entry.keys) is None]
    return kept[0] if kept else None


def notes_in(index: Index) -> frozenset[str]:
    """The paths of the daily notes in an index of entries."""
    return frozenset(path for _, path in index.pairs(NOTE))


def note_of(shelf: Shelf, name: str) -> Entry | None:
    """The daily note that is recalled and meant by `name`: its day, its title, its file's name or its path."""
    return next((each for each in shelf.having(NOTE + day_in(name)) if name in each.path or name == each.name), None)


def within(index: Index, namespace: tuple[str, ...], notes: Set[str]) -> dict[str, Key | None]:
    """The paths of the entries in a namespace and below it, with their slots; None for those of no store.

    `notes` are the paths in the index that are no entries'.
    """
    depth, has_others = len(namespace), DEFAULT_NAMESPACE[: len(namespace)] == namespace
    start = SLOT if has_others else SLOT + label_prefix(namespace)
    kept = {path: key_with_label(label.removeprefix(SLOT)) for label, path in index.pairs(start)}
    found: dict[str, Key | None] = {path: slot for path, slot in kept.items() if slot.namespace[:depth] == namespace}
    return found | dict.fromkeys(index.marks().keys() - kept.keys() - notes) if has_others else found


def updated(
    name: str, listing: Listing, sees: Callable[[str], bool] = lambda path: True, by_place: bool = True
) -> tuple[Entry, str] | None:
    """The entry that saving a fact called `name` updates, and what it is called afterwards; None for a new fact.

    It is the one that `found` finds by that name, but for two things. A slug or an alias is no name: a fact may be
    saved under it. And where who writes `sees` none, it is one that they do not see, so that nobody gets two entries
    of one name. One that is meant by its path keeps its name. Without `by_place` none is: a name is a name.

    Raises:
        InvalidArguments: several entries are meant, and nothing tells which.
    """
    key = name_key(name)
    halves = listing.being_written
    files = [half for half in halves if name_key(half.slug) == _stem_key(name)] if by_place else []
    files += listing.having(FILE + _stem_key(name)) if by_place else []
    if whole := at_path(files, name):
        return whole[0], whole[0].name
    same = [*listing.having(NAME + key), *(half for half in halves if name_key(half.name) == key)]
    if meant := _one_of(same, name, sees):
        return meant, name
    if any(sees(entry.path) for entry in listing.having(ALIAS + key)):
        return None
    meant = _one_of(below_folder(files, name), name, sees)
    return (meant, meant.name) if meant else None


def _one_of(entries: Sequence[Entry], name: str, sees: Callable[[str], bool]) -> Entry | None:
    """The one that is called `name`, of those that are seen; else one of the others, if there is any."""
    matches = called([entry for entry in entries if sees(entry.path)], name)
    if len(matches) > 1:
        files = ", ".join(entry.path for entry in matches)
        raise InvalidArguments(f"several entries are called {name}; give the path of the one that is meant: {files}")
    return next(iter(matches or entries), None)


def place_for(
    name: str, listing: Listing, promised: Set[str] = frozenset(), folder: str | None = None, by_place: bool = True
) -> str:
    """A file nobody has, for a new fact called `name`; in `folder` if one is named.

    `promised` are keys of slugs that other new facts of the same write got. Without `by_place`, the name is no path,
    whatever it looks like.

    Raises:
        Unwritable: what is there cannot be read, and may be the entry of that name.
    """
    layout, scan, slug = listing.layout, listing.scan, slug_of(name)
    own = layout.entry_path(slug, folder)
    entries = [item for item in listing.unreadable if not layout.is_note(item.path)]
    used = [item for item in entries if not _is_nameless(item.path, own, scan)]
    for item in entries:
        is_called_so = item in used and item.path.rpartition("/")[2] == f"{slug}.md"
        is_meant = is_called_so or (by_place and (spelled(item.path) == spelled(name) or _ends_so(item.path, name)))
        if is_meant and layout.is_entry(item.path) and (item.path in scan.files or item.is_denied):
            raise Unwritable(f"{name} cannot be saved: {item.reason}")
    unreadable = {_stem_key(item.path) for item in used if layout.is_entry(item.path)}
    unreadable.update(map(_stem_key, scan.folders))
    taken = _Taken(layout, listing.index, (unreadable, promised), folder)
    return layout.entry_path(free_slug(name, taken), folder)


def _is_nameless(path: str, own: str, scan: Scan) -> bool:
    """Whether a file is empty, or is `own` and its beginning not written yet: it has no other name."""
    file = scan.files.get(path)
    return file is not None and (not (scan.data(path) or b"").strip() or (path == own and file.is_partial))


class _Taken:
    """The keys of the file names that entries have, of `others` (files that cannot be read, facts to come), and of
    what would be no entry in `folder`, as the overview."""

    def __init__(self, layout: Layout, index: Index, others: Sequence[Set[str]], folder: str | None) -> None:
        self._layout = layout
        self._index = index
        self._others = others
        self._folder = folder

    def __contains__(self, key: object) -> bool:
        is_free = self._layout.is_entry(self._layout.entry_path(str(key), self._folder))
        return not is_free or any(key in keys for keys in self._others) or bool(self._index.labelled(f"{FILE}{key}"))


def _nearest(shelf: Shelf, key: str, sees: Callable[[str], bool]) -> str:
    keys = {label.partition(" ")[2]: label for label in shelf.labels() if label.startswith((NAME, ALIAS))}
    near = difflib.get_close_matches(key, keys, n=_NEAREST, cutoff=0.5)
    names = dict.fromkeys(entry.name for match in near for entry in _seen(shelf, keys[match], sees)[:1])
    return f" (nearest: {', '.join(names)})" if names else ""


def document(entry: Entry, mark: bytes, language: str) -> Document:
    """What an index is to know of an entry, or of a daily note."""
    return Document(entry.path, mark, words(entry, language), _labels(entry))


def _labels(entry: Entry) -> list[str]:
    if entry.is_note:
        return [NOTE + entry.slug]
    slot = key_in(entry.keys)
    slots = [SLOT + slot.label] if slot else []
    if slot and (life := ttl_of(entry.keys)) is not None:
        slots.append(f"{LIFE}{life.total_seconds()}")
    aliases = [ALIAS + name_key(alias) for alias in entry.aliases]
    origins = [ORIGIN + entry.origin] if entry.origin else []
    return [NAME + name_key(entry.name), FILE + name_key(entry.slug), *aliases, *slots, *origins]


def fields(entry: Entry, language: str) -> dict[str, list[str]]:
    """The words of each field of an entry, as often as they count: a field weighs more by being said more often.

    So what ranks is BM25 and nothing else, and an entry is as long as all that was said of it. Names are said
    twice, and of a description its beginning three times: further on, it is as good as content.
    """
    if entry.is_note:  # of its title only the day: otherwise each note would answer to the word "note"
        return {"name": tokens(entry.slug, language), "content": tokens(entry.content, language)}
    description = tokens(entry.description, language)
    return {
        "name": tokens(entry.name, language) * 2,
        "aliases": tokens("\n".join(entry.aliases), language) * 2,
        "description": [*description, *description[:_BEGINNING] * 2],
        "content": tokens(entry.content, language),
        "tags": tokens("\n".join(entry.tags), language),
    }


def words(entry: Entry, language: str) -> list[str]:
    """The words that an entry is ranked by."""
    return list(chain.from_iterable(fields(entry, language).values()))
