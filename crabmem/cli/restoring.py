"""What verbs share that bring files back: how they refuse a mass loss, and say what became of which files."""

from ..results import Restored
from ..session.session import Session
from ..text.words import counted
from .options import yes_really_option

yes_if_many_option = yes_really_option(
    "Even if ten facts or more, and more than a third, would be gone; or all of fewer than ten."
)


def done_or_waits(memory: Session, words: str) -> str:
    """`words`, unless nothing of what they say was written: it waits for a person, which is told when the verb ends."""
    return "waits" if memory.withheld and not memory.has_written else words


def files_restored(done: Restored, would: str = "") -> str:
    """What became of which files."""
    brought = len(done.paths) - len(done.removed)
    told = [
        *([f"{would or 'restored'} {counted(brought, 'file')}"] if brought else []),
        *([f"{'delete' if would else 'deleted'} {counted(len(done.removed), 'file')}"] if done.removed else []),
    ]
    return " and ".join(told) or "nothing differs"
