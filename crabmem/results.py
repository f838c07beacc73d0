"""What the operations of a memory return: values, no display texts. They are the contract of `--json` and tools too.

`json_of` makes plain data of them. A result whose JSON is not all of its fields says so in a class attribute `JSON`, a
line for each key, in order:

    "path"                  the attribute of that name, a field or a property
    "bytes=size"            the attribute `size`, under another name
    "commits=commits.brief" the attribute of an attribute; of each where it is a tuple, null where it is None
    "as_of?"                left out where it is None, "", empty, 0 or False

A key that comes twice stands where it was first, and says what it said last.
"""

from __future__ import annotations

from functools import partial

from .text.addresses import address
from .text.entry import Entry
from .text.hashes import short
from .text.values import field, fields_of, named_value, value
from .text.words import counted, listed, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any, ClassVar, Literal

    from .text.evaluation import Expectation, Figures
    from .text.spoken_to import Message

# Names in a note, and characters of each.
_NAMED = 10
_SHOWN = 80
# Sources of one fact that are told.
_SOURCES = 3
#: How sources stand that do not stand any more.
NOT_COMPARED = "not compared"
LOST = ("changed", "gone", NOT_COMPARED)
# How a model says that a stale fact is still true.
_SAVE_AGAIN = "Then save it with a later stale_after"

#: Who begins a memory: neither an agent nor a person.
CREATOR = "crabmem"
#: What stands in the reason of a proposal before the rule by which it waits.
WAITS = "waits: "
#: The words there where no setting is the reason, but `--propose`.
OF_SESSION = "its session proposes all that it writes"


@value
class JsonKey:
    """A key of a result's JSON: the names of the attributes that lead to its value, and whether it may be missing."""

    attributes: tuple[str, ...]
    is_optional: bool


_json_keys: dict[type, Mapping[str, JsonKey]] = {}


def json_keys(kind: type) -> Mapping[str, JsonKey]:
    """The keys of the JSON of a result of that type, in order; none for a type that is no result."""
    found = _json_keys.get(kind)
    if found is None:
        found = _json_keys[kind] = _keys_of(kind)
    return found


def _keys_of(kind: type) -> Mapping[str, JsonKey]:
    found = dict[str, JsonKey]()
    for line in getattr(kind, "JSON", fields_of(kind)):
        key, _, source = line.partition("=")
        name = key.removesuffix("?")
        found[name] = JsonKey(tuple((source or name).split(".")), key.endswith("?"))
    return found


#: Types whose values are plain data already. Asked before `json_of` is called: a list may have 10,000 entries.
_PLAIN = frozenset([str, int, float, bool, type(None)])
_LISTS = frozenset([tuple, list])


def json_of(value: Any) -> Any:
    """`value` as plain data: results and mappings are dicts, sequences are lists, times are ISO 8601."""
    if value.__class__ in _PLAIN:
        return value
    if value.__class__ in _LISTS:
        return [item if item.__class__ in _PLAIN else json_of(item) for item in value]
    if keys := json_keys(value.__class__):
        data: dict[str, Any] = {}
        for name, key in keys.items():
            item = value
            for attribute in key.attributes:
                item = getattr(item, attribute) if item is value else _attribute(item, attribute)
            if item or not key.is_optional:
                data[name] = item if item.__class__ in _PLAIN else json_of(item)
        return data
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "items"):
        return {key: json_of(item) for key, item in value.items()}
    return value if isinstance(value, str) else list(map(json_of, value))


def _attribute(value: Any, name: str) -> Any:
    if value.__class__ in _LISTS:
        return [_attribute(each, name) for each in value]
    return None if value is None else getattr(value, name)


def byline(author: str, session: str | None) -> str:
    """The author, and in brackets the session, if any."""
    return f"{author} [{session}]" if session else author


@value
class Commit:
    """One commit as people and programs read it.

    `commit` is its full id; `paths` are those that differ from its first parent, `entries` the names
    it gives as trailers. `tool`, `agent` and `session` are None where the commit does not say. `reverts` are
    the commits it took back, `restores` is the one whose files it brought back, `renamed` the paths of the entry that
    got another name, before and after, `applies` the proposal that it wrote. The two commits that moved a fact between
    memories have one `moved`, which no other has.
    """

    JSON = ("commit", "time", "author", "subject", "tool", "agent", "session", "paths")

    commit: str
    time: datetime
    author: str
    subject: str
    tool: str | None = None
    agent: str | None = None
    session: str | None = None
    entries: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    parents: tuple[str, ...] = field(default=(), repr=False)
    reverts: tuple[str, ...] = field(default=(), repr=False)
    restores: str | None = field(default=None, repr=False)
    renamed: tuple[str, str] | None = field(default=None, repr=False)
    applies: str | None = field(default=None, repr=False)
    moved: str | None = field(default=None, repr=False)

    @property
    def line(self) -> str:
        """Time, author and subject on one line."""
        return f"{self.time:%Y-%m-%d %H:%M}  {self.who}  {self.subject}"

    @property
    def who(self) -> str:
        """The author and session; a star marks a person."""
        return byline(f"{self.author}{'*' * self.is_person}", self.session)

    @property
    def is_person(self) -> bool:
        """Whether a person did this: by a file, Git or a command, and not an agent, with or without a name."""
        return not self.agent and self.author != CREATOR and not (self.tool and self.author == "agent")

    @property
    def moved_to(self) -> str:
        """The name of the memory that this commit moved a fact to, as its subject says; "" for none."""
        _, between, scope = self.subject.rpartition(" to ")
        return scope if self.tool == "move" and self.moved and between and " " not in scope else ""

    @property
    def brief(self) -> CommitBrief:
        """Which commit it is, when it was made and by whom: for lists in which its paths would be too much."""
        return CommitBrief(
            self.commit, self.time, self.author, self.subject, self.tool, self.agent, self.session, self.is_person
        )


