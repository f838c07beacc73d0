"""Frontmatter: taking it off a text, reading it as YAML, changing single keys of it.

Knows nothing of entries: a header is a mapping of text keys to text, lists and mappings. Every
scalar is read as text, so `name: no`, `1.10` and `2026-01-02` stay what was typed; only YAML's null is "".
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

from .edit import BOM, newline_of
from .limits import MAX_HEADER

MAX_DEPTH = 8
MAX_EVENTS = 2_000
_TOO_DEEP = "it is nested too deeply or too long"
# A header of more lines that YAML refuses is not read line by line: that takes a parser for each.
_MOST_LINES = 200

_FENCED = re.compile(r"---[ \t]*(?P<eol>\r\n|\n|\r)(?P<header>.*?)(?<=[\r\n])---[ \t]*(?:\r\n|\n|\r|\Z)", re.DOTALL)
_KEY_LINE = re.compile(r"(?m)^(?=[^\s#\-][^:\r\n]*:(?:\s|$))")
# What stands before the value on its line.
_BEFORE = re.compile(r"[ \t]*(?:- +)?(?:[^\s#\-:][^:]*:[ \t]+)?")
_BREAKS_INSIDE = re.compile("[\n\x85\u2028\u2029]")
_BaseLoader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NULL = "tag:yaml.org,2002:null"

Value: TypeAlias = "str | list[Value] | dict[str, Value]"


class BadHeader(ValueError):
    """The frontmatter is not YAML that we read; the message says where and why."""


class _NotYAML(BadHeader):
    """YAML itself refuses it."""


@dataclass(frozen=True)
class Parts:
    """A text taken apart, so that `bom + opening + header + closing + content` is the text again.

    `header` is None where there is no frontmatter (then `content` is everything but the BOM).
    `newline` is the line break to write: "\\r\\n" where the first line ends so, else "\\n".
    """

    bom: str
    opening: str
    header: str | None
    closing: str
    content: str
    newline: str


def parts_of(text: str) -> Parts:
    """`text` as its parts. A header that is never closed is no header."""
    bom, rest = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    newline = newline_of(rest)
    fenced = _FENCED.match(rest)
    if not fenced:
        return Parts(bom, "", None, "", rest, newline)
    start, end = fenced.span("header")
    return Parts(bom, rest[:start], rest[start:end], rest[end : fenced.end()], rest[fenced.end() :], newline)


class _Loader(_BaseLoader):  # type: ignore[misc]
    """Reads every scalar as the text that was typed; null as a value is "", as where nothing stands."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        for key, _ in node.value:
            key.tag = self.DEFAULT_SCALAR_TAG  # a key called null is called so
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]


_Loader.add_implicit_resolver(_NULL, re.compile(r"(?:~|null|Null|NULL)\Z"), [*"~nN"])
_Loader.add_constructor(_NULL, lambda loader, node: "")


class _TextDumper(yaml.SafeDumper):
    """Writes text so that any YAML reader takes it for text, on one line."""


