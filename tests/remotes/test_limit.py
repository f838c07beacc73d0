"""A limit is on silence: a slow line has as long as it takes, one that drips has not."""

import time
from functools import partial

import pytest

from crabmem.errors import Unreachable
from crabmem.remotes.limit import Limit


def talk(limit: Limit, pieces: int, size: int) -> int:
    for _ in range(pieces):
        time.sleep(0.02)
        limit.heard(size)
    return pieces


def test_a_slow_line_is_waited_for_however_long_it_takes() -> None:
    limit = Limit("there", 1)
    assert limit.run(partial(talk, limit, 60, 50)) == 60  # 1.2 s and more


@pytest.mark.parametrize("size", [0, 1])
def test_a_remote_that_drips_is_left_alone(size: int) -> None:
    limit, began = Limit("there", 0.2), time.monotonic()
    with pytest.raises(Unreachable, match="hardly anything"):
        limit.run(partial(talk, limit, 400, size))
    assert time.monotonic() - began < 2


def test_steps_of_work_buy_time_and_none_is_begun_after_the_end() -> None:
    limit = Limit("there", 0.2)

    def work() -> None:
        for done in range(20):
            time.sleep(0.02)
            limit.tell("packing", done)

    limit.run(work)
    with pytest.raises(Unreachable):
        Limit("there", -1).tell("packing", 1)


def test_work_of_our_own_takes_none_of_the_time_of_a_remote() -> None:
    limit = Limit("there", 0.2)
    with limit.stopped():
        time.sleep(0.3)
    assert 0.1 < limit.left() <= 0.2
