"""Whether a workspace was purged: who then still has words of it in memory must not keep them on the disk."""

import os
from pathlib import Path


class Purges:
    """The purges that `file` tells of, from now on."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen = self._told()

    def came(self) -> bool:
        """Whether there was one since this was made, or asked."""
        told = self._told()
        seen, self._seen = self._seen, told
        return told != seen

    def _told(self) -> int:
        try:
            return os.lstat(self._file).st_size
        except OSError:
            return 0
