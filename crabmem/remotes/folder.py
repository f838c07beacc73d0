"""Remotes in a folder of this machine, or on a disk that is plugged into it."""

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..disk import fs, state
from ..disk.lock import locked
from ..errors import Busy, CrabmemError, DamagedHistory, Outrun, Refused, Unreachable, Untrusted
from ..git import repository
from ..git.graph import reached
from ..git.objects import Objects
from ..git.packing import Packing
from ..git.packs import Growing, publish
from ..git.reach import outgoing
from ..git.refs import HEADS, Refs
from ..text.hashes import blob_id
from .address import Address
from .limit import FEW, Limit
from .remote import Offer, Remote, Updates, offer, pack_of

# Hooks that decide about a push. Git starts them also where it pushes to a folder.
_DECIDING = ("pre-receive", "update", "reference-transaction", "proc-receive")
_PATIENCE = 10.0
# Errors of network disks without locks: pushes go on there, but leftovers of others are not removed.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


def _in_folder(error: DamagedHistory) -> str:
    """Return the message of an error without the folder `.git`, which a bare repository does not have."""
    return str(error).replace("`.git/", "`")


class Folder(Remote):
    """A repository in a folder of this machine, or of a disk that is plugged into it. No hook of it is started."""

    def __init__(self, address: Address, git: Path, private: Path, limit: Limit) -> None:
        super().__init__(address, git, private, limit)
        place = Path(address.path)
        self._is_bare = not (place / ".git").is_dir()
        self._there = place if self._is_bare else place / ".git"
        self._ours = self._there / "crabmem"
        # A folder for half-written files of this machine alone: only here can we know whether their writer has died.
        self._temporary = self._ours / f"{state.TEMPORARY}-{blob_id(os.uname().nodename.encode())[:8]}"
        self._theirs = Objects(self._there / "objects", self._temporary)
        self._their_refs = Refs(self._there, self._temporary)

    def close(self) -> None:
        """Let go of files."""
        super().close()
        self._theirs.close()

    def _check_repository(self) -> None:
        """Refuse a folder that is no repository, one in a form that we do not write, and one with links in it."""
        if not all((self._there / name).exists() for name in ("HEAD", "objects", "refs")):
            raise Refused(
                f"there is no Git repository in {self._limit.where}: is the disk there? `git init --bare` makes one"
            )
        if form := repository.foreign_format(self._there):
            raise Refused(f"{self._limit.where} has Git's {form} format, which crabmem does not write")
        if link := repository.LinkSearch(self._there).found():
            raise Refused(f"{link} is a symbolic link, which may lead anywhere and is not followed")

    def _refs(self) -> Offer:
        self._check_repository()
        try:
            return offer(self._their_refs.all(), self._their_refs.head().ref)
        except DamagedHistory as error:
            raise Untrusted(f"the remote {self._limit.where} is damaged: {_in_folder(error)}") from error

    def _download(self, wants: list[str], haves: Collection[str], write: Callable[[bytes], int]) -> None:
        self._check_repository()
        try:
            known = [have for have in self.known(haves) if self._theirs.is_there(have)]
            pieces = outgoing(self._there, self._ours, self._theirs, wants, known)
            write(pack_of(pieces, self._theirs, self._limit, thin=True).raw())
        except DamagedHistory as error:
            raise Untrusted(f"{self._limit.where} is damaged, or a shallow clone: {error}") from error

    def _upload(self, updates: Updates) -> None:
        now = self._refs()
        self.check_expected(now.refs, updates)
        self._check_welcome(now, updates)
        tips = [new for _, new in updates.values() if new]
        growing = self._going(tips, now.refs.values())
        with self._alone():
            self._put(growing, updates)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other pushes of this machine out, and remove the locks and files that a crashed one left.

        On a disk without locks, neither is done.
        """
        fs.make_folder(self._temporary)
        with ExitStack() as held:
            try:
                end = time.monotonic() + min(_PATIENCE, self._limit.left())
                held.enter_context(locked(self._temporary, os.O_RDONLY, end))
                self._their_refs.release_leftovers()
                self._theirs.clear_leftovers()
            except TimeoutError:
                raise Unreachable(f"another sync of this machine pushes to {self._limit.where}: try again") from None
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
            yield

    def _put(self, growing: Growing, updates: Updates) -> None:
        """Store the objects, many as a pack, few as files, as `Packing` packs only those later; then set references."""
        if len(growing) > FEW:
            publish(growing, self._there / "objects" / "pack")
        else:
            self._theirs.store({oid: self._objects.raw(oid) for oid in growing.ids()})
        self._limit.left()  # after a timeout the caller has been told of a failure: then do not finish the push
        try:
            for ref, (old, new) in updates.items():
                if not (self._their_refs.swap(ref, old, new) if new else self._their_refs.remove(ref, old)):
                    raise Outrun(
                        f"somebody else pushed to {ref} of {self._limit.where} this moment: fetch and push again"
                    )
        except Busy as error:
            raise Unreachable(f"{self._limit.where} is being written to: {error}") from error
        self._tidy(growing.ids())

    def _check_welcome(self, now: Offer, updates: Updates) -> None:
        """Refuse the push where Git would: a deciding hook, which we do not run; the branch that is checked out there;
        a rewritten branch, if the settings forbid that.
        """
        hooks = [name for name in _DECIDING if os.access(self._there / "hooks" / name, os.X_OK)]
        if hooks:
            raise Refused(
                f"{self._limit.where} has a hook, {hooks[0]}, that decides about pushes, and crabmem starts none: sync "
                "with it by ssh, or take the hook away"
            )
        if not self._is_bare and now.branch in updates:
            raise Refused(
                f"{self._limit.where} has files of its own, which a push would not change: sync with a bare "
                "repository, as `git init --bare` makes it, that both push to"
            )

        if not repository.takes_rewrites(self._there):
            for ref, (old, new) in updates.items():
                if ref.startswith(HEADS) and old and new and not self._stands_on(new, old):
                    raise Refused(
                        f"{self._limit.where} keeps every commit (receive.denyNonFastForwards): "
                        f"{ref.removeprefix(HEADS)} was not rewritten, and shows still what was purged: set that to "
                        "false there, and sync again"
                    )

    def _stands_on(self, commit: str, base: str) -> bool:
        """Return whether `base` is an ancestor of `commit`. The time limit is checked at each commit."""

        def parents(each: str) -> list[str]:
            self._limit.left()
            return self._objects.parents(each)

        return base in reached([commit], parents)

    def _tidy(self, new: list[str]) -> None:
        """Give new files the repository's permissions, as other users may share it; compact it if much lies loose.

        Errors are ignored: the push is done.
        """
        with suppress(OSError, CrabmemError):
            mode = stat.S_IMODE(os.stat(self._there / "objects").st_mode)
            if mode & ~fs.PRIVATE_FOLDER:
                for folder in {self._there / "objects" / oid[:2] for oid in new} & {
                    *(self._there / "objects").iterdir()
                }:
                    fs.chmod(folder, mode)
                for place in (self._there / "refs").rglob("*"):
                    fs.chmod(place, mode if place.is_dir() else mode & 0o666)
            packing = Packing(self._there, self._ours, self._their_refs)
            packing.count(*self._theirs.written())
            if packing.is_due():
                packing.compact()
