"""The `crabmem` command, also as `python -m crabmem`."""

import os
import sys


def main() -> None:
    """Answer at once what is plain; load the whole command line for the rest."""
    if "hook" in sys.argv:
        from .hosts.hooks.command import run_if_hook

        run_if_hook(sys.argv[1:], os.environ)  # ends the process, if it is one
    from .quick import answered

    if answered(sys.argv[1:], os.environ):
        os._exit(0)  # all is said, and taking the index apart again would take as long as the search
    from .cli import main as whole

    whole()


if __name__ == "__main__":
    main()
