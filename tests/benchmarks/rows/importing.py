"""Many facts at once: `crabmem import` of a folder."""

from collections.abc import Iterator

from crabmem.text.slug import slug_of

from ..bench import Bench, crabmem
from ..corpus import other_facts, text_of
from ..measure import measure
from ..row import Row, within
from ..timing import seconds


@measure(10_000)
def import_many(bench: Bench, entries: int) -> Iterator[Row]:
    """A thousand facts in one commit, as a fresh process."""
    folder, root, many = bench.corpora.folder("to-import"), bench.in_use(entries, "import"), bench.many(1000, 100)
    for fact in other_facts(many, seed=7):
        (folder / f"{slug_of(fact.name)}.md").write_text(text_of(fact))
    took = seconds(lambda: crabmem("--dir", root, "import", folder))
    bench.corpora.drop(root)
    what, state = f"`crabmem import` of {many:,} entries, fresh process", "recall's index is there; once, not repeated"
    figures = {"one entry ms": took / many * 1000}
    yield Row(what, "the clock", within({10_000: 5}, " s"), took, entries, state, figures=figures)
