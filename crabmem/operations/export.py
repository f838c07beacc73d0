"""Export: what memory holds, as files that other programs read, or as data."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from ..disk.export_folder import ExportFolder
from ..errors import InvalidArguments, Unreadable
from ..results import CREATOR, Commit, Exported, ExportedFile, LeftOut, json_of
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text import okf
from ..text.entry import Entry, decode, parse_entry
from ..text.links import Lookup, lookup_of, resolve
from ..text.slug import name_key, slug_of
from ..workspace.layout import ORDINARY, SETTINGS, Layout, is_contained
from .last_changed import changed_beside

#: The form of what is written: the files as they are, concepts of the Open Knowledge Format, or data.
Form: TypeAlias = Literal["markdown", "okf", "json"]
FORMS: tuple[Form, ...] = get_args(Form)
DATA = "memory.json"
_SETTINGS_STAY = "settings are of this workspace alone"
_NO_CONCEPT = "it is neither a fact nor a daily note, the overview or the identity"


@dataclass(frozen=True)
class _Page:
    """A file of memory: what is in it, and its `kind` as the Open Knowledge Format has it."""

    path: str
    text: str
    entry: Entry
    kind: str


@dataclass(frozen=True)
class _Found:
    """Memory as it is exported: `pages`, facts first, as links prefer them; `others` are files that are no pages.

    `changed` has, by path, the commit that wrote a page last, or when it changed on disk if no commit has it yet.
    `person` is the person's name in the settings.
    """

    layout: Layout
    pages: tuple[_Page, ...]
    others: Mapping[str, bytes]
    unreadable: tuple[LeftOut, ...]
    changed: Mapping[str, Commit | datetime]
    person: str


def export(
    session: Session,
    place: Path,
    form: Form = "markdown",
    *,
    force: bool = False,
    dry_run: bool = False,
    at: str | None = None,
) -> Exported:
    """Write what memory holds, now or at a revision or time, into the folder `place`, as far as the session sees it.

    Files of an earlier export are replaced, and removed where memory does not have them any more. With `force` other
    files that are in the way are overwritten. With `dry_run` nothing is written, and the answer says what would be.

    Raises:
        InvalidArguments: there is no such form, or something else is in the folder.
        Unwritable: the disk refuses.
    """
    if form not in FORMS:
        raise InvalidArguments(f"there is no form {form}; there are: {', '.join(FORMS)}")
    folder = ExportFolder(place, session.root)
    found = session.look(lambda now: _gather(session, now), at)
    files, sources, left_out = _WRITERS[form](found)
    states = folder.changes(files, force, form)
    if not dry_run:
        folder.write(files, states, form)
    names = {page.path: page.entry.name for page in found.pages}
    written = tuple(
        ExportedFile(file, state, sources.get(file), names.get(sources.get(file) or ""))
        for file, state in sorted(states.items())
    )
    unreadable = tuple(item for item in found.unreadable if form != "markdown" or item.file not in found.others)
    return Exported(str(place), form, dry_run, written, left_out, unreadable)


def data(session: Session, at: str | None = None) -> tuple[dict[str, Any], tuple[LeftOut, ...]]:
    """Memory, now or at a revision or time, as plain data for JSON, and the files that cannot be read."""
    found = session.look(lambda now: _gather(session, now), at)
    return _data(found), found.unreadable


def _gather(session: Session, now: Snapshot) -> _Found:
    """Read all files of a snapshot. A page that cannot be parsed is among `others`, and named in `unreadable`."""
    pages, others = list[_Page](), dict[str, bytes]()
    broken = {item.path: item.reason for item in now.entries.unreadable}
    for path in sorted(now.files):
        kind, content = _page_kind(now.layout, path), now.read(path) or b""
        try:
            if kind is None:
                others[path] = content
            else:
                pages.append(_Page(path, decode(path, content), parse_entry(path, content), kind))
        except Unreadable as error:
            others[path] = content
            broken.setdefault(path, error.problem)
    pages.sort(key=lambda page: (page.kind != okf.FACT, page.path))
    unreadable = tuple(LeftOut(path, reason.removeprefix(f"{path} ")) for path, reason in sorted(broken.items()))
    person = now.settings.person.partition("<")[0].strip() or "person"
    return _Found(now.layout, tuple(pages), others, unreadable, _changes(session, now, pages), person)


def _page_kind(layout: Layout, path: str) -> str | None:
    """The type of the page at a path, in terms of the Open Knowledge Format; None for a file that is no page."""
    if path in (layout.overview, layout.identity):
        return okf.OVERVIEW if path == layout.overview else okf.IDENTITY
    if layout.is_note(path):
        return okf.NOTE
    return okf.FACT if layout.is_entry(path) else None


def _changes(session: Session, now: Snapshot, pages: Iterable[_Page]) -> dict[str, Commit | datetime]:
    """The commit that last wrote each page, by path; or when it changed on disk, where no commit has it yet."""
    paths = [page.path for page in pages]
    beside = {} if now.is_past else changed_beside(session, now, paths)
    recorded = {path: now.files[path] for path in paths if path not in beside}
    found = session.engine.history.last_changes(recorded)
    if not session.view.is_whole:  # these commits have no paths, by which a view goes
        ids = {each.commit for each in found.values()}
        seen = {id: session.view.of_commit(session.engine.history.commit(id)) for id in ids}
        found = {path: seen[each.commit] or each for path, each in found.items()}
    return {**beside, **found}


# As files


#: An export: bytes by path, the file of memory that each is made of, and the files that are left out.
_Files: TypeAlias = tuple[dict[str, bytes], dict[str, str], tuple[LeftOut, ...]]


def _as_markdown(found: _Found) -> _Files:
    """All files but the settings, unchanged, at the paths that the ordinary layout gives them."""
    whole = {page.path: page.text.encode() for page in found.pages} | dict(found.others)
    settings = [LeftOut(path, _SETTINGS_STAY) for path in whole if path == SETTINGS]
    places = _places((path, _ordinary_path(found.layout, path)) for path in sorted(whole) if path != SETTINGS)
    return {place: whole[path] for path, place in places.items()}, _inverted(places), tuple(settings)


def _ordinary_path(layout: Layout, path: str) -> str:
    """The path, in the ordinary layout, of the file that this workspace's layout has at `path`."""
    if path in (layout.overview, layout.identity):
        return ORDINARY.overview if path == layout.overview else ORDINARY.identity
    if layout.is_note(path):
        return f"{ORDINARY.notes}/{path.rpartition('/')[2]}"
    return path if layout == ORDINARY or not layout.is_entry(path) else ORDINARY.entry_path(layout.label(path))


