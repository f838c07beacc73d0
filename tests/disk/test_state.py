"""The files below `.git/crabmem`: each has its name in one place, and no other lies there."""

import ast
from pathlib import Path

from crabmem import Memory
from crabmem.disk import state
from crabmem.operations import maintenance

PACKAGE = Path(state.__file__).parent.parent
NAMES = {value for name, value in vars(state).items() if name.isupper() and isinstance(value, str)} - {state.FOLDER}


def test_what_a_memory_leaves_in_its_folder_is_named(tmp_path: Path) -> None:
    with Memory(tmp_path, agent="coder", session="s-1") as memory:
        for number in range(40):
            memory.remember(f"Fact {number}", "d", f"word{number}")
        memory.before_turn("what is word3?")
        memory.search("word3")
        memory.recall("word3", as_of="HEAD~3")
        maintenance.compact(memory)
    private = tmp_path / state.FOLDER
    for file in private.iterdir():
        name = file.name.removesuffix(".d").removesuffix(".pid")
        assert name in NAMES and (file.is_dir() == (file.name in state.FOLDERS or file.suffix == ".d"))
    assert {f"{state.INDEX}/{file.name}" for file in (private / state.INDEX).iterdir() if file.is_dir()} <= NAMES


def test_no_other_module_spells_a_name() -> None:
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
                assert not ast.unparse(node.left).endswith("private"), f"{file}: {ast.unparse(node)}"
