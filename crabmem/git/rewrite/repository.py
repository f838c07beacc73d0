"""Rewrite a repository by a rule: what stands in the way, what its history becomes, and putting that in its place.

Readers see the old history until `.git` is exchanged, and the new one afterwards. Nobody else writes: besides the
writer's lock, those of Git on every reference and on the index are held, and that of compactions.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ...disk import fs, state
from ...errors import Busy, Untrusted, Unwritable
from ..commits import tag_target
from ..compaction import Filling, Ours
from ..graph import reached
from ..index import UnknownIndex
from ..index_forms import entries, renamed
from ..kept import ASIDE, KEPT
from ..objects import Objects, oid_of
from ..packing import Packing
from ..packs import Growing
from ..purged import MOST_ROWS, Erased, PurgeRecord, read_record
from ..reach import Piece, outgoing
from ..refs import PURGED, REF_WAIT, Head, Refs, is_ref
from ..repository import remotes
from ..store import check_pack
from ..trees import Trees, to_bytes, to_text
from .exchange import Exchange
from .objects import Rewriter, Survey, survey
from .overlay import Overlay
from .purged_line import PurgedLine
from .rule import Rule, Search
from .verification import Inspection, inspect_objects

_REMOTES = "refs/remotes/"
_STASH = "refs/stash"
_LOG_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) ([^\t\n]*)(?:\t(.*))?")
_NONE = "0" * 40
# Rows that do not hold may hide others.
_MOST_ROUNDS = 8
# What of `.git` a repository has that shares objects with others, and why its history is not rewritten.
_SHARED = {
    "objects/info/alternates": "it borrows objects from others: `git repack -a -d`, and remove the file `alternates`",
    "shallow": "it is a shallow clone, which has no history to rewrite: `git fetch --unshallow`",
    "worktrees": "it has linked worktrees, which would keep the text: `git worktree remove` them",
    "modules": "it has submodules, which purge does not rewrite: use `git filter-repo`",
    "info/grafts": "it has grafts: `git replace --convert-graft-file`, and make them real with `git filter-repo`",
    "reftable": "it keeps its references in a form that crabmem does not write",
}  # fmt: skip


class FileChange(NamedTuple):
    """A file of the workspace: the blob it is now (None: no file), and the bytes it gets (None: it goes)."""

    path: str
    was: str | None
    data: bytes | None
    mode: int


#: Puts files in their places, to be taken back unless the history is exchanged, too.
Put: TypeAlias = Callable[[Sequence[FileChange]], None]


@dataclass(frozen=True)
class NewHistory:
    """A history rewritten by `rule`, not yet in its place.

    `refs` are the references as they were, by name, `new_refs` as they shall be, but for that of the record of purges,
    which becomes `record`, with what was `made` here; `unreachable` counts objects that nothing reaches; `pushed` are
    the remotes that have commits which are rewritten. `index` is what Git's index is to say of files, None for no file,
    where that is not what `rewriter` makes of its rows.
    """

    survey: Survey
    rule: Rule
    rewriter: Rewriter
    filling: Filling
    head: Head
    refs: Mapping[str, str]
    new_refs: Mapping[str, str]
    unreachable: int
    pushed: tuple[str, ...]
    record: PurgeRecord = PurgeRecord()  # noqa: RUF009  # frozen
    made: PurgeRecord = PurgeRecord()  # noqa: RUF009
    index: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def changes_anything(self) -> bool:
        """Whether a commit, path or name of a reference changes; a remote's reference that only goes is no change."""
        is_renamed = not self.new_refs.keys() <= self.refs.keys()
        return self.rewritten(self.rewriter.ids) > 0 or is_renamed or bool(self.rewriter.paths)

    def rewritten(self, oids: Iterable[str]) -> int:
        """Return how many of these commits and tags get another id."""
        return sum(self.rewriter.ids.get(oid) != oid for oid in oids)


