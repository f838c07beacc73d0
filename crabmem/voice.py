"""Who speaks, and the words their commits get."""

from dataclasses import dataclass

from .history import Note, identity

_ABOUT_AN_ENTRY = ("remember", "forget")


@dataclass(frozen=True)
class Voice:
    """The agent and its session, as far as they are known."""

    agent: str | None = None
    session: str | None = None

    def note(self, tool: str, what: str, person: str) -> Note:
        """The words of a commit of `tool`. Going back in time is `person`'s doing unless an agent is named."""
        entry = what if tool in _ABOUT_AN_ENTRY else None
        author = self.agent or (person if tool == "rollback" else "agent")
        keys = {"Tool": tool, "Agent": self.agent, "Session": self.session, "Entry": entry}
        return Note(
            f"{tool}: {what}", identity(author), trailers=tuple((key, value) for key, value in keys.items() if value)
        )
