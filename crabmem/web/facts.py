"""Facts: listed, read, with who wrote which line when, and what leads to them; edited, renamed, forgotten, restored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import CrabmemError, InvalidArguments, NotFound, Stale
from ..operations import adoption, changes, facts, history, provenance, reading, revert
from ..operations.digest import stale_facts
from ..operations.links import rename
from ..operations.recall import recall
from ..results import Commit
from ..text.edit import lenient_text, unified_diff
from ..text.entry import Entry, entry_in, with_tags
from ..text.hashes import version_of
from ..text.word_diff import files_in
from ..workspace.layout import SETTINGS
from .asking import CONFLICT, Ask, Go, Page, paged
from .markdown import rendered

VIEWS = {"read": "Read", "lines": "Lines", "history": "History", "links": "Links", "edit": "Edit"}
# Facts on a page, and tags above them.
_SHOWN, _TAGS = 60, 24
# Facts that a search takes from recall at most.
_FOUND = 200
# Characters from which on the last word of a search also finds words that begin with it.
_BEGUN = 2
_FIELDS = ("name", "description", "content", "tags")


def listing(ask: Ask) -> Page:
    """List all facts, those with a tag, or those that a search finds.

    A search lists first the facts that have all its words in name, description or tags, by name, then those that recall
    finds in texts, the best first.
    """
    (headers, unreadable), layout = reading.headers_and_unreadable(ask.session), ask.session.layout
    q, tag, words = ask.query.one("q"), ask.query.one("tag"), ask.query.one("q").casefold().split()
    tagged = [header for header in headers if not tag or tag in header.labels]
    found = [each for each in tagged if _says_all(each, words)]
    found = sorted(found, key=lambda each: each.name.casefold()) + (_in_texts(ask, q, tagged, found) if words else [])
    shown = {
        "title": "Facts", "rows": paged(found, ask, _SHOWN), "all": len(headers), "unreadable": unreadable, "q": q,
        "tag": tag, "tags": Counter(label for each in headers for label in each.labels).most_common(_TAGS),
        "held": adoption.unrecorded_in(ask.session), "whole": [*filter(ask.session.read, layout.whole)],
        "stale": () if q or tag else stale_facts(ask.session),
    }  # fmt: skip
    return Page("facts", shown)


def _says_all(header: Any, words: Sequence[str]) -> bool:
    said = "\n".join([header.name, header.about, *header.labels]).casefold()
    return all(word in said for word in words)


def _in_texts(ask: Ask, q: str, among: Sequence[Any], but: Sequence[Any]) -> list[Any]:
    """Return the facts of `among` that recall finds for `q`, without those in `but`, the best first."""
    paths, known = {each.path for each in but}, {each.path: each for each in among}
    last = q.split()[-1]  # may be typed only in part: searched for as the beginning of a word, too
    hits = recall(ask.session, f"{q} {last}*" if len(last) >= _BEGUN and last.isalnum() else q, limit=_FOUND)
    return [known[hit.entry.path] for hit in hits if hit.entry.path in known and hit.entry.path not in paths]


def blank(ask: Ask, problem: str = "") -> Page:
    """Show the form for a new fact, with what was filled in already; `problem` is why it was not saved."""
    shown = {"title": "New fact", "problem": problem, "given": {name: ask.form.one(name) for name in _FIELDS}}
    return Page("new", shown, CONFLICT if problem else 200)


def add(ask: Ask) -> Page | Go:
    """Remember a new fact under a name that no other fact has; on an error show its form again, as it was filled in."""
    name, description, content, tags = (ask.form.one(each).replace("\r\n", "\n") for each in _FIELDS)
    try:
        done = facts.remember(ask.session, name, description, content, tags=_split_tags(tags), if_version="")
    except Stale:
        return blank(ask, "a fact is called that already: edit it, or find another name for this one")
    except CrabmemError as error:
        return blank(ask, error.text())
    return Go("/fact", {"path": done.path}, [done.commit])


def _split_tags(tags: str) -> list[str]:
    """Tags that were written with commas between them."""
    return list(filter(None, map(str.strip, tags.split(","))))


def fact(ask: Ask) -> Page | Go:
    """Show one file of memory: a fact, the overview, the identity or a daily note. A `name` leads to the path of it."""
    if name := ask.query.one("name"):
        return Go("/fact", {"path": reading.path_of(ask.session, name)})
    return _page_of(ask, _path(ask))


def _path(ask: Ask) -> str:
    path = ask.query.needed("path")
    if not ask.session.layout.is_kept(path):
        raise NotFound(f"there is no {path}, and never was")
    return path


def _page_of(ask: Ask, path: str, view: str = "", problem: str = "", **more: Any) -> Page:
    """Show a file in one of its `VIEWS`: `view`, else the one that the query names; a forgotten file in its history.

    `problem` says why the last action did nothing. `more` replaces variables of the template.

    Raises:
        NotFound: no such file is or was in memory.
        InvalidArguments: there is no such view.
    """
    session, data = ask.session, ask.session.read(path)
    last = next(history.commits(session, path), None)
    if data is None and last is None:
        raise NotFound(f"there is no {path}, and never was")
    view = view or ask.query.one("view", "read") if data is not None else "history"
    if view not in VIEWS:
        raise InvalidArguments(f"there is no such action: {view}")
    text, is_entry = lenient_text(data), session.layout.is_entry(path)
    entry = entry_in(path, data) if is_entry and data is not None else None
    shown = {
        "title": entry.name if entry else path.rpartition("/")[2], "path": path, "view": view,
        "views": {name: said for name, said in VIEWS.items() if path != SETTINGS or name != "edit"},
        "entry": entry, "text": text, "version": "" if data is None else version_of(data), "problem": problem,
        "last": last, "is_entry": is_entry, **_PARTS[view](ask, path, entry, text or ""), **more,
    }  # fmt: skip
    return Page("fact", shown, CONFLICT if problem else 200)


def _read(ask: Ask, path: str, entry: Entry | None, text: str) -> dict[str, Any]:
    return {
        "html": rendered(entry.content if entry else text),
        "tags": "\n".join(entry.tags) if entry else "",
        "is_tagged": False,
    }


def _lines(ask: Ask, path: str, entry: Entry | None, text: str) -> dict[str, Any]:
    return {"lines": list(provenance.owners(ask.session, path).values())}


def _history(ask: Ask, path: str, entry: Entry | None, text: str) -> dict[str, Any]:
    """Return the commits of the file, oldest first, with its text at the one asked for and what changed since then."""
    commits = list(history.commits(ask.session, path))[::-1]
    if not commits:
        return {"commits": commits}
    at = _step_asked_for(ask, commits)
    commit, then, old = commits[at].commit, None, None
    where = ask.session.timeline.path_at(path, commit)
    if (data := ask.session.read(where, commit)) is not None:
        then, old = lenient_text(data) or "", entry_in(where, data)
    files = files_in(unified_diff(then, text, path)) if then is not None and text else []
    return {
        "commits": commits, "at": at, "then": then, "then_name": old and old.name, "files": files,
        "then_html": None if then is None else rendered(old.content if old else then),
    }  # fmt: skip


def _step_asked_for(ask: Ask, commits: list[Commit]) -> int:
    """Return the index of the commit that the query names by `day`, by id (`as_of`) or by number (`step`).

    By `day` it is the last one up to the end of that day, else the first of all. Without any of the three, or if the id
    is unknown, it is the newest.
    """
    last, asked, day = len(commits) - 1, ask.query.one("as_of"), ask.query.one("day")
    if day:
        known = ask.session.timeline.before(day, is_end=True)
        when = ask.session.engine.history.time(known) if known else None
        return max((at for at, each in enumerate(commits) if when and each.time <= when), default=0)
    numbers = (at for at, each in enumerate(commits) if asked and each.commit == asked)
    return next(numbers, min(ask.query.number("step", last), last))


def _links(ask: Ask, path: str, entry: Entry | None, text: str) -> dict[str, Any]:
    out, into = ask.chronicle.links(path)
    return {"out": out, "into": into}


def _edit(ask: Ask, path: str, entry: Entry | None, text: str) -> dict[str, Any]:
    return {"given": text, "ours": []}


_PARTS: Mapping[str, Callable[[Ask, str, Entry | None, str], dict[str, Any]]] = {
    "read": _read, "lines": _lines, "history": _history, "links": _links, "edit": _edit,
}  # fmt: skip


def change(ask: Ask) -> Page | Go:
    """Do what a form asks for with a file, if it still is the version that the person saw.

    If it is not, or on another error, show the page again with the reason and what the person had typed.
    """
    path, do, text = _path(ask), ask.form.needed("do"), ask.form.one("text")
    filled: dict[str, dict[str, Any]] = {
        "save": {"given": text}, "tags": {"tags": ask.form.one("tags"), "is_tagged": True},
    }  # fmt: skip
    kept = filled.get(do, {})
    if do not in _CHANGES or path == SETTINGS:
        raise InvalidArguments(f"there is no such action: {do}")
    try:
        return _CHANGES[do](ask, path, ask.form.one("version"))
    except Stale as error:
        ours = files_in(unified_diff(error.current, text.replace("\r\n", "\n"), path)) if do == "save" else []
        words, diffs = "it was changed since this page was made", {"stale": files_in(error.diff), "ours": ours}
        return _page_of(ask, path, _VIEW_OF[do], words, **diffs, **kept)
    except CrabmemError as error:
        return _page_of(ask, path, _VIEW_OF[do], error.text(), **kept)


def _save(ask: Ask, path: str, version: str) -> Go:
    if not version:  # there was no file: one made here would have a path that nobody checked
        raise NotFound(f"there is no {path} that was shown: a new fact has a form of its own")
    text, is_entry = ask.form.one("text"), ask.session.layout.is_entry(path)
    write = facts.rewrite_entry if is_entry else partial(changes.write_file, tool="edit")
    return Go("/fact", {"path": path}, [write(ask.session, path, text, if_version=version).commit])


def _rename(ask: Ask, path: str, version: str) -> Go:
    new, keeps = ask.form.needed("new"), bool(ask.form.one("keep_alias"))
    done = rename(ask.session, path, new, keep_alias=keeps, if_version=version)
    return Go("/fact", {"path": done.path}, [done.commit])


def _tag(ask: Ask, path: str, version: str) -> Go:
    """Give the fact the tags of the form and no others.

    The form has them on lines or with commas between them. A line that is a tag of the fact already is not split, even
    if it has a comma in it.
    """
    entry, lines = facts.get(ask.session, path), map(str.strip, ask.form.one("tags").splitlines())
    tags = [tag for line in lines for tag in ([line] if line in entry.tags else _split_tags(line))]
    text = with_tags(path, lenient_text(ask.session.read(path)) or "", [*dict.fromkeys(tags)])
    return Go("/fact", {"path": path}, [facts.rewrite_entry(ask.session, path, text, if_version=version).commit])


def _forget(ask: Ask, path: str, version: str) -> Go:
    return Go("/facts", {}, [facts.forget(ask.session, path, if_version=version).commit])


def _restore(ask: Ask, path: str, version: str) -> Go:
    """Bring a file back to how it was at a commit, and go to the path that it has then."""
    commit = ask.session.timeline.commit_at(ask.form.needed("commit"))
    done = revert.rollback(ask.session, commit, path, if_version=version)
    there = [each for each in done.paths if each not in done.removed]
    return Go("/fact", {"path": (there or [path])[0]}, [done.commit])


_CHANGES: Mapping[str, Callable[[Ask, str, str], Go]] = {
    "save": _save, "rename": _rename, "tags": _tag, "forget": _forget, "restore": _restore,
}  # fmt: skip
_VIEW_OF = {"save": "edit", "rename": "read", "tags": "read", "forget": "read", "restore": "history"}
