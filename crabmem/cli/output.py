"""Output of verbs: data on stdout, as JSON or words; talk, warnings, questions and errors on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import click

from ..disk import fs
from ..text.comparison import nearest
from ..text.hashes import short
from ..text.quoting import visible
from ..text.times import local
from .options import GlobalOptions, global_options

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..recall.headers import Header
    from ..results import Commit
    from ..session.session import Session
    from ..text.entry import Entry


_SURROGATES = "[\ud800-\udfff]"
_UNSEEN = (
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_HEADS = ("--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null")
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
# Lines that are alike and shown at once, and how many are shown of more.
_ALIKE, _FIRST = 20, 5
# Lines and characters of the diff of what was just written.
_MOST_LINES, _MOST_SIGNS = 100, 8_000
# Characters of a page that are printed at once.
_AT_ONCE = 8_000


class Written(Protocol):
    """The result of an operation that writes: its commit, None if nothing was committed, and its diff."""

    @property
    def commit(self) -> str | None: ...
    @property
    def diff(self) -> str: ...


def echo(text: str, err: bool = False) -> None:
    """Print `text` as it is and flush. Only text with escapes, or in another encoding, needs `click.echo`.

    Raises:
        Failure: the stream cannot be written.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        if "\x1b" in text or stream.encoding.lower() != "utf-8":
            return click.echo(text, nl=False, err=err, color=in_colour(stream))
        stream.write(text)
        stream.flush()
    except BrokenPipeError:  # the reader of the output, as `head`, has closed it: click ends quietly
        raise
    except OSError as error:
        raise unwritten(error, "error" if err else "output") from None


def unwritten(error: OSError, stream: str = "output") -> Failure:
    """Return a Failure for output that cannot be written; its words say that the operation itself is done by then."""
    lost = "what was to be said is lost, what was done stays done"
    return Failure(f"standard {stream} cannot be written: {fs.reason(error)}; {lost}")


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows a bar on the terminal; call it with how much is done and the total.

    The bar is made at the first call, as the total is not known before. Without a terminal nothing is shown.
    """
    with ExitStack() as stack:
        shown: list[Any] = []

        def told(done: int, total: int) -> None:
            if not shown:
                hidden = not sys.stderr.isatty()
                made = click.progressbar(length=total, label=label, file=sys.stderr, hidden=hidden)
                shown.append(stack.enter_context(made))
            shown[0].update(done - shown[0].pos)

        yield told


def show(json_wanted: bool, data: Mapping[str, object], text: Callable[[], str]) -> None:
    """Print `data` as JSON, always an object, or else the result of `text`, for a person; if that is empty, nothing."""
    if json_wanted:
        return echo(as_text(data, indent=2) + "\n")
    words = _without_surrogates(text())
    if words:
        echo(words if words.endswith("\n") else words + "\n")


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, as names of files may have them: they cannot be encoded."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return re.sub(_SURROGATES, "\ufffd", text)
    return text


def paged(pieces: Iterable[str]) -> None:
    """Print pieces of text as they come; through $PAGER, else `less`, on a terminal whose owner has not said otherwise.

    As for Git, less ends at once when all of it fits the screen.
    """
    if global_options().no_pager or not sys.stdout.isatty():
        return _print(pieces)
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(_for_pager(map(_without_surrogates, pieces)), color=in_colour(sys.stdout))


def _print(pieces: Iterable[str]) -> None:
    """Print pieces of text, each as whole lines: many at once, as every print is a call of the system."""
    waiting, size = list[str](), 0
    for piece in filter(None, pieces):
        waiting.append(piece if piece.endswith("\n") else piece + "\n")
        size += len(piece)
        if size > _AT_ONCE:
            echo(_without_surrogates("".join(waiting)))
            waiting, size = [], 0
    if waiting:
        echo(_without_surrogates("".join(waiting)))


def _for_pager(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the pieces with a line break between them and none at the end: click adds that one."""
    between = ""
    for piece in filter(None, pieces):
        yield between + piece.removesuffix("\n")
        between = "\n"


def as_text(data: object, indent: int | None = None) -> str:
    """Return `data` as JSON in which invisible characters, and those that steer a terminal, are escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_UNSEEN, lambda found: json.dumps(found[0])[1:-1], text)


def plain(text: str) -> str:
    """Return `text` without invisible characters, such as those that steer a terminal, if stdout is one or is coloured.

    Elsewhere return it unchanged.
    """
    return visible(text) if sys.stdout.isatty() or in_colour(sys.stdout) else text


def tell(text: str) -> None:
    """Print a remark for the person on stderr; nothing with --quiet."""
    if not _is_set("quiet"):
        tell_always(text)


def tell_always(text: str) -> None:
    """Print on stderr what a person has to know, even with --quiet: for instance before a question."""
    echo(visible(text) + "\n", err=True)


def tell_no_match(words: str) -> NoReturn:
    """Say that nothing matches, and end with the exit status 1, as grep does."""
    tell(words)
    exit_failed()


def exit_failed() -> NoReturn:
    """End with the exit status 1, where why is said already."""
    click.get_current_context().exit(1)


def _is_set(name: str) -> bool:
    """Return whether a global flag is set. False for what is said outside of a command."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and getattr(ctx.find_object(GlobalOptions), name, False))


