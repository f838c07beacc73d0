"""Names of agents, which no reader of the history can take for the person or for crabmem, and names of sessions."""

import re
import unicodedata

from ..errors import Inapplicable, InvalidArguments
from .limits import MAX_WHO

# Names that no agent may use, whatever the person is called: the usual name of the person, and who commits.
_RESERVED = ("person", "crabmem")
_MARK = " (agent)"
_MAIL = re.compile(r"<([^>]*)>?")
# Characters that Git drops from the ends of names.
_DROPPED = " .,:;\"'<>"
# Signs like the one by which the history marks the person.
_STARS = "*＊∗⁎✱٭"
# Characters that show nothing, although Unicode counts them as letters or signs.
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
#: Letters of other scripts, and digits, by the Latin ones that they look like, after folding; i, l and 1 are one.
_LIKE = str.maketrans(
    "авекмнорстухѕіјһԁԛԝӏгпαβεηικνορτυχωγ01|lɑɩ℮ᴙ" "օոսհցզյ" "ⲁⲉⲓⲕⲙⲛⲟⲣⲥⲧⲩⲭ"
    "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ" "ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᏀᏃᏒᏚᏙᏞᏟᏢᏦᏴᎩᎾᏁᏂᎽᏔᏏ",
    "abekmhopctyxsijhdqwirnabenikvoptuxwyoiiiaier" "onuhgqj" "aeikmnopctyx"
    "bpdtgkjczfmnisrvhwxyaeiou" "drtiajewmhgzrsvicpkby" "onhywb",
)  # fmt: skip
# Two letters that are seen as one.
_AS_ONE = (("rn", "m"), ("vv", "w"))
#: Letters of Latin that are another one with a sign, or in another form.
_FORM = re.compile(
    r"LATIN (?:LETTER SMALL CAPITAL|(?:SMALL|CAPITAL) LETTER(?: DOTLESS| SCRIPT| LONG)?) (?P<base>[A-Z])(?: WITH .*)?"
)
#: Scripts that stand beside Latin letters in one word, and look like none, by what the names of letters begin with.
_UNLIKE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL SYLLABLE", "BOPOMOFO", "IDEOGRAPHIC", "MODIFIER")
_SPACE = re.compile(r"\s")
_BETWEEN_WORDS = re.compile(r"[\s_./:@()-]+")


def agent_name(given: str, person: str) -> str:
    """What an agent is called as an author, beside a `person` who is "Name" or "Name <mail>".

    A name that could be taken for the person's or crabmem's gets " (agent)" after it; a name that shows nothing becomes
    "agent". Mail addresses and invisible characters are removed.
    """
    name = without_unseen(_MAIL.sub(" ", given)).strip(_DROPPED + _STARS)
    if not _skeleton(name):
        return "agent"
    return f"{name.replace('@', ' at ').strip()}{_MARK}" if _is_taken(given, person) else name


def without_unseen(text: str) -> str:
    """`text` without controls, marks of direction and all else that nobody sees or that has no meaning of its own.

    A mark of direction would have a reader see another name than the one that is there.
    """
    return "".join(char for char in text if unicodedata.category(char)[0] != "C")


def session_name(given: object) -> str | None:
    """What the history calls a session that a host calls `given`: one line that can be seen whole, and is bounded.

    None for what names nothing. Hooks and servers of one host hear the same from it, and so record the same.
    """
    if not isinstance(given, str):
        return None
    words = without_unseen(_SPACE.sub(" ", given[: 10 * MAX_WHO])).split()
    return " ".join(words)[:MAX_WHO].strip() or None


def refuse_taken(given: str, person: str) -> None:
    """Refuse a name for an agent by which it could be taken for another.

    Raises:
        InvalidArguments: it is the person's name or address or crabmem's, looks like it, mixes Latin with letters of
            another script, or nothing is seen in it.
    """
    if not _skeleton(_MAIL.sub(" ", given).strip(_DROPPED)):
        raise InvalidArguments(f"an agent cannot be called {given!r}: nothing of that is seen in the history; name it")
    if _is_taken(given, person):
        raise Inapplicable(
            f"an agent cannot be called {given!r}: the history would not tell it from the person or from crabmem; "
            "give it another name"
        )


def _is_taken(given: str, person: str) -> bool:
    """Whether the name or the address in `given` is or looks like a reserved one or the person's, or mixes scripts."""
    others = {_letters(each) for each in (*_RESERVED, *_parts(person))} - {""}
    return _is_mixed(given) or any(_letters(each) in others for each in _parts(given))


def _is_mixed(given: str) -> bool:
    """Whether a word of a name has letters of Latin and of a script with letters like those; not with our mark.

    This catches what `_LIKE` misses: no list of letters that look alike is complete, and honest names mix no scripts.
    """
    name = without_unseen(unicodedata.normalize("NFKC", _MAIL.sub(" ", given))).strip(_DROPPED)
    words = () if name.endswith(_MARK) else _BETWEEN_WORDS.split(name)
    return any("LATIN" in scripts and len(scripts) > 1 for scripts in map(_scripts, words))


def _scripts(word: str) -> set[str]:
    """The scripts of the letters in `word`, by the first word of what Unicode calls each."""
    letters = (unicodedata.name(char, "?") for char in word if unicodedata.category(char)[0] == "L")
    return {name.partition(" ")[0] for name in letters if not name.startswith(_UNLIKE)}


def _parts(identity: str) -> list[str]:
    """Return what of "Name <mail>" can be taken for another: the name, the address, and the whole, if they show."""
    found = [_MAIL.sub(" ", identity), *_MAIL.findall(identity), identity]
    return [part for part in found if _skeleton(part)]


def _skeleton(name: str) -> str:
    """What two names have in common that look alike: without signs that nobody sees, case, accents and scripts."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    seen = (char for char in folded if unicodedata.category(char)[0] not in "CMZ" and char not in _BLANK)
    plain = "".join(map(_base, seen)).strip(_DROPPED).translate(_LIKE)
    for letters, one in _AS_ONE:
        plain = plain.replace(letters, one)
    return plain


def _letters(name: str) -> str:
    """The letters and numbers of a name's skeleton: signs between them make nobody another one."""
    return "".join(char for char in _skeleton(name) if unicodedata.category(char)[0] in "LN")


def _base(char: str) -> str:
    """Return the plain Latin letter or ASCII digit that `char` is a form of; `char` itself if there is none."""
    if not char.isascii() and char.isdecimal():
        return str(unicodedata.decimal(char))
    found = None if char.isascii() else _FORM.fullmatch(unicodedata.name(char, ""))
    return found["base"].lower() if found else char
