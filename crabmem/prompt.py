"""What a model reads: blocks that hold memory as data, and the texts of `prompts/`.

Knows nothing of files of a workspace; every function but `template` is text in, text out.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

# What shows nothing of its own, may stand inside words, and so inside what looks like a tag.
_UNSEEN = "[\\s\u200c\u200d\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f]*"
_NAMES = "|".join(_UNSEEN.join(name) for name in ("memory", "recall"))
_OUR_TAG = re.compile(rf"<(?={_UNSEEN}/?{_UNSEEN}(?:{_NAMES})\b)", re.IGNORECASE)
_FORGED = re.compile(r"^---(?=[ \t]*\n\s*(?:##|\(from ))", re.MULTILINE)
# Part of words and emoji in ordinary text; every other format character is invisible.
_KEPT_FORMATS = frozenset("\u200c\u200d")
# Invisible by name or by nature; a letter or emoji too new for this Python is not.
_BLANKS = frozenset(
    "\u115f\u1160\u3164\uffa0\u034f\u2065\ufff0\ufff1\ufff2\ufff3\ufff4\ufff5\ufff6\ufff7\ufff8\ufffe\uffff"
)


def visible(text: str) -> str:
    """`text` without characters that a person does not see: controls, direction marks, tags, fillers."""
    lines = re.sub("\r\n|[\r\u2028\u2029\x85]", "\n", text)
    return "".join(char for char in lines if char in "\n\t" or not _is_invisible(char))


def block(tag: str, text: str) -> str:
    """`<tag>` around `text`, which cannot close it: our own tags inside are escaped. "" when blank."""
    inside = _OUR_TAG.sub("&lt;", visible(text)).strip()
    return f"<{tag}>\n{inside}\n</{tag}>" if inside else ""


def entry_text(name: str, description: str, content: str) -> str:
    """One entry as a model reads it: a heading, the description, a blank line, the content."""
    lines = [f"## {name}", description.strip(), "", content.strip()]
    return visible("\n".join(line for at, line in enumerate(lines) if line or at == 2)).strip()


def entry_texts(texts: Iterable[str]) -> str:
    """Several entries, a line `---` between; one inside a text that would begin another entry is a rule `- - -`."""
    return "\n---\n".join(_FORGED.sub("- - -", text) for text in texts)


def fitting(texts: Sequence[str], limit: int) -> str:
    """As many whole texts as `limit` characters hold, at least the beginning of the first."""
    kept = texts[:1]
    for text in texts[1:]:
        if len(entry_texts([*kept, text])) > limit:
            break
        kept = [*kept, text]
    whole = entry_texts(kept)
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"


def guidance(tools: Iterable[tuple[str, str]]) -> str:
    """How to use memory, naming exactly `tools`, pairs of a name and what the tool is for."""
    lines = "\n".join(f"- `{name}`: {purpose}" for name, purpose in tools)
    return template("memory").replace("{tools}", lines).strip()


def joined(parts: Iterable[str]) -> str:
    """The parts that hold something, a blank line between."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


@cache
def template(name: str) -> str:
    """The text of `prompts/<name>.md`: inside the package when installed, beside it in a checkout."""
    inside = resources.files("crabmem").joinpath("prompts", f"{name}.md")
    beside = Path(__file__).parent.parent / "prompts" / f"{name}.md"
    return inside.read_text("utf-8") if inside.is_file() else beside.read_text("utf-8")


def _is_invisible(char: str) -> bool:
    if char in _BLANKS or "\U000e0000" <= char <= "\U000e0fff":
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and char not in _KEPT_FORMATS
