"""Bounds on the processor that a block of a test takes, where each machine has its own pace."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

# The result of `_seconds` on a machine of 2023 with nothing else to do; twice that where the other core is busy.
_USUAL = 0.012
_WORD = re.compile(r"\w+")


@contextmanager
def costing_less_than(seconds: float) -> Iterator[None]:
    """Fail where the block takes more of the processor; on a machine that is slower at this moment, more by as much."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < seconds or took < seconds * pace(), f"{took:.1f} s of the processor, and {seconds:g} are allowed"


def pace() -> float:
    """How many times as long as on the usual machine a bit of work takes on this one now; at least 1."""
    return max(1.0, min(map(_seconds, range(5))) / _USUAL)


def _seconds(_: int) -> float:
    began = time.process_time()
    found = dict[str, int]()
    for number in range(4_000):
        for word in _WORD.findall(f"line {number} of some words, {number * 7919 % 1000}"):
            found[word] = found.get(word, 0) + 1
    json.loads(json.dumps(found))
    return time.process_time() - began
