"""Who may ask for which memories: patterns over their names that a person granted to roles of the database."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from ..errors import InvalidArguments, NotFound
from ..prompt.profile import Kind
from ..remotes.address import parse_address
from .postgres import Postgres


def grant(index: Postgres, role: str, pattern: str, kind: Kind) -> bool:
    """Let `role` ask for the memories whose names fit `pattern`, as sessions of that kind; whether the role is new.

    Raises:
        InvalidArguments: no role may be called so.
        NotFound: no memory that is followed fits.
    """
    if not role.isprintable() or not 0 < len(role.encode()) <= 63 or role.startswith("pg_"):
        raise InvalidArguments(f"no role of a database can be called {role!r}")
    if not matching((space.name for space in index.spaces()), pattern):
        raise NotFound(f"no memory that is followed is called like {pattern}; `crabmem fleet status` lists them")
    is_new = index.grant(role, pattern, kind)
    renew(index)
    return is_new


def revoke(index: Postgres, role: str, pattern: str | None) -> None:
    """Take back what was granted; without a pattern all of it.

    Raises:
        NotFound: it was not.
    """
    index.revoke(role, pattern)
    renew(index)


def renew(index: Postgres) -> None:
    """Have what each role may see be what its patterns name, of the memories that are followed now."""
    spaces = index.spaces()
    by_name = {space.name: space.id for space in spaces}
    pairs = {
        (role, by_name[name])
        for role, pattern, _ in index.granted()
        for name in matching(by_name, pattern)
    }  # fmt: skip
    index.set_readers(sorted(pairs))


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that a pattern stands for: `*` is any of their characters, `/` among them."""
    return [name for name in names if fnmatchcase(name, pattern)]


def checked(name: str, address: str) -> tuple[str, str, str]:
    """A memory's name, its remote's address, and what of that names it to a machine that pushed.

    Raises:
        InvalidArguments: the name cannot stand in an answer, or that is no address.
    """
    if not name.isprintable() or not 0 < len(name) <= 200 or any(map(str.isspace, name)) or ":" in name:
        raise InvalidArguments(f"no memory can be called {name!r}: no blanks, no colon, at most 200 characters")
    url = parse_address(address, Path.cwd()).url
    return name, url, stem_of(url)


def stem_of(address: str) -> str:
    """The path in an address, by whatever name the host is reached: `team/ann` of `git@forge:team/ann.git`."""
    path = parse_address(address, Path.cwd()).path.strip("/")
    return path.removesuffix("/.git").removesuffix(".git")
