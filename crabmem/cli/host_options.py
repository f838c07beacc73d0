"""The argument and options about a host, of `install` and `uninstall`."""

import click

from ..errors import NotFound


def check_host(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The name of a host, checked."""
    from ..hosts.table import host_named

    try:
        return value if value is None else host_named(value).name
    except NotFound as error:
        raise click.BadParameter(f"{error}.", ctx, param) from None


def complete_hosts(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The hosts whose names begin with what was typed."""
    from ..hosts.table import NAMES

    return [name for name in NAMES if name.startswith(begun)]


project_option = click.option("--here", "project", is_flag=True, help="In this folder's configs instead of yours.")
