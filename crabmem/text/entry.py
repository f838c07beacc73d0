"""An entry: one fact, one Markdown text with frontmatter. Text in, text out; knows nothing of files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ..errors import InvalidArguments, Unreadable, Unwritable
from . import plain
from .daily_notes import title
from .edit import BOM, is_in_conflict
from .hashes import version_of
from .limits import MAX_HEADER
from .sources import SOURCES, SOURCES_OF
from .staleness import STALE_AFTER, stale_after
from .values import field, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import frontmatter
    from .frontmatter import Value

#: A value under a key of a frontmatter.
HeaderValue: TypeAlias = "str | Sequence[HeaderValue] | Mapping[str, HeaderValue]"


MAX_NAME = 500
MAX_DESCRIPTION = 4_000
MAX_CONTENT = 262_144
MAX_LABELS = 100
#: Of a text added to a note, which nobody has to read at once.
MAX_NOTE = 16_777_216
#: The key that says which file an entry was imported from.
IMPORTED = "imported-from"
# The keys of a frontmatter that have a field of their own.
_OWN = ("name", "description", "aliases", "tags")
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Keys that are also read below `metadata`, where Claude Code moves them.
_MOVED = ("aliases", "tags", "type", "namespace", "key", "field", STALE_AFTER, SOURCES, SOURCES_OF)
NO_HEADER = "it has no frontmatter"
_CUT_SHORT = r"\ufeff?---[ \t]*(?:\r\n|\n|\r|\Z)(?:[\w-]+:|\Z)"
# The keys that people, and older versions of Obsidian, write for one label.
_SINGULAR = {"aliases": "alias", "tags": "tag"}
# Joiners: invisible, and part of ordinary words and emoji.
_JOINERS = "\u200c\u200d"


@value
class Entry:
    """One fact as it stands in its file.

    `path` is relative to the workspace and is the entry's identity. `version` names the bytes read.
    `kind` is what Claude Code says of a fact as `metadata.type`: user, feedback, project or reference.
    `problem` says why the frontmatter could not be used: then `name` is the file's stem and
    `content` the whole text. `keys` is the rest of the frontmatter, a person's and other programs'.
    `is_note`: a daily note that recall found, which is called by its day and whose description is where it is.
    """

    #: What JSON has of it, in this order (`results.json_of`).
    JSON = ("name", "slug", "path", "description", "content", "aliases", "tags", "stale_after?", "version")

    path: str
    version: str
    name: str
    description: str
    content: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    problem: str | None = None
    keys: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    kind: str = ""
    is_note: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What a filter by tags goes by."""
        return (*self.tags, self.kind) if self.kind else self.tags

    @property
    def about(self) -> str:
        """The text beside its name in a list; of headings their words alone."""
        return self.description or _HEADING.sub("", self.content)

    @property
    def origin(self) -> str:
        """What it was imported from; "" for nothing."""
        return _text(self.keys.get(IMPORTED))

    @property
    def stale_after(self) -> str:
        """The last day on which it surely holds, as 2026-12-31; "" where none is named."""
        return stale_after(self.keys) if STALE_AFTER in self.keys else ""

    @property
    def slug(self) -> str:
        """The file's name without its ending."""
        return _stem(self.path)


@value
class Fact:
    """What a caller wants remembered; None leaves the labels an entry already has.

    `keys` are set in the rest of the frontmatter, None removes one; all others stay. One of them, `IMPORTED`, says
    which file the fact was imported from: then it replaces the entry that was, whatever that is called now, and where
    an entry from elsewhere is called `name`, it is called `name (apart)`.

    `before` is the frontmatter of the file that it was imported from, with the lines `---` around it: every byte of it
    stays that says nothing else than the fact. `folder` is the one below that of entries into which a new entry goes,
    and `stem` what its file is called there, without its ending, where nothing else is.
    """

    name: str
    description: str
    content: str
    aliases: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    keys: Mapping[str, HeaderValue | None] = field(default_factory=dict, hash=False)
    apart: str = ""
    before: str = ""
    folder: str = ""
    stem: str = ""

    @property
    def origin(self) -> str:
        """What it was imported from; "" for nothing."""
        return _text(self.keys.get(IMPORTED))

    @property
    def words(self) -> str:
        """All that it says, whatever the place: one text, in which something may be sought."""
        kept = (line for key, value in self.keys.items() if value is not None for line in _lines(key, value))
        return "\n".join(
            [self.name, self.description, *(self.aliases or ()), *(self.tags or ()), *kept, self.before, self.content]
        )


