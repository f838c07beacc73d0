"""Purging: something is erased from history, files and whatever was made of them, as if it had never been said."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from ..disk import fs
from ..errors import CrabmemError, DamagedHistory, NotFound, Unreadable, Unwritable
from ..git import History
from ..git.erasing import Erasure, Wanted, entry_in, of_entry, of_name, of_needle
from ..git.lives import Lives, Version
from ..git.objects import Objects
from ..git.repository import foreign_format
from ..git.rewrite.objects import Survey
from ..git.rewrite.repository import Eraser, Rewritten, remote_of
from ..git.rewrite.verification import Look, in_copies, in_files, is_in_name, look_at, name_of_bare, unread
from ..recall.catalog import Shelf, found, is_place_of
from ..results import Purge, Standing
from ..text.entry import Entry
from ..text.hashes import blob_id, short
from ..workspace.workspace import Workspace
from ..write.writer import Writer

_BESIDE = ("{}~", ".{}.sw[a-p]", "#{}#", ".#{}", ".{}.un~", "{}.tmp", "{}.bak", "{}.orig", "{}.rej")
# What is larger is nobody's memory, and no editor's copy of it.
_TOO_LARGE = 50_000_000
# How the look at objects calls a blob, and how many digits of its id it gives.
_BLOB, _DIGITS = "blob ", 12
#: A file of the workspace: path, blob as it is, the new bytes (None: it goes), and its mode.
_Change = tuple[str, str | None, bytes | None, int]


class Purger:
    """Purges one workspace."""

    def __init__(self, workspace: Workspace, history: History, writer: Writer, shelf: Callable[[], Shelf]) -> None:
        """`shelf` tells the entries there are now."""
        self._workspace = workspace
        self._history = history
        self._writer = writer
        self._shelf = shelf

    def plan(self, wanted: Wanted) -> Purge:
        """What purging would do; nothing is changed.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone.
        """
        with _readable():
            eraser = self._eraser()
            survey = eraser.survey()
            erasure = self._erasure(wanted, eraser, survey)
            made = eraser.rewritten(survey, erasure, packs=False)
            told = self._told(made, erasure, eraser, *self._changes(erasure, eraser))
            return replace(told, nested=self._nested(erasure, _only_there(survey, erasure)))

    def purge(self, wanted: Wanted, force: bool) -> Purge:
        """Purge, and look at everything that is left.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone, or, without `force`, remotes have it.
        """
        wanted.needle()
        return self._writer.rewrite(lambda scan: self._purged(wanted, force))

    def _purged(self, wanted: Wanted, force: bool) -> Purge:
        eraser = self._eraser()
        with eraser.alone():
            survey = eraser.survey()
            erasure = self._erasure(wanted, eraser, survey)
            made = eraser.rewritten(survey, erasure, packs=True)
            changes, leftovers = self._changes(erasure, eraser)
            told = self._told(made, erasure, eraser, changes, leftovers)
            if made.pushed and not force:
                raise Unwritable(_pushed(told))
            eraser.exchanged(made, [*changes, *leftovers], erasure, self._recovered(erasure))
        gone = _only_there(survey, erasure)
        return replace(told, is_done=True, standing=self._looked(erasure, gone))

    def standing(self, wanted: Wanted) -> Standing:
        """Where it still stands, in any object or file; nothing is changed."""
        with _readable():
            needle = wanted.needle()
            if needle:
                return self._looked(of_needle(needle, self._workspace.layout, (), ()), frozenset())
            assert wanted.name is not None
            with suppress(NotFound):
                eraser = self._eraser()
                survey = eraser.survey()
                erasure = self._erasure(wanted, eraser, survey)
                return self._looked(erasure, _only_there(survey, erasure))
            return self._looked(of_name(wanted.name), frozenset())

    def _eraser(self) -> Eraser:
        if not self._history.has_begun():
            raise NotFound("there is nothing to purge: the memory has no history yet")
        eraser = self._history.eraser()
        eraser.refuse(self._history.in_progress())
        return eraser

    def _erasure(self, wanted: Wanted, eraser: Eraser, survey: Survey) -> Erasure:
        needle = wanted.needle()
        if needle:
            paths = [*survey.files, *self._files(eraser)]
            return of_needle(needle, self._workspace.layout, paths, self._versions(eraser, survey))
        assert wanted.name is not None
        meant = self._meant(wanted.name)
        layout, now = self._workspace.layout, self._now(eraser)
        blobs = {path: blob_id(data) for path, data in now.items()}
        lives, versions = self._lives(survey, now, blobs), self._versions(eraser, survey)
        is_place = meant is not None and is_place_of(meant, wanted.name)
        erasure = of_entry(wanted.name, layout, versions, meant.path if meant else None, lives, blobs, is_place)
        if erasure is None:
            raise NotFound(f"no entry was ever named: {wanted.name}; `crabmem purge --text` purges any text")
        return erasure

    def _versions(self, eraser: Eraser, survey: Survey) -> Iterator[tuple[str, bytes]]:
        """Every version of every file, with those on the disk that are in no commit yet."""
        yield from eraser.files(survey)
        yield from ((path, read[0]) for path in self._files(eraser) if (read := self._read(path)))

    def _now(self, eraser: Eraser) -> dict[str, bytes]:
        """The entries on the disk, by path."""
        paths = filter(self._workspace.layout.is_entry, self._files(eraser))
        return {path: read[0] for path in paths if (read := self._read(path))}

    def _lives(self, survey: Survey, now: Mapping[str, bytes], blobs: Mapping[str, str]) -> Lives:
        """The lives of all entries, up to what Git's index and the disk have: `now`, whose ids are `blobs`."""
        unsaved = {blobs[path]: data for path, data in now.items()}
        is_entry = self._workspace.layout.is_entry

        def content(version: Version) -> bytes:
            path, blob = version
            data = unsaved[blob] if blob in unsaved else self._history.blob(blob)
            entry = entry_in(path, data)
            return entry.content.encode() if entry else data

        lives = Lives(content)
        for oid in survey.commits:
            commit = self._history.commit(oid, with_paths=False)
            sides = [self._history.changes(oid, parent) for parent in commit.parents or (None,)]
            lives.take([{path: side[path] for path in filter(is_entry, side)} for side in sides], commit.renamed)
        head = self._history.files(self._history.head())
        gone = {path: (head[path], None) for path in filter(is_entry, head) if path not in now}
        staged = ((path, blob) for path, held in survey.files.items() if is_entry(path) for blob in held)
        for path, blob in (*staged, *blobs.items()):
            if not lives.knows((path, blob)):
                lives.take([{**gone, path: (head.get(path), blob)}])
        return lives

    def _meant(self, name: str) -> Entry | None:
        """The entry that answers to `name` now."""
        with suppress(NotFound):
            return found(self._shelf(), name)
        return None

    def _told(self, made: Rewritten, erasure: Erasure, eraser: Eraser, changes: list[_Change],
              leftovers: list[_Change]) -> Purge:  # fmt: skip
        """What a purge does, in figures.

        Raises:
            NotFound: it does nothing.
        """
        is_found = made.changes_anything or changes or leftovers or self._recovered(erasure)
        here = None if is_found else self._looked_here(erasure, _only_there(made.survey, erasure))
        if here and not here.places:
            if nested := self._nested(erasure, _only_there(made.survey, erasure)):
                raise NotFound(f"nothing to purge here, but it stands in {', '.join(nested)}: purge there, or --agents")
            if here.unread:
                raise NotFound(f"nothing to purge in what was read; not looked into: {', '.join(here.unread)}")
            raise NotFound("nothing to purge: that stands nowhere in the files or their history")
        tally = made.tally
        touched = tally.paths | {change[0] for change in changes}
        paths = {erasure.paths.get(path, path) or path for path in touched}
        remotes = eraser.remotes()
        pushed = {name: remotes[name] for name in map(remote_of, made.pushed)}
        return Purge(
            entries=erasure.entries,
            erased=tuple(sorted(path for path, new in erasure.paths.items() if new is None)),
            paths=tuple(sorted(paths)),
            commits=len(made.survey.commits),
            rewritten=sum(made.rewriting.ids[oid] != oid for oid in made.survey.commits),
            messages=tally.messages,
            versions=tally.versions or _versions_of(erasure, made.survey),
            refs=sum(made.rewriting.ids[oid] != oid for oid in made.refs.values()),
            signatures=tally.signatures,
            unreachable=made.unreachable,
            leftovers=len(leftovers) + len(self._recovered(erasure)),
            copies=_copies(erasure, eraser.files(made.survey)),
            remotes=pushed,
            unknown={name: url for name, url in remotes.items() if name not in pushed},
        )

    # The files of the workspace

    def _files(self, eraser: Eraser) -> set[str]:
        """The paths of files that are in the commits, or stand where memory does."""
        root = self._workspace.root
        paths = (file.relative_to(root).as_posix() for file in _all_below(root))
        memory = filter(self._workspace.layout.is_within, paths)
        return {path for path in [*eraser.staged(), *memory] if path.isprintable() and not _is_surrogate(path)}

    def _changes(self, erasure: Erasure, eraser: Eraser) -> tuple[list[_Change], list[_Change]]:
        """How the files have to change, and what editors left that has to go."""
        changes: list[_Change] = []
        touched: set[Path] = set()
        paths = self._files(eraser)
        for path in sorted(paths):
            for change in self._change(path, erasure):
                changes.append(change)
                touched.add(self._workspace.file(path))
        folders = {self._workspace.file(path).parent for path in paths}
        return changes, [change for folder in sorted(folders) for change in self._leftovers(folder, touched, erasure)]

    def _change(self, path: str, erasure: Erasure) -> Iterator[_Change]:
        read = self._read(path)
        if read is None:
            return
        data, mode = read
        new, bare = erasure.paths.get(path, path), erasure.out_of_file(path, data)
        if new is None or erasure.goes(path, blob_id(data)):
            yield path, blob_id(data), None, mode
        elif new != path:
            yield new, None, bare, mode
            yield path, blob_id(data), None, mode
        elif bare != data:
            yield path, blob_id(data), bare, mode

    def _read(self, path: str) -> tuple[bytes, int] | None:
        """The bytes and mode of a regular file; None for anything else."""
        with suppress(OSError), fs.inside(self._workspace.root, path) as spot:
            data, status = fs.read(spot)
            return data, status.st_mode & 0o777
        return None

    def _leftovers(self, folder: Path, touched: set[Path], erasure: Erasure) -> Iterator[_Change]:
        """What editors left in a folder that holds it, or belongs to a file that changes."""
        beside = {
            file
            for each in touched
            if each.parent == folder
            for form in _BESIDE
            for file in folder.glob(form.format(each.name))
        }
        others = {file for form in _BESIDE for file in folder.glob(form.format("*"))}
        for file in sorted(beside | others):
            path = file.relative_to(self._workspace.root).as_posix()
            read = self._read(path)
            if read and (file in beside or _is_in(erasure, read[0], path)):
                yield path, blob_id(read[0]), None, read[1]

    def _recovered(self, erasure: Erasure) -> list[str]:
        """Texts of unknown saves that hold it."""
        folder = self._workspace.private / "recovered"
        files = [file for file in folder.glob("*") if file.is_file()]
        return [
            file.relative_to(self._workspace.git).as_posix()
            for file in files
            if _is_in(erasure, fs.read(file, limit=fs.LARGE)[0])
        ]

    # What is left

    def _looked(self, erasure: Erasure, blobs: frozenset[str]) -> Standing:
        """A look at every object and file, those of repositories inside the workspace too."""
        looks = [self._looked_here(erasure, blobs)]
        looks += [self._looked_into(folder, erasure, blobs) for folder in self._repositories()]
        return Standing(
            objects=sum(look.objects for look in looks),
            files=sum(look.files for look in looks),
            size=sum(look.size for look in looks),
            places=tuple(place for look in looks for place in look.places),
            unread=tuple(place for look in looks for place in look.unread),
        )

    def _looked_here(self, erasure: Erasure, blobs: frozenset[str]) -> Standing:
        """A look at what is the workspace's own."""
        objects = self._history.eraser().objects(erasure, blobs)
        files = _in_workspace(
            self._workspace.root,
            lambda data, path: _is_in(erasure, data, path) or erasure.goes(path, blob_id(data)),
            erasure,
        )
        look = _standing(list(objects), [*in_files(erasure, self._workspace.git), *files])
        return replace(look, places=tuple(self._located(look.places)))

    def _located(self, places: Iterable[str]) -> list[str]:
        """Places, with the path and the first commit of each blob among them that a reference reaches."""
        found = {place: place for place in places}
        blobs = {place.removeprefix(_BLOB) for place in found if place.startswith(_BLOB)}
        with suppress(CrabmemError):  # they are told by their ids all the same
            for oid in self._history.eraser().survey().commits if blobs else ():
                for path, (_, after) in self._history.changes(oid).items():
                    if after and (digits := after[:_DIGITS]) in blobs:
                        blobs.remove(digits)
                        found[_BLOB + digits] = f"{path} in commit {short(oid)} ({_BLOB}{digits})"
        return [*found.values()]

    def _looked_into(self, folder: Path, erasure: Erasure, blobs: frozenset[str]) -> Standing:
        """A look at a repository inside the workspace, such as an agent's own: whether it holds it, and in what.

        Of an entry only what it said counts: somebody else's may have the same name.
        """
        name = folder.relative_to(self._workspace.root).as_posix()
        git = folder / ".git" if os.path.lexists(folder / ".git") else folder
        if not git.is_dir():
            return Standing(0, 0, 0, (f"{name} (its history lies elsewhere and was not looked into)",))
        if form := foreign_format(git):
            return Standing(0, 0, 0, (f"{name} (its history is kept as {form} and was not looked into)",))
        history = Objects(git / "objects", git / "crabmem" / "recent")
        try:
            objects = list(in_copies(erasure, history, blobs))
        except OSError as error:
            return Standing(0, 0, 0, (f"{name} (its history was not looked into: {fs.reason(error)})",))
        except DamagedHistory:
            return Standing(0, 0, 0, (f"{name} (its history is damaged and was not looked into)",))
        finally:
            history.close()
        own = list(in_files(erasure, git))
        files: list[Look] = []
        if git != folder:
            files = list(_in_workspace(folder, lambda data, path: _is_in(erasure, data, path), erasure))
        kinds = {
            "name": bool(erasure.contents and erasure.contents.number_in(name)),
            "history": any(look.place for look in [*objects, *own]),
            "files": any(look.place for look in files),
        }
        found = [kind for kind, is_in in kinds.items() if is_in]
        places = [f"{name} ({' and '.join(found)})"] if found else []
        if (git / "objects/info/alternates").exists():
            places.append(f"{name} (it borrows objects from elsewhere, which were not looked into)")
        look = _standing(objects, [*own, *files])
        return replace(look, places=tuple(places), unread=tuple(f"{name}/{each}" for each in look.unread))

    def _nested(self, erasure: Erasure, blobs: frozenset[str]) -> tuple[str, ...]:
        """The repositories inside the workspace that hold it, and in what."""
        looks = (self._looked_into(folder, erasure, blobs) for folder in self._repositories())
        return tuple(place for look in looks for place in look.places)

    def _repositories(self) -> list[Path]:
        """The folders inside the workspace, or inside its `.git`, that are repositories of their own."""
        root, git = self._workspace.root, self._workspace.git
        folders = [*_folders_below(root), *(_folders_below(git) if git.is_dir() else ())]
        return sorted(folder for folder in folders if folder not in (root, git) and _is_repository(folder))


