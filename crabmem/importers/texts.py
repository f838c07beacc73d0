"""From a text to the facts in it: names, summaries, sections. Pure functions."""

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

# Verbs: what precedes one of these in a sentence is its subject, which `title_of` takes as a name.
_SAYING = "is are was were has have had lives lies = ist sind war waren hat liegt es está son est sont è"
# Pronouns, which make no name.
_POINTING = "it this that there he she we i you they who what es das dies er sie wir ich"
# Articles, which a name leaves out.
_LEFT_OUT = "the a an our my der die das ein eine unser el la los las un una le les il lo"
_VERBS, _PRONOUNS, _ARTICLES = (frozenset(words.split()) for words in (_SAYING, _POINTING, _LEFT_OUT))
# Words of a name that `title_of` makes of a sentence.
_MAX_WORDS = 6
#: Why the identity and the overview of a memory are not imported, for the person.
WHOLE = {
    "identity": "it says who the agent was; what of it should stay goes in yours, with `crabmem identity edit`",
    "overview": "it is an overview; what of it should stay goes in yours, with `crabmem overview edit`",
}
#: Why the daily notes of a memory are not imported.
NOTE = "it is a daily note; facts alone are taken"
_INSTRUCTIONS = ("claude.md", "agents.md", "gemini.md")
# Keys of a frontmatter in the singular, which `parse_entry` reads as `aliases` and `tags`, and we write as these.
_LABELS = ("alias", "tag")
MAX_TITLE = 120
MAX_SUMMARY = 200
_DEEPEST_OF_SECTIONS = 2
# The marks at the beginning of a line: of lists, quotes and tasks, of Obsidian's callouts, of basic-memory's
# categories.
_MARKS = re.compile(r"[ \t]*(?:[-*+][ \t]+|>[ \t]*|\d+[.)][ \t]+|\[(?:[ xX]|![^\]\n]*|[\w-]+)\][+-]?(?:[ \t]+|\Z))*")
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_ROW = re.compile(r"[ \t]*\|")
# The characters of the line below the head of a table.
_RULER = frozenset("-:| \t")
_UNDERLINE = re.compile(r"=+|-+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\([^()\n]*\)")
_LINK = re.compile(r"\[(?P<label>[^\[\]\n]+)\]\([^()\n]*\)")
_WIKI = re.compile(r"\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<label>[^\[\]\n]+))?\]\]")
# Emphasised text. A single word between underscores is left alone: it is rather a name in a program.
_EMPHASIS = re.compile(
    r"(?<!\w)(?!_\w{0,99}(?!\w))(?P<mark>\*{1,3}|_{1,3}|~~|==)(?=\S)(?P<text>[^*_~=\n]+)(?<=\S)(?P=mark)(?!\w)"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
# A dot after a word of one to three letters with a capital ends no sentence: it is that of `Dr.` or `St.`. If it does
# end one, the summary has a sentence more, which does no harm.
_SHORT = "".join(rf"(?<!\b[A-Z]{small})" for small in ("", "[a-z]", "[a-z]{2}"))
_SENTENCE = re.compile(rf".*?(?:{_SHORT}\.|[!?])(?=\s|\Z)|.+", re.DOTALL)


def fact_of(path: str, data: bytes, name: str = "") -> Fact:
    """Return the fact in a file. A name or description that is neither given nor in the frontmatter is taken from the
    text.

    In Markdown, a heading at the top that only repeats the name is left out.

    Raises:
        Unreadable: `data` is not UTF-8, empty, cut short, or holds the marks of a merge.
    """
    entry = parse_entry(path, data)
    content = entry.content.replace("\r\n", "\n").strip("\n")
    own = keys_of(data)
    text = header.parts_of(content).content
    title = value(own, "title") or (_title(text) if is_markdown(path) else "")
    name = name or (entry.name if "name" in own else shortened(title, MAX_TITLE) or entry.name)
    description = entry.description or summary(text) or name
    fact = replace(as_fact(entry, data), name=name, description=description, content=content)
    return _without_heading(fact) if is_markdown(path) else fact


def as_fact(entry: Entry, data: bytes) -> Fact:
    """Return the fact of an entry that was read from a file with these `data`, word by word, with its frontmatter."""
    labels = entry.aliases or None, entry.tags or None
    return Fact(entry.name, entry.description, entry.content, *labels, extra_keys(entry), before=frontmatter(data))


def _without_heading(fact: Fact) -> Fact:
    """Return the fact without the first line of its content, if that is a heading with its name and text follows."""
    first, _, rest = fact.content.partition("\n")
    return replace(fact, content=rest.strip("\n")) if rest.strip() and _title(first) == fact.name else fact


def extra_keys(entry: Entry) -> "dict[str, HeaderValue | None]":
    """Return the keys in the frontmatter of an entry that are in no other field of a fact.

    Keys that `parse_entry` has lifted out of `metadata` are left out: they stay in `metadata`.
    """
    metadata = entry.keys.get("metadata")
    lifted = metadata if isinstance(metadata, Mapping) else {}
    return {
        key: cast("HeaderValue", value)
        for key, value in entry.keys.items()
        if key not in _LABELS and (key not in lifted or lifted[key] != value)
    }


def frontmatter(data: bytes) -> str:
    """Return the frontmatter of a file as it is there, with the lines `---` around it; "" if it cannot be parsed."""
    text = data.decode("utf-8").removeprefix(BOM)
    parts = header.parts_of(text)
    try:
        return f"{parts.opening}{header.readable(parts.header or '')}{parts.closing}"
    except header.BadHeader:
        return ""


def in_its_folder(found: Found) -> Found:
    """Return the find with a fact that goes into a folder of the same path as the one that its file is in."""
    return found.with_fact(lambda fact: replace(fact, folder=found.where.rpartition("/")[0]))


def with_labels(fact: Fact, tags: Iterable[str] = (), aliases: Iterable[str] = ()) -> Fact:
    """Return the fact with more tags and aliases, each once, up to `MAX_LABELS` of each kind; no empty ones."""
    return replace(fact, tags=_with_more(fact.tags, tags), aliases=_with_more(fact.aliases, aliases))


def _with_more(labels: Iterable[str] | None, more: Iterable[str]) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(filter(None, (*(labels or ()), *more))))[:MAX_LABELS] or None


