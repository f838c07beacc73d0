"""A person's own test of auto-recall: messages, and whether memory is to speak before each. Text in, values out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import msgspec

from ..errors import InvalidArguments
from .evaluation import as_struct, tables, texts_in
from .words import shortened

_SHOWN = 40
#: Where the message itself stands in an opening.
PLACE = "{message}"
_EXAMPLE = 'write [[message]], and below it text = "..." and find = ["name of a fact"] or speak = false'
_KINDS = {True: "to speak", False: "to be silent"}
_OPENED = "opening"
_KEYS = ("message", "opening")


@dataclass(frozen=True)
class Message:
    """A message, and whether memory is to speak before it.

    With `find` it has to tell one of these entries, each by its name, file name or alias. `kind` is what figures are
    counted by. `workspace`, where it is given, is the name of the only folder in which the message makes sense.
    """

    text: str
    speak: bool
    find: tuple[str, ...] = ()
    kind: str = ""
    workspace: str = ""


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message as it may be written."""

    text: str = ""
    speak: bool | None = None
    find: str | list[str] = ""
    kind: str = ""
    workspace: str = ""


class _Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words around a message as they may be written."""

    text: str = ""
    kind: str = _OPENED


def parse_messages(text: str, file: str, with_openings: bool = True) -> list[Message]:
    """The messages in `text`, which is TOML, or lines of JSON; `file` is named in errors.

    Behind them stands each message before which memory is to speak, within the next of the openings.

    Raises:
        InvalidArguments: there are none, or one cannot be asked; the message says where.
    """
    found = tables(text, file, _KEYS, _EXAMPLE)
    messages = [_message(table, where) for key, where, table in found if key == "message"]
    if not messages:
        raise InvalidArguments(f"{file} has no messages; {_EXAMPLE}")
    return [*messages, *(opened(messages, parse_openings(text, file)) if with_openings else ())]


def parse_openings(text: str, file: str) -> list[tuple[str, str]]:
    """The openings in `text`, each with its kind.

    Raises:
        InvalidArguments: an opening is malformed, or has no place for the message; the error names where it stands.
    """
    return [_opening(table, where) for key, where, table in tables(text, file, _KEYS, _EXAMPLE) if key == "opening"]


def opened(messages: Sequence[Message], openings: Sequence[tuple[str, str]]) -> Iterator[Message]:
    """Each message before which memory is to speak within the next of the openings: pairs of a text and a kind."""
    to_speak = (message for message in messages if message.speak)
    for message, (text, kind) in zip(to_speak, cycle(openings), strict=False):
        yield replace(message, text=text.replace(PLACE, message.text), kind=kind)


def _message(table: Any, where: str) -> Message:
    given = as_struct(table, where, _Given)
    text, find = given.text.strip(), texts_in(given.find)
    if not text:
        raise InvalidArguments(f"{where}: no `text`; say what the message is")
    speak = bool(find) if given.speak is None else given.speak
    if given.speak is None and not find:
        words = shortened(text, _SHOWN)
        raise InvalidArguments(f"{where} ({words}): neither `find` nor `speak`; name a fact, or say `speak = false`")
    if find and not speak:
        raise InvalidArguments(f"{where}: `find` with `speak = false`; give one")
    return Message(text, speak, find, given.kind.strip() or _KINDS[speak], given.workspace)


def _opening(table: Any, where: str) -> tuple[str, str]:
    given = as_struct(table, where, _Opening)
    if PLACE not in given.text:
        raise InvalidArguments(f"{where}: no {PLACE} in `text`; write it where the message is to stand")
    return given.text, given.kind.strip() or _OPENED
