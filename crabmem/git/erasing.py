"""What is to be erased: found in words, names and files, and put out of them. Pure functions: text in, text out."""

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

from ..errors import InvalidArguments, Unreadable
from ..text import frontmatter as header
from ..text import plain
from ..text.entry import Entry, parse_entry
from ..text.hashes import blob_id
from ..text.slug import name_key, slug_of
from ..workspace.layout import Layout, way
from .lives import Lives, Version

#: What stands in the place of what was erased: in a text, and in the name of a file.
MARKS = (("(purged)", "purged"), ("(erased)", "erased"), ("(…)", "x"))
_SHORTEST = 4
# The slug of a text is looked for in other texts too, unless it is a word like any other.
_TELLING = re.compile(r"[-0-9]")
# So much of a name's slug tells that a file was called by it; what is longer may have been cut.
_TELLTALE = 60
_DISTINCTIVE = 16
_BULLET = re.compile(r"^[\s>*+#-]+")
# A mark can be part of what is erased, and make another one with what stands beside it.
_AGAIN = 10
_NOTHING = re.compile(r"(?!)")
_WIDE = ("utf-16-le", "utf-16-be")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FRONTMATTER = ("---", "\ufeff---")


@dataclass(frozen=True)
class Needle:
    """A pattern, and `slugs`, what a file's name makes of it. `keeping` stands before: what it finds stays."""

    pattern: re.Pattern[str]
    slugs: re.Pattern[str] = _NOTHING
    keeping: re.Pattern[str] = _NOTHING
    marks: tuple[str, str] = MARKS[0]

    def number_in(self, text: str) -> int:
        """How often it stands in `text`."""
        return len(self._spans(text)) + len(self.slugs.findall(text))

    def out_of(self, text: str) -> str:
        """`text` with a mark in each place, and in those that the marks make."""
        for _ in range(_AGAIN):
            if not self.number_in(text):
                break
            text = self._once_out_of(text)
        return text

    def _once_out_of(self, text: str) -> str:
        kept = iter([*self._spans(text), (len(text), len(text))])
        pieces, at = list[str](), 0
        for start, end in kept:
            pieces += [text[at:start], self.marks[0] if start < end else ""]
            at = end
        return self.slugs.sub(self.marks[1], "".join(pieces))

    def out_of_name(self, name: str) -> str:
        """A file's or folder's name without it."""
        return self.slugs.sub(self.marks[1], self.pattern.sub(self.marks[1], name))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        found = [match.span() for match in self.pattern.finditer(text)]
        if not found or self.keeping is _NOTHING:
            return found
        held = [match.span() for match in self.keeping.finditer(text)]
        return [(start, end) for start, end in found if not any(a <= start and end <= b for a, b in held)]


def by_text(text: str) -> Needle:
    """A needle for a literal text in the forms that files and messages hold it in.

    Raises:
        InvalidArguments: it is so short that it is part of other words.
    """
    if len(text.strip()) < _SHORTEST:
        raise InvalidArguments(
            f"what to purge has to have {_SHORTEST} characters at least; a shorter one is in many words"
        )
    return _marked(_any(_forms(text)), _slugs([text]))


def by_pattern(pattern: str) -> Needle:
    """A needle for a regular expression, whose `^` and `$` are those of lines.

    Raises:
        InvalidArguments: it is none, or it is found in nothing at all.
    """
    try:
        made = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise InvalidArguments(f"that is no regular expression: {error}") from None
    if made.search(""):
        raise InvalidArguments("that pattern is found in an empty text, and so everywhere; say what it has to hold")
    return _marked(made, _NOTHING)


def _marked(pattern: re.Pattern[str], slugs: re.Pattern[str]) -> Needle:
    for marks in MARKS:
        if not any(each.search(mark) for mark in marks for each in (pattern, slugs)):
            return Needle(pattern, slugs, marks=marks)
    raise InvalidArguments("that is found in nearly everything; say more precisely what to purge")


def _any(forms: Iterable[str]) -> re.Pattern[str]:
    row = sorted({form for form in forms if form}, key=len, reverse=True)
    return re.compile("|".join(re.escape(form).replace("\\\n", "\r?\n") for form in row)) if row else _NOTHING


def _forms(text: str) -> Iterator[str]:
    """A text as it is, composed and decomposed, and each as quoted YAML and JSON have it."""
    for form in (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)):
        yield from (form, form.replace("'", "''"), json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1])


def _slugs(texts: Iterable[str]) -> re.Pattern[str]:
    slugs = {slug_of(text) for text in texts}
    telling = sorted(
        (slug for slug in slugs if len(slug) >= _SHORTEST and _TELLING.search(slug)), key=len, reverse=True
    )
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, telling))})(?![^\W_])") if telling else _NOTHING


