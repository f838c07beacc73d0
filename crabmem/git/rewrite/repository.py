"""Erasing: what a history would be without something, what stands in the way, and putting one for the other.

Whoever reads meanwhile reads the old history until a reference is exchanged, and the new one afterwards. Nobody else
writes: besides the writer's lock, those of Git on every reference and on the index are held, and that of compactions.
"""

import configparser
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ...disk import fs
from ...errors import Busy, Unwritable
from ..aside import ASIDE
from ..compaction import Filling, Ours
from ..erasing import Erasure
from ..keeping import KEPT
from ..objects import Objects
from ..pack import NUMBERS, Growing
from ..packing import Packing
from ..parsing import renamed, staged
from ..reach import Piece
from ..refs import REF_WAIT, Head, Refs
from ..rows import UnknownIndex
from .exchange import Change, Exchange, Order
from .objects import NOTES, Rewriting, Survey, Tally, surveyed
from .verification import Look, in_objects

_REMOTES = "refs/remotes/"
_REMOTE = re.compile(r'remote "(.+)"')
_STASH = "refs/stash"
_REPLACED = "refs/replace/"
_LOG_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) ([^\t\n]*)(?:\t(.*))?")
_NONE = "0" * 40
#: What of `.git` a repository has that shares objects with others, and why purge stops there.
_SHARED = {
    "objects/info/alternates": "it borrows objects from others: `git repack -a -d`, and remove the file `alternates`",
    "shallow": "it is a shallow clone, which has no history to rewrite: `git fetch --unshallow`",
    "worktrees": "it has linked worktrees, which would keep the text: `git worktree remove` them",
    "modules": "it has submodules, which purge does not rewrite: use `git filter-repo`",
    "info/grafts": "it has grafts: `git replace --convert-graft-file`, and make them real with `git filter-repo`",
    "reftable": "it keeps its references in a form that crabmem does not write",
}  # fmt: skip


@dataclass(frozen=True)
class Rewritten:
    """A history made anew, not yet in its place: new ids by the old ones, and what was changed.

    `refs` are the references as they were, by name, `new` as they shall be; `unreachable` counts objects that nothing
    reaches; `pushed` are the references of remotes that have commits which are rewritten.
    """

    survey: Survey
    rewriting: Rewriting
    filling: Filling
    head: Head
    refs: Mapping[str, str]
    new: Mapping[str, str]
    unreachable: int
    pushed: tuple[str, ...]

    @property
    def tally(self) -> Tally:
        """What was changed."""
        return self.rewriting.tally

    @property
    def changes_anything(self) -> bool:
        """Whether the new history is another."""
        same = all(old == new for old, new in self.rewriting.ids.items())
        return not same or self.refs != self.new or bool(self.tally.paths)


