"""The command line. Each verb is one function that calls one operation and words its result.

Data goes to stdout, talk to stderr. Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage.

Adding a verb: write it in a module here, name it in that module's `COMMANDS`, both in `_VERBS`, and the verb in a
group of the help.
"""

from .base import cli

__all__ = ["cli", "main"]

# The modules and their verbs, in the order of the help. One is loaded when a verb of it is typed.
_VERBS = {
    "tour": "try",
    "entries": "remember recall show list tags edit forget",
    "linking": "rename links",
    "learning": "learn",
    "files": "memory soul prompt context",
    "noting": "note flush",
    "profiles": "profile",
    "agents": "agents",
    "history": "log diff rollback undo",
    "tracing": "blame when digest",
    "reverting": "revert",
    "proposing": "proposals",
    "adopting": "adopt restore",
    "purge": "purge",
    "upkeep": "init stats doctor reindex watch call tools path completion",
    "configuring": "config",
    "importing": "import",
    "evaluating": "eval",
    "bisecting": "bisect",
    "serving": "mcp",
    "hooking": "hook",
    "installing": "install uninstall",
    "bundling": "bundle",
}
cli.homes = {verb: f"{__name__}.{module}" for module, verbs in _VERBS.items() for verb in verbs.split()}
cli.groups = {
    "Start": "try init path config completion",
    "Facts": "remember recall show list tags edit rename links forget import",
    "Files": "memory soul proposals note prompt context profile",
    "History": "log diff undo rollback blame when digest bisect revert purge",
    "Upkeep": "stats doctor reindex watch eval adopt restore",
    "Agents": "agents install uninstall bundle mcp hook tools call flush learn",
}


def main() -> None:
    """The `crabmem` command."""
    cli(prog_name="crabmem")
