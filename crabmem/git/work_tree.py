"""The files of somebody's work tree, only read: regular ones that Git would take, and none that a link leads to."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from ..disk import fs
from ..errors import InvalidArguments

LARGEST = 1_000_000
_LONGEST = 400


class Unread(InvalidArguments):
    """A file of a work tree that is not read: `reason` is why, `is_file` whether it may still be the one that was."""

    def __init__(self, path: str, reason: str, way_out: str, is_file: bool = True) -> None:
        super().__init__(f"sources: {path!r}: {reason}; {way_out}")
        self.reason = reason
        self.is_file = is_file


class WorkTree:
    """The work tree in the folder `top` of a repository; `is_memory` says which of its paths are none of it."""

    def __init__(self, top: str, repository: str, is_memory: Callable[[str], bool]) -> None:
        self._top = top
        self._repository = repository
        self._is_memory = is_memory

    def read(self, path: str) -> bytes | None:
        """The bytes of the file at `path`; None where there is none.

        Raises:
            Unread: it may not be read, or cannot be; the message says why, and what may.
        """
        steps, why, way_out = path.split("/"), "", ""
        if len(path) > _LONGEST or not path.isprintable() or not {"", ".", ".."}.isdisjoint(steps):
            why, way_out = "it is no path from the top of the repository", "give one such as src/a.py:40"
        elif any(step.casefold() == ".git" for step in steps):
            why, way_out = "it is Git's own", "name a file of the work tree"
        elif self._is_memory(path):
            why, way_out = "it is memory itself", "a link such as [[Deploy key]] leads there"
        if why:
            raise Unread(path, why, way_out)
        try:
            return self._read(path, steps)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unread(path, error) from None

    def _read(self, path: str, steps: Sequence[str]) -> bytes:
        rules = [(0, _rules(f"{self._repository}/info/exclude", steps))]
        with ExitStack() as stack:
            here = stack.enter_context(fs.opened(self._top))
            for depth, step in enumerate(steps):
                is_last = depth == len(steps) - 1
                rules.append((depth, _rules(here.spot(".gitignore"), steps)))
                if _is_ignored(steps[: depth + 1], "" if is_last else "/", rules):
                    raise Unread(path, "Git ignores it, so it is not read", "name another file")
                if is_last:
                    break
                try:
                    here = stack.enter_context(fs.entered(here, step))
                except NotADirectoryError as error:
                    raise _unread(path, error, is_file=False) from None
                with suppress(FileNotFoundError):
                    here.status(".git")
                    raise Unread(path, f"{step} is a repository of its own", "name a file of this one")
            try:
                return fs.read(here.spot(steps[-1]), limit=LARGEST)[0]
            except fs.NotAFile as error:
                raise _unread(path, error, is_file=error.errno == errno.EFBIG) from None


def _unread(path: str, error: OSError, is_file: bool = True) -> Unread:
    """The error for one of the system. Its reason is told to models, too: without paths of this machine."""
    reason = (error.strerror or str(error)).lower()
    access = fs.reason(error).removeprefix(reason).removeprefix("; ")
    regular = f"name a regular file, to which no link leads, of at most {LARGEST:,} bytes"
    return Unread(path, reason, "; ".join(filter(None, (access, regular))), is_file)


def _rules(place: fs.Place, steps: Sequence[str]) -> bytes:
    """The rules in a file; none where the last part of no pattern is like a step: to load dulwich takes 10 ms."""
    try:
        data = fs.read(place)[0].removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        return b""
    except fs.NotAFile as error:
        words = f"{os.path.basename(error.filename)} cannot be read: {error.strerror}"
        raise fs.NotAFile(error.errno, words, error.filename) from None
    names = [*map(os.fsencode, steps)]
    return data if any(_may_match(line.rstrip(), names) for line in data.splitlines()) else b""


def _may_match(line: bytes, names: Sequence[bytes]) -> bool:
    pattern = line.rstrip(b"/").rpartition(b"/")[2].lstrip(b"!")
    if b"[" in pattern or b"\\" in pattern:
        return True
    first, *_, last = (pattern.replace(b"?", b"*") + b"*" * (b"*" not in pattern)).split(b"*")
    return line[:1] != b"#" and any(name.startswith(first) and name.endswith(last) for name in names)


def _is_ignored(steps: Sequence[str], mark: str, rules: Sequence[tuple[int, bytes]]) -> bool:
    """Whether the rules in the folders above, each so many steps down, leave out a path; `mark` is a folder's `/`."""
    for depth, data in reversed(rules):
        if data:
            from dulwich.ignore import IgnoreFilter, read_ignore_patterns

            said = IgnoreFilter(read_ignore_patterns(io.BytesIO(data))).is_ignored("/".join(steps[depth:]) + mark)
            if said is not None:
                return said
    return False
