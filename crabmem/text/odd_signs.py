"""What of a text is more than plain signs: those that nobody sees, and tags and lines that may pass for ours.

The slow half of `quoting`, which asks only where a text has such signs: patterns and tables of characters take longer
to load than a recall takes.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

# What shows nothing of its own and may stand inside words: joiners, and selectors of a character's form.
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00\ufe01\ufe02\ufe0e\ufe0f\u180b\u180c\u180d\u180f"
_UNSEEN = "\u200c\u200d\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f"
_RUN = re.compile(f"([^{_UNSEEN}]?)([{_UNSEEN}]+)", re.DOTALL)
_UNSEEN_SIGNS = frozenset(_JOINERS + _SELECTORS)
_KEYCAPS = frozenset("0123456789#*")
# Of our blocks, and of those that hosts put what hooks say into.
_TAGS = ("memory", "recall", "conversation", "system-reminder", "hook_context", "session_context")
# How a line of ours begins, and what a line of a text that begins so gets before it. Each makes other Markdown of the
# same sense, and a line that begins with what was added is none of ours: who writes back what they read adds no more.
_OURS = (re.compile(r"##(?!#)"), "#"), (re.compile(r"\(\s*from\b"), "\\")
_NUMBER = re.compile(r"\[\s*\d+\s*\]"), "\\"
_RULE = re.compile(r"-{3,}\s*")
# What of a line is looked at for that.
_BEGINNING = 80
# Part of words and emoji in ordinary text; every other format character is invisible.
_KEPT_FORMATS = frozenset(_JOINERS)
# Invisible by name or by nature; a letter or emoji too new for this Python is not.
_BLANKS = frozenset(
    "\u115f\u1160\u3164\uffa0\u034f\u2065\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8\ufffe\uffff"
)


def without_unseen(text: str) -> str:
    """`text` without characters that a person does not see: controls, direction marks, tags, fillers."""
    lines = re.sub("\r\n|[\r\u2028\u2029\x85]", "\n", text)
    return _RUN.sub(_joined, "".join(char for char in lines if char in "\n\t" or not _is_invisible(char)))


def spelled_unseen(text: str) -> str:
    """`text` with a sign such as ‹U+202E› in place of each character that `without_unseen` leaves out."""
    lines = text.replace("\r\n", "\n")
    signs = "".join(char if char in "\n\t" or not _is_odd(char) else _spelled(char) for char in lines)
    return _RUN.sub(lambda run: _joined(run) + "".join(map(_spelled, run[0].replace(_joined(run), "", 1))), signs)


def _is_odd(char: str) -> bool:
    return char in "\u2028\u2029" or _is_invisible(char)


def _spelled(char: str) -> str:
    return f"‹U+{ord(char):04X}›"


def _joined(run: re.Match[str]) -> str:
    """One selector and one joiner at most where several stand in a row, which only hide something; none among ASCII."""
    before, marks = run.groups()
    if before.isascii():
        return before + (marks[0] if before in _KEYCAPS and marks[0] in "\ufe0e\ufe0f" else "")
    selector = marks[0] if marks[0] in _SELECTORS else ""
    return before + selector + next((mark for mark in marks if mark in _JOINERS), "")


@cache
def _opening(tag: str) -> re.Pattern[str]:
    """What opens or closes a block of ours, or of that tag."""
    names = ("".join(name.casefold().split()) for name in (*_TAGS, tag))
    # No run of white space is read twice: each takes all there is, and gives none back.
    spaced = (r"\s*+".join(map(re.escape, name)) for name in names if name)
    return re.compile(rf"<\s*+/?\s*+(?:{'|'.join(spaced)})\b")


def without_tags(text: str, tag: str) -> str:
    """`text` with what opens or closes a block of ours, or of `tag`, escaped: in whatever width, style or case."""
    pieces, places = list[str](), list[int]()
    for at, char in enumerate(text):
        if char not in _JOINERS + _SELECTORS:
            piece = (char if char.isascii() else unicodedata.normalize("NFKC", char)).casefold()
            pieces.append(piece)
            places += [at] * len(piece)
    chars = list(text)
    for found in _opening(tag).finditer("".join(pieces)):
        chars[places[found.start()]] = "&lt;"
    return "".join(chars)


def quoted_line(line: str, is_numbered: bool) -> str:
    """A line, with what is put before it when it begins as one of ours in whatever width or case."""
    marks: Iterable[tuple[re.Pattern[str], str]] = (*_OURS, _NUMBER) if is_numbered else _OURS
    bare = line.lstrip()
    margin, signs = line[: len(line) - len(bare)], (char for char in bare[:_BEGINNING] if char not in _UNSEEN_SIGNS)
    key = unicodedata.normalize("NFKC", "".join(signs)).casefold().lstrip()
    if key.startswith("---") and _RULE.fullmatch(unicodedata.normalize("NFKC", bare)):
        return f"{margin}- - -"
    return next((margin + sign + bare for mark, sign in marks if mark.match(key)), line)


def _is_invisible(char: str) -> bool:
    if char in _BLANKS or "\U000e0000" <= char <= "\U000e0fff":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in _KEPT_FORMATS
