"""The page of `crabmem digest --html`: one file that loads nothing, made of texts that may say anything."""

from collections.abc import Sequence
from datetime import datetime

from ..operations.digest import texts_of
from ..operations.proposals import verdicts
from ..operations.review import age
from ..results import Commit, Digest, News, Proposal, byline
from ..session.session import Session
from ..text.edit import lenient_text, unified_diff
from ..text.hashes import short
from ..text.html import Html, element, escaped
from ..text.links import links
from ..text.slug import name_key
from ..text.word_diff import Line, files_in
from ..text.words import counted
from .output import day, minute

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# By the sign of a line of a diff: its class, the element of words that differ, and the sign that is shown.
_KINDS = {"-": ("gone", "del", "−"), "+": ("new", "ins", "+"), " ": ("same", "span", " ")}
# Commits of one file that are listed.
_LISTED = 20
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --gone: #c0262622; --new: #16803a22; --faint: #666; }
@media (prefers-color-scheme: dark) { :root { --gone: #ff6b6b33; --new: #3ddc8433; --faint: #aaa; } }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .8rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { font-size: 1.02rem; margin: 0; }
article { margin: 1.2rem 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
article:target { outline: 2px solid; }
p, ul { margin: .35rem 0; }
ul { padding-left: 1.2rem; }
.text > div { position: relative; min-height: 1.5em; padding-inline: 2ch .4ch; }
.sign { position: absolute; inset-inline-start: .4ch; color: var(--faint); }
.faint, .by { color: var(--faint); font-size: .9rem; }
.text { white-space: pre-wrap; font: .9rem/1.5 ui-monospace, monospace; margin: .7rem 0 0; padding: .7rem .8rem;
  border-left: 3px solid var(--line); }
.new, ins { background: var(--new); }
.gone, del { background: var(--gone); }
ins { text-decoration: underline; text-underline-offset: .18em; }
@media print { article { break-inside: avoid; } }
"""


def page(memory: Session, found: Digest, waiting: Sequence[Proposal], now: datetime) -> Html:
    """The page of a digest, with what waits for the person."""
    names = {name_key(news.name): news for part in (found.learned, found.changed, found.dropped) for news in part}
    title = f"Memory, {_span(found)}" if found.commits else "Memory"
    body = [
        element("h1", title),
        element("p", _summary(found), class_="faint"),
        _waiting(memory, waiting, now),
        *(_section(title, [_news(memory, each, names) for each in news]) for title, news in found.sections),
    ]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        Html(f"<style>{_STYLE}</style>"),
    ]
    whole = element("html", element("head", *head), element("body", element("main", *body)), lang="en")
    return Html(f"<!doctype html>\n{whole}\n")


def _span(found: Digest) -> str:
    return " to ".join(dict.fromkeys(day(each.time) for each in (found.commits[-1], found.commits[0])))


def _summary(found: Digest) -> str:
    if not found.commits:
        return "Nothing was recorded in that time."
    people = dict.fromkeys(f"{each.author}{'*' * each.is_person}" for each in found.commits)
    return f"{counted(len(found.commits), 'change')} by {', '.join(people)}. A star marks a person."


def _section(title: str, items: Sequence[Html], *notes: Html) -> Html:
    return element("section", element("h2", f"{title} ({len(items)})"), *notes, *items)


def _waiting(memory: Session, waiting: Sequence[Proposal], now: datetime) -> Html:
    """Return what waits for the person, with what applying it would change; nothing if nothing waits."""
    if not waiting:
        return Html("")
    note = element(
        "p", "Nothing of this is in memory: ", element("code", "crabmem review"), " decides.", class_="faint"
    )
    return _section("Waits for you", [_proposal(memory, each, now) for each in waiting], note)


def _proposal(memory: Session, proposal: Proposal, now: datetime) -> Html:
    """Return one proposal: what, who and why, and for each file a diff from what is there to what it would be."""
    who = f"{short(proposal.id)}, {byline(proposal.author, proposal.session)}, {age(proposal.time, now)}"
    clash = [element("p", "The same place was changed since: both texts are below.")] if proposal.clashes else []
    reason = [element("p", proposal.reason, dir="auto")] if proposal.reason else []
    diffs = []
    for each in verdicts(memory, proposal):
        diffs += [element("p", each.path, class_="faint")] if len(proposal.files) > 1 else []
        diffs.append(_diff(lenient_text(each.now) or "", lenient_text(each.after) or ""))
    head = element("h3", proposal.change, dir="auto")
    return element("article", head, element("p", who, class_="by"), *reason, *clash, *diffs)


def _news(memory: Session, news: News, names: dict[str, News]) -> Html:
    """Return one fact: what it is about, its commits, its links, and its diffs with the differing words marked.

    `names` has the facts on this page by `name_key`, to link to.
    """
    texts = texts_of(memory, news)
    about = [element("p", news.description, dir="auto")] if news.description else []
    leads = _links(texts[-1][1], names) if texts else []
    commits = [element("li", _commit(each)) for each in news.commits[:_LISTED]]
    more = len(news.commits) - _LISTED
    commits += [element("li", f"and {more:,} more")] if more > 0 else []
    return element(
        "article",
        element("h3", news.name, dir="auto"),
        element("p", news.path, class_="faint"),
        *about,
        element("ul", *commits, class_="by"),
        *([element("p", "leads to ", *leads, class_="faint")] if leads else []),
        *(_diff(*each) for each in texts),
        id=_anchor(news),
    )


def _commit(commit: Commit) -> str:
    return f"{minute(commit.time)}, {commit.who}: {commit.subject} ({short(commit.commit)})"


def _anchor(news: News) -> str:
    return f"f-{''.join(f'{byte:02x}' for byte in news.path.encode('utf-8', 'replace'))}"


def _links(text: str, names: dict[str, News]) -> list[Html]:
    """Return the targets of the links in a text: as links to facts on this page, else as plain names."""
    targets = dict.fromkeys(link.target for link in links(text) if link.target)
    found: list[Html] = []
    for target in targets:
        known = names.get(name_key(target))
        item = element("a", target, href=f"#{_anchor(known)}") if known else element("span", target)
        found += [*([escaped(", ")] if found else []), item]
    return found


def _diff(before: str, after: str) -> Html:
    """Return the lines removed and added, with the differing words marked, and some lines around them."""
    lines = [line for file in files_in(unified_diff(before, after, "")) for line in file.lines]
    return element("div", *map(_line, lines), class_="text")


def _line(line: Line) -> Html:
    if line.sign == "@":
        return element("div", "…", class_="faint")
    kind, tag, sign = _KINDS[line.sign]
    pieces = (element(tag, text) if differs else escaped(text) for text, differs in line.pieces)
    return element("div", element("span", f"{sign} ", class_="sign"), *pieces, class_=kind, dir="auto")
