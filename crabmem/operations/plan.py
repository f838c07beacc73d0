"""The plan of a write of facts: which file each goes to. Each fact takes the places of those before it into account."""

from collections.abc import Callable
from pathlib import PurePosixPath

from ..errors import AlreadyThere, CrabmemError, InvalidArguments
from ..recall.labels import NAME, ORIGIN
from ..recall.names import entry_to_update, entry_with_key, place_for
from ..session.snapshot import Snapshot
from ..text.credentials import Screen
from ..text.entry import IMPORTED, Entry, Fact, checked, decode, entry_in, render_entry
from ..text.keys import Key
from ..text.slug import name_key
from ..text.values import once, replace
from ..workspace.layout import is_contained

_DIGEST_DIGITS = 8
#: Makes the text of a file of a fact and the text that is there.
Render = Callable[[Fact, str | None], str]


class Plan:
    """The `files` of one write (bytes by path, None to remove one), as facts are added. Writes nothing."""

    def __init__(self, now: Snapshot, screen: Screen, render: Render = render_entry) -> None:
        """`screen` should have seen the words of the facts before, outside of the lock; `render` may be a cache."""
        self.files: dict[str, bytes | None] = {}
        # With hidden entries: a fact must not take the place of one that is hidden.
        self._listing = now.whole.listing
        self._scan = now.scan
        self._screen = screen
        self._view, self._sees = now.view, now.view.allows
        self._render = render
        #: The facts added so far: their keys of names, their names by path, and the keys of their slugs and paths.
        self._names: set[str] = set()
        self._names_at: dict[str, str] = {}
        self._slugs: set[str] = set()
        self._places: set[str] = set()

    @property
    def changed(self) -> list[str]:
        """The paths whose files will say something else than now."""
        return [path for path, data in self.files.items() if self._scan.data(path) != data]

    def add(self, fact: Fact, may_replace: bool = True) -> str:
        """Add a checked fact to `files`, as an update of its entry or as a new one; return its path.

        An imported fact updates the entry that was imported from the same origin, and keeps the name that the entry has
        by now, as links lead to it. If there is no such entry, the fact gets a name that no entry imported from
        elsewhere has.

        Raises:
            AlreadyThere: the entry says something else, and `may_replace` is False.
            InvalidArguments: another fact of this plan has the name, or several entries have it.
            Disabled: the session may not see the file in the fact's place.
            HoldsSecret: the fact holds a credential, and the settings refuse that.
            Unwritable: the file in the fact's place cannot be read.
        """
        if fact.origin:
            entries = [entry for entry in self._listing.having(ORIGIN + fact.origin) if self._sees(entry.path)]
            if entries:
                return self._put(fact, entries[0].path, may_replace, entries[0].name)
            fact = self._with_free_name(fact)
            if copy := next((entry for entry in self._imported(fact.name) if self._is_copy(fact, entry)), None):
                return self._put(fact, copy.path, may_replace=False)
        by_place = not (fact.origin or fact.before)  # a name from elsewhere is never a path here
        if meant := entry_to_update(fact.name, self._listing, self._sees, by_place):
            return self._put(fact, meant.path, may_replace, meant.name)
        folder = self._folder(fact)
        place = self._own_place(fact, folder) or place_for(fact.name, self._listing, self._slugs, folder, by_place)
        return self._put(fact, place, may_replace)

    def name_at(self, path: str) -> str:
        """The name of the fact added at `path`: an entry that is updated keeps its own, see `names.entry_to_update`."""
        return self._names_at[path]

    def _folder(self, fact: Fact) -> str | None:
        """The folder that the fact asks for, if entries may lie there; None for the usual one."""
        layout = self._listing.layout
        path = layout.entry_path(f"{fact.folder}/x")
        return path.rpartition("/")[0] if fact.folder and is_contained(path) and layout.is_entry(path) else None

    def _own_place(self, fact: Fact, folder: str | None) -> str | None:
        """The path with the file name that the fact asks for (links may lead to it); None if it asks for none, or the
        path is taken or no entry's."""
        layout = self._listing.layout
        path = layout.entry_path(fact.stem, folder)
        if not fact.stem or not is_contained(path) or not layout.is_entry(path):
            return None
        return None if name_key(path) in self._occupied or name_key(path) in self._places else path

    @once
    def _occupied(self) -> frozenset[str]:
        """The `name_key` of every path that a file, a folder or an unreadable entry has."""
        broken = (item.path for item in self._listing.unreadable)
        return frozenset(map(name_key, (*self._scan.files, *self._scan.folders, *broken)))

    def _with_free_name(self, fact: Fact) -> Fact:
        """The fact, renamed if an entry imported from elsewhere has its name; not if that is a copy with the same text.

        Its origin is put behind the name, in parentheses. If those names are taken, too, the name stays.
        """
        names = dict.fromkeys([fact.name, *(f"{fact.name} ({part})" for part in (fact.apart, fact.origin) if part)])
        free = next((name for name in names if not self._is_of_another(replace(fact, name=name))), fact.name)
        return fact if free == fact.name else checked(replace(fact, name=free))

    def _is_of_another(self, fact: Fact) -> bool:
        """Whether a fact of this plan, or an entry that was imported and says something else, has the fact's name."""
        return name_key(fact.name) in self._names or not all(
            self._is_copy(fact, entry) for entry in self._imported(fact.name)
        )

    def _imported(self, name: str) -> list[Entry]:
        return [entry for entry in self._listing.having(NAME + name_key(name)) if entry.origin]

    def _is_copy(self, fact: Fact, entry: Entry) -> bool:
        """Whether the file of an entry has the text of the fact, apart from the key that says its origin."""
        return self._is_text_of(fact, decode(entry.path, self._scan.data(entry.path) or b""))

    def keep(self, key: Key, fact: Fact | None) -> str | None:
        """Add a checked fact at the `key` of a store; a fact of None removes the entry there. Return the entry's name.

        An entry that is there keeps its name. None is returned if there was none to remove.

        Raises: as `add`.
        """
        entry = entry_with_key(self._listing, key)
        if fact is None:
            self.files |= {entry.path: None} if entry else {}
            return entry.name if entry else None
        name = entry.name if entry else self._free_name(fact.name, key)
        path = entry.path if entry else self._place_of_item(name)
        self._put(fact, path, name=name)
        return name

    def _place_of_item(self, name: str) -> str:
        """The path of a new item of a store. Its name is made of keys, so it is never read as a path."""
        meant = entry_to_update(name, self._listing, by_place=False)
        return meant.path if meant else place_for(name, self._listing, self._slugs, by_place=False)

    def _free_name(self, name: str, key: Key) -> str:
        """`name`; where another entry or fact has it, with a digest of `key` behind it, longer until it is free."""
        free, digits = name, _DIGEST_DIGITS
        while name_key(free) in self._names or self._listing.having(NAME + name_key(free)):
            free, digits = f"{name} {key.digest(digits)}", digits + _DIGEST_DIGITS
        return free

    def _put(self, fact: Fact, path: str, may_replace: bool = True, name: str = "") -> str:
        """Put the text of a fact into `files` at `path`, and return `path`.

        `name` is that of the entry which is there, and stays; "" for a new entry. Raises as `add`.
        """
        key = name_key(name or fact.name)
        if path in self.files if name else key in self._names:  # files of one name in two folders are two facts
            raise InvalidArguments(f"{name or fact.name} is there twice; give each fact a name of its own")
        self._view.check_free(path)
        data = self._scan.data(path)
        before = None if data is None else decode(path, data)
        fact = replace(fact, name=name) if name else fact
        text = self._render(fact, before)
        if before not in (None, text) and not may_replace and not self._is_text_of(fact, before):
            raise AlreadyThere(f"another fact of that name is there: {path}")
        if self._screen.doubts(fact.words):
            entry = None if data is None else entry_in(path, data)  # its file may quote or escape the same words
            known = [f"{entry.description}\n{entry.content}"] if entry else []
            self._screen.refuse_new(fact.words, before, *known)
        if not may_replace and before is not None:
            text = before
        self._names.add(key)
        self._names_at[path] = name or fact.name
        self._slugs.add(name_key(PurePosixPath(path).stem))
        self._places.add(name_key(path))
        self.files[path] = text.encode()
        return path

    def _is_text_of(self, fact: Fact, before: str | None) -> bool:
        """Whether rendering an imported fact over `before`, without the key of its origin, leaves `before` as it is."""
        bare = replace(fact, keys={key: value for key, value in fact.keys.items() if key != IMPORTED})
        return bool(fact.origin) and before is not None and self._render(bare, before) == before

    def tried(self, fact: Fact, may_replace: bool = True) -> str | CrabmemError:
        """`add` a checked fact; return its path, or the error instead of raising it."""
        try:
            return self.add(fact, may_replace)
        except CrabmemError as error:
            return error
