"""`python -m tests.benchmarks`: measure, and print each figure beside its target.

The whole run takes about an hour, most of it in the 100,000 entries of those who are compared.
`recall --data FOLDER` measures what recall finds instead, in sets of retrieval data.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from . import GROUPS, measured, report
from .bench import Bench
from .corpus import Corpora
from .row import Row

_SIZES = (1_000, 10_000, 100_000)
_REPEATS = 15


def main() -> None:
    """Measure what the arguments ask for."""
    if sys.argv[1:2] == ["recall"]:
        from . import finding  # those who are compared are loaded only here: where time is taken nothing else runs

        return finding.main(sys.argv[2:])
    given = _arguments()
    if given.keep:
        Path(given.keep).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="crabmem-bench-", dir=given.keep) as scratch:
        folder = Path(given.keep or scratch)
        bench = Bench(given.entries, given.repeats, Corpora(folder, Path(scratch) / "copies"), say, given.short)
        rows = list(measured(bench, given.rows))
    _write(given, bench, rows)
    print(report.markdown(rows) if given.markdown else report.table(rows))
    if bench.points:
        print("\n" + report.curve(bench.points, "|" if given.markdown else "  "))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("--entries", type=_sizes, metavar="N,…", help="sizes of the workspaces (1000,10000,100000)")
    parser.add_argument(
        "--rows", type=_groups, default=tuple(GROUPS), metavar="GROUP,…", help=f"of: {', '.join(GROUPS)}"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help=f"rounds for each median ({_REPEATS})")
    parser.add_argument("--keep", metavar="FOLDER", help="where workspaces are kept for the next run, and copied to")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw the curve there")
    parser.add_argument("--markdown", action="store_true", help="print tables of Markdown")
    parser.add_argument("--short", action="store_true", help="1,000 entries, few repeats: does it run at all")
    given = parser.parse_args()
    given.entries = given.entries or (_SIZES[:1] if given.short else _SIZES)
    given.repeats = given.repeats or (2 if given.short else _REPEATS)
    return given


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(sorted(int(part) for part in text.replace("_", "").split(",")))


def _groups(text: str) -> tuple[str, ...]:
    wanted = tuple(text.split(","))
    if unknown := set(wanted) - set(GROUPS):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(GROUPS)}")
    return wanted


def _write(given: argparse.Namespace, bench: Bench, rows: list[Row]) -> None:
    if given.json:
        given.json.write_text(report.as_json(rows, bench.points), "utf-8")
    if given.picture:
        given.picture.write_text(report.picture(bench.points), "utf-8")


def say(text: str) -> None:
    """Talk to the person, beside the figures."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
