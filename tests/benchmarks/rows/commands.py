"""Commands as fresh processes, as a person, an agent or a host starts them, against Python itself."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..bench import Bench, bare_python, crabmem
from ..corpus import new_facts, questions
from ..measure import measure
from ..row import ANY, Row, compared, within
from ..timing import Action
from .writing import write_fresh

PYTHON = "`python -c pass`"
_STATE = "another process wrote an entry just before"
_TARGET = within({1_000: 8, 10_000: 13})


@dataclass(frozen=True)
class Command:
    """One command: what comes after `crabmem --dir FOLDER`, and on standard input, for a question that is new."""

    what: str
    words: Callable[[str], tuple[str, ...]]
    told: Callable[[str], str] = lambda question: ""


def of_host(question: str) -> str:
    """What a host says at any event of a session that is new."""
    return json.dumps({"session_id": os.urandom(4).hex(), "prompt": question, "stop_hook_active": False})


def _hook(event: str) -> Command:
    words = ("hook", event, "--host", "claude-code")
    return Command(f"`crabmem hook {event}`", lambda question: words, of_host)


_RECALL = Command(
    "`crabmem recall`, fresh process after another's write", lambda question: ("recall", *question.split())
)


@measure(1_000, 10_000, 100_000)
def recall_fresh(bench: Bench, entries: int) -> Iterator[Row]:
    """One recall as a fresh process."""
    yield from _rows(bench, entries, (_RECALL,))


@measure(1_000, 10_000)
def hooks(bench: Bench, entries: int) -> Iterator[Row]:
    """What a host waits for, as fresh processes."""
    yield from _rows(bench, entries, tuple(map(_hook, ("session-start", "prompt"))))


@measure(ANY)
def about(bench: Bench, entries: int) -> Iterator[Row]:
    """What crabmem says of itself, as a fresh process."""
    actions = {
        "crabmem": Action(partial(crabmem, "--help"), is_process=True),
        "python": Action(bare_python, is_process=True),
    }
    taken = bench.by_turns(actions, entries)
    yield compared("`crabmem --help`", PYTHON, within({ANY: 8}), ANY, "no workspace is looked at", taken)


def _rows(bench: Bench, entries: int, commands: Sequence[Command]) -> Iterator[Row]:
    """A row for each command, all measured by turns with bare Python."""
    root, asked, facts = bench.in_use(entries, "commands"), questions(entries), new_facts()
    actions = {each.what: _action(each, root, asked, lambda: write_fresh(root, next(facts))) for each in commands}
    actions["python"] = Action(bare_python, is_process=True)
    taken = bench.by_turns(actions, entries)
    for each in commands:
        both = {"crabmem": taken[each.what], "python": taken["python"]}
        lines = {"crabmem": "recall, fresh process"} if each is _RECALL else {}
        yield compared(each.what, PYTHON, _TARGET, entries, _STATE, both, lines=lines)


def _action(command: Command, root: Path, asked: Iterator[str], write: Callable[[], None]) -> Action:
    ready: list[str] = [""]

    def before() -> None:
        write()
        ready[0] = next(asked)

    def do() -> None:
        crabmem("--dir", root, *command.words(ready[0]), told=command.told(ready[0]))

    return Action(do, before, is_process=True)
