"""Tools that propose what a person then decides on: prompt_propose, for a section of the identity."""

from typing import Annotated

from msgspec import Meta

from ..memory import Memory
from ..results import Changed, Proposed, json_of
from ..text.hashes import short
from ..text.markdown import with_section
from .result import Hints, Result, ToolFunction, changed_text

Reason = Annotated[str, Meta(description="Why, in a sentence or two, for the person.")]


def prompt_propose(
    memory: Memory,
    section: Annotated[str, Meta(description="The heading in your identity that it is about; a new one is added.")],
    reason: Reason,
    proposal: Annotated[str, Meta(description="All that should stand under that heading, in Markdown.")],
) -> Annotated[Result, Proposed]:
    """Propose a change to a section of the file that says who you are. Nothing changes before a person decides."""
    text = with_section(memory.identity().text, section, proposal)
    return identity_result(memory.propose_identity(text, reason))


def identity_result(done: Changed) -> Result:
    """What became of the identity that an agent wrote, or proposed."""
    return Result(changed_text(_words(done), done), json_of(done))


def _words(done: Changed) -> str:
    if not isinstance(done, Proposed):
        return f"{done.path.rpartition('/')[2]} updated"
    return (
        f"{done.path} is as it was: this is proposal {short(done.proposal.id)} now, and the person decides. Tell them "
        "what you propose and why; `crabmem proposals` lists it for them"
    )


TOOLS = (ToolFunction(prompt_propose, "Propose a change of the identity", Hints(read_only=False, destructive=False)),)
