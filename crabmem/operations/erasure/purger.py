"""Purge: erase an entry or a text from history, files and all that was made of them, as if it had never been said.

`rule` says what is found and removed, `git.rewrite` makes the new history. This module applies both to the files of a
workspace: what they hold, how they change, and whether any of it is left afterwards. "It" is what is purged.
"""

import dataclasses
import errno
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from ...disk import fs, state
from ...errors import CrabmemError, DamagedHistory, InvalidArguments, NotFound, Unreadable, Unwritable, Way
from ...git.diff import similarity
from ...git.objects import Objects
from ...git.repository import foreign_format
from ...git.rewrite.files import left_beside
from ...git.rewrite.objects import Survey
from ...git.rewrite.repository import FileChange, NewHistory, Put, RepositoryRewrite
from ...git.rewrite.verification import Inspection, inspect_file, inspect_git_files, inspect_objects
from ...recall.names import entry_called, is_place_of
from ...results import Purge, Standing
from ...session.scopes import others
from ...session.session import Session
from ...session.snapshot import Snapshot
from ...text.commands import program_at
from ...text.entry import entry_in
from ...text.hashes import blob_id, short
from ...text.slug import name_key
from ...text.values import replace
from .lives import Lives, Version
from .rule import (
    NO_REDACTION,
    Erasure,
    Redaction,
    by_pattern,
    by_text,
    erasure_of_entry,
    erasure_of_name,
    erasure_of_text,
)

# Bytes: a larger file is neither memory nor an editor's copy of it, and is not read.
_TOO_LARGE = 50_000_000
_THERE = Way("agents.purge_everywhere", "purge there, or {}", "purge there")
# So many files that cannot be read are named.
_NAMED = 10
# How an inspection calls a blob, and how many digits of its id it gives.
_BLOB, _DIGITS = "blob ", 12