def decode(path: str, data: bytes) -> str:
    """The text in `data`.

    Raises:
        Unreadable: `data` is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def parse_entry(path: str, data: bytes, version: str = "") -> Entry:
    """Return the entry in `data`, read leniently: broken frontmatter is content. A known `version` saves a digest.

    Raises:
        Unreadable: `data` is no whole text: not UTF-8, empty, cut short or with the marks of a merge.
    """
    text, version = decode(path, data), version or version_of(data)
    if found := plain.read_plain(text):
        return _entry_of_header(path, version, *found)
    if reason := _unfinished(text):
        raise Unreadable(f"{path} {reason}")
    from . import frontmatter as header  # late: to load YAML takes longer than a recall

    parts = header.parts_of(text)
    whole = text.removeprefix(BOM)
    # Line feeds only, as with a header: when the content is written back, each becomes "\r\n" again.
    bare = Entry(path, version, _stem(path), "", whole if parts.newline == "\n" else whole.replace("\r\n", "\n"))
    if parts.header is None:
        return replace(bare, problem=NO_HEADER)
    try:
        keys = header.load(parts.header)
    except header.BadHeader as error:
        return replace(bare, problem=f"its frontmatter cannot be read: {error}")
    return _entry_of_header(path, version, keys, _unwrapped(parts))


def entry_in(path: str, data: bytes) -> Entry | None:
    """Return the entry in `data` as `parse_entry` does; None where that would raise `Unreadable`."""
    try:
        return parse_entry(path, data)
    except Unreadable:
        return None


def parse_note(path: str, data: bytes) -> Entry:
    """The daily note in `data` as recall finds it among entries: its text, without a frontmatter, is the content.

    Raises:
        Unreadable: `data` is not UTF-8.
    """
    text = decode(path, data)
    if text.startswith(("---", BOM)):
        from . import frontmatter as header  # late: to load YAML takes longer than a recall

        parts = header.parts_of(text)
        text = text.removeprefix(BOM) if parts.header is None else _unwrapped(parts)
    return Entry(path, version_of(data), title(path), f"in {path}", text, is_note=True)


def _entry_of_header(path: str, version: str, keys: Mapping[str, object], content: str) -> Entry:
    """Make an entry of a header's keys; one below `metadata` counts where the top level has no such key."""
    metadata = _metadata(keys)
    if metadata:
        keys = {**metadata, **keys}
    return Entry(
        path,
        version,
        name=_line(keys.get("name")) or _stem(path),
        description=_text(keys.get("description")),
        content=content,
        aliases=_aliases(keys),
        tags=_tags(keys),
        kind=_line(metadata.get("type")) or _line(keys.get("type")),
        keys={key: value for key, value in keys.items() if key not in _OWN},
    )


def _metadata(keys: Mapping[str, object]) -> Mapping[str, object]:
    """What of ours lies under `metadata`: Claude Code moves keys there that it does not know."""
    found = keys.get("metadata")
    return {key: found[key] for key in _MOVED if key in found} if isinstance(found, dict) else {}


def _stem(path: str) -> str:
    """As `PurePosixPath.stem`, which takes longer than to read the rest of a header."""
    name = path.rpartition("/")[2]
    at = name.rfind(".")
    return name[:at] if 0 < at < len(name) - 1 else name


def _unfinished(text: str) -> str | None:
    """The reason why `text` is not the whole of what somebody meant to write; None when there is none."""
    if not text.strip("\ufeff \t\r\n"):
        return "is empty; write something into it, or delete it"
    if "\0" in text:
        return "contains NUL characters, as after a power cut; delete them"
    if is_in_conflict(text):
        return "holds the marks of an unresolved merge; edit it, or `crabmem review resolve`"
    if text.startswith(("---", BOM)):
        from . import frontmatter as header

        if re.match(_CUT_SHORT, text) and header.parts_of(text).header is None:
            return "begins a frontmatter that is never closed; add a line `---` after it"
    return None


