"""What was: the states of memory by moment, and what lies between them. Changes nothing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain

from ..disk.scan import File, Scan
from ..errors import DamagedHistory, NotFound, Stale
from ..results import Commit
from ..text.edit import lenient_text, unified_diff
from ..text.entry import MAX_NAME, entry_in
from ..text.hashes import VERSION_DIGITS, blob_id
from ..text.slug import name_key, slug_of
from ..text.times import local, parse_time
from ..workspace.layout import Layout
from ..workspace.workspace import Workspace
from .history import History

_DIGITS = 4
_VERSION = re.compile(rf"[0-9a-f]{{{_DIGITS},40}}")
_SURROGATE = re.compile("[\ud800-\udfff]")

#: A state of the files: the blob of each, None for one that is not to be there.
State = Mapping[str, str | None]


# An empty moment, as a shell has it.
_EMPTY = "''"


class TooEarly(NotFound):
    """The moment lies before the first commit."""


class Timeline:
    """The past of one workspace, as `history` has it. `clock` returns the present, for times such as "2 days ago".

    With `any_revision` a revision may be any commit of the repository. Without, it must be in memory's own history: all
    others are reported as not found, so that agents learn nothing about a project's commits.
    """

    def __init__(
        self, history: History, layout: Layout, clock: Callable[[], datetime], any_revision: bool = False
    ) -> None:
        self.history = history
        self._layout = layout
        self._clock = clock
        self._any_revision = any_revision

    def head(self) -> str | None:
        """Return the newest commit; None when there is no history yet."""
        return self.history.head_if_any()

    def commit_at(self, when: str, is_end: bool = True) -> str:
        """Return the commit that a revision or time names; a date is the end of that day, without `is_end` its start.

        Raises:
            NotFound: it names none, or the history begins later.
        """
        if self.head() is None:
            raise NotFound(f"no revision named {when.strip() or _EMPTY}: the memory has no history yet")
        try:
            return self.history.resolve(when, self._any_revision)
        except NotFound:
            time = self._time(when, is_end)
        commit = self.history.at(time, self._clock())
        if commit is None:
            here = local(time, self._clock().tzinfo)
            raise TooEarly(f"the history begins after {here:%Y-%m-%d %H:%M}; `crabmem log` lists it")
        return commit

    def moment(self, when: str, is_end: bool = True) -> str:
        """Return a revision or time as an ISO time, for use in other memories; a revision's is that of its commit.

        In another memory an id or `HEAD~1` means something else, or nothing.

        Raises:
            NotFound: `when` is neither a revision nor a time.
        """
        try:
            time = self.history.time(self.history.resolve(when, self._any_revision))
        except NotFound:
            time = self._time(when, is_end)
        return time.isoformat()

    def _time(self, when: str, is_end: bool) -> datetime:
        time = parse_time(when, self._clock(), is_end)
        if time is None:
            forms = "a day as 2026-03-14, a time as '2026-03-14 09:00', today, 'last Tuesday', or '2 days ago'"
            raise NotFound(f"no revision named {when.strip() or _EMPTY}; give a commit of `crabmem log`, {forms}")
        return time

    def before(self, when: str, is_end: bool = False) -> str | None:
        """Return the commit that a revision or time names; None when the history begins later. A date is its beginning.

        Raises:
            NotFound: it names none.
        """
        try:
            return self.commit_at(when, is_end)
        except TooEarly:
            return None

    def state_since(self, when: str | None, latest: str | None = None, is_end: bool = False) -> dict[str, str]:
        """Return the files at a revision or time; None is the newest commit.

        Return no files if the history begins later. If the commit `latest` is older than `when`, return its files.
        """
        commit = self.head() if when is None else self.before(when, is_end)
        return self.state_of(commit and self._no_later(commit, latest))

    def state_of(self, commit: str | None) -> dict[str, str]:
        """Return the files at a commit that can be put back; none for None."""
        return {path: blob for path, blob in self.history.files(commit).items() if self.is_restorable(path)}

    def entries_id(self, commit: str) -> str:
        """Return an id of all recalled files of a commit, the same for the same files; "" if there are none.

        Folders that hold nothing else are compared by the ids of their trees, without listing them.
        """
        whole = set(self._layout.entries) - self._layout.mixed
        folders = [self.history.folder(commit, path) for path in self._layout.entries if path in whole]
        beside = sorted(self._recalled_in(commit, set(self._layout.recalled) - whole).items())
        parts = "\n".join([*filter(None, folders), *(f"{blob} {path}" for path, blob in beside)])
        return blob_id(parts.encode()) if beside or len(folders) > 1 else parts

    def entries_at(self, commit: str) -> dict[str, str]:
        """Return the files at a commit that are recalled, path and blob."""
        return self._recalled_in(commit, self._layout.recalled)

    def _recalled_in(self, commit: str, folders: Iterable[str]) -> dict[str, str]:
        """Return path and blob of each recalled file in some folders of a commit; subfolders only below entries."""
        with_folders = self._layout.entries[:1] if self._layout.has_folders else ()
        files = (self.history.files_in(commit, folder, folder in with_folders).items() for folder in folders)
        found = chain.from_iterable(files)
        return {path: blob for path, blob in found if self._layout.is_recalled(path) and self.is_restorable(path)}

    def is_restorable(self, path: str) -> bool:
        """Return whether a file of the history can be put back: it is memory, and its name is a text."""
        return self._layout.is_kept(path) and not _SURROGATE.search(path)

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file at a commit; None when there is none."""
        blob = self.history.file(commit, path)
        return self.history.blob(blob) if blob else None

    def file_of(self, other: Workspace, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file of another workspace at the time of a commit of this one; None for no file."""
        time = self.history.time(commit)
        history = History(other)
        try:
            then = history.at(time, self._clock()) if history.place.exists() else None
            return Timeline(history, other.layout, self._clock).file(then, path) if then else None
        finally:
            history.close()

    def _no_later(self, commit: str, latest: str | None) -> str:
        """Return `commit`, or `latest` where that is before it on the way to the head."""
        head = self.head()
        if latest is None or head is None:
            return commit
        line = self.history.line(head)
        place, last = line.place(commit), line.place(latest)
        return latest if place is not None and last is not None and place > last else commit

    def commits(
        self, path: str | None, since: str | None, until: str | None, accept: Callable[[Commit], bool] | None = None
    ) -> Iterator[Commit]:
        """Return the commits after `since` and not after `until`, newest first, that `accept` takes, touching `path`.

        Raises:
            NotFound: one of them is no revision or time.
        """
        start, without = self.commit_at(until) if until else self.head(), self.before(since) if since else None
        return self.history.commits(start, without, path, accept) if start else iter(())

    def last_path(self, name: str, allows: Callable[[str], bool]) -> str | None:
        """Return the last path of the entry with this name, slug or path, gone or not; None if there never was one.

        Look first for a file at the path `name`, then for a commit that names the entry, and that changed only files
        that `allows` lets be seen, then for a file called by the slug.
        """
        key = name_key(name)
        if self.head() is None:
            return None
        if self._layout.is_entry(name) and next(self.history.commits(path=name), None):
            return name
        own = self._layout.places(slug_of(name[:MAX_NAME]))
        about = self.history.commits(accept=lambda commit: key in map(name_key, commit.entries))
        paths = (path for commit in about if all(map(allows, commit.paths)) for path in self._called(commit, key))
        written = (path for path in own if next(self.history.commits(path=path), None))
        return next(paths, None) or next(written, None) or self._last_in_folder(name)

    def _called(self, commit: Commit, key: str) -> Sequence[str]:
        """Return the paths of entries that a commit changed: of a rename only the new path; of several entries only
        those whose text there, or before it, has the name with that key."""
        paths = commit.renamed[1:] if commit.renamed else tuple(filter(self._layout.is_entry, commit.paths))
        if len(paths) < 2:
            return paths
        before = self.history.parent(commit.commit)
        texts = ((path, at and self.file(at, path)) for path in paths for at in (commit.commit, before))
        found = ((path, text and entry_in(path, text)) for path, text in texts)
        return [path for path, entry in found if entry and name_key(entry.name) == key]

    def _last_in_folder(self, name: str) -> str | None:
        """Return the newest path of a file with this name or slug in a subfolder for entries; None if there is none."""
        ends = {f"/{name_key(name).removesuffix('.md')}.md", f"/{slug_of(name[:MAX_NAME])}.md"}
        paths = (path for commit in self.history.commits() for path in commit.paths)
        called_so = (path for path in paths if any(f"/{name_key(path)}".endswith(end) for end in ends))
        return next(filter(self._layout.is_entry, called_so), None) if self._layout.has_folders else None

    def places(self, path: str, commit: str) -> set[str]:
        """Return the paths of the file, now at `path`, just after and just before a commit that touches it."""
        at = self.path_at(path, commit)
        return {at, self.history.changes.path_before(commit, at)}

    def path_at(self, path: str, commit: str) -> str:
        """Return where the file at `path` was at a commit: elsewhere, if it was moved since."""
        for oid, at in self.history.changes.followed(self.history.ids(commit), path):
            path = self.history.changes.path_before(oid, at)
        return path

    def origin(self, path: str, commit: str | None) -> Commit | None:
        """Return the newest commit before `commit` that wrote the file at `path`; None if none did.

        With `commit` None it is looked for from the head on, inclusive.
        """
        start = self.history.parent(commit) if commit else self.history.head()
        return next(self.history.commits(start, path=path), None) if start else None

    def check_version(self, path: str, file: File | None, expected: str | None, sees: Callable[[str], bool]) -> None:
        """Refuse to overwrite a text that the caller has not seen.

        `expected` is the beginning of the blob id of the version that the caller read; None skips the check, "" means
        that the caller expects no file. `sees` says which paths the caller may read: the error's diff quotes an earlier
        version only from these.

        Raises:
            Stale: `file` is not at version `expected`.
        """
        if (
            expected is None
            or (not expected and not file)
            or (file and len(expected) >= _DIGITS and file.blob.startswith(expected.lower()))
        ):
            return
        current, version = (lenient_text(file.data) or "", file.blob[:VERSION_DIGITS]) if file else ("", "")
        known = self._version_of(path, expected.lower(), sees)
        gone = "is not there any more" if known is not None else "is not there"
        state = f"was changed since version {expected}: it is now at version {version}" if file else gone
        if file and not expected:
            state = f"is there already: name its version, {version}, as if_version"
        raise Stale(
            f"{path} {state}; read it again and repeat your change",
            current=current,
            version=version,
            diff=partial(unified_diff, lenient_text(known), current, path) if known is not None else str,
        )

    def _version_of(self, path: str, version: str, sees: Callable[[str], bool]) -> bytes | None:
        """Return the bytes of an earlier version of the file at `path`, also from before a move; None if not found.

        Only the file's own versions are searched: an agent that guesses beginnings of ids must not learn which other
        objects are in `.git`.
        """
        if not _VERSION.fullmatch(version) or self.head() is None:
            return None
        with suppress(DamagedHistory):  # the caller is told of the new version all the same
            for commit, at in self.history.changes.followed(self.history.ids(), path):
                if not (self.is_restorable(at) and sees(at)):
                    return None
                blob = self.history.file(commit, at)
                if blob and blob.startswith(version):
                    return self.history.blob(blob)
        return None

    def diff(self, before: State, after: State, scan: Scan) -> str:
        """Return the unified diff of two states. Blobs that are on the disk now are read there, through `scan`."""
        differing = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        return "".join(
            unified_diff(self._text(path, before.get(path), scan), self._text(path, after.get(path), scan), path)
            for path in differing
        )

    def _text(self, path: str, blob: str | None, scan: Scan) -> str | None:
        file = scan.files.get(path)
        if blob is None:
            return None
        return lenient_text(scan.data(path) if file and file.blob == blob else self.history.blob(blob))


def state_on_disk(scan: Scan, before: State) -> State:
    """Return the files on disk as a state; files that cannot be read count as unchanged since `before`."""
    unusable = {item.path: before.get(item.path) for item in scan.unusable}
    return {path: file.blob for path, file in scan.files.items()} | unusable


def limited(state: State, only: Iterable[str] | None) -> State:
    """Return `state` with the files at `only` alone; all of it for None."""
    return state if only is None else {path: state.get(path) for path in only}
