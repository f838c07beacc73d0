"""JSON as people keep it in settings, with comments and an indentation of their own. Pure functions.

`put` and `drop` cut one change into the text; every byte that it is not about stays. What `put` put in anew,
`drop` takes out again without a trace.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from ..errors import BadConfig

Path: TypeAlias = tuple[str | int, ...]

_DEEPEST = 200
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*(?:.*?\*/|(?P<open>.*))", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")
_REST_OF_LINE = re.compile(r"(?:[ \t]*+/\*(?:(?!\*/)[^\r\n])*+\*/)*+(?:[ \t]*+//[^\r\n]*+)?+(?=[ \t]*+\r?\n)")
_INDENTED = re.compile(r'\n([ \t]+)["{\[]')


@dataclass(frozen=True)
class _Node:
    """A value and where it stands: `text[start:end]`. Objects and arrays have members."""

    start: int
    end: int
    value: object
    members: tuple["_Member", ...] = ()


@dataclass(frozen=True)
class _Member:
    """A value in an object or array, from its key on; `comma` is where the comma after it stands."""

    key: str | int
    start: int
    node: _Node
    comma: int | None


def parse(text: str, strict: bool = False) -> object:
    """The value that `text` holds. `strict` allows no comments and no comma after the last member.

    Raises:
        BadConfig: not JSON, or a key twice in an object; the message begins with the line.
    """
    return _Parser(text, strict).parse().value


def at(value: Any, path: Path) -> Any:
    """What stands at `path` in `value`; None where nothing does."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        else:
            value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
    return value


def put(text: str, path: Path, value: object) -> str:
    """`text` with `value` at `path`, and the objects on the way to it; a number one past the end appends.

    Raises:
        BadConfig: something on the way is not an object or an array.
    """
    node = _Parser(text).parse()
    for depth, key in enumerate(path):
        _assert_holds(text, node, key)
        found = next((member for member in node.members if member.key == key), None)
        if found is None:
            return _with_member(text, node, key, _nest(path[depth + 1 :], value))
        node = found.node
    is_flat = "\n" not in text[node.start : node.end]
    return text[: node.start] + _as_json(text, value, _margin(text, node.start), is_flat) + text[node.end :]


def drop(text: str, path: Path) -> str:
    """`text` without the member at `path`, which must be there."""
    node = _Parser(text).parse()
    for key in path[:-1]:
        node = next(member.node for member in node.members if member.key == key)
    return _without(text, node, next(at for at, member in enumerate(node.members) if member.key == path[-1]))


def _nest(path: Path, value: object) -> object:
    """`value` in the objects and arrays that lead to it."""
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _assert_holds(text: str, node: _Node, key: str | int) -> None:
    kind, words = (dict, "an object") if isinstance(key, str) else (list, "an array")
    if not isinstance(node.value, kind):
        raise BadConfig(f"line {_line(text, node.start)}: {key!r} can only stand in {words}")


def _with_member(text: str, node: _Node, key: str | int, value: object) -> str:
    """`text` with a new last member, in the manner of the one before it."""
    if not node.members:
        return _first(text, node, key, value)
    last = node.members[-1]
    end = last.node.end if last.comma is None else last.comma + 1
    after = "" if last.comma is None else ","
    if not _begins_line(text, last.start):
        member = " " + _member(text, key, value, "", flat=True) + after
    else:
        margin = _margin(text, last.start)
        member = _newline(text) + margin + _member(text, key, value, margin) + after
    comma = "" if after else ","
    rest = _REST_OF_LINE.match(text, end)
    place = rest.end() if rest and _begins_line(text, last.start) else end
    return text[:end] + comma + text[end:place] + member + text[place:]


def _first(text: str, node: _Node, key: str | int, value: object) -> str:
    """`text` with the first member of an object or array; what stood between its brackets follows."""
    margin, line = _margin(text, node.start), _newline(text)
    inner = margin + _indentation(text)
    member = line + inner + _member(text, key, value, inner) + line + margin
    return text[: node.start + 1] + member + text[node.start + 1 :]


def _without(text: str, node: _Node, at: int) -> str:
    """`text` without the member number `at`, its comma, and the whitespace before it."""
    member, floor = node.members[at], _end_of_previous(node, at)
    if len(node.members) == 1 and not text[floor : member.start].strip():
        return _without_only_member(text, node)
    after = text[member.node.end :]
    if member.comma is not None:
        between, after = text[member.node.end : member.comma], text[member.comma + 1 :]
        after = after if at or _begins_line(text, member.start) else after.lstrip(" \t")
        after = (between if between.strip() else "") + after
    comma = node.members[at - 1].comma if at and member.comma is None else None
    before = _until_break(text[floor : member.start], after)
    return text[:floor] + before + after if comma is None else text[:comma] + before + after


def _end_of_previous(node: _Node, at: int) -> int:
    """Where what comes before the member number `at` ends, its comma included."""
    if not at:
        return node.start + 1
    previous = node.members[at - 1]
    return previous.node.end if previous.comma is None else previous.comma + 1