#: The files of a workspace by path, each with its bytes and mode; None for what is no regular file, or not there.
_Files = Mapping[str, tuple[bytes, int] | None]


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A purge that has changed nothing yet.

    `leftovers` are copies by editors that go, `recovered` the files in `.git/crabmem/recovered` that hold it.
    """

    new: NewHistory
    erasure: Erasure
    changes: list[FileChange]
    leftovers: list[FileChange]
    recovered: list[str]


class Purger:
    """Purges one workspace, as the operations of `purge` say.

    Each method is given an entry's name, a text, or a regular expression: one of the three.
    """

    def __init__(self, session: Session) -> None:
        engine = self._engine = session.engine
        self._session, self._workspace, self._history = session, engine.workspace, engine.history
        #: The address of the remote that this is synced with; "" for none.
        self._synced = engine.allowed.reach(session.root).remote

    def plan(self, name: str | None, text: str | None, pattern: str | None) -> Purge:
        """Return what purging would do; change nothing."""
        with _all_readable():
            rewrite = self._rewrite()
            plan = self._plan(_target(name, text, pattern), rewrite, packs=False)
            report = _report(plan, rewrite, self._synced)
            return replace(report, nested=self._nested(plan.erasure), beside=self._held_beside(plan.erasure)[0])

    def purge(self, name: str | None, text: str | None, pattern: str | None, force: bool) -> Purge:
        """Purge, and inspect everything that is left."""
        target = _target(name, text, pattern)
        return self._engine.writer.rewrite(lambda scan, put: self._purge(target, force, put))

    def _purge(self, target: "str | Redaction", force: bool, put: Put) -> Purge:
        """Purge under the writer's lock, then inspect all that is left; `put` exchanges files of the workspace.

        Raises:
            Unwritable: a remote has what is purged, and `force` is not given.
        """
        with _all_readable():
            self._repositories()  # fails now, and not in the inspection after the purge, if a folder may not be entered
        rewrite = self._rewrite()
        with rewrite.alone():
            plan = self._plan(target, rewrite, packs=True)
            report = _report(plan, rewrite, self._synced)
            if report.remotes and not force:
                remotes = ", ".join(report.remotes)
                way = f"give {{}} to purge here all the same, and then rewrite {remotes} with `git push --force`"
                raise Unwritable(
                    f"what is to be purged was pushed to {remotes}: it stays there", Way("force=True", way)
                )
            rewrite.put_in_place(plan.new, [*plan.changes, *plan.leftovers], plan.recovered, put)
        self._remove_empty(plan.erasure)
        here, inside = self._verify_here(plan.erasure), self._verify_inside(plan.erasure)
        root, (beside, unread) = self._workspace.root, self._held_beside(plan.erasure)
        return replace(
            report,
            is_done=True,
            beside=beside,
            erased=tuple(path for path in report.erased if not os.path.lexists(root / path)),  # saved anew meanwhile
            nested=_places(inside),
            standing=_sum([here, *inside, Standing(0, 0, 0, (), unread)]),
        )

    def verify(self, name: str | None, text: str | None, pattern: str | None) -> Standing:
        """Return where it still stands, in any object or file; change nothing.

        Raises:
            NotFound: no fact has or had that name, nothing holds the name, and nothing was ever purged here.
        """
        with _all_readable():
            target = _target(name, text, pattern)
            if isinstance(target, Redaction):
                return self._verify(erasure_of_text(target, self._workspace.layout, (), ()))
            rewrite = self._rewrite()
            survey, files = rewrite.survey(), self._files(rewrite)
            try:
                return self._verify(self._erasure(target, rewrite, survey, files))
            except NotFound:
                found = self._verify_name(target, chain(rewrite.versions(survey), _on_disk(files).items()))
                if not found.places and not len(rewrite.record()):
                    raise
                return found

    def _verify_name(self, name: str, versions: Iterable[tuple[str, bytes]]) -> Standing:
        """Return where the bare name of a purged fact still stands: what the fact said is not known any more."""
        erasure = erasure_of_name(name)
        found, named = self._verify(erasure), (f"{path} (its name)" for path in _copies(erasure, versions))
        return replace(found, places=(*found.places, *named), only_name=True)

    # What is to be done

    def _rewrite(self) -> RepositoryRewrite:
        if not self._history.ownership.holds_memory():
            raise NotFound("there is nothing to purge: the memory has no history yet")
        rewrite = self._history.rewrite()
        rewrite.check_possible(self._history.branch.in_progress())
        return rewrite

    def _plan(self, target: str | Redaction, rewrite: RepositoryRewrite, packs: bool) -> _Plan:
        """Find all that a purge is going to do.

        Raises:
            NotFound: nothing here holds it; the message names the places where it stands, if any is known.
            Unreadable: a file of memory, of Git's index or of an editor cannot be read, and may hold it.
        """
        survey, files = rewrite.survey(), self._files(rewrite)
        unread = (path for path, file in files.items() if file is None)
        self._check_readable({*unread, *map(self._path, self._beside(files))})
        erasure = self._erasure(target, rewrite, survey, files)
        new = rewrite.new_history(survey, erasure, packs)
        changes = [change for path in sorted(files) for change in _changes(path, files[path], erasure)]
        plan = _Plan(new, erasure, changes, [*self._leftovers(files, changes, erasure)], self._recovered(erasure))
        if not (new.changes_anything or changes or plan.leftovers or plan.recovered):
            here = self._verify_here(erasure)
            if not here.places:  # else an object holds it that nothing reaches
                if nested := self._nested(erasure):
                    raise NotFound(f"nothing to purge here, but it stands in {', '.join(nested)}", _THERE)
                if held := [folder for folder, files in self._held_beside(erasure)[0].items() if files]:
                    said = self._session.engine.environment
                    way = " and ".join(f"`{program_at(folder, said)} purge`" for folder in held)
                    where = f"it stands in {', '.join(held)}"
                    raise NotFound(f"nothing to purge here, but {where}: {way}, with the same words, erases it there")
                if here.unread:
                    raise NotFound(f"nothing to purge in what was read; not looked into: {', '.join(here.unread)}")
                raise NotFound("nothing to purge: that stands nowhere in the files or their history")
        return plan

    def _erasure(self, target: str | Redaction, rewrite: RepositoryRewrite, survey: Survey, files: _Files) -> Erasure:
        """Return the erasure of `target`, by all versions in the history, in Git's index and on disk.

        For an entry, its `blobs` are those that go from every path they stand at, so that none may come back.

        Raises:
            NotFound: no fact was ever called so.
        """
        layout = self._workspace.layout
        on_disk = _on_disk(files)
        versions = chain(rewrite.versions(survey), on_disk.items())  # the disk has some that are in no commit yet
        if isinstance(target, Redaction):
            return erasure_of_text(target, layout, [*survey.files, *files], versions)
        is_entry = layout.is_entry
        contents = {(path, blob_id(data)): data for path, data in versions if is_entry(path)}
        now = {path: blob_id(data) for path, data in on_disk.items() if is_entry(path)}
        path_now, is_place = None, False
        with suppress(NotFound):
            entry = entry_called(self._session.look(lambda now: now.whole.entries), target)
            path_now, is_place = entry.path, is_place_of(entry, target)
        erasure = erasure_of_entry(target, contents, self._lives(survey, contents, now), now, path_now, is_place)
        if erasure is None:
            raise NotFound(f"no fact was ever called {target}; `crabmem purge --text` purges any text")
        everywhere = [(path, blob) for path, held in survey.files.items() for blob in held]
        going = {blob for path, blob in everywhere if erasure.new_path(path, blob) is None}
        staying = {blob for path, blob in everywhere if erasure.new_path(path, blob) is not None}
        return replace(erasure, blobs=frozenset(going - staying))

    def _lives(self, survey: Survey, versions: Mapping[Version, bytes], now: Mapping[str, str]) -> Lives:
        """Return the lives of all entries: in all commits, then in Git's index and on disk (`now`, blobs by path).

        What is staged or on disk counts as one more commit on the head.
        """
        is_entry = self._workspace.layout.is_entry

        def said(version: Version) -> tuple[str, bytes]:
            entry = entry_in(version[0], versions[version])
            return (name_key(entry.name), f"{entry.content}\n".encode()) if entry else ("", versions[version])

        def likeness(old: Version, new: Version) -> float:
            (name, text), (new_name, new_text) = said(old), said(new)
            return 1.0 if name and name == new_name else similarity(text, new_text)

        lives = Lives(likeness)
        for oid in survey.commits:
            commit = self._history.commit(oid, with_paths=False)
            sides = self._history.changes.sides(oid)
            lives.add(
                [{path: (before, after) for path, before, after in side if is_entry(path)} for side in sides],
                commit.renamed,
            )
        head = self._history.files(self._history.head())
        gone = {path: (head[path], None) for path in filter(is_entry, head) if path not in now}
        staged = ((path, blob) for path, held in survey.files.items() if is_entry(path) for blob in held)
        for path, blob in (*staged, *now.items()):
            if not lives.knows((path, blob)):
                lives.add([{**gone, path: (head.get(path), blob)}])
        return lives

    # The files of the workspace

    def _files(self, rewrite: RepositoryRewrite) -> _Files:
        """Read the files that Git's index has, or that stand where memory does."""
        root = self._workspace.root
        below = (item for folder in _folders_below(root) for item in folder.iterdir() if item.name != ".git")
        paths = (file.relative_to(root).as_posix() for file in below if file.is_file() and not file.is_symlink())
        return {
            path: self._read(path)
            for path in {*rewrite.staged(), *filter(self._workspace.layout.is_within, paths)}
            if path.isprintable()  # which lone surrogates are not: such a name is not UTF-8
        }

    def _check_readable(self, paths: Iterable[str]) -> None:
        """Refuse to purge while a file cannot be read: its text would stay, and be recorded again.

        Raises:
            Unreadable: naming the files, and the way out.
        """
        refused = list[str]()
        for path in sorted(paths):
            try:
                with fs.inside(self._workspace.root, path) as spot:
                    fs.read(spot, limit=_TOO_LARGE)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except fs.NotAFile as error:
                if error.errno == errno.EFBIG and self._workspace.layout.is_within(path):
                    refused.append(f"{path} is larger than {_TOO_LARGE // 1_000_000} MB: move it away")
            except OSError as error:
                refused.append(f"{path} cannot be read: {fs.reason(error)}")
        if refused:
            more = f"; {len(refused) - _NAMED:,} more cannot be read either" if len(refused) > _NAMED else ""
            raise Unreadable(
                f"{'; '.join(refused[:_NAMED])}{more}; nothing was purged, for it may stand there: purge again then"
            )

    def _read(self, path: str) -> tuple[bytes, int] | None:
        """Return the bytes and mode of a regular file; None for anything else."""
        with suppress(OSError), fs.inside(self._workspace.root, path) as spot:
            data, status = fs.read(spot)
            return data, status.st_mode & 0o777
        return None

    def _leftovers(self, files: _Files, changes: Iterable[FileChange], erasure: Erasure) -> Iterator[FileChange]:
        """Yield, as removals, the copies by editors that hold it, or that belong to a file which changes."""
        file = self._workspace.file
        changed = {file(change.path) for change in changes if change.was}
        beside = {left for each in changed for left in left_beside(each.parent, glob.escape(each.name))}
        for left in self._beside(files):
            path = self._path(left)
            read = self._read(path)
            if read and (left in beside or erasure.is_in_file(read[0]) or erasure.is_in_name(path)):
                yield FileChange(path, blob_id(read[0]), None, read[1])

    def _remove_empty(self, erasure: Erasure) -> None:
        """Remove the folders of memory whose paths hold it, if they are empty: their files were moved or removed."""
        for folder in reversed([*_folders_below(self._workspace.root)][1:]):
            path = self._path(folder)
            if self._workspace.layout.may_hold_files(path) and erasure.is_in_name(path):
                with suppress(OSError):  # it is not empty
                    fs.remove_folder(folder)

    def _beside(self, files: _Files) -> list[Path]:
        folders = sorted({self._workspace.file(path).parent for path in files})
        return [left for folder in folders for left in sorted(left_beside(folder, "*"))]

    def _path(self, file: Path) -> str:
        return file.relative_to(self._workspace.root).as_posix()

    def _recovered(self, erasure: Erasure) -> list[str]:
        """Return the paths in `.git` of the texts that were recovered from unknown saves and hold it."""
        files = (file for file in (self._workspace.private / state.RECOVERED).glob("*") if file.is_file())
        held = (file for file in files if erasure.is_in_file(fs.read(file, limit=fs.LARGE)[0]))
        return [file.relative_to(self._workspace.git).as_posix() for file in held]

    # Whether it still stands anywhere

    def _verify(self, erasure: Erasure) -> Standing:
        """Inspect every object and file, those of repositories inside the workspace too."""
        beside, unread = self._held_beside(erasure)
        looks = [self._verify_here(erasure), *self._verify_inside(erasure), Standing(0, 0, 0, (), unread)]
        return replace(_sum(looks), beside=beside)

    def _held_beside(self, erasure: Erasure) -> tuple[dict[str, int], tuple[str, ...]]:
        """Return how many files of each other memory that the session sees hold it now, and which were not read."""

        def held(now: Snapshot) -> int:
            return sum(erasure.is_in_name(path) or erasure.is_in_file(now.read(path) or b"") for path in now.files)

        rules, found, unread = self._session.settings, dict[str, int](), list[str]()
        if not self._engine.sees_others(rules):
            return {}, ()
        for other in others(self._session).values():
            try:
                found[str(other.root)] = other.look(held)
            except CrabmemError as error:
                unread.append(f"the memory in {other.root}: {error}")
        unread += (f"a memory that is seen here: {problem}" for problem in self._engine.scopes.faults(rules))
        return found, tuple(unread)

    def _verify_here(self, erasure: Erasure) -> Standing:
        """Inspect the objects, Git's files and the files of this workspace, without repositories inside it."""

        def is_in(data: bytes, path: str) -> bool:
            return erasure.is_in_file(data) or erasure.new_path(path, blob_id(data)) is None

        objects = self._history.rewrite().inspect_objects(erasure)
        files = _inspect_below(self._workspace.root, erasure, is_in)
        look = _standing(objects, [*inspect_git_files(erasure, self._workspace.git), *files])
        return replace(look, places=self._located(look.places))

    def _located(self, places: Iterable[str]) -> tuple[str, ...]:
        """Return the places, each blob with its path and its first commit where a reference reaches it."""
        located = {place: place for place in places}
        blobs = {place.removeprefix(_BLOB) for place in located if place.startswith(_BLOB)}
        with suppress(CrabmemError):  # their ids name them all the same
            for oid in self._history.rewrite().survey().commits if blobs else ():
                for path, _, after in self._history.changes.of(oid):
                    if after and (digits := after[:_DIGITS]) in blobs:
                        blobs.remove(digits)
                        located[_BLOB + digits] = f"{path} in commit {short(oid)} ({_BLOB}{digits})"
        return tuple(located.values())

    def _verify_in(self, folder: Path, erasure: Erasure) -> Standing:
        """Inspect a repository inside the workspace, such as an agent's own. Its places say "NAME (history and files)".

        Of an entry only its texts are looked for, not its name: an entry of somebody else may have the same one. What
        cannot be inspected is a place, too, as it may hold it.
        """
        name = folder.relative_to(self._workspace.root).as_posix()
        git = folder / ".git" if os.path.lexists(folder / ".git") else folder

        def not_looked_into(why: str) -> Standing:
            return Standing(0, 0, 0, (f"{name} (its history {why})",))

        if not git.is_dir():
            return not_looked_into("lies elsewhere and was not looked into")
        try:
            form = foreign_format(git)
        except DamagedHistory as error:
            return not_looked_into(f"was not looked into: {error}")
        if form:
            return not_looked_into(f"is kept as {form} and was not looked into")
        history = Objects(git / "objects")
        if not erasure.contents:
            erasure = replace(erasure, messages=NO_REDACTION)
        try:
            objects = list(inspect_objects(erasure, history))
            own = list(inspect_git_files(erasure, git))
        except OSError as error:
            return not_looked_into(f"was not looked into: {fs.reason(error)}")
        except DamagedHistory:
            return not_looked_into("is damaged and was not looked into")
        finally:
            history.close()
        below = _inspect_below(folder, erasure, lambda data, path: erasure.is_in_file(data))
        files = list(below) if git != folder else []
        kinds = {
            "name": erasure.is_in_name(name),
            "history": any(look.place for look in [*objects, *own]),
            "files": any(look.place for look in files),
        }
        held = [kind for kind, is_in in kinds.items() if is_in]
        places = [f"{name} ({' and '.join(held)})"] if held else []
        if (git / "objects/info/alternates").exists():
            places.append(f"{name} (it borrows objects from elsewhere, which were not looked into)")
        look = _standing(objects, [*own, *files])
        unread, unreadable = ([f"{name}/{each}" for each in some] for some in (look.unread, look.unreadable))
        return replace(look, places=tuple(places), unread=tuple(unread), unreadable=tuple(unreadable))

    def _verify_inside(self, erasure: Erasure) -> list[Standing]:
        return [self._verify_in(folder, erasure) for folder in self._repositories()]

    def _nested(self, erasure: Erasure) -> tuple[str, ...]:
        return _places(self._verify_inside(erasure))

    def _repositories(self) -> list[Path]:
        """Return the folders inside the workspace, or inside its `.git`, that are repositories of their own."""
        root, git = self._workspace.root, self._workspace.git
        folders = [*_folders_below(root), *(_folders_below(git) if git.is_dir() else ())]
        return sorted(folder for folder in folders if folder not in (root, git) and _is_repository(folder))


