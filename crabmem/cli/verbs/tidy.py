"""`crabmem tidy`: lists what needs a look, or has a model of the person's own host propose what to do."""

import os
import secrets
import shutil
import subprocess
import tempfile
from itertools import groupby
from pathlib import Path

import click

from ...disk import fs
from ...hosts.table import HOSTS
from ...operations import proposals
from ...operations import tidy as operation
from ...results import Untidy, json_of
from ...text.words import counted, listed
from ...write.actor import PROPOSE
from ..app import open_session, verb
from ..options import json_option
from ..output import Failure, few, plain, show, tell
from ..selecting import proposals_wait

_RUNS = {host.program: host for host in HOSTS if host.headless}
_NAMED, _SHOWN = 3, 5
_NONE = "nothing to tidy"


@verb(after="doctor")
@click.option("--days", type=click.IntRange(1, 3_650), metavar="N", default=operation.UNUSED, show_default=True,
    help="After how many days a fact that was not told counts as unused.")  # fmt: skip
@click.option("--with", "host", type=click.Choice([*_RUNS]), help="Have the model of this host propose what to do.")
@json_option
def tidy(days: int, host: str | None, json_wanted: bool) -> None:
    """List what needs a look, each with the command that mends it.

    Nothing is written. It lists facts that are stale, say nearly the same, answer to the same name, have no
    description, rest on code that changed, or were neither told before a turn nor asked for by name; and daily notes
    since the last tidying.

    --with starts that host for one prompt, with its own model and account, and the tools of this memory alone. It reads
    facts as in any session with it. All that it writes waits for you, whatever [review] says.

    \b
    crabmem tidy
    crabmem tidy --with claude
    crabmem review --in tidy-3f2a91c7     approve, reword or reject what it proposed
    crabmem undo --in tidy-3f2a91c7       take all of it back that you approved
    """
    memory = open_session()
    found = operation.tidy(memory, days)
    if not host:
        show(json_wanted, {"count": len(found), "found": json_of(found)}, lambda: _lines(found))
        way = "`crabmem tidy --with HOST` has a model propose what to do"
        return None if json_wanted else tell(f"{counted(len(found), 'thing')} to look at; {way}" if found else _NONE)
    session = f"{operation.SESSION}{secrets.token_hex(4)}"
    status = _run(host, session, operation.prompt(memory, found, is_alone=True))
    waits = proposals.proposals(memory, from_session=session)
    data = {"session": session, "status": status, "proposals": json_of(waits)}
    said = f"{proposals_wait(len(waits))} for you"
    show(json_wanted, data, lambda: f"{said}: `crabmem review --in {session}`" if waits else "nothing was proposed")
    if status:
        raise Failure(f"{host} ended with status {status}: it says above why. What it proposed until then waits")


def _run(name: str, session: str, prompt: str) -> int:
    """Run a host once with the prompt, in a temporary folder and with our server alone; return its exit status.

    All that the host writes in the session waits for the person (`--propose`). Its output goes to stderr (2).

    Raises:
        Failure: the host is not on PATH.
    """
    from ..hosting import options_for  # late: who only lists needs no configs

    host, where = _RUNS[name], shutil.which(name)
    if not (where and host.headless):
        raise Failure(f"{name} is not on PATH: install {host.title}, or `crabmem tidy` alone lists what needs a look")
    server = (
        *options_for(host).program,
        "--alone",
        "--propose",
        "--session",
        session,
        "--agent",
        host.name,
        "mcp",
    )
    run = host.headless((*server, "--tools", ",".join(operation.TOOLS)), prompt)
    with tempfile.TemporaryDirectory(prefix="crabmem-tidy-") as folder:
        for path, text in run.files.items():
            fs.make_folder(Path(folder, path).parent)
            fs.create(Path(folder, path), text.encode())
        # --propose is for our server alone; the variable is for hooks of the host, and for commands of its model.
        environment = {**os.environ, **run.environment, PROPOSE: "1"}
        tell(f"starting {host.title}; all that it writes waits for you, in session {session}")
        words = [where, *run.command[1:]]
        return subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=2).returncode


def _lines(found: list[Untidy]) -> str:
    lines = list[str]()
    for kind, group in groupby(found, lambda each: each.kind):
        things = [*map(_line, group)]
        lines += [f"{operation.KINDS[kind][0]}: {len(things)}", *few(things, "more: -v", _SHOWN)]
    return "\n".join(lines)


def _line(thing: Untidy) -> str:
    names = thing.names if len({*thing.names}) == len(thing.names) else thing.paths
    about = f" ({thing.about})" if thing.about else ""
    return plain(f"  {listed(names, _NAMED)}{about}  `{thing.command}`")
