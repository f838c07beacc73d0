"""Lessons that an agent learned: a line for each, in files that it reads again when a session begins. Pure functions.

A file never grows without end: its older half goes, and stays in history.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal, get_args

from ..errors import InvalidArguments
from .edit import appended
from .words import shortened

#: The kinds of lessons, each a file.
Kind = Literal["errors", "corrections", "wins"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Of a file above so many bytes, the older half goes.
MOST = 50_000
#: How the message of a person begins who corrects what was said before.
BEGINNINGS = (
    "no,", "no.", "no!", "nope", "wrong", "incorrect", "not quite", "not what i", "actually,",
    "that's wrong", "that is wrong", "that's not", "that is not", "this is wrong", "you're wrong", "you are wrong",
    "i said", "i meant", "i told you", "i already told you", "you misunderstood",
)  # fmt: skip

_TOOL, _ERROR, _CONTEXT = 100, 500, 300
_SAID, _ANSWER = 200, 500
_TIME = "[%Y-%m-%d %H:%M UTC]"


@dataclass(frozen=True)
class Lesson:
    """One lesson: its kind, and its words, which are one line.

    Raises:
        InvalidArguments: `words` is blank.
    """

    kind: Kind
    words: str

    def __post_init__(self) -> None:
        if not self.words:
            raise InvalidArguments("the lesson is blank; say what happened")


def tool_failure(tool: str, error: str, context: str = "") -> Lesson:
    """The lesson that a tool failed, and at what.

    Raises:
        InvalidArguments: `tool` or `error` is blank.
    """
    name, words, around = shortened(tool, _TOOL), shortened(error, _ERROR), shortened(context, _CONTEXT)
    if not name or not words:
        raise InvalidArguments("name the tool, and say how it failed")
    return Lesson("errors", f"**{name}**: {words}" + (f" ({around})" if around else ""))


def correction(message: str, before: str = "") -> Lesson:
    """The lesson that a person corrected with `message` what the agent said `before`."""
    words, wrong = shortened(message, _ANSWER), shortened(before, _SAID)
    return Lesson("corrections", f"after “{wrong}”: {words}" if words and wrong else words)


def win(words: str) -> Lesson:
    """The lesson that something worked well, and is to be done so again."""
    return Lesson("wins", shortened(words, _ANSWER))


def is_correction(message: str) -> bool:
    """Whether a person's message begins as corrections do; `no problem` and `nobody` do not."""
    text = " ".join(message.replace("\u2019", "'").split()).casefold()
    return any(text.startswith(start) and not text[len(start) : len(start) + 1].isalnum() for start in BEGINNINGS)


def with_lesson(before: str, lesson: Lesson, now: datetime) -> str:
    """The file `before` with a lesson more at its end; as it is, when its last line says the same."""
    last = before.rstrip().rpartition("\n")[2]
    if last.startswith("- [") and last.partition("] ")[2] == lesson.words:
        return before
    line = f"- {now.astimezone(UTC):{_TIME}} {lesson.words}\n"
    return _within_bound(appended(before or f"# {lesson.kind.capitalize()}\n\n", line))


def _within_bound(text: str) -> str:
    """`text`, or, when it is too long, what stands above its lessons and the newer half of these."""
    if len(text.encode()) <= MOST:
        return text
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    sizes = list(accumulate(len(line.encode()) for line in reversed(lines)))
    newer = [start for start in starts if sizes[len(lines) - start - 1] <= sizes[-1] // 2]
    return "".join([*lines[: starts[0]], *lines[newer[0] :]])
