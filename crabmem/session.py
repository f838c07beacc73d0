"""The parts of one workspace in one hand, and what all operations on it need. No operation of its own."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import replace

from .disk import fs
from .disk.allowed import Allowed
from .disk.seal import Seal, claim_caches
from .disk.store import Scan, Store, usable_folder
from .disk.turns import Turns
from .disk.user_state import state_folder
from .errors import Busy, CrabmemError, DeniedHistory, InvalidSettings, Moved
from .git import History
from .git.commit import one_line
from .git.objects import remember
from .git.revert import Reverting
from .git.timeline import Timeline
from .git.upkeep import Upkeep
from .locate import profile_at, workspace_at
from .recall.auto_recall import Speaker
from .recall.catalog import Catalog, Listing, Progress
from .recall.hybrid import Entries, Meaning, TextVectors
from .recall.ranking import Ranking
from .recall.snapshots import Pasts
from .recall.uses import Reads, Uses
from .text.hashes import blob_id
from .workspace import settings
from .workspace.layout import DEFAULT, LAYOUTS, SETTINGS, Layout
from .workspace.settings import Settings
from .workspace.workspace import Workspace
from .write.actor import Voice
from .write.writer import Writer

if TYPE_CHECKING:
    from .embeddings.embedder import Embedder
    from .prompt.profile import Kind, Profile
    from .recall.file_search import Searcher

_TRIES = 10
# So many settings are remembered, for those who look back at moments that had others.
_SETTINGS = 64
T = TypeVar("T")


class Handle:
    """Holds a workspace open."""

    def __init__(
        self,
        root: Path,
        voice: Voice,
        clock: Callable[[], datetime],
        soul_editable: bool | None = None,
        progress: Progress | None = None,
        embedder: "Embedder | None" = None,
        environment: Mapping[str, str] | None = None,
        profile: str | None = None,
        kind: str = "main",
        is_parent_named: bool = False,
    ) -> None:
        """`clock` tells the local time; `soul_editable`, `embedder` and `profile` override the settings.

        `progress` is told how many of the entries were read that have to be before recall can answer;
        `environment` holds the keys that settings name, and says where it is kept what this user allowed them.
        `kind` is that of the session that it is for. `is_parent_named`: a person named the folder around an agent's
        own as the workspace, so that it is one before crabmem has written to it.
        """
        self._environment = environment or {}
        state = state_folder(self._environment, root)
        self._allowed = Allowed(self._environment)
        self._workspace = workspace_at(usable_folder(root), profile, self._allowed)
        self._given_profile = profile
        self._kind = _kind_of(kind)
        self._is_parent_named = is_parent_named
        self._voice = voice
        self._clock = clock
        self._soul_editable = soul_editable
        self._known_settings: dict[str | None, tuple[Settings, str]] = {None: (Settings(), "")}
        self._fit: Settings | None = None
        self._meaning = Meaning(self._workspace, self._environment, clock, embedder)
        self._meaning_of_sections = Meaning(self._workspace, self._environment, clock, embedder, "section-vectors")
        self._searcher = cache(partial(_searcher, self._workspace))
        self._catalog = Catalog(self._workspace, self._language, progress)
        self._store = Store(self._workspace, self._clock_ns, self._marks)
        claim_caches(self._workspace.private, state)
        self._history = History(self._workspace, Seal(state, "purge"), partial(claim_caches, folder=state))
        self._timeline = self._timeline_of_voice()
        self._pasts = Pasts(self._workspace, self._timeline, self._catalog, self._history.blob)
        self._reverting = Reverting(self._history, self._timeline)
        self._writer = Writer(
            self._workspace, self._store, self._history, clock, self._settings_to_write, Seal(state, "journal")
        )
        self._turns = Turns(self._workspace.turns)
        self._uses = Uses(self._workspace.uses)
        self._reads = Reads(self._workspace.reads)
        self._item_vectors = TextVectors(self._workspace, "item-vectors")
        self._speaker = self._speaker_of_session()
        #: What `recover` had to repair, a line each.
        self.recovered: tuple[str, ...] = ()
        #: Why the history could not be read when that was last tried; "" when it could.
        self._denied = ""
        self._upkeep = Upkeep(self._workspace.root, self._history.is_compaction_due)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, seen: Mapping[int, object]) -> Self:
        """Itself: frameworks copy what they are given, and a copy would hold the same workspace."""
        return self

    def spoken_by(self, agent: str | None, session: str | None) -> Self:
        """The same memory for another who writes. All else is shared: closing one closes both."""
        other = copy(self)
        other._voice = Voice(agent, session)
        other._speaker = other._speaker_of_session()
        other._timeline = other._timeline_of_voice()
        other._reverting = Reverting(other._history, other._timeline)
        return other

    def of_kind(self, kind: "Kind") -> Self:
        """The same memory for a session of another kind. All else is shared: closing one closes both.

        Raises:
            InvalidArguments: there is no such kind.
        """
        other = copy(self)
        other._kind = _kind_of(kind)
        return other

    def close(self, wait: bool = True) -> None:
        """Close what reading has opened, and keep for the next process what it need not read again.

        With `wait`, until nothing that was begun here is at work on the files any more.
        """
        self._upkeep.close(wait)
        self._catalog.close()
        self._meaning.save(least=1)
        self._item_vectors.save()
        if self._has_searched():
            self._searcher().save(least=1)
            self._meaning_of_sections.save(least=1)
        self._store.close()
        self._history.close()

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self._workspace.root

    @property
    def agent(self) -> str | None:
        """The agent who writes here; None while none is named."""
        return self._voice.agent

    @property
    def layout(self) -> Layout:
        """Which files of the workspace are what, since it was opened."""
        return self._workspace.layout

    @property
    def kind(self) -> "Kind":
        """The kind of session that this is for: it decides what is seen, and which tools there are."""
        return self._kind

    @property
    def profile(self) -> "Profile":
        """Which files go before a conversation, which tools there are, how files are searched.

        Raises:
            InvalidArguments: it is a file that is not there any more.
            InvalidSettings: it cannot be read any more.
        """
        from .prompt.profile import named  # late: not every process asks

        return named(self.profile_name)

    @property
    def profile_name(self) -> str:
        """What the profile is called: a name, or the path of its file."""
        return self._workspace.profile or DEFAULT

    def file(self, path: str) -> Path:
        """The file at a path of the workspace."""
        return self._workspace.file(path)

    @property
    def settings(self) -> Settings:
        """The settings as `crabmem.toml` now says; keys that there are not are passed over, see `settings_problem`.

        Raises:
            InvalidSettings: it says something that cannot be, or to sessions that may not see everything, an unknown
                key, which may be what was to hide something.
        """
        return self._fitting(self._settings_now()[0])

    @property
    def settings_problem(self) -> str:
        """Which keys of `crabmem.toml` are unknown, with the nearest that is; "" for none, or when it cannot be read.

        What agents write is refused for one: it may be a mistyped key that was to keep something from them.
        """
        try:
            return self._settings_now()[1]
        except CrabmemError:  # who needs the settings says what is wrong with them
            return ""

    def _settings_now(self) -> tuple[Settings, str]:
        data = self._store.read(SETTINGS) or b""
        return self._parsed_settings(blob_id(data), lambda: data)

    def _settings_to_write(self) -> Settings:
        """The settings for a write: every key has to be known, unless it is the person who writes."""
        return self.settings if not self._voice.is_agent else self._settings_checked()

    def _settings_checked(self) -> Settings:
        if problem := self.settings_problem:
            raise InvalidSettings(problem)
        return self.settings

    @property
    def soul_editable(self) -> bool:
        """Whether agents may write `Crab.md`."""
        return self.settings.soul_editable if self._soul_editable is None else self._soul_editable

    @property
    def _parent(self) -> Workspace | None:
        """The workspace that a named agent's own lies in, or that a person said lies beside it; None without one.

        That an agent's folder lies in another makes no parent of that: it may be a stranger's.
        """
        around = self._workspace.around
        if around is None:
            return None
        beside = self._allowed.reach(self.root).parent
        place = Path(beside) if beside else around
        if fs.is_own_folder(Workspace(place).private):
            return workspace_at(place, self._given_profile, self._allowed)
        return None if beside or not self._is_parent_named else self._hand_made(place)

    def _hand_made(self, place: Path) -> Workspace | None:
        """The workspace in a folder to which crabmem has not written yet: one that has files of its profile.

        None for a repository, which is a project's.
        """
        from .prompt.profile import named  # late: parents have a history, as a rule

        if os.path.lexists(place / ".git"):
            return None
        parent = workspace_at(place, self._given_profile, self._allowed)
        shown = (part.file for part in named(parent.profile or DEFAULT).part if part.file)
        paths = [SETTINGS, parent.layout.identity, parent.layout.overview, *map(parent.layout.named, shown)]
        return parent if any(os.path.lexists(parent.file(path)) for path in paths) else None

    def _settings_in(self, blob: str | None, read: Callable[[], bytes | None]) -> Settings:
        """The settings in a blob, which `read` reads when it was not met before."""
        return self._parsed_settings(blob, read)[0]

    def _parsed_settings(self, blob: str | None, read: Callable[[], bytes | None]) -> tuple[Settings, str]:
        found = self._known_settings.get(blob)
        if found is None:
            found = settings.read_settings(read() or b"", str(self._workspace.file(SETTINGS)))
            remember(self._known_settings, blob, found, _SETTINGS)
        if found[1] and self._kind != "main":
            raise InvalidSettings(found[1])
        return found

    def _fitting(self, rules: Settings) -> Settings:
        """These settings, which have to be those of the workspace as it was opened."""
        if rules is self._fit:  # every recall asks
            return rules
        opened = self._workspace
        profile = opened.profile
        if self._given_profile is None:
            profile = profile_at(opened.root, rules.profile, self._allowed)
        # Of a profile that has a layout of its own, what the settings say of it means nothing.
        layout = rules.layout if opened.layout.name in LAYOUTS else opened.layout.name
        for what, now, then in (("profile", profile, opened.profile), ("layout", layout, opened.layout.name)):
            if now != then:
                raise InvalidSettings(
                    f"{opened.file(SETTINGS)} says that the {what} is {now or 'the usual'}, and it was "
                    f"{then or 'the usual'} when this process opened the folder: start it again"
                )
        # What the workspace around an agent's own says may change meanwhile.
        self._fit = None if opened.around else rules
        return rules

    def _sees(self, path: str) -> bool:
        """Whether a session of this kind may see the file at `path`; one of the kind main sees everything."""
        return self._kind == "main" or not self.profile.hides(path, self._kind)

    def _timeline_of_voice(self) -> Timeline:
        """The past, as far as whoever speaks here may look: a person into every branch, an agent into memory's own."""
        return Timeline(self._history, self._workspace.layout, self._clock, any_revision=not self._voice.is_agent)

    def _speaker_of_session(self) -> Speaker:
        return Speaker(self._turns, one_line(self._voice.session or "") or None)

    def _language(self, scan: Scan) -> str:
        """Whose endings recall removes; settings that cannot be read are told of by whoever needs them."""
        try:
            return self._settings_of(scan).language
        except CrabmemError:
            return Settings().language

    def _settings_of(self, scan: Scan) -> Settings:
        """The settings among the files of a look, which need not be read again."""
        return self._fitting(self._settings_in(scan.blob(SETTINGS), lambda: scan.data(SETTINGS)))

    def _rules_of(self, commit: str) -> Settings:
        """The settings of a commit; the usual ones where they cannot be read."""
        blob = self._history.file(commit, SETTINGS)
        with suppress(CrabmemError):
            return self._settings_in(blob, lambda: self._history.blob(blob) if blob else None)
        return Settings()

    def _ranking(
        self, shelf: Entries, rules: Settings, meaning: Meaning | None = None
    ) -> Callable[[str], Ranking] | None:
        """What ranks the answers to a question by more than words; None while nobody is named who could.

        `meaning` is that of the texts on the shelf, None for that of entries.
        """
        meaning = meaning or self._meaning
        if not meaning.is_wanted(rules.vectors):
            return None
        return lambda query: partial(meaning.fused, shelf, rules.vectors, query)

    def _ranking_as_asked_now(
        self, shelf: Entries, rules: Settings, meaning: Meaning | None = None
    ) -> Callable[[str], Ranking] | None:
        """`_ranking` by settings of any time, with the key and the timeout of today's; None where these name somebody
        else, who then is asked nothing."""
        now = self.settings.vectors
        if not now.asks_like(rules.vectors):
            return None
        asked = replace(rules.vectors, key=now.key, timeout=now.timeout)
        return self._ranking(shelf, replace(rules, vectors=asked), meaning)

    def _has_searched(self) -> bool:
        """Whether files were searched here."""
        return bool(self._searcher.cache_info().currsize)

    def _marks(self) -> Mapping[str, bytes]:
        """How the files looked whose words are known from before."""
        entries = self._catalog.marks()
        return {**self._searcher().marks(), **entries} if self._has_searched() else entries

    def _listing(self) -> Listing:
        return self._catalog.listing(self._look())

    def _look(self) -> Scan:
        """The files as they are now.

        Raises:
            Moved: there is none, and the workspace that was opened is not where it was.
        """
        scan = self._store.scan()
        if not scan.files:
            self._history.exists()
        return scan

    def _check_not_moved(self) -> None:
        """Tell a file that is not there from a workspace that is not.

        Raises:
            Moved: the workspace that was opened is not where it was.
        """
        try:
            self._history.exists()
        except Moved:
            raise
        except CrabmemError:
            return  # which who asks the history is told

    def _find_denied(self) -> str:
        """Why this user may not read the history; "" when nothing keeps them from it."""
        try:
            self._history.exists()
            self._denied = ""
        except DeniedHistory as error:
            self._denied = str(error)
        except CrabmemError:
            self._denied = ""  # which who asks the history is told
        return self._denied

    def _steadily(self, read: Callable[[], T]) -> T:
        """What `read` says, asked again when a file changes between two looks at it."""
        for _ in range(_TRIES):
            try:
                return read()
            except Busy:
                continue
        return read()

    def _today(self) -> date:
        return self._clock().date()

    def _clock_ns(self) -> int:
        return int(self._clock().timestamp() * 1_000_000_000)


def _searcher(workspace: Workspace) -> "Searcher":
    from .recall.file_search import Searcher  # late: most processes search no files

    return Searcher(workspace)


def _kind_of(kind: str) -> "Kind":
    """`kind`, which is one.

    Raises:
        InvalidArguments: it is none.
    """
    if kind == "main":
        return "main"
    from .prompt.profile import checked_kind  # late: most sessions are main

    return checked_kind(kind)