@value
class CommitBrief:
    """A commit as it stands beside what it did: without its paths, and with whether a person made it."""

    commit: str
    time: datetime
    author: str
    subject: str
    tool: str | None
    agent: str | None
    session: str | None
    is_person: bool


@value
class Document:
    """A whole file: `text` is "" and `version` None while there is no such file."""

    path: str
    text: str
    version: str | None


@value
class ProposedFile:
    """What a proposal is to make of the file at `path`: its bytes, None for no file; `base` is what was there then."""

    JSON = ("path", "is_removed", "text")

    path: str
    data: bytes | None = field(repr=False)
    base: bytes | None = field(repr=False)

    @property
    def is_removed(self) -> bool:
        """Whether the file is to go."""
        return self.data is None

    @property
    def text(self) -> str | None:
        """The proposed text, as a diff shows it; None for no file."""
        return None if self.data is None else self.data.decode("utf-8", "replace")


@value
class Proposal:
    """What somebody would make of one file or of several that belong together, and why; a person decides.

    `id` is the commit that keeps it, `change` the words of that. `diff` is what applying it would change now; where it
    `clashes` with what was changed since, the way to it from what is there.
    """

    JSON = (
        "id", "time", "author", "agent", "session", "change", "reason", "path", "paths=files.path", "diff", "clashes",
        "text",
    )  # fmt: skip

    id: str
    time: datetime
    author: str
    agent: str | None
    session: str | None
    change: str
    reason: str
    files: tuple[ProposedFile, ...]
    diff: str = ""
    clashes: bool = False

    @property
    def main(self) -> ProposedFile:
        """The file that it is about; of several the first that is to say something."""
        return next((file for file in self.files if not file.is_removed), self.files[0])

    @property
    def path(self) -> str:
        """The path of that file."""
        return self.main.path

    @property
    def rule(self) -> str:
        """The rule of the settings by which it waits, or `OF_SESSION`; "" where it was proposed."""
        _, waits, rule = self.reason.rpartition(WAITS)
        return rule if waits else ""

    @property
    def why(self) -> str:
        """The reason that was given, without that rule."""
        return self.reason.removesuffix(f"{WAITS}{self.rule}").strip() if self.rule else self.reason

    @property
    def data(self) -> bytes | None:
        """What that file is to say; None for no file."""
        return self.main.data

    @property
    def base(self) -> bytes | None:
        """What that file said when it was proposed; None for no file."""
        return self.main.base

    @property
    def text(self) -> str | None:
        """The proposed text, as a diff shows it."""
        return self.main.text


@value
class Changed:
    """A file that was written: its commit (None: it said so already, or waits) and the diff ("" for none).

    `created` tells whether there was no such file before; `warnings` are for whoever asked for the write. What waits
    for a person of it, or all of it, is the `proposal`: `diff` is what that would change where nothing was.
    """

    JSON: ClassVar[tuple[str, ...]] = (
        "path", "version", "commit", "created", "diff", "warnings", "proposal?=proposal.id",
    )  # fmt: skip

    path: str
    version: str
    commit: str | None
    created: bool
    diff: str
    warnings: tuple[str, ...]
    origin: Callable[[], Commit | None] = field(repr=False, compare=False)
    proposal: Proposal | None = None

    @property
    def replaced(self) -> Commit | None:
        """The commit that wrote what stood there: who and when. None when nothing did. Looked up when asked."""
        return None if self.created else self.origin()

    def __getstate__(self) -> dict[str, Any]:
        """The fields for another process, which has no history to look `replaced` up in: it is looked up now."""
        return {**vars(self), "origin": partial(_looked_up, self.replaced)}


def _looked_up(commit: Commit | None) -> Commit | None:
    return commit


@named_value
class Saved(Changed):
    """An entry that was written; of one that waits for a person, as it would be.

    `like` is the one that says nearly the same, if it is new and there surely is one.
    """

    JSON = ("name=entry.name", "slug=entry.slug", *Changed.JSON, "like=like.name")

    entry: Entry
    like: Entry | None = None


@value
class Proposed(Changed):
    """A file that was not written, for a person decides on the `proposal`; `diff` is what that would change."""

    proposal: Proposal


@value
class Disputed:
    """A text of another machine that waits to be decided, and the newest commits that wrote what differs: of the file
    as it is (`ours`), and of what waits (`theirs`). None if the lines are not found in any commit.
    """

    JSON = (
        *(f"{key}=proposal.{key}" for key in (
            "id", "time", "author", "agent", "session", "change", "reason", "path", "diff", "clashes", "text"
        )),
        "paths=proposal.files.path", "ours", "theirs",
    )  # fmt: skip

    proposal: Proposal
    ours: Commit | None
    theirs: Commit | None

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.proposal.path


