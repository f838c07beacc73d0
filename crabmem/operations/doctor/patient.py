"""What every check of the doctor is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import CrabmemError
from ...results import Finding
from ...session.rules import checked_settings

if TYPE_CHECKING:  # `status` asks one check, and needs no profile for that
    from collections.abc import Callable
    from datetime import datetime

    from ...disk.scan import Scan
    from ...prompt.profile import Profile
    from ...session.engine import Engine
    from ...session.session import Session
    from ...workspace.settings import Settings


@dataclass(frozen=True)
class Patient:
    """A session on one workspace, with `scan`, its files as they were a moment ago.

    `progress` is told how many objects of the history were looked at.
    """

    session: Session
    scan: Scan
    now: datetime
    progress: Callable[[int], None]

    @property
    def engine(self) -> Engine:
        """The parts of the workspace."""
        return self.session.engine

    @property
    def profile(self) -> Profile:
        """The profile of the workspace."""
        return self.session.profile

    def settings(self) -> Settings:
        """The settings, of which every key has to be known."""
        return checked_settings(self.session)

    @property
    def wants_secrets_named(self) -> bool:
        """Whether the settings, as far as they can be read, want credentials told."""
        try:
            return self.settings().secrets != "off"
        except CrabmemError:
            return True


def error(path: str, message: str) -> Finding:
    """Something that does not work."""
    return Finding("error", path, message)


def warning(path: str, message: str) -> Finding:
    """Something that may do harm."""
    return Finding("warning", path, message)


def info(path: str, message: str) -> Finding:
    """Something worth knowing."""
    return Finding("info", path, message)
