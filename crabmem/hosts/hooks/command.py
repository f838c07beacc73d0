"""`crabmem hook`: what the host of an agent runs at the events of a session.

It never gets in the host's way. Whatever goes wrong, and however long it takes, it answers `{}` in time and ends with
0; the reason is a line in `.git/crabmem/hooks.log`. Where something holds the interpreter and nothing can be answered,
it ends with 1, in time too, which hosts take for a hook that said nothing. So this module loads nothing but what Python
always has; what finds the answer is loaded once there is a `Reply` to answer with if that fails.
"""

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Seconds until it says nothing rather than something late: Claude Code waits for 1.5 at the end of a session.
DEADLINE = 1.4
#: The same where silence would last: a session without its identity, a fact recorded as somebody else's.
LONGER = {"session-start": 5.0, "subagent-start": 5.0, "wrote": 5.0}
# Seconds. No host waits for longer, and a timer does not take any number.
_MAX_DEADLINE = 3_600
_GLOBAL = ("--dir", "--project", "--workspace", "--agent", "--session", "--profile", "--kind")
# Flags of the command line for which there is a variable.
_SAID_BY_VARIABLE = {"--alone": "CRABMEM_ONLY_THIS", "--propose": "CRABMEM_PROPOSE"}
_OWN = ("--host", "--deadline", "--without")
_MAX_INPUT_BYTES = 64_000_000


class Command:
    """The arguments of a command, parsed: `options` by name, and the `words` that are no options.

    `odd` is an option that no hook has; "" for none.
    """

    def __init__(self, arguments: "Sequence[str]") -> None:
        self.options: dict[str, str] = {}
        self.words: list[str] = []
        self.odd = ""
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
        """The event that is named."""
        return self.words[1] if len(self.words) > 1 else None

    @property
    def nothing(self) -> bytes:
        """The answer that says nothing."""
        # Claude Code takes whatever is printed before it compacts for words to its model.
        is_taken = self.event == "pre-compact" and self.options.get("--host", "claude-code") == "claude-code"
        return b"" if is_taken else b"{}\n"

    @property
    def deadline(self) -> float:
        """The seconds that there are for an answer."""
        asked = float(self.options.get("--deadline") or LONGER.get(self.event or "", DEADLINE))
        return min(asked, _MAX_DEADLINE)


class Reply:
    """The one answer to the host, of the work or, when `is_late`, of the deadline: of whichever is first."""

    def __init__(self) -> None:
        # Set once and in one step, for the deadline comes at any moment, as a signal or as a thread.
        self._first: dict[str, bool] = {}
        self._is_given = False

    def claim(self, is_late: bool = False) -> bool:
        """Take the right to answer: whether nobody else has it already. From now on nobody else gets it."""
        return self._first.setdefault("is_late", is_late) is is_late

    def give(self, answer: bytes, is_late: bool = False) -> bool:
        """Answer, unless that was done already or is another's to do; whether we did."""
        if not self.claim(is_late) or self._is_given:
            return False
        self._is_given = True
        with suppress(OSError):  # whoever asked is gone
            while answer:
                answer = answer[os.write(1, answer) :]
        return True


def run_if_hook(arguments: "Sequence[str]", environment: "Mapping[str, str]", said: bytes = b"") -> None:
    """Run the hook and end the process, when the command is one; else do nothing.

    `said` is what was read of standard input already.
    """
    command = Command(arguments)
    if command.words[:1] != ["hook"] or {"-h", "--help"} & set(arguments) or "_CRABMEM_COMPLETE" in environment:
        return
    try:
        _run(command, environment, said)
    except BaseException:  # an interrupt, no memory, a damaged installation: the host hears nothing of it
        _report_error()
    finally:
        os._exit(0)  # nothing that is left to do is worth the host's time


def _run(command: Command, environment: "Mapping[str, str]", said: bytes) -> None:
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # what is closed is no file's number: an answer would be written into that
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
    """Read what the host writes, to its end, so that it need not notice when that is too much; b"" then."""
    data, size = [], 0
    if sys.stdin is None or os.isatty(0):
        return b""
    while piece := os.read(0, 1 << 20):
        size += len(piece)
        data.append(piece if size <= _MAX_INPUT_BYTES else b"")
    return b"".join(data) if size <= _MAX_INPUT_BYTES else b""
