"""Memory as files: read whole, searched section by section by the rules of the profile, written and moved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import TypeVar

from ..errors import InvalidArguments, NotFound, Unreadable
from ..git.commits import one_line
from ..recall.entries import PathFilter
from ..recall.ranking import check_question
from ..results import Changed, Document, Excerpt, FileSearch, Finding, Rewritten
from ..session import rules
from ..session.locate import places_at
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.comparison import lines_in
from ..text.credentials import warnings
from ..text.entry import decode
from ..text.hashes import version_of
from ..text.templates import template
from ..text.values import replace
from ..workspace.layout import Layout, is_elsewhere
from ..write.draft import Draft
from .changes import changed, diff_of, files_with, notices_of, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:  # few write whole trees
    from ..write.tree import Tree

T = TypeVar("T")
_identity, _overview = attrgetter("identity"), attrgetter("overview")


def overview(session: Session, at: str | None = None) -> Document:
    """`MEMORY.md`; an agent's own workspace without one shows its parent's.

    With `at`, as it was at a revision or time.
    """
    return _read_document(session, _overview, at)


def identity(session: Session, at: str | None = None) -> Document:
    """`Crab.md`; else the parent's, else the built-in text. With `at`, as it was at a revision or time."""
    document = _read_document(session, _identity, at)
    is_there = document.text or document.version or not session.view.allows(document.path)
    return document if is_there else Document(document.path, template("identity"), None)


def write_overview(session: Session, content: str, if_version: str | None = None) -> Changed:
    """Replace `MEMORY.md`; with `if_version`, only if it still is that version."""
    return write_file(session, session.layout.overview, content, "memory", if_version)


def blobs(session: Session) -> Mapping[str, str]:
    """The id of the blob of every file that crabmem keeps the history of, by path, as they are on disk now."""
    return session.look(lambda now: now.files)


def browse(session: Session, read: Callable[[Tree], T]) -> T:
    """Return what `read` makes of the files below `memory/`. `read` is called again if a file changes meanwhile."""
    return session.look(lambda now: read(now.tree()))


def rewrite(
    session: Session, what: str, work: Callable[[Tree], Mapping[str, str | None]], *, even_if_many: bool = False
) -> Rewritten:
    """Write, move or remove files below `memory/` in one commit: `work` returns the texts by path, None to remove one.

    `work` is called twice: once ahead, so that its texts are searched for credentials before others have to wait, and
    once while nobody else writes. If it raises, nothing is written. `what` becomes the subject of the commit,
    `memory: <what>`.

    Raises:
        InvalidArguments: a path or a text cannot be kept.
        HoldsSecret: there is a credential in a text, and the settings refuse that.
        Disabled: a line of a file that only grows would change, and `even_if_many` is not given.
        MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
    """
    screen = rules.screen(session)

    def decide(now: Snapshot) -> Draft[None]:
        files = files_with(session, now, work(now.tree()), screen, may_shrink=even_if_many)
        return Draft(files, rules.note(session, "memory", one_line(what)), None, even_if_many)

    done = session.write(decide, looks_ahead=True)
    return Rewritten(done.commit, tuple(done.after), notices_of(done, done.after), partial(diff_of, done))


def rewrite_file(
    session: Session, what: str, path: str, change: Callable[[str | None], str], if_version: str | None = None
) -> Changed:
    """Write the file at `path` below `memory/`. `change` is given its text (None: no file), and returns the new one.

    Otherwise as `rewrite`; with `if_version`, only if the file still is that version.
    """
    whole, screen = session.layout.memory_path(path), rules.screen(session)

    def decide(now: Snapshot) -> Draft[None]:
        tree = now.tree()
        file = now.scan.files[whole] if path in tree else None
        session.timeline.check_version(whole, file, if_version, now.view.allows)
        text = change(tree.text(path) if file else None)
        return Draft(
            files_with(session, now, {path: text}, screen), rules.note(session, "memory", one_line(what)), None
        )

    return changed(session, session.write(decide, looks_ahead=True), whole)


def secrets(session: Session, paths: Iterable[str]) -> list[Finding]:
    """Warnings about what looks like a credential in the files at `paths`, unless the settings want none."""
    texts = session.look(lambda now: {path: now.shown(path) for path in paths})
    rule = session.settings.secrets
    return [Finding("warning", path, words) for path in texts for words in warnings(texts[path], None, rule)]