def _as_concepts(found: _Found) -> _Files:
    """A bundle of the Open Knowledge Format, with a list in each folder."""
    own = {page.path: page for page in found.pages}
    places = _places(((path, _concept_path(found.layout, page)) for path, page in own.items()), okf.is_reserved)
    lead = _link_resolver(found.pages, places)
    bundle = okf.Bundle(
        (place, own[path].entry.name, own[path].entry.aliases, own[path].kind in okf.NO_FACTS)
        for path, place in places.items()
    )
    files = {place: _concept_text(found, own[path], bundle, lead).encode() for path, place in places.items()} | _lists(
        {place: own[path].entry for path, place in places.items()}
    )
    return files, _inverted(places), _left_out(found)


def _left_out(found: _Found) -> tuple[LeftOut, ...]:
    """The files that are no pages, each with the reason; without unreadable ones, which are reported apart."""
    broken = {item.file for item in found.unreadable}
    left = (path for path in found.others if path not in broken)
    return tuple(LeftOut(path, _SETTINGS_STAY if path == SETTINGS else _NO_CONCEPT) for path in left)


def _concept_path(layout: Layout, page: _Page) -> str:
    """The path of a page in a bundle; of its slug, where the file's own name would not work on every system."""
    if page.kind == okf.FACT:
        path = f"{layout.label(page.path)}.md"
    else:
        path = f"{'notes/' if page.kind == okf.NOTE else ''}{page.path.rpartition('/')[2]}"
    return path if is_contained(path) else f"{slug_of(page.entry.name)}.md"


def _concept_text(found: _Found, page: _Page, bundle: okf.Bundle, lead: Callable[[str], str | None]) -> str:
    """The text of a page as a concept: with a header that says its origin, and links to places in the bundle."""
    changed = found.changed.get(page.path)
    origin = _origin(changed, found.person)
    if "generated" in page.entry.keys and not (isinstance(changed, Commit) and _is_agents(changed)):
        origin = None  # the key `generated` that a person or an import wrote stays until an agent writes the text anew
    text = okf.concept_of(page.entry, page.text, page.kind, origin)
    head, body = okf.parted(text)
    return head + bundle.with_links(body, lead)


