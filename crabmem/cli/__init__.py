"""The command line. Each verb is one function that calls one operation and words its result.

Data goes to stdout, talk to stderr. Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage.
"""

from . import (
    adopting,
    bisecting,
    bundling,
    entries,
    evaluating,
    files,
    history,
    hooking,
    importing,
    installing,
    linking,
    purge,
    reverting,
    serving,
    tour,
    tracing,
    upkeep,
)
from .base import cli

__all__ = ["cli", "main"]

for _module in (
    tour, entries, linking, files, history, tracing, reverting, adopting, purge, upkeep, importing, evaluating,
    bisecting, serving, hooking, installing, bundling,
):  # fmt: skip
    for _command in _module.COMMANDS:
        cli.add_command(_command)


def main() -> None:
    """The `crabmem` command."""
    cli(prog_name="crabmem")
