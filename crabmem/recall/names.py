"""Which entry a name means, which one a save updates, and where a new one goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from ..disk.scan import Scan
from ..errors import Inapplicable, NotFound, Unwritable
from ..search import Index
from ..text.comparison import nearest
from ..text.daily_notes import day_in
from ..text.entry import MAX_NAME, Entry
from ..text.keys import DEFAULT_NAMESPACE, Key, key_in
from ..text.slug import free_slug, name_key, slug_of, spelled
from ..text.words import shortened
from ..workspace.layout import Layout
from .catalog import Listing
from .entries import EntrySource
from .labels import ALIAS, FILE, KEY, NAME, NOTE

_NEAREST = 3
_SHOWN = 80


def entry_called(source: EntrySource, name: str) -> Entry:
    """The entry that `name` means. The first of these that matches decides: whole path, name, slug (file name), alias,
    end of the path with a folder (`People/marta`).

    Saving a fact follows the same order, see `entry_to_update`.

    Raises:
        NotFound: no entry is called so; the message has the nearest names.
        Inapplicable: several entries match equally well.
    """
    files = source.having(FILE + _stem_key(name))
    if whole := at_path(files, name):
        return whole[0]
    if len(name) > MAX_NAME:
        raise NotFound(f"no fact called {shortened(name, _SHOWN)}")
    key = name_key(name)
    for matches in (
        exactly_called(source.having(NAME + key), name),
        source.having(FILE + key),
        source.having(ALIAS + key),
        below_folder(files, name),
    ):
        if len(matches) > 1:
            raise Inapplicable(f"several facts are called {name}; say which file: {_distinct_names(source, matches)}")
        if matches:
            return matches[0]
    raise NotFound(f"no fact called {name}{_nearest(source, key)}")


def note_of(source: EntrySource, name: str) -> Entry | None:
    """The daily note that is recalled and meant by `name`: its day, its title, its file's name or its path."""
    return next((each for each in source.having(NOTE + day_in(name)) if name in each.path or name == each.name), None)


def entry_with_key(listing: Listing, key: Key) -> Entry | None:
    """The entry that a store keeps at `key`, half-written ones included; None if there is none.

    If a person copied its file, the first one counts. In the default namespace an ordinary entry without a key counts,
    too, if its name is exactly the key.
    """
    kept = [
        *listing.having(KEY + key.label),
        *(half for half in listing.being_written if key_in(half.keys) == key),
    ]
    if not kept and key.namespace == DEFAULT_NAMESPACE:
        named = listing.having(NAME + name_key(key.key))
        kept = [entry for entry in named if entry.name == key.key and key_in(entry.keys) is None]
    return kept[0] if kept else None


def at_path(entries: Iterable[Entry], name: str) -> Sequence[Entry]:
    """The one entry, in a list, whose whole path is `name` in any Unicode form; an exact spelling wins. Else empty."""
    alike = [entry for entry in entries if spelled(entry.path) == spelled(name)]
    return [entry for entry in alike if entry.path == name] or alike[:1]


def below_folder(entries: Iterable[Entry], name: str) -> Sequence[Entry]:
    """The entries whose path ends in `name`, if that has at least one folder (`People/marta`)."""
    return [entry for entry in entries if _ends_so(entry.path, name)]


def is_place_of(entry: Entry, name: str) -> bool:
    """Whether `name` means `entry` by where it lies, and not by what it is called."""
    called_so = {name_key(each) for each in (entry.name, *entry.aliases)}
    return bool(at_path([entry], name)) or (name_key(name) not in called_so and _ends_so(entry.path, name))


def _ends_so(path: str, name: str) -> bool:
    end = "/" + name_key(name.removesuffix(".md"))
    return "/" in name and name_key(f"/{path.removesuffix('.md')}").endswith(end)


def exactly_called(entries: Sequence[Entry], name: str) -> Sequence[Entry]:
    """Of entries that share a `name_key`, those that have exactly this name; all of them where none has."""
    wanted = spelled(name)
    return [entry for entry in entries if spelled(entry.name) == wanted] or entries


def _distinct_names(source: EntrySource, entries: Sequence[Entry]) -> str:
    """The ways to tell entries apart, as typed: by their slugs, or by paths where a slug means others too."""
    keys = [name_key(entry.slug) for entry in entries]
    is_enough = all(len(source.having(FILE + key)) == 1 and not source.having(NAME + key) for key in keys)
    return ", ".join(entry.slug if is_enough else entry.path for entry in entries)


def _stem_key(path: str) -> str:
    """The `name_key` of a file's name without its ending."""
    return name_key(path.rpartition("/")[2].removesuffix(".md"))