def _standing(objects: list[Look], files: list[Look]) -> Standing:
    looks = [*objects, *files]
    places = tuple(look.place for look in looks if look.place)
    not_read = tuple(look.unread for look in looks if look.unread)
    return Standing(len(objects), len(files), sum(look.size for look in looks), places, not_read)


def _in_workspace(root: Path, is_in: Callable[[bytes, str], bool], erasure: Erasure) -> Iterator[Look]:
    """The files below a folder, links and empty folders too, but for those of repositories in it.

    `is_in` is asked about bytes and path.
    """
    inner = {folder for folder in _folders_below(root) if folder != root and _is_repository(folder)}
    items = {item for folder in _folders_below(root) for item in folder.iterdir() if item.name != ".git"}
    for item in sorted(each for each in items - inner if inner.isdisjoint(each.parents)):
        path = item.relative_to(root).as_posix()
        if item.is_symlink() or item.is_dir():
            if is_in_name(name_of_bare(item, path), erasure):
                yield Look(0, path)
            continue
        try:
            if not item.is_file():  # a pipe, or a device
                continue
            if item.stat().st_size > _TOO_LARGE:
                yield Look(0, None, f"{path} (larger than {_TOO_LARGE // 1_000_000} MB)")
                continue
            data = fs.read(item, limit=_TOO_LARGE)[0]
        except FileNotFoundError:  # it went meanwhile
            continue
        except OSError as error:
            yield unread(path, error)
            continue
        yield look_at(data, path, is_in(data, path))


