"""A release is made of what is here: its archives, what it needs, and what CI installs to make it."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import crabmem
from tests import audit, release

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ABOUT = f"crabmem-{crabmem.__version__}.dist-info"
NAMED = f"Version: {crabmem.__version__}\n".encode()
SOURCE = {"crabmem/x.py": b"x", "prompts/a.md": b"a", "PKG-INFO": NAMED}
WHEEL = {
    "crabmem/x.py": b"x",
    "crabmem/prompts/a.md": b"a",
    f"{ABOUT}/METADATA": NAMED,
    **{f"{ABOUT}/{name}": b"" for name in ("RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")},
}
TRACKED = {"crabmem/x.py", "prompts/a.md"}


@pytest.mark.parametrize(
    ("source", "wheel", "told"),
    [
        ({}, {}, []),
        ({"notes.txt": b""}, {}, ["the source archive has notes.txt"]),
        ({}, {"crabmem/y.pyc": b""}, ["the wheel has crabmem/y.pyc"]),
        ({"prompts/a.md": b"see /home/ann/notes"}, {}, ["prompts/a.md names /home/ann/"]),
        ({"PKG-INFO": b"Version: 9\n"}, {}, [f"the metadata says version {crabmem.__version__} and 9"]),
    ],
)
def test_what_is_wrong_with_the_archives_of_a_release_is_told(
    source: dict[str, bytes], wheel: dict[str, bytes], told: list[str]
) -> None:
    assert release.faults({**SOURCE, **source}, {**WHEEL, **wheel}, TRACKED, ["/home/ann/"]) == told
    lacking = release.faults({"PKG-INFO": NAMED}, WHEEL, TRACKED, [])
    assert lacking == ["the source archive lacks crabmem/x.py", "the source archive lacks prompts/a.md"]


def test_the_oldest_version_of_each_dependency_is_what_its_bound_says() -> None:
    assert release.oldest(["click>=8.4", "dulwich>=1.2.21,<1.3"]) == ["click==8.4", "dulwich==1.2.21"]
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", each) for each in release.oldest(PYPROJECT["project"]["dependencies"]))


def brought_by(requirements: Iterable[str]) -> set[str]:
    """The packages that these requirements bring here, with what those need, as the installed ones say.

    Raises:
        PackageNotFoundError: one of them is not installed.
    """
    done, left = set[tuple[str, str]](), [(Requirement(each), "") for each in requirements]
    while left:
        needed, extra = left.pop()
        name = canonicalize_name(needed.name)
        if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
            continue
        for wanted in {"", *needed.extras} - {extra for other, extra in done if other == name}:
            done.add((name, wanted))
            left += ((Requirement(each), wanted) for each in metadata.requires(name) or [])
    return {name for name, _ in done}


def runtime() -> set[str]:
    """The packages that crabmem needs without an extra."""
    return brought_by(PYPROJECT["project"]["dependencies"])


def stated_licence(package: str) -> str:
    """All that the metadata of a package says of its licence: an expression, a text, classifiers."""
    about = metadata.metadata(package)
    classified = [line for line in about.get_all("Classifier", []) if line.startswith("License ::")]
    return " ".join([*about.get_all("License-Expression", []), *about.get_all("License", []), *classified])


LICENCES = (ROOT / "docs" / "dependencies.md").read_text("utf-8")


def test_every_package_that_comes_with_crabmem_is_listed_with_its_licence() -> None:
    rows = re.findall(r"^\| `([\w.-]+)` \| (\w+)[^|]* \| (.+) \|$", LICENCES.partition("\n## ")[0], re.M)
    needed = runtime()
    assert needed - {name for name, _, _ in rows} == set()
    assert {name for name, _, why in rows if "before Python" not in why} - needed == set()
    assert [
        (name, licence) for name, licence, _ in rows if name in needed and licence not in stated_licence(name)
    ] == []


def asked_by(extra: str) -> Iterator[str]:
    """The requirements of an extra, those of the extras that it stands for included."""
    for needed in map(Requirement, PYPROJECT["project"]["optional-dependencies"][extra]):
        if needed.name == "crabmem":
            yield from (line for inner in sorted(needed.extras) for line in asked_by(inner))
        else:
            yield str(needed)


#: In the order in which docs/dependencies.md tells of them: of each, what those before did not bring.
EXTRAS = ("mcp-http", "ui", "vectors", "fleet", "adapters")


@pytest.mark.parametrize("extras", [EXTRAS[:count] for count in range(1, len(EXTRAS) + 1)], ids=" ".join)
def test_every_package_that_extras_bring_is_listed_with_its_licence(extras: tuple[str, ...]) -> None:
    tables = re.split(r"^### ", LICENCES, flags=re.M)[1 : len(extras) + 1]
    rows = [row for table in tables for row in re.findall(r"^\| (.+?) \| (`.+`) \|$", table, re.M)]
    listed = [(name, licence) for licence, names in rows for name in re.findall("`([^`]+)`", names)]
    try:
        brought = brought_by(line for extra in extras for line in asked_by(extra))
    except metadata.PackageNotFoundError as error:
        pytest.skip(f"{error} is not installed")
    assert sorted(name for name, _ in listed) == sorted(brought - runtime())
    parts = [(name, part) for name, licence in listed for part in re.findall(r"(?:^|AND |OR |\()(\w+)", licence)]
    assert [(name, part) for name, part in parts if part not in stated_licence(name)] == []


def locked(name: str) -> dict[str, set[str]]:
    """The versions of each package in a list from which CI installs; more than one where systems differ."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / ".ci" / name).read_text("utf-8"), re.M):
        found.setdefault(package, set()).add(version)
    return found


