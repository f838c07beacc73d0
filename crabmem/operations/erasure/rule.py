"""Erasure: find a text, a pattern or an entry in messages, names and files, and remove it from them.

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
# A slug with a hyphen or a digit is rare enough to be looked for in texts too; a plain word would be found everywhere.
_TELLING = re.compile(r"[-0-9]")
# Characters of a name's slug that a file's name is compared with: the rest may have been cut when it was named.
_TELLTALE = 60
# Rounds of marking: a mark and the text beside it can be a new match.
_AGAIN = 10
_NOTHING = re.compile(r"(?!)")
_WIDE = ("utf-16-le", "utf-16-be")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FRONTMATTER = ("---", "\ufeff---")


@dataclass(frozen=True)
class Redaction:
    """A regular expression, and the marks that replace its matches: the first in texts, the second in names of files.

    `slugs` finds the slug of the text, as names of files have it. A match inside a match of `keeping` stays.
    """

    pattern: re.Pattern[str]
    slugs: re.Pattern[str] = _NOTHING
    keeping: re.Pattern[str] = _NOTHING
    marks: tuple[str, str] = MARKS[0]

    def is_in(self, text: str) -> bool:
        """Whether `text` has a match that `redact` would replace."""
        if self.slugs.search(text):
            return True
        return bool(self.pattern.search(text)) and any(map(self._goes_from(text), self.pattern.finditer(text)))

    def redact(self, text: str) -> str:
        """Return `text` with a mark in place of each match, and of each new match that a mark gave rise to."""
        for _ in range(_AGAIN):
            if not self.is_in(text):
                break
            text = self._mark(text)
        return text

    def _mark(self, text: str) -> str:
        """Replace the matches of `text` once."""
        goes = self._goes_from(text)
        mark = self.marks[0]
        bare = self.pattern.sub(lambda match: marked(match[0], mark) if match[0] and goes(match) else match[0], text)
        return self.slugs.sub(mark, bare)

    def redact_name(self, name: str) -> str:
        """Return the name of a file or folder with a mark in place of each match; `keeping` does not count here."""
        return self.slugs.sub(self.marks[1], self.pattern.sub(self.marks[1], name))

    def _goes_from(self, text: str) -> Callable[[re.Match[str]], bool]:
        """Return a predicate for matches in `text`: whether one is to go, as it lies in no match of `keeping`."""
        kept = [] if self.keeping is _NOTHING else [match.span() for match in self.keeping.finditer(text)]
        return lambda match: not any(start <= match.start() and match.end() <= end for start, end in kept)


#: Finds nothing.
NO_REDACTION = Redaction(_NOTHING)


def by_text(text: str) -> Redaction:
    """Return the redaction of a literal text, in every form in which files, messages and names may hold it.

    Raises:
        InvalidArguments: the text is so short that other words contain it, or it is found in every mark.
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
    """Return the redaction of what a regular expression finds; `^` and `$` match at each line.

    Raises:
        InvalidArguments: the expression is not valid, or matches an empty text or every mark.
    """
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise InvalidArguments(f"that is no regular expression: {error}") from None
    if compiled.search(""):
        raise InvalidArguments("that pattern is found in an empty text, and so everywhere; say what it has to hold")
    return _with_marks(compiled, _NOTHING)


def _with_marks(pattern: re.Pattern[str], slugs: re.Pattern[str]) -> Redaction:
    """Return a redaction with the first pair of marks in which its patterns find nothing: else it would never end.

    Raises:
        InvalidArguments: the patterns find something in every mark.
    """
    for marks in MARKS:
        if not any(each.search(mark) for mark in marks for each in (pattern, slugs)):
            return Redaction(pattern, slugs, marks=marks)
    raise InvalidArguments("that is found in nearly everything; say more precisely what to purge")


