"""Commands as fresh processes, as a person, an agent or a host starts them, against Python itself."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crabmem import Fact
from crabmem.workspace.layout import SETTINGS

from ..bench import Bench, bare_python, crabmem
from ..corpus import facts, new_facts, questions
from ..measure import measure
from ..row import ANY, NO_TARGET, Row, Target, compared, within
from ..timing import Action
from .writing import write_fresh

PYTHON = "`python -c pass`"
_AFTER_A_WRITE = "another process wrote an entry just before"
_MOST_FOR_ALL = 10_000


_facts: Iterator[Fact] = new_facts()


def _written(root: Path) -> None:
    """Write an entry in another process."""
    write_fresh(root, next(_facts))


@dataclass(frozen=True)
class Command:
    """One command: what comes after `crabmem --dir FOLDER`, given a question nobody asked before, and in which state.

    `before` is done to the workspace before each time. `folder` names the workspace: those of one name share it.
    """

    what: str
    words: Callable[[str], tuple[str, ...]]
    target: Target
    state: str = _AFTER_A_WRITE
    before: Callable[[Path], object] = _written
    folder: str = "commands"
    told: Callable[[str], str] = lambda question: ""
    is_users: bool = False


def _evicted(root: Path) -> None:
    """Write an entry, and have the system forget the bytes of every file of the workspace."""
    _written(root)
    os.sync()  # what is not on the disk stays in memory
    for file in (file for file in root.rglob("*") if file.is_file()):
        handle = os.open(file, os.O_RDONLY)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def _is_evicted(root: Path) -> bool:
    """Whether the system forgets bytes when it is told to: not on every file system, and not on every system."""
    try:
        _evicted(root)
        handle = os.open(root / ".git/index", os.O_RDONLY)
        try:
            return os.preadv(handle, [bytearray(1)], 0, os.RWF_NOWAIT) == 0
        except BlockingIOError:
            return True  # it would have to ask the disk
        finally:
            os.close(handle)
    except (AttributeError, OSError):
        return False


def _in_use(root: Path) -> None:
    """Leave the workspace as it is."""


def _recall(*options: str) -> Callable[[str], tuple[str, ...]]:
    return lambda question: ("recall", *options, *question.split())


def _always(*words: str) -> Callable[[str], tuple[str, ...]]:
    return lambda question: words


_WITHIN = within({1_000: 8, 10_000: 13})
_PLAIN = Command("`crabmem recall`, fresh process after another's write", _recall(), _WITHIN, is_users=True)
_SETTLED = Command(
    "`crabmem recall`, nothing written meanwhile",
    _recall(),
    NO_TARGET,
    "a special state: nothing was written since the last recall, nor in the last seconds",
    before=_in_use,
    folder="recall",
)
_COLD = Command(
    "`crabmem recall`, file caches cold",
    _recall(),
    NO_TARGET,
    f"{_AFTER_A_WRITE}, and the system was told to forget the bytes of all files of the workspace; it still knows their"
    " names, and Python",
    before=_evicted,
)
_RECALLS = (
    _PLAIN,
    Command("`crabmem recall`, with `crabmem.toml`", _recall(), _WITHIN, folder="commands-toml"),
    Command("`crabmem recall --json`", _recall("--json"), _WITHIN),
    Command("`crabmem recall`, no match", _always("recall", "qqxyzzy", "wwplugh"), _WITHIN),
    _SETTLED,
    _COLD,
)


@measure(1_000, 10_000, 100_000)
def recall_fresh(bench: Bench, entries: int) -> Iterator[Row]:
    """One recall as a fresh process, in each state it may be in; of very many entries only with a write and without."""
    every = _RECALLS if entries <= _MOST_FOR_ALL else (_PLAIN, _SETTLED)
    measurable = [each for each in every if each is not _COLD or _is_evicted(bench.in_use(entries, _COLD.folder))]
    yield from _rows(bench, entries, measurable)
    if len(measurable) < len(every):
        note = "this file system does not forget bytes when it is told to"
        yield Row(_COLD.what, PYTHON, NO_TARGET, None, entries, _COLD.state, note=note)


_HOOKS = ("session-start", "prompt", "stop")
_TEN = within({1_000: 10, 10_000: 10})


def of_host(question: str) -> str:
    """What a host says at any event of a session that is new."""
    return json.dumps({"session_id": os.urandom(4).hex(), "prompt": question, "stop_hook_active": False})


def _hook(event: str) -> Command:
    words = _always("hook", event, "--host", "claude-code")
    return Command(f"`crabmem hook {event}`", words, _TEN, told=of_host, is_users=event == "prompt")


@measure(1_000, 10_000)
def commands(bench: Bench, entries: int) -> Iterator[Row]:
    """What else a person, an agent or its host waits for, as fresh processes."""
    plain = {"show": ("show", facts(entries)[0].name), "list": ("list",), "log": ("log",), "prompt": ("prompt",)}
    verbs = (Command(f"`crabmem {verb}`", _always(*words), _TEN) for verb, words in plain.items())
    yield from _rows(bench, entries, (*verbs, *map(_hook, _HOOKS)))


@measure(ANY)
def about(bench: Bench, entries: int) -> Iterator[Row]:
    """What crabmem says of itself, as a fresh process."""
    actions = {words: Action(partial(crabmem, words), is_process=True) for words in ("--version", "--help")}
    actions["python"] = Action(bare_python, is_process=True)
    taken = bench.by_turns(actions, entries)
    for words in ("--version", "--help"):
        both = {"crabmem": taken[words], "python": taken["python"]}
        yield compared(f"`crabmem {words}`", PYTHON, within({ANY: 4}), ANY, "no workspace is looked at", both)


def _rows(bench: Bench, entries: int, commands: Sequence[Command]) -> Iterator[Row]:
    """A row for each command, all measured by turns with bare Python."""
    roots = {each.folder: bench.in_use(entries, each.folder) for each in commands}
    if toml := roots.get("commands-toml"):
        (toml / SETTINGS).write_text("recall_limit = 5\n")
    asked = questions(entries)
    actions = {each.what: _action(each, roots[each.folder], asked) for each in commands}
    actions["python"] = Action(bare_python, is_process=True)
    taken = bench.by_turns(actions, entries)
    for each in commands:
        both = {"crabmem": taken[each.what], "python": taken["python"]}
        lines = {"crabmem": "recall, fresh process"} if each is _PLAIN else {}
        yield compared(each.what, PYTHON, each.target, entries, each.state, both, is_users=each.is_users, lines=lines)


def _action(command: Command, root: Path, asked: Iterator[str]) -> Action:
    ready: list[str] = [""]

    def before() -> None:
        command.before(root)
        ready[0] = next(asked)

    def do() -> None:
        crabmem("--dir", root, *command.words(ready[0]), told=command.told(ready[0]))

    return Action(do, before, is_process=True)