@value
class Synced:
    """What a sync did: the newest commit now (None: there is none yet), the paths of memory that came in, and how many
    commits went out.

    `is_joined` where both sides had something new. `disputed` are the paths of which it set another text aside, to be
    decided; `waiting` counts all texts of other machines that wait now. `kept` are paths that one machine removed and
    another changed: they stay; `copies` second files of what both changed beside memory, and what came in under another
    name than it has there, `left` files beside memory that stay as they are here although the head has another text,
    `moved` the new names of what stood here where a file
    or folder came in. `doubled` are names that several facts have, with
    their paths. `overruled` are commits by which another machine took a text that was rejected here. `held` says what
    many losses on disk were not recorded; "" for none. `rounds` counts how often it began again, as others were
    quicker. `purges` of other machines came in; `given_up` are paths at which changes of this machine went with them,
    `quoting` those of files that quote what they took, and stay.
    `is_rewritten` where what was purged here was taken out of the remote's branch; `still_there` are the references of
    the remote that have it all the same, `not_rewritten` Git's other remotes by name, where either happened.
    """

    remote: str
    commit: str | None
    taken: tuple[str, ...] = ()
    sent: int = 0
    is_joined: bool = False
    disputed: tuple[str, ...] = ()
    waiting: int = 0
    kept: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    doubled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overruled: tuple[str, ...] = ()
    held: str = ""
    rounds: int = 1
    purges: int = 0
    given_up: tuple[str, ...] = ()
    quoting: tuple[str, ...] = ()
    is_rewritten: bool = False
    still_there: tuple[str, ...] = ()
    not_rewritten: tuple[str, ...] = ()


@value
class Upcoming:
    """What a sync would bring from the `remote` and send there: commits, newest first, and so many `purges`."""

    remote: str
    come: tuple[Commit, ...]
    go: tuple[Commit, ...]
    purges: int = 0


@value
class SyncState:
    """What is known of syncing without asking the `remote` (None: none was named).

    How many commits it lacks, and how many of its were seen and not taken in; when a sync succeeded last, when it
    failed last, since when it does, and why. `waiting` texts of other machines wait to be decided. `next_try`
    is from when on it is tried again unasked; None for as soon as there is a reason, or never unasked. `shows_purged`
    says that something was purged here since the last sync, which the remote shows until the next, `purge_waits` that
    another machine purged something, which waits for a person's word here: until then nothing is taken in or sent.
    """

    remote: str | None
    ahead: int = 0
    behind: int = 0
    succeeded: datetime | None = None
    failed: datetime | None = None
    failing_since: datetime | None = None
    error: str = ""
    waiting: int = 0
    next_try: datetime | None = None
    shows_purged: bool = False
    purge_waits: bool = False


@value
class LeftOut:
    """A file of memory that is in no export, and why."""

    file: str
    reason: str


@value
class ExportedFile:
    """What became of a file of an export: it was "made", "replaced", "unchanged", "removed", or "kept", as somebody
    changed what memory has no more.

    `path` is the file of memory that it is made of, None where it is made of several, and `name` what is in it is
    called.
    """

    JSON = ("file", "state", "path", "name?")

    file: str
    state: str
    path: str | None
    name: str | None


@value
class Exported:
    """What an export wrote, or with `dry_run` would have; `left_out` is no part of the format, `unreadable` damaged."""

    JSON = ("place", "format=form", "dry_run", "files", "left_out", "unreadable")

    place: str
    form: str
    dry_run: bool
    files: tuple[ExportedFile, ...]
    left_out: tuple[LeftOut, ...]
    unreadable: tuple[LeftOut, ...]


@value
class Forgotten:
    """An entry that is gone from memory and stays in history; with a `proposal` it is there until a person decides.

    `scope` is what the memory is called that it was in; "" for the one at hand.
    """

    JSON = ("name", "path", "commit", "proposal?=proposal.id", "scope?")

    name: str
    path: str
    commit: str | None
    proposal: Proposal | None = None
    scope: str = ""


@value
class MovedFact:
    """A fact that is now at `path` of the memory called `to`, and was at `before` in another until `commit` there.

    `back` is the command that moves it back, where the memory at hand is neither: `crabmem undo` does not know of it.
    """

    name: str
    path: str
    before: str
    to: str
    commit: str | None
    back: str = ""


@value
class Match:
    """A word of the question, as it was asked, in one field of a hit, and how much that added to the score."""

    word: str
    field: str
    added: float


@value
class Line:
    """A line of a file, and the commit it came with.

    All about the commit is None while the line is not recorded; it then counts as a person's, as it will be.
    """

    number: int
    text: str
    commit: str | None
    time: datetime | None
    author: str | None
    tool: str | None
    agent: str | None
    session: str | None
    is_person: bool

    @classmethod
    def of(cls, number: int, text: str, commit: Commit | None) -> Line:
        """The line that came with `commit`."""
        if commit is None:
            return cls(number, text, None, None, None, None, None, None, True)
        said = commit.commit, commit.time, commit.author, commit.tool, commit.agent, commit.session
        return cls(number, text, *said, commit.is_person)


@value
class Sighting:
    """What a commit did to a fact in one file: it "appeared", "changed" or "vanished" there.

    `before` and `after` are the lines that say it.
    """

    JSON = (
        "what",
        "name",
        "path",
        "before",
        "after",
        *(f"{key}=commit.brief.{key}" for key in json_keys(CommitBrief)),
    )

    commit: Commit
    what: str
    path: str
    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@value
class Sightings:
    """When a fact was known, oldest first. `is_exact` tells whether the text was found word by word.

    `now` are the names of what says it on disk, `unrecorded` those of them whose files no commit has as they are.
    """

    query: str
    is_exact: bool
    steps: tuple[Sighting, ...]
    now: tuple[str, ...]
    unrecorded: tuple[str, ...] = ()


def authors(commits: Iterable[Commit]) -> tuple[str, ...]:
    """Whose commits they are, each once."""
    return tuple(dict.fromkeys(commit.author for commit in commits))


