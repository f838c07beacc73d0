"""The tool that syncs with the remote that a person named, offered where `[sync] tool` says so."""

from typing import Annotated

from ..errors import Disabled
from ..operations import syncing
from ..results import Synced, json_of
from ..session.session import Session
from ..text.words import counted
from .result import Result
from .tool import Hints, ToolFunction


def sync(memory: Session) -> Annotated[Result, Synced]:
    """Take in what the person's other machines remembered, and give them what this one did. Decides nothing."""
    if not memory.settings.sync.tool:
        raise Disabled("the tool is switched off here; a person may set tool = true under [sync] in crabmem.toml")
    if waiting := syncing.sync_status(memory).waiting:
        texts = counted(waiting, "text")
        raise Disabled(
            f"{texts} of other machines first need the person's word: ask them to run `crabmem review resolve`"
        )
    done = syncing.sync(memory)
    came, went = counted(len(done.taken), "file"), counted(done.sent, "commit")
    later = f"; {counted(len(done.disputed), 'file')} for the person to decide on" if done.disputed else ""
    later += "".join(f"; two facts are called {name}: {', '.join(paths)}" for name, paths in done.doubled.items())
    return Result(f"synced: {came} came in, {went} went out{later}", json_of(done))


#: It reaches beyond the workspace, as no other tool does.
_SYNCS = Hints(read_only=False, destructive=False, open_world=True)
TOOLS = (ToolFunction(sync, "Sync with other machines", _SYNCS, lambda memory: memory.settings.sync.tool),)
