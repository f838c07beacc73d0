"""`crabmem edit`: what becomes of a fact in an editor."""

from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import Run

GONE = "the name and description are gone"
pytestmark = pytest.mark.usefixtures("surroundings")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Wifi", "where the password is", "On the door.")
    return memory.root


@pytest.mark.parametrize("who", [[], ["--agent", "coder"]])
@pytest.mark.parametrize(
    ("editor", "is_told"),
    [("sed -i 1,4d", True), ("sed -i 1d", True), ("sed -i s/door/wall/", False), ("true", False)],
)
def test_an_edit_that_loses_name_and_description_is_told_with_the_way_back(
    run: Run, monkeypatch: pytest.MonkeyPatch, who: list[str], editor: str, is_told: bool
) -> None:
    monkeypatch.setenv("EDITOR", editor)
    done = run(*who, "edit", "Wifi")
    assert done.exit_code == 0 and (GONE in done.stderr) == is_told
    if is_told:
        assert run("undo").exit_code == 0 and run("show", "Wifi").stdout.startswith("## Wifi\nwhere the password is")


def test_an_editor_that_is_not_there_is_named_without_words_of_python(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor")
    done = run("edit", "Wifi")
    assert done.exit_code == 1 and "Errno" not in done.stderr
    assert "no-such-editor" in done.stderr and "set $EDITOR" in done.stderr


def test_a_fact_whose_file_the_editor_removed_is_told_as_gone_with_the_way_back(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "rm")
    with Memory(root) as memory:
        memory.remember("Tea", "how Ann takes it", "Black.")
    done = run("edit", "Tea")
    assert done.stderr == "recorded: edit: Tea\nTea is gone with its file; `crabmem undo` brings it back\n"
    assert run("undo").exit_code == 0 and "Black." in run("show", "Tea").stdout


def test_a_file_made_for_the_editor_and_removed_in_it_hides_no_error(
    run: Run, scripted_editor: Callable[[str], Path]
) -> None:
    editor = scripted_editor('rm "$1"\nexit 3')
    done = run("overview", "edit")
    assert done.exit_code == 1 and str(editor) in done.stderr
