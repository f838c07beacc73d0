"""Where what memory says comes from: who wrote the lines of a file and the facts, and when these last changed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from ..disk.scan import Scan
from ..disk.stat import changed_ns
from ..errors import NotFound
from ..git.history import History
from ..git.timeline import Timeline
from ..recall.ranking import PathFilter
from ..results import Commit, Hit, Line, Provenance, authors
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.hashes import short


def blamed(history: History, timeline: Timeline, path: str, name: str, data: bytes | None) -> tuple[Line, ...]:
    """The lines of a file as it is on disk, with the commit that each came with.

    Raises:
        NotFound: there is no such file any more; the message names the commit that removed it.
    """
    if data is None:
        raise NotFound(_gone(timeline, path, name))
    lines = data.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    owners = history.owners(data, path)
    texts = (line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines)
    return tuple(
        Line.of(number, text, owner) for number, (text, owner) in enumerate(zip(texts, owners, strict=True), 1)
    )


def _gone(timeline: Timeline, path: str, name: str) -> str:
    last = next(timeline.commits(path, None, None), None) if timeline.head() else None
    if last is None:
        return f"there is no {path} yet"
    what = f"{name} was removed in {short(last.commit)} ({last.time:%Y-%m-%d %H:%M}, {last.author})"
    return f'{what}; `crabmem log -p "{name}"` shows who wrote what'


def with_provenance(hits: Sequence[Hit], history: History, scan: Scan | None, at: str | None) -> tuple[Hit, ...]:
    """The hits, each with where it comes from; those of a commit, or of a look at the disk."""
    known = provenances([hit.entry.path for hit in hits], history, scan, at)
    return tuple(replace(hit, provenance=known[hit.entry.path]) for hit in hits)


def provenances(
    paths: Sequence[str], history: History, scan: Scan | None, at: str | None = None
) -> dict[str, Provenance]:
    """Where the entry at each of `paths` comes from; as it was at a commit, or is in a look at the disk."""
    written = history.writers(paths, at)
    head = _head(history) if scan else {}
    return {
        path: _provenance(commits, scan is None or head.get(path) == scan.blob(path))
        for path, commits in written.items()
    }


def _head(history: History) -> Mapping[str, str]:
    """The files of the newest commit, blobs by path."""
    return history.files(history.head()) if history.exists() else {}


def _provenance(commits: list[Commit], is_recorded: bool) -> Provenance:
    first, last = (commits[-1], commits[0]) if commits else (None, None)
    return Provenance(first, last, authors(commits), any(each.is_person for each in commits), is_recorded)


# When facts changed


def last_changed(session: Session) -> dict[str, datetime]:
    """When each entry last changed, by path, the newest first; one that was only touched or checked out did not."""
    return session.look(lambda now: last_changed_in(session, now, now.entries.paths))


def last_changed_in(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When the file at each of `paths` last changed: by history, and by the disk where it is not as that has it."""
    paths = list(paths)
    beside = changed_beside(session, now, paths)
    recorded = {path: now.scan.files[path].blob for path in paths if path not in beside}
    found = beside | {path: commit.time for path, commit in session.engine.history.last_changes(recorded).items()}
    return dict(sorted(found.items(), key=lambda item: item[1], reverse=True))


def changed_beside(session: Session, now: Snapshot, paths: Iterable[str]) -> dict[str, datetime]:
    """When those of `paths` changed on disk that are not there as the newest commit has them."""
    head = _head(session.engine.history)
    beside = (path for path in paths if path not in head or head[path] != now.scan.blob(path))
    return {path: changed_on_disk(session, now, path) for path in beside}


def changed_on_disk(session: Session, now: Snapshot, path: str) -> datetime:
    """When the status of a file changed, as an edit does, and a checkout too; now, when it is gone meanwhile.

    For all facts at once before a conversation, where a walk through history would take too long.
    """
    file = now.scan.files.get(path)
    return datetime.fromtimestamp(changed_ns(file.mark) / 1e9, UTC) if file else session.engine.clock()


def changed_within(session: Session, now: Snapshot, since: str | None, until: str | None) -> PathFilter | None:
    """Tells of a path whether what is there was not yet at `since`, and already at `until`; None for neither.

    What was changed and changed back in between did not change. In a snapshot of a commit, what came after it is not
    known.
    """
    if since is None and until is None:
        return None
    timeline = session.timeline
    before = {} if since is None else timeline.state_since(since, now.commit)
    after = None if until is None else timeline.state_since(until, now.commit, is_end=True)

    def fits(path: str) -> bool:
        own = now.entries.blob(path)
        return before.get(path) != own and (after is None or after.get(path) == own)

    return fits
