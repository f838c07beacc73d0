"""Provenance: who wrote each line of a file, and who wrote the facts that recall found."""

from ..errors import NotFound
from ..git.timeline import Timeline
from ..results import Commit, Line, Provenance, Recall, authors
from ..session import scopes
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.commands import command
from ..text.hashes import short
from ..text.values import replace
from .last_changed import changed_beside
from .reading import path_of


def blame(session: Session, name: str) -> tuple[Line, ...]:
    """The lines of an entry's file as it is on disk, or of MEMORY.md or Crab.md, with who wrote each and when.

    Raises:
        NotFound: there is no such entry or file; for a forgotten one the message names the commit that removed it.
    """
    path = path_of(session, name)
    data = session.read(path)
    if data is None:
        raise NotFound(_gone(session.timeline, path, name))
    lines = data.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    owners = session.engine.history.owners(data, path)
    texts = (line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines)
    return tuple(
        Line.of(number, text, owner) for number, (text, owner) in enumerate(zip(texts, owners, strict=True), 1)
    )


def owners(session: Session, path: str) -> dict[int, Line]:
    """The lines of the file at `path` by their numbers, with who wrote each; {} if there is no file."""
    try:
        return {line.number: line for line in blame(session, path)}
    except NotFound:
        return {}


def _gone(timeline: Timeline, path: str, name: str) -> str:
    last = next(timeline.commits(path, None, None), None) if timeline.head() else None
    if last is None:
        return f"there is no {path} yet"
    what = f"{name} was removed in {short(last.commit)} ({last.time:%Y-%m-%d %H:%M}, {last.author})"
    return f"{what}; `{command('log -p', name)}` shows who wrote what"


def with_provenance(session: Session, now: Snapshot, found: Recall) -> Recall:
    """The answer `found` with the `provenance` of each hit, as far as this session may know it."""
    known = dict[str, Provenance | None]()
    for scope in {hit.scope for hit in found.hits}:
        one, moment = (scopes.scope(session, scope), now.others.get(scope, now)) if scope else (session, now)
        hits = {hit.entry.path: hit.address for hit in found.hits if hit.scope == scope}
        written = one.engine.history.writers(list(hits), moment.commit)
        beside = {} if moment.is_past else changed_beside(one, moment, written)
        for path, commits in written.items():
            known[hits[path]] = one.view.of_provenance(_provenance(commits, path not in beside))
    return replace(found, hits=tuple(replace(hit, provenance=known[hit.address]) for hit in found.hits))


def _provenance(commits: list[Commit], is_recorded: bool) -> Provenance:
    first, last = (commits[-1], commits[0]) if commits else (None, None)
    return Provenance(first, last, authors(commits), any(each.is_person for each in commits), is_recorded)
