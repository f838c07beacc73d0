"""The `crabmem` command, also as `python -m crabmem`."""

import os
import sys

from .quick import answered


def main() -> None:
    """Answer at once what is plain; load the whole command line for the rest."""
    if not answered(sys.argv[1:], os.environ):
        from .cli import main as whole

        whole()


if __name__ == "__main__":
    main()
