"""The options that verbs share: the global ones, which say what memory and who writes, and those of many verbs."""

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click

from ..workspace.workspace import root_of

#: Where a context keeps the global options that stand after the verb.
AFTER = "crabmem.after_the_verb"


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

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return root_of(self.folder, self.workspace, os.environ, Path.home())

    @property
    def names_agent(self) -> bool:
        """Whether it is an agent's own workspace in one that was named, too."""
        return self.root != root_of(self.folder, "", os.environ, Path.home())


#: The names of the global options.
GLOBAL = tuple(field.name for field in fields(GlobalOptions))


def global_options(ctx: click.Context) -> GlobalOptions:
    """The global options."""
    wanted = ctx.find_object(GlobalOptions)
    assert wanted is not None
    return wanted


def options_so_far(ctx: click.Context) -> GlobalOptions:
    """The global options as far as they are typed: while a shell completes, no verb runs that would know them."""
    given: dict[str, Any] = {**ctx.find_root().params, **ctx.meta.get(AFTER, {})}
    named: dict[str, Any] = {name: given.get(name) for name in GLOBAL}
    return GlobalOptions(**named)


def use_global(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Take a global option that stands after the verb for the one that stands before it."""
    name = (param.name or "").rpartition(".")[2]
    if value or (value is not None and name == "workspace"):  # which is none of an agent's when it is ""
        ctx.meta[AFTER] = {**ctx.meta.get(AFTER, {}), name: value}  # all that a completion knows
        ctx.obj = replace(global_options(ctx), **{name: value})


json_option = click.option("--json", "json_wanted", is_flag=True, help="Print JSON for programs.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would change.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
as_of_option = click.option("--as-of", metavar="REV", help="The files of a commit, a date, or '2 days ago'.")


def tool_names(tools: str | None) -> list[str] | None:
    """The tools that an option names; None without it.

    Raises:
        UsageError: it names none.
    """
    names = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
    if names == []:
        raise click.UsageError("--tools names none; leave it out for the usual ones")
    return names
