"""Who wrote which line, and when, over random histories with merges and renames.

Where each line is written once, only one answer is right, and `git blame` gives it too. Where equal lines come and go,
there are several: then each line is of a commit that has it, and has another file than its parents.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem.git.history import History
from crabmem.workspace.workspace import Workspace
from tests.conftest import git
from tests.examples import examples

NAMES = ["memory/entries/a.md", "memory/entries/b.md", "memory/c.md"]
LINES = st.lists(
    st.sampled_from(["", "one", "two", "three", "  four", "- five", "six is longer than others"]), max_size=9
)
Files = dict[str, list[str]]

#: What a commit does to the files of its branch.
EDIT = st.tuples(st.just("edit"), st.sampled_from(NAMES), st.integers(0, 9), st.integers(0, 3), LINES)
DROP = st.tuples(st.just("drop"), st.sampled_from(NAMES))
MOVE = st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(NAMES))
COMMIT = st.tuples(st.lists(st.one_of(EDIT, EDIT, DROP, MOVE), min_size=1, max_size=3), st.integers(0, 2))
#: A commit on one of two branches, or one that joins the other branch, taking files from here, there, or both.
STEP = st.one_of(
    st.tuples(st.just("commit"), st.integers(0, 1), COMMIT),
    st.tuples(st.just("commit"), st.integers(0, 1), COMMIT),
    st.tuples(st.just("merge"), st.integers(0, 1), st.lists(st.sampled_from("htb"), min_size=3, max_size=3)),
)


def done(files: Files, deeds: list[tuple[Any, ...]]) -> Files:
    files = {name: list(lines) for name, lines in files.items()}
    for deed in deeds:
        match deed:
            case ("edit", str(name), int(at), int(size), list(lines)):
                row = files.setdefault(name, [])
                row[at : at + size] = lines
            case ("drop", str(name)):
                files.pop(name, None)
            case ("move", str(name), str(to)) if name in files:
                files[to] = files.pop(name)
    return files


def merged(here: Files, there: Files, sides: list[str]) -> Files:
    found: Files = {}
    for name, side in zip(NAMES, sides, strict=True):
        lines = {"h": here.get(name), "t": there.get(name), "b": here.get(name, []) + there.get(name, [])}[side]
        if lines is not None:
            found[name] = lines
    return found


def told_apart(steps: list[tuple[str, int, Any]]) -> list[tuple[str, int, Any]]:
    """The steps with a number in each line that they write, and merges that take no line twice."""
    numbers = count()

    def apart(deed: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*deed[:4], [f"{line} {next(numbers)}" for line in deed[4]]) if deed[0] == "edit" else deed

    return [
        (kind, branch, ["h" if side == "b" else side for side in what])
        if kind == "merge"
        else (kind, branch, ([apart(deed) for deed in what[0]], what[1]))
        for kind, branch, what in steps
    ]


def stream(steps: list[tuple[str, int, Any]]) -> Iterator[str]:
    """The history as `git fast-import` reads it; branch main is made of both in the end."""
    states: list[Files] = [{}, {}]
    tips: list[int | None] = [None, None]
    time = 1_700_000_000
    for mark, (kind, branch, what) in enumerate([("commit", 0, ([("edit", NAMES[0], 0, 0, ["one"])], 0)), *steps], 1):
        parents = [tips[branch] or tips[0]]
        if kind == "merge":
            if not tips[1] or tips[0] == tips[1]:
                continue
            states[branch] = merged(states[branch], states[1 - branch], what)
            parents.append(tips[1 - branch])
        else:
            time += what[1]
            states[branch] = done(states[branch] if tips[branch] else states[0], what[0])
        yield f"commit refs/heads/{('main', 'other')[branch]}\nmark :{mark}\n"
        yield f"committer Ann <a@x> {time} +0000\ndata 1\nx\n"
        for word, parent in zip(("from", "merge"), filter(None, parents), strict=False):
            yield f"{word} :{parent}\n"
        yield "deleteall\n"
        for name, lines in states[branch].items():
            text = "".join(f"{line}\n" for line in lines)
            yield f"M 100644 inline {name}\ndata {len(text)}\n{text}\n"
        tips[branch] = mark


def by_git(root: Path, path: str) -> list[str]:
    shown = git(root, "blame", "-l", "-s", "--root", "main", "--", path)
    return [line.split(" ")[0].lstrip("^") for line in shown.splitlines()]


@contextmanager
def history_of(steps: list[tuple[str, int, Any]]) -> Iterator[tuple[Path, History]]:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        git(root, "init", "-q", "-b", "main")
        commands = "".join(stream(steps)).encode()
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=commands, check=True)
        history = History(Workspace(root))
        yield root, history
        history.close()


@settings(max_examples=examples(60))
@given(st.lists(STEP, max_size=14))
def test_each_line_that_is_written_once_has_the_commit_that_git_blame_names(steps: list[tuple[str, int, Any]]) -> None:
    with history_of(told_apart(steps)) as (root, history):
        files = history.files(history.head()).items()
        for path, blob in [*files, *files]:  # the second time from what is known of each commit
            owners = history.owners(history.blob(blob), path)
            assert [owner and owner.commit for owner in owners] == by_git(root, path)


@settings(max_examples=examples(60))
@given(st.lists(STEP, max_size=14))
def test_each_line_has_a_commit_that_wrote_it_into_a_file_of_its_own(steps: list[tuple[str, int, Any]]) -> None:
    with history_of(steps) as (root, history):
        parents = {
            commit: rest
            for commit, *rest in map(str.split, git(root, "log", "--format=%H %P", "main").strip().splitlines())
        }
        for path, blob in history.files(history.head()).items():
            lines = history.blob(blob).splitlines()
            for line, owner in zip(lines, history.owners(history.blob(blob), path), strict=True):
                assert owner
                before = {file for parent in parents[owner.commit] for file in history.files(parent).items()}
                written = {*history.files(owner.commit).items()} - before
                assert any(line in history.blob(text).splitlines() for _, text in written)
