"""Whether what CI installs is known to be vulnerable: `python -m tests.audit PIP-AUDIT`, the path of that program.

Without the net, or where the registry has no list of vulnerabilities, it says that nothing was looked up.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LISTS = ("requirements.txt", "release.txt")
_CI = Path(__file__).parent.parent / ".ci"
_LONGEST = 120  # seconds


def judged(report: Mapping[str, Any]) -> tuple[list[str], int]:
    """The vulnerabilities of a report of pip-audit, a line each, and how many packages nothing is known of."""
    packages = report["dependencies"]
    found = [
        f"{each['name']} {each['version']}: {known['id']}, mended in {' '.join(known['fix_versions']) or 'no version'}"
        for each in packages
        for known in each.get("vulns", ())
    ]
    return found, sum("skip_reason" in each for each in packages)


def report_of(program: str, file: Path) -> Mapping[str, Any] | None:
    """What pip-audit says of a list with hashes; None if it could not look anything up."""
    words = [program, "-r", str(file), "--require-hashes", "--disable-pip", "-f", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_LONGEST)
        report: Mapping[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):  # what broke it off is no JSON
        return None
    return report


def main(program: str) -> int:
    """Print what is known of each list; 1 if anything is."""
    failed = 0
    for name in LISTS:
        report = report_of(program, _CI / name)
        found, unknown = judged(report) if report else ([], 0)
        total = len(report["dependencies"]) if report else 0
        if unknown == total:
            print(f"SKIPPED: .ci/{name} was not looked up, as vulnerabilities cannot be asked for from here")
        else:
            print(*found, f".ci/{name}: {total - unknown} of {total} packages looked up", sep="\n")
        failed += len(found)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
