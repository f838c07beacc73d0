"""A history made anew without something: every commit in its order, each folder and file once, none of it recursive.

A commit that holds nothing of it, and stands on none that does, stays what it is; one that becomes empty stays too.
"""

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from ...errors import DamagedHistory, Unwritable
from ..erasing import Erasure
from ..objects import oid_of
from ..reach import Piece

NOTES = "refs/notes/"
# What is none is taken whole, as "": a search for the next one would read the rest again from each byte.
_ROW = re.compile(rb"([^\0]+\0.{20})|.+", re.DOTALL)
_IDENTITY = re.compile(r"(?P<name>[^<]*)<(?P<mail>[^>]*)>(?P<when>.*)", re.DOTALL)
_SIGNATURES = (b"gpgsig", b"gpgsig-sha256", b"mergetag")
_IDENTITIES = (b"author", b"committer", b"tagger")
_SIGNED = re.compile(rb"^-----BEGIN (?:PGP|SSH) SIGNATURE-----.*", re.DOTALL | re.MULTILINE)
_ID = re.compile(rb"(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])")
_SHORTEST_ID = 7
_SUBMODULE = 0o160000
_FOLDER = 0o40000
# What a note holds stands at no path of the workspace.
_NOTE = "notes"

Read = Callable[[str], tuple[str, bytes]]
Take = Callable[[Piece, str, bytes], None]


@dataclass
class Survey:
    """What references reach: commits, parents first; tags, the inner first; the blobs that ever stood at a path."""

    commits: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    files: dict[str, set[str]] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)


def surveyed(tips: Iterable[str], read: Read, parents: Callable[[str], list[str]]) -> Survey:
    """All that `tips` reach.

    Raises:
        DamagedHistory: some of it is missing or broken.
        Unwritable: there is something in it that cannot be made anew.
    """
    survey, rows = Survey(), dict[str, set[bytes]]()
    for kind, oid, tree in _in_order(tips, read, parents):
        survey.objects.add(oid)
        (survey.commits if kind == "commit" else survey.tags).append(oid)
        if tree:
            _look_into(tree, survey, rows, read)
    return survey


def _in_order(tips: Iterable[str], read: Read, parents: Callable[[str], list[str]]) -> Iterator[tuple[str, str, str]]:
    """Kind, id and tree of every commit and tag, each after those it stands on."""
    done: set[str] = set()
    known: dict[str, tuple[str, str, list[str]]] = {}
    waiting = sorted(set(tips), reverse=True)
    while waiting:
        oid = waiting[-1]
        if oid in done:
            waiting.pop()
            continue
        if oid not in known:
            known[oid] = _looked_at(oid, read, parents)
            waiting.extend(below for below in known[oid][2] if below not in done)
            continue
        kind, tree, _ = known.pop(waiting.pop())
        done.add(oid)
        yield kind, oid, tree


def _looked_at(oid: str, read: Read, parents: Callable[[str], list[str]]) -> tuple[str, str, list[str]]:
    kind, data = read(oid)
    if kind == "commit":
        return kind, data[5:45].decode("ascii"), parents(oid)
    if kind == "tag":
        return kind, "", [data[7:47].decode("ascii")]
    raise Unwritable(f"a reference or tag names a {kind}, {oid[:12]}, which is no commit: remove it first")


def _look_into(root: str, survey: Survey, rows: dict[str, set[bytes]], read: Read) -> None:
    """Note the files of a tree that no tree before had."""
    waiting = [(root, "")]
    while waiting:
        tree, folder = waiting.pop()
        survey.objects.add(tree)
        seen = rows.setdefault(folder, set())
        new = set(rows_of(tree, read)) - seen
        seen |= new
        for mode, name, oid in map(_taken_apart, sorted(new)):
            path = folder + name
            if stat.S_ISDIR(mode):
                waiting.append((oid, f"{path}/"))
            elif stat.S_IFMT(mode) == _SUBMODULE:
                raise Unwritable("the history has submodules, which purge does not rewrite: use `git filter-repo`")
            else:
                survey.objects.add(oid)
                survey.files.setdefault(path, set()).add(oid)


