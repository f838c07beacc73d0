"""The texts that a person gives a verb: as words, in a file, or on standard input."""

import sys
from collections.abc import Sequence

import click

from ..errors import InvalidArguments

# Where a context notes that standard input was read.
_IS_READ = "crabmem.stdin"


def _text(value: str) -> str:
    """The type of an option or argument that is a text: `-` is what standard input says."""
    return value if value != "-" or click.get_current_context().resilient_parsing else standard_input()


def _line(value: str) -> str:
    """The same of a text on one line: the line breaks that end standard input are none of it."""
    return value if value != "-" else _text(value).rstrip("\r\n")


_text.__name__ = _line.__name__ = "text"  # as the help calls it
TEXT, LINE = _text, _line


def standard_input() -> str:
    """All of standard input.

    Raises:
        UsageError: something else of this command was read from it.
        InvalidArguments: not UTF-8.
    """
    noted = click.get_current_context().meta
    if noted.get(_IS_READ):
        raise click.UsageError("- is standard input, and only one text can be read from it; give the others as text")
    noted[_IS_READ] = True
    return _decode(sys.stdin.buffer.read(), "standard input")


def words_of(words: Sequence[str]) -> str:
    """The text that words on the command line are; of a single `-`, standard input."""
    return standard_input().rstrip("\r\n") if tuple(words) == ("-",) else " ".join(words)


def content_of(text: str | None, file: str | None, source: str | None) -> str:
    """The content a person gave: as an option's text, in a file, or on stdin for `-`.

    Raises:
        InvalidArguments: not UTF-8, or the file cannot be read.
    """
    given = [item for item in (text, file, source) if item is not None]
    if not given:
        raise click.UsageError("give the content: -c TEXT, --file FILE, or - to read it")
    if source not in (None, "-"):
        raise click.UsageError("give the content as -c TEXT, --file FILE, or - to read it")
    if len(given) != 1:
        raise click.UsageError("give the content once: -c TEXT, --file FILE, or - to read it")
    if text is not None:
        return _decode(text.encode("utf-8", "surrogatepass"), "the content")
    return standard_input() if file in (None, "-") else text_in(file)


def text_in(file: str) -> str:
    """What a file says that a person named.

    Raises:
        InvalidArguments: not UTF-8, or it cannot be read.
    """
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None
    return _decode(data, file)


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArguments(f"{where} is not UTF-8 text") from None
