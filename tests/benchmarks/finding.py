"""`python -m tests.benchmarks recall --data FOLDER`: what recall finds in sets of data, and when it speaks by itself.

The figures of crabmem beside those of others, with the paired bootstrap interval of the difference: 2,000 samples of
the questions, drawn with replacement, the same for all. And R@10 of the half of the questions that rules were chosen
by, and of the other half.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crabmem.operations import context
from crabmem.text.evaluation import FIGURE_NAMES, Figures, mean
from crabmem.workspace.settings import AutoRecall

from .engines import BUDGET, OTHERS, crabmem, others, remembered, told_first, within_budget
from .mixed import all_names, loaded_or_made
from .sets import DEPTH, DataSet, Query, scored
from .silence import Heard, Verdict, judge, table
from .speaking import HALVES, KINDS, Speaking, own, silent
from .speaking import table as speaking_table

_OURS = "crabmem"
_SAMPLES = 2_000
_SEED = 1
_SHOWN = ("r@5", "r@10", "ndcg@10", "mrr")
#: Whose figures stand beside ours in the table of halves.
_BESIDE = "bm25s"
# Characters of a token of a model, about.
_TOKEN = 4

Values = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Difference:
    """A mean, as that of crabmem minus another, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    @property
    def shown(self) -> str:
        """As a figure that is no difference is shown."""
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Finding:
    """What came of one set: the figures of each question by engine, what auto-recall would hear, and when it speaks."""

    data: DataSet
    figures: dict[str, list[Figures]]
    heard: Heard
    speaking: Speaking = field(default_factory=Speaking)
    #: Of each question what share of the text of its evidence an answer within the budget shows, how many pieces of it
    #: are there, and how many characters that answer has.
    shown: list[tuple[float, int, int]] = field(default_factory=list)

    def difference(self, other: str, figure: str) -> Difference:
        """How much more crabmem finds than another."""
        return bootstrapped(self._values(_OURS, figure) - self._values(other, figure))

    def halves(self, other: str, figure: str = "r@10") -> dict[str, "Half"]:
        """The figure of the questions that rules were chosen by, and of the others."""
        is_tuned = np.array(self.data.is_tuned, dtype=bool)
        ours, theirs = self._values(_OURS, figure), self._values(other, figure)
        each = {"tuned": is_tuned, "untouched": ~is_tuned}
        return {name: Half.of(ours[those], theirs[those]) for name, those in each.items() if those.any()}

    def _values(self, name: str, figure: str) -> Values:
        at = FIGURE_NAMES.index(figure)
        return np.array([astuple(each)[at] for each in self.figures[name]], dtype=np.float64)


@dataclass(frozen=True)
class Half:
    """A figure of crabmem in some of the questions, its interval, and the interval of its difference to another's."""

    questions: int
    ours: Difference
    theirs: float
    more: Difference

    @classmethod
    def of(cls, ours: Values, theirs: Values) -> "Half":
        """From the figures of each question."""
        return cls(len(ours), bootstrapped(ours), float(theirs.mean()), bootstrapped(ours - theirs))


