"""What every check of the doctor is given."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ...disk.scan import Scan
from ...errors import CrabmemError
from ...results import Finding
from ...session.engine import Engine
from ...session.rules import checked_settings
from ...session.session import Session
from ...workspace.settings import Settings


@dataclass(frozen=True)
class Patient:
    """The workspace to examine: a session on it, and `scan`, its files as they were a moment ago.

    `progress` is called with how many objects of the history were looked at.
    """

    session: Session
    scan: Scan
    now: datetime
    progress: Callable[[int], None]

    @property
    def engine(self) -> Engine:
        """The parts of the workspace."""
        return self.session.engine

    def settings(self) -> Settings:
        """The settings.

        Raises:
            InvalidSettings: they cannot be read, or a key is unknown.
        """
        return checked_settings(self.session)

    @property
    def wants_secrets_named(self) -> bool:
        """Whether credentials are to be reported: unless the settings say no, and where they cannot be read."""
        try:
            return self.settings().secrets != "off"
        except CrabmemError:
            return True


error = partial(Finding, "error")  # something does not work
warning = partial(Finding, "warning")  # something may do harm
info = partial(Finding, "info")  # something is worth knowing
