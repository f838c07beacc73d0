"""`python -m tests.faults [--long] [SUITE…]`: inject faults and print what was counted.

`python -m tests.faults promises` breaks the code instead, line by line, and looks whether a test notices.
"""

import argparse
import json
import sys
import time

from . import SUITES, run
from .promises import main as break_promises


def main() -> None:
    """Run the suites named, or all."""
    if sys.argv[1:2] == ["promises"]:
        sys.exit(break_promises(sys.argv[2:]))
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Inject faults; count what was lost.")
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"one of: {', '.join(SUITES)} (all when none is named)"
    )
    parser.add_argument("--long", action="store_true", help="every point and all rounds; an hour or two on two cores")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON")
    given = parser.parse_args()
    if unknown := set(given.suites) - set(SUITES):
        parser.error(f"no suite named {', '.join(sorted(unknown))}; there are: {', '.join(SUITES)}")
    counted = {}
    for name in given.suites or SUITES:
        say(f"{name}: {SUITES[name]}")
        began = time.monotonic()
        counts = run(name, given.long, say)
        counted[name] = {**counts, "seconds": round(time.monotonic() - began)}
        say(f"  {_words(counted[name])}")
    print(json.dumps(counted, indent=2) if given.json else _table(counted))


def say(text: str) -> None:
    """Talk to the person, beside the counts."""
    print(text, file=sys.stderr, flush=True)


def _table(counted: dict[str, dict[str, int]]) -> str:
    return "\n".join(f"{name:13} {_words(counts)}" for name, counts in counted.items())


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{what} {count:,}" for what, count in counts.items())


if __name__ == "__main__":
    main()
