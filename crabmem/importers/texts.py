"""From a text to the fact in it. Pure functions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from ..text import frontmatter as header
from ..text.edit import BOM
from ..text.entry import MAX_LABELS, Entry, Fact, decode, parse_entry
from ..text.markdown import headings, is_heading, without_fenced
from ..text.values import replace
from ..text.words import shortened
from .base import Found, Skipped, Tree, is_markdown

if TYPE_CHECKING:
    from ..text.entry import HeaderValue

# Words behind which a sentence says something of what stands before them.
_SAYING = "is are was were has have had lives lies = ist sind war waren hat liegt es está son est sont è"
# Words that stand for something that was said before.
_POINTING = "it this that there he she we i you they who what es das dies er sie wir ich"
_LEFT_OUT = "the a an our my der die das ein eine unser el la los las un una le les il lo"
_VERBS, _PRONOUNS, _ARTICLES = (frozenset(words.split()) for words in (_SAYING, _POINTING, _LEFT_OUT))
_MAX_WORDS = 6
#: Why the files of a memory that are no facts are left out.
WHOLE = {
    "identity": "it says who the agent was; what of it should stay goes in yours, with `crabmem identity edit`",
    "overview": "it is an overview; what of it should stay goes in yours, with `crabmem overview edit`",
}
_INSTRUCTIONS = ("claude.md", "agents.md", "gemini.md")
# The keys in the singular that are read as labels, and written as those in the plural.
_LABELS = ("alias", "tag")
MAX_TITLE = 120
MAX_SUMMARY = 200
_DEEPEST_OF_SECTIONS = 2
# Of lists and quotes, of tasks, of what Obsidian calls a callout, and of the categories of basic-memory.
_MARKS = re.compile(r"[ \t]*(?:[-*+][ \t]+|>[ \t]*|\d+[.)][ \t]+|\[(?:[ xX]|![^\]\n]*|[\w-]+)\][+-]?(?:[ \t]+|\Z))*")
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_ROW = re.compile(r"[ \t]*\|")
# The signs of the line below the heads of a table.
_RULER = frozenset("-:| \t")
_UNDERLINE = re.compile(r"=+|-+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\([^()\n]*\)")
_LINK = re.compile(r"\[(?P<label>[^\[\]\n]+)\]\([^()\n]*\)")
_WIKI = re.compile(r"\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<label>[^\[\]\n]+))?\]\]")
# A word between underscores is rather a name in a program.
_EMPHASIS = re.compile(
    r"(?<!\w)(?!_\w{0,99}(?!\w))(?P<mark>\*{1,3}|_{1,3}|~~|==)(?=\S)(?P<text>[^*_~=\n]+)(?<=\S)(?P=mark)(?!\w)"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
# A dot after so short a word with a capital is that of `Dr.` or `St.`, and if not, a sentence more does no harm.
_SHORT = "".join(rf"(?<!\b[A-Z]{small})" for small in ("", "[a-z]", "[a-z]{2}"))
_SENTENCE = re.compile(rf".*?(?:{_SHORT}\.|[!?])(?=\s|\Z)|.+", re.DOTALL)


def fact_of(path: str, data: bytes) -> Fact:
    """The fact in a file: what its frontmatter does not say is taken from its text.

    A heading above the text that only repeats its name is left out.

    Raises:
        Unreadable: it is no whole text.
    """
    entry = parse_entry(path, data)
    content = entry.content.replace("\r\n", "\n").strip("\n")
    own = keys_of(data)
    text = header.parts_of(content).content
    title = value(own, "title") or (_title(text) if is_markdown(path) else "")
    name = entry.name if "name" in own else shortened(title, MAX_TITLE) or entry.name
    description = entry.description or summary(text) or name
    fact = replace(as_fact(entry, data), name=name, description=description, content=content)
    return _without_heading(fact) if is_markdown(path) else fact


def as_fact(entry: Entry, data: bytes) -> Fact:
    """The fact that says what an entry of a file says, word by word, with the frontmatter of the file."""
    labels = entry.aliases or None, entry.tags or None
    return Fact(entry.name, entry.description, entry.content, *labels, extra_keys(entry), before=frontmatter(data))


def _without_heading(fact: Fact) -> Fact:
    """The fact without the heading that its content begins with, where that only says its name and more follows."""
    first, _, rest = fact.content.partition("\n")
    return replace(fact, content=rest.strip("\n")) if rest.strip() and _title(first) == fact.name else fact


def extra_keys(entry: Entry) -> "dict[str, HeaderValue | None]":
    """The keys in the frontmatter of an entry that are not in the other parts of a fact, as they stand there."""
    metadata = entry.keys.get("metadata")
    lifted = metadata if isinstance(metadata, Mapping) else {}
    return {
        key: cast("HeaderValue", value)
        for key, value in entry.keys.items()
        if key not in _LABELS and (key not in lifted or lifted[key] != value)
    }


def frontmatter(data: bytes) -> str:
    """The frontmatter of a file as it stands there, with the lines `---` around it; "" where none can be read."""
    text = data.decode("utf-8").removeprefix(BOM)
    parts = header.parts_of(text)
    try:
        return f"{parts.opening}{header.readable(parts.header or '')}{parts.closing}"
    except header.BadHeader:
        return ""


def in_its_folder(found: Found) -> Found:
    """Return what was found with a fact that goes into a folder called as the one that it lies in."""
    return found.with_fact(lambda fact: replace(fact, folder=found.where.rpartition("/")[0]))


def with_name(fact: Fact, name: str) -> Fact:
    """The fact under another name, and with that as its description where the description was only the old name."""
    return replace(fact, name=name, description=name if fact.description == fact.name else fact.description)


def with_labels(fact: Fact, tags: Iterable[str] = (), aliases: Iterable[str] = ()) -> Fact:
    """The fact with more labels, each once, as far as there is room; empty ones are left out."""
    return replace(fact, tags=_with_more(fact.tags, tags), aliases=_with_more(fact.aliases, aliases))


def _with_more(labels: Iterable[str] | None, more: Iterable[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(filter(None, (*(labels or ()), *more))))[:MAX_LABELS] or None


def stem(path: str) -> str:
    """The last part of a path, without the ending."""
    return PurePosixPath(path).stem


def keys_of(data: bytes) -> Mapping[str, header.Value]:
    """The frontmatter of a file; nothing where there is none that can be read."""
    try:
        return header.load(header.parts_of(data.decode("utf-8")).header or "")
    except (header.BadHeader, UnicodeDecodeError):
        return {}


def value(keys: Mapping[str, header.Value], *names: str) -> str:
    """The text under a key, or under a key of the mapping under that; "" for none."""
    found: object = keys
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found.strip() if isinstance(found, str) else ""


def sections(path: str, data: bytes) -> list[tuple[str, str]]:
    """The sections of a text, heading and what stands under it; "" heads the beginning, where there is any.

    Raises:
        Unreadable: it is no text.
    """
    text = header.parts_of(decode(path, data).replace("\r\n", "\n")).content
    lines = text.split("\n")
    heads = [
        (-1, ""),
        *((at, title) for at, depth, title in headings(lines) if depth <= _DEEPEST_OF_SECTIONS and title),
    ]
    ends = [at for at, _ in heads[1:]] + [len(lines)]
    found = ((title, "\n".join(lines[at + 1 : end]).strip()) for (at, title), end in zip(heads, ends, strict=True))
    return [(title, content) for title, content in found if title or content]


def is_instructions(found: Found, tree: Tree) -> bool:
    """Return whether a file tells agents what to do, under two headings or more."""
    is_called_so = PurePosixPath(found.where).name.casefold() in _INSTRUCTIONS and isinstance(found.what, Fact)
    return is_called_so and len([title for title, _ in sections(found.where, tree.peek(found.where)) if title]) > 1


def facts_of_sections(path: str, data: bytes, whole: Fact) -> Iterator[Found]:
    """A fact for each section of a text that says something; what comes before the first heading is called like the
    `whole`.

    The rest of the frontmatter is kept with the first fact.

    Raises:
        Unreadable: it is no text.
    """
    is_first = True
    for title, content in sections(path, data):
        where, name = f"{path}#{title}" if title else path, title or whole.name
        if not content:
            yield Found(where, Skipped("there is no text right below that heading"))
            continue
        fact = Fact(name, summary(content) or name, content)
        if is_first:
            fact = replace(fact, aliases=whole.aliases, tags=whole.tags, keys=whole.keys, before=whole.before)
            is_first = False
        yield Found(where, fact, stem(path))


def summary(text: str) -> str:
    """The first sentence of the first paragraph that is prose, without its marks; else the first item of a list.

    "" when there is neither: headings, rows of tables, comments and pictures say nothing in short.
    """
    bare = without_fenced(_COMMENT.sub("", text.removeprefix(BOM)))
    below = "\n".join("" if is_heading(line) else line for line in bare.split("\n"))
    paragraphs = [lines for lines in map(_prose_lines, _BLANK.split(below)) if lines]
    chosen = next((lines for lines in paragraphs if not _ITEM.match(lines[0])), next(iter(paragraphs), []))
    if chosen and _ITEM.match(chosen[0]):
        chosen = chosen[:1]
    sentence = _SENTENCE.match(" ".join(map(_bare, chosen)).strip())
    return shortened(sentence[0], MAX_SUMMARY) if sentence else ""


def title_of(text: str) -> str:
    """Return a name for what a text says: its heading, else what its first sentence is about, in a few words."""
    if title := _title(text):
        return title
    words = (summary(text) or " ".join(text.split())).split()
    end = next((at for at, word in enumerate(words[:_MAX_WORDS]) if word[-1] in ":=" or word.casefold() in _VERBS), 0)
    subject = words[: end + (words[end][-1] == ":")]
    if not subject or (len(subject) == 1 and subject[0].casefold() in _PRONOUNS):
        subject = words[:_MAX_WORDS]
    elif len(subject) > 1 and subject[0].casefold() in _ARTICLES:
        subject = subject[1:]
    name = " ".join(subject).rstrip(".,;:!?。 ")
    return shortened(name[:1].upper() + name[1:], MAX_TITLE)


def _prose_lines(paragraph: str) -> list[str]:
    """The lines of a paragraph that say something: no heading that is underlined, no row of a table."""
    lines = paragraph.split("\n")
    under = {number for number, line in enumerate(lines) if _UNDERLINE.fullmatch(line.strip())}
    if any({"-", "|"} <= set(line) <= _RULER for line in lines if not _ROW.match(line)):
        return []
    heads = range(max(under, default=-1) + 1)
    prose = [line for number, line in enumerate(lines) if number not in heads and not _ROW.match(line)]
    return [line for line in prose if any(map(str.isalnum, _bare(line)))]


def _title(text: str) -> str:
    """The first heading; "" when there is none."""
    return next((shortened(title, MAX_TITLE) for _, _, title in headings(text.split("\n")) if title), "")


def _bare(line: str) -> str:
    """A line without the marks of Markdown; of a link its text stays."""
    text = line[mark.end() :] if (mark := _MARKS.match(line)) else line
    text = _WIKI.sub(lambda link: link["label"] or link["target"], _LINK.sub(r"\g<label>", _IMAGE.sub("", text)))
    return _EMPHASIS.sub(r"\g<text>", text).strip()