def _is_repository(folder: Path) -> bool:
    """Whether a folder has a repository, or is a bare one, whatever it is called."""
    is_bare = (folder / "HEAD").is_file() and all((folder / name).is_dir() for name in ("objects", "refs"))
    return is_bare or os.path.lexists(folder / ".git")


def _folders_below(folder: Path) -> Iterator[Path]:
    """A folder and all below it, but for what is Git's own."""
    waiting = [folder]
    while waiting:
        yield (each := waiting.pop())
        waiting += [item for item in each.iterdir() if item.is_dir() and not item.is_symlink() and item.name != ".git"]


@contextmanager
def _readable() -> Iterator[None]:
    """Within it, what may not be read is an error: nobody could say that it holds nothing.

    Raises:
        Unreadable: naming the file or folder.
    """
    try:
        yield
    except PermissionError as error:
        raise Unreadable(f"{error.filename} cannot be read: {fs.reason(error)}") from None


def _all_below(folder: Path) -> Iterator[Path]:
    """Every regular file below a folder, but for what is Git's own."""
    for each in _folders_below(folder):
        yield from (item for item in each.iterdir() if item.is_file() and not item.is_symlink() and item.name != ".git")


def _is_in(erasure: Erasure, data: bytes, path: str = "") -> bool:
    """Whether a file that is in no commit holds it."""
    quotes = erasure.quoted(data) > 0
    return quotes or erasure.is_in_file(data) or bool(erasure.contents and erasure.contents.number_in(path))


