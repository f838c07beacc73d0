"""Erasure: a text, a pattern or an entry is found in messages, names and files, and put out of them.

Pure functions: text in, text out. `Erasure` is the rule by which `git.rewrite` makes a history anew.
"""

import codecs
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import PurePosixPath

from ...errors import InvalidArguments
from ...text import frontmatter as header
from ...text import plain
from ...text.entry import entry_in
from ...text.marks import MARKS, marked
from ...text.quotes import distinctive_lines
from ...text.slug import name_key, slug_of
from ...workspace.layout import Layout, way
from .lives import Lives, Version, versions_of_entry

_SHORTEST = 4
# The slug of a text is looked for in other texts too, unless it is a word like any other.
_TELLING = re.compile(r"[-0-9]")
# So much of a name's slug tells that a file was called by it; what is longer may have been cut.
_TELLTALE = 60
# A mark can be part of what is erased, and make another one with what stands beside it.
_AGAIN = 10
_NOTHING = re.compile(r"(?!)")
_WIDE = ("utf-16-le", "utf-16-be")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FRONTMATTER = ("---", "\ufeff---")


@dataclass(frozen=True)
class Redaction:
    """A regular expression, and the marks that take the place of what it finds: one in texts, one in names of files.

    `slugs` finds what a file's name makes of the text. What lies within something that `keeping` finds stays.
    """

    pattern: re.Pattern[str]
    slugs: re.Pattern[str] = _NOTHING
    keeping: re.Pattern[str] = _NOTHING
    marks: tuple[str, str] = MARKS[0]

    def is_in(self, text: str) -> bool:
        """Whether `text` holds anything that is to go."""
        if self.slugs.search(text):
            return True
        return bool(self.pattern.search(text)) and any(map(self._goes_from(text), self.pattern.finditer(text)))

    def redact(self, text: str) -> str:
        """`text` with a mark in each place, and in those that the marks make."""
        for _ in range(_AGAIN):
            if not self.is_in(text):
                break
            text = self._mark(text)
        return text

    def _mark(self, text: str) -> str:
        goes = self._goes_from(text)
        mark = self.marks[0]
        bare = self.pattern.sub(lambda match: marked(match[0], mark) if match[0] and goes(match) else match[0], text)
        return self.slugs.sub(mark, bare)

    def redact_name(self, name: str) -> str:
        """The name of a file or folder with a mark in each place."""
        return self.slugs.sub(self.marks[1], self.pattern.sub(self.marks[1], name))

    def _goes_from(self, text: str) -> Callable[[re.Match[str]], bool]:
        """What tells of a match in `text` whether it lies outside of what stays."""
        kept = [] if self.keeping is _NOTHING else [match.span() for match in self.keeping.finditer(text)]
        return lambda match: not any(start <= match.start() and match.end() <= end for start, end in kept)


#: What finds nothing.
NO_REDACTION = Redaction(_NOTHING)


def by_text(text: str) -> Redaction:
    """The redaction of a literal text in the forms that files and messages hold it in.

    Raises:
        InvalidArguments: it is so short that it is part of other words.
    """
    if len(text.strip()) < _SHORTEST:
        raise InvalidArguments(
            f"what to purge has to have {_SHORTEST} characters at least; a shorter one is in many words"
        )
    slug = slug_of(text)
    is_telling = len(slug) >= _SHORTEST and _TELLING.search(slug)
    slugs = re.compile(rf"(?<![^\W_]){re.escape(slug)}(?![^\W_])") if is_telling else _NOTHING
    return _with_marks(_any_of(_forms(text)), slugs)


def by_pattern(pattern: str) -> Redaction:
    """The redaction of what a regular expression finds, whose `^` and `$` are those of lines.

    Raises:
        InvalidArguments: it is none, or it finds something in an empty text.
    """
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise InvalidArguments(f"that is no regular expression: {error}") from None
    if compiled.search(""):
        raise InvalidArguments("that pattern is found in an empty text, and so everywhere; say what it has to hold")
    return _with_marks(compiled, _NOTHING)


