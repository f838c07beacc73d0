"""The public names: one list, which people, type checkers and Python read."""

import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import crabmem

STUB = Path(crabmem.__file__).with_suffix(".pyi").read_text("utf-8")


def test_each_line_of_the_list_is_a_name_and_its_module() -> None:
    lines = [line for line in STUB.splitlines() if line and line[0] != "#"]
    *imports, version, names = lines
    assert (version, names) == ("__version__: str", "__all__: list[str]")
    found = [re.fullmatch(r"from \.[a-z_.]+ import (\w+) as (\w+)", line) for line in imports]
    assert sorted(each[1] for each in found if each and each[1] == each[2]) == crabmem.__all__
    assert len(imports) == len(crabmem.__all__)


def test_a_name_is_loaded_when_it_is_asked_for() -> None:
    code = "import sys, crabmem; dir(crabmem); print(*(name for name in sys.modules if name.startswith('crabmem')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "crabmem\n"


def test_python_shows_what_the_list_says() -> None:
    everything: dict[str, object] = {}
    exec("from crabmem import *", everything)
    assert everything.keys() - {"__builtins__"} == set(crabmem.__all__) <= set(dir(crabmem))
    text = pydoc.plain(pydoc.render_doc(crabmem))
    assert all(f"class {name}(" in text or f"class {name}\n" in text for name in crabmem.__all__)


def test_help_on_memory_begins_with_a_table_of_all_that_it_does() -> None:
    table = re.findall(r"^\w[\w ]+?  +(.*)$", inspect.getdoc(crabmem.Memory) or "", re.MULTILINE)
    listed = [name for line in table for name in line.split(", ")]
    own = {name for name in vars(crabmem.Memory) if not name.startswith("_")}
    assert len(listed) == len(set(listed)) and own <= set(listed) <= set(dir(crabmem.Memory))


def test_what_is_in_no_list_is_no_public_name() -> None:
    for name in ("Nothing", "nothing", "text.entry"):
        with pytest.raises(AttributeError, match=f"module 'crabmem' has no attribute '{name}'"):
            getattr(crabmem, name)
