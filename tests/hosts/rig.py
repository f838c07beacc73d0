"""A home folder for one host: nothing in it but what the test puts there, and nothing outside is touched or called."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
_PATIENCE = 100
_PROGRAM = """#!{python}
import sys

sys.path.insert(0, {root!r})
from crabmem.__main__ import main

main()
"""


#: Where programs of npm are: in the folders that CRABMEM_HOSTS names, as `npm install --prefix folder` puts them there.
PLACES = [f"{folder}/node_modules/.bin" for folder in os.environ.get("CRABMEM_HOSTS", "").split(os.pathsep) if folder]


def program(name: str) -> str:
    """Where a host or a tool is, in `PLACES` or on PATH; skips the test without it."""
    found = shutil.which(name, path=os.pathsep.join([*PLACES, os.environ.get("PATH", "")]))
    if not found:
        pytest.skip(f"{name} is neither in node_modules/.bin of a folder in $CRABMEM_HOSTS nor on PATH")
    return found


@dataclass(frozen=True)
class Rig:
    """The home folder, a project to work in, and the `crabmem` that the host is told of."""

    home: Path
    project: Path
    crabmem: Path

    def run(self, *command: str, **more: str) -> str:
        """What a command said, standing in the project; it is killed with its children when it takes too long."""
        started = subprocess.Popen(
            command,
            cwd=self.project,
            env={**self.environment(), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            return started.communicate(timeout=_PATIENCE)[0]
        finally:
            _end(started.pid)

    def environment(self) -> dict[str, str]:
        """The surroundings of a command, with nothing of the person's own."""
        return {
            "HOME": str(self.home),
            "PATH": f"{Path(shutil.which('node') or sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def call(self, *words: str) -> str:
        """What `crabmem …` said, which must succeed."""
        done = subprocess.run(
            [str(self.crabmem), *words], capture_output=True, text=True, cwd=self.project, env={"HOME": str(self.home)}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, path: str, text: str) -> Path:
        """A file in the home folder."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return file


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


#: Facts of a person who has used memory for a while. Among them are some with
#: the words of crabmem's own guide, which no question must be mistaken for.
FACTS = [
    ("Deploy key", "where the deploy key lives", "In the vault under ops/heron."),
    ("Working style", "how the person likes to work", "Short answers, no preferences asked twice. (style-owl)"),
    ("Corrections", "what the agent got wrong", "Decisions and reasons were mixed up. (correction-owl)"),
    ("Secrets", "where passwords and keys are kept", "Never in memory, always in the vault. (secret-owl)"),
    ("Conversations", "what outlives a conversation", "Facts, people, and how they are related. (talk-owl)"),
    ("Luna's vet", "who the vet of the dog is", "Dr. Vega, on the square. (vet-owl)"),
    *(
        (f"{project} {topic}", f"{question} of {project}", f"{answer} ({project.lower()}-{topic})")
        for project in (
            "Heron",
            "Finch",
            "Plover",
            "Egret",
            "Bittern",
            "Curlew",
            "Dunlin",
            "Godwit",
            "Knot",
            "Ruff",
            "Snipe",
        )
        for topic, question, answer in (
            ("owner", "who looks after the code", "The team upstairs."),
            ("database", "what stores the records", "Postgres, one cluster."),
            ("language", "what it is written in", "Mostly Go."),
            ("meeting", "when people talk about the plans", "Every second Tuesday."),
            ("budget", "how much money is left", "Enough until spring."),
            ("logs", "where to look when it fails", "On the shared dashboard."),
        )
    ),
]


#: What its `MEMORY.md` says.
OVERVIEW = "# Overview\n\nThe cart is named Marabou.\n"


def make_rig(folder: Path) -> Rig:
    """A rig in `folder`, with a memory that has `FACTS` and an overview."""
    home, project = folder / "home", folder / "project"
    (home / "bin").mkdir(parents=True)
    project.mkdir()
    crabmem = home / "bin" / "crabmem"
    crabmem.write_text(_PROGRAM.format(python=sys.executable, root=str(ROOT)))
    crabmem.chmod(0o755)
    rig = Rig(home, project, crabmem)
    for number, (name, description, content) in enumerate(FACTS):
        rig.write(
            f".crabmem/memory/entries/fact-{number}.md",
            f"---\nname: {name}\ndescription: {description}\n---\n\n{content}\n",
        )
    rig.write(".crabmem/memory/MEMORY.md", OVERVIEW)
    rig.call("adopt")
    return rig
