"""Making `.git`: an ordinary repository that no setting of the person can turn against an agent's write."""

import io
import os
import re
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..disk import fs, state
from ..errors import DamagedHistory
from .refs import MAIN

if TYPE_CHECKING:
    from dulwich.config import ConfigFile

_CONFIG = """\
[core]
	repositoryformatversion = 0
	filemode = false
	bare = false
	logallrefupdates = true
	autocrlf = false
	quotepath = false
	fsync = all
{more}[gc]
	auto = 0
[crabmem]
	version = 1
"""
_BARE = """\
[core]
	repositoryformatversion = 0
	filemode = false
	bare = true
	fsync = all
"""
# What `git init` says where names are one that differ in case alone, and on a Mac in Unicode's form.
_FOLDING = """\
	ignorecase = true
	precomposeunicode = true
"""
_EXCLUDE = """\
# Agents' own workspaces have repositories of their own.
/agents/
# What editors and sync tools leave beside the files.
.*
!/.gitignore
!/.gitattributes
*~
*.tmp
*.swp
\\#*#
"""
# The same in a folder of memory, where the rest of a repository is somebody else's.
_EXCLUDE_IN = """\
/{folder}/**/.*
/{folder}/**/*~
/{folder}/**/*.tmp
/{folder}/**/*.swp
/{folder}/**/\\#*#
"""
# Seconds within which two changes may have the same time.
_TICK = 1.0
_UNFINISHED = ".crabmem-init-"


def create(root: Path) -> None:
    """Make `root/.git`, wholly or not at all: built under another name, then renamed. A quicker process wins.

    The temporary name has our process id, by which `clear_unfinished` knows what a crash left.
    """
    fs.make_folder(root)
    built = root / f"{_UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}"
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "crabmem/tmp"):
        fs.make_folder(built / folder)
    fs.create(built / "HEAD", f"ref: {MAIN}\n".encode())
    more = _FOLDING if os.path.lexists(built / "head") else ""
    fs.create(built / "config", _CONFIG.format(more=more).encode())
    fs.create(built / "info" / "exclude", _EXCLUDE.encode())
    for written in (built / "info", built):
        fs.sync_folder(written)
    try:
        fs.rename(built, root / ".git")
    except OSError:
        if not (root / ".git").is_dir():
            raise
        fs.remove_tree(built)
    fs.sync_folder(root)


