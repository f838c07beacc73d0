"""A disk that refuses: a full one, or one that fails."""

import errno
from collections.abc import Callable


class Refusing:
    """Stands before every change of the disk (as `fs.before`), and refuses those by whose number `refuses` holds.

    Only changes `where` their operation and path are meant are numbered, from 1.
    """

    def __init__(
        self,
        refuses: Callable[[int], bool] = lambda number: True,
        where: Callable[[str, str], bool] = lambda operation, path: True,
        code: int = errno.ENOSPC,
    ) -> None:
        self.refuses, self.where, self.code = refuses, where, code
        self.count = 0
        self.refused = ""

    def __call__(self, operation: str, path: str) -> None:
        if not self.where(operation, path):
            return
        self.count += 1
        if self.refuses(self.count):
            self.refused = f"{operation} {path}"
            raise OSError(self.code, "no space left on device", path)


def once(at: int) -> Callable[[int], bool]:
    """The change with that number is refused, and no other."""
    return lambda number: number == at


def from_then(at: int) -> Callable[[int], bool]:
    """The change with that number is refused, and each that follows."""
    return lambda number: number >= at
