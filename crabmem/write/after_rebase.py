"""HEAD is on a branch again, as after a rebase: what was written on none is merged into the files again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..disk.scan import Scan
from ..git.commits import Note, identity
from ..git.history import History
from ..git.kept import Stretch
from ..text.hashes import SHORT_DIGITS
from ..workspace.layout import Layout

#: The words of the commit that has such writes on the branch.
KEPT_NOTE = Note("keep: what was written during a rebase or merge, or on no branch", identity("crabmem"))


def changes_to_bring_back(
    history: History, layout: Layout, waiting: Iterable[Stretch], scan: Scan, report: Callable[[str], None]
) -> dict[str, bytes | None] | None:
    """Return the new bytes of files, by path, so that what was written during a rebase is in them again.

    None when a file cannot be used yet: the next write has to look again. What we wrote is merged with what the file
    says now. Where the person changed the same lines theirs stay, and `report` is given the commit of ours.
    """
    from ..text.merge import merge

    changes = dict[str, bytes | None]()
    for path, (base, written, tip) in _written_meanwhile(history, layout, waiting).items():
        now, file = scan.data(path), scan.files.get(path)
        if (file and file.is_partial) or path in {item.path for item in scan.unusable}:
            return None
        before, after = (None if blob is None else history.blob(blob) for blob in (base, written))
        merged = merge(path, before, now, after)
        if merged.conflicts:
            report(
                f"{path} was written during your rebase or merge, or on no branch, and you changed the same lines: "
                f"yours stays; `crabmem show` with --as-of {tip[:SHORT_DIGITS]} shows the other"
            )
        elif merged.data != now:
            changes[path] = merged.data
    return changes


def _written_meanwhile(
    history: History, layout: Layout, waiting: Iterable[Stretch]
) -> dict[str, tuple[str | None, str | None, str]]:
    """The files that were written: what they said before on the way to the head, what then, and in which commit.

    Not those that the person changed: what they did in the middle of it, they took back themselves.
    """
    found = dict[str, tuple[str | None, str | None, str]]()
    for base, tip, before in waiting:
        behind = base if history.reaches(base) or not history.reaches(before) else before
        for commit in history.commits_between(base, tip):
            if history.commit(commit).tool is None:
                continue  # an outside edit that was recorded
            for path, _, written in history.changes.of(commit):
                if layout.is_kept(path):
                    found[path] = history.file(behind, path), written, commit
    return found
