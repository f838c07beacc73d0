"""What is odd about the history: its objects, its branch, what a crash or another program left behind."""

import math
import os
import stat
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shlex import quote

from ...disk import state
from ...git.history import History
from ...git.reach import Stored
from ...git.timeline import Timeline
from ...results import Finding
from ...text.credentials import credentials_in
from ...text.edit import lenient_text
from ...text.hashes import short
from ...text.words import counted
from ...write.proposals import Proposals
from ..proposals import is_of_sync
from .patient import Patient, error, info, warning

_NAMED = 10
_REPAIRS = 20
_TELL_EVERY = 500
_STALE_AFTER = 600
LEFT_LOCK = "left by a write that was interrupted: the next write clears that away, as does `crabmem doctor --fix`"
_FILES_OF_GIT = ("HEAD", "config", "index", "packed-refs", "shallow")
# Clocks that are set over the network differ by less.
_SKEW = timedelta(hours=1)


def objects(patient: Patient) -> Iterator[Finding]:
    """Whether each object that a reference reaches is there and undamaged, and holds no secret.

    Objects that files on disk have, too, are searched for secrets by `files.secrets`.
    """
    if not patient.engine.history.place.exists():
        yield info(".git", "there is no history yet; the first write begins one")
        return
    broken, known = 0, {file.blob for file in patient.scan.files.values()}
    for count, item in enumerate(patient.engine.history.health().everything(), 1):
        if item.data is None:
            broken += 1
            if broken <= _NAMED:
                yield _broken(item, item.oid in known)
        elif item.path == item.oid:  # in the record of purges: ids alone, up to half a million, so no secrets
            pass
        elif item.kind == "blob" and item.oid not in known and patient.wants_secrets_named:
            yield from _secrets(item)
        if count % _TELL_EVERY == 0:
            patient.progress(count)
    if broken > _NAMED:
        yield error(".git", f"{broken - _NAMED} more objects of the history are missing or broken")


def _broken(item: Stored, is_on_disk: bool) -> Finding:
    """The finding of a missing or broken object; one that a file on disk still holds can be stored again."""
    where = item.path or ".git"
    if is_on_disk:
        return error(where, "its text is missing from the history, and on disk; `crabmem doctor --fix` puts it back")
    what = f"the {item.kind} {short(item.oid)} of the history is missing or broken"
    return error(where, f"{what}; what is on disk now is not touched. Fetch it from a clone or a backup of .git")


def _secrets(item: Stored) -> Iterator[Finding]:
    for found in credentials_in(lenient_text(item.data) or ""):
        yield warning(
            item.path,
            f"an older version in the history holds what looks like a secret: {found.masked}; "
            "change it where it was issued",
        )


def branch(patient: Patient) -> Iterator[Finding]:
    """Whether the newest commit has what is on disk, and the branch and Git's index take the next write."""
    history = patient.engine.history
    if not history.place.exists():
        return
    for path in history.health().unreadable_files():
        yield error(path, "Git cannot read it; restore it from a backup, or delete it and look at `git status`")
    yield from position(history)
    if not history.branch.in_progress() and not history.index.is_plain():
        yield warning(
            ".git/index",
            "it is in a form that crabmem does not write, or holds files that are not merged: your next `git commit` "
            "would take back what was written since; `git sparse-checkout disable`, or `git update-index "
            "--no-split-index`, makes it a plain one",
        )
    held = patient.engine.writer.lost_outside(patient.scan)
    if held:
        yield warning(patient.engine.workspace.layout.entries[0], held.words)
    for path, file in sorted(patient.engine.writer.outside_edits(patient.scan).items()):
        if held and path in held.paths:
            continue
        state = "changed" if file else "removed"
        yield info(path, f"{state} outside and not yet recorded; the next write does that")


def position(history: History) -> Iterator[Finding]:
    """Whether the branch can take the next commit and has what was written before. Quick: `status` asks it, too."""
    if doing := history.branch.in_progress():
        yield info(".git", f"a {doing} of yours is not finished; what agents write waits in refs/crabmem/keep")
    elif not all(history.reaches(each.tip) for each in history.recording.waiting()):
        words = "what was written during your rebase or merge, or on no branch, is not in the files yet"
        yield warning(".git", f"{words}; the next write brings it back")
    if not doing and history.branch.is_detached():
        switch = f"`git -C {quote(str(history.place.root))} switch {history.branch.short_name()}`"
        words = f"HEAD is detached, so writes are on no branch; after {switch} the next write brings them there"
        yield warning(".git", words)


