"""Rights to ask for memories: patterns over their names that a person granted to roles of the database."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from ..errors import InvalidArguments, NotFound
from ..prompt.profile import Kind
from ..remotes.address import parse_address
from .postgres import Postgres


def grant(index: Postgres, role: str, pattern: str, kind: Kind) -> bool:
    """Let `role` ask for the memories whose names fit `pattern`, and see what sessions of that `kind` see in them.

    A missing role is created; return whether it was. With "" as pattern the role sees no memory, and may only report
    pushes, as a Git hook does.

    Raises:
        InvalidArguments: PostgreSQL accepts no role of that name.
        NotFound: the pattern fits no memory that is followed.
    """
    if not role.isprintable() or not 0 < len(role.encode()) <= 63 or role.startswith("pg_"):
        raise InvalidArguments(f"no role of a database can be called {role!r}")
    if pattern and not matching((space.name for space in index.spaces()), pattern):
        raise NotFound(f"no memory that is followed is called like {pattern}; `crabmem fleet status` lists them")
    with _alone(index):  # at its end, what each role may see is set anew
        return index.grant(role, pattern, kind)


def revoke(index: Postgres, role: str, pattern: str | None) -> None:
    """Take back what was granted; without a pattern all of it.

    Raises:
        NotFound: the pattern, or with None any pattern, was not granted to the role.
    """
    with _alone(index):
        index.revoke(role, pattern)


def add(index: Postgres, memories: Iterable[tuple[str, str, str]]) -> None:
    """Follow more memories, each as `checked_memory`; who was granted a pattern that fits one sees it."""
    with _alone(index):
        for memory in memories:
            index.add(*memory)


@contextmanager
def _alone(index: Postgres) -> Iterator[None]:
    """Run changes of rights or memories alone, then compute anew what each role may see: one transaction."""
    with index.changing():
        index.lock_rights()
        yield
        _renew(index)


def _renew(index: Postgres) -> None:
    """Compute anew which memories each role may see. If patterns give several kinds, the one that sees most wins."""
    spaces = {space.name: space.id for space in index.spaces()}
    kinds = dict[tuple[str, int], int]()
    for role, pattern, kind in index.granted():
        for name in matching(spaces, pattern):
            key = role, spaces[name]
            kinds[key] = min(kind, kinds.get(key, kind))  # the lower the bit, the more a kind sees
    index.set_readers((*key, kind) for key, kind in kinds.items())


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that a pattern stands for: `*` is any of their characters, `/` among them."""
    literal = pattern.replace("[", "[[]").replace("?", "[?]")
    return [name for name in names if fnmatchcase(name, literal)]


def checked_memory(name: str, address: str) -> tuple[str, str, str]:
    """A memory's name, its remote's address, and what of that names it to a machine that pushed.

    Raises:
        InvalidArguments: the name could not be shown in an answer, or `address` is none.
    """
    if not name.isprintable() or not 0 < len(name) <= 200 or any(char.isspace() or char in ":*" for char in name):
        raise InvalidArguments(f"no memory can be called {name!r}: no blanks, no : or *, at most 200 characters")
    url = parse_address(os.path.expanduser(address), Path.cwd()).url
    return name, url, stem_of(url)


def stem_of(address: str) -> str:
    """The path in an address, by whatever name the host is reached: `team/ann` of `git@forge:team/ann.git`."""
    path = parse_address(address, Path.cwd()).path.strip("/")
    return path.removesuffix("/.git").removesuffix(".git")
