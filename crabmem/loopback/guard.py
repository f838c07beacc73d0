"""Which requests a server on this machine answers: those that name its own address, and none that a page of somebody
else makes in the person's browser.

A page elsewhere can have a browser ask anything of a port on the loopback, also under a name of its own that it has the
browser look up anew (DNS rebinding). What it cannot do is to say another `Host`, `Origin` or `Sec-Fetch-Site`.
"""

from collections.abc import Collection
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_MISDIRECTED, _FORBIDDEN = 421, 403
_SAFE = ("GET", "HEAD")
_USUAL_PORT = 80


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    words: str


def own_hosts(port: int) -> frozenset[str]:
    """Return the values of `Host` that name a server of ours on `port`; browsers leave out port 80."""
    ending = "" if port == _USUAL_PORT else f":{port}"
    return frozenset(f"{name}{ending}" for name in _NAMES)


def refusal(
    method: str, headers: Headers, hosts: Collection[str], is_page: bool = False, is_opened: bool = False
) -> Refusal | None:
    """Return why to refuse a request to a server that is reached as one of `hosts`; None to answer it.

    A request without `Origin` is answered, as programs send none. With `is_page` only browsers ask, which send `Origin`
    with every form: there a request that may change something needs it. `is_opened` says that a browser opens this
    address as a page of its own: it may come from a link on any other site.
    """
    said = headers.getlist("host")
    if len(said) != 1 or said[0].lower() not in hosts:
        return Refusal(_MISDIRECTED, "another address is meant: this server answers under its own alone")
    is_safe = method in _SAFE
    own, origins = f"http://{said[0].lower()}", [origin.lower() for origin in headers.getlist("origin")]
    if method == "OPTIONS" or any(origin != own for origin in origins):
        return Refusal(_FORBIDDEN, "pages of other addresses are not answered")
    if is_page and not is_safe and not origins:
        return Refusal(_FORBIDDEN, "who asks is not said: the browser has to name the page (Origin)")
    site = headers.get("sec-fetch-site", "same-origin")  # "none": the person typed the address, or has a bookmark
    if site != "same-origin" and not (is_safe and (is_opened or site == "none")):
        return Refusal(_FORBIDDEN, "pages of other addresses are not answered")
    return None


class Guard:
    """ASGI middleware that answers requests with their `refusal`, if there is one, and passes all others to `app`.

    `port` is the one that the server listens on. Links on other sites may lead to paths that begin with `entrance` ("":
    nowhere): a browser may open them as a page, and other sites can do nothing else with them.
    """

    def __init__(self, app: ASGIApp, port: int, *, is_page: bool = False, entrance: str = "") -> None:
        self._app, self._hosts, self._is_page, self._entrance = app, own_hosts(port), is_page, entrance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            is_opened = self._is_opened(scope, headers)
            if found := refusal(scope["method"], headers, self._hosts, self._is_page, is_opened):
                # The body of a refused request is not read, so the connection cannot be used again.
                answer = PlainTextResponse(found.words + "\n", found.status, {"Connection": "close"})
                return await answer(scope, receive, send)
        await self._app(scope, receive, send)

    def _is_opened(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a browser opens the entrance as a page of its own, and not as a part of another page."""
        is_entrance = bool(self._entrance) and scope["path"].startswith(self._entrance)
        how = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return is_entrance and scope["method"] == "GET" and how == ("navigate", "document")
