"""A graph, walked: commits and the parents that they stand on."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], below: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Yield `starts` and all that is below them, each once, the nearest first."""
    waiting = [*dict.fromkeys(starts)]
    seen = set(waiting)
    for each in waiting:  # which grows meanwhile
        yield each
        new = [other for other in dict.fromkeys(below(each)) if other not in seen]
        seen.update(new)
        waiting += new
