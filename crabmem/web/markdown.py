"""Markdown of memory as HTML that can do nothing: no HTML of its own, no pictures, no address that is not shown."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup

from ..text.quoting import spelled

# Levels by which headings are lowered, as the page and its part have one each; the lowest that HTML has.
_DEEPER, _DEEPEST = 2, 6
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "class"}, "span": {"class"}, "ol": {"start"}}
_LONGEST_LINK = 1_000
# Characters. Texts made for it keep a reader of Markdown busy for a time that grows with the square of their length.
_RENDERED = 64_000
_SCHEMES = ("http://", "https://", "mailto:")


def rendered(text: str) -> Markup:
    """Return a text as HTML, with invisible characters spelled out; a very long one as it is, in a `pre`."""
    if len(text) > _RENDERED:
        note = f"It has {len(text):,} characters: more than {_RENDERED:,} are shown as they are."
        return Markup('<p class="note">{}</p><pre class="said">{}</pre>').format(note, spelled(text))
    schemes, rel = {"http", "https", "mailto"}, "noopener noreferrer"
    html = _READER.render(spelled(text))
    return Markup(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=schemes, link_rel=rel))


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Parse `[[target#heading|label]]`, a link to a fact as Obsidian writes it: an inline rule of markdown-it.

    Return whether there is one at `state.pos`, and move past it. With `silent` add no tokens.
    """
    if not state.src.startswith("[[", state.pos):
        return False
    start = state.pos + 2
    end = state.src.find("]]", start, min(state.posMax, start + _LONGEST_LINK))
    inner = state.src[start:end]
    if end < 0 or "\n" in inner or "[" in inner:
        return False
    target, _, label = inner.partition("|")
    if not target.strip():
        return False
    if not silent:
        name = target.partition("#")[0].strip()
        state.push("link_open", "a", 1).attrs = {"href": f"./fact?name={quote(name, safe='')}", "class": "fact"}
        state.push("text", "", 0).content = label.strip() or target.strip()
        state.push("link_close", "a", -1)
    state.pos = end + 2
    return True


def _link_close(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Render the end of a link, and its address behind it unless the link's text is that: the text may name another."""
    starts = (place for place in range(at, -1, -1) if tokens[place].type == "link_open")
    start = next(place for place in starts if tokens[place].level == tokens[at].level)
    address = str(tokens[start].attrs.get("href", ""))
    said = "".join(token.content for token in tokens[start:at])
    hides = not address.startswith("./fact?") and said != address
    return "</a>" + (f' <span class="address">{Markup.escape(address)}</span>' if hides else "")


def _deeper(state: Any) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_DEEPEST, int(token.tag[1]) + _DEEPER)}"


def _reader() -> MarkdownIt:
    """Return a parser without HTML and pictures, for links with `_SCHEMES` only; others stay as they are written."""
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"]).disable("image")
    reader.validateLink = lambda url: url.startswith(_SCHEMES)  # type: ignore[method-assign]
    reader.inline.ruler.before("link", "wiki_link", _wiki_link)
    reader.core.ruler.push("deeper", _deeper)
    reader.add_render_rule("link_close", _link_close)
    return reader


_READER = _reader()
