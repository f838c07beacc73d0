"""The options that verbs share: the global ones, which say what memory and who writes, and others."""

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click

from ..text.values import fields_of, replace
from ..workspace.workspace import folder_of

#: Key in a context's `meta` for the global options that stand after the verb.
AFTER = "crabmem.after_the_verb"


def completing(name: str) -> Callable[..., Any]:
    """Return the function of that name in `completing`, which is loaded when a shell completes."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> Any:
        from . import completing as functions

        return getattr(functions, name)(ctx, param, begun)

    return complete


@dataclass(frozen=True)
class GlobalOptions:
    """The global options: which workspace, and who writes."""

    folder: str | None
    workspace: str | None
    agent: str | None
    session: str | None
    profile: str | None
    kind: str
    no_pager: bool = False
    quiet: bool = False
    verbose: bool = False
    project: str | None = None
    alone: bool = False
    propose: bool = False

    @classmethod
    def of(cls, *, profile: str | None, kind: str | None, **others: Any) -> Self:
        """Return the options as they were given. An empty profile counts as none, an empty kind as main."""
        return cls(profile=profile or None, kind=kind or "main", **others)

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return Path(self.place)

    @property
    def place(self) -> str:
        """The folder of the workspace as a text, found by these options and the environment."""
        if self.project or (self.project is None and os.environ.get("CRABMEM_PROJECT")):
            from ..session.locate import place_meant  # late: few ask for a memory of each project

            return place_meant(self.folder, self.project, self.workspace, os.environ, os.path.expanduser("~"))
        return folder_of(self.folder, self.workspace, os.environ, os.path.expanduser("~"))

    @property
    def worked_in(self) -> str:
        """The folder in whose repository the session works: the project that is named, else where this process is."""
        named = os.environ.get("CRABMEM_PROJECT") if self.project is None else self.project
        return os.path.expanduser(named) if named else os.curdir

    @property
    def names_agent(self) -> bool:
        """Whether an agent's own workspace is named; that also names the workspace around it."""
        return bool(os.environ.get("CRABMEM_WORKSPACE") if self.workspace is None else self.workspace)


# Global options that mean something when they are "": no agent's own workspace, no project, whatever the environment.
_MAY_BE_EMPTY = ("workspace", "project")
#: The names of the global options.
GLOBAL = fields_of(GlobalOptions)


class NonEmptyPath(click.Path):
    """A path that is not empty: an unset shell variable would mean the current folder, or the person's memory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("it is empty; `.` is the current folder", param, ctx)
        return super().convert(value, param, ctx)


def global_options() -> GlobalOptions:
    """The global options of the verb that runs."""
    wanted = click.get_current_context().find_object(GlobalOptions)
    assert isinstance(wanted, GlobalOptions)
    return wanted


_PROFILE = "A family's files, prompt and tools, or a file.toml; else what crabmem.toml says.  [env: CRABMEM_PROFILE]"
_KIND = "main (default), subagent, scheduled, heartbeat or group: who reads along.  [env: CRABMEM_KIND]"
_WORKSPACE = "Use agent W's own workspace in it.  [env: CRABMEM_WORKSPACE]"
_PROJECT = (
    "The memory of the Git repository that folder P is in, for all its worktrees; . for here.  [env: CRABMEM_PROJECT]"
)
_ALONE = (
    "Only this memory: neither a project's person's nor those of `also` are seen beside it.  [env: CRABMEM_ONLY_THIS]"
)
_AGENT = "Who writes, for the history.  [env: CRABMEM_AGENT]"
_SESSION = "In which session.  [env: CRABMEM_SESSION]"
_GLOBALS = (
    click.option(
        "--dir",
        "folder",
        metavar="D",
        type=NonEmptyPath(readable=False),  # opening the workspace says why it cannot be read
        shell_complete=completing("complete_folders"),
        help="Workspace folder.  [env: CRABMEM_DIR]",
    ),
    click.option("--project", metavar="P", shell_complete=completing("complete_folders"), help=_PROJECT),
    click.option("--alone", is_flag=True, envvar="CRABMEM_ONLY_THIS", help=_ALONE),
    click.option("--workspace", metavar="W", shell_complete=completing("complete_agents"), help=_WORKSPACE),
    click.option(
        "--agent", metavar="A", envvar="CRABMEM_AGENT", shell_complete=completing("complete_writers"), help=_AGENT
    ),
    click.option(
        "--session",
        metavar="S",
        envvar="CRABMEM_SESSION",
        shell_complete=completing("complete_sessions"),
        help=_SESSION,
    ),
    click.option(
        "--profile",
        metavar="P",
        envvar="CRABMEM_PROFILE",
        shell_complete=completing("complete_profiles"),
        help=_PROFILE,
    ),
    click.option(
        "--kind",
        metavar="K",
        envvar="CRABMEM_KIND",
        default="main",
        shell_complete=completing("complete_kinds"),
        help=_KIND,
    ),
    click.option(
        "--propose",
        is_flag=True,
        envvar="CRABMEM_PROPOSE",
        help="What this writes waits for you: `crabmem review`.  [env: CRABMEM_PROPOSE]",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print data, warnings and errors, and nothing about them."),
    click.option("-v", "--verbose", is_flag=True, help="Print long lists and diffs whole, not their beginning."),
    click.option("--no-pager", is_flag=True, help="Print what is long at once, on a terminal too."),
)


def with_global_options(function: Any) -> Any:
    """Give a command the options before the verb; each may stand after it, too, where it has none of that name."""
    for option in reversed(_GLOBALS):
        function = option(function)
    return function


def options_so_far(ctx: click.Context) -> GlobalOptions:
    """Return the global options as far as they are typed, for completion: no verb runs then that would set them."""
    given: dict[str, Any] = {**ctx.find_root().params, **ctx.meta.get(AFTER, {})}
    named: dict[str, Any] = {name: given.get(name) for name in GLOBAL}
    return GlobalOptions(**named)


def use_global(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Callback of a global option after the verb: it replaces the one before the verb.

    "" changes nothing, except for the options in `_MAY_BE_EMPTY`.
    """
    name = (param.name or "").rpartition(".")[2]
    if value or (value is not None and name in _MAY_BE_EMPTY):
        ctx.meta[AFTER] = {**ctx.meta.get(AFTER, {}), name: value}  # for `options_so_far`
        ctx.obj = replace(global_options(), **{name: value})


