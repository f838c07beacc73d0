"""Plain frontmatter, which nearly every entry has: lines of plain words between two fences, then the text.

Claude Code's entries have it too: there one key, `metadata`, has lines of its own below it.

Read without YAML, which takes ten times as long, wherever YAML could say nothing else. Imports
nothing: a process that only recalls has no time for it.
"""

_FENCE = "---\n"
_END = "\n---\n"
_QUOTES = frozenset("[]{}\"'#&*!|>%@`:?,-")
#: Characters that a frontmatter of this form has at most.
MOST = 8_192

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Keys: TypeAlias = "dict[str, str | list[str] | Keys]"


def is_foreign(text: str) -> bool:
    """Whether a text has what none of this form has: another line break, no text, or what a merge left."""
    return "\r" in text or "\0" in text or "<<<<<<<" in text


def read_plain(text: str) -> "tuple[Keys, str] | None":
    """The keys of a text's frontmatter and its content; None when it is not of this form."""
    end = text.find("\n---", 3, MOST)
    if not text.startswith(_FENCE) or end < 0 or text[end : end + 5] != _END:
        return None
    if is_foreign(text):
        return None
    keys = _keys(text[4:end].split("\n"))
    return None if keys is None else (keys, text[end + 5 :].removeprefix("\n").removesuffix("\n"))


def _keys(lines: list[str]) -> "Keys | None":
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
    """Whether a line is a key that was not there and its plain value, which are then among the keys."""
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
    return begins and ": " not in words and " #" not in words


def _is_item(words: str) -> bool:
    return _is_plain(words) and _QUOTES.isdisjoint(words)
