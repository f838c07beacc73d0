"""Links among the files of a workspace: where each leads, and an entry renamed so that they lead there still."""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from ..errors import Inapplicable, Unreadable
from ..git.commits import Note, moving
from ..recall.catalog import Listing
from ..recall.names import at_path, below_folder, place_for
from ..results import Links, Reference, Renamed
from ..session import rules
from ..session.scopes import addressed, check_name
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.edit import lenient_text
from ..text.entry import Entry, Fact, checked, with_name
from ..text.links import ALIAS, FILE, NAME, Lookup, is_linkable, link_to, redirect, resolve
from ..text.links import links as links_in
from ..text.slug import free_slug, name_key, slug_of
from ..text.values import replace
from ..write.draft import Draft
from .changes import diff_of
from .reading import get, whole_file
from .uses import follow_rename


def links(session: Session, name: str | None = None) -> Links:
    """The `[[links]]` out of an entry (or MEMORY.md, Crab.md) and into it; without a name, all that lead nowhere.

    A link leads to a file's name, else to a name, else to an alias. Every file is read for that.

    Raises:
        NotFound: there is no such entry.
    """

    def read(now: Snapshot) -> tuple[tuple[Reference, ...], int, str | None]:
        found = tuple(references(now.whole.listing, now.view.allows))
        return found, len(now.entries.unreadable), name and whole_file(now, name)

    found, unreadable, path = session.look(read)
    if name is None:
        return Links(None, (), (), tuple(link for link in found if link.to is None), unreadable)
    path = path or get(session, name).path
    own = tuple(link for link in found if link.path == path)
    into = tuple(link for link in found if link.to == path != link.path)
    return Links(path, own, into, tuple(link for link in own if link.to is None), unreadable)


def rename(
    session: Session,
    old: str,
    new: str,
    *,
    keep_alias: bool = False,
    dry_run: bool = False,
    if_version: str | None = None,
) -> Renamed:
    """Give the entry called `old` another name, and lead every `[[link]]` to it there, all in one commit.

    Its file moves along when it is called by the old name; history follows, and so does how often it was used. The
    old name is none of its names any more, unless `keep_alias` says so. `old` may be an address, `me:Editor`. With
    `dry_run` nothing is written, with `if_version` only while the entry still is that version.

    Raises:
        NotFound: there is no such entry.
        Stale: the entry is not at `if_version` any more.
        Unreadable: there is none, and a file that may be it cannot be read.
        InvalidArguments: the new name cannot be one, is an address as `me:Editor`, or another entry answers to it.
    """
    check_name(session, new, "`crabmem move` moves a fact there")
    session, old = addressed(session, old)
    name = checked(Fact(new, "", "")).name
    screen = rules.screen(session, name)

    def decide(now: Snapshot) -> Draft[tuple[Entry, Renaming]]:
        entry = now.get(old)
        session.timeline.check_version(entry.path, now.scan.files.get(entry.path), if_version, now.view.allows)
        plan = renaming(now.whole.listing, entry, name, keep_alias, rules.kept_from_actor(session), now.view.allows)
        screen.refuse_new(name, lenient_text(now.read(entry.path)))
        return Draft(plan.files, _renaming_note(session, entry, name, plan.path), (entry, plan))

    done = session.write(decide, dry_run=dry_run)
    entry, plan = done.result
    if done.commit:
        follow_rename(session, entry.path, plan.path)
    paths = tuple(path for path, data in done.after.items() if data != done.before[path])
    waits = next(iter(done.waits.values()), None)
    return Renamed(name, entry.name, plan.path, entry.path, done.commit, paths, plan.left, diff_of(done), waits)


def _renaming_note(session: Session, entry: Entry, name: str, path: str) -> Note:
    note = rules.note(session, "rename", f"{entry.name} to {name}")
    keys = (("Entry", name), ("Entry", entry.name), moving(entry.path, path))
    return replace(note, trailers=(*note.trailers, *keys))


@dataclass(frozen=True)
class Renaming:
    """What a rename writes: the entry is then at `path`; links in the files at `left` will not lead there."""

    path: str
    files: dict[str, bytes | None]
    left: tuple[str, ...]


def references(listing: Listing, sees: Callable[[str], bool]) -> Iterator[Reference]:
    """Every link to a note in the files that `sees` accepts, in their order; None is where those lead that lead
    nowhere, or to a file that it does not accept."""
    lookup = lookup_in(listing)
    where = cache(lambda target: resolve(target, lookup))
    for path, text in _texts(listing):
        for link in links_in(text) if sees(path) else ():
            if not link.is_attachment:
                to = where(link.target)
                yield Reference(path, link.target, to if to and sees(to) else None)


