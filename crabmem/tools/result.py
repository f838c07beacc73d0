"""The answers of tools: data for programs, and a text for the model, which says what was written, lost or refused."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..errors import CrabmemError, Stale
from ..recall.ranking import passage_text, text_of
from ..results import Changed, Hit, Proposal, Recall, Saved
from ..text.addresses import address
from ..text.hashes import short
from ..text.quoting import DATA, answer_text, block, escaped, first_lines, joined, one_line, visible
from ..text.values import replace
from ..text.words import counted, shortened
from ..workspace.layout import AGENTS

#: Characters of a diff in an answer: the writer knows the new text, and the history has the old one.
MOST_OF_A_DIFF = 400
# Characters of one of its lines, and of a name.
_WIDTH, _NAME = 160, 80
_LONGER = "(there is more of it)"
_TELL = "Until then it is not recalled. Do not write it again, and do not say that it is stored."


class Refusal(CrabmemError):
    """A tool refuses to do something, in the words that agents of its family know."""


@dataclass(frozen=True)
class Result:
    """A tool's answer: `text` for the model, `data` for programs."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    is_error: bool = False


def recall_text(recall: Recall, text: Callable[[Hit], str] = text_of) -> str:
    """The answer of a recall: what it found, or why it found nothing."""
    if not recall.hits and not recall.sessions:
        return f"no memories found: {recall.note}"
    return answer_text([*map(text, recall), *map(passage_text, recall.sessions)], one_line(recall.note))


def saved_text(text: str, done: Saved, agent: str | None) -> str:
    """`text`, then for a new fact the one that is nearly the same, for a replaced one who wrote it when; and warnings.

    If somebody else than `agent` wrote the replaced text, the diff is added: the model should know what it took away.
    """
    before = done.replaced if done.commit else None
    if before is None:
        hint = f"\nlike *{shortened(one_line(done.like.name), _NAME)}*: update it instead?" if done.like else ""
        return warned(text + hint, done.warnings)
    is_own = before.agent == agent and not before.is_person
    author = shortened(one_line(before.author), _NAME) + (", a person," if before.is_person else "")
    line = f"{text} (in place of what {'you' if is_own else author} wrote on {before.time:%Y-%m-%d})"
    return warned(line if is_own else _with(line, diff_text(done.diff)), done.warnings)


def changed_text(text: str, done: Changed) -> str:
    """`text`, under it the diff if the write removed lines of a file that was there, and the warnings."""
    return warned(text if done.created else _with(text, diff_text(done.diff)), done.warnings)


def with_waiting(result: Result, waits: Sequence[Proposal], has_written: bool, scopes: Mapping[str, str]) -> Result:
    """A tool's answer where the writes `waits` wait for a person: it must not sound as if they were done.

    If nothing was written (not `has_written`), the tool's own text is replaced. `scopes` has the name of another memory
    by the id of each proposal that waits there. An answer without such writes, or an error, is returned as it is.
    """
    if not waits or result.is_error:
        return result
    places = [address(scopes[item.id], item.path) if item.id in scopes else item.path for item in waits]
    each = "\n".join(
        f"- proposal {short(item.id)}: {one_line(place)} ({one_line(item.rule)})"
        for item, place in zip(waits, places, strict=True)
    )
    of_it = "Of this, not written yet" if has_written else "Nothing is written yet"
    text = f"{of_it}: it waits for the person, who decides with `crabmem review`.\n{each}\n{_TELL}"
    return replace(result, text=_with(result.text, text) if has_written else text)


def stale_text(error: Stale, most: int) -> str:
    """Say why a write was refused: the error, what changed since that version, and the current text in a block.

    `most` is the most characters of the current text.
    """
    if not error.version:
        return str(error)
    current = block("memory", first_lines(visible(error.current), most, _LONGER)) or "nothing"
    since = diff_text(error.diff)
    changed = f"What changed since:\n{since}" if since else ""
    return joined((str(error), changed, f"It now says ({DATA}):\n{current}"))


def without_root(text: str, root: Path) -> str:
    """The text of an error for a model, with paths relative to the workspace: where it lies is none of its business.

    Paths in the workspace around a named agent's own are shortened, too.
    """
    around = [root.parent.parent] if root.parent.name == AGENTS else []
    for folder in [root, *around]:
        for place in sorted({str(folder), os.path.realpath(folder)}, key=len, reverse=True):
            text = text.replace(f"{place}{os.sep}", "").replace(place, "the workspace")
    return text


def diff_text(diff: str) -> str:
    """The removed and added lines of a diff, cut to `MOST_OF_A_DIFF` characters and escaped for a model.

    "" if no line was removed: an agent knows what it added.
    """
    body = escaped(diff.partition("\n@@")[2]).split("\n")[1:]
    lines = [_cut(line) for line in body if line.startswith(("-", "+"))]
    if not any(line.startswith("-") for line in lines):
        return ""
    if len("\n".join(lines)) <= MOST_OF_A_DIFF:
        return "\n".join(lines)
    room = MOST_OF_A_DIFF - len(_rest(len(lines)))
    kept = sum(length <= room for length in accumulate(len(line) + 1 for line in lines))
    return "\n".join([*lines[:kept], _rest(len(lines) - kept)])


def warned(text: str, warnings: Iterable[str]) -> str:
    """`text`, and under it a line for each warning."""
    return _with(text, "\n".join(f"warning: {words}" for words in warnings))


def _with(text: str, more: str) -> str:
    return f"{text}\n\n{more}" if more else text


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _rest(lines: int) -> str:
    return f"(… {counted(lines, 'more line')}; the history has all of it)"
