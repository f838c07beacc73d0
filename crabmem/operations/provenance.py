"""Who wrote what memory says: the lines of a file, and the facts that recall found."""

from collections.abc import Sequence

from msgspec.structs import replace

from ..disk.scan import Scan
from ..errors import NotFound
from ..git.history import History
from ..git.timeline import Timeline
from ..results import Commit, Hit, Provenance
from ..text.hashes import short
from .traces import Line, authors


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
    head = history.files(history.head()) if scan and history.exists() else {}
    return {
        path: _provenance(commits, scan is None or head.get(path) == scan.blob(path))
        for path, commits in written.items()
    }


def _provenance(commits: list[Commit], is_recorded: bool) -> Provenance:
    first, last = (commits[-1], commits[0]) if commits else (None, None)
    return Provenance(first, last, authors(commits), any(each.is_person for each in commits), is_recorded)
