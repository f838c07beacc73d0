"""Arguments of another type than a method says: the error names the argument, and nothing is written."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.text.arguments import naming_wrong_arguments, wrong_argument


@pytest.mark.parametrize(
    ("method", "given_", "named", "words"),
    [
        ("remember", (1, "d", "c"), {}, "name must be a text, not int"),
        ("remember", ("n", "d", None), {}, "content must be a text, not None"),
        ("remember", ("n", "d", "c"), {"aliases": 3}, "aliases must be a list of texts or None, not int"),
        ("remember", ("n", "d", "c"), {"tags": [1]}, "tags must be a list of texts or None, not list with int"),
        (
            "remember",
            ("n", "d", "c"),
            {"tags": ["a", None]},
            "tags must be a list of texts or None, not list with None",
        ),
        ("recall", (["tea"],), {}, "query must be a text, not list"),
        ("recall", ("tea",), {"limit": "3"}, "limit must be a whole number or None, not str"),
        ("recall", ("tea",), {"as_of": 3}, "as_of must be a text or None, not int"),
        ("get", (3,), {}, "name must be a text, not int"),
        ("forget", (None,), {}, "name must be a text, not None"),
        ("rename", ("Tea", 3), {}, "new must be a text, not int"),
        ("log", (), {"name": 3}, "name must be a text or None, not int"),
        ("log", (), {"agent": 3}, "agent must be a text or None, not int"),
        ("revert", (3,), {}, "commits must be a text or a list of texts, not int"),
        ("write_overview", (b"x",), {}, "content must be a text, not bytes"),
        ("before_turn", (3,), {}, "message must be a text, not int"),
    ],
)
def test_the_error_names_the_argument(
    tmp_path: Path, method: str, given_: tuple[Any, ...], named: dict[str, Any], words: str
) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Tea", "what to drink", "Oolong.")
        head = memory.log(limit=1)
        with pytest.raises(TypeError) as caught:
            getattr(memory, method)(*given_, **named)
        assert str(caught.value) == f"{method}: {words}"
        assert memory.log(limit=1) == head


def test_a_fault_of_ours_and_pythons_own_words_stay_as_they_are(tmp_path: Path) -> None:
    @naming_wrong_arguments
    class Odd:
        def fails(self, name: str) -> int:
            return len(name.nothing)  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'nothing'"):
        Odd().fails("x")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Odd().fails()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="fails: name must be a text, not int"):
        Odd().fails(3)  # type: ignore[arg-type]


_VALUES = st.one_of(st.none(), st.text(), st.integers(), st.booleans(), st.lists(st.text()), st.binary())


@given(_VALUES, _VALUES, _VALUES)
def test_what_fits_is_never_called_wrong(name: Any, limit: Any, tags: Any) -> None:
    def function(name: str, limit: int | None = None, tags: "list[bytes] | None" = None) -> None: ...

    wrong = wrong_argument(function, (name, limit), {"tags": tags})
    is_name, is_limit = isinstance(name, str), limit is None or isinstance(limit, int)
    assert bool(wrong) == (not (is_name and is_limit))
    assert ("name" in wrong) == (not is_name)