@value
class News:
    """What became of one entry or file in some time: by which commits, newest first.

    `steps` are the blobs before and after each stretch of those that went on from each other, the oldest first.
    """

    JSON = ("name", "path", "description", "authors", "commits=commits.brief")

    name: str
    path: str
    description: str
    commits: tuple[Commit, ...]
    steps: tuple[tuple[str | None, str | None], ...] = field(default=(), repr=False)

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote it in that time, who did so last first."""
        return authors(self.commits)

    @property
    def moved_to(self) -> str:
        """The name of the memory that the last of the commits moved it to; "" for none."""
        return self.commits[0].moved_to if self.commits else ""


@value
class SourceState:
    """How a `source` of a fact, PATH or PATH:LINE, stands: same, changed, gone, moved to where `now` says, or for the
    reason in `why` not compared.
    """

    JSON = ("source", "state", "now?", "why?")

    source: str
    state: str
    now: str = ""
    why: str = ""


def lost_of(sources: Iterable[SourceState]) -> tuple[SourceState, ...]:
    """Those sources that do not stand any more, wherever, or of which that cannot be told."""
    return tuple(each for each in sources if each.state in LOST)


def told_sources(sources: Iterable[SourceState]) -> str:
    """The words for sources that are not where they were, as "source moved: src/a.py:40"; "" for nothing."""
    told = [(each, shortened(each.now or each.source, _SHOWN)) for each in sources if each.state != "same"]
    words = [f"source {each.state}: {place}{each.why and f' ({each.why})'}" for each, place in told]
    return listed(words, _SOURCES)


def told_caveat(stale_since: str, sources: Iterable[SourceState], way_out: str = _SAVE_AGAIN) -> str:
    """The reasons against believing a fact as it stands; `way_out` is how a stale one is said to be still true."""
    stale = stale_since and f"stale since {stale_since}: still true? {way_out}"
    return ", ".join(filter(None, (stale, told_sources(sources))))


@value
class StaleFact:
    """A fact of which the last day is past on which it surely held, or whose `sources` do not stand any more."""

    JSON = ("name", "path", "description", "stale_since?", "sources?")

    name: str
    path: str
    description: str
    stale_since: str
    sources: tuple[SourceState, ...] = ()

    @property
    def why(self) -> str:
        """The reason, in brackets beside its name."""
        return f"since {self.stale_since}" if self.stale_since else told_sources(self.sources)


@value
class Digest:
    """What some time brought: from the commit `since` (None: the beginning) to `until`, by so many `commits`.

    `passing` is what was learned and dropped again. What was changed and changed back is nowhere. `stale` are the facts
    that are stale today, the oldest first, where the digest is of everybody and until now.
    """

    JSON = ("since", "until", "commits=count", "authors", "learned", "changed", "dropped", "passing", "stale")

    since: str | None
    until: str | None
    commits: tuple[Commit, ...]
    learned: tuple[News, ...]
    changed: tuple[News, ...]
    dropped: tuple[News, ...]
    passing: tuple[News, ...]
    stale: tuple[StaleFact, ...] = ()

    @property
    def sections(self) -> tuple[tuple[str, tuple[News, ...]], ...]:
        """Headings for a person, and what belongs below each; those of nothing are left out."""
        found = (
            ("Learned", self.learned),
            ("Changed", self.changed),
            ("Moved to another memory", tuple(each for each in (*self.dropped, *self.passing) if each.moved_to)),
            ("Dropped", tuple(each for each in self.dropped if not each.moved_to)),
            ("Learned and dropped again", tuple(each for each in self.passing if not each.moved_to)),
        )
        return tuple((title, news) for title, news in found if news)

    @property
    def count(self) -> int:
        """How many commits were made in that time."""
        return len(self.commits)

    @property
    def authors(self) -> tuple[str, ...]:
        """Who wrote in that time, who did so last first."""
        return authors(self.commits)


@value
class Untidy:
    """Facts that need a look, or a daily note: `kind` is why, `about` more of it, and `command` what mends it."""

    kind: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    about: str
    command: str


@value
class Provenance:
    """Where a fact comes from: the commits it was `learned` and `changed` last with, since it was last missing.

    Both are None while it is not recorded; with `is_recorded` False what stands there now is not in them.
    `authors` wrote it, who did so last first; `is_confirmed` tells whether a person is among them.
    """

    JSON = ("learned=learned.brief", "changed=changed.brief", "authors", "is_confirmed", "is_recorded")

    learned: Commit | None
    changed: Commit | None
    authors: tuple[str, ...]
    is_confirmed: bool
    is_recorded: bool


@value
class Indexed:
    """A fact as the index of many memories has it: the commit that wrote it last, and when that was.

    `behind` are the seconds since the memory's remote was known to say just this, None for never.
    """

    commit: str | None
    since: datetime | None
    behind: float | None

    @property
    def words(self) -> str:
        """The same for people and models."""
        since = f"since {self.since:%Y-%m-%d}" if self.since else ""
        written = f"{since} in {self.commit[:8]}" if self.commit else since
        behind = "index never in step" if self.behind is None else f"index {self.behind:.0f} s behind at most"
        return ", ".join(filter(None, (written, behind)))


@value
class Hit:
    """An entry that recall found, and its score: BM25's, or where meaning counts too one up to about 1.

    `passage` is what to show of the content: of a daily note what answers, of an entry what a budget held of it, None
    for all of it.
    `matches` say what words added to the score, when that was asked for, and `provenance` where it comes from. With
    `matches`, `lines` are the first and the last line of the passage that counts, if not all of the content does, and
    `by_meaning` is what of the score is for meaning, where that counts. `stale_since` is the last day on which a
    fact surely held that names one which is past; "" for all others. `scope` is the name of the memory it is from, ""
    where only one was searched. `sources` say how those of a fact stand that can be judged, where a project is known.
    `indexed` is what is known of it where every memory was asked.
    """

    JSON = (
        *(f"{key}=entry.{key.rstrip('?')}" for key in Entry.JSON),
        "content=shown",
        "is_cut",
        "score",
        "kind?",
        "matches?",
        "provenance?",
        "lines?",
        "by_meaning?",
        "stale_since?",
        "scope?",
        "sources?",
        "indexed?",
    )

    entry: Entry
    score: float
    passage: str | None = None
    matches: tuple[Match, ...] = ()
    provenance: Provenance | None = None
    lines: tuple[int, int] | None = None
    by_meaning: float | None = None
    stale_since: str = ""
    scope: str = ""
    sources: tuple[SourceState, ...] = ()
    indexed: Indexed | None = None

    @property
    def address(self) -> str:
        """The path, behind the name of the memory where several were searched."""
        return address(self.scope, self.entry.path) if self.scope else self.entry.path

    @property
    def caveat(self) -> str:
        """The reasons against believing it as it stands, as a model reads it; "" for nothing."""
        return self.caveat_with(_SAVE_AGAIN)

    def caveat_with(self, way_out: str) -> str:
        """The same with another way to say that a stale fact is still true."""
        indexed, told = self.indexed.words if self.indexed else "", told_caveat(self.stale_since, self.sources, way_out)
        return ", ".join(filter(None, (indexed, told)))

    @property
    def shown(self) -> str:
        """The content, or the passage of it that fits."""
        return self.entry.content if self.passage is None else self.passage

    @property
    def is_cut(self) -> bool:
        """Whether only a passage of the content is shown."""
        return self.passage is not None

    @property
    def kind(self) -> Literal["note"] | None:
        """ "note" for a daily note, which is no entry; None for an entry."""
        return "note" if self.entry.is_note else None


@value
class Recall:
    """What recall found, best first. `searched` entries were looked at, `unreadable` files could not be.

    `is_filtered` says that only some of them might be found; `left_out` names those found that the budget
    did not hold; `unsaid` are what was in quotes, when no entry says it word by word and words had to do. `trouble`
    is why meaning did not count although it should. `as_of` is the commit whose memory was searched, None for today's.
    `notes` are the daily notes that were looked at besides; `has_overview` tells of no facts at all but of an overview.
    `missing` says how many facts are gone from the disk, where nothing was found and many are; else "". `sessions` are
    passages of past sessions and of texts elsewhere, where these were asked for, too. `is_by_meaning` says that scores
    are for meaning, too, and up to about 1.
    """

    JSON = ("query", "hits", "searched", "note", "left_out", "as_of?", "sessions?")

    query: str
    hits: tuple[Hit, ...]
    searched: int
    unreadable: int
    has_words: bool
    is_filtered: bool = False
    left_out: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    trouble: str = ""
    as_of: str | None = None
    notes: int = 0
    has_overview: bool = False
    missing: str = ""
    sessions: tuple[FileHit, ...] = ()
    is_by_meaning: bool = False

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]

    @property
    def note(self) -> str:
        """Why nothing was found, what was cut or left out, what could not be looked at, and as of when; "" for none."""
        blind = self.has_words and not self.searched and self.unreadable
        reasons = [] if self.hits or blind else [self._reason()]
        cut = sum(hit.passage is not None and not hit.entry.is_note for hit in self.hits)
        if self.unsaid and self.hits:
            reasons.append(_unsaid("fact", self.unsaid))
        if cut:
            reasons.append(f"{counted(cut, 'fact')} cut to the passage that matched")
        if self.left_out:
            reasons.append(f"left out, as the budget holds no more: {_first(self.left_out)}")
        return "; ".join([*reasons, *_blind_spots(self)])

    def _reason(self) -> str:
        if self.missing:
            return f"{self.missing}; `crabmem restore` brings them back"
        if not self.has_words:
            return _NO_WORD
        if not self.searched and not self.notes:
            return "no fact yet; all there is stands in the overview" if self.has_overview else _NOTHING
        some = ", with the tags and dates that were asked for" if self.is_filtered else ""
        notes = f" and {counted(self.notes, 'note')}" if self.notes else ""
        return f"no match in {counted(self.searched, 'fact')}{notes}{some}"


@value
class FileHit:
    """A section of a file that a search found: the lines it begins and ends in, and the passage that matched.

    `path` is whole where the file lies outside of the workspace: `source` is then "extra" for a text of a folder that a
    person named, and "sessions" for a transcript, of which `session` is the name and `time` when this was said.
    """

    path: str
    start: int
    end: int
    score: float
    snippet: str
    source: Literal["memory", "extra", "sessions"] = "memory"
    session: str = ""
    time: datetime | None = None

    @property
    def title(self) -> str:
        """A heading for it: which session and when, else the name of the file."""
        when = f", {self.time:%Y-%m-%d %H:%M} UTC" if self.time else ""
        return f"Session {self.session}{when}" if self.source == "sessions" else self.path.rpartition("/")[2]


@value
class FileSearch:
    """What a search over files found, best first. `searched` files of `size` bytes were looked at.

    The others are as in `Recall`.
    """

    query: str
    hits: tuple[FileHit, ...]
    searched: int
    size: int
    unreadable: int
    has_words: bool
    unsaid: tuple[str, ...] = ()
    trouble: str = ""
    as_of: str | None = None

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[FileHit]:
        return iter(self.hits)

    def __getitem__(self, position: int) -> FileHit:
        return self.hits[position]

    @property
    def note(self) -> str:
        """Why nothing was found, and what else is to be said; "" for nothing."""
        return "; ".join(filter(None, (self.reason, self.aside)))

    @property
    def reason(self) -> str:
        """Why nothing was found; "" when something was, or nothing could be looked at."""
        if self.hits or (self.has_words and not self.searched and self.unreadable):
            return ""
        if not self.has_words:
            return _NO_WORD
        return f"no match in {counted(self.searched, 'file')}" if self.searched else "there are no memory files yet"

    @property
    def aside(self) -> str:
        """What is not as it was asked for, what could not be looked at, and as of when; "" for nothing."""
        odd = [_unsaid("file", self.unsaid)] if self.unsaid and self.hits else []
        return "; ".join([*odd, *_blind_spots(self)])


@value
class Excerpt:
    """Lines of a file as they are, from the line `start` on; `total` is how many the whole file has."""

    path: str
    start: int
    lines: tuple[str, ...]
    total: int
    version: str


_NO_WORD = "nothing to search for: only common words or signs"
_NOTHING = "this memory is empty"


def _unsaid(what: str, phrases: Iterable[str]) -> str:
    return f"no {what} says {_first(map(_quoted, phrases))} word by word; these have the words"


def _blind_spots(found: Recall | FileSearch) -> Iterator[str]:
    """Notes on files that could not be read, on the time that was searched, and on trouble with meaning."""
    if found.unreadable:
        yield unreadable_note(found.unreadable)
    if found.as_of:
        yield f"as memory was at {short(found.as_of)}"
    if found.trouble:
        yield found.trouble


def unreadable_note(count: int) -> str:
    """The note on so many files that could not be read; "" for none."""
    return f"{counted(count, 'file')} unreadable (`crabmem doctor` names them)" if count else ""


def _quoted(text: str) -> str:
    return f'"{shortened(text, _SHOWN - 2)}"'


def _first(texts: Iterable[str]) -> str:
    """The first of `texts`, shortened: a note is no second answer."""
    return listed([shortened(text, _SHOWN) for text in texts], _NAMED)


@value
class Reindexed:
    """What reading everything anew came to: the entries and sections of files, who makes vectors ("": nobody), and
    how many it made now."""

    JSON = ("facts=entries", "embedder", "dimension", "made", "sections")

    entries: int
    embedder: str = ""
    dimension: int = 0
    made: int = 0
    sections: int = 0


@value
class Reference:
    """A link in the file at `path`: what it says, and the path it leads to; None for nowhere."""

    path: str
    target: str
    to: str | None


@value
class Links:
    """The links out of a file of memory and into it; of all memory, with no `path`, those that lead nowhere alone.

    `unreadable` files could not be looked at.
    """

    JSON = ("path", "out", "in=into", "broken")

    path: str | None
    out: tuple[Reference, ...]
    into: tuple[Reference, ...]
    broken: tuple[Reference, ...]
    unreadable: int = 0


@value
class Renamed:
    """An entry that has another name: its commit (None: it was called so already), its paths, the files and the diff.

    Links in the files at `left`, which whoever asked may not write, do not lead there any more. All of it is the
    `proposal` where it waits for a person.
    """

    JSON = (
        "name", "before", "path", "path_before", "commit", "paths", "left", "diff", "proposal?=proposal.id",
    )  # fmt: skip

    name: str
    before: str
    path: str
    path_before: str
    commit: str | None
    paths: tuple[str, ...]
    left: tuple[str, ...]
    diff: str
    proposal: Proposal | None = None


@value
class Rewritten:
    """Files that were written, moved or removed: the commit (None: nothing differed) and the paths."""

    commit: str | None
    paths: tuple[str, ...]
    warnings: tuple[str, ...]
    compared: Callable[[], str] = field(repr=False, compare=False)

    @property
    def diff(self) -> str:
        """The unified diff, made when asked."""
        return self.compared()


@value
class Begun:
    """What a workspace was given to begin with: its folder, the commit (None: nothing was missing), and the files.

    `made`: its history was begun now. `left` are files that were there already, and stay as they are. `unread` are
    files that were the identity or the overview for the profile before, with the paths of those that are it now.
    """

    JSON = ("path=root", "made", "commit", "paths", "left", "unread?")

    root: str
    made: bool
    commit: str | None
    paths: tuple[str, ...]
    left: tuple[str, ...]
    unread: Mapping[str, str] | None = None


@value
class Agent:
    """An agent that has a workspace of its own: how many entries are in it, and when it was last written, if ever."""

    JSON = ("name", "path=root", "facts=entries", "written")

    name: str
    root: str
    entries: int
    written: datetime | None


@value
class Restored:
    """A rollback or undo: its commit (None: nothing differed, or all of it waits), the commit gone back to, the files
    and the diff.

    Of the files those in `removed` are not there any more. `operation` is what was undone or redone, if it was that.
    `proposal` has what waits for a person of it, or the first of several: its files are among `paths`, too.
    """

    JSON = ("commit", "to", "operation?", "paths", "removed", "diff", "proposal?=proposal.id")

    commit: str | None
    to: str
    paths: tuple[str, ...]
    diff: str
    removed: tuple[str, ...] = ()
    operation: Commit | None = None
    proposal: Proposal | None = None


@value
class Reverted:
    """Commits taken back: the new commit (None: nothing differs without them, or all of it waits), the files and the
    diff.

    `commits` are those taken back, newest first, without their paths; of those `in_part` something was kept, as it was
    changed since. `proposal` has what waits for a person of it, or the first of several: its files are among `paths`,
    too.
    """

    JSON = ("commit", "reverted=commits.commit", "in_part=in_part.commit", "paths", "diff", "proposal?=proposal.id")

    commit: str | None
    commits: tuple[Commit, ...]
    paths: tuple[str, ...]
    diff: str
    in_part: tuple[Commit, ...] = ()
    proposal: Proposal | None = None


@value
class Purge:
    """What a purge will do, or did. Nothing in it holds what is purged: names and paths are as they are afterwards.

    `entries` are names of entries that hold it, or go; `erased` the paths of the files that go with all they ever
    held; `paths` files that change, by the path they get; of `commits` so many are `rewritten`. `copies` are files that
    quote what goes, and stay: so many lines of it, 0 where they only name it. `remotes` are those, by name and
    address, that have commits which are rewritten, `unknown` those of which nobody here knows what they have;
    `syncs_with` is the address of the remote that has it until the next sync, "" for none.
    `leftovers` are editors' and crabmem's own files. `nested` are the repositories inside the workspace that hold it.
    `elsewhere` are the folders outside of it that are searched, into which no purge looks. `beside` are the folders of
    the other memories that the session sees, each with the number of its files that hold it, which stay.
    """

    JSON = (
        "facts=entries", "paths", "commits", "rewritten", "messages", "versions", "refs", "signatures", "unreachable",
        "leftovers", "copies", "remotes", "unknown", "syncs_with?", "nested", "erased", "purged=is_done", "standing",
        "elsewhere?", "beside?",
    )  # fmt: skip

    entries: tuple[str, ...]
    paths: tuple[str, ...]
    commits: int
    rewritten: int
    messages: int
    versions: int
    refs: int
    signatures: int
    unreachable: int
    leftovers: int
    copies: Mapping[str, int]
    remotes: Mapping[str, str]
    unknown: Mapping[str, str] = {}
    nested: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    is_done: bool = False
    standing: Standing | None = None
    syncs_with: str = ""
    elsewhere: tuple[str, ...] = ()
    beside: Mapping[str, int] = {}


@value
class Standing:
    """A look at every object and file of a workspace: how many, how many bytes, and where it still stands.

    `unread` are those that could not be looked into, and why: they may hold it. Those of them that the system did not
    let us read are `unreadable` too; others are compressed, or too large. `beside` is as in `Purge`, of which this is
    a part: it is empty there. `only_name` says that no fact has or had the name that was asked for: if one was purged,
    what it said is not known any more, and only the name was looked for.
    """

    JSON = ("objects", "files", "bytes=size", "places", "unread", "unreadable", "beside?", "only_name?")

    objects: int
    files: int
    size: int
    places: tuple[str, ...]
    unread: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    beside: Mapping[str, int] = {}
    only_name: bool = False


@value
class Stats:
    """How much there is, and how often it spoke.

    Of the last `turns` turns in so many `sessions`, from `since` on (None: there was none), memory `spoke` before
    some: it told a fact so many times (`facts`: one that several turns were told counts each time), in so many
    `characters`. A turn without the name of a session is in none.
    """

    JSON = (
        "facts=entries", "unreadable", "turns", "spoke", "told=facts", "characters", "sessions", "since",
    )  # fmt: skip

    entries: int
    unreadable: int
    turns: int
    spoke: int
    facts: int
    characters: int
    sessions: int
    since: datetime | None


@value
class UnrecordedEdit:
    """A file that is not as the newest commit has it: `state` is "new", "changed" or "removed"."""

    path: str
    state: Literal["new", "changed", "removed"]


@value
class Paused:
    """A pause of memory on this machine: since when, until when (None: until a person resumes it), and whether agents
    keep their tools meanwhile.
    """

    since: datetime
    until: datetime | None
    tools: bool


@value
class Status:
    """How a workspace stands: what is in it, who wrote `last`, and the `edits` that no commit has yet.

    `missing` counts facts that are gone from the disk without a word of the person. `agents` have a workspace of their
    own in it; so many `proposals` wait for a person, the oldest `waiting_since` then (None: none does). `in_progress`
    is what the person is in the middle of with Git, as "rebase"; `odd` says what else is to be minded, a line each.
    `sync` is how syncing stands, None where no remote was named, `paused` the pause that there is.
    """

    JSON = (
        "path=root", "begun=is_begun", "profile", "facts", "unreadable", "last_write=last", "edits", "missing",
        "agents", "proposals", "waiting_since", "in_progress", "odd", "sync", "paused",
    )  # fmt: skip

    root: str
    is_begun: bool
    profile: str
    facts: int
    unreadable: int
    agents: tuple[str, ...]
    last: Commit | None
    edits: tuple[UnrecordedEdit, ...]
    proposals: int
    in_progress: str | None
    odd: tuple[str, ...]
    waiting_since: datetime | None = None
    sync: SyncState | None = None
    paused: Paused | None = None
    missing: int = 0


@value
class Finding:
    """Something `doctor` has to say: `level` is "info", "warning" or "error", `check` what it was looking at."""

    JSON = ("level", "check", "path", "message")

    level: str
    path: str
    message: str
    check: str = ""


@value
class Step:
    """One look of a bisection: the how manieth, of about how many, at which commit.

    `is_good` is None where it could not be told.
    """

    number: int
    about: int
    commit: str
    is_good: bool | None


@value
class Bisected:
    """Who changed an answer: the one commit, or those among which it could not be told, from the oldest on.

    It was good at the commit `good` and bad at `bad`; of `commits` so many were `looked_at`.
    """

    JSON = ("commit", "suspects", "good", "bad", "looked_at", "commits")

    suspects: tuple[Commit, ...]
    good: str
    bad: str
    looked_at: int
    commits: int

    @property
    def commit(self) -> Commit | None:
        """The commit, when it is known to be the one."""
        return self.suspects[0] if len(self.suspects) == 1 else None


@value
class Answer:
    """What recall made of a question: what it found, what is `missing` of what was wanted, and how good that is.

    `is_right` tells whether all of it was found, and came first where that was asked.
    """

    JSON = (
        "query=question.query",
        "find=question.find",
        "first=question.first",
        "missing",
        "found=recall.hits.entry.slug",
        "figures",
    )

    question: Expectation
    recall: Recall
    missing: tuple[str, ...]
    is_right: bool
    figures: Figures

    @property
    def rank(self) -> tuple[float, float]:
        """What a better answer has more of; beyond the tenth place, the first hit decides."""
        return self.figures.ndcg10, self.figures.mrr


@value
class AnswerPair:
    """The answers to one question, of the past and of now."""

    JSON = ("query=now.question.query", "past", "now")

    past: Answer
    now: Answer


@value
class Evaluation:
    """How good recall is: the answers to questions, with at most `limit` hits each.

    `past` is the same for the memory as it was, if that was asked; `elsewhere` are questions that were not
    asked, as they are for other workspaces.
    """

    JSON = ("limit", "elsewhere=unasked", "questions", "figures", "misses", "past=comparison")

    answers: tuple[Answer, ...]
    limit: int
    elsewhere: tuple[Expectation, ...] = ()
    past: Evaluation | None = None

    @property
    def unasked(self) -> int:
        """How many questions were not asked."""
        return len(self.elsewhere)

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return len(self.answers)

    @property
    def figures(self) -> dict[str, float]:
        """The means of all answers, by name: R@1/5/10, MRR, nDCG@10, and the share of answers that are right."""
        from .text.evaluation import mean  # late: who only recalls needs no measures

        right = len(self.answers) - len(self.misses)
        return {**mean(answer.figures for answer in self.answers).by_name(), "right": right / len(self.answers)}

    @property
    def misses(self) -> tuple[Answer, ...]:
        """The answers that are not right."""
        return tuple(answer for answer in self.answers if not answer.is_right)

    @property
    def better(self) -> tuple[AnswerPair, ...]:
        """The questions that are answered better than in the past."""
        return tuple(pair for pair in self._pairs() if pair.past.rank < pair.now.rank)

    @property
    def worse(self) -> tuple[AnswerPair, ...]:
        """The questions that are answered worse than in the past."""
        return tuple(pair for pair in self._pairs() if pair.past.rank > pair.now.rank)

    @property
    def comparison(self) -> Mapping[str, object] | None:
        """The past, and what is better and worse now; None where it was not asked for."""
        if self.past is None:
            return None
        past = {key: getattr(self.past, key) for key in ("questions", "figures", "misses")}
        return {**past, "better": self.better, "worse": self.worse}

    def _pairs(self) -> Iterator[AnswerPair]:
        if self.past:
            for past, now in zip(self.past.answers, self.answers, strict=True):
                yield AnswerPair(past, now)


@value
class Reaction:
    """What auto-recall made of a message: the entries it `told`, by their slugs, and the highest confidence in any.

    `is_right` tells whether it spoke where it was to, of one of the entries that were named, and was silent elsewhere.
    """

    JSON = ("text=message.text", "kind=message.kind", "speak=message.speak", "find=message.find", "told", "confidence")

    message: Message
    told: tuple[str, ...]
    confidence: float
    is_right: bool


@value
class Reactions:
    """How well auto-recall tells messages apart at a `threshold`; `unasked` are messages for other workspaces."""

    JSON = ("threshold", "unasked", "messages", "figures", "kinds", "wrong")

    reactions: tuple[Reaction, ...]
    threshold: float
    unasked: int = 0

    @property
    def messages(self) -> int:
        """How many messages there were."""
        return len(self.reactions)

    @property
    def figures(self) -> dict[str, float]:
        """Shares: `spoken` of the messages to speak before, `silent` of the others, `right` of all.

        Of none, all.
        """
        to_speak = [each for each in self.reactions if each.message.speak]
        others = [each for each in self.reactions if not each.message.speak]
        return {
            "spoken": _share(to_speak, lambda each: bool(each.told)),
            "silent": _share(others, lambda each: not each.told),
            "right": _share(self.reactions, lambda each: each.is_right),
        }

    @property
    def kinds(self) -> dict[str, dict[str, float]]:
        """By kind, in the order of the file: how many messages, which share was spoken to, and which is right."""
        kinds: dict[str, list[Reaction]] = {}
        for each in self.reactions:
            kinds.setdefault(each.message.kind, []).append(each)
        return {
            kind: {
                "messages": len(those),
                "spoken": _share(those, lambda each: bool(each.told)),
                "right": _share(those, lambda each: each.is_right),
            }
            for kind, those in kinds.items()
        }

    @property
    def wrong(self) -> tuple[Reaction, ...]:
        """What is not right."""
        return tuple(each for each in self.reactions if not each.is_right)


def _share(reactions: Sequence[Reaction], has: Callable[[Reaction], bool]) -> float:
    return sum(map(has, reactions)) / len(reactions) if reactions else 1.0
