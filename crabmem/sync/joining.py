"""Taking in the history of another machine: memory goes from one whole state to another, by the one way of a write.

Nothing is merged in the files: what both histories make is worked out from their commits, and then written as any
other change is, with its journal and its locks. The commit that has both is the same on every machine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from pathlib import Path

from ..disk import fs
from ..disk.scan import Scan
from ..errors import CrabmemError, InvalidSettings, Unreadable
from ..git.changes import Difference
from ..git.commits import JOINING, Note, identity
from ..git.history import History
from ..git.trees import REGULAR, Item
from ..results import CREATOR, Commit
from ..session.engine import Engine
from ..text.hashes import blob_id
from ..workspace.layout import SETTINGS, Layout
from ..workspace.layout import way as ways_to
from ..workspace.settings import Review, read_settings
from ..write.actor import ITSELF
from ..write.draft import Draft, Written
from ..write.intent import Join
from ..write.reviewer import settings_at
from ..write.withholding import Rule
from .law import Dispute, Joined, Rules, Said, Side, is_in_place_of_settings, join, lost, names_beside

_NOTE = Note("sync: the work of two machines, joined", identity(CREATOR), trailers=(("Tool", JOINING),))
_MOVING = Note(
    "sync: another name for what stood where a file or folder came in", _NOTE.author, trailers=_NOTE.trailers
)


@dataclass(frozen=True)
class Taken:
    """What was taken in: by path the bytes of memory before and after (None: no file), and what waits to be decided.

    `is_joined` if both sides had something new, so that there is a commit of both. `kept` are the paths of files that
    one side removed and the other changed, which stay; `copies` the second files of what both changed beside memory.
    `moved` are the new names of what stood here where a file or folder of memory came in.
    """

    changes: Mapping[str, bytes | None]
    disputes: tuple[Dispute, ...] = ()
    is_joined: bool = False
    kept: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


def take_in(engine: Engine, tip: str, even_if_many: bool = False, decided: Collection[str] = ()) -> Written[Taken]:
    """Take in the commit `tip`, which is stored with all that it stands on; outside edits are recorded first.

    `decided` are the proposals that somebody elsewhere decided on: they are about to go.

    Raises:
        MassLoss: too many of the facts would be gone at once; `even_if_many` says that this is meant.
    """
    joining = _HistoryJoin(engine.history, engine.workspace.layout, frozenset(decided))
    moved = _make_room(engine, tip)
    done = engine.writer.write(lambda scan: joining.draft(tip, even_if_many), ITSELF)
    return replace(done, result=replace(done.result, is_joined=done.commit not in (None, tip), moved=moved))


def _make_room(engine: Engine, tip: str) -> tuple[str, ...]:
    """Give another name to a file that stands where a folder of memory comes in, and to a folder where a file does.

    Return the new names. Folders move at once, files by the write that follows. A folder with files of memory stays:
    what comes in gets another name (`law`).
    """
    history, workspace, moved = engine.history, engine.workspace, dict[str, str]()

    def clear_places(scan: Scan) -> dict[str, bytes]:
        there = history.files(history.head())
        coming = {path for path in history.files(tip) if path not in there and workspace.layout.is_kept(path)}
        folders = {folder for path in there for folder in ways_to(path.rpartition("/")[0])}
        for place in sorted({each for path in coming for each in ways_to(path)} - folders):
            if not _is_in_the_way(workspace.file(place), place in coming):
                continue
            data = scan.data(place)
            names = names_beside(place, blob_id(data or place.encode()))
            moved[place] = next(name for name in names if not os.path.lexists(workspace.file(name)))
            if data is None:
                with fs.inside(workspace.root, place) as spot:
                    fs.rename(spot, spot.folder.spot(moved[place].rpartition("/")[2]))
        return {place: data for place in moved if (data := scan.data(place)) is not None}

    if in_the_way := engine.writer.between_writes(clear_places):
        changes = {**dict.fromkeys(in_the_way), **{moved[place]: data for place, data in in_the_way.items()}}
        engine.writer.write(lambda scan: Draft(changes, _MOVING, None), ITSELF)
    return tuple(moved.values())


def _is_in_the_way(file: Path, is_file: bool) -> bool:
    """Return whether a file stands where a folder is to be, or a folder where a file is; a link is the person's."""
    with suppress(OSError):
        mode = file.lstat().st_mode
        return stat.S_ISDIR(mode) if is_file else stat.S_ISREG(mode)
    return False