def _target(name: str | None, text: str | None, pattern: str | None) -> str | Redaction:
    """Return what is to be purged: the name of an entry, or the redaction of a text or a pattern.

    Raises:
        InvalidArguments: not one of the three was given, or what was given cannot be looked for.
    """
    if sum(item is not None for item in (name, text, pattern)) != 1:
        raise InvalidArguments("say what to purge, by one of: the name of a fact, a text, a pattern")
    if text is not None:
        return by_text(text)
    return by_pattern(pattern) if pattern is not None else name or ""


def _report(plan: _Plan, rewrite: RepositoryRewrite, synced: str) -> Purge:
    """Return the report of a purge; `synced` is the address of the remote that the next sync rewrites, "" for none."""
    new, erasure, rewriter = plan.new, plan.erasure, plan.new.rewriter
    touched = rewriter.paths | {change.path for change in plan.changes}
    versions = [(path, blob) for path, held in new.survey.files.items() for blob in held]
    remotes = rewrite.remotes()
    return Purge(
        entries=erasure.entries,
        erased=tuple(sorted(path for path, new_path in erasure.paths.items() if new_path is None)),
        paths=tuple(sorted({erasure.paths.get(path, path) or path for path in touched})),
        commits=len(new.survey.commits),
        rewritten=new.rewritten(new.survey.commits),
        messages=rewriter.messages,
        versions=rewriter.versions or sum(erasure.new_path(path, blob) != path for path, blob in versions),
        refs=new.rewritten(new.refs.values()),
        signatures=rewriter.signatures,
        unreachable=new.unreachable,
        leftovers=len(plan.leftovers) + len(plan.recovered),
        copies=_copies(erasure, rewrite.versions(new.survey)) if not erasure.contents else {},
        remotes={name: remotes[name] for name in new.pushed if not synced or remotes[name] != synced},
        unknown={name: url for name, url in remotes.items() if name not in new.pushed and url != synced},
        syncs_with=synced if any(remotes[name] == synced for name in new.pushed) else "",
    )