def _until_break(gap: str, after: str) -> str:
    """`gap` without its last line break and what follows that, unless a `//` comment would then swallow `after`."""
    shorter = gap[: len(gap) - len(_last_break(gap))]
    last = next(reversed([comment[0] for comment in _COMMENT.finditer(shorter)]), "")
    is_open = last.startswith("//") and shorter.endswith(last)
    return gap if is_open and not after.lstrip(" \t").startswith(("\n", "\r\n")) else shorter


def _without_only_member(text: str, node: _Node) -> str:
    """`text` without the only member of an object or array, and without the lines that `_first` made."""
    member, start = node.members[0], node.start + 1
    end = member.node.end if member.comma is None else member.comma + 1
    if "\n" in text[start : member.start]:
        closing = _newline(text) + _margin(text, node.start)
        end += len(closing) if text.startswith(closing, end) else 0
    return text[:start] + text[end:]


def _last_break(text: str) -> str:
    """The whitespace that `text` ends with, back to its last line break and with it."""
    line = text.rstrip(" \t")
    above = line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
    return text[len(above) :]


def _member(text: str, key: str | int, value: object, margin: str, flat: bool = False) -> str:
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    return name + _as_json(text, value, margin, flat)


def _as_json(text: str, value: object, margin: str, flat: bool) -> str:
    """`value` as JSON in the manner of `text`; all lines but the first begin with `margin`."""
    if flat:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=_indentation(text)).replace("\n", _newline(text) + margin)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indentation(text: str) -> str:
    found = _INDENTED.search(text)
    return found[1] if found else "  "


def _margin(text: str, place: int) -> str:
    """The whitespace that the line of `place` begins with."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, place: int) -> bool:
    start = text.rfind("\n", 0, place)
    return start >= 0 and not text[start:place].strip()


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


class _Parser:
    """Reads a text once, from left to right."""

    def __init__(self, text: str, strict: bool = False) -> None:
        self._text = text
        self._strict = strict
        self._at = 0
        self._depth = 0

    def parse(self) -> _Node:
        self._skip()
        node = self._value()
        self._skip()
        if self._at < len(self._text):
            self._fail("something follows the end")
        return node

    def _value(self) -> _Node:
        start = self._peek()
        if start in ("{", "["):
            return self._container("}" if start == "{" else "]")
        if start == '"':
            return self._string()
        return self._word()

    def _container(self, closing: str) -> _Node:
        start, members = self._at, list[_Member]()
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("too deeply nested")
        self._step()
        while self._peek() != closing:
            if members and members[-1].comma is None:
                self._fail(f"a comma or {closing} is missing")
            members.append(self._member(len(members) if closing == "]" else None, closing))
        if self._strict and members and members[-1].comma is not None:
            self._fail("a comma follows the last member")
        self._at += 1
        self._depth -= 1
        return _Node(start, self._at, self._as_python(members, closing), tuple(members))

    def _as_python(self, members: Sequence[_Member], closing: str) -> object:
        if closing == "]":
            return [member.node.value for member in members]
        held: dict[str | int, object] = {}
        for member in members:
            if member.key in held:
                self._fail(f"the key {member.key!r} is there twice", member.start)
            held[member.key] = member.node.value
        return held

    def _member(self, index: int | None, closing: str) -> _Member:
        start = self._at
        key = self._key() if index is None else index
        node = self._value()
        self._skip()
        comma = self._at if self._peek(closing) == "," else None
        if comma is not None:
            self._step()
        return _Member(key, start, node, comma)

    def _key(self) -> str:
        if self._peek() != '"':
            self._fail("a key in double quotes is missing")
        key = str(self._string().value)
        self._skip()
        if self._peek() != ":":
            self._fail("a colon is missing")
        self._step()
        return key

    def _string(self) -> _Node:
        found = _STRING.match(self._text, self._at)
        if not found:
            self._fail("a text in double quotes does not end")
        return self._literal(found[0])

    def _word(self) -> _Node:
        found = _WORD.match(self._text, self._at)
        return self._literal(found[0] if found else self._peek())

    def _literal(self, word: str) -> _Node:
        start = self._at
        try:
            value = json.loads(word, parse_constant=_refuse_constant)
        except ValueError:
            self._fail(f"{word[:20]!r} is no value")
        self._at += len(word)
        return _Node(start, self._at, value)

    def _peek(self, missing: str = "the end") -> str:
        if self._at >= len(self._text):
            self._fail(f"it ends too early; {missing} is missing" if missing != "the end" else "it ends too early")
        return self._text[self._at]

    def _step(self) -> None:
        self._at += 1
        self._skip()

    def _skip(self) -> None:
        """Go on to what is neither space nor comment."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            comment = _COMMENT.match(self._text, self._at)
            if not comment:
                return
            if self._strict:
                self._fail("a comment, which this program does not read")
            if comment["open"] is not None:
                self._fail("a comment does not end")
            self._at = comment.end()

    def _fail(self, words: str, place: int | None = None) -> NoReturn:
        raise BadConfig(f"line {_line(self._text, self._at if place is None else place)}: {words}")
