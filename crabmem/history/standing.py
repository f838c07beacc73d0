"""Whether something still stands anywhere: in an object, reached or not, or in another file of the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

from .. import fs
from ..erasing import Erasure
from ..regular import HUGE
from .objects import Objects
from .rewriting import names_in, words_in

# Files whose lines are messages of commits, or were made of them; others have words of Git's own.
_WORDS = re.compile(r"logs/.*|[A-Z_]+_(?:EDIT)?MSG|crabmem/repairs\.log|crabmem/journal|FETCH_HEAD")
_PASSED_OVER = re.compile(r"objects/.*|hooks/.*\.sample|.*\.lock|crabmem/(?:lock|lock\.pid|packing)")


def in_objects(erasure: Erasure, objects: Objects, blobs: frozenset[str]) -> Iterator[tuple[int, str | None]]:
    """Of every object its size, and what it is if it holds any of it, or is one of `blobs`."""
    known: dict[str, bool] = {}
    for oid in sorted(objects.all_ids()):
        kind, data = objects.raw(oid)
        if kind == "blob":
            is_in = oid in blobs or erasure.is_in_file(data)
        elif kind == "tree":
            is_in = any([_is_in_name(name, erasure, known) for name in names_in(data)])
        else:
            is_in = any(map(erasure.is_in_words, words_in(data, erasure.contents is not None)))
        yield len(data), f"{kind} {oid[:12]}" if is_in else None


def in_copies(erasure: Erasure, objects: Objects, blobs: frozenset[str]) -> Iterator[tuple[int, str | None]]:
    """The same in a repository of somebody else's, where an entry of the same name may be another."""
    if erasure.contents is not None:
        yield from in_objects(erasure, objects, blobs)
        return
    for oid in sorted(objects.all_ids()):
        kind, data = objects.raw(oid)
        is_in = kind == "blob" and (oid in blobs or erasure.quoted(data) > 0)
        yield len(data), f"{kind} {oid[:12]}" if is_in else None


def _is_in_name(name: str, erasure: Erasure, known: dict[str, bool]) -> bool:
    """Whether a file's name holds it. The same names stand in thousands of trees."""
    if name not in known:
        known[name] = bool(erasure.contents and erasure.contents.number_in(name))
    return known[name]


def in_files(erasure: Erasure, git: Path) -> Iterator[tuple[int, str | None]]:
    """The same of every file of the repository that holds no object."""
    for file in sorted(git.rglob("*")):
        name = file.relative_to(git).as_posix()
        if _PASSED_OVER.fullmatch(name) or not file.is_file() or file.is_symlink():
            continue
        data = fs.read(file, limit=HUGE)[0]
        text = data.decode("utf-8", "surrogateescape")
        is_in = erasure.is_in_file(data) or erasure.is_in_file(name.encode("utf-8", "surrogateescape"))
        if erasure.contents is None and _WORDS.fullmatch(name):
            is_in = any(map(erasure.is_in_words, map(_said, text.splitlines())))
        yield len(data), f".git/{name}" if is_in else None


def _said(line: str) -> str:
    """The words of a line of a log, without who and when."""
    return line.partition("\t")[2] or line
