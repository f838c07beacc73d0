"""The command line. Each verb is one function that calls one operation and words its result.

Data goes to stdout, talk to stderr. Exit status: 0 done, 1 an error (one line on stderr), 2 wrong usage.
"""


def main() -> None:
    """The `crabmem` command."""
    from .app import cli
    from .output import unwritten

    try:
        cli(prog_name="crabmem")
    except OSError as error:
        if error.filename is not None:
            raise
        # Only what click prints itself, such as the help, gets here: `echo` reports what it cannot write.
        failure = unwritten(error)
        failure.show()
        raise SystemExit(failure.exit_code) from None
