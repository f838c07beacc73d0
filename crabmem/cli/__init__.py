"""The command line. Each verb is one function that calls one operation and words its result.

Data goes to stdout, talk to stderr. Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage.
"""


def main() -> None:
    """The `crabmem` command."""
    from .app import cli

    cli(prog_name="crabmem")
