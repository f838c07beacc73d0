"""The actor: which agent in which session writes, or the person, and what their commits say of them."""

from __future__ import annotations

from ..errors import InvalidArguments
from ..text.limits import MAX_WHO
from ..text.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..git.commits import Note
    from ..workspace.settings import Review

#: The variable by which a process, and all that it starts, only proposes.
PROPOSE = "CRABMEM_PROPOSE"
_ABOUT_AN_ENTRY = ("remember", "forget", "edit", "confirm")
_OFF = frozenset(["", "0", "false", "f", "no", "n", "off"])  # as click reads the variable of a flag


def is_on(variable: str, environment: Mapping[str, str]) -> bool:
    """Return whether a variable that stands for a flag is set, and not to a word for off."""
    return environment.get(variable, "").strip().lower() not in _OFF


@value
class Actor:
    """The agent and its session, as far as they are known; or the person, where no agent is named.

    `only_reads`: in a session of a kind that is to write nothing. `proposes`: all that it writes waits for a person,
    whatever the settings say; it may then do no more than an agent may.
    """

    agent: str | None = None
    session: str | None = None
    is_person: bool = False
    only_reads: bool = False
    proposes: bool = False

    def __post_init__(self) -> None:
        for what, given in (("agent", self.agent), ("session", self.session)):
            if given and len(given) > MAX_WHO:
                raise InvalidArguments(f"the name of the {what} has {len(given)} characters; at most {MAX_WHO} fit")

    @property
    def is_agent(self) -> bool:
        """Whether a program writes and reads here: all but a person who names no agent, and writes at once."""
        return bool(self.agent) or not self.is_person or self.proposes

    def may_wait(self, review: Review) -> bool:
        """Whether something of what it writes may have to wait for a person, by that setting."""
        return self.proposes or (self.is_agent and review.is_on)

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The agent and the session, each on one line."""
        from ..git.commits import one_line

        return one_line(self.agent or "") or None, one_line(self.session or "") or None

    def note(self, tool: str, what: str, person: str) -> Note:
        """The words of a commit of `tool`. Going back in time, or deciding, is `person`'s unless an agent is named."""
        from ..git.commits import Note, identity, identity_of_agent, one_line

        agent = self._called(person)
        is_agents = agent or not self.is_person
        author = identity_of_agent(agent or "agent") if is_agents else identity(person)
        entry = what if tool in _ABOUT_AN_ENTRY else ""
        keys = {"Tool": tool, "Agent": agent, "Session": one_line(self.session or ""), "Entry": entry}
        trailers = tuple((key, said) for key, said in keys.items() if said)
        return Note(f"{tool}: {what}", author, trailers=trailers)

    def _called(self, person: str) -> str:
        """What the history calls the agent; "" where none is named. A host's name for itself may be anybody's."""
        from ..git.commits import one_line
        from ..text.agent_names import agent_name

        given = one_line(self.agent or "")
        return agent_name(given, person) if given else "" if not self.agent else "agent"


#: An agent of which nobody knows more.
SOMEBODY = Actor()
#: What acts where crabmem itself writes: no person has to be asked.
ITSELF = Actor(is_person=True)
