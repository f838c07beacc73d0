"""Access to the page: the terminal shows a ticket that works once, and the browser that brings it gets the cookie.

A browser sends a cookie to every port of this machine, but only to its path. So all pages lie in a folder whose name
nobody can guess, and so does the cookie. `<random>.localhost` does not resolve in Safari, and leads to ::1 first.
"""

import secrets
from collections.abc import Callable, Iterable

from ..loopback.guard import HOST

#: Where a ticket leads to.
PATH = "/enter/"
COOKIE = "crabmem"
#: Seconds for which a ticket is good.
LIFE = 60.0


class Entrance:
    """Gives out tickets, each good for one browser within a minute, and knows the cookie that they are changed for."""

    def __init__(self, port: int, clock: Callable[[], float]) -> None:
        self.port, self.address = port, f"http://{HOST}:{port}"
        self._clock, self._tickets = clock, dict[str, float]()
        self.folder, self.secret = f"/{secrets.token_urlsafe(32)}/", secrets.token_urlsafe(32)

    def ticket(self) -> str:
        """A new ticket. Those that nobody took stay good for their time."""
        made = secrets.token_urlsafe(32)
        self._tickets[made] = self._clock() + LIFE
        return made

    def fresh(self) -> str:
        """A new address, good for one browser within a minute."""
        return f"{self.address}{PATH}{self.ticket()}"

    def takes(self, ticket: str) -> bool:
        """Use up a ticket; whether it was good."""
        found = next((each for each in self._tickets if _is_same(each, ticket)), "")
        return bool(found) and self._tickets.pop(found) >= self._clock()

    def page(self, path: str, cookies: Iterable[str]) -> tuple[str, str] | None:
        """The name of a memory and the path of its page, "/" first; None where that is not below the folder, or the
        cookie is missing. The memory at hand, "", has its pages in the folder, each other in one of its name.

        `cookies` are the headers of that name. A server on another port can add a cookie of the same name to ours, so
        any of several counts.
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