def lookup_in(listing: Listing) -> Lookup:
    """Who is called what: entries, and by their file names all Markdown."""
    others: dict[str, list[str]] = {}
    for path in sorted(listing.scan.files):
        if path.endswith(".md") and (path in listing.notes or path not in listing.versions):
            others.setdefault(name_key(PurePosixPath(path).stem), []).append(path)

    def lookup(kind: str, key: str) -> list[str]:
        entries = listing.index.labelled(f"{kind} {key}")
        return [*entries, *others.get(key, ())] if kind == FILE else entries

    return lookup


def renaming(
    listing: Listing, entry: Entry, name: str, keep_alias: bool, untouchable: Set[str], sees: Callable[[str], bool]
) -> Renaming:
    """What calling `entry` by another name, that can be one, writes. Links that lead somewhere lead there after it.

    Who asks `sees` some of the entries: of others they are told no more than that the name is taken.

    Its file moves to the slug of the name if it was called by that of the old one.

    Raises:
        Inapplicable: another entry answers to that name.
        Unwritable: the name cannot be set in its file.
    """
    _check_free(listing, entry, name, sees)
    path = _new_path(listing, entry, name)
    lookup = lookup_in(listing)
    new = _redirection(entry, name, path, lookup, _lookup_after(entry, name, path, lookup))
    files, left = dict[str, bytes | None](), list[str]()
    for each, text in _texts(listing):
        own = each == entry.path
        base = (
            with_name(each, text, name, PurePosixPath(path).stem, entry.name if keep_alias else None) if own else text
        )
        changed = redirect(base, new)
        if own:
            files |= {each: None, path: changed.encode()}
        elif changed != text and each in untouchable:
            left.append(each)
        elif changed != text:
            files[each] = changed.encode()
    return Renaming(path, files, tuple(left))


def _check_free(listing: Listing, entry: Entry, name: str, sees: Callable[[str], bool]) -> None:
    key = name_key(name)
    halves = [half for half in listing.being_written if key in (name_key(half.name), name_key(half.slug))]
    others = [*halves, *(other for kind in (NAME, FILE, ALIAS) for other in listing.having(f"{kind} {key}"))]
    files = listing.having(f"{FILE} {name_key(PurePosixPath(name.removesuffix('.md')).name)}")
    others += [*at_path(files, name), *below_folder(files, name)]
    if other := next((other for other in others if other.path != entry.path), None):
        if not sees(other.path):
            raise Inapplicable(f"{name} is taken; choose another name")
        raise Inapplicable(f"{name} is what {other.path} answers to already; choose another name, or forget that")


def _new_path(listing: Listing, entry: Entry, name: str) -> str:
    slug = slug_of(entry.name)
    if entry.slug not in (slug, free_slug(entry.name, {name_key(slug)})) or slug_of(name) == slug:
        return entry.path
    return place_for(name, listing, folder=entry.path.rpartition("/")[0])


def _lookup_after(entry: Entry, name: str, path: str, lookup: Lookup) -> Lookup:
    """Who will be called what: the old name, even if it is kept as an alias, is not what links should say."""
    own = {
        FILE: {name_key(PurePosixPath(path).stem)},
        NAME: {name_key(name)},
        ALIAS: set(map(name_key, entry.aliases)),
    }

    def after(kind: str, key: str) -> list[str]:
        others = [other for other in lookup(kind, key) if other != entry.path]
        return sorted([*others, path]) if key in own[kind] else others

    return after


def _redirection(entry: Entry, name: str, path: str, lookup: Lookup, after: Lookup) -> Callable[[str], str | None]:
    """For a target what to write instead, so that it leads where it led; None where it does so anyway."""
    stem = PurePosixPath(path).stem

    @cache
    def new(target: str) -> str | None:
        to = resolve(target, lookup)
        goal = path if to == entry.path else to
        if goal is None or resolve(target, after) == goal:
            return None
        forms = _in_the_form_of(target, entry, name, stem) if to == entry.path else ()
        fit = (form for form in forms if is_linkable(form) and resolve(form, after) == goal)
        return next(fit, None) or link_to(goal, name, after)

    return new


def _in_the_form_of(target: str, entry: Entry, name: str, stem: str) -> tuple[str, ...]:
    """The new name where the old one stood, the new file name where its own stood, with folders and ending."""
    folder, slash, last = target.rpartition("/")
    bare, ending = (last[:-3], last[-3:]) if last[-3:].lower() == ".md" else (last, "")
    as_file = f"{folder}{slash}{stem}{ending}"
    if target == entry.name or (bare != entry.slug and name_key(target) == name_key(entry.name)):
        return name, as_file
    return as_file, name


def _texts(listing: Listing) -> Iterator[tuple[str, str]]:
    """The texts of all files that are whole and Markdown, in the order of their paths."""
    for path, file in sorted(listing.scan.files.items()):
        if path.endswith(".md") and not file.is_partial:
            try:
                text = (listing.scan.data(path) or b"").decode("utf-8")
            except (UnicodeDecodeError, Unreadable):
                continue
            yield path, text
