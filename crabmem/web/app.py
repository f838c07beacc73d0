"""The page as an application: which address is which view, who is let in, and what every answer says of itself."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import parse_qs

from anyio import sleep, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import CrabmemError, InvalidArguments, NotFound
from ..loopback.connections import trust
from ..loopback.guard import Guard
from ..loopback.server import WithHeaders
from ..operations.chronicle import Chronicle
from ..session import scopes
from ..session.session import Session
from . import agent, around, facts, inbox, past
from .asking import Ask, Given, Go, Page
from .entrance import COOKIE, PATH, Entrance
from .rendering import Pages

View = Callable[[Ask], Page | Go]

VIEWS: Mapping[str, View] = {
    "/": inbox.inbox, "/proposal": inbox.proposal, "/facts": facts.listing, "/fact": facts.fact, "/new": facts.blank,
    "/timeline": past.timeline, "/commit": past.commit, "/revert": past.preview, "/forgotten": past.forgotten,
    "/recall": agent.search, "/prompt": agent.prompt, "/figures": around.figures, "/sync": around.sync,
    "/workspaces": around.workspaces,
}  # fmt: skip
#: What changes something.
ACTIONS: Mapping[str, View] = {
    "/": inbox.decide, "/proposal": inbox.decide_one, "/fact": facts.change, "/new": facts.add,
    "/revert": past.take_back, "/undo": past.undo,
}  # fmt: skip
#: Bytes of a form: the largest fact, each of whose characters may take nine in a form.
LARGEST = 4_000_000
_FORM = "application/x-www-form-urlencoded"
_FIELDS = 2_000
# Seconds that a wrong ticket costs.
_PAUSE = 0.5
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_SAID = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a form would be sent with the Origin `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: What lies beside the pages, for everybody.
STATIC = {"/page.css": "text/css", "/page.js": "text/javascript", "/page.svg": "image/svg+xml"}


def application(session: Session, entrance: Entrance, noticed: Callable[[], None] = lambda: None) -> ASGIApp:
    """The page over one memory; `noticed` is called for each request of the person."""
    site = _Site(session, entrance)
    routes = [
        Route(PATH, site.enter),
        *(Route(path, site.static) for path in STATIC),
        *(Route(path, site.look, methods=["GET"]) for path in VIEWS),
        *(Route(path, site.act, methods=["POST"]) for path in ACTIONS),
    ]
    let_in = _Door(Starlette(routes=routes, exception_handlers={404: site.nowhere}), entrance, site.pages, noticed)
    return WithHeaders(Guard(let_in, entrance.port, is_page=True, entrance=PATH), _SAID)


class _Door:
    """Lets requests with the cookie through; without it, takes a ticket, and shows all else the closed door."""

    def __init__(self, app: ASGIApp, entrance: Entrance, pages: Pages, noticed: Callable[[], None]) -> None:
        self._app, self._entrance, self._pages, self._noticed = app, entrance, pages, noticed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PATH):
            # Whatever stands behind it is a ticket, and leads to nothing else.
            scope = {**scope, "path": PATH, "ticket": scope["path"].removeprefix(PATH)}
        elif scope["type"] == "http" and scope["path"] not in STATIC:
            page = self._entrance.page(scope["path"], Headers(scope=scope).getlist("cookie"))
            if page is None:
                closed = HTMLResponse(self._pages.door(), 403, {"Connection": "close"})
                return await closed(scope, receive, send)
            trust(scope)
            self._noticed()
            scope = {**scope, "memory": page[0], "path": page[1]}
        await self._app(scope, receive, send)


class _Memory:
    """One memory whose pages are shown, what was decided on in it, and how its pages look."""

    def __init__(self, session: Session) -> None:
        self.session, self.chronicle = session, Chronicle(session)
        self.decided, self.pages = set[str](), Pages(session)


def _way(here: str, to: str) -> str:
    """The address of the first page of a memory, as seen from any page of another."""
    return f"{'../' if here else './'}{f'{to}/' if to else ''}"


class _Site:
    """The views of a memory, and of those that are seen beside it, as a web server calls them."""

    def __init__(self, session: Session, entrance: Entrance) -> None:
        self._session, self._entrance = session, entrance
        self._shelf = {"": _Memory(session)}
        self.pages = self._shelf[""].pages

    async def enter(self, request: Request) -> Response:
        """Change a ticket for the cookie. The way on is a link of this page, and no redirect: of a page that another
        program opened, a browser would not send the cookie along."""
        if not self._entrance.takes(request.scope["ticket"]):
            await sleep(_PAUSE)
            return HTMLResponse(self.pages.door(), 403)
        folder = self._entrance.folder
        response = HTMLResponse(self.pages.door(way=folder))
        response.set_cookie(COOKIE, self._entrance.secret, path=folder, httponly=True, samesite="strict")
        return response

    async def static(self, request: Request) -> Response:
        """The style, or the script."""
        path = request.url.path
        return Response(self.pages.source(path[1:]), media_type=STATIC[path])

    async def look(self, request: Request) -> Response:
        """A page, of which nothing changes."""
        if self._memory_named(request) is None:
            return await self.nowhere(request)
        return await to_thread.run_sync(self._answer, VIEWS[request.url.path], self._ask(request))

    async def act(self, request: Request) -> Response:
        """What a form asks for."""
        if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
            return PlainTextResponse("a form is wanted\n", 415)
        if self._memory_named(request) is None:
            return await self.nowhere(request)
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    return PlainTextResponse("that is more than a fact can be\n", 413, {"Connection": "close"})
            form = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
        except (ValueError, ClientDisconnect):
            return PlainTextResponse("this form cannot be read\n", 400)
        return await to_thread.run_sync(self._answer, ACTIONS[request.url.path], self._ask(request, form))

    async def nowhere(self, request: Request, error: Exception | None = None) -> Response:
        """What is at no address."""
        request.scope["memory"] = ""
        page = Page("error", {"title": "Not found", "problem": "there is no such page"}, 404)
        return await to_thread.run_sync(self._render, page, self._ask(request))

    def _ask(self, request: Request, form: Mapping[str, list[str]] | None = None) -> Ask:
        """What a view is called with. `_memory_named` has put the memory of the request on the shelf before."""
        query = Given()
        with suppress(ValueError):  # more fields than any page has: the query counts as empty
            query = Given(parse_qs(request.url.query, keep_blank_values=True, max_num_fields=_FIELDS))
        memory = request.scope.get("memory", "")  # "" is the memory at hand
        others = scopes.others(self._session)
        titles = {"": self._session.engine.scopes.own, **{name: name for name in others}} if others else {}
        memories = tuple((title, _way(memory, name), name == memory) for name, title in titles.items())
        shown, given = self._shelf[memory], Given(form or {})
        return Ask(shown.session, shown.chronicle, shown.decided, request.url.path, query, given, memory, memories)

    def _memory_named(self, request: Request) -> _Memory | None:
        """The memory that an address names, on the shelf from here on; None where no such memory is seen."""
        name = request.scope.get("memory", "")
        if name:
            other = scopes.others(self._session).get(name)
            if other is None:
                return None
            # Another engine: one that could not be read was closed, and its memory opened anew.
            if name not in self._shelf or self._shelf[name].session.engine is not other.engine:
                self._shelf[name] = _Memory(other)
        return self._shelf[name]

    def _answer(self, view: View, ask: Ask) -> Response:
        try:
            found = view(ask)
        except CrabmemError as error:
            is_wrong = isinstance(error, NotFound | InvalidArguments)
            found = Page("error", {"title": "That did not work", "problem": error.text()}, 404 if is_wrong else 500)
        if isinstance(found, Go):
            return RedirectResponse(found.address, 303)
        return self._render(found, ask)

    def _render(self, page: Page, ask: Ask) -> Response:
        return HTMLResponse(self._shelf[ask.memory].pages.of(page, ask), page.status)