def _is_surrogate(path: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in path)


def _only_there(survey: Survey, erasure: Erasure) -> frozenset[str]:
    """The blobs that stood at no other paths than those that go."""
    if erasure.contents is not None:
        return frozenset()
    versions = {(path, blob) for path, blobs in survey.files.items() for blob in blobs}
    going = {version for version in versions if erasure.goes(*version)}
    return frozenset({blob for _, blob in going} - {blob for _, blob in versions - going})


def _versions_of(erasure: Erasure, survey: Survey) -> int:
    """How many versions of files go, or get another path."""
    versions = ((path, blob) for path, blobs in survey.files.items() for blob in blobs)
    return sum(path in erasure.paths or erasure.goes(path, blob) for path, blob in versions)


def _copies(erasure: Erasure, files: Iterable[tuple[str, bytes]]) -> dict[str, int]:
    """The files that quote what goes altogether, and how many of its lines at most."""
    found: dict[str, int] = {}
    if erasure.contents is None:
        for path, data in files:
            if not erasure.goes(path, blob_id(data)) and (lines := erasure.quoted(data) or int(erasure.is_named(data))):
                found[path] = max(lines, found.get(path, 0))
    return dict(sorted(found.items()))


def _pushed(told: Purge) -> str:
    names = ", ".join(told.remotes)
    return (
        f"what is to be purged was pushed to {names}: it stays there; give --force to purge here all "
        f"the same, and then rewrite {names} with `git push --force`"
    )
