"""Rewrite the objects of a history by a rule: every commit after its parents, each folder and file once.

A commit in which nothing changes, and in none that it stands on, keeps its id; one that becomes empty stays too.
"""

import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from ...errors import Unwritable
from ..commits import header_lines, tag_target
from ..objects import Objects, oid_of
from ..reach import Piece
from ..trees import (
    DEEPEST,
    SUBMODULE,
    check_extent,
    parsed_row,
    read_rows,
    row_of,
    rows_of,
    sort_key,
    to_bytes,
    to_text,
)
from .rule import Rule

#: Lines before a message that sign it, and those that say who and when.
SIGNATURES = (b"gpgsig", b"gpgsig-sha256", b"mergetag")
IDENTITIES = (b"author", b"committer", b"tagger")
_IDENTITY = re.compile(r"(?P<name>[^<]*)<(?P<mail>[^>]*)>(?P<when>.*)", re.DOTALL)
_SIGNED = re.compile(rb"^-----BEGIN (?:PGP|SSH) SIGNATURE-----.*", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])")
#: Digits of an id that is told from a word or number.
SHORTEST_ID = 7
# Places of one object, on the average, beyond the names that a commit may have.
_NAMES = 4
# Names that a folder counts for that was read before, at another path: most of a tree of trees is that.
_AGAIN = 20


@dataclass
class Survey:
    """What references reach: commits, parents first; tags, the inner first; the blobs that ever stood at a path."""

    commits: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    files: dict[str, set[str]] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)
    #: How many names of its trees were gone through.
    names: int = 0


def survey(tips: Iterable[str], objects: Objects) -> Survey:
    """Return all that `tips` reach.

    Raises:
        DamagedHistory: some of it is missing or broken, or its trees say far more files than there are objects.
        Unwritable: there is something in it that cannot be rewritten.
    """
    found, rows = Survey(), dict[str, set[bytes]]()
    for kind, oid, tree in _below_first(tips, objects):
        found.objects.add(oid)
        (found.commits if kind == "commit" else found.tags).append(oid)
        if tree:
            _add_tree(tree, found, rows, objects)
    return found


def _below_first(tips: Iterable[str], objects: Objects) -> Iterator[tuple[str, str, str]]:
    """Yield kind, id and tree ("" for a tag) of every commit and tag, each after those it stands on."""
    done: set[str] = set()
    known: dict[str, tuple[str, str]] = {}
    waiting = sorted(set(tips), reverse=True)
    while waiting:
        oid = waiting[-1]
        if oid in done:
            waiting.pop()
        elif oid in known:
            kind, tree = known.pop(waiting.pop())
            done.add(oid)
            yield kind, oid, tree
        else:
            kind, data = objects.raw(oid)
            if kind not in ("commit", "tag"):
                raise Unwritable(f"a reference or tag names a {kind}, {oid[:12]}, which is no commit: remove it first")
            below = objects.parents(oid) if kind == "commit" else [tag_target(data)]
            known[oid] = kind, objects.header(oid).tree if kind == "commit" else ""
            waiting.extend(each for each in below if each not in done)


def _add_tree(root: str, found: Survey, rows: dict[str, set[bytes]], objects: Objects) -> None:
    """Add the files and folders of a tree to `found`, apart from rows that an earlier tree had: `rows`, by folder."""
    waiting = [(root, "")]
    while waiting:
        tree, folder = waiting.pop()
        found.objects.add(tree)
        seen = rows.setdefault(folder, set())
        new = set(read_rows(tree, objects)) - seen
        seen |= new
        for name, mode, oid in map(parsed_row, sorted(new)):
            path = folder + to_text(name)
            # Over all commits: each of a thousand may have another tree of trees.
            found.names += _AGAIN if oid in found.objects and stat.S_ISDIR(mode) else 1
            check_extent(found.names - _NAMES * len(found.objects), DEEPEST - path.count("/"))
            if stat.S_ISDIR(mode):
                waiting.append((oid, f"{path}/"))
            elif stat.S_IFMT(mode) == SUBMODULE:
                raise Unwritable("the history has submodules, which purge does not rewrite: use `git filter-repo`")
            else:
                found.objects.add(oid)
                found.files.setdefault(path, set()).add(oid)