def times(patient: Patient) -> Iterator[Finding]:
    """Whether commits have times in the future: the clock of the machine that made them was wrong."""
    history = patient.engine.history
    if not history.place.exists() or not (ahead := history.authored_after(patient.now + _SKEW)):
        return
    last = history.commit(ahead[0])
    yield warning(
        ".git",
        f"{counted(len(ahead), 'commit')} made by a clock that was ahead, the newest {short(last.commit)} by "
        f"{last.author}, which says {last.time:%Y-%m-%d %H:%M}; check the clock of that machine. What came after keeps "
        "its own time, and --as-of and --since go by that",
    )


def identity(patient: Patient) -> Iterator[Finding]:
    """Whether an agent that may not write `Crab.md` did so with a tool of its host, where crabmem cannot refuse."""
    if not patient.engine.history.ownership.holds_memory() or patient.settings().soul_editable:
        return
    layout = patient.engine.workspace.layout
    path = layout.identity
    newest = next(Timeline(patient.engine.history, layout, lambda: patient.now).commits(path, None, None), None)
    if newest and newest.tool == "write":
        yield warning(
            path,
            f"{newest.author} wrote it in {short(newest.commit)} with a tool of its host, although soul_editable is "
            f"false; `crabmem undo {short(newest.commit)}` takes that back",
        )


def proposals(patient: Patient) -> Iterator[Finding]:
    """How many proposals wait for the person, by file, and of which files another machine has another text."""
    layout = patient.engine.workspace.layout
    if words := patient.engine.history.aside.unread():
        yield warning(".git", words)
    found = Proposals(patient.engine.history, layout, layout.is_kept).all()
    waiting = Counter(each.path for each in found if not is_of_sync(each))
    for path, count in sorted(waiting.items()):
        yield info(path, f"{counted(count, 'proposal')} to change it; `crabmem review` shows what waits for you")
    for path in sorted({each.path for each in found if is_of_sync(each)}):
        yield info(path, f"another machine has another text of it; `crabmem review resolve {path}` shows both")


def repository(patient: Patient) -> Iterator[Finding]:
    """Whether the files and folders that Git and crabmem read in `.git` are regular ones, and no object is borrowed."""
    git, private = patient.engine.workspace.git, patient.engine.workspace.private
    for place in [git / name for name in _FILES_OF_GIT] + _listed(private):
        is_folder = place.parent == private and (place.name in state.FOLDERS or place.suffix == ".d")
        try:
            mode = place.lstat().st_mode
        except OSError:
            continue
        if not (stat.S_ISDIR(mode) if is_folder else stat.S_ISREG(mode)):
            wanted = "folder" if is_folder else "regular file"
            yield error(_path(place, patient), f"it is no {wanted}, so it is not read, and stops writes: move it away")
    alternates = git / "objects/info/alternates"
    if os.path.lexists(alternates):
        yield warning(
            _path(alternates, patient),
            "it borrows objects of another repository, which crabmem does not read: `git repack -a -d`, and remove it",
        )


def _path(file: Path, patient: Patient) -> str:
    return file.relative_to(patient.engine.workspace.root).as_posix()


def leftovers(patient: Patient) -> Iterator[Finding]:
    """Interrupted writes, locks and recovered texts that a crash left, locks of running Git processes, and repairs."""
    workspace = patient.engine.workspace
    if patient.engine.writer.is_interrupted():
        yield info(f"{state.FOLDER}/{state.JOURNAL}", "a write was interrupted; the next one finishes it")
    for what in patient.engine.writer.begun_elsewhere():
        yield warning(
            state.FOLDER,
            f"{what} was begun by another user or on another machine and not ended; if you trust this folder, "
            "`crabmem doctor --fix` finishes it",
        )
    left = patient.engine.history.health().left_locks()
    for lock in left:
        yield warning(_path(lock, patient), f"Git waits for it, {LEFT_LOCK}")
    for lock in patient.engine.history.health().locks():
        if lock not in left:
            yield _lock(lock, workspace.root, patient.now.timestamp())
    for file in _listed(workspace.private / state.RECOVERED):
        yield warning(str(file), "text of a save that a crash left over; look at it, then delete it")
    for line in patient.engine.writer.repairs()[-_REPAIRS:]:
        yield info(f"{state.FOLDER}/{state.REPAIRS}", line)


def _lock(lock: Path, root: Path, now: float) -> Finding:
    path = lock.relative_to(root).as_posix()
    if now - _written_at(lock) < _STALE_AFTER:
        return info(path, "another Git process is at work")
    return warning(path, f"another Git process holds it since long; if none runs, a crash left it: `rm {lock}`")


def _written_at(file: Path) -> float:
    """When a file was written; infinity if it is gone, so that it counts as new."""
    try:
        return file.lstat().st_mtime
    except FileNotFoundError:
        return math.inf


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