@dataclass(frozen=True)
class Wanted:
    """What is to be purged: an entry by its name, a text, or what a regular expression finds. One of them is given."""

    name: str | None = None
    text: str | None = None
    pattern: str | None = None

    def needle(self) -> Needle | None:
        """What finds it; None for an entry.

        Raises:
            InvalidArguments: not one of them was given, or what was given cannot be looked for.
        """
        if sum(item is not None for item in (self.name, self.text, self.pattern)) != 1:
            raise InvalidArguments("say what to purge: the name of an entry, or a text, or a pattern")
        if self.text is not None:
            return by_text(self.text)
        return by_pattern(self.pattern) if self.pattern is not None else None


@dataclass(frozen=True)
class Erasure:
    """What becomes of a history: `words` go out of messages, `contents` out of files, and `paths` get another name.

    `renamed` has the last part of the new ones. A path of None goes with all it ever held; of a path in `parts`,
    where something else stood too, only those blobs go. Both are known again by their `lines`. `entries` are their
    names as they may be shown.
    """

    words: Needle
    contents: Needle | None
    paths: Mapping[str, str | None] = field(default_factory=dict)
    entries: tuple[str, ...] = ()
    lines: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def goes(self, path: str, blob: str) -> bool:
        """Whether a file goes altogether that held `blob` at `path`."""
        return self.paths.get(path, path) is None or blob in self.parts.get(path, ())

    @cached_property
    def _old_paths(self) -> re.Pattern[str]:
        return _any(self.paths)

    def out_of_words(self, text: str) -> str:
        """A message without it; paths are called what they are called now."""
        mark = self.words.marks[0]
        renamed = self._old_paths.sub(lambda found: self.paths[found[0]] or mark, text) if self.paths else text
        return self.words.out_of(renamed)

    def is_in_words(self, text: str) -> bool:
        """Whether a message holds any of it."""
        return bool(self.words.number_in(text))

    def out_of_file(self, path: str, data: bytes) -> bytes:
        """What a file holds without it. Frontmatter that could be read still can."""
        if self.contents is None:
            return data
        text = data.decode("utf-8", "surrogateescape")
        if self.contents.number_in(text):
            bare = self.contents.out_of(text).encode("utf-8", "surrogateescape")
            data = _readable_again(path, data, bare, self.contents)
        return _out_of_wide(_out_of_values(data, self.contents), self.contents)

    def is_in_file(self, data: bytes) -> bool:
        """Whether the bytes of a file hold any of it, or its frontmatter as it is read."""
        return bool(self.contents and _is_in_text(data, self.contents))

    def is_named(self, data: bytes) -> bool:
        """Whether a file names what goes altogether."""
        text = data.decode("utf-8", "surrogateescape")
        return any(name in text for name in self.entries) and self.is_in_words(text)

    def quoted(self, data: bytes) -> int:
        """How many of the lines of what goes altogether stand in another file."""
        return len(self.lines & telling_lines(data)) if self.lines else 0


def _readable_again(path: str, before: bytes, after: bytes, needle: Needle) -> bytes:
    """`after`, or with its frontmatter written anew where putting something out of it broke it."""
    if not _is_sound(path, before) or _is_sound(path, after):
        return after
    parts = header.parts_of(before.decode("utf-8"))
    new = _anew(parts, needle.out_of)
    return (parts.bom + parts.opening + new + parts.closing + needle.out_of(parts.content)).encode()


def _is_in_text(data: bytes, needle: Needle) -> bool:
    """Whether the bytes of a file hold it, in UTF-16 too, or what is read in its frontmatter does."""
    text = data.decode("utf-8", "surrogateescape")
    return (
        bool(needle.number_in(text))
        or _is_in_values(text, needle)
        or any(needle.number_in(wide) for wide in _wide(data))
    )


def _wide(data: bytes) -> Iterator[str]:
    """Bytes as UTF-16, if they can be any; it may begin at an odd one."""
    if data.startswith(_WIDE_MARKS) or data.count(0) >= _SHORTEST:
        yield from (data[start:].decode(form, "replace") for form in _WIDE for start in (0, 1))


def _out_of_wide(data: bytes, needle: Needle) -> bytes:
    """A file without it where all of it is UTF-16."""
    for form in _WIDE if any(needle.number_in(wide) for wide in _wide(data)) else ():
        with suppress(UnicodeDecodeError):
            data = needle.out_of(data.decode(form)).encode(form)
    return data


