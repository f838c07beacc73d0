"""A profile: which files and texts go before a conversation, in which order and how much of each, which tools an
agent gets, how files are searched, and what a new workspace begins with.

A profile is a TOML file, of a family in `crabmem/profiles` or of a person; no code asks for a profile's name.
"""

import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from ..errors import InvalidArguments, InvalidSettings, Way
from ..recall.sections import Search
from ..text import toml as tables
from ..text.entry import MAX_CONTENT
from ..text.limits import MAX_PROMPT
from ..text.patterns import Patterns, matches
from ..text.templates import template
from ..workspace.layout import FLAT, ORDINARY, Layout, is_contained
from .budget import Budget
from .compaction import Window
from .shipped import FILE, toml_of
from .shipped import families_with as families_with

#: The kinds of sessions, by who reads along and what the session is for.
Kind = Literal["main", "subagent", "scheduled", "heartbeat", "group"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Texts that are in no file, which `say` names.
Generated = Literal["tools", "time", "place", "cut", "notes", "salient"]

_TEMPLATE = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)*")
# Bytes of a profile's file: more than anybody writes into one.
_LARGEST = 1_000_000
_NAMED_IN = Way("profile=…", "name it with {} or `profile` in crabmem.toml", "name it with `profile` in crabmem.toml")
_NOT_KEPT = "which history does not keep; name a .md file of the workspace"
_SOURCES = ("file", "notes", "words", "template", "say")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of the prompt, `[[part]]` in the file. Its text has one of five sources: `file`, `notes`, `words`,
    `template` or `say`.
    """

    file: str = ""
    """A file of the workspace; {identity} and {overview} stand for those of the layout."""
    notes: Annotated[int, Meta(ge=0, le=100)] = 0
    """The daily notes of so many days, back from today."""
    words: str = ""
    """This text; {tools} in it is the list of tools."""
    template: str = ""
    """The text of that name in prompts/; {tools} as in words."""
    say: Generated | Literal[""] = ""
    """A generated text: the list of tools, the time, the workspace and the machine, the files that were cut, the number
    of daily notes, or the facts that matter most.
    """
    title: str = ""
    """Goes above the text; {file} in it is the name of the file."""
    is_titled: bool = False
    """The title only where the text has no heading of its own."""
    tag: Annotated[str, Meta(max_length=40, pattern=r"^(?:[A-Za-z](?:[\w-]*[A-Za-z0-9])?)?\Z")] = ""
    """The name of a block around the text, which cannot close it."""
    kinds: tuple[Kind, ...] = ()
    """The sessions that see the part; none named: all."""
    of: Literal["nearest", "own", "parent"] = "nearest"
    """Whose file it is: an agent's own, its parent's, or the first of these there is."""
    lines: Annotated[int, Meta(ge=0)] = 0
    """So many of the last lines; 0: all."""
    limit: Annotated[int, Meta(ge=1, le=MAX_PROMPT)] | None = None
    """Characters of this part; else budget.part."""
    share: str = ""
    """A name in shares: the parts that name it have its characters together, beside the total."""
    keep: Literal["both", "head", "tail"] = "both"
    """Which end stays of a text that is too long."""
    default: str = ""
    """The template that stands in for a file that is missing."""
    given: str = ""
    """A file without which the part is left out."""

    @property
    def is_read(self) -> bool:
        """Whether the text is that of files of the workspace."""
        return bool(self.file or self.notes)


class Seed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first text of a file of a new workspace, `[[seed]]` in the file: a `template` or `words`.

    {name} and {description} in the text stand for those of an agent.
    """

    file: str
    """The file; {identity} and {overview} as in a part."""
    template: str = ""
    """Its text, by its name in prompts/."""
    words: str = ""
    """Its text; {name} and {description} are those of an agent."""
    is_first: bool = False
    """Only in a workspace with no file yet, for a file that the first session removes."""
    of: Literal["any", "agent", "parent"] = "any"
    """In whose workspace it is made."""


class KindRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is different in sessions of one kind, `[kinds.group]` in the file.

    A pattern in `hides` that stands for a folder hides all that is below it, however deep: `memory/entries/secret` and
    `memory/entries/secret/*` do the same. `!` before a pattern shows the files again that it stands for, no others.
    """

    tools: tuple[str, ...] | None = None
    """In place of those of the profile."""
    hides: Patterns = ()
    """Patterns of files that it sees neither in the prompt nor by any tool; of a folder all below it; `!` before one
    shows its files again.
    """
    flush: bool = True
    """Is it asked to store what a full window would lose?"""


class ProfileLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which files of the workspace are what, `[layout]` in the file; see `workspace.Layout`."""

    identity: str = ORDINARY.identity
    """Who the agent is."""
    overview: str = ORDINARY.overview
    """What is always needed."""
    entries: Annotated[tuple[str, ...], Meta(min_length=1, max_length=100)] = ORDINARY.entries
    """Folders of facts; new ones go into the first."""
    notes: str = ORDINARY.notes
    """The folder of daily notes."""
    memory: str = ORDINARY.memory
    """The folder in which all Markdown has a history, beside that at the top."""
    beside: Annotated[tuple[str, ...], Meta(max_length=100)] = ORDINARY.beside
    """Other folders with a history."""
    learnings: str = ORDINARY.learnings
    """The folder of lessons from mistakes; else `learnings` in that of memory."""
    recall_notes: bool = False
    """Does recall find daily notes?"""


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A profile, as its file says it. `layout` of None is what the settings of a workspace say."""

    about: str
    """What it is for, in a line."""
    part: Annotated[tuple[Part, ...], Meta(max_length=100)]
    between: str = "\n\n"
    """Goes between parts."""
    missing: str = ""
    """In the place of a file that is not there; {path} in it is where it was expected."""
    budget: Budget = Budget()
    shares: dict[str, Annotated[int, Meta(ge=1, le=MAX_PROMPT)]] = {}
    """Characters by the name of a share."""
    layout: ProfileLayout | None = None
    kinds: dict[Kind, KindRules] = {}
    tools: tuple[str, ...] = ("entries", "files")
    """Toolsets, or toolset.tool for one of them."""
    search: Search = Search()
    window: Window = Window()
    largest: Annotated[int, Meta(ge=1, le=MAX_CONTENT)] = MAX_CONTENT
    """Characters that may be written to a whole file, facts and notes apart."""
    seed: Annotated[tuple[Seed, ...], Meta(max_length=100)] = ()
    clone: Patterns = ()
    """Patterns of files that another agent is given a copy of."""
    append_only: Patterns = ()
    """Patterns of files to which tools that write whole files may only add."""
    quiet: Annotated[float, Meta(ge=0, le=60)] | None = None
    """Seconds without a change after which the watcher records; else its own."""
    parent: Annotated[str, Meta(max_length=300)] = ""
    """The way from an agent's folder in agents/ to the workspace that gives what it lacks, if that is not the one
    around agents/; `adopt` follows it.
    """

    def _rules(self, kind: Kind) -> KindRules:
        return self.kinds.get(kind, KindRules())

    def parts_for(self, kind: Kind) -> list[Part]:
        """The parts that a session of that kind sees, in order."""
        return [part for part in self.part if not part.kinds or kind in part.kinds]

    def tools_for(self, kind: Kind) -> tuple[str, ...]:
        """The names of the toolsets, or tools, that a session of that kind gets."""
        own = self._rules(kind).tools
        return self.tools if own is None else own

    def limits_tools(self, kind: Kind) -> bool:
        """Whether a session of that kind gets no other tool than `tools_for` says, even if its host asks for one."""
        return self._rules(kind).tools is not None

    def flushes(self, kind: Kind) -> bool:
        """Whether a session of that kind is asked to store what a full window would lose."""
        return self._rules(kind).flush

    def finds(self, path: str) -> bool:
        """Whether agents can find the file at `path` without recall: by a search over files, or by its name where
        the profile has no such search."""
        return self.layout is not None and (not self.search.files or matches(path, self.search.files))

    def only_grows(self, path: str) -> bool:
        """Whether tools may only add to the file at `path`."""
        return matches(path, self.append_only)

    def hidden_from(self, kind: Kind) -> Patterns:
        """The patterns of the files that a session of that kind may not see; see `KindRules.hides`."""
        return self._rules(kind).hides


@lru_cache(maxsize=16)  # asked of every file that a session may see
def parse_profile(text: str, file: str) -> Profile:
    """Parse the TOML `text` of a profile; `file` is the name for errors.

    Raises:
        InvalidSettings: a key or a value is wrong, or values that do not go together.
    """
    profile = tables.read(text, file, Profile)
    if problem := next(_problems(profile, file), None):
        raise InvalidSettings(f"{file}: {problem}")
    return profile


def _problems(profile: Profile, file: str) -> Iterator[str]:
    """Yield what is wrong with a profile whose values are valid one by one, but not together or as paths."""
    shown = layout_of(file, profile) or FLAT  # without a layout, the workspace may be flat: Markdown anywhere in it
    for number, part in enumerate(profile.part, 1):
        if part.file and not shown.is_kept(shown.named(part.file)):
            yield f"part {number} is {part.file}, {_NOT_KEPT}"
        if sum(bool(getattr(part, source)) for source in _SOURCES) != 1:
            yield f"part {number} must name one of {', '.join(_SOURCES)}"
        if part.share and part.share not in profile.shares:
            yield f"part {number} has the share {part.share}, which is not among `shares`"
    layout = layout_of(file, profile) or ORDINARY
    yield from _ways_out(profile, layout)
    for number, seed in enumerate(profile.seed, 1):
        if bool(seed.template) == bool(seed.words):
            yield f"seed {number} must name one of template, words"
        if not layout.is_kept(layout.named(seed.file)):
            yield f"seed {number} is {seed.file}, {_NOT_KEPT}"
    for kind, path in ((kind, path) for kind, rules in profile.kinds.items() for path in rules.hides):
        if "{" in path:
            yield f"kinds.{kind} hides {path}; name the file itself"
    if profile.hidden_from("main"):
        yield "sessions of the kind main see everything; hide files from other kinds"


def _ways_out(profile: Profile, layout: Layout) -> Iterator[str]:
    """Yield the paths and names that lead out of the workspace or of `prompts/`: a profile may be a stranger's file."""
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
    """Whether `prompts/` has a text of that name; a name that leads elsewhere has none."""
    try:
        return bool(_TEMPLATE.fullmatch(name) and template(name))
    except OSError:
        return False


