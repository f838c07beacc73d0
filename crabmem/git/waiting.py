"""What was written while the person was in the middle of a rebase or merge, and so is on no branch yet.

Nobody knows how that will end: after `--continue` the files still say it, `--abort` and `--skip` take it away. What is
noted here is looked at when it is over, so that it comes back; what was written before can be taken back by a reset.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..disk import fs

_LINE = re.compile(r"([0-9a-f]{40}) ([0-9a-f]{40}) ([0-9a-f]{40})")


class Stretch(NamedTuple):
    """Commits of ours in a row, from behind `base` to `tip`; `before` is the branch as it was when all that began."""

    base: str
    tip: str
    before: str


class Waiting:
    """The commits noted in `file`, a line each. Only under the writer's lock."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, base: str, commit: str, before: str) -> None:
        """Note a commit that stands on `base`, durably."""
        fs.append(self._file, f"{base} {commit} {before}\n".encode(), durable=True)

    def all(self) -> list[Stretch]:
        """The stretches of what was noted, the oldest first. A line that was cut short is none."""
        found = list[Stretch]()
        for each in map(_LINE.fullmatch, self._lines()):
            if each and found and found[-1].tip == each[1]:
                found[-1] = found[-1]._replace(tip=each[2])
            elif each:
                found.append(Stretch(*each.groups()))
        return found

    def clear(self) -> None:
        """Forget them all."""
        fs.unlink(self._file)

    def _lines(self) -> list[str]:
        with suppress(OSError):
            return fs.read(self._file)[0].decode("ascii", "replace").splitlines()
        return []