class RepositoryRewrite:
    """Rewrites one repository; `private` is the folder for what is ours."""

    def __init__(self, git: Path, private: Path, refs: Refs, objects: Objects, packing: Packing) -> None:
        self._git = git
        self._private = private
        self._refs = refs
        self._objects = objects
        self._packing = packing

    def check_possible(self, in_progress: str | None) -> None:
        """Refuse repositories that cannot be rewritten on their own, such as clones that share objects.

        `in_progress` is what the person is in the middle of, such as "rebase".

        Raises:
            Unwritable: the repository is one of these; the message says why, and what to do about it.
        """
        if in_progress:
            raise Unwritable(f"you are in the middle of a {in_progress}; finish or abort it, and purge again")
        for name, reason in _SHARED.items():
            place = self._git / name
            if place.is_file() or (place.is_dir() and any(place.iterdir())):
                raise Unwritable(f"{self._git} cannot be purged: {reason}")
        config = fs.read(self._git / "config")[0].decode("utf-8", "replace").lower()
        if "promisor" in config or "partialclone" in config or any(self._git.glob("objects/pack/*.promisor")):
            raise Unwritable(f"{self._git} is a partial clone, whose history is elsewhere; purge it there")
        refs = self._refs.all()
        if any(ref.startswith("refs/replace/") for ref in refs):
            raise Unwritable("the history has replaced objects (`git replace`): remove them, and purge again")
        if any(ref.startswith("refs/notes/") for ref in refs):
            raise Unwritable(
                "the history has notes (`git notes`), which are called by commits: copy what they say, remove them by "
                "`git update-ref -d`, and purge again"
            )
        if strange := next((ref for ref in refs if not is_ref(ref)), None):
            raise Unwritable(f"{strange!r} is no name that a purge can deal with: rename it, and purge again")

    # What there is

    def survey(self, record: PurgeRecord | None = None, also: Collection[str] = ()) -> Survey:
        """Return what references, the stash and Git's index reach, and what commits `also` do; what was fetched of the
        old line of a purge that is in the `record`, by default that of this machine, is no part of it.
        """
        # Only the log of the stash names all that was put there.
        stashed = (oid for oid in self._refs.last_noted(_STASH) if self._objects.has(oid))
        tips = (*self._followed(record or self.record()).values(), self._refs.head().commit, *stashed, *also)
        found = survey(filter(None, tips), self._objects)
        for path, blob in self.staged().items():
            found.files.setdefault(path, set()).add(blob)
            found.objects.add(blob)
        return found

    def record(self, commit: str | None = None) -> PurgeRecord:
        """Return this machine's record of purges, or that of another in `commit`, which is stored here.

        Raises:
            Untrusted: the commit is no record.
        """
        return read_record(self._objects, commit or self._refs.read(PURGED))

    def own_record(self) -> PurgeRecord:
        """Return the part of the record of purges that was made here."""
        with suppress(FileNotFoundError):
            lines = fs.read(self._private / state.PURGES)[0].decode("ascii", "replace").split()
            return self.record().part(lines)
        return PurgeRecord()

    def keep_record(self, record: PurgeRecord) -> None:
        """Store a record of purges, and set its reference, without rewriting: nothing that it names is here."""
        if record.tip and record.tip != self._refs.read(PURGED):
            self._store(dict(zip(record.ids, record.objects(), strict=True)))
            self._refs.restore(PURGED, record.tip)

    def present(self, record: PurgeRecord) -> frozenset[str]:
        """Return the ids that may not come back and are stored here nevertheless, reachable or not."""
        # Of half a million ids few are here: to look for each takes ten times as long as to list what is here.
        return record.refused & self._objects.all_ids()

    def beside(self, folder: Path) -> Overlay:
        """Return the objects in a folder, and with them those that are here."""
        return Overlay(folder, self._objects)

    def clean(
        self,
        tips: Collection[str],
        there: Overlay,
        record: PurgeRecord,
        aside: Set[str],
        is_ours: Callable[[str], bool],
        doubts_lacking: bool,
    ) -> tuple[PurgedLine, PurgeRecord]:
        """Find what commits in the store `there` are on the purged line, which is here; those `aside` are proposals,
        and `is_ours` tells whether our references reach a commit.

        Returns the record without the rows that do not hold, too. What is made is stored here, and reached by nothing.
        """
        line, record = self._compared(
            record, there, survey(tips, there), tips, aside, doubts_lacking, self.survey(record)
        )
        if not line.lacking:
            self._store(there.new((line.ids[tip] for tip in tips), is_ours))
        return line, record

    def _compared(
        self,
        record: PurgeRecord,
        there: Overlay,
        found: Survey,
        tips: Collection[str],
        aside: Collection[str],
        doubts_lacking: bool = False,
        also: Survey | None = None,
    ) -> tuple[PurgedLine, PurgeRecord]:
        """Find what was surveyed on the purged line, by the rows of the record that hold; `also` tells what went."""
        own = self.own_record()
        for _ in range(_MOST_ROUNDS):
            line = PurgedLine(record, there, own, doubts_lacking)
            if also:
                line.learn(also)
            line.run(found, tips, aside)
            if line.doubted <= record.doubted:
                return line, record
            record = record.without(line.doubted)
        raise Untrusted(
            "the record of purges has rows of commits that do not hold, each because of another one: nothing was "
            "changed; see who pushed refs/crabmem/purged, and have it deleted"
        )

    def _store(self, objects: Mapping[str, tuple[str, bytes]]) -> None:
        """Store objects durably; no reference names them yet."""
        for oid, (kind, data) in objects.items():
            assert self._objects.put(kind, data) == oid
        self._objects.flush()

    def versions(self, found: Survey) -> Iterator[tuple[str, bytes]]:
        """Yield every path of a survey with the bytes of each version that ever stood there."""
        for path, blobs in found.files.items():
            yield from ((path, self._objects.blob(blob)) for blob in blobs)

    def staged(self) -> dict[str, str]:
        """Return the blobs in Git's index by path."""
        try:
            rows = entries(self._git / "index") or {}
        except UnknownIndex:
            raise Unwritable(
                f"{self._git / 'index'} is split, sparse or in the middle of a merge: `git update-index "
                "--no-split-index`, or finish the merge, and purge again"
            ) from None
        return {to_text(path): blob for path, (_, blob, _) in rows.items()}

    def remotes(self) -> dict[str, str]:
        """Return the remotes that the repository knows, and their addresses."""
        return dict.fromkeys(_remotes_of(self._refs.all()), "") | remotes(self._git)

    def inspect_objects(self, search: Search) -> Iterator[Inspection]:
        """Inspect every object for what is sought."""
        record = self.record().ids  # of ids alone, in which short texts are found
        return inspect_objects(search, self._objects, frozenset(record))

    # What it becomes

    def new_history(self, found: Survey, rule: Rule, packs: bool) -> NewHistory:
        """Rewrite all that was surveyed. Only a history that is to be put in its place `packs` what it is made of."""
        new: dict[str, tuple[str, bytes]] = {}  # objects that no store has yet
        filling = Filling(lambda oid: new.get(oid) or self._objects.raw(oid), Growing(), {})

        def take(piece: Piece, kind: str, data: bytes) -> None:
            new[piece.oid] = kind, data
            filling.take(piece)
            if kind != "blob" or piece.oid in found.objects:  # else a later version is a delta to it
                del new[piece.oid]

        rewriter = Rewriter(rule, self._objects, take if packs else None)
        refs, head, before = self._refs_of_history(), self._refs.head(), self.record()
        followed = self._followed(before)
        if any(map(before.is_old, found.commits)) and self._has_old(found, before):
            raise Unwritable(
                "commits of before a purge are here again, as `git pull` brings them: `crabmem sync` puts what is new "
                "in them on the purged line; purge again then"
            )
        for oid in (*found.commits, *found.tags):
            rewriter.add(oid)
        for path, blob in self.staged().items():
            if rule.new_path(path, blob) is not None:
                rewriter.blob(path, blob)
        # They are of the paths before it, and are kept beside the pack.
        chains = filling.chains.items()
        filling.chains = {path: chain for path, chain in chains if rule.new_path(way := path.rstrip("/"), "") == way}
        new_refs = {_new_ref(ref, rule, rewriter.ids[oid]): rewriter.ids[oid] for ref, oid in sorted(followed.items())}
        pushed = _remotes_of(ref for ref, oid in sorted(followed.items()) if rewriter.ids[oid] != oid)
        unreachable = len(self._objects.all_ids() - found.objects - {*before.ids})
        made = PurgeRecord([self._erased(found, rule, rewriter)])
        record = before | made
        if record.size > MOST_ROWS:
            raise Unwritable(
                f"the record of purges would have {record.size:,} rows, more than the {MOST_ROWS:,} that are read: "
                "once every machine has synced, delete refs/crabmem/purged here and at the remote, and purge again"
            )
        return NewHistory(found, rule, rewriter, filling, head, refs, new_refs, unreachable, pushed, record, made)

    def _has_old(self, found: Survey, record: PurgeRecord) -> bool:
        """Return whether what was surveyed has commits of before a purge, as a comparison shows."""
        with closing(self.beside(self._git / "objects")) as here:
            record = self._compared(record, here, found, (), ())[1]
        return any(map(record.is_old, found.commits))

    def _refs_of_history(self) -> dict[str, str]:
        return {ref: oid for ref, oid in self._refs.all().items() if ref != PURGED}

    def _followed(self, record: PurgeRecord) -> dict[str, str]:
        """Return the references; those to what was purged name what became of it.

        `git fetch` puts one on the old line, which a second purge took for a part of this history: one that says where
        a remote was seen is on the purged line, or nowhere.
        """
        refs = self._refs_of_history()
        ends = {ref: self.on_end(oid, record) if ref.startswith(_REMOTES) else oid for ref, oid in refs.items()}
        return {ref: end for ref, end in ends.items() if end}

    def on_end(self, oid: str, record: PurgeRecord) -> str | None:
        """Return what the newest purged commit below a commit became; itself where there is none below."""
        below = reached([oid] if len(record) else [], self._objects.parents)
        old = next(filter(record.is_old, below), None)
        if old is None:
            return oid
        end = record.commit(old)
        return end if end and self._objects.is_there(end) else None

    def _erased(self, found: Survey, rule: Rule, rewriter: Rewriter) -> Erased:
        """Return what the record of purges says of a rewrite, for other machines: ids alone, no text."""
        news: dict[str, set[str | None]] = {}
        for path, held in found.files.items():
            for blob in held:
                is_gone = rule.new_path(path, blob) is None
                news.setdefault(blob, set()).add(None if is_gone else rewriter.became(path, blob))
        went = {blob: min(filter(None, ends - {blob}), default=None) for blob, ends in news.items() if ends != {blob}}
        # What is blank tells nothing, and may come back.
        parts = {blob for blob in went if blob in news[blob] or not self._objects.blob(blob).strip()}
        commits = {old: new for old, new in rewriter.ids.items() if old != new}
        blobs = {blob: new for blob, new in went.items() if blob not in parts}
        return Erased(commits, blobs, {blob: went[blob] for blob in parts})

    def on_purged_line(
        self,
        record: PurgeRecord,
        made: PurgeRecord,
        also: Mapping[str, str],
        doubts_lacking: bool = False,
    ) -> NewHistory | PurgeRecord:
        """Put what is here on the line that purges elsewhere left, of which all is stored here.

        `made` is the part of the record that this machine made of what it fetched, and `also` are references that are
        set besides. What is made anew is stored, and reached by nothing. If nothing of the record holds of what is
        here, the record without that is returned.

        Raises:
            Unwritable: a stash stands on what was purged.
        """
        found, refs, head, followed = (
            self.survey(record, also.values()),
            self._refs_of_history(),
            self._refs.head(),
            self._followed(record),
        )
        aside = {oid for ref, oid in (refs | {**also}).items() if ref == f"{ASIDE}/{oid}"}
        tips = {*followed.values(), *also.values(), *filter(None, [head.commit])}
        tips |= {tag_target(self._objects.raw(tag)[1]) for tag in found.tags}
        with closing(self.beside(self._git / "objects")) as here:
            line, record = self._compared(record, here, found, tips, aside, doubts_lacking=doubts_lacking)
            if not any(map(record.concerns, self.present(record))):
                return record
            self._store(here.made)
        ids = line.ids
        if any(
            ids.get(oid) != oid for oid in (*self._refs.last_noted(_STASH), refs.get(_STASH)) if oid in found.objects
        ):
            raise Unwritable(
                "a stash stands on what a purge takes: `git stash pop` or `git stash drop` it, and sync again"
            )
        taken = dict[str, tuple[str, bytes]]()

        def take(piece: Piece, kind: str, data: bytes) -> None:
            taken[piece.oid] = kind, data

        rewriter = Rewriter(line, self._objects, take)
        rewriter.ids |= ids
        for oid in found.tags:
            rewriter.add(oid)
        staged = self.staged()
        index = self._index_of(head.commit, ids, staged)
        others = ((path, blob) for path, blob in staged.items() if path not in index)
        pieces = [Piece(rewriter.blob(path, blob), path) for path, blob in others if line.new_path(path, blob)]
        self._store(taken)
        new_refs, lacking = dict[str, str](), {oid for oid in filter(None, [head.commit]) if oid not in ids}
        for ref, oid in sorted(followed.items()):
            if new := rewriter.ids.get(oid):
                new_refs[_new_ref(ref, line, new)] = new
            else:
                lacking.add(oid)
        line.lacking = lacking
        new_refs |= {
            _new_ref(ref, line, new): new for ref, new in ((ref, ids.get(oid, oid)) for ref, oid in also.items())
        }
        filling = Filling(self._objects.raw, Growing(), {})
        for piece in outgoing(self._git, self._private, self._objects, sorted({*new_refs.values()}), []):
            filling.take(piece)
        for piece in pieces:
            filling.take(piece)
        # A log keeps the lines of commits that stay: the words of others may be what was purged.
        detached = {oid: ids[oid] for oid in filter(None, [head.commit]) if head.ref == "HEAD"}
        rewriter.ids = {oid: new for oid, new in rewriter.ids.items() if oid == new} | detached
        made |= PurgeRecord(line.erased(False))
        return NewHistory(found, line, rewriter, filling, head, refs, new_refs, 0, (), record | made, made, index)

    def _index_of(self, head: str | None, ids: Mapping[str, str], staged: Mapping[str, str]) -> dict[str, str | None]:
        """Return what Git's index is to say of all files, as what the head became has them; None for no file.

        Not of one that the person staged otherwise. A text that went may stand in the new head: somebody has said it
        again.
        """
        if head is None or head not in ids:
            return {}
        trees = Trees(self._objects)
        before, after = (trees.files(self._objects.header(commit).tree) for commit in (head, ids[head]))
        return {path: after.get(path) for path in {**before, **after} if staged.get(path) == before.get(path)}

    # Putting it in its place

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from packing, moving a reference and changing the index.

        Raises:
            Busy: somebody does at this moment.
        """
        with ExitStack() as held:
            if not held.enter_context(self._packing.alone()):
                raise Busy("the history is being compacted at this moment; purge again in a minute")
            if self._refs.is_gc_running():
                raise Busy("`git gc` is running at this moment; purge again when it has ended")
            for name in ("HEAD", "index", "packed-refs", "config", *self._refs.all()):
                held.enter_context(self._refs.holding(f"{name}.lock", REF_WAIT))
            yield

    def put_in_place(
        self,
        new: NewHistory,
        files: Sequence[FileChange],
        gone: Iterable[str],
        put: Put,
    ) -> None:
        """Put a history in the place of the old one, and files in that of those of the workspace, which `put` does.

        `gone` are files of ours below `.git` that go.

        Raises:
            Busy: somebody made or moved a reference at this moment.
        """
        growing, record = new.filling.growing, self._refs.read(PURGED)
        old = {**new.refs, **({PURGED: record} if record else {})}
        with Exchange(self._git).begun() as exchange:
            for name, data in self._anew(new):
                exchange.write(name, data)
            name, data, index = growing.finish()
            exchange.write(f"crabmem/{state.PACK}", Ours(name, None, new.filling.chains).to_json())
            pack = exchange.write(f"objects/pack/{name}.pack", data, 0o444)
            check_pack(pack, exchange.write(f"objects/pack/{name}.idx", index, 0o444), growing.ids())
            exchange.take_over({*old, *gone})
            exchange.carry_out(lambda: put(files), lambda git: _moved(Refs(git, git).all(), old))
        self._objects.forget()
        self._catch_up(_moved(self._refs.all(), {**new.new_refs, PURGED: new.record.tip or ""}), new.rewriter.ids)

    def _catch_up(self, late: Sequence[str], ids: Mapping[str, str]) -> None:
        """Set references that another process made during the exchange, and that name old commits, to new ones.

        Raises:
            Busy: one names an object that is gone.
        """
        lost = list[str]()
        for ref in late:
            oid = self._refs.read(ref) or ""
            if ids.get(oid, oid) != oid:
                self._refs.restore(ref, ids[oid])
            elif not self._objects.has(oid):
                lost.append(ref)
        if lost:
            raise Busy(f"{', '.join(lost)}: made meanwhile, and names what is gone from the history: delete it")

    def _anew(self, new: NewHistory) -> Iterator[tuple[str, bytes]]:
        """Yield path in `.git` and bytes of each file that is made anew, but for the pack: references, logs, index.

        Objects that are new with them are added to the pack of `new` meanwhile.
        """
        for kind, data in new.record.objects() if new.record.tip else ():
            new.filling.growing.add(oid_of(kind, data), kind, data, None)
        refs = {**new.new_refs, **({PURGED: new.record.tip} if new.record.tip else {})}
        rows = "".join(f"{oid} {ref}\n" for ref, oid in sorted(refs.items()))
        yield "packed-refs", f"# pack-refs with: sorted \n{rows}".encode()
        if new.head.ref == "HEAD" and new.head.commit:
            yield "HEAD", f"{new.rewriter.ids[new.head.commit]}\n".encode()
        elif new.head.ref != (branch := _new_ref(new.head.ref, new.rule)):
            yield "HEAD", f"ref: {branch}\n".encode()
        for log in sorted((self._git / "logs").rglob("*")):
            if log.is_file():
                target = _new_ref(log.relative_to(self._git).as_posix(), new.rule)
                yield target, b"".join(_new_log(fs.read(log, limit=fs.LARGE)[0], new.rewriter))
        for name in (state.TURNS, state.USES, state.REPAIRS, state.SYNC):
            with suppress(FileNotFoundError):
                text = to_text(fs.read(self._private / name)[0])
                yield f"crabmem/{name}", to_bytes(new.rewriter.log_line(text))
        purges = self._private / state.PURGES
        before = fs.read(purges)[0] if purges.exists() else b""
        before += "".join(f"{oid}\n" for oid in new.made.purges).encode()
        yield f"crabmem/{state.PURGES}", before + b"%d %d\n" % (fs.identity(self._git) or (0, 0))

        known = set[str]()

        def new_row(row: bytes, blob: str) -> tuple[bytes, str] | None:
            path = to_text(row)
            known.add(path)
            if path in new.index:
                return (row, end) if (end := new.index[path]) else None
            new_path = new.rule.new_path(path, blob)
            return (to_bytes(new_path), new.rewriter.blob(path, blob)) if new_path else None

        index = renamed(self._git / "index", new_row)
        if index is not None:
            yield "index", index
        if late := [path for path, blob in new.index.items() if blob and path not in known]:
            yield f"crabmem/{state.INDEX_BEHIND}", to_bytes("\n".join(late))


def _moved(now: Mapping[str, str], known: Mapping[str, str]) -> list[str]:
    return sorted(ref for ref, oid in now.items() if oid != known.get(ref))


def _remotes_of(refs: Iterable[str]) -> tuple[str, ...]:
    names = (ref.removeprefix(_REMOTES).partition("/")[0] for ref in refs if ref.startswith(_REMOTES))
    return tuple(dict.fromkeys(names))


def _new_ref(ref: str, rule: Rule, oid: str = "") -> str:
    """Return the new name of a reference to `oid`, or of its log. The part that Git knows it by stays."""
    folder = ref.rpartition("/")[0]
    if oid and folder in (KEPT, ASIDE):  # those of ours are called by their commit
        return f"{folder}/{oid}"
    parts = ref.split("/")
    first = 3 if parts[0] == "logs" else 2
    return "/".join([*parts[:first], *map(rule.new_name, parts[first:])])


def _new_log(log: bytes, rewriter: Rewriter) -> Iterator[bytes]:
    """Yield the rewritten lines of a reference's log; lines with commits that no longer exist are dropped."""
    for line in log.splitlines():
        if found := _LOG_LINE.fullmatch(line):
            old, new = (rewriter.ids.get(found[side].decode(), "") for side in (1, 2))
            old = old or (_NONE if found[1].decode() == _NONE else "")
            if old and new:
                words = rewriter.log_line(to_text(found[4] or b""))
                yield b"%s %s %s\t%s\n" % (
                    old.encode(), new.encode(), rewriter.identity(found[3]), to_bytes(words)
                )  # fmt: skip
