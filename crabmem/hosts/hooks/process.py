"""One hook as a process: an answer before the deadline, and a line in the log when something was wrong."""

import faulthandler
import json
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ...disk import fs, state
from ...disk.allowed import Allowed
from ...disk.system import age_of_process
from ...errors import CrabmemError, InvalidArguments
from ...session.locate import known_settings_at, place_meant, workspace_at
from ...text.times import local
from ...workspace.workspace import Workspace
from ..host import PROMPT
from ..table import HOSTS
from . import read_ahead
from .command import Command, Reply
from .events import Call, answer
from .input import HookInput, parse_input

_MAX_LOG_BYTES = 64_000
_MAX_LOG_LINE = 500
# Seconds after the deadline until the process is killed, whatever it does; and seconds for what follows a late answer,
# which a busy machine may need.
_GRACE, _AFTER_ANSWER = 0.5, 2.0
# The flags of a hook's command line, by the arguments that the texts of errors name as ways out.
_FLAGS = {"root=…": "--dir", "profile=…": "--profile"}
# Seconds. `setitimer` with 0 would clear the timer, and the deadline would never come.
_SHORTEST_TIMER = 0.000_001


def answer_in_time(
    command: Command, environment: Mapping[str, str], reply: Reply, read_input: Callable[[], bytes]
) -> None:
    """Answer a hook before its deadline: with nothing, and a line in the log, if there is an error.

    The deadline itself may end the process within (`_end_in_time`).
    """
    root: Path | None = None
    try:
        root = root_of(command, environment)
        _end_in_time(reply, root, command)
        reply.give(answer_command(command, environment, root, read_input, reply.claim))
        warn(root, command)
    except Exception as error:  # any: no error may disturb the host
        reply.give(command.nothing)
        words = error.text(_FLAGS) if isinstance(error, CrabmemError) else str(error)
        log(root, command, words or type(error).__name__)


def answer_command(
    command: Command,
    environment: Mapping[str, str],
    root: Path,
    read_input: Callable[[], bytes],
    claim: Callable[[], bool] = lambda: True,
) -> bytes:
    """Do what a hook's command asks for, and return the answer to print.

    Raises:
        CrabmemError: the command is wrong, or its event cannot be answered.
    """
    if command.odd or len(command.words) > 2:
        raise InvalidArguments(f"wrong usage: {command.odd or command.words[2]}")
    given = parse_input(read_input(), command.event, command.options.get("--host"))
    return answer_event(given, root, command, environment, claim)


def warn(root: Path, command: Command) -> None:
    """Log what is wrong with the settings, if a hook can be answered all the same (unknown keys).

    Raises:
        CrabmemError: the settings cannot be read.
    """
    if problem := known_settings_at(root)[1]:
        log(root, command, f"warning: {problem}")


def answer_event(
    given: HookInput, root: Path, command: Command, environment: Mapping[str, str], claim: Callable[[], bool]
) -> bytes:
    """Do what an event calls for, and return the answer to print; b"" if printing {} would be words to the model.

    Options of the command precede variables of the environment, and these what the host wrote.
    """
    agent = command.options.get("--agent") or environment.get("CRABMEM_AGENT") or given.host
    session = command.options.get("--session") or environment.get("CRABMEM_SESSION") or given.session
    profile = command.options.get("--profile") or environment.get("CRABMEM_PROFILE") or None
    without = command.options.get("--without", "")
    kind = command.options.get("--kind") or environment.get("CRABMEM_KIND") or "main"
    workspace = workspace_at(root, profile, Allowed(environment))
    named = os.path.expanduser(command.options.get("--project", environment.get("CRABMEM_PROJECT", "")))
    project = os.path.join(_session_folder(command, environment) or os.curdir, named)
    call = Call(workspace, given, agent, session, _now(), claim, kind, environment, without, command.is_guide, project)
    answered = answer(call)
    return b"" if given.event in given.dialect.mute and not answered else json.dumps(answered).encode() + b"\n"


def log(root: Path | None, command: Command, message: str) -> None:
    """Add a line to the log of hooks, if there is a workspace. A log that is too long loses its older half."""
    file = Workspace(root).private / state.HOOKS_LOG if root else None
    if file is None or not fs.is_own_folder(file.parent):
        return
    about = " ".join([*command.words, command.options.get("--host", "")]).strip()
    line = " ".join(f"{_now():%Y-%m-%d %H:%M:%S} {about}: {message}".split())[:_MAX_LOG_LINE]
    with suppress(OSError):
        fs.append(file, line.encode("utf-8", "replace") + b"\n")
        if file.stat().st_size > _MAX_LOG_BYTES:
            lines = fs.read(file)[0].splitlines(keepends=True)
            fs.swap_in(file, b"".join(lines[len(lines) // 2 :]))


def _now() -> datetime:
    return local(datetime.now(UTC))


def root_of(command: Command, environment: Mapping[str, str]) -> Path:
    """Return the folder of the workspace that a command is about, by options, environment and the session's folder."""
    said, began = command.options, _session_folder(command, environment)
    place = place_meant(
        said.get("--dir"), said.get("--project"), said.get("--workspace"), environment, str(Path.home()), began
    )
    return Path(place).absolute()


def _session_folder(command: Command, environment: Mapping[str, str]) -> str | None:
    """Return the folder in which the session began; None if the host does not name it in the environment.

    The current folder will not do: an agent may have changed it since.
    """
    host = next((each for each in HOSTS if each.name == command.options.get("--host")), None)
    return environment.get(host.hooks.project) if host and host.hooks else None


def _end_in_time(reply: Reply, root: Path, command: Command) -> None:
    """Arm two timers, so that this process ends in time, whatever it is doing then.

    At the deadline, which counts from the start of the process, SIGALRM calls `_late`. The signal interrupts waiting,
    Python code, and nearly every regular expression. If something still blocks the interpreter `_GRACE` seconds later,
    a C thread of `faulthandler` exits with 1 and prints the traceback on stderr.
    """
    left, late = max(0, command.deadline - age_of_process()), partial(_late, reply, root, command)
    signal.signal(signal.SIGALRM, lambda number, frame: late())
    signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST_TIMER))
    faulthandler.dump_traceback_later(left + _GRACE, exit=True, file=2)


def _late(reply: Reply, root: Path, command: Command) -> None:
    """At the deadline answer with nothing, log that, and end the process; return if the answer is being given already.

    A write that this interrupts is finished by the next one. If a message went unanswered, another process reads what
    was missing, so that the next hook is faster.
    """
    if reply.give(command.nothing, is_late=True):
        faulthandler.dump_traceback_later(_AFTER_ANSWER, exit=True, file=2)  # replaces the timer of `_end_in_time`
        log(root, command, f"no answer within {command.deadline:g} s")
        if command.event in (None, PROMPT):
            read_ahead.begin(Workspace(root))
        os._exit(0)