def _is_in_values(text: str, needle: Needle) -> bool:
    """Whether a value of the frontmatter holds it that is written another way: with escapes, or folded."""
    if not text.startswith(_FRONTMATTER) or plain.read_plain(text):
        return False
    written = header.parts_of(text).header or ""
    without = _without(needle, written)
    return any(without(value) != value for value in header.texts(written))


def _without(needle: Needle, written: str) -> Callable[[str], str]:
    """What puts it out of a value of a header that does not stand there as it is read."""

    def without(value: str) -> str:
        if value in written:
            return value
        on_one_line = " ".join(value.split())
        held = next((form for form in (value, on_one_line) if needle.number_in(form)), None)
        return value if held is None else needle.out_of(held)

    return without


def _out_of_values(data: bytes, needle: Needle) -> bytes:
    """A file without it in what is read in its frontmatter; the rest of it as it is written, where that can be."""
    text = data.decode("utf-8", "surrogateescape")
    if not _is_in_values(text, needle):
        return data
    parts = header.parts_of(text)
    written = parts.header or ""
    without = _without(needle, written)
    for new in (header.map_texts(written, without, (), parts.newline), _anew(parts, without)):
        text = parts.bom + parts.opening + new + parts.closing + parts.content
        if not _is_in_values(text, needle):
            break
    return text.encode("utf-8", "surrogateescape")


def _anew(parts: header.Parts, change: Callable[[str], str]) -> str:
    """A header written anew, with each key and value changed."""
    keys = {change(key): _changed(value, change) for key, value in header.load(parts.header or "").items()}
    return header.dump(keys, parts.newline)


def _is_sound(path: str, data: bytes) -> bool:
    entry = entry_in(path, data)
    return entry is not None and entry.problem is None


def _changed(value: header.Value, change: Callable[[str], str]) -> header.Value:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(each, change) for each in value]
    return {change(key): _changed(each, change) for key, each in value.items()}


def entry_in(path: str, data: bytes) -> Entry | None:
    """The entry in a file; None when there is none that can be read."""
    try:
        return parse_entry(path, data)
    except Unreadable:
        return None


def telling_lines(data: bytes) -> frozenset[str]:
    """The lines by which a text is known where it was copied: those that are not short."""
    lines = (_BULLET.sub("", line).strip() for line in data.decode("utf-8", "replace").splitlines())
    return frozenset(line for line in lines if len(line) >= _DISTINCTIVE and any(map(str.isalpha, line)))


#: Path, and what each file that ever stood there held.
Files = Iterable[tuple[str, bytes]]


def of_needle(needle: Needle, layout: Layout, paths: Iterable[str], files: Files) -> Erasure:
    """The erasure of what a needle finds, in all `paths` and `files` that ever were."""
    everywhere = sorted({each for path in paths for each in way(path)})
    names = {path: new for path in everywhere if (new := _new_name(path, needle, layout)) != path.rpartition("/")[2]}
    told: set[str] = set()
    for path, data in files:
        if layout.is_entry(path) and _is_in_text(data, needle) and (entry := entry_in(path, data)):
            name = needle.out_of(entry.name)
            told.add(name)
            if path not in names and name != entry.name and _is_called(path, entry.name):
                names[path] = f"{slug_of(name)}.md"
    renamed = _without_clashes(names, everywhere)
    moved = {path: new for path in everywhere if (new := _composed(path, renamed)) != path}
    return Erasure(needle, needle, moved, tuple(sorted(told)), renamed=renamed)


def _new_name(path: str, needle: Needle, layout: Layout) -> str:
    """What is called so without the needle; names of crabmem's own stay."""
    name = path.rpartition("/")[2]
    stem, ending = (name[:-3], ".md") if name.endswith(".md") else (name, "")
    return name if path in layout.fixed else needle.out_of_name(stem) + ending


def _is_called(path: str, name: str) -> bool:
    return PurePosixPath(path).stem.startswith(slug_of(name)[:_TELLTALE])


def _without_clashes(names: Mapping[str, str], everywhere: Iterable[str]) -> dict[str, str]:
    """New names by path, no two of them the same in one folder, nor the same as one that stays."""
    taken = {name_key(path) for path in everywhere if path not in names}
    found: dict[str, str] = {}
    for path, name in sorted(names.items()):
        folder = path.removesuffix(path.rpartition("/")[2])
        found[path] = next(each for each in _numbered(name) if name_key(folder + each) not in taken)
        taken.add(name_key(folder + found[path]))
    return found


def _composed(path: str, renamed: Mapping[str, str]) -> str:
    return "/".join(renamed.get(each, each.rpartition("/")[2]) for each in way(path))


