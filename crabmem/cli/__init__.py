"""The command line. Each verb is one function that calls one operation and words its result.

Data goes to stdout, talk to stderr. Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage.

Adding a verb: write it in a module here, name it in that module's `COMMANDS`, and both in `_VERBS`.
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


def main() -> None:
    """The `crabmem` command."""
    cli(prog_name="crabmem")
