"""What else listens on this machine, and pages elsewhere: in the browser of a person who was let in."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from crabmem import Memory
from crabmem.operations import history
from crabmem.session.session import Session
from tests.serving import TOKEN, request, web
from tests.ui.conftest import let_in
from tests.web.browsing import Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.ui
KEY = "memory/entries/deploy-key.md"
#: The names under which a browser finds a program on this machine, and one of somebody else that leads here.
NAMES = ("127.0.0.1", "localhost", "evil.test")
#: How a page asks another address, and what it is told.
WAYS = {
    "fetch": "a => fetch(a, {credentials: 'include'}).then(r => r.text())",
    "fetch, unread": "a => fetch(a, {mode: 'no-cors', credentials: 'include'}).then(r => r.text())",
    "event source": """a => new Promise(done => {
        const source = new EventSource(a, {withCredentials: true});
        source.onmessage = event => done(event.data);
        source.onerror = () => { source.close(); done('refused') } })""",
    "frame": """a => new Promise(done => {
        const frame = document.createElement('iframe');
        frame.onload = () => { try { done(frame.contentDocument.body.innerText) } catch { done('refused') } };
        frame.src = a; document.body.append(frame) })""",
    "window": """a => new Promise(done => {
        const opened = open(a);
        setTimeout(() => { try { done(opened.document.body.innerText) } catch { done('refused') } }, 300) })""",
    "script": """a => new Promise(done => {
        const script = document.createElement('script');
        script.onload = () => done('Deploy'); script.onerror = () => done('refused');
        script.src = a; document.body.append(script) })""",
    "image": """a => new Promise(done => {
        const image = new Image();
        image.onload = () => done('Deploy'); image.onerror = () => done('refused'); image.src = a })""",
    "import": "a => import(a).then(() => 'Deploy')",
}
# How a page sends what a form would.
_SENDS = {
    "fetch": "([a, form]) => fetch(a, {method: 'POST', credentials: 'include', body: new URLSearchParams(form)})",
    "fetch, unread": """([a, form]) => fetch(a,
        {method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams(form)})""",
    "beacon": "([a, form]) => navigator.sendBeacon(a, new URLSearchParams(form))",
    "form": """([a, form]) => {
        const sent = document.createElement('form');
        sent.method = 'post'; sent.action = a;
        for (const [name, value] of new URLSearchParams(form))
            sent.append(Object.assign(document.createElement('input'), {name, value}));
        document.body.append(sent); sent.submit() }""",
}


class Neighbour:
    """Another program on this machine: what it was asked for, with which headers. `/go?to=` sends a browser on."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard: list[str] = []

    def at(self, name: str, path: str = "/") -> str:
        """The address of a page of it under a name."""
        return f"http://{name}:{self.port}{path}"


