"""How many characters of crabmem the model of each host reads, in one conversation with the host itself.

CRABMEM_HOSTS=folder python -m tests.hosts.cost [HOST…]     prints a row of a table for each host
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crabmem.text.templates import template
from tests.hosts import model as stub
from tests.hosts.rig import OVERVIEW, Rig, make_rig
from tests.hosts.test_real_hosts import CASES, INSTALL, Case, installed

_LINES = "A line of the overview, which is long enough to count.\n"
#: Each is asked for once. Six small facts answer the recall.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "recall of 6": ("recall", {"query": "when do people talk about the plans", "limit": 6}),
    "remember": ("remember", {"name": "Release day", "description": "when we release", "content": "On Fridays."}),
    "of 4,000": ("remember", {"name": "Handbook", "description": "how we work", "content": "We write it down. " * 222}),
    "overview": ("memory", {"content": OVERVIEW + _LINES * 120}),
    "replaced": ("memory", {"content": OVERVIEW + _LINES.replace("A line", "Another line") * 120}),
}
_RECALLED = re.compile(r"(?:<|&lt;)recall(?:>|&gt;).*?(?:<|&lt;)/recall(?:>|&gt;)", re.DOTALL)


def cost(case: Case) -> dict[str, int | None]:
    """Characters by what they are for; None for a call that was not answered.

    "guide" counts how often the guide is there, "start" is the text of the hook that begins a session, "turn" what is
    recalled before the question.
    """
    with tempfile.TemporaryDirectory() as folder:
        rig, model = make_rig(Path(folder)), stub.Model(list(CALLS.values()))
        server = stub.serve(model)
        for path, text in {case.config: case.text, **case.others}.items():
            rig.write(path, text.replace("MODEL", model.url))
        rig.call("install", case.host, *INSTALL)
        start = _start(case, rig)
        installed(case).question(rig, model.url)
        server.shutdown()
        requests = [request for request in model.requests if stub.definitions(request, "crabmem")]
    tools = stub.definitions(requests[0], "crabmem")
    guide = template("memory").strip().splitlines()[2][:40]
    recalled = [found for text in _strings(requests[0]) for found in _RECALLED.findall(text)]
    answers = [len(text) for text in stub.results(requests[-1])]
    return {
        "tools": sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))) for tool in tools),
        "guide": sum(text.count(guide) for text in _strings(requests[0])),
        "start": start,
        "turn": sum(map(len, recalled)),
        **dict(zip(CALLS, [*answers, *[None] * len(CALLS)], strict=False)),
    }


def _start(case: Case, rig: Rig) -> int:
    """The length of the text with which the hook begins a session."""
    line = next(
        (found for file in rig.home.rglob("*") if file.is_file() for found in _hook_lines(file, case.host)), None
    )
    command = line or f"{rig.crabmem} hook session-start --host {case.host}"
    told = json.dumps({"session_id": "cost", "sessionId": "cost", "source": "startup"})
    done = subprocess.run(["sh", "-c", command], input=told, capture_output=True, text=True, env=rig.environment())
    return max((len(text) for text in _strings(json.loads(done.stdout or "{}"))), default=0)


def _hook_lines(file: Path, host: str) -> Iterator[str]:
    """The commands of ours for the start of a session that a config has."""
    text = file.read_text("utf-8", "replace")
    for found in re.findall(rf'"((?:[^"\\\n]|\\.)* hook session-start[ a-z-]* --host {host}(?:[^"\\\n]|\\.)*)"', text):
        yield json.loads(f'"{found}"')


def _strings(value: Any) -> Iterator[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def main() -> None:
    """Print the table."""
    print("| host |", " | ".join(("tools", "guide", "start", "turn", *CALLS)), "|")
    for case in CASES:
        if case.host in sys.argv[1:] or not sys.argv[1:]:
            print(f"| {case.host} |", " | ".join("-" if n is None else f"{n:,}" for n in cost(case).values()), "|")


if __name__ == "__main__":
    main()
