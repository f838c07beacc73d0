"""Remotes by HTTP: one host, which is asked in bounded time and not followed elsewhere; credentials where it asks."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from dulwich.client import AbstractHttpGitClient, default_user_agent_string
from urllib3.exceptions import HTTPError, MaxRetryError, ProxyError, SSLError

from ..errors import Refused, SyncError, Unreachable
from ..text.quoting import visible
from ..text.words import shortened
from . import programs
from .address import Address
from .credentials import Credentials
from .limit import Limit
from .served import Client

_CONNECT, _SILENCE = 20.0, 60.0
_REDIRECTS, _MOST_REDIRECTS = (301, 302, 303, 307, 308), 3
# Many servers and proxies refuse a body without Content-Length. dulwich sends larger ones than this in chunks, without.
_TOLD = 64_000_000
_PIECE = 1 << 14
_OK, _UNAUTHORIZED, _SERVER = 200, 401, 500
_MEANINGS = {
    403: "{} forbids that: the token may not read, or not write, this repository",
    404: "there is no Git repository at {}, or none that you may see",
    407: "the proxy before {} asks for a password: put it into HTTPS_PROXY",
    413: "{} takes no push of this size: raise its limit, or sync by ssh",
}
_BUSY = (408, 429)


class Http(Client, AbstractHttpGitClient):
    """dulwich's client, with connections, limits, credentials and redirects of our own."""

    def __init__(self, address: Address, environ: Mapping[str, str], limit: Limit) -> None:
        base = urlsplit(address.url)
        self._origin = f"{base.scheme.lower()}://{base.netloc.rpartition('@')[2]}"
        super().__init__(self._origin + base.path)
        self._address, self._limit = address, limit
        self._credentials = Credentials(address, environ)
        self._basic: dict[str, str] = {}
        self._pool = _pool(address, environ)
        self._last: urllib3.BaseHTTPResponse | None = None

    def close(self) -> None:
        """Let the connection go."""
        if self._last:
            self._last.close()
        self._pool.clear()

    def _get_url(self, path: str | bytes) -> str:
        return self._base_url

    def _post_buffer_size(self, url: str) -> int:
        return _TOLD

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        """Make a request for dulwich; return the response, and a function that reads its body.

        Follow redirects on the same host, but not for a POST; on status 401 ask for credentials, once.

        Raises:
            SyncError: the server does not answer with what Git's protocol has; the message says why.
        """
        for _ in range(_MOST_REDIRECTS):
            response = self._answer(url, headers or {}, data)
            if response.status == _UNAUTHORIZED and not self._basic and (found := self._credentials.find(self._limit)):
                self._basic = urllib3.make_headers(basic_auth=":".join(found))
                response = self._answer(url, headers or {}, data)
                self._credentials.judge(response.status != _UNAUTHORIZED, self._limit)
            if response.status not in _REDIRECTS:
                break
            new = urljoin(url, response.headers.get("Location", ""))
            if data is not None:
                raise self._moved(new)
            url = new
        if response.status != _OK:
            raise self._meaning(response.status)
        response.content_type = response.headers.get("Content-Type") or ""
        if not response.content_type.startswith("application/x-git-"):
            kind = shortened(visible(response.content_type), 60) or "nothing"
            raise Refused(f"there is no Git repository at {self._limit.where}: what answers is `{kind}`")
        response.redirect_location = url
        return response, lambda size=-1: self._read(response, size)

    def _answer(self, url: str, headers: Mapping[str, str], data: bytes | Iterator[bytes] | None) -> Any:
        """Send one request, to our own host only; return the response, whose body is not read yet."""
        left = self._limit.left()
        if not url.startswith(f"{self._origin}/"):  # it told dulwich to fetch something elsewhere
            raise self._moved(url)
        if self._last:
            self._last.close()
        try:
            self._last = self._pool.request(
                "GET" if data is None else "POST",
                url,
                body=self._in_pieces(data) if isinstance(data, bytes) else data,
                headers={
                    "User-Agent": default_user_agent_string(),
                    **({"Content-Length": str(len(data))} if isinstance(data, bytes) else {}),
                    **headers,
                    **self._basic,
                },
                timeout=urllib3.Timeout(connect=min(_CONNECT, left), read=min(_SILENCE, left)),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
        except (HTTPError, OSError) as error:
            raise self._trouble(error) from error
        return self._last

    def _in_pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield a body in pieces: the timeout of the socket is for each, and a slow line needs more for all of it."""
        for at in range(0, len(data), _PIECE):
            yield data[at : at + _PIECE]
            self._limit.sent(min(_PIECE, len(data) - at))

    def _read(self, response: Any, size: int) -> bytes:
        """Return `size` bytes of a body, fewer at its end; for a negative size, all that the limit allows."""
        data, room = bytearray(), size if size >= 0 else self._limit.room
        try:
            while len(data) < room and (piece := response.read1(room - len(data), decode_content=False)):
                self._limit.heard(len(piece))
                data += piece
        except (HTTPError, OSError) as error:
            raise self._trouble(error) from error
        return bytes(data)

    def _meaning(self, status: int) -> SyncError:
        where = self._limit.where
        if status == _UNAUTHORIZED:
            knows = "refuses the password, or token, that is known" if self._basic else "asks for a password, or token"
            return Refused(
                f"{where} {knows}: log in once with your credential helper (`git credential-manager`, `gh auth "
                f"setup-git` …), or set {programs.TOKEN}"
            )
        if status in _BUSY or status >= _SERVER:
            return Unreachable(f"{where} cannot do it just now (status {status}): try again later")
        return Refused(_MEANINGS.get(status, f"{{}} answered with status {status}").format(where))

    def _moved(self, new: str) -> SyncError:
        parts = urlsplit(new)
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.partition('/info/refs')[0]}"
        return Refused(
            f"{self._limit.where} has moved to {shortened(visible(place), 200)}, which is not followed: sync there if "
            "that is the one you mean"
        )

    def _trouble(self, error: Exception) -> SyncError:
        where, cause = self._limit.where, error
        while isinstance(cause, MaxRetryError) and cause.reason:
            cause = cause.reason
        said = shortened(visible(str(cause).rpartition(": ")[2]), 200)
        if isinstance(cause, ProxyError):
            return Unreachable(f"the proxy before {where} does not help: {said}; see HTTPS_PROXY and NO_PROXY")
        if isinstance(cause, SSLError | ssl.SSLError):
            return Refused(
                f"{where} cannot show that it is {self._address.host}: {said}; of a server with a certificate of its "
                "own, SSL_CERT_FILE names it"
            )
        return Unreachable(f"{where} cannot be reached: {said.lower() or type(cause).__name__}")


def _pool(address: Address, environ: Mapping[str, str]) -> urllib3.PoolManager:
    """Return a pool of connections, which go through the proxy that the environment names for the address, if any."""
    known = {name.lower(): value for name, value in environ.items() if name.lower().endswith("_proxy") and value}
    proxy = known.get(f"{address.url.partition(':')[0].lower()}_proxy") or known.get("all_proxy")
    authorities = environ.get("SSL_CERT_FILE") or environ.get("GIT_SSL_CAINFO")
    past = (each.strip().lstrip(".").lower() for each in known.get("no_proxy", "").split(","))
    is_past = any(each in ("*", address.host) or (each and address.host.endswith(f".{each}")) for each in past)
    if not proxy or is_past or address.url.startswith("http:"):
        return urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=authorities)
    named = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    login = f"{named.username}:{named.password or ''}" if named.username else None
    return urllib3.ProxyManager(
        f"{named.scheme}://{named.netloc.rpartition('@')[2]}",
        proxy_headers=urllib3.make_headers(proxy_basic_auth=login),
        cert_reqs="CERT_REQUIRED",
        ca_certs=authorities,
    )