def create_bare(root: Path) -> None:
    """Make a bare repository, for others to push to, in a folder that is empty or does not exist."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        fs.make_folder(root / folder)
    fs.create(root / "config", _BARE.encode())
    fs.create(root / "HEAD", f"ref: {MAIN}\n".encode())  # last: until then it is no repository
    fs.sync_folder(root)


def foreign_format(git: Path) -> str | None:
    """Return what makes the form of a repository one that we do not write, such as "sha256"; None for the ordinary."""
    for key, usual in (("objectformat", "sha1"), ("refstorage", "files")):
        value = _configured(git / "config", "extensions", key)
        if value and value != usual:
            return value
    return None


class _Free(NamedTuple):
    """A folder in which no link was found.

    `changed_ns` is its ctime, `seen` when we first saw that, by the monotonic clock. Times of files have a coarse tick:
    a second change within it does not show. So the folder `is_settled`, and need not be read again while its ctime
    stays, only if it was read more than `_TICK` seconds after `seen`.
    """

    changed_ns: int
    seen: float
    folders: list[str]
    is_settled: bool


class LinkSearch:
    """Looks for symbolic links in a repository, which could make us read or write elsewhere. Done before every write.

    Only folders that changed are read again: to put a link into a folder changes its ctime, which nobody can set back.
    """

    def __init__(self, git: Path) -> None:
        self._git = os.fspath(git)  # text: a write of few files spent most of its looks on making paths
        self._free: dict[str, _Free] = {}

    def found(self) -> str | None:
        """Return the path of a link among the folders that we use, or, in our own, of a link of any kind; else None."""
        before, self._free = self._free, {}
        waiting = [f"{self._git}/{name}" for name in ("objects", "refs", "logs", "info", "crabmem")]
        while waiting:
            folder = waiting.pop()
            try:
                status = os.lstat(folder)
                if stat.S_ISLNK(status.st_mode):
                    return folder
                known = before.get(folder)
                if known is None or known.changed_ns != status.st_ctime_ns or not known.is_settled:
                    now = time.monotonic()
                    seen = known.seen if known and known.changed_ns == status.st_ctime_ns else now
                    with os.scandir(folder) as items:
                        found = list(items)
                    if link := self._link_among(folder, found):
                        return link
                    known = _Free(status.st_ctime_ns, seen, self._folders_among(folder, found), now > seen + _TICK)
            except OSError:
                continue  # it does not exist, or cannot be read, which is then reported by the read that needs it
            self._free[folder] = known
            waiting += known.folders
        return None

    def _link_among(self, folder: str, items: list[os.DirEntry[str]]) -> str | None:
        is_ours = f"{folder}/".startswith(f"{self._git}/crabmem/")  # where even a file is never a link
        return next((item.path for item in items if item.is_symlink() and (is_ours or not item.is_file())), None)

    def _folders_among(self, folder: str, items: list[os.DirEntry[str]]) -> list[str]:
        """Return the folders among `items` that are searched too.

        Not those of objects, which have no folders; nor the caches, whose readers check for links themselves; nor what
        a purge leaves, which is only removed.
        """
        if folder.endswith("/objects"):  # the folders in which objects lie have no others in them
            return []
        unread = [f"{self._git}/crabmem/{name}" for name in (state.INDEX, state.PURGING, state.PURGED)]
        return [each.path for each in items if each.is_dir(follow_symlinks=False) and each.path not in unread]


def is_readable(file: Path) -> bool:
    """Return whether a configuration file can be parsed, or does not exist."""
    try:
        _parsed(fs.read(file)[0])
    except FileNotFoundError:
        return True
    except (ValueError, OSError):
        return False
    return True


def _parsed(data: bytes) -> "ConfigFile":
    from dulwich.config import ConfigFile

    return ConfigFile.from_file(io.BytesIO(data), expand_includes=False)  # an include leads anywhere


def is_sparse(git: Path) -> bool:
    """Return whether this is a sparse checkout, where a file that is missing on the disk need not have been deleted."""
    return any(_configured(git / name, "core", "sparsecheckout") == "true" for name in ("config", "config.worktree"))


def remotes(git: Path) -> dict[str, str]:
    """Return the address of each remote in the configuration, by name; none if that cannot be parsed."""
    found: dict[str, str] = {}
    with suppress(ValueError):
        config = _parsed(fs.read(git / "config")[0])
        for section in config.sections():
            if len(section) == 2 and section[0].lower() == b"remote":
                url = b"".join([*config.get_multivar(section, b"url")][-1:])
                found[section[1].decode("utf-8", "replace")] = url.decode("utf-8", "replace")
    return found


def set_remote(git: Path, name: str, url: str) -> None:
    """Set the address and the fetch rule of a remote in the configuration, and keep all else."""
    config = _parsed(fs.read(git / "config")[0])
    config.set((b"remote", name.encode()), b"url", url.encode())
    config.set((b"remote", name.encode()), b"fetch", f"+refs/heads/*:refs/remotes/{name}/*".encode())
    written = io.BytesIO()
    config.write_to_file(written)
    fs.swap_in(git / "config", written.getvalue())


def takes_rewrites(git: Path) -> bool:
    """Return whether the repository accepts a push that removes commits from a branch."""
    return _configured(git / "config", "receive", "denynonfastforwards") not in ("true", "yes", "on", "1")


def _configured(file: Path, section: str, key: str) -> str:
    """Return a setting in a configuration file of the repository, in lower case; "" when it has none."""
    try:
        data = fs.read(file)[0]
        if key.encode() not in data.lower():
            return ""  # parsing takes longer, and every write asks
        return _parsed(data).get((section.encode(),), key.encode()).decode("utf-8", "replace").lower()
    except (FileNotFoundError, ValueError, KeyError):
        return ""
    except OSError as error:
        raise DamagedHistory(f"{file} cannot be read: {fs.reason(error)}") from None


def furnish(git: Path, private: Path, folders: Iterable[str] | None, is_guest: bool) -> None:
    """Add our private folder and ignore rules to a repository that somebody else made; its settings stay.

    The rules ignore editors' leftovers in `folders`, or everywhere for None. `is_guest`: memory is a guest in a
    project's repository, which is noted in a file.
    """
    fs.make_folder(private / state.TEMPORARY)
    if is_guest:
        fs.swap_in(private / state.PROJECT, b"")
    exclude(git, _EXCLUDE if folders is None else "".join(_EXCLUDE_IN.format(folder=each) for each in folders))


def exclude(git: Path, patterns: str, otherwise: Sequence[str] = ()) -> None:
    """Add `patterns` to `.git/info/exclude`, unless they, or one of the texts in `otherwise`, are there already."""
    file = git / "info" / "exclude"
    fs.make_folder(git / "info")
    present = fs.read(file)[0].decode("utf-8", "replace") if file.exists() else ""
    if not any(each in present for each in (patterns, *otherwise)):
        fs.append(file, ("\n" * bool(present and not present.endswith("\n")) + patterns).encode())


def clear_unfinished(root: Path) -> None:
    """Remove what a crash in `create` left behind, but not what a running process is building."""
    for built in fs.called(root, _UNFINISHED):
        is_folder = built.is_dir() and not built.is_symlink()
        if is_folder and not _is_of_living(built.name.removeprefix(_UNFINISHED)):
            fs.remove_tree(built)


def is_beside(root: Path) -> bool:
    """Return whether an interrupted purge left the new `.git` under its temporary name, and nothing is at `.git`."""
    beside = root / state.BESIDE
    return os.path.isdir(beside) and not os.path.islink(beside) and not os.path.lexists(root / ".git")


def put_back(root: Path) -> None:
    """Finish an interrupted exchange: if `is_beside`, rename the new `.git` to its place."""
    if is_beside(root):
        fs.rename(root / state.BESIDE, root / ".git")
        fs.sync_folder(root)


def left_of_purge(root: Path) -> list[Path]:
    """Return the folders that an interrupted purge left: the old `.git`, the new one, and the one beside `.git`."""
    private = root / state.FOLDER
    places = (private / state.PURGED, private / state.PURGING, root / state.BESIDE)
    return [place for place in places if os.path.lexists(place)]


@fs.durability(True)
def clear_purge(root: Path) -> str | None:
    """Remove what an interrupted purge left; return a report, None for nothing. Only under the writer's lock."""
    left = left_of_purge(root)
    if not left:
        return None
    # The new `.git` has one purge more in its file: if the one beside has no more, it is the old one.
    old_is_beside = left[-1].name == state.BESIDE and _purges(left[-1]) <= _purges(root / ".git")
    fs.sync_folder(root)  # else a power cut could give the old one its name back, of which half is removed by then
    for folder in left:
        fs.remove_tree(folder)
    if staying := left_of_purge(root):
        return f"{staying[0]}, which a purge left, may hold what was purged and cannot be removed: remove it"
    if left[0].name == state.PURGED or old_is_beside:
        return (
            "a purge was interrupted when it was done: the history is the new one, and what was left of it was removed"
        )
    return "a purge was interrupted before it changed anything: the history is the old one; purge again"


