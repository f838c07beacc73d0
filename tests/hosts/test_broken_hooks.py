"""What a host meets when the program of its hooks is gone, fails, hangs or prints anything: an end, and no word of it.

Each line is run as its host runs it. Of hosts that can be had, `tests/hosts` runs the real ones.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crabmem import Memory
from crabmem.hosts.desired import Hook
from crabmem.hosts.hooks.command import DEADLINE, LONGER, Command
from crabmem.hosts.host import EVENTS, PROMPT, SESSION_START
from crabmem.hosts.opencode import plugin
from crabmem.hosts.options import InstallOptions
from crabmem.hosts.table import HOSTS
from tests import forked

#: The shells that hosts run a line in: Claude Code and Codex take the person's own, Gemini and Copilot CLI bash.
SHELLS = [["sh", "-c"], ["bash", "-c"], ["bash", "-lc"]]
TOLD = json.dumps({"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "where is the deploy key?"})

#: What stands where crabmem was.
BROKEN = {
    "gone": None,
    "not a program": "#!/nowhere/python\n",
    "a veto": "#!/bin/sh\necho no >&2\nexit 2\n",
    "a veto with words": '#!/bin/sh\necho \'{"decision": "block"}\'\nexit 2\n',
    "an error": "#!/bin/sh\necho Traceback >&2\nexit 1\n",
    "another status": "#!/bin/sh\necho odd >&2\nexit 77\n",
    "no JSON": "#!/bin/sh\necho 'crabmem has moved'\n",
    "words on both": "#!/bin/sh\necho warning >&2\necho hello\n",
    "20 MB of noise": "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' x\n",
    "20 MB of braces": "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' '{'\n",
    "20 MB of nothing": "#!/bin/sh\nhead -c 20000000 /dev/zero\n",
    "20 MB of errors": "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' x >&2\nexit 2\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
}
_HANG = "#!/bin/sh\necho $$ > {pid}\nexec sleep 60\n"


def put(folder: Path, text: str | None) -> Path:
    """A program of that text in `folder`, called crabmem; none for None."""
    file = folder / "my tools" / "crabmem"
    file.parent.mkdir(exist_ok=True)
    if text is not None:
        file.write_text(text)
        file.chmod(0o755)
    return file


def order(program: Path) -> InstallOptions:
    return InstallOptions(HOSTS[0], (str(program), "--dir", "/home/a b/notes"), Path("/notes/memory"), memory="inside")


def hooks(options: InstallOptions) -> list[tuple[str, Hook]]:
    """Every hook that an installation registers, with its host."""
    configs = [(host, config) for host in HOSTS for config in (*host.user, *host.project)]
    return [
        (host.name, each)
        for host, config in configs
        for each in config.content(replace(options, host=host))
        if isinstance(each, Hook)
    ]


def lines(options: InstallOptions) -> dict[str, set[str]]:
    """The lines of each host."""
    found: dict[str, set[str]] = {}
    for host, hook in hooks(options):
        found.setdefault(host, set()).update(_lines(hook.value))
    return found


def _lines(value: dict[str, Any]) -> Iterator[str]:
    """The lines in an entry, whatever a host calls them."""
    yield from (text for text in value.values() if isinstance(text, str) and " hook " in text)


HOOKED = sorted({host for host, _ in hooks(order(Path("crabmem")))})


def test_hosts_with_hooks_are_found() -> None:
    assert {"claude-code", "codex", "gemini", "cursor"} <= set(HOOKED)


@pytest.mark.parametrize(
    ("shell", "broken"),
    [
        # Every shell runs the same line: in all of them a few ways to be broken will do.
        pytest.param(shell, broken, id=f"{' '.join(shell)}-{broken}", marks=[] if is_short else [pytest.mark.long])
        for shell in SHELLS
        for broken in BROKEN
        for is_short in [shell == SHELLS[0] or broken in ("gone", "a veto with words", "killed")]
    ],
)
@pytest.mark.parametrize("host", HOOKED)
def test_a_broken_program_vetoes_nothing_and_says_nothing(
    host: str, broken: str, shell: list[str], tmp_path: Path
) -> None:
    line = next(line for line in lines(order(put(tmp_path, BROKEN[broken])))[host] if " hook prompt " in line)
    done = subprocess.run([*shell, line], input=TOLD.encode(), capture_output=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"crabmem" not in done.stderr and b"xxx" not in done.stderr


@pytest.mark.parametrize("host", HOOKED)
def test_every_line_of_a_host_ends_well(host: str, tmp_path: Path) -> None:
    for line in lines(order(put(tmp_path, BROKEN["a veto with words"])))[host]:
        done = subprocess.run(["sh", "-c", line], input=TOLD.encode(), capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), line


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("host", HOOKED)
def test_a_host_that_stops_the_shell_of_a_program_that_hangs_goes_on_at_once(
    host: str, shell: list[str], tmp_path: Path
) -> None:
    """Gemini CLI waits for the end of the pipe, whoever holds it, once it has ended the shell."""
    pid = tmp_path / "pid"
    line = next(iter(sorted(lines(order(put(tmp_path, _HANG.format(pid=shlex.quote(str(pid))))))[host])))
    with subprocess.Popen([*shell, line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        began = time.monotonic()
        while not (pid.exists() and pid.read_text()):
            assert time.monotonic() - began < 30
            time.sleep(0.02)
        ran.terminate()
        ended = time.monotonic()
        assert ran.communicate(timeout=20) == (b"", b"")
        assert time.monotonic() - ended < 5
    os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.fixture
def works(tmp_path: Path) -> Path:
    """A program that works, however busy the machine is, and a memory with more than one fact."""
    with Memory(tmp_path / "notes") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault under ops/heron.")
        memory.remember("Luna's vet", "who looks after the dog Luna", "Dr. Moreno.")
        memory.remember("Quotes", 'a fact with "quotes" and \\ in it', "It's `here`: $HOME, 100 %, \n{}.")
    return put(tmp_path, f'#!/bin/sh\nexec {shlex.join(forked.COMMAND)} "$@" --deadline 60\n')


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("host", HOOKED)
def test_what_a_program_that_works_says_arrives_as_it_was_said(
    host: str, shell: list[str], works: Path, tmp_path: Path
) -> None:
    words = (str(works), "--dir", str(tmp_path / "notes"))
    [line] = [line for line in lines(InstallOptions(HOSTS[0], words, tmp_path))[host] if " hook session-start " in line]
    told = TOLD.replace("UserPromptSubmit", "SessionStart").encode()
    # What stands behind the shell and what that does is the program.
    said = subprocess.run(_program_in(line), input=told, capture_output=True).stdout
    done = subprocess.run([*shell, line], input=told, capture_output=True)
    assert (done.returncode, done.stdout) == (0, said)
    assert b"Who I am" in said
    [asks] = [line for line in lines(InstallOptions(HOSTS[0], words, tmp_path))[host] if " hook prompt " in line]
    assert b"ops/heron" in subprocess.run([*shell, asks], input=TOLD.encode(), capture_output=True).stdout


def _program_in(line: str) -> list[str]:
    """The words behind the shell that sees to the end of a hook."""
    return shlex.split(line.partition("exec sh -c ")[2])[1:]


@pytest.mark.parametrize("host", HOOKED)
def test_a_host_waits_longer_than_a_hook_takes_and_no_longer_than_it_must(host: str) -> None:
    units = {"gemini": 1_000}
    for _, hook in (each for each in hooks(order(Path("crabmem"))) if each[0] == host):
        [line] = set(_lines(hook.value))
        [waits] = [value / units.get(host, 1) for key, value in hook.value.items() if key.startswith("timeout")]
        words = _program_in(line)
        takes = Command(words[words.index("hook") :]).deadline
        assert takes + 0.5 < waits <= 8, line


# OpenCode runs JavaScript

_ASKING = """
import { Crabmem } from PLUGIN
const began = Date.now()
const hooks = await Crabmem({ directory: "/" })
const system = [], parts = [{ id: "p1", type: "text", text: "where is the deploy key?" }]
await hooks["experimental.chat.system.transform"]({ sessionID: "s-1" }, { system })
await hooks["chat.message"]({ sessionID: "s-1" }, { message: { id: "m1" }, parts })
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "s-1" } } } })
console.log(JSON.stringify({ system, said: parts.slice(1).map((part) => part.text), took: Date.now() - began }))
process.exit(0)
"""
_SENDING = """
import { Crabmem } from PLUGIN
const hooks = await Crabmem({ directory: "/" })
const heard = {}
for (const [id, parentID] of [["s-1"], ["s-2", "s-1"], ["s-3"]]) {
  await hooks.event({ event: { type: "session.created", properties: { info: { id, parentID } } } })
  const system = []
  await hooks["experimental.chat.system.transform"]({ sessionID: id }, { system })
  heard[id] = system[0]
}
console.log(JSON.stringify(heard))
process.exit(0)
"""


@pytest.fixture
def ask(tmp_path: Path) -> Callable[[list[str]], dict[str, Any]]:
    """What OpenCode hears from the plugin, whose crabmem is called by these words."""
    node = shutil.which("node") or shutil.which("bun")
    if not node:
        pytest.skip("nothing here runs JavaScript")

    def asked(program: list[str], patience: int = 6_000, asking: str = _ASKING) -> dict[str, Any]:
        text = plugin(program)
        (tmp_path / "plugin.mjs").write_text(re.sub("[36]_000", str(patience), text))
        (tmp_path / "ask.mjs").write_text(asking.replace("PLUGIN", '"./plugin.mjs"'))
        done = subprocess.run([node, "ask.mjs"], cwd=tmp_path, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    return asked


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_program_says_nothing_to_opencode(
    broken: str, tmp_path: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    heard = ask([str(put(tmp_path, BROKEN[broken]))])
    assert (heard["system"], heard["said"]) == ([], [])


def test_a_host_waits_longer_than_a_hook_takes_and_ten_seconds_at_most_before_a_session_has_begun() -> None:
    wants = InstallOptions(HOSTS[0], ("crabmem",), Path())
    for event in EVENTS:
        assert LONGER.get(event, DEADLINE) + 0.5 < wants.seconds(event)  # it ends itself half a second late
    assert wants.seconds(SESSION_START) + wants.seconds(PROMPT) < 10


def test_opencode_waits_for_no_program_that_hangs_nor_for_what_that_started(
    tmp_path: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    heard = ask([str(put(tmp_path, "#!/bin/sh\nsleep 20\n"))], 1_000)
    assert (heard["system"], heard["said"]) == ([], [])
    assert 3_000 <= heard["took"] < 10_000


def test_opencode_hears_a_program_that_works(works: Path, tmp_path: Path, ask: Callable[..., dict[str, Any]]) -> None:
    heard = ask([str(works), "--dir", str(tmp_path / "notes")])
    assert "Who I am" in heard["system"][0] and "ops/heron" in heard["said"][0]


def test_opencodes_hooks_run_in_the_project_wherever_its_server_was_started(
    tmp_path: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    says = """#!/bin/sh\nprintf '{"hookSpecificOutput": {"additionalContext": "%s"}}' "$(pwd)"\n"""
    heard = ask([str(put(tmp_path, says))])
    assert (heard["system"], heard["said"]) == (["/"], ["/"])


def test_opencode_tells_an_agent_that_another_sent_how_to_recall_and_no_more(
    works: Path, tmp_path: Path, ask: Callable[..., dict[str, Any]]
) -> None:
    heard = ask([str(works), "--dir", str(tmp_path / "notes")], asking=_SENDING)
    with Memory(tmp_path / "notes") as memory:
        main, sent = memory.prompt(guide=False), memory.prompt(kind="subagent")
    assert heard == {"s-1": main, "s-2": sent, "s-3": main}
