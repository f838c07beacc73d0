"""Verbs as they are declared: a function, its options and arguments. The command line is made of them by click.

click, with what it needs, takes more than twice as long to load as Python itself, and a process that recalls is done
sooner. So what a command line without anything odd in it means is also told here, by the same declarations: see
`plain`. Of all else, and of whatever is wrong, click says what it is.
"""

from __future__ import annotations

import os

from ..text.values import fields_of, replace, value
from ..workspace.workspace import folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any


class Whole:
    """The type of an option that is a whole number, of at least `least` where that is given."""

    def __init__(self, least: int | None = None) -> None:
        self.least = least

    def of(self, word: str) -> int:
        """The number that `word` is.

        Raises:
            ValueError: it is none, or too small.
        """
        number = int(word)
        if self.least is not None and number < self.least:
            raise ValueError(word)
        return number


class OneOf:
    """The type of an option that is one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def of(self, word: str) -> str:
        """`word`, which is one of them.

        Raises:
            ValueError: it is none.
        """
        if word not in self.words:
            raise ValueError(word)
        return word


class Text:
    """The type of a text for which `-` may stand, which is standard input; of one line with `is_line`."""

    def __init__(self, is_line: bool) -> None:
        self.is_line = is_line

    def of(self, word: str) -> str:
        """`word`, which is not `-`."""
        return word


class Param:
    """An option or an argument. `about` is what click is told of it; `name` is that of the argument of the function."""

    def __init__(self, names: tuple[str, ...], about: Mapping[str, Any]) -> None:
        self.about = about
        self.options = tuple(name for name in names if name[0] == "-")
        plain = [name for name in names if name[0] != "-"]
        longest = max(self.options, key=len, default="")
        self.names = names
        self.name = plain[0] if plain else longest.lstrip("-").replace("-", "_")
        self.is_flag = bool(about.get("is_flag"))
        #: Whether it may be given several times, or has all words that are no options.
        self.is_many = bool(about.get("multiple") or about.get("nargs") == -1)
        self.is_required = bool(about.get("required", not self.options))

    @property
    def usual(self) -> Any:
        """What it is where it is not given."""
        return self.about.get("default", () if self.is_many else False if self.is_flag else None)

    def of(self, word: str) -> Any:
        """What `word` means for it.

        Raises:
            ValueError: it cannot be that.
        """
        kind = self.about.get("type")
        return kind.of(word) if kind else word


class Verb:
    """A function that is a verb, with its parameters in the order of the help; `after` says where the help lists it."""

    def __init__(self, name: str, after: str, function: Callable[..., Any], params: list[Param]) -> None:
        self.name = name
        self.after = after
        self.function = function
        self.params = params


#: The help of a verb about one file, see `whole_file`.
ABOUT_A_FILE = "Show, set or edit {}."
#: The verbs that were loaded, by name.
VERBS: dict[str, Verb] = {}


def option(*names: str, **about: Any) -> Callable[[Any], Any]:
    """An option of the verb that the function below it is; `about` is what `click.option` takes."""
    return _param(names, about)


def argument(name: str, **about: Any) -> Callable[[Any], Any]:
    """An argument of the verb that the function below it is; `about` is what `click.argument` takes."""
    return _param((name,), about)


def _param(names: tuple[str, ...], about: Mapping[str, Any]) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        function.__dict__.setdefault("declared", []).insert(0, Param(names, about))
        return function

    return add


def verb(*, after: str) -> Callable[[Callable[..., Any]], Verb]:
    """Make a function a verb, called like its module. The help lists it after the verb `after`, or first in the part
    with that title."""

    def add(function: Callable[..., Any]) -> Verb:
        name = function.__module__.rpartition(".")[2].removesuffix("_")
        made = VERBS[name] = Verb(name, after, function, getattr(function, "declared", []))
        return made

    return add


@value
class GlobalOptions:
    """The global options: which workspace, and who writes."""

    folder: str | None
    workspace: str | None
    agent: str | None
    session: str | None
    profile: str | None
    kind: str
    no_pager: bool = False
    project: str | None = None

    @classmethod
    def of(cls, *, profile: str | None, kind: str | None, **others: Any) -> GlobalOptions:
        """The options as they were given, of which an empty profile or kind is none."""
        return cls(profile=profile or None, kind=kind or "main", **others)

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        from pathlib import Path

        return Path(self.place)

    @property
    def place(self) -> str:
        """The same as a text."""
        if self.project or (self.project is None and os.environ.get("CRABMEM_PROJECT")):
            from ..session.locate import place_meant  # late: few ask for a memory of each project

            return place_meant(self.folder, self.project, self.workspace, os.environ, os.path.expanduser("~"))
        return folder_of(self.folder, self.workspace, os.environ, os.path.expanduser("~"))

    @property
    def names_agent(self) -> bool:
        """Whether it is an agent's own workspace in one that was named, too."""
        return bool(os.environ.get("CRABMEM_WORKSPACE") if self.workspace is None else self.workspace)

    def with_option(self, name: str, said: Any) -> GlobalOptions:
        """These options and one that stands after the verb; what is empty there says nothing, but for those of
        `MAY_BE_EMPTY`."""
        return replace(self, **{name: said}) if said or (said is not None and name in MAY_BE_EMPTY) else self


