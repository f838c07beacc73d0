"""What `.git` holds that is no memory is shown by no adapter that takes names of files and of items."""

from pathlib import Path

from anthropic.tools import ToolError

from crabmem.adapters.anthropic import MemoryTool
from crabmem.adapters.langgraph import Store
from tests.git.test_timeline import CANARY, others, planted


def test_the_adapters_show_no_other_branch_either(tmp_path: Path) -> None:
    crab = planted(tmp_path / "crab", "crab")
    with crab.opened() as memory:
        tool, store, said = MemoryTool(memory), Store(memory), []
        for name in others(crab):
            for path in (name, f"/memories/{name}", f"/memories/../{name}", f"/memories/../.git/{name}"):
                try:
                    said.append(str(tool.call({"command": "view", "path": path})))
                except ToolError as error:
                    said.append(str(error))
            said += [str(store.get(("facts",), name)), str(store.search((), query=name))]
        assert CANARY not in "".join(said)
