"""docs/fleet.md is true: its commands are run as they stand, one after the other, as a new user types them."""

import os
import re
import subprocess
import sys
from pathlib import Path

from crabmem import Memory
from crabmem.sync.sync import name_remote, sync
from tests.docs.pages import DOCS, blocks
from tests.fleet.server import Server

#: Commands of another machine, or of its owner: installing, the remotes of a forge, what runs for ever.
_ELSEWHERE = ("sudo ", "pip install", "db.example", "#!/bin/sh")


def test_the_commands_of_the_page_do_what_it_says(server: Server, tmp_path: Path) -> None:
    for name, fact in (("coder", "Otter"), ("tester", "Heron"), ("support", "Newt")):
        with Memory(tmp_path / name, is_person=True) as memory:
            memory.remember(fact, f"who looks after the {fact.lower()}", "Ann does, on Mondays.")
            (tmp_path / "git").mkdir(exist_ok=True)
            name_remote(memory, f"{tmp_path}/git/{name}.git", "/")
            sync(memory)
    (tmp_path / "memories.txt").write_text(f"# of a forge\nteam-b/support   {tmp_path}/git/support.git\n")
    url = server.url(server.database())
    said = ""
    for block in (
        block.text for block in blocks(DOCS / "fleet.md", "sh") if not any(map(block.text.count, _ELSEWHERE))
    ):
        said += _run(block, url, tmp_path)
    told = r"version \w{8}, since 20\S+ in \w{8}, index \d+ s behind at most"
    hit = rf"## Otter\n\(from team-a/coder:memory/entries/otter\.md, {told}\)\nwho looks after the otter\n\nAnn does"
    assert re.search(hit, said)
    assert "bob asks for nothing any more" in said
    assert "made anew: 3 facts" in said


def _run(block: str, url: str, folder: Path) -> str:
    """The output of a block of commands, with the addresses of this machine in place of those of the page."""
    text = re.sub("postgresql:///crabmem", url, block)
    text = re.sub("/srv/git/team-a", f"{folder}/git", text)
    text = re.sub("(?m)^crabmem fleet follow$", "crabmem fleet follow --once", text)
    text = re.sub("--bytes", "--bytes --yes", text)
    environment = {**os.environ, "CRABMEM_FLEET": url, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {"CRABMEM_DIR": str(folder / "here")}
    done = subprocess.run(["bash", "-euc", text], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr
