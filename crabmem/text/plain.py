"""Plain frontmatter, which nearly every entry has: lines of plain words between two fences, then the text.

Claude Code's entries have it too: there one key, `metadata`, has lines of its own below it.

Read without YAML, which takes ten times as long, wherever YAML could say nothing else.
"""

from collections.abc import Mapping
from typing import TypeAlias

_FENCE = "---\n"
_END = "\n---\n"
_QUOTES = frozenset("[]{}\"'#&*!|>%@`:?,-")
_NULLS = frozenset(["null", "Null", "NULL"])
# Without the signs that may stand within an item of a list: as in src/a.py:40@3f2a91c0.
_QUOTES_WITHIN = _QUOTES - frozenset(":@-")
# Characters that a frontmatter of this form has at most.
_MOST = 8_192

Keys: TypeAlias = "dict[str, str | list[str] | Keys]"


def read_plain(text: str) -> "tuple[Keys, str] | None":
    """The keys of a text's frontmatter and its content; None when it is not of this form."""
    end = text.find("\n---", 3, _MOST)
    if not text.startswith(_FENCE) or end < 0 or text[end : end + 5] != _END:
        return None
    if "\r" in text or "\0" in text or "<<<<<<<" in text:  # other line breaks, what is no text, the marks of a merge
        return None
    keys = _keys(text[4:end].split("\n"))
    return None if keys is None else (keys, text[end + 5 :].removeprefix("\n").removesuffix("\n"))


def _keys(lines: list[str]) -> "Keys | None":
    """Return the keys of a plain header, indented ones below `metadata`; None where only YAML can read a line."""
    keys: Keys = {}
    inner: Keys | None = None
    for line in lines:
        if line[:9] == "metadata:" and not line[9:].strip(" ") and "metadata" not in keys:
            inner = keys["metadata"] = {}
        elif line[:2] == "  ":
            if inner is None or not _put(inner, line[2:]):
                return None
        else:
            inner = None
            if not _put(keys, line):
                return None
    return None if keys.get("metadata") == {} else keys


def _put(keys: "Keys", line: str) -> bool:
    """Add the key and plain value of a line to `keys`; return False for any other line, or a key that is there."""
    key, _, words = line.partition(": ")
    value = _value(words)
    if not (key.isascii() and key.replace("_", "").isalpha()) or key in keys or value is None:
        return False
    keys[key] = value
    return True


def _value(words: str) -> "str | list[str] | None":
    if words[:1] == "[" and words[-1:] == "]":
        items = words[1:-1].split(", ")
        return items if all(map(_is_item, items)) else None
    if words[:1] == '"' and words[-1:] == '"' and len(words) > 1:
        inside = words[1:-1]
        return inside if inside.isprintable() and '"' not in inside and "\\" not in inside else None
    if words[:1] == "'" and words[-1:] == "'" and len(words) > 1:  # as crabmem itself writes what holds a colon
        inside = words[1:-1]
        is_text = inside.isprintable() and "'" not in inside.replace("''", "")
        return inside.replace("''", "'") if is_text else None
    return words if _is_plain(words) else None


def _is_plain(words: str) -> bool:
    """Whether YAML reads `words` as they stand."""
    begins = words[:1].isalnum() and words.isprintable() and words[-1] not in ": "
    return begins and ": " not in words and " #" not in words and words not in _NULLS


def _is_item(words: str) -> bool:
    return _is_plain(words) and _QUOTES_WITHIN.isdisjoint(words)


def list_line(key: str, items: object) -> str:
    """The line of a frontmatter with a list of plain words without quotes; "" where it needs some, or is no list."""
    if not (isinstance(items, list) and items and all(isinstance(item, str) and _is_item(item) for item in items)):
        return ""
    return f"{key}: [{', '.join(items)}]\n"


# ASCII characters that YAML never quotes, in an item of a list that begins with a letter; the rest goes to YAML. They
# are fewer than those read plainly, as what is written has to be what YAML writes, which quotes more than it needs to.
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/+()'-")
# The same in a value that is no list.
_SAFE_ALONE = _SAFE | frozenset(",;!?&=%@")
# Words that YAML takes for something else than text.
_MEANT = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n"])


def plain_lines(keys: "Mapping[str, object]") -> str | None:
    """The lines of a frontmatter with these keys, as YAML would write them; None when only YAML knows how."""
    lines: list[str] = []
    for key, value in keys.items():
        if isinstance(value, list):
            if not value or not all(isinstance(item, str) and _is_safe(item, _SAFE) for item in value):
                return None
            lines.append(f"{key}: [{', '.join(value)}]\n")
        elif isinstance(value, str) and _is_safe(value, _SAFE_ALONE):
            lines.append(f"{key}: {value}\n")
        else:
            return None
    return "".join(lines)


def _is_safe(text: str, signs: frozenset[str]) -> bool:
    """Whether YAML writes a text of these signs as it stands."""
    is_word = text[:1].isalpha() and text[-1] != " " and signs.issuperset(text) and "  " not in text
    return is_word and text.casefold() not in _MEANT
