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
    """What `Host` says of a server on that port: a browser leaves out the usual one."""
    ending = "" if port == _USUAL_PORT else f":{port}"
    return frozenset(f"{name}{ending}" for name in _NAMES)


def refusal(
    method: str, headers: Headers, hosts: Collection[str], is_page: bool = False, is_opened: bool = False
) -> Refusal | None:
    """The reason to refuse a request to a server that is reached as one of `hosts`; None to answer it.

    Programs send no `Origin`. Where the server `is_page`, browsers alone ask, which name it whenever something would
    change. What a browser `is_opened` at may be a link of any page.
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
    site = headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" and not (is_safe and (is_opened or site == "none")):
        return Refusal(_FORBIDDEN, "pages of other addresses are not answered")
    return None


class Guard:
    """Lets through to `app` what `refusal` has nothing against, at the server's `port`.

    Links from elsewhere lead to what begins with the path `entrance`, where there is one: a browser may open that, and
    nothing else may ask for it.
    """

    def __init__(self, app: ASGIApp, port: int, *, is_page: bool = False, entrance: str = "") -> None:
        self._app, self._hosts, self._is_page, self._entrance = app, own_hosts(port), is_page, entrance

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            is_opened = self._is_opened(scope, headers)
            if found := refusal(scope["method"], headers, self._hosts, self._is_page, is_opened):
                # No body is read of who is refused, so the connection ends here.
                answer = PlainTextResponse(found.words + "\n", found.status, {"Connection": "close"})
                return await answer(scope, receive, send)
        await self._app(scope, receive, send)

    def _is_opened(self, scope: Scope, headers: Headers) -> bool:
        """Whether a browser opens the entrance as a page of its own, from wherever the link was."""
        is_entrance = bool(self._entrance) and scope["path"].startswith(self._entrance)
        how = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return is_entrance and scope["method"] == "GET" and how == ("navigate", "document")
