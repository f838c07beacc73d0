"""The peak memory of a process that serves recalls."""

import json
from collections.abc import Iterator

from .bench import Bench, in_child
from .corpus import queries, size_of_entries
from .row import Row, within

_MEANT = 100_000
_MB = 1_000_000


def rows(bench: Bench) -> Iterator[Row]:
    """The row about memory; the cache is valid, as it was left by another process."""
    entries = bench.size(_MEANT)
    root, asked = bench.settled(bench.corpora.copy(entries, "recall")), json.dumps(queries(20, entries))
    in_child("peak", root, asked)
    peak, size = in_child("peak", root, asked)["bytes"], size_of_entries(root)
    figures = {"peak MB": peak / _MB, "entries MB": size / _MB}
    what = "peak memory of a process serving recall, 100k"
    yield Row(what, "size of the entries", within(6), peak / size, entries, _MEANT, figures)
