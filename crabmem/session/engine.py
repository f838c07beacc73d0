"""The parts of one workspace that is open: every session on it shares them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from ..disk import derived, fs
from ..disk import state as state_files
from ..disk.allowed import Allowed
from ..disk.fork_lock import loading
from ..disk.redo_log import is_by, is_of_now
from ..disk.store import Store, usable_folder
from ..disk.user_state import key_in, state_path
from ..errors import CrabmemError, DeniedHistory, InvalidSettings, Moved
from ..text.addresses import parted
from ..text.hashes import blob_id
from ..text.sources import SOURCES
from ..text.values import once, replace, value
from ..workspace import settings
from ..workspace.layout import DEFAULT, LAYOUTS, ORDINARY, PROJECT, SETTINGS
from ..workspace.settings import Settings
from ..workspace.workspace import PROJECTS, Workspace
from .locate import places_at, profile_at, workspace_at

TYPE_CHECKING = False
if TYPE_CHECKING:  # a session that only recalls has no use for the other parts, nor the time to load them
    from collections.abc import Callable, Mapping
    from datetime import date, datetime
    from typing import TypeAlias

    from ..disk.pause import Pause
    from ..disk.scan import Scan
    from ..disk.turns import Turns
    from ..embeddings.embedder import Embedder
    from ..embeddings.text_vectors import TextVectors
    from ..git.history import History
    from ..git.timeline import Timeline
    from ..git.upkeep import Upkeep
    from ..recall.catalog import Catalog, Progress
    from ..recall.elsewhere import Elsewhere
    from ..recall.entries import EntrySource
    from ..recall.file_search import Files, Searcher
    from ..recall.headers import Headers
    from ..recall.hybrid import Meaning
    from ..recall.past_entries import PastEntries
    from ..recall.ranking import Ranking
    from ..recall.sections import Search
    from ..recall.use_log import ReadLog, UseLog
    from ..results import Proposal, SourceState
    from ..search import Index
    from ..text.entry import Entry
    from ..write.writer import Writer
    from .scopes import Scopes
    from .sources import Sources
    from .view import View

    #: Settings, and the message about their unknown keys; "" if all keys are known.
    KnownSettings: TypeAlias = tuple[Settings, str]
    #: Given a question, returns the `Ranking` that orders its answers by meaning as well as by words.
    Ranker: TypeAlias = Callable[[str], Ranking]

# Parsed settings that are kept: a look at the past meets other versions of the file.
_MAX_SETTINGS = 64
# Indexes without hidden files that are kept: entries and sections, for two kinds of sessions.
_MAX_SEEN = 4


@value
class Options:
    """How a workspace is opened; `soul_editable`, `embedder` and `profile` override its settings.

    `progress(done, total)` counts the entries that must be read before recall can answer. `is_parent_named`: a person
    named the folder around an agent's own as the workspace, so it counts as one even before crabmem has written to it.
    `is_brief`: the process does one thing and ends, so later checks for a moved workspace can be skipped. `is_alone`:
    no other memory is seen beside this one. `project` is the folder in which the session works and to whose files
    `sources` refer; "" for none.
    """

    soul_editable: bool | None = None
    progress: Progress | None = None
    embedder: Embedder | None = None
    profile: str | None = None
    is_parent_named: bool = False
    is_brief: bool = False
    is_alone: bool = False
    project: str = ""


#: Override none of the workspace's settings.
USUAL = Options()


class Engine:
    """Holds a workspace open: its files, its history, its indexes, its writer. Knows nobody who reads or writes."""

    def __init__(
        self,
        root: Path | str,
        clock: Callable[[], datetime],
        environment: Mapping[str, str] | None = None,
        options: Options = USUAL,
    ) -> None:
        """`clock` returns the local time. `environment` holds the service keys that settings name, and locates the
        folder in which this user's permissions are kept. Derived files of another user are removed.
        """
        self.environment = environment or {}
        self.clock = clock
        self.options = options
        self._state_path = state_path(self.environment, root)
        self.workspace = workspace = workspace_at(usable_folder(root), options.profile, self.allowed)
        self._settings: dict[str | None, KnownSettings] = {None: (Settings(), "")}
        self._fit: Settings | None = None
        self._seen: list[tuple[Index, View, Index]] = []
        self.store = Store(workspace, self.now_ns, self._known_marks)
        #: Scan taken over from another engine by `borrow`, used until a file proves to have changed; None: scan here.
        self.borrowed: Scan | None = None
        self._claim_caches()
        # Device and inode of the repository and of the workspace, to notice later that either was exchanged or moved.
        git = workspace.repository_folders[0]
        self._identities = None if os.path.islink(git) else fs.identity(git), fs.identity(workspace.folder)
        #: Cache of the proposals that wait for a person, by commit.
        self.proposed: dict[str, Proposal] = {}
        #: What `recover` had to repair, a line each.
        self.recovered: tuple[str, ...] = ()
        #: Why the history could not be read when that was last tried; "" when it could.
        self.denied = ""

    def _claim_caches(self) -> None:
        """Remove derived files (indexes, vectors) that carry no mark of this user, and mark the folder as theirs.

        They may come from a stranger, in a copied or unpacked folder, and recall would believe what they contain.
        """
        key, private = self._key, self.workspace.private_folder
        # `is_own_folder` first: do not read the mark through a link that leads elsewhere.
        if key is None or not (fs.is_own_folder(private) and derived.are_ours(private, key)):
            from ..disk.seal import claim_caches

            claim_caches(self.workspace.private, self._state)

    # Parts that are made when somebody first needs them

    @once
    def _key(self) -> bytes | None:
        """The secret key that marks this user's own files here; None if there was no key at the time of opening."""
        return key_in(self._state_path) if self._state_path else None

    @once
    def _state(self) -> Path | None:
        """This user's state folder, outside of every workspace; None if the environment names no home."""
        return Path(self._state_path) if self._state_path else None

    @once
    def allowed(self) -> Allowed:
        """What this user allowed on this machine."""
        return Allowed(self.environment)

    @once
    def catalog(self) -> Catalog:
        """The entries, and the index of their words."""
        from ..recall.catalog import Catalog

        return Catalog(self.workspace, self._language, self.options.progress)

    @once
    def meaning(self) -> Meaning:
        """Recall by meaning over the entries."""
        return self._meaning(state_files.VECTORS)

    @once
    def meaning_of_sections(self) -> Meaning:
        """Recall by meaning over the sections of searched files."""
        return self._meaning(state_files.SECTION_VECTORS)

    def _meaning(self, file: str) -> Meaning:
        from ..recall.hybrid import Meaning

        return Meaning(self.workspace, self.environment, self.clock, self.options.embedder, file)

    def is_meaning_wanted(self, rules: Settings) -> bool:
        """Whether an embedder was given or the settings name a model or service that makes vectors."""
        return self.options.embedder is not None or rules.vectors.are_wanted

    def is_meaning_at_hand(self, rules: Settings) -> bool:
        """Whether vectors are made without asking a service: by a local model or an embedder that was given."""
        return self.options.embedder is not None or (rules.vectors.are_wanted and not rules.vectors.url)

    @once
    def item_vectors(self) -> TextVectors:
        """The vectors of items of stores."""
        with loading():
            from ..embeddings.text_vectors import TextVectors
        return TextVectors(self.workspace.private, state_files.ITEM_VECTORS)

    @once
    def searcher(self) -> Searcher:
        """The index of the files that the profile has searched."""
        from ..recall.file_search import Searcher

        return Searcher(self.workspace)

    @once
    def elsewhere(self) -> Elsewhere:
        """The files outside of the workspace that are searched."""
        from ..recall.elsewhere import Elsewhere

        return Elsewhere(self.now_ns, self.workspace.folder)

    @once
    def scopes(self) -> Scopes:
        """The memories that are seen beside this one."""
        from .scopes import Scopes

        return Scopes(self)

    def sees_others(self, rules: Settings) -> bool:
        """Whether another memory may be seen beside this one: the person's, around a project's, or one in `also`.

        Cheap: it touches no disk, and spares most sessions loading `scopes`.
        """
        is_of_person = os.path.basename(os.path.dirname(self.workspace.folder)) == PROJECTS
        return not self.options.is_alone and (is_of_person or bool(rules.also))

    @once
    def headers(self) -> Headers:
        """The headers of entries, for lists."""
        from ..recall.headers import Headers

        return Headers(self.workspace)

    @once
    def history(self) -> History:
        """The history of the files."""
        from ..disk.seal import Seal, claim_caches
        from ..git.history import History

        def claim(private: Path) -> None:
            claim_caches(private, self._state)

        return History(self.workspace, Seal(self._state, "redo"), claim, self._identities)

    @once
    def past(self) -> Timeline:
        """Memory's own past, and no other branch."""
        return self.timeline(any_revision=False)

    @once
    def past_entries(self) -> PastEntries:
        """The entries at commits."""
        from ..recall.past_entries import PastEntries

        return PastEntries(self.workspace, self.past, self.catalog, self.history.blob)

    @once
    def writer(self) -> Writer:
        """The one way to write."""
        from ..disk.seal import Seal
        from ..write.recorder import Recorder
        from ..write.writer import Writer

        recorder = Recorder(self.workspace, self.store, self.history, self.clock, lambda: self.settings_now()[0])
        return Writer(recorder, Seal(self._state, "journal"))

    @once
    def turns(self) -> Turns:
        """The log of what was injected before each turn."""
        from ..disk.turns import Turns

        return Turns(self.workspace.private / state_files.TURNS)

    @once
    def uses(self) -> UseLog:
        """Which facts were used when."""
        from ..recall.use_log import UseLog

        return UseLog(self.workspace.private / state_files.USES)

    @once
    def reads(self) -> ReadLog:
        """When items of stores were put or read."""
        from ..recall.use_log import ReadLog

        return ReadLog(self.workspace.private / state_files.READS)

    @once
    def sources(self) -> Sources:
        """The sources of facts, in the project that the session works in."""
        from .sources import Sources

        return Sources(self.workspace, self.options.project)

    def sources_of(self, entry: Entry) -> tuple[SourceState, ...]:
        """The state of each source of an entry now; empty if it names no sources or the session is in no project.

        The path may be an address in another memory (`Together`): what this entry's sources mean depends on that.
        """
        if SOURCES not in entry.keys:
            return ()
        scope, path = parted(entry.path)
        return self.sources.of(entry, bool(path and "/" not in scope and scope != self.scopes.own))

    def stale_since(self, entry: Entry) -> str:
        """The entry's `stale_after` day (ISO) if it is past; else ""."""
        day = entry.stale_after
        return day if day and day < self.today().isoformat() else ""

    @once
    def upkeep(self) -> Upkeep:
        """Compacts the history in a process of its own when that is due."""
        from ..git.upkeep import Upkeep

        return Upkeep(self.workspace.root, self.history.is_compaction_due)

    def keep(self) -> None:
        """Save the index, the vectors and the other open memories for the next process, if enough has changed."""
        self.catalog.save()
        if self._is_made("meaning"):
            self.meaning.save()
        if self._is_made("scopes"):
            self.scopes.keep()

    def _is_made(self, part: str) -> bool:
        return part in self.__dict__

    def close(self, wait: bool = True) -> None:
        """Close all parts that were made, and save indexes and vectors for the next process.

        With `wait`, return only after background work that was begun here (compaction) has ended.
        """
        if self._is_made("upkeep"):
            self.upkeep.close(wait)
        if self._is_made("scopes"):
            self.scopes.close(wait)
        if self._is_made("catalog"):
            self.catalog.close()
        if self._is_made("meaning"):
            self.meaning.save(least=1)
        if self._is_made("item_vectors"):
            self.item_vectors.save()
        if self._is_made("searcher"):
            self.searcher.close()
        if self._is_made("meaning_of_sections"):
            self.meaning_of_sections.save(least=1)
        self.store.close()
        if self._is_made("history"):
            self.history.close()

    @property
    def profile_name(self) -> str:
        """What the profile is called: a name, or the path of its file."""
        return self.workspace.profile or DEFAULT

    def timeline(self, any_revision: bool) -> Timeline:
        """The past. With `any_revision`, accept revisions of any branch, not only of memory's own."""
        from ..git.timeline import Timeline

        return Timeline(self.history, self.workspace.layout, self.clock, any_revision)

    def today(self) -> date:
        """The day it is here."""
        return self.clock().date()

    def pause(self) -> Pause | None:
        """The pause that a person ordered on this machine; None if memory may speak unasked."""
        from ..disk.pause import read_pause

        return read_pause(self.workspace.private, self.clock())

    def now_ns(self) -> int:
        """The time in nanoseconds since 1970."""
        if machines := getattr(self.clock, "ns", None):
            return int(machines())
        return int(self.clock().timestamp() * 1_000_000_000)

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment.

        Set `recovered` to the repairs, and `denied` if the history cannot be read. A failed repair raises
        nothing, so that reading goes on.
        """
        if self._may_be_interrupted() and self.writer.is_interrupted():
            known = len(self.writer.repairs())
            try:
                self.writer.finish_interrupted()
                self.recovered = tuple(self.writer.repairs()[known:])
            except CrabmemError:
                pass  # the next write says what is wrong; reading goes on
        self.find_denied()

    def _may_be_interrupted(self) -> bool:
        """Whether the private folder shows traces of an unfinished write or purge, or of a power cut.

        Traces are a journal that is not empty, folders of a purge, or a redo log of ours from before the last start of
        the machine. Only `stat` calls and one head are needed, so that a read need not load the writer to find nothing.
        """
        folder = self.workspace.private_folder
        try:
            is_open = os.stat(f"{folder}/{state_files.JOURNAL}").st_size > 0
        except FileNotFoundError:
            is_open = False
        except OSError:
            return True
        log, key = f"{folder}/{state_files.REDO}", self._key
        is_lost = key is not None and fs.is_own_folder(folder) and not is_of_now(log) and is_by(log, key)
        beside = f"{self.workspace.folder}/{state_files.BESIDE}"
        left = f"{folder}/{state_files.PURGING}", f"{folder}/{state_files.PURGED}", beside
        return is_open or is_lost or any(map(os.path.lexists, left))

    def find_denied(self) -> str:
        """Why this user may not read the history, "" if they may. Also set `denied` to it."""
        if self.options.is_brief and not self.denied and all(map(_may_enter, self.workspace.repository_folders)):
            return ""  # the folders can be entered: spare a brief process loading the history
        try:
            self.history.place.exists()
            self.denied = ""
        except DeniedHistory as error:
            self.denied = str(error)
        except CrabmemError:
            self.denied = ""  # whoever asks the history learns of it
        return self.denied

    def check_not_moved(self) -> None:
        """Refuse to report a file as missing when in fact the workspace is gone.

        Raises:
            Moved: the workspace is no longer where it was opened.
        """
        git = self.workspace.repository_folders[0]
        if not self._is_made("history") and not os.path.islink(git) and fs.identity(git) == self._identities[0]:
            return
        try:
            self.history.place.exists()
        except Moved:
            raise
        except CrabmemError:
            return  # whoever asks the history learns of it

    def scan(self) -> Scan:
        """The files as they are now.

        Raises:
            Moved: no file was found, and the workspace is no longer where it was opened.
        """
        scan = self.borrowed or self.store.scan()
        if not scan.files:
            self.history.place.exists()
        return scan

    def follow(self, is_told: bool = False) -> None:
        """Bring the index in step with the files, and unless `is_told` save it.

        With `is_told`, look only at files whose changes the system has reported: quick, and enough until the next look.
        """
        self.catalog.listing(self.store.scan(is_told))
        if not is_told:
            self.keep()

    def borrow(self, other: Engine) -> bool:
        """Share the store and the catalog of another engine if it holds the same workspace; return whether it does.

        A process that answers for others lends its engine this way, so that no file is read again.
        """
        mine, theirs = (
            (each.workspace.folder, each.workspace.layout, each._identities, each._state_path) for each in (self, other)
        )
        if mine == theirs:
            self.store, self.catalog, self.borrowed = other.store, other.catalog, other.store.known
        return mine == theirs

    # Settings

    def settings_now(self) -> KnownSettings:
        """The settings in `crabmem.toml` now, and the fault in its unknown keys.

        Raises:
            InvalidSettings: a value is invalid, or profile or layout differ from those at the time of opening.
            Unreadable: `crabmem.toml` is no regular file, or too large.
        """
        data = self.store.read(SETTINGS) or b""
        return self._check_as_opened(*self._settings_in(blob_id(data), lambda: data))

    def settings_of(self, scan: Scan) -> KnownSettings:
        """`settings_now`, from the `crabmem.toml` of a scan: parsed again only if its blob is new."""
        return self._check_as_opened(*self._settings_in(scan.blob(SETTINGS), lambda: scan.data(SETTINGS)))

    def settings_at(self, commit: str) -> Settings:
        """The settings of a commit; the defaults if they cannot be read."""
        blob = self.history.file(commit, SETTINGS)
        try:
            return self._settings_in(blob, lambda: self.history.blob(blob) if blob else None)[0]
        except CrabmemError:
            return Settings()

    def _settings_in(self, blob: str | None, read: Callable[[], bytes | None]) -> KnownSettings:
        """The settings in a blob, cached by blob id; `read` is called only on a miss.

        $CRABMEM_PERSON replaces `person`: the file is shared by all who share the memory, the variable is not.
        """
        found = self._settings.get(blob)
        if found is None:
            found = settings.read_settings(read() or b"", os.path.join(self.workspace.folder, SETTINGS))
            if person := self.environment.get("CRABMEM_PERSON"):
                found = replace(found[0], person=person), found[1]
            self._settings[blob] = found
            for oldest in list(self._settings)[:-_MAX_SETTINGS]:  # a list: another thread may add one meanwhile
                self._settings.pop(oldest, None)
        return found

    def _check_as_opened(self, rules: Settings, problem: str) -> KnownSettings:
        """Return the settings if profile and layout are still those with which the workspace was opened.

        The layout decides which files are memory, so a process must not go on with another one. Settings that passed
        are kept in `_fit` and not checked again.

        Raises:
            InvalidSettings: profile or layout differ; the process has to be started again.
        """
        if rules is self._fit:  # every recall asks
            return rules, problem
        opened = self.workspace
        profile = opened.profile
        if self.options.profile is None:
            profile = profile_at(opened.folder, rules.profile, self.allowed)
        # A profile with a layout of its own overrides the setting `layout`: then ignore the setting.
        layout = rules.layout if opened.layout.name in LAYOUTS else opened.layout.name
        if opened.layout is PROJECT and layout == ORDINARY.name:  # the branch that is checked out has no settings
            layout = PROJECT.name
        for what, now, then in (("profile", profile, opened.profile), ("layout", layout, opened.layout.name)):
            if now != then:
                raise InvalidSettings(
                    f"{opened.file(SETTINGS)} says that the {what} is {now or 'the usual'}, and it was "
                    f"{then or 'the usual'} when this process opened the folder: start it again"
                )
        # An agent's workspace inherits the profile of the one around it, which may change: check again next time.
        self._fit = None if opened.around else rules
        return rules, problem

    def _language(self, scan: Scan) -> str:
        """The language by which recall stems words; the default if the settings cannot be read.

        Other callers of the settings report what is wrong with them.
        """
        try:
            return self.settings_of(scan)[0].language
        except CrabmemError:
            return Settings().language

    # Parents

    def parent(self) -> Workspace | None:
        """The workspace that gives an agent's own what this one lacks: the one a person named, else the one around it.

        None if this is no agent's workspace. The folder around it counts only if crabmem has written there or a person
        named it: otherwise it may be a stranger's.
        """
        around = self.workspace.around
        if around is None:
            return None
        beside = self.allowed.reach(self.workspace.root).parent
        place = Path(beside) if beside else around
        if fs.is_own_folder(Workspace(place).private):
            return workspace_at(place, self.options.profile, self.allowed)
        return None if beside or not self.options.is_parent_named else self._hand_made(place)

    def _hand_made(self, place: Path) -> Workspace | None:
        """The workspace in a folder to which crabmem has not written yet, if it holds any file of its profile.

        None if it holds none, or is a Git repository: that is a project's.
        """
        from ..prompt.profile import load_profile  # late: parents have a history, as a rule

        if os.path.lexists(place / ".git"):
            return None
        parent = workspace_at(place, self.options.profile, self.allowed)
        files = (part.file for part in load_profile(parent.profile or DEFAULT).part if part.file)
        paths = [SETTINGS, parent.layout.identity, parent.layout.overview, *map(parent.layout.named, files)]
        return parent if any(os.path.lexists(parent.file(path)) for path in paths) else None

    # Searching

    def files_elsewhere(self, rules: Settings, search: Search) -> Files:
        """The files outside of the workspace that are searched: named by profile or settings, and allowed by this user.

        Raises:
            InvalidSettings: the profile names a folder that the settings do not list.
        """
        from ..recall.file_search import NO_FILES

        if not (rules.extra_paths or rules.transcripts or search.extra_paths):
            return NO_FILES
        places, trouble = places_at(self.workspace.root, rules, search, self.allowed)
        return self.elsewhere.look(places, self.searcher.marks(), trouble)

    def index_for(self, view: View, index: Index) -> Index:
        """`index` without the documents that `view` hides, so that they affect neither scores nor duplicates.

        With a small cache, because sessions ask repeatedly with the same index and view.
        """
        if view.is_whole:
            return index
        for known, whose, seen in self._seen:
            if known is index and whose == view:
                return seen
        # The key of an entry is its path; that of a section of a file begins with it.
        hidden = [key for key in index.marks() if not view.allows(key.partition("\0")[0])]
        seen = index.updated(dict.fromkeys(hidden), may_join=False) if hidden else index
        self._seen = [(index, view, seen), *self._seen[: _MAX_SEEN - 1]]
        return seen

    def ranker(self, source: EntrySource, rules: Settings, meaning: Meaning | None = None) -> Ranker | None:
        """The ranker of answers by meaning as well as words; None if no embedder is configured.

        `meaning` must hold the vectors of `source`; None means those of entries.
        """
        if not self.is_meaning_wanted(rules):
            return None
        return lambda query: partial((meaning or self.meaning).rank, source, rules.vectors, query)

    def ranker_of_old(self, source: EntrySource, rules: Settings, meaning: Meaning | None = None) -> Ranker | None:
        """`ranker` for a moment of the past: its settings, with the key and timeout of today.

        None if today's settings name another provider, model or url: an old setting must not send texts to a service
        that is no longer configured.
        """
        now = self.settings_now()[0].vectors
        if not now.asks_like(rules.vectors):
            return None
        asked = replace(rules.vectors, key=now.key, timeout=now.timeout)
        return self.ranker(source, replace(rules, vectors=asked), meaning)

    def _known_marks(self) -> Mapping[str, bytes]:
        """The marks (stamp and blob id) of files that are indexed already, by path: the store need not read these."""
        entries = self.catalog.marks()
        return {**self.searcher.marks(), **entries} if self._is_made("searcher") else entries


def _may_enter(folder: str) -> bool:
    try:
        fs.check_folder(folder)
    except PermissionError:
        return False
    return True
