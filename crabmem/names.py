"""What agents are called: never so that a reader of the history takes one for the person, or for crabmem."""

import re
import unicodedata

from .errors import InvalidArguments

#: Who agents may not be, whoever the person is: the usual name of the person, and who commits.
_RESERVED = ("person", "crabmem")
_MARK = " (agent)"
_MAIL = re.compile(r"<([^>]*)>?")
# What ends of names Git drops, and what is seen as nothing although it counts as letters or signs.
_DROPPED = " .,:;\"'<>"
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
#: Letters of Cyrillic and Greek, and digits, by the Latin ones that they look like, after folding; i, l and 1 are one.
_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏαβεηικνορτυχωγ01|l",
    "abekmhopctyxsijhdqwiabenikvoptuxwyoiii",
)


def agent_name(given: str, person: str) -> str:
    """What an agent is called as an author, beside a `person` who is "Name" or "Name <mail>".

    A name that could be taken for another's gets a mark that tells; one in which nothing is seen is "agent". An address
    is none of an agent's name.
    """
    name = _MAIL.sub(" ", given).strip(_DROPPED)
    if not _skeleton(name):
        return "agent"
    return f"{name.replace('@', ' at ')}{_MARK}" if _is_taken(given, person) else name


def refuse_taken(given: str, person: str) -> None:
    """Refuse a name for an agent by which it could be taken for another.

    Raises:
        InvalidArguments: it is the person's name or address or crabmem's, looks like it, or nothing is seen in it.
    """
    if not _skeleton(_MAIL.sub(" ", given).strip(_DROPPED)):
        raise InvalidArguments(f"an agent cannot be called {given!r}: nothing of that is seen in the history; name it")
    if _is_taken(given, person):
        raise InvalidArguments(
            f"an agent cannot be called {given!r}: the history would not tell it from the person or from crabmem; "
            "give it another name"
        )


def _is_taken(given: str, person: str) -> bool:
    """Whether the name or the address in `given` is, or looks like, one that is not an agent's."""
    others = {_skeleton(each) for each in (*_RESERVED, *_parts(person))}
    return any(_skeleton(each) in others for each in _parts(given))


def _parts(identity: str) -> list[str]:
    """The name, the address, and both in one, as far as there are such."""
    found = [_MAIL.sub(" ", identity), *_MAIL.findall(identity), identity]
    return [part for part in found if _skeleton(part)]


def _skeleton(name: str) -> str:
    """What two names have in common that look alike: without signs that nobody sees, case, accents and scripts."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    seen = (char for char in folded if unicodedata.category(char)[0] not in "CMZ" and char not in _BLANK)
    return "".join(seen).strip(_DROPPED).translate(_LIKE)
