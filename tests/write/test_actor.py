"""Who speaks is told in the commit, and only there."""

import pytest

from crabmem import InvalidArguments, Memory
from crabmem.text.limits import MAX_WHO
from crabmem.write.actor import Actor


def test_names_too_long_for_a_line_of_the_log_are_refused() -> None:
    for agent, session in (("x" * (MAX_WHO + 1), None), (None, "x" * (MAX_WHO + 1))):
        with pytest.raises(InvalidArguments, match="at most 200 fit"):
            Memory("unused", agent=agent, session=session)


def test_line_breaks_in_names_forge_no_trailer() -> None:
    note = Actor("a\nTool: forged", "s\r\nEntry: forged").note("remember", "Luna\n\nAgent: forged", "person")
    assert [line for line in note.message.splitlines() if "forged" in line] == [
        "remember: Luna Agent: forged",
        "Agent: a Tool: forged",
        "Session: s Entry: forged",
        "Entry: Luna Agent: forged",
    ]
