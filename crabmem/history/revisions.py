"""Names of commits as Git has them: ids, branches and tags, `HEAD~2`."""

import re
from collections.abc import Callable
from itertools import takewhile

from ..errors import InvalidArguments, NotFound
from .commit import tagged
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
) -> str:
    """The commit `revision` names: an id (four digits or more), HEAD, a branch or tag, with `~N` or `^`.

    `back` tells the commit so many first parents before another.

    Raises:
        NotFound: it names none.
        InvalidArguments: it names several.
    """
    pieces = _PIECE.findall(revision.strip())
    steps = list(takewhile(_STEP.fullmatch, reversed(pieces[1:])))
    name = "".join(pieces[: len(pieces) - len(steps)])
    commit = _named(name, head, refs, objects) if name else None
    for step in reversed(steps):
        if commit is not None:
            commit = back(commit, int(step[1:] or 1) if step != "^" else 1)
    if commit is None:
        raise NotFound(f"no revision named {revision}; `crabmem log` lists them")
    return commit


def parent_of(commit: str, objects: Objects) -> str | None:
    """The first parent of `commit`; None for the first commit."""
    parents = objects.parents(commit)
    return parents[0] if parents else None


def _named(name: str, head: str | None, refs: Refs, objects: Objects) -> str | None:
    if name in ("HEAD", "@"):
        return head
    for ref in (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"):
        found = refs.read(ref) if is_ref(ref) else None
        if found:
            return _peeled(found, objects)
    return _by_digits(name, objects)


def _by_digits(digits: str, objects: Objects) -> str | None:
    if not HEX.match(digits):
        return None
    found = [oid for oid in objects.starting_with(digits) if objects.raw(oid)[0] == "commit"]
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