def _with_marks(pattern: re.Pattern[str], slugs: re.Pattern[str]) -> Redaction:
    """A redaction with marks that it does not find itself."""
    for marks in MARKS:
        if not any(each.search(mark) for mark in marks for each in (pattern, slugs)):
            return Redaction(pattern, slugs, marks=marks)
    raise InvalidArguments("that is found in nearly everything; say more precisely what to purge")


def _any_of(forms: Iterable[str]) -> re.Pattern[str]:
    """A pattern for literal texts, the longest first; lines in them may end either way."""
    row = sorted({form for form in forms if form}, key=len, reverse=True)
    return re.compile("|".join(re.escape(form).replace("\\\n", "\r?\n") for form in row)) if row else _NOTHING


def _forms(text: str) -> Iterator[str]:
    """A text as it is, composed and decomposed, and each as quoted YAML and JSON have it."""
    for form in (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        yield from (form, form.replace("'", "''"), json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1])


def _entry_pattern(names: set[str], lines: Iterable[str], stems: Iterable[str]) -> re.Pattern[str]:
    """A pattern for names and names of files as whole words, and for lines."""

    def longest_first(texts: Iterable[str]) -> list[str]:
        return sorted(texts, key=len, reverse=True)

    files = [rf"(?<!\w){re.escape(stem)}\.md(?!\w)" for stem in longest_first(stems)]
    quotes = [re.escape(form) for line in longest_first(lines) for form in _forms(line)]
    words = [rf"(?<!\w){re.escape(form)}(?!\w)" for name in longest_first(names) for form in _forms(name)]
    return re.compile("|".join(dict.fromkeys([*files, *quotes, *words])))


@dataclass(frozen=True)
class Erasure:
    """What is erased from a history and files: `messages` from messages, `contents` from everything else.

    `contents` is None for an entry, of which other files keep what they say. `paths` has the new path of each file and
    folder that gets one, None for a file that goes with all it ever held. Of a path in `parts`, where something else
    stood too, only those blobs go; `blobs` stood nowhere but where they go. What goes altogether is known again by
    its `lines`. `entries` are the names of the entries that it is about, as they may be shown.
    """

    messages: Redaction
    contents: Redaction | None
    paths: Mapping[str, str | None] = field(default_factory=dict)
    entries: tuple[str, ...] = ()
    lines: frozenset[str] = frozenset()
    parts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    blobs: frozenset[str] = frozenset()

    # What becomes of it

    def new_path(self, path: str, oid: str) -> str | None:
        """Where a file or folder belongs that is at `path`; None for one that goes."""
        return None if oid in self.parts.get(path, ()) else self.paths.get(path, path)

    def new_file(self, path: str, data: bytes) -> bytes:
        """What a file holds without it. Frontmatter that could be read still can."""
        return redacted_file(path, data, self.contents) if self.contents else data

    def new_message(self, text: str) -> str:
        """A message without it; paths are called what they are called now."""
        if self.paths:
            text = self._old_paths.sub(lambda found: self.paths[found[0]] or self.messages.marks[0], text)
        return self.messages.redact(text)

    @cached_property
    def _old_paths(self) -> re.Pattern[str]:
        return _any_of(self.paths)

    def new_label(self, text: str) -> str:
        """The name or address of a person without it."""
        return self.contents.redact(text) if self.contents else text

    def new_name(self, name: str) -> str:
        """A part of the name of a branch or tag without it."""
        return self.contents.redact_name(name) if self.contents else name

    # Where it is

    @property
    def is_anywhere(self) -> bool:
        """Whether it is sought in names and labels too, not in messages and files alone."""
        return self.contents is not None

    def is_in_message(self, text: str) -> bool:
        """Whether a message holds any of it."""
        return self.messages.is_in(text)

    def is_in_name(self, name: str) -> bool:
        """Whether a path, or what a link leads to, holds any of it."""
        return bool(self.contents and self.contents.is_in(name))

    def is_in_file(self, data: bytes) -> bool:
        """Whether a file holds any of it, its frontmatter as it is read too, or a line of what goes altogether."""
        return bool(self._lines_in(data) or (self.contents and _is_in_file(data, self.contents)))

    def is_in_blob(self, oid: str, data: bytes) -> bool:
        """Whether a version of a file is to go, or holds any of it."""
        return oid in self.blobs or self.is_in_file(data)

    def quoted_in(self, data: bytes) -> int | None:
        """How many of the lines of what goes altogether stand in a file: 0 where its name does, None for neither."""
        text = data.decode("utf-8", "surrogateescape")
        is_named = any(name in text for name in self.entries) and self.is_in_message(text)
        return self._lines_in(data) or (0 if is_named else None)

    def _lines_in(self, data: bytes) -> int:
        return len(self.lines & distinctive_lines(data)) if self.lines else 0


# What a file holds


def redacted_file(path: str, data: bytes, redaction: Redaction) -> bytes:
    """The bytes of a file redacted: as text, in the values of its frontmatter as they are read, and in UTF-16."""
    text = data.decode("utf-8", "surrogateescape")
    if redaction.is_in(text):
        bare = redaction.redact(text).encode("utf-8", "surrogateescape")
        if _is_sound(path, data) and not _is_sound(path, bare):  # a mark broke the frontmatter: it is written anew
            parts = header.parts_of(text)
            bare = _joined(parts, _header_anew(parts, redaction.redact), redaction.redact(parts.content)).encode()
        data = bare
    data = _redacted_values(data, redaction)
    for form in _WIDE if any(map(redaction.is_in, _wide(data))) else ():
        with suppress(UnicodeDecodeError):
            data = redaction.redact(data.decode(form)).encode(form)
    return data


def _is_in_file(data: bytes, redaction: Redaction) -> bool:
    text = data.decode("utf-8", "surrogateescape")
    return redaction.is_in(text) or _is_in_values(text, redaction) or any(map(redaction.is_in, _wide(data)))


def _wide(data: bytes) -> Iterator[str]:
    """Bytes as UTF-16, if they can be any; it may begin at an odd one."""
    if data.startswith(_WIDE_MARKS) or data.count(0) >= _SHORTEST:
        yield from (data[start:].decode(form, "replace") for form in _WIDE for start in (0, 1))


def _is_in_values(text: str, redaction: Redaction) -> bool:
    """Whether a value of the frontmatter holds it that is written another way: with escapes, or folded."""
    if not text.startswith(_FRONTMATTER) or plain.read_plain(text):
        return False
    written = header.parts_of(text).header or ""
    change = _redacted_value(redaction, written)
    return any(change(value) != value for value in header.texts(written))


def _redacted_values(data: bytes, redaction: Redaction) -> bytes:
    """A file redacted in what is read in its frontmatter; the rest of that as it is written, where that can be."""
    text = data.decode("utf-8", "surrogateescape")
    if not _is_in_values(text, redaction):
        return data
    parts = header.parts_of(text)
    change = _redacted_value(redaction, parts.header or "")
    for new in (header.map_texts(parts.header or "", change, (), parts.newline), _header_anew(parts, change)):
        text = _joined(parts, new, parts.content)
        if not _is_in_values(text, redaction):
            break
    return text.encode("utf-8", "surrogateescape")


def _redacted_value(redaction: Redaction, written: str) -> Callable[[str], str]:
    """What redacts a value of the header `written`; one that stands there as it is read stays."""

    def change(value: str) -> str:
        if value in written:
            return value
        on_one_line = " ".join(value.split())
        return next((redaction.redact(form) for form in (value, on_one_line) if redaction.is_in(form)), value)

    return change


def _header_anew(parts: header.Parts, change: Callable[[str], str]) -> str:

    def changed(value: header.Value) -> header.Value:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, list):
            return [changed(each) for each in value]
        return {change(key): changed(each) for key, each in value.items()}

    keys = {change(key): changed(value) for key, value in header.load(parts.header or "").items()}
    return header.dump(keys, parts.newline)


def _joined(parts: header.Parts, lines: str, content: str) -> str:
    return parts.bom + parts.opening + lines + parts.closing + content


def _is_sound(path: str, data: bytes) -> bool:
    entry = entry_in(path, data)
    return entry is not None and entry.problem is None


# What is to be erased


