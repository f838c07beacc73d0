"""What is in the archives of a release: `python -m tests.release DIST`, after `python -m build --outdir DIST`.

The source archive is what Git has; the wheel is the package, with the prompts and the licence; and neither names a
folder of the machine that made it. With `--oldest` it prints the lowest version of each dependency, for pip.
"""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Set
from email import message_from_bytes
from pathlib import Path

import crabmem

ROOT = Path(__file__).parent.parent
_MADE = {"PKG-INFO"}


def faults(source: Mapping[str, bytes], wheel: Mapping[str, bytes], tracked: set[str], places: list[str]) -> list[str]:
    """What is wrong with the files of the two archives, a line each; `places` are folders of this machine."""
    about = f"crabmem-{crabmem.__version__}.dist-info"
    packaged = {
        path.replace("prompts/", "crabmem/prompts/", 1) if path.startswith("prompts/") else path for path in tracked
    }
    wanted = {path for path in packaged if path.startswith("crabmem/")}
    wanted |= {f"{about}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    found = _difference("the source archive", source.keys() - _MADE, tracked)
    found += _difference("the wheel", wheel.keys(), wanted)
    for archive in (source, wheel):
        found += [f"{path} names {each}" for path, data in archive.items() for each in places if each.encode() in data]
    stated = (source.get("PKG-INFO", b""), wheel.get(f"{about}/METADATA", b""))
    versions = {str(message_from_bytes(each)["Version"]) for each in stated}
    if versions != {crabmem.__version__}:
        found.append(f"the metadata says version {' and '.join(sorted(versions))}")
    return found


def _difference(archive: str, there: Set[str], wanted: Set[str]) -> list[str]:
    return [f"{archive} lacks {path}" for path in sorted(wanted - there)] + [
        f"{archive} has {path}" for path in sorted(there - wanted)
    ]


def source_files(archive: Path) -> dict[str, bytes]:
    """The files of a source archive by their paths in the project."""
    with tarfile.open(archive) as opened:
        members = [each for each in opened if not each.isdir()]
        return {
            each.name.partition("/")[2]: (data.read() if (data := opened.extractfile(each)) else b"")
            for each in members
        }


def wheel_files(archive: Path) -> dict[str, bytes]:
    """The files of a wheel by their paths in site-packages."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def oldest(dependencies: Iterable[str]) -> list[str]:
    """The lowest version that each allows: `click==8.4` of `click>=8.4`."""
    return [re.sub(r">=([\w.]+).*", r"==\1", each) for each in dependencies]


def main(folder: Path) -> int:
    """Print what is wrong with the archives in `folder`; 1 if anything is."""
    [source], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    places = [f"{ROOT}/", f"{Path.home()}/"]
    found = faults(source_files(source), wheel_files(wheel), set(filter(None, listed.split("\0"))), places)
    print(*found or [f"{source.name} and {wheel.name} hold what they should"], sep="\n")
    return bool(found)


if __name__ == "__main__":
    if sys.argv[1] == "--oldest":
        print(*oldest(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]), sep="\n")
    else:
        sys.exit(main(Path(sys.argv[1])))
