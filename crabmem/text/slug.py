"""File names for entries, and when two names are the same name. Pure functions of the name alone."""

import re
import unicodedata
from collections.abc import Container

MAX_BYTES = 120
_DIGEST = 8
# Marks that nobody sees.
_SELECTORS = "[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
# Names Windows keeps for devices, with any extension.
_RESERVED = frozenset(["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))])

# What some system or Git keeps for itself in a name, or nobody sees there.
_UNPORTABLE = r'[<>:"/\\|?*~$\u115f\u1160\u3164\uffa0]|^[-. ]|[. ]$'
_MAX_NAME = 200


def name_key(name: str) -> str:
    """What two spellings of one name have in common: NFC, case folded, white space collapsed."""
    return unicodedata.normalize("NFC", spelled(name).casefold())


def spelled(name: str) -> str:
    """What two spellings of one name in the same case have in common: NFC, white space collapsed."""
    return unicodedata.normalize("NFC", " ".join(name.split()))


def composed(name: str) -> str:
    """A name in Unicode's form NFC, as Git has it."""
    return unicodedata.normalize("NFC", name)


def slug_of(name: str) -> str:
    """The file stem for `name`: readable, NFC, lower case, at most 120 bytes, safe on every system.

    Names that cannot be told apart by their letters still differ: `C++` is `c-plus-plus`, `C#` is
    `c-sharp`, a name without letters is spelled out (`🦀` is `crab`). What had to be cut or is
    reserved by Windows ends in eight hex digits of the name.
    """
    text = unicodedata.normalize("NFKC", name)
    slug = _dashed(_signs_as_words(text)) or _dashed(" ".join(map(_character_name, text.split()))) or "entry"
    if len(slug.encode()) > MAX_BYTES or slug in _RESERVED:
        return _with_digest(slug, name, _DIGEST)
    return slug


def is_portable(name: str) -> bool:
    """Whether a file or a folder may be called `name` on every system, and a person sees all of that name.

    A path is no name: it has one for each of its parts.
    """
    stem = unicodedata.normalize("NFKC", name).casefold().partition(".")[0].strip()
    is_plain = name.isprintable() and not re.search(_SELECTORS, name) and not re.search(_UNPORTABLE, name)
    fits = 0 < len(name.encode(errors="replace")) <= _MAX_NAME and unicodedata.is_normalized("NFC", name)
    return is_plain and fits and stem not in _RESERVED


def free_slug(name: str, taken: "Container[str]") -> str:
    """`slug_of(name)`, or with a digest of the name when its `name_key` is among `taken`."""
    slug = slug_of(name)
    digits = _DIGEST
    while name_key(slug) in taken:
        slug = _with_digest(slug_of(name), name, digits)
        digits += 4
    return slug


def _dashed(words: str) -> str:
    """Letters, digits and their marks in lower case, every other run one dash."""
    if words.isascii():  # what slugify would make of it; to load that takes longer than to save a fact
        return "-".join("".join(char if char.isalnum() else " " for char in words).lower().split())
    from slugify import slugify

    kept = ""
    for char in re.sub(_SELECTORS, "", words):
        marks = unicodedata.category(char)[0] == "M" and kept[-1:].strip()
        kept += char if char.isalnum() or marks else " "
    slug = slugify(
        kept,
        entities=False,
        decimal=False,
        hexadecimal=False,
        # The default pattern splits words at Thai and Hindi vowel signs.
        regex_pattern=r"\s+",
        allow_unicode=True,
        # What else is installed must not change file names.
        backend="text-unidecode",
        algorithm="legacy",
    )
    return unicodedata.normalize("NFC", slug)


def _signs_as_words(text: str) -> str:
    if "+" not in text and "#" not in text:
        return text
    text = re.sub(r"(?<=\w)\+\+", " plus plus ", text)
    return re.sub(r"(?<=[A-Za-z])#(?!\w)", " sharp ", text)


def _character_name(word: str) -> str:
    return " ".join(unicodedata.name(c, f"u{ord(c):x}") for c in word)


def _with_digest(slug: str, name: str, digits: int) -> str:
    import hashlib

    digest = hashlib.sha256(name_key(name).encode(errors="surrogatepass")).hexdigest()[:digits]
    room = MAX_BYTES - len(digest) - 1
    head = slug.encode()[:room].decode(errors="ignore").rstrip("-")
    return f"{head}-{digest}"