def search(session: Session, query: str, limit: int | None = None, *, as_of: str | None = None) -> FileSearch:
    """The sections of files that answer `query` best, at most `limit` (None: as many as the profile says).

    The profile says which files are searched, how they are cut into sections, and how much more recent notes count.
    Folders elsewhere that the settings list and this user allowed are searched, too, as they are now. Words, `deploy*`
    and `"deploy key"` are as in `recall`, and so is meaning. With `as_of`, in the files as they were at that revision
    or time.

    Raises:
        InvalidArguments: a blank or endless query, or a limit out of its bounds.
        NotFound: there is no such revision or time.
    """
    check_question(query, limit, ())
    engine = session.engine
    engine.searcher.begin()  # loads the kept index before the first look: unchanged files are not read again
    found = session.look(lambda now: replace(search_in(session, now, query, limit), as_of=now.commit), as_of)
    engine.searcher.save()
    engine.meaning_of_sections.save()
    return found


def search_in(
    session: Session, now: Snapshot, query: str, limit: int | None, fits: PathFilter | None = None
) -> FileSearch:
    """`search` in a snapshot, of the files whose paths `fits` accepts (None: all); keeps no index."""
    from ..recall.file_search import Way, search_sections

    engine, way = session.engine, Way(session.profile.search, now.settings.language)
    sections = now.sections(way)
    ranker = engine.ranker_of_old(sections, now.settings, engine.meaning_of_sections)
    return search_sections(sections, query, limit, way, engine.today(), ranker and ranker(query), fits)


def excerpt(session: Session, path: str, start: int = 1, lines: int | None = None, at: str | None = None) -> Excerpt:
    """Return `lines` lines (None: all) from line `start` on, of a file that `search` looks into; `at` as for `get`.

    A file outside of the workspace goes by its whole path. Of such a file at most `recall_budget` characters are
    returned. The overview goes by `MEMORY.md` where it is an older `memory.md`, too.

    Raises:
        InvalidArguments: `search` does not look into that file, or a number is below 1.
        NotFound: there is no such file for a session of this kind, or no such revision or time.
        Unreadable: the path is not that of a readable text.
    """
    for name, value in (("the first line", start), ("the number of lines", lines)):
        if value is not None and value < 1:
            raise InvalidArguments(f"{name} must be at least 1, not {value}")
    if not searches(session, path):
        there = ", ".join(session.profile.search.files) or "none in this profile"
        raise InvalidArguments(f"{path or 'nothing'} is none of the files that are searched ({there})")
    overview = session.layout.overview
    if path != overview and path.casefold() == overview.casefold() and session.read(path, at) is None:
        path = overview

    def read(now: Snapshot) -> Excerpt:
        is_ours = not is_elsewhere(path)
        data = now.read(path) if is_ours else now.read_elsewhere(path, session.profile.search)
        if data is None:
            if is_ours and not now.is_past and now.view.allows(path) and now.scan.is_hidden(path):
                raise Unreadable(f"{path} is no regular file that could be read; `crabmem doctor` says why")
            is_of_old = now.is_past and now.view.allows(path)
            raise NotFound(
                f"there was no {path} at {at}" if is_of_old else f"there is no {path}; it may not have been written yet"
            )
        all_lines = lines_in(decode(path, data))
        shown = all_lines[start - 1 :][:lines]
        if not is_ours:
            shown = _first_lines(shown, now.settings.recall_budget)
        return Excerpt(path, start, tuple(shown), len(all_lines), version_of(data))

    return session.look(read, at)


def searches(session: Session, path: str) -> bool:
    """Whether a file at `path` would be one of those that are searched."""
    from ..text.patterns import matches  # late: it loads msgspec, which `status` has no use for

    if is_elsewhere(path):
        places, _ = places_at(session.root, session.settings, session.profile.search, session.engine.allowed)
        return any(place.may_hold(path) for place in places)
    return bool(path) and session.layout.is_kept(path) and matches(path, session.profile.search.files)


def _first_lines(lines: list[str], characters: int) -> list[str]:
    """The first lines that fit into so many characters; if the first does not fit, its beginning."""
    ends = list(accumulate(map(len, lines)))
    fitting = bisect_right(ends, characters)
    return lines[:fitting] or [line[:characters] for line in lines[:1]]


def notes(session: Session) -> list[str]:
    """The paths of the daily notes there are, oldest first."""
    return sorted(path for path in blobs(session) if session.layout.is_note(path))


def _read_document(session: Session, path_in: Callable[[Layout], str], at: str | None = None) -> Document:
    """A whole file. If there is none, the parent's, without a version: a write makes one of our own."""
    path = path_in(session.layout)
    data = session.read(path, at)
    text = decode(path, (session.read_of_parent(path_in, at) if data is None else data) or b"")
    return Document(path, text, None if data is None else version_of(data))