@contextmanager
def listening() -> Iterator[Neighbour]:
    """A neighbour, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told_to.heard.append(f"{self.path}\n{self.headers}")
            to = parse_qs(urlsplit(self.path).query).get("to")
            self.send_response(307 if to else 200)
            self.send_header("Location" if to else "Content-Type", to[0] if to else "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(b"<h1>Hello</h1>" if not to else b"")

        do_POST = do_GET

        def log_message(self, *said: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        told_to = Neighbour(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield told_to
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    """A program at another port."""
    with listening() as found:
        yield found


@pytest.fixture
def guest(chromium: "Browser", site: Site) -> Iterator[Any]:
    """A tab of a browser that was let in, at which nobody looks for what is wrong."""
    context = chromium.new_context()
    let_in(context, site)
    yield context.new_page()
    context.close()


def told(tab: Any, way: str, *given: object) -> str:
    """What a page is told; a refusal is an error in it."""
    return str(tab.evaluate(f"given => Promise.resolve(({way})(given)).catch(() => 'refused')", *given))


def sends(tab: Any, way: str, address: str, form: str) -> None:
    """Have a page send a form."""
    with tab.expect_navigation() if way == "form" else nullcontext():
        told(tab, _SENDS[way], [address, form])


def addresses(site: Site, neighbour: Neighbour, path: str) -> Iterator[str]:
    """Those of a page of ours, under both names and by way of the neighbour."""
    for address in (site.at(path), site.at(path).replace("127.0.0.1", "localhost")):
        yield address
        yield neighbour.at("127.0.0.1", f"/go?to={quote(address, safe='')}")


def test_no_other_port_is_handed_the_key(guest: Any, site: Site, neighbour: Neighbour, person: Session) -> None:
    """By no request of a page of its own, and by no link of ours: neither the cookie nor where the pages are."""
    with Memory(person.root) as memory:
        memory.remember("Link", "leads elsewhere", f"[here]({neighbour.at('127.0.0.1', '/linked')})")
    guest.goto(site.at("/fact?path=memory/entries/link.md"))
    guest.click("article a")
    guest.wait_for_selector("h1:has-text('Hello')")
    for name in NAMES:
        for path in ("/", "/fact", "/enter/x", f"/go?to={neighbour.at(name, '/sent')}"):
            guest.goto(neighbour.at(name, path))
            for way in WAYS.values():
                told(guest, way, "/again")
            for sent in _SENDS:
                sends(guest, sent, "/sent", "a=1")
    assert len(neighbour.heard) > 50 and any("/linked" in each for each in neighbour.heard)
    for secret in (site.entrance.secret, site.folder.strip("/")):
        assert not [each for each in neighbour.heard if secret in each]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_elsewhere_reads_nothing(guest: Any, site: Site, neighbour: Neighbour, name: str) -> None:
    """Not even one that knows where the pages are."""
    guest.goto(neighbour.at(name))
    for address in addresses(site, neighbour, "/facts"):
        for way, script in WAYS.items():
            assert "Deploy" not in told(guest, script, address), (way, address)
        assert not any("Deploy" in frame.content() for frame in guest.frames)
    for tab in guest.context.pages:
        assert "Deploy" not in tab.content()  # of which it opened some


@pytest.mark.parametrize("name", NAMES)
def test_a_page_elsewhere_changes_nothing(
    guest: Any, site: Site, neighbour: Neighbour, person: Session, name: str
) -> None:
    """Not even one that knows where the pages are, and the version of a fact."""
    before, fact = history.newest(person), f"/fact?path={KEY}"
    form = f"version={site.get(fact).hidden('version')}&do=forget"
    for address in addresses(site, neighbour, fact):
        for way in _SENDS:
            guest.goto(neighbour.at(name))
            sends(guest, way, address, form)
    assert history.newest(person) == before
    guest.goto(site.at(fact))
    sends(guest, "form", "." + fact, form)
    assert history.newest(person) != before  # so the same form does, where the page itself sends it


def test_a_name_that_leads_here_by_rebinding_is_not_answered(guest: Any, site: Site) -> None:
    answer = guest.goto(site.at("/facts").replace("127.0.0.1", "evil.test"))
    assert answer.status == 421 and "Deploy" not in guest.content()


def test_reload_back_a_second_tab_and_a_bookmark_lead_in(guest: Any, site: Site) -> None:
    guest.goto(site.at("/facts"))
    guest.click(".item >> text=Deploy key")
    guest.wait_for_selector("h1:has-text('Deploy key')")
    bookmark = guest.url
    for act in (guest.reload, guest.go_back, guest.go_forward):
        answer: Any = act()
        assert answer.status == 200
    other = guest.context.new_page()
    assert other.goto(bookmark).status == 200
    assert other.goto(site.own).status == 403  # which says how to get in
    assert "Press Enter" in other.content()


def test_no_page_gets_to_an_mcp_server(chromium: "Browser", neighbour: Neighbour, tmp_path: Path) -> None:
    """Not even one that knows the token, which no browser sends by itself."""
    call = request("tools/call", name="remember", arguments={"name": "Planted", "description": "d", "content": "c"})
    asks: dict[str, Callable[[str], str]] = {
        "with the token": lambda mode: (
            f"""a => fetch(a, {{method: 'POST', mode: '{mode}', headers: {{
            Authorization: 'Bearer {TOKEN}', 'Content-Type': 'application/json', Accept: 'application/json'}},
            body: {json.dumps(call.decode())}}}).then(r => r.text().then(text => r.status + text))"""
        ),
        "without": lambda mode: (
            f"""a => fetch(a, {{method: 'POST', mode: '{mode}', credentials: 'include',
            body: {json.dumps(call.decode())}}}).then(r => r.text().then(text => r.status + text))"""
        ),
    }
    with web(tmp_path / "notes") as url:
        context = chromium.new_context()
        tab: Any = context.new_page()
        for name in NAMES:
            tab.goto(neighbour.at(name))
            for address in (url, url.replace("127.0.0.1", "localhost")):
                for ask in asks.values():
                    assert told(tab, ask("cors"), address) == "refused"
                    assert told(tab, ask("no-cors"), address) in ("refused", "0")
                assert told(tab, WAYS["event source"], address) == "refused"
        # A page of a name that leads here by rebinding is of the same origin as what it asks.
        assert tab.goto(url.replace("127.0.0.1", "evil.test")).status == 421
        for ask in asks.values():
            assert told(tab, ask("cors"), "/mcp").startswith("421")
        context.close()
    with Memory(tmp_path / "notes") as memory:
        assert memory.entries() == []