def stem(path: str) -> str:
    """The last part of a path, without the ending."""
    return PurePosixPath(path).stem


def without_ending(path: str) -> str:
    """The path of a file without its ending."""
    return str(PurePosixPath(path).with_suffix(""))


def keys_of(data: bytes) -> Mapping[str, header.Value]:
    """Return the keys in the frontmatter of a file; {} if it has none, or one that cannot be parsed."""
    try:
        return header.load(header.parts_of(data.decode("utf-8")).header or "")
    except (header.BadHeader, UnicodeDecodeError):
        return {}


def value(keys: Mapping[str, header.Value], *names: str) -> str:
    """Return the text at a path of keys, as `value(keys, "metadata", "type")`; "" if there is none."""
    found: object = keys
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found.strip() if isinstance(found, str) else ""


def sections(path: str, data: bytes) -> list[tuple[str, str]]:
    """Return the sections of a text as pairs of heading and content; "" heads what precedes the first heading.

    Headings deeper than `_DEEPEST_OF_SECTIONS` are content.

    Raises:
        Unreadable: `data` is not UTF-8.
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
    """Whether a file is a list of instructions to agents by its name (AGENTS.md, …), with two headings or more."""
    is_called_so = PurePosixPath(found.where).name.casefold() in _INSTRUCTIONS and isinstance(found.what, Fact)
    return is_called_so and len([title for title, _ in sections(found.where, tree.peek(found.where)) if title]) > 1


def facts_of_sections(path: str, data: bytes, whole: Fact) -> Iterator[Found]:
    """Yield a fact for each section of a text, as skipped if a heading has no text right below it.

    `whole` is the fact of all the text. The section before the first heading is called as the frontmatter says, else by
    the file; the first fact gets the labels, keys and frontmatter of `whole`.

    Raises:
        Unreadable: `data` is not UTF-8.
    """
    is_first, own = True, keys_of(data)
    called = value(own, "name") or shortened(value(own, "title"), MAX_TITLE) or stem(path)
    for title, content in sections(path, data):
        where, name = f"{path}#{title}" if title else path, title or called
        if not content:
            yield Found(where, Skipped("there is no text right below that heading"))
            continue
        fact = Fact(name, summary(content) or name, content)
        if is_first:
            fact = replace(fact, aliases=whole.aliases, tags=whole.tags, keys=whole.keys, before=whole.before)
            is_first = False
        yield Found(where, fact, without_ending(path))


def summary(text: str) -> str:
    """Return the first sentence of the first paragraph of prose, without Markdown; else that of the first list item.

    "" if there is neither: headings, tables, code, comments and pictures make no summary.
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
    """Return a name for a text: its first heading; else the subject of its first sentence, which is what precedes a
    verb, a colon or `=`; else the first words of that.
    """
    if title := _title(text):
        return shortened(title, MAX_TITLE)
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
    """Return the lines of a paragraph that are prose: not underlined headings, table rows, or lines of signs alone.

    [] if it is a table that is written without bars at the edges.
    """
    lines = paragraph.split("\n")
    under = {number for number, line in enumerate(lines) if _UNDERLINE.fullmatch(line.strip())}
    if any({"-", "|"} <= set(line) <= _RULER for line in lines if not _ROW.match(line)):
        return []
    heads = range(max(under, default=-1) + 1)
    prose = [line for number, line in enumerate(lines) if number not in heads and not _ROW.match(line)]
    return [line for line in prose if any(map(str.isalnum, _bare(line)))]


def _title(text: str) -> str:
    """Return the first heading that has text; "" if there is none."""
    return next((title for _, _, title in headings(text.split("\n")) if title), "")


def _bare(line: str) -> str:
    """Return a line without the marks of Markdown. A link becomes its text, a picture nothing."""
    text = line[mark.end() :] if (mark := _MARKS.match(line)) else line
    text = _WIKI.sub(lambda link: link["label"] or link["target"], _LINK.sub(r"\g<label>", _IMAGE.sub("", text)))
    return _EMPHASIS.sub(r"\g<text>", text).strip()
