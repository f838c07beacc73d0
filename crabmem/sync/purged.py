"""Purges that travel: what was purged on one machine goes from the remote and from the others, and does not come back.

A purge leaves a record (`git/purged`): which commits became which, and which texts are gone, by their ids. The machine
that purged gives the remote the purged line, the only push that takes a commit away from a branch. A machine that
meets the record compares each commit that is here, or that it fetched, with what it is said to have become
(`git/rewrite/comparison`), and asks its person once for all that would change by that, here or there. Then what it has
not pushed yet is put on that line, commit by commit, and its copies go, by the exchange of a purge. A row of commits
that nobody could compare, or that does not hold, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Self

from ..disk import fs
from ..disk.scan import Scan
from ..errors import HoldsPurged, PurgeWaits, SyncError, Unexpected
from ..git.kept import ASIDE
from ..git.purged import PurgeRecord
from ..git.refs import PURGED
from ..git.repository import make_incoming
from ..git.rewrite.comparison import Version
from ..git.rewrite.overlay import Overlay
from ..git.rewrite.purged_line import PurgedLine
from ..git.rewrite.repository import FileChange, Put
from ..remotes.remote import Offer, Remote, Updates
from ..session.engine import Engine
from ..text.edit import unified_diff
from ..text.hashes import short
from ..text.word_diff import worded
from ..text.words import counted, listed
from ..workspace.layout import Layout

_NAMED = 3
# A purge is taken in at once; what others have at the same time may need another round.
_MOST_EXCHANGES = 4
# What is shown of a purge before a person says yes: so many files, lines of each and signs of a line; a text that is
# larger is named alone.
_SHOWN, _LINES, _WIDEST, _LARGEST = 20, 12, 200, 200_000


class Purging:
    """The part of one sync that purges take.

    `record` has all that are known, here or there; `arrived` counts those taken in, `given_up` are files whose changes
    here went with them, `quoting` files that quote them.
    """

    def __init__(self, engine: Engine, other: Remote, shown: str, beside: Callable[[Path], Remote]) -> None:
        """`beside` opens the remote, shown as `shown`, for a repository in another folder."""
        self._engine, self._other, self._shown, self._beside = engine, other, shown, beside
        self._history = engine.history
        self.arrived, self.given_up, self.quoting = 0, set[str](), tuple[str, ...]()
        self._proposed = set[str]()
        #: What proposals of this machine became as purges were taken in.
        self._put_here = dict[str, str]()
        #: Commits and texts of before purges that were here as these were taken in: some stay, as nobody compares them.
        self._met = set[frozenset[str]]()
        #: What goes at the remote by purges of others, which the person is asked about.
        self._goes = list[Going]()
        self.record = PurgeRecord()
        self._begin(PurgeRecord(), PurgeRecord())

    def _begin(self, ours: PurgeRecord, theirs: PurgeRecord) -> None:
        # A row that was compared and did not hold, before an exchange, may be of commits that are not here any more.
        self._ours, self._theirs, self.record = ours, theirs, (ours | theirs).without(self.record.doubted)
        #: The part of all that was made of what was fetched.
        self._made = PurgeRecord()
        #: What each commit that the remote has with what was purged is without it.
        self.became: dict[str, str] = {}
        self._goes.clear()

    # What comes in

    def meet(self, offer: Offer) -> None:
        """Learn of the purges that the remote knows of.

        Raises:
            Untrusted: it has something else for a record of purges.
        """
        tip, self._proposed = offer.refs.get(PURGED), offer.aside
        if not (tip or self._history.tracked(PURGED)):
            return
        rewrite = self._history.rewrite()
        ours = rewrite.record()
        if tip and tip != ours.tip:
            self._other.fetch([tip], [], lambda oid: False, ours.refused)
        self._begin(ours, ours if tip == ours.tip else rewrite.record(tip) if tip else PurgeRecord())

    @property
    def news(self) -> int:
        """How many purges the remote knows of that this machine does not."""
        return self._ours.news(self._theirs)

    def fetch(
        self, wants: Collection[str], haves: Collection[str], is_ours: Callable[[str], bool], is_expected: bool
    ) -> None:
        """Fetch the commits `wants` and all they reach, without what was purged.

        A commit that holds purged text is put on the purged line; `became` then has the commit stored instead.

        Raises:
            HoldsPurged: a commit is of before a purge, and the purged line is neither here nor at the remote.
            Unexpected: changes that somebody made to purged text would be lost with it.
        """
        # What this machine purged itself stands here: that is not fetched to be compared with it.
        if old := [want for want in wants if self.record.is_old(want)]:
            own = self._history.rewrite().own_record()
            ends = {want: self.record.commit(want) for want in old if own.is_old(want)}
            self.became |= {want: end for want, end in ends.items() if end and end == own.commit(want) and is_ours(end)}
            wants = [want for want in wants if want not in self.became]
        # What is here is compared with all else that is here.
        apart = [want for want in wants if self.record.concerns(want) and not is_ours(want)]
        fresh = [want for want in wants if want not in apart]
        try:
            self._other.fetch(fresh, haves, is_ours, self.record.refused)
        except HoldsPurged:
            return self._clean(wants, is_ours, is_expected)
        # What `git fetch` brought before is here already.
        new = (want for want in fresh if len(self.record) and not is_ours(want))
        if apart or any(self.record.is_old(each) for want in new for each in self._history.commits_since((), want)):
            self._clean(wants, is_ours, is_expected)

    def _clean(self, wants: Collection[str], is_ours: Callable[[str], bool], is_expected: bool) -> None:
        """Fetch `wants` into a temporary repository, store them here on the purged line, and remove that repository.

        Fills `became`, `quoting`, the record, and what the person is asked about (`_goes`).
        """
        with self._aside(wants) as there:
            with self._other.limit.stopped():
                line, self.record = self._history.rewrite().clean(
                    wants, there, self.record, self._proposed, is_ours, is_expected
                )
            if line.lacking:
                raise self._lacks(min(line.lacking))
            self._made |= PurgeRecord(line.erased())
            self.record |= self._made
            self.quoting = line.quoting
            if line.believed:
                self._goes.append(Going.of(line, there.files(wants), self._engine.workspace.layout))
        if line.lost and not (is_expected or line.believed):
            raise Unexpected(
                f"{self._shown}: {_files(line.lost)}: changed where a purge takes something, and these changes go with "
                "it; nothing was changed. Copy what you want to keep",
                is_meant=True,
            )
        self.became |= {want: line.ids[want] for want in wants}

    @contextmanager
    def _aside(self, wants: Collection[str]) -> Iterator[Overlay]:
        """Fetch `wants` as they are into a temporary repository; yield its objects, and remove it afterwards."""
        place = make_incoming(self._engine.workspace.private)
        try:
            with self._beside(place) as other:
                other.fetch(wants, [], lambda oid: False)
            objects = self._history.rewrite().beside(place / "objects")
            try:
                yield objects
            finally:
                objects.close()
        finally:
            fs.remove_tree(place)

    def _lacks(self, commit: str) -> HoldsPurged:
        return HoldsPurged(
            f"{self._shown} has commit {short(commit)} of before a purge, and the purged line is neither there nor "
            "here: nothing was taken in; sync the machine that purged first. If none did, `crabmem sync --yes` goes on "
            "as if nobody had said that"
        )

    def tip(self, theirs: str | None) -> str | None:
        """Return the commit that stands here for `theirs`, one of the remote's; None for None.

        Raises:
            HoldsPurged: `theirs` is of before a purge, and what it became is not here.
        """
        if theirs and self.record.is_old(theirs) and not (theirs in self.became or self._history.reaches(theirs)):
            raise self._lacks(theirs)
        return self.became.get(theirs, theirs) if theirs else None

    def check_expected(self, is_expected: bool, pushed: str) -> None:
        """Refuse to push a purged line again unasked, where somebody put the old one back since.

        `pushed` is the record of purges at the last sync: the branch of the remote was without what that names.

        Raises:
            Unexpected: a person has to say so.
        """
        is_back = any(old != new for old, new in self.became.items())
        if is_back and not self._goes and self._ours.tip == pushed and not is_expected:
            raise Unexpected(
                f"{self._shown} has again what was purged: somebody pushed a line of before the purge to it; nothing "
                "of that was taken in. What is new in it can be put on the purged line, which is pushed again then",
                is_meant=True,
            )

    def end(self, proposal: str) -> str:
        """Return the proposal that stands here for `proposal` after purges; itself where none is known, or is here.

        A known one may be missing: the exchange of a purge drops what nothing reaches. It is then made again.
        """
        known = (self._put_here.get(proposal), self.became.get(proposal), self.record.commit(proposal))
        return next((each for each in known if each and self._history.has(each)), proposal)

    def stale(self) -> list[str]:
        """Return the proposals of the remote that are said to be of before a purge."""
        return [oid for oid in self._proposed if self.record.is_old(oid)]

    def new_of(self, tip: str | None, commits: Collection[str]) -> list[str]:
        """Return those of `commits` that are new to `tip`: neither of before a purge nor there under an older id."""
        line = self._history.commits_since((), tip) if tip and self.news else []
        known = {self.record.commit(each) for each in line if self.record.is_old(each)}
        return [each for each in commits if each not in known and not self.record.is_old(each)]

    # What is here

    def take_in(self, also: Mapping[str, str], is_expected: bool) -> bool:
        """Remove here what was purged elsewhere; return whether `.git` was exchanged for that.

        `also` are references to set in the new one. Without an exchange the record of purges is kept. Counts `arrived`
        and `given_up`.

        Raises:
            PurgeWaits: a person has to say that the purge is meant.
            HoldsPurged: the purged line is not there.
            Busy: a file that would change is not as it was recorded.
        """
        if not len(self.record):
            return False
        rewrite = self._history.rewrite()
        concerns = self.record.is_old if self.record.tip == self._ours.tip else self.record.concerns
        # A text that somebody says again after its purge is not taken away; it is not pushed either.
        there = frozenset(filter(concerns, rewrite.present(self.record)))
        if there and there not in self._met and len(self._met) < _MOST_EXCHANGES:
            self._met.add(there)
            self._engine.upkeep.close()
            before = self._waiting()
            try:
                with self._other.limit.stopped():  # to put a thousand commits takes longer than a remote may be silent
                    is_taken_in = self._engine.writer.rewrite(
                        lambda scan, put: self._exchange(scan, put, also, is_expected)
                    )
            finally:
                self.given_up |= before - self._waiting()
            if is_taken_in:
                self._other.forget()
                self.arrived += self.news
                return True
        if self._goes and not (is_expected or self._is_allowed(self._goes)):
            self._ask(self._goes)
        if self.record.tip != self._ours.tip:
            self._engine.writer.locked(lambda: rewrite.keep_record(self.record))
        return False

    def _waiting(self) -> set[str]:
        """Return the paths of texts that wait, of which a purge may leave nothing."""
        return {each.path for commit in self._history.aside.readable() for each in self._history.changes.of(commit)}

    def _exchange(self, scan: Scan, put: Put, also: Mapping[str, str], is_expected: bool) -> bool:
        """Put this machine's line and files on the purged line, and exchange `.git`; ask the person first.

        Return False, with the record alone updated, where nothing has to be exchanged.
        """
        from ..git.rewrite.files import PurgedFiles  # late: most syncs meet no purge
        from ..git.rewrite.purged_line import PurgedLine

        rewrite = self._history.rewrite()
        rewrite.check_possible(self._history.branch.in_progress())
        with rewrite.alone():
            new = rewrite.on_purged_line(self.record, self._made, also, is_expected)
            if isinstance(new, PurgeRecord):
                self.record = new
                return False
            line, head = new.rule, self._history.head()
            assert isinstance(line, PurgedLine)
            if line.lacking:
                raise self._lacks(min(line.lacking))
            files = PurgedFiles(self._engine.workspace, self._history, line)
            changes = [*files.changes(head, line.ids[head] if head else None, scan)]
            if line.believed or line.lost:
                files_now = dict(self._history.files(head)) if head else {}
                here = Going.of(line, files_now, self._engine.workspace.layout, changes)
                if not (is_expected or self._is_allowed([here, *self._goes])):
                    self._ask([here, *self._goes])
            self.quoting = tuple(sorted({*self.quoting, *line.quoting}))
            self._put_here |= {each: line.ids[each] for each in self._history.aside.all() if each in line.ids}
            rewrite.put_in_place(new, [*changes, *files.leftovers(changes)], files.recovered(), put)
        self.record = new.record
        self.given_up |= line.lost
        if held := files.held(new):
            raise SyncError(
                f"a purge that {self._shown} knows of was taken in, but what it took still stands in "
                f"{listed(held, _NAMED, 'places')} of {self._engine.workspace.root}: sync again"
            )
        return True

    def _is_allowed(self, goes: Collection[Going]) -> bool:
        """Return whether a person allowed purges of others beforehand, and that is enough for these.

        It is not enough where changes of this machine would be lost, or where files change that are not plain memory,
        such as settings.
        """
        layout = self._engine.workspace.layout
        paths = {path for each in goes for path in each.paths}
        is_memory = all(
            (layout.is_kept(path) and not layout.is_whole(path)) or path == layout.overview for path in paths
        )
        is_own = any(each.lost for each in goes)
        return is_memory and not is_own and self._engine.allowed.reach(self._engine.workspace.root).purges

    def _ask(self, goes: Sequence[Going]) -> NoReturn:
        """Raise PurgeWaits with all that would go, so that the person is asked once."""
        removed = {path for each in goes for path in each.removed}
        order = [*dict.fromkeys(path for each in goes for path in each.paths)]
        where = "there" if goes == self._goes else "here"
        lost = {path for each in goes for path in each.lost}
        said = [f"text goes from {listed(order, _NAMED, 'files')} {where}, and from history"] if order else []
        said += [f"{_files(removed)}: removed"] if removed else []
        own = "changed where a purge takes something, and these changes go with it: copy what you want to keep"
        said += [f"{_files(lost)}: {own}"] if lost else []
        purges = counted(self.news, "purge") if self.news else "the purge of an old line that is here again"
        shown = {path: lines for each in reversed(goes) for path, lines in each.shown.items()}
        lines = [line for path in order[:_SHOWN] for line in shown.get(path, [path])]
        more = [f"and {counted(len(order) - _SHOWN, 'file')} more"] if len(order) > _SHOWN else []
        raise PurgeWaits(
            f"{self._shown} knows of {purges}: {'; '.join(said or ['commits change'])}; nothing was taken in or sent",
            [*lines, *more],
        )

    # What goes out

    def check_outgoing(self, commits: Collection[str], is_expected: bool) -> None:
        """Refuse to push what was purged; what only others say was purged is a person's to decide on.

        Raises:
            HoldsPurged: one of the commits has it again.
            SyncError: one is not on the purged line yet.
            Unexpected: one has what another machine says was purged.
        """
        own = self._history.rewrite().own_record() if len(self.record) else self.record
        for commit in commits if len(self.record) else ():
            texts = {each.after or "": each.path for each in self._history.changes.own(commit)}
            if held := next((path for blob, path in texts.items() if own.has_blob(blob)), ""):
                what = "this" if self._engine.workspace.layout.is_entry(held) else "--text its words"
                raise HoldsPurged(
                    f"{held} in commit {short(commit)} is again what was purged, so nothing was pushed: say it in "
                    f"other words and `crabmem purge` {what}, then sync"
                )
            if self.record.is_old(commit):
                raise SyncError(f"commit {short(commit)} is of before a purge, so nothing was pushed: sync again")
            said = next((path for blob, path in texts.items() if self.record.has_blob(blob)), "")
            if said and not is_expected:
                raise Unexpected(
                    f"{said} in commit {short(commit)} is again what was purged, as {self._shown} says, so nothing was "
                    "pushed; `crabmem purge` erases it",
                    is_meant=True,
                )

    def updates(self, offer: Offer, aside: Collection[str]) -> Updates:
        """Return what becomes of the references of the remote, besides its branch; the record comes first.

        A machine that sees it without the purged line waits. `aside` are the proposals that are here.
        """
        became = {old: end for old in offer.aside if (end := self.end(old)) != old}
        gone = {f"{ASIDE}/{old}": (old, None) for old in became}
        come = {f"{ASIDE}/{oid}": (None, oid) for oid in {*became.values()} & {*aside} - offer.aside}
        tip = offer.refs.get(PURGED)
        return {**({PURGED: (tip, self.record.tip)} if self.record.tip not in (None, tip) else {}), **gone, **come}

    def elsewhere(self, offer: Offer, branch: str) -> tuple[str, ...]:
        """Return the other references of the remote that name what was purged."""
        refs = ((ref, oid) for ref, oid in offer.refs.items() if ref != branch and not ref.startswith(f"{ASIDE}/"))
        return tuple(sorted(ref for ref, oid in refs if self.record.is_old(oid)))

    def others(self, url: str) -> tuple[str, ...]:
        """Return the remotes that Git knows beside that at `url`: nobody rewrites them."""
        return tuple(name for name, address in self._history.rewrite().remotes().items() if address != url)


@dataclass(frozen=True)
class Going:
    """What becomes of files on one line: the `paths` from which texts go, the lines that are `shown` of the first ones,
    and which are `removed`, or `lost` with changes of their own."""

    paths: tuple[str, ...]
    shown: Mapping[str, Sequence[str]]
    removed: frozenset[str]
    lost: frozenset[str]

    @classmethod
    def of(cls, line: PurgedLine, files: Mapping[str, str], layout: Layout, changes: Sequence[FileChange] = ()) -> Self:
        """`files` are those of the newest commit, `changes` those of the workspace."""
        removed = {change.path for change in changes if change.was and change.data is None}
        becomes = {path: (blob, became) for (path, blob), became in line.becomes(files).items()}
        paths = sorted(becomes, key=lambda path: (not layout.is_whole(path), path not in removed, path))
        shown = {path: [*_shown(line, path, *becomes[path])] for path in paths[:_SHOWN]}
        return cls((*paths,), shown, frozenset(removed), frozenset(line.lost))


def _shown(line: PurgedLine, path: str, blob: str, became: Version | None) -> Iterator[str]:
    """Yield what is shown of a file: the words of a line that go, and the marks in their place."""
    if became is None:
        yield f"{path}: removed"
        return
    yield f"{path}: {'changed' if became[0] == path else f'called {became[0]}'}"
    before, after = line.text(blob), line.text(became[1])
    if max(len(before), len(after)) <= _LARGEST and b"\0" not in before:
        diff = unified_diff(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"), path)
        lines = [each for each in worded(diff).splitlines()[2:] if each[:1] in ("-", "+")]
        yield from (f"  {each if len(each) <= _WIDEST else each[:_WIDEST] + '…'}" for each in lines[:_LINES])
        yield from [f"  and {counted(len(lines) - _LINES, 'line')} more"] if len(lines) > _LINES else []


def _files(paths: Collection[str]) -> str:
    return listed(sorted(paths), _NAMED, "files")
