"""What is odd about where a workspace lies: around it, who may read it, how much room there is, what is cached, and
whether it is in step with other machines.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from ...disk import fs
from ...disk.pause import pause_words, read_pause
from ...disk.stat import packed
from ...errors import CrabmemError
from ...results import Finding
from ...sync.standing import state, trouble
from ...text.hashes import blob_id
from ...workspace.layout import SETTINGS
from ...workspace.workspace import PROJECTS
from ...write.beside import left
from ..syncing import left_words
from .patient import Patient, error, info, warning

_LITTLE = 100_000_000
_HARDLY_ANY = 5_000_000
_OTHERS = 0o077


def surroundings(patient: Patient) -> Iterator[Finding]:
    """Whether the workspace lies in another repository, or something else has the place of one of its folders."""
    workspace = patient.engine.workspace
    around = next((folder for folder in workspace.root.parents if os.path.exists(folder / ".git")), None)
    is_of_person = workspace.root.parent.name == PROJECTS and around == workspace.root.parent.parent
    if around and around != workspace.around and not is_of_person:
        yield warning(
            "",
            f"the workspace lies inside the repository {around}, which will not hold its files: "
            "keep it elsewhere, or list it in that repository's .gitignore",
        )
    for path in workspace.layout.folders:
        if os.path.islink(file := workspace.file(path)) or (os.path.exists(file) and not os.path.isdir(file)):
            yield error(path, "it is not a folder, so nothing in it is remembered; move it away")
    for path in (workspace.layout.identity, workspace.layout.overview):
        if os.path.isdir(workspace.file(path)):
            yield error(path, "it is not a regular file; move it away")


def permissions(patient: Patient) -> Iterator[Finding]:
    """Whether this user may write here, and others on the machine may read."""
    workspace = patient.engine.workspace
    root = workspace.root
    if not os.path.isdir(root):
        return
    if os.statvfs(root).f_flag & os.ST_RDONLY:
        yield error("", f"{root} lies on a disk that is mounted read-only: nothing can be written until that changes")
        return
    for folder in (root, *(workspace.file(path) for path in (*workspace.layout.folders, ".git"))):
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):
            yield error("", f"{folder} cannot be written to; `chmod u+rwx {folder}`")
    for part in map(workspace.file(".git").joinpath, ("objects", "refs", "logs", "crabmem")):
        below = (place for place, _, _ in os.walk(part))
        if shut := next((each for each in below if not os.access(each, os.W_OK | os.X_OK)), None):
            yield error("", f"{shut} cannot be written to; `chmod -R u+rwX {part}`")
    if root.stat().st_uid != os.geteuid():
        yield warning("", f"{root} belongs to another user; what is written there may become unreadable to them")
    is_project = workspace.layout.is_guest or patient.engine.history.ownership.is_of_project()
    if open_to_others(root) and not is_project:  # others may well read a project
        yield warning("", f"others on this machine can read {root}; `chmod 700 {root}`, or `crabmem doctor --fix`")


def open_to_others(root: Path) -> bool:
    """Whether other users can reach `root`: it grants them a right, and every folder on the way lets them pass."""
    modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (root, *root.parents)]
    return bool(modes[0] & _OTHERS) and all(mode & 0o011 for mode in modes)


def space(patient: Patient) -> Iterator[Finding]:
    """Whether the disk has room for what is to come."""
    inmost = patient.engine.workspace.root
    root = next(folder for folder in (inmost, *inmost.parents) if os.path.isdir(folder))
    free = shutil.disk_usage(root).free
    if free < _LITTLE:
        say = error if free < _HARDLY_ANY else warning
        yield say("", f"the disk has {free // 1_000_000} MB left; free some space")
    if (inodes := os.statvfs(root)).f_files and inodes.f_favail < 100:
        yield error("", "the disk has no room for more files (inodes); delete some")


def sync(patient: Patient) -> Iterator[Finding]:
    """Whether sync works (see `standing.trouble`), and which files a sync left as they are here."""
    for words in trouble(state(patient.session), patient.now).splitlines():
        yield warning("", words)
    if paths := left(patient.engine.history, patient.engine.workspace):
        yield warning("", left_words(paths))


def pause(patient: Patient) -> Iterator[Finding]:
    """Whether memory is paused."""
    if found := read_pause(patient.engine.workspace.private, patient.now):
        yield info("", f"{pause_words(found, patient.now)}; `crabmem resume` ends that")


def cache(patient: Patient) -> Iterator[Finding]:
    """Whether files hold what the cached look says: one that changed with all its times unchanged is not noticed."""
    for path, file in patient.scan.files.items():
        try:
            data, status = fs.read(patient.engine.workspace.file(path))
        except OSError:
            continue  # gone, or changed into something else since
        if packed(status) == file.mark and blob_id(data) != file.blob:
            yield error(path, "it was changed without its times telling; `touch` it, and mind this machine's clock")


def vectors(patient: Patient) -> Iterator[Finding]:
    """Whether recall by meaning works, if it is wanted. Asks the model or service that makes the vectors."""
    try:
        rules = patient.settings()
    except CrabmemError:
        return  # which is told already
    if patient.engine.is_meaning_wanted(rules):
        yield from patient.engine.meaning.findings(patient.engine.catalog.listing(patient.scan), rules.vectors)


def places(patient: Patient) -> Iterator[Finding]:
    """Whether the folders outside of the workspace that the settings name can be searched."""
    rules = patient.settings()
    if not (rules.extra_paths or rules.transcripts):
        return
    found = patient.engine.files_elsewhere(rules, patient.session.profile.search)
    if found.trouble:
        yield warning(SETTINGS, found.trouble)
    elif not found.marks and not found.unusable:
        yield info(SETTINGS, "extra_paths and transcripts name no folder outside of the workspace that has such files")
    for path in found.unusable:
        is_lost = path in found.lost
        why = (
            "is gone or cannot be read; correct the list in crabmem.toml"
            if is_lost
            else "cannot be read, is too large, or others are newer and enough"
        )
        yield warning(path, f"it is not searched: it {why}")


def memories_beside(patient: Patient) -> Iterator[Finding]:
    """Whether the other memories that are seen beside this one can be read."""
    rules = patient.session.settings
    for problem in patient.engine.scopes.faults(rules) if patient.engine.sees_others(rules) else ():
        yield warning(SETTINGS, f"a memory beside this one is not seen: {problem}")
