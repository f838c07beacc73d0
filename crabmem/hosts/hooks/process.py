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
# Seconds after the deadline until the process is ended, whatever it does; and seconds for the work after the answer.
# A busy machine may need them.
_GRACE, _AFTER_ANSWER = 0.5, 2.0
# What a hook's command line calls the arguments that errors offer as ways out.
_FLAGS = {"root=…": "--dir", "profile=…": "--profile"}
# Seconds: 0 would set no timer.
_SHORTEST_TIMER = 0.000_001


def answer_in_time(
    command: Command, environment: Mapping[str, str], reply: Reply, read_input: Callable[[], bytes]
) -> None:
    """Answer a hook before its deadline: with nothing, and a line in the log, when that is not possible."""
    root: Path | None = None
    try:
        root = root_of(command, environment)
        _end_in_time(reply, root, command)
        reply.give(answer_command(command, environment, root, read_input, reply.claim))
        warn(root, command)
    except Exception as error:  # whatever it is, it is none of the host's business
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
    """The answer to a command, as the host reads it.

    Raises:
        CrabmemError: there is none.
    """
    if command.odd or len(command.words) > 2:
        raise InvalidArguments(f"wrong usage: {command.odd or command.words[2]}")
    given = parse_input(read_input(), command.event, command.options.get("--host"))
    return answer_event(given, root, command, environment, claim)


def warn(root: Path, command: Command) -> None:
    """Note what is wrong with the settings, where that keeps nobody from answering."""
    if problem := known_settings_at(root)[1]:
        log(root, command, f"warning: {problem}")


def answer_event(
    given: HookInput, root: Path, command: Command, environment: Mapping[str, str], claim: Callable[[], bool]
) -> bytes:
    """The answer to an event, as the host reads it."""
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
    """Note what went wrong, where there is a workspace; the older half of many lines goes."""
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
    """The workspace that a command is about."""
    said, began = command.options, _session_folder(command, environment)
    place = place_meant(
        said.get("--dir"), said.get("--project"), said.get("--workspace"), environment, str(Path.home()), began
    )
    return Path(place).absolute()


def _session_folder(command: Command, environment: Mapping[str, str]) -> str | None:
    """Where the session began, if the host says so: an agent may have gone elsewhere since."""
    host = next((each for each in HOSTS if each.name == command.options.get("--host")), None)
    return environment.get(host.hooks.project) if host and host.hooks else None


def _end_in_time(reply: Reply, root: Path, command: Command) -> None:
    """See to it that this process ends at the deadline, whatever it is doing then.

    A signal interrupts waiting, Python, and nearly every regular expression. What holds the interpreter against it is
    ended by a thread of C, with 1, and where that was is said on stderr.
    """
    left, late = max(0, command.deadline - age_of_process()), partial(_late, reply, root, command)
    signal.signal(signal.SIGALRM, lambda number, frame: late())
    signal.setitimer(signal.ITIMER_REAL, max(left, _SHORTEST_TIMER))
    faulthandler.dump_traceback_later(left + _GRACE, exit=True, file=2)


def _late(reply: Reply, root: Path, command: Command) -> None:
    """Say nothing rather than something late. What is being written then is finished by the next write."""
    if reply.give(command.nothing, is_late=True):
        faulthandler.dump_traceback_later(_AFTER_ANSWER, exit=True, file=2)  # instead of the one that is under way
        log(root, command, f"no answer within {command.deadline:g} s")
        if command.event in (None, PROMPT):
            read_ahead.begin(Workspace(root))
        os._exit(0)
