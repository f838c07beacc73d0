"""A pause of a workspace on this machine: until when memory does not speak unasked.

It lies in a file that no tool writes, and in no history. What cannot be read is no pause.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

from ..text.values import value
from . import fs, state


@value
class Pause:
    """Since when memory is paused, and until when; None until a person resumes it."""

    since: datetime
    until: datetime | None


def read_pause(private: Path, now: datetime) -> Pause | None:
    """The pause of the workspace with that private folder; None where there is none, or it is over `now`."""
    file = private / state.PAUSED
    if not os.path.lexists(file) or not fs.is_own_folder(private):
        return None
    try:
        said = json.loads(fs.read(file)[0])
        until = said["until"]
        found = Pause(datetime.fromisoformat(said["since"]), until and datetime.fromisoformat(until))
        return None if found.until and found.until <= now else found
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def pause_words(pause: Pause, now: datetime) -> str:
    """What a person is told of a pause, in the zone of `now`."""
    until = f" until {pause.until.astimezone(now.tzinfo):%Y-%m-%d %H:%M}" if pause.until else ""
    return f"memory is paused{until}, and does not speak unasked"


def write_pause(private: Path, pause: Pause) -> None:
    """Begin a pause, in place of any other.

    Raises:
        OSError: the disk refused.
    """
    until = pause.until and pause.until.isoformat()
    fs.swap_in(private / state.PAUSED, json.dumps({"since": pause.since.isoformat(), "until": until}).encode())


def remove_pause(private: Path) -> None:
    """End the pause, if there is one.

    Raises:
        OSError: the disk refused.
    """
    if os.path.lexists(private / state.PAUSED):
        fs.unlink(private / state.PAUSED)