def _copies(erasure: Erasure, versions: Iterable[tuple[str, bytes]]) -> dict[str, int]:
    """Return the files that stay and quote an entry that goes: the most of its lines in any version, 0 for its name."""
    quoting: dict[str, int] = {}
    for path, data in versions:
        if erasure.new_path(path, blob_id(data)) and (lines := erasure.quoted_in(data)) is not None:
            quoting[path] = max(lines, quoting.get(path, 0))
    return dict(sorted(quoting.items()))


def _on_disk(files: _Files) -> dict[str, bytes]:
    return {path: file[0] for path, file in files.items() if file}


def _changes(path: str, file: tuple[bytes, int] | None, erasure: Erasure) -> Iterator[FileChange]:
    """Yield how one file on disk changes: removed, moved (made at the new path first), redacted, or not at all."""
    if file is None:
        return
    data, mode = file
    new_path, bare = erasure.new_path(path, blob_id(data)), erasure.new_file(path, data)
    if new_path is None:
        yield FileChange(path, blob_id(data), None, mode)
    elif new_path != path:
        yield FileChange(new_path, None, bare, mode)
        yield FileChange(path, blob_id(data), None, mode)
    elif bare != data:
        yield FileChange(path, blob_id(data), bare, mode)


def _inspect_below(root: Path, erasure: Erasure, is_in: Callable[[bytes, str], bool]) -> Iterator[Inspection]:
    """Inspect the files, links and empty folders below a folder, without those of repositories inside it.

    `is_in` is given the bytes and the path of a file, and returns whether the file holds it.
    """
    folders = _folders_below(root, lambda folder: not _is_repository(folder))
    for item in sorted(item for folder in folders for item in folder.iterdir() if item.name != ".git"):
        path = item.relative_to(root).as_posix()
        yield from inspect_file(item, path, erasure, is_in, _TOO_LARGE)