#: The global options that say something when they are "": no agent's own workspace, no project.
MAY_BE_EMPTY = ("workspace", "project")
#: The names of the global options.
GLOBAL = fields_of(GlobalOptions)


def global_options(ctx: Any) -> GlobalOptions:
    """The global options."""
    wanted = ctx.find_object(GlobalOptions)
    assert isinstance(wanted, GlobalOptions)
    return wanted


_PROFILE = "A family's files, prompt and tools, or a file.toml; else what crabmem.toml says.  [env: CRABMEM_PROFILE]"
_KIND = "main (default), subagent, scheduled, heartbeat or group: who reads along.  [env: CRABMEM_KIND]"
_WORKSPACE = "The own workspace of agent W inside it.  [env: CRABMEM_WORKSPACE]"
_PROJECT = (
    "The memory of the Git repository that folder P is in, for all its worktrees; . for here.  [env: CRABMEM_PROJECT]"
)
_AGENT = "Who writes, for the history.  [env: CRABMEM_AGENT]"
_SESSION = "In which session.  [env: CRABMEM_SESSION]"
#: The options before the verb, each of which may stand after it, too, where it has none of that name.
GLOBALS = (
    Param(
        ("--dir", "folder"),
        {"metavar": "D", "shell_complete": "complete_folders", "help": "Workspace folder.  [env: CRABMEM_DIR]"},
    ),
    Param(("--project",), {"metavar": "P", "shell_complete": "complete_folders", "help": _PROJECT}),
    Param(("--workspace",), {"metavar": "W", "shell_complete": "complete_agents", "help": _WORKSPACE}),
    Param(
        ("--agent",), {"metavar": "A", "envvar": "CRABMEM_AGENT", "shell_complete": "complete_writers", "help": _AGENT}
    ),
    Param(
        ("--session",),
        {"metavar": "S", "envvar": "CRABMEM_SESSION", "shell_complete": "complete_sessions", "help": _SESSION},
    ),
    Param(
        ("--profile",),
        {"metavar": "P", "envvar": "CRABMEM_PROFILE", "shell_complete": "complete_profiles", "help": _PROFILE},
    ),
    Param(
        ("--kind",),
        {
            "metavar": "K",
            "envvar": "CRABMEM_KIND",
            "default": "main",
            "shell_complete": "complete_kinds",
            "help": _KIND,
        },
    ),
    Param(("--no-pager",), {"is_flag": True, "help": "Print what is long at once, on a terminal too."}),
)

JSON = Param(("--json", "json_wanted"), {"is_flag": True, "help": "Print JSON for programs."})
AS_OF = Param(
    ("--as-of",),
    {
        "metavar": "WHEN",
        "shell_complete": "complete_commits",
        "help": "As it was at a commit, a date, or '2 days ago'.",
    },
)
TAGS = Param(
    ("-t", "--tag", "tags"),
    {"multiple": True, "shell_complete": "complete_tags", "help": "Only facts with this tag; may be repeated."},
)


def _shared(param: Param) -> Callable[[Any], Any]:
    return _param(param.names, param.about)


json_option, as_of_option, tag_option = _shared(JSON), _shared(AS_OF), _shared(TAGS)


class Odd(Exception):
    """A command line of which only click knows what it means, or what is wrong with it."""


def options_in(
    words: Sequence[str], params: Sequence[Param], is_group: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """What `words` say for those of `params` that are options, by name, and the words that are none.

    With `is_group` the options end where the first such word is.

    Raises:
        Odd: there is more to them than options that are spelled out, their values, and other words.
    """
    by_option = {name: param for param in params for name in param.options}
    found: dict[str, Any] = {}
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word[:1] != "-":
            others.append(word)
            if is_group:
                return found, [*others, *rest]
            continue
        name, equals, inline = word.partition("=") if word[:2] == "--" else (word, "", "")
        param = by_option.get(name)
        if param is None or (param.is_flag and equals):
            raise Odd(word)
        said = True if param.is_flag else _value(param, inline if equals else next(rest, None))
        found[param.name] = (*found.get(param.name, ()), said) if param.is_many else said
    return found, others


def arguments_in(words: Sequence[str], params: Sequence[Param]) -> dict[str, Any]:
    """What words that are no options say for those of `params` that are arguments, by name.

    Raises:
        Odd: there are too many of them, or too few.
    """
    found: dict[str, Any] = {}
    rest = list(words)
    for param in params:
        if param.options:
            continue
        if param.is_many:
            found[param.name], rest = tuple(_value(param, word) for word in rest), []
        elif rest:
            found[param.name] = _value(param, rest.pop(0))
        if param.is_required and not found.get(param.name):
            raise Odd(param.name)
    if rest:
        raise Odd(rest[0])
    return found


def _value(param: Param, word: str | None) -> Any:
    if word is None or word[:1] == "-":
        raise Odd(param.name)
    try:
        return param.of(word)
    except ValueError:
        raise Odd(word) from None
