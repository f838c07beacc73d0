"""The entries of a workspace as they are on disk: reading them, finding one by name, recalling."""

import difflib
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import PurePosixPath

from .edit import shortened
from .entry import MAX_LABELS, MAX_NAME, Entry, parsed
from .errors import InvalidArguments, NotFound, Unreadable, Unwritable
from .guard import Guard
from .results import Hit, Recall
from .search import Index, tokens
from .slug import free_slug, name_key, slug_of
from .store import File, Scan, Unusable
from .workspace import ENTRIES, entry_path, is_entry

MAX_QUERY = 10_000
MAX_LIMIT = 1_000
_NEAREST = 3
_SHOWN = 80


@dataclass(frozen=True)
class Listing:
    """Entries in the order of their paths, and the files that could not be read as one.

    `being_written` are among the unreadable: entries whose text may be half of one.
    """

    entries: tuple[Entry, ...]
    unreadable: tuple[Unusable, ...]
    being_written: tuple[Entry, ...] = ()


class Catalog:
    """Reads entries from scans; keeps what did not change between two of them."""

    def __init__(self) -> None:
        self._guard = Guard()
        self._parsed: dict[tuple[str, str], Entry] = {}
        self._index: tuple[tuple[Entry, ...], Index] = ((), Index([]))

    def listing(self, scan: Scan) -> Listing:
        """The entries among the files of `scan`."""
        with self._guard:
            whole: dict[tuple[str, str], Entry] = {}
            broken, halves = [item for item in scan.unusable if _may_hold_entries(item.path)], []
            for file in (file for path, file in scan.files.items() if is_entry(path)):
                entry = self._parsed.get((file.path, file.blob)) or _read(file)
                if isinstance(entry, Unusable):
                    broken.append(entry)
                elif file.is_partial:
                    halves.append(entry)
                else:
                    whole[file.path, file.blob] = entry
            self._parsed = whole
        broken += [Unusable(half.path, f"{half.path} is being written at this moment") for half in halves]
        return Listing(tuple(whole.values()), tuple(broken), tuple(halves))

    def recall(self, listing: Listing, query: str, limit: int, tags: Sequence[str] = ()) -> Recall:
        """The entries that share a word with `query` and have all `tags`, best first."""
        words = tokens(query)
        ranked = self._indexed(listing.entries).search(words, _tagged(listing.entries, tags))
        hits = tuple(Hit(listing.entries[found.position], found.score) for found in ranked[:limit])
        return Recall(query, hits, len(listing.entries), len(listing.unreadable), bool(words))

    def _indexed(self, entries: tuple[Entry, ...]) -> Index:
        with self._guard:
            if self._index[0] != entries:
                self._index = (entries, Index([_words(entry) for entry in entries]))
            return self._index[1]


def _read(file: File) -> Entry | Unusable:
    try:
        return parsed(file.path, file.data)
    except Unreadable as error:
        return Unusable(file.path, str(error))


def _may_hold_entries(path: str) -> bool:
    """Whether `path` is an entry's, or a folder's that entries are in."""
    return is_entry(path) or f"{ENTRIES}/".startswith(f"{path}/")


def check_query(query: str, limit: int | None, tags: Sequence[str]) -> None:
    """Refuse what cannot be asked.

    Raises:
        InvalidArguments: the message says what is wrong.
    """
    if not query.strip():
        raise InvalidArguments("the query is blank; ask with the words the memory would use")
    if len(query) > MAX_QUERY:
        raise InvalidArguments(f"the query has {len(query)} characters; at most {MAX_QUERY} fit: ask with fewer words")
    if limit is not None and limit < 1:
        raise InvalidArguments(f"limit must be at least 1, not {limit}")
    if limit is not None and limit > MAX_LIMIT:
        raise InvalidArguments(f"limit must be at most {MAX_LIMIT}, not {limit}")
    if len(tags) > MAX_LABELS:
        raise InvalidArguments(f"tags: at most {MAX_LABELS}, not {len(tags)}")