class Rewriter:
    """Rewrites the objects of a history: `ids` has the new id of each commit and tag by the old one.

    `messages` and `signatures` count commits whose message changed and what lost its signature, `versions` those of
    files that changed, at `paths`.
    """

    def __init__(self, rule: Rule, objects: Objects, take: Callable[[Piece, str, bytes], None] | None = None) -> None:
        """`take` is given each object with its kind and bytes, once, in an order that suits a pack."""
        self.ids: dict[str, str] = {}
        self.messages = self.signatures = self.versions = 0
        self.paths: set[str] = set()
        self._rule = rule
        self._objects = objects
        self._take = take
        # By folder, as a row is the same in thousands of its trees.
        self._rows: dict[str, dict[bytes, bytes]] = {}
        self._trees: dict[tuple[str, str], str | None] = {}
        self._blobs: dict[tuple[str, str], str] = {}
        self._newest: dict[str, str] = {}
        self._taken: set[str] = set()
        # The old ids that begin with so many digits.
        self._beginnings: dict[str, list[str]] = {}

    def add(self, oid: str) -> None:
        """Rewrite a commit or tag, after its parents or target; note its new id in `ids`. If changed, it loses its
        signature.
        """
        kind, data = self._objects.raw(oid)
        headers, (_, gap, message) = header_lines(data), data.partition(b"\n\n")
        first = dict(reversed(headers))
        new_headers = [(key, self._header(key, value)) for key, value in headers]
        # Two parents can become one: that of a merge of the old line with the new one.
        new_headers = [row for at, row in enumerate(new_headers) if row[0] != b"parent" or row not in new_headers[:at]]
        new_message = self._message(message, first.get(b"encoding") if kind == "commit" else None)
        if new_headers != headers or new_message != message:
            is_signed = any(key in SIGNATURES for key, _ in headers)
            lines = b"\n".join(key + b" " + value for key, value in new_headers if key not in SIGNATURES)
            text = self._with_new_ids(new_message)
            if kind == "tag":  # whose signature ends its message
                is_signed, text = bool(_SIGNED.search(new_message)), _SIGNED.sub(b"", text)
            data = lines + gap + text
            self.signatures += is_signed
        self.messages += kind == "commit" and new_message != message
        self.ids[oid] = self._put(kind, data, "")
        self._beginnings.setdefault(oid[:SHORTEST_ID], []).append(oid)

    def blob(self, path: str, oid: str) -> str:
        """Rewrite a version of the file at a path; return its new id."""
        if (path, oid) not in self._blobs:
            data = self._objects.raw(oid)[1]
            new = self._rule.new_file(path, data)
            if new != data:
                self.versions += 1
                self.paths.add(path)
            self._blobs[path, oid] = self._put("blob", new, path)
        return self._blobs[path, oid]

    def became(self, path: str, oid: str) -> str:
        """Return the new id of a version of the file at a path, itself where it was not rewritten."""
        return self._blobs.get((path, oid), oid)

    def identity(self, identity: bytes) -> bytes:
        """Rewrite who made a commit, and when."""
        return self._header(b"committer", identity)

    def log_line(self, text: str) -> str:
        """Rewrite a line of a log, with the new ids in it."""
        new = to_bytes(self._rule.new_message(text))
        return to_text(self._with_new_ids(new))

    def _put(self, kind: str, data: bytes, path: str) -> str:
        """Hand an object to `take`, the first time; return its id."""
        oid = oid_of(kind, data)
        if self._take and oid not in self._taken:
            self._taken.add(oid)
            self._take(Piece(oid, path, self._newest.get(path)), kind, data)
        if kind == "blob":
            self._newest[path] = oid
        return oid

    def _tree(self, oid: str, folder: str) -> str | None:
        """Rewrite a folder; None for one that has nothing left. Recursion is as deep as folders are."""
        if (oid, folder) not in self._trees:
            old, known = read_rows(oid, self._objects), self._rows.setdefault(folder, {})
            for row in old:
                if row not in known:
                    known[row] = self._new_row(row, folder)
            new = [known[row] for row in old]
            if new != old:
                new = sorted((row for row in new if row), key=sort_key)
            self._trees[oid, folder] = self._put("tree", b"".join(new), folder or "/") if new else None
        return self._trees[oid, folder]

    def _new_row(self, row: bytes, folder: str) -> bytes:
        name, mode, oid = parsed_row(row)
        path = folder + to_text(name)
        new_path = self._rule.new_path(path, oid)
        if new_path is None:
            self.paths.add(path)
            return b""
        new = self._tree(oid, f"{path}/") if stat.S_ISDIR(mode) else self.blob(path, oid)
        new_name = to_bytes(new_path.rpartition("/")[2])
        if new_name != name and not stat.S_ISDIR(mode):
            self.paths.add(path)
        if new_name == name and new == oid:
            return row
        return row_of(new_name, mode, new) if new else b""

    def _message(self, message: bytes, encoding: bytes | None) -> bytes:
        """Rewrite a message; the same bytes are returned where its text stays."""
        try:
            codec = (encoding or b"utf-8").decode("ascii")
            text = message.decode(codec)
            new = self._rule.new_message(text)
            return message if new == text else new.encode(codec, "replace")
        except (UnicodeDecodeError, LookupError):  # it is not in the encoding that it names
            text = to_text(message)
            return to_bytes(self._rule.new_message(text))

    def _header(self, key: bytes, value: bytes) -> bytes:
        """Rewrite the value of a line before a message."""
        if key in (b"parent", b"object"):
            return self.ids.get(value.decode("ascii"), "").encode() or value
        if key == b"tree":
            return (self._tree(value.decode("ascii"), "") or self._put("tree", b"", "/")).encode()
        if key in SIGNATURES:
            return value
        text = to_text(value)
        label = self._rule.new_label
        if parts := _IDENTITY.fullmatch(text) if key in IDENTITIES else None:
            text = f"{label(parts['name'])}<{label(parts['mail'])}>{parts['when']}"
        else:
            text = self._rule.new_name(text) if key == b"tag" else label(text)
        return to_bytes(text)

    def _with_new_ids(self, message: bytes) -> bytes:
        return to_bytes(with_new_ids(to_text(message), self._new_id))

    def _new_id(self, digits: str) -> str | None:
        olds = [old for old in self._beginnings.get(digits[:SHORTEST_ID], []) if old.startswith(digits)]
        return self.ids[olds[0]] if len(olds) == 1 else None