def texts_aside(history: History, without: Set[str] = frozenset()) -> dict[tuple[str, str], str]:
    """Return the texts that wait since a join, read from the references: by path and blob, the proposal's commit.

    `without` are commits to leave out.
    """
    found = dict[tuple[str, str], str]()
    for commit in history.aside.readable():
        with suppress(CrabmemError):  # damaged, which `doctor` tells
            if commit not in without and history.commit(commit, with_paths=False).tool == JOINING:
                found |= {(each.path, each.after): commit for each in history.changes.of(commit) if each.after}
    return found


class _HistoryJoin:
    """Joins histories of one repository. Changes no file and no branch."""

    def __init__(self, history: History, layout: Layout, decided: Set[str]) -> None:
        self._history = history
        self._layout = layout
        self._decided = decided
        #: New texts that a join made, by their ids: no history has them yet.
        self._made: dict[str, bytes] = {}

    def draft(self, tip: str, even_if_many: bool) -> Draft[Taken]:
        """Return what a write has to do so that `tip` is taken in; an empty draft where it is already."""
        history, head = self._history, self._history.head()
        if head == tip or (head and history.reaches(tip)):
            return Draft({}, _NOTE, Taken({}))
        base, sides, rules, done = self._joined(head, tip)
        wanted = {path: self._remembered_id(said) for path, said in done.files.items()}
        files = history.files(head)
        changed = {path: blob for path, blob in wanted.items() if blob != files.get(path)}
        for data in self._made.values():
            history.recording.put(data)
        when = datetime.fromtimestamp(max(self._committed(each) for each in (head, tip) if each), UTC)
        disputes = [*done.disputes]
        waiting = self._set_aside(changed, disputes, when, tip)
        if missing := lost(base, sides, done.files, waiting, rules):
            self._set_aside(changed, missing, when, tip)
            disputes += missing
        kept = {path: self._data(blob) for path, blob in changed.items() if self._layout.is_kept(path)}
        beside = self._outside_memory(wanted, head, tip)
        taken = Taken(kept, tuple(disputes), kept=done.kept, copies=done.copies)
        return Draft(kept, _NOTE, taken, even_if_many, Join(tip, when, beside))

    def _outside_memory(self, wanted: Mapping[str, str | None], head: str | None, tip: str) -> dict[str, Item | None]:
        """Return mode and id of each path outside memory that differs from the head after the join; None removes it.

        The text of a plain file was joined already (`wanted`): only its mode is decided here. A link or submodule is
        taken whole from one side.
        """
        bases = self._history.bases(head, tip) if head else []
        # The first of several is enough, as `_files_of` took the texts of all. At worst a mode or link that one side
        # put back becomes the other side's again: the same one on every machine.
        base, ours, theirs = (self._history.items(each) for each in (bases[0] if bases else None, head, tip))
        found = dict[str, Item | None]()
        for path in (path for path in {*ours, *theirs, *wanted} if not self._layout.is_kept(path)):
            in_base, in_ours, in_theirs = (items.get(path) for items in (base, ours, theirs))
            item = _with_joined_text(path, _of_both(in_base, in_ours, in_theirs), wanted)
            if item != in_ours:
                found[path] = item
        return found

    def _joined(self, head: str | None, tip: str) -> tuple[Mapping[str, str], Sequence[Side], Rules, Joined]:
        """Return the files that both had when they were one, both sides, the rules, and what comes of them."""
        if head is None:
            rules, side = self._rules(tip), Side(dict(self._history.files(tip)))
            return {}, (side,), rules, join({}, Side({}), side, rules)
        bases, rules = self._history.bases(head, tip), self._rules(head, tip)
        base = self._base_of(bases, head, tip)
        ours, theirs = (self._side(base, bases, each, other) for each, other in ((head, tip), (tip, head)))
        return base, (ours, theirs), rules, join(base, ours, theirs, rules)

    def _rules(self, *tips: str) -> Rules:
        guarded = {SETTINGS, *([] if all(map(self._lets_agents_write, tips)) else [self._layout.identity])}
        return Rules(self._layout, self._blob, frozenset(guarded), _is_readable)

    def _lets_agents_write(self, tip: str) -> bool:
        """Return whether the settings of one side let agents write the identity; not where they cannot be read."""
        settings = settings_at(self._history, tip)
        return settings is not None and settings.soul_editable

    def _files_of(self, bases: Sequence[str]) -> tuple[Mapping[str, str], Mapping[str, Set[str | None]]]:
        """Return the files (path and blob) that two histories had when they were one, and the texts in doubt by path.

        Several `bases` (both sides took in the other's work before) are joined to one. Where that join has a dispute,
        the bases do not show which text stood: the file is as it was before, and all candidates are in doubt.
        """
        files, disputed = dict(self._history.files(bases[0]) if bases else {}), dict[str, set[str | None]]()
        for before, commit in pairwise(bases):
            older = self._history.bases(before, commit)
            base, _ = self._files_of(older)
            one, other = Side(_changes(base, files)), self._side(base, older, commit)
            done = join(base, one, other, Rules(self._layout, self._blob))
            said = {path: self._remembered_id(each) for path, each in done.files.items()}
            for path in (*(each.path for each in done.disputes), *done.kept):
                disputed.setdefault(path, set()).update(side.changes.get(path, base.get(path)) for side in (one, other))
                said[path] = base.get(path)
            files = {path: blob for path, blob in {**base, **said}.items() if blob is not None}
        return files, disputed

    def _base_of(self, bases: Sequence[str], head: str, tip: str) -> Mapping[str, str]:
        """Return the files (path and blob) that two histories had when they were one.

        A text in doubt (`_files_of`) is the one that `head` or `tip` still has, where nobody changed it since.
        """
        files, disputed = self._files_of(bases)
        known = dict[str, set[str | None]]()
        for each in (head, tip) if disputed else ():
            now = self._history.files(each)
            changed = {change.path for _, own in self._written_since(bases, each) for change in own}
            for path, texts in disputed.items():
                if path not in changed:
                    known.setdefault(path, set()).update({now.get(path)} & texts)
        sure = {path: blob for path, texts in known.items() if len(texts) == 1 for blob in texts}
        return {path: blob for path, blob in {**files, **sure}.items() if blob is not None}

    def _written_since(self, bases: Sequence[str], tip: str) -> Iterator[tuple[Commit, Sequence[Difference]]]:
        """Yield each commit of a person or an agent since `bases`, and what it changed itself. Joins are left out."""
        for oid in self._history.commits_since(bases, tip):
            commit = self._history.commit(oid, with_paths=False)
            if commit.author != CREATOR:
                yield commit, self._history.changes.own(oid)

    def _side(self, base: Mapping[str, str], bases: Sequence[str], tip: str, other: str | None = None) -> Side:
        """Return what the history of `tip` changed since `base`, and who changed it.

        `waiting` has what its agents did that would wait for a person by the settings before that commit and those of
        `other`, the other side's tip.
        """
        changes = _changes(base, self._history.files(tip))
        persons, agents, waiting = set[str](), set[str](), set[str]()
        reviews = [self._review(each) for each in (tip, other) if other]
        for commit, own in self._written_since(bases, tip):
            (persons if commit.is_person else agents).update(each.path for each in own)
            if not commit.is_person and any(review.is_on for review in reviews):
                before = self._review(self._history.parent(commit.commit))
                waiting |= self._waiting(own, [before, *reviews[1:]], commit.commit)
        return Side(changes, persons & changes.keys(), agents & changes.keys(), waiting)

    def _waiting(self, changes: Sequence[Difference], reviews: Sequence[Review], commit: str) -> set[str]:
        """Return the paths that an agent's commit changed and that have to wait by any of `reviews`."""
        parent = self._history.parent(commit)
        kept = [each for each in changes if self._layout.is_kept(each.path)]
        before, after = ({each.path: self._data(each[side]) for each in kept} for side in (1, 2))

        def persons(path: str, text: bytes) -> list[bool]:
            owners = self._history.owners(text, path, parent) if parent else []
            return [owner is None or owner.is_person for owner in owners]

        rule = Rule(reduce(Review.and_all_of, reviews), (self._layout,), persons)
        waits = rule.withheld(before, after).waits if rule.review.is_on else ()
        return {path for part in waits for path in part.files}

    def _review(self, commit: str | None) -> Review:
        settings = settings_at(self._history, commit)
        return settings.review if settings else Review()

    def _set_aside(
        self, changed: Mapping[str, str | None], disputes: Sequence[Dispute], when: datetime, tip: str
    ) -> list[bytes]:
        """Make a proposal of each dispute, before the branch moves; return the disputed texts that have one.

        After a crash in between, the next sync makes the same ones. Each proposal is a commit on the join that is about
        to be made, so that it changes what stands in the files then.
        """
        if not disputes:
            return []
        history, known = self._history, texts_aside(self._history, self._decided)
        commit = history.recording.prospective(changed, _NOTE, when, tip)
        for dispute in disputes:
            why = dispute.why.format(dispute.path)
            note = Note(f"propose: {dispute.path}", identity(CREATOR), why, (("Tool", JOINING),))
            says = history.recording.put(dispute.waiting)
            # A proposal with this text may be there already: a crash left it, and the join is made anew.
            if (dispute.path, says) not in known:
                history.aside.add({dispute.path: says}, note, when, commit)
        there = texts_aside(history, self._decided)
        wanted = {(each.path, blob_id(each.waiting)): each.waiting for each in disputes}
        return [data for key, data in wanted.items() if key in there]

    def _committed(self, commit: str) -> int:
        return int(self._history.commit(commit, with_paths=False).time.timestamp())

    def _remembered_id(self, said: Said) -> str | None:
        """Return the id of what a path says; a new text is in `_made` from here on, for `_blob` and `draft`."""
        if isinstance(said, bytes):
            oid = blob_id(said)
            self._made[oid] = said
            return oid
        return said

    def _blob(self, oid: str) -> bytes:
        made = self._made.get(oid)
        return self._history.blob(oid) if made is None else made

    def _data(self, oid: str | None) -> bytes | None:
        return None if oid is None else self._blob(oid)