def _purges(git: Path) -> int:
    """Return the size of the file of purges in a `.git`: each purge adds lines, so the larger one is newer."""
    try:
        return os.lstat(git / "crabmem" / state.PURGES).st_size
    except OSError:
        return 0


def make_incoming(private: Path) -> Path:
    """Make a bare repository in our private folder, for fetched objects that hold purged texts; return its path.

    The caller removes it. Its name has our process id, by which `clear_incoming` knows what a crash left.
    """
    clear_incoming(private)
    fs.make_folder(private / state.INCOMING)
    place = private / state.INCOMING / f"{os.getpid()}-{os.urandom(4).hex()}"
    create_bare(place)
    fs.make_folder(place / "crabmem" / state.TEMPORARY)
    return place


def clear_incoming(private: Path) -> None:
    """Remove fetched packs and incoming repositories of processes that died: they may hold purged texts."""
    for folder, beginning in ((state.TEMPORARY, "fetch-"), (state.INCOMING, "")):
        for place in fs.called(private / folder, beginning):
            maker = place.name.removeprefix(beginning)
            if "-" in maker and not _is_of_living(maker):
                fs.remove_tree(place)


def _is_of_living(name: str) -> bool:
    """Return whether a name that begins with the number of a process is of one that runs."""
    maker = name.partition("-")[0]
    return bool(re.fullmatch("[0-9]{1,9}", maker)) and fs.is_alive(int(maker))
