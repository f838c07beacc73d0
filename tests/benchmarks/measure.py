"""What can be measured: the functions of `rows` that are marked with `@measure`."""

import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import import_module

from .bench import Bench
from .row import ANY, NO_TARGET, Row, thousands

#: The modules of `rows`, in the order of the table.
_MODULES = (
    "writing",
    "recalling",
    "commands",
    "serving",
    "latency",
    "growing",
    "memory",
    "changing",
    "importing",
    "syncing",
)

Rows = Callable[[Bench, int], Iterator[Row]]


@dataclass(frozen=True)
class Measure:
    """Rows that are measured together, by turns, and the numbers of entries at which that is worth its time."""

    name: str
    sizes: tuple[int, ...]
    rows: Rows

    @property
    def about(self) -> str:
        """What it measures."""
        return (self.rows.__doc__ or "").partition("\n")[0]

    def sizes_in(self, run: Collection[int]) -> list[int]:
        """The numbers of entries in a run of these: when none is one of ours, the largest there is."""
        if self.sizes == (ANY,):
            return [ANY]
        return [size for size in self.sizes if size in run] or [max(run)]


_measures: dict[str, Measure] = {}


def measure(*sizes: int) -> Callable[[Rows], Rows]:
    """Mark a function from a bench and a number of entries to rows, measured at these numbers of entries.

    `--rows` knows it by its name.
    """

    def marked(rows: Rows) -> Rows:
        name = rows.__name__.replace("_", "-")
        _measures[name] = Measure(name, sizes, rows)
        return rows

    return marked


def measures() -> dict[str, Measure]:
    """All that can be measured, by name, in the order of the table."""
    for module in _MODULES:
        import_module(f"tests.benchmarks.rows.{module}")
    return _measures


def measured(bench: Bench, names: Collection[str]) -> Iterator[Row]:
    """The rows of these names; of a measure that fails there is one without a figure, and the others go on."""
    for each in (each for name, each in measures().items() if name in names):
        for entries in each.sizes_in(bench.sizes):
            bench.say(f"{each.name}{f', {thousands(entries)} entries' * (entries != ANY)}: {each.about}")
            try:
                for row in each.rows(bench, entries):
                    bench.say(f"  {row.what}, against {row.against}: {row.cell} [{row.details}]")
                    yield row
            except Exception as error:  # an hour of other figures is worth more than the first fault
                traceback.print_exc(file=sys.stderr)
                yield Row(f"`{each.name}`", "–", NO_TARGET, None, entries, "", note=f"failed: {type(error).__name__}")
