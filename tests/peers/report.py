"""What came of the suites, in words: for the terminal, and for RESULTS.md."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .peer import Counts, Peer, bare

RESULTS = Path(__file__).parent / "RESULTS.md"
_OPENING = """\
# The suites of peers, run against crabmem

`python -m tests.peers FOLDER --write` wrote this: counts of their own tests, with nothing but the fixture replaced.
What fails has its reason beside it; the script fails where something fails without one.
"""


def section(peer: Peer, version: str, counts: Sequence[Counts]) -> str:
    """What came of the suites of one peer."""
    rows = [f"| {each.suite} | {each.passed} of {each.total} | {each.skipped or ''} |" for each in counts]
    table = "\n".join(["| suite | passed | skipped |", "|---|--:|--:|", *rows])
    failures = [f"- {each.suite}, {_listed(tests)}: {why}" for each in counts for why, tests in _by_reason(peer, each)]
    return "\n\n".join(filter(None, (f"## {peer.title}", f"Tests: {version}.", table, "\n".join(failures)))) + "\n"


def unexplained(peer: Peer, counts: Iterable[Counts]) -> list[str]:
    """What failed without a reason, and reasons for what does not fail; a line each."""
    failed = {test: why for each in counts for test, why in each.failed.items()}
    names = set(map(bare, failed))
    odd = [f"{test} fails: {why}" for test, why in failed.items() if not peer.reason(test)]
    return odd + [f"{test} does not fail; its reason can go" for test in peer.reasons if test not in names]


def write(sections: Mapping[str, str]) -> None:
    """Put sections, by title, into RESULTS.md; those of peers that were not run stay."""
    before = RESULTS.read_text("utf-8") if RESULTS.exists() else ""
    known = {part.partition("\n")[0]: f"## {part}" for part in re.split(r"^## ", before, flags=re.MULTILINE)[1:]}
    there = {**known, **sections}
    RESULTS.write_text("\n".join([_OPENING, *(f"{text.rstrip()}\n" for text in there.values())]), "utf-8")


def _by_reason(peer: Peer, counts: Counts) -> Iterable[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for test, words in counts.failed.items():
        found.setdefault(peer.reason(test) or f"**no reason** ({words})", []).append(test)
    return found.items()


def _listed(tests: Sequence[str]) -> str:
    counts = Counter(map(bare, tests))
    return ", ".join(f"`{name}`" + (f" ×{count}" if count > 1 else "") for name, count in counts.items())
