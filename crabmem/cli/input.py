"""The texts that a person gives a verb: as words, in a file, or on standard input."""

import sys
from collections.abc import Sequence

import click

from ..errors import InvalidArguments

# Key in a context's `meta`: standard input was read already.
_IS_READ = "crabmem.stdin"


def _text(value: str) -> str:
    """Convert an option or argument that is a text: `-` becomes what standard input says.

    While a shell completes (`resilient_parsing`), nothing is read.
    """
    return value if value != "-" or click.get_current_context().resilient_parsing else standard_input()


def _line(value: str) -> str:
    """Convert an option or argument that is one line: as `_text`, without the line breaks at the end of the input."""
    return value if value != "-" else _text(value).rstrip("\r\n")


_text.__name__ = _line.__name__ = "text"  # as the help calls it
TEXT, LINE = _text, _line


def standard_input(may_be_empty: bool = False) -> str:
    """Return all of standard input.

    Raises:
        UsageError: it is empty and may not be, or another text of this command was read from it already.
        InvalidArguments: it is not UTF-8.
    """
    noted = click.get_current_context().meta
    if noted.get(_IS_READ):
        raise click.UsageError("- is standard input, and only one text can be read from it; give the others as text")
    noted[_IS_READ] = True
    text = _decode(sys.stdin.buffer.read(), "standard input")
    if not (may_be_empty or text.strip()):
        raise click.UsageError("standard input is empty: the program before the pipe may have failed; run it alone")
    return text


def words_of(words: Sequence[str]) -> str:
    """Return the words of the command line as one text; for a single `-` standard input without its last line break."""
    return standard_input().rstrip("\r\n") if tuple(words) == ("-",) else " ".join(words)


def content_of(text: str | None, file: str | None, source: str | None) -> str:
    """Return the content that a person gave: as the text of an option, in a file, or for `-` on standard input.

    Raises:
        UsageError: there is no content, or more than one, or `source` is not `-`.
        InvalidArguments: the content is not UTF-8, or the file cannot be read.
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
    said = standard_input() if file in (None, "-") else text_in(file)
    if not said.strip():
        raise click.UsageError(f"{file} is empty")
    return said


def text_in(file: str) -> str:
    """Return the text of a file that a person named.

    Raises:
        InvalidArguments: the file is not UTF-8, or cannot be read.
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