def bootstrapped(differences: Values) -> Difference:
    """The mean of differences by question, and its 95 % interval over samples of the questions."""
    random = np.random.default_rng(_SEED)
    drawn = random.integers(len(differences), size=(_SAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return Difference(float(differences.mean()), float(low), float(high))


def main(arguments: Sequence[str]) -> None:
    """Measure what the arguments ask for."""
    given = _arguments(arguments)
    every = [loaded_or_made(given.data, name) for name in given.sets]
    found = [_measured(each, every, given) for each in every]
    for name in OTHERS:
        if name not in found[0].figures:
            print(f"{name} is not installed", file=sys.stderr)
    threshold = AutoRecall().threshold if given.threshold is None else given.threshold
    verdicts = _verdicts(found, threshold)
    if given.json:
        given.json.write_text(_as_json(found, verdicts, threshold), "utf-8")
    tables = [*(_table(each) for each in found), _halves(found), _within(found)]
    tables += [list(table(verdicts, threshold))] if verdicts else []
    if heard := {each.data.name: each.speaking for each in found if not each.data.is_mixed}:
        tables.append(list(speaking_table(heard, threshold)))
    print("\n\n".join(laid_out(each, given.markdown) for each in tables))


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    about = (__doc__ or "").partition(": ")[2]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks recall", description=about)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the sets are, a folder each")
    parser.add_argument("--sets", metavar="NAME,…", help="only these of them")
    parser.add_argument("--words", type=int, metavar="N", help="ask with the first N words of each question only")
    parser.add_argument("--names", action="store_true", help="give the others the names of entries, too")
    parser.add_argument("--threshold", type=float, metavar="T", help="of auto-recall; else the one it has by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--markdown", action="store_true", help="print tables of Markdown")
    given = parser.parse_args(arguments)
    there = all_names(given.data)
    given.sets = given.sets.split(",") if given.sets else there
    if unknown := set(given.sets) - set(there) or (not there and {"any"}):
        parser.error(f"{given.data} has no set {', '.join(sorted(unknown))}; it has: {', '.join(there) or 'none'}")
    return given


# Measuring


def _measured(data: DataSet, every: Iterable[DataSet], given: argparse.Namespace) -> Finding:
    """Ask all questions of a set of every engine, and let auto-recall hear those of other domains."""
    print(f"{data.name}: {data.entries} entries, {len(data.queries)} questions", file=sys.stderr, flush=True)
    elsewhere = [each for each in every if each.domain != data.domain and not each.is_mixed]
    every_off = list(dict.fromkeys(query.text for each in elsewhere for query in each.queries))
    finding, (messages, openings) = Finding(data, {}, Heard()), own()
    for number, store in enumerate(data.stores):
        with tempfile.TemporaryDirectory() as folder, remembered(store.records, Path(folder) / "memory") as memory:
            searches = {_OURS: crabmem(memory, store.records), **others(store.records, given.names)}
            for name, search in searches.items():
                asked = ((query, _text(query, given.words)) for query in store.queries)
                rows = [scored(search(text, DEPTH), query) for query, text in asked]
                finding.figures.setdefault(name, []).extend(rows)
            finding.shown.extend(within_budget(memory, store.records, query) for query in store.queries)
            if data.is_mixed:  # what it is about is measured in its parts
                continue
            questions, off = [query.text for query in store.queries], every_off[number :: len(data.stores)]
            finding.heard.listen(judge(memory), questions, off)
            sure = partial(context.confidence, memory)
            finding.speaking.listen(sure, {"bare": questions, **silent(messages), "other domain": off})
            finding.speaking.listen_within(sure, questions, openings)
            for query in store.queries:
                if told := told_first(memory, store.records, query.text):
                    right = (any(found in unit for unit in query.units) for found in told)
                    finding.speaking.compare(query.text, *right)
    return finding


def _text(query: Query, words: int | None) -> str:
    return " ".join(query.text.split()[:words])


def _verdicts(found: Sequence[Finding], threshold: float) -> dict[str, Verdict]:
    """What auto-recall makes of each set and of all; none where all is one domain."""
    heard = {each.data.name: each.heard for each in found if not each.data.is_mixed}
    together = sum(heard.values(), Heard())
    if not together.off:
        return {}
    return {name: Verdict.of(each, threshold) for name, each in {**heard, "all": together}.items()}


# Telling


def _table(found: Finding) -> list[tuple[str, ...]]:
    """The figures of one set as lines of cells, the head first; the differences are of the figure that counts."""
    counts = found.data.counts
    compared = (counts, "ndcg@10")
    lines = [(found.data.name, *_SHOWN, *(f"{_OURS} − it, {figure}" for figure in compared))]
    for name, rows in found.figures.items():
        shown = mean(rows).by_name()
        ours = name == _OURS
        differences = ("" if ours else str(found.difference(name, figure)) for figure in compared)
        lines.append((name, *(f"{shown[figure]:.3f}" for figure in _SHOWN), *differences))
    return lines


def _halves(found: Iterable[Finding]) -> list[tuple[str, ...]]:
    """R@10 of both halves of each set."""
    lines: list[tuple[str, ...]] = [("R@10", "half", "questions", _OURS, _BESIDE, f"{_OURS} − it")]
    for each in found:
        for name, half in each.halves(_BESIDE).items():
            lines.append(
                (each.data.name, name, str(half.questions), half.ours.shown, f"{half.theirs:.3f}", str(half.more))
            )
    return lines


def _within(found: Iterable[Finding]) -> list[tuple[str, ...]]:
    """What an answer within a budget shows of the evidence, and what that costs."""
    head = f"within {BUDGET:,} characters", "evidence shown", "characters", "tokens per piece"
    lines: list[tuple[str, ...]] = [head]
    for each in found:
        shares, pieces, characters = (np.array(column, dtype=np.float64) for column in zip(*each.shown, strict=True))
        tokens = characters.sum() / _TOKEN / max(1.0, pieces.sum())
        lines.append((each.data.name, bootstrapped(shares).shown, f"{characters.mean():,.0f}", f"{tokens:,.0f}"))
    return lines


def laid_out(lines: Sequence[Sequence[str]], markdown: bool) -> str:
    if markdown:
        ruler = ["---", *("---:" for _ in lines[0][1:])]
        return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], ruler, *lines[1:]])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _as_json(found: Iterable[Finding], verdicts: dict[str, Verdict], threshold: float) -> str:
    sets = {each.data.name: _as_data(each) for each in found}
    silence = {"threshold": threshold, **{name: asdict(verdict) for name, verdict in verdicts.items()}}
    speaking = {each.data.name: _speaking(each.speaking, threshold) for each in found}
    data = {"sets": sets, "auto_recall": silence, "speaking": speaking}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _speaking(found: Speaking, threshold: float) -> dict[str, Any]:
    """By half and kind, how many messages there were, the share that is spoken to and its interval."""
    shares = {name: {kind: found.share(kind, name, threshold) for kind in KINDS} for name in HALVES}
    for name in HALVES:
        shares[name] |= dict(zip(("right fact first", "in recall"), found.right_first(name), strict=True))
    return {
        name: {kind: {"messages": it.messages, "spoken": it.value, "interval": it.interval} for kind, it in of.items()}
        for name, of in shares.items()
    }


def _as_data(found: Finding) -> dict[str, Any]:
    differences = {
        name: {figure: asdict(found.difference(name, figure)) for figure in _SHOWN}
        for name in found.figures
        if name != _OURS
    }
    return {
        "entries": found.data.entries, "questions": len(found.data.queries), "counts": found.data.counts,
        "figures": {name: mean(rows).by_name() for name, rows in found.figures.items()}, "differences": differences,
        "within": {"shown": asdict(bootstrapped(np.array([share for share, _, _ in found.shown])))},
        "halves": {name: asdict(half) for name, half in found.halves(_BESIDE).items()},
    }  # fmt: skip
