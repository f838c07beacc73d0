"""What a model reads: memory as data, in blocks and hits that nothing inside of them can close or pass for.

Text in, text out; knows nothing of files.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

from . import answers

# What shows nothing of its own and may stand inside words: joiners, and selectors of a character's form.
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00\ufe01\ufe02\ufe0e\ufe0f\u180b\u180c\u180d\u180f"
_UNSEEN = "\u200c\u200d\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f"
_RUN = re.compile(f"([^{_UNSEEN}]?)([{_UNSEEN}]+)", re.DOTALL)
_UNSEEN_SIGNS = frozenset(_JOINERS + _SELECTORS)
_KEYCAPS = frozenset("0123456789#*")
# Of our blocks, and of those that hosts put what hooks say into.
_TAGS = ("memory", "recall", "conversation", "system-reminder", "hook_context", "session_context")
# The characters that are one in some width.
_OPENING_SIGNS = frozenset("<\ufe64\uff1c")
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


def visible(text: str) -> str:
    """`text` without characters that a person does not see: controls, direction marks, tags, fillers."""
    lines = re.sub("\r\n|[\r\u2028\u2029\x85]", "\n", text)
    return _RUN.sub(_joined, "".join(char for char in lines if char in "\n\t" or not _is_invisible(char)))


def block(tag: str, text: str) -> str:
    """`<tag>` around `text`, which cannot close it: that tag and our own inside are escaped. "" when blank."""
    inside = escaped(text, tag)
    return f"<{tag}>\n{inside}\n</{tag}>" if inside else ""


def escaped(text: str, tag: str = "") -> str:
    """`text` as it stands in a block of ours, or one of that tag; what is escaped already stays."""
    return _without_tags(visible(text), _opening(tag)).strip()


def quoted(text: str, is_numbered: bool = False) -> str:
    """`text` as it stands in a hit: none of its lines passes for one that we put around hits, nor a tag for ours.

    A heading `## Steps` becomes `### Steps`, `(from` gets a backslash, and so does `[1]` where hits are numbered; a
    line `---` becomes `- - -`. All else stays, and what was quoted stays too.
    """
    marks = (*_OURS, _NUMBER) if is_numbered else _OURS
    return "\n".join(_quoted_line(line, marks) for line in escaped(text).split("\n"))


def one_line(text: str) -> str:
    """`text` as it stands in a line of ours."""
    return escaped(text).replace("\n", " ")


def entry_text(name: str, description: str, content: str) -> str:
    """One entry as a person reads it, as it is: a heading, the description, a blank line, the content."""
    return answers.entry_layout(visible(name), visible(description), visible(content))


def hit_text(path: str, name: str, description: str, content: str, version: str = "") -> str:
    """One entry as a model reads it: a heading, the file it is from, the description, a blank line, the content."""
    return answers.entry_layout(one_line(name), quoted(one_line(description)), quoted(content), one_line(path), version)


def fitting(texts: Sequence[str], limit: int) -> str:
    """The first texts, whole, that fit into `limit` characters together; at least the beginning of the first one."""
    kept = texts[:1]
    for text in texts[1:]:
        if len(answers.BETWEEN.join([*kept, text])) > limit:
            break
        kept = [*kept, text]
    whole = answers.BETWEEN.join(kept)
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def units(text: str) -> int:
    """The length of `text` in UTF-16 units, as hosts that run JavaScript count it."""
    return len(text) + sum(char > "\uffff" for char in text)


def first_lines(text: str, most: int, mark: str) -> str:
    """`text`, or as many whole lines of its beginning as leave room for a line `mark`."""
    if units(text) <= most:
        return text
    kept = text[: max(0, most - units(mark) - 1)]
    while units(kept) + units(mark) + 1 > most and kept:
        kept = kept[: len(kept) - max(1, (units(kept) + units(mark) + 1 - most) // 2)]
    lines = kept.rpartition("\n")[0] or kept
    return f"{lines}\n{mark}" if lines else mark


def joined(parts: Iterable[str]) -> str:
    """The parts that hold something, a blank line between."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


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


def _without_tags(text: str, opening: re.Pattern[str]) -> str:
    """`text` with each `opening` escaped, in whatever width, style or case its letters are."""
    if _OPENING_SIGNS.isdisjoint(text):
        return text
    pieces, places = list[str](), list[int]()
    for at, char in enumerate(text):
        if char not in _JOINERS + _SELECTORS:
            piece = (char if char.isascii() else unicodedata.normalize("NFKC", char)).casefold()
            pieces.append(piece)
            places += [at] * len(piece)
    chars = list(text)
    for found in opening.finditer("".join(pieces)):
        chars[places[found.start()]] = "&lt;"
    return "".join(chars)


def _quoted_line(line: str, marks: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """A line, with what is put before it when it begins with one of the marks in whatever width or case."""
    bare = line.lstrip()
    if bare[:1].isalnum() and bare[:1].isascii():
        return line
    margin, signs = line[: len(line) - len(bare)], (char for char in bare[:_BEGINNING] if char not in _UNSEEN_SIGNS)
    key = unicodedata.normalize("NFKC", "".join(signs)).casefold().lstrip()
    if key.startswith("---") and _RULE.fullmatch(unicodedata.normalize("NFKC", bare)):
        return f"{margin}- - -"
    return next((margin + sign + bare for mark, sign in marks if mark.match(key)), line)


def _is_invisible(char: str) -> bool:
    if char in _BLANKS or "\U000e0000" <= char <= "\U000e0fff":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in _KEPT_FORMATS
