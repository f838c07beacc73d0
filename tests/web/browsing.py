"""The page as a server in this process, and a browser without a screen that asks it."""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlencode

import anyio

from crabmem.loopback.server import Server, listening, port_of
from crabmem.session.session import Session
from crabmem.web.app import STATIC, application
from crabmem.web.entrance import COOKIE, PATH, Entrance

FORM = "application/x-www-form-urlencoded"
Fields = Mapping[str, str | Sequence[str]]


class Answer(NamedTuple):
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def place(self) -> str:
        """Where it sends the browser; "" for nowhere."""
        return self.headers.get("location", "")

    def hidden(self, name: str, place: int = 0) -> str:
        """What a hidden field of a form says."""
        found = re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', self.text)
        return unescape(found[place])


class Site:
    """The page of a memory at a port, and its browser."""

    def __init__(self, entrance: Entrance, clock: list[float]) -> None:
        self.port, self.entrance, self.clock = entrance.port, entrance, clock
        self.cookie = f"{COOKIE}={entrance.secret}"
        self.own = entrance.address
        self.folder = entrance.folder

    def at(self, path: str) -> str:
        """The address of a page, or of what lies beside the pages."""
        beside = path.startswith(PATH) or path in STATIC
        return self.own + (path if beside else self.folder + path.removeprefix("/"))

    def ask(self, method: str, path: str, headers: Mapping[str, str | None], body: bytes = b"") -> Answer:
        """The answer to a request for a page that a browser with the cookie makes; a header of None is not sent."""
        usual: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Cookie": self.cookie,
            "Sec-Fetch-Site": "same-origin",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        if method == "POST":
            usual |= {"Origin": self.own, "Content-Type": FORM, "Content-Length": str(len(body))}
        line = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            line.putrequest(method, self.at(path).removeprefix(self.own), skip_host=True, skip_accept_encoding=True)
            for name, said in {**usual, **headers}.items():
                if said is not None:
                    line.putheader(name, said)
            line.endheaders(body or None)
            answer = line.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            line.close()

    def get(self, path: str, headers: Mapping[str, str | None] | None = None) -> Answer:
        """A page."""
        return self.ask("GET", path, headers or {})

    def post(self, path: str, fields: Fields, headers: Mapping[str, str | None] | None = None) -> Answer:
        """What a form leads to."""
        return self.ask("POST", path, headers or {}, urlencode(fields, doseq=True).encode())

    def follow(self, answer: Answer) -> Answer:
        """The page that a form led to."""
        assert answer.status == 303, answer
        assert answer.place.startswith("./")
        return self.get(answer.place.removeprefix("."))


@contextmanager
def site_of(session: Session, port: int = 0) -> Iterator[Site]:
    """The page of a memory, until the block ends. The clock of its tickets stands still."""
    with listening(port) as listens:
        clock = [1000.0]
        entrance = Entrance(port_of(listens), lambda: clock[0])
        server = Server(application(session, entrance))
        thread = threading.Thread(target=anyio.run, args=(server.serve, [listens]))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield Site(entrance, clock)
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()
