"""Syncing: what this machine has and what the others have becomes one, through a remote of Git's.

Outside edits are recorded, the remote's commits are fetched and taken in, and ours are pushed where the remote still
stands as it was seen; otherwise the sync begins again. Nothing is ever forced, and nothing is written unchecked.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..disk import fs
from ..disk.background import start
from ..errors import (
    BY_A_PERSON,
    Busy,
    CrabmemError,
    DamagedHistory,
    Disabled,
    HoldsSecret,
    InvalidArguments,
    NotFound,
    Outrun,
    SyncError,
    Unexpected,
    Untrusted,
)
from ..git.kept import ASIDE, MOST_ASIDE
from ..git.refs import HEADS, PURGED
from ..git.repository import create_bare
from ..remotes.address import Address, Kind, parse_address
from ..remotes.limit import Limit, Progress
from ..remotes.remote import Offer, Remote, Updates, remote
from ..results import Synced, Upcoming
from ..session.rules import check_may_write
from ..session.session import Session
from ..text.credentials import credentials_in
from ..text.hashes import blob_id, short
from ..text.values import replace
from ..text.words import counted, listed
from .joining import Taken
from .purged import Purging
from .record import Record
from .standing import TRACKED, branch, doubled, is_of_sync, lacking

_ROUNDS = 5
# Seconds to wait at most before the next round, times the number of this one: others were quicker to push.
_PAUSE = 0.4
_SECONDS = 120.0
_NAMED = 3


def name_remote(session: Session, url: str, folder: str, is_asked: bool = False) -> Address:
    """Let this workspace be synced with the remote at `url`; a path is taken from `folder`. Only a person may.

    A folder that is not there yet is made. With `is_asked` the remote has to answer: a mistyped one is not kept. It is
    kept with what this user allowed on this machine, and nothing that comes with a workspace can name another; it is
    Git's `origin` as well, for who uses Git beside.

    Raises:
        InvalidArguments: `url` is no address, or this memory's own, or Git's `origin` is another one.
        SyncError: the remote does not answer, or does not let us in.
    """
    _check_is_person(session)
    address, engine = parse_address(url, Path(folder)), session.engine
    if address.kind is Kind.FOLDER and Path(address.path).resolve() in (session.root, session.root / ".git"):
        raise InvalidArguments(
            f"{address.path} is this memory itself; its remote is another repository: `crabmem sync --to FOLDER` makes "
            "one in a folder that is not there yet"
        )
    engine.writer.finish_interrupted()  # makes the repository
    origin = engine.history.origin()
    allowed = engine.allowed.reach(session.root)
    if origin not in (None, address.url, allowed.remote):
        raise InvalidArguments(
            f"Git's origin of {session.root} is {origin}; `crabmem sync --to {origin}` takes that one, or remove it "
            "first: git remote remove origin"
        )
    if (
        address.kind is Kind.FOLDER
        and not os.path.lexists(address.path)
        and os.path.isdir(os.path.dirname(address.path))
    ):
        create_bare(Path(address.path))
    if is_asked:
        with _opened(session, address) as other:
            other.refs()
    engine.history.set_origin(address.url)
    engine.writer.locked(lambda: engine.history.track(f"{TRACKED}{branch(session)}", None))
    purges = allowed.purges and allowed.remote == address.url  # of that remote, and of no other
    engine.allowed.allow(session.root, replace(allowed, remote=address.url, purges=purges))
    return address


def forget_remote(session: Session) -> str:
    """Let this workspace be synced with no remote any more, and return which it was, "" for none. Only a person may.

    Nothing is asked of the remote, which keeps what it has; so does Git's `origin`.
    """
    _check_is_person(session)
    allowed = session.engine.allowed.reach(session.root)
    if not allowed.remote:
        return ""
    session.engine.allowed.allow(session.root, replace(allowed, remote="", purges=False))
    return parse_address(allowed.remote, session.root).shown


def sync(
    session: Session,
    *,
    is_expected: bool = False,
    joins_apart: bool = False,
    even_if_many: bool = False,
    rounds: int = _ROUNDS,
    seconds: float = _SECONDS,
    progress: Progress = lambda step, done: None,
) -> Synced:
    """Take in what other machines did, and give the remote what this one did. Outside edits are recorded first.

    `is_expected`: a person has approved what a remote brings that was never synced with, or what goes with a purge.
    `joins_apart`: a person has approved joining a history that has nothing in common with this one.
    `even_if_many`: many facts at once may be lost, here or there. `rounds`: how many attempts at most, as others may
    push in between.

    An agent may sync only where the settings give it the tool, and may give none of these three approvals.

    Raises:
        Disabled: the actor is an agent, and only a person may do this.
        NotFound: no remote was named on this machine.
        Unexpected: the remote needs a person's word; the message says what it has.
        SyncError: the remote does not answer, does not let us in, went back, or sends what is not believed.
        MassLoss: too many facts would be gone at once.
        HoldsSecret: a commit that is not there yet holds what looks like a credential.
        Busy: the person is in the middle of a rebase or merge, or others push faster than we can.
    """
    if not session.settings.sync.tool or is_expected or joins_apart or even_if_many:
        _check_is_person(session)
    check_may_write(session)
    is_expected = is_expected or joins_apart  # who joins a history has seen it
    history, record = session.engine.history, Record(session.engine)
    address = _named(session)
    if doing := history.branch.in_progress():
        raise Busy(f"a {doing} of yours is under way in {session.root}: finish it, and sync then")
    with record.kept(address.shown), _opened(session, address, seconds, progress) as other:
        syncing = _Syncing(session, other, address, record)
        for attempt in range(1, min(rounds, _ROUNDS) + 1):
            session.engine.writer.adopt(even_if_many)
            try:
                done = syncing.round(attempt, is_expected, joins_apart, even_if_many)
            except Outrun:
                time.sleep(random.uniform(0, _PAUSE * attempt))
                continue
            except (CrabmemError, OSError) as error:
                record.note_given_up(syncing.purging.given_up)  # the next answer tells
                is_lack = isinstance(error, (DamagedHistory, OSError)) and attempt < min(rounds, _ROUNDS)
                if is_lack and syncing.repository != fs.identity(session.engine.workspace.git):
                    continue  # a purge of another process: what was read before it is not there any more
                raise
            if (done.sent or done.is_rewritten) and session.engine.environment.get("CRABMEM_FLEET"):
                start("fleet.notify", session.root)
            return done
    raise Busy(f"others push to {address.shown} faster than we can: try again in a while")


def upcoming(session: Session) -> Upcoming:
    """Return the commits that a sync would bring and send, newest first. Fetches, and takes nothing in.

    Raises: as `sync`, also where the remote's branch is gone or went back.
    """
    _check_is_person(session)
    address, history = _named(session), session.engine.history
    session.engine.writer.finish_interrupted()
    with _opened(session, address) as other:
        syncing = _Syncing(session, other, address, Record(session.engine))
        theirs = syncing.fetched()
    head = history.head()
    come, go = lacking(history, head, theirs), lacking(history, theirs, head)
    come, go = syncing.purging.new_of(head, come), syncing.purging.new_of(theirs, go)
    coming, going = (tuple(map(history.commit, each)) for each in (come, go))
    return Upcoming(address.shown, coming, going, syncing.purging.news)


@contextmanager
def _opened(
    session: Session, address: Address, seconds: float = _SECONDS, progress: Progress = lambda step, done: None
) -> Iterator[Remote]:
    workspace = session.engine.workspace
    limit = Limit(address.shown, seconds, progress)
    with remote(address, workspace.git, workspace.private, session.engine.environment, limit) as found:
        yield found


def _named(session: Session) -> Address:
    url = session.engine.allowed.reach(session.root).remote
    if not url:
        origin = session.engine.history.origin() if session.engine.history.place.exists() else None
        hint = (
            f"; Git's origin is {origin}, which came with the folder and is not followed before that" if origin else ""
        )
        raise NotFound(f"no remote was named for {session.root} on this machine: `crabmem sync --to URL` does{hint}")
    return parse_address(url, session.root)


def _check_is_person(session: Session) -> None:
    if session.actor.is_agent:
        raise Disabled("a person syncs, and no agent", BY_A_PERSON)


def _tracking(ref: str) -> str:
    """Return the reference that says where a branch of the remote was seen last."""
    return f"{TRACKED}{ref.removeprefix(HEADS)}"


class _Waiting:
    """The fate of the proposals of both sides. `before` are those that both had at the last sync.

    A proposal of `before` that one side lacks now was decided on there.
    """

    def __init__(self, theirs: set[str], ours: set[str], before: Set[str]) -> None:
        #: `come` are to be taken in, `gone` were decided on elsewhere. `come` stops at the number that is ever read:
        #: the rest stays at the remote, and counts neither as shared nor as decided on.
        self.come = sorted(theirs - ours - before)[: max(0, MOST_ASIDE - len(ours))]
        self.gone = sorted((ours & before) - theirs)
        #: Those that were decided on here since.
        self.decided, self._new = before - ours, sorted(ours - before - theirs)
        #: What both have afterwards.
        self.shared = (set(self.come) | ours) - set(self.gone)

    def updates(self, there: Set[str]) -> Updates:
        """Return the changes of the remote's references. `there` are the proposals that it has, under its own ids."""
        gone = {f"{ASIDE}/{commit}": (commit, None) for commit in sorted(self.decided & there)}
        return {**gone, **{f"{ASIDE}/{commit}": (None, commit) for commit in self._new}}


