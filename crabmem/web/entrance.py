"""Who may see the page: the browser that brought the word of the terminal, and has a cookie for it since."""

import secrets
from collections.abc import Callable, Mapping

#: Where a ticket leads to.
PATH = "/enter/"
#: Seconds for which a ticket is good.
LIFE = 60.0


class Entrance:
    """Gives out tickets, each good for one browser within a minute, and knows the cookie that they are changed for.

    Cookies are not kept apart by port: so the name has the port in it, and a part that nobody can guess.
    """

    def __init__(self, port: int, clock: Callable[[], float]) -> None:
        """`clock` tells seconds."""
        self._clock = clock
        self._tickets: dict[str, float] = {}
        self.cookie = f"crabmem_{port}_{secrets.token_hex(4)}"
        self.secret = secrets.token_urlsafe(32)

    def ticket(self) -> str:
        """A new ticket. Those that nobody took stay good for their time."""
        made = secrets.token_urlsafe(32)
        self._tickets[made] = self._clock() + LIFE
        return made

    def takes(self, ticket: str) -> bool:
        """Whether a ticket is good; it is not any more after that."""
        found = next((each for each in self._tickets if secrets.compare_digest(each.encode(), ticket.encode())), "")
        return bool(found) and self._tickets.pop(found) >= self._clock()

    def knows(self, cookies: Mapping[str, str]) -> bool:
        """Whether these are the cookies of a browser that was let in."""
        return secrets.compare_digest(cookies.get(self.cookie, "").encode(), self.secret.encode())
