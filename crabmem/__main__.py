"""The `crabmem` command, also as `python -m crabmem`, and what answers for such processes."""

import gc
import os
import sys


def main() -> None:
    """Run a hook, or a command line, here or in the process that stands by."""
    try:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            _open_closed()
        _run()
    except KeyboardInterrupt:  # while it loads: click knows it later
        sys.stderr.write("\nAborted!\n")
        os._exit(1)


def _open_closed() -> None:
    """Open closed streams as empty ones: else the next file that is opened gets their number, and is written to."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            os.dup2(handle, number)  # which a process that we begin has too
            if handle != number:
                os.close(handle)
            else:
                os.set_inheritable(handle, True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _run() -> None:
    gc.disable()  # it walks what was loaded, again and again: a tenth of what a recall takes
    from .ask import VERBS, ask

    said = b""
    if not VERBS.isdisjoint(sys.argv):
        said = ask(sys.argv, os.environ)  # ends the process, where that stands by and answers
    if "hook" in sys.argv:
        from .hosts.hooks.command import run_if_hook

        run_if_hook(sys.argv[1:], os.environ, said)  # ends the process, if it is one
    if "mcp" in sys.argv:
        from .mcp.stdio import begin_early

        begin_early(sys.argv[1:], os.environ)
    from .cli import main as command_line

    try:
        command_line()
    except SystemExit as ended:
        if ended.code:
            raise
        sys.stdout.flush()
        os._exit(0)  # all is said and kept: to take it apart again takes a sixth of a recall


def stand_by(handle: int) -> None:
    """Answer for others on a socket, as the process that `standby.offer` starts."""
    gc.disable()
    from .standby.helper import serve

    serve(handle, os.environ, _run_for_another)


def _run_for_another(arguments: list[str], said: bytes) -> int | None:
    """Run what only reads, and return its exit status; None for all else, which a process does for itself."""
    from .ask import READING_HOOKS, VERBS
    from .hosts.hooks.command import Command

    command = Command(arguments)
    verb, *more = command.words or [""]
    if verb == "hook":
        if command.odd or not more or more[0] not in READING_HOOKS:
            return None
        from .hosts.hooks.process import answer_command, root_of, warn

        root = root_of(command, os.environ)
        os.write(1, answer_command(command, os.environ, root, lambda: said))
        warn(root, command)
        return 0
    if verb not in VERBS or (verb in ("overview", "identity") and more not in ([], ["show"])):
        return None
    from .cli import main as command_line

    try:
        command_line()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    return 0


if __name__ == "__main__":
    main()
