"""Prompts, which a person asks for by name (flush, review, tidy), and the completion of names that they type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from ..operations import facts, history, tidy
from ..session.session import Session
from ..text.quoting import block, visible
from ..text.templates import storing_prompt, template
from ..tools.looking import log_text
from .addresses import ENTRY
from .protocol import INVALID_PARAMS, Caller, Refused, refuse_cursor, table_in, text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .protocol import Answer, Params
    from .served import Served

#: The values of a prompt's arguments, by name.
Given = Mapping[str, str]
_MAX_COMMITS = 100
_MAX_NAMES = 100


@dataclass(frozen=True)
class Offer:
    """A prompt that clients list. `arguments` has a description of each argument by its name; `text` writes the prompt,
    for a memory and the values of these arguments, each of which may be missing.
    """

    title: str
    description: str
    arguments: Mapping[str, str]
    text: Callable[[Session, Given], str]


def _flush(memory: Session, given: Given) -> str:
    focus = given.get("focus", "").strip()
    return storing_prompt("flush").replace("{focus}", f", above all about: {focus}" if focus else "")


def _review(memory: Session, given: Given) -> str:
    since, entry = given.get("since", "").strip(), given.get("entry", "").strip()
    commits = tuple(islice(history.commits(memory, entry or None, since=since or None), _MAX_COMMITS))
    about = (f" about {entry}" if entry else "") + (f", since {since}" if since else "")
    return template("review").replace("{about}", about).replace("{log}", block("memory", log_text(commits)))


def _tidy(memory: Session, given: Given) -> str:
    return tidy.prompt(memory, tidy.tidy(memory), given.get("entry", "").strip())


_ENTRY = "entry"
_OFFERS = {
    "flush": Offer(
        "Store what is worth keeping",
        "Store what is worth keeping of this conversation, now.",
        {"focus": "What matters most; all of it without."},
        _flush,
    ),
    "review": Offer(
        "Review recent changes",
        "Go through what was written to memory lately.",
        {"since": "A date, '1 week ago', or a commit.", _ENTRY: "Only this fact."},
        _review,
    ),
    "tidy": Offer(
        "Tidy memory",
        "Find facts that say the same, contradict each other, or are out of date.",
        {_ENTRY: "Only what has to do with this fact."},
        _tidy,
    ),
}


def list_prompts(served: Served, params: Params, caller: Caller) -> Answer:
    """List all prompts; they fit on one page."""
    refuse_cursor(params)
    return {"prompts": [_described(name, offer) for name, offer in _OFFERS.items()]}


def get_prompt(served: Served, params: Params, caller: Caller) -> Answer:
    """Return the text of a prompt, as a message of the user.

    Raises:
        Refused: there is no such prompt or argument, or a value is no text.
    """
    name, given = text_in(params, "name"), table_in(params, "arguments", is_optional=True)
    offer = _offer(name)
    if unknown := sorted(set(given) - set(offer.arguments)):
        raise Refused(INVALID_PARAMS, f"{name} has no argument {unknown[0]!r}: {list(offer.arguments)}")
    text = offer.text(served.memory, {each: text_in(given, each) for each in given})
    message = {"role": "user", "content": {"type": "text", "text": visible(text).strip()}}
    return {"description": offer.description, "messages": [message]}


def complete(served: Served, params: Params, caller: Caller) -> Answer:
    """Return the names of entries (for a prompt's argument), or of their files (for an address), that contain what was
    typed, those that begin with it first. An argument that is no entry has no completions.

    Raises:
        Refused: no prompt or address template has such an argument.
    """
    ref, argument = table_in(params, "ref"), table_in(params, "argument")
    kind, name, typed = text_in(ref, "type"), text_in(argument, "name"), text_in(argument, "value")
    if kind == "ref/prompt":
        is_known, is_entry, of = name in _offer(text_in(ref, "name")).arguments, name == _ENTRY, _names
    else:
        is_known = is_entry = kind == "ref/resource" and text_in(ref, "uri") == ENTRY and name == "slug"
        of = _slugs
    if not is_known:
        raise Refused(INVALID_PARAMS, f"nothing here has an argument {name!r}")
    found = _matching(of(served.memory), typed) if is_entry else []
    return {"completion": {"values": found[:_MAX_NAMES], "total": len(found), "hasMore": len(found) > _MAX_NAMES}}


def _names(memory: Session) -> Iterator[str]:
    return (visible(entry.name) for entry in facts.entries(memory))


def _slugs(memory: Session) -> Iterator[str]:
    return (memory.layout.label(entry.path) for entry in facts.entries(memory))


def _matching(names: Iterator[str], typed: str) -> list[str]:
    """Return the names that contain what was typed, without regard to case, those that begin with it first."""
    wanted = typed.casefold()
    found = [name for name in names if wanted in name.casefold()]
    return sorted(found, key=lambda name: not name.casefold().startswith(wanted))


def _offer(name: str) -> Offer:
    if name not in _OFFERS:
        raise Refused(INVALID_PARAMS, f"no prompt named: {name} (there are: {', '.join(_OFFERS)})")
    return _OFFERS[name]


def _described(name: str, offer: Offer) -> Answer:
    arguments = [{"name": each, "description": what, "required": False} for each, what in offer.arguments.items()]
    return {"name": name, "title": offer.title, "description": offer.description, "arguments": arguments}
