"""Links among the files of a workspace: where each leads, and renaming an entry without breaking the links to it."""

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
    """Give the entry called `old` another name, and change every `[[link]]` to it, all in one commit.

    If its file is called by the old name, it is renamed, too; history and counts of uses follow it. With `keep_alias`
    the old name becomes an alias. `old` may be an address, `me:Editor`. With `dry_run` nothing is written; with
    `if_version` the entry must still be that version.

    Raises:
        NotFound: there is no such entry.
        Stale: the entry is not at `if_version` any more.
        Unreadable: no entry has that name, and a file that may be the entry cannot be read.
        InvalidArguments: the new name is not valid, is an address as `me:Editor`, or another entry answers to it.
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
    return Renamed(name, entry.name, plan.path, entry.path, done.commit, paths, plan.left, diff_of(done), done.proposal)


def _renaming_note(session: Session, entry: Entry, name: str, path: str) -> Note:
    """The message of a rename, with trailers by which the history finds the entry under both names and paths."""
    note = rules.note(session, "rename", f"{entry.name} to {name}")
    keys = (("Entry", name), ("Entry", entry.name), moving(entry.path, path))
    return replace(note, trailers=(*note.trailers, *keys))


@dataclass(frozen=True)
class Renaming:
    """The writes of a rename: `files` by path; the entry is then at `path`. Links in the files at `left` will break, as
    the actor may not change these."""

    path: str
    files: dict[str, bytes | None]
    left: tuple[str, ...]


def references(listing: Listing, sees: Callable[[str], bool]) -> Iterator[Reference]:
    """Yield every link in the files that `sees` accepts, in the order of their paths, without attachments.

    `to` is None for a link that leads nowhere, or to a file that `sees` does not accept.
    """
    lookup = lookup_in(listing)
    where = cache(lambda target: resolve(target, lookup))
    for path, text in _texts(listing):
        for link in links_in(text) if sees(path) else ():
            if not link.is_attachment:
                to = where(link.target)
                yield Reference(path, link.target, to if to and sees(to) else None)


def lookup_in(listing: Listing) -> Lookup:
    """The lookup that resolves links: entries by file name, name and alias, other Markdown by its file name alone."""
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
    """Return what renaming `entry` to the valid `name` writes. Each link leads to the same file as before.

    The entry's file gets the slug of the new name if it had that of the old one. Files at `untouchable` stay as they
    are. `sees` says which entries the caller may see: of a hidden one an error says only that the name is taken.

    Raises:
        Inapplicable: another entry answers to `name`.
        Unwritable: the name cannot be set in the entry's file.
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
    """Refuse a name that another entry, also one half written, has as name, alias, file name or end of its path.

    Raises:
        Inapplicable: another entry answers to `name`.
    """
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
    """The path after a rename: the same where the file is not called by the old name, or both names have one slug."""
    slug = slug_of(entry.name)
    if entry.slug not in (slug, free_slug(entry.name, {name_key(slug)})) or slug_of(name) == slug:
        return entry.path
    return place_for(name, listing, folder=entry.path.rpartition("/")[0])


def _lookup_after(entry: Entry, name: str, path: str, lookup: Lookup) -> Lookup:
    """The lookup after a rename, without the old name, even if it is kept as an alias: links are to say the new one."""
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
    """Return a function from the target of a link to the new target that leads to the same file; None to keep it."""
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
    """Return the new name and the new file name (with the folders and ending of `target`), first what `target` was."""
    folder, slash, last = target.rpartition("/")
    bare, ending = (last[:-3], last[-3:]) if last[-3:].lower() == ".md" else (last, "")
    as_file = f"{folder}{slash}{stem}{ending}"
    if target == entry.name or (bare != entry.slug and name_key(target) == name_key(entry.name)):
        return name, as_file
    return as_file, name


def _texts(listing: Listing) -> Iterator[tuple[str, str]]:
    """Yield path and text of all Markdown files, by path; not those being written, or not readable as UTF-8."""
    for path, file in sorted(listing.scan.files.items()):
        if path.endswith(".md") and not file.is_partial:
            try:
                text = (listing.scan.data(path) or b"").decode("utf-8")
            except (UnicodeDecodeError, Unreadable):
                continue
            yield path, text
