"""Memory: every operation once, a few lines each, over the parts below. Returns values, raises `CrabmemError`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from . import prompt, settings
from .catalog import Catalog, Listing, found, named
from .doctor import examined
from .edit import in_style_of, unified_diff
from .entry import Entry, Fact, check_text, checked, decoded, parsed, written
from .errors import Busy, Disabled, InvalidArguments, NotFound, Stale, Unwritable
from .history import Commit, History, Note, identity
from .moments import moment
from .results import Changed, Document, Finding, Forgotten, Recall, Restored, Saved
from .slug import free_slug, name_key
from .store import File, Scan, Store
from .version import VERSION_DIGITS, version_of
from .workspace import IDENTITY, OVERVIEW, SETTINGS, Workspace, entry_path, is_entry, is_kept
from .writer import Draft, Writer, Written

_LOCK_TIMEOUT = 10.0


@dataclass(frozen=True)
class Voice:
    """Who speaks: the agent and its session, as far as they are known."""

    agent: str | None = None
    session: str | None = None


class Memory:
    """An agent's handle on one workspace. Safe between threads; any number of processes may have one.

    Nothing is made on disk before the first write.
    """

    def __init__(
        self, root: Path, voice: Voice, clock: Callable[[], datetime], soul_editable: bool | None = None
    ) -> None:
        """`clock` tells the local time; `soul_editable` overrides the setting of that name."""
        self._workspace = Workspace(root.absolute())
        if self.root.exists() and not self.root.is_dir():
            raise InvalidArguments(f"{self.root} is a file; a workspace is a folder: name another with --dir")
        self._voice = voice
        self._clock = clock
        self._soul_editable = soul_editable
        self._store = Store(self._workspace, lambda: int(clock().timestamp() * 1_000_000_000))
        self._history = History(self._workspace.root, self._workspace.private)
        self._catalog = Catalog()
        self._writer = Writer(
            self._workspace, self._store, self._history, clock,
            person=lambda: self.settings.person, timeout=lambda: self.settings.lock_timeout,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files that reading the history has opened."""
        self._history.close()

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self._workspace.root

    @property
    def settings(self) -> settings.Settings:
        """The settings as `crabmem.toml` now says.

        Raises:
            InvalidSettings: it says something that cannot be.
        """
        data = self._store.read(SETTINGS) or b""
        return settings.parsed(decoded(SETTINGS, data), str(self._workspace.file(SETTINGS)))

    @property
    def soul_editable(self) -> bool:
        """Whether agents may write `Crab.md`."""
        return self.settings.soul_editable if self._soul_editable is None else self._soul_editable

    # Writing

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment."""
        if self._writer.is_interrupted():
            with suppress(Busy, Unwritable):
                self._writer.recover()

    def init(self) -> bool:
        """Make the workspace, with a `Crab.md` where nobody wrote one; False when it is there already."""
        if self._history.has_begun():
            return False
        self._writer.write(self._seed)
        return True

    def remember(
        self,
        name: str,
        description: str,
        content: str,
        *,
        aliases: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        if_version: str | None = None,
    ) -> Saved[Commit]:
        """Save a fact under its name, replacing the entry of that name.

        `aliases` and `tags` of None leave those there are. With `if_version` the entry must still
        be that version.

        Raises:
            InvalidArguments: something given cannot be kept.
            Stale: the entry is not at `if_version` any more.
        """
        fact = checked(Fact(name, description, content, _labels(aliases), _labels(tags)))

        def decide(scan: Scan) -> Draft:
            path = _path_for(fact.name, self._catalog.listing(scan), scan)
            file = scan.files.get(path)
            self._check_version(path, file, if_version)
            text = written(fact, decoded(path, file.data) if file else None)
            return Draft({path: text.encode()}, self._note("remember", fact.name))

        return self._saved(self._write(decide))

    def forget(self, name: str) -> Forgotten:
        """Remove the entry called `name` from memory; history keeps it.

        Raises:
            NotFound: there is none.
        """
        gone: list[Entry] = []

        def decide(scan: Scan) -> Draft:
            entry = found(self._catalog.listing(scan).entries, name)
            gone.append(entry)
            return Draft({entry.path: None}, self._note("forget", entry.name))

        self.get(name)
        commit = self._write(decide).commit
        return Forgotten(gone[-1].name, gone[-1].path, commit)

    def write_overview(self, content: str, if_version: str | None = None) -> Changed[Commit]:
        """Replace `memory/MEMORY.md`; with `if_version`, only if it still is that version."""
        return self._write_file(OVERVIEW, content, "memory", if_version)

    def write_identity(self, content: str, if_version: str | None = None) -> Changed[Commit]:
        """Replace `Crab.md`; with `if_version`, only if it still is that version.

        Raises:
            Disabled: the settings do not let agents do that.
        """
        if not self.soul_editable:
            raise Disabled(
                "writing Crab.md is disabled; a person may edit the file, or set soul_editable = true in crabmem.toml"
            )
        return self._write_file(IDENTITY, content, "soul", if_version)

    def adopt(self) -> Commit | None:
        """Record what was changed on disk from outside as a commit of the person; None when nothing was."""
        self.init()
        before = self._history.head()
        after = self._writer.adopt()
        return self._history.log(1, start=after)[0] if after and after != before else None

    # Reading: looks at the disk, takes no lock, changes nothing

    def recall(self, query: str, limit: int | None = None, tags: Sequence[str] = ()) -> Recall:
        """The entries that answer `query` best, at most `limit` (None: the setting), having all `tags`.

        Raises:
            InvalidArguments: a blank query, or a limit below 1.
        """
        if not query.strip():
            raise InvalidArguments("the query is blank; ask with the words the memory would use")
        if limit is not None and limit < 1:
            raise InvalidArguments(f"limit must be at least 1, not {limit}")
        return self._catalog.recall(self._listing(), query, limit or self.settings.recall_limit, tags)

    def get(self, name: str, at: str | None = None) -> Entry:
        """The entry called `name`, now or as it was at a revision or time.

        Raises:
            NotFound: there is none.
        """
        return found(self.entries(at), name)

    def entries(self, at: str | None = None) -> list[Entry]:
        """All entries in the order of their paths, now or as they were at a revision or time."""
        if at is None:
            return list(self._listing().entries)
        files = self._history.files(self._commit_at(at))
        return [parsed(path, self._history.blob(blob)) for path, blob in files.items() if is_entry(path)]

    def overview(self) -> Document:
        """`memory/MEMORY.md`; an agent's own workspace without one shows its parent's."""
        return self._document(OVERVIEW, inherited=True)

    def identity(self) -> Document:
        """`Crab.md`, else the parent's, else the text a new workspace begins with."""
        document = self._document(IDENTITY, inherited=True)
        return document if document.version else Document(IDENTITY, prompt.template("identity"), None)

    def before_turn(self, message: str) -> str:
        """What memory holds that bears on `message`, as a `<recall>` block; "" when it holds nothing.

        Changes nothing and is never called by crabmem itself: the host decides.
        """
        rules = self.settings.auto_recall
        query = " ".join(message.split()[: rules.words])
        hits = self.recall(query, rules.limit).hits if query else ()
        texts = [prompt.entry_text(hit.entry.name, hit.entry.description, hit.entry.content) for hit in hits]
        note = prompt.template("recall").strip()
        return prompt.block("recall", f"{note}\n\n{prompt.fitting(texts, rules.characters)}") if texts else ""

    # History

    def log(self, limit: int | None = None, name: str | None = None) -> list[Commit]:
        """The newest commits first; with `name`, those that touch that entry."""
        return self._history.log(limit, self.get(name).path if name else None) if self._history.exists() else []

    def diff(self, since: str | None = None, until: str | None = None, name: str | None = None) -> str:
        """What changed from `since` (None: the newest commit) to `until` (None: the files now), as a unified diff."""
        before = self._history.files(self._commit_at(since) if since else self._head())
        scan = self._store.scan()
        now = {path: file.blob for path, file in scan.files.items()}
        after = self._history.files(self._commit_at(until)) if until else now
        paths = [self.get(name).path] if name else sorted({*before, *after})
        return "".join(
            unified_diff(self._text(path, before.get(path), scan), self._text(path, after.get(path), scan), path)
            for path in paths
            if before.get(path) != after.get(path) and is_kept(path)
        )

    def rollback(self, to: str) -> Restored:
        """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

        Raises:
            NotFound: there is no such revision, or the history begins later.
        """
        commit = self._commit_at(to)
        files = {path: blob for path, blob in self._history.files(commit).items() if is_kept(path)}
        short = commit[:VERSION_DIGITS]
        words = f"to {short}" if commit.startswith(to) else f"to {to} ({short})"
        return self._restored(commit, lambda scan: dict.fromkeys(scan.files) | files, words)

    def undo(self) -> Restored:
        """Take back the newest commit as a new one; undoing again brings it back.

        Raises:
            InvalidArguments: there is nothing to undo, or its files were changed since.
        """
        last = self._head()
        before = self._history.parent(last) if last else None
        if last is None or before is None:
            raise InvalidArguments("there is nothing to undo")
        commit = self._history.log(1, start=last)[0]
        old, new = self._history.files(before), self._history.files(last)
        paths = [path for path in commit.paths if is_kept(path)]

        def wanted(scan: Scan) -> dict[str, str | None]:
            for path in paths:
                if (scan.files[path].blob if path in scan.files else None) != new.get(path):
                    raise InvalidArguments(f"{path} was changed since; `crabmem rollback --to` takes back all of it")
            return {path: old.get(path) for path in paths}

        return self._restored(before, wanted, f"undo {commit.subject}")

    def doctor(self) -> list[Finding]:
        """What is wrong or odd about the workspace, by file; nothing is changed."""
        return examined(self._workspace, self._store, self._history, self._writer, self._catalog, lambda: self.settings)

    # What the operations share

    def _write(self, decide: Callable[[Scan], Draft]) -> Written:
        self.init()
        return self._writer.write(decide)

    def _seed(self, scan: Scan) -> Draft:
        """The first commit: an identity, where neither the person nor a parent has one."""
        inherited = self._workspace.parent is not None
        seeds = {} if inherited or IDENTITY in scan.files else {IDENTITY: prompt.template("identity").encode()}
        return Draft(seeds, Note("init: a new memory", identity("crabmem")))

    def _write_file(self, path: str, content: str, tool: str, if_version: str | None) -> Changed[Commit]:
        check_text("content", content)

        def decide(scan: Scan) -> Draft:
            file = scan.files.get(path)
            self._check_version(path, file, if_version)
            text = in_style_of(content, decoded(path, file.data) if file else "")
            return Draft({path: text.encode()}, self._note(tool, path.rpartition("/")[2]))

        return self._changed(self._write(decide))

    def _restored(self, to: str, wanted: Callable[[Scan], Mapping[str, str | None]], words: str) -> Restored:
        """Write the blobs that `wanted` names by path (None: no file), and say what that changed."""

        def decide(scan: Scan) -> Draft:
            blobs = wanted(scan)
            changed = {path for path, blob in blobs.items() if blob != _blob(scan.files.get(path))}
            data = {path: self._history.blob(blob) if (blob := blobs[path]) else None for path in sorted(changed)}
            return Draft(data, self._note("rollback", words))

        done = self._write(decide)
        diff = "".join(unified_diff(_shown(done.before[path]), _shown(data), path) for path, data in done.after.items())
        return Restored(done.commit, to, tuple(done.after), diff)

    def _changed(self, done: Written) -> Changed[Commit]:
        """What a write of one file did."""
        [(path, data)] = done.after.items()
        before = done.before[path]
        diff = unified_diff(_shown(before), _shown(data), path)
        origin = partial(self._origin, path, done.commit)
        return Changed(path, version_of(data or b""), done.commit, before is None, diff, origin)

    def _saved(self, done: Written) -> Saved[Commit]:
        change = self._changed(done)
        entry = parsed(change.path, done.after[change.path] or b"")
        return Saved(**vars(change), entry=entry)

    def _origin(self, path: str, commit: str | None) -> Commit | None:
        """The commit that wrote what `commit` (None: the head, which changed nothing) found at `path`."""
        start = self._history.parent(commit) if commit else self._history.head()
        commits = self._history.log(1, path, start) if start else []
        return commits[0] if commits else None

    def _note(self, tool: str, what: str) -> Note:
        """The words of a commit. Going back in time is the person's doing unless an agent is named."""
        entry = what if tool in ("remember", "forget") else None
        author = self._voice.agent or (self.settings.person if tool == "rollback" else "agent")
        keys = {"Tool": tool, "Agent": self._voice.agent, "Session": self._voice.session, "Entry": entry}
        trailers = tuple((key, value) for key, value in keys.items() if value)
        return Note(f"{tool}: {what}", identity(author), trailers=trailers)

    def _check_version(self, path: str, file: File | None, expected: str | None) -> None:
        if expected is None or (file and file.blob.startswith(expected.lower()) and len(expected) >= 4):
            return
        current = _shown(file.data) if file else None
        known = self._history.text_of(expected)
        diff = unified_diff(_shown(known), current, path) if known is not None else ""
        state = f"it is now at version {file.blob[:VERSION_DIGITS]}" if file else "it is not there any more"
        raise Stale(
            f"{path} was changed since version {expected}: {state}; read it again and repeat your change",
            current or "", file.blob[:VERSION_DIGITS] if file else "", diff,
        )  # fmt: skip

    def _listing(self) -> Listing:
        return self._catalog.listing(self._store.scan())

    def _document(self, path: str, inherited: bool) -> Document:
        data = self._store.read(path)
        if data is not None:
            return Document(path, decoded(path, data), version_of(data))
        parent = self._workspace.parent if inherited else None
        if parent is None:
            return Document(path, "", None)
        return Memory(parent.root, self._voice, self._clock)._document(path, inherited)

    def _head(self) -> str | None:
        return self._history.head() if self._history.exists() else None

    def _commit_at(self, when: str) -> str:
        """The commit a revision or time names."""
        if self._head() is None:
            raise NotFound(f"no revision named {when}: the memory has no history yet")
        try:
            return self._history.resolve(when)
        except NotFound:
            time = moment(when, self._clock())
            if time is None:
                raise
            return self._history.at(time)

    def _text(self, path: str, blob: str | None, scan: Scan) -> str | None:
        """The text of a blob, from the disk when that holds it."""
        file = scan.files.get(path)
        if blob is None:
            return None
        return _shown(file.data if file and file.blob == blob else self._history.blob(blob))


def _path_for(name: str, listing: Listing, scan: Scan) -> str:
    """Where the fact called `name` goes: the entry of that name, else a file nobody has."""
    entry = named(listing.entries, name)
    if entry:
        return entry.path
    used = [path for path in (*scan.files, *(item.path for item in scan.unusable)) if is_entry(path)]
    return entry_path(free_slug(name, {name_key(PurePosixPath(path).stem) for path in used}))


def _labels(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if labels is None else tuple(labels)


def _shown(data: bytes | None) -> str | None:
    """Bytes as a diff shows them."""
    return None if data is None else data.decode("utf-8", "replace")


def _blob(file: File | None) -> str | None:
    return file.blob if file else None
