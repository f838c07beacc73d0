"""`crabmem leave`: takes crabmem out of a folder."""

from ...operations import leaving
from ..app import open_session, verb
from ..options import dry_run_option, json_option, yes_option
from ..output import confirm, plain, show, tell, tell_always


@verb(after="adopt")
@dry_run_option
@yes_option
@json_option
def leave(dry_run: bool, yes: bool, json_wanted: bool) -> None:
    """Take crabmem out of a folder: your files and their history stay, and nothing of crabmem's lies beside them.

    What you changed is recorded first. Removed are .git/crabmem (the index and what crabmem counts) and crabmem.toml,
    if it says only what `crabmem adopt` wrote. It refuses while something waits for you there. Uninstall hosts that use
    the folder first (`crabmem uninstall HOST`). To take it up again: `crabmem adopt DIR --yes-really`.

    \b
    crabmem leave --dir ~/notes --dry-run
    crabmem leave --dir ~/notes
    """
    memory = open_session()
    if not dry_run and not yes:
        planned = leaving.leave(memory, dry_run=True)
        tell_always(f"would remove {', '.join(planned)} from {memory.root}; your files and .git stay")
        confirm("Take crabmem out of this folder?", "removed")
    removed = leaving.leave(memory, dry_run=dry_run)
    done = "would remove" if dry_run else "removed"
    data = {"path": str(memory.root), "removed": list(removed), "is_done": not dry_run}
    show(json_wanted, data, lambda: plain("\n".join(f"{done} {path}" for path in removed)))
    if not dry_run and not json_wanted:
        tell(f"your files are as they were; their history stays in {memory.root / '.git'}, an ordinary repository")