def erasure_of_text(
    redaction: Redaction, layout: Layout, paths: Iterable[str], files: Iterable[tuple[str, bytes]]
) -> Erasure:
    """The erasure of what a redaction finds, in all `paths` and `files` (path and bytes) that ever were.

    A file that is called by the name of its entry gets another name with it; the names of crabmem's own files stay.
    """
    everywhere = sorted({each for path in paths for each in way(path)})
    names: dict[str, str] = {}
    for path in everywhere:
        name = path.rpartition("/")[2]
        stem = name.removesuffix(".md")
        if path not in layout.fixed and (new := redaction.redact_name(stem)) != stem:
            names[path] = new + name[len(stem) :]
    entries: set[str] = set()
    for path, data in files:
        if layout.is_entry(path) and _is_in_file(data, redaction) and (entry := entry_in(path, data)):
            name = redaction.redact(entry.name)
            entries.add(name)
            is_called_so = PurePosixPath(path).stem.startswith(slug_of(entry.name)[:_TELLTALE])
            if path not in names and name != entry.name and is_called_so:
                names[path] = f"{slug_of(name)}.md"
    renamed = _without_clashes(names, everywhere)
    new_paths = {
        path: "/".join(renamed.get(each, each.rpartition("/")[2]) for each in way(path)) for path in everywhere
    }
    moved = {path: new for path, new in new_paths.items() if new != path}
    return Erasure(redaction, redaction, moved, tuple(sorted(entries)))


def _without_clashes(names: Mapping[str, str], everywhere: Iterable[str]) -> dict[str, str]:
    """New names by path, no two of them the same in one folder, nor the same as one that stays."""
    taken = {name_key(path) for path in everywhere if path not in names}
    found: dict[str, str] = {}
    for path, name in sorted(names.items()):
        folder = path.removesuffix(path.rpartition("/")[2])
        stem = name.removesuffix(".md")
        numbered = (f"{stem}-{number}{name[len(stem) :]}" if number > 1 else name for number in count(1))
        found[path] = next(each for each in numbered if name_key(folder + each) not in taken)
        taken.add(name_key(folder + found[path]))
    return found


def erasure_of_name(name: str) -> Erasure:
    """The erasure of a name alone, for which there is no file any more."""
    return Erasure(Redaction(_entry_pattern({name}, (), ())), None, entries=(name,))


def erasure_of_entry(
    name: str,
    versions: Mapping[Version, bytes],
    lives: Lives,
    now: Mapping[str, str],
    path_now: str | None,
    is_place: bool = False,
) -> Erasure | None:
    """The erasure of an entry with all its `lives`, under whatever name and path; None when none ever was called so.

    `versions` are those of all files that ever stood where entries do, and `now` the blobs of those there are. What was
    forgotten and remembered again under the same name is one entry. `path_now` is that of the entry that now answers to
    `name`, which may be an alias. With `is_place` the name says where the entry lies, and a name that was ever a whole
    path is that: then nothing else goes that was called so.

    Raises:
        InvalidArguments: no entry answers to `name` now, and several that have another name now were called so.
    """
    entries = {version: entry for version, data in versions.items() if (entry := entry_in(version[0], data))}
    names = {version: entry.name for version, entry in entries.items()}
    going = versions_of_entry(name, names, lives, now, path_now, is_place)
    if not entries.keys() & going:
        return None
    called = {names[version] for version in names.keys() & going}
    others = {names[version] for version in names.keys() - going}
    ours = called - {each for each in others if name_key(each) != name_key(name)}
    texts = (f"{entries[version].description}\n{entries[version].content}" for version in entries.keys() & going)
    lines = frozenset(line for text in texts for line in distinctive_lines(text.encode()))
    blobs, everywhere = (_blobs_by_path(each) for each in (going, versions))
    whole = sorted(path for path in blobs if blobs[path] >= everywhere.get(path, set()))
    words = ours or {name}
    # A name stays where it is part of another entry's.
    longer = [each for each in others - ours if any(word in each and word != each for word in words)]
    pattern = _entry_pattern(words, lines, [PurePosixPath(path).stem for path in whole])
    parts = {path: frozenset(each) for path, each in blobs.items() if path not in whole}
    return Erasure(
        Redaction(pattern, keeping=_any_of(longer)), None, dict.fromkeys(whole), tuple(sorted(ours or called)), lines,
        parts,
    )  # fmt: skip


def _blobs_by_path(versions: Iterable[Version]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, blob in versions:
        found.setdefault(path, set()).add(blob)
    return found
