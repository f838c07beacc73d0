"""Which commit changed an answer: looks at as few moments as halving needs, and moves no file of the person's."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import Inapplicable, InvalidArguments
from ..git.history import History
from ..git.walk import Line
from ..results import Bisected, Recall, Step
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.hashes import short
from ..text.slug import name_key

_SENTENCE = re.compile(r"(?P<query>.*\S)\s++must\s++(?P<never>not\s++)?return\s++(?P<name>\S.*)", re.DOTALL)

#: Whether memory was good at a moment; None when that cannot be told.
Test = Callable[[Snapshot], bool | None]
#: Called with what came of each moment that was looked at.
Progress = Callable[[Step], None]


class Found(NamedTuple):
    """The places of the last moment that is good, and of the first that is bad after it."""

    good: int
    bad: int


def bisect(
    session: Session,
    test: Test,
    since: str | None = None,
    until: str | None = None,
    progress: Progress | None = None,
) -> Bisected:
    """The commit that made memory bad: `test` says of it at a moment whether it is good, None for cannot be told.

    Looked for after `since`, where it was good, and not after `until` (None: the newest commit), where it is bad.
    Without `since` the last good moment is looked for backwards, in steps that double. Takes about so many looks
    as the number of commits can be halved; `progress` is called for each. No file of the workspace is touched. Where a
    merge made it bad that joined the work of another machine or branch, it is looked for in that.

    Raises:
        Inapplicable: it is good at `until`, bad at `since`, or good nowhere.
        NotFound: there is no such revision or time.
    """
    session.view.check_whole()
    timeline = session.timeline
    end = timeline.commit_at("HEAD" if until is None else until)
    line = timeline.history.line(end)
    start = None if since is None else line.place(timeline.commit_at(since, is_end=False))
    if since is not None and start is None:
        raise Inapplicable(f"{since} is no commit on the way to {until or 'the newest'}; `crabmem log` lists them")
    trial = _Trial(session, line, test, progress)
    found = halved(trial, last_good(trial, line) if start is None else _given_ends(trial, line, start))
    good, count = line[found.good], len(line) - (start or 0)
    while found.bad - found.good == 1 and (ends := _ends_within(timeline.history, trial, found, good)):
        found = halved(trial, ends)
        good = trial.line[found.good] if found.good >= 0 else good
    suspects = tuple(timeline.history.commit(trial.line[place]) for place in range(found.good + 1, found.bad + 1))
    return Bisected(suspects, good, trial.line[found.bad], trial.steps, count)


def _ends_within(history: History, trial: "_Trial", found: Found, good: str) -> Found | None:
    """The ends of a search in what a merge brought, the first bad commit, where that was bad before it was merged.

    The trial goes on along that line then. None where it was the merge that made memory bad, or it is none. The commit
    before the first of the line is -1, which stands for no memory and is good.
    """
    on_line = trial.line[found.good] if found.good >= 0 else ""
    for tip in history.commit(trial.line[found.bad], with_paths=False).parents:
        line, brought = history.line(tip), set(history.commits_since([good], tip))
        start = next((place for place in reversed(range(len(line))) if line[place] not in brought), -1)
        more = _halvings(len(line) - start)
        is_bad = tip != on_line and tip in brought and trial.at(tip, more) is False
        if is_bad and (start < 0 or trial.at(line[start], more)):
            trial.line = line
            return Found(start, len(line) - 1)
    return None


class _Trial:
    """The test of the moment at a place. Commits with the same files are looked at once."""

    def __init__(self, session: Session, line: Line, test: Test, progress: Progress | None) -> None:
        self._session, self.line, self._test, self._progress = session, line, test, progress
        self._known: dict[str | None, bool | None] = {}
        self.steps = 0

    def __call__(self, place: int, more: int) -> bool | None:
        """Whether the moment is good; about so many more will be looked at."""
        return self.at(self.line[place], more)

    def at(self, commit: str, more: int) -> bool | None:
        """The same of a commit."""
        tree = self._session.timeline.history.tree(commit)
        if tree not in self._known:
            moment = Snapshot(self._session.engine, self._session.view, commit=commit, keep=False)
            self._known[tree] = self._test(moment)
            self.steps += 1
            if self._progress:
                self._progress(Step(self.steps, self.steps + more, commit, self._known[tree]))
        return self._known[tree]


#: Whether the moment at a place is good, before about so many more are looked at.
Trial = Callable[[int, int], bool | None]


def _given_ends(trial: Trial, line: Line, start: int) -> Found:
    """The ends that were given, found to be as they have to be."""
    more = _halvings(len(line) - 1 - start)
    last = _bad_end(trial, line, more + 1)
    verdict = trial(start, more)
    if verdict is None:
        raise Inapplicable(f"at {short(line[start])} it cannot be told; begin at another commit")
    if not verdict:
        raise Inapplicable(f"it is bad already at {short(line[start])}; begin earlier, where it was good")
    return Found(start, last)


def last_good(trial: Trial, line: Line) -> Found:
    """A good moment before the end, looked for in steps that double, and the bad one after it that is nearest."""
    doublings = _halvings(len(line) - 1) + 1
    bad = last = _bad_end(trial, line, 2 * doublings - 1)
    for power in range(doublings):
        place = max(0, last - (1 << power))
        verdict = trial(place, 2 * doublings - 2 - power)
        if verdict:
            return Found(place, bad)
        bad = place if verdict is False else bad
    first = short(line[0])
    raise Inapplicable(f"it is bad wherever we looked, back to the first commit, {first}; say since when it was good")


def _halvings(commits: int) -> int:
    return max(0, commits - 1).bit_length()


def _bad_end(trial: Trial, line: Line, more: int) -> int:
    last = len(line) - 1
    verdict = trial(last, more)
    if verdict is None:
        raise Inapplicable(f"at {short(line[last])} it cannot be told; end at another commit")
    if verdict:
        raise Inapplicable(
            f"it is good at {short(line[last])}, so that there is nothing to find (`crabmem diff` shows edits "
            "that are not recorded yet, and do not count)"
        )
    return last


def halved(trial: Trial, ends: Found) -> Found:
    """Good and bad as near to each other as can be told: half of what is between goes with each look.

    Where it cannot be told, others are tried all over what is left, so that a few of those next to each other
    do not stop the search.
    """
    (good, bad), doubtful, tries = ends, set[int](), 1
    while left := [place for place in range(good + 1, bad) if place not in doubtful]:
        place = left[int(len(left) * spread(tries))]
        verdict = trial(place, _halvings(bad - good) - 1)
        good, bad = (place, bad) if verdict else (good, place if verdict is False else bad)
        doubtful |= {place} if verdict is None else set()
        tries = tries + 1 if verdict is None else 1
    return Found(good, bad)


def spread(number: int) -> float:
    """1/2, 1/4, 3/4, 1/8, 5/8 and so on for 1, 2, 3 and so on: each far from those before it."""
    return int(f"{number:b}"[::-1], 2) / (1 << number.bit_length())


# What a person says memory must answer: `where is the vet must return Luna's vet`


@dataclass(frozen=True)
class Claim:
    """That the entry called `name` is, or is not, in the answer to `query`."""

    query: str
    name: str
    is_wanted: bool

    def holds(self, answer: Recall) -> bool:
        """Whether it is so."""
        key = name_key(self.name)
        called = (name for hit in answer for name in (hit.entry.name, hit.entry.slug, *hit.entry.aliases))
        return (key in map(name_key, called)) == self.is_wanted


def claim_in(text: str) -> Claim:
    """The claim in a sentence: QUERY must return NAME, or QUERY must not return NAME.

    Raises:
        InvalidArguments: it is no such sentence.
    """
    found = _SENTENCE.fullmatch(text.strip())
    if not found:
        raise InvalidArguments(f"{text}: say QUERY must return NAME, or QUERY must not return NAME")
    return Claim(found["query"], found["name"], not found["never"])
