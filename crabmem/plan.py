"""What a write of facts will put where: each fact sees the places of those before it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from .catalog import NAME, Listing, kept_at, place_for
from .credentials import refuse_new
from .entry import Fact, checked, decoded, written
from .errors import AlreadyThere, CrabmemError, InvalidArguments
from .slots import Slot
from .slug import name_key
from .store import Scan

_DIGEST = 8


class Plan:
    """The files of one write, by path, as facts are added. Touches no disk."""

    def __init__(self, listing: Listing, scan: Scan, secrets: str, sees: Callable[[str], bool]) -> None:
        """`listing` are the entries of `scan`; `secrets` is the setting of that name; `sees` tells what who writes
        may see."""
        self.files: dict[str, bytes | None] = {}
        self._listing = listing
        self._scan = scan
        self._secrets = secrets
        self._sees = sees
        self._names: set[str] = set()
        self._slugs: set[str] = set()

    @property
    def changed(self) -> list[str]:
        """The paths whose files will say something else than now."""
        return [path for path, data in self.files.items() if self._scan.data(path) != data]

    def add(self, fact: Fact, may_replace: bool = True) -> str:
        """The path of a fact that was checked; its text is then in `files`.

        Raises:
            AlreadyThere: its entry says something else, and it may not be replaced.
            InvalidArguments: another fact of this plan has its name, or several entries have it.
            HoldsSecret: there is a credential in it, and the settings refuse that.
            Unwritable: what stands in its place cannot be read.
        """
        return self._put(fact, place_for(fact.name, self._listing, self._slugs, sees=self._sees), may_replace)

    def keep(self, slot: Slot, fact: Fact | None) -> str | None:
        """Put a fact that was checked into a slot, under the name it has there; None removes what is there.

        The name of the entry, None when there was none to remove.

        Raises: as `add`.
        """
        entry = kept_at(self._listing, slot)
        if fact is None:
            self.files |= {entry.path: None} if entry else {}
            return entry.name if entry else None
        if entry:
            self._put(replace(fact, name=entry.name), entry.path)
            return entry.name
        fact = replace(fact, name=self._free_name(fact.name, slot))
        self.add(fact)
        return fact.name

    def _free_name(self, name: str, slot: Slot) -> str:
        """`name`, or with a digest of the slot when another entry is called so."""
        free, digits = name, _DIGEST
        while name_key(free) in self._names or self._listing.having(NAME + name_key(free)):
            free, digits = f"{name} {slot.digest(digits)}", digits + _DIGEST
        return free

    def _put(self, fact: Fact, path: str, may_replace: bool = True) -> str:
        key = name_key(fact.name)
        if key in self._names:
            raise InvalidArguments(f"{fact.name} is there twice; give each fact a name of its own")
        data = self._scan.data(path)
        before = None if data is None else decoded(path, data)
        text = written(fact, before)
        if before not in (None, text) and not may_replace:
            raise AlreadyThere("another fact of that name is there" + (f": {path}" if self._sees(path) else ""))
        refuse_new(text, before, self._secrets)
        self._names.add(key)
        self._slugs.add(name_key(PurePosixPath(path).stem))
        self.files[path] = text.encode()
        return path

    def tried(self, fact: Fact, may_replace: bool = True) -> str | CrabmemError:
        """The path of a fact that nobody has checked, or why it cannot be kept."""
        try:
            return self.add(checked(fact), may_replace)
        except CrabmemError as error:
            return error
