"""`python -m tests.peers`: run the test suites of peers against crabmem, and print what passes.

FOLDER holds clones of their repositories, called as on GitHub; what is missing is named with the command that gets it.
Their packages and this crabmem go into an environment of their own, made at the first run. The suites are copied, with
the fixture replaced, to a temporary folder. The exit status is 1 when a test fails for which no reason is written down.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from . import report
from .peer import NotThere, Peer, Place
from .suites import PEERS

_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run what the arguments ask for; the exit status."""
    given = _arguments()
    environment = given.environment or given.folder / ".environment"
    sections, odd = dict[str, str](), list[str]()
    with tempfile.TemporaryDirectory(prefix="crabmem-peers-") as scratch:
        for name in given.suites or PEERS:
            peer = PEERS[name]
            try:
                place = Place(given.folder, Path(scratch) / name, _python(environment, peer))
                version, counts = _version(peer, place), list(peer.run(place))
            except NotThere as error:
                odd.append(f"{name}: {error}")
                continue
            sections[peer.title] = report.section(peer, version, counts)
            odd += report.unexplained(peer, counts)
            print(sections[peer.title])
    if given.write:
        report.write(sections)
    for line in odd:
        print(line, file=sys.stderr)
    return 1 if odd else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("folder", type=_folder, metavar="FOLDER", help="clones of the peers' repositories")
    parser.add_argument("suites", nargs="*", choices=[[], *PEERS], metavar="SUITE", help=f"of: {', '.join(PEERS)}")
    parser.add_argument("--write", action="store_true", help=f"put the counts into {report.RESULTS.name}")
    parser.add_argument(
        "--environment", type=_folder, metavar="DIR", help="Python with their packages (FOLDER/.environment)"
    )
    return parser.parse_args()


def _folder(text: str) -> Path:
    return Path(text).absolute()


def _python(environment: Path, peer: Peer) -> Path:
    """The Python that has this crabmem and the packages of a peer."""
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    wanted = ["-e", str(_ROOT), "pytest", "pytest-asyncio", "pytest-timeout", *peer.packages]
    done = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True)
    if done.returncode:
        raise NotThere(f"pip could not install {' '.join(wanted)}: {done.stderr[-1_000:]}")
    return python


def _version(peer: Peer, place: Place) -> str:
    """Which tests they are: the commit of the clone, or the package they come with."""
    if not peer.repository:
        frozen = _said_by(place.python, "-m", "pip", "freeze").splitlines()
        return next(line for line in frozen if line.startswith(f"{peer.packages[0]}=="))
    return (
        f"{peer.repository} at {_said_by('git', '-C', place.clone(peer.repository), 'log', '-1', '--format=%h of %cs')}"
    )


def _said_by(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return str(done.stdout).strip()


if __name__ == "__main__":
    sys.exit(main())
