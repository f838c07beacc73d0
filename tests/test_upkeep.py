"""Upkeep: begun when it is due, by one thread, and not again at once when it was refused."""

import threading

from crabmem import Unwritable
from crabmem.upkeep import Upkeep


def test_work_is_done_once_at_a_time_and_only_when_due() -> None:
    done, is_due, go_on = [], [False], threading.Event()

    def work() -> bool:
        done.append(threading.current_thread().name)
        return go_on.wait(10)

    upkeep = Upkeep(lambda: is_due[0], work)
    upkeep.nudge()
    upkeep.close()
    is_due[0] = True
    for _ in range(3):
        upkeep.nudge()
    go_on.set()
    upkeep.close()
    upkeep.nudge()
    upkeep.close()
    assert done == ["crabmem upkeep"] * 2


def test_refused_work_waits_a_while() -> None:
    tried = []

    def work() -> None:
        tried.append(1)
        raise Unwritable("no space left")

    upkeep = Upkeep(lambda: True, work)
    for _ in range(3):
        upkeep.nudge()
        upkeep.close()
    assert tried == [1]
