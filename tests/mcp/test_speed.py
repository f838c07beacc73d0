"""How long a host waits: for the tools of a fresh server, beside Python that does nothing; for an answer, beside the
library with nothing to do."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crabmem import Memory
from tests.serving import command, piped

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

#: A server of the same library: one tool, which says what it always says.
EMPTY = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="recall", input_schema={"type": "object"})])

async def called(context, params):
    answer = await anyio.to_thread.run_sync(lambda: "x" * 200)
    return types.CallToolResult(content=[types.TextContent(text=answer)], structured_content={"x": answer})

async def main():
    server = Server("empty", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (inbox, outbox):
        await server.run(inbox, outbox, server.create_initialization_options())

anyio.run(main)
"""
LIBRARY = [sys.executable, "-c", EMPTY]
STARTS, CALLS = 11, 200
START, ANSWER = 3, 1.5


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with Memory(tmp_path / "notes") as memory:
        for number in range(1_000):
            (memory.file("memory/entries") / f"fact-{number}.md").parent.mkdir(parents=True, exist_ok=True)
            (memory.file("memory/entries") / f"fact-{number}.md").write_text(f"The fact of number {number}.\n")
        memory.adopt()
        memory.recall("fact")
    return tmp_path / "notes"


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def cpu_until_tools(told: list[str]) -> float:
    """The seconds of CPU that a server takes until it has answered what a host asks first."""
    with piped(told) as wire:
        assert wire.ask("server/discover")["result"] and wire.ask("tools/list", 2)["result"]["tools"]
        tasks = Path(f"/proc/{wire.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def cpu_of_python() -> float:
    """The seconds of CPU that Python takes for nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def middle(work: Callable[[], object], times: int) -> float:
    """How long `work` takes in the middle, after the first time."""
    work()
    return statistics.median(seconds(work) for _ in range(times))


def test_a_server_that_ran_before_lists_its_tools_within_three_times_the_cpu_of_python(root: Path) -> None:
    told = command(root, program=[sys.executable, "-m", "crabmem"])
    cpu_until_tools(told)
    ours, pythons = list[float](), list[float]()
    for _ in range(STARTS):
        pythons.append(cpu_of_python())
        ours.append(cpu_until_tools(told))
    ratio = statistics.median(ours) / statistics.median(pythons)
    print(f"\ntools after {statistics.median(ours) * 1_000:.0f} ms of CPU, {ratio:.1f} times bare Python")
    assert ratio < START


def test_a_warm_answer_takes_hardly_longer_than_the_library_and_the_recall_themselves(root: Path) -> None:
    asked = {"query": "fact number 7"}
    with Memory(root) as memory, piped(LIBRARY) as library, piped(command(root)) as server:
        recall = middle(lambda: memory.call("recall", asked), CALLS)
        theirs = middle(lambda: library.call("recall", **asked), CALLS)
        ours = middle(lambda: server.call("recall", **asked), CALLS)
    ratio = ours / (theirs + recall)
    print(
        f"\nanswer: {ours * 1_000:.2f} ms; library {theirs * 1_000:.2f} ms, recall {recall * 1_000:.2f} ms: {ratio:.2f}"
    )
    assert ratio < ANSWER
