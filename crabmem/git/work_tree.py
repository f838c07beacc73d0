"""The files of somebody's work tree, only read: regular ones that Git would take, and none that a link leads to."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from ..disk import fs
from ..errors import InvalidArguments

LARGEST = 1_000_000
_LONGEST = 400


class WorkTree:
    """The work tree in the folder `top` of a repository; `is_memory` says which of its paths are none of it."""

    def __init__(self, top: str, repository: str, is_memory: Callable[[str], bool]) -> None:
        self._top = top
        self._repository = repository
        self._is_memory = is_memory

    def read(self, path: str) -> bytes | None:
        """The bytes of the file at `path`; None where there is none.

        Raises:
            InvalidArguments: it may not be read; the message says why, and what may.
        """
        steps, why = path.split("/"), ""
        if len(path) > _LONGEST or not path.isprintable() or not {"", ".", ".."}.isdisjoint(steps):
            why = "it is no path from the top of the repository; give one such as src/a.py:40"
        elif any(step.casefold() == ".git" for step in steps):
            why = "it is Git's own; name a file of the work tree"
        elif self._is_memory(path):
            why = "it is memory itself; a link such as [[Deploy key]] leads there"
        try:
            data, why = (None, why) if why else self._read(steps)
        except FileNotFoundError:
            return None
        except OSError as error:
            why = f"{fs.reason(error)}; name a regular file, to which no link leads, of at most {LARGEST:,} bytes"
        if why:
            raise InvalidArguments(f"sources: {path!r}: {why}")
        return data

    def _read(self, steps: Sequence[str]) -> tuple[bytes | None, str]:
        """The bytes of a file, or why it may not be read."""
        rules = [(0, _rules(f"{self._repository}/info/exclude", steps))]
        with ExitStack() as stack:
            here = stack.enter_context(fs.opened(self._top))
            for depth, step in enumerate(steps):
                is_last = depth == len(steps) - 1
                rules.append((depth, _rules(here.spot(".gitignore"), steps)))
                if _is_ignored(steps[: depth + 1], "" if is_last else "/", rules):
                    return None, "Git ignores it, so it is not read; name another file"
                if is_last:
                    break
                here = stack.enter_context(fs.entered(here, step))
                with suppress(FileNotFoundError):
                    here.status(".git")
                    return None, f"{step} is a repository of its own; name a file of this one"
            return fs.read(here.spot(steps[-1]), limit=LARGEST)[0], ""


def _rules(place: fs.Place, steps: Sequence[str]) -> bytes:
    """The rules in a file; none where the last part of no pattern is like a step: to load dulwich takes 10 ms."""
    try:
        data = fs.read(place)[0].removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        return b""
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