def rows_of(tree: str, read: Read) -> list[bytes]:
    """What is in a tree, mode, name and id as they are in it.

    Raises:
        DamagedHistory: it is broken.
    """
    kind, data = read(tree)
    rows: list[bytes] = _ROW.findall(data)
    if kind != "tree" or sum(map(len, rows)) != len(data):
        raise DamagedHistory(f"object {tree} of the history is no tree")
    return rows


def _taken_apart(row: bytes) -> tuple[int, str, str]:
    mode, _, name = row[:-21].partition(b" ")
    return int(mode, 8), name.decode("utf-8", "surrogateescape"), row[-20:].hex()


def _row(mode: int, name: str, oid: str) -> bytes:
    return b"%o %s\0%s" % (mode, name.encode("utf-8", "surrogateescape"), bytes.fromhex(oid))


def _key(row: bytes) -> bytes:
    """How Git sorts what is in a tree."""
    mode, _, name = row[:-21].partition(b" ")
    return name + b"/" * (mode == b"40000")


@dataclass
class Tally:
    """What was changed: commits by what, files by how many versions of them."""

    commits: int = 0
    messages: int = 0
    signatures: int = 0
    versions: int = 0
    paths: set[str] = field(default_factory=set)


class Rewriting:
    """Makes the objects of a history anew. `take` is given each object, in an order that suits a pack."""

    def __init__(self, erasure: Erasure, read: Read, take: Take | None = None) -> None:
        self.ids: dict[str, str] = {}
        self.tally = Tally()
        self._erasure = erasure
        self._read = read
        self._take = take
        self._rows: dict[str, dict[bytes, bytes]] = {}
        self._trees: dict[tuple[str, str], str | None] = {}
        self._blobs: dict[tuple[str, str], str] = {}
        self._newest: dict[str, str] = {}
        self._taken: set[str] = set()
        #: The old ids that begin with so many digits.
        self._beginnings: dict[str, list[str]] = {}

    def commit(self, oid: str, is_note: bool = False) -> None:
        """Make a commit anew, whose parents were made before. A note's tree is called by what it is about."""
        data = self._read(oid)[1]
        head, gap, message = data.partition(b"\n\n")
        headers = _headers(head)
        said = dict(reversed(headers))
        tree = said[b"tree"].decode("ascii")
        new_tree = self._notes(tree) if is_note else self._tree(tree, "") or self._put("tree", b"", "/")
        words = self._words(message, said.get(b"encoding"))
        lines = [(key, self._header(key, value)) for key, value in headers]
        self.tally.messages += words != message
        if new_tree != tree or words != message or lines != headers:
            self.tally.commits += 1
            self.tally.signatures += any(key in _SIGNATURES for key, _ in lines)
            lines = [(key, new_tree.encode() if key == b"tree" else value) for key, value in lines]
            data = _joined(lines) + gap + self._with_new_ids(words)
        self._made(oid, "commit", data)

    def tag(self, oid: str) -> None:
        """Make a tag anew."""
        data = self._read(oid)[1]
        head, gap, message = data.partition(b"\n\n")
        headers = _headers(head)
        lines = [(key, self._header(key, value)) for key, value in headers]
        words = self._words(message, None)
        if lines != headers or words != message:
            self.tally.signatures += bool(_SIGNED.search(words))
            data = _joined(lines) + gap + _SIGNED.sub(b"", self._with_new_ids(words))
        self._made(oid, "tag", data)

    def blob(self, path: str, oid: str) -> str:
        """The file at a path without it."""
        if (path, oid) not in self._blobs:
            data = self._read(oid)[1]
            bare = self._erasure.out_of_file(path, data)
            if bare != data:
                self.tally.versions += 1
                self.tally.paths.add(path)
            self._blobs[path, oid] = self._put("blob", bare, path)
        return self._blobs[path, oid]

    def who(self, identity: bytes) -> bytes:
        """Who made a commit, and when, without it."""
        return self._header(b"committer", identity)

    def words(self, text: str) -> str:
        """A line of a log without it, and with the new ids."""
        bare = self._erasure.out_of_words(text).encode("utf-8", "surrogateescape")
        return self._with_new_ids(bare).decode("utf-8", "surrogateescape")

    def _made(self, old: str, kind: str, data: bytes) -> None:
        """Note what a commit or tag is called now."""
        self.ids[old] = self._put(kind, data, "")
        self._beginnings.setdefault(old[:_SHORTEST_ID], []).append(old)

    def _put(self, kind: str, data: bytes, path: str) -> str:
        """The id of an object, which is handed on the first time."""
        return self._handed_on(oid_of(kind, data), kind, data, path)

    def _handed_on(self, oid: str, kind: str, data: bytes, path: str) -> str:
        if self._take and oid not in self._taken:
            self._taken.add(oid)
            self._take(Piece(oid, path, self._newest.get(path)), kind, data)
        if kind == "blob":
            self._newest[path] = oid
        return oid

    def _tree(self, oid: str, folder: str) -> str | None:
        """A folder without it; None for one that has nothing left. The way down is as deep as folders are."""
        if (oid, folder) not in self._trees:
            old, known = rows_of(oid, self._read), self._rows.setdefault(folder, {})
            for row in old:
                if row not in known:
                    known[row] = self._new_row(row, folder)
            new = [known[row] for row in old]
            if new != old:
                new = sorted((row for row in new if row), key=_key)
            path = folder or "/"
            self._trees[oid, folder] = self._put("tree", b"".join(new), path) if new else None
        return self._trees[oid, folder]

    def _new_row(self, row: bytes, folder: str) -> bytes:
        """What stands in a folder, made anew; nothing for what goes."""
        mode, name, oid = _taken_apart(row)
        path = folder + name
        if self._erasure.goes(path, oid):
            self.tally.paths.add(path)
            return b""
        new = self._tree(oid, f"{path}/") if stat.S_ISDIR(mode) else self.blob(path, oid)
        called = self._erasure.renamed.get(path, name)
        if called == name and new == oid:
            return row
        if called != name and not stat.S_ISDIR(mode):
            self.tally.paths.add(path)
        return _row(mode, called, new) if new else b""

    def _notes(self, tree: str) -> str:
        """A tree of notes, in which each file is called by the commit it is about, by its new id."""
        found: dict[str, tuple[int, str]] = {}
        waiting = [(tree, "")]
        while waiting:
            oid, folder = waiting.pop()
            for mode, name, below in map(_taken_apart, rows_of(oid, self._read)):
                if stat.S_ISDIR(mode):
                    waiting.append((below, f"{folder}{name}/"))
                else:
                    found[self._note_name(folder + name)] = mode, self.blob(_NOTE, below)
        return self._nested(found, "notes/")

    def _note_name(self, path: str) -> str:
        """The path of a note; its digits may be spread over folders."""
        new = self.ids.get(path.replace("/", ""), "")
        if not new:
            return path
        cuts = [len(part) for part in path.split("/")]
        starts = [sum(cuts[:place]) for place in range(len(cuts))]
        return "/".join(new[start : start + cut] for start, cut in zip(starts, cuts, strict=True))

    def _nested(self, files: Mapping[str, tuple[int, str]], path: str) -> str:
        """A tree of files by their paths."""
        below: dict[str, dict[str, tuple[int, str]]] = {}
        rows = [_row(mode, name, oid) for name, (mode, oid) in files.items() if "/" not in name]
        for name, item in files.items():
            folder, slash, rest = name.partition("/")
            if slash:
                below.setdefault(folder, {})[rest] = item
        rows += [_row(_FOLDER, name, self._nested(each, f"{path}{name}/")) for name, each in below.items()]
        rows.sort(key=_key)
        return self._put("tree", b"".join(rows), path)

    def _words(self, message: bytes, encoding: bytes | None) -> bytes:
        """A message without it; the same bytes when there is nothing in it."""
        try:
            text = message.decode((encoding or b"utf-8").decode("ascii"))
            new = self._erasure.out_of_words(text)
            return message if new == text else new.encode((encoding or b"utf-8").decode("ascii"), "replace")
        except (UnicodeDecodeError, LookupError):  # it is not in the encoding that it names
            text = message.decode("utf-8", "surrogateescape")
            return self._erasure.out_of_words(text).encode("utf-8", "surrogateescape")

    def _header(self, key: bytes, value: bytes) -> bytes:
        """The value of a line of a commit or tag, made anew."""
        if key in (b"parent", b"object"):
            return self.ids.get(value.decode("ascii"), "").encode() or value
        if key == b"tree" or key in _SIGNATURES or self._erasure.contents is None:
            return value
        text = value.decode("utf-8", "surrogateescape")
        parts = _IDENTITY.fullmatch(text) if key in _IDENTITIES else None
        out_of = self._erasure.contents.out_of
        if parts:
            text = f"{out_of(parts['name'])}<{out_of(parts['mail'])}>{parts['when']}"
        else:
            text = self._erasure.contents.out_of_name(text) if key == b"tag" else out_of(text)
        return text.encode("utf-8", "surrogateescape")

    def _with_new_ids(self, message: bytes) -> bytes:
        """A message in which commits are called by their new ids."""
        return _ID.sub(lambda found: self._new_id(found[0]), message)

    def _new_id(self, digits: bytes) -> bytes:
        text = digits.decode("ascii")
        meant = [old for old in self._beginnings.get(text[:_SHORTEST_ID], []) if old.startswith(text)]
        return self.ids[meant[0]][: len(text)].encode() if len(meant) == 1 else digits