def _numbered(name: str) -> Iterator[str]:
    yield name
    stem, ending = (name[:-3], ".md") if name.endswith(".md") else (name, "")
    yield from (f"{stem}-{number}{ending}" for number in count(2))


def of_name(name: str) -> Erasure:
    """The erasure of a name alone, for which there is no file any more."""
    return Erasure(_of_names({name}, set(), (), ()), None, entries=(name,))


def of_entry(
    name: str,
    layout: Layout,
    files: Files,
    path_now: str | None,
    lives: Lives,
    now: Mapping[str, str],
    is_place: bool = False,
) -> Erasure | None:
    """The erasure of an entry with all its `lives`, under whatever name and path; None when none ever was called so.

    `path_now` is that of the entry that now answers to `name`, which may be an alias; `now` has the blobs of the files
    there are. What was forgotten and remembered again under the same name is one entry. With `is_place` the name says
    where the entry lies, and a name that was ever a whole path is that: then nothing else goes that was called so.

    Raises:
        InvalidArguments: no entry answers to `name` now, and several that have another name now were called so.
    """
    entries: dict[Version, Entry] = {}
    everywhere: dict[str, set[str]] = {}
    for path, data in files:
        blob = blob_id(data)
        everywhere.setdefault(path, set()).add(blob)
        if layout.is_entry(path) and (entry := entry_in(path, data)):
            entries[path, blob] = entry
    meant = _meant(name, entries, path_now, lives, now, is_place)
    if not entries.keys() & meant:
        return None
    called = {entry.name for version, entry in entries.items() if version in meant}
    others = {entry.name for version, entry in entries.items() if version not in meant}
    ours = called - {each for each in others if name_key(each) != name_key(name)}
    texts = (f"{entry.description}\n{entry.content}" for version, entry in entries.items() if version in meant)
    lines = frozenset(line for text in texts for line in telling_lines(text.encode()))
    blobs = {path: frozenset(blob for at, blob in meant if at == path) for path, _ in meant}
    whole = sorted(path for path in blobs if blobs[path] >= everywhere.get(path, set()))
    words = _of_names(ours or {name}, others - ours, lines, [PurePosixPath(path).stem for path in whole])
    parts = {path: each for path, each in blobs.items() if path not in whole}
    return Erasure(words, None, dict.fromkeys(whole), tuple(sorted(ours or called)), lines, parts=parts)


def _meant(
    name: str,
    entries: Mapping[Version, Entry],
    path_now: str | None,
    lives: Lives,
    now: Mapping[str, str],
    is_place: bool,
) -> set[Version]:
    """The versions of the entry called `name`, and of those of the same names at the same paths that are no more."""
    named = [each for each, entry in entries.items() if name_key(entry.name) == name_key(name)]
    if at_path := [each for each in entries if each[0] == name]:
        path_now, named = name, at_path
    elif is_place:
        named = []
    first = [(path_now, now[path_now])] if path_now and path_now in now else named
    wanted = {id(life): life for life in map(lives.connected, first)}.values()
    alive = {path for life in wanted for path, blob in life if now.get(path) == blob}
    if first is named and sum(not life.isdisjoint(now.items()) for life in wanted) > 1:
        raise InvalidArguments(f"several entries were called {name}; name the one you mean: {', '.join(sorted(alive))}")
    others = {version for version in now.items() if version[0] not in alive}
    alike: dict[tuple[str, str], list[Version]] = {}
    for version, entry in entries.items():
        alike.setdefault((version[0], name_key(entry.name)), []).append(version)
    meant, waiting = set[Version](), [*first, *named]
    while waiting:
        version = waiting.pop()
        if version not in meant and (life := lives.connected(version)).isdisjoint(others):
            meant |= life
            for path, key in {(each[0], name_key(entries[each].name)) for each in life & entries.keys()}:
                waiting += alike.pop((path, key), ())
    return meant


def _of_names(names: set[str], others: set[str], lines: Iterable[str], stems: Iterable[str]) -> Needle:
    """A needle for names as whole words, where they are not part of another name, and for lines."""
    longer = [each for each in others if any(name in each and name != each for name in names)]
    whole = [
        rf"(?<!\w){re.escape(form)}(?!\w)" for name in sorted(names, key=len, reverse=True) for form in _forms(name)
    ]
    said = [re.escape(form) for line in sorted(lines, key=len, reverse=True) for form in _forms(line)]
    files = [rf"(?<!\w){re.escape(stem)}\.md(?!\w)" for stem in sorted(stems, key=len, reverse=True)]
    pattern = re.compile("|".join(dict.fromkeys([*files, *said, *whole])))
    return Needle(pattern, keeping=_any(longer) if longer else _NOTHING)
