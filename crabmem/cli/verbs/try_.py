"""`crabmem try`: a guided first minute, with the real commands in a throw-away workspace."""

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from ...operations import setup
from ...session.opening import session_at
from ..app import cli, verb
from ..output import tell

#: Seconds between two steps on a terminal, so that a reader keeps up.
_PAUSE = 0.6
_VET = "memory/entries/luna-s-vet.md"


def _commands(root: Path) -> list[tuple[str, Callable[[], None]]]:
    """Return the steps of the tour: what to print before each ("": nothing), and the function that does it."""

    def run(*words: str) -> Callable[[], None]:
        return lambda: _run(root, *words)

    return [
        (
            "An agent learns two facts. Each becomes one Markdown file and one commit.",
            run("--agent", "assistant", "remember", "Luna's vet", "-d", "who looks after the dog",
                "-c", "Dr. Moreno, every Thursday."),
        ),
        ("", run("--agent", "assistant", "remember", "Wifi", "-d", "the network for guests",
                 "-c", "Named Pinguin; key on the router.")),
        ("You open the file in your editor and correct it.", lambda: _edit(root)),
        ("The next question already knows, without a restart.", run("recall", "who looks after our dog")),
        ("The agent forgets one. Your edit is recorded first, as yours.",
         run("--agent", "assistant", "forget", "wifi")),
        ("Who did what?", run("log")),
        ("Who wrote each line?", run("blame", "Luna's vet")),
        ("Forgetting was a mistake: take it back. Nothing is erased but by `crabmem purge`.", run("undo")),
        ("What did memory say before your edit? Every moment can still be read.",
         run("show", "Luna's vet", "--as-of", "HEAD~3")),
        ("And today your correction is the answer.", run("recall", "vet")),
    ]  # fmt: skip


@verb(after="More")
@click.option("--keep", is_flag=True, help="Keep the folder, to look around in it.")
def try_(keep: bool) -> None:
    """Show how memory works, in a guided minute.

    It uses a folder that is removed at the end.

    \b
    crabmem try
    """
    root = Path(tempfile.mkdtemp(prefix="crabmem-try-"))
    try:
        with session_at(root) as memory:
            setup.init(memory)  # else the first command would tell that it began a memory there, as if by mistake
        for words, action in _commands(root):
            if words:
                time.sleep(_PAUSE if sys.stdout.isatty() else 0)
                click.secho(f"\n{words}", bold=True)
            action()
    finally:
        if not keep:
            _remove(root)
    where = f"It is all in {root}: look around, and try `git log -p` there." if keep else _goodbye()
    click.echo(f"\n{where}")


def _goodbye() -> str:
    """Return how to go on, with the command as it can be typed on this machine."""
    command = "crabmem" if shutil.which("crabmem") else sys.argv[0]
    return (
        f"The folder is gone again; `{command} try --keep` leaves it to look around in.\n"
        f"Give it to the agent you use: {command} install claude-code (or `{command} install` for the others)\n"
        f'Or begin by hand: {command} remember "First fact" -d "what it is about" -c "..."'
    )


def _run(root: Path, *words: str) -> None:
    click.secho(f"\n$ crabmem {' '.join(map(_as_typed, words))}", fg="cyan")
    cli.main(["--dir", str(root), "--workspace", "", "--no-pager", *words], prog_name="crabmem", standalone_mode=False)


def _as_typed(word: str) -> str:
    """`word` as one would type it: in double quotes where it needs any."""
    return word if shlex.quote(word) == word or word.startswith("HEAD") else f'"{word}"'


def _edit(root: Path) -> None:
    click.secho(f"\n$ sed -i 's/Thursday/Friday/' {_VET}", fg="cyan")
    file = root / _VET
    file.write_bytes(file.read_bytes().replace(b"Thursday", b"Friday"))


def _remove(root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    if root.exists():
        tell(f"{root} could not be removed")
