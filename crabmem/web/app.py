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
#: Handlers of forms (POST), by path. Handlers in `VIEWS` change nothing.
ACTIONS: Mapping[str, View] = {
    "/": inbox.decide, "/proposal": inbox.decide_one, "/fact": facts.change, "/new": facts.add,
    "/revert": past.take_back, "/undo": past.undo,
}  # fmt: skip
#: Bytes of a form: the largest fact, each of whose characters may take nine in a form.
LARGEST = 4_000_000
_FORM = "application/x-www-form-urlencoded"
# Fields of a form or a query at most.
_FIELDS = 2_000
# Seconds that a wrong ticket costs.
_PAUSE = 0.5
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# Headers of every answer.
_SAID = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a form would be sent with the Origin `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: Files that are served without the cookie, with their types.
STATIC = {"/page.css": "text/css", "/page.js": "text/javascript", "/page.svg": "image/svg+xml"}


def application(session: Session, entrance: Entrance, noticed: Callable[[], None] = lambda: None) -> ASGIApp:
    """Return the ASGI app for one memory and those seen beside it; it calls `noticed` at requests with the cookie."""
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
    """ASGI middleware that lets only requests with the cookie through to the pages.

    Their scope gets the name of the memory and the path of the page in it. The address of a ticket, and `STATIC` files,
    need no cookie. Every other request is answered by the closed door (403).
    """

    def __init__(self, app: ASGIApp, entrance: Entrance, pages: Pages, noticed: Callable[[], None]) -> None:
        self._app, self._entrance, self._pages, self._noticed = app, entrance, pages, noticed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(PATH):
            # All that follows `PATH` is the ticket, even with a slash in it: no other route can match.
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
    """One memory whose pages are shown."""

    def __init__(self, session: Session) -> None:
        self.session, self.chronicle = session, Chronicle(session)
        #: `decided` has the ids of proposals decided on since the server began: only these can be taken back by `undo`.
        self.decided, self.pages = set[str](), Pages(session)


def _way(here: str, to: str) -> str:
    """Return the relative address from any page of memory `here` to the first of memory `to`; "" is the one at hand."""
    return f"{'../' if here else './'}{f'{to}/' if to else ''}"


class _Site:
    """Calls the views for requests, for one memory and for those that are seen beside it."""

    def __init__(self, session: Session, entrance: Entrance) -> None:
        self._session, self._entrance = session, entrance
        #: Memories by name: "" is the one at hand, the others are added when they are first asked for.
        self._shelf = {"": _Memory(session)}
        self.pages = self._shelf[""].pages

    async def enter(self, request: Request) -> Response:
        """Take a ticket, and answer with the cookie and a page that links to the first one; 403 for a wrong ticket.

        A redirect would not do: when another program made the browser open this address, the browser would follow the
        redirect without the cookie, which is `SameSite=Strict`.
        """
        if not self._entrance.takes(request.scope["ticket"]):
            await sleep(_PAUSE)
            return HTMLResponse(self.pages.door(), 403)
        folder = self._entrance.folder
        response = HTMLResponse(self.pages.door(way=folder))
        response.set_cookie(COOKIE, self._entrance.secret, path=folder, httponly=True, samesite="strict")
        return response

    async def static(self, request: Request) -> Response:
        """Answer with a `STATIC` file."""
        path = request.url.path
        return Response(self.pages.source(path[1:]), media_type=STATIC[path])

    async def look(self, request: Request) -> Response:
        """Answer a GET with the page of a view, which changes nothing."""
        if self._memory_named(request) is None:
            return await self.nowhere(request)
        return await to_thread.run_sync(self._answer, VIEWS[request.url.path], self._ask(request))

    async def act(self, request: Request) -> Response:
        """Do what a form asks for, and answer with the page that follows; refuse one of more than `LARGEST` bytes."""
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
        """Answer 404, with a page in the frame of the memory at hand."""
        request.scope["memory"] = ""
        page = Page("error", {"title": "Not found", "problem": "there is no such page"}, 404)
        return await to_thread.run_sync(self._render, page, self._ask(request))

    def _ask(self, request: Request, form: Mapping[str, list[str]] | None = None) -> Ask:
        """Return the argument of a view. Call `_memory_named` before: it puts the request's memory on the shelf."""
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
        """Return the memory that the address names, and put it on the shelf; None if no such memory is seen."""
        name = request.scope.get("memory", "")
        if name:
            other = scopes.others(self._session).get(name)
            if other is None:
                return None
            # The engine is another one if the memory could not be read, was closed, and was opened anew.
            if name not in self._shelf or self._shelf[name].session.engine is not other.engine:
                self._shelf[name] = _Memory(other)
        return self._shelf[name]

    def _answer(self, view: View, ask: Ask) -> Response:
        """Call a view; an error becomes a page: 404 if the request is wrong or finds nothing, else 500."""
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
