"""Arguments that a tool has only in some sessions."""

from typing import Annotated

import pytest
from msgspec import Meta

from crabmem import InvalidArguments, Memory
from crabmem.results import Forgotten
from crabmem.session.session import Session
from crabmem.tools.result import Result
from crabmem.tools.tool import READS, ToolFunction, described, parsed


def look(
    memory: Session, name: str, side: Annotated[str | None, Meta(description="Which side.")] = None
) -> Annotated[Result, Forgotten]:
    """Look."""
    return Result(f"{name} {side}")


def test_an_argument_is_offered_and_taken_only_where_a_session_has_values_for_it(memory: Memory) -> None:
    there: list[str] = []
    item = ToolFunction(look, "Look", READS, choices=(("side", lambda memory: tuple(there)),))
    assert list(described(item, memory).input_schema["properties"]) == ["name"]
    with pytest.raises(InvalidArguments, match="there is no argument `side`"):
        parsed(item, {"name": "a", "side": "left"}, memory)
    there += ["left", "right"]
    assert described(item, memory).input_schema["properties"]["side"] == {
        "type": "string",
        "description": "Which side.",
        "enum": ["left", "right"],
    }
    assert parsed(item, {"name": "a", "side": "left"}, memory) == {"name": "a", "side": "left"}
    assert parsed(item, {"name": "a"}, memory) == {"name": "a", "side": None}
    with pytest.raises(InvalidArguments, match="`side` is one of left, right"):
        parsed(item, {"name": "a", "side": "up"}, memory)
