"""Taking back what some commits did, and keeping what was done since: which commits, and what files then say."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from typing import get_args

from ..disk.store import Scan
from ..errors import InvalidArguments, NotFound
from ..results import Commit
from ..text.hashes import short
from ..text.merge import Conflict, Conflicting, Side, Take, merge
from . import History, Note
from .timeline import Timeline


@dataclass(frozen=True)
class Unwanted:
    """What to take back: commits by name, or those of a `session`, an `agent` or both, if given `since` a moment."""

    commits: tuple[str, ...] = ()
    session: str | None = None
    agent: str | None = None
    since: str | None = None

    def __post_init__(self) -> None:
        named = self.session is not None or self.agent is not None
        if bool(self.commits) == named:
            raise InvalidArguments("name either the commits to take back, or a session or an agent")
        if self.since is not None and not named:
            raise InvalidArguments("commits are named one by one; `since` goes with a session or an agent")

    @property
    def words(self) -> str:
        """Whose work it is."""
        keys = {"session": self.session, "agent": self.agent, "since": self.since}
        return " ".join(f"{key} {value}" for key, value in keys.items() if value is not None)


class Reverting:
    """Takes back commits of one workspace. Writes nothing."""

    def __init__(self, history: History, timeline: Timeline) -> None:
        self._history = history
        self._timeline = timeline

    def chosen(self, unwanted: Unwanted) -> list[Commit]:
        """The commits that are meant, newest first; of a session or an agent, those that nobody took back before.

        Raises:
            NotFound: there is none.
        """
        wanted = {self._timeline.commit_at(name) for name in unwanted.commits}
        head = self._timeline.head()
        commits = self._history.commits(head, with_paths=False) if head else iter(())
        if wanted:
            return _named(commits, wanted)
        log = list(commits)
        theirs = [commit for commit in self._later(log, unwanted.since) if _is_by(commit, unwanted)]
        if not theirs:
            raise NotFound(f"there is no commit of {unwanted.words}; `crabmem log` says who wrote what")
        return _left(log, theirs)

    def _later(self, log: Sequence[Commit], since: str | None) -> Sequence[Commit]:
        """Those commits that the one which was current at `since` does not stand on."""
        start = None if since is None else self._timeline.before(since)
        if start is None:
            return log
        before = {commit.commit for commit in self._history.commits(start, with_paths=False)}
        return [commit for commit in log if commit.commit not in before]

    def without(self, commits: Sequence[Commit], scan: Scan, take: Take) -> "Without":
        """The files as they are without `commits`, newest first.

        Raises:
            InvalidArguments: there is no such side to `take`.
            Conflicting: what they wrote was changed since, and nobody says what to `take`.
        """
        if take not in (None, *get_args(Side)):
            raise InvalidArguments(f"take is {' or '.join(map(repr, get_args(Side)))}, not {take!r}")
        files, conflicts, kept = dict[str, bytes | None](), list[Conflict](), set[str]()
        for path, steps in self._steps(commits).items():
            data = scan.data(path)
            for step in steps:
                done = merge(path, self._data(step.after), data, self._data(step.before), take)
                data = done.data
                conflicts += done.conflicts
                kept |= step.commits if done.conflicts and take == "ours" else set()
            if data != scan.data(path):
                files[path] = data
        if conflicts and take is None:
            raise Conflicting(tuple(dict.fromkeys(conflicts)))
        return Without(files, kept)

    def _steps(self, commits: Sequence[Commit]) -> dict[str, list["_Step"]]:
        """What commits made of each file, newest first, in as few steps as the work of others lets it be."""
        steps = dict[str, list[_Step]]()
        for commit in commits:
            for path, (before, after) in self._history.changes(commit.commit).items():
                if self._timeline.is_restorable(path):
                    _join(steps.setdefault(path, []), _Step(before, after, frozenset([commit.commit])))
        return {path: [step for step in found if step.before != step.after] for path, found in sorted(steps.items())}

    def _data(self, blob: str | None) -> bytes | None:
        return None if blob is None else self._history.blob(blob)


@dataclass(frozen=True)
class Without:
    """Files as they are without some commits: those that then say something else, by path.

    `kept` are commits of which something was left, as it was changed since and "ours" was to be taken.
    """

    files: Mapping[str, bytes | None]
    kept: Set[str]


@dataclass(frozen=True)
class _Step:
    """The blobs of a file before and after some `commits`, of which each went on from the one before."""

    before: str | None
    after: str | None
    commits: frozenset[str]


def _join(steps: list[_Step], step: _Step) -> None:
    """Add an earlier step, to the one after it where that went on from it."""
    if steps and steps[-1].before == step.after:
        steps[-1] = _Step(step.before, steps[-1].after, steps[-1].commits | step.commits)
    else:
        steps.append(step)


def _named(log: Iterable[Commit], wanted: set[str]) -> list[Commit]:
    """The commits `wanted` in the order of `log`, which is read no further than need be."""
    found = list(islice((commit for commit in log if commit.commit in wanted), len(wanted)))
    if strange := wanted - {commit.commit for commit in found}:
        raise NotFound(f"{short(min(strange))} is not in the history of this memory; `crabmem log` lists it")
    return found


def _is_by(commit: Commit, unwanted: Unwanted) -> bool:
    return unwanted.session in (None, commit.session) and unwanted.agent in (None, commit.agent)


def _left(log: Sequence[Commit], theirs: Sequence[Commit]) -> list[Commit]:
    """Of `theirs` those that no other commit of `log`, newest first, took back, or that another one brought back."""
    wanted, gone, target = {commit.commit for commit in theirs}, set[str](), None
    known = {commit.commit for commit in log}
    for commit in log:
        if target is not None and commit.commit != target:
            gone.add(commit.commit)  # a rollback went back behind it
            continue
        target = None
        if commit.commit not in gone and commit.commit not in wanted:
            gone.update(commit.reverts)
            target = commit.restores if commit.restores in known else None
    return [commit for commit in theirs if commit.commit not in gone]


def subject(commits: Sequence[Commit], unwanted: Unwanted) -> str:
    """What taking back `commits` is called."""
    if len(commits) == 1:
        return commits[0].subject
    count = f"{len(commits)} commits"
    return f"{unwanted.words} ({count})" if unwanted.words else count


def noted(note: Note, reverted: Sequence[Commit] = (), restored: str | None = None) -> Note:
    """`note` with the commits it takes back, or the one whose files it brings back, for those who ask what is left."""
    keys = [*(("Reverts", commit.commit) for commit in reverted), *([("Restores", restored)] if restored else [])]
    return replace(note, trailers=(*note.trailers, *keys))