def _headers(head: bytes) -> list[tuple[bytes, bytes]]:
    """The lines before a message, by key; a value of several lines has its line breaks and blanks."""
    found: list[tuple[bytes, bytes]] = []
    for line in head.split(b"\n"):
        if line.startswith(b" ") and found:
            key, value = found.pop()
            found.append((key, value + b"\n" + line))
        else:
            key, _, value = line.partition(b" ")
            found.append((key, value))
    return found


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The lines again, without signatures, which are of other bytes."""
    return b"\n".join(key + b" " + value for key, value in headers if key not in _SIGNATURES)


def _texts(message: bytes, encoding: bytes | None) -> Iterator[str]:
    """A message as its bytes are, and in the encoding it says it has."""
    yield message.decode("utf-8", "surrogateescape")
    if encoding:
        with suppress(UnicodeDecodeError, LookupError):
            yield message.decode(encoding.decode("ascii"))


def names_in(tree: bytes) -> Iterator[str]:
    """The names in the bytes of a tree."""
    return (row[:-21].partition(b" ")[2].decode("utf-8", "surrogateescape") for row in _ROW.findall(tree) if row)


def words_in(data: bytes, with_people: bool) -> Iterator[str]:
    """What people wrote into a commit or tag: its message, and with `with_people` who they are."""
    head, _, message = data.partition(b"\n\n")
    headers = _headers(head)
    yield from _texts(message, dict(headers).get(b"encoding"))
    for key, value in headers if with_people else []:
        if key not in (b"tree", b"parent", b"object", b"type", *_SIGNATURES):
            text = value.decode("utf-8", "surrogateescape")
            parts = _IDENTITY.fullmatch(text) if key in _IDENTITIES else None
            yield from (parts["name"], parts["mail"]) if parts else (text,)
