"""Access to the page: the terminal shows a ticket that works once, and the browser that brings it gets the cookie.

A browser sends a cookie to every port of this machine, but only to its path. So all pages lie in a folder whose name
nobody can guess, and so does the cookie. `<random>.localhost` does not resolve in Safari, and leads to ::1 first.
"""

import secrets
from collections.abc import Callable, Iterable

from ..loopback.guard import HOST

#: The path of the address that a ticket is appended to.
PATH = "/enter/"
COOKIE = "crabmem"
#: Seconds for which a ticket is good.
LIFE = 60.0


class Entrance:
    """Gives out tickets, good for one browser within a minute, and knows the cookie that a browser gets for it."""

    def __init__(self, port: int, clock: Callable[[], float]) -> None:
        self.port, self.address = port, f"http://{HOST}:{port}"
        #: `_tickets` has for each ticket the time of `clock` at which it expires.
        self._clock, self._tickets = clock, dict[str, float]()
        #: `folder` is the path that all pages and the cookie are limited to, `secret` the value of the cookie.
        self.folder, self.secret = f"/{secrets.token_urlsafe(32)}/", secrets.token_urlsafe(32)

    def ticket(self) -> str:
        """Make a new ticket. Earlier ones stay good until they are used or expire."""
        made = secrets.token_urlsafe(32)
        self._tickets[made] = self._clock() + LIFE
        return made

    def fresh(self) -> str:
        """A new address, good for one browser within a minute."""
        return f"{self.address}{PATH}{self.ticket()}"

    def takes(self, ticket: str) -> bool:
        """Use up a ticket, and return whether it was good."""
        found = next((each for each in self._tickets if _is_same(each, ticket)), "")
        return bool(found) and self._tickets.pop(found) >= self._clock()

    def page(self, path: str, cookies: Iterable[str]) -> tuple[str, str] | None:
        """Return the name of the memory that `path` is in, and the path of the page there, which begins with "/".

        Return None if `path` is not below the folder or the cookie is missing. Pages of the memory at hand, "", lie in
        the folder itself; those of another memory in a subfolder of its name. `cookies` are the `Cookie` headers. A
        server on another port can set a cookie of the same name, so it is enough if one of several is right.
        """
        start, _, name = path.rpartition("/")
        outer, _, memory = start.rpartition("/")
        places = {f"{start}/": "", f"{outer}/": memory}
        said = (pair.strip().partition("=") for header in cookies for pair in header.split(";"))
        is_known = any([_is_same(value, self.secret) for key, _, value in said if key == COOKIE])
        found = [whose for place, whose in places.items() if _is_same(place, self.folder)]
        return (found[0], f"/{name}") if found and is_known else None


def _is_same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(errors="replace"), other.encode(errors="replace"))