def entry_to_update(
    name: str, listing: Listing, sees: Callable[[str], bool] = lambda path: True, by_place: bool = True
) -> Entry | None:
    """The entry that saving a fact called `name` updates; None for a new fact. The entry keeps its own spelling.

    It is what `entry_called` finds, with two differences. Slugs and aliases do not count: a new fact may have a name
    that equals one. And if the writer `sees` no match, a hidden match is returned, so that no two entries get the same
    name. With `by_place=False` the name is never read as a path.

    Raises:
        Inapplicable: several entries match equally well.
    """
    key = name_key(name)
    halves = listing.being_written
    files = [half for half in halves if name_key(half.slug) == _stem_key(name)] if by_place else []
    files += listing.having(FILE + _stem_key(name)) if by_place else []
    if whole := at_path(files, name):
        return whole[0]
    same = [*listing.having(NAME + key), *(half for half in halves if name_key(half.name) == key)]
    if meant := _one_of(same, name, sees):
        return meant
    if any(sees(entry.path) for entry in listing.having(ALIAS + key)):
        return None
    return _one_of(below_folder(files, name), name, sees)


def _one_of(entries: Sequence[Entry], name: str, sees: Callable[[str], bool]) -> Entry | None:
    """The visible entry called `name`; without one, a hidden one, or None.

    Raises:
        Inapplicable: several visible entries are called so.
    """
    matches = exactly_called([entry for entry in entries if sees(entry.path)], name)
    if len(matches) > 1:
        files = ", ".join(entry.path for entry in matches)
        raise Inapplicable(f"several facts are called {name}; give the path of the one that is meant: {files}")
    return next(iter(matches or entries), None)


def place_for(
    name: str, listing: Listing, promised: Set[str] = frozenset(), folder: str | None = None, by_place: bool = True
) -> str:
    """An unused path for a new fact called `name`; in `folder` if one is named.

    `promised` are keys of slugs that other new facts of the same write got. With `by_place=False` the name is never
    read as a path. The slugs of unreadable files are not used either, as they may be entries.

    Raises:
        Unwritable: an unreadable file may be the entry of that name.
    """
    layout, scan, slug = listing.layout, listing.scan, slug_of(name)
    own = layout.entry_path(slug, folder)
    unreadable = [item for item in listing.unreadable if not layout.is_note(item.path)]
    named = [item for item in unreadable if not _is_nameless(item.path, own, scan)]
    for item in unreadable:
        is_called_so = item in named and item.path.rpartition("/")[2] == f"{slug}.md"
        is_meant = is_called_so or (by_place and (spelled(item.path) == spelled(name) or _ends_so(item.path, name)))
        if is_meant and layout.is_entry(item.path) and (item.path in scan.files or item.is_denied):
            raise Unwritable(f"{name} cannot be saved: {item.reason}")
    stems = {_stem_key(item.path) for item in named if layout.is_entry(item.path)}
    stems.update(map(_stem_key, scan.folders))
    taken = _Taken(layout, listing.index, (stems, promised), folder)
    return layout.entry_path(free_slug(name, taken), folder)


def _is_nameless(path: str, own: str, scan: Scan) -> bool:
    """Whether an unreadable file cannot be an entry of another name: it is empty, or is `own`, just being written."""
    file = scan.files.get(path)
    return file is not None and (not (scan.data(path) or b"").strip() or (path == own and file.is_partial))


class _Taken:
    """The set of slug keys that a new entry in `folder` cannot have, for `free_slug`.

    Taken are those of entries, those in `others` (unreadable files, folders, facts of the same write), and those that
    would not be an entry there, such as the overview's.
    """

    def __init__(self, layout: Layout, index: Index, others: Sequence[Set[str]], folder: str | None) -> None:
        self._layout = layout
        self._index = index
        self._others = others
        self._folder = folder

    def __contains__(self, key: object) -> bool:
        may_be_entry = self._layout.is_entry(self._layout.entry_path(str(key), self._folder))
        return (
            not may_be_entry or any(key in keys for keys in self._others) or bool(self._index.labelled(f"{FILE}{key}"))
        )


def _nearest(source: EntrySource, key: str) -> str:
    keys = {label.removeprefix(kind): label for kind in (ALIAS, NAME) for label in source.index.labels(kind)}
    near = nearest(key, keys, _NEAREST, 0.5)
    names = dict.fromkeys(f'"{entry.name}"' for match in near for entry in source.having(keys[match])[:1])
    return f". Did you mean {' or '.join(names)}?" if names else ""
