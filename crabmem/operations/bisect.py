"""Bisection: which commit changed an answer. Past moments are read from the history; no file is checked out."""

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
#: Called after each look, with its verdict.
StepProgress = Callable[[Step], None]


class Found(NamedTuple):
    """Places on a line of commits: of the last one known to be good, and of the first one after it known to be bad."""

    good: int
    bad: int


def bisect(
    session: Session,
    test: Test,
    since: str | None = None,
    until: str | None = None,
    progress: StepProgress | None = None,
) -> Bisected:
    """Return the commit that made memory bad, or the suspects where no look could tell.

    `test` is given memory at a commit and returns whether it is good, None if that cannot be told. Memory must be good
    at `since` and bad at `until` (None: the newest commit). Without `since`, a good commit is searched backwards from
    `until`, in steps that double. The number of looks is about the binary logarithm of the number of commits;
    `progress` is called after each. No file of the workspace is touched. If the first bad commit is a merge, the search
    goes on in the work that it joined, unless that was good before.

    Raises:
        Inapplicable: memory is good at `until`, bad at `since`, or no good commit was found.
        NotFound: there is no such revision or time.
        Disabled: this session sees only some files.
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
    """Return the ends of a search in the branch that the first bad commit merged, if that branch was bad by itself.

    Also sets `trial.line` to the line of that branch, on which the places of the answer are. None if the first bad
    commit is no merge, or the merge itself made memory bad. A good end of -1 stands for the time before the first
    commit of the line: no memory is good.
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
    """Runs the test at places of its `line`, and counts the looks in `steps`. Commits with the same files share one."""

    def __init__(self, session: Session, line: Line, test: Test, progress: StepProgress | None) -> None:
        self._session, self.line, self._test, self._progress = session, line, test, progress
        #: Verdicts by the id of a commit's tree.
        self._known: dict[str | None, bool | None] = {}
        self.steps = 0

    def __call__(self, place: int, more: int) -> bool | None:
        """Whether memory is good at a place of the line; about `more` looks will follow, for `progress`."""
        return self.at(self.line[place], more)

    def at(self, commit: str, more: int) -> bool | None:
        """Whether memory is good at a commit, by the test or by an earlier look at the same files."""
        tree = self._session.timeline.history.tree(commit)
        if tree not in self._known:
            moment = Snapshot(self._session.engine, self._session.view, commit=commit, keep=False)
            self._known[tree] = self._test(moment)
            self.steps += 1
            if self._progress:
                self._progress(Step(self.steps, self.steps + more, commit, self._known[tree]))
        return self._known[tree]


#: Given a place and about how many looks will follow; whether memory is good there, None if that cannot be told.
Trial = Callable[[int, int], bool | None]


def _given_ends(trial: Trial, line: Line, start: int) -> Found:
    """Return the ends that were given: `start` and the end of the line, after testing that one is good, one bad.

    Raises:
        Inapplicable: `start` is not good, or the end not bad.
    """
    more = _halvings(len(line) - 1 - start)
    last = _bad_end(trial, line, more + 1)
    verdict = trial(start, more)
    if verdict is None:
        raise Inapplicable(f"at {short(line[start])} it cannot be told; begin at another commit")
    if not verdict:
        raise Inapplicable(f"it is bad already at {short(line[start])}; begin earlier, where it was good")
    return Found(start, last)


def last_good(trial: Trial, line: Line) -> Found:
    """Search a good place backwards from the end of the line, 1, 2, 4, … commits before it; with the nearest bad one.

    Raises:
        Inapplicable: the end of the line is not bad, or no place that was looked at is good.
    """
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
    """Return the last place of the line, after testing that memory is bad there.

    Raises:
        Inapplicable: it is good there, or that cannot be told.
    """
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
    """Return the ends moved together by halving, as near as the trial can tell.

    Places of which it cannot tell are left out, and the next tries are spread over the whole rest: such places often
    lie side by side.
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
    """Return 1/2, 1/4, 3/4, 1/8, 5/8, … for 1, 2, 3, …: a van der Corput sequence, each far from those before it."""
    return int(f"{number:b}"[::-1], 2) / (1 << number.bit_length())


# A claim that a person types: `where is the vet must return Luna's vet`


@dataclass(frozen=True)
class Claim:
    """A claim about recall: the answer to `query` has an entry called `name` (`is_wanted`), or has none."""

    query: str
    name: str
    is_wanted: bool

    def holds(self, answer: Recall) -> bool:
        """Whether the claim is true of `answer`; slugs and aliases count as names."""
        key = name_key(self.name)
        called = (name for hit in answer for name in (hit.entry.name, hit.entry.slug, *hit.entry.aliases))
        return (key in map(name_key, called)) == self.is_wanted


def claim_in(text: str) -> Claim:
    """Parse the claim in a sentence: QUERY must return NAME, or QUERY must not return NAME.

    Raises:
        InvalidArguments: the sentence has neither form.
    """
    found = _SENTENCE.fullmatch(text.strip())
    if not found:
        raise InvalidArguments(f"{text}: say QUERY must return NAME, or QUERY must not return NAME")
    return Claim(found["query"], found["name"], not found["never"])