json_option = click.option("--json", "json_wanted", is_flag=True, help="Print JSON for programs.")


def when_option(name: str, about: str) -> Callable[..., Any]:
    """Return an option that takes a moment: a commit, a date, or words like '2 days ago'."""
    return click.option(name, metavar="WHEN", shell_complete=completing("complete_commits"), help=about)


def limit_option(about: str, usual: int | None = None) -> Callable[..., Any]:
    """Return the option that says how many, with what it is when it is not given."""
    return click.option(
        "-n", "--limit", type=click.IntRange(min=1), metavar="N", default=usual, show_default=True, help=about
    )


as_of_option = when_option("--as-of", "As it was at a commit, a date, or '2 days ago'.")
tag_option = click.option(
    "-t",
    "--tag",
    "tags",
    multiple=True,
    shell_complete=completing("complete_tags"),
    help="Only facts with this tag; may be repeated.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would change.")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


class Renamed(click.Option):
    """An option that also takes its `former` names, which its help leaves out. They go with the next version."""

    def __init__(self, declarations: Sequence[str], former: Sequence[str] = (), **about: Any) -> None:
        super().__init__([*declarations, *former], **about)
        self.former = former

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return what the help says, without the former names."""
        shown = copy(self)
        shown.opts = [name for name in self.opts if name not in self.former]
        return click.Option.get_help_record(shown, ctx)


def yes_really_option(about: str, *former: str) -> Callable[..., Any]:
    """Return the option that allows what loses something, or cannot be taken back."""
    return click.option("--yes-really", cls=Renamed, former=former, is_flag=True, help=about)


yes_if_many_option = yes_really_option(
    "Even if ten facts or more, and more than a third, would be gone; or all of fewer than ten."
)


def by_option(about: str, *former: str, names: str = "complete_writers") -> Callable[..., Any]:
    """Return the option that selects what an agent, or a person, wrote; `names` completes it."""
    return click.option(
        "--by", "by", cls=Renamed, former=former, metavar="A", shell_complete=completing(names), help=about
    )


def in_option(about: str, *former: str) -> Callable[..., Any]:
    """Return the option that selects what was written in a session."""
    return click.option(
        "--in",
        "in_session",
        cls=Renamed,
        former=former,
        metavar="S",
        shell_complete=completing("complete_sessions"),
        help=about,
    )


def tool_names(tools: str | None) -> list[str] | None:
    """Return the tools that the option --tools names, with commas between them; None without the option.

    Raises:
        UsageError: the option names no tool.
    """
    names = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
    if names == []:
        raise click.UsageError("--tools names none; leave it out for the usual ones")
    return names