def _as_text(dumper: _TextDumper, value: str) -> yaml.ScalarNode:
    # Folded quotes would put a `---` of the value on a line of its own; frontmatter strips what it exports.
    style = '"' if _BREAKS_INSIDE.search(value) or value != value.strip() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _on_one_line(dumper: _TextDumper, values: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


_TextDumper.add_representer(str, _as_text)
_TextDumper.add_representer(list, _on_one_line)


class TextYAML(YAMLHandler):
    """python-frontmatter's YAML, bounded and with text as the only scalar type."""

    def load(self, fm: str, **kwargs: object) -> dict[str, Value]:
        """The mapping in `fm`.

        Raises:
            BadHeader: not YAML, not a mapping, or beyond the bounds above.
        """
        try:
            _check_bounds(fm)
            loaded = super().load(fm, Loader=_Loader)
        except BadHeader:
            raise
        except (yaml.YAMLError, ValueError) as error:
            if "nesting depth" in str(error):  # libyaml of PyYAML 6.0.4 stops at 1,000 levels, before we have counted 8
                raise BadHeader(_TOO_DEEP) from None
            raise _NotYAML(_where(error)) from None
        if loaded is None:
            return {}
        if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
            raise BadHeader("it is not a list of `key: value` lines")
        return loaded

    def export(self, metadata: Mapping[str, object], **kwargs: object) -> str:
        """`metadata` as YAML, a line a key, in the order given."""
        return super().export(
            dict(metadata),
            Dumper=_TextDumper,
            sort_keys=False,
            width=2**30,
        )


_YAML = TextYAML()


def load(header: str) -> dict[str, Value]:
    """The mapping in `header`, where people's `key: words: more words` is read as it was meant.

    Raises:
        BadHeader: not YAML, not a mapping, or beyond the bounds above.
    """
    return _as_meant(header)[1]


def readable(header: str) -> str:
    """`header` with quotes around what people write and YAML refuses; every other byte stays.

    Raises:
        BadHeader: it cannot be read.
    """
    return _as_meant(header)[0]


def fault(header: str) -> str | None:
    """Return why YAML refuses `header`, which `load` may read all the same; None when YAML takes it."""
    try:
        _YAML.load(header)
    except BadHeader as error:
        return str(error)
    return None


def _as_meant(header: str) -> tuple[str, dict[str, Value]]:
    """`header` as YAML takes it, and its mapping.

    People write `description: vet: looks after the dog` and `name: @home`. Such a value is quoted; every other byte
    stays.

    Raises:
        BadHeader: `header` cannot be read even with such quotes.
    """
    try:
        return header, _YAML.load(header)
    except _NotYAML as error:
        if len(header.splitlines()) > _MOST_LINES:
            raise
        mended = "".join(_readable(part) for part in _KEY_LINE.split(header))
        try:
            return mended, _YAML.load(mended)
        except BadHeader:
            raise error from None


def _readable(part: str) -> str:
    """Return the lines of one key as YAML can read them: if it refuses them, with quotes around each refused value."""
    if not _is_refused(part):
        return part
    return "".join(_in_quotes(line) if _is_refused(line.lstrip(" ")) else line for line in part.splitlines(True))


def _in_quotes(line: str) -> str:
    found = _BEFORE.match(line)
    start, end = found.end() if found else 0, len(line.rstrip())
    value = line[start:end].replace("'", "''")
    return f"{line[:start]}'{value}'{line[end:]}" if value else line


def _is_refused(text: str) -> bool:
    try:
        _YAML.load(text)
    except BadHeader as error:
        return isinstance(error, _NotYAML)
    return False


def keys(text: str) -> list[str]:
    """The keys of the frontmatter of `text` as they stand there, one written twice twice; none when it is broken."""
    try:
        root = yaml.compose(_as_meant(parts_of(text).header or "")[0], Loader=_Loader)
    except BadHeader:
        return []
    return [key.value for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []


def texts(header: str) -> list[str]:
    """Every key and value of a header as it is read, of a key that stands there twice both; none when it is broken."""
    try:
        root = yaml.compose(_as_meant(header)[0], Loader=_Loader)
    except BadHeader:
        return []
    return [node.value for node in _scalars([root] if root else [], with_keys=True)]


def with_keys(header: str, changes: Mapping[str, "Value | None"], newline: str, source: str = "") -> str:
    """`header` with the keys in `changes` set, or gone for None, and every other byte as it was.

    A value is written as it stands in the header `source`, where that has it: a number there stays a number. The
    result loads as YAML: values that YAML refuses as they stand are put in quotes, also under keys that do not change.
    Where single keys cannot be set in place (flow style, odd layout), the whole header is written anew, with all its
    keys in their order.
    """
    text, before = _as_meant(header)
    wanted = {key: value for key, value in {**before, **changes}.items() if value is not None}
    if list(wanted.items()) == list(before.items()):
        return header
    differing = {key: value for key, value in changes.items() if before.get(key) != value}
    for lines in (_lines_of(source, differing, newline), {}) if source else ({},):
        changed = text
        for key, value in differing.items():
            changed = _with_key(changed, key, value, newline, lines.get(key))
        # Too long: the caller refuses it. Written anew it might fit, but without the comments of the source.
        if _loads_as(changed, wanted) or (source and len(changed) > MAX_HEADER):
            return changed
    return dump(wanted, newline)


def with_key_called(header: str, old: str, new: str, newline: str) -> str:
    """`header` with its key `old` called `new`, where it stands, and every other byte as it was.

    Where that cannot be, as for a key that stands there twice, the header is written anew.

    Raises:
        BadHeader: it cannot be read.
    """
    text, before = _as_meant(header)
    wanted = {new if key == old else key: value for key, value in before.items()}
    root = yaml.compose(text, Loader=_Loader)
    for key, _ in reversed(root.value if root else ()):
        if key.value == old:
            changed = text[: key.start_mark.index] + new + text[key.end_mark.index :]
            return changed if _loads_as(changed, wanted) else dump(wanted, newline)
    return header


def map_texts(header: str, change: Callable[[str], str], apart_from: Container[str], newline: str) -> str:
    """`header` with what `change` makes of each text in it, and every other byte as it was.

    Keys stay, and so does what stands under those `apart_from`. Each text keeps its quotes where what it becomes can
    stand in them.

    Raises:
        BadHeader: it cannot be read.
    """
    readable, before = _as_meant(header)
    wanted = {key: value if key in apart_from else _map_value(value, change) for key, value in before.items()}
    if wanted == before:
        return header
    header = readable
    root = yaml.compose(header, Loader=_Loader)
    values = [value for key, value in root.value if key.value not in apart_from] if root else []
    nodes = [node for node in _scalars(values) if change(node.value) != node.value]
    for written in (_in_its_quotes, _in_double_quotes):
        text = header
        for node in reversed(nodes):
            start, end = node.start_mark.index, node.end_mark.index
            text = text[:start] + written(text[start:end], node, change) + text[end:]
        if _loads_as(text, wanted):
            return text
    return dump(wanted, newline)


def _map_value(value: Value, change: Callable[[str], str]) -> Value:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_value(item, change) for item in value]
    return {key: _map_value(item, change) for key, item in value.items()}


def _scalars(nodes: Iterable[yaml.Node], with_keys: bool = False) -> Iterator[yaml.ScalarNode]:
    """The texts in these nodes and below them, in order."""
    for node in nodes:
        if isinstance(node, yaml.ScalarNode):
            yield node
        elif isinstance(node, yaml.MappingNode):
            yield from _scalars((each for pair in node.value for each in pair[not with_keys :]), with_keys)
        else:
            yield from _scalars(node.value, with_keys)


def _in_its_quotes(raw: str, node: yaml.ScalarNode, change: Callable[[str], str]) -> str:
    """Return a text as it stands in a header, changed inside its own quotes."""
    if node.style == "'":
        return "'" + change(raw[1:-1].replace("''", "'")).replace("'", "''") + "'"
    if node.style == '"' and "\\" not in raw:
        return '"' + re.sub(r'(["\\])', r"\\\1", change(raw[1:-1])) + '"'
    return change(raw)


def _in_double_quotes(raw: str, node: yaml.ScalarNode, change: Callable[[str], str]) -> str:
    text: str = yaml.dump(change(node.value), Dumper=_TextDumper, default_style='"', width=2**30, allow_unicode=True)
    block_end = raw[len(raw.rstrip("\r\n")) :]  # a folded or literal text ends after its line break
    return text.rstrip("\n") + block_end


def dump(mapping: Mapping[str, Value], newline: str) -> str:
    """`mapping` as the lines of a header."""
    return _YAML.export(mapping).replace("\n", newline) + newline


def _loads_as(text: str, wanted: Mapping[str, Value]) -> bool:
    try:
        return list(_YAML.load(text).items()) == list(wanted.items())
    except BadHeader:
        return False


def _lines_of(source: str, wanted: Mapping[str, "Value | None"], newline: str) -> dict[str, str]:
    """The lines of the header `source` that say what is wanted, as they stand there, by key."""
    try:
        text, values = _as_meant(source)
    except BadHeader:
        return {}
    same = [key for key, value in wanted.items() if value is not None and values.get(key) == value]
    spans = {key: span for key in same if (span := _span_of(text, key))}
    return {key: newline.join(text[start:end].splitlines()) for key, (start, end) in spans.items()}


def _with_key(text: str, key: str, value: "Value | None", newline: str, line: str | None = None) -> str:
    """Return `text` with the lines of a key replaced, or added at the end: by `line`, or else by `value` as YAML.

    With None as `value` they are removed.
    """
    span = _span_of(text, key)
    if value is None:
        return text[: span[0]] + text[span[1] :].removeprefix(newline) if span else text
    line = line or _YAML.export({key: value})
    if span:
        return text[: span[0]] + line + text[span[1] :]
    body = text if not text or text.endswith(("\n", "\r")) else text + newline
    return body + line + newline


def _span_of(text: str, key: str) -> tuple[int, int] | None:
    """Where the last `key: value` of the top level stands in `text`."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return None
    if not isinstance(root, yaml.MappingNode):
        return None
    spans = [
        (key_node.start_mark.index, max(_end(value_node), key_node.end_mark.index + 1))
        for key_node, value_node in root.value
        if key_node.value == key
    ]
    if not spans:
        return None
    start, end = spans[-1]
    return start, start + len(text[start:end].rstrip(" \t\r\n"))


def _end(node: yaml.Node) -> int:
    """The end of `node`'s own text: a block list's mark also covers the comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _check_bounds(text: str) -> None:
    """Refuse a header that may have been made to exhaust memory or the stack of the composer, which recurses."""
    if len(text) > MAX_HEADER:
        raise BadHeader(f"it is longer than {MAX_HEADER} characters")
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
        opens = isinstance(event, yaml.CollectionStartEvent)
        depth += opens - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or count > MAX_EVENTS:
            raise BadHeader(_TOO_DEEP)
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            raise BadHeader("it uses YAML anchors or aliases")


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it is not YAML"
    return f"line {mark.line + 2}: {problem}" if mark else str(problem)
