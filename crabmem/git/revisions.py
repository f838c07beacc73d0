"""Names of commits as Git has them: ids, branches and tags, `HEAD~2`."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import takewhile

from ..errors import DamagedHistory, InvalidArguments, NotFound
from .commits import tagged
from .objects import HEX, Objects
from .refs import Refs, is_ref

_PIECE = re.compile(r"[~^][^~^]*|[^~^]+")
_STEP = re.compile(r"~\d{0,9}|\^")


def resolved(
    revision: str,
    head: str | None,
    refs: Refs,
    objects: Objects,
    back: Callable[[str, int], str | None],
    accept: Callable[[str], bool] | None = None,
) -> str:
    """The commit `revision` names: an id (four digits or more), HEAD, a branch or tag, with `~N` or `^`.

    `back` tells the commit so many first parents before another. A commit that `accept` does not take is as if it were
    not there: neither the answer nor an error differs.

    Raises:
        NotFound: it names none.
        InvalidArguments: it names several.
    """
    pieces = _PIECE.findall(revision.strip())
    steps = list(takewhile(_STEP.fullmatch, reversed(pieces[1:])))
    name = "".join(pieces[: len(pieces) - len(steps)])
    named = _named if accept is None else partial(_named_within, accept)
    commit = named(name, head, refs, objects) if name else None
    for step in reversed(steps):
        if commit is not None:
            commit = back(commit, int(step[1:] or 1) if step != "^" else 1)
    if commit is None:
        raise NotFound(f"no revision named {revision}; `crabmem log` lists them")
    return commit


def _named(name: str, head: str | None, refs: Refs, objects: Objects) -> str | None:
    if name in ("HEAD", "@"):
        return head
    for ref in _refs_called(name):
        found = refs.read(ref)
        if found:
            return _peeled(found, objects)
    return _only(name, _by_digits(name, objects))


def _named_within(
    accept: Callable[[str], bool], name: str, head: str | None, refs: Refs, objects: Objects
) -> str | None:
    """The same among the commits that `accept` takes. What others are, or whether they can be read, is not told."""
    if name in ("HEAD", "@"):
        return head
    for ref in _refs_called(name):
        with suppress(DamagedHistory):
            found = refs.read(ref)
            commit = _peeled(found, objects) if found else None
            if commit and accept(commit):
                return commit
    return _only(name, list(filter(accept, _by_digits(name, objects, DamagedHistory))))


def _refs_called(name: str) -> Iterator[str]:
    """The references that a name may be short for."""
    return filter(is_ref, (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"))


def _by_digits(digits: str, objects: Objects, *ignored: type[Exception]) -> list[str]:
    """The commits whose ids begin so; of what raises an error that is `ignored` it cannot be told."""
    found = []
    for oid in objects.starting_with(digits) if HEX.match(digits) else ():
        with suppress(*ignored):
            found += [oid] if objects.raw(oid)[0] == "commit" else []
    return found


def _only(digits: str, found: list[str]) -> str | None:
    if len(found) > 1:
        raise InvalidArguments(f"{digits} is short for {len(found)} commits; give more digits")
    return found[0] if found else None


def _peeled(oid: str, objects: Objects) -> str | None:
    """The commit that `oid` is, or that the tag of that id is about."""
    kind, data = objects.raw(oid)
    while kind == "tag":
        oid = tagged(data)
        kind, data = objects.raw(oid)
    return oid if kind == "commit" else None
