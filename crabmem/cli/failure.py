"""An error of crabmem as click shows it."""

import sys
from typing import Any

import click

from ..text.quoting import visible
from .output import in_colour


class Failure(click.ClickException):
    """An error of crabmem as one line on stderr; exit status 1."""

    def show(self, file: Any = None) -> None:
        text = f"crabmem: {visible(self.message)}"
        click.echo(click.style(text, fg="red") if in_colour(sys.stderr) else text, err=True)


class WrongUsage(Failure):
    """The same of what was given and cannot be used, whatever there is in memory; exit status 2, as click has it."""

    exit_code = 2
