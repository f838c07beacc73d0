"""The `crabmem` command, also as `python -m crabmem`."""

import gc
import os
import sys


def main() -> None:
    """Run a hook, or a command line."""
    gc.disable()  # it walks what was loaded, again and again: a tenth of what a recall takes
    if "hook" in sys.argv:
        from .hosts.hooks.command import run_if_hook

        run_if_hook(sys.argv[1:], os.environ)  # ends the process, if it is one
    if "mcp" in sys.argv:
        from .mcp.stdio import begin

        begin(sys.argv[1:], os.environ)
    from .cli import main as command_line

    try:
        command_line()
    except SystemExit as ended:
        if ended.code:
            raise
        sys.stdout.flush()
        os._exit(0)  # all is said and kept: to take it apart again takes a sixth of a recall


if __name__ == "__main__":
    main()
