"""Pseudo relevance feedback: what has rare words in common with what was found first moves up. Off unless it is set.

Questions are short. What is found first says in more words what they are about, and others say it in these words, too:
turns of one talk, notes on one matter. Nothing is found that was not found without.
"""

from __future__ import annotations

from ..search import Ranked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: So many hits are looked at, and so many words of each, those that tell most.
FIRST, WORDS = 50, 32
# The highest score counts for others in full, half of it for next to nothing.
_STEEPNESS = 8
# What the hit that has most in common with others gains, as a share of the highest score.
_GAIN = 0.2


def with_feedback(found: Sequence[Ranked], telling: Callable[[str], Mapping[str, float]]) -> list[Ranked]:
    """What was `found`, the first of it in another order; `telling` has the words of a text, by what they are worth."""
    first, highest = found[:FIRST], max((each.score for each in found[:1]), default=0.0)
    shares = [(each.score / highest) ** _STEEPNESS for each in first] if highest > 0 else []
    texts = [telling(each.key) for each in first[: len(shares)]]
    said: dict[str, list[float]] = {}
    for share, words in zip(shares, texts, strict=True):
        for word, worth in words.items():
            said.setdefault(word, []).append(share * worth)
    # What a hit says itself is none of what others do; of a word that nobody else says, rounding would leave a trace.
    others = {word: sum(each) for word, each in said.items() if len(each) > 1}
    common = [
        sum(worth * max(0.0, others[word] - share * worth) for word, worth in words.items() if word in others)
        for share, words in zip(shares, texts, strict=True)
    ]
    most = max(common, default=0.0)
    if most <= 0:
        return list(found)
    gain = _GAIN * highest / most
    moved = [Ranked(each.key, each.score + gain * more) for each, more in zip(first, common, strict=True)]
    return [*sorted(moved, key=lambda each: (-each.score, each.key)), *found[FIRST:]]
