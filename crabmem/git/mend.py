"""Making a repository readable again after a crash of the machine left its head or branch in pieces."""

from collections.abc import Callable, Iterator
from pathlib import Path

from ..disk import fs
from ..errors import DamagedHistory
from ..text.hashes import short
from .kept import Keep
from .refs import MAIN, Head, Refs, is_ref
from .walk import Walk


def mend_head(git: Path, refs: Refs, keep: Keep, walk: Walk, is_whole: Callable[[str], bool]) -> str | None:
    """Make the head readable; return what was done, None when nothing had to be. `is_whole` tells whether a commit is.

    Raises:
        DamagedHistory: nothing readable is left to go on from.
    """
    try:
        head = refs.head()
        lost = head.commit is None and any(map(is_whole, refs.last_noted(head.ref)))
        if not lost and (head.commit is None or is_whole(head.commit)):
            return None
    except DamagedHistory:
        head = _repair_head(git, refs)
    for commit in _candidates(head.ref, refs, keep, walk):
        if is_whole(commit):
            refs.restore(head.ref, commit)
            return f"{head.ref} could not be read and was set to {short(commit)}"
    raise DamagedHistory(
        f"no commit of {git} can be read; the files are untouched. Move {git} away "
        "to begin a new history, or restore it from a backup"
    )


def _repair_head(git: Path, refs: Refs) -> Head:
    """Return the head, with a HEAD that cannot be read pointed at the main branch again."""
    file = git / "HEAD"
    text = fs.read(file)[0] if file.is_file() and not file.is_symlink() else b""
    ref = text.decode("ascii", "replace").removeprefix("ref: ").strip()
    if not is_ref(ref):
        ref = MAIN
        refs.restore("HEAD", f"ref: {MAIN}")
    return Head(ref, None)


def _candidates(ref: str, refs: Refs, keep: Keep, walk: Walk) -> Iterator[str]:
    """Yield commits to go on from, the likeliest first."""
    if readable := keep.readable(ref):
        yield readable
    yield from refs.last_noted(ref)
    yield from refs.last_noted("HEAD")
    kept = keep.tip()
    for commit in [kept] if kept else keep.rewritten():
        yield from walk.readable(commit)