def _link_resolver(pages: Iterable[_Page], places: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return a function from the target of a link in memory to its place in the bundle; None for a broken link."""
    lookup: Lookup = lookup_of((page.path, page.entry.name, page.entry.aliases) for page in pages)

    @cache
    def lead(target: str) -> str | None:
        path = resolve(target, lookup)
        return path and places[path]

    return lead


def _lists(concepts: Mapping[str, Entry]) -> dict[str, bytes]:
    """The `index.md` of each folder of a bundle, with its concepts and its folders, by path."""
    inside: dict[str, list[tuple[str, str, str]]] = {"": []}
    for path, entry in concepts.items():
        folder, _, file = path.rpartition("/")
        title = entry.keys.get("title")
        inside.setdefault(folder, []).append((file, str(title) if title else entry.name, entry.description))
        while folder:
            folder = folder.rpartition("/")[0]
            inside.setdefault(folder, [])
    return {
        f"{folder}/{okf.INDEX}".lstrip("/"): okf.index_of(folder, sorted(rows), _folders_in(folder, inside)).encode()
        for folder, rows in inside.items()
    }


def _folders_in(folder: str, every: Iterable[str]) -> list[str]:
    return sorted(each.rpartition("/")[2] for each in every if each and each.rpartition("/")[0] == folder)


def _as_json(found: _Found) -> _Files:
    text = json.dumps(_data(found), ensure_ascii=False, indent=2) + "\n"
    return {DATA: text.encode("utf-8", "backslashreplace")}, {}, _left_out(found)


_WRITERS: dict[str, Callable[[_Found], _Files]] = {
    "markdown": _as_markdown,
    "okf": _as_concepts,
    "json": _as_json,
}


def _places(wanted: Iterable[tuple[str, str]], is_kept: Callable[[str], bool] = lambda path: False) -> dict[str, str]:
    """A place for each path: the wanted one, numbered if it is taken on some system, or `is_kept` for other files."""
    places, taken = dict[str, str](), set[str]()
    for path, place in wanted:
        free = next(each for each in _numbered(place) if name_key(each) not in taken and not is_kept(each))
        places[path] = free
        taken.add(name_key(free))
    return places


def _numbered(path: str) -> Iterator[str]:
    """A path, and then the same with a number behind the file's name."""
    yield path
    stem, dot, ending = path.rpartition(".")
    yield from (f"{stem}-{number}{dot}{ending}" for number in count(2))


def _inverted(places: Mapping[str, str]) -> dict[str, str]:
    return {place: path for path, place in places.items()}


# As data


def _data(found: _Found) -> dict[str, Any]:
    whole = {page.kind: page.text for page in found.pages if page.kind in (okf.OVERVIEW, okf.IDENTITY)}
    pages = {kind: [page for page in found.pages if page.kind == kind] for kind in (okf.FACT, okf.NOTE)}
    return {
        "format": "crabmem",
        "version": 1,
        "identity": whole.get(okf.IDENTITY),
        "overview": whole.get(okf.OVERVIEW),
        "facts": [_fact_data(page.entry, found) for page in pages[okf.FACT]],
        "notes": [{"path": page.path, "content": page.text} for page in pages[okf.NOTE]],
    }


def _fact_data(entry: Entry, found: _Found) -> dict[str, Any]:
    changed = found.changed.get(entry.path)
    brief = json_of(changed.brief) if isinstance(changed, Commit) else None
    return {**json_of(entry), "keys": json_of(entry.keys), "changed": brief}


# Who made a text


def _origin(changed: Commit | datetime | None, person: str) -> okf.Origin | None:
    """The last author of a text and the time, in the form of the Open Knowledge Format; None if no change is known.

    `person` is the name for edits that no commit has yet.
    """
    if not isinstance(changed, Commit):
        return okf.Origin(f"human:{person}", changed) if changed else None
    if changed.tool == "import":
        return okf.Origin("process:crabmem-import", changed.time)  # who imported a text need not be its author
    if changed.is_person:
        return okf.Origin(f"human:{changed.author}", changed.time)
    name = changed.agent or changed.author
    return okf.Origin(f"process:{CREATOR}" if name == CREATOR else f"{name}/{CREATOR}", changed.time)


def _is_agents(commit: Commit) -> bool:
    return not commit.is_person and commit.tool != "import"