def render_entry(fact: Fact, before: str | None) -> str:
    """Return the text of a file that holds `fact`, made from its text `before` (None for a new entry).

    Keys, comments, order, line endings and byte order mark of `before` stay; reading the result
    gives exactly `fact`. A new entry is made from what the fact has of the file that it was imported from.
    """
    if before is None and not fact.before and not fact.keys:
        lines = _new_header(fact, "\n")
        _check_extent(lines)
        return f"---\n{lines}---\n{_body(fact.content, chr(10))}"
    from . import frontmatter as header  # late: to load YAML takes longer than a recall

    parts = header.parts_of(fact.before if before is None else before)
    if parts.header is None:
        lines = _new_header(fact, parts.newline)
        opening = closing = f"---{parts.newline}"
    else:
        lines = _updated_header(parts.header, fact, parts.newline)
        opening, closing = parts.opening, _ended(parts.closing, parts.newline)
    _check_extent(lines)
    if fact.keys and (fault := header.fault(lines)):
        raise InvalidArguments(f"the frontmatter could not be read again: {fault}")
    body = _body(fact.content, parts.newline)
    return f"{parts.bom}{opening}{lines}{closing}{body}"


def _check_extent(lines: str) -> None:
    if len(lines) > MAX_HEADER:
        raise InvalidArguments(
            f"the frontmatter would have {len(lines)} characters; at most {MAX_HEADER} fit: "
            "shorten the description, the aliases or the tags"
        )


def checked(fact: Fact) -> Fact:
    """`fact` with white space around its name and labels removed.

    Raises:
        InvalidArguments: something in it cannot be kept; the message names it.
    """
    name = fact.name.strip()
    if not any(char.isprintable() and not char.isspace() for char in name):
        raise InvalidArguments("the name is empty; give the fact a short name of its own")
    _check_line("name", name)
    check_text("description", fact.description, MAX_DESCRIPTION)
    check_text("content", fact.content, MAX_CONTENT)
    check_text("frontmatter", fact.before)
    tags = None if fact.tags is None else tuple(map(_bare_tag, fact.tags))
    return replace(
        fact,
        name=name,
        aliases=_checked_labels("aliases", fact.aliases),
        tags=_checked_labels("tags", tags),
        keys=_checked_keys(fact.keys),
    )


def checked_or_why(fact: Fact) -> Fact | InvalidArguments:
    """`fact` as `checked` has it, or why it cannot be kept."""
    try:
        return checked(fact)
    except InvalidArguments as error:
        return error


def with_name(path: str, text: str, name: str, stem: str, alias: str | None = None) -> str:
    """`text`, the entry's at `path`, as the entry called `name` in a file called `stem`; all else of it stays.

    `alias` is added to its aliases. Where the text has no key `name`, it gets one only if `stem` is not the name.

    Raises:
        Unwritable: its frontmatter cannot be read, so the name cannot be set there.
    """

    def changes_to(before: Mapping[str, object]) -> dict[str, Value | None]:
        changes: dict[str, Value | None] = {"name": name} if "name" in before or name != stem else {}
        if alias is not None and alias not in _aliases(before):
            changes |= _with_labels("aliases", (*_aliases(before), alias), before)
        return changes

    return _with_changes(path, text, "renamed", changes_to)


def with_tags(path: str, text: str, tags: Sequence[str]) -> str:
    """`text`, the entry's at `path`, as the entry that has the `tags` and no others; all else of it stays.

    Raises:
        InvalidArguments: one of them cannot be kept.
        Unwritable: its frontmatter cannot be read, so tags cannot be set there.
    """
    labels = _checked_labels("tags", tuple(map(_bare_tag, tags))) or ()

    def changes_to(before: Mapping[str, object]) -> dict[str, Value | None]:
        before = {**_metadata(before), **before}
        return {} if labels == _tags(before) else _with_labels("tags", labels, before)

    return _with_changes(path, text, "tagged", changes_to)


