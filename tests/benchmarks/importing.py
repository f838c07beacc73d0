"""Many facts at once: `crabmem import` of a folder."""

from collections.abc import Iterator

from crabmem.text.slug import slug_of

from .bench import Bench, crabmem
from .corpus import other_facts, text_of
from .row import Row, Target, seconds

_TARGET = Target("< 5 s", 5, at_most=True, unit=" s")
_MEANT = 10_000


def rows(bench: Bench) -> Iterator[Row]:
    """The row about importing."""
    entries, many = bench.size(_MEANT), 100 if bench.short else 1000
    folder, root = bench.corpora.folder("to-import"), bench.corpora.copy(entries, "import")
    for fact in other_facts(many, seed=7):
        (folder / f"{slug_of(fact.name)}.md").write_text(text_of(fact))
    crabmem("--dir", bench.settled(root), "recall", "anything")  # a workspace in use has an index
    took = seconds(lambda: crabmem("--dir", root, "import", folder))
    bench.corpora.drop(root)
    what = "`crabmem import` of 1,000 entries as a fresh process, 10k"
    yield Row(what, "the clock", _TARGET, took, entries, _MEANT, {"one entry ms": took / many * 1000})
