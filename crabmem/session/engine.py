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

    #: Settings, and what is wrong with the keys of them that are unknown; "" for nothing.
    KnownSettings: TypeAlias = tuple[Settings, str]
    #: Ranks the answers to a question, which it is given, by more than words.
    Ranker: TypeAlias = Callable[[str], Ranking]

# So many settings are remembered, for those who look back at moments that had others.
_MAX_SETTINGS = 64
# Indexes without what a session may not see: of entries and sections, for two kinds of sessions.
_MAX_SEEN = 4


@value
class Options:
    """How a workspace is opened; `soul_editable`, `embedder` and `profile` override its settings.

    `progress` is called with how many of the entries were read that have to be before recall can answer.
    `is_parent_named`: a person named the folder around an agent's own as the workspace, so that it is one before
    crabmem has written to it. `is_brief`: the process does one thing and ends, so that nobody asks later whether the
    workspace is still the same. `is_alone`: no other memory is seen beside it. `project` is the folder from which the
    session works, whose files sources name; "" for none.
    """

    soul_editable: bool | None = None
    progress: Progress | None = None
    embedder: Embedder | None = None
    profile: str | None = None
    is_parent_named: bool = False
    is_brief: bool = False
    is_alone: bool = False
    project: str = ""


#: Of a workspace that is opened as its settings say.
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
        """`clock` returns the local time; `environment` holds the keys that settings name, and says where it is kept
        what this user allowed them."""
        self.environment = environment or {}
        self.clock = clock
        self.options = options
        self._state_path = state_path(self.environment, root)
        self.workspace = workspace = workspace_at(usable_folder(root), options.profile, self.allowed)
        self._settings: dict[str | None, KnownSettings] = {None: (Settings(), "")}
        self._fit: Settings | None = None
        self._seen: list[tuple[Index, View, Index]] = []
        self.store = Store(workspace, self.now_ns, self._known_marks)
        #: The files as another engine knows them, until one is found to be another; None for a look of its own.
        self.borrowed: Scan | None = None
        self._claim_caches()
        # What the repository and the folder around it are now: it is noticed when they are others.
        git = workspace.repository_folders[0]
        self._identities = None if os.path.islink(git) else fs.identity(git), fs.identity(workspace.folder)
        #: What waits for a person, by commit, as it was read last.
        self.proposed: dict[str, Proposal] = {}
        #: What `recover` had to repair, a line each.
        self.recovered: tuple[str, ...] = ()
        #: Why the history could not be read when that was last tried; "" when it could.
        self.denied = ""

    def _claim_caches(self) -> None:
        """Have the derived files be this user's: those of anybody else go."""
        key, private = self._key, self.workspace.private_folder
        # Nothing is read where a link leads elsewhere.
        if key is None or not (fs.is_own_folder(private) and derived.are_ours(private, key)):
            from ..disk.seal import claim_caches

            claim_caches(self.workspace.private, self._state)

    # Parts that are made when somebody first needs them

    @once
    def _key(self) -> bytes | None:
        """What this user began here is marked with; None where there was no key when the workspace was opened."""
        return key_in(self._state_path) if self._state_path else None

    @once
    def _state(self) -> Path | None:
        """The folder of what this user keeps outside of every workspace."""
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
        """What recall knows of the meaning of entries."""
        return self._meaning(state_files.VECTORS)

    @once
    def meaning_of_sections(self) -> Meaning:
        """The same of the sections of files."""
        return self._meaning(state_files.SECTION_VECTORS)

    def _meaning(self, file: str) -> Meaning:
        from ..recall.hybrid import Meaning

        return Meaning(self.workspace, self.environment, self.clock, self.options.embedder, file)

    def is_meaning_wanted(self, rules: Settings) -> bool:
        """Whether anybody is named who could make vectors."""
        return self.options.embedder is not None or rules.vectors.are_wanted

    def is_meaning_at_hand(self, rules: Settings) -> bool:
        """Whether vectors are made without a service: by a model on this machine, or by who was given."""
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
        """Whether any other memory may be seen beside this one; quick to say no."""
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
        """What was said before turns."""
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
        """How the sources of an entry stand now; none for an entry without, and without a project."""
        if SOURCES not in entry.keys:
            return ()
        scope, path = parted(entry.path)
        return self.sources.of(entry, bool(path and "/" not in scope and scope != self.scopes.own))

    def stale_since(self, entry: Entry) -> str:
        """The last day on which an entry surely held, where it names one that is past; "" for all others."""
        day = entry.stale_after
        return day if day and day < self.today().isoformat() else ""

    @once
    def upkeep(self) -> Upkeep:
        """What compacts the history beside the work."""
        from ..git.upkeep import Upkeep

        return Upkeep(self.workspace.root, self.history.is_compaction_due)

    def keep(self) -> None:
        """Keep what reading found for the next process, where that is worth it."""
        self.catalog.save()
        if self._is_made("meaning"):
            self.meaning.save()
        if self._is_made("scopes"):
            self.scopes.keep()

    def _is_made(self, part: str) -> bool:
        return part in self.__dict__

    def close(self, wait: bool = True) -> None:
        """Close what reading has opened, and keep for the next process what it need not read again.

        With `wait`, until nothing that was begun here is at work on the files any more.
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
        """The past; with `any_revision` a revision may be one of any branch, not of memory's own alone."""
        from ..git.timeline import Timeline

        return Timeline(self.history, self.workspace.layout, self.clock, any_revision)

    def today(self) -> date:
        """The day it is here."""
        return self.clock().date()

    def pause(self) -> Pause | None:
        """The pause that there is on this machine; None where memory may speak."""
        from ..disk.pause import read_pause

        return read_pause(self.workspace.private, self.clock())

    def now_ns(self) -> int:
        """The time in nanoseconds since 1970."""
        if machines := getattr(self.clock, "ns", None):
            return int(machines())
        return int(self.clock().timestamp() * 1_000_000_000)

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment."""
        if self._may_be_interrupted() and self.writer.is_interrupted():
            known = len(self.writer.repairs())
            try:
                self.writer.finish_interrupted()
                self.recovered = tuple(self.writer.repairs()[known:])
            except CrabmemError:
                pass  # the next write says what is wrong; reading goes on
        self.find_denied()

    def _may_be_interrupted(self) -> bool:
        """Whether something lies there that a write or a purge leaves which did not end, or that a power cut took."""
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
        """Why this user may not read the history; "" when nothing keeps them from it."""
        if self.options.is_brief and not self.denied and all(map(_may_enter, self.workspace.repository_folders)):
            return ""  # which most who open it need not load the history for
        try:
            self.history.place.exists()
            self.denied = ""
        except DeniedHistory as error:
            self.denied = str(error)
        except CrabmemError:
            self.denied = ""  # whoever asks the history learns of it
        return self.denied

    def check_not_moved(self) -> None:
        """Tell a file that is not there from a workspace that is not.

        Raises:
            Moved: the workspace that was opened is not where it was.
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
            Moved: there is none, and the workspace that was opened is not where it was.
        """
        scan = self.borrowed or self.store.scan()
        if not scan.files:
            self.history.place.exists()
        return scan

    def follow(self, is_told: bool = False) -> None:
        """Bring the index in step with the files; with `is_told`, as far as the system tells which have changed."""
        self.catalog.listing(self.store.scan(is_told))
        if not is_told:
            self.keep()

    def borrow(self, other: Engine) -> bool:
        """Take over what another engine knows of the files, as they are now; whether it is one of this workspace."""
        mine, theirs = (
            (each.workspace.folder, each.workspace.layout, each._identities, each._state_path) for each in (self, other)
        )
        if mine == theirs:
            self.store, self.catalog, self.borrowed = other.store, other.catalog, other.store.known
        return mine == theirs

    # Settings

    def settings_now(self) -> KnownSettings:
        """What `crabmem.toml` says now, and what is wrong with its unknown keys.

        Raises:
            InvalidSettings: it cannot be, or names another profile or layout than when the workspace was opened.
            Unreadable: it is no regular file, or too large.
        """
        data = self.store.read(SETTINGS) or b""
        return self._check_as_opened(*self._settings_in(blob_id(data), lambda: data))

    def settings_of(self, scan: Scan) -> KnownSettings:
        """What `crabmem.toml` says among the files of a look, which need not be read again."""
        return self._check_as_opened(*self._settings_in(scan.blob(SETTINGS), lambda: scan.data(SETTINGS)))

    def settings_at(self, commit: str) -> Settings:
        """The settings of a commit; the usual ones where they cannot be read."""
        blob = self.history.file(commit, SETTINGS)
        try:
            return self._settings_in(blob, lambda: self.history.blob(blob) if blob else None)[0]
        except CrabmemError:
            return Settings()

    def _settings_in(self, blob: str | None, read: Callable[[], bytes | None]) -> KnownSettings:
        """The settings in a blob, which `read` reads when it was not met before."""
        found = self._settings.get(blob)
        if found is None:
            found = settings.read_settings(read() or b"", os.path.join(self.workspace.folder, SETTINGS))
            if person := self.environment.get("CRABMEM_PERSON"):  # the file is the same for all who share a memory
                found = replace(found[0], person=person), found[1]
            self._settings[blob] = found
            for oldest in list(self._settings)[:-_MAX_SETTINGS]:  # a list: another thread may add one meanwhile
                self._settings.pop(oldest, None)
        return found

    def _check_as_opened(self, rules: Settings, problem: str) -> KnownSettings:
        """These settings, which have to be those of the workspace as it was opened."""
        if rules is self._fit:  # every recall asks
            return rules, problem
        opened = self.workspace
        profile = opened.profile
        if self.options.profile is None:
            profile = profile_at(opened.folder, rules.profile, self.allowed)
        # Of a profile that has a layout of its own, what the settings say of it means nothing.
        layout = rules.layout if opened.layout.name in LAYOUTS else opened.layout.name
        if opened.layout is PROJECT and layout == ORDINARY.name:  # the branch that is checked out has no settings
            layout = PROJECT.name
        for what, now, then in (("profile", profile, opened.profile), ("layout", layout, opened.layout.name)):
            if now != then:
                raise InvalidSettings(
                    f"{opened.file(SETTINGS)} says that the {what} is {now or 'the usual'}, and it was "
                    f"{then or 'the usual'} when this process opened the folder: start it again"
                )
        # What the workspace around an agent's own says may change meanwhile.
        self._fit = None if opened.around else rules
        return rules, problem

    def _language(self, scan: Scan) -> str:
        """Whose endings recall removes; whoever needs settings that cannot be read says what is wrong with them."""
        try:
            return self.settings_of(scan)[0].language
        except CrabmemError:
            return Settings().language

    # Parents

    def parent(self) -> Workspace | None:
        """The workspace that a named agent's own lies in, or that a person said lies beside it; None without one.

        That an agent's folder lies in another makes no parent of that: it may be a stranger's.
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
        """The workspace in a folder to which crabmem has not written yet: one that has files of its profile.

        None for a repository, which is a project's.
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
        """The files outside of the workspace that are searched, as its profile, its settings and this user say.

        Raises:
            InvalidSettings: the profile names a folder that the settings do not list.
        """
        from ..recall.file_search import NO_FILES

        if not (rules.extra_paths or rules.transcripts or search.extra_paths):
            return NO_FILES
        places, trouble = places_at(self.workspace.root, rules, search, self.allowed)
        return self.elsewhere.look(places, self.searcher.marks(), trouble)

    def index_for(self, view: View, index: Index) -> Index:
        """`index` without what `view` hides, so that nothing hidden counts: not in scores, nor among what is near.

        The last answers are kept, as sessions ask again and again.
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
        """What ranks answers by more than words; None while nobody is named who could.

        `meaning` is that of the texts in `source`, None for that of facts.
        """
        if not self.is_meaning_wanted(rules):
            return None
        return lambda query: partial((meaning or self.meaning).rank, source, rules.vectors, query)

    def ranker_of_old(self, source: EntrySource, rules: Settings, meaning: Meaning | None = None) -> Ranker | None:
        """`ranker` by settings of any time, with the key and the timeout of today's; None where these name somebody
        else, who then is asked nothing."""
        now = self.settings_now()[0].vectors
        if not now.asks_like(rules.vectors):
            return None
        asked = replace(rules.vectors, key=now.key, timeout=now.timeout)
        return self.ranker(source, replace(rules, vectors=asked), meaning)

    def _known_marks(self) -> Mapping[str, bytes]:
        """How the files looked whose words are known from before."""
        entries = self.catalog.marks()
        return {**self.searcher.marks(), **entries} if self._is_made("searcher") else entries


def _may_enter(folder: str) -> bool:
    try:
        fs.check_folder(folder)
    except PermissionError:
        return False
    return True
