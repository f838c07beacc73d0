"""What a caller says of a rewrite: what goes from a history, what takes its place, and by what it is found again.

`git.rewrite` knows no more of it than this. Who purges an entry or a text has such a rule (`operations.erasure`).
"""

from typing import Protocol


class Search(Protocol):
    """By what something is found in objects and files."""

    @property
    def is_anywhere(self) -> bool:
        """Whether it is sought in names and labels too, not in messages and files alone."""

    def is_in_blob(self, oid: str, data: bytes) -> bool:
        """Return whether it is in a version of a file."""

    def is_in_file(self, data: bytes) -> bool:
        """Return whether it is in a file that is no object."""

    def is_in_name(self, name: str) -> bool:
        """Return whether it is in a path, or in what a link leads to."""

    def is_in_message(self, text: str) -> bool:
        """Return whether it is in the message of a commit or tag, or in a line of a log."""


class Rule(Protocol):
    """What becomes of a history; each question is about one that is there."""

    def new_path(self, path: str, oid: str) -> str | None:
        """Return the new path of a file or folder, None for one that goes; `oid` is the id of its blob or tree.

        A folder that gets another path is asked about by itself, before what is in it.
        """

    def new_file(self, path: str, data: bytes) -> bytes:
        """Return the new bytes of a version of a file."""

    def new_message(self, text: str) -> str:
        """Return the new message of a commit or tag, or a new line of a log."""

    def new_label(self, text: str) -> str:
        """Return the new name or address of a person, or another line before a message."""

    def new_name(self, name: str) -> str:
        """Return the new form of a part of the name of a branch or tag."""
