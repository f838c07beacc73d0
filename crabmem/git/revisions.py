"""Names of commits as Git has them: ids, branches and tags, `HEAD~2`."""

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

from ..errors import DamagedHistory, Inapplicable, NotFound
from .commits import tag_target
from .objects import HEX, Objects
from .refs import Refs, is_ref

_PIECE = re.compile(r"[~^][^~^]*|[^~^]+")
_STEP = re.compile(r"~\d{0,9}|\^")


def resolve(
    revision: str,
    head: str | None,
    refs: Refs,
    objects: Objects,
    back: Callable[[str, int], str | None],
    accept: Callable[[str], bool] | None = None,
) -> str:
    """Return the commit `revision` names: an id (four digits or more), HEAD, a branch or tag, with `~N` or `^`.

    `back` returns the commit so many first parents before another. A commit that `accept` does not take is as if it
    were not there: neither the answer nor an error differs.

    Raises:
        NotFound: it names none.
        Inapplicable: it names several.
    """
    pieces = _PIECE.findall(revision.strip())
    steps = list(takewhile(_STEP.fullmatch, reversed(pieces[1:])))
    name = "".join(pieces[: len(pieces) - len(steps)])
    commit = head if name in ("HEAD", "@") else _named(name, refs, objects, accept) if name else None
    for step in reversed(steps):
        if commit is not None:
            commit = back(commit, int(step[1:] or 1) if step != "^" else 1)
    if commit is None:
        raise NotFound(f"no revision named {revision}; `crabmem log` lists them")
    return commit


def _named(name: str, refs: Refs, objects: Objects, accept: Callable[[str], bool] | None) -> str | None:
    """Return the commit that a branch, a tag or an id names.

    With `accept`, what else there is, or whether it can be read, does not show.
    """
    unreadable = () if accept is None else (DamagedHistory,)
    for ref in filter(is_ref, (name, f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}")):
        with suppress(*unreadable):
            if oid := refs.read(ref):
                commit = _peeled(oid, objects)
                if accept is None or (commit and accept(commit)):
                    return commit
    found = list[str]()
    for oid in objects.starting_with(name) if HEX.match(name) else ():
        with suppress(*unreadable):
            found += [oid] if objects.raw(oid)[0] == "commit" else []
    found = [oid for oid in found if accept is None or accept(oid)]
    if len(found) > 1:
        raise Inapplicable(f"{name} is short for {len(found)} commits; give more digits")
    return found[0] if found else None


def _peeled(oid: str, objects: Objects) -> str | None:
    kind, data = objects.raw(oid)
    while kind == "tag":
        oid = tag_target(data)
        kind, data = objects.raw(oid)
    return oid if kind == "commit" else None
