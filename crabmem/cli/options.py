"""The options that verbs share, for click: the global ones, which say what memory and who writes, and others."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from .declared import AS_OF, GLOBAL, JSON, MAY_BE_EMPTY, GlobalOptions, OneOf, Param, Text, Whole
from .declared import global_options as global_options
from .input import LINE, TEXT

#: Where a context keeps the global options that stand after the verb.
AFTER = "crabmem.after_the_verb"


def as_click(param: Param) -> Callable[[Any], Any]:
    """The decorator with which click is told of a parameter that is declared."""
    about = dict(param.about)
    match kind := about.get("type"):
        case Whole():
            about["type"] = int if kind.least is None else click.IntRange(min=kind.least)
        case OneOf():
            about["type"] = click.Choice(kind.words)
        case Text():
            about["type"] = LINE if kind.is_line else TEXT
    if completes := about.get("shell_complete"):
        about["shell_complete"] = completing(completes)
    return (click.option if param.options else click.argument)(*param.names, **about)


def with_params(params: Iterable[Param]) -> Callable[[Any], Any]:
    """The decorator with which click is told of several, in their order."""

    def add(function: Any) -> Any:
        for param in reversed([*params]):
            function = as_click(param)(function)
        return function

    return add


def completing(name: str) -> Callable[..., Any]:
    """The function of that name in `completing`, which is loaded when a shell completes."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> Any:
        from . import completing as functions

        return getattr(functions, name)(ctx, param, begun)

    return complete


def options_so_far(ctx: click.Context) -> GlobalOptions:
    """The global options as far as they are typed: while a shell completes, no verb runs that would know them."""
    given: dict[str, Any] = {**ctx.find_root().params, **ctx.meta.get(AFTER, {})}
    named: dict[str, Any] = {name: given.get(name) for name in GLOBAL}
    return GlobalOptions(**named)


def use_global(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Take a global option that stands after the verb for the one that stands before it."""
    name = (param.name or "").rpartition(".")[2]
    if value or (value is not None and name in MAY_BE_EMPTY):
        ctx.meta[AFTER] = {**ctx.meta.get(AFTER, {}), name: value}  # all that a completion knows
        ctx.obj = global_options(ctx).with_option(name, value)


json_option, as_of_option = as_click(JSON), as_click(AS_OF)
dry_run_option = click.option("--dry-run", is_flag=True, help="Only show what would change.")
all_option = click.option("--all", "is_all", is_flag=True, help="Name each; else of more than 20 alike the first 5.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


def tool_names(tools: str | None) -> list[str] | None:
    """The tools that an option names; None without it.

    Raises:
        UsageError: it names none.
    """
    names = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
    if names == []:
        raise click.UsageError("--tools names none; leave it out for the usual ones")
    return names