def checked_kind(kind: str) -> Kind:
    """Return `kind` if it is a kind of session.

    Raises:
        InvalidArguments: there is no such kind.
    """
    if kind not in KINDS:
        raise InvalidArguments(f"there is no kind of session {kind}; there are {', '.join(KINDS)}")
    return kind


def load_profile(name: str) -> Profile:
    """Load the profile of the family called `name`, or of the TOML file at that path, which is read each time.

    Raises:
        InvalidArguments: there is no such profile.
        InvalidSettings: the file is no valid profile.
    """
    return parse_profile(profile_toml(name), name) if name.endswith(".toml") else built_in_profile(name)


def profile_names() -> tuple[str, ...]:
    """The names of the families that crabmem brings a profile for."""
    return families_with(FILE)


def profile_toml(name: str) -> str:
    """The TOML of the profile of the family called `name`, or of the file at that path.

    Raises:
        InvalidArguments: there is no such profile, or its file cannot be read.
    """
    if name.endswith(".toml"):
        try:
            return _read(Path(name).expanduser())
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            problem = f"the profile {name} cannot be read: {reason.lower()}"
            raise InvalidArguments(problem, _NAMED_IN) from None
    found = toml_of(name)
    if found is None:
        known = f"there are {', '.join(profile_names())}, or give a .toml file"
        raise InvalidArguments(f"there is no profile {name}; {known}", _NAMED_IN)
    return found


def _read(file: Path) -> str:
    """The text of a profile's file.

    Raises:
        ValueError: it is no regular file, too large, or no UTF-8.
        OSError: it cannot be read.
    """
    if os.path.exists(file) and not os.path.isfile(file):  # a device or a pipe has no end
        raise ValueError("it is not a regular file")
    with file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST:,} bytes")
    return data.decode("utf-8")


@cache
def built_in_profile(name: str) -> Profile:
    """The profile of the family called `name`, parsed once.

    Raises:
        InvalidArguments: there is no such family.
    """
    return parse_profile(profile_toml(name), f"{name}.toml")


def as_dict(profile: Profile) -> dict[str, object]:
    """A profile as plain values, with the defaults of keys that its file leaves out."""
    values: dict[str, object] = msgspec.to_builtins(profile)
    return values


def layout_of(name: str, profile: Profile) -> Layout | None:
    """The layout that a profile called `name` gives a workspace; None if the workspace's own settings say it."""
    return None if profile.layout is None else Layout(name, **msgspec.structs.asdict(profile.layout))