class _Source:
    """What a pack is filled from: objects that were just made, and those that were there."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.made: dict[str, tuple[int, bytes]] = {}

    def raw(self, oid: str) -> tuple[int, bytes]:
        """Kind and bytes of an object."""
        if oid in self.made:
            return self.made[oid]
        kind, data = self._objects.raw(oid)
        return NUMBERS[kind], data


class Eraser:
    """Erases from one repository; `private` is the folder for what is ours."""

    def __init__(self, root: Path, private: Path, refs: Refs, objects: Objects, packing: Packing,
                 exchange: Exchange) -> None:  # fmt: skip
        self._git = root / ".git"
        self._private = private
        self._refs = refs
        self._objects = objects
        self._packing = packing
        self.exchange = exchange

    def refuse(self, in_progress: str | None) -> None:
        """Refuse what cannot be rewritten alone.

        Raises:
            Unwritable: the message says why, and what to do about it.
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
        if any(ref.startswith(_REPLACED) for ref in self._refs.all()):
            raise Unwritable("the history has replaced objects (`git replace`): remove them, and purge again")

    def survey(self) -> Survey:
        """What references, the stash and Git's index reach."""
        tips = [*self._refs.all().values(), *self._stashed()]
        head = self._refs.head().commit
        survey = surveyed([*tips, *([head] if head else [])], self._objects.raw, self._objects.parents)
        for path, (_, blob) in self._staged().items():
            survey.files.setdefault(path.decode("utf-8", "surrogateescape"), set()).add(blob)
            survey.objects.add(blob)
        return survey

    def files(self, survey: Survey) -> Iterator[tuple[str, bytes]]:
        """Every path, and every version that ever stood there."""
        for path, blobs in survey.files.items():
            yield from ((path, self._objects.blob(blob)) for blob in blobs)

    def _staged(self) -> dict[bytes, tuple[int, str]]:
        try:
            return staged(self._git / "index")
        except UnknownIndex:
            raise Unwritable(
                f"{self._git / 'index'} is split, sparse or in the middle of a merge: `git update-index "
                "--no-split-index`, or finish the merge, and purge again"
            ) from None

    def objects(self, erasure: Erasure, blobs: frozenset[str]) -> Iterator[Look]:
        """Of every object its size, and what it is if it holds any of what is erased, or is one of `blobs`."""
        return in_objects(erasure, self._objects, blobs)

    def staged(self) -> list[str]:
        """The paths in Git's index."""
        return [path.decode("utf-8", "surrogateescape") for path in self._staged()]

    def _stashed(self) -> list[str]:
        """The commits that only the log of the stash names."""
        return [oid for oid in self._refs.last_noted(_STASH) if self._objects.has(oid)]

    def rewritten(self, survey: Survey, erasure: Erasure, packs: bool) -> Rewritten:
        """The history without it. Only when it is to be exchanged for the old one, it `packs`."""
        source = _Source(self._objects)
        filling = Filling(source, Growing(), {})

        def take(piece: Piece, kind: str, data: bytes) -> None:
            source.made[piece.oid] = NUMBERS[kind], data
            filling.take(piece)
            if kind != "blob" or piece.oid in survey.objects:  # else a later version is a delta to it
                del source.made[piece.oid]

        rewriting = Rewriting(erasure, self._objects.raw, take if packs else None)
        refs, head = self._refs.all(), self._refs.head()
        notes = self._note_commits(refs)
        for oid in sorted(survey.commits, key=lambda each: each in notes):  # notes are called by new ids
            rewriting.commit(oid, oid in notes)
        for oid in survey.tags:
            rewriting.tag(oid)
        for path, (_, blob) in self._staged().items():
            name = path.decode("utf-8", "surrogateescape")
            if not erasure.goes(name, blob):
                rewriting.blob(name, blob)
        new = dict(_new_refs(refs, rewriting.ids, erasure))
        pushed = tuple(ref for ref, oid in sorted(refs.items()) if _is_of_remote(ref) and rewriting.ids[oid] != oid)
        gone = len(self._objects.all_ids() - survey.objects)
        return Rewritten(survey, rewriting, filling, head, refs, new, gone, pushed)

    def _note_commits(self, refs: Mapping[str, str]) -> set[str]:
        """The commits of notes, which are on no branch."""
        waiting = [oid for ref, oid in refs.items() if ref.startswith(NOTES)]
        found: set[str] = set()
        while waiting:
            oid = waiting.pop()
            if oid not in found:
                found.add(oid)
                waiting += self._objects.parents(oid)
        return found

    def remotes(self) -> dict[str, str]:
        """The remotes that the repository knows, and where they are."""
        names = dict.fromkeys(map(remote_of, filter(_is_of_remote, self._refs.all())))
        parser = configparser.RawConfigParser(strict=False, interpolation=None, allow_no_value=True)
        with suppress(configparser.Error, UnicodeDecodeError):
            text = fs.read(self._git / "config")[0].decode("utf-8")
            parser.read_string("\n".join(line.strip() for line in text.splitlines()))
        named = (found[1] for found in map(_REMOTE.fullmatch, parser.sections()) if found)
        names |= dict.fromkeys(named)
        return {name: parser.get(f'remote "{name}"', "url", fallback="") for name in names}

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within it nobody packs, and no Git moves a reference or changes the index.

        Raises:
            Busy: somebody does at this moment.
        """
        with ExitStack() as held:
            if not held.enter_context(self._packing.alone()):
                raise Busy("the history is being compacted at this moment; purge again in a minute")
            loose = [ref for ref in self._refs.all() if (self._git / ref).is_file()]
            for name in ("HEAD", "index", "packed-refs", *loose):
                held.enter_context(self._refs.holding(f"{name}.lock", REF_WAIT))
            yield

    def exchanged(self, made: Rewritten, files: Iterable[tuple[str, str | None, bytes | None, int]], erasure: Erasure,
                  gone: Iterable[str]) -> None:  # fmt: skip
        """Put a history in the place of the old one, and files of the workspace: path, blob as it is, bytes, mode.

        `gone` are files of ours below `.git` that go.
        """
        with fs.durability(True):
            self.exchange.begin()
            try:
                order = self._order(made, files, erasure, gone)
            except BaseException:
                self.exchange.give_up()
                raise
            self.exchange.give(order)
        self._objects.forget()
        self.exchange.finish(order)
        self._objects.forget()

    def _order(self, made: Rewritten, files: Iterable[tuple[str, str | None, bytes | None, int]], erasure: Erasure,
               gone: Iterable[str]) -> Order:  # fmt: skip
        ready = self.exchange.ready
        name, data, index = made.filling.growing.finished()
        self.exchange.ready_pack(name, data, index, made.filling.growing.ids())
        self.exchange.ready_as("packed-refs", _packed_refs(made.new))
        if made.head.ref == "HEAD" and made.head.commit:
            self.exchange.ready_as("HEAD", f"{made.rewriting.ids[made.head.commit]}\n".encode())
        elif made.head.ref != (branch := _new_name(made.head.ref, erasure)):
            self.exchange.ready_as("HEAD", f"ref: {branch}\n".encode())
        moves = {ready(text): target for target, text in self._texts(made, erasure)}
        moves[ready(Ours(name, None, made.filling.chains).written())] = "crabmem/pack"
        changes = tuple(Change(path, was, None if new is None else ready(new, mode)) for path, was, new, mode in files)
        return Order(name, dict(made.refs), dict(made.new), moves, changes, tuple(gone))

    def _texts(self, made: Rewritten, erasure: Erasure) -> Iterator[tuple[str, bytes]]:
        """The logs, the index and what we say of turns, uses and repairs, made anew, by where they belong."""
        for log in sorted((self._git / "logs").rglob("*")):
            if log.is_file():
                target = _new_name(log.relative_to(self._git).as_posix(), erasure)
                yield target, b"".join(_new_log(fs.read(log, limit=fs.LARGE)[0], made.rewriting))
        for name in ("turns", "uses", "repairs.log"):
            with suppress(FileNotFoundError):
                text = fs.read(self._private / name)[0].decode("utf-8", "surrogateescape")
                yield f"crabmem/{name}", made.rewriting.words(text).encode("utf-8", "surrogateescape")
        index = renamed(self._git / "index", lambda path, blob: _new_row(path, blob, made.rewriting, erasure))
        if index is not None:
            yield "index", index


def remote_of(ref: str) -> str:
    """The remote that a reference of one belongs to."""
    return ref.removeprefix(_REMOTES).partition("/")[0]


def _is_of_remote(ref: str) -> bool:
    return ref.startswith(_REMOTES)


def _new_row(path: bytes, blob: str, rewriting: Rewriting, erasure: Erasure) -> tuple[bytes, str] | None:
    """Path and blob of a row of Git's index, made anew."""
    name = path.decode("utf-8", "surrogateescape")
    new = None if erasure.goes(name, blob) else erasure.paths.get(name, name)
    return (new.encode("utf-8", "surrogateescape"), rewriting.blob(name, blob)) if new is not None else None