def with_sources_of(path: str, text: str, project: str | None) -> str:
    """`text`, the entry's at `path`, with the name of its sources' project, or None for none; all else of it stays.

    Raises:
        Unwritable: its frontmatter cannot be read.
    """
    return _with_changes(
        path, text, "changed", lambda before: {} if before.get(SOURCES_OF) == project else {SOURCES_OF: project}
    )


def _with_changes(
    path: str, text: str, done: str, changes_to: Callable[[Mapping[str, object]], Mapping[str, Value | None]]
) -> str:
    """Return `text` with the changes that `changes_to` makes of its keys; a text without frontmatter gets one.

    Raises:
        Unwritable: its frontmatter cannot be read; `done` is what could not be done to it.
    """
    from . import frontmatter as header  # late: to load YAML takes longer than a recall

    parts = header.parts_of(text)
    try:
        changes = changes_to(header.load(parts.header or ""))
    except header.BadHeader as error:
        raise Unwritable(
            f"{path} cannot be {done}, as its frontmatter cannot be read: {error}; mend it first"
        ) from None
    if not changes:
        return text
    lines = header.with_keys(parts.header or "", changes, parts.newline)
    if parts.header is not None:
        return f"{parts.bom}{parts.opening}{lines}{parts.closing}{parts.content}"
    return f"{parts.bom}---{parts.newline}{lines}---{parts.newline}{parts.newline}{parts.content}"


def _keys(fact: Fact, before: Mapping[str, object]) -> dict[str, Value | None]:
    """Return the keys to set, or with None to remove, in a header that has those of `before`, so that it says `fact`.

    Labels that mean the same in another form, as `tag: a b`, are left as they are.
    """
    before = {**_metadata(before), **before}
    keys: dict[str, Value | None] = {"name": fact.name}
    if fact.description or not fact.before or "description" in before:
        keys["description"] = fact.description
    if fact.aliases is not None and fact.aliases != _aliases(before):
        keys |= _with_labels("aliases", fact.aliases, before)
    if fact.tags is not None and fact.tags != _tags(before):
        keys |= _with_labels("tags", fact.tags, before)
    return keys | {key: None if value is None else _plain(value) for key, value in fact.keys.items()}


def _plain(value: HeaderValue) -> Value:
    """Return a value with texts, lists and dicts alone, as YAML takes it."""
    if isinstance(value, str):
        return value
    if hasattr(value, "items"):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value]


def _lines(key: str, value: HeaderValue) -> Iterator[str]:
    """Every text that stands under a key, after the key that it stands under."""
    if isinstance(value, str):
        yield f"{key}: {value}"
    elif hasattr(value, "items"):
        yield from (line for below, each in value.items() for line in _lines(below, each))
    else:
        yield from (line for each in value for line in _lines(key, each))


def _new_header(fact: Fact, newline: str) -> str:
    """Return the lines of a new header; YAML is loaded only for values that may need quotes.

    The day and the sources are written without quotes, which YAML would add.
    """
    keys = {key: said for key, said in _keys(fact, {}).items() if said is not None}
    bare = {STALE_AFTER: _day_line(fact), SOURCES: plain.list_line(SOURCES, fact.keys.get(SOURCES))}
    rest = {key: said for key, said in keys.items() if not bare.get(key)}
    if (lines := plain.plain_lines(rest)) is not None:
        return (lines + "".join(bare.values())).replace("\n", newline)
    from .frontmatter import dump

    return dump(rest, newline) + "".join(bare.values()).replace("\n", newline)


def _day_line(fact: Fact) -> str:
    """The line of a header with the day that a fact is stale after: without quotes, so that others read it as a day."""
    day = fact.keys.get(STALE_AFTER)
    return f"{STALE_AFTER}: {day}\n" if isinstance(day, str) and day == stale_after(fact.keys) else ""


def _with_labels(key: str, labels: tuple[str, ...], before: Mapping[str, object]) -> dict[str, Value | None]:
    """The changes that make `labels` the only ones: none stay under the key in the singular."""
    single = {_SINGULAR[key]: None} if _SINGULAR[key] in before else {}
    return {key: list(labels), **single} if labels or key in before else {**single}


