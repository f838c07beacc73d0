"""`crabmem hook`: what the host of an agent runs at the events of a session.

It never gets in the host's way. Whatever goes wrong, and however long it takes, it answers `{}` in time and exits with
0; the reason is a line in `.git/crabmem/hooks.log`. Only if something blocks the interpreter, so that nothing can be
answered, it exits with 1, in time too; hosts take that for a hook with no answer. So this module imports only what
Python has loaded anyway. The modules that find the answer are loaded once there is a `Reply`, which answers if that
fails.
"""

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Seconds after which a hook answers nothing: Claude Code waits for 1.5 at the end of a session.
DEADLINE = 1.4
#: The same for events whose missing answer does lasting harm: a session without its identity, a fact recorded as
#: somebody else's.
LONGER = {"session-start": 5.0, "subagent-start": 5.0, "wrote": 5.0}
# Seconds that `--deadline` may ask for at most. No host waits for longer, and a timer does not take every number.
_MAX_DEADLINE = 3_600
_GLOBAL = ("--dir", "--project", "--workspace", "--agent", "--session", "--profile", "--kind")
# Flags of the command line that stand for an environment variable.
_SAID_BY_VARIABLE = {"--alone": "CRABMEM_ONLY_THIS", "--propose": "CRABMEM_PROPOSE"}
_OWN = ("--host", "--deadline", "--without")
_MAX_INPUT_BYTES = 64_000_000


class Command:
    """The arguments of a command, parsed by hand: nothing that parses a command line may be loaded yet.

    A flag that stands for a variable is set in the environment of this process.
    """

    def __init__(self, arguments: "Sequence[str]") -> None:
        #: The values of options, by the names of these.
        self.options: dict[str, str] = {}
        #: The arguments that are no options: "hook", then the event.
        self.words: list[str] = []
        #: The last option that no hook has; "" for none.
        self.odd = ""
        #: Whether the beginning of a session is to be answered with the guide to memory, too.
        self.is_guide = False
        rest = iter(arguments)
        for word in rest:
            name, equals, value = word.partition("=")
            if name in _GLOBAL or name in _OWN:
                self.options[name] = value if equals else next(rest, "")
            elif not word.startswith("-"):
                self.words.append(word)
            elif word == "--guide":
                self.is_guide = True
            elif word in _SAID_BY_VARIABLE:
                os.environ[_SAID_BY_VARIABLE[word]] = "1"
            elif word != "--json":
                self.odd = word

    @property
    def event(self) -> str | None:
        """The event that the command names; None if it leaves that to the host's input."""
        return self.words[1] if len(self.words) > 1 else None

    @property
    def nothing(self) -> bytes:
        """The answer without content: an empty object, or no output where the host would give that to its model."""
        # Claude Code gives its model whatever a hook prints before it compacts.
        is_taken = self.event == "pre-compact" and self.options.get("--host", "claude-code") == "claude-code"
        return b"" if is_taken else b"{}\n"

    @property
    def deadline(self) -> float:
        """Seconds from the start of the process until the answer is due."""
        asked = float(self.options.get("--deadline") or LONGER.get(self.event or "", DEADLINE))
        return min(asked, _MAX_DEADLINE)


class Reply:
    """The one answer to the host. Two parties may give it: the work, and the deadline (`is_late`); the first wins."""

    def __init__(self) -> None:
        # Holds `is_late` of the first to claim. `dict.setdefault` is one step, which the signal of the deadline cannot
        # interrupt.
        self._first: dict[str, bool] = {}
        self._is_given = False

    def claim(self, is_late: bool = False) -> bool:
        """Take the right to answer, and keep it from the other party; return False if the other one has it already."""
        return self._first.setdefault("is_late", is_late) is is_late

    def give(self, answer: bytes, is_late: bool = False) -> bool:
        """Print the answer; return False, and print nothing, if there was one or the other party has claimed it."""
        if not self.claim(is_late) or self._is_given:
            return False
        self._is_given = True
        with suppress(OSError):  # the host closed its end
            while answer:
                answer = answer[os.write(1, answer) :]
        return True


def run_if_hook(arguments: "Sequence[str]", environment: "Mapping[str, str]", said: bytes = b"") -> None:
    """Run the hook and end the process, if the command is `hook`; return if it is another, help, or a completion.

    `said` is what was read from standard input already.
    """
    command = Command(arguments)
    if command.words[:1] != ["hook"] or {"-h", "--help"} & set(arguments) or "_CRABMEM_COMPLETE" in environment:
        return
    try:
        _run(command, environment, said)
    except BaseException:  # an interrupt, no memory, a damaged installation: the host hears nothing of it
        _report_error()
    finally:
        os._exit(0)  # at once: the host waits for the process, and nothing is left to clean up


def _run(command: Command, environment: "Mapping[str, str]", said: bytes) -> None:
    """Answer the hook, with nothing if loading or running the rest of crabmem fails."""
    # A host may have closed stdin, stdout or stderr. Occupy their numbers, or a file of ours would get 1, and the
    # answer.
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(spare)
    reply = Reply()
    try:
        from .process import answer_in_time

        answer_in_time(command, environment, reply, lambda: said + read_stdin())
    finally:
        reply.give(command.nothing)


def _report_error() -> None:
    """Print the error on stderr, where a person may look: hosts show it to nobody, or in a log."""
    error = sys.exc_info()[1]
    with suppress(OSError):
        os.write(2, f"crabmem hook: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))


def read_stdin() -> bytes:
    """Return what the host writes to stdin; b"" if there is no stdin, a terminal, or more than `_MAX_INPUT_BYTES`.

    Too much is read to its end all the same: a host could not write the rest, and would get an error.
    """
    data, size = [], 0
    if sys.stdin is None or os.isatty(0):
        return b""
    while piece := os.read(0, 1 << 20):
        size += len(piece)
        data.append(piece if size <= _MAX_INPUT_BYTES else b"")
    return b"".join(data) if size <= _MAX_INPUT_BYTES else b""
