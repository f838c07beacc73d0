"""A profile: which files and texts go before a conversation, in which order and how much of each, which tools an
agent gets, how files are searched, and what a new workspace begins with.

A family of agents is such a file of data; nothing anywhere asks for a profile's name.
"""

import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from ..errors import InvalidArguments, InvalidSettings
from ..recall.sections import Search
from ..text import toml as tables
from ..text.entry import MAX_CONTENT
from ..text.limits import MAX_PROMPT
from ..text.patterns import Patterns, covers, matches
from ..text.slug import name_key
from ..text.templates import template
from ..workspace.layout import FLAT, ORDINARY, Layout, is_contained
from .budget import Budget
from .windows import Window

#: The kinds of sessions: who is there to read along, and what the session is for.
Kind = Literal["main", "subagent", "scheduled", "heartbeat", "group"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: What is in no file: made of the tools, the clock, the machine, or of what became of the files. `notes` says how
#: many daily notes there are and where, `salient` the facts that matter most.
Say = Literal["tools", "time", "place", "cut", "notes", "salient"]

_TEMPLATE = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)*")
# More than anybody writes into a profile.
_LARGEST = 1_000_000
_NOT_KEPT = "which history does not keep; name a .md file of the workspace"
_SOURCES = ("file", "notes", "words", "template", "say")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part: a `file` of the workspace ({identity} and {overview} stand for those of its layout), the daily
    `notes` of so many days from today on back, `words` themselves, a text of crabmem's by the name of its `template`,
    or what we `say`. {tools} in words stands for the list of tools.

    `title` goes above it, {file} standing for its name; with `is_titled` only where it has no heading of its own.
    `tag` is a block around it that its text cannot close. `kinds` are the sessions that see it (none named: all).
    `of`: whose file, an agent's own or its parent's. `lines`: so many of the last lines, 0 for all. `limit` is its
    own number of characters, and `share` the name of one that parts have together; `keep` says which end stays of
    what is too long. `default` names the text that stands in for a file nobody has, `given` a file without which the
    part is left out.
    """

    file: str = ""
    notes: Annotated[int, Meta(ge=0, le=100)] = 0
    words: str = ""
    template: str = ""
    say: Say | Literal[""] = ""
    title: str = ""
    is_titled: bool = False
    tag: Annotated[str, Meta(max_length=40, pattern=r"^(?:[A-Za-z](?:[\w-]*[A-Za-z0-9])?)?\Z")] = ""
    kinds: tuple[Kind, ...] = ()
    of: Literal["nearest", "own", "parent"] = "nearest"
    lines: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PROMPT)] | None = None
    share: str = ""
    keep: Literal["both", "head", "tail"] = "both"
    default: str = ""
    given: str = ""

    @property
    def is_read(self) -> bool:
        """Whether it is made of files of the workspace."""
        return bool(self.file or self.notes)


class Seed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file begins with that nobody wrote: the text of a `template`, or `words`; in whose workspace.

    {name} and {description} in it stand for those of an agent. With `is_first` only in a workspace with no file yet:
    for what the first session does away with.
    """

    file: str
    template: str = ""
    words: str = ""
    is_first: bool = False
    of: Literal["any", "agent", "parent"] = "any"


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is different in sessions of a kind: its `tools` instead of the others, the files it may not see, neither
    in the prompt nor by any tool, and whether it is asked to store what a full window would lose.

    A pattern in `hides` that stands for a folder hides all that is below it, however deep: `memory/entries/secret` and
    `memory/entries/secret/*` do the same. `!` before a pattern shows the files again that it stands for, no others.
    """

    tools: tuple[str, ...] | None = None
    hides: Patterns = ()
    flush: bool = True


class Places(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which files of the workspace are what; see `workspace.Layout`."""

    identity: str = ORDINARY.identity
    overview: str = ORDINARY.overview
    entries: Annotated[tuple[str, ...], Meta(min_length=1, max_length=100)] = ORDINARY.entries
    notes: str = ORDINARY.notes
    memory: str = ORDINARY.memory
    beside: Annotated[tuple[str, ...], Meta(max_length=100)] = ORDINARY.beside
    learnings: str = ORDINARY.learnings
    recall_notes: bool = False


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file. `between` goes between parts, `missing` in the place of a file that is not there, {path} in it
    standing for where it was expected. `tools` are families of tools, or `family.tool`. `layout` of None is what the
    settings of a workspace say. `largest` is how many characters may be written to a whole file, facts and notes apart.
    `clone` are the files that another agent is given a copy of, `append_only` (patterns) those to which tools that
    write whole files may only add. `quiet` are the seconds without a change after which the watcher records a burst
    of edits, None for its own. `parent` is the way from an agent's folder in `agents/` to the workspace that gives what
    the agent lacks, where that is not the folder around `agents/`: `adopt` follows it.
    """

    about: str
    part: Annotated[tuple[Part, ...], Meta(max_length=100)]
    between: str = "\n\n"
    missing: str = ""
    budget: Budget = Budget()
    shares: dict[str, Annotated[int, Meta(ge=1, le=MAX_PROMPT)]] = {}
    layout: Places | None = None
    kinds: dict[Kind, Session] = {}
    tools: tuple[str, ...] = ("entries", "files")
    search: Search = Search()
    window: Window = Window()
    largest: Annotated[int, Meta(ge=1, le=MAX_CONTENT)] = MAX_CONTENT
    seed: Annotated[tuple[Seed, ...], Meta(max_length=100)] = ()
    clone: Patterns = ()
    append_only: Patterns = ()
    quiet: Annotated[float, Meta(ge=0, le=60)] | None = None
    parent: Annotated[str, Meta(max_length=300)] = ""

    def parts_for(self, kind: Kind) -> list[Part]:
        """What a session of that kind sees, in order."""
        return [part for part in self.part if not part.kinds or kind in part.kinds]

    def tools_for(self, kind: Kind) -> tuple[str, ...]:
        """The families of tools, or tools, that a session of that kind gets."""
        own = self.kinds.get(kind, Session()).tools
        return self.tools if own is None else own

    def limits_tools(self, kind: Kind) -> bool:
        """Whether a session of that kind gets no tool but those."""
        return self.kinds.get(kind, Session()).tools is not None

    def flushes(self, kind: Kind) -> bool:
        """Whether a session of that kind is asked to store what a full window would lose."""
        return self.kinds.get(kind, Session()).flush

    def finds(self, path: str) -> bool:
        """Whether agents come upon the file at `path` without recall: by a search over files, or by its name where
        there is no such search."""
        return self.layout is not None and (not self.search.files or matches(path, self.search.files))

    def only_grows(self, path: str) -> bool:
        """Whether tools may only add to the file at `path`."""
        return matches(path, self.append_only)

    def hides(self, path: str, kind: Kind) -> bool:
        """Whether a session of that kind may not see the file at `path`, or a folder it is in, in whatever case its
        name is written."""
        hidden = self.kinds.get(kind, Session()).hides
        return bool(hidden) and covers(name_key(path), [*map(name_key, hidden)])

    def hides_any(self, kind: Kind) -> bool:
        """Whether there are files that a session of that kind may not see."""
        return bool(self.kinds.get(kind, Session()).hides)


@lru_cache(maxsize=16)  # asked of every file that a session may see
def parsed(text: str, file: str) -> Profile:
    """The profile that `text` is; `file` is named in errors.

    Raises:
        InvalidSettings: it is none.
    """
    profile = tables.read(text, file, Profile)
    if wrong := next(_faults(profile, file), None):
        raise InvalidSettings(f"{file}: {wrong}")
    return profile


def _faults(profile: Profile, file: str) -> Iterator[str]:
    """What is wrong with a profile although each of its values could be."""
    shown = layout_of(file, profile) or FLAT  # whose workspace may be flat: Markdown anywhere in it
    for number, part in enumerate(profile.part, 1):
        if part.file and not shown.is_kept(shown.named(part.file)):
            yield f"part {number} is {part.file}, {_NOT_KEPT}"
        if sum(bool(getattr(part, source)) for source in _SOURCES) != 1:
            yield f"part {number} must name one of {', '.join(_SOURCES)}"
        if part.share and part.share not in profile.shares:
            yield f"part {number} has the share {part.share}, which is not among `shares`"
    layout = layout_of(file, profile) or ORDINARY
    yield from _lost(profile, layout)
    for number, seed in enumerate(profile.seed, 1):
        if bool(seed.template) == bool(seed.words):
            yield f"seed {number} must name one of template, words"
        if not layout.is_kept(layout.named(seed.file)):
            yield f"seed {number} is {seed.file}, {_NOT_KEPT}"
    for kind, path in ((kind, path) for kind, session in profile.kinds.items() for path in session.hides):
        if "{" in path:
            yield f"kinds.{kind} hides {path}; name the file itself"
    if profile.kinds.get("main", Session()).hides:
        yield "sessions of the kind main see everything; hide files from other kinds"


def _lost(profile: Profile, layout: Layout) -> Iterator[str]:
    """What leads out of the workspace, or out of our templates: a profile may have come with a folder of others."""
    for key, path in layout.lost():
        yield (
            f"layout.{key} is {path or 'blank'}, whose history would not be kept; name Markdown at the top of the "
            "workspace, or what is below `memory` or `beside` it"
        )
    if layout.identity.casefold() == layout.overview.casefold():
        yield "layout needs identity and overview in two files"
    for path in (part.given for part in profile.part if part.given):
        if not is_contained(layout.named(path)):
            yield f"{path} is not in the workspace; name a file in it"
    templates = (*(part.template or part.default for part in profile.part), *(seed.template for seed in profile.seed))
    for name in filter(None, templates):
        if not _is_template(name):
            yield f"crabmem has no template {name}; say it in `words`"


def _is_template(name: str) -> bool:
    """Whether there is a text of ours that is called so; one that leads elsewhere is none."""
    try:
        return bool(_TEMPLATE.fullmatch(name) and template(name))
    except OSError:
        return False


def checked_kind(kind: str) -> Kind:
    """`kind`, which is one.

    Raises:
        InvalidArguments: it is none.
    """
    if kind not in KINDS:
        raise InvalidArguments(f"there is no kind of session {kind}; there are {', '.join(KINDS)}")
    return kind


def named(name: str) -> Profile:
    """The built-in profile of that name, or the one in the TOML file at that path.

    Raises:
        InvalidArguments: there is none.
        InvalidSettings: it is not as a profile has to be.
    """
    return parsed(text_of(name), name) if name.endswith(".toml") else built_in(name)


def names() -> tuple[str, ...]:
    """The names of the profiles that crabmem brings."""
    files = (resources.files("crabmem") / "profiles").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def text_of(name: str) -> str:
    """The TOML of the built-in profile of that name, or of the file at that path.

    Raises:
        InvalidArguments: there is none.
    """
    if name.endswith(".toml"):
        try:
            return _read(Path(name).expanduser())
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            told = f"the profile {name} cannot be read: {reason.lower()}"
            raise InvalidArguments(f"{told} (--profile, or `profile` in crabmem.toml)") from None
    if name not in names():
        known = f"there are {', '.join(names())}, or give a .toml file"
        raise InvalidArguments(f"there is no profile {name}; {known} (--profile, or `profile` in crabmem.toml)")
    return (resources.files("crabmem") / "profiles" / f"{name}.toml").read_text("utf-8")


def _read(file: Path) -> str:
    if os.path.exists(file) and not os.path.isfile(file):  # a device or a pipe has no end
        raise ValueError("it is not a regular file")
    with file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST:,} bytes")
    return data.decode("utf-8")


@cache
def built_in(name: str) -> Profile:
    """The profile of that name that crabmem brings.

    Raises:
        InvalidArguments: there is none.
    """
    return parsed(text_of(name), f"{name}.toml")


def as_dict(profile: Profile) -> dict[str, object]:
    """A profile as plain values, whole."""
    built: dict[str, object] = msgspec.to_builtins(profile)
    return built


def layout_of(name: str, profile: Profile) -> Layout | None:
    """How a workspace of a profile is laid out; None when its settings say."""
    places = profile.layout
    if places is None:
        return None
    return Layout(name, **msgspec.structs.asdict(places))
