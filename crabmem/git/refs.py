"""Git's references: one read of the head, compare-and-swap under Git's own locks, a log of moves.

Every `X.lock` is a hard link to a file of ours, so that a lock left by a crash is known to be ours
and one of somebody else is never touched.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..disk import fs
from ..errors import Busy, DamagedHistory
from ..text.values import value

#: The folder of branches, and the usual one.
HEADS, MAIN = "refs/heads/", "refs/heads/main"
#: The reference of the record of purges (see `purged`).
PURGED = "refs/crabmem/purged"
_PID = re.compile(r"[0-9]{1,9}\Z")
#: The id of an object, whole.
OID = re.compile(r"[0-9a-f]{40}\Z")
_SYMBOLIC = "ref: "
_LINK = "lock-"
GC = "gc.pid"
REF_WAIT = 2.0
GC_WAIT = 5.0
_PAUSE = 0.01
_GC_GIVEN_UP = 12 * 60 * 60


@value
class Head:
    """Where HEAD points. `ref` is what a commit moves: a branch, or "HEAD" itself when detached.

    `commit` is None on a branch without commits.
    """

    ref: str
    commit: str | None


class Refs:
    """The references below one `.git`; `private` is the folder in which our lock files have their second names."""

    def __init__(self, git: Path, private: Path) -> None:
        self._git = git
        self._temporary = private

    def head(self) -> Head:
        """Return where HEAD points, read once.

        Raises:
            DamagedHistory: HEAD or its branch holds neither a reference nor a commit's id.
        """
        text = self._text("HEAD")
        if text is None:
            way = "the next write puts it back, and so does `crabmem doctor --fix`"
            if not (self._git / "objects").is_dir():
                way = "restore it from a backup, or move `.git` away to begin a new history"
            raise DamagedHistory(f"`.git/HEAD` is missing: {way}")
        if text.startswith(_SYMBOLIC):
            ref = text.removeprefix(_SYMBOLIC).strip()
            if not is_ref(ref):
                raise DamagedHistory(f"`.git/HEAD` names no reference: {ref[:80]}")
            return Head(ref, self.read(ref))
        return Head("HEAD", _oid("HEAD", text))

    def read(self, ref: str) -> str | None:
        """Return the commit `ref` names; None when there is no such reference.

        Raises:
            DamagedHistory: it holds something else than a commit's id.
        """
        text = self._text(ref)
        return _oid(ref, text) if text is not None else self._packed().get(ref)

    def all(self) -> dict[str, str]:
        """Return every readable reference and its commit."""
        top = str(self._git)
        files = (f"{folder}/{name}" for folder, _, names in os.walk(f"{top}/refs") for name in names)
        loose = (file[len(top) + 1 :] for file in files if os.path.isfile(file) and not file.endswith(".lock"))
        values = {ref: (self._text(ref) or "").strip() for ref in loose}
        return self._packed() | {ref: oid for ref, oid in values.items() if OID.match(oid)}

    def tips(self) -> list[str]:
        """Return what every readable reference names, and HEAD."""
        head = self.head().commit
        return [*self.all().values(), *([head] if head else [])]

    def swap(self, ref: str, old: str | None, new: str) -> bool:
        """Set `ref` to `new` if it still is `old`; return whether it was."""

        def decide() -> bytes | None:
            # The text itself: a broken reference must not count as missing, nor HEAD on a branch as a detached one.
            text = self._text(ref)
            now = self._packed().get(ref) if text is None else text.strip()
            return f"{new}\n".encode() if now == old else None

        return self.replace(ref, decide, REF_WAIT)

    def restore(self, ref: str, text: str) -> None:
        """Write `ref` whatever it held: for repairs."""
        self.replace(ref, lambda: f"{text}\n".encode(), REF_WAIT)

    def remove(self, ref: str, old: str | None = None) -> bool:
        """Remove `ref`, also from `packed-refs`; return False if `old` is given and `ref` names something else now.

        Not for tags: in `packed-refs` a second row with the peeled id follows them, which would stay.
        """

        def without() -> bytes | None:
            if ref not in self._packed():
                return None
            rows = fs.read(self._git / "packed-refs")[0].splitlines(keepends=True)
            return b"".join(row for row in rows if row.partition(b" ")[2].strip() != ref.encode())

        with self.holding(f"{ref}.lock", REF_WAIT):
            if old and self.read(ref) != old:
                return False
            # In this order a crash in between leaves the reference; else the older id in `packed-refs` would come back.
            self.replace("packed-refs", without, REF_WAIT)
            fs.unlink(self._git / ref)
        if (self._git / ref).parent.is_dir():  # not before the lock is gone: a power cut would leave it for ever
            fs.sync_folder((self._git / ref).parent)
        return True

    def replace(self, name: str, decide: Callable[[], bytes | None], wait: float) -> bool:
        """Replace the file `name` of the repository by the bytes that `decide` returns; return whether it was replaced.

        `decide` is called while the lock `<name>.lock` is held; None keeps the file.

        Raises:
            Busy: somebody else held `<name>.lock` for more than `wait` seconds.
        """
        target = self._git / name
        with self.holding(f"{name}.lock", wait) as ours:
            data = decide()
            if data is None:
                return False
            fs.write_at(ours, 0, data)  # the file is empty: no need to truncate, after which closing waits for the disk
            fs.rename(target.with_name(f"{target.name}.lock"), target)
            fs.sync_folder(target.parent)
            return True

    @contextmanager
    def holding(self, name: str, wait: float, data: bytes = b"") -> Iterator[Path]:
        """Hold the lock file `name`, which contains `data`; yield the path of our second link to that file.

        The link shows, after a crash too, that the lock is ours. The block may rename the lock: then it is not removed.

        Raises:
            Busy: somebody else held the lock for more than `wait` seconds.
        """
        lock = self._git / name
        ours = self._temporary / f"{_LINK}{os.urandom(8).hex()}"
        fs.hint(ours, data)
        try:
            try:
                _link_patiently(ours, lock, wait)
                yield ours
            finally:
                # The block may have renamed the lock, and another process have made one since: remove only our own.
                # Also look after a failed link: the call may have made it, and reported an error.
                if _same_file(ours, lock):
                    fs.unlink(lock)
        finally:
            fs.unlink(ours)

    def wait_for(self, ref: str) -> None:
        """Wait until nobody holds the lock of `ref`; Busy when somebody does so for too long."""
        deadline = time.monotonic() + REF_WAIT
        while (lock := self._git / f"{ref}.lock").exists():
            if time.monotonic() > deadline:
                raise Busy(_held(lock))
            time.sleep(_PAUSE)

    def release_leftovers(self) -> None:
        """Remove the locks that a crash left to us. Only under the writer's lock."""
        links = fs.called(self._temporary, _LINK)
        for file in (*self._locks_of(links), *links):
            fs.unlink(file)

    def our_locks(self) -> list[Path]:
        """Return the locks that a write of ours holds, or left as it was ended."""
        return self._locks_of(fs.called(self._temporary, _LINK))

    def _locks_of(self, links: list[Path]) -> list[Path]:
        locks = (self._git / GC, *self._git.rglob("*.lock")) if links else ()
        return [lock for lock in locks if any(_same_file(ours, lock) for ours in links)]

    @contextmanager
    def without_gc(self) -> Iterator[None]:
        """Keep `git gc` from starting within the block: it would prune objects that no reference reaches yet.

        A `git gc` that runs already is waited for, but no longer than `GC_WAIT`: then the block runs beside it, and
        `Objects.put_back` writes again what it pruned.
        """
        self._clear_dead_gc()
        with ExitStack() as held:
            with suppress(Busy):
                us = f"{os.getpid()} {_host()}".encode()
                held.enter_context(self.holding(GC, GC_WAIT, us))
            yield

    def is_gc_running(self) -> bool:
        """Return whether `gc.pid` says that a `git gc` runs; our own `gc.pid` has a second link (see `holding`)."""
        try:
            if os.lstat(self._git / GC).st_nlink > 1:
                return False
        except FileNotFoundError:
            return False
        pid, _, host = (self._text(GC) or "").partition(" ")
        is_known = _PID.match(pid) and host.strip() == _host()
        return not is_known or fs.is_alive(int(pid))

    def _clear_dead_gc(self) -> None:
        """Take away the mark of a gc that died, or is older than twelve hours, as Git does itself."""
        mark = self._git / GC
        text = self._text(GC)
        if text is None:
            return
        pid, _, host = text.partition(" ")
        # Git and we create the file with its content: one that names no process was cut short by a crash.
        dead = not _PID.match(pid) or (host.strip() == _host() and not fs.is_alive(int(pid)))
        if dead or fs.is_from_before_start(mark) or self._age(mark) > _GC_GIVEN_UP:
            fs.unlink(mark)

    def _age(self, file: Path) -> float:
        """Return seconds since `file` was written, by the clock of its file system, which may be another machine's."""
        now = self._temporary / "now"
        fs.hint(now, b"")
        return now.stat().st_mtime - file.stat().st_mtime

    def note(self, refs: tuple[str, ...], old: str | None, new: str, who: bytes, message: str) -> None:
        """Add a line to the reference logs; a log that cannot be written is no reason to fail."""
        subject = message.splitlines()[0] if message else ""
        line = b"%s %s %s\t%s\n" % ((old or "0" * 40).encode(), new.encode(), who, subject.encode("utf-8", "replace"))
        for ref in refs:
            log = self._git / "logs" / ref
            try:
                fs.make_folder(log.parent)
                fs.append(log, line)
            except OSError:
                continue

    def sync(self, ref: str) -> None:
        """Make a reference durable, if it has a file of its own; where `a` was, a folder for `a/b` may be now."""
        with suppress(FileNotFoundError, NotADirectoryError, fs.NotAFile):
            fs.sync_file(self._git / ref)
            fs.sync_folder((self._git / ref).parent)

    def last_noted(self, ref: str) -> Iterator[str]:
        """Yield the commits the log of `ref` names, newest first."""
        try:
            lines = fs.read(self._git / "logs" / ref, limit=fs.LARGE)[0].splitlines()
        except OSError:
            return
        for line in reversed(lines):
            oid = line[41:81].decode("ascii", "replace")
            if OID.match(oid):
                yield oid

    def _text(self, ref: str) -> str | None:
        """Return the text of a file of the repository; None when there is none, or the name is a folder's, or too long.

        Raises:
            DamagedHistory: the file is there, and cannot be read.
        """
        try:
            return fs.read(self._git / ref)[0].decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG or os.path.isdir(self._git / ref):
                return None
            raise DamagedHistory(f"`.git/{ref}` cannot be read: {fs.reason(error)}") from None

    def packed_is_whole(self) -> bool:
        """Return whether every line of the packed references is one."""
        return all(
            line[:1] in ("#", "^") or (OID.match(line[:40]) and line[40:41] == " ") for line in self._packed_lines()
        )

    def holds(self, ref: str) -> bool:
        """Return whether there is a file for `ref`, readable or not."""
        return (self._git / ref).exists()

    def _packed_lines(self) -> list[str]:
        return (self._text("packed-refs") or "").splitlines()

    def _packed(self) -> dict[str, str]:
        pairs = (line.split(" ", 1) for line in self._packed_lines() if line[:1] not in ("#", "^") and " " in line)
        return {ref.strip(): oid for oid, ref in pairs if OID.match(oid)}


