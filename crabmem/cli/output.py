"""What verbs print: data on stdout, as JSON or words; talk, warnings and questions on stderr."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..text.quoting import visible
from .options import global_options

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..results import Commit
    from ..session.session import Session

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


class Failure(click.ClickException):
    """An error of crabmem as one line on stderr."""

    def show(self, file: Any = None) -> None:
        text = f"crabmem: {visible(self.message)}"
        click.echo(click.style(text, fg="red") if in_colour(sys.stderr) else text, err=True)


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """What shows on a terminal how much of how much is done, once it is told."""
    with ExitStack() as stack:
        shown = list[Any]()

        def told(done: int, total: int) -> None:
            if not shown:
                hidden = not sys.stderr.isatty()
                made = click.progressbar(length=total, label=label, file=sys.stderr, hidden=hidden)
                shown.append(stack.enter_context(made))
            shown[0].update(done - shown[0].pos)

        yield told


def show(json_wanted: bool, data: object, text: Callable[[], str]) -> None:
    """Print `data` as JSON, or `text` for a person; nothing for an empty text."""
    if json_wanted:
        return click.echo(as_text(data, indent=2))
    words = _SURROGATES.sub("\ufffd", text())
    if words:
        click.echo(words if words.endswith("\n") else words + "\n", nl=False)


def paged(ctx: click.Context, pieces: Iterable[str]) -> None:
    """Print pieces of text as they come; through $PAGER, else `less`, on a terminal whose owner has not said otherwise.

    As for Git, less ends at once when all of it fits the screen.
    """
    if global_options(ctx).no_pager or not sys.stdout.isatty():
        for piece in pieces:
            show(False, None, partial(str, piece))
        return
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(_for_pager(_SURROGATES.sub("\ufffd", piece) for piece in pieces), color=in_colour(sys.stdout))


def _for_pager(pieces: Iterable[str]) -> Iterator[str]:
    """Pieces as a pager is given them, which gets the last end of a line from click."""
    between = ""
    for piece in filter(None, pieces):
        yield between + piece.removesuffix("\n")
        between = "\n"


def as_text(data: object, indent: int | None = None) -> str:
    """`data` as JSON, in which what nobody sees, or no terminal should, is escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def plain(text: str) -> str:
    """`text` without what would steer a terminal, when it goes to one."""
    return visible(text) if sys.stdout.isatty() else text


def tell(text: str) -> None:
    """Say something to the person, beside the data."""
    click.echo(visible(text), err=True)


def tell_unreadable(count: int) -> None:
    """Say of how many files nothing is known, as they could not be read."""
    if count:
        from ..results import unreadable_note

        tell(unreadable_note(count))


def warn(warnings: Iterable[str]) -> None:
    """Say what the person should mind."""
    for words in warnings:
        click.secho(f"crabmem: warning: {visible(words)}", err=True, fg="yellow" if in_colour(sys.stderr) else None)


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


def confirm(question: str, refused: str) -> None:
    """Ask the person, where there is one.

    Raises:
        Failure: nobody is there, and so it was `refused`.
    """
    if not can_ask():
        raise Failure(f"nothing was {refused}: give --yes to do it")
    click.confirm(question, abort=True, err=True)


def tell_recorded(memory: "Session", commit: "Commit | None") -> None:
    """Say what became of the person's own edit."""
    tell(f"recorded: {commit.subject}" if commit else "nothing changed")
    warn_of_secrets(memory, commit.paths if commit else ())


def warn_of_secrets(memory: "Session", paths: Iterable[str]) -> None:
    """Say which of the person's files hold what looks like a credential."""
    from ..operations.files import secrets

    warn(f"{found.path}: {found.message}" for found in secrets(memory, paths))


def here(time: datetime) -> datetime:
    """`time` in the zone of who reads, whoever wrote it where; as it is where that is no zone."""
    try:
        return time.astimezone()
    except (ValueError, OverflowError):  # TZ is more than a day away
        return time


def in_colour(stream: Any) -> bool:
    """Whether `stream` is a terminal whose owner wants colours."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def coloured_diff(diff: str) -> str:
    """`diff` with what went in red, what came in green, and the names of files in bold."""
    return "\n".join(map(_colour_line, plain(diff).split("\n")))


def _colour_line(line: str) -> str:
    if line.startswith(("--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null")):
        return click.style(line, bold=True)
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return click.style(line, fg=colours[line[0]]) if line[:1] in colours else line