def _updated_header(lines: str, fact: Fact, newline: str) -> str:
    """Return a header with the keys of `fact` set in place; a header that cannot be read is replaced by a new one."""
    from . import frontmatter as header

    try:
        source = header.parts_of(fact.before).header or (
            _day_line(fact) + plain.list_line(SOURCES, fact.keys.get(SOURCES))
        )
        return header.with_keys(lines, _keys(fact, header.load(lines)), newline, source)
    except header.BadHeader:
        return _new_header(fact, newline)


def _body(content: str, newline: str) -> str:
    lines = content if newline == "\n" else content.replace("\n", newline)
    return f"{newline}{lines}{newline}"


def _unwrapped(parts: frontmatter.Parts) -> str:
    """The content without the blank line before it and the line break at its end."""
    body = parts.content.removeprefix(parts.newline).removesuffix(parts.newline)
    return body if parts.newline == "\n" else body.replace(parts.newline, "\n")


def _ended(closing: str, newline: str) -> str:
    # A lone CR before the blank line would read as the first half of CRLF.
    return closing if closing.endswith("\n") else closing.rstrip("\r") + newline


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _line(value: object) -> str:
    return " ".join(value.splitlines()).strip() if value and isinstance(value, str) else ""


def _aliases(keys: Mapping[str, object]) -> tuple[str, ...]:
    found = _labels(keys.get("aliases"), ",")
    return tuple(dict.fromkeys((*found, *_labels(keys["alias"], ",")))) if "alias" in keys else found


def _tags(keys: Mapping[str, object]) -> tuple[str, ...]:
    """Tags, which as one text without commas have spaces between them."""
    values = [keys[key] for key in ("tags", "tag") if key in keys]
    labels = (each for value in values for each in _labels(value, "," if "," in _text(value) else None))
    found = (tag for tag in map(_bare_tag, labels) if tag) if values else ()
    return tuple(dict.fromkeys(found)) if "tag" in keys else tuple(found)


def _labels(value: object, between: str | None) -> tuple[str, ...]:
    """Labels as people write them: a list, or one text with commas or (None) white space `between` them."""
    if isinstance(value, str):
        value = value.split(between)
    if not isinstance(value, list):
        return ()
    return tuple(line for line in map(_line, value) if line)


def _bare_tag(tag: str) -> str:
    return tag.strip().lstrip("# ")


def _checked_labels(what: str, labels: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if labels is None:
        return None
    if len(labels) > MAX_LABELS:
        raise InvalidArguments(f"{what}: at most {MAX_LABELS}, not {len(labels)}")
    stripped = tuple(label.strip() for label in labels)
    for label in stripped:
        _check_line(what, label)
        if not label:
            raise InvalidArguments(f"{what}: one of them is empty")
    return stripped


def _checked_keys(keys: Mapping[str, HeaderValue | None]) -> dict[str, HeaderValue | None]:
    """The keys, copied, that a caller sets; a value of None removes the key (see `Fact`)."""
    for key, said in keys.items():
        _check_line("name of a key", key)
        if not key or key in _OWN:
            raise InvalidArguments(f"keys: {key!r} is no key of the rest of the frontmatter")
        for line in () if said is None else _lines(key, said):
            check_text(key, line, MAX_HEADER)
    return dict(keys)


def _check_line(what: str, text: str) -> None:
    check_text(what, text, MAX_NAME)
    if not all(char.isprintable() or char in _JOINERS or unicodedata.category(char) == "Zs" for char in text):
        raise InvalidArguments(f"the {what} must be one line without invisible characters")


def check_text(what: str, text: str, limit: int = MAX_CONTENT) -> None:
    """Refuse a text that no file of memory may hold.

    Raises:
        InvalidArguments: too long, a NUL, half of a surrogate pair, or what looks like a failed merge.
    """
    if len(text) > limit:
        raise InvalidArguments(f"the {what} has {len(text)} characters; at most {limit} fit")
    if "\0" in text:
        raise InvalidArguments(f"the {what} contains a NUL character; remove it")
    if not text.isascii() and _SURROGATE.search(text):
        raise InvalidArguments(f"the {what} contains half of a surrogate pair; send valid Unicode")
    if is_in_conflict(text):
        raise InvalidArguments(f"the {what} holds the marks of an unresolved merge; resolve it, or indent them")