def _any_of(forms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for literal texts, the longest first, so that it wins; a newline in them matches CRLF, too."""
    row = sorted({form for form in forms if form}, key=len, reverse=True)
    return re.compile("|".join(re.escape(form).replace("\\\n", "\r?\n") for form in row)) if row else _NOTHING


def _forms(text: str) -> Iterator[str]:
    """Yield a text as it is, in NFC and in NFD, and each of these as it stands in quoted YAML and in JSON."""
    for form in (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        yield from (form, form.replace("'", "''"), json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1])


def _entry_pattern(names: set[str], lines: Iterable[str], stems: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for `names` and for files `STEM.md` as whole words, and for `lines` anywhere."""

    def longest_first(texts: Iterable[str]) -> list[str]:
        return sorted(texts, key=len, reverse=True)

    files = [rf"(?<!\w){re.escape(stem)}\.md(?!\w)" for stem in longest_first(stems)]
    quotes = [re.escape(form) for line in longest_first(lines) for form in _forms(line)]
    words = [rf"(?<!\w){re.escape(form)}(?!\w)" for name in longest_first(names) for form in _forms(name)]
    return re.compile("|".join(dict.fromkeys([*files, *quotes, *words])))


@dataclass(frozen=True)
class Erasure:
    """The rule of what is erased from a history and from files; below, "it" is the text or the entry that goes.

    `messages` is removed from messages of commits, `contents` from everything else. For an entry `contents` is None:
    its file goes, while other files may go on quoting it. `paths` has the new path of each file and folder that is
    renamed, None for a file of which all versions go. `parts` has, by path, the blobs that go where others stay, as
    another entry stood at that path, too. `blobs` go wherever they stand. `lines` are the distinctive lines of an entry
    that goes, by which a copy of it is recognised. `entries` are the names of the entries it is about, fit to be shown.
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
        """Return the new path of a file or folder at `path` whose id is `oid`; None if it goes."""
        return None if oid in self.parts.get(path, ()) else self.paths.get(path, path)

    def new_file(self, path: str, data: bytes) -> bytes:
        """Return the bytes of a file without it. Frontmatter that could be parsed still can."""
        return redacted_file(path, data, self.contents) if self.contents else data

    def new_message(self, text: str) -> str:
        """Return a message without it, with the new path in place of each old one, and a mark for a file that goes."""
        if self.paths:
            text = self._old_paths.sub(lambda found: self.paths[found[0]] or self.messages.marks[0], text)
        return self.messages.redact(text)

    @cached_property
    def _old_paths(self) -> re.Pattern[str]:
        return _any_of(self.paths)

    def new_label(self, text: str) -> str:
        """Return the name or address of an author or committer without it."""
        return self.contents.redact(text) if self.contents else text

    def new_name(self, name: str) -> str:
        """Return a part of the name of a branch or tag without it."""
        return self.contents.redact_name(name) if self.contents else name

    # Where it is

    @property
    def is_anywhere(self) -> bool:
        """Whether names of files, branches and authors are searched for it, too, not messages and files alone."""
        return self.contents is not None

    def is_in_message(self, text: str) -> bool:
        """Whether a message holds any of it."""
        return self.messages.is_in(text)

    def is_in_name(self, name: str) -> bool:
        """Whether a path, or the target of a symbolic link, holds any of it; never for an entry."""
        return bool(self.contents and self.contents.is_in(name))

    def is_in_file(self, data: bytes) -> bool:
        """Whether a file holds any of it, also in parsed frontmatter or UTF-16, or a line of an entry that goes."""
        return bool(self._lines_in(data) or (self.contents and _is_in_file(data, self.contents)))

    def is_in_blob(self, oid: str, data: bytes) -> bool:
        """Whether a version of a file is to go, or holds any of it."""
        return oid in self.blobs or self.is_in_file(data)

    def quoted_in(self, data: bytes) -> int | None:
        """Return how many lines of the entry that goes a file quotes: 0 if it only names it, None for neither."""
        text = data.decode("utf-8", "surrogateescape")
        is_named = any(name in text for name in self.entries) and self.is_in_message(text)
        return self._lines_in(data) or (0 if is_named else None)

    def _lines_in(self, data: bytes) -> int:
        return len(self.lines & distinctive_lines(data)) if self.lines else 0


# What a file holds


def redacted_file(path: str, data: bytes, redaction: Redaction) -> bytes:
    """Return a file redacted in its text, in the parsed values of its frontmatter, and where it is UTF-16."""
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
    """Yield bytes decoded as UTF-16, if they look like it: in either byte order, from an even and an odd offset."""
    if data.startswith(_WIDE_MARKS) or data.count(0) >= _SHORTEST:
        yield from (data[start:].decode(form, "replace") for form in _WIDE for start in (0, 1))


def _is_in_values(text: str, redaction: Redaction) -> bool:
    """Whether a parsed value of the frontmatter has a match that the raw text hides: by escapes, or folded lines."""
    if not text.startswith(_FRONTMATTER) or plain.read_plain(text):
        return False
    written = header.parts_of(text).header or ""
    change = _redacted_value(redaction, written)
    return any(change(value) != value for value in header.texts(written))


def _redacted_values(data: bytes, redaction: Redaction) -> bytes:
    """Return a file redacted in the parsed values of its frontmatter.

    The other values stay as they are written; only if a match is left then, the whole header is written anew.
    """
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
    """Return a function that redacts one value of the header `written`.

    A value that stands there literally is returned as it is: redacting the text of the file takes care of it.
    """

    def change(value: str) -> str:
        if value in written:
            return value
        on_one_line = " ".join(value.split())
        return next((redaction.redact(form) for form in (value, on_one_line) if redaction.is_in(form)), value)

    return change


def _header_anew(parts: header.Parts, change: Callable[[str], str]) -> str:
    """Return the header written anew, with `change` applied to each key and text; comments are lost."""

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
    """Whether a file parses as an entry without a problem."""
    entry = entry_in(path, data)
    return entry is not None and entry.problem is None


# What is to be erased


def erasure_of_text(
    redaction: Redaction, layout: Layout, paths: Iterable[str], files: Iterable[tuple[str, bytes]]
) -> Erasure:
    """Return the erasure of what a redaction finds, given all `paths` and `files` (path and bytes) that ever were.

    Where the name of an entry changes, and its file is called by that name, the file gets another name, too. Names
    with a meaning (`layout.fixed`, as that of the overview) stay.
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
    """Return the new names by path, numbered where two in one folder, or one and a file that stays, would be alike."""
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
    """Return the erasure of a name alone, of an entry that no file or version is left of."""
    return Erasure(Redaction(_entry_pattern({name}, (), ())), None, entries=(name,))


def erasure_of_entry(
    name: str,
    versions: Mapping[Version, bytes],
    lives: Lives,
    now: Mapping[str, str],
    path_now: str | None,
    is_place: bool = False,
) -> Erasure | None:
    """Return the erasure of an entry, under each name and path it ever had; None if no entry was ever called `name`.

    `versions` has the bytes of every version of every file that ever stood where entries do, `now` the blobs of the
    entries there are, by path. An entry that was forgotten and remembered under the same name is one entry. `path_now`
    is the path of the entry that now answers to `name`, which may be an alias. With `is_place`, or if a file ever had
    the path `name`, the name is read as a path: other entries that were called so stay.

    Raises:
        Inapplicable: no entry answers to `name` now, and several that were once called so have another name now.
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
    # Where the name is part of a longer name of another entry, that one is kept whole.
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
