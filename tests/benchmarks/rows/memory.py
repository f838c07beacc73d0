"""The memory of a process that recalls."""

import json
from collections.abc import Iterator
from itertools import islice

from ..bench import Bench, in_child
from ..corpus import questions, size_of_entries
from ..measure import measure
from ..row import Row, within

_MB = 1_000_000
_QUESTIONS = 200


@measure(10_000, 100_000)
def peak_memory(bench: Bench, entries: int) -> Iterator[Row]:
    """The peak memory of a process that serves recalls."""
    root, asked = bench.in_use(entries, "recall"), list(islice(questions(entries), _QUESTIONS))
    peak, size = in_child("peak", root, json.dumps(asked))["bytes"], size_of_entries(root)
    figures = {"peak MB": peak / _MB, "entries MB": size / _MB}
    state = f"a fresh process that answers {_QUESTIONS} questions, each once; the index was kept by another"
    what, target = "peak memory of a process serving recall", within({100_000: 4})
    yield Row(what, "size of the entries", target, peak / size, entries, state, figures=figures)
