"""Of somebody's work tree nothing is read but regular files in it that Git would take."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments
from crabmem.git.work_tree import LARGEST, WorkTree
from tests.conftest import git

FILES = ["a.py", "src/a.py", "src/b.log", "src/deep/a.py", "build/x.py", "build/deep/k.log", "src/build/b.py"]
PATTERN = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!", "/", "**/", "#"]),
    st.sampled_from(["", "", "src/", "*/", "deep/", "**/"]),
    st.sampled_from(["a.py", "*.log", "build", "*", "?.py", "[ab].py", "deep", "b*", "\\a.py", "k.log", "**"]),
    st.sampled_from(["", "", "/", " ", "/**"]),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    outside, top = folder / "outside", folder / "top"
    for name in FILES:
        for place in (outside, top):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("secret" if place is outside or "build" in name else name)
    git(top, "init", "-q")
    (top / ".gitignore").write_text("/build\n")
    (top / ".git/a.py").write_text("secret")
    (top / "nested/.git").mkdir(parents=True)
    (top / "nested/a.py").write_text("secret")
    (top / "large").write_bytes(bytes(LARGEST + 1))
    os.mkfifo(top / "pipe")
    for name, leads in {"link": "../outside", "link.py": "../outside/a.py", "inner": "src", "inner.py": "a.py"}.items():
        (top / name).symlink_to(leads)
    return folder


def read(top: Path, path: str, is_memory: bool = False) -> bytes | None:
    try:
        return WorkTree(str(top), str(top / ".git"), lambda _: is_memory).read(path)
    except InvalidArguments:
        return None


STEPS = ["..", ".", "", ".git", ".GIT", "a.py", "src", "deep", "build", "link", "link.py", "inner", "inner.py",
         "nested", "outside", "top", "pipe", "large", "x.py", "\0"]  # fmt: skip


@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5), st.booleans())
def test_no_path_outside_ignored_or_linked_is_ever_read(folder: Path, steps: list[str], is_whole: bool) -> None:
    top = folder / "top"
    path = f"{folder}/" * is_whole + "/".join(steps)
    data = read(top, path)
    assert data is None or (path in FILES and data == path.encode() and not path.startswith("build/"))
    assert read(top, path, is_memory=True) is None


def test_what_git_would_take_is_read(folder: Path) -> None:
    assert [read(folder / "top", path) for path in FILES[:4]] == [path.encode() for path in FILES[:4]]


@given(st.lists(PATTERN, max_size=4), st.lists(PATTERN, max_size=3), st.lists(PATTERN, max_size=2))
def test_what_git_ignores_is_never_read(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], below: list[str], own: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "ignoring"
    if not folder.exists():
        folder.mkdir()
        git(folder, "init", "-q")
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
    for name, lines in {".gitignore": top, "src/.gitignore": below, ".git/info/exclude": own}.items():
        (folder / name).write_text("\n".join(lines))
    asked = ["git", "-C", str(folder), "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(asked, input="\n".join(FILES), capture_output=True, text=True, check=False)
    assert {path for path in FILES if read(folder, path) is None} >= set(done.stdout.split())