def with_new_ids(text: str, new_id: Callable[[str], str | None]) -> str:
    """Return a text in which commits are called by their new ids, as short as by the old ones."""
    return _ID.sub(lambda found: (new_id(found[0]) or found[0])[: len(found[0])], text)


# What people wrote into objects


def names_in(tree: bytes) -> Iterator[str]:
    """Yield the names in the bytes of a tree, or all bytes as one name where they are no tree's."""
    try:
        yield from (to_text(parsed_row(row)[0]) for row in rows_of(tree))
    except ValueError:
        yield to_text(tree)


def texts_in(data: bytes, with_labels: bool) -> Iterator[str]:
    """Yield what people wrote into a commit or tag: its message, and with `with_labels` who they are."""
    headers, message = header_lines(data), data.partition(b"\n\n")[2]
    yield to_text(message)
    if encoding := dict(headers).get(b"encoding"):
        with suppress(UnicodeDecodeError, LookupError):
            yield message.decode(encoding.decode("ascii"))
    for key, value in headers if with_labels else []:
        if key not in (b"tree", b"parent", b"object", b"type", *SIGNATURES):
            text = to_text(value)
            parts = _IDENTITY.fullmatch(text) if key in IDENTITIES else None
            yield from (parts["name"], parts["mail"]) if parts else (text,)
