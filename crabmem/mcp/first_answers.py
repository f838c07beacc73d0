"""A cache of the first answers of a server, its instructions and tools, for the next server with the same command.

A host gives a server about a second. To open the workspace and to describe the tools takes a good part of that on a
busy machine, so the same command over unchanged files is answered from here while memory is loaded. If memory then says
something else, the client is notified and the next one gets that. Loads nothing of memory.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from zlib import crc32

from .. import __version__
from ..disk.user_state import state_path
from .protocol import refuse_cursor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .protocol import Answer, Caller, Params
    from .served import Served

_FOLDER = "first-answers"
#: Files at most: a command's is named by its hash modulo this. Two commands may share one, and overwrite each other's.
_SLOTS = 4_096
#: `_PLACES`: options and variables whose values are paths. `_SETTINGS`: variables that decide which tools there are.
_PLACES = ("--dir", "--project", "--profile", "CRABMEM_DIR", "CRABMEM_PROJECT", "CRABMEM_PROFILE")
_SETTINGS = ("HOME", "CRABMEM_WORKSPACE", "CRABMEM_KIND", "CRABMEM_ONLY_THIS", *_PLACES)
#: The tools on offer depend on whether these are set. Their values may hold a password, and are not saved.
_SAID = ("CRABMEM_FLEET", "CRABMEM_FLEET_TOOL")
#: Modules whose code decides what tools and instructions say.
_CODE = ("crabmem.tools.", "crabmem.profiles.", "crabmem.prompt.")


class FirstAnswers:
    """Answers what hosts ask first, like `Served`, from saved `instructions` and the saved result of `tools/list`."""

    def __init__(self, instructions: str, tools: Answer) -> None:
        self.instructions, self.tools = instructions, tools

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FirstAnswers) and vars(self) == vars(other)

    def answer(self, method: str, params: Params, caller: Caller) -> Answer:
        """Return the tools, whatever the method: `Conversation` asks for nothing else before memory is loaded.

        Raises:
            Refused: there is a cursor; the list has one page.
        """
        refuse_cursor(params)
        return self.tools


def load(arguments: Sequence[str], environment: Mapping[str, str]) -> FirstAnswers | None:
    """Return what was saved for a command; None if nothing was, or a file that it depends on has changed since."""
    try:
        with open(_file(arguments, environment), "rb") as file:
            found = json.loads(file.read())
        is_same = found["command"] == _command(arguments, environment) and found["files"] == _stamps(found["files"])
        return FirstAnswers(found["instructions"], found["tools"]) if is_same else None
    except (OSError, ValueError, LookupError, TypeError):  # no file yet, or one in the format of another version
        return None


def save(arguments: Sequence[str], environment: Mapping[str, str], served: Served) -> FirstAnswers:
    """Return what a command answers first, now that memory is loaded, and save it for the next server.

    It is not saved while memory is paused, or if the same is saved already.
    """
    from contextlib import suppress
    from pathlib import Path

    from ..disk import fs
    from ..errors import CrabmemError
    from .protocol import Caller

    stamps = _stamps(_sources(served, environment))  # before the answers: a change in between makes them stale
    now = FirstAnswers(served.instructions, served.answer("tools/list", {}, Caller()))
    # A pause ends by its time, and no file that `load` compares changes then.
    if now != load(arguments, environment) and served.memory.engine.pause() is None:
        text = {"command": _command(arguments, environment), "files": stamps, **vars(now)}
        with suppress(OSError, CrabmemError):  # it is for speed alone
            file = Path(_file(arguments, environment))
            fs.make_folder(file.parent)
            fs.swap_in(file, json.dumps(text).encode())
    return now


def _file(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the path of the file for a command.

    Raises:
        OSError: the environment names no home, or the current folder is gone.
    """
    if (folder := state_path(environment)) is None:
        raise FileNotFoundError
    slot = crc32(repr(_command(arguments, environment)).encode("utf-8", "replace")) % _SLOTS
    return os.path.join(folder, _FOLDER, f"{slot}.json")


def _command(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return what identifies a command: our version, the current folder, settings from the environment, the arguments.

    The folder is "" if every path among them is absolute, so that the command means the same everywhere.
    """
    words = [part for word in arguments for part in word.split("=", 1)]
    settings = [part for name in _SETTINGS if name in environment for part in (name, environment[name])]
    said = [*words, *settings]
    is_anywhere = all(os.path.isabs(value) for name, value in pairwise(said) if name in _PLACES)
    named = [name for name in _SAID if environment.get(name)]
    return [__version__, "" if is_anywhere else os.getcwd(), *settings, *named, *arguments]


def _sources(served: Served, environment: Mapping[str, str]) -> list[str]:
    """Return the files that instructions and tools depend on: code, settings, the pause, permissions, the profile."""
    from ..disk.state import PAUSED
    from ..prompt.shipped import FILE, FOLDER
    from ..workspace.layout import SETTINGS

    root, profile = served.memory.root, served.memory.engine.profile_name
    code = [module.__file__ or "" for name, module in sys.modules.items() if name.startswith(_CODE)]
    around = [root.parent.parent / SETTINGS, root / SETTINGS, root / ".git" / "crabmem" / PAUSED]
    allowed = os.path.join(state_path(environment) or "", "allowed.json")
    # `profile` is the name of a family of ours or the path of a file. Whichever of the two paths below does not exist
    # has the stamp None, and keeps it.
    return [*code, *map(str, around), allowed, os.path.join(FOLDER, profile, FILE), profile]


def _stamps(files: Iterable[str]) -> dict[str, list[int] | None]:
    """Return time, size and inode of each file, to tell later whether it changed; None for one that is not there."""
    found: dict[str, list[int] | None] = {}
    for file in files:
        try:
            status = os.stat(file)
            found[file] = [status.st_mtime_ns, status.st_size, status.st_ino]  # a list, as JSON gives it back
        except OSError:
            found[file] = None
    return found
