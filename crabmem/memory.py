"""Memory: every operation once, a few lines each, over the parts below. Returns values, raises `CrabmemError`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import replace

from . import fs, prompt, settings
from .bisecting import Moment, Test, bisected
from .catalog import Catalog, Listing, Progress, found, readable
from .credentials import refuse_new, warnings
from .digest import digested
from .edit import in_style_of, unified_diff
from .entry import MAX_NAME, Entry, Fact, check_text, checked, decoded, parsed
from .erasing import Wanted
from .errors import Busy, CrabmemError, Disabled, InvalidArguments, NotFound
from .evaluating import Source, evaluated
from .history import History, Note, Packed, identity
from .history.commit import one_line
from .losses import Losses
from .meaning import Entries, Meaning
from .merging import Take
from .pasts import Past, Pasts
from .plan import Plan
from .provenance import blamed, whole_file, with_provenance
from .questions import Expectation
from .recalling import Fits, Question, Ranking, check_question, recalled
from .results import (
    CREATOR,
    Bisected,
    Changed,
    Commit,
    Document,
    Evaluation,
    Finding,
    Forgotten,
    Purge,
    Recall,
    Reindexed,
    Restored,
    Reverted,
    Saved,
    Standing,
    Stats,
    Step,
)
from .reverting import Reverting, Unwanted, noted, subject
from .settings import Settings
from .sightings import seen
from .slug import slug_of
from .speaking import Speaker, bearing, counted
from .store import Scan, Store, parent_of, usable_folder
from .timeline import Timeline, limited, shown, state_on_disk, undoing
from .traces import Digest, Filter, Line, Sightings
from .turns import Turns
from .upkeep import Upkeep
from .version import short, version_of
from .voice import Voice
from .workspace import IDENTITY, OVERVIEW, SETTINGS, Workspace, entry_path
from .writer import Draft, Writer, Written

if TYPE_CHECKING:
    from .purging import Purger
    from .vectors.embedder import Embedder

_TRIES = 10
_ASKS_OTHERS = "by words alone: the settings name another model than then"
T = TypeVar("T")


class Memory:
    """An agent's handle on one workspace. Safe between threads; any number of processes may have one.

    Nothing is made on disk before the first write.
    """

    def __init__(
        self,
        root: Path,
        voice: Voice,
        clock: Callable[[], datetime],
        soul_editable: bool | None = None,
        progress: Progress | None = None,
        embedder: "Embedder | None" = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`clock` tells the local time; `soul_editable` and `embedder` override the settings.

        `progress` is told how many of the entries were read that have to be before recall can answer;
        `environment` holds the keys that settings name.
        """
        self._workspace = Workspace(usable_folder(root))
        self._voice = voice
        self._clock = clock
        self._soul_editable = soul_editable
        self._rules: tuple[bytes, Settings] | None = None
        self._seen: tuple[str | None, Settings] = None, Settings()
        self._seen_then: tuple[str | None, Settings] = None, Settings()
        self._meaning = Meaning(self._workspace, environment or {}, clock, embedder)
        self._catalog = Catalog(self._workspace.index, self._language, progress)
        self._store = Store(self._workspace, self._clock_ns, self._catalog.marks)
        self._history = History(self._workspace.root, self._workspace.private)
        self._timeline = Timeline(self._history, clock)
        self._pasts = Pasts(self._workspace, self._timeline, self._catalog, self._history.blob)
        self._reverting = Reverting(self._history, self._timeline)
        self._writer = Writer(self._workspace, self._store, self._history, clock, lambda: self.settings)
        self._turns = Turns(self._workspace.turns)
        self._speaker = Speaker(self._turns, one_line(voice.session or "") or None)
        #: What `recover` had to repair, a line each.
        self.recovered: tuple[str, ...] = ()
        self._upkeep = Upkeep(self._workspace.root, self._history.is_compaction_due)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, wait: bool = True) -> None:
        """Close what reading has opened, and keep for the next process what it need not read again.

        With `wait`, until nothing that was begun here is at work on the files any more.
        """
        self._upkeep.close(wait)
        self._catalog.close()
        self._meaning.save(least=1)
        self._store.close()
        self._history.close()

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return self._workspace.root

    def file(self, path: str) -> Path:
        """The file at a path of the workspace."""
        return self._workspace.file(path)

    @property
    def _parent(self) -> Workspace | None:
        """The workspace that a named agent's own lies in, once there is one."""
        return parent_of(self._workspace)

    @property
    def settings(self) -> Settings:
        """The settings as `crabmem.toml` now says.

        Raises:
            InvalidSettings: it says something that cannot be.
        """
        data = self._store.read(SETTINGS) or b""
        if self._rules is None or self._rules[0] != data:
            self._rules = data, settings.parsed(decoded(SETTINGS, data), str(self._workspace.file(SETTINGS)))
        return self._rules[1]

    def _language(self, scan: Scan) -> str:
        """Whose endings recall removes; settings that cannot be read are told of by whoever needs them."""
        try:
            return self._settings_of(scan).language
        except CrabmemError:
            return Settings().language

    def _settings_of(self, scan: Scan) -> Settings:
        """The settings among the files of a look, which need not be read again."""
        blob = scan.blob(SETTINGS)
        if self._seen[0] != blob:
            text = decoded(SETTINGS, scan.data(SETTINGS) or b"")
            self._seen = blob, settings.parsed(text, str(self._workspace.file(SETTINGS)))
        return self._seen[1]

    @property
    def soul_editable(self) -> bool:
        """Whether agents may write `Crab.md`."""
        return self.settings.soul_editable if self._soul_editable is None else self._soul_editable

    # Writing

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment."""
        if self._writer.is_interrupted():
            known = len(self._writer.repairs())
            with suppress(CrabmemError):  # the next write says what is wrong; reading goes on
                self._writer.recover()
                self.recovered = tuple(self._writer.repairs()[known:])

    def init(self, claim: bool = False) -> bool:
        """Make the workspace, with a `Crab.md` where nobody wrote one; whether its history was begun now.

        With `claim`, also in an ordinary repository that holds no memory yet.
        """
        if self._history.has_begun():
            return False
        made = not self._history.exists()
        if claim and not made:
            self._history.claim()
        self._writer.write(self._seed)
        return made

    def remember(
        self,
        name: str,
        description: str,
        content: str,
        *,
        aliases: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        if_version: str | None = None,
    ) -> Saved:
        """Save a fact under its name, replacing the entry of that name.

        `aliases` and `tags` of None leave those there are. With `if_version` the entry must still
        be that version.

        Raises:
            InvalidArguments: something given cannot be kept.
            Stale: the entry is not at `if_version` any more.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        fact = checked(Fact(name, description, content, _labels(aliases), _labels(tags)))

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            path = plan.add(fact)
            self._timeline.check_version(path, scan.files.get(path), if_version)
            return Draft(plan.files, self._note("remember", fact.name))

        done = self._write(decide)
        [path] = done.after
        return self._saved(done, path)

    def remember_all(self, facts: Iterable[Fact], source: str, dry_run: bool = False) -> list[Saved | CrabmemError]:
        """Save many facts in one commit, `import: N facts from <source>`; what became of each, in their order.

        A fact that cannot be kept stands in the answer as the error that says why, and stops no other.
        With `dry_run` nothing is written, and the answer is what it would be, without a commit.
        """
        given, places = list(facts), list[str | CrabmemError]()

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            places[:] = [plan.tried(fact) for fact in given]
            count = len(plan.changed)
            words = f"{count} {'fact' if count == 1 else 'facts'} from {one_line(source)}"
            return Draft(plan.files, self._note("import", words))

        done = self._tried(decide) if dry_run else self._write(decide)
        return [place if isinstance(place, CrabmemError) else self._saved(done, place) for place in places]

    def forget(self, name: str) -> Forgotten:
        """Remove the entry called `name` from memory; history keeps it, and `purge` erases it from there too.

        Raises:
            NotFound: there is none.
        """

        def decide(scan: Scan) -> Draft:
            entry = found(self._catalog.listing(scan), name)
            return Draft({entry.path: None}, self._note("forget", entry.name))

        done = self._write(decide)
        [(path, before)] = done.before.items()
        entry = next(iter(readable([(path, before or b"")])), None)
        return Forgotten(entry.name if entry else name, path, done.commit)

    def write_overview(self, content: str, if_version: str | None = None) -> Changed:
        """Replace `memory/MEMORY.md`; with `if_version`, only if it still is that version."""
        return self._write_file(OVERVIEW, content, "memory", if_version)

    def write_identity(self, content: str, if_version: str | None = None) -> Changed:
        """Replace `Crab.md`; with `if_version`, only if it still is that version.

        Raises:
            Disabled: the settings do not let agents do that.
        """
        if not self.soul_editable:
            raise Disabled(
                "writing Crab.md is disabled; a person may edit the file, or set soul_editable = true in crabmem.toml"
            )
        return self._write_file(IDENTITY, content, "soul", if_version)

    def adopt(self, even_if_many: bool = False) -> Commit | None:
        """Record what was changed on disk from outside as a commit of the person; None when nothing was.

        That more than a third of the entries are gone is recorded only with `even_if_many`; see `unrecorded`.
        """
        self.init()
        before = self._history.head()
        after = self._writer.adopt(even_if_many)
        return self._history.log(1, start=after)[0] if after and after != before else None

    def restore(self) -> Restored:
        """Bring back the files that are gone from disk and were not forgotten, and the entries that were emptied there.

        Those that `unrecorded` tells of, and any others that were deleted since the last write. An agent does not
        bring back the identity, which it may not write, or the settings.
        """
        scan, head = self._store.scan(), self._timeline.head()
        outside = self._writer.outside(scan)
        held = self._writer.unrecorded(scan)
        gone = {path for path, file in outside.items() if file is None} | set(held.paths if held else ())
        blobs = {path: self._history.file(head, path) for path in gone - self._kept_from_agents()}
        if not blobs:
            return Restored(None, head or "", (), "")
        return self._restored(head or "", lambda scan: blobs, self._note("restore", _files(blobs)))

    # Reading: looks at the disk, takes no lock, changes nothing

    def recall(
        self,
        query: str,
        limit: int | None = None,
        tags: Sequence[str] = (),
        *,
        since: str | None = None,
        until: str | None = None,
        budget: int | None = None,
        explain: bool = False,
        blame: bool = False,
        as_of: str | None = None,
    ) -> Recall:
        """The entries that answer `query` best, at most `limit` (None: the setting), having all `tags`.

        `deploy*` in it stands for all words that begin so, and `"deploy key"` has to stand there word by word.
        Only those last changed after the revision or time `since`, and not after `until`. With `budget`, so
        many characters of text at most: of long facts the passage that matched, and the last are left out
        rather than cut to nothing; name and description of the first are always there. With `explain`, hits say
        what their scores are made of, with `blame` who wrote them when.

        With `as_of`, from the memory as it was at that revision or time, with the settings of then: what a workspace
        would find that holds those files. Meaning counts for it while the settings still name who was asked then.

        Raises:
            InvalidArguments: a blank or endless query, too many tags, or a limit or budget out of its bounds.
            NotFound: there is no such revision or time.
        """
        check_question(query, limit, tags, budget)
        labels = _labels(tags) or ()

        def asked(rules: Settings) -> Question:
            most = limit or rules.recall_limit
            return Question(query, most, self._today, labels, rules.language, budget, explain, rules.recency)

        look = self._recalled if as_of is None else partial(self._recalled_of_old, as_of)
        found = self._steadily(lambda: look(asked, since, until))
        if blame:
            at, scan = (self._timeline.commit_at(as_of), None) if as_of else (None, self._store.scan())
            found = replace(found, hits=with_provenance(found.hits, self._history, scan, at))
        self._catalog.save()
        self._meaning.save()
        return found

    def evaluate(
        self,
        questions: Iterable[Expectation],
        limit: int = 10,
        since: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Evaluation:
        """How well recall answers `questions`, with `limit` hits each; those for other workspaces are passed over.

        With `since`, also how well it would have in the memory as it was at that revision or time, with the settings
        of then. `progress` is told how many questions of how many were asked.

        Raises:
            NotFound: what must be found is no entry, now or then; or there is no such revision.
            InvalidArguments: a question cannot be asked, or none is for this workspace.
        """
        asked, then = list(questions), None if since is None else self._timeline.commit_at(since)
        past = None if then is None else self._source(then)

        def look() -> Evaluation:
            listing = self._listing()
            rules = self._settings_of(listing.scan)
            now = Source(listing, rules, self._today, self._ranking(listing, rules))
            return evaluated(asked, self.root.name, limit, now, past, progress)

        return self._steadily(look)

    def before_turn(self, message: str) -> str:
        """What memory holds that bears on `message`, as a `<recall>` block; "" for silence.

        Silent about what the prompt says anyway, what was said in this session before, and what does not
        have enough in common with the message. Changes no memory, and is never called by crabmem itself:
        the host decides.
        """
        rules, prompt = self.settings, f"{self.identity().text}\n{self.overview().text}"
        said = self._steadily(
            lambda: self._speaker.bearing(message, self._listing(), rules.auto_recall, rules.language, prompt)
        )
        self._catalog.save()
        self._speaker.said(said, self._clock())
        return said.text

    def confidence(self, message: str) -> float:
        """How much of what `message` says the fact has that bears most on it: what `auto_recall.threshold` bounds."""
        rules = self.settings
        return self._steadily(lambda: bearing(message, self._listing(), rules.auto_recall, rules.language))

    def stats(self) -> Stats:
        """How much there is, and how often it spoke before turns."""
        listing = self._steadily(self._listing)
        return counted(len(listing.index), len(listing.unreadable), self._turns.all())

    def get(self, name: str, at: str | None = None) -> Entry:
        """The entry called `name`, now or as it was at a revision or time.

        Raises:
            NotFound: there is none.
        """
        try:
            return found(self._listing() if at is None else self._past(self._timeline.commit_at(at)), name)
        except NotFound:
            path = entry_path(slug_of(name[:MAX_NAME]))
            if at is None and (data := self._store.read(path)):
                parsed(path, data)  # says so when the file is there and cannot be read
            raise

    def entries(self, at: str | None = None) -> list[Entry]:
        """All entries in the order of their paths, now or as they were at a revision or time."""
        if at is None:
            return self._steadily(lambda: list(self._listing().entries))
        return self._past(self._timeline.commit_at(at)).entries

    def overview(self, at: str | None = None) -> Document:
        """`memory/MEMORY.md`; an agent's own workspace without one shows its parent's.

        With `at`, as it was at a revision or time.
        """
        return self._document(OVERVIEW, at)

    def identity(self, at: str | None = None) -> Document:
        """`Crab.md`, else the parent's, else the text a new workspace begins with; with `at`, as it was then."""
        document = self._document(IDENTITY, at)
        return document if document.text or document.version else Document(IDENTITY, prompt.template("identity"), None)

    def secrets(self, paths: Iterable[str]) -> list[Finding]:
        """Warnings about what looks like a credential in the files at `paths`, unless the settings want none."""
        scan = self._store.scan()
        texts = {path: shown(scan.data(path)) or "" for path in paths}
        rule = self.settings.secrets
        return [Finding("warning", path, words) for path in texts for words in warnings(texts[path], None, rule)]

    def unrecorded(self) -> Losses | None:
        """What was lost on disk, when it is so many entries that no write records it before it is confirmed.

        `restore` brings them back; `adopt(even_if_many=True)` records that they are gone.
        """
        return self._writer.unrecorded(self._store.scan())

    # History

    def log(self, limit: int | None = None, name: str | None = None, **asked: str | None) -> list[Commit]:
        """The newest commits first, at most `limit`: those of `commits`, which knows what may be `asked`."""
        if limit is not None and limit < 1:
            raise InvalidArguments(f"limit must be at least 1, not {limit}")
        return list(islice(self.commits(name, **asked), limit))

    def commits(
        self,
        name: str | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        tool: str | None = None,
        author: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Iterator[Commit]:
        """The commits one by one, newest first; with `name`, those that touch that entry, even if it was forgotten.

        Only those of an agent, a session, a tool (or `edit`, for edits from outside), or an author who is called
        `author`, in whole words; only those after the revision or time `since` and not after `until`.

        Raises:
            NotFound: there is no such entry, revision or time.
        """
        accept = Filter(agent or "", session or "", tool or "", author or "")
        path = self._path_of(name) if name else None
        return self._timeline.commits(path, since, until, accept if accept != Filter() else None)

    def blame(self, name: str) -> tuple[Line, ...]:
        """The lines of an entry's file as it is on disk, or of MEMORY.md or Crab.md, with who wrote each and when.

        Raises:
            NotFound: there is none; of a forgotten one the message names the commit that removed it.
        """
        path = self._path_of(name)
        return blamed(self._history, self._timeline, path, name, self._store.read(path))

    def when(self, query: str) -> Sightings:
        """When memory said `query`: word by word if it ever did, else all its words in one entry.

        Raises:
            InvalidArguments: the query is blank.
        """
        return seen(query, self.settings.language, self._history)

    def digest(self, since: str = "1 week ago", until: str | None = None) -> Digest:
        """What was learned, changed and dropped between two revisions or times; `until` of None is the newest commit.

        Raises:
            NotFound: there is no such revision or time.
        """
        return digested(self._history, self._timeline, since, until)

    def diff(self, since: str | None = None, until: str | None = None, name: str | None = None) -> str:
        """What changed from `since` (None: the newest commit) to `until` (None: the files now), as a unified diff."""
        scan = self._store.scan()
        before = self._timeline.state_since(since)
        after = self._timeline.state_at(until) if until else state_on_disk(scan, before)
        only = self._path_of(name) if name else None
        return self._timeline.diff(limited(before, only), limited(after, only), scan)

    def patch(self, commit: str, name: str | None = None) -> str:
        """What a commit changed, as a unified diff; with `name`, in that entry."""
        found_at = self._timeline.commit_at(commit)
        before = self._timeline.state_of(self._timeline.parent(found_at))
        only = self._path_of(name) if name else None
        after = self._timeline.state_of(found_at)
        return self._timeline.diff(limited(before, only), limited(after, only), self._store.scan())

    def rollback(
        self, to: str, name: str | None = None, *, dry_run: bool = False, even_if_many: bool = False
    ) -> Restored:
        """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

        With `name`, that entry alone. With `dry_run` nothing is written, and the answer says what would be.

        Raises:
            NotFound: there is no such revision, the history begins later, or there was no such entry then.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        commit = self._timeline.commit_at(to)
        words = f"to {short(commit)}" if commit.startswith(to) else f"to {to} ({short(commit)})"
        if name is None:
            state = self._timeline.state_of(commit)
            note = noted(self._note("rollback", words), restored=commit)
            return self._restored(
                commit, lambda scan: {**dict.fromkeys(scan.files), **state}, note, dry_run, even_if_many
            )
        path, note = self._path_at(name, commit), self._note("rollback", f"{name} {words}")
        blob = self._history.file(commit, path)
        if blob is None:
            raise NotFound(f"there was no {path} at {to}; `crabmem forget` removes what is there now")
        return self._restored(commit, lambda scan: {path: blob}, note, dry_run)

    def revert(
        self,
        commits: str | Sequence[str] = (),
        *,
        session: str | None = None,
        agent: str | None = None,
        since: str | None = None,
        take: Take = None,
        dry_run: bool = False,
        even_if_many: bool = False,
    ) -> Reverted:
        """Take back `commits`, or what a session or an agent did, as one new commit; later work stays.

        Of a session or an agent, only what was done after the revision or time `since`, and was not taken back
        before. Where the same lines were changed since, `take` decides: "ours" keeps what is there now, "theirs"
        takes them back all the same. Of a merge, what it brought into the branch is taken back. With `dry_run`
        nothing is written, and the answer says what would be.

        Raises:
            Conflicting: the same lines were changed since, and `take` is None.
            NotFound: there is no such commit.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        named = (commits,) if isinstance(commits, str) else tuple(commits)
        unwanted = Unwanted(named, session, agent, since)
        chosen = self._reverting.chosen(unwanted)

        def decide(scan: Scan) -> Draft:
            files = self._reverting.without(chosen, scan, take)
            self._check_may_restore(set(files))
            note = noted(self._note("revert", subject(chosen, unwanted)), chosen)
            return Draft(files, note, even_if_many)

        done = self._tried(decide) if dry_run else self._write(decide)
        return Reverted(done.commit, tuple(chosen), tuple(done.after), _diff(done))

    def undo(self, *, even_if_many: bool = False) -> Restored:
        """Take back the newest commit as a new one; undoing again brings it back.

        Raises:
            InvalidArguments: there is nothing to undo, or its files were changed since.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        commit, before, state = self._timeline.undone()
        note = noted(self._note("rollback", undoing(commit.subject)), [commit])
        return self._restored(before, state, note, even_if_many=even_if_many)

    def bisect(
        self,
        test: Test,
        since: str | None = None,
        until: str | None = None,
        progress: Callable[[Step], None] | None = None,
    ) -> Bisected:
        """The commit that made memory bad: `test` says of it at a moment whether it is good, None for cannot be told.

        Looked for after `since`, where it was good, and not after `until` (None: the newest commit), where it is bad.
        Without `since` the last good moment is looked for backwards, in steps that double. Takes about so many looks
        as the number of commits can be halved; `progress` is told of each. No file of the workspace is touched.

        Raises:
            InvalidArguments: it is good at `until`, bad at `since`, or good nowhere.
            NotFound: there is no such revision or time.
        """
        return bisected(self._timeline, self._moment, test, since, until, progress)

    def _moment(self, commit: str) -> Moment:
        files = partial(self._timeline.state_of, commit)
        return Moment(commit, files, self._history.blob, partial(self._source, commit, keep=False))

    def purge_plan(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Purge:
        """What `purge` would do; nothing is changed.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone.
        """
        return self._purger().plan(Wanted(name, text, pattern))

    def purge(
        self, name: str | None = None, *, text: str | None = None, pattern: str | None = None, force: bool = False
    ) -> Purge:
        """Erase an entry, a text, or what a regular expression finds, from the files and all of their history.

        Every commit from the first that holds it on gets another id; all else of them stays, but signatures.
        Nothing brings it back. Then every object and file is read: `standing` says where it still stands.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone, or, without `force`, remotes have what is purged.
        """
        self._upkeep.close()
        return self._purger().purge(Wanted(name, text, pattern), force)

    def standing(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Standing:
        """Where an entry, a text, or what a regular expression finds, stands in any object or file; changes nothing."""
        return self._purger().standing(Wanted(name, text, pattern))

    def _purger(self) -> "Purger":
        from .purging import Purger

        return Purger(self._workspace, self._history, self._writer, lambda: self._steadily(self._listing))

    def doctor(self, progress: Callable[[int], None] | None = None) -> list[Finding]:
        """What is wrong or odd about the workspace, errors first; nothing is changed.

        Reads the whole history, as `git fsck` does: `progress` is told how many objects it has seen.
        """
        from .doctor import Patient, examined

        try:
            scan = self._store.scan()
        except CrabmemError as error:
            return [Finding("error", "", str(error), "files")]
        parts = (self._workspace, self._history, self._writer, self._catalog, self._meaning)
        return examined(Patient(*parts, lambda: self.settings, scan, self._clock(), progress or (lambda count: None)))

    def compact(self, progress: Callable[[int], None] | None = None) -> Packed | None:
        """Pack what writes left behind, as happens by itself now and then; None when nothing was to be done.

        Others may read and write meanwhile. `progress` is told how many objects are packed. Work of that
        kind that was begun here is waited for.
        """
        self._upkeep.close()
        return self._history.compact(progress, whole=True)

    def reindex(self, progress: Progress | None = None) -> Reindexed:
        """Read every entry anew, and make the vectors that recall by meaning lacks, if the settings want it.

        Needed for nothing: recall does it by and by. `progress` is told of how many entries there are vectors. A
        model that the settings name is fetched when it is not on this machine; nothing else ever does that.

        Raises:
            EmbedderFailed: vectors cannot be made; words are found all the same.
        """
        self._catalog.begin_anew()
        listing = self._steadily(self._listing)
        self._catalog.save(least=1)
        rules = self.settings.vectors
        return (
            self._meaning.embed(listing, rules, progress)
            if self._meaning.is_wanted(rules)
            else Reindexed(len(listing.index))
        )

    def mend(self) -> list[str]:
        """Mend what can be mended without a choice; what was done, a line each.

        Finishes an interrupted write, stores again what the history lost and the disk has, brings Git's
        index in step, and keeps other users of the machine out.
        """
        from .doctor import open_to_others

        if not self._history.has_begun():
            return []
        done = self._writer.mend()
        if open_to_others(self.root):
            fs.chmod(self.root, fs.PRIVATE_FOLDER)
            done.append(f"{self.root} was made private")
        return done

    # What the operations share

    def _write(self, decide: Callable[[Scan], Draft]) -> Written:
        if not self._history.has_begun():
            decide(self._store.scan())  # what is refused anyway makes no workspace
            self.init()
        done = self._writer.write(decide)
        self._upkeep.nudge()
        return done

    def _tried(self, decide: Callable[[Scan], Draft]) -> Written:
        """What a write would do now."""
        scan = self._store.scan()
        changes = decide(scan).changes
        return Written(None, {path: scan.data(path) for path in changes}, changes)

    def _plan(self, scan: Scan) -> Plan:
        return Plan(self._catalog.listing(scan), scan, self.settings.secrets)

    def _seed(self, scan: Scan) -> Draft:
        """The first commit: an identity, where neither the person nor a parent has one."""
        seeds = {} if self._parent or IDENTITY in scan.files else {IDENTITY: prompt.template("identity").encode()}
        return Draft(seeds, Note("init: a new memory", identity(CREATOR)))

    def _write_file(self, path: str, content: str, tool: str, if_version: str | None) -> Changed:
        check_text("content", content)

        def decide(scan: Scan) -> Draft:
            file = scan.files.get(path)
            self._timeline.check_version(path, file, if_version)
            before = decoded(path, scan.data(path) or b"")
            text = in_style_of(content, before)
            refuse_new(text, before, self.settings.secrets)
            return Draft({path: text.encode()}, self._note(tool, path.rpartition("/")[2]))

        return self._changed(self._write(decide), path)

    def _restored(
        self,
        to: str,
        wanted: Callable[[Scan], Mapping[str, str | None]],
        note: Note,
        dry_run: bool = False,
        even_if_many: bool = False,
    ) -> Restored:
        """Write the blobs that `wanted` names by path (None: no file), and say what that changed."""

        def decide(scan: Scan) -> Draft:
            blobs = wanted(scan)
            changed = {path for path, blob in blobs.items() if blob != scan.blob(path)}
            self._check_may_restore(changed)
            data = {path: self._history.blob(blob) if (blob := blobs[path]) else None for path in sorted(changed)}
            return Draft(data, note, even_if_many)

        done = self._tried(decide) if dry_run else self._write(decide)
        return Restored(done.commit, to, tuple(done.after), _diff(done))

    def _check_may_restore(self, paths: set[str]) -> None:
        """Refuse an agent the way back to an identity or settings that the person has changed since."""
        if changed := sorted(paths & self._kept_from_agents()):
            raise Disabled(f"that would change {changed[0]}, which an agent may not; a person may go back")

    def _kept_from_agents(self) -> set[str]:
        """The files that whoever speaks here may not bring back: an agent those that are the person's."""
        if not self._voice.agent:
            return set()
        return {SETTINGS} if self.soul_editable else {SETTINGS, IDENTITY}

    def _changed(self, done: Written, path: str) -> Changed:
        """What a write did to the file at `path`."""
        before, data = done.before[path], done.after[path]
        commit = None if before == data else done.commit
        diff = unified_diff(shown(before), shown(data), path)
        origin = partial(self._timeline.origin, path, commit)
        told = warnings(shown(data) or "", shown(before), self.settings.secrets)
        if done.unrecorded:
            told += (done.unrecorded.words,)
        return Changed(path, version_of(data or b""), commit, before is None, diff, told, origin)

    def _saved(self, done: Written, path: str) -> Saved:
        change = self._changed(done, path)
        entry = parsed(path, done.after[path] or b"")
        return Saved(**vars(change), entry=entry)

    def _today(self) -> date:
        return self._clock().date()

    def _clock_ns(self) -> int:
        return int(self._clock().timestamp() * 1_000_000_000)

    def _note(self, tool: str, what: str) -> Note:
        return self._voice.note(tool, what, self.settings.person)

    def _path_of(self, name: str) -> str:
        """Where the entry called `name` is, or was when it was last written about; or MEMORY.md, Crab.md."""
        try:
            return whole_file(name) or self.get(name).path
        except NotFound:
            path = self._timeline.last_path(name)
            if path is None:
                raise
            return path

    def _path_at(self, name: str, commit: str) -> str:
        """Where the entry called `name` is, or else was at `commit`, or else when it was last written about."""
        try:
            return self._path_of(name)
        except NotFound:
            return self.get(name, commit).path

    def _steadily(self, read: Callable[[], T]) -> T:
        """What `read` says, asked again when a file changes between two looks at it."""
        for _ in range(_TRIES):
            try:
                return read()
            except Busy:
                continue
        return read()

    def _recalled(self, asked: Callable[[Settings], Question], since: str | None, until: str | None) -> Recall:
        listing = self._listing()
        rules, fits = self._settings_of(listing.scan), self._changed_within(listing.scan.blob, since, until)
        question, ranking = asked(rules), self._ranking(listing, rules)
        return recalled(listing, question, fits, ranking and ranking(question.query))

    def _recalled_of_old(
        self, as_of: str, asked: Callable[[Settings], Question], since: str | None, until: str | None
    ) -> Recall:
        commit = self._timeline.commit_at(as_of)
        source = self._source(commit)
        shelf, rules, ranking = self._past(commit), source.rules, source.ranking
        trouble = "" if ranking or not self._meaning.is_wanted(rules.vectors) else _ASKS_OTHERS
        question, fits = asked(rules), self._changed_within(shelf.blob, since, until, commit)
        found = recalled(shelf, question, fits, ranking and ranking(question.query))
        return replace(found, as_of=commit, trouble=found.trouble or trouble)

    def _ranking(self, shelf: Entries, rules: Settings) -> Callable[[str], Ranking] | None:
        """What ranks the answers to a question by more than words; None while nobody is named who could."""
        if not self._meaning.is_wanted(rules.vectors):
            return None
        return lambda query: partial(self._meaning.fused, shelf, rules.vectors, query)

    def _changed_within(
        self, blob: Callable[[str], str | None], since: str | None, until: str | None, latest: str | None = None
    ) -> Fits | None:
        """Whether what `blob` says is at a path was not there yet at `since`, and already at `until`.

        With `latest`, the commit that is looked at: what came after it is not known there.
        """
        if since is None and until is None:
            return None
        before = {} if since is None else self._timeline.state_since(since, latest)
        after = None if until is None else self._timeline.state_since(until, latest)

        def fits(path: str) -> bool:
            own = blob(path)
            return before.get(path) != own and (after is None or after.get(path) == own)

        return fits

    def _past(self, commit: str, keep: bool = True) -> Past:
        """The entries as they were at a commit; with `keep` the next process knows them, too."""
        return self._pasts.at(commit, self._rules_of(commit).language, keep)

    def _rules_of(self, commit: str) -> Settings:
        """The settings of a commit; the usual ones where they cannot be read."""
        blob = self._history.file(commit, SETTINGS)
        if blob is None:
            return Settings()
        seen = self._seen_then
        if seen[0] != blob:
            rules = Settings()
            with suppress(CrabmemError):
                rules = settings.parsed(decoded(SETTINGS, self._history.blob(blob)), SETTINGS)
            seen = self._seen_then = blob, rules
        return seen[1]

    def _source(self, commit: str, keep: bool = True) -> Source:
        """The entries of a commit, with the settings of then. Whom those of today do not name is asked nothing."""
        shelf, rules = self._past(commit, keep), self._rules_of(commit)
        is_same = self.settings.vectors.asks_like(rules.vectors)
        return Source(shelf, rules, self._today, self._ranking(shelf, rules) if is_same else None)

    def _listing(self) -> Listing:
        return self._catalog.listing(self._store.scan())

    def _document(self, path: str, at: str | None = None) -> Document:
        """A whole file; the parent's, without a version to write over, where there is none."""
        data, inherited = self._text(path, at)
        text = decoded(path, (data if data is not None else inherited) or b"")
        return Document(path, text, None if data is None else version_of(data))

    def _text(self, path: str, at: str | None) -> tuple[bytes | None, bytes | None]:
        """The bytes of a file, and of the parent's where there is none."""
        commit = None if at is None else self._timeline.commit_at(at)
        data = self._timeline.file(commit, path) if commit else self._store.read(path)
        if data is not None or self._parent is None:
            return data, None
        if commit:
            return None, self._timeline.file_of(self._parent, commit, path)
        return None, Store(self._parent, self._clock_ns).read(path)


def _diff(done: Written) -> str:
    """What a write changed, as a unified diff."""
    return "".join(unified_diff(shown(done.before[path]), shown(data), path) for path, data in done.after.items())


def _files(paths: Collection[str]) -> str:
    return f"{len(paths)} {'file' if len(paths) == 1 else 'files'}"


def _labels(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(labels, str):
        raise InvalidArguments(f"aliases and tags are lists of texts: give [{labels!r}]")
    return None if labels is None else tuple(labels)
