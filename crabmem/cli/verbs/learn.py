"""The verbs for what an agent learns of its mistakes, as the program around it tells."""

import click

from ...operations import notes
from ...results import json_of
from ...text import learnings
from ...text.learnings import Lesson
from ..app import open_session, verb
from ..input import TEXT
from ..options import json_option
from ..output import diff_of_commit, show, tell, warn

_WORDS = click.argument("words", metavar="TEXT|-", type=TEXT)


@verb(after="flush", cls=click.Group)
def learn() -> None:
    """Add a line to what an agent learned of its mistakes, which it reads again when a session begins.

    \b
    crabmem learn error exec "exit 1: no such file" --context "while building"
    crabmem learn correction "No, in May." --said "The fair is in June."
    crabmem learn win "Asking before deleting saved the day"

    For the program around the agent. In profiles whose prompt shows them: --profile legion.
    """


@learn.command("error")
@click.argument("tool")
@_WORDS
@click.option("--context", type=TEXT, default="", help="What was being done.")
@json_option
def error_(tool: str, words: str, context: str, json_wanted: bool) -> None:
    """Record that TOOL failed, and how.

    \b
    crabmem learn error exec "exit 1: no such file" --context "while building"
    make 2>&1 | tail -5 | crabmem learn error make -
    """
    _learn(learnings.tool_failure(tool, words, context), json_wanted)


@learn.command("correction")
@_WORDS
@click.option("--said", type=TEXT, default="", help="What the agent had said.")
@click.option(
    "--if-one", is_flag=True, help="Only if the message begins as corrections do: with no, wrong, actually and such."
)
@json_option
def correction_(words: str, said: str, if_one: bool, json_wanted: bool) -> None:
    """Record the message with which a person corrected the agent.

    \b
    crabmem learn correction "No, in May." --said "The fair is in June."
    """
    if if_one and not learnings.is_correction(words):
        show(json_wanted, {"path": None, "commit": None}, str)
        return tell("no correction")
    _learn(learnings.correction(words, said), json_wanted)


@learn.command("win")
@_WORDS
@json_option
def win_(words: str, json_wanted: bool) -> None:
    """Record what worked well.

    \b
    crabmem learn win "Asking before deleting saved the day"
    """
    _learn(learnings.win(words), json_wanted)


def _learn(lesson: Lesson, json_wanted: bool) -> None:
    """Add a lesson to its file, and print that; tell if the profile's prompt does not show this file to agents."""
    memory = open_session(is_person=False)
    changed = notes.learn(memory, lesson)
    state = "learned" if changed.commit else "waits" if changed.proposal else "said so already"
    show(json_wanted, json_of(changed), lambda: f"{state}: {changed.path}\n{diff_of_commit(changed)}")
    warn(changed.warnings)
    name = memory.engine.profile_name
    if not json_wanted and not any(part.file == changed.path for part in memory.profile.part):
        tell(
            f"agents will not read it when a session begins: the prompt of the profile {name} does "
            f"not show {changed.path}; of the built-in profiles only legion shows learnings (--profile legion)"
        )
