"""How much a fact matters just now: how often it was used, and how long ago it was used or changed. Pure.

Computed from times whenever it is asked for: nothing has to run in between, and no fact is changed by being read.
"""

from datetime import datetime, timedelta
from math import log
from typing import NamedTuple

#: What use can make of a fact at most, where one that nobody used is 1.
CAP = 10.0
#: What a fact that nothing was heard of for long still counts.
FLOOR = 0.01
# A fact keeps this share of its salience for each such step in which nobody used or changed it.
_STEP, _KEPT = timedelta(hours=6), 0.95
# Uses count so much less for each day since the last one, and so much at least.
_LESS_A_DAY, _LEAST = 0.05, 0.1
# What the score of an answer gains at most: what was asked for decides, not what is asked for often.
_GAIN = 0.25


class Used(NamedTuple):
    """How often a fact was used, as far as is known, and when last."""

    times: int
    last: datetime


def salience(now: datetime, changed: datetime, used: Used | None = None) -> float:
    """From 0.01 to 10: 1 for a fact that was changed just now and never used."""
    latest = max(changed, used.last) if used else changed
    return _boost(now, used) * max(FLOOR, _KEPT ** (_since(now, latest) // _STEP))


def boosted_score(score: float, salience: float) -> float:
    """The score of an answer, at most a quarter more for what matters most."""
    return score * (1 + _GAIN * log(1 + salience) / log(1 + CAP))


def _boost(now: datetime, used: Used | None) -> float:
    if used is None:
        return 1.0
    days = _since(now, used.last) / timedelta(days=1)
    return min(CAP, 1 + log(1 + used.times) * max(_LEAST, 1 - _LESS_A_DAY * days))


def _since(now: datetime, then: datetime) -> timedelta:
    """How long ago; what is told of the future is of now."""
    return max(timedelta(), now - then)