def _new_refs(refs: Mapping[str, str], ids: Mapping[str, str], erasure: Erasure) -> Iterator[tuple[str, str]]:
    for ref, oid in sorted(refs.items()):
        folder = ref.rpartition("/")[0]
        yield f"{folder}/{ids[oid]}" if folder in (KEPT, ASIDE) else _new_name(ref, erasure), ids[oid]


def _new_name(ref: str, erasure: Erasure) -> str:
    """The name of a reference, or its log, without what is erased. What Git knows it by stays."""
    if erasure.contents is None:
        return ref
    parts = ref.split("/")
    first = 3 if parts[0] == "logs" else 2
    return "/".join([*parts[:first], *map(erasure.contents.out_of_name, parts[first:])])


def _packed_refs(refs: Mapping[str, str]) -> bytes:
    rows = "".join(f"{oid} {ref}\n" for ref, oid in sorted(refs.items()))
    return f"# pack-refs with: sorted \n{rows}".encode()


def _new_log(log: bytes, rewriting: Rewriting) -> Iterator[bytes]:
    """The lines of a log of moves whose commits there still are."""
    for line in log.splitlines():
        found = _LOG_LINE.fullmatch(line)
        if found:
            old, new = (rewriting.ids.get(found[side].decode(), "") for side in (1, 2))
            old = old or (_NONE if found[1].decode() == _NONE else "")
            if old and new:
                words = rewriting.words((found[4] or b"").decode("utf-8", "surrogateescape"))
                yield b"%s %s %s\t%s\n" % (
                    old.encode(), new.encode(), rewriting.who(found[3]), words.encode("utf-8", "surrogateescape")
                )  # fmt: skip