def is_ref(name: str) -> bool:
    """Return whether `name` is a reference's, and so a path that stays below `.git/refs`."""
    parts = name.split("/")
    plain = name.isprintable() and all(part and not part.startswith(".") and len(part.encode()) < 200 for part in parts)
    return plain and len(name.encode()) < 1_000 and len(parts) > 1 and parts[0] == "refs"


def _oid(ref: str, text: str) -> str:
    oid = text.strip()
    if not OID.match(oid):
        raise DamagedHistory(f"`.git/{ref}` does not hold the id of a commit")
    return oid


def _link_patiently(ours: Path, lock: Path, wait: float) -> None:
    """Take a lock by making `lock` a second link to `ours`; Busy when somebody else held it for `wait` seconds."""
    deadline = time.monotonic() + wait
    while True:
        try:
            return fs.link(ours, lock)
        except FileNotFoundError:
            if not ours.exists() or time.monotonic() > deadline:
                raise
            # `git pack-refs` removes folders that it leaves empty.
            fs.make_folder(lock.parent)
        except FileExistsError:
            if time.monotonic() > deadline:
                raise Busy(_held(lock)) from None
            time.sleep(_PAUSE)


def _host() -> str:
    """The name of this machine, as Git has it in marks."""
    return os.uname().nodename


def _held(lock: Path) -> str:
    return f"`{lock}` is held by another Git process; if none runs, a crash left it: remove it"


def _same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except FileNotFoundError:
        return False