def tell_unreadable(count: int) -> None:
    """Say how many files could not be read."""
    if count:
        from ..results import unreadable_note

        tell(unreadable_note(count))


def tell_unknown_tags(entries: Sequence[Entry | Header], tags: Sequence[str]) -> None:
    """Say which of the tags no fact has, with the nearest that one has."""
    known = {tag.casefold(): tag for entry in entries for tag in entry.labels}
    for tag in tags:
        if tag.casefold() not in known:
            near = nearest(tag.casefold(), known)
            tell(f"no fact has the tag {tag}{f' (nearest: {known[near[0]]})' if near else ''}")


def warn(warnings: Iterable[str]) -> None:
    """Say what the person should mind."""
    for words in warnings:
        click.secho(f"crabmem: warning: {visible(words)}", err=True, fg="yellow" if in_colour(sys.stderr) else None)


class Failure(click.ClickException):
    """An error of crabmem as one line on stderr; exit status 1."""

    def show(self, file: Any = None) -> None:
        text = f"crabmem: {visible(self.message)}"
        click.echo(click.style(text, fg="red") if in_colour(sys.stderr) else text, err=True)


class WrongUsage(Failure):
    """An error in what was typed, whatever is in memory; exit status 2, as click's own errors of usage."""

    exit_code = 2


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


def confirm(question: str, refused: str) -> None:
    """Ask the person a question that has to be answered by yes.

    Raises:
        Failure: standard input is no terminal; the message says "nothing was `refused`".
        Abort: the person says no.
    """
    if not can_ask():
        raise Failure(f"nothing was {refused}: this needs a terminal, or --yes")
    click.confirm(question, abort=True, err=True)


def tell_recorded(memory: Session, commit: Commit | None) -> None:
    """Say what became of the person's own edit."""
    tell(f"recorded: {commit.subject}" if commit else "nothing changed")
    warn_of_secrets(memory, commit.paths if commit else ())


def warn_of_secrets(memory: Session, paths: Iterable[str]) -> None:
    """Say which of the person's files hold what looks like a credential."""
    from ..operations.files import secrets

    warn(f"{found.path}: {found.message}" for found in secrets(memory, paths))


def day(time: datetime) -> str:
    """The day of a time, in the zone of whoever reads."""
    return f"{local(time):%Y-%m-%d}"


def minute(time: datetime) -> str:
    """A time to the minute, in the zone of whoever reads."""
    return f"{local(time):%Y-%m-%d %H:%M}"


def in_colour(stream: Any) -> bool:
    """Whether to colour what goes to `stream`: on a terminal, unless its owner wants none (NO_COLOR, CLICOLOR=0, a
    dumb terminal); elsewhere where that is forced (CLICOLOR_FORCE)."""
    told = os.environ.get
    if told("NO_COLOR"):
        return False
    if told("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return bool(stream.isatty()) and told("CLICOLOR") != "0" and told("TERM") != "dumb"


def coloured(text: str, colour: str | None) -> str:
    """`text` in a colour that click knows, where colours are wanted on stdout."""
    return click.style(text, fg=colour) if in_colour(sys.stdout) else text


def commit_line(commit: Commit) -> str:
    """One commit on one line: id, time, author, subject."""
    id = coloured(short(commit.commit), "yellow")
    time = coloured(minute(commit.time), "green")
    return f"{id}  {time}  {coloured(plain(commit.who), 'cyan')}  {plain(commit.subject)}"


def few(lines: Sequence[str], more: str, alike: int | None = None) -> Sequence[str]:
    """Return the lines; if they are more than `alike` (20 by default), the first five and a line "N `more`".

    With --verbose return all of them.
    """
    if len(lines) <= (alike or _ALIKE) or _is_set("verbose"):
        return lines
    return [*lines[:_FIRST], f"{len(lines) - _FIRST:,} {more}"]


def diff_of_commit(done: Written) -> str:
    """Return the diff of what was just written, coloured; of a long one only the beginning.

    With --verbose, or if nothing was committed, as in a dry run, return all of it.
    """
    lines = done.diff.split("\n")
    shown, size = 0, 0
    while shown < min(len(lines), _MOST_LINES) and size < _MOST_SIGNS:
        size += len(lines[shown]) + 1
        shown += 1
    if shown == len(lines) or done.commit is None or _is_set("verbose"):
        return coloured_diff(done.diff)
    beginning = coloured_diff("\n".join(line[:_MOST_SIGNS] for line in lines[:shown]))
    return f"{beginning}\n… {len(lines) - shown:,} more lines: `crabmem log -p -n 1`\n"


def coloured_diff(diff: str) -> str:
    """`diff` with what went in red, what came in green, and the names of files in bold, where colours are wanted."""
    if not in_colour(sys.stdout):
        return plain(diff)
    return "\n".join(map(_colour_line, plain(diff).split("\n")))


def worded_diff(diff: str) -> str:
    """As `coloured_diff`, with differing words in changed lines marked `[-so-]` and `{+so+}`, as by `git diff`."""
    from ..text.word_diff import worded

    return coloured_diff(worded(diff))


def _colour_line(line: str) -> str:
    if line[:1] not in _COLOURS and not line.startswith(_HEADS):
        return line
    if line.startswith(_HEADS):
        return click.style(line, bold=True)
    return click.style(line, fg=_COLOURS[line[0]])