def readable(files: Iterable[tuple[str, bytes]]) -> list[Entry]:
    """The entries in files, pairs of path and bytes; those that are not text are left out."""
    entries = []
    for path, data in files:
        try:
            entries.append(parsed(path, data))
        except Unreadable:
            continue
    return entries


def named(entries: Iterable[Entry], name: str) -> Entry | None:
    """The entry whose own name is `name`, without regard to case; the first by path when several are."""
    key = name_key(name)
    return next((entry for entry in entries if name_key(entry.name) == key), None)


def found(entries: Sequence[Entry], name: str) -> Entry:
    """The entry called `name`: by name, else by slug, else by alias.

    Raises:
        NotFound: none is; the message has the nearest names.
        InvalidArguments: several are, and nothing tells which is meant.
    """
    if len(name) > MAX_NAME:
        raise NotFound(f"no entry named: {shortened(name, _SHOWN)}")
    key = name_key(name)
    ways = ((name, _by_exact_name), (key, _by_name), (key, _by_slug), (key, _by_alias))
    for wanted, names in ways:
        matches = [entry for entry in entries if wanted in names(entry)]
        if len(matches) > 1:
            slugs = ", ".join(entry.slug for entry in matches)
            raise InvalidArguments(f"several entries are called {name}; say which file: {slugs}")
        if matches:
            return matches[0]
    raise NotFound(f"no entry named: {name}{_nearest(entries, key)}")


def place_for(name: str, listing: Listing, scan: Scan, promised: Set[str] = frozenset()) -> str:
    """Where the fact called `name` goes: the entry of that name, else a file nobody has.

    `promised` are keys of slugs that other new facts of the same write got.

    Raises:
        Unwritable: what is there cannot be read, and may be the entry of that name.
    """
    entry = named((*listing.entries, *listing.being_written), name)
    if entry:
        return entry.path
    own = entry_path(slug_of(name))
    # A file that is empty, or whose beginning is not written yet, has no other name.
    nameless = {path for path, file in scan.files.items() if not file.data.strip() or (path == own and file.is_partial)}
    for item in listing.unreadable:
        if item.path == own in scan.files and own not in nameless:
            raise Unwritable(f"{name} cannot be saved: {item.reason}")
    used = [path for path in (*scan.files, *(item.path for item in scan.unusable)) if is_entry(path)]
    taken = {name_key(PurePosixPath(path).stem) for path in used if path not in nameless}
    return entry_path(free_slug(name, taken | promised))


def _nearest(entries: Sequence[Entry], key: str) -> str:
    names = {name_key(name): entry.name for entry in entries for name in (entry.name, *entry.aliases)}
    near = difflib.get_close_matches(key, names, n=_NEAREST, cutoff=0.5)
    return f" (nearest: {', '.join(dict.fromkeys(names[name] for name in near))})" if near else ""


def _by_exact_name(entry: Entry) -> tuple[str, ...]:
    return (entry.name,)


def _by_name(entry: Entry) -> tuple[str, ...]:
    return (name_key(entry.name),)


def _by_slug(entry: Entry) -> tuple[str, ...]:
    return (name_key(entry.slug),)


def _by_alias(entry: Entry) -> tuple[str, ...]:
    return tuple(map(name_key, entry.aliases))


def _words(entry: Entry) -> list[str]:
    return tokens("\n".join((entry.name, entry.description, entry.content, *entry.aliases, *entry.tags)))


def _tagged(entries: Sequence[Entry], tags: Sequence[str]) -> list[int] | None:
    """The positions of the entries that have all `tags`; None when none are asked for."""
    wanted = {name_key(tag.removeprefix("#")) for tag in tags}
    if not wanted:
        return None
    return [at for at, entry in enumerate(entries) if wanted <= set(map(name_key, entry.tags))]