def _standing(objects: Iterable[Inspection], files: Iterable[Inspection]) -> Standing:
    """Return the sum of inspections of Git's objects and of files, which are counted apart."""
    objects, files = list(objects), list(files)
    looks = [*objects, *files]
    places = tuple(look.place for look in looks if look.place)
    unread = tuple(look.unread for look in looks if look.unread)
    unreadable = tuple(look.unread for look in looks if look.unread and look.is_refused)
    return Standing(len(objects), len(files), sum(look.size for look in looks), places, unread, unreadable)


def _sum(parts: Iterable[Standing]) -> Standing:
    parts = list(parts)
    return Standing(
        objects=sum(part.objects for part in parts),
        files=sum(part.files for part in parts),
        size=sum(part.size for part in parts),
        places=_places(parts),
        unread=tuple(place for part in parts for place in part.unread),
        unreadable=tuple(place for part in parts for place in part.unreadable),
    )


def _places(parts: Iterable[Standing]) -> tuple[str, ...]:
    return tuple(place for part in parts for place in part.places)


def _folders_below(folder: Path, enters: Callable[[Path], bool] = lambda folder: True) -> Iterator[Path]:
    """Yield a folder and the folders below it that `enters` accepts; follow no link, and enter no `.git`."""
    waiting = [folder]
    while waiting:
        yield (each := waiting.pop())
        below = (item for item in each.iterdir() if item.is_dir() and not item.is_symlink() and item.name != ".git")
        waiting += filter(enters, below)


def _is_repository(folder: Path) -> bool:
    """Return whether a folder has a repository, or is a bare one, whatever it is called."""
    is_bare = (folder / "HEAD").is_file() and all((folder / name).is_dir() for name in ("objects", "refs"))
    return is_bare or os.path.lexists(folder / ".git")


@contextmanager
def _all_readable() -> Iterator[None]:
    """Raise `Unreadable`, naming the file or folder, for a PermissionError in the block.

    A file that may not be read could hold what is purged, so that nobody could say it is gone.
    """
    try:
        yield
    except PermissionError as error:
        raise Unreadable(f"{error.filename} cannot be read: {fs.reason(error)}") from None
