"""What a peer is, and how pytest is run on the files of one."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

#: What of ours is put in the place of what a peer tests.
FIXTURES = Path(__file__).parent / "fixtures"
# Seconds for one suite.
_PATIENCE = 1_800
_WORDS = 160


class NotThere(Exception):
    """What a peer needs is missing; the message says what, and how to get it."""


@dataclass(frozen=True)
class Place:
    """Where suites are run: `repositories` holds clones, `work` is empty, `python` has the peers' packages."""

    repositories: Path
    work: Path
    python: Path

    def clone(self, repository: str) -> Path:
        """The clone of "owner/name".

        Raises:
            NotThere: there is none.
        """
        folder = self.repositories / repository.rpartition("/")[2]
        if not folder.is_dir():
            raise NotThere(f"{folder} is missing: git clone --depth 1 https://github.com/{repository} {folder}")
        return folder

    def folder(self, name: str) -> Path:
        """A new folder for the files of one suite."""
        made = self.work / name
        made.mkdir(parents=True)
        return made


@dataclass(frozen=True)
class Counts:
    """What came of a suite: how many tests passed and were skipped, and what those that failed said, by name."""

    suite: str
    passed: int
    failed: Mapping[str, str]
    skipped: int = 0

    @property
    def total(self) -> int:
        """How many were run."""
        return self.passed + len(self.failed)


@dataclass(frozen=True)
class Peer:
    """Somebody whose tests are run.

    `repository` is "owner/name"; "" where the tests come with one of `packages`, which pip installs. `reasons` say by
    the name of a test, without its parameters, why it fails. A failure without one is a fault of ours.
    """

    title: str
    run: Callable[[Place], Iterator[Counts]]
    repository: str = ""
    packages: Sequence[str] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    def reason(self, test: str) -> str:
        """Why that test fails; "" when nobody says so."""
        return self.reasons.get(bare(test), "")


def bare(test: str) -> str:
    """The name of a test without its file and its parameters."""
    return test.partition("[")[0].rpartition("::")[2]


def tested(suite: str, place: Place, folder: Path, files: Sequence[str], *options: str) -> Counts:
    """Run pytest on `files` in `folder`, with none of our own settings."""
    report, settings = folder / "report.xml", folder / "pytest.ini"
    settings.write_text("[pytest]\nasyncio_mode = auto\n")
    command = [place.python, "-m", "pytest", "-q", "-c", settings, "-p", "no:cacheprovider", f"--junitxml={report}"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder), "TMPDIR": str(folder)}
    done = subprocess.run(
        [*map(str, command), *options, *files],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    )
    if not report.exists():
        raise NotThere(f"{suite} could not be run: {done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return counted(suite, report)


def counted(suite: str, report: Path) -> Counts:
    """What a report in the form of JUnit says."""
    passed, skipped, failed = 0, 0, dict[str, str]()
    for case in ElementTree.parse(report).iter("testcase"):
        trouble = next((each for each in case if each.tag in ("failure", "error")), None)
        if trouble is not None:
            test = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name', '?')}"
            failed[test] = " ".join((trouble.get("message") or "").split())[:_WORDS]
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return Counts(suite, passed, failed, skipped)
