"""The `crabmem` command, also as `python -m crabmem`."""

import gc
import os
import sys


def main() -> None:
    """Run a hook, a command line without anything odd in it, or else what click makes of it."""
    gc.disable()  # it walks what was loaded, again and again: a tenth of what a recall takes
    if "hook" in sys.argv:
        from .hosts.hooks.command import run_if_hook

        run_if_hook(sys.argv[1:], os.environ)  # ends the process, if it is one
    if "mcp" in sys.argv:
        from .mcp.stdio import begin

        begin(sys.argv[1:], os.environ)
    from .cli.plain import ran

    if ran(sys.argv[1:], os.environ):
        os._exit(0)  # all is said and kept: to take it apart again would take as long as a search
    from .cli import main as whole

    whole()


if __name__ == "__main__":
    main()
