"""`python -m tests.benchmarks`: measure, and print each figure beside its target.

The whole run takes about a quarter of an hour, most of it in the 100,000 entries. `page` puts what RESULTS.md
says into `docs/speed.md`; `recall --data FOLDER` measures what recall finds instead, in sets of retrieval data, and
`ablation --data FOLDER` what it finds without each of its rules.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from . import report
from .bench import Bench
from .corpus import Corpora
from .measure import measured, measures

_SIZES = (1_000, 10_000, 100_000)
_REPEATS = 15


def main() -> int:
    """Do what the arguments ask for; 1 when a measure failed."""
    if sys.argv[1:2] in (["recall"], ["ablation"]):
        # Those who are compared are loaded only here: where time is taken nothing else runs.
        from . import ablation, finding

        (finding if sys.argv[1] == "recall" else ablation).main(sys.argv[2:])
        return 0
    if sys.argv[1:] == ["page"]:
        report.write_page()
        return 0
    given, load = _arguments(), os.getloadavg()[0]
    if given.keep:
        Path(given.keep).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="crabmem-bench-", dir=given.keep) as scratch:
        folder = Path(given.keep or scratch)
        bench = Bench(given.entries, given.repeats, Corpora(folder, Path(scratch) / "copies"), say, given.short)
        rows = []
        for row in measured(bench, given.rows):
            rows.append(row)
            run = report.Run.of(folder, given.repeats, load)
            if given.json:  # again and again: an hour may be cut short
                given.json.write_text(report.as_json(rows, run), "utf-8")
    if given.write:
        report.write(rows, run)
    print(f"{run}\n\n{report.table(rows)}")
    return int(any(row.note.startswith("failed") for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("--entries", type=_sizes, metavar="N,…", help="sizes of the workspaces (1000,10000,100000)")
    parser.add_argument("--rows", type=_names, metavar="NAME,…", help=f"only these of: {', '.join(measures())}")
    parser.add_argument("--repeats", type=int, metavar="N", help=f"rounds for each median ({_REPEATS})")
    parser.add_argument("--keep", metavar="FOLDER", help="where workspaces are kept for the next run, and copied to")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--write", action="store_true", help="put all rows into RESULTS.md and docs/speed.md, and draw the curve"
    )
    parser.add_argument("--short", action="store_true", help="1,000 entries, few repeats: does it run at all")
    given = parser.parse_args()
    if given.write and given.rows:
        parser.error("--write needs all rows: what RESULTS.md says is of one run")
    given.rows = given.rows or tuple(measures())
    given.entries = given.entries or (_SIZES[:1] if given.short else _SIZES)
    given.repeats = given.repeats or (1 if given.short else _REPEATS)
    return given


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part) for part in text.replace("_", "").split(",")))


def _names(text: str) -> tuple[str, ...]:
    wanted = tuple(text.split(","))
    if unknown := set(wanted) - set(measures()):
        there = ", ".join(measures())
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}; there are: {there}")
    return wanted


def say(text: str) -> None:
    """Talk to the person, beside the figures."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
