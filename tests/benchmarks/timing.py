"""How long actions take: wall and CPU time, in rounds of all of them."""

import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Do = Callable[[], object]
T = TypeVar("T")


def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Action:
    """What is timed, and what is done before it each time, untimed.

    The CPU time of a process is that of the children that were waited for; else it is our own.
    """

    run: Do
    before: Do = nothing
    is_process: bool = False


def with_each(
    use: Callable[[T], object], values: Iterator[T], before: Do = nothing, is_process: bool = False
) -> Action:
    """An action that is given the next value each time, which is made ready before."""
    ready: list[T] = []

    def make_ready() -> None:
        before()
        ready[:] = [next(values)]

    return Action(lambda: use(ready[0]), make_ready, is_process)


@dataclass(frozen=True)
class Taken:
    """The seconds that each round took, by the clock and of CPU.

    Where rounds did different things, as answering different questions, their minimum tells nothing.
    """

    wall: tuple[float, ...]
    cpus: tuple[float, ...] = ()
    are_alike: bool = True

    @property
    def median(self) -> float:
        """The median by the clock."""
        return statistics.median(self.wall)

    @property
    def least(self) -> float | None:
        """The minimum by the clock."""
        return min(self.wall) if self.are_alike else None

    @property
    def cpu(self) -> float | None:
        """The CPU time, its minimum where rounds were alike, else its median; None when it was not looked at."""
        return (min if self.are_alike else statistics.median)(self.cpus) if self.cpus else None

    def __str__(self) -> str:
        rounds = f"of {len(self.wall):,}"
        least = f"{rounds}, minimum {rounded(self.least * 1000)}" if self.least is not None else f"{rounds} different"
        cpu = f", CPU {rounded(self.cpu * 1000)}" if self.cpu is not None else ""
        return f"{rounded(self.median * 1000)} ms ({least}{cpu})"

    def as_data(self) -> dict[str, Any]:
        """The times for JSON."""
        return {
            "rounds": len(self.wall), "median_ms": self.median * 1000,
            "minimum_ms": None if self.least is None else self.least * 1000,
            "cpu_ms": None if self.cpu is None else self.cpu * 1000,
        }  # fmt: skip


def by_turns(actions: Mapping[str, Action], rounds: int, warm_up: int = 0) -> dict[str, Taken]:
    """The times of each action, in rounds of all of them, so that what else the machine does hits all alike.

    Every other round is in the opposite order, so that nobody is always behind the same one. The first `warm_up` rounds
    do not count.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in actions}
    for number in range(-warm_up, rounds):
        for name, action in list(actions.items())[:: -1 if number % 2 else 1]:
            action.before()
            took = _timed(action)
            if number >= 0:
                times[name].append(took)
    return {name: Taken(tuple(wall for wall, _ in took), tuple(cpu for _, cpu in took)) for name, took in times.items()}


def _timed(action: Action) -> tuple[float, float]:
    cpu = _cpu_of_children if action.is_process else time.process_time
    used, began = cpu(), time.perf_counter()
    action.run()
    wall = time.perf_counter() - began
    return wall, cpu() - used


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(action: Do) -> float:
    """How long an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def rounded(value: float) -> str:
    """A figure with the digits that mean something."""
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