def asked_of(name: str) -> list[Requirement]:
    """What pyproject asks of a list."""
    if name == "release.txt":
        return [Requirement(line) for line in PYPROJECT["dependency-groups"]["release"]]
    extras = PYPROJECT["project"]["optional-dependencies"]
    lines = [line for extra in extras.keys() - {"bench", "fuzz"} for line in extras[extra]]
    return [
        each for each in map(Requirement, [*PYPROJECT["project"]["dependencies"], *lines]) if each.name != "crabmem"
    ]


@pytest.mark.parametrize("name", audit.LISTS)
def test_ci_installs_versions_that_pyproject_allows(name: str) -> None:
    """Where this fails, `.ci/lock` makes the lists anew."""
    versions = locked(name)
    for asked in asked_of(name):
        there = versions.get(canonicalize_name(asked.name), set())
        assert there and all(version in asked.specifier for version in there), asked


@pytest.mark.parametrize("name", audit.LISTS)
def test_every_file_that_ci_installs_from_a_list_has_its_hash(name: str) -> None:
    packages = re.split(r"^(?=[\w.-]+==)", (ROOT / ".ci" / name).read_text("utf-8"), flags=re.M)[1:]
    assert packages and all("--hash=sha256:" in package for package in packages)


def test_every_bound_of_what_crabmem_needs_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    lines = text.partition("\ndependencies = [\n")[2].partition("\n]")[0].splitlines()
    assert [line for line in lines if not re.search(r"  # \w", line)] == []
    assert len(lines) == len(PYPROJECT["project"]["dependencies"])


def test_workflows_take_actions_by_their_commit_and_twine_from_the_list() -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    steps = [
        step
        for file in files
        for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
    ]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each) for each in used)
    installs = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert {each.partition(" -r ")[2] for each in installs if "--require-hashes" in each} == {".ci/release.txt"}


def test_a_vulnerability_is_told_and_what_could_not_be_looked_up_is_counted() -> None:
    known = {"id": "CVE-1", "fix_versions": ["2.1", "3.0"], "aliases": [], "description": ""}
    never = {**known, "id": "CVE-2", "fix_versions": []}
    packages = [
        {"name": "one", "version": "2.0", "vulns": [known, never]},
        {"name": "two", "version": "1", "vulns": []},
        {"name": "three", "skip_reason": "not found"},
    ]
    told = ["one 2.0: CVE-1, mended in 2.1 3.0", "one 2.0: CVE-2, mended in no version"]
    assert audit.judged({"dependencies": packages}) == (told, 1)


@pytest.mark.parametrize("said", ["", "no net", '{"dependencies": [{"name": "one", "skip_reason": "not found"}]}'])
def test_an_audit_that_could_look_nothing_up_says_so_and_fails_nothing(
    said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n")
    program.chmod(0o755)
    assert audit.main(str(program)) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["SKIPPED:", ".ci/requirements.txt"],
        ["SKIPPED:", ".ci/release.txt"],
    ]