class _Syncing:
    """One exchange with a remote."""

    def __init__(self, session: Session, other: Remote, address: Address, record: Record) -> None:
        self._session, self._other, self._address, self._record = session, other, address, record
        self._engine, self._history = session.engine, session.engine.history
        self.purging = Purging(session.engine, other, address.shown, self._beside)
        #: The identity of the repository that a round reads.
        self.repository: tuple[int, int] | None = None

    def _beside(self, git: Path) -> Remote:
        """Return the remote, to be fetched from into another repository."""
        return remote(self._address, git, git / "crabmem", self._engine.environment, self._other.limit)

    def round(self, number: int, is_expected: bool, joins_apart: bool, even_if_many: bool) -> Synced:
        """Fetch, take in and push once; return what was done. A purge that is taken in starts the round again.

        Raises: as `sync`; Outrun where the remote moved between fetch and push.
        """
        self.repository = fs.identity(self._engine.workspace.git)
        offer = self._other.refs()
        ref = self._ref_of(offer)
        raw, tracked = offer.refs.get(ref), _tracking(ref)
        self.purging.meet(offer)
        before = self._history.tracked(tracked)
        wants = dict.fromkeys([*filter(None, [raw]), *self._waiting(offer).come, *self.purging.stale()])
        if wants:
            self._fetch([*wants], before, is_expected)
        theirs, waiting = self.purging.tip(raw), self._waiting(offer)
        if theirs:
            brings = self.purging.news or not self._history.reaches(theirs)
            if brings and before is None and not is_expected:
                self._tell_unexpected(theirs, self._is_apart(theirs))
            self.purging.check_expected(is_expected, self._record.purged())
            # Proposals of the remote go through the exchange, too: made again after it they would have other ids.
            come = {f"{ASIDE}/{each}": each for each in waiting.come}
            if self.purging.take_in({tracked: theirs, **come}, is_expected):
                # Only now: in a note from before the exchange the purge would have replaced the path by a mark.
                self._record.note_given_up(self.purging.given_up)
                return self.round(number, is_expected, joins_apart, even_if_many)
        self._check_goes_on(ref, before, theirs, raw)
        taken, mine = None, self._history.head()
        if theirs and not self._history.reaches(theirs):
            self._check_is_joinable(theirs, joins_apart)
            self._check_regular(theirs)
            from .joining import take_in  # late: most syncs bring nothing

            taken = take_in(self._engine, theirs, even_if_many, waiting.gone).result
            waiting = self._waiting(offer)  # with what this brought
        if waiting.come or waiting.gone:
            self._engine.writer.locked(lambda: self._take_proposals(waiting))
        head = self._history.head()
        applied = self._applied(theirs, mine) if waiting.decided else {}
        rejected = self._record.rejected() | (waiting.decided - applied.keys())
        beside = {**self.purging.updates(offer, self._history.aside.readable()), **waiting.updates(offer.aside)}
        sent = self._push(ref, raw, theirs, head, beside, is_expected)
        self._record.note_shared(waiting.shared, self.purging.record.tip, rejected)
        if head and head != before:
            with suppress(Busy):  # it was pushed: the next sync notes it
                self._engine.writer.locked(lambda: self._history.track(tracked, head))
        return Synced(
            remote=self._address.shown,
            commit=head,
            sent=sent,
            left=tuple(self._engine.writer.left_beside()),
            rounds=number,
            purges=self.purging.arrived,
            is_rewritten=raw != theirs,
            given_up=tuple(sorted(self.purging.given_up | self._record.given_up())),
            quoting=self.purging.quoting,
            still_there=self.purging.elsewhere(offer, ref),
            not_rewritten=self.purging.others(self._address.url) if raw != theirs or self.purging.arrived else (),
            **self._outcome(taken, mine, theirs, rejected),
        )

    def _take_proposals(self, waiting: _Waiting) -> None:
        for commit in waiting.come:
            self._history.aside.keep(commit)
        for commit in waiting.gone:
            self._history.aside.drop(commit)

    def _outcome(self, taken: Taken | None, mine: str | None, theirs: str | None, rejected: Set[str]) -> dict[str, Any]:
        """Return what the answer says of memory, as it is now: what waits is read from the references."""
        found: dict[str, Any] = {
            "waiting": sum(is_of_sync(self._history, each) for each in self._history.aside.readable())
        }
        if held := self._session.look(lambda now: self._engine.writer.lost_outside(now.scan)):
            found["held"] = held.words
        if taken is None:
            return found
        from .joining import texts_aside

        aside, changes = texts_aside(self._history), taken.changes
        found["taken"], found["is_joined"] = tuple(sorted(changes)), taken.is_joined
        found["kept"], found["copies"], found["moved"] = taken.kept, taken.copies, taken.moved
        found["disputed"] = tuple(
            dispute.path for dispute in taken.disputes if (dispute.path, blob_id(dispute.waiting)) in aside
        )
        found["doubled"] = doubled(self._session, changes) if mine else {}
        applied = self._applied(mine, theirs) if rejected else {}
        found["overruled"] = tuple(sorted(applied[each] for each in rejected & applied.keys()))
        return found

    def _applied(self, since: str | None, tip: str | None) -> dict[str, str]:
        """Return, by proposal, the commits of `tip` that `since` lacks and that applied that proposal."""
        commits = (self._history.commit(oid, with_paths=False) for oid in lacking(self._history, since, tip))
        return {each.applies: each.commit for each in commits if each.applies}

    def fetched(self) -> str | None:
        """Fetch the branch of the remote, and nothing else; return where it is, None where there is none."""
        offer = self._other.refs()
        self.purging.meet(offer)
        ref = self._ref_of(offer)
        raw = offer.refs.get(ref)
        if raw:
            self._fetch([raw], None, True)
        theirs, before = self.purging.tip(raw), self._history.tracked(_tracking(ref))
        # A commit of before a purge that is not taken in yet is on another line.
        if not (before and self.purging.record.concerns(before)):
            self._check_goes_on(ref, before, theirs, raw)
        return theirs

    def _ref_of(self, offer: Offer) -> str:
        """Return the branch there: the one that its HEAD names if it is there, else the one called as ours."""
        ours = self._history.branch.name()
        theirs = offer.branch
        return theirs if theirs and theirs in offer.refs and ours not in offer.refs else ours

    def _fetch(self, wants: list[str], before: str | None, is_expected: bool) -> None:
        head = self._history.head()
        self.purging.fetch(wants, [each for each in (head, before) if each], self._history.reaches, is_expected)

    def _check_goes_on(self, ref: str, before: str | None, theirs: str | None, raw: str | None) -> None:
        """Refuse a branch there that is gone, or that went back; `theirs` is where it is, `raw` before purges."""
        if theirs is None and before:
            address = self._address
            way = "see what happened there; `crabmem sync --to` the same address begins anew with what is here"
            at = f"it was at {short(before)}: {way}"
            if address.kind is Kind.BUNDLE and not os.path.exists(address.path):
                raise SyncError(f"there is no file {address.shown} any more (is the disk there?); {at}")
            raise SyncError(f"{address.shown} has no branch {ref.removeprefix(HEADS)} any more; {at}")
        # A commit that a purge made may be another one there, of another purge.
        if theirs and theirs == raw and not (before and self.purging.record.is_end(before)):
            self._check_went_on(before, theirs)

    def _check_went_on(self, before: str | None, theirs: str) -> None:
        if before and before != theirs and before not in self._history.bases(before, theirs):
            doubted = len(self.purging.record.doubted)
            why = f", and {counted(doubted, 'row')} of its record of purges say what no purge does" if doubted else ""
            words = (
                f"{self._address.shown} went back, or has another history: it was at {short(before)} and is at "
                f"{short(theirs)}{why}. Both are kept, and nothing was changed. If somebody reset it on purpose, "
                "`crabmem sync --to` the same address begins anew with what it has"
            )
            if doubted:
                raise Untrusted(words)
            raise SyncError(words)

    def _tell_unexpected(self, theirs: str, is_apart: bool) -> None:
        """Raise Unexpected: all that a person has to know of a remote that was never synced with, in one question."""
        files = self._history.files(theirs)
        newest = self._history.commit(theirs, with_paths=False)
        facts = counted(sum(map(self._session.layout.is_entry, files)), "fact")
        apart = f", and nothing in common with the memory in {self._session.root}, to which it would be joined"
        raise Unexpected(
            f"{self._address.shown} has {facts}, the newest change by {newest.author} on {newest.time:%Y-%m-%d}"
            f"{apart if is_apart else ''}; nothing was taken in",
            is_apart=is_apart,
        )

    def _check_is_joinable(self, theirs: str, joins_apart: bool) -> None:
        if not joins_apart and self._is_apart(theirs):
            raise Unexpected(
                f"{self._address.shown} has a history that has nothing in common with that of {self._session.root}; "
                "nothing was taken in",
                is_apart=True,
            )

    def _is_apart(self, theirs: str) -> bool:
        head = self._history.head()
        return bool(head and not self._history.bases(head, theirs) and not self._is_fresh(head))

    def _is_fresh(self, head: str) -> bool:
        """Return whether nobody wrote anything here yet."""
        return not any(
            self._history.commit(each, with_paths=False).tool for each in self._history.commits_since((), head)
        )

    def _check_regular(self, theirs: str) -> None:
        layout, found = self._session.layout, self._history.irregular(theirs)
        odd = [path for path in found if layout.is_within(path) or layout.is_entry_folder(path)]
        if odd:
            raise SyncError(
                f"{self._address.shown} has what is no plain file where memory is: {listed(odd, _NAMED, 'paths')}; "
                "nothing was taken in: remove it there"
            )

    def _waiting(self, offer: Offer) -> _Waiting:
        theirs, before = (set(map(self.purging.end, each)) for each in (offer.aside, self._record.proposals()))
        return _Waiting(theirs, self._history.aside.all(), before)

    def _push(
        self, ref: str, raw: str | None, theirs: str | None, head: str | None, beside: Updates, is_expected: bool
    ) -> int:
        """Push what the remote lacks; return the number of commits.

        Its branch is at `raw`; `theirs` is the same commit without what was purged. `beside` are changes of other
        references.

        Raises:
            HoldsSecret: a new commit holds a credential, and the settings refuse that.
        """
        updates = {**beside, **({ref: (raw, head)} if head != raw else {})}
        if head is None or not updates:
            return 0
        commits = lacking(self._history, theirs, head)
        new = [*commits, *(new for ref, (_, new) in beside.items() if new and ref != PURGED)]
        self.purging.check_outgoing(new, is_expected)
        self._record.note_push()
        if self._session.settings.secrets != "refuse":
            self._other.push(updates)
            return len(commits)
        for commit in filter(self._history.is_merge, new):
            for each in self._history.changes.own(commit):
                self._check_holds_no_secret(commit, each.path, self._history.blob(each.after) if each.after else b"")
        self._other.push(updates, self._check_holds_no_secret)
        return len(commits)

    def _check_holds_no_secret(self, commit: str, path: str, data: bytes) -> None:
        if found := credentials_in(data.decode("utf-8", "replace")):
            raise HoldsSecret(
                f"{path} in commit {short(commit)} holds what looks like {found[0].kind}, so nothing was "
                'pushed: `crabmem purge` erases it, or `secrets = "warn"` in crabmem.toml lets it through'
            )
