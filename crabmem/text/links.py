"""Wiki-links in Markdown: finding `[[links]]`, saying where they lead, and leading them elsewhere. Pure functions.

As Obsidian reads them: `[[target]]`, `[[target#heading]]`, `[[target|label]]`, `![[target]]`, in text and in the texts
of frontmatter, not in code. A target is a file's name, with or without folders before it; here also a name or an alias.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from . import frontmatter as header
from .comparison import lines_in
from .markdown import code_lines
from .slug import name_key

#: What an entry is found by.
FILE, NAME, ALIAS = "file", "name", "alias"
#: From one of the three kinds and a `name_key` to the paths of the files that are called so, in order.
Lookup: TypeAlias = Callable[[str, str], Sequence[str]]

# Each part ends where another link could begin, and gives nothing back, so that no sign is read twice. White space
# belongs to a target where more of that follows; a `\` does not where it stands before the `|` of a cell.
_LINK = re.compile(
    r"(?<!\\)(?P<embed>!?)\[\[[ \t]*+"
    r"(?P<target>(?:[^\[\]|#\n\\ \t]++|\\(?!\|)|[ \t]++(?=[^\[\]|#\n\\]|\\(?!\|)))*+)[ \t]*+"
    r"(?P<heading>#(?:[^\[\]|\n\\]++|\\(?!\|))*+)?+(?:\\?\|(?P<label>(?:(?!\]\]|\[\[)[^\n])*+))?+\]\]"
)
# With what a block of text begins that no code reaches into from the one above.
_BEGINS = re.compile(r"[ \t]*(?:[-*+>#|]|\d{1,9}[.)][ \t]|$)")
_TICKS = re.compile(r"\\`|`+")
_UNFIT = re.compile(r"[\[\]|#\\\n]")
# What Obsidian shows besides notes.
_ATTACHMENT = re.compile(
    r".\.(?:avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|3gp|mkv|mov|mp4|ogv|webm|pdf|canvas|base)$",
    re.IGNORECASE,
)
#: Links that are found in one text, at most: nobody writes so many, and each costs time and memory.
MOST = 10_000
#: The keys whose texts say what an entry is called, and lead nowhere.
_NAMING = ("name", "alias", "aliases", "tag", "tags")


@dataclass(frozen=True)
class Link:
    """A link as it stands in a text; `heading` is with its `#`, and a `target` of "" is the text itself."""

    target: str
    heading: str = ""
    label: str | None = None
    is_embed: bool = False

    @property
    def is_attachment(self) -> bool:
        """Whether it is about a picture or such, which is no memory."""
        return bool(_ATTACHMENT.search(self.target))


class _Enough(Exception):
    """No more links are wanted."""


def links(text: str) -> tuple[Link, ...]:
    """The links of a text to others, in their order, of those in it the first `MOST`."""
    found: list[Link] = []

    def collect(match: re.Match[str]) -> None:
        found.append(_link(match))
        if len(found) == MOST:
            raise _Enough

    with suppress(_Enough):
        _mapped(text, collect)
    return tuple(link for link in found if link.target)


def redirect(text: str, new: Callable[[str], str | None]) -> str:
    """`text` with another target in each link for which `new` gives one; None keeps it. All else of the text stays."""

    def led(match: re.Match[str]) -> str | None:
        target = new(match["target"]) if match["target"] else None
        if target is None:
            return None
        start, end = (at - match.start() for at in match.span("target"))
        return match[0][:start] + target + match[0][end:]

    return _mapped(text, led)


def rewrite(text: str, new: Callable[[Link, re.Match[str]], str | None]) -> str:
    """`text`, which has no frontmatter, with what `new` gives in place of links: it is told each, and where it stands,
    and None keeps it."""
    return in_prose(text, _LINK, lambda match: new(_link(match), match), "[[")


def link_in(text: str) -> Link | None:
    """The link that `text` is, and nothing else; None where it is none."""
    match = _LINK.fullmatch(text)
    return _link(match) if match else None


def in_prose(text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str | None], sign: str) -> str:
    """`text`, which has no frontmatter, with what `new` gives in place of each match of `pattern` outside of code; None
    keeps it. Each match has the `sign` in it."""
    if sign not in text:
        return text
    return "".join(block if is_code else _in_line(block, new, pattern, sign) for block, is_code in _blocks(text))


def resolve(target: str, lookup: Lookup) -> str | None:
    """Return the path of the file that a link leads to: by file name, else by name, else by alias; None for nowhere."""
    whole = target.removeprefix("./")
    for name in dict.fromkeys((whole, re.sub(r"\.md$", "", whole, flags=re.IGNORECASE))):
        for kind in (FILE, NAME, ALIAS):
            if found := lookup(kind, name_key(name)):
                return found[0]
    return _in_folder(name, lookup) if "/" in name else None


def link_to(path: str, name: str, lookup: Lookup) -> str | None:
    """What to write to link to the file at `path`: its name, else its file name; None when nothing leads there."""
    stem = path.removesuffix(".md")
    forms = (name, stem.rpartition("/")[2], stem)
    return next((form for form in forms if is_linkable(form) and resolve(form, lookup) == path), None)


def lookup_of(called: Iterable[tuple[str, str, Sequence[str]]]) -> Lookup:
    """A lookup over files, given as (path, name, aliases); paths that share a name keep the order given."""
    found: dict[tuple[str, str], list[str]] = {}
    for path, name, aliases in called:
        file = path.rpartition("/")[2].removesuffix(".md")
        for kind, each in ((FILE, file), (NAME, name), *((ALIAS, alias) for alias in aliases)):
            paths = found.setdefault((kind, name_key(each)), [])
            if path not in paths:
                paths.append(path)
    return lambda kind, key: found.get((kind, key), ())


def is_linkable(target: str) -> bool:
    """Whether a link can have that target."""
    return bool(target) and target == target.strip() and not _UNFIT.search(target)


def _in_folder(path: str, lookup: Lookup) -> str | None:
    """Return the first path that ends in `path`, folders too, else one that does by `name_key`; None for none."""
    wanted = f"/{path.lstrip('./')}.md"
    paths = lookup(FILE, name_key(path.rpartition("/")[2]))
    exact = (each for each in paths if f"/{each}".endswith(wanted))
    return next(exact, None) or next((each for each in paths if name_key(f"/{each}").endswith(name_key(wanted))), None)


def _link(match: re.Match[str]) -> Link:
    return Link(match["target"], (match["heading"] or "").rstrip(), match["label"], bool(match["embed"]))


# Walking over a text


#: From the match of a link to the text that replaces it; None keeps the link.
_New: TypeAlias = Callable[[re.Match[str]], str | None]


def _mapped(text: str, new: _New) -> str:
    """`text` with what `new` gives in place of links, in frontmatter and in what follows it."""
    if "[[" not in text:
        return text
    parts = header.parts_of(text)
    if parts.header is None:
        return parts.bom + in_prose(parts.content, _LINK, new, "[[")
    try:
        keys = parts.header
        if "[[" in keys:
            keys = header.map_texts(keys, partial(_in_line, new=new), _NAMING, parts.newline)
    except header.BadHeader:
        return parts.bom + in_prose(text.removeprefix(parts.bom), _LINK, new, "[[")
    return f"{parts.bom}{parts.opening}{keys}{parts.closing}{in_prose(parts.content, _LINK, new, '[[')}"


def _in_line(text: str, new: _New, pattern: re.Pattern[str] = _LINK, sign: str = "[[") -> str:
    """A block of text, in which code between ticks stays."""
    if sign not in text:
        return text
    code = _code_in(text)

    def replaced(match: re.Match[str]) -> str:
        before = bisect(code, (match.start(), len(text))) - 1
        instead = None if before >= 0 and match.start() < code[before][1] else new(match)
        return match[0] if instead is None else instead

    return pattern.sub(replaced, text)


def _code_in(text: str) -> list[tuple[int, int]]:
    """Return the spans of code between ticks: each from a run of ticks to the next run of the same length."""
    runs = [match.span() for match in _TICKS.finditer(text) if match[0][0] == "`"]
    following, closing = dict[int, int](), dict[int, int]()
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closing[at] = following.get(length, 0)
        following[length] = at
    found, at = list[tuple[int, int]](), 0
    while at < len(runs):
        if end := closing[at]:
            found.append((runs[at][0], runs[end][1]))
        at = (end or at) + 1
    return found


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """`text` in pieces, and whether each is code."""
    piece, lines = "", lines_in(text)
    for line, is_code in zip(lines, code_lines(lines), strict=True):
        if is_code or _BEGINS.match(line.rstrip("\r\n")):
            yield piece, False
            piece = ""
        if is_code:
            yield line, True
        else:
            piece += line
    yield piece, False