def _is_readable(path: str, data: bytes) -> bool:
    """Return whether a file can be read, if it is the settings: without these nothing goes on."""
    try:
        return path != SETTINGS or bool(read_settings(data, path))
    except (InvalidSettings, Unreadable):
        return False


def _of_both(base: Item | None, ours: Item | None, theirs: Item | None) -> Item | None:
    """Return the item of the side that changed it. If both did: a plain file before others, with a new mode if any.

    The choice is the same on both machines.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    changed = [each for each in (ours, theirs) if each]
    files = [each for each in changed if stat.S_ISREG(each[0])]
    modes = {each[0] for each in files}
    is_new = [mode for mode in modes if base is None or mode != base[0]]
    return (max(is_new or modes), min(oid for _, oid in files)) if files else min(changed)


def _with_joined_text(path: str, item: Item | None, wanted: Mapping[str, str | None]) -> Item | None:
    """Return an item outside memory with the text that is `wanted` at its path; a link or submodule as it is.

    One below a folder in the place of the settings goes.
    """
    is_file = item is not None and stat.S_ISREG(item[0])
    if item and not is_file and not is_in_place_of_settings(path):
        return item
    blob = wanted.get(path, item[1] if item and is_file else None)
    return (item[0] if item else REGULAR, blob) if blob else None


def _changes(base: Mapping[str, str], files: Mapping[str, str]) -> dict[str, str | None]:
    """Return by path the blobs in `files` that differ from `base`; None for files that are gone."""
    changed = {path: blob for path, blob in files.items() if base.get(path) != blob}
    return {**changed, **dict.fromkeys(base.keys() - files.keys())}
